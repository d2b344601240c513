"""Stability selection with estimators of counts, of rows, and of others."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_selection import SelectFromModel, SelectKBest, chi2
from sklearn.linear_model import LogisticRegression

from bayesieve import (
    FDRScreener,
    L0Screener,
    NaiveFeatureSelector,
    SelectiveMultinomialNB,
    SparseBernoulliNB,
    SparseCategoricalNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseTextNB,
    _core,
    stability_from_counts,
    stability_selection,
)
from bayesieve.counts import replicate_counts
from bayesieve.counts._replicates import Resampling
from bayesieve.exceptions import FewFeaturesWarning, InterruptedFitWarning

METHODS = ["pairs", "bootstrap"]
STRONG = 4


def words(seed=0, n=300, m=40, strong=STRONG):
    """Counts of words, the first of which tell two classes apart, two for each."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = rng.poisson(0.7, size=(n, m))
    told = y[:, None] == np.arange(strong) % 2
    X[:, :strong] += rng.poisson(told * 1.2)
    return X, np.array(["ham", "spam"])[y]


ESTIMATORS = [
    NaiveFeatureSelector(k=4),
    NaiveFeatureSelector(k=4, model="bernoulli"),
    NaiveFeatureSelector(k=4, model="gaussian"),
    NaiveFeatureSelector(k=4, model="categorical"),
    SparseMultinomialNB(k=4),
    SparseBernoulliNB(k=4, binarize=1.0),
    SparseGaussianNB(k=4),
    SparseCategoricalNB(k=4),
    L0Screener(k=4),
    FDRScreener(),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: repr(e)[:40])
def test_every_resample_is_a_fit_with_its_weights(estimator, method):
    X, y = words()
    found = stability_selection(
        estimator, X, y, n_resamples=6, method=method, random_state=5
    )
    seed = int(np.random.RandomState(5).randint(2**63 - 1, dtype=np.int64))
    weights = Resampling(6, method, seed).weights(np.arange(len(y)), 0, 6)
    for chosen, weight in zip(found.supports_, weights.T, strict=True):
        model = type(estimator)(**estimator.get_params())
        model.fit(X, y, sample_weight=weight.astype(np.float64))
        assert chosen.indices.tolist() == model.support_indices_.tolist()
    assert found.support_indices_.tolist() == (
        type(estimator)(**estimator.get_params()).fit(X, y).support_indices_.tolist()
    )
    assert not hasattr(estimator, "support_indices_")


@pytest.mark.parametrize("method", METHODS)
def test_strong_features_are_stable_and_others_are_not(method):
    X, y = words()
    found = stability_selection(
        NaiveFeatureSelector(k=STRONG), X, y, method=method, random_state=0
    )
    assert sorted(found.selected().tolist()) == [0, 1, 2, 3]
    assert found.frequencies_[STRONG:].max() < 0.5
    assert found.gain_intervals().shape == (STRONG, 2)
    inside = found.gain_intervals(0.99)
    estimate = found.gains_.estimate
    assert (inside[:, 0] < estimate).all()
    assert (estimate < inside[:, 1]).all()


def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads():
    X, y = words(n=2000, m=600)
    X = sparse.csr_array(X)
    first = stability_selection(SparseMultinomialNB(5), X, y, random_state=1)
    with _core.ThreadLimit(1):
        alone = stability_selection(SparseMultinomialNB(5), X, y, random_state=1)
    np.testing.assert_array_equal(first.supports_.indices, alone.supports_.indices)
    np.testing.assert_array_equal(first.gains_.resampled, alone.gains_.resampled)
    other = stability_selection(SparseMultinomialNB(5), X, y, random_state=2)
    assert not np.array_equal(first.gains_.resampled, other.gains_.resampled)


@pytest.mark.parametrize("method", METHODS)
def test_counts_of_chunks_give_what_rows_give(method):
    X, y = words()
    seed = int(np.random.RandomState(3).randint(2**63 - 1, dtype=np.int64))
    chunks = ((X[i : i + 70], y[i : i + 70]) for i in range(0, 300, 70))
    counts = replicate_counts(chunks, n_resamples=10, method=method, random_state=seed)
    found = stability_from_counts(SparseMultinomialNB(4), counts, cutoff=0.8)
    rows = stability_selection(
        SparseMultinomialNB(4), X, y, n_resamples=10, method=method, random_state=3
    )
    np.testing.assert_array_equal(found.supports_.indices, rows.supports_.indices)
    np.testing.assert_allclose(found.gain_intervals(), rows.gain_intervals())
    assert (found.cutoff, found.method) == (0.8, method)


