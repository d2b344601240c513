"""The binary screeners as selectors: what they keep, from which input, and why."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFdr
from sklearn.metrics import mutual_info_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

from bayesieve import (
    ClassCounts,
    FDRScreener,
    L0Screener,
    L1Screener,
    NaiveFeatureSelector,
    PearsonScreener,
    SparseBernoulliNB,
    SparseBernoulliNBCV,
    SparseCategoricalNB,
    SparseGaussianNB,
    SparseMultinomialNB,
)
from bayesieve.exceptions import FewFeaturesWarning, LowCountWarning
from bayesieve.feature_selection import _screening_base
from bayesieve.solvers._screening import penalised_screening, truncated_parameters

SCREENERS = [
    L0Screener(),
    L0Screener(4),
    L0Screener(regularization=0.01),
    L1Screener(),
    L1Screener(4),
    L1Screener(regularization=9.0),
    PearsonScreener(),
    PearsonScreener(4),
    PearsonScreener(regularization=0.02),
    FDRScreener(),
    FDRScreener(k=4),
]
BY_FOLDS = L1Screener(criterion="cv", cv=3)
NAMES = [f"w{j}" for j in range(12)]
EMPTY, UNIVERSAL = 4, 7


def data(n_classes=3, seed=0, n=240, p=12):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    chance = np.tile(0.2 + 0.6 * rng.random(p), (n_classes, 1))
    chance[:, :4] = 0.2 + 0.6 * rng.random((n_classes, 4))
    X = (rng.random((n, p)) < chance[y]).astype(np.int64)
    X[:, EMPTY] = 0
    X[:, UNIVERSAL] = 1
    return X, y


def unbalanced():
    """995 rows against 5; one column tells the classes apart, two are constant."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [995, 5])
    X = (rng.random((1000, 6)) < 0.5).astype(np.int64)
    X[:, 0] = np.where(y == 1, 1, rng.random(1000) < 0.05)
    X[:, 1] = 0
    X[:, 2] = 1
    return X, y


def fitted(model, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowCountWarning)
        return clone(model).fit(X, y, **options)


def assert_same(one, other, *, rtol=0.0):
    np.testing.assert_array_equal(one.support_indices_, other.support_indices_)
    np.testing.assert_array_equal(one.support_, other.support_)
    np.testing.assert_array_equal(one.classes_, other.classes_)
    assert one.k_ == other.k_
    assert one.n_features_in_ == other.n_features_in_
    for name in ("scores_", "theta_", "pvalues_", "low_count_"):
        assert hasattr(one, name) == hasattr(other, name)
        if hasattr(one, name):
            np.testing.assert_allclose(
                getattr(one, name), getattr(other, name), rtol=rtol, atol=rtol
            )


# ---------------------------------------------------------------- what each one keeps


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_l0_keeps_what_the_classifier_keeps(n_classes, seed):
    X, y = data(n_classes, seed)
    screener = L0Screener().fit(X, y)
    nb = SparseBernoulliNB("bic", smoothing="truncated").fit(X, y)
    np.testing.assert_array_equal(screener.support_indices_, nb.support_indices_)
    np.testing.assert_allclose(
        len(y) * screener.scores_[screener.support_], nb.support_gains_, rtol=1e-12
    )
    np.testing.assert_allclose(
        np.log(screener.theta_[:, screener.support_]), nb.feature_log_prob_, rtol=1e-12
    )
    for k in (1, 3, 6):
        nb = SparseBernoulliNB(k, smoothing="truncated").fit(X, y)
        np.testing.assert_array_equal(
            L0Screener(k).fit(X, y).support_indices_, nb.support_indices_
        )


def test_l0_scores_are_mutual_information_for_each_row():
    X, y = data()
    screener = L0Screener().fit(X, y)
    expected = [mutual_info_score(X[:, j], y) for j in range(12)]
    np.testing.assert_allclose(screener.scores_, expected, atol=1e-12)
    threshold = 2 * np.log(240) / 480  # (K - 1) log n / 2n
    assert screener.bic_threshold_ == pytest.approx(threshold, rel=1e-14)
    np.testing.assert_array_equal(screener.support_, np.array(expected) > threshold)
    assert 1 < screener.k_ < 5


