"""Values behind right checksums: nothing wraps, no memory is wasted, no NaN gets in."""

from __future__ import annotations

import json
import random
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.persistence.models import answers, examples
from tests.persistence.mutations import (
    array_of,
    bases,
    members_of,
    mutated,
    npy,
    rewritten,
    used,
)

from bayesieve.counts import ClassCounts, _layout
from bayesieve.counts._storage import rises
from bayesieve.exceptions import NewerVersionWarning
from bayesieve.persistence import load_model, save_model

OLD = Path(__file__).with_name("written_by_0_1.zip")


def refused(load, path, match, most=60_000_000):
    """A file is refused in one sentence, before much memory is asked for."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=match) as caught:
            load(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    assert str(caught.value).startswith(str(path))
    assert peak < most


def counts_file(path, counts=None, metadata=None, **arrays):
    """Save counts with some members, and some fields of the metadata, replaced."""
    if counts is None:
        counts = ClassCounts.from_text([(["good film", "bad plot"], ["pos", "neg"])])
    counts.save(path)

    def change(members):
        fields = json.loads(array_of(members["metadata.npy"]).tobytes())
        text = json.dumps(fields | (metadata or {})).encode()
        own = {"metadata": np.frombuffer(text, np.uint8)} | arrays
        return members | {f"{name}.npy": npy(array) for name, array in own.items()}

    path.write_bytes(rewritten(path.read_bytes(), change))
    return path


def model_file(path, name, header=None, drop=(), **arrays):
    """Save an example with some members, and parts of its header, replaced."""
    save_model(examples()[name][0], path)

    def change(members):
        fields = json.loads(members["model.json"])
        for key, value in (header or {}).items():
            fields["attributes"][key] = value
        own = {f"{key}.npy": npy(array) for key, array in arrays.items()}
        members = members | own | {"model.json": json.dumps(fields).encode()}
        return {key: value for key, value in members.items() if key not in drop}

    path.write_bytes(rewritten(path.read_bytes(), change))
    return path


# --------------------------------------------------------------------------- wrapping


def test_rising_is_told_without_subtraction():
    wrapping = np.array([0, 100, -100, 0, 127], np.int8)
    assert (np.diff(wrapping) >= 0).all()  # what a difference says
    assert not rises(wrapping)
    wide = np.array([0, 2**62, -(2**63), -1, 5])
    assert (np.diff(wide) > 0).all()
    assert not rises(wide, strictly=True)
    assert not rises(np.array([np.inf, np.inf]), strictly=True)
    assert rises(np.array([0, 0, 3]))
    assert not rises(np.array([0, 0, 3]), strictly=True)
    assert rises(np.zeros(0))
    assert not rises(np.array([0.0, np.nan, 1.0]))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.uint64, ">i8"])
@pytest.mark.parametrize("name", ["names_offsets", "classes_offsets"])
def test_offsets_that_wrap_or_are_of_another_width(name, dtype, tmp_path):
    steps = np.array([0, 100, -100, 0, 127]).astype(dtype)
    blob = np.full(127, ord("a"), np.uint8)
    arrays = {name: steps, name.replace("offsets", "bytes"): blob}
    path = counts_file(tmp_path / "c", **arrays)
    refused(ClassCounts.load, path, "not the array it should be|does not rise")


def test_wide_offsets_that_wrap(tmp_path):
    steps = np.array([0, 2**62, -(2**63), -1, 3])
    blob = np.full(3, ord("a"), np.uint8)
    path = counts_file(tmp_path / "c", names_offsets=steps, names_bytes=blob)
    refused(ClassCounts.load, path, "does not rise")
    path = model_file(tmp_path / "m", "text", _names_offsets=steps, _names_bytes=blob)
    refused(load_model, path, "does not rise")


def test_positions_that_wrap(tmp_path):
    positions = np.array([0, 2**62, -(2**63), -1, 5])
    gains = np.zeros(5)
    path = model_file(
        tmp_path / "m",
        "multinomial",
        {"k_": 5},
        support_indices_=positions,
        support_gains_=gains,
        feature_log_prob_=np.zeros((2, 5)),
    )
    refused(load_model, path, "does not hold rising positions")


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint32, np.float64])
def test_sparse_tables_have_the_indices_that_are_written(dtype, tmp_path, monkeypatch):
    monkeypatch.setattr(_layout, "DENSE_CELLS", 0)
    counts = ClassCounts.from_matrix([[1, 2], [3, 0], [0, 4]], [0, 1, 2])
    path = counts_file(tmp_path / "c", counts)
    ClassCounts.load(path)
    for part in ("indices", "indptr"):
        now = array_of(members_of(path.read_bytes())[f"feature_count_{part}.npy"])
        name = f"feature_count_{part}"
        changed = counts_file(tmp_path / "d", counts, **{name: now.astype(dtype)})
        refused(ClassCounts.load, changed, "not the array it should be")


def test_truth_values_are_zero_or_one(tmp_path):
    path = model_file(tmp_path / "m", "mixed")

    def change(members):
        content = bytearray(members["_columns.continuous.npy"])
        content[-1] = 2
        return members | {"_columns.continuous.npy": bytes(content)}

    path.write_bytes(rewritten(path.read_bytes(), change))
    refused(load_model, path, "does not hold truth values")


# -------------------------------------------------------------------------------- bombs


def test_labels_of_very_different_lengths(tmp_path):
    # 20,000 labels, one of them of 100,000 letters: 8 GB as an array of strings.
    texts = [f"{i:05}" for i in range(19_999)] + ["z" * 100_000]
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    path = counts_file(
        tmp_path / "c",
        classes_bytes=np.frombuffer("".join(texts).encode(), np.uint8),
        classes_offsets=offsets,
        class_count=np.ones(len(texts)),
    )
    refused(ClassCounts.load, path, "asks for more than .* Hint: if you trust it")
    kinds = np.ones(len(texts), np.uint8)
    path = model_file(
        tmp_path / "m",
        "multinomial",
        classes__bytes=np.frombuffer("".join(texts).encode(), np.uint8),
        classes__offsets=offsets,
        classes__kinds=kinds,
    )
    refused(load_model, path, "asks for more than .* Hint: if you trust it")


def test_more_memory_can_be_allowed(tmp_path):
    labels = [f"{i:04}" for i in range(2000)] + ["z" * 4000]
    counts = ClassCounts(labels, np.ones(2001), np.ones((2001, 1)))
    counts.save(tmp_path / "c")
    with pytest.raises(ValueError, match="larger memory_budget"):
        ClassCounts.load(tmp_path / "c")
    assert ClassCounts.load(tmp_path / "c", memory_budget=10**8) == counts
    save_model(examples()["L0"][0], tmp_path / "m")
    load_model(tmp_path / "m", memory_budget=10**6)
    with pytest.raises(ValueError, match="larger memory_budget"):
        load_model(tmp_path / "m", memory_budget=1000)
    for wrong in (-1, 1.5, "1", True):
        with pytest.raises(ValueError, match=f"memory_budget.* Got {wrong!r}"):
            load_model(tmp_path / "m", memory_budget=wrong)


def sparse_arrays(rows, columns):
    return {
        "metadata": {"tables": {"feature_count": [rows, columns]}, "named": False},
        "feature_count_data": np.zeros(0),
        "feature_count_indices": np.zeros(0, np.int32),
        "feature_count_indptr": np.zeros(min(columns, 10**5) + 1, np.int32),
    }


@pytest.mark.parametrize(
    ("rows", "columns"),
    [(10**9, 10), (2**60, 2), (2**64, 2), (2, 2**60), (10**6, 99), (1.0, 2), (-1, 2)],
)
def test_sparse_shapes_without_entries(rows, columns, tmp_path):
    columns_there = columns if columns < 10**5 else 3
    arrays = sparse_arrays(rows, columns_there)
    arrays["metadata"]["tables"]["feature_count"][1] = columns
    path = counts_file(tmp_path / "c", **arrays)
    refused(ClassCounts.load, path, "readable file|asks for more")


def test_sparse_tables_that_become_dense(tmp_path):
    # 10,000 classes and 10,000 features, no entries: 800 MB from 250 kB.
    counts = ClassCounts(np.arange(10_000), np.ones(10_000), np.ones((10_000, 1)))
    path = counts_file(tmp_path / "c", counts, **sparse_arrays(10_000, 10_000))
    refused(ClassCounts.load, path, "asks for more")


def test_empty_tables_of_endless_width(tmp_path):
    counts = ClassCounts(np.zeros(0, int), np.zeros(0), np.zeros((0, 3)))
    path = counts_file(tmp_path / "c", counts)
    assert ClassCounts.load(path) == counts
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9999999999999), }"
    content = b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117) + b"\n"
    path.write_bytes(
        rewritten(path.read_bytes(), lambda m: m | {"feature_count.npy": content})
    )
    refused(ClassCounts.load, path, "wrong shape")


@pytest.mark.parametrize(
    "sizes", [[2**60, 2**60], [2**63 - 1, 2**63 - 1, 2], [-1, 3], [0, 2]]
)
def test_numbers_of_categories(sizes, tmp_path):
    counts = ClassCounts.from_matrix([[0, 1], [0, 0]], [0, 1], kind="category")
    path = counts_file(tmp_path / "c", counts, n_categories=np.array(sizes))
    refused(ClassCounts.load, path, "n_categories|one name")


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"format": "bayesieve.ClassCounts", "version": ' + b"9" * 5000 + b"}",
        b'{"format": "bayesieve.ClassCounts", "version": 1e999}',
        b'{"format": "bayesieve.ClassCounts", "version": true}',
        b'{"format": "bayesieve.ClassCounts", "version": 1, "version": 1}',
        b'{"format": NaN}',
        b"\xff",
        b"",
    ],
)
def test_metadata_of_counts_that_is_none(text, tmp_path):
    path = counts_file(tmp_path / "c", metadata=None)
    content = npy(np.frombuffer(text, np.uint8))
    path.write_bytes(
        rewritten(path.read_bytes(), lambda m: m | {"metadata.npy": content})
    )
    refused(ClassCounts.load, path, "class counts|format")


def test_members_of_counts_on_the_same_bytes(tmp_path):
    path = counts_file(tmp_path / "c")
    with zipfile.ZipFile(path, "a") as archive:
        first = archive.infolist()[0]
        again = zipfile.ZipInfo("again.npy")
        again.header_offset, again.CRC = first.header_offset, first.CRC
        again.file_size = again.compress_size = first.file_size
        archive.filelist.append(again)
        archive._didModify = True
    refused(ClassCounts.load, path, "lie on the same bytes")


@pytest.mark.parametrize("form", ["two", "many", "name"])
def test_odd_members_of_counts(form, tmp_path):
    path = counts_file(tmp_path / "c")
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
        warnings.simplefilter("ignore")
        for number in range(10_001 if form == "many" else 1):
            name = {"two": "class_count", "many": f"a{number}", "name": "../a"}[form]
            archive.writestr(f"{name}.npy", b"")
    refused(ClassCounts.load, path, "two members|at most 10,000|no name that a file")


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (" + b"9" * 200 + b",), }",
        b"(" * 5000,
        b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }",
        b"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
        b"{'descr': '<U99999', 'fortran_order': False, 'shape': (2,), }",
        b"{'descr': '<f9', 'fortran_order': False, 'shape': (2,), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (2L,), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (1 2,), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }",
        b"",
    ],
)
def test_headers_of_arrays(header, tmp_path):
    path = counts_file(tmp_path / "c")
    for version in (b"\x01\x00", b"\x02\x00"):
        length = len(header) + 1
        size = length.to_bytes(2 if version == b"\x01\x00" else 4, "little")
        content = b"\x93NUMPY" + version + size + header + b"\n" + bytes(16)
        path.write_bytes(
            rewritten(
                path.read_bytes(), lambda m, c=content: m | {"class_count.npy": c}
            )
        )
        refused(ClassCounts.load, path, "not a readable file of class counts")


def test_models_of_endless_width_ask_for_nothing(tmp_path):
    _, rows = examples()["wide"]
    path = model_file(tmp_path / "m", "wide", {"n_features_in_": 2**52})
    tracemalloc.start()
    loaded = load_model(path)
    with pytest.raises(ValueError, match="features"):
        loaded.predict(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


def test_texts_in_the_parameters_of_a_model(tmp_path):
    save_model(examples()["selective"][0], tmp_path / "m")

    def change(members):
        fields = json.loads(members["model.json"])
        texts = [""] * 50_000 + ["z" * 1_000_000]
        fields["parameters"]["feature_cost"] = {"$texts": texts}
        return members | {"model.json": json.dumps(fields).encode()}

    (tmp_path / "m").write_bytes(rewritten((tmp_path / "m").read_bytes(), change))
    refused(load_model, tmp_path / "m", "asks for more")


# ------------------------------------------------------------------- what cannot be NaN


def float_members():
    """Attributes, and which odd numbers they allow."""
    allowed = {
        "logs": {"-inf", "-1"},
        "known": {"inf", "-inf", "-1"},
        "any": {"nan", "inf", "-inf", "-1"},
        "finite": {"-1"},
        "counts": set(),
    }
    for name, member, domain in [
        ("multinomial", "feature_log_prob_", "logs"),
        ("multinomial", "class_log_prior_", "logs"),
        ("multinomial", "class_count_", "counts"),
        ("multinomial", "support_gains_", "known"),
        ("multinomial", "certificate_.class_shares", "counts"),
        ("multinomial", "_frequency", "counts"),
        ("bernoulli", "_absent_log_prob", "logs"),
        ("gaussian", "theta_", "finite"),
        ("gaussian", "var_", "counts"),
        ("categorical", "feature_log_prob_", "logs"),
        ("text weights", "weights_", "counts"),
        ("text weights", "_start", "logs"),
        ("text", "document_frequency_", "counts"),
        ("wide", "_support_weights", "counts"),
        ("wide", "_weighted_slope", "finite"),
        ("wide", "path_.weights_data", "counts"),
        ("wide", "path_.nll", "known"),
        ("wide", "path_.dual_gap", "any"),
        ("selector", "scores_", "known"),
        ("FDR", "pvalues_", "counts"),
        ("mixed", "_columns.table", "counts"),
        ("mixed", "_columns.moments", "counts"),
        ("selective", "weights_", "counts"),
        ("selective", "_used_tables", "logs"),
        ("selective", "partitions_.counts", "counts"),
        ("selective", "partitions_.value_counts", "counts"),
        ("selective", "_ranges", "any"),
        ("selective", "_missing_rows", "counts"),
        ("selective", "history_", "any"),
        ("encoder", "costs_", "known"),
    ]:
        yield pytest.param(name, member, allowed[domain], id=f"{name} {member}")


@pytest.mark.parametrize(("name", "member", "allowed"), list(float_members()))
def test_numbers_that_an_attribute_cannot_hold(name, member, allowed, tmp_path):
    save_model(examples()[name][0], tmp_path / "m")
    whole = (tmp_path / "m").read_bytes()
    for odd in ("nan", "inf", "-inf", "-1"):

        def change(members, odd=odd):
            array = array_of(members[f"{member}.npy"])
            array.flat[0] = float(odd)
            return members | {f"{member}.npy": npy(array)}

        (tmp_path / "m").write_bytes(rewritten(whole, change))
        if odd in allowed:
            load_model(tmp_path / "m")
        else:
            refused(load_model, tmp_path / "m", "holds a number that it cannot hold")


def test_numbers_of_the_header_that_cannot_be_nan(tmp_path):
    nan = {"$float": "nan"}
    for name, key in (("gaussian", "epsilon_"), ("wide", "lambda_")):
        path = model_file(tmp_path / "m", name, {key: nan})
        refused(load_model, path, "holds a number that it cannot hold")
    model, _ = examples()["multinomial"]
    proof = model.certificate_
    fields = {
        key: getattr(proof, key)
        for key in ("objective", "null_objective", "upper_bound", "relaxation_bound")
    }
    fields |= {"gap": 0.0, "relative_gap": nan, "rounding": 0.0, "nodes": 1, "k": 4}
    fields |= {"published_bound": nan, "sharp_bound": nan, "is_optimal": True}
    path = model_file(tmp_path / "m", "multinomial", {"certificate_": fields})
    refused(load_model, path, "relative_gap' holds a number that it cannot hold")


# --------------------------------------------------------------------------- versions


def old_files():
    with zipfile.ZipFile(OLD) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


#: Weights of hundreds of steps, fitted on another processor: its BLAS adds in another
#: order, and what that changes (1e-16 of a sum) grows a little with every step.
ITERATED = {
    *("selective ready-made.model", "text weights.model"),
    *("wide bernoulli cv.model", "wide cv.model"),
}


@pytest.mark.parametrize("name", list(old_files()))
def test_files_of_version_0_1_are_read(name, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(old_files()[name])
    if not name.endswith(".model"):
        if name == "sparse.npz":
            monkeypatch.setattr(_layout, "DENSE_CELLS", 0)
        counts = ClassCounts.load(path)
        assert counts.class_count.sum() > 0
        return
    model, rows = examples()[name.removesuffix(".model")]
    old = load_model(path)
    for now, before in zip(answers(model, rows), answers(old, rows), strict=True):
        if name in ITERATED and np.asarray(now).dtype.kind == "f":
            np.testing.assert_allclose(now, before, rtol=1e-9)
        else:
            np.testing.assert_array_equal(now, before)
    # threads=None was one thread for each processor.
    assert getattr(old, "n_jobs", -1) == getattr(model, "n_jobs", -1)


NEWER = ["0.1.1", "0.2", "1.0.0rc1", "99.0.dev3+local"]
NOT_NEWER = ["0.1.0", "0.1", "0.1.0.post1", "0.0.9", "", "x", None, 5, [1], "9" * 50]


@pytest.mark.parametrize("version", [*NEWER, *NOT_NEWER])
def test_a_newer_package_of_the_same_format_is_told(version, tmp_path, monkeypatch):
    monkeypatch.setattr("bayesieve.counts._storage.version", lambda name: "0.1.0")
    counts = counts_file(tmp_path / "c", metadata={"bayesieve": version})
    save_model(examples()["L0 counts"][0], tmp_path / "m")

    def change(members):
        fields = json.loads(members["model.json"]) | {"bayesieve": version}
        return members | {"model.json": json.dumps(fields).encode()}

    (tmp_path / "m").write_bytes(rewritten((tmp_path / "m").read_bytes(), change))
    for load, path in ((ClassCounts.load, counts), (load_model, tmp_path / "m")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            load(path)
        if version in NEWER:
            (one,) = caught
            assert one.category is NewerVersionWarning
            assert f"written by bayesieve {version}, which is newer" in str(one.message)
            assert one.filename == __file__
        else:
            assert caught == []


def test_counts_say_what_wrote_them(tmp_path):
    path = counts_file(tmp_path / "c")
    fields = json.loads(
        array_of(members_of(path.read_bytes())["metadata.npy"]).tobytes()
    )
    assert fields["bayesieve"]


# ------------------------------------------------------------------------ deep nesting


def test_deep_notes_are_one_sentence(tmp_path, capsys):
    from bayesieve.cli import main

    model, _ = examples()["text"]
    (tmp_path / "new.csv").write_text("text\none two\n")
    for note in ("cli", "report"):
        save_model(model, tmp_path / "m", notes={note: "[" * 100_000})
        command = {"cli": ["predict", "m", "new.csv"], "report": ["report", "m"]}[note]
        paths = [
            str(tmp_path / word) if "." in word or word == "m" else word
            for word in command
        ]
        if note == "report":
            paths += ["--out", str(tmp_path / "r.html")]
        assert main(paths) == 2
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        assert "Recursion" not in told


def test_deep_parameters_cannot_be_saved(tmp_path):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    model = examples()["selective"][0]
    before = model.feature_cost
    try:
        model.feature_cost = deep
        with pytest.raises(ValueError, match="'feature_cost' parameter of Selective"):
            save_model(model, tmp_path / "m")
    finally:
        model.feature_cost = before
    assert list(tmp_path.iterdir()) == []


def test_strict_json():
    from bayesieve.utils._strict_json import read_json

    assert read_json(b'{"a": [1, "\xed\xa0\x80"]}') == {"a": [1, "\ud800"]}
    for text in ("[" * 100_000, '{"a": 1, "a": 2}', "NaN", "[-Infinity]", "9" * 9999):
        with pytest.raises(ValueError):
            read_json(text)


# ---------------------------------------------------------------------------- by chance


@pytest.fixture(scope="module")
def whole():
    return bases()


@pytest.mark.parametrize("first", [0, 100, 200, 300])
def test_files_mutated_by_chance(first, whole, tmp_path):
    # tools/fuzz_files.py reads as many as one likes, and survives crashes.
    names, contents = list(whole), list(whole.values())
    outcomes = set()
    for seed in range(first, first + 100):
        rng = random.Random(seed)
        name = rng.choice(names)
        (tmp_path / "file").write_bytes(mutated(whole[name], rng, contents))
        try:
            outcomes.add(used(tmp_path / "file", name))
        except BaseException as error:
            raise AssertionError(f"seed {seed} ({name})") from error
    assert {"used", "refused"} <= outcomes
