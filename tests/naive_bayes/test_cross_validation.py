"""Cross-validation on counts gives the scores of a grid search, cell by cell."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from bayesieve import (
    SparseBernoulliNB,
    SparseBernoulliNBCV,
    SparseMultinomialNB,
    SparseMultinomialNBCV,
)
from bayesieve.exceptions import FewFeaturesWarning

KS = [2, 5, 15]
ALPHAS = [0.01, 1.0]
PAIRS = [
    (SparseMultinomialNBCV, SparseMultinomialNB),
    (SparseBernoulliNBCV, SparseBernoulliNB),
]
FORMATS = {
    "dense": np.asarray,
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
}


def data(n_classes=2, *, fractions=False, seed=0, n=90, m=25):
    """Counts or tf-idf; column 0 has its only counts in rows 0 to 2."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    rate = rng.gamma(0.4, 1.5, size=(n_classes, m))
    X = rng.poisson(rate[y])
    X[:, 0] = 0
    X[:3, 0] = 5
    X[7] = 0
    if fractions:
        X = TfidfTransformer().fit_transform(sparse.csr_array(X)).toarray()
    return X, np.array(["no", "yes", "maybe", "so"])[y]


def searched(plain, X, y, splits, *, scoring=None, ks=KS, **options):
    search = GridSearchCV(
        plain(**options),
        {"alpha": ALPHAS, "k": ks},
        cv=splits,
        scoring=scoring,
        refit=False,
        error_score="raise",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewFeaturesWarning)
        return search.fit(X, y).cv_results_


def fitted_cv(cv_class, X, y, splits, *, ks=KS, weights=None, **options):
    model = cv_class(ks, alphas=ALPHAS, cv=splits, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewFeaturesWarning)
        return model.fit(X, y, sample_weight=weights)


def assert_same_results(ours, theirs, *, n_splits, exact=True):
    assert ours["params"] == theirs["params"]
    np.testing.assert_array_equal(ours["param_k"], theirs["param_k"].astype(int))
    np.testing.assert_array_equal(
        ours["param_alpha"], theirs["param_alpha"].astype(float)
    )
    for i in range(n_splits):
        name = f"split{i}_test_score"
        if exact:
            np.testing.assert_array_equal(ours[name], theirs[name])
        else:
            # A probability near 1 is rounded to 1e-16, and so is its logarithm near 0.
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-12, atol=1e-15)
    assert f"split{n_splits}_test_score" not in ours
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("made", FORMATS)
@pytest.mark.parametrize("fractions", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("cv_class", "plain"), PAIRS)
def test_accuracy_is_that_of_grid_search(cv_class, plain, n_classes, fractions, made):
    X, y = data(n_classes, fractions=fractions)
    X = FORMATS[made](X)
    splits = StratifiedKFold(4)
    ours = fitted_cv(cv_class, X, y, splits)
    theirs = searched(plain, X, y, splits)
    assert_same_results(ours.cv_results_, theirs, n_splits=4)
    np.testing.assert_array_equal(
        ours.cv_results_["rank_test_score"], theirs["rank_test_score"]
    )


@pytest.mark.parametrize(
    ("n_classes", "fractions", "made"),
    [(2, True, "dense"), (2, False, "csr"), (3, False, "dense"), (3, True, "csr")],
)
@pytest.mark.parametrize(("cv_class", "plain"), PAIRS)
def test_log_loss_is_that_of_grid_search(cv_class, plain, n_classes, fractions, made):
    X, y = data(n_classes, fractions=fractions)
    X = FORMATS[made](X)
    splits = StratifiedKFold(4)
    ours = fitted_cv(cv_class, X, y, splits, scoring="neg_log_loss")
    theirs = searched(plain, X, y, splits, scoring="neg_log_loss")
    assert_same_results(ours.cv_results_, theirs, n_splits=4, exact=False)


SPLITS = {
    "shuffle": ShuffleSplit(3, test_size=0.3, random_state=0),
    "time": TimeSeriesSplit(3),
    "k-fold": KFold(5),
    "partial": [(np.arange(30, 90), np.arange(15)), (np.arange(40), np.arange(50, 70))],
    "not covering": [(np.arange(30, 90), np.arange(30))],
    "repeated training rows": [
        (np.r_[np.arange(30, 90), np.arange(30, 60)], np.arange(30)),
        (np.arange(30), np.arange(30, 90)),
    ],
    "repeated test rows": [
        (np.arange(30, 90), np.r_[np.arange(30), np.arange(5)]),
        (np.arange(30), np.arange(30, 90)),
    ],
}