@pytest.mark.parametrize("screener", [L0Screener, L1Screener, PearsonScreener])
def test_penalty_and_size_cut_the_same_order(screener):
    X, y = data()
    scores = screener(regularization=1e-3).fit(X, y).scores_
    order = np.argsort(-scores, kind="stable")
    for k in (1, 2, 5):
        between = (scores[order[k - 1]] + scores[order[k]]) / 2
        by_penalty = screener(regularization=between).fit(X, y)
        by_size = screener(k).fit(X, y)  # nothing is truncated here
        np.testing.assert_array_equal(by_penalty.support_indices_, np.sort(order[:k]))
        np.testing.assert_array_equal(by_size.support_indices_, np.sort(order[:k]))
    nothing = screener(regularization=1e6).fit(X, y)
    assert nothing.k_ == 0
    with pytest.warns(UserWarning, match="No features were selected"):
        assert nothing.transform(X).shape == (240, 0)


def test_a_penalty_is_strict():
    # Two classes of 4 rows, column present in 3 and 1: H = 8 |8*3 - 4*4| / 16 = 4.
    X = np.array([[1], [1], [1], [0], [0], [0], [0], [1]])
    y = [1, 1, 1, 1, 0, 0, 0, 0]
    assert L1Screener(regularization=4.0).fit(X, y).k_ == 0
    assert L1Screener(regularization=np.nextafter(4.0, 0)).fit(X, y).k_ == 1


def test_l1_penalised_estimates_pool_what_is_not_kept():
    X, y = data()
    screener = L1Screener(regularization=9.0).fit(X, y)
    pooled = np.broadcast_to(X.mean(axis=0), (3, 12))
    outside = ~screener.support_
    np.testing.assert_array_equal(screener.theta_[:, outside], pooled[:, outside])
    kept = screener.theta_[:, screener.support_]
    assert (kept != pooled[:, screener.support_]).any(axis=0).all()
    assert 0 < screener.k_ < 10


def test_estimates_are_those_of_the_fit():
    X, y = data()
    screener = L1Screener(regularization=9.0).fit(X, y)
    before = screener.theta_
    screener.set_params(regularization=None)
    np.testing.assert_array_equal(screener.theta_, before)


def test_pearson_ratio_is_the_largest():
    X, y = data(seed=3)
    screener = PearsonScreener().fit(X, y)
    falling = np.sort(screener.scores_)[::-1]
    ratios = [
        falling[d - 1] / falling[d] if falling[d] > 0 else 0.0 for d in range(1, 12)
    ]
    assert screener.k_ == int(np.argmax(ratios)) + 1


def test_pearson_keeps_noise_when_two_tiny_scores_meet():
    # Column 1 is all but independent of the class (26 and 25 of 50), column 2 a little
    # less so (30 and 25); their ratio soon exceeds that at the true feature.
    y = np.repeat([0, 1], 50)
    X = np.zeros((100, 3), dtype=int)
    X[:40, 0] = X[50:60, 0] = 1
    X[:26, 1] = X[50:75, 1] = 1
    X[:30, 2] = X[50:75, 2] = 1
    # With two classes of 50, Delta = (F_0 - F_1)^2 / (G (100 - G)): 900 / 2500, 1 / (51
    # * 49), 25 / (55 * 45); ratios in falling order 0.36 / 0.0101 = 35.6, then 25.2.
    screener = PearsonScreener().fit(X, y)
    np.testing.assert_allclose(
        screener.scores_, [900 / 2500, 1 / (51 * 49), 25 / (55 * 45)], rtol=1e-12
    )
    assert screener.k_ == 1
    X[:11, 0] = 0  # 29 and 10: 361 / (39 * 61) = 0.152, ratio 15
    np.testing.assert_array_equal(PearsonScreener().fit(X, y).support_indices_, [0, 2])


