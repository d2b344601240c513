"""Naive Bayes on raw sequences: the same model as on a matrix of k-mers."""

from __future__ import annotations

import re
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import cross_val_score

from bayesieve import (
    ClassCounts,
    SelectiveBernoulliNB,
    SparseBernoulliNB,
    SparseMultinomialNB,
    SparseSequenceNB,
    load_model,
    save_model,
)
from bayesieve.exceptions import FewFeaturesWarning

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def kmers_of(sequence, k):
    for part in re.split("[^ACGT]+", sequence.upper().replace("U", "T")):
        for i in range(len(part) - k + 1):
            kmer = part[i : i + k]
            yield min(kmer, kmer.translate(COMPLEMENT)[::-1])


def matrix_of(sequences, k):
    """A plain twin: the names of all k-mers, and how often each row has each."""
    names = sorted({kmer for row in sequences for kmer in kmers_of(row, k)})
    place = {name: i for i, name in enumerate(names)}
    table = np.zeros((len(sequences), len(names)))
    for i, row in enumerate(sequences):
        for kmer in kmers_of(row, k):
            table[i, place[kmer]] += 1
    return names, table


@pytest.fixture(scope="module")
def planted():
    """Eighty sequences; each class has a stretch that most of its rows have."""
    rng = np.random.default_rng(0)

    def bases(size):
        return "".join(rng.choice(list("ACGTn"), size, p=[0.245] * 4 + [0.02]))

    stretches = {label: "".join(rng.choice(list("ACGT"), 30)) for label in "abc"}
    labels = np.array(["abc"[i % 3] for i in range(80)])
    sequences = []
    for label in labels:
        row = bases(150)
        if rng.random() < 0.85:
            row += stretches[label]
        if rng.random() < 0.15:
            row += stretches["a"]
        sequences.append(row + bases(50))
    return sequences, labels, stretches


@pytest.fixture
def files(planted, tmp_path):
    sequences, labels, _ = planted
    paths = []
    for i, row in enumerate(sequences):
        paths.append(tmp_path / f"{i:02}.fa")
        lines = [row[j : j + 70] for j in range(0, len(row), 70)]
        paths[-1].write_text(f">s{i}\n" + "\n".join(lines) + "\n")
    return paths, labels


@pytest.mark.parametrize(
    ("model", "k"),
    [("bernoulli", 5), ("bernoulli", "bic"), ("multinomial", 5), ("multinomial", 0.01)],
)
def test_the_model_is_that_of_the_matrix(planted, model, k):
    sequences, labels, _ = planted
    names, table = matrix_of(sequences, 9)
    found = SparseSequenceNB(k, length=9, model=model, merge_copies=False)
    found.fit(sequences, labels)
    make = SparseBernoulliNB if model == "bernoulli" else SparseMultinomialNB
    expected = make(k).fit(table, labels)
    assert found.support_terms_ == [names[j] for j in expected.support_indices_]
    assert found.n_features_in_ == len(names)
    assert found.certificate_ == expected.certificate_
    np.testing.assert_allclose(
        found.predict_proba(sequences), expected.predict_proba(table), rtol=1e-12
    )


def test_copies_are_one_feature(planted):
    sequences, labels, stretches = planted
    names, table = matrix_of(sequences, 11)
    columns = {}
    for name, column in zip(names, (table > 0).T, strict=True):
        columns.setdefault(column.tobytes(), []).append(name)
    first = [names.index(own[0]) for own in columns.values()]
    expected = SparseBernoulliNB(3).fit(table[:, first], labels)
    model = SparseSequenceNB(3, length=11).fit(sequences, labels)
    chosen = [list(columns.values())[j] for j in expected.support_indices_]
    assert model.members_ == chosen
    assert model.support_terms_ == [own[0] for own in chosen]
    np.testing.assert_allclose(
        model.predict_proba(sequences),
        expected.predict_proba(table[:, first]),
        rtol=1e-12,
    )
    # The planted stretches are what was found, each with its members.
    for stretch in stretches.values():
        inner = set(kmers_of(stretch, 11))
        assert any(len(inner & set(own)) >= len(inner) - 2 for own in model.members_)


