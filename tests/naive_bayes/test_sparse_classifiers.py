"""The sparse classifiers: choice of k, what was fitted, scikit-learn's tools."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from bayesieve import (
    SparseBernoulliNB,
    SparseBernoulliNBCV,
    SparseCategoricalNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseMultinomialNBCV,
    sparsity_path,
)
from bayesieve.exceptions import FewFeaturesWarning, GapWarning

CLASSIFIERS = [
    SparseMultinomialNB(4),
    SparseBernoulliNB(4),
    SparseGaussianNB(4),
    SparseGaussianNB(4, variance="pooled"),
    SparseCategoricalNB(4),
]
LINEAR = [SparseMultinomialNB(4), SparseBernoulliNB(4)]


def data(n_classes=3, seed=0, m=10):
    """Counts; column 3 is empty."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=80)
    X = rng.poisson(rng.gamma(0.6, 2.0, size=(n_classes, m))[y])
    X[:, 3] = 0
    return X, y


def share_of_whole_table(counts, support):
    """Gain of a support from its definition: sum of f log(theta_ci / theta_i)."""
    inside = counts[:, support]
    sums, totals = inside.sum(axis=1, keepdims=True), inside.sum(axis=0)
    return (inside * np.log(inside * sums.sum() / (sums * totals))).sum()


# ------------------------------------------------------------------ choice of k


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_a_share_is_that_part_of_all_columns(model):
    X, y = data()
    for share, size in ((0.5, 5), (0.26, 3), (0.3, 3), (0.9, 9)):
        assert clone(model).set_params(k=share).fit(X, y).k_ == size


def test_a_tiny_share_keeps_the_least_that_means_something():
    X, y = data()
    assert SparseMultinomialNB(0.01).fit(X, y).k_ == 2
    assert SparseBernoulliNB(0.01).fit(X, y).k_ == 1


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_all_keeps_every_column_without_a_warning(model):
    X, y = data()
    fitted = clone(model).set_params(k="all").fit(X, y)
    assert fitted.k_ == 10
    assert fitted.support_.all()
    np.testing.assert_array_equal(fitted.support_indices_, np.arange(10))
    assert fitted.certificate_.is_optimal


@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize("k", [10, 11, 1000])
def test_more_than_there_is_keeps_what_says_anything_and_warns(model, k):
    X, y = data()
    with pytest.warns(FewFeaturesWarning, match=f"k={k} features.*only 9"):
        fitted = clone(model).set_params(k=k).fit(X, y)
    assert fitted.k_ == 9
    np.testing.assert_array_equal(fitted.support_indices_, np.delete(np.arange(10), 3))
    assert fitted.certificate_.is_optimal


@pytest.mark.parametrize("rule", ["elbow", "bic"])
@pytest.mark.parametrize(
    ("model", "name"),
    [(SparseMultinomialNB(), "multinomial"), (SparseBernoulliNB(), "bernoulli")],
)
def test_elbow_and_bic_are_those_of_the_path(model, name, rule):
    X, y = data(m=40)
    fitted = clone(model).set_params(k=rule, keep_counts=True).fit(X, y)
    path = sparsity_path(fitted.counts_, model=name)
    size = getattr(path, rule)
    assert fitted.k_ == size
    np.testing.assert_array_equal(fitted.support_indices_, path.support(size))


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_elbow_and_bic_choose_between_one_and_all(model):
    X, y = data(m=40)
    for rule in ("elbow", "bic"):
        assert 1 <= clone(model).set_params(k=rule).fit(X, y).k_ <= 39


@pytest.mark.parametrize("k", [np.int64(4), np.int32(4), np.uint8(4)])
def test_numpy_integers_are_integers(k):
    X, y = data()
    assert SparseMultinomialNB(k).fit(X, y).k_ == 4


def test_closed_forms_take_one_feature():
    X, y = data()
    for model in CLASSIFIERS[1:]:
        assert clone(model).set_params(k=1).fit(X, y).k_ == 1


