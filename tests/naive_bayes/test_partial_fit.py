"""`partial_fit`: what it adds, what it keeps, what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from bayesieve import (
    NaiveFeatureSelector,
    SparseBernoulliNB,
    SparseCategoricalNB,
    SparseGaussianNB,
    SparseMultinomialNB,
)

CLASSIFIERS = [
    SparseMultinomialNB(3),
    SparseBernoulliNB(3),
    SparseGaussianNB(3),
    SparseGaussianNB(3, variance="pooled"),
    SparseCategoricalNB(3),
]
SELECTORS = [
    NaiveFeatureSelector(3),
    NaiveFeatureSelector(3, model="bernoulli", binarize=0.0),
    NaiveFeatureSelector(3, model="gaussian"),
    NaiveFeatureSelector(3, model="categorical"),
]
ALL = CLASSIFIERS + SELECTORS


def data(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=40)
    X = rng.poisson(rng.gamma(0.6, 2.0, size=(3, 8))[y])
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("model", ALL)
def test_a_lean_fit_keeps_no_counts_and_partial_fit_says_how_to_keep_them(model):
    X, y = data()
    model = clone(model).fit(X, y)
    assert not hasattr(model, "counts_")
    before = model.support_indices_.copy()
    name = type(model).__name__
    with pytest.raises(
        ValueError, match=f"{name}.partial_fit cannot go on.*keep_counts=True"
    ):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(model.support_indices_, before)


@pytest.mark.parametrize("model", ALL)
def test_partial_fit_goes_on_from_a_fit_that_kept_its_counts(model):
    X, y = data()
    model = clone(model).set_params(keep_counts=True).fit(X[:25], y[:25])
    assert model.counts_.class_count.sum() == 25
    model.partial_fit(X[25:], y[25:])
    whole = clone(model).fit(X, y)
    np.testing.assert_array_equal(model.support_indices_, whole.support_indices_)
    if model in CLASSIFIERS:
        np.testing.assert_allclose(
            model.predict_proba(X), whole.predict_proba(X), rtol=1e-12
        )


@pytest.mark.parametrize("model", ALL)
def test_fit_forgets_what_came_before(model):
    X, y = data()
    model = clone(model).partial_fit(X, y, classes=["a", "b", "c"])
    assert hasattr(model, "counts_")
    model.fit(X[:20, :6], y[:20])
    assert not hasattr(model, "counts_")
    assert model.n_features_in_ == 6
    fresh = clone(model).fit(X[:20, :6], y[:20])
    np.testing.assert_array_equal(model.support_indices_, fresh.support_indices_)


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_a_classifier_needs_the_classes_on_the_first_call(model):
    X, y = data()
    name = type(model).__name__
    with pytest.raises(ValueError, match=f"{name}.partial_fit needs classes.*Got None"):
        clone(model).partial_fit(X, y)


@pytest.mark.parametrize("model", SELECTORS)
def test_a_selector_takes_the_classes_of_the_first_chunk(model):
    X, y = data()
    fitted = clone(model).partial_fit(X, y)
    assert fitted.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(fitted.support_, clone(model).fit(X, y).support_)


@pytest.mark.parametrize("model", ALL)
def test_changed_classes_are_refused_and_both_lists_shown(model):
    X, y = data()
    model = clone(model).partial_fit(X, y, classes=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"'d'.*first call.*\['a', 'b', 'c'\]"):
        model.partial_fit(X, y, classes=["a", "b", "d"])
    model.partial_fit(X, y, classes=["c", "b", "a"])  # the same, in another order
    assert model.counts_.class_count.sum() == 80


@pytest.mark.parametrize("model", ALL)
def test_a_new_label_is_named_and_nothing_is_counted(model):
    X, y = data()
    model = clone(model).partial_fit(X, y, classes=["a", "b", "c"])
    for stranger in ("d", "B", ""):
        with pytest.raises(ValueError, match=rf"'{stranger}'.*\['a', 'b', 'c'\]"):
            model.partial_fit(X[:2], ["a", stranger])
    assert model.counts_.class_count.sum() == 40


@pytest.mark.parametrize("model", ALL)
def test_labels_of_another_kind_are_refused(model):
    X, y = data()
    model = clone(model).partial_fit(X, y, classes=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"\['a', 'b', 'c'\]"):
        model.partial_fit(X[:3], [0, 1, 2])
    numbers = clone(model).partial_fit(X[:6], [0, 1, 2, 0, 1, 2], classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"\[0, 1, 2\]"):
        numbers.partial_fit(X[:3], ["a", "b", "c"])


@pytest.mark.parametrize("model", ALL)
def test_labels_that_no_class_list_can_hold_are_refused_with_the_list(model):
    X, _ = data()
    numbers = clone(model).partial_fit(X[:6], [0, 1, 2, 0, 1, 2], classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"7.*\[0, 1, 2\]"):
        numbers.partial_fit(X[:3], [0, 7, 1])
    with pytest.raises(ValueError, match=r"-1.*\[0, 1, 2\]"):
        numbers.partial_fit(X[:3], [0, -1, 1])


@pytest.mark.parametrize("model", ALL)
def test_another_number_of_columns_is_refused(model):
    X, y = data()
    model = clone(model).partial_fit(X, y, classes=["a", "b", "c"])
    name = type(model).__name__
    with pytest.raises(
        ValueError, match=f"X has 7 features, but {name} is expecting 8 features"
    ):
        model.partial_fit(X[:, :7], y)
    assert model.counts_.class_count.sum() == 40


@pytest.mark.parametrize("model", ALL)
def test_other_feature_names_are_refused(model):
    X, y = data()
    names = [f"word{j}" for j in range(8)]
    model = clone(model)
    model.partial_fit(pd.DataFrame(X, columns=names), y, classes=["a", "b", "c"])
    other = pd.DataFrame(X, columns=[*names[:7], "stranger"])
    with pytest.raises(ValueError, match="stranger"):
        model.partial_fit(other, y)
    swapped = pd.DataFrame(X, columns=names[::-1])
    with pytest.raises(ValueError, match=r"[Ff]eature names"):
        model.partial_fit(swapped, y)
    assert model.counts_.feature_names.tolist() == names


@pytest.mark.parametrize("model", ALL)
def test_a_refused_chunk_leaves_the_model_as_it_was(model):
    X, y = data()
    model = clone(model).partial_fit(X, y, classes=["a", "b", "c"])
    before, support = model.counts_, model.support_indices_.copy()
    broken = X.astype(float)
    broken[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN found in column 2"):
        model.partial_fit(broken, y)
    assert model.counts_ == before
    np.testing.assert_array_equal(model.support_indices_, support)


@pytest.mark.parametrize("model", ALL)
def test_a_class_may_come_late(model):
    X, y = data()
    order = np.argsort(y, kind="stable")  # all of class a first, class c last
    X, y = X[order], y[order]
    model = clone(model).set_params(k="all")
    for first in range(0, 40, 8):
        model.partial_fit(X[first : first + 8], y[first : first + 8], ["a", "b", "c"])
        if model in CLASSIFIERS:
            proba = model.predict_proba(X)
            assert np.isfinite(proba).all()
            np.testing.assert_allclose(proba.sum(axis=1), 1.0)
            unseen = model.class_count_ == 0
            assert (proba[:, unseen] == 0).all()
    whole = clone(model).fit(X, y)
    np.testing.assert_array_equal(model.support_indices_, whole.support_indices_)


def test_new_categories_in_a_later_chunk_widen_the_table():
    first, second = [[0, 1], [1, 0], [0, 0], [1, 1]], [[4, 0], [3, 1]]
    model = SparseCategoricalNB("all").partial_fit(first, [0, 1, 0, 1], classes=[0, 1])
    assert model.n_categories_.tolist() == [2, 2]
    model.partial_fit(second, [0, 1])
    assert model.n_categories_.tolist() == [5, 2]
    whole = SparseCategoricalNB("all").fit(first + second, [0, 1, 0, 1, 0, 1])
    for one, other in zip(
        model.feature_log_prob_, whole.feature_log_prob_, strict=True
    ):
        np.testing.assert_array_equal(one, other)