@pytest.mark.parametrize("k", [4, "1se", "cv"])
def test_weights_are_those_of_the_matrix(planted, k):
    sequences, labels, _ = planted
    names, table = matrix_of(sequences, 9)
    model = SparseSequenceNB(k, length=9, weights=True, merge_copies=False)
    model.fit(sequences, labels)
    if k == 4:
        expected = SelectiveBernoulliNB(k=4).fit(table, labels)
        assert model.support_terms_ == [names[j] for j in expected.support_indices_]
        np.testing.assert_allclose(
            model.predict_proba(sequences), expected.predict_proba(table), rtol=1e-6
        )
    else:
        assert model.lambda_ in (model.lambda_best_, model.lambda_1se_)
    assert model.score(sequences, labels) > 0.6


@pytest.mark.parametrize("weights", [False, True])
def test_files_are_rows_like_strings(planted, files, weights):
    sequences, labels, _ = planted
    paths, _ = files
    model = SparseSequenceNB(5, length=15, weights=weights).fit(sequences, labels)
    for other in (
        SparseSequenceNB(5, length=15, weights=weights).fit(paths, labels),
        SparseSequenceNB(5, length=15, weights=weights).fit_files(paths, labels),
        SparseSequenceNB(5, length=15, weights=weights).fit_files(
            str(paths[0].parent / "*.fa"), labels
        ),
    ):
        assert other.support_terms_ == model.support_terms_
        assert other.members_ == model.members_
        expected = model.predict_proba(sequences)
        np.testing.assert_allclose(other.predict_proba(paths), expected, rtol=1e-12)
        mixed = [*sequences[:3], *paths[3:6], sequences[6].encode()]
        np.testing.assert_allclose(other.predict_proba(mixed), expected[:7], rtol=1e-12)


@pytest.mark.parametrize("weights", [False, True])
def test_records_of_a_file_are_rows(planted, tmp_path, weights):
    sequences, labels, _ = planted
    path = tmp_path / "all.fasta"
    lines = [
        f">{i} {own}\n{row}"
        for i, (row, own) in enumerate(zip(sequences, labels, strict=True))
    ]
    path.write_text("\n".join(lines))
    expected = SparseSequenceNB(5, length=15, weights=weights).fit(sequences, labels)
    for given in (labels, lambda header: header.split()[1]):
        model = SparseSequenceNB(5, length=15, weights=weights)
        model.fit_files(path, given, records=True)
        np.testing.assert_allclose(
            model.predict_proba(sequences),
            expected.predict_proba(sequences),
            rtol=1e-12,
        )


def test_bytes_of_files(tmp_path):
    rng = np.random.default_rng(1)
    paths, labels = [], []
    for i in range(30):
        paths.append(tmp_path / f"{i}.bin")
        data = rng.integers(0, 256, 500).astype(np.uint8).tobytes()
        labels.append(i % 2)
        if i % 2:
            data = data[:200] + b"\x7fELF\x00\x01\x02\x03" + data[200:]
        paths[-1].write_bytes(data)
    model = SparseSequenceNB(1, alphabet="bytes").fit(paths, labels)
    assert model.members_[0][0] == model.support_terms_[
        0
    ] == b"ELF\x00\x01\x02".hex() or (b"\x7fELF\x00\x01".hex() in model.members_[0])
    assert model.predict(paths).tolist() == labels
    data = [path.read_bytes() for path in paths]
    assert (model.predict_proba(data) == model.predict_proba(paths)).all()
    same = SparseSequenceNB(1, alphabet="bytes").fit_files(paths, labels)
    assert same.members_ == model.members_


def test_chunks_give_what_all_rows_give(planted):
    sequences, labels, _ = planted
    options = {"length": 9, "merge_copies": False}
    whole = SparseSequenceNB(4, **options).fit(sequences, labels)
    parts = SparseSequenceNB(4, **options)
    for first in range(0, 80, 16):
        part = slice(first, first + 16)
        parts.partial_fit(sequences[part], labels[part], classes=["a", "b", "c"])
        if first == 0:
            assert parts.counts_.class_count.sum() == 16
    assert parts.support_terms_ == whole.support_terms_
    with pytest.raises(ValueError, match=r"'merge_copies' parameter .* must be False"):
        SparseSequenceNB(4).partial_fit(sequences, labels, classes=["a", "b", "c"])


