"""Interactions: found when one of the pair is screened in, and not out of the blue."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import mutual_info_score

from bayesieve import L0Screener, screen_interactions


def test_excess_is_the_joint_information_beyond_the_sum():
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(400, 5))
    y = np.where(rng.random(400) < 0.9, X[:, 0] ^ X[:, 3], rng.integers(2, size=400))
    found = screen_interactions(X, y, [0])
    assert found.pairs.tolist() == [[0, 3]]
    joint = mutual_info_score(2 * X[:, 0] + X[:, 3], y)
    alone = mutual_info_score(X[:, 0], y) + mutual_info_score(X[:, 3], y)
    assert found.excess[0] == pytest.approx(400 * (joint - alone), rel=1e-9)
    # Extended BIC: (K - 1)/2 log n + log(pairs), here 1 candidate against 4 others.
    assert found.regularization == pytest.approx(0.5 * np.log(400) + np.log(4))
    assert found.n_looked_at == 4


def test_three_classes_weights_and_sparse_input():
    rng = np.random.default_rng(1)
    X = (rng.random((600, 30)) < 0.4).astype(np.int64)
    y = np.where(X[:, 7] ^ X[:, 21], 2, rng.integers(2, size=600))
    dense = screen_interactions(X, y, [7, 21])
    assert dense.pairs.tolist() == [[7, 21]]
    for make in (sparse.csr_array, sparse.csc_array):
        other = screen_interactions(make(X), y, [7, 21])
        np.testing.assert_allclose(other.excess, dense.excess)
    weighted = screen_interactions(X, y, [7], sample_weight=np.full(600, 2.0))
    twice = screen_interactions(np.vstack([X, X]), np.tile(y, 2), [7])
    np.testing.assert_allclose(weighted.excess, twice.excess)
    above = screen_interactions(X * 3.0, y, [7], binarize=2.0)
    np.testing.assert_allclose(above.excess, dense.excess)


def test_xor_without_marginal_signal_is_out_of_reach_of_marginal_screening():
    """The documented limit: neither feature of the pair has a gain of its own."""
    rng = np.random.default_rng(2)
    X = rng.integers(2, size=(4000, 40))
    X[:, 5] = (rng.random(4000) < 0.5) ^ X[:, 4] ^ rng.integers(2, size=4000)
    y = X[:, 4] ^ X[:, 5]
    screener = L0Screener().fit(X, y)
    assert not screener.support_[[4, 5]].all()
    gain = len(y) * screener.scores_[[4, 5]]
    assert (gain < 0.5 * np.log(len(y)) + 3).all()  # no more than noise


def test_xor_is_found_when_one_of_the_pair_is_screened_in():
    rng = np.random.default_rng(3)
    n = 3000
    X = rng.integers(2, size=(n, 200))
    # The class follows feature 10 a little, and its XOR with feature 150 strongly.
    p = 0.15 + 0.2 * X[:, 10] + 0.5 * (X[:, 10] ^ X[:, 150])
    y = (rng.random(n) < p).astype(int)
    screener = L0Screener().fit(X, y)
    assert screener.support_[10]
    assert not screener.support_[150]
    found = screen_interactions(X, y, screener.support_indices_)
    assert found.pairs.tolist() == [[10, 150]]
    assert found.pvalues[0] < 1e-50


def test_independent_features_have_no_interactions():
    rng = np.random.default_rng(4)
    X = rng.integers(2, size=(500, 300))
    y = rng.integers(3, size=500)
    found = screen_interactions(X, y, range(20))
    assert len(found) == 0
    assert found.pairs.shape == (0, 2)


def test_bad_candidates_and_labels_are_refused():
    X = np.eye(4, dtype=int)
    with pytest.raises(ValueError, match=r"'candidates' parameter.*0 to 3\. Got"):
        screen_interactions(X, [0, 1, 0, 1], [4])
    with pytest.raises(ValueError, match="one label per row"):
        screen_interactions(X, [0, 1], [0])
    with pytest.raises(ValueError, match="values 0 or 1"):
        screen_interactions(3 * X, [0, 1, 0, 1], [0], binarize=None)
    assert screen_interactions(3 * X, [0, 1, 0, 1], [0]).n_looked_at == 3


def test_pairs_of_two_candidates_are_looked_at_once():
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(200, 6))
    y = X[:, 0] ^ X[:, 1]
    # All 15 pairs of six columns; two candidates of six have 5 + 4.
    assert screen_interactions(X, y, range(6)).n_looked_at == 15
    assert screen_interactions(X, y, [0, 3]).n_looked_at == 9
    assert screen_interactions(X, y, []).n_looked_at == 0
    mask = np.array([True, False, False, False, False, False])
    assert screen_interactions(X, y, mask).pairs.tolist() == [[0, 1]]


@pytest.mark.parametrize("max_pairs", [0, -1, 1.5, True])
def test_a_number_of_pairs_that_is_none_is_refused(max_pairs):
    with pytest.raises(ValueError, match="'max_pairs' parameter"):
        screen_interactions(
            np.eye(4, dtype=int), [0, 1, 0, 1], [0], max_pairs=max_pairs
        )


def test_labels_that_are_no_classes_are_refused():
    X = np.eye(4, dtype=int)
    with pytest.raises(ValueError, match="at least two classes"):
        screen_interactions(X, [1, 1, 1, 1], [0])
    with pytest.raises(ValueError, match="continuous"):
        screen_interactions(X, [0.1, 0.2, 0.3, 0.4], [0])