def test_names_of_columns_are_kept():
    X, y = words()
    frame = pd.DataFrame(X, columns=[f"word{j}" for j in range(40)])
    found = stability_selection(NaiveFeatureSelector(4), frame, y, random_state=0)
    assert sorted(found.names(found.selected())) == ["word0", "word1", "word2", "word3"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "estimator",
    [
        SelectKBest(chi2, k=4),
        SelectFromModel(LogisticRegression(C=0.01), max_features=4),
        NaiveFeatureSelector(k=4, refine=True),
        SelectiveMultinomialNB(k=4, random_state=0),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array, pd.DataFrame])
def test_selectors_of_rows_are_fitted_on_the_rows_of_each_resample(
    estimator, method, form
):
    X, y = words(n=200)
    found = stability_selection(
        estimator, form(X), list(y), n_resamples=4, method=method, random_state=0
    )
    assert found.frequencies_[:STRONG].mean() > 0.7
    assert found.n_selected_ <= 4
    assert found.gains_ is None


def test_rows_in_the_halves_of_chi2_are_those_of_the_weights():
    X, y = words(n=101)
    found = stability_selection(SelectKBest(chi2, k=4), X, y, random_state=0)
    seed = int(np.random.RandomState(0).randint(2**63 - 1, dtype=np.int64))
    weights = Resampling(100, "pairs", seed).weights(np.arange(101), 0, 100)
    for number in (0, 1, 99):
        rows = weights[:, number] > 0
        wanted = SelectKBest(chi2, k=4).fit(X[rows], y[rows]).get_support(indices=True)
        assert found.supports_[[number]].indices.tolist() == wanted.tolist()


def test_groups_are_resampled_whole():
    # Every person repeats one row 30 times: rows of one person are no news.
    rng = np.random.default_rng(0)
    people = 12
    own_y = np.arange(people) % 2
    own_X = rng.poisson(2, size=(people, 200))
    X, y = np.repeat(own_X, 30, axis=0), np.repeat(own_y, 30)
    groups = np.repeat([f"person {i}" for i in range(people)], 30)
    blind = stability_selection(NaiveFeatureSelector(5), X, y, random_state=0)
    aware = stability_selection(
        NaiveFeatureSelector(5), X, y, groups=groups, random_state=0
    )
    assert blind.support_.sum() >= 3  # sure of what is noise
    assert aware.support_.sum() == 0
    sizes = np.diff(aware.supports_.indptr)
    assert (sizes == 5).all()


def test_a_class_may_be_missing_in_a_resample():
    X, y = words(n=60)
    y = y.astype(object)
    y[:2] = "rare"
    for estimator in (NaiveFeatureSelector(3), SparseGaussianNB(3), L0Screener(k=3)):
        for method in METHODS:
            found = stability_selection(
                estimator, X, y, n_resamples=20, method=method, random_state=0
            )
            assert (np.diff(found.supports_.indptr) == 3).all()


def test_what_resamples_warn_of_is_told_once():
    X, y = words()
    X[:, 5:] = 0
    X[0, 5] = 1  # in half of the halves
    with pytest.warns(FewFeaturesWarning, match=r"In \d+ of 10 resamples: ") as told:
        stability_selection(
            SparseMultinomialNB(6), X, y, n_resamples=10, random_state=0
        )
    assert len(told) == 1


