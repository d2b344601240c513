"""Splits into training and test rows, as scikit-learn makes them."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)

__all__ = [
    "HELD_OUT",
    "Split",
    "prediction_splits",
    "splits_for_few",
    "splits_of",
]

HELD_OUT = 0.2  # of the rows, where one part judges
_FOLDS = 5
#: Entries times classes from which one part is enough: five take long and choose alike.
_MUCH_WORK = 4e6

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


def prediction_splits(
    codes: NDArray[np.int64], n_entries: float, random_state: Any = 0
) -> list[Split]:
    """Splits to choose a model for prediction by: five folds, or one part held out.

    `n_entries` are the values of the matrix that are not zero: a path of penalties
    reads each once for every class and step. No splits where no class has two rows.
    """
    sizes = np.bincount(codes)
    sizes = sizes[sizes > 0]
    if sizes.max() < 2:
        return []
    cv: Any = StratifiedKFold(
        min(_FOLDS, int(sizes.max())), shuffle=True, random_state=random_state
    )
    if n_entries * sizes.size > _MUCH_WORK and sizes.min() >= 2:
        cv = StratifiedShuffleSplit(1, test_size=HELD_OUT, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows
        return splits_of(cv, codes)
