"""Counts of k-mers and of bytes in files, against plain twins and against Jellyfish."""

from __future__ import annotations

import bz2
import contextlib
import copy
import gzip
import itertools
import lzma
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.patience import HANGS

from bayesieve import ClassCounts, solve_bernoulli, sparsity_path
from bayesieve.counts import _checkpoint, _from_sequences, _layout, _row_labels
from bayesieve.sequences import _reading, read_records

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def canonical_kmers(bases, k):
    for part in re.split("[^ACGT]+", bases.upper().replace("U", "T")):
        for i in range(len(part) - k + 1):
            kmer = part[i : i + k]
            yield min(kmer, kmer.translate(COMPLEMENT)[::-1])


def random_bases(rng, size):
    return "".join(
        rng.choice(list("ACGTacgtNU"), size, p=[0.2] * 4 + [0.04] * 4 + [0.02] * 2)
    )


def write_fasta(path, records, width=60):
    lines = []
    for name, bases in records:
        lines.append(f">{name}")
        lines += [bases[i : i + width] for i in range(0, len(bases), width)]
    path.write_text("\n".join(lines) + "\n")


def table_of(counts):
    """Counts as {class: {name: count}} without zeros."""
    table = counts.feature_count
    table = table.toarray() if hasattr(table, "toarray") else table
    names = counts.feature_names.tolist()
    return {
        label: {name: int(v) for name, v in zip(names, row, strict=True) if v}
        for label, row in zip(counts.classes.tolist(), table, strict=True)
    }


@pytest.fixture
def genomes(tmp_path):
    """Nine files of two records, three classes by folder, half of them shared."""
    rng = np.random.default_rng(0)
    shared = random_bases(rng, 300)
    found = {}
    for i in range(9):
        folder = tmp_path / "abc"[i % 3]
        folder.mkdir(exist_ok=True)
        records = [
            (f"r{i}.1 first", shared),
            (f"r{i}.2", random_bases(rng, 200 + 20 * i)),
        ]
        write_fasta(folder / f"g{i}.fasta", records, width=37)
        found[folder / f"g{i}.fasta"] = records
    return found


def expected_of(genomes, k, binary, by_record=None):
    found = {}
    for path, records in genomes.items():
        rows = (
            [[bases] for _, bases in records]
            if by_record
            else [[b for _, b in records]]
        )
        names = [name for name, _ in records] if by_record else [None]
        for name, row in zip(names, rows, strict=True):
            kmers = [kmer for bases in row for kmer in canonical_kmers(bases, k)]
            label = by_record(name) if by_record else path.parent.name
            found.setdefault(label, Counter()).update(set(kmers) if binary else kmers)
    return {label: dict(own) for label, own in found.items()}


@pytest.mark.parametrize("k", [1, 4, 11, 31])
@pytest.mark.parametrize("binary", [True, False])
def test_a_file_is_a_row(genomes, k, binary):
    folder = next(iter(genomes)).parents[1]
    counts = ClassCounts.from_sequences(folder / "*" / "*.fasta", k=k, binary=binary)
    assert counts.kind == ("binary" if binary else "count")
    assert counts.class_count.tolist() == [3, 3, 3]
    assert table_of(counts) == expected_of(genomes, k, binary)


def test_a_record_is_a_row(genomes):
    paths = list(genomes)

    def label(header):
        return header.split()[0][-1]

    counts = ClassCounts.from_sequences(paths, label, k=7, records=True)
    assert counts.class_count.tolist() == [9, 9]
    assert table_of(counts) == expected_of(genomes, 7, True, by_record=label)
    headers = [name for records in genomes.values() for name, _ in records]
    by_header = {name.split()[0]: label(name) for name in headers}
    for labels in (by_header, [label(name) for name in headers]):
        same = ClassCounts.from_sequences(paths, labels, k=7, records=True)
        assert same == counts


def test_labels_of_files(genomes):
    paths = list(genomes)
    folders = [path.parent.name for path in paths]
    expected = ClassCounts.from_sequences(paths, k=9)
    for labels in (
        folders,
        np.array(folders),
        dict(zip(map(str, paths), folders, strict=True)),
        {path.name: own for path, own in zip(paths, folders, strict=True)},
        {path.stem: own for path, own in zip(paths, folders, strict=True)},
        lambda path: Path(path).parent.name,
    ):
        assert ClassCounts.from_sequences(paths, labels, k=9) == expected


