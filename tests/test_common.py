"""scikit-learn's own estimator checks on every public estimator."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesieve import (
    NaiveFeatureSelector,
    SparseBernoulliNB,
    SparseBernoulliNBCV,
    SparseCategoricalNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseMultinomialNBCV,
)

ESTIMATORS = [
    SparseMultinomialNB(),
    SparseMultinomialNB(k="all"),
    SparseBernoulliNB(),
    SparseBernoulliNB(k="bic"),
    SparseGaussianNB(),
    SparseGaussianNB(variance="pooled"),
    SparseCategoricalNB(),
    SparseMultinomialNBCV(),
    SparseBernoulliNBCV(),
    NaiveFeatureSelector(),
    NaiveFeatureSelector(k=0.5),
    NaiveFeatureSelector(model="bernoulli", binarize=0.0),
    NaiveFeatureSelector(model="gaussian"),
    NaiveFeatureSelector(model="categorical"),
]


def expected_failures(estimator):
    return {}


# The checks fit tables of two or three columns; asking for ten features warns, rightly.
@pytest.mark.filterwarnings("ignore::bayesieve.exceptions.FewFeaturesWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
