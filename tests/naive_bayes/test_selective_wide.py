"""SelectiveMultinomialNB and SelectiveBernoulliNB: fits, limits, views, refusals."""

from __future__ import annotations

import pickle
import signal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from tests.naive_bayes.wide_examples import word_counts

from bayesieve import (
    SelectiveBernoulliNB,
    SelectiveBernoulliNBCV,
    SelectiveMultinomialNB,
    SelectiveMultinomialNBCV,
)
from bayesieve.exceptions import FewFeaturesWarning, InterruptedFitWarning
from bayesieve.weights._wide_solver import CountedRows, WideSettings, WideSolver

CLASSES = [SelectiveMultinomialNB, SelectiveBernoulliNB]
TWINS = {SelectiveMultinomialNB: MultinomialNB, SelectiveBernoulliNB: BernoulliNB}


def settings_of(model, data, **changes):
    log_prior = np.log(data.counts.class_count / data.total_weight)
    given = {
        "regularization": 0.0,
        "share": 1.0,
        "binarize": 0.0 if model == "bernoulli" else None,
        "candidates": "all",
        "refit_intercept": False,
        "tol": 1e-8,
    }
    return WideSettings(model, log_prior, "test", **{**given, **changes})


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("model", ["multinomial", "bernoulli"])
def test_weights_of_one_without_intercept_refit_are_plain_naive_bayes(model, n_classes):
    from bayesieve import ClassCounts

    X, y = word_counts(3, n_classes=n_classes, n_features=40)
    # Every column occurs and varies, so that every one is a candidate.
    X = sparse.csr_array(X[:, np.flatnonzero(np.asarray(X.sum(axis=0)).ravel() > 0)])
    counts = ClassCounts.from_matrix(X, y, binary=model == "bernoulli")
    data = CountedRows(X, y, None, counts)
    wide = WideSolver.of(data, settings_of(model, data))
    assert wide.candidates.columns.size == X.shape[1]
    ones = np.ones(X.shape[1])
    terms = wide.path.problem.terms
    ours = terms.scores(ones, wide.settings.log_prior)
    twin = (MultinomialNB if model == "multinomial" else BernoulliNB)().fit(X, y)
    expected = twin.predict_joint_log_proba(X)
    # Slopes are centred: what is the same in every class is left out.
    np.testing.assert_allclose(
        ours - ours.mean(axis=1, keepdims=True),
        expected - expected.mean(axis=1, keepdims=True),
        atol=1e-10,
    )
    state = wide.path.newton.at(ones)
    assert state.nll == pytest.approx(
        log_loss(y, twin.predict_proba(X), normalize=False), rel=1e-10
    )


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("refit", [True, False])
def test_the_posterior_is_that_of_the_criterion(cls, refit):
    X, y = word_counts(1, n_classes=3)
    model = cls(regularization=2.0, relaxed=False, refit_intercept=refit, tol=1e-8)
    model.fit(X, y)
    nll = log_loss(y, model.predict_proba(X), normalize=False)
    assert nll == pytest.approx(model.path_.nll[-1], rel=1e-9)
    np.testing.assert_allclose(
        model.path_.weights[[-1]].toarray().ravel(), model.weights_
    )
    assert model.dual_gap_ <= 1e-8 * len(y) * np.log(3)
    assert model.dual_gap_ >= -1e-9


@pytest.mark.parametrize("cls", CLASSES)
def test_a_penalty_beyond_the_largest_leaves_the_prior(cls):
    X, y = word_counts(2)
    y[:100] = 0
    model = cls(regularization=1e6).fit(X, y)
    assert not model.weights_.any()
    assert model.k_ == 0
    share = np.bincount(y) / len(y)
    np.testing.assert_allclose(model.predict_proba(X[:3]), [share] * 3, rtol=1e-9)
    first = cls(regularization=1e-3).fit(X, y).path_
    above = cls(regularization=float(first.lambdas[0] * 2.0)).fit(X, y)
    assert not above.weights_.any()


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("k", [1, 5, 20, 0.05])
def test_a_wanted_number_of_features_is_what_there_is_at_most(cls, k):
    X, y = word_counts(0)
    wanted = k if isinstance(k, int) else round(k * X.shape[1])
    free = cls(k=k).fit(X, y)
    held = cls(k=k, relaxed=False).fit(X, y)
    assert held.k_ == wanted == held.support_.sum()
    assert free.k_ <= wanted
    assert set(free.support_indices_) <= set(held.support_indices_)
    assert (free.weights_[free.support_indices_] > 0).all()
    assert (free.weights_ <= 1).all()