def test_rows_without_a_label_are_left_out(genomes):
    paths = list(genomes)
    labels = [None if path.parent.name == "b" else path.parent.name for path in paths]
    counts = ClassCounts.from_sequences(paths, labels, k=9)
    expected = expected_of(genomes, 9, True)
    del expected["b"]
    assert table_of(counts) == expected


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_are_told_by_their_content(genomes, tmp_path, pack):
    paths = []
    for number, path in enumerate(genomes):
        data = path.read_bytes()
        half = data.index(b"\n", len(data) // 2) + 1
        paths.append(tmp_path / f"{number}.anything")
        # Two packed parts in one file, as sequencers write them.
        paths[-1].write_bytes(pack(data[:half]) + pack(data[half:]))
    folders = [path.parent.name for path in genomes]
    packed = ClassCounts.from_sequences(paths, folders, k=9)
    assert packed == ClassCounts.from_sequences(list(genomes), k=9)
    paths[4].write_bytes(paths[4].read_bytes()[:-20])
    with pytest.raises(ValueError, match="cut off or damaged"):
        ClassCounts.from_sequences(paths, folders, k=9)


@pytest.mark.parametrize("n", [1, 3, 6, 8])
@pytest.mark.parametrize("binary", [True, False])
def test_bytes_in_a_row(tmp_path, n, binary):
    rng = np.random.default_rng(n)
    paths, labels, expected = [], [], {}
    for i in range(8):
        data = rng.choice([0, 10, 65, 255], int(rng.integers(0, 400))).astype(np.uint8)
        paths.append(tmp_path / f"{i}.bin")
        paths[-1].write_bytes(data.tobytes())
        labels.append("xy"[i % 2])
        grams = [data[j : j + n].tobytes().hex() for j in range(len(data) - n + 1)]
        expected.setdefault(labels[-1], Counter()).update(
            set(grams) if binary else grams
        )
    counts = ClassCounts.from_bytes(paths, labels, n=n, binary=binary)
    assert table_of(counts) == {label: dict(own) for label, own in expected.items()}
    assert counts.class_count.tolist() == [4, 4]


def test_files_longer_than_a_piece_are_counted_whole(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    write_fasta(
        tmp_path / "a.fa", [("a", random_bases(rng, 9_000)), ("b", "ACGT" * 900)]
    )
    write_fasta(tmp_path / "b.fa", [("c", random_bases(rng, 5_000))])
    paths = [tmp_path / "a.fa", tmp_path / "b.fa"]
    whole = ClassCounts.from_sequences(paths, ["a", "b"], k=21)
    raw = ClassCounts.from_bytes(paths, ["a", "b"], n=5)
    monkeypatch.setattr(_reading, "PIECE_BYTES", 100)
    assert ClassCounts.from_sequences(paths, ["a", "b"], k=21) == whole
    assert ClassCounts.from_bytes(paths, ["a", "b"], n=5) == raw


@pytest.mark.parametrize(
    "options", [{"memory_budget": 1}, {"n_jobs": 2}, {"n_jobs": -1}]
)
@pytest.mark.parametrize("merge", [False, True])
def test_budget_and_threads_change_nothing(genomes, tmp_path, options, merge):
    paths = list(genomes)
    counts = ClassCounts.from_sequences(paths, k=13, merge_copies=merge)
    same = ClassCounts.from_sequences(
        paths, k=13, merge_copies=merge, spill_folder=tmp_path, **options
    )
    assert same == counts
    assert not list(tmp_path.glob("*.spill*"))
    if merge:
        assert same.copies.is_same(counts.copies)


def test_copies_are_kmers_of_the_same_rows(genomes):
    paths = list(genomes)
    k = 13
    rows = [
        {kmer for _, bases in records for kmer in canonical_kmers(bases, k)}
        for records in genomes.values()
    ]
    patterns = {}
    for kmer in sorted(set.union(*rows)):
        patterns.setdefault(tuple(kmer in row for row in rows), []).append(kmer)
    counts = ClassCounts.from_sequences(paths, k=k, merge_copies=True)
    members = [counts.copies.members(i).tolist() for i in range(len(counts.copies))]
    assert sorted(members) == sorted(patterns.values())
    assert counts.feature_names.tolist() == [own[0] for own in members]
    assert counts.copies.members_of([3, 0])[0].tolist() == members[3]
    assert counts.copies.n_features == sum(map(len, members))
    plain = ClassCounts.from_sequences(paths, k=k)
    assert table_of(counts) == {
        label: {
            name: own[name] for name in counts.feature_names.tolist() if name in own
        }
        for label, own in table_of(plain).items()
    }
    chosen = counts.select([5, 2])
    assert [own.tolist() for own in chosen.copies.members_of([0, 1])] == [
        members[5],
        members[2],
    ]


def test_rare_kmers_are_left_out(genomes):
    paths = list(genomes)
    everything = table_of(ClassCounts.from_sequences(paths, k=8))
    total = sum((Counter(own) for own in everything.values()), Counter())
    for min_df, least in ((2, 2), (0.5, 5)):
        counts = ClassCounts.from_sequences(paths, k=8, min_df=min_df)
        kept = {name for name, count in total.items() if count >= least}
        assert set(counts.feature_names.tolist()) == kept


def test_files_keep_counts_of_kmers(genomes, tmp_path):
    for merge in (False, True):
        counts = ClassCounts.from_sequences(list(genomes), k=17, merge_copies=merge)
        counts.save(tmp_path / "c.npz")
        again = ClassCounts.load(tmp_path / "c.npz")
        assert again == counts
        assert again.feature_names == counts.feature_names
        if merge:
            assert again.copies.is_same(counts.copies)


def test_parts_add_up(genomes):
    paths = list(genomes)
    parts = [ClassCounts.from_sequences(paths[i : i + 3], k=9) for i in (0, 3, 6)]
    whole = ClassCounts.from_sequences(paths, k=9)
    assert parts[0] + parts[1] + parts[2] == whole
    merged = [
        ClassCounts.from_sequences(paths[i : i + 3], k=9, merge_copies=True)
        for i in (0, 3)
    ]
    with pytest.raises(ValueError, match="copies were merged"):
        merged[0] + merged[1]


def test_selection_is_that_of_the_table(genomes):
    counts = ClassCounts.from_sequences(list(genomes), k=11)
    dense = np.asarray(
        counts.feature_count.toarray()
        if hasattr(counts.feature_count, "toarray")
        else counts.feature_count
    )
    plain = ClassCounts(counts.classes, counts.class_count, dense, kind="binary")
    found, expected = (solve_bernoulli(own, 5) for own in (counts, plain))
    assert found.support.tolist() == expected.support.tolist()
    assert found.certificate == expected.certificate


# ------------------------------------------------------------------ checkpoints


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    rng = np.random.default_rng(4)
    for i in range(12):
        write_fasta(tmp_path / f"{i:02}.fa", [("r", random_bases(rng, 3_000))])
    pattern, folder = str(tmp_path / "*.fa"), tmp_path / "kept"
    labels = ["ab"[i % 2] for i in range(12)]
    expected = ClassCounts.from_sequences(pattern, labels, k=19, merge_copies=True)
    # Kills itself after the fifth file is on disk.
    program = f"""
import os, signal
from bayesieve import ClassCounts
from bayesieve.counts import _checkpoint, _from_sequences
_checkpoint.SAVE_SECONDS = 0.0
saved = []
save = _from_sequences._KeyParts.save
def then_die(self, counts, path):
    save(self, counts, path)
    saved.append(path)
    if len(saved) == 6:
        os.kill(os.getpid(), signal.SIGKILL)
_from_sequences._KeyParts.save = then_die
ClassCounts.from_sequences({pattern!r}, {labels!r}, k=19, checkpoint={str(folder)!r})
"""
    done = subprocess.run(
        [sys.executable, "-c", program], timeout=HANGS, check=False, capture_output=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    read = []
    original = _checkpoint.Checkpoint.resume

    def noting(self, paths, labels):
        read.append(original(self, paths, labels))
        return read[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_checkpoint.Checkpoint, "resume", noting)
        counts = ClassCounts.from_sequences(
            pattern, labels, k=19, checkpoint=folder, merge_copies=True
        )
    assert len(read[0]) == 5  # files that were not read again
    assert counts == expected
    assert counts.copies.is_same(expected.copies)
    with pytest.raises(ValueError, match="checkpoint"):
        ClassCounts.from_sequences(pattern, labels, k=20, checkpoint=folder)
    with pytest.raises(ValueError, match="checkpoint"):
        ClassCounts.from_sequences(pattern, labels[::-1], k=19, checkpoint=folder)


def test_a_checkpoint_of_records(genomes, tmp_path):
    paths = list(genomes)
    labels = {name: name[-1] for records in genomes.values() for name, _ in records}
    options = {"k": 9, "records": True}
    expected = ClassCounts.from_sequences(paths, labels, **options)
    for _ in range(2):
        counts = ClassCounts.from_sequences(
            paths, labels, checkpoint=tmp_path / "kept", **options
        )
        assert counts == expected
    with pytest.raises(ValueError, match="must not depend on the files before"):
        ClassCounts.from_sequences(
            paths, list(labels.values()), checkpoint=tmp_path / "other", **options
        )


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"ACGT\n", "line 1: a FASTA file begins with '>'"),
        (b"", "Got 0 records and no base"),
        (b">a\n", "Got 1 records and no base"),
        (b">a\nMKVLAAGIVGLPNQWERTYFP\n", "must hold DNA or RNA"),
        (b"@a\nACGT\n+\nII\n", "too few"),
        (b"@a\nACGT\n+\nIIII\n@b\nGGGC", "the file ends within a record"),
        (b"@a\nACGT\n+\nIIII\n@b", "the file ends within a record"),
        (b">a\rACGT\r>b\rACGT\r", "Got carriage returns alone, as on old Macs"),
        (b">a\rACGT", "Got carriage returns alone, as on old Macs"),
        (b"\xef\xbbACGT\n", "line 1: a FASTA file begins with '>'"),
        (b"a,b\n1,2\n", "begins with '>'"),
    ],
)
def test_other_files_are_refused(tmp_path, content, told):
    path = tmp_path / "odd.fasta"
    path.write_bytes(content)
    before = threading.active_count()
    with pytest.raises(ValueError, match=re.escape(told)) as error:
        ClassCounts.from_sequences([path], ["a"], k=3)
    assert "odd.fasta" in str(error.value)
    assert "\n" not in str(error.value)
    # A thread left to the garbage collector once waited for the thread it ran in.
    assert threading.active_count() == before


