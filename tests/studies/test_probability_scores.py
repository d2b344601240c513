"""Scores and folds that the studies share, against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from tests.studies.study_modules import load

scores = load("probability_scores")


@given(
    st.lists(st.integers(1, 25), min_size=2, max_size=6),
    st.integers(2, 10),
    st.integers(0, 5),
)
def test_folds_part_the_rows_and_spread_every_class(counts, folds, seed):
    y = np.repeat(np.arange(len(counts)), counts)
    parts = scores.stratified_folds(y, folds, seed)
    tests = np.concatenate([test for _, test in parts])
    np.testing.assert_array_equal(np.sort(tests), np.arange(y.shape[0]))
    sizes = [test.shape[0] for _, test in parts]
    assert max(sizes) - min(sizes) <= 1
    for train, test in parts:
        assert np.intersect1d(train, test).shape[0] == 0
        assert train.shape[0] + test.shape[0] == y.shape[0]
        share = np.bincount(y[test], minlength=len(counts))
        assert np.all(np.abs(share - np.array(counts) / folds) < 1)


def test_folds_depend_on_the_seed_alone():
    y = np.arange(60) % 3
    first, again = (scores.stratified_folds(y, 5, 7) for _ in range(2))
    other = scores.stratified_folds(y, 5, 8)
    for (_, a), (_, b) in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert any((a[1] != b[1]).any() for a, b in zip(first, other, strict=True))


def test_auc_is_that_of_scikit_learn_with_ties():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=200)
    proba = np.round(rng.dirichlet(np.ones(4), size=200) + 0.3 * np.eye(4)[y], 1)
    proba /= proba.sum(axis=1, keepdims=True)
    expected = roc_auc_score(y, proba, multi_class="ovr", average="weighted")
    assert scores.weighted_auc(y, proba) == pytest.approx(expected, abs=1e-12)
    expected = roc_auc_score(y, proba, multi_class="ovr", average="macro")
    assert scores.macro_auc(y, proba) == pytest.approx(expected, abs=1e-12)
    first = np.round(8 * proba[:, :1]) / 8  # complements without rounding, with ties
    binary = np.hstack([first, 1 - first])
    expected = roc_auc_score(y == 0, first[:, 0])
    found = scores.weighted_auc((y != 0).astype(int), binary)
    assert found == pytest.approx(expected, abs=1e-12)


def test_auc_leaves_out_classes_without_test_rows():
    y = np.array([0, 0, 2, 2])
    proba = np.array(
        [[0.8, 0.1, 0.1], [0.6, 0.2, 0.2], [0.1, 0.5, 0.4], [0.3, 0.3, 0.4]]
    )
    assert scores.weighted_auc(y, proba) == 1.0
    for auc in (scores.weighted_auc, scores.macro_auc):
        assert np.isnan(auc(np.zeros(4, dtype=int), proba))


def test_log_loss_is_that_of_scikit_learn_and_clipped_at_zero_probability():
    rng = np.random.default_rng(1)
    y = np.arange(90) % 3
    proba = rng.dirichlet(np.ones(3), size=90)
    assert scores.row_losses(y, proba).mean() == pytest.approx(log_loss(y, proba))
    # Class 2 had no training rows: its column is zero, its rows cost ln 1e15.
    proba = scores.all_classes(np.full((1, 2), 0.5), np.array([0, 1]), 3)
    np.testing.assert_array_equal(proba, [[0.5, 0.5, 0.0]])
    loss = scores.row_losses(np.array([2]), proba)
    assert loss[0] == pytest.approx(15 * np.log(10))


def test_compression_is_zero_for_the_priors_and_one_for_certainty():
    y = np.array([0, 1, 1, 1])
    prior = np.array([0.4, 0.6])
    assert scores.compression(y, np.tile(prior, (4, 1)), prior) == pytest.approx(0.0)
    assert scores.compression(y, np.eye(2)[y], prior) == 1.0
    # ln 2 a row against -(ln 0.4 + 3 ln 0.6) in all.
    expected = 1 - 4 * np.log(2) / -(np.log(0.4) + 3 * np.log(0.6))
    half = np.full((4, 2), 0.5)
    assert scores.compression(y, half, prior) == pytest.approx(expected)


def test_accuracy_is_that_of_scikit_learn():
    rng = np.random.default_rng(2)
    y, proba = rng.integers(3, size=50), rng.dirichlet(np.ones(3), size=50)
    expected = accuracy_score(y, proba.argmax(axis=1))
    assert scores.accuracy(y, proba) == pytest.approx(expected)


def test_calibration_error_is_the_mean_over_bins_of_hits_against_probability():
    # Three rows at 0.9 with two hits, two at 0.6 with none; 15 bins part them.
    y = np.array([0, 0, 1, 1, 1])
    proba = np.array([[0.9, 0.1]] * 3 + [[0.6, 0.4]] * 2)
    found = scores.calibration_error(scores.calibration_bins(y, proba))
    assert found == pytest.approx((3 * abs(2 / 3 - 0.9) + 2 * 0.6) / 5)
    certain = scores.calibration_bins(y, np.eye(2)[y])
    assert certain[0, -1] == 5
    assert scores.calibration_error(certain) == 0.0
    assert scores.calibration_error(scores.calibration_bins(y, np.eye(2)[1 - y])) == 1.0


@given(st.integers(0, 1000), st.integers(2, 5), st.integers(2, 60))
def test_calibration_bins_of_folds_add_up(seed, classes, n):
    rng = np.random.default_rng(seed)
    y, proba = rng.integers(classes, size=n), rng.dirichlet(np.ones(classes), size=n)
    parts = [scores.calibration_bins(y[at::2], proba[at::2]) for at in (0, 1)]
    whole = scores.calibration_bins(y, proba)
    np.testing.assert_allclose(sum(parts), whole, atol=1e-12)
    assert whole[0].sum() == n
    mean_gap = abs(scores.accuracy(y, proba) - proba.max(axis=1).mean())
    # Gaps of single bins may cancel in the whole, never the other way.
    assert mean_gap <= scores.calibration_error(whole) + 1e-12 <= 1 + 1e-12
