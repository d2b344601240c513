"""`NaiveFeatureSelector`: what it keeps, how it names it, where it fits in."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from bayesieve import (
    ClassCounts,
    NaiveFeatureSelector,
    SparseBernoulliNB,
    SparseCategoricalNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    solve_multinomial,
)
from bayesieve.exceptions import FewFeaturesWarning

MODELS = {
    "multinomial": SparseMultinomialNB,
    "bernoulli": SparseBernoulliNB,
    "gaussian": SparseGaussianNB,
    "categorical": SparseCategoricalNB,
}
NAMES = [f"w{j}" for j in range(10)]


def selector(model, k=4, **options):
    return NaiveFeatureSelector(k, model=model, **options)


def data(n_classes=3, seed=0):
    """Counts; column 3 is empty."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=80)
    X = rng.poisson(rng.gamma(0.6, 2.0, size=(n_classes, 10))[y])
    X[:, 3] = 0
    return X, y


@pytest.mark.parametrize("k", [4, 0.5, "all", "elbow", "bic"])
@pytest.mark.parametrize("model", MODELS)
def test_selects_what_the_classifier_selects(model, k):
    X, y = data()
    chosen = selector(model, k).fit(X, y)
    classifier = MODELS[model](k).fit(X, y)
    np.testing.assert_array_equal(chosen.support_indices_, classifier.support_indices_)
    np.testing.assert_array_equal(chosen.support_, classifier.support_)
    assert chosen.k_ == classifier.k_
    assert chosen.certificate_.objective == classifier.certificate_.objective
    np.testing.assert_array_equal(chosen.classes_, [0, 1, 2])
    np.testing.assert_array_equal(chosen.get_support(), chosen.support_)
    np.testing.assert_array_equal(
        chosen.get_support(indices=True), chosen.support_indices_
    )


@pytest.mark.parametrize("k", [4, "all"])
@pytest.mark.parametrize("model", MODELS)
def test_scores_rank_the_columns(model, k):
    X, y = data()
    fitted = selector(model, k).fit(X, y)
    assert fitted.scores_.shape == (10,)
    assert np.isfinite(fitted.scores_).all()
    assert (fitted.scores_ >= 0).all()
    if model != "multinomial" and k != "all":
        # Closed forms: the k largest gains are the support, and sum to the gain.
        inside, outside = (
            fitted.scores_[fitted.support_],
            fitted.scores_[~fitted.support_],
        )
        assert inside.min() >= outside.max()
        gain = fitted.certificate_.objective - fitted.certificate_.null_objective
        np.testing.assert_allclose(inside.sum(), gain, rtol=1e-9)


def test_multinomial_scores_are_h_at_the_certified_class_shares():
    X, y = data()
    fitted = selector("multinomial").fit(X, y)
    f = np.array([X[y == c].sum(axis=0) for c in range(3)]) + 1.0
    p = fitted.certificate_.class_shares
    np.testing.assert_allclose(p.sum(), 1.0)
    h = (f * np.log(f / f.sum(axis=0) / p[:, None])).sum(axis=0)
    h[3] = 0.0  # a column without counts is out of the game
    np.testing.assert_allclose(fitted.scores_, h, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "made", [np.asarray, sparse.csr_array, sparse.csc_array, sparse.csr_matrix]
)
@pytest.mark.parametrize("model", MODELS)
def test_transform_takes_the_columns_and_inverse_puts_them_back(model, made):
    X, y = data()
    fitted = selector(model).fit(made(X), y)
    part = fitted.transform(made(X))
    assert part.shape == (80, 4)
    dense = part.toarray() if sparse.issparse(part) else part
    assert sparse.issparse(part) == sparse.issparse(made(X))
    np.testing.assert_array_equal(dense, X[:, fitted.support_indices_])
    back = fitted.inverse_transform(part)
    back = back.toarray() if sparse.issparse(back) else back
    np.testing.assert_array_equal(back, np.where(fitted.support_, X, 0))


