"""Wide classifiers: chunks, choices on held-out rows, and what is refused."""

from __future__ import annotations

import signal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from tests.naive_bayes.wide_examples import word_counts

from bayesieve import (
    NaiveFeatureSelector,
    SelectiveBernoulliNB,
    SelectiveMultinomialNB,
    SelectiveMultinomialNBCV,
)
from bayesieve.exceptions import (
    FewFeaturesWarning,
    InterruptedFitWarning,
    NotConvergedWarning,
)


def named_frame():
    X, y = word_counts(0, n_features=30)
    return pd.DataFrame(X.toarray(), columns=[f"w{i:02}" for i in range(30)]), y


def test_chunks_are_matched_by_name_whatever_their_order():
    frame, y = named_frame()
    whole = SelectiveMultinomialNB(k=4).fit(frame, y)
    turned = frame[frame.columns[::-1]]
    found = SelectiveMultinomialNB(k=4).fit_chunks(
        [(frame[:300], y[:300]), (turned[300:], y[300:])]
    )
    np.testing.assert_allclose(found.weights_, whole.weights_)
    np.testing.assert_allclose(found.predict_proba(frame), whole.predict_proba(frame))


def test_chunks_may_lack_columns():
    frame, y = named_frame()
    frame.loc[300:, "w29"] = 0
    whole = SelectiveMultinomialNB(k=4).fit(frame, y)
    found = SelectiveMultinomialNB(k=4).fit_chunks(
        [(frame[:300], y[:300]), (frame[300:].drop(columns="w29"), y[300:])]
    )
    np.testing.assert_allclose(found.weights_, whole.weights_)


def test_chunks_that_change_between_passes_are_noticed():
    X, y = word_counts(0)
    calls = []

    def chunks():
        calls.append(1)
        return iter([(X, y)] if len(calls) == 1 else [(X[:100], y[:100])])

    with pytest.raises(ValueError, match="must get the same chunks each time"):
        SelectiveMultinomialNB(k=3).fit_chunks(chunks)


def test_chunks_without_a_threshold_must_be_zeros_and_ones():
    X, y = word_counts(0)
    with pytest.raises(ValueError, match="need values 0 or 1"):
        SelectiveBernoulliNB(k=3, binarize=None).fit_chunks([(X, y)])


@pytest.mark.parametrize("memory", [0, -5, 1.5, "x", True])
def test_memory_must_be_a_number_of_bytes(memory):
    X, y = word_counts(0)
    with pytest.raises(ValueError, match=r"'memory_budget' parameter .* an int >= 1"):
        SelectiveMultinomialNB(k=3).fit_chunks([(X, y)], memory_budget=memory)


def test_no_memory_at_all_still_gives_a_sane_model_and_no_false_proof():
    X, y = word_counts(3, n_rows=12_000, n_features=40, n_classes=3)
    y = y.copy()
    y[np.flatnonzero(y == 2)[20:]] = 0  # a rare class must not be lost in the sample
    weight = (np.arange(12_000) % 5 > 0).astype(float)
    model = SelectiveMultinomialNB(regularization=2.0, relaxed=False)
    model.fit_chunks([(X, y, weight)], memory_budget=1)
    assert np.isnan(model.dual_gap_)
    shares = np.bincount(y, weight) / weight.sum()
    np.testing.assert_allclose(
        np.average(model.predict_proba(X), axis=0, weights=weight), shares, atol=5e-3
    )
    whole = SelectiveMultinomialNB(regularization=2.0, relaxed=False)
    whole.fit(X, y, sample_weight=weight)
    ours = log_loss(y, model.predict_proba(X), sample_weight=weight)
    best = log_loss(y, whole.predict_proba(X), sample_weight=weight)
    assert ours < best + 0.02


def test_a_concave_penalty_claims_no_gap():
    X, y = word_counts(0)
    model = SelectiveMultinomialNB(regularization=2.0, exponent=0.5).fit(X, y)
    assert np.isnan(model.dual_gap_)
    assert np.isnan(model.path_.dual_gap[1:]).all()
    assert model.stopped_ == "converged"


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize(
    "wish", [{"class_prior": [0.1, 0.1, 0.8]}, {"fit_prior": False}]
)
def test_folds_know_the_prior_that_the_user_wants(refit, wish):
    X, y = word_counts(2, n_classes=3)
    y[:150] = 0
    splits = list(StratifiedKFold(3).split(X, y))
    settings = {"relaxed": False, "refit_intercept": refit, "tol": 1e-9, **wish}
    scored = SelectiveMultinomialNBCV(
        regularization=[2.0], cv=splits, scoring="neg_log_loss", **settings
    ).fit(X, y)
    for f, (train, test) in enumerate(splits):
        alone = SelectiveMultinomialNB(
            regularization=2.0 * train.size / len(y), **settings
        ).fit(X[train], y[train])
        expected = -log_loss(y[test], alone.predict_proba(X[test]))
        assert scored.cv_results_[f"split{f}_test_score"][0] == pytest.approx(
            expected, abs=1e-5
        )


