"""Files: round trips, atomic writing, and refusal of whatever is damaged."""

from __future__ import annotations

import json
import os
import pickle
import zipfile

import numpy as np
import pytest
from scipy import sparse

from bayesieve.counts import ClassCounts, _layout

X = np.array([[1, 0, 2], [0, 3, 1], [4, 0, 0], [0, 0, 5]])
NAMES = ["", "naïve", "\U0001f600 long " * 20]


def tables():
    for kind in ("count", "binary", "moments", "category"):
        yield ClassCounts.from_matrix(X, [1, 0, 1, 0], kind=kind)
        yield ClassCounts.from_matrix(
            X,
            ["b", "a", "é", "a"],
            [0.1, 0.2, 0.3, 0.4],
            kind=kind,
            feature_names=NAMES,
        )
    yield ClassCounts.from_matrix(X, [True, False, True, False])
    yield ClassCounts.from_matrix(X, [0.5, 1.5, 1.5, 0.5])
    yield ClassCounts.from_matrix(X, np.array(list("abab"), dtype=object))
    yield ClassCounts([0, 1], [2, 2], [[3, 1], [0, 2]], document_count=[[2, 1], [0, 1]])
    yield ClassCounts.from_matrix(X, [0, 1, 0, 1], feature_names=["a", "\ud800", "c"])
    yield ClassCounts.from_matrix(X, [0, 1, 0, 1]).select([])


@pytest.mark.parametrize("counts", list(tables()), ids=repr)
def test_round_trip(counts, tmp_path):
    path = tmp_path / "counts.npz"
    counts.save(path)
    again = ClassCounts.load(str(path))
    assert again == counts
    assert again.classes.dtype == counts.classes.dtype
    assert os.listdir(tmp_path) == ["counts.npz"]
    first = path.read_bytes()
    again.save(path)
    assert path.read_bytes() == first  # equal counts, equal files
    with np.load(path, allow_pickle=False) as plain:
        assert "metadata" in plain
    assert pickle.loads(pickle.dumps(counts)) == counts


def sparse_counts(monkeypatch):
    monkeypatch.setattr(_layout, "DENSE_CELLS", 0)
    return ClassCounts.from_matrix(X, [0, 1, 2, 1], feature_names=["p", "q", "r"])


def test_sparse_round_trip(tmp_path, monkeypatch):
    counts = sparse_counts(monkeypatch)
    counts.save(tmp_path / "c")
    again = ClassCounts.load(tmp_path / "c")
    assert isinstance(again.feature_count, sparse.csc_array)
    assert again == counts
    assert again + again == counts.scaled(2)


def test_writing_is_atomic(tmp_path, monkeypatch):
    path = tmp_path / "counts.npz"
    good = ClassCounts.from_matrix(X, [0, 1, 0, 1])
    good.save(path)

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        good.scaled(2).save(path)
    assert os.listdir(tmp_path) == ["counts.npz"]
    assert ClassCounts.load(path) == good


