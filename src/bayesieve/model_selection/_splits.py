"""Splits into training and test rows, as scikit-learn makes them."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

__all__ = ["Split", "splits_for_few", "splits_of"]

#: Numbers of the training rows and of the test rows.
Split: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]


def splits_of(cv: Any, codes: NDArray[np.int64]) -> list[Split]:
    """Return the splits that a `cv` parameter means for rows of these classes.

    An int means stratified folds without shuffling, as everywhere in scikit-learn, so
    equal data and equal `cv` are equal folds in every estimator.
    """
    rows = np.zeros((codes.shape[0], 1))  # splitters look at its length only
    return list(check_cv(cv, codes, classifier=True).split(rows, codes))


def splits_for_few(cv: Any, codes: NDArray[np.int64], owner: str) -> list[Split]:
    """Splits of `splits_of`, where a class may have fewer rows than there are folds.

    Such a class is missing in some folds, and its rows count in the others; only where
    every class has fewer rows there are fewer folds.
    """
    most = int(np.bincount(codes).max())
    if isinstance(cv, Integral):
        if most < 2:
            raise ValueError(
                f"{owner} needs a class with two rows or more to cross-validate. Got "
                "one row of each class."
            )
        cv = min(int(cv), most)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return splits_of(cv, codes)
