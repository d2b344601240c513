"""Laws that every binary screener obeys for any data."""

from __future__ import annotations

import warnings
from itertools import pairwise

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from bayesieve import (
    ClassCounts,
    FDRScreener,
    L0Screener,
    L1Screener,
    PearsonScreener,
    SparseBernoulliNB,
)
from bayesieve.exceptions import FewFeaturesWarning, LowCountWarning

SCREENERS = [
    L0Screener(),
    L0Screener(2),
    L0Screener(regularization=0.05),
    L1Screener(),
    L1Screener(2),
    L1Screener(regularization=2.0),
    PearsonScreener(),
    PearsonScreener(regularization=0.05),
    FDRScreener(0.4),
    FDRScreener(k=2),
]
CLASSES = [0, 1, 2]
SETTINGS = settings(max_examples=12, deadline=None)


@st.composite
def data(draw):
    """Any 0/1 table; the first six rows show every class twice."""
    n, m = draw(st.integers(6, 30)), draw(st.integers(1, 7))
    X = draw(hnp.arrays(np.int64, (n, m), elements=st.integers(0, 1)))
    y = draw(hnp.arrays(np.int64, n, elements=st.sampled_from(CLASSES)))
    y[:6] = CLASSES * 2
    return X, y


def quiet(method, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewFeaturesWarning)
        warnings.simplefilter("ignore", LowCountWarning)
        return method(*arguments, **options)


def fit(model, X, y, **options):
    return quiet(clone(model).fit, X, y, **options)


def assert_same(one, other):
    np.testing.assert_array_equal(one.support_indices_, other.support_indices_)
    np.testing.assert_array_equal(one.scores_, other.scores_)
    np.testing.assert_array_equal(one.theta_, other.theta_)


@pytest.mark.parametrize("model", SCREENERS, ids=str)
@SETTINGS
@given(values=data())
def test_answers_are_finite_and_constant_columns_are_out(model, values):
    X, y = values
    found = fit(model, X, y)
    assert np.isfinite(found.scores_).all()
    assert (found.scores_ >= 0).all()
    assert np.isfinite(found.theta_).all()
    assert 0 <= found.theta_.min() <= found.theta_.max() <= 1
    constant = np.ptp(X, axis=0) == 0
    np.testing.assert_array_equal(found.scores_[constant], 0.0)
    if not constant.all():
        assert not found.support_[constant].any()
    assert found.k_ == found.support_.sum() == found.support_indices_.shape[0]
    np.testing.assert_array_equal(
        np.flatnonzero(found.support_), found.support_indices_
    )
    if found.k_ and not found.support_.all():
        assert found.scores_[found.support_].min() >= np.max(
            found.scores_[~found.support_]
        )


@pytest.mark.parametrize("model", SCREENERS, ids=str)
@SETTINGS
@given(values=data(), cuts=st.lists(st.integers(6, 29), max_size=4))
def test_any_chunking_and_any_format_give_the_same_bits(model, values, cuts):
    X, y = values
    whole = fit(model, X, y)
    chunked = clone(model)
    edges = np.unique(np.clip([0, *cuts, len(y)], 0, len(y)))
    for first, last in pairwise(edges):
        quiet(chunked.partial_fit, X[first:last], y[first:last], CLASSES)
    assert_same(chunked, whole)
    for made in (sparse.csr_array, sparse.csc_matrix, np.asfortranarray):
        assert_same(fit(model, made(X), y), whole)
    counts = ClassCounts.from_matrix(X, y, binary=True)
    assert_same(quiet(clone(model).fit_counts, counts), whole)


@pytest.mark.parametrize("model", SCREENERS, ids=str)
@SETTINGS
@given(values=data(), seed=st.integers(0, 99))
def test_weight_two_is_a_row_twice(model, values, seed):
    X, y = values
    weights = np.random.default_rng(seed).integers(1, 4, size=len(y))
    weighted = fit(model, X, y, sample_weight=weights)
    assert_same(
        weighted, fit(model, np.repeat(X, weights, axis=0), np.repeat(y, weights))
    )


@pytest.mark.parametrize("model", SCREENERS, ids=str)
@SETTINGS
@given(values=data(), seed=st.integers(0, 99))
def test_columns_may_come_in_any_order(model, values, seed):
    X, y = values
    order = np.random.default_rng(seed).permutation(X.shape[1])
    one, other = fit(model, X, y), fit(model, X[:, order], y)
    np.testing.assert_array_equal(other.scores_, one.scores_[order])
    np.testing.assert_array_equal(other.theta_, one.theta_[:, order])
    assert other.k_ == one.k_ or "criterion" in one.get_params()
    if len(np.unique(one.scores_)) == len(order):  # no ties
        np.testing.assert_array_equal(other.support_, one.support_[order])


@SETTINGS
@given(values=data())
def test_the_classifier_by_bic_keeps_the_same(values):
    X, y = values
    screener = fit(L0Screener(), X, y)
    nb = fit(SparseBernoulliNB("bic", smoothing="truncated"), X, y)
    if not np.ptp(X, axis=0).any():  # at least one column, though none varies
        assert nb.k_ == 0
        assert screener.k_ == 1
    else:
        np.testing.assert_array_equal(nb.support_indices_, screener.support_indices_)


@SETTINGS
@given(values=data(), penalty=st.floats(0, 40))
def test_a_larger_penalty_keeps_fewer_and_moves_less(values, penalty):
    X, y = values
    loose, tight = (
        fit(L1Screener(regularization=value), X, y)
        for value in (penalty, penalty + 1.0)
    )
    assert set(tight.support_indices_) <= set(loose.support_indices_)
    centre = X.mean(axis=0)
    shift = np.abs(loose.theta_ - centre) - np.abs(tight.theta_ - centre)
    assert shift.min() >= -1e-12
