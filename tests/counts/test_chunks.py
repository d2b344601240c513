"""Chunks are counted as if they were one matrix."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from bayesieve.counts import ClassCounts, _layout

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, (60, 8))
Y = np.array(list("abcabd") * 10)
W = RNG.random(60)


def chunked(data, y, w=None, size=7):
    for first in range(0, len(y), size):
        part = slice(first, first + size)
        yield (data[part], y[part]) if w is None else (data[part], y[part], w[part])


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("options", [{}, {"binary": True}, {"kind": "category"}])
def test_chunked_equals_whole(make, options):
    for classes in (None, list("abcd"), list("abcde")):
        counts = ClassCounts.from_chunks(
            chunked(make(X), Y), classes=classes, **options
        )
        assert counts == ClassCounts.from_matrix(X, Y, classes=classes, **options)


def test_weighted_floats_are_equal_to_the_last_bit():
    data = X * 0.1
    whole = ClassCounts.from_matrix(data, Y, W)
    for make in (np.array, sparse.csr_array, sparse.csc_array):
        for size in (1, 7, 60):
            assert ClassCounts.from_chunks(chunked(make(data), Y, W, size)) == whole


def test_moments_are_merged():
    whole = ClassCounts.from_matrix(X, Y, W, kind="moments")
    parts = ClassCounts.from_chunks(chunked(X, Y, W), kind="moments")
    np.testing.assert_allclose(parts.mean, whole.mean)
    np.testing.assert_allclose(parts.centred_squares, whole.centred_squares)


def test_sparse_tables(monkeypatch):
    whole = ClassCounts.from_matrix(X, Y)
    monkeypatch.setattr(_layout, "DENSE_CELLS", 20)
    parts = ClassCounts.from_chunks(chunked(sparse.csr_array(X), Y))
    assert isinstance(parts.feature_count, sparse.csc_array)
    np.testing.assert_array_equal(parts.feature_count.toarray(), whole.feature_count)


def test_named_chunks_are_united():
    a = pd.DataFrame({"p": [1, 2], "q": [3, 4]})
    b = pd.DataFrame({"q": [5], "r": [6]})
    counts = ClassCounts.from_chunks([(a, [0, 1]), (b, [1]), (a, [0, 1])])
    assert counts.feature_names.tolist() == ["p", "q", "r"]
    np.testing.assert_array_equal(counts.feature_count, [[2, 6, 0], [4, 13, 6]])


def test_chunks_may_be_empty_or_weigh_nothing():
    chunks = [
        (X[:0], Y[:0]),
        (X[:5], Y[:5], np.zeros(5)),
        (X[5:], Y[5:]),
    ]
    counts = ClassCounts.from_chunks(chunks)
    assert counts == ClassCounts.from_matrix(X, Y, np.r_[np.zeros(5), np.ones(55)])


def test_the_first_chunk_is_not_aliased():
    first = X[:30].astype(float)
    kept = ClassCounts.from_matrix(first, Y[:30])
    ClassCounts.from_chunks([(first, Y[:30]), (X[30:], Y[30:])])
    assert kept == ClassCounts.from_matrix(first, Y[:30])


@pytest.mark.parametrize(
    ("chunks", "options", "match"),
    [
        ([], {}, "at least one chunk"),
        ([(X, Y), (X[:, :5], Y)], {}, "Chunk 1 must have as many columns.*8. Got 5"),
        ([(X, Y), X], {}, "Got ndarray as chunk 1"),
        ([(X, Y, W, W)], {}, "Got tuple of length 4 as chunk 0"),
        ([(X, Y)], {"classes": ["a", "b", "c"]}, "label 'd' at row 5"),
        ([(X, Y, np.zeros(60))], {}, "at least one row with a weight above 0"),
        ([(X, Y), (-X, Y)], {}, "Negative value"),
        ([(X, Y), (X, np.arange(60))], {}, "of one kind"),
        (
            [(pd.DataFrame({"p": [1]}), [0]), (np.array([[1]]), [0])],
            {},
            "Chunk 1 does not fit the ones before: .*names on the left",
        ),
    ],
)
def test_refusals(chunks, options, match):
    with pytest.raises(ValueError, match=match):
        ClassCounts.from_chunks(chunks, **options)