@pytest.mark.parametrize("packed", [False, True])
def test_an_archive_of_files_is_told(tmp_path, packed):
    (tmp_path / "g.fa").write_text(">a\nACGT\n")
    path = tmp_path / "genomes.fa.gz"
    with tarfile.open(path, "w:gz" if packed else "w") as archive:
        archive.add(tmp_path / "g.fa", arcname="g.fa")
    told = r"genomes.fa.gz' .* Got a tar archive of files. Hint: unpack it first"
    with pytest.raises(ValueError, match=told):
        ClassCounts.from_sequences([path], ["a"], k=3)
    with pytest.raises(ValueError, match=told):
        list(read_records(path))


def test_a_byte_order_mark_is_no_letter(tmp_path, monkeypatch):
    path = tmp_path / "marked.fa"
    path.write_bytes(b"\xef\xbb\xbf>a\nACGT\n")
    for piece in (_reading.PIECE_BYTES, 1, 2, 4):
        monkeypatch.setattr(_reading, "PIECE_BYTES", piece)
        assert list(read_records(path)) == [("a", "ACGT")]


def test_wrong_arguments_are_told(genomes):
    paths = list(genomes)
    for options, told in [
        ({"k": 32}, "must be an int in 1..31. Got 32"),
        ({"k": 2.5}, "must be an int in 1..31. Got 2.5"),
        ({"canonical": 1}, "must be True or False. Got 1"),
        ({"labels": ["a"]}, "one label for each file. Got 1 labels and 9 files"),
        ({"labels": {"g0": "a"}}, "must name every row"),
        ({"labels": "abc"}, "must be an array, a mapping or a function. Got str"),
        ({"records": True}, "must be given with records=True"),
        ({"records": True, "labels": ["a"]}, "one label for each record"),
        ({"min_df": 2, "binary": False}, "needs binary=True"),
        ({"memory_budget": 0}, "memory_budget"),
        ({"spill_folder": "/no/such/folder"}, "spill_folder"),
        ({"labels": [None] * 9}, "at least one row"),
        ({"classes": ["a", "b"]}, "'c'"),
    ]:
        with pytest.raises(
            (ValueError, TypeError, FileNotFoundError), match=re.escape(told)
        ):
            ClassCounts.from_sequences(paths, **options)
    with pytest.raises(TypeError, match="an empty list"):
        ClassCounts.from_sequences([])
    with pytest.raises((ValueError, FileNotFoundError), match="nowhere"):
        ClassCounts.from_sequences("nowhere/*.fa")
    with pytest.raises(ValueError, match=re.escape("must be an int in 1..8. Got 9")):
        ClassCounts.from_bytes(paths, n=9)