def test_a_saved_model_is_the_model(planted, tmp_path):
    sequences, labels, _ = planted
    for options in (
        {},
        {"weights": True},
        {"keep_counts": True, "model": "multinomial"},
    ):
        model = SparseSequenceNB(4, length=13, **options).fit(sequences, labels)
        save_model(model, tmp_path / "m.model")
        again = load_model(tmp_path / "m.model")
        assert again.members_ == model.members_
        assert (again.predict_proba(sequences) == model.predict_proba(sequences)).all()


def test_explanations_add_up(planted):
    sequences, labels, _ = planted
    model = SparseSequenceNB(4, length=13).fit(sequences, labels)
    found = model.explain(sequences[:9])
    values = found.values
    values = values.toarray() if sparse.issparse(values) else np.asarray(values)
    joint = model.predict_joint_log_proba(sequences[:9])
    np.testing.assert_allclose(
        found.base + values.sum(axis=1) - joint,
        np.broadcast_to((found.base + values.sum(axis=1) - joint)[:, :1], joint.shape),
        atol=1e-9,
    )


def test_cross_validation_takes_lists_of_sequences(planted):
    sequences, labels, _ = planted
    scores = cross_val_score(SparseSequenceNB(6, length=13), sequences, labels, cv=4)
    assert scores.mean() > 0.5


def test_counts_are_taken(planted, files):
    paths, labels = files
    counts = ClassCounts.from_sequences(paths, labels, k=13, merge_copies=True)
    model = SparseSequenceNB(4, length=13).fit_counts(counts)
    expected = SparseSequenceNB(4, length=13).fit_files(paths, labels)
    assert model.members_ == expected.members_
    assert (model.predict_proba(paths) == expected.predict_proba(paths)).all()


def test_too_many_kmers_for_a_choice_are_told(planted):
    sequences, labels, _ = planted
    model = SparseSequenceNB("1se", length=9, weights=True, memory_budget=10_000)
    with pytest.raises(ValueError, match="a larger memory_budget or min_df"):
        model.fit(sequences, labels)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("ACGT", "Got a single str"),
        ([], "Got none"),
        ([1, 2], "Got int 1 in row 0"),
        (["ACGT", None], "Got a missing value in row 1"),
        (["ACGT", float("nan")], "Got a missing value in row 1"),
        (["genomes/one.fasta", "genomes/two.fasta"], "pathlib.Path"),
        (["MKVLAAGIVGLPNQWERTYFP"] * 2, "the letters A, C, G, T or U, and N"),
        (np.array([["ACGT"]]), "in one dimension"),
        ({"a": 1}, "Got dict"),
    ],
)
def test_rows_that_are_none_are_told(planted, rows, told):
    sequences, labels, _ = planted
    fitted = SparseSequenceNB(2, length=9).fit(sequences, labels)
    for call in (
        lambda: SparseSequenceNB(2, length=3).fit(rows, [0, 1]),
        lambda: fitted.predict(rows),
    ):
        with pytest.raises(ValueError, match=re.escape(told)) as error:
            call()
        assert "SparseSequenceNB needs a list of sequences" in str(error.value)


def test_wrong_parameters_are_told(planted, files):
    sequences, labels, _ = planted
    paths, _ = files
    for model, told in [
        (SparseSequenceNB(length=32), "'length'"),
        (SparseSequenceNB(alphabet="rna"), "'alphabet'"),
        (SparseSequenceNB("1se"), "weights=True chooses"),
        (SparseSequenceNB(weights=True, k="all"), "Got 'all'"),
    ]:
        with pytest.raises(ValueError, match=told):
            model.fit(sequences, labels)
    with pytest.raises(ValueError, match=r"must be an int in 1\.\.8\. Got 9"):
        SparseSequenceNB(alphabet="bytes", length=9).fit(paths, labels)
    with pytest.raises(ValueError, match="as bytes"):
        SparseSequenceNB(alphabet="bytes").fit(sequences, labels)
    with pytest.raises(ValueError, match="one label for each sequence"):
        SparseSequenceNB().fit(sequences, labels[:-1])
    with pytest.raises(ValueError, match="'records' parameter"):
        SparseSequenceNB(alphabet="bytes").fit_files(paths, labels, records=True)
    with pytest.raises(ValueError, match="no row has"):
        SparseSequenceNB().fit(["ACGT", "CCCC"], [0, 1])