# ------------------------------------------------------------------ attributes


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_shapes_and_types_of_what_was_fitted(model):
    X, y = data()
    fitted = clone(model).fit(X, y)
    assert fitted.k_ == 4
    assert fitted.support_indices_.dtype == np.int64
    assert fitted.support_indices_.shape == (4,)
    assert (np.diff(fitted.support_indices_) > 0).all()
    assert fitted.support_.dtype == bool
    assert fitted.support_.shape == (10,)
    np.testing.assert_array_equal(
        np.flatnonzero(fitted.support_), fitted.support_indices_
    )
    importances = fitted.feature_importances_
    assert importances.shape == (10,)
    assert (importances[~fitted.support_] == 0).all()
    certificate = fitted.certificate_
    np.testing.assert_allclose(
        importances.sum(),
        certificate.objective - certificate.null_objective,
        rtol=1e-9,
    )
    assert certificate.k == 4
    assert certificate.is_optimal
    assert certificate.gap <= 1e-9 * importances.sum()
    np.testing.assert_array_equal(fitted.classes_, [0, 1, 2])
    np.testing.assert_array_equal(fitted.class_count_, np.bincount(y))
    np.testing.assert_allclose(fitted.class_log_prior_, np.log(np.bincount(y) / y.size))
    assert fitted.n_features_in_ == 10
    assert not hasattr(fitted, "feature_names_in_")
    if not isinstance(fitted, SparseGaussianNB | SparseCategoricalNB):
        assert fitted.feature_log_prob_.shape == (3, 4)


def test_multinomial_gain_is_the_likelihood_of_its_parameters():
    X, y = data()
    fitted = SparseMultinomialNB(4).fit(X, y)
    counts = np.array([X[y == c].sum(axis=0) for c in range(3)]) + 1.0
    gain = share_of_whole_table(counts, fitted.support_indices_)
    certificate = fitted.certificate_
    np.testing.assert_allclose(
        certificate.objective - certificate.null_objective, gain, rtol=1e-10
    )
    # Every class gives the support the same mass, its share of all counts.
    theta = np.exp(fitted.feature_log_prob_)
    mass = counts[:, fitted.support_indices_].sum() / counts.sum()
    np.testing.assert_allclose(theta.sum(axis=1), mass, rtol=1e-12)


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_fit_keeps_what_prediction_needs_and_no_more(model):
    # 50,000 columns and 4 selected: a table of them would pickle to 800,000 bytes.
    X = sparse.random_array((60, 50_000), density=0.002, rng=0, format="csr")
    X.data[:] = 1
    y = np.arange(60) % 2
    fitted = clone(model).fit(X, y)
    assert not hasattr(fitted, "counts_")
    assert len(pickle.dumps(fitted)) < 20_000
    kept = clone(model).set_params(keep_counts=True).fit(X, y)
    assert kept.counts_.n_features == 50_000
    np.testing.assert_array_equal(kept.support_indices_, fitted.support_indices_)


@pytest.mark.parametrize("model", LINEAR)
@pytest.mark.parametrize("k", [4, "all"])
def test_weights_and_intercept_give_the_log_odds(model, k):
    X, y = data(2)
    fitted = clone(model).set_params(k=k).fit(X, y)
    assert fitted.coef_.shape == (1, 10)
    assert fitted.intercept_.shape == (1,)
    assert (fitted.coef_[0, ~fitted.support_] == 0).all()
    values = X if isinstance(fitted, SparseMultinomialNB) else X > 0
    decision = values @ fitted.coef_[0] + fitted.intercept_[0]
    log_proba = fitted.predict_log_proba(X)
    np.testing.assert_allclose(
        decision, log_proba[:, 1] - log_proba[:, 0], rtol=1e-10, atol=1e-10
    )


@pytest.mark.parametrize("model", LINEAR)
def test_weights_exist_for_two_classes_only(model):
    X, y = data(3)
    fitted = clone(model).fit(X, y)
    for name in ("coef_", "intercept_"):
        assert not hasattr(fitted, name)
        with pytest.raises(AttributeError, match=f"{name} exists for two classes only"):
            getattr(fitted, name)
        assert not hasattr(clone(model), name)


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_attributes_of_an_unfitted_model_are_absent(model):
    for name in ("support_", "feature_importances_", "support_indices_", "k_"):
        assert not hasattr(clone(model), name)


def test_a_search_that_stops_warns_and_states_its_gap():
    # f near the identity, K = 20 classes, 40 columns: the relaxation says k log K, the
    # truth is k log k, and a hundredth of a second does not close that.
    rng = np.random.default_rng(0)
    table = np.tile(np.eye(20), 2) * 50 + rng.random((20, 40)) * 0.5
    y = np.arange(20)
    with pytest.warns(GapWarning, match="k=8.*% short.*time_limit"):
        model = SparseMultinomialNB(8, alpha=0.0, time_limit=0.01).fit(table, y)
    certificate = model.certificate_
    assert not certificate.is_optimal
    assert certificate.upper_bound > certificate.objective
    np.testing.assert_allclose(
        certificate.gap, certificate.upper_bound - certificate.objective, rtol=1e-9
    )


