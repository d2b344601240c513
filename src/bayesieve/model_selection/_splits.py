"""Splits into training and test rows, as scikit-learn makes them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

__all__ = ["Split", "splits_of"]

#: Numbers of the training rows and of the test rows.
Split: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]


def splits_of(cv: Any, codes: NDArray[np.int64]) -> list[Split]:
    """Return the splits that a `cv` parameter means for rows of these classes.

    An int means stratified folds without shuffling, as everywhere in scikit-learn, so
    equal data and equal `cv` are equal folds in every estimator.
    """
    rows = np.zeros((codes.shape[0], 1))  # splitters look at its length only
    return list(check_cv(cv, codes, classifier=True).split(rows, codes))