def test_the_simulation_of_the_paper_in_small():
    # (n, p, d0) = (500, 500, 20) of Table 1: correct zeros 99.8, 99.7 and 27.3 percent
    # with standard errors 0.2, 0.3 and 44.3, over draws of theta that were not
    # published.
    zeros = {L0Screener: [], L1Screener: [], PearsonScreener: []}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.integers(3, size=500)
        chance = np.tile(rng.uniform(0.1, 0.9, 500), (3, 1))
        chance[:, :20] = rng.uniform(0.1, 0.9, (3, 20))
        X = rng.random((500, 500)) < chance[y]
        for screener, found in zeros.items():
            found.append(100 * np.mean(~screener().fit(X, y).support_[20:]))
    assert np.mean(zeros[L0Screener]) >= 99.4
    assert np.mean(zeros[L1Screener]) >= 99.4
    assert np.mean(zeros[PearsonScreener]) < 60
    assert np.std(zeros[PearsonScreener]) > 20


def test_fdr_is_select_fdr_on_its_own_p_values():
    X, y = data()
    for q in (0.001, 0.05, 0.4):
        screener = FDRScreener(q).fit(X, y)
        reference = SelectFdr(lambda X, y, s=screener: (s.scores_, s.pvalues_), alpha=q)
        np.testing.assert_array_equal(
            screener.support_, reference.fit(X, y).get_support()
        )
    assert screener.pvalues_[EMPTY] == screener.pvalues_[UNIVERSAL] == 1.0
    np.testing.assert_allclose(
        screener.scores_,
        [2 * 240 * mutual_info_score(X[:, j], y) for j in range(12)],
        atol=1e-9,
    )


def test_fdr_realised_on_planted_and_null_features():
    # 170 null and 30 planted features, q = 0.1: the procedure's own bound is 0.085.
    q, rates, power = 0.1, [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = rng.integers(3, size=600)
        chance = np.tile(0.1 + 0.8 * rng.random(200), (3, 1))
        chance[:, :30] = 0.1 + 0.8 * rng.random((3, 30))
        X = rng.random((600, 200)) < chance[y]
        support = FDRScreener(q).fit(X, y).support_
        rates.append(support[30:].sum() / max(support.sum(), 1))
        power.append(support[:30].mean())
    assert np.mean(rates) <= 1.2 * q
    assert np.mean(rates) > 0.2 * q  # the level is used
    assert np.mean(power) > 0.9


def test_fdr_keeps_nothing_of_noise():
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 30)) < 0.5, np.arange(200) % 2
    screener = FDRScreener(1e-4).fit(X, y)
    assert screener.k_ == 0
    with pytest.warns(UserWarning, match="No features were selected"):
        screener.transform(X)


def test_fdr_warns_of_low_counts_among_the_kept_ones():
    X, y = unbalanced()
    weights = np.full(y.shape[0], 1.1)  # with whole counts nothing is in doubt
    with pytest.warns(LowCountWarning, match="1 of the 1 features .* under 5"):
        screener = FDRScreener(1e-3).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(screener.support_indices_, [0])
    assert screener.low_count_.all()  # 5 rows of class 1: every cell expects under 5
    assert not FDRScreener(1e-3).fit(X, y).low_count_.any()  # no warning


# -------------------------------------------------------------------- cross-validation


