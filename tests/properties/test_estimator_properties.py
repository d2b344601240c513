"""Laws that every estimator obeys for any data."""

from __future__ import annotations

import warnings
from itertools import pairwise

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone, is_classifier

from bayesieve import (
    NaiveFeatureSelector,
    SparseBernoulliNB,
    SparseCategoricalNB,
    SparseGaussianNB,
    SparseMultinomialNB,
)
from bayesieve.exceptions import FewFeaturesWarning

CLASSIFIERS = [
    SparseMultinomialNB(3),
    SparseMultinomialNB("all"),
    SparseBernoulliNB(3),
    SparseBernoulliNB("all", binarize=1.0),
    SparseGaussianNB(3),
    SparseGaussianNB(3, variance="pooled"),
    SparseCategoricalNB(3),
    SparseCategoricalNB("all"),
]
SELECTORS = [
    NaiveFeatureSelector(3),
    NaiveFeatureSelector(0.5, model="bernoulli", binarize=0.0),
    NaiveFeatureSelector(3, model="gaussian"),
    NaiveFeatureSelector(3, model="categorical"),
]
ALL = CLASSIFIERS + SELECTORS
DISCRETE = [
    model
    for model in ALL
    if not isinstance(model, SparseGaussianNB)
    and getattr(model, "model", "") != "gaussian"
]
CLASSES = [0, 1, 2]
SETTINGS = settings(max_examples=8, deadline=None)


@st.composite
def data(draw, largest=4):
    n, m = draw(st.integers(3, 14)), draw(st.integers(2, 7))
    X = draw(hnp.arrays(np.int64, (n, m), elements=st.integers(0, largest)))
    y = draw(hnp.arrays(np.int64, n, elements=st.sampled_from(CLASSES)))
    y[:3] = CLASSES
    return X, y


def fit(model, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewFeaturesWarning)
        return clone(model).fit(X, y, **options)


def assert_same(one, other, X, *, exact=True):
    """The same model: support, gains, certificate and predictions."""
    np.testing.assert_array_equal(one.support_indices_, other.support_indices_)
    same = (
        np.testing.assert_array_equal
        if exact
        else lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    )
    same(one.certificate_.objective, other.certificate_.objective)
    if is_classifier(one):
        same(one.class_log_prior_, other.class_log_prior_)
        same(one.predict_proba(X), other.predict_proba(X))
    else:
        same(one.scores_, other.scores_)


