"""Ready-made conditional log-likelihoods in place of partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from bayesieve.preprocessing._table_input import read_labels

__all__ = ["LogLikelihoodRows"]


@dataclass(frozen=True)
class LogLikelihoodRows:
    """Log-likelihoods (n_rows, n_columns, n_classes) with labels and weights."""

    logs: np.ndarray
    codes: np.ndarray
    weights: np.ndarray | None
    classes: np.ndarray

    @classmethod
    def from_training(
        cls, owner: Any, X: Any, y: Any, sample_weight: Any
    ) -> LogLikelihoodRows:
        """Check X, y and weights; rows of weight zero are left out."""
        flat = _flat(owner, X, reset=True)
        codes, weights, classes = read_labels(
            owner, y, flat.shape[0], sample_weight, None
        )
        if weights is not None and not weights.all():
            there = np.flatnonzero(weights)
            flat, weights = flat[there], weights[there]
            present, codes = np.unique(codes[there], return_inverse=True)
            classes = classes[present]
        if classes.shape[0] < 2:
            raise ValueError(
                f"{type(owner).__name__} needs at least two classes in y. "
                f"Got one class: {classes.tolist()[0]!r}."
            )
        logs = _by_class(flat, classes.shape[0])
        return cls(logs, codes.astype(np.int32), weights, classes)

    @staticmethod
    def from_rows(owner: Any, X: Any, n_classes: int) -> np.ndarray:
        """Check rows to be predicted."""
        return _by_class(_flat(owner, X, reset=False), n_classes)


def _flat(owner: Any, X: Any, *, reset: bool) -> np.ndarray:
    if np.ndim(X) == 3:
        X = np.asarray(X).reshape(np.shape(X)[0], -1)
    return np.asarray(validate_data(owner, X, reset=reset, dtype=np.float64))


def _by_class(flat: np.ndarray, n_classes: int) -> np.ndarray:
    if flat.shape[1] % n_classes:
        raise ValueError(
            "Ready-made log-likelihoods need one number for each column and class. "
            f"Got {flat.shape[1]} numbers a row for {n_classes} classes."
        )
    return flat.reshape(flat.shape[0], -1, n_classes)
