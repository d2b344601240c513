"""The five classifiers of Guan, Shan and Guo, section 3.1, on binary columns.

What the paper leaves open is settled by its own numbers. AdaBoost's trees are stumps
(scikit-learn's default too): in Table 3 the error on all 4,778 words equals that on 289
of them, so 500 trees used few words. The random forest draws its min(sqrt(p), 30)
features at every split: drawn once for every tree, 30 of 4,778 words would leave most
documents without a word, and Table 3 has 5.8 % errors there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import LinearSVC

import bayesieve

CLASSIFIERS = ("KNN", "AdaB", "RF", "SVM", "NB")
LARGEST_K = 10
FOREST_TREES = 200


def naive_bayes() -> Any:
    """Return plain naive Bayes with the paper's truncated estimators."""
    return bayesieve.SparseBernoulliNB(k="all", smoothing="truncated", binarize=None)


class HammingNeighbours:
    """KNN with Hamming distance, k in 1..10 chosen on a third of the rows held out.

    On binary rows the squared Euclidean distance is the number of columns that differ,
    and that one scikit-learn has for sparse input as well.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, X: Any, y: Any) -> HammingNeighbours:
        self.classes_, codes = np.unique(y, return_inverse=True)
        order = np.random.default_rng(self.seed).permutation(codes.shape[0])
        held, kept = np.split(order, [codes.shape[0] // 3])
        votes = self._votes(X[kept], codes[kept], X[held])
        errors = (votes != codes[held]).mean(axis=1)
        self.k_ = int(np.argmin(errors)) + 1  # the smallest k of least error
        self.X_, self.codes_ = X, codes
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[self._votes(self.X_, self.codes_, X)[self.k_ - 1]]

    def _votes(self, X: Any, codes: Any, queries: Any) -> Any:
        """Majority classes of (k, query) for k = 1, ..., 10; ties: smallest code."""
        model = NearestNeighbors(n_neighbors=LARGEST_K, algorithm="brute").fit(X)
        near = codes[model.kneighbors(queries, return_distance=False)]
        is_class = near[:, :, None] == np.arange(self.classes_.shape[0])
        return np.argmax(np.cumsum(is_class, axis=1), axis=2).T


def comparators(n_columns: int, *, boosts: int, seed: int) -> dict[str, Any]:
    """Return the five classifiers, unfitted."""
    features = max(1, min(int(np.sqrt(n_columns)), 30))
    return {
        "KNN": HammingNeighbours(seed),
        "AdaB": AdaBoostClassifier(n_estimators=boosts, random_state=seed),
        "RF": RandomForestClassifier(
            FOREST_TREES, max_features=features, random_state=seed
        ),
        "SVM": LinearSVC(random_state=seed),
        "NB": naive_bayes(),
    }


def count_errors(model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> int:
    """Fit, predict, and return how many test rows are wrong."""
    return int(np.count_nonzero(model.fit(X, y).predict(X_test) != y_test))


def as_floats(X: Any) -> Any:
    """Return X as the float32 that trees and neighbours compute in anyway."""
    if sparse.issparse(X):
        return X.astype(np.float32)
    return np.ascontiguousarray(X, dtype=np.float32)
