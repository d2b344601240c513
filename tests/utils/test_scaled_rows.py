"""Rows that were scaled to 1 are told to the models of counts that suffer from it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from bayesieve import (
    NaiveFeatureSelector,
    SelectiveBernoulliNB,
    SelectiveMultinomialNB,
    SelectiveMultinomialNBCV,
    SparseBernoulliNB,
    SparseMultinomialNB,
)
from bayesieve.exceptions import NotCountsWarning
from bayesieve.utils._warnings import warn_of_scaled_rows

LAYOUTS = {
    "dense": lambda X: X.toarray(),
    "fortran": lambda X: np.asfortranarray(X.toarray()),
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "csr of single precision": lambda X: sparse.csr_array(X).astype(np.float32),
}


def counts():
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.5, 1.0, size=30), size=(200, 30))
    y = np.arange(200) % 2
    X[:, :3] += rng.poisson(2.0 * y[:, None], size=(200, 3))
    X[7] = 0  # an empty text has no length
    return sparse.csr_array(X), y


SCALED = {
    "tf-idf": lambda X: TfidfTransformer().fit_transform(X),
    "sums": lambda X: normalize(X.astype(float), norm="l1"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scaled", SCALED)
def test_rows_of_length_or_sum_one_are_told(layout, scaled):
    X = LAYOUTS[layout](sparse.csr_array(SCALED[scaled](counts()[0])))
    with pytest.warns(NotCountsWarning, match=r"model.*Hint: .*CountVectorizer.*log1p"):
        warn_of_scaled_rows(X, "model", lengths=True)


UNTOLD = {
    "counts": lambda X: X,
    "counts as floats": lambda X: X.astype(float),
    "presence": lambda X: (X > 0).astype(float),
    "logarithms": lambda X: X.log1p(),
    "tf-idf as it is": lambda X: TfidfTransformer(norm=None).fit_transform(X),
    "one row": lambda X: normalize(X[:1].astype(float)),
    "nothing": lambda X: X[:0].astype(float),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", UNTOLD)
def test_other_rows_are_not(layout, kind):
    X = LAYOUTS[layout](sparse.csr_array(UNTOLD[kind](counts()[0])))
    warn_of_scaled_rows(X, "model", lengths=True)  # a warning is an error here


def told(model, scaled):
    X, y = counts()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(SCALED[scaled](X), y)
    return [str(w.message) for w in caught if w.category is NotCountsWarning]


def test_only_models_that_suffer_are_told():
    for model in (
        SelectiveMultinomialNB(5),
        SelectiveMultinomialNB(),
        SelectiveMultinomialNBCV(cv=2, regularization=5),
        SparseMultinomialNB(5),
        NaiveFeatureSelector(5, model="multinomial"),
    ):
        (message,) = told(model, "sums")
        assert f"{type(model).__name__} is made for counts" in message
        hurt = getattr(model, "k", None) and "Selective" in type(model).__name__
        assert bool(told(model, "tf-idf")) == bool(hurt)
    for model in (SelectiveBernoulliNB(5, binarize=0.0), SparseBernoulliNB(5)):
        assert told(model, "sums") == told(model, "tf-idf") == []
