"""Scores that the papers compare with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from bayesieve.baselines import odds_ratio, thresholded_nb

SCORES = [thresholded_nb, odds_ratio]
X = np.array([[3, 0, 1, 0], [4, 1, 1, 0], [0, 3, 1, 0], [0, 5, 1, 1]])
Y = np.array(["a", "a", "b", "b"])


def test_thresholded_nb_by_hand():
    # Counts + 1: a (8, 2, 3, 1) of 14, b (1, 9, 3, 2) of 15.
    ratios = np.array([1 / 8, 9 / 2, 3 / 3, 2 / 1]) * 14 / 15
    np.testing.assert_allclose(thresholded_nb(X, Y), np.abs(np.log(ratios)))


def test_thresholded_nb_is_the_weight_of_scikit_learn():
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(0.5, 2, 30), size=(50, 30))
    y = rng.integers(2, size=50)
    for alpha in (0.1, 1.0):
        theta = MultinomialNB(alpha=alpha).fit(counts, y).feature_log_prob_
        np.testing.assert_allclose(
            thresholded_nb(counts, y, alpha=alpha),
            np.abs(theta[1] - theta[0]),
            rtol=1e-12,
            atol=1e-14,
        )


def test_odds_ratio_by_hand():
    # With p = b / 15 and q = a / 14 as above: log[p (1 - q) / ((1 - p) q)].
    p, q = np.array([1, 9, 3, 2]) / 15, np.array([8, 2, 3, 1]) / 14
    np.testing.assert_allclose(
        odds_ratio(X, Y), np.log(p * (1 - q) / ((1 - p) * q)), rtol=1e-12
    )


def test_odds_ratio_changes_sign_with_the_classes_and_the_weight_does_not():
    swapped = np.where(Y == "a", "z", Y)
    np.testing.assert_allclose(odds_ratio(X, swapped), -odds_ratio(X, Y), rtol=1e-12)
    np.testing.assert_allclose(thresholded_nb(X, swapped), thresholded_nb(X, Y))


@pytest.mark.parametrize("score", SCORES)
def test_works_in_select_k_best(score):
    for made in (np.asarray, sparse.csr_array, sparse.csc_array, sparse.csr_matrix):
        selector = SelectKBest(score, k=2).fit(made(X), Y)
        np.testing.assert_allclose(selector.scores_, score(X, Y))
        chosen = np.sort(np.argsort(-score(X, Y), kind="stable")[:2])
        np.testing.assert_array_equal(selector.get_support(indices=True), chosen)
        model = make_pipeline(SelectKBest(score, k=2), MultinomialNB())
        assert model.fit(made(X), Y).predict(made(X)).shape == (4,)


@pytest.mark.parametrize("score", SCORES)
def test_bad_input_is_named(score):
    name = score.__name__
    with pytest.raises(ValueError, match=f"{name} needs exactly two classes.*Got 3"):
        score(X, [0, 1, 2, 2])
    with pytest.raises(ValueError, match=f"{name} needs exactly two classes.*Got 1"):
        score(X, [1, 1, 1, 1])
    for alpha in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match=f"'alpha' parameter of {name}.*> 0"):
            score(X, Y, alpha=alpha)
    with pytest.raises(ValueError, match=r"Negative value -1.* column 2"):
        score(X - np.array([0, 0, 2, 0]), Y)
