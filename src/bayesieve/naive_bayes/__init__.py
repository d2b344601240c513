"""Classifiers that use few features and say how sure that choice is."""

from __future__ import annotations

from bayesieve.naive_bayes._averaged import AveragedNB
from bayesieve.naive_bayes._counterfactual import Counterfactual
from bayesieve.naive_bayes._explanation import Explanation
from bayesieve.naive_bayes._selective import SelectiveNB
from bayesieve.naive_bayes._selective_bernoulli import SelectiveBernoulliNB
from bayesieve.naive_bayes._selective_multinomial import SelectiveMultinomialNB
from bayesieve.naive_bayes._selective_wide_cv import (
    SelectiveBernoulliNBCV,
    SelectiveMultinomialNBCV,
)
from bayesieve.naive_bayes._sparse_bernoulli import SparseBernoulliNB
from bayesieve.naive_bayes._sparse_categorical import SparseCategoricalNB
from bayesieve.naive_bayes._sparse_cv import (
    SparseBernoulliNBCV,
    SparseMultinomialNBCV,
)
from bayesieve.naive_bayes._sparse_gaussian import SparseGaussianNB
from bayesieve.naive_bayes._sparse_multinomial import SparseMultinomialNB
from bayesieve.naive_bayes._sparse_sequence import SparseSequenceNB
from bayesieve.naive_bayes._sparse_text import SparseTextNB

__all__ = [
    "AveragedNB",
    "Counterfactual",
    "Explanation",
    "SelectiveBernoulliNB",
    "SelectiveBernoulliNBCV",
    "SelectiveMultinomialNB",
    "SelectiveMultinomialNBCV",
    "SelectiveNB",
    "SparseBernoulliNB",
    "SparseBernoulliNBCV",
    "SparseCategoricalNB",
    "SparseGaussianNB",
    "SparseMultinomialNB",
    "SparseMultinomialNBCV",
    "SparseSequenceNB",
    "SparseTextNB",
]
