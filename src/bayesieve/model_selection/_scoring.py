"""Scores of predictions on held-out rows, by any scorer of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

__all__ = ["HeldOutScorer", "log_losses", "mean_log_loss"]


class HeldOutScorer:
    """Judges joint log-probabilities of test rows; larger is better.

    Parameters
    ----------
    scoring : str, callable or None
        As in scikit-learn; None is accuracy.
    classes : ndarray of shape (n_classes,)
    """

    def __init__(self, scoring: Any, classes: NDArray[Any]) -> None:
        self._scoring, self._classes = scoring, classes
        self._is_accuracy = scoring is None or scoring == "accuracy"
        self._scorer = None if self._is_accuracy else get_scorer(scoring)

    def __call__(
        self, joint: NDArray[np.float64], truth: NDArray[np.int64], X: Any = None
    ) -> float:
        """Score of predictions for rows whose classes have the numbers `truth`."""
        if self._is_accuracy:
            return float(np.mean(np.argmax(joint, axis=1) == truth))
        if self._scoring == "neg_log_loss":  # a fold may lack a class
            return -mean_log_loss(joint, truth)
        known = _KnownPredictions(self._classes, joint)
        assert self._scorer is not None
        return float(self._scorer(known, X, self._classes[truth]))

    def by_size(
        self, joint: NDArray[np.float64], truth: NDArray[np.int64], X: Any = None
    ) -> NDArray[np.float64]:
        """Scores of each size, for predictions of shape (rows, sizes, classes)."""
        if self._is_accuracy:
            right = np.argmax(joint, axis=2) == truth[:, None]
            return np.asarray(right.mean(axis=0))
        return np.array([self(joint[:, s], truth, X) for s in range(joint.shape[1])])


def mean_log_loss(
    joint: NDArray[np.float64],
    truth: NDArray[np.int64],
    weight: NDArray[np.float64] | None = None,
) -> float:
    """Mean negative log-probability of the true class."""
    return float(np.average(log_losses(joint, truth), weights=weight))


def log_losses(
    joint: NDArray[np.float64], truth: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Negative log-probability of the true class of each row."""
    posterior = log_softmax(joint, axis=1)
    own = posterior[np.arange(truth.size), truth]
    # A class that the training rows lack has no chance: bounded, as metrics do it.
    return np.asarray(-np.maximum(own, np.log(np.finfo(np.float64).eps)))


class _KnownPredictions(ClassifierMixin, BaseEstimator):
    """A fitted classifier that knows its answers, so that any scorer can judge them."""

    def __init__(self, classes: NDArray[Any], joint: NDArray[np.float64]) -> None:
        self.classes, self.joint = classes, joint
        self.classes_ = classes

    def predict(self, X: Any) -> NDArray[Any]:
        best: NDArray[Any] = self.classes[np.argmax(self.joint, axis=1)]
        return best

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(softmax(self.joint, axis=1))