def test_redundant_features_share_one_weight_and_log_loss_beats_naive_bayes():
    X, y = word_counts(5, n_rows=2000)
    train, test = np.arange(1000), np.arange(1000, 2000)
    ours = SelectiveMultinomialNB().fit(X[train], y[train])
    plain = MultinomialNB().fit(X[train], y[train])
    assert log_loss(y[test], ours.predict_proba(X[test])) < log_loss(
        y[test], plain.predict_proba(X[test])
    )
    assert ours.k_ < 100


@pytest.mark.parametrize("cls", CLASSES)
def test_every_format_of_x_gives_the_same_model(cls):
    X, y = word_counts(0, n_features=60)
    whole = cls(k=10).fit(X, y)
    frame = pd.DataFrame(X.toarray(), columns=[f"w{i}" for i in range(60)])
    for other in (
        X.toarray(),
        X.tocsc(),
        sparse.csc_matrix(X),
        sparse.csr_matrix(X).astype(np.float32),
        X.astype(np.uint8),
    ):
        again = cls(k=10).fit(other, y)
        np.testing.assert_array_equal(again.weights_, whole.weights_)
        np.testing.assert_allclose(
            again.predict_proba(other), whole.predict_proba(X), rtol=1e-12
        )
    for table in (frame, pl.from_pandas(frame)):
        again = cls(k=10).fit(table, y)
        np.testing.assert_array_equal(again.weights_, whole.weights_)
        assert again.feature_names_in_[0] == "w0"


@pytest.mark.parametrize("cls", CLASSES)
def test_a_weight_of_two_is_the_row_twice_and_zero_is_no_row(cls):
    X, y = word_counts(0)
    weight = np.random.default_rng(0).integers(0, 3, size=len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = cls(k=8, tol=1e-8).fit(X, y, sample_weight=weight)
    repeated = cls(k=8, tol=1e-8).fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.support_, repeated.support_)
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, atol=1e-4)


def test_permuted_columns_permute_the_weights():
    X, y = word_counts(4)
    order = np.random.default_rng(1).permutation(X.shape[1])
    settings = {"regularization": 1.5, "relaxed": False, "tol": 1e-9}
    one = SelectiveMultinomialNB(**settings).fit(X, y)
    other = SelectiveMultinomialNB(**settings).fit(X[:, order], y)
    # Equal columns may share their weight in any way; the scores are the same.
    np.testing.assert_allclose(
        one.predict_proba(X), other.predict_proba(X[:, order]), atol=1e-5
    )


def test_swapped_labels_swap_the_probabilities():
    X, y = word_counts(4)
    one = SelectiveMultinomialNB(regularization=1.0, tol=1e-9).fit(X, y)
    other = SelectiveMultinomialNB(regularization=1.0, tol=1e-9).fit(X, 1 - y)
    np.testing.assert_allclose(
        one.predict_proba(X), other.predict_proba(X)[:, ::-1], atol=1e-6
    )
    np.testing.assert_allclose(one.coef_, -other.coef_, atol=1e-4)


@pytest.mark.parametrize("cls", CLASSES)
def test_coefficients_are_the_scores(cls):
    X, y = word_counts(0)
    model = cls(k=15).fit(X, y)
    present = X if cls is SelectiveMultinomialNB else (X > 0).astype(float)
    odds = np.diff(model.predict_joint_log_proba(X), axis=1).ravel()
    np.testing.assert_allclose(
        present @ model.coef_.ravel() + model.intercept_, odds, atol=1e-9
    )
    three = cls(k=5).fit(X, np.arange(len(y)) % 3)
    with pytest.raises(AttributeError, match="two classes only"):
        _ = three.coef_