@pytest.mark.parametrize("kind", SPLITS)
@pytest.mark.parametrize(("cv_class", "plain"), PAIRS)
def test_any_splits_are_those_of_grid_search(cv_class, plain, kind):
    X, y = data(3)
    splits = SPLITS[kind]
    n_splits = len(splits) if isinstance(splits, list) else splits.get_n_splits(X)
    for scoring, exact in ((None, True), ("neg_log_loss", False)):
        ours = fitted_cv(cv_class, X, y, splits, scoring=scoring)
        theirs = searched(plain, X, y, splits, scoring=scoring)
        assert_same_results(ours.cv_results_, theirs, n_splits=n_splits, exact=exact)


@pytest.mark.parametrize("fractions", [False, True])
@pytest.mark.parametrize(("cv_class", "plain"), PAIRS)
def test_a_column_of_one_fold_only_is_not_seen_by_its_training_rows(
    cv_class, plain, fractions
):
    # Column 0 has counts in rows 0 to 2 alone, the first fold. With all 25 columns
    # asked for, a residue of the subtraction would bring it back into the support.
    X, y = data(2, fractions=fractions)
    splits = KFold(5)
    ours = fitted_cv(cv_class, X, y, splits, ks=[24, 25], scoring="neg_log_loss")
    theirs = searched(plain, X, y, splits, ks=[24, 25], scoring="neg_log_loss")
    assert_same_results(ours.cv_results_, theirs, n_splits=5, exact=False)


@pytest.mark.parametrize(("cv_class", "plain"), PAIRS)
def test_sizes_above_the_number_of_columns(cv_class, plain):
    X, y = data(3)
    ks = [5, 40, 1000]
    for scoring, exact in ((None, True), ("neg_log_loss", False)):
        ours = fitted_cv(cv_class, X, y, StratifiedKFold(3), ks=ks, scoring=scoring)
        theirs = searched(plain, X, y, StratifiedKFold(3), ks=ks, scoring=scoring)
        assert_same_results(ours.cv_results_, theirs, n_splits=3, exact=exact)
        results = ours.cv_results_
        large = results["mean_test_score"][results["param_k"] == 1000]
        middle = results["mean_test_score"][results["param_k"] == 40]
        np.testing.assert_array_equal(large, middle)


@pytest.mark.parametrize(
    ("splits", "options"),
    [
        (StratifiedKFold(3), {}),
        (StratifiedKFold(3), {"fit_prior": False}),
        (SPLITS["partial"], {"class_prior": [0.7, 0.2, 0.1]}),
    ],
)
@pytest.mark.parametrize(("cv_class", "plain"), PAIRS)
def test_weights_count_in_training_and_not_in_scoring(cv_class, plain, options, splits):
    X, y = data(3)
    weights = np.random.default_rng(3).integers(0, 4, size=y.size)
    ours = fitted_cv(
        cv_class, X, y, splits, weights=weights, scoring="neg_log_loss", **options
    )
    # Metadata routing says who gets the weights; scoring does not ask for them.
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            plain(**options).set_fit_request(sample_weight=True),
            {"alpha": ALPHAS, "k": KS},
            cv=splits,
            scoring=get_scorer("neg_log_loss").set_score_request(sample_weight=False),
            refit=False,
            error_score="raise",
        ).fit(X, y, sample_weight=weights)
    n_splits = 2 if isinstance(splits, list) else 3
    assert_same_results(
        ours.cv_results_, search.cv_results_, n_splits=n_splits, exact=False
    )


@pytest.mark.parametrize("binarize", [0.0, 1.0, None])
def test_bernoulli_thresholds_as_in_grid_search(binarize):
    X, y = data(2)
    if binarize is None:
        X = (X > 0).astype(float)
    for made in FORMATS.values():
        ours = fitted_cv(
            SparseBernoulliNBCV, made(X), y, StratifiedKFold(3), binarize=binarize
        )
        theirs = searched(
            SparseBernoulliNB, made(X), y, StratifiedKFold(3), binarize=binarize
        )
        assert_same_results(ours.cv_results_, theirs, n_splits=3)