@pytest.mark.parametrize(
    ("estimator", "options", "error", "message"),
    [
        (SparseTextNB(), {}, TypeError, "needs an estimator of matrices. Got Sparse"),
        (LogisticRegression(), {}, TypeError, "with support_indices_ or get_support"),
        (3, {}, TypeError, "needs a selector or a sparse classifier. Got 3"),
        (SparseMultinomialNB, {}, TypeError, "needs a selector"),
        (SparseMultinomialNB(), {"n_resamples": 5}, ValueError, "an even int >= 2"),
        (SparseMultinomialNB(), {"method": "half"}, ValueError, "'pairs' or 'bootstr"),
        (SparseMultinomialNB(), {"cutoff": 0.5}, ValueError, r"in \(0.5, 1\]"),
        (SparseMultinomialNB(), {"groups": [1, 2]}, ValueError, "300 in all. Got 2"),
        (SparseMultinomialNB(k=-1), {}, ValueError, "The 'k' parameter of SparseMult"),
        (SparseMultinomialNB(), {"random_state": "a"}, ValueError, "'a' cannot be"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(estimator, options, error, message):
    X, y = words()
    with pytest.raises(error, match=message):
        stability_selection(estimator, X, y, **options)


def test_counts_need_an_estimator_of_counts():
    X, y = words()
    counts = replicate_counts([(X, y)], n_resamples=2)
    for estimator in (SelectKBest(chi2), NaiveFeatureSelector(refine=True)):
        with pytest.raises(TypeError, match="a function of class counts alone"):
            stability_from_counts(estimator, counts)
    with pytest.raises(TypeError, match="needs the ReplicateCounts"):
        stability_from_counts(SparseMultinomialNB(), counts.total)
    with pytest.raises(ValueError, match="needs counts of kind 'binary'"):
        stability_from_counts(SparseBernoulliNB(), counts)
    with pytest.raises(ValueError, match=r"in \(0.5, 1\]"):
        stability_from_counts(SparseMultinomialNB(), counts, cutoff=0.3)


def test_a_resample_that_cannot_be_fitted_is_named():
    X, y = words(n=40)
    y[:] = "ham"
    y[3] = "spam"
    with pytest.raises(ValueError, match=r"Resample \d+ of 100 cannot be fitted: "):
        stability_selection(SelectFromModel(LogisticRegression()), X, y, random_state=0)


class InterruptedAtThird(SelectKBest):
    """A selector whose third fit is ended by Ctrl-C, and keeps what it has."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        if type(self).fits == 3:
            warnings.warn("Ctrl-C", InterruptedFitWarning, stacklevel=2)
        return super().fit(X, y)


def test_an_interrupted_fit_ends_all_of_them():
    X, y = words()
    with pytest.raises(KeyboardInterrupt):
        stability_selection(InterruptedAtThird(chi2, k=4), X, y, random_state=0)
    assert InterruptedAtThird.fits == 3


# ------------------------------------------------------------------ errors as promised


@pytest.mark.slow
@pytest.mark.parametrize("model", ["bernoulli", "multinomial"])
def test_errors_stay_within_the_bounds_and_intervals_cover(model):
    """Sixty data sets of known truth, ten features of two hundred that matter."""
    n, m, strong, repeats = 600, 200, 10, 60
    effect = np.zeros(m)
    effect[:strong] = np.linspace(0.4, 1.2, strong)

    def rows(rng, n_rows):
        y = rng.integers(2, size=n_rows)
        more = effect * (y[:, None] == np.arange(m) % 2)
        if model == "bernoulli":
            return (rng.random((n_rows, m)) < 0.2 + 0.25 * more).astype(np.int8), y
        return rng.poisson(0.5 * (1 + more)), y

    # The gain that n rows have in truth: per row, of 800,000 rows.
    rng = np.random.default_rng(1)
    options = {"model": model, "k": strong}
    large = NaiveFeatureSelector(**options)
    for _ in range(20):
        large.partial_fit(*rows(rng, 40_000), classes=[0, 1])
    truth = large.scores_ * n / 800_000
    cutoffs = (0.6, 0.7, 0.9)
    false = {cutoff: [] for cutoff in cutoffs}
    bounds, covered = {}, []
    for repeat in range(repeats):
        X, y = rows(np.random.default_rng(100 + repeat), n)
        found = stability_selection(
            NaiveFeatureSelector(**options), X, y, random_state=repeat
        )
        for cutoff in cutoffs:
            false[cutoff].append((found.selected(cutoff) >= strong).sum())
            bounds[cutoff] = found.error_bound(cutoff, "r-concave")
        low, high = found.gain_intervals().T
        true = truth[found.support_indices_]
        strongest = found.support_indices_ >= 5  # always selected: no luck of the draw
        strongest &= found.support_indices_ < strong
        covered += ((low <= true) & (true <= high))[strongest].tolist()
    for cutoff in cutoffs:
        # Noise is exchangeable here, so every bound holds for it, the smallest too.
        assert np.mean(false[cutoff]) <= bounds[cutoff]
        assert bounds[cutoff] < found.error_bound(cutoff)
    # 0.95, within 3 standard errors of 300 intervals (0.0126), and a little wide.
    assert len(covered) > 290
    assert 0.91 < np.mean(covered) < 0.99, np.mean(covered)


def test_warnings_of_the_fit_on_all_rows_are_told_as_ever():
    X, y = words()
    X[:, 3:] = 0
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        stability_selection(SparseMultinomialNB(6), X, y, n_resamples=2, random_state=0)
    assert [w.category for w in told] == [FewFeaturesWarning] * 2
    assert "In 2 of 2 resamples" in str(told[1].message)