def test_select_from_model_keeps_the_support():
    X, y = word_counts(0)
    selector = SelectFromModel(SelectiveMultinomialNB(k=12), threshold=1e-12)
    kept = selector.fit(X, y).get_support()
    np.testing.assert_array_equal(kept, selector.estimator_.support_)
    three = SelectFromModel(SelectiveBernoulliNB(k=12), threshold=1e-12)
    three.fit(X, np.arange(len(y)) % 3)
    np.testing.assert_array_equal(three.get_support(), three.estimator_.support_)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_feature_that_costs_much_is_left_out_and_a_free_one_stays(cls):
    X, y = word_counts(0)
    plain = cls(k=5).fit(X, y)
    first = plain.support_indices_[0]
    cost = np.ones(X.shape[1])
    cost[first] = 1e6
    assert not cls(k=5, feature_cost=cost).fit(X, y).support_[first]
    cost[first] = 0.0
    assert cls(regularization=1e5, feature_cost=cost).fit(X, y).support_[first]


def test_a_smaller_exponent_keeps_fewer_features_at_the_same_penalty():
    X, y = word_counts(0)
    convex = SelectiveMultinomialNB(regularization=2.0, relaxed=False).fit(X, y)
    concave = SelectiveMultinomialNB(
        regularization=2.0, relaxed=False, exponent=0.5
    ).fit(X, y)
    assert 0 < concave.k_ <= convex.k_


def test_relaxed_auto_lets_cross_validation_decide():
    X, y = word_counts(0)
    model = SelectiveMultinomialNB(k=40, relaxed="auto").fit(X, y)
    assert 0.0 <= model.relaxation_ <= 1.0
    assert SelectiveMultinomialNB(k=5).fit(X, y).relaxation_ == 1.0
    assert SelectiveMultinomialNB(k=5, relaxed=False).fit(X, y).relaxation_ == 0.0


def test_candidates_are_where_the_fit_begins_and_others_join():
    X, y = word_counts(0)
    settings = {"regularization": 0.5, "relaxed": False, "tol": 1e-8}
    few = SelectiveMultinomialNB(candidates=6, **settings).fit(X, y)
    many = SelectiveMultinomialNB(**settings).fit(X, y)
    everything = SelectiveMultinomialNB(candidates="all", **settings).fit(X, y)
    assert 6 < few.n_candidates_ < many.n_candidates_ < everything.n_candidates_
    assert everything.n_candidates_ == np.count_nonzero(np.asarray(X.sum(axis=0)))
    np.testing.assert_allclose(few.predict_proba(X), many.predict_proba(X), atol=1e-3)
    assert max(few.dual_gap_, everything.dual_gap_) <= 1e-8 * 600


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("relaxed", [True, False])
def test_the_certificate_is_about_k_weighted_features(cls, relaxed):
    X, y = word_counts(0)
    model = cls(k=6, relaxed=relaxed).fit(X, y)
    proof = model.certificate_
    nll = log_loss(y, model.predict_proba(X), normalize=False)
    assert proof.objective == pytest.approx(-nll, rel=1e-9)
    assert proof.null_objective == pytest.approx(-600 * np.log(2), rel=1e-9)
    assert proof.k == 6
    better = cls(k=6, exact=True).fit(X, y).certificate_
    assert proof.objective <= better.objective <= better.upper_bound
    assert better.upper_bound <= proof.upper_bound + 1e-6
    assert 0.0 <= better.relative_gap < proof.relative_gap
    free = cls(regularization=1.0, relaxed=relaxed).fit(X, y)
    assert free.certificate_.k == free.k_