def test_no_other_engine_scores_sequences(planted):
    from bayesieve import to_sql

    sequences, labels, _ = planted
    model = SparseSequenceNB(2, length=9).fit(sequences, labels)
    with pytest.raises(ValueError, match="cannot be exported"):
        to_sql(model, "t")


# ------------------------------------------------------ what a reader stumbled on


@pytest.mark.parametrize(
    "count",
    [
        lambda files, y: ClassCounts.from_sequences(files, y, k=7),
        lambda files, y: ClassCounts.from_sequences(files, y, k=6, canonical=False),
        lambda files, y: ClassCounts.from_bytes(files, y, n=6),
        lambda files, y: ClassCounts.from_text(
            [(["AAA CCC", "GGG"], ["r", "s"])], binary=True
        ),
    ],
)
def test_counts_of_other_windows_are_refused(tmp_path, count):
    files = []
    for name, bases in (("a", "ACGTACGGTTA"), ("b", "CCGTTCGAACA")):
        files.append(tmp_path / name)
        files[-1].write_text(f">{name}\n{bases}\n")
    model = SparseSequenceNB(2, length=6)
    with pytest.raises(ValueError, match=r"needs counts of k-mers of 6 bases, ca"):
        model.fit_counts(count(files, ["r", "s"]))
    with pytest.raises(
        ValueError, match=r"Hint: count with ClassCounts.from_sequences"
    ):
        model.fit_counts(
            ClassCounts.from_sequences(files, ["r", "s"], k=6, binary=False)
        )


@pytest.mark.parametrize(
    "row",
    [
        *(">a\nACGTACGTAACCGT\n", "ACGTACGTAA\nACGTACGTAA", "cat.fa"),
        *("tcga/gata_act.gz", b">a ACGT", b"ACG\nTTT", "ACGT" * 1000 + "\n"),
    ],
)
def test_texts_and_names_of_files_are_no_sequences(row):
    model = SparseSequenceNB(1, length=3).fit(["ACGTACG", "CCCTTAG"], ["r", "s"])
    with pytest.raises(ValueError, match=r"Got .* in row 1. Hint: pathlib.Path"):
        model.predict(["ACGT", row])


@pytest.mark.parametrize("letters", ["N", "RYKM", "-", "*", ".", "X"])
def test_codes_of_other_bases_are_letters(letters):
    model = SparseSequenceNB(1, length=3).fit(["ACGTACG", "CCCTTAG"], ["r", "s"])
    assert model.predict([f"ACGTACGACG{letters}TACG"]) == ["r"]


@pytest.mark.parametrize("merge_copies", [True, False])
def test_any_member_names_its_column(merge_copies):
    rows = ["ACGGTAC" + "TTTT", "ACGGTAC" + "TTTA", "CCATTGA" + "TTTT", "CCATTGA"]
    options = {"length": 4, "merge_copies": merge_copies}
    y = ["r", "r", "s", "s"]
    free = SparseSequenceNB(1, **options).fit(rows, y)
    members = SparseSequenceNB(1, length=4).fit(rows, y).members_[0]
    complement = str.maketrans("ACGT", "TGCA")
    last = members[-1]
    for name in (last, last.lower(), last.translate(complement)[::-1]):
        without = SparseSequenceNB(1, exclude=[name], **options).fit(rows, y)
        kept = [member for own in without.members_ for member in own]
        assert last not in kept
        within = SparseSequenceNB(1, include=name, **options).fit(rows, y)
        assert last in within.members_[0]
    assert free.members_[0][0] in members