# ------------------------------------------------------------------ another tool


@pytest.mark.skipif(
    shutil.which("jellyfish") is None, reason="jellyfish is not installed"
)
@pytest.mark.parametrize("k", [5, 17, 31])
def test_counts_are_those_of_jellyfish(genomes, tmp_path, k):
    paths = list(genomes)
    upper = tmp_path / "upper.fa"  # of U, Jellyfish knows nothing
    text = "\n".join(path.read_text() for path in paths)
    lines = [
        line if line.startswith(">") else line.upper().replace("U", "T")
        for line in text.split("\n")
    ]
    upper.write_text("\n".join(lines))
    index = tmp_path / "index.jf"
    count = ["jellyfish", "count", "-m", str(k), "-s", "1M", "-C", "-o", index, upper]
    subprocess.run(count, check=True, timeout=HANGS)
    dumped = subprocess.run(
        ["jellyfish", "dump", "-c", index],
        check=True,
        capture_output=True,
        timeout=HANGS,
    )
    expected = dict(line.split() for line in dumped.stdout.decode().splitlines())
    counts = ClassCounts.from_sequences([upper], ["all"], k=k, binary=False)
    assert table_of(counts) == {"all": {name: int(n) for name, n in expected.items()}}


def test_real_files_of_this_machine_are_rows(tmp_path):
    # Any two programs: windows that are counted are windows that are there.
    programs = [Path(sys.executable).resolve(), Path(np._core.__file__).resolve()]
    small = []
    for i, path in enumerate(programs):
        small.append(tmp_path / f"{i}")
        with path.open("rb") as file:
            small[-1].write_bytes(file.read(50_000))
    counts = ClassCounts.from_bytes(small, ["a", "b"], n=4)
    contents = [path.read_bytes() for path in small]
    rng = np.random.default_rng(0)
    for column in rng.choice(counts.n_features, 50).tolist():
        gram = bytes.fromhex(counts.feature_names[column])
        there = [float(gram in content) for content in contents]
        assert counts.feature_count[:, column].tolist() == there


def test_a_spill_folder_that_cannot_be_written(genomes, tmp_path):
    folder = tmp_path / "read-only"
    folder.mkdir()
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("this user may write anywhere")
    with pytest.raises(OSError, match="spill"):
        ClassCounts.from_sequences(
            list(genomes), k=9, memory_budget=1, spill_folder=folder
        )


# ------------------------------------------------------ what a reader stumbled on