@pytest.mark.filterwarnings("ignore::bayesieve.exceptions.FewFeaturesWarning")
def test_whenever_time_is_up_the_certificate_is_that_of_the_model():
    X, y = word_counts(0, n_rows=3000, n_features=3000, informative=300)
    fits = {"k": 20, "exact": True, "candidates": 2}
    for limit in np.geomspace(1e-3, 1.5, 30):
        model = SelectiveMultinomialNB(time_limit=float(limit), **fits).fit(X, y)
        nll = log_loss(y, model.predict_proba(X), normalize=False)
        assert model.certificate_.objective == pytest.approx(-nll, rel=1e-9)
        assert model.certificate_.gap >= 0.0


def test_exact_needs_a_number_of_features():
    X, y = word_counts(0)
    with pytest.raises(ValueError, match=r"'exact' parameter .* must be False without"):
        SelectiveMultinomialNB(exact=True).fit(X, y)


def test_a_given_prior_shifts_the_intercept():
    X, y = word_counts(0)
    learnt = SelectiveMultinomialNB(k=5).fit(X, y)
    given = SelectiveMultinomialNB(k=5, class_prior=[0.9, 0.1]).fit(X, y)
    shift = given.intercept_ - learnt.intercept_
    np.testing.assert_allclose(
        shift, np.log(0.1 / 0.9) - np.diff(np.log(np.bincount(y))), atol=1e-9
    )
    flat = SelectiveMultinomialNB(k=5, fit_prior=False, refit_intercept=False)
    np.testing.assert_allclose(flat.fit(X, y).intercept_, 0.0, atol=1e-12)