def test_without_search_the_gap_is_stated_and_nothing_warns():
    X, y = data(5, m=30)
    rough = SparseMultinomialNB(2, exact=False).fit(X, y).certificate_
    exact = SparseMultinomialNB(2).fit(X, y).certificate_
    assert rough.nodes <= exact.nodes
    assert rough.objective <= exact.objective <= rough.upper_bound


# ------------------------------------------------------------------ without smoothing


@pytest.mark.parametrize("made", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("k", [3, "all"])
@pytest.mark.parametrize(
    "model", [SparseMultinomialNB(), SparseBernoulliNB(), SparseCategoricalNB()]
)
def test_without_smoothing_probabilities_are_never_nan(model, k, made):
    # Columns 0 and 1 belong to one class each, column 2 to both, column 3 to none.
    X = np.array([[2, 0, 1, 0], [1, 0, 1, 0], [0, 2, 1, 0], [0, 1, 0, 0]])
    y = [0, 0, 0, 1][::-1]
    fitted = clone(model).set_params(k=k, alpha=0.0).fit(made(X), y)
    rows = np.array(
        [[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]]
    )
    joint = fitted.predict_joint_log_proba(made(rows))
    assert not np.isnan(joint).any()
    proba = fitted.predict_proba(made(rows))
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert set(fitted.predict(made(rows))) <= {0, 1}


def test_a_row_that_no_class_can_produce_gets_the_prior():
    # Class 0 never has column 1, class 1 never has column 0; three rows against one.
    X, y = [[2, 0], [1, 0], [3, 0], [0, 2]], [0, 0, 0, 1]
    fitted = SparseMultinomialNB(2, alpha=0.0).fit(X, y)
    proba = fitted.predict_proba([[1, 1], [1, 0], [0, 1]])
    np.testing.assert_allclose(proba, [[0.75, 0.25], [1, 0], [0, 1]])
    bernoulli = SparseBernoulliNB(2, alpha=0.0).fit(X, y)
    proba = bernoulli.predict_proba([[1, 1], [1, 0], [0, 1], [0, 0]])
    np.testing.assert_allclose(proba, [[0.75, 0.25], [1, 0], [0, 1], [0.75, 0.25]])


@pytest.mark.parametrize("made", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_gaussian_without_smoothing_knows_certain_values(made):
    # Column 0 is 0 in class 0 and 1 in class 1, without any spread.
    X, y = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 1.5], [1.0, 2.5]]), [0, 0, 1, 1]
    fitted = SparseGaussianNB("all", var_smoothing=0.0).fit(made(X), y)
    rows = made(np.array([[0.0, 1.0], [1.0, 2.0], [0.5, 2.0]]))
    # The last row fits neither class: the prior.
    np.testing.assert_allclose(fitted.predict_proba(rows), [[1, 0], [0, 1], [0.5, 0.5]])


# ------------------------------------------------------------------ in scikit-learn


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_pickle_and_clone(model):
    X, y = data()
    fitted = clone(model).fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict_proba(X), fitted.predict_proba(X))
    assert copy.certificate_.objective == fitted.certificate_.objective
    again = clone(fitted)
    assert not hasattr(again, "support_indices_")
    assert again.get_params() == model.get_params()


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_feature_names_are_kept(model):
    X, y = data()
    names = [f"word {j}" for j in range(10)]
    fitted = clone(model).fit(pd.DataFrame(X, columns=names), y)
    assert fitted.feature_names_in_.tolist() == names
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        fitted.predict(X)


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_select_from_model_takes_the_support(model):
    X, y = data()
    names = np.array([f"w{j}" for j in range(10)])
    selector = SelectFromModel(clone(model), threshold=1e-12)
    selector.fit(pd.DataFrame(X, columns=names), y)
    fitted = selector.estimator_
    np.testing.assert_array_equal(selector.get_support(), fitted.support_)
    np.testing.assert_array_equal(
        selector.get_feature_names_out(), names[fitted.support_indices_]
    )