def test_cross_validation_scores_are_those_of_a_plain_loop():
    X, y = data(seed=2)
    splits = list(StratifiedKFold(3).split(X, y))
    screener = L1Screener(criterion="cv", cv=splits).fit(X, y)
    sizes = screener.cv_results_["param_k"]
    np.testing.assert_array_equal(sizes, np.arange(1, 13))
    for i, (train, test) in enumerate(splits):
        counts = ClassCounts.from_matrix(X[train], y[train], binary=True)
        ranking = penalised_screening(counts, solver="test").ranking()
        for s, size in enumerate(sizes):
            kept = ranking[:size]
            shares, theta = truncated_parameters(counts, kept, solver="test")
            rows = X[test][:, kept]
            joint = (rows @ np.log(theta).T + (1 - rows) @ np.log1p(-theta).T) + np.log(
                shares
            )
            accuracy = np.mean(joint.argmax(axis=1) == y[test])
            assert screener.cv_results_[f"split{i}_test_score"][s] == pytest.approx(
                accuracy, abs=1e-12
            )
    mean = screener.cv_results_["mean_test_score"]
    assert screener.k_ == sizes[np.argmax(mean)]
    full = penalised_screening(
        ClassCounts.from_matrix(X, y, binary=True), solver="test"
    )
    np.testing.assert_array_equal(
        screener.support_indices_, np.sort(full.ranking()[: screener.k_])
    )


@pytest.mark.parametrize("made", [sparse.csr_array, sparse.csc_matrix])
def test_cross_validation_does_not_depend_on_the_format(made):
    X, y = data()
    dense = clone(BY_FOLDS).fit(X, y)
    other = clone(BY_FOLDS).fit(made(X), y)
    assert_same(dense, other)
    threshold = clone(BY_FOLDS).set_params(binarize=2.0).fit(made(X * 3), y)
    assert_same(dense, threshold)
    np.testing.assert_array_equal(
        dense.cv_results_["mean_test_score"], threshold.cv_results_["mean_test_score"]
    )


