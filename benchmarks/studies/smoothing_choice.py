"""The smoothing of multinomial naive Bayes by ten-fold cross-validation on sums.

What `GridSearchCV(MultinomialNB(), {"alpha": alphas})` finds on the same folds (a test
holds the two together), in one pass: sums of the rows outside a fold are subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

FOLDS = 10


def class_sums(X: Any, y: np.ndarray) -> np.ndarray:
    """Return the sums of the rows of class 0 and of class 1, shape (2, m)."""
    ones = np.ones(y.shape[0])
    members = sparse.csr_matrix((ones, (y, np.arange(y.shape[0]))), (2, y.shape[0]))
    return (members @ X).toarray()


def accuracies_of_alphas(
    X: Any, y: np.ndarray, alphas: Sequence[float], *, seed: int
) -> np.ndarray:
    """Return the mean accuracy over folds of `MultinomialNB(alpha)` for each alpha.

    The counts outside a fold are the total less those of the fold, and only the columns
    that the fold has need a logarithm: the same answers as a fit for each alpha.
    """
    total = class_sums(X, y)
    cut = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    scores = np.zeros((FOLDS, len(alphas)))
    for at, (_, rows) in enumerate(cut.split(np.zeros((y.shape[0], 1)), y)):
        part, labels = X[rows], y[rows]
        rest = np.maximum(total - class_sums(part, labels), 0.0)
        sizes = np.bincount(y, minlength=2) - np.bincount(labels, minlength=2)
        used = np.unique(part.indices)
        for place, alpha in enumerate(alphas):
            sums = rest.sum(axis=1) + alpha * X.shape[1]
            weights = np.zeros(X.shape[1])
            smoothed = np.log(rest[:, used] + alpha)
            weights[used] = smoothed[1] - smoothed[0] - math.log(sums[1] / sums[0])
            joint = part @ weights + math.log(sizes[1] / sizes[0])
            scores[at, place] = np.mean((joint > 0) == labels)
    return scores.mean(axis=0)


def chosen_alpha(X: Any, y: np.ndarray, alphas: Sequence[float], *, seed: int) -> float:
    """Return the alpha of the best accuracy, the smallest among equals."""
    return float(alphas[int(np.argmax(accuracies_of_alphas(X, y, alphas, seed=seed)))])
