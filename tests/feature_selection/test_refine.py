"""NaiveFeatureSelector(refine=...): the k features that get a weight."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from tests.naive_bayes.wide_examples import word_counts

from bayesieve import (
    ClassCounts,
    NaiveFeatureSelector,
    SelectiveBernoulliNB,
    SelectiveMultinomialNB,
)


@pytest.mark.parametrize(
    ("model", "classifier"),
    [("multinomial", SelectiveMultinomialNB), ("bernoulli", SelectiveBernoulliNB)],
)
def test_refined_features_are_among_those_with_a_weight(model, classifier):
    X, y = word_counts(0)
    binarize = 0.0 if model == "bernoulli" else None
    selector = NaiveFeatureSelector(k=12, model=model, binarize=binarize, refine=True)
    selector.fit(X, y)
    weighted = classifier(k=24, relaxed=False).fit(X, y)
    assert not (selector.support_ & ~weighted.support_).any()
    assert selector.refined_
    assert selector.k_ == 12
    assert selector.transform(X).shape == (600, 12)


def test_refinement_leaves_copies_out():
    rng = np.random.default_rng(0)
    y = np.arange(800) % 2
    strong = rng.poisson(0.3 + 1.2 * y)
    other = rng.poisson(0.3 + 0.4 * (1 - y))
    X = np.column_stack([strong, strong, strong, other, rng.poisson(0.5, (800, 30))])
    settings = {"k": 3, "model": "bernoulli", "binarize": 0.0}
    plain = NaiveFeatureSelector(**settings).fit(X, y)
    refined = NaiveFeatureSelector(**settings, refine=True).fit(X, y)
    assert plain.support_[:3].all()
    assert refined.support_[3]


def test_k_is_kept_even_where_fewer_features_get_a_weight():
    X, y = word_counts(0, n_features=30)
    selector = NaiveFeatureSelector(k=25, refine=True).fit(X, y)
    assert selector.k_ == 25


@pytest.mark.parametrize("k", ["elbow", "bic", 0.1])
def test_any_way_to_say_k_can_be_refined(k):
    X, y = word_counts(0)
    plain = NaiveFeatureSelector(k=k).fit(X, y)
    assert NaiveFeatureSelector(k=k, refine=True).fit(X, y).k_ == plain.k_


def test_auto_takes_what_classifies_better():
    X, y = word_counts(0, n_rows=1500)
    auto = NaiveFeatureSelector(k=8, refine="auto").fit(X, y)
    other = NaiveFeatureSelector(k=8, refine=auto.refined_).fit(X, y)
    np.testing.assert_array_equal(auto.support_, other.support_)
    scores = {
        way: cross_val_score(
            make_pipeline(NaiveFeatureSelector(k=8, refine=way), MultinomialNB()),
            X,
            y,
            cv=5,
        ).mean()
        for way in (True, False, "auto")
    }
    assert scores["auto"] >= max(scores[True], scores[False]) - 0.02


def test_what_cannot_be_refined_is_said():
    X, y = word_counts(0)
    selector = NaiveFeatureSelector(k=3, refine=True)
    assert not hasattr(selector, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        selector.partial_fit(X, y)
    with pytest.raises(ValueError, match="needs rows"):
        selector.fit_counts(ClassCounts.from_matrix(X, y))
    with pytest.raises(ValueError, match=r"'refine' parameter .* must be False"):
        NaiveFeatureSelector(k=3, model="gaussian", refine=True).fit(X.toarray(), y)
    with pytest.raises(ValueError, match=r"'alpha' parameter .* above 0 to refine"):
        NaiveFeatureSelector(k=3, alpha=0.0, refine=True).fit(X, y)


def test_counts_are_kept_where_asked():
    X, y = word_counts(0)
    kept = NaiveFeatureSelector(k=3, refine=True, keep_counts=True)
    kept.fit(sparse.csc_array(X), y)
    assert kept.counts_.n_features == X.shape[1]