def test_cross_validation_needs_rows():
    X, y = data()
    assert not hasattr(BY_FOLDS, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        BY_FOLDS.partial_fit(X, y)
    counts = ClassCounts.from_matrix(X, y, binary=True)
    with pytest.raises(ValueError, match="cannot do what needs rows"):
        BY_FOLDS.fit_counts(counts)
    with pytest.raises(ValueError, match="cannot do what needs rows"):
        SparseBernoulliNBCV().fit_counts(counts)
    # A size or a penalty makes the folds superfluous.
    assert L1Screener(3, criterion="cv").fit_counts(counts).k_ == 3
    refitted = clone(BY_FOLDS).fit(X, y).set_params(criterion="bic").fit(X, y)
    assert not hasattr(refitted, "cv_results_")


# ------------------------------------------------------------------------- edge cases


@pytest.mark.parametrize("screener", [*SCREENERS, BY_FOLDS], ids=str)
def test_constant_columns_are_never_kept_under_unbalanced_classes(screener):
    X, y = unbalanced()
    fit = fitted(screener, X, y)
    np.testing.assert_array_equal(fit.scores_[[1, 2]], 0.0)
    assert not fit.support_[[1, 2]].any()
    assert np.isfinite(fit.scores_).all()
    assert np.isfinite(fit.theta_).all()
    if screener.k == 4:  # exactly the columns that vary
        np.testing.assert_array_equal(fit.support_indices_, [0, 3, 4, 5])


def test_rare_features_beside_a_tiny_class_are_as_documented():
    # In (1, 0) of (995, 5) rows, truncated to (1, 1): theta = 1/995 and 1/5, pooled
    # 2/1000, so n I = log(500 / 995) + log(100) + 994 log((994/995) / 0.998)
    # + 4 log(0.8 / 0.998) = 4.02, above the log(1000) / 2 = 3.45 of BIC.
    y = np.repeat([0, 1], [995, 5])
    X = np.zeros((1000, 1), dtype=int)
    X[0, 0] = 1
    logs = np.log([500 / 995, 100.0, 994 / 995 / 0.998, 0.8 / 0.998])
    screener = L0Screener(regularization=np.log(1000) / 2000).fit(X, y)
    assert screener.scores_[0] == pytest.approx(logs @ [1, 1, 994, 4] / 1000)
    assert screener.k_ == 1
    assert FDRScreener().fit(X, y).k_ == 0


@pytest.mark.parametrize("screener", [*SCREENERS, BY_FOLDS], ids=str)
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_whole_classes_and_single_rows_stay_finite(screener):
    X, y = data()
    X[y == 0, 0] = 1  # in every row of a class
    X[y == 1, 1] = 0  # in none
    y = y.copy()
    y[0] = 9  # a class of one row
    fit = fitted(screener, X, y)
    assert np.isfinite(fit.scores_).all()
    assert (fit.scores_ >= 0).all()
    theta = fit.theta_
    assert np.isfinite(theta).all()
    assert theta.shape == (4, 12)
    assert theta.min() >= 0
    assert theta.max() <= 1
    if not isinstance(screener, FDRScreener) and fit.regularization is None:
        assert 0 < theta.min() < theta.max() < 1


@pytest.mark.parametrize(
    "screener", [L0Screener(), L1Screener(), PearsonScreener()], ids=str
)
def test_at_least_one_feature_even_if_none_varies(screener):
    X = np.array([[0, 1], [0, 1], [0, 1], [0, 1]])
    fit = screener.fit(X, [0, 0, 1, 1])
    np.testing.assert_array_equal(fit.support_indices_, [0])
    np.testing.assert_array_equal(fit.scores_, [0.0, 0.0])


def test_bic_keeps_one_of_noise():
    rng = np.random.default_rng(0)
    X, y = rng.random((100, 5)) < 0.5, np.arange(100) % 2
    for screener in (L0Screener(), L1Screener()):
        fit = screener.fit(X, y)
        np.testing.assert_array_equal(fit.support_indices_, [np.argmax(fit.scores_)])


def test_xor_is_out_of_reach_of_marginal_screening():
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    X = np.tile(rows, (50, 1))
    y = X[:, 0] ^ X[:, 1]
    for screener in (L0Screener(), L1Screener(), FDRScreener()):
        np.testing.assert_allclose(screener.fit(X, y).scores_, 0.0, atol=1e-12)


def test_more_features_than_vary():
    X, y = data()
    for screener in (L0Screener(11), L1Screener(11), PearsonScreener(11)):
        with pytest.warns(FewFeaturesWarning, match="k=11 .* only 10 vary"):
            assert screener.fit(X, y).k_ == 10


# ------------------------------------------------------------------------- every input


@pytest.mark.parametrize("screener", [*SCREENERS, BY_FOLDS], ids=str)
def test_every_format_is_the_same(screener):
    X, y = data()
    whole = clone(screener).fit(X, y)
    for made in (
        X.astype(bool),
        X.astype(np.float32),
        np.asfortranarray(X),
        sparse.csr_array(X),
        sparse.csc_array(X.astype(np.int8)),
        sparse.csr_matrix(X),
    ):
        assert_same(whole, clone(screener).fit(made, y))
    labels = np.array(["a", "b", "c"])[y]
    named = [
        clone(screener).fit(frame(X, NAMES), labels)
        for frame in (
            lambda X, names: pd.DataFrame(X, columns=names),
            lambda X, names: pl.DataFrame(X, schema=names),
        )
    ]
    for fit in named:
        np.testing.assert_array_equal(fit.scores_, whole.scores_)
        np.testing.assert_array_equal(fit.theta_, whole.theta_)
        np.testing.assert_array_equal(
            fit.get_feature_names_out(), np.array(NAMES)[whole.support_]
        )
        np.testing.assert_array_equal(fit.classes_, ["a", "b", "c"])


@pytest.mark.parametrize("screener", SCREENERS, ids=str)
def test_partial_fit_is_fit(screener):
    X, y = data()
    whole = clone(screener).fit(X, y)
    chunked = clone(screener)
    for part in (slice(0, 40), slice(40, 41), slice(41, 240)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LowCountWarning)
            chunked.partial_fit(X[part], y[part])
    assert_same(whole, chunked)
    assert chunked.counts_ == ClassCounts.from_matrix(X, y, binary=True)
    assert not hasattr(whole, "counts_")
    with pytest.raises(ValueError, match="keep_counts=True"):
        whole.partial_fit(X, y)
    kept = clone(screener).set_params(keep_counts=True).fit(X[:120], y[:120])
    assert_same(kept.partial_fit(X[120:], y[120:]), whole)


@pytest.mark.parametrize("screener", SCREENERS, ids=str)
def test_weights_are_repetitions(screener):
    X, y = data()
    weights = np.random.default_rng(4).integers(0, 4, size=240)
    weighted = fitted(screener, X, y, sample_weight=weights)
    repeated = fitted(screener, np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_same(weighted, repeated, rtol=1e-12)


def test_weights_count_in_the_folds():
    X, y = data()
    weights = np.where(np.arange(240) < 120, 1.0, 5.0)
    plain = clone(BY_FOLDS).fit(X, y)
    weighted = clone(BY_FOLDS).fit(X, y, sample_weight=weights)
    assert_same(clone(BY_FOLDS).fit(X, y, sample_weight=np.ones(240)), plain)
    assert (weighted.scores_ != plain.scores_).any()


@pytest.mark.parametrize("screener", SCREENERS, ids=str)
def test_ready_counts_are_rows(screener):
    X, y = data()
    whole = clone(screener).fit(X, y)
    counts = ClassCounts.from_matrix(X, y, binary=True, feature_names=NAMES)
    ready = clone(screener).fit_counts(counts)
    assert_same(whole, ready)
    np.testing.assert_array_equal(ready.feature_names_in_, NAMES)
    np.testing.assert_array_equal(
        ready.get_feature_names_out(), np.array(NAMES)[whole.support_]
    )
    frame = pd.DataFrame(X, columns=NAMES)
    np.testing.assert_array_equal(ready.transform(frame), X[:, whole.support_])
    ready.fit_counts(ClassCounts.from_matrix(X, y, binary=True))
    assert not hasattr(ready, "feature_names_in_")


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (SparseMultinomialNB(4), "count"),
        (SparseBernoulliNB(4), "binary"),
        (SparseGaussianNB(4), "moments"),
        (SparseCategoricalNB(4), "category"),
        (NaiveFeatureSelector(4), "count"),
        (NaiveFeatureSelector(4, model="bernoulli", binarize=0.0), "binary"),
        (NaiveFeatureSelector(4, model="gaussian"), "moments"),
        (NaiveFeatureSelector(4, model="categorical"), "category"),
    ],
    ids=str,
)
def test_ready_counts_serve_every_counting_estimator(model, kind):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.poisson(rng.gamma(0.6, 2.0, size=(3, 8))[y])
    whole = clone(model).fit(X, y)
    counts = ClassCounts.from_matrix(X, y, kind=kind)
    ready = clone(model).fit_counts(counts)
    np.testing.assert_array_equal(ready.support_indices_, whole.support_indices_)
    assert ready.certificate_.objective == whole.certificate_.objective
    assert ready.n_features_in_ == 8
    assert not hasattr(ready, "counts_")
    if hasattr(whole, "predict_proba"):
        np.testing.assert_array_equal(ready.predict_proba(X), whole.predict_proba(X))
    else:
        np.testing.assert_array_equal(ready.scores_, whole.scores_)
    kept = clone(model).set_params(keep_counts=True).fit_counts(counts)
    assert kept.counts_ is counts
    twice = kept.partial_fit(X, y)
    assert twice.counts_.class_count.sum() == 180


