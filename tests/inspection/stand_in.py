"""A small weighted classifier with the attributes of the selective ones.

It solves the real problem, a weight in [0, 1] for each of a few features under a
penalty, by a generic optimiser, so that pictures and reports of weights can be tested
by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from bayesieve import SparseMultinomialNB


@dataclass(frozen=True)
class WeightPath:
    lambdas: np.ndarray
    weights: sparse.csr_array
    n_features: np.ndarray
    nll: np.ndarray
    dual_gap: np.ndarray


class SelectiveStandIn(ClassifierMixin, BaseEstimator):
    """Multinomial naive Bayes on k features with one weight for each of them."""

    def __init__(self, k=30, n_lambdas=20, share=0.05):
        self.k = k
        self.n_lambdas = n_lambdas
        self.share = share

    def fit(self, X, y, feature_names=None):
        base = SparseMultinomialNB(k=self.k).fit(X, y)
        self.classes_ = base.classes_
        self.certificate_ = base.certificate_
        self.n_features_in_ = X.shape[1]
        if feature_names is not None:
            self.feature_names_in_ = np.asarray(feature_names, dtype=object)
        columns = base.support_indices_
        codes = np.searchsorted(self.classes_, y)
        logs, prior = base.feature_log_prob_, base.class_log_prior_
        dense = X[:, columns].toarray() if sparse.issparse(X) else X[:, columns]
        terms = dense[:, None, :] * logs[None]  # rows x classes x features
        rows = np.arange(codes.shape[0])
        own = terms[rows, codes]

        def loss(w):
            scores = terms @ w + prior
            posterior = softmax(scores, axis=1)
            value = (logsumexp(scores, axis=1) - scores[rows, codes]).sum()
            gradient = np.einsum("nc,ncj->j", posterior, terms) - own.sum(axis=0)
            return value, gradient

        start = np.zeros(columns.shape[0])
        largest = float(np.max(-loss(start)[1]))
        lambdas = np.geomspace(largest, 1e-4 * largest, self.n_lambdas)
        table = np.zeros((lambdas.shape[0], X.shape[1]))
        values = np.zeros(lambdas.shape[0])
        for i, penalty in enumerate(lambdas):
            found = minimize(
                lambda w, p=penalty: (loss(w)[0] + p * w.sum(), loss(w)[1] + p),
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0, 1)] * columns.shape[0],
            )
            start = np.where(found.x > 1e-6, found.x, 0.0)
            table[i, columns] = start
            values[i] = loss(start)[0]
        self.path_ = WeightPath(
            lambdas,
            sparse.csr_array(table),
            (table > 0).sum(axis=1),
            values,
            np.full(lambdas.shape[0], 1e-8),
        )
        at = int(np.argmin(np.abs(lambdas - self.share * largest)))
        self.lambda_ = float(lambdas[at])
        self.lambda_best_ = float(lambdas[-2])
        self.lambda_1se_ = self.lambda_
        self.dual_gap_ = 1e-8
        self.weights_ = table[at]
        self.support_ = self.weights_ > 0
        self.support_indices_ = np.flatnonzero(self.support_)
        kept = np.isin(columns, self.support_indices_)
        self.feature_log_prob_ = logs[:, kept]
        self.class_log_prior_ = prior
        self.intercept_ = prior
        self.cv_results_ = {
            "lambda": lambdas,
            "mean_test_score": 0.9 + 0.05 * np.linspace(0, 1, lambdas.shape[0]),
            "std_test_score": np.full(lambdas.shape[0], 0.01),
            "n_features": self.path_.n_features,
        }
        return self

    def predict_proba(self, X):
        part = X[:, self.support_indices_]
        weighted = self.feature_log_prob_ * self.weights_[self.support_indices_]
        return softmax(np.asarray(part @ weighted.T) + self.class_log_prior_, axis=1)

    def predict(self, X):
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
