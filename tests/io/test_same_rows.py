"""A source that is read several times gives the same rows each time, or is refused."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest

from bayesieve import ClassCounts, SelectiveMultinomialNB, SparseTextNB
from bayesieve.counts import _from_text
from bayesieve.io._same_rows import SameRows

ROWS = [("good film", "pos"), ("bad plot", "neg")] * 20
OTHER = [("evil film", "pos"), ("sad plots", "neg")] * 20  # of the same size


def written(path, rows):
    lines = ["text,label", *(f"{text},{label}" for text, label in rows)]
    path.write_text("\n".join(lines) + "\n")
    os.utime(path, (1, 1))  # neither size nor time tells the two apart
    return path


def rewriting(monkeypatch, path, rows=OTHER):
    """Write other rows into a file after it was counted."""
    finish = _from_text.LabelledTextCounter.finish

    def finish_and_write(counter):
        found = finish(counter)
        written(path, rows)
        return found

    monkeypatch.setattr(_from_text.LabelledTextCounter, "finish", finish_and_write)


@pytest.mark.parametrize("rows", [OTHER, ROWS[::-1], ROWS[:-1]])
def test_tfidf_of_a_file_that_was_rewritten_meanwhile(tmp_path, monkeypatch, rows):
    pytest.importorskip("duckdb")
    path = written(tmp_path / "a.csv", ROWS)
    rewriting(monkeypatch, path, rows)
    with pytest.raises(ValueError, match=r"a\.csv' changed while it was in use"):
        ClassCounts.from_text(path, tfidf=True)


def test_tfidf_of_a_file_that_was_rewritten_after_a_checkpoint(tmp_path):
    pytest.importorskip("duckdb")
    path = written(tmp_path / "a.csv", ROWS)
    kept = tmp_path / "kept"
    ClassCounts.from_text(path, checkpoint=kept)
    longer = f"{'word ' * 3}and more"
    size = path.stat().st_size
    written(path, [(longer, "pos"), (longer, "neg")] * 3)
    rest = size - path.stat().st_size
    path.write_text(path.read_text()[:-5] + " " * rest + ",neg\n")
    os.utime(path, (1, 1))
    assert path.stat().st_size == size
    with pytest.raises(ValueError, match=r"changed|6 rows in place of 40"):
        ClassCounts.from_text(path, checkpoint=kept, tfidf=True)


def test_weights_of_a_file_that_was_rewritten_meanwhile(tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    path = written(tmp_path / "a.csv", ROWS)
    rewriting(monkeypatch, path)
    with pytest.raises(ValueError, match="changed while it was in use"):
        SparseTextNB(2, weights=True).fit_files(path)


def test_a_query_over_a_file_that_was_rewritten_meanwhile(tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    path = written(tmp_path / "a.csv", ROWS)
    rewriting(monkeypatch, path)
    with pytest.raises(ValueError, match="What the query reads changed"):
        ClassCounts.from_text(sql=f"FROM '{path}'", tfidf=True)


def test_a_query_may_give_its_rows_in_another_order(tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    path = written(tmp_path / "a.csv", ROWS)
    expected = ClassCounts.from_text(path, tfidf=True)
    rewriting(monkeypatch, path, ROWS[::-1])
    found = ClassCounts.from_text(sql=f"FROM '{path}'", tfidf=True)
    np.testing.assert_allclose(found.feature_count, expected.feature_count, rtol=1e-12)


def test_batches_that_are_not_the_same_the_second_time():
    class Shrinking:
        def __init__(self):
            self.left = 3

        def __iter__(self):
            self.left -= 1
            yield [text for text, _ in ROWS], [label for _, label in ROWS]
            for _ in range(self.left):
                yield ["good film"], ["pos"]

    with pytest.raises(ValueError, match="The source of texts changed"):
        ClassCounts.from_text(Shrinking(), tfidf=True)


@pytest.mark.parametrize("change", ["values", "columns", "labels"])
def test_chunks_that_are_not_the_same_the_second_time(change):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (200, 6)), np.arange(200) % 2
    X[:, 0] += 3 * y
    later = {
        "values": (X + (np.arange(6) == 0), y),
        "columns": (X[:, ::-1], y),
        "labels": (X, 1 - y),
    }[change]
    chunks = iter([[(X, y)], [later], [later]])
    with pytest.raises(ValueError, match="must get the same chunks each time"):
        SelectiveMultinomialNB(k=2).fit_chunks(lambda: next(chunks))


def test_a_checksum_knows_rows_and_not_batches():
    pyarrow = pytest.importorskip("pyarrow")
    values = ["a", None, "bc", "", "d" * 70, None]
    columns = {
        "text": pyarrow.array(values),
        "large": pyarrow.array(values, "large_string"),
        "dictionary": pyarrow.array(values).dictionary_encode(),
        "number": pyarrow.array([1.5, None, 0.0, 2.0, float("nan"), 3.0]),
        "list": pyarrow.array([[1], None, [], [2, 3], [4], [5]]),
        "objects": np.array(["a", None, float("nan"), 3, "b", [1]], dtype=object),
        "numbers": np.arange(6),
    }

    def total(column, cuts):
        reading = SameRows().reading("it", ["c"])
        ends = [0, *cuts, 6]
        for first, end in itertools.pairwise(ends):
            reading.add([column[first:end]])
        return reading._sums[0].value

    for name, column in columns.items():
        whole = total(column, [])
        assert total(column, [2, 5]) == whole, name
        assert total(column, [0, 1, 1, 6]) == whole, name
        order = [1, 0, 2, 3, 4, 5]
        moved = column[order] if isinstance(column, np.ndarray) else column.take(order)
        assert total(moved, []) != whole, name
        assert total(column[:5], []) != whole, name
    shifted = pyarrow.array(["ab", None, "c", "", "d" * 70, None])
    assert total(shifted, []) != total(columns["text"], [])  # the same letters