@pytest.mark.parametrize("settings", [{}, {"k": 20, "relaxed": "auto"}])
def test_time_covers_what_is_chosen(monkeypatch, settings):
    from bayesieve.model_selection import _weight_choice

    X, y = word_counts(0)
    scored = []
    plain = _weight_choice.Fold.losses
    monkeypatch.setattr(
        _weight_choice.Fold,
        "losses",
        lambda self, state: scored.append(1) or plain(self, state),
    )
    SelectiveMultinomialNB(**settings).fit(X, y)
    assert len(scored) > 3
    scored.clear()
    told = FewFeaturesWarning if "k" in settings else NotConvergedWarning
    with pytest.warns(told, match=r"\(time\)|out of time"):
        model = SelectiveMultinomialNB(**settings, time_limit=0.0).fit(X, y)
    assert not scored
    assert model.stopped_ == "time"
    assert model.predict(X).shape == (600,)


def test_ctrl_c_while_choosing_leaves_a_model(monkeypatch):
    from bayesieve.model_selection import _weight_choice

    X, y = word_counts(0)
    scored = []
    plain = _weight_choice.Fold.losses

    def losses(self, state):
        scored.append(1)
        if len(scored) == 3:
            signal.raise_signal(signal.SIGINT)
        return plain(self, state)

    monkeypatch.setattr(_weight_choice.Fold, "losses", losses)
    with pytest.warns(InterruptedFitWarning, match="best model so far is kept"):
        model = SelectiveMultinomialNB().fit(X, y)
    assert len(scored) == 3
    assert model.predict(X).shape == (600,)


def test_costs_of_zero_cannot_be_searched_for_k():
    X, y = word_counts(0)
    with pytest.raises(ValueError, match="must have a cost above 0 for k"):
        SelectiveMultinomialNB(k=8, feature_cost=np.zeros(200)).fit(X, y)


def test_long_arrays_are_not_printed_in_messages():
    X, y = word_counts(0)
    with pytest.raises(ValueError, match=r"Got an array of shape \(200,\)"):
        SelectiveMultinomialNB(k=8, alpha=-np.ones(200)).fit(X, y)


def test_a_class_of_one_row_does_not_stop_cross_validation():
    X, y = word_counts(0)
    y = y.copy()
    y[7] = 2
    model = SelectiveMultinomialNBCV(regularization=4, cv=3).fit(X, y)
    assert np.isfinite(model.best_score_)
    NaiveFeatureSelector(k=5, refine="auto").fit(X, y)
    SelectiveMultinomialNB(k=5, relaxed="auto").fit(X, y)


def test_one_row_of_each_class_is_said_to_be_too_few_for_folds():
    X = sparse.csr_array(np.eye(4))
    for model in (
        SelectiveMultinomialNBCV(),
        SelectiveMultinomialNB(k=2, relaxed="auto"),
        NaiveFeatureSelector(k=2, refine="auto"),
    ):
        with pytest.raises(ValueError, match="a class with two rows or more"):
            model.fit(X, [0, 1, 2, 3])


def test_few_columns_are_named_as_the_reason():
    X, y = word_counts(0)
    with pytest.warns(FewFeaturesWarning, match="there are 2 features that vary"):
        SelectiveMultinomialNB(k=8).fit(X[:, [0, 3]], y)
    assert SelectiveMultinomialNB(k=8, candidates=2).fit(X, y).k_ == 8


def test_true_is_no_number_of_features():
    X, y = word_counts(0)
    with pytest.raises(ValueError, match="'k' parameter"):
        SelectiveMultinomialNB(k=True).fit(X, y)


def test_cross_validation_says_that_it_cannot_fit_chunks():
    model = SelectiveMultinomialNBCV()
    assert not hasattr(model, "fit_chunks")
    with pytest.raises(AttributeError, match="fit_chunks"):
        model.fit_chunks([])


def test_a_few_columns_of_huge_counts_do_not_end_the_search_for_a_penalty():
    """They enter at penalties far above those at which anything is learnt."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 4
    rates = rng.gamma(0.5, 1.0, size=(4, 200))
    X = rng.poisson(rates[y]).astype(float)
    noise = np.zeros((600, 2))
    noise[rng.choice(600, 12, replace=False)] = rng.integers(10**4, 10**6, (12, 2))
    X = np.hstack([noise, X])
    model = SelectiveMultinomialNB().fit(X, y)
    assert model.k_ > 10
    assert model.score(X, y) > 0.95
