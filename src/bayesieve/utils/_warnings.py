"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.exceptions import (
    InterruptedFitWarning,
    NotCountsWarning,
    SmallWeightsWarning,
)

__all__ = [
    "warn_if_interrupted",
    "warn_of_scaled_rows",
    "warn_of_small_weights",
    "warn_user",
]

_OURS = ("bayesieve", "sklearn", "joblib")
#: Rows, and values, that are looked at to tell what a matrix holds.
_ROWS_SEEN, _VALUES_SEEN = 64, 4096
#: Norms of single precision rows are this near to 1.
_NEAR_ONE = 1e-4


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn with the first caller outside this package and scikit-learn as the place."""
    level = 2
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _OURS:
            break
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_if_interrupted(owner: str, stopped: str) -> None:
    """Warn that Ctrl-C ended a fit, whose caller continues with the model so far."""
    if stopped == "interrupted":
        warn_user(
            f"The fit of {owner} was interrupted; the best model so far is kept. Hint: "
            "warnings.simplefilter('error', InterruptedFitWarning) ends what comes "
            "after it as well, such as a grid search.",
            InterruptedFitWarning,
        )


def warn_of_small_weights(total: float, n_rows: int) -> None:
    """Say that weights count as rows where the number of rows matters."""
    if total < 0.1 * n_rows:
        warn_user(
            f"sample_weight adds up to {total:g} over {n_rows} rows. Weights count as "
            "rows, and size and estimates depend on how many there are. "
            "Hint: scale the weights to add up to the number of rows.",
            SmallWeightsWarning,
        )


def warn_of_scaled_rows(X: Any, owner: str, *, lengths: bool) -> None:
    """Say that rows that add up to 1 (and, if asked, of length 1) are no counts.

    Looks at some values, and only if they are no whole numbers at some rows.
    """
    if X.dtype.kind != "f" or 0 in X.shape:
        return
    some = np.unique(np.linspace(0, X.shape[0] - 1, _ROWS_SEEN).astype(np.int64))
    if sparse.issparse(X):
        rows, values = None, X.data[:: max(1, X.data.size // _VALUES_SEEN)]
    else:
        rows = values = X[some]
    if not np.isfinite(values).all() or (values == np.floor(values)).all():
        return
    rows = X[some] if rows is None else rows
    sums = np.asarray(rows.sum(axis=1), dtype=np.float64).ravel()
    squares = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
    squares = np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()
    said = None
    if _all_one(sums):
        said = "add up to 1"
    elif lengths and _all_one(np.sqrt(squares)):
        said = "have length 1, as those of tf-idf"
    if said is not None:
        warn_user(
            f"The rows of X {said}, and {owner} is made for counts: on texts it is "
            "less accurate with such rows. Hint: give it the counts themselves "
            "(CountVectorizer), or X.log1p() of them.",
            NotCountsWarning,
        )


def _all_one(norms: np.ndarray) -> bool:
    """Whether all rows with anything, and more than one of them, have norm 1."""
    norms = norms[norms > 0]
    return norms.size > 1 and bool((np.abs(norms - 1.0) < _NEAR_ONE).all())