@pytest.mark.parametrize("model", MODELS)
def test_names_in_and_out(model):
    X, y = data()
    fitted = selector(model).fit(pd.DataFrame(X, columns=NAMES), y)
    assert fitted.feature_names_in_.tolist() == NAMES
    wanted = [NAMES[j] for j in fitted.support_indices_]
    assert fitted.get_feature_names_out().tolist() == wanted
    plain = selector(model).fit(X, y)
    assert plain.get_feature_names_out().tolist() == [
        f"x{j}" for j in plain.support_indices_
    ]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("kind", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)]
)
def test_set_output_gives_frames(model, kind, frame):
    X, y = data()
    table = (
        pd.DataFrame(X, columns=NAMES)
        if kind == "pandas"
        else pl.DataFrame(X, schema=NAMES)
    )
    fitted = selector(model).set_output(transform=kind).fit(table, y)
    out = fitted.transform(table)
    assert isinstance(out, frame)
    assert list(out.columns) == [NAMES[j] for j in fitted.support_indices_]
    np.testing.assert_array_equal(out.to_numpy(), X[:, fitted.support_indices_])


@pytest.mark.parametrize("k", [10, 25])
@pytest.mark.parametrize("model", MODELS)
def test_more_than_there_is_keeps_what_says_anything_and_warns(model, k):
    X, y = data()
    with pytest.warns(FewFeaturesWarning, match=f"k={k} features.*only 9"):
        fitted = selector(model, k).fit(X, y)
    assert fitted.k_ == 9
    assert not fitted.support_[3]


@pytest.mark.parametrize("model", MODELS)
def test_nothing_to_select_gives_no_columns(model):
    with pytest.warns(FewFeaturesWarning):
        fitted = selector(model).fit(np.zeros((6, 5)), [0, 1] * 3)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert fitted.transform(np.zeros((6, 5))).shape == (6, 0)


@pytest.mark.parametrize("model", MODELS)
def test_pickle_and_clone(model):
    X, y = data()
    fitted = selector(model).fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.transform(X), fitted.transform(X))
    np.testing.assert_array_equal(copy.scores_, fitted.scores_)
    assert clone(fitted).get_params() == fitted.get_params()
    assert not hasattr(clone(fitted), "support_")


def test_pipeline_and_grid_search():
    X, y = data(2)
    pipe = make_pipeline(NaiveFeatureSelector(), LogisticRegression(C=0.1))
    search = GridSearchCV(pipe, {"naivefeatureselector__k": [2, 5, "all"]}, cv=3)
    search.fit(sparse.csr_array(X), y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.score(sparse.csr_array(X), y) > 0.7


def test_weights_are_routed():
    X, y = data(2)
    weights = np.random.default_rng(1).integers(0, 20, size=80)
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(
            NaiveFeatureSelector(3).set_fit_request(sample_weight=True),
            LogisticRegression().set_fit_request(sample_weight=False),
        )
        pipe.fit(X, y, sample_weight=weights)
    direct = NaiveFeatureSelector(3).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(pipe[0].scores_, direct.scores_)
    assert not np.array_equal(direct.scores_, NaiveFeatureSelector(3).fit(X, y).scores_)


def test_counts_are_those_of_the_data():
    X, y = data()
    table = pd.DataFrame(X, columns=NAMES)
    fitted = NaiveFeatureSelector(4, keep_counts=True).fit(table, y)
    assert fitted.counts_ == ClassCounts.from_matrix(table, y)
    solution = solve_multinomial(fitted.counts_, 4)
    np.testing.assert_array_equal(solution.support, fitted.support_indices_)


def test_the_example_of_the_specification():
    # f+ = (4, 6, 10), f- = (12, 0, 0), alpha = 0: support {0, 2}, gain 8.9475.
    X, y = [[4, 6, 10], [12, 0, 0]], ["+", "-"]
    fitted = NaiveFeatureSelector(2, alpha=0.0).fit(X, y)
    assert fitted.support_indices_.tolist() == [0, 2]
    certificate = fitted.certificate_
    gain = certificate.objective - certificate.null_objective
    assert round(gain, 4) == 8.9475
    assert certificate.is_optimal


def test_no_silent_switch_of_model():
    # Zeros and ones under the multinomial model are counts all the same.
    X, y = data(2)
    binary = (X > 0).astype(int)
    fitted = NaiveFeatureSelector(3).fit(binary, y)
    direct = solve_multinomial(ClassCounts.from_matrix(binary, y), 3)
    assert fitted.certificate_.objective == direct.certificate.objective


def test_tags_say_what_the_model_takes():
    for model, positive in (
        ("multinomial", True),
        ("categorical", True),
        ("bernoulli", False),
        ("gaussian", False),
    ):
        tags = NaiveFeatureSelector(model=model).__sklearn_tags__()
        assert tags.input_tags.positive_only is positive
        assert tags.input_tags.sparse
        assert tags.input_tags.allow_nan is (model == "categorical")
        assert tags.input_tags.string is (model == "categorical")
        assert tags.target_tags.required
