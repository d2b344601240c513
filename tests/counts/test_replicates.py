"""Counts of resamples: those of weighted rows, whatever the chunks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from bayesieve import ClassCounts
from bayesieve.counts import _layout, replicate_counts
from bayesieve.counts import _replicates as replicates
from bayesieve.counts._replicates import Resampling, replicates_of, unit_numbers

METHODS = ["pairs", "bootstrap"]


def fractions(seed=0, n=90, m=30, k=3):
    """Values whose sums depend on the order of the rows in the last bit."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, m)) * (rng.random((n, m)) < 0.4)
    return X, np.array(["a", "b", "c"])[rng.integers(0, k, n)]


def weighted(X, y, resampling, units, **options):
    weights = resampling.weights(units, 0, resampling.n_resamples)
    return [
        ClassCounts.from_matrix(X, y, w, **options)
        for w in weights.T.astype(np.float64)
    ]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["count", "binary", "moments", "category"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_every_resample_equals_a_weighted_count(method, kind, form, monkeypatch):
    X, y = fractions()
    options = {"kind": kind}
    if kind == "binary":
        options["binarize"] = 0.3
    if kind == "category":
        X = np.floor(4 * X)
    classes, codes = np.unique(y, return_inverse=True)
    resampling = Resampling.checked(6, method, 3)
    units = np.arange(len(y))
    # Blocks of four resamples and two.
    monkeypatch.setattr(replicates, "_BLOCK_CELLS", 4 * X.size // 30 * 3)
    found = list(replicates_of(form(X), codes, classes, resampling, units, **options))
    wanted = weighted(form(X), y, resampling, units, classes=classes, **options)
    assert len(found) == 6
    assert found == wanted


def test_values_below_the_threshold_of_presence_that_are_not_stored_count():
    X, y = fractions()
    classes, codes = np.unique(y, return_inverse=True)
    resampling, units = Resampling.checked(2, "pairs", 3), np.arange(len(y))
    options = {"kind": "binary", "binarize": -0.5}
    found = list(replicates_of(X, codes, classes, resampling, units, **options))
    assert found == weighted(X, y, resampling, units, **options)


def test_tables_of_many_classes_stay_sparse(monkeypatch):
    X, y = fractions()
    classes, codes = np.unique(y, return_inverse=True)
    resampling, units = Resampling.checked(2, "pairs", 3), np.arange(len(y))
    monkeypatch.setattr(_layout, "DENSE_CELLS", 10)
    X = sparse.csr_array(X)
    found = list(replicates_of(X, codes, classes, resampling, units))
    assert sparse.issparse(found[0].feature_count)
    assert found == weighted(X, y, resampling, units)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["count", "binary"])
def test_chunks_and_pieces_equal_the_whole(method, kind):
    X, y = fractions()
    y[:40] = "b"  # classes turn up on the way
    y[40:60] = "a"
    options = {"n_resamples": 4, "method": method, "kind": kind, "random_state": 9}
    whole = replicate_counts([(X, y)], **options)
    cuts = [0, 13, 14, 55, 90]
    pieces = [(sparse.csr_array(X[a:b]), y[a:b]) for a, b in pairwise(cuts)]
    assert list(replicate_counts(iter(pieces), **options)) == list(whole)
    assert replicate_counts(pieces, **options).total == whole.total
    # Pieces counted elsewhere add up; sums of fractions to the last bits.
    X = np.floor(9 * X)
    whole = replicate_counts([(X, y)], **options)
    parts = [
        replicate_counts([(X[a:b], y[a:b])], first_row=a, **options)
        for a, b in pairwise(cuts)
    ]
    assert list(sum(parts)) == list(whole)
    assert sum(parts).total == whole.total == ClassCounts.from_matrix(X, y, kind=kind)


@pytest.mark.parametrize("method", METHODS)
def test_groups_are_drawn_whole_in_any_chunk(method):
    X, y = np.eye(12), np.array(list("aabbaabbaabb"))
    groups = np.array([0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0])
    options = {"n_resamples": 10, "method": method, "classes": ["a", "b"]}
    whole = replicate_counts([(X, y, groups)], **options)
    halves = [(X[:7], y[:7], groups[:7]), (X[7:], y[7:], groups[7:])]
    assert list(replicate_counts(halves, **options)) == list(whole)
    for counts in whole:
        weights = counts.feature_count.sum(axis=0)  # of each row, as X is the identity
        assert (weights[:6] == weights[:5:-1]).all()
    if method == "pairs":
        sizes = [counts.class_count.sum() for counts in whole]
        assert sizes == [6.0] * 10  # three of six groups


def test_groups_are_numbered_by_their_labels():
    assert unit_numbers(["z", "a", "z", "k"], 4).tolist() == [2, 0, 2, 1]
    assert unit_numbers(None, 3).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="one label per row of X, 3 in all"):
        unit_numbers(["a", "b"], 3)
    with pytest.raises(ValueError, match="at least two groups"):
        unit_numbers(["a", "a"], 2)


def test_names_of_columns_are_kept_and_must_agree():
    X, y = np.eye(4), [0, 1, 0, 1]
    names = ["u", "v", "w", "x"]
    counts = replicate_counts([(X, y)], n_resamples=2, feature_names=names)
    assert counts.total.feature_names.tolist() == names
    assert len(counts) == 2
    assert "n_resamples=2" in repr(counts)
    other = replicate_counts([(X, y)], n_resamples=2)
    with pytest.raises(ValueError, match="Only counts of the same columns"):
        counts + other
    with pytest.raises(ValueError, match="Only counts of the same resamples"):
        other + replicate_counts([(X, y)], n_resamples=4)
    with pytest.raises(TypeError):
        counts + 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 3}, "must be an even int >= 2 for method='pairs'. Got 3"),
        ({"n_resamples": 0, "method": "bootstrap"}, "must be an int >= 1"),
        ({"n_resamples": 2.0}, "must be an even int"),
        ({"method": "jackknife"}, "must be 'pairs' or 'bootstrap'. Got 'jackknife'"),
        ({"random_state": None}, "must be an int >= 0, as pieces"),
        ({"random_state": -1}, "must be an int >= 0"),
        ({"kind": "moments"}, "must be 'count' or 'binary'. Got 'moments'"),
        ({"kind": "binary", "binarize": -1.0}, "must be >= 0. Got -1.0"),
        ({"first_row": -1}, "'first_row' parameter must be an int >= 0. Got -1"),
        ({"memory_budget": 10}, "take 6,464 bytes, more than the 10 allowed"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        replicate_counts([(np.eye(4), [0, 1, 0, 1])], **options)


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([], "needs at least one chunk"),
        ([3], "must be a tuple .* Got int as chunk 0"),
        (
            [(np.eye(2), [0, 1]), (np.eye(3), [0, 1, 1])],
            "Chunk 1 must have",
        ),
        ([(np.eye(2), [0, 1], ["a", "b"])], "must be 2 whole numbers"),
        ([(np.eye(2), [0, 1], [1])], "must be 2 whole numbers"),
        ([(-np.eye(2), [0, 1])], "Negative value -1.0 found in column 0, row 0"),
        ([(np.eye(2), [0])], "one label per row"),
    ],
)
def test_bad_chunks_are_refused_in_one_sentence(chunks, message):
    with pytest.raises(ValueError, match=message):
        replicate_counts(chunks)