@pytest.mark.parametrize(("cv_class", "plain"), PAIRS)
def test_without_smoothing_accuracy_is_that_of_grid_search(cv_class, plain):
    X, y = data(3, n=60)
    splits = list(StratifiedKFold(3).split(X, y))
    ours = cv_class([2, 5, 10], alphas=[0.0], cv=splits).fit(X, y).cv_results_
    theirs = GridSearchCV(
        plain(alpha=0.0), {"k": [2, 5, 10]}, cv=splits, refit=False
    ).fit(X, y)
    np.testing.assert_array_equal(
        ours["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize(("cv_class", "plain"), PAIRS)
def test_without_smoothing_log_loss_is_that_of_grid_search(cv_class, plain):
    # Test rows that no class can produce get the prior, in both.
    X, y = data(3, n=60)
    splits = list(StratifiedKFold(3).split(X, y))
    options = {"cv": splits, "scoring": "neg_log_loss"}
    ours = cv_class([2, 5, 10], alphas=[0.0], **options).fit(X, y).cv_results_
    theirs = GridSearchCV(
        plain(alpha=0.0), {"k": [2, 5, 10]}, refit=False, error_score="raise", **options
    ).fit(X, y)
    np.testing.assert_allclose(
        ours["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12
    )


@pytest.mark.parametrize("scoring", ["f1_macro", "roc_auc", "balanced_accuracy"])
@pytest.mark.parametrize(("cv_class", "plain"), PAIRS)
def test_other_scores(cv_class, plain, scoring):
    X, y = data(2)
    ours = fitted_cv(cv_class, X, y, StratifiedKFold(3), scoring=scoring)
    theirs = searched(plain, X, y, StratifiedKFold(3), scoring=scoring)
    assert_same_results(ours.cv_results_, theirs, n_splits=3, exact=False)


def test_a_scoring_function_sees_the_true_labels():
    X, y = data(2)
    seen = set()

    def score(estimator, X_test, truth):
        seen.update(truth)
        return float((estimator.predict(X_test) == truth).mean())

    ours = fitted_cv(SparseMultinomialNBCV, X, y, StratifiedKFold(3), scoring=score)
    plain = fitted_cv(SparseMultinomialNBCV, X, y, StratifiedKFold(3))
    assert seen == {"no", "yes"}
    np.testing.assert_array_equal(
        ours.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize(("cv_class", "plain"), PAIRS)
def test_best_and_one_standard_error_by_hand(cv_class, plain):
    X, y = data(3, seed=5)
    model = fitted_cv(cv_class, X, y, StratifiedKFold(5), choice="1se")
    results = model.cv_results_
    folds = np.array([results[f"split{i}_test_score"] for i in range(5)])
    mean = folds.mean(axis=0)
    best = mean.max()
    # Best mean; on ties the smaller k.
    tied = np.flatnonzero(mean == best)
    at = tied[np.argmin(results["param_k"][tied])]
    assert model.best_score_ == best
    assert model.k_best_ == results["param_k"][at]
    assert model.alpha_ == results["param_alpha"][at]
    error = folds[:, at].std() / np.sqrt(5)
    same_alpha = results["param_alpha"] == model.alpha_
    allowed = results["param_k"][same_alpha & (mean >= best - error)]
    assert model.k_1se_ == allowed.min() <= model.k_best_
    assert model.k_ == model.k_1se_ == model.support_indices_.size


@pytest.mark.parametrize(("cv_class", "plain"), PAIRS)
def test_the_final_model_is_a_fit_on_all_rows(cv_class, plain):
    X, y = data(3, seed=5)
    for choice in ("best", "1se"):
        model = fitted_cv(cv_class, X, y, 4, choice=choice)
        size = model.k_best_ if choice == "best" else model.k_1se_
        alone = plain(size, alpha=model.alpha_).fit(X, y)
        np.testing.assert_array_equal(model.support_indices_, alone.support_indices_)
        np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))
        assert model.certificate_.objective == alone.certificate_.objective
        assert model.certificate_.is_optimal


@pytest.mark.parametrize(("cv_class", "plain"), PAIRS)
def test_default_sizes_run_from_two_to_all_columns(cv_class, plain):
    X, y = data(2)
    model = cv_class(cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewFeaturesWarning)
        model.fit(X, y)
    sizes = np.unique(model.cv_results_["param_k"])
    assert (sizes[0], sizes[-1]) == (2, 25)
    assert np.unique(model.cv_results_["param_alpha"]).tolist() == [0.01, 0.1, 1.0]


@pytest.mark.parametrize(("cv_class", "plain"), PAIRS)
def test_partial_fit_goes_on_with_the_chosen_k_only_where_counts_were_kept(
    cv_class, plain
):
    X, y = data(2)
    lean = fitted_cv(cv_class, X, y, 3)
    assert not hasattr(lean, "partial_fit")
    with pytest.raises(AttributeError) as caught:
        lean.partial_fit(X, y)
    assert "keep_counts=True" in str(caught.value) + str(caught.value.__cause__)
    model = fitted_cv(cv_class, X[:60], y[:60], 3, keep_counts=True)
    size, alpha = model.k_, model.alpha_
    model.partial_fit(X[60:], y[60:])
    whole = plain(size, alpha=alpha).fit(X, y)
    np.testing.assert_array_equal(model.support_indices_, whole.support_indices_)
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ks", [0, 3], "'ks' parameter of {} must hold ints >= {}"),
        ("ks", [2.5], "'ks' parameter of {} must hold ints >= {}"),
        ("ks", [], "'ks' parameter of {} must hold ints >= {}"),
        ("alphas", [-1.0], "'alphas' parameter of {} must hold numbers >= 0"),
        ("alphas", [], "'alphas' parameter of {} must hold numbers >= 0"),
        ("alphas", [np.nan], "'alphas' parameter of {} must hold numbers >= 0"),
        ("choice", "2se", "'choice' parameter of {} must be a str among"),
        ("cv", 1, "n_splits=1|'cv' parameter|k-fold"),
    ],
)
@pytest.mark.parametrize(("cv_class", "plain"), PAIRS)
def test_bad_parameters_are_named(cv_class, plain, name, value, message):
    X, y = data(2)
    smallest = 2 if cv_class is SparseMultinomialNBCV else 1
    with pytest.raises(ValueError, match=message.format(cv_class.__name__, smallest)):
        cv_class(**{name: value}).fit(X, y)


