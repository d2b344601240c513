"""Fits of chunks: equal to the whole where it fits, near it where it does not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import log_loss
from tests.naive_bayes.wide_examples import word_counts

from bayesieve import SelectiveBernoulliNB, SelectiveMultinomialNB


def chunks_of(X, y, size, weight=None):
    out = []
    for first in range(0, len(y), size):
        part = slice(first, first + size)
        chunk = (X[part], y[part])
        out.append(chunk if weight is None else (*chunk, weight[part]))
    return out


@pytest.mark.parametrize("cls", [SelectiveMultinomialNB, SelectiveBernoulliNB])
@pytest.mark.parametrize("settings", [{"k": 9}, {"regularization": 1.0}])
def test_chunks_that_fit_in_memory_are_the_whole(cls, settings):
    X, y = word_counts(0, n_classes=3)
    whole = cls(**settings).fit(X, y)
    parts = chunks_of(X, y, 170)
    for chunks in (parts, lambda: iter(parts)):
        found = cls(**settings).fit_chunks(chunks)
        np.testing.assert_array_equal(found.weights_, whole.weights_)
        np.testing.assert_allclose(found.predict_proba(X), whole.predict_proba(X))


def test_weights_of_rows_come_with_the_chunks():
    X, y = word_counts(0)
    weight = np.random.default_rng(0).integers(1, 4, size=600).astype(float)
    whole = SelectiveMultinomialNB(k=9).fit(X, y, sample_weight=weight)
    found = SelectiveMultinomialNB(k=9).fit_chunks(chunks_of(X, y, 100, weight))
    np.testing.assert_allclose(found.weights_, whole.weights_, atol=1e-12)


@pytest.mark.parametrize("cls", [SelectiveMultinomialNB, SelectiveBernoulliNB])
@pytest.mark.parametrize(
    "settings", [{"k": 9}, {"regularization": 0.3}, {"k": 3, "exact": True}]
)
def test_columns_of_chunks_join_and_are_proven_as_those_of_the_whole(cls, settings):
    X, y = word_counts(0, n_classes=3)
    weight = np.random.default_rng(0).integers(0, 3, size=600).astype(float)
    whole = cls(candidates=4, **settings).fit(X, y, sample_weight=weight)
    found = cls(candidates=4, **settings).fit_chunks(chunks_of(X, y, 170, weight))
    assert found.n_candidates_ == whole.n_candidates_ > 4
    assert found.dual_gap_ == pytest.approx(whole.dual_gap_, abs=1e-7)
    for name in ("objective", "null_objective", "upper_bound"):
        ours, theirs = (getattr(model.certificate_, name) for model in (found, whole))
        assert ours == pytest.approx(theirs, abs=1e-7)
    np.testing.assert_allclose(found.weights_, whole.weights_, atol=1e-7)


def test_chunks_that_change_in_a_late_pass_are_noticed():
    X, y = word_counts(0)
    calls = []

    def chunks():
        calls.append(1)
        return iter([(X, y)] if len(calls) <= 2 else [(X[:100], y[:100])])

    with pytest.raises(ValueError, match=r"the same each time. Got 100 rows"):
        SelectiveMultinomialNB(k=3).fit_chunks(chunks)


def test_a_sample_proves_nothing_but_that_no_likelihood_is_above_one():
    X, y = word_counts(3, n_rows=12_000, n_features=40)
    model = SelectiveMultinomialNB(regularization=2.0)
    model.fit_chunks(chunks_of(X, y, 3000), memory_budget=1)
    proof = model.certificate_
    nll = log_loss(y, model.predict_proba(X), normalize=False)
    assert proof.objective == pytest.approx(-nll, rel=1e-6)
    assert proof.null_objective == pytest.approx(-12_000 * np.log(2))
    assert proof.upper_bound == pytest.approx(0.0, abs=1e-6)
    assert not proof.is_optimal


@pytest.mark.parametrize("cls", [SelectiveMultinomialNB, SelectiveBernoulliNB])
@pytest.mark.parametrize("refit", [True, False])
def test_chunks_beyond_memory_come_near_the_whole(cls, refit):
    X, y = word_counts(7, n_rows=40_000, n_features=60)
    whole = cls(k=8, refit_intercept=refit).fit(X, y)
    near = cls(k=8, refit_intercept=refit).fit_chunks(
        chunks_of(X, y, 5000), memory_budget=24 * X.nnz // 6
    )
    assert near.support_.sum() <= 8
    prior = np.log(2)
    ours = log_loss(y, near.predict_proba(X))
    best = log_loss(y, whole.predict_proba(X))
    # A sixth of the rows alone would cost more than the descent over all of them.
    assert ours - best < 0.01 * (prior - best)


def test_an_iterator_and_what_cannot_be_done_are_refused():
    X, y = word_counts(0)
    chunks = chunks_of(X, y, 100)
    with pytest.raises(ValueError, match="an iterator can be read once"):
        SelectiveMultinomialNB(k=3).fit_chunks(iter(chunks))
    with pytest.raises(ValueError, match="needs a number k or regularization"):
        SelectiveMultinomialNB().fit_chunks(chunks)
    with pytest.raises(ValueError, match="cannot cross-validate"):
        SelectiveMultinomialNB(k=3, relaxed="auto").fit_chunks(chunks)
    with pytest.raises(ValueError, match="at least two classes"):
        SelectiveMultinomialNB(k=3).fit_chunks([(X, np.zeros(600))])