def written(folder, **sequences):
    """Files of one record each."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, bases in sequences.items():
        paths.append(folder / f"{name}.fa")
        paths[-1].write_text(f">{name}\n{bases}\n")
    return paths


def test_counts_of_other_windows_do_not_add_up(tmp_path):
    (path,) = written(tmp_path, a="TTTTTGGCC")
    counts = [
        ClassCounts.from_sequences([path], ["r"], k=5),
        ClassCounts.from_sequences([path], ["r"], k=6),
        ClassCounts.from_sequences([path], ["r"], k=5, canonical=False),
        ClassCounts.from_bytes([path], ["r"], n=5),
    ]
    for a, b in itertools.permutations(counts, 2):
        assert a.feature_names != b.feature_names
        with pytest.raises(ValueError, match=r"when their windows are the same. Got"):
            a + b
        with pytest.raises(ValueError, match=r"when their windows are the same. Got"):
            a - b


def test_the_folder_of_a_link_is_its_own(tmp_path):
    paths = written(tmp_path / "pool", a="ACGTACG", b="CCGTTCG")
    for path, folder in zip(paths, "RS", strict=True):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / path.name).symlink_to(path)
    counts = ClassCounts.from_sequences(f"{tmp_path}/[RS]/*.fa", k=3)
    assert counts.classes.tolist() == ["R", "S"]


@pytest.mark.parametrize("n_labels", [1, 2, 4, 5])
def test_records_and_labels_are_as_many(tmp_path, n_labels):
    path = tmp_path / "all.fa"
    path.write_text(">a\nACGTT\n>b\nCCGTA\n>c\nGGGTA\n")
    with pytest.raises(ValueError, match=f"Got {n_labels} labels and"):
        ClassCounts.from_sequences(path, ["x"] * n_labels, k=3, records=True)


def test_classes_that_no_record_has_are_none(tmp_path):
    path = tmp_path / "all.fa"
    path.write_text(">a\nACGTT\n>b\nCCGTA\n")
    labels = {"other": "w", "a": "x", "b": "z", "more": "y"}
    for merge in (False, True):
        options = {"k": 3, "records": True, "merge_copies": merge}
        counts = ClassCounts.from_sequences(path, labels, **options)
        wanted = ClassCounts.from_sequences(path, ["x", "z"], **options)
        assert counts.classes.tolist() == ["x", "z"]
        np.testing.assert_array_equal(counts.class_count, wanted.class_count)
        np.testing.assert_array_equal(counts.feature_count, wanted.feature_count)
        given = ClassCounts.from_sequences(
            path, labels, classes=list("wxyz"), **options
        )
        assert given.class_count.tolist() == [0, 1, 0, 1]


def test_classes_that_no_record_has_leave_a_sparse_table(tmp_path, monkeypatch):
    monkeypatch.setattr(_layout, "DENSE_CELLS", 1)
    path = tmp_path / "all.fa"
    path.write_text(">a\nACGTT\n>b\nCCGTA\n>c\nTTTTT\n")
    labels = {"a": "x", "b": "z", "c": "v", "more": "y", "first": "a"}
    counts = ClassCounts.from_sequences(path, labels, k=3, records=True)
    wanted = ClassCounts.from_sequences(path, ["x", "z", "v"], k=3, records=True)
    assert counts.classes.tolist() == ["v", "x", "z"]
    np.testing.assert_array_equal(
        counts.feature_count.toarray(), wanted.feature_count.toarray()
    )


def test_files_without_a_label_are_not_read(tmp_path):
    paths = written(tmp_path, a="ACGTACG", b="CCGTTCG", empty="")
    counts = ClassCounts.from_sequences(paths, ["x", "y", None], k=3)
    assert counts.class_count.tolist() == [1, 1]


def test_measurements_are_no_labels(tmp_path):
    paths = written(tmp_path, a="ACGTACG", b="CCGTTCG")
    with pytest.raises(
        ValueError, match=r"must be classes. Got numbers with fractions"
    ):
        ClassCounts.from_sequences(paths, [0.5, 2.0], k=3)
    assert ClassCounts.from_sequences(paths, [1.0, 2.0], k=3).n_classes == 2


def test_labels_as_people_have_them(tmp_path):
    pandas = pytest.importorskip("pandas")
    paths = written(tmp_path / "in", a="ACGTACG", b="CCGTTCG")
    wanted = ClassCounts.from_sequences(paths, ["x", "y"], k=3)
    for labels in (
        pandas.Series(["x", "y"]),
        pandas.Series(["x", "y"], index=[4, 7]),
        pandas.Series(["y", "x"], index=["b", "a"]),
        dict(zip(paths, ["x", "y"], strict=True)),
        {os.path.relpath(path): label for path, label in zip(paths, "xy", strict=True)},
        iter(["x", "y"]),
        {"in/a": "x", "in/b.fa": "y"},
    ):
        found = ClassCounts.from_sequences(paths, labels, k=3)
        assert found.classes.tolist() == ["x", "y"]
        np.testing.assert_array_equal(found.feature_count, wanted.feature_count)
    with pytest.raises(TypeError, match=r"Got DataFrame. Hint: table.set_index"):
        ClassCounts.from_sequences(paths, pandas.DataFrame({"label": ["x", "y"]}), k=3)


def test_samples_are_told_by_their_folders(tmp_path):
    paths = []
    for folder, bases in (("s1", "ACGTACG"), ("s2", "CCGTTCG")):
        paths += written(tmp_path / folder, contigs=bases)
    counts = ClassCounts.from_sequences(paths, {"s1": "x", "s2": "y"}, k=3)
    assert counts.class_count.tolist() == [1, 1]
    with pytest.raises(ValueError, match=r"must tell files apart. Got 'contigs' for"):
        ClassCounts.from_sequences(paths, {"contigs": "x"}, k=3)
    with pytest.raises(ValueError, match=r"Got none for .* Hint: .* the folder 's1'"):
        ClassCounts.from_sequences(paths, {"quite-another": "x"}, k=3)


def save_each_file(monkeypatch):
    monkeypatch.setattr(_checkpoint, "SAVE_SECONDS", 0.0)


class KilledError(Exception):
    pass


def stop_after(monkeypatch, n_files):
    """The first run ends after so many files."""
    done = []
    count = _from_sequences._Counting._count

    def counted(self, counter, number):
        if len(done) == n_files:
            raise KilledError
        done.append(number)
        count(self, counter, number)

    monkeypatch.setattr(_from_sequences._Counting, "_count", counted)


@pytest.mark.parametrize("labels", ["list", "dict"])
def test_a_checkpoint_knows_files_by_name(tmp_path, monkeypatch, labels):
    save_each_file(monkeypatch)
    paths = written(tmp_path / "in", a="ACGTACGTA", b="CCGTTCGAA", c="GGGTTTACC")
    own = dict(zip(paths, "rss", strict=True))
    folder = tmp_path / "kept"
    again = [paths[1], paths[0], paths[2]]

    def count(some, **options):
        given = own if labels == "dict" else [own[path] for path in some]
        return ClassCounts.from_sequences(
            some, given, k=5, merge_copies=True, **options
        )

    with monkeypatch.context() as first:
        stop_after(first, 1)
        with pytest.raises(KilledError):
            count(paths, checkpoint=folder)
    found, wanted = count(again, checkpoint=folder), count(paths)
    np.testing.assert_array_equal(found.class_count, wanted.class_count)
    np.testing.assert_array_equal(found.feature_count, wanted.feature_count)
    assert found.copies.is_same(wanted.copies)


def test_a_checkpoint_knows_the_label_of_each_file(tmp_path, monkeypatch):
    save_each_file(monkeypatch)
    paths = written(tmp_path / "in", a="ACGTACGTA", b="CCGTTCGAA", c="GGGTTTACC")
    folder = tmp_path / "kept"
    with monkeypatch.context() as first:
        stop_after(first, 1)
        with pytest.raises(KilledError):
            ClassCounts.from_sequences(paths, list("rss"), k=5, checkpoint=folder)
    with pytest.raises(ValueError, match=r"with the label 'r' in the .* Got 's'. Hint"):
        ClassCounts.from_sequences(paths, list("srs"), k=5, checkpoint=folder)
    more = [*paths, *written(tmp_path / "in", d="TTTTTTTTA")]
    found = ClassCounts.from_sequences(more, list("rssr"), k=5, checkpoint=folder)
    wanted = ClassCounts.from_sequences(more, list("rssr"), k=5)
    np.testing.assert_array_equal(found.feature_count, wanted.feature_count)


def test_a_checkpoint_of_records_knows_their_labels(tmp_path):
    first, second = tmp_path / "b.fa", tmp_path / "a.fa"
    first.write_text(">a\nACGTACGTA\n>b\nCCGTTCGAA\n")
    second.write_text(">c\nGGGTTTACC\n>d\nTTTTTTTTA\n")
    labels = {"a": "x", "b": "y", "c": "x", "d": "y"}
    options = {"k": 5, "records": True, "merge_copies": True}
    folder = tmp_path / "kept"
    ClassCounts.from_sequences([first], labels, checkpoint=folder, **options)
    found = ClassCounts.from_sequences(
        [second, first], labels, checkpoint=folder, **options
    )
    wanted = ClassCounts.from_sequences([second, first], labels, **options)
    np.testing.assert_array_equal(found.feature_count, wanted.feature_count)
    assert found.copies.is_same(wanted.copies)
    with pytest.raises(ValueError, match=r"was counted with the label 'of records"):
        ClassCounts.from_sequences(
            [second, first], labels | {"b": "x"}, checkpoint=folder, **options
        )


@pytest.mark.parametrize("name", ["binary", "merge_copies", "records"])
def test_truth_values_are_told(tmp_path, name):
    paths = written(tmp_path, a="ACGTACG", b="CCGTTCG")
    with pytest.raises(
        TypeError, match=f"The '{name}' parameter of from_sequences must"
    ):
        ClassCounts.from_sequences(paths, ["x", "y"], k=3, **{name: "yes"})


@pytest.mark.parametrize("n_parts", [1, 3])
@pytest.mark.parametrize("place", ["header", "entry", "rows"])
def test_a_damaged_part_of_a_checkpoint_is_told(tmp_path, monkeypatch, place, n_parts):
    save_each_file(monkeypatch)
    paths = written(tmp_path / "in", a="ACGTACGTA", b="CCGTTCGAA", c="GGGTTTACC")
    options = {"k": 5, "checkpoint": tmp_path / "kept"}
    with monkeypatch.context() as first:
        stop_after(first, n_parts)
        with contextlib.suppress(KilledError):
            ClassCounts.from_sequences(paths, list("rss"), **options)
    part = next((tmp_path / "kept").glob("*.keys"))
    content = bytearray(part.read_bytes())
    content[{"header": 8, "entry": 60, "rows": -1}[place]] ^= 1
    part.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{part.name}' must be a file of counts of"):
        ClassCounts.from_sequences(paths, list("rss"), **options)


def test_a_checkpoint_is_a_folder(tmp_path):
    paths = written(tmp_path, a="ACGTACG", b="CCGTTCG")
    for place in (paths[0], paths[0] / "kept"):
        with pytest.raises(
            ValueError, match=r"'checkpoint' .* Got .*a\.fa.* is a file"
        ):
            ClassCounts.from_sequences(paths, ["x", "y"], k=3, checkpoint=place)


@pytest.mark.parametrize("records", [False, True])
@pytest.mark.parametrize("given", ["list", "function"])
def test_too_many_classes_are_told(tmp_path, monkeypatch, records, given):
    monkeypatch.setattr(_row_labels, "MOST_CLASSES", 2)
    paths = written(tmp_path, a="ACGTACG", b="CCGTTCG", c="ACCCAGG")
    labels = list("xyz") if given == "list" else lambda name: name[-4:]
    if records:
        (tmp_path / "all.fa").write_text("".join(own.read_text() for own in paths))
        paths = [tmp_path / "all.fa"]
    with pytest.raises(ValueError, match=r"at most 2 different ones. Got 3\."):
        ClassCounts.from_sequences(paths, labels, k=3, records=records)


def test_too_many_classes_are_told_before_the_core_does():
    assert _row_labels.MOST_CLASSES == 16_384


def test_links_to_one_file_are_told(tmp_path):
    (path,) = written(tmp_path, a="ACGTACG")
    (tmp_path / "l.fa").symlink_to(path)
    (tmp_path / "gone.fa").symlink_to(tmp_path / "nowhere.fa")
    with pytest.raises(
        ValueError, match=r"Got '.*a.fa' and '.*l.fa', which lead to the"
    ):
        ClassCounts.from_sequences(str(tmp_path / "*.fa"), k=3)
    with pytest.raises(ValueError, match=r"Got '.*a.fa' more than once"):
        ClassCounts.from_sequences([path, path], k=3)
    with pytest.raises(FileNotFoundError, match=r"gone.fa' leads to '.*nowhere.fa', w"):
        ClassCounts.from_sequences(tmp_path / "gone.fa", k=3)


# -------------------------------------------------------------------- labels by number


def numbered(folder, n):
    """Files called by numbers; a glob gives 0, 1, 10, 11, 2 ... and not 0, 1, 2."""
    rng = np.random.default_rng(0)
    bases = {f"{i}": random_bases(rng, 40) for i in range(n)}
    return {int(path.stem): path for path in written(folder, **bases)}


@pytest.mark.parametrize("records", [False, True])
def test_numbers_in_an_index_are_names(tmp_path, records):
    pandas = pytest.importorskip("pandas")
    paths = numbered(tmp_path / "in", 12)
    own = {i: "xy"[i > 5] for i in paths}
    options = {"k": 3, "records": records}
    pattern = str(tmp_path / "in" / "*.fa")
    wanted = ClassCounts.from_sequences(
        pattern, {str(i): label for i, label in own.items()}, **options
    )
    table = pandas.DataFrame({"sample": list(own), "label": list(own.values())})
    by_name = table.set_index("sample")["label"]
    for labels in (own, by_name, by_name.sample(frac=1, random_state=0)):
        assert ClassCounts.from_sequences(pattern, labels, **options) == wanted
    by_name.index = by_name.index.astype(float)  # as one missing number makes them
    assert ClassCounts.from_sequences(pattern, by_name, **options) == wanted
    if not records:  # whose names are not known before they are read
        without_name = by_name.rename_axis(None).sample(frac=1, random_state=0)
        assert ClassCounts.from_sequences(pattern, without_name, **options) == wanted


@pytest.mark.parametrize("records", [False, True])
def test_a_numbered_series_is_refused_where_it_could_name_rows(tmp_path, records):
    pandas = pytest.importorskip("pandas")
    paths = numbered(tmp_path / "in", 12)
    labels = pandas.Series(["xy"[i > 5] for i in range(12)])
    options = {"k": 3, "records": records}
    told = r"by name or in order. Got a Series that is numbered .* Hint: labels.to_num"
    with pytest.raises(ValueError, match=told):
        ClassCounts.from_sequences(str(tmp_path / "in" / "*.fa"), labels, **options)
    # In this order both ways are one.
    in_order = [paths[i] for i in range(12)]
    found = ClassCounts.from_sequences(in_order, labels, **options)
    assert found == ClassCounts.from_sequences(in_order, labels.tolist(), **options)


def test_a_named_index_names_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    paths = written(tmp_path, s1="ACGTACG", s2="CCGTTCG")
    labels = pandas.Series(["x", "y"], index=pandas.Index([1, 2], name="sample"))
    with pytest.raises(ValueError, match=r"must name every row. Got none for"):
        ClassCounts.from_sequences(paths, labels, k=3)


@pytest.mark.parametrize(
    "make", [set, frozenset, lambda own: dict.fromkeys(own).keys()]
)
def test_what_has_no_order_is_refused(tmp_path, make):
    paths = written(tmp_path, a="ACGTACG", b="CCGTTCG")
    with pytest.raises(TypeError, match=r"'labels' .* must be an array, a mapping or"):
        ClassCounts.from_sequences(paths, make(["x", "y"]), k=3)
    with pytest.raises(TypeError, match=r"'paths' .* must be a path, a glob or a list"):
        ClassCounts.from_sequences(make(paths), ["x", "y"], k=3)


@pytest.mark.parametrize("spelled", ["./in/a.fa", "in/../in/a.fa", "in//a.fa"])
def test_paths_are_known_in_any_spelling(tmp_path, monkeypatch, spelled):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "in", a="ACGTACG", b="CCGTTCG")
    for pattern in ("in/*.fa", "./in/*.fa", str(tmp_path / "in" / "*.fa")):
        labels = {spelled: "x", "b": "y"}
        found = ClassCounts.from_sequences(pattern, labels, k=3)
        assert found.class_count.tolist() == [1, 1]


# ------------------------------------------------------------------ rare k-mers


def test_counts_without_rare_kmers_do_not_add_up(genomes, tmp_path):
    paths = list(genomes)
    whole = ClassCounts.from_sequences(paths, k=8)
    rare = ClassCounts.from_sequences(paths, k=8, min_df=2)
    rare.save(tmp_path / "c.npz")
    saved = ClassCounts.load(tmp_path / "c.npz")
    told = (
        r"cannot be added or subtracted: .* Got counts without features in fewer than"
    )
    for part in (rare, saved, rare.select([0, 1]), rare.scaled(2), copy.copy(rare)):
        for call in (lambda own=part: whole + own, lambda own=part: own + whole):
            with pytest.raises(ValueError, match=told):
                call()
        with pytest.raises(ValueError, match=told):
            whole - part
        with pytest.raises(ValueError, match=told):
            part + part
    nothing_left_out = ClassCounts.from_sequences(paths, k=8, min_df=0.01)
    assert nothing_left_out + whole == whole + whole


@pytest.mark.parametrize("min_df", [1.0, np.float64(1.0)])
def test_a_share_of_all_rows_is_all_rows(genomes, min_df):
    paths = list(genomes)
    everywhere = ClassCounts.from_sequences(paths, k=4, min_df=min_df)
    assert everywhere == ClassCounts.from_sequences(paths, k=4, min_df=9)
    with pytest.raises(ValueError, match=r"'min_df' .* needs binary=True"):
        ClassCounts.from_sequences(paths, k=4, min_df=min_df, binary=False)
    with pytest.raises(ValueError, match=r"'min_df' must be a number of .* Got 0\."):
        ClassCounts.from_sequences(paths, k=4, min_df=0)
    everything = ClassCounts.from_sequences(paths, k=4, min_df=0.0)
    assert everything == ClassCounts.from_sequences(paths, k=4)


# ------------------------------------------------------------------ names of columns


@pytest.mark.parametrize("merge_copies", [True, False])
def test_any_member_on_either_strand_names_its_column(genomes, merge_copies, tmp_path):
    counts = ClassCounts.from_sequences(list(genomes), k=13, merge_copies=merge_copies)
    counts.save(tmp_path / "c.npz")
    whole = ClassCounts.from_sequences(list(genomes), k=13, merge_copies=True)
    column = int(np.argmax(whole.copies.sizes))
    member = whole.copies.members(column).tolist()[-1]
    other_strand = member.translate(COMPLEMENT)[::-1]
    for own in (counts, ClassCounts.load(tmp_path / "c.npz"), counts.select([8, 2, 5])):
        wanted = -1
        if own.copies is not None:
            there = np.flatnonzero(own.copies.columns == column)
            wanted = int(there[0]) if there.size else -1
        elif member in own.feature_names.tolist():
            wanted = own.feature_names.tolist().index(member)
        for name in (member, other_strand, member.lower(), member.replace("T", "U")):
            assert own.feature_names.index_of([name, "A" * 14]).tolist() == [wanted, -1]
            if own.copies is not None:
                found = own.copies.column_of(name)
                assert found == (None if wanted < 0 else wanted)
    found = counts.feature_names.index_of([member])[0]
    for name in (member, other_strand):
        assert found in solve_bernoulli(counts, 3, include=[name]).support
        assert found not in solve_bernoulli(counts, 3, exclude=name).support
        assert found in sparsity_path(
            counts, [3], model="bernoulli", include=[name]
        ).support(3)


def test_names_that_are_no_windows_are_told(genomes):
    counts = ClassCounts.from_sequences(list(genomes), k=13)
    with pytest.raises(ValueError, match=r"Got 'ACGT'. Hint: .* k-mers of 13 bases"):
        solve_bernoulli(counts, 3, include=["ACGT"])
    with pytest.raises(ValueError, match=r"Got 'A{13}'\.$"):
        solve_bernoulli(counts, 3, include=["A" * 13])