def test_a_link_stays_a_link(tmp_path):
    counts = ClassCounts.from_matrix(X, [0, 1, 0, 1])
    counts.save(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    counts.scaled(2).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert ClassCounts.load(tmp_path / "real") == counts.scaled(2)


def test_classes_that_cannot_be_saved(tmp_path):
    counts = ClassCounts.from_matrix([[1], [2]], np.array([b"a", b"b"]))
    with pytest.raises(ValueError, match="strings, integers, floats or booleans"):
        counts.save(tmp_path / "c")
    assert os.listdir(tmp_path) == []


def rewrite(path, **changes):
    """Write a file again with some members replaced."""
    with np.load(path) as old:
        arrays = dict(old)
    metadata = json.loads(arrays["metadata"].tobytes())
    for name, value in changes.items():
        if name in metadata:
            metadata[name] = value
        elif value is None:
            del arrays[name]
        else:
            arrays[name] = value
    text = json.dumps(metadata).encode()
    arrays["metadata"] = np.frombuffer(text, dtype=np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **arrays)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"version": 2}, "written by a newer bayesieve .format 2.; this version reads"),
        ({"version": 0}, "has format 0; this version reads format 1"),
        ({"version": "x"}, "has format 'x'"),
        ({"format": "other"}, "is not a file of class counts"),
        ({"kind": "other"}, "kind must be one of"),
        ({"kind": "category"}, "not a readable file"),
        ({"kind": "moments"}, "not a readable file"),
        ({"classes": "pickle"}, "not a readable file"),
        ({"tables": {"feature_count": [3, -1]}}, "not a readable file"),
        ({"tables": {"feature_count": [2, 3]}}, "out of range"),
        ({"tables": {"feature_count": [4, 3]}}, "must have shape"),
        ({"tables": {"_x": "dense"}}, "not a readable file"),
        ({"class_count": None}, "not a readable file"),
        ({"class_count": np.ones(2)}, "class_count must have shape"),
        ({"class_count": np.array([1, 1, np.nan])}, "class_count must hold finite"),
        ({"class_count": np.ones((3, 1))}, "not the array it should be"),
        ({"class_count": np.array(["a", "b", "c"])}, "not the array it should be"),
        ({"names_offsets": np.array([0, 3, 1, 3])}, "does not rise"),
        ({"names_offsets": np.array([0, 1, 2, 9])}, "does not rise"),
        ({"names_offsets": np.array([0, 3])}, "one name per feature"),
        ({"names_offsets": np.array([0.0, 3])}, "not the array it should be"),
        ({"names_bytes": np.array([255, 255, 255], np.uint8)}, "not a readable file"),
        ({"feature_count_indptr": np.array([0, 9, 2, 5])}, "does not rise"),
        ({"feature_count_indices": np.array([0, 7, 1, 0, 1])}, "different|range"),
        ({"feature_count_data": np.ones(2)}, "does not rise"),
        ({"feature_count_data": -np.ones(6)}, "does not rise|finite"),
    ],
)
def test_inconsistent_files(changes, match, tmp_path, monkeypatch):
    path = tmp_path / "counts.npz"
    sparse_counts(monkeypatch).save(path)
    rewrite(path)
    ClassCounts.load(path)  # the rewriting itself is harmless
    rewrite(path, **changes)
    with pytest.raises(ValueError, match=match) as error:
        ClassCounts.load(path)
    assert str(path) in str(error.value)


def test_foreign_files(tmp_path):
    path = tmp_path / "f.npz"
    writers = {
        "empty": lambda: path.write_bytes(b""),
        "text": lambda: path.write_text("hello"),
        "pickle": lambda: path.write_bytes(pickle.dumps({"a": 1})),
        "npz": lambda: np.savez(path, a=np.ones(3)),
        "objects": lambda: np.savez(path, metadata=np.array([{}], dtype=object)),
        "zip": lambda: zipfile.ZipFile(path, "w").close(),
    }
    for write in writers.values():
        write()
        with pytest.raises(ValueError, match="is not a readable file of class counts"):
            ClassCounts.load(path)
    with pytest.raises(FileNotFoundError):
        ClassCounts.load(tmp_path / "missing")


def test_compressed_members_are_refused(tmp_path):
    path = tmp_path / "c"
    ClassCounts.from_matrix(X, [0, 1, 0, 1]).save(path)
    with np.load(path) as old:
        arrays = dict(old)
    with open(path, "wb") as file:
        np.savez_compressed(file, **arrays)
    with pytest.raises(ValueError, match="has a compressed member"):
        ClassCounts.load(path)


@pytest.mark.parametrize("kind", ["count", "sparse", "moments", "category"])
def test_damaged_files_never_crash(kind, tmp_path, monkeypatch):
    path = tmp_path / "counts.npz"
    if kind == "sparse":
        counts = sparse_counts(monkeypatch)
    else:
        counts = ClassCounts.from_matrix(
            X, ["x", "y", "y", "x"], kind=kind, feature_names=["p", "q", "r"]
        )
    counts.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    damaged = [whole[:end] for end in rng.integers(0, len(whole), 60)]
    for flips in (1, 1, 1, 2, 8):
        for _ in range(120):
            copy = bytearray(whole)
            for at in rng.integers(0, len(whole), flips):
                copy[at] ^= 1 << int(rng.integers(0, 8))
            damaged.append(bytes(copy))
    refused = named = 0
    for content in damaged:
        path.write_bytes(content)
        try:
            loaded = ClassCounts.load(path)
        except ValueError as error:
            refused += 1
            named += str(path) in str(error)
        else:
            assert loaded == counts
    assert named == refused > len(damaged) // 2