@pytest.mark.parametrize("model", DISCRETE)
@SETTINGS
@given(values=data(), cuts=st.lists(st.integers(1, 13), max_size=4))
def test_any_chunking_of_integers_gives_the_same_bits(model, values, cuts):
    X, y = values
    whole = fit(model, X, y)
    chunked = clone(model)
    edges = np.unique(np.clip([0, *cuts, len(y)], 0, len(y)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewFeaturesWarning)
        for first, last in pairwise(edges):
            chunked.partial_fit(X[first:last], y[first:last], CLASSES)
    assert_same(chunked, whole, X)


@pytest.mark.parametrize("model", ALL)
@SETTINGS
@given(
    values=data(),
    cuts=st.lists(st.integers(1, 13), max_size=4),
    seed=st.integers(0, 1000),
)
def test_any_chunking_of_fractions_agrees(model, values, cuts, seed):
    X, y = values
    rng = np.random.default_rng(seed)
    weights = rng.random(len(y)) + 0.1
    if model not in DISCRETE:  # values in general position: no ties between gains
        X = X + rng.normal(size=X.shape)
    whole = fit(model, X, y, sample_weight=weights)
    chunked = clone(model)
    edges = np.unique(np.clip([0, *cuts, len(y)], 0, len(y)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewFeaturesWarning)
        for first, last in pairwise(edges):
            part = slice(first, last)
            chunked.partial_fit(X[part], y[part], CLASSES, weights[part])
    gain = whole.certificate_.objective - whole.certificate_.null_objective
    other = chunked.certificate_.objective - chunked.certificate_.null_objective
    np.testing.assert_allclose(gain, other, rtol=1e-12, atol=1e-12)
    if is_classifier(model) and np.array_equal(
        whole.support_indices_, chunked.support_indices_
    ):
        np.testing.assert_allclose(
            chunked.predict_proba(X), whole.predict_proba(X), rtol=1e-12, atol=1e-12
        )


@pytest.mark.parametrize("model", DISCRETE)
@SETTINGS
@given(values=data(), seed=st.integers(0, 1000))
def test_a_weight_is_a_number_of_rows_and_zero_is_none(model, values, seed):
    X, y = values
    times = np.random.default_rng(seed).integers(0, 4, size=len(y))
    times[:3] = np.maximum(times[:3], 1)
    # The largest code of a column stays, so that categories are the same.
    X[0] = X.max(axis=0)
    weighted = fit(model, X, y, sample_weight=times)
    repeated = fit(model, np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_same(weighted, repeated, X)


@pytest.mark.parametrize("variance", ["class", "pooled"])
@SETTINGS
@given(seed=st.integers(0, 10_000))
def test_a_weight_is_a_number_of_rows_for_real_values(variance, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(15, 5)), np.arange(15) % 3
    times = rng.integers(0, 4, size=15)
    times[:6] += 1
    weighted = fit(SparseGaussianNB(3, variance=variance), X, y, sample_weight=times)
    repeated = fit(
        SparseGaussianNB(3, variance=variance),
        np.repeat(X, times, axis=0),
        np.repeat(y, times),
    )
    np.testing.assert_array_equal(weighted.support_, repeated.support_)
    np.testing.assert_allclose(weighted.theta_, repeated.theta_, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(weighted.var_, repeated.var_, rtol=1e-9)


FORMATS = {
    "fortran": np.asfortranarray,
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "csr_matrix": sparse.csr_matrix,
    "csc_matrix": sparse.csc_matrix,
    "64-bit indices": lambda X: sparse.csr_array(
        (
            sparse.csr_array(X).data,
            sparse.csr_array(X).indices.astype(np.int64),
            sparse.csr_array(X).indptr.astype(np.int64),
        ),
        shape=X.shape,
    ),
    "float32": lambda X: X.astype(np.float32),
    "uint8": lambda X: X.astype(np.uint8),
    "csr int16": lambda X: sparse.csr_array(X.astype(np.int16)),
    "csc float32": lambda X: sparse.csc_array(X.astype(np.float32)),
    "list": lambda X: X.tolist(),
    "every other": lambda X: np.repeat(X, 2, axis=0)[::2],
}


@pytest.mark.parametrize("made", FORMATS)
@pytest.mark.parametrize("model", ALL)
def test_every_format_gives_the_same_model(model, made):
    rng = np.random.default_rng(3)
    y = np.arange(30) % 3
    X = rng.poisson(rng.gamma(0.6, 2.0, size=(3, 6))[y])
    plain = fit(model, X, y)
    other = fit(model, FORMATS[made](X), y)
    np.testing.assert_array_equal(plain.support_, other.support_)
    if is_classifier(model):
        np.testing.assert_allclose(
            other.predict_proba(FORMATS[made](X)),
            plain.predict_proba(X),
            rtol=1e-10,
            atol=1e-12,
        )
    else:
        np.testing.assert_allclose(other.scores_, plain.scores_, rtol=1e-10)


@pytest.mark.parametrize("dtype", [">f8", ">i4", np.float16, np.longdouble])
@pytest.mark.parametrize("model", CLASSIFIERS[::2])
def test_rare_dtypes_give_the_same_model(model, dtype):
    rng = np.random.default_rng(3)
    y = np.arange(30) % 3
    X = rng.poisson(rng.gamma(0.6, 2.0, size=(3, 6))[y])
    plain = fit(model, X, y)
    formats = [X.astype(dtype)]
    if dtype is np.longdouble:  # SciPy has no sparse matrices of the others
        formats.append(sparse.csr_array(X.astype(dtype)))
    for values in formats:
        other = fit(model, values, y)
        np.testing.assert_array_equal(plain.support_, other.support_)
        np.testing.assert_allclose(
            other.predict_proba(values), plain.predict_proba(X), rtol=1e-10, atol=1e-12
        )


@pytest.mark.parametrize("kind", ["pandas", "polars", "pandas sparse", "pandas Int64"])
@pytest.mark.parametrize("model", ALL)
def test_frames_give_the_same_model(model, kind):
    rng = np.random.default_rng(3)
    y = np.arange(30) % 3
    X = rng.poisson(rng.gamma(0.6, 2.0, size=(3, 6))[y])
    names = list("abcdef")
    frame = {
        "pandas": lambda: pd.DataFrame(X, columns=names),
        "polars": lambda: pl.DataFrame(X, schema=names),
        "pandas sparse": lambda: pd.DataFrame.sparse.from_spmatrix(
            sparse.csc_matrix(X), columns=names
        ),
        "pandas Int64": lambda: pd.DataFrame(X, columns=names).astype("Int64"),
    }[kind]()
    plain = fit(model, X, y)
    other = fit(model, frame, y)
    assert other.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(plain.support_, other.support_)
    if is_classifier(model):
        np.testing.assert_allclose(
            other.predict_proba(frame), plain.predict_proba(X), rtol=1e-10, atol=1e-12
        )


@pytest.mark.parametrize("model", ALL)
def test_truth_values_are_zeros_and_ones(model):
    X = np.random.default_rng(0).integers(2, size=(20, 5))
    y = np.arange(20) % 2
    if getattr(model, "binarize", None) == 1.0:
        model = clone(model).set_params(binarize=0.5)
    numbers = fit(model, X, y)
    for made in (np.asarray, sparse.csr_array, sparse.csc_array):
        truth = fit(model, made(X.astype(bool)), y)
        np.testing.assert_array_equal(truth.support_, numbers.support_)
        if is_classifier(model):
            np.testing.assert_allclose(
                truth.predict_proba(made(X.astype(bool))),
                numbers.predict_proba(X),
                rtol=1e-10,
            )


@pytest.mark.parametrize("made", ["dense", "fortran", "csr", "csc"])
@pytest.mark.parametrize("model", ALL)
def test_input_is_read_and_never_written(model, made):
    rng = np.random.default_rng(3)
    y = np.arange(30) % 3
    X = rng.poisson(rng.gamma(0.6, 2.0, size=(3, 6))[y]).astype(float)
    weights = rng.random(30)
    if made in ("csr", "csc"):
        matrix = {"csr": sparse.csr_array, "csc": sparse.csc_array}[made](X)
        arrays = [matrix.data, matrix.indices, matrix.indptr]
    else:
        matrix = X.copy(order="F" if made == "fortran" else "C")
        arrays = [matrix]
    arrays += [y, weights]
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    fitted = fit(model, matrix, y, sample_weight=weights)
    partial = clone(model).partial_fit(matrix, y, [0, 1, 2], weights)
    np.testing.assert_array_equal(partial.support_, fitted.support_)
    if is_classifier(fitted):
        fitted.predict_proba(matrix)
    else:
        fitted.transform(matrix)
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("model", [m for m in ALL if m.k != "all"])
@SETTINGS
@given(values=data(), seed=st.integers(0, 1000))
def test_permuting_columns_permutes_the_support(model, values, seed):
    X, y = values
    rng = np.random.default_rng(seed)
    order = rng.permutation(X.shape[1])
    plain, moved = fit(model, X, y), fit(model, X[:, order], y)
    assert plain.k_ == moved.k_
    # Ties may go to other columns; what they are worth may not change.
    np.testing.assert_allclose(
        moved.certificate_.objective, plain.certificate_.objective, rtol=1e-9
    )
    if not is_classifier(model) and model.model != "multinomial":
        np.testing.assert_allclose(moved.scores_, plain.scores_[order], rtol=1e-12)


@pytest.mark.parametrize("model", [m for m in ALL if m.k != "all"])
def test_permuting_columns_without_ties_permutes_the_support_exactly(model):
    rng = np.random.default_rng(5)
    y = np.arange(200) % 3
    X = rng.poisson(rng.gamma(0.6, 2.0, size=(3, 30))[y])
    order = rng.permutation(30)
    plain, moved = fit(model, X, y), fit(model, X[:, order], y)
    np.testing.assert_array_equal(
        np.sort(order[moved.support_indices_]), plain.support_indices_
    )


@pytest.mark.parametrize("model", [m for m in DISCRETE if m.k != "all"])
@pytest.mark.parametrize("factor", [2.0, 1e-3, 1e6, 3.7])
def test_scaling_counts_and_smoothing_leaves_the_support(model, factor):
    rng = np.random.default_rng(5)
    y = np.arange(200) % 3
    X = rng.poisson(rng.gamma(0.6, 2.0, size=(3, 30))[y])
    plain = fit(model, X, y)
    scaled = fit(
        clone(model).set_params(alpha=factor), X, y, sample_weight=np.full(200, factor)
    )
    np.testing.assert_array_equal(plain.support_, scaled.support_)
    gain = plain.certificate_.objective - plain.certificate_.null_objective
    other = scaled.certificate_.objective - scaled.certificate_.null_objective
    np.testing.assert_allclose(other, factor * gain, rtol=1e-9)
    if is_classifier(model):
        np.testing.assert_allclose(
            scaled.predict_proba(X), plain.predict_proba(X), rtol=1e-9
        )


@pytest.mark.parametrize("model", [m for m in ALL if m.k != "all"])
@SETTINGS
@given(values=data(), empty=st.integers(0, 6), k=st.sampled_from([2, 5, 7, 0.9]))
def test_a_column_without_counts_is_never_selected(model, values, empty, k):
    # Even under very unbalanced classes, where smoothing alone would look like a gain.
    X, y = values
    X = np.vstack([X, np.repeat(X[:1], 30, axis=0)])
    y = np.concatenate([y, np.zeros(30, dtype=int)])
    X[:, empty % X.shape[1]] = 0
    model = clone(model).set_params(k=k)
    if not isinstance(model, SparseGaussianNB):
        model.set_params(alpha=10.0)
    fitted = fit(model, X, y)
    assert not fitted.support_[X.sum(axis=0) == 0].any()
    sparse_fitted = fit(model, sparse.csr_array(X), y)
    assert not sparse_fitted.support_[X.sum(axis=0) == 0].any()


@pytest.mark.parametrize("model", CLASSIFIERS)
@SETTINGS
@given(values=data())
def test_probabilities_sum_to_one_and_predict_is_their_largest(model, values):
    X, y = values
    fitted = fit(model, X, y)
    proba = fitted.predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    chosen = proba[np.arange(len(y)), np.searchsorted(CLASSES, fitted.predict(X))]
    np.testing.assert_allclose(chosen, proba.max(axis=1), rtol=1e-12)