def test_predictions_take_little_memory(tmp_path):
    # Every window is a feature: 54 bytes for each base where they were kept apart.
    rng = np.random.default_rng(0)
    path = tmp_path / "long.fa"
    path.write_text(">a\n" + "".join(rng.choice(list("ACGT"), 4_000_000)) + "\n")
    rows = ["".join(rng.choice(list("ACGT"), 3000)) for _ in range(4)]
    model = SparseSequenceNB(500, length=5, model="multinomial", exact=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows, ["r", "s"] * 2)
    tracemalloc.start()
    found = model.predict([path])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.shape == (1,)
    assert peak < 40 * 4_000_000


def test_a_file_that_changes_between_two_readings_is_told(tmp_path, monkeypatch):
    files = []
    for i in range(6):
        files.append(tmp_path / f"g{i}.fa")
        files[-1].write_text(f">a\n{'ACGTACGGTTA' if i % 2 else 'CCGTTCGAACA'}\n")
    fit = SparseSequenceNB._fit_weights

    def changed(self, counts, batches):
        files[3].write_text(">a\nAAAAAAAAAAAAAAAAAAAA\n")
        return fit(self, counts, batches)

    monkeypatch.setattr(SparseSequenceNB, "_fit_weights", changed)
    model = SparseSequenceNB(2, length=4, weights=True)
    with pytest.raises(ValueError, match=r"g3.fa' was changed after it was counted"):
        model.fit_files(files, ["r", "s"] * 3)


@pytest.mark.parametrize("merge_copies", [True, False])
@pytest.mark.parametrize("strand", ["own", "other", "small"])
def test_any_member_names_its_column_in_every_rule(merge_copies, strand):
    rows = ["ACGGTAC" + "TTTT", "ACGGTAC" + "TTTA", "CCATTGA" + "TTTT", "CCATTGA"]
    options = {"length": 4, "merge_copies": merge_copies}
    y = ["r", "r", "s", "s"]
    members = SparseSequenceNB(1, length=4).fit(rows, y).members_[0]
    complement = str.maketrans("ACGT", "TGCA")
    names = [
        {"own": m, "other": m.translate(complement)[::-1], "small": m.lower()}[strand]
        for m in members
    ]
    if merge_copies:
        names = names[-1:]  # all of them are one column
    pandas = pytest.importorskip("pandas")
    prices = dict.fromkeys(names, 2.0)
    for cost in (prices, pandas.Series(prices)):
        dear = SparseSequenceNB(1, feature_cost=cost, budget=1.0, **options)
        assert not set(members) & set(np.concatenate(dear.fit(rows, y).members_))
    others = SparseSequenceNB("all", **options).fit(rows, y).support_terms_
    pair = [names[0], next(own for own in others if own not in members)]
    for groups in ([pair], {"g": pair}, pandas.Series("g", index=pair)):
        model = SparseSequenceNB(None, groups=groups, max_per_group=1, **options)
        kept = np.concatenate(model.set_params(k=2).fit(rows, y).members_)
        place = names.index(names[0]) if merge_copies else 0
        assert not {members[place], pair[1]} <= set(kept)


def test_names_of_one_column_say_one_thing():
    rows = ["ACGGTAC", "ACGGTAC", "CCATTGA", "CCATTGA"]
    y = ["r", "r", "s", "s"]
    a, b = SparseSequenceNB(1, length=4).fit(rows, y).members_[0][:2]
    pandas = pytest.importorskip("pandas")
    for rule, told in [
        ({"feature_cost": {a: 1.0, b: 2.0}, "budget": 1.0}, "which are one column"),
        ({"groups": [[a], [b]]}, "each column in one group"),
        ({"groups": pandas.Series(["g", "h"], index=[a, b])}, "Got .* in two, 'g' and"),
    ]:
        with pytest.raises(ValueError, match=told):
            SparseSequenceNB(1, length=4, **rule).fit(rows, y)


def test_a_column_is_named_by_any_member_for_every_estimator(files):
    paths, labels = files
    counts = ClassCounts.from_sequences(paths, labels, k=13, merge_copies=True)
    column = int(np.argmax(counts.copies.sizes))
    member = counts.copies.members(column).tolist()[-1]
    model = SparseBernoulliNB(3, include=[member]).fit_counts(counts)
    assert column in model.support_indices_