def test_fit_counts_refuses_what_it_cannot_use():
    X, y = data()
    with pytest.raises(ValueError, match=r"kind 'binary'. Got kind 'count'. Hint"):
        L0Screener().fit_counts(ClassCounts.from_matrix(X, y))
    with pytest.raises(ValueError, match=r"kind 'count'. Got kind 'binary'. Hint"):
        NaiveFeatureSelector().fit_counts(ClassCounts.from_matrix(X, y, binary=True))
    with pytest.raises(TypeError, match=r"needs a ClassCounts\. Got ndarray"):
        L0Screener().fit_counts(X)
    with pytest.raises(ValueError, match=r"two classes\. Got one class: 5"):
        L0Screener().fit_counts(ClassCounts.from_matrix(X, [5] * 240, binary=True))
    with pytest.raises(ValueError, match="The 'k' parameter of L0Screener"):
        L0Screener(0).fit_counts(ClassCounts.from_matrix(X, y, binary=True))


# -------------------------------------------------------------------------- parameters


def test_values_must_be_0_and_1_without_a_threshold():
    X, y = data()
    X[3, 2] = 2
    with pytest.raises(ValueError, match=r"column 2.*row 3.*values 0 or 1"):
        L0Screener(binarize=None).fit(X, y)
    same = L0Screener(binarize=None).fit(X > 0, y)  # 0.0 by default, as BernoulliNB
    np.testing.assert_array_equal(L0Screener().fit(X, y).scores_, same.scores_)
    above = L0Screener(binarize=1.5).fit(X, y)
    assert above.k_ == 1
    assert above.theta_[0, 2] == pytest.approx(1 / 80)  # row 3 is of class 0