def test_one_feature_is_refused_by_the_multinomial_model_alone():
    X, y = data(2)
    with pytest.raises(ValueError, match="ints >= 2"):
        SparseMultinomialNBCV([1, 2]).fit(X, y)
    model = SparseBernoulliNBCV([1, 2], cv=3).fit(X, y)
    assert set(model.cv_results_["param_k"]) == {1, 2}


class ProbabilityRecorder:
    """A scoring function that keeps the probabilities that it is shown."""

    def __init__(self):
        self.seen = []

    def __call__(self, estimator, X_test, truth):
        self.seen.append(estimator.predict_proba(X_test))
        return 0.0


def sparse_small_table(seed, *, fractions):
    """Few counts, so that most supports leave some class without any."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 5))
    y = np.arange(12 * n_classes) % n_classes
    rate = rng.gamma(0.15, 2.0, size=(n_classes, 8))
    rate[rng.random(rate.shape) < 0.5] = 0.0
    X = rng.poisson(rate[y]).astype(float)
    if fractions:
        X *= rng.choice([0.1, 0.3, 0.7], size=X.shape)
    return X, y


@pytest.mark.parametrize("fractions", [False, True])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("cv_class", "plain"), PAIRS)
def test_every_cell_is_a_refit_where_a_class_has_no_count_on_the_support(
    cv_class, plain, seed, fractions
):
    X, y = sparse_small_table(seed, fractions=fractions)
    # The least alphas leave class sums that subtraction of counts would round away.
    alphas, ks = [0.0, 1e-300, 1e-20, 1e-3], [2, 3, 4, 6, 8]
    splits = list(StratifiedKFold(3).split(X, y))
    recorder = ProbabilityRecorder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewFeaturesWarning)
        cv_class(ks, alphas=alphas, cv=splits, scoring=recorder).fit(X, y)
        shown = iter(recorder.seen)
        for train, test in splits:
            for alpha in alphas:
                for k in ks:
                    refit = plain(k, alpha=alpha).fit(X[train], y[train])
                    np.testing.assert_allclose(
                        next(shown),
                        refit.predict_proba(X[test]),
                        rtol=1e-9,  # log-probabilities reach 1e4, each rounded at 1e-16
                        atol=1e-300,
                        err_msg=f"{alpha=}, {k=}",
                    )