def test_pipeline_from_text():
    texts = ["good good film", "bad film", "good story", "bad bad story"] * 5
    y = ["+", "-", "+", "-"] * 5
    model = make_pipeline(CountVectorizer(), SparseMultinomialNB(2)).fit(texts, y)
    assert model.predict(["good", "bad"]).tolist() == ["+", "-"]
    names = model[:-1].get_feature_names_out()[model[-1].support_indices_]
    assert names.tolist() == ["bad", "good"]


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_grid_search_over_k(model):
    X, y = data()
    search = GridSearchCV(clone(model), {"k": [2, 5, 0.9, "all", "bic"]}, cv=3)
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.k == search.best_params_["k"]
    assert search.score(X, y) > 0.5


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_weights_are_routed(model):
    X, y = data()
    weights = np.where(y == 0, 5.0, 1.0)
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline(clone(model).set_fit_request(sample_weight=True))
        routed.fit(X, y, sample_weight=weights)
        direct = clone(model).fit(X, y, sample_weight=weights)
        np.testing.assert_array_equal(
            routed[-1].class_log_prior_, direct.class_log_prior_
        )
        np.testing.assert_array_equal(routed.predict_proba(X), direct.predict_proba(X))
        with pytest.raises(ValueError, match="sample_weight"):
            make_pipeline(clone(model)).fit(X, y, sample_weight=weights)
        partial = clone(model).set_partial_fit_request(classes=True, sample_weight=True)
        assert partial.get_metadata_routing().partial_fit.requests == {
            "classes": True,
            "sample_weight": True,
        }


@pytest.mark.parametrize(
    "model", [*CLASSIFIERS, SparseMultinomialNBCV([4]), SparseBernoulliNBCV([4])]
)
def test_labels_of_any_kind(model):
    X, y = data(2)
    expected = clone(model).fit(X, y).predict(X)
    for labels in (
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([False, True]),
        np.array([-1.0, 1.0]),
        np.array([3, 700], dtype=np.uint16),
    ):
        fitted = clone(model).fit(X, labels[y])
        np.testing.assert_array_equal(fitted.classes_, np.unique(labels))
        np.testing.assert_array_equal(fitted.predict(X), labels[expected])


def test_cross_val_score_runs():
    X, y = data(2)
    scores = cross_val_score(SparseMultinomialNB(4), sparse.csr_array(X), y, cv=3)
    assert scores.mean() > 0.7


@pytest.mark.parametrize("variance", ["class", "pooled"])
def test_gaussian_gain_by_hand(variance):
    # Column 1 is constant. Column 0: class 0 has 0, 2 (variance 1), class 1 has 3, 7
    # (variance 4); all: mean 3, variance (9 + 1 + 0 + 16) / 4 = 6.5, within 2.5.
    X, y = np.array([[0.0, 1], [2, 1], [3, 1], [7, 1]]), [0, 0, 1, 1]
    fitted = SparseGaussianNB(1, variance=variance).fit(X, y)
    if variance == "class":
        gain = 2 * np.log(6.5) - np.log(1) - np.log(4)
    else:
        gain = 2 * np.log(6.5 / 2.5)
    assert fitted.support_indices_.tolist() == [0]
    np.testing.assert_allclose(fitted.feature_importances_, [gain, 0], rtol=1e-7)
    expected = [[1], [4]] if variance == "class" else [[2.5], [2.5]]
    np.testing.assert_allclose(fitted.var_, expected, rtol=1e-7)


def test_bernoulli_gain_is_mutual_information():
    # Without smoothing: 4 rows, column 0 is the class: n MI = 4 log 2; column 1 is
    # independent of it: 0.
    X, y = [[1, 1], [1, 0], [0, 1], [0, 0]], [1, 1, 0, 0]
    fitted = SparseBernoulliNB("all", alpha=0.0).fit(X, y)
    np.testing.assert_allclose(
        fitted.feature_importances_, [4 * np.log(2), 0], atol=1e-12
    )


def test_categorical_gain_is_mutual_information():
    # Column 0 has a value of its own for each class: 6 log 3 without smoothing.
    X = [[0, 1], [0, 0], [1, 1], [1, 0], [2, 1], [2, 0]]
    fitted = SparseCategoricalNB("all", alpha=0.0).fit(X, [0, 0, 1, 1, 2, 2])
    np.testing.assert_allclose(
        fitted.feature_importances_, [6 * np.log(3), 0], atol=1e-12
    )


@pytest.mark.parametrize("size", [1e16, 1e300])
def test_probabilities_of_tied_classes_add_up_however_large_counts_are(size):
    X = np.array([[3.0, 1.0], [1.0, 3.0], [3.0, 1.0]] * 2)
    model = SparseMultinomialNB(2).fit(X, ["a", "b", "c"] * 2)
    row = np.array([[size, 0.0]])
    np.testing.assert_allclose(model.predict_proba(row), [[0.5, 0.0, 0.5]], atol=1e-15)
    log_share = model.predict_log_proba(row)[0, [0, 2]]
    np.testing.assert_allclose(log_share, np.log([0.5, 0.5]))