@pytest.mark.parametrize("screener", [L0Screener, L1Screener, PearsonScreener])
def test_two_ways_at_once_are_refused(screener):
    X, y = data()
    with pytest.raises(
        ValueError, match=r"'k' and 'regularization' .* regularization=1"
    ):
        screener(3, regularization=1.0).fit(X, y)


@pytest.mark.parametrize(
    ("screener", "name"),
    [
        (L0Screener(0), "k"),
        (L0Screener(0.5), "k"),
        (L0Screener(criterion="cv"), "criterion"),
        (L0Screener(regularization=-1.0), "regularization"),
        (L1Screener(criterion="ratio"), "criterion"),
        (L1Screener(criterion="cv", cv="many"), "cv"),
        (PearsonScreener(criterion="bic"), "criterion"),
        (FDRScreener(0.0), "q"),
        (FDRScreener(1.0), "q"),
        (FDRScreener(k=-2), "k"),
        (FDRScreener(binarize="0"), "binarize"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(screener, name):
    X, y = data()
    owner = type(screener).__name__
    with pytest.raises(ValueError, match=f"The '{name}' parameter of {owner} must be"):
        screener.fit(X, y)


def test_theta_is_kept_only_while_small(monkeypatch):
    X, y = data()
    with pytest.raises(NotFittedError):
        _ = L0Screener().theta_
    monkeypatch.setattr(_screening_base, "_KEPT_CELLS", 35)  # one under 3 x 12
    lean = L0Screener().fit(X, y)
    with pytest.raises(AttributeError, match=r"3 classes x 12 .* keep_counts=True"):
        _ = lean.theta_
    assert not any(isinstance(v, ClassCounts) for v in vars(lean).values())
    kept = L0Screener(keep_counts=True).fit(X, y)
    monkeypatch.undo()
    np.testing.assert_array_equal(kept.theta_, L0Screener().fit(X, y).theta_)


@pytest.mark.parametrize("screener", [*SCREENERS, BY_FOLDS], ids=str)
def test_pickle_output_and_pipeline(screener):
    X, y = data()
    fit = clone(screener).fit(X, y)
    assert_same(pickle.loads(pickle.dumps(fit)), fit)
    frame = pd.DataFrame(X, columns=NAMES)
    part = clone(screener).set_output(transform="pandas").fit(frame, y)
    assert list(part.transform(frame).columns) == list(np.array(NAMES)[fit.support_])
    model = make_pipeline(clone(screener), BernoulliNB()).fit(X, y)
    assert model.score(X, y) > 0.5
    back = fit.inverse_transform(fit.transform(X))
    np.testing.assert_array_equal(back, np.where(fit.support_, X, 0))