def test_a_class_whose_rows_weigh_nothing_has_no_chance():
    X, y = word_counts(0, n_classes=3)
    weight = (y != 2).astype(float)
    settings = {"regularization": 1.0, "relaxed": False, "tol": 1e-9}
    model = SelectiveMultinomialNB(**settings).fit(X, y, sample_weight=weight)
    proba = model.predict_proba(X)
    assert (proba[:, 2] == 0).all()
    two = SelectiveMultinomialNB(**settings).fit(X[y != 2], y[y != 2])
    np.testing.assert_allclose(proba[:, :2], two.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("cls", CLASSES)
def test_nothing_to_find_gives_the_prior(cls):
    X = sparse.csr_array((50, 7))
    y = np.arange(50) % 2
    model = cls(regularization=1.0).fit(X, y)
    assert model.k_ == 0
    np.testing.assert_allclose(model.predict_proba(X), 0.5)
    with pytest.warns(FewFeaturesWarning, match="found 0 features instead of k=3"):
        cls(k=3).fit(X, y)


def test_more_features_than_help_warn():
    X, y = word_counts(0, n_features=30)
    with pytest.warns(FewFeaturesWarning, match="instead of k=30"):
        SelectiveMultinomialNB(k=30).fit(X, y)


def test_warm_start_begins_at_the_weights_before():
    X, y = word_counts(0, n_rows=2000)
    model = SelectiveMultinomialNB(regularization=1.0, warm_start=True).fit(X, y)
    cold, weights = model.n_iter_, model.weights_
    model.fit(X, y)
    assert model.n_iter_ < cold
    np.testing.assert_allclose(model.weights_, weights, atol=0.02)


def test_time_that_is_up_leaves_a_usable_model():
    X, y = word_counts(0)
    with pytest.warns(FewFeaturesWarning, match=r"the search was stopped \(time\)"):
        model = SelectiveMultinomialNB(k=50, time_limit=0.0).fit(X, y)
    assert model.stopped_ == "time"
    assert model.predict_proba(X).shape == (600, 2)
    assert np.isfinite(model.dual_gap_)


def test_a_callback_sees_each_penalty_and_may_end_the_search():
    X, y = word_counts(0)
    seen = []

    def callback(state):
        seen.append(np.count_nonzero(state.weights))
        return len(seen) == 2

    model = SelectiveMultinomialNB(regularization=0.1, callback=callback)
    model.fit(X, y)
    assert len(seen) == 2
    assert model.stopped_ == "callback"
    assert len(model.path_) == 3  # the largest penalty, then those two


def test_ctrl_c_leaves_a_usable_model():
    X, y = word_counts(0, n_rows=4000, n_features=2000)

    def interrupt(state):
        signal.raise_signal(signal.SIGINT)

    model = SelectiveMultinomialNB(regularization=0.1, callback=interrupt)
    with pytest.warns(InterruptedFitWarning, match="best model so far is kept"):
        model.fit(X, y)
    assert model.stopped_ == "interrupted"
    assert model.predict(X).shape == (4000,)


def test_pipelines_searches_clones_and_pickles():
    X, y = word_counts(0)
    model = SelectiveMultinomialNB(k=10)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.5
    search = GridSearchCV(model, {"k": [5, 10], "alpha": [0.5, 1.0]}, cv=2).fit(X, y)
    assert search.best_params_["k"] in (5, 10)
    fitted = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    pipe = make_pipeline(SelectFromModel(model, threshold=1e-12), MultinomialNB())
    assert pipe.fit(X, y).score(X, y) > 0.5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 3, "regularization": 1.0}, "takes k or regularization, not both"),
        ({"k": 0}, "'k' parameter"),
        ({"k": 1.5}, "'k' parameter"),
        ({"regularization": -1.0}, "'regularization' parameter"),
        ({"alpha": 0.0}, "'alpha' parameter"),
        ({"alpha": [1.0, 2.0]}, "must hold 200 numbers above 0"),
        ({"feature_cost": np.full(200, -1.0)}, "must hold 200 finite numbers >= 0"),
        ({"exponent": 1.5}, "'exponent' parameter"),
        ({"exponent": 0.0}, "'exponent' parameter"),
        ({"relaxed": "maybe"}, "'relaxed' parameter"),
        ({"candidates": "few"}, "'candidates' parameter"),
        ({"tol": 0.0}, "'tol' parameter"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    X, y = word_counts(0)
    with pytest.raises(ValueError, match=message):
        SelectiveMultinomialNB(**parameters).fit(X, y)


def test_wrong_values_name_their_column():
    X, y = word_counts(0, n_features=20)
    dense = X.toarray().astype(float)
    dense[3, 7] = -1.0
    with pytest.raises(ValueError, match=r"Negative value -1.0 found in .*column 7"):
        SelectiveMultinomialNB(k=3).fit(dense, y)
    model = SelectiveMultinomialNB(k=3).fit(X, y)
    used = model.support_indices_[0]
    dense = X.toarray().astype(float)
    dense[0, used] = np.nan
    with pytest.raises(ValueError, match=f"NaN found in .*column {used}"):
        model.predict(dense)
    with pytest.raises(ValueError, match="need values 0 or 1"):
        SelectiveBernoulliNB(k=3, binarize=None).fit(X, y)


# ------------------------------------------------------------------ cross-validation


@pytest.mark.parametrize("cls", [SelectiveMultinomialNBCV, SelectiveBernoulliNBCV])
def test_cross_validation_scores_a_path_and_picks_best_and_one_error(cls):
    X, y = word_counts(0)
    model = cls(regularization=15, cv=4).fit(X, y)
    results = model.cv_results_
    assert len(results["param_regularization"]) == 15
    best = int(np.argmax(results["mean_test_score"]))
    assert model.lambda_best_ == results["param_regularization"][best] == model.lambda_
    assert model.lambda_1se_ >= model.lambda_best_
    assert model.best_score_ == results["mean_test_score"].max()
    sparser = cls(regularization=15, cv=4, choice="1se").fit(X, y)
    assert sparser.lambda_ == model.lambda_1se_
    assert sparser.k_ <= model.k_
    assert results["n_features"][0] <= 1  # a fold's own largest penalty may be larger
    assert "split3_test_score" in results


def test_a_fold_is_scored_by_a_model_of_the_other_rows():
    X, y = word_counts(0)
    rows = np.random.default_rng(0).permutation(600)
    splits = [(rows[100:], rows[:100]), (rows[:300], rows[300:])]
    penalties = [3.0, 0.7]
    model = SelectiveMultinomialNBCV(
        regularization=penalties,
        cv=splits,
        relaxed=False,
        candidates="all",
        tol=1e-9,
        scoring="neg_log_loss",
    ).fit(X, y)
    for f, (train, test) in enumerate(splits):
        for i, penalty in enumerate(penalties):
            alone = SelectiveMultinomialNB(
                regularization=penalty * train.size / 600,
                relaxed=False,
                candidates="all",
                tol=1e-9,
            ).fit(X[train], y[train])
            expected = -log_loss(y[test], alone.predict_proba(X[test]))
            assert model.cv_results_[f"split{f}_test_score"][i] == pytest.approx(
                expected, abs=2e-6
            )


def test_cross_validation_stops_at_the_clock_and_keeps_what_it_has():
    X, y = word_counts(0)
    model = SelectiveMultinomialNBCV(regularization=10, time_limit=0.0).fit(X, y)
    assert model.cv_stopped_ == "time"
    assert model.predict(X).shape == (600,)


def test_cross_validation_survives_ctrl_c():
    X, y = word_counts(0)
    scored = []

    def accuracy_until_interrupted(estimator, rows, labels):
        scored.append(1)
        if len(scored) == 25:  # within the third fold of ten penalties
            signal.raise_signal(signal.SIGINT)
        return float(np.mean(estimator.predict(rows) == labels))

    model = SelectiveMultinomialNBCV(
        regularization=10, cv=10, scoring=accuracy_until_interrupted
    )
    with pytest.warns(InterruptedFitWarning, match="best model so far is kept"):
        model.fit(X, y)
    assert len(scored) == 25
    assert model.cv_stopped_ == "interrupted"
    assert "split1_test_score" in model.cv_results_
    assert "split2_test_score" not in model.cv_results_
    assert model.predict_proba(X).shape == (600, 2)


def test_relaxation_is_chosen_with_the_penalty():
    X, y = word_counts(0)
    model = SelectiveMultinomialNBCV(regularization=6, cv=3, relaxed="auto").fit(X, y)
    assert len(model.cv_results_["param_regularization"]) == 4 * 6
    assert model.relaxation_ in np.unique(model.cv_results_["param_relaxation"])


def test_wrong_penalties_are_refused():
    X, y = word_counts(0)
    with pytest.raises(ValueError, match="hold finite numbers >= 0"):
        SelectiveMultinomialNBCV(regularization=[1.0, -1.0]).fit(X, y)


def test_an_int_means_so_many_folds_however_rare_a_class():
    X, y = word_counts(0)
    results = SelectiveMultinomialNBCV(regularization=2, cv=7).fit(X, y).cv_results_
    assert "split6_test_score" in results
    y = y.copy()
    y[np.flatnonzero(y == 1)[3:]] = 0
    results = SelectiveMultinomialNBCV(regularization=2, cv=7).fit(X, y).cv_results_
    assert "split6_test_score" in results
    folds = StratifiedKFold(7)
    with pytest.warns(UserWarning, match="least populated class"):
        splits = list(folds.split(X, y))
    same = SelectiveMultinomialNBCV(regularization=2, cv=splits).fit(X, y).cv_results_
    np.testing.assert_array_equal(same["mean_test_score"], results["mean_test_score"])


@pytest.mark.parametrize("estimator", [SelectiveMultinomialNB, SelectiveBernoulliNB])
def test_rows_that_are_held_out_are_drawn_by_random_state(estimator):
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=80)
    X = rng.poisson(1.0, size=(80, 40)) + rng.poisson(0.4 * y[:, None], size=(80, 40))
    first = estimator().fit(X, y)
    assert (
        estimator().fit(X, y).lambda_
        == first.lambda_
        == estimator(random_state=np.random.RandomState(0)).fit(X, y).lambda_
    )
    others = {estimator(random_state=seed).fit(X, y).lambda_ for seed in range(8)}
    assert len(others) > 1