def test_fixed_bytes_of_numpy_are_refused():
    rows = [b"ab\0\0ab\0\0", b"cdefcdef"]
    model = SparseSequenceNB(1, alphabet="bytes", length=2)
    with pytest.raises(ValueError, match=r"dtype \|S8, which drops zero bytes"):
        model.fit(np.array(rows), [0, 1])
    whole = model.fit(np.array(rows, dtype=object), [0, 1]).n_features_in_
    assert whole == model.fit(rows, [0, 1]).n_features_in_
    bases = np.array([b"ACGTACG", b"CCCTTAG"])  # which have no zero bytes
    assert SparseSequenceNB(1, length=3).fit(bases, [0, 1]).k_ == 1


def test_missing_rows_of_pandas_are_told():
    pandas = pytest.importorskip("pandas")
    rows = pandas.Series(["ACGT", None], dtype="string")
    with pytest.raises(ValueError, match="Got a missing value in row 1"):
        SparseSequenceNB(1, length=3).fit(rows, [0, 1])


def test_a_set_of_rows_has_no_order():
    with pytest.raises(ValueError, match="Got set"):
        SparseSequenceNB(1, length=3).fit({"ACGT", "CCCT"}, [0, 1])


def test_files_that_are_not_there_are_told(planted, tmp_path):
    sequences, labels, _ = planted
    fitted = SparseSequenceNB(2, length=9).fit(sequences, labels)
    for call in (fitted.predict, lambda rows: fitted.fit(rows, ["r", "s"])):
        with pytest.raises(FileNotFoundError, match=r"There is no file '.*nowhere.fa'"):
            call([sequences[0], tmp_path / "nowhere.fa"])
        with pytest.raises(IsADirectoryError, match="is a folder, and must be a file"):
            call([sequences[0], tmp_path])


def test_more_classes_than_can_be_counted():
    rows = ["ACGT"] * 16_385
    with pytest.raises(ValueError, match=r"at most 16,384 different .* Got 16,385\."):
        SparseSequenceNB(1, length=3).fit(rows, np.arange(len(rows)))


@pytest.mark.parametrize("count", ["fit", "fit_files"])
def test_a_share_of_all_rows_is_no_number_of_rows(planted, files, count):
    names, table = matrix_of(planted[0], 3)
    paths, labels = files
    n_everywhere = int((table > 0).all(axis=0).sum())
    assert 0 < n_everywhere < len(names)

    def n_considered(min_df):
        model = SparseSequenceNB(3, length=3, merge_copies=False, min_df=min_df)
        return getattr(model, count)(paths, labels).n_features_in_

    with pytest.warns(FewFeaturesWarning, match="only 0 vary"):
        assert n_considered(1.0) == n_everywhere
    assert n_considered(1) == n_considered(0.0) == len(names)
    with pytest.raises(ValueError, match=r"'min_df' parameter of .* Got 0 instead"):
        n_considered(0)


def test_chunks_are_not_added_to_counts_without_rare_kmers(files):
    paths, labels = files
    options = {"length": 9, "merge_copies": False, "keep_counts": True}
    model = SparseSequenceNB(3, min_df=2, **options).fit_files(paths, labels)
    with pytest.raises(ValueError, match="lack rare features cannot be added"):
        model.partial_fit(paths, labels)
    chunks = SparseSequenceNB(3, min_df=2, **options)
    for part in (slice(0, 40), slice(40, 80)):
        chunks.partial_fit(paths[part], labels[part], classes=list("abc"))
    assert chunks.support_terms_ == model.support_terms_


def test_one_copy_is_not_copies():
    rows = ["ACCAT", "ACCAT", "GGGTG", "GGGTG"]
    model = SparseSequenceNB("all", length=4, canonical=False).fit(rows, list("rrss"))
    told = model._describe().named(model.support_indices_)
    assert sorted(told) == ["ACCA (+1 copy)", "GGGT (+1 copy)"]
