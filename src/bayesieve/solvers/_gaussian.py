"""Sparse Gaussian naive Bayes: closed form, exact, for both ways to share variances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.counts import ClassCounts
from bayesieve.solvers._additive import AdditiveProblem
from bayesieve.solvers._inputs import check_range
from bayesieve.solvers._logs import Floats, divergence

__all__ = ["class_moments", "gaussian_problem", "pooled_moments"]

#: Variances are compared after adding this share of the column's own variance, so a
#: class without spread gives a large but finite gain that no other column's unit
#: affects.
_RELATIVE_FLOOR = 1e-9


def class_moments(counts: ClassCounts) -> tuple[Floats, Floats]:
    """Mean and centred squares of each class, which only this kind of counts has."""
    if counts.mean is None or counts.centred_squares is None:
        raise ValueError(f"Moments are needed. Got counts of kind {counts.kind!r}.")
    return counts.mean, counts.centred_squares


def pooled_moments(counts: ClassCounts) -> tuple[Floats, Floats, Floats]:
    """Mean of each column, its variance, and its variance within classes."""
    class_mean, squares = class_moments(counts)
    rows = counts.class_count[:, None]
    n = float(rows.sum())
    # Around the mean of one class, so that equal means give exactly that mean.
    origin = class_mean[int(np.argmax(counts.class_count))]
    mean: Floats = origin + (rows * (class_mean - origin)).sum(axis=0) / n
    within: Floats = squares.sum(axis=0) / n
    between: Floats = (rows * (class_mean - mean) ** 2).sum(axis=0) / n
    return mean, within + between, within


def gaussian_problem(counts: Any, *, variance: str, solver: str) -> AdditiveProblem:
    """Gains of all columns, ready for any k.

    ``variance="class"``: means and variances differ over classes, gain
    ``n/2 log var - sum_c n_c/2 log var_c``. ``"pooled"``: means only, gain
    ``n/2 log(var / within)``. With ``r_c = var_c / var`` the first is half of
    ``sum_c n_c (r_c - 1 - log r_c) + n between / var``, where nothing cancels.
    """
    if not isinstance(counts, ClassCounts) or counts.kind != "moments":
        kind = counts.kind if isinstance(counts, ClassCounts) else type(counts).__name__
        raise ValueError(f"{solver} needs counts of kind 'moments'. Got {kind!r}.")
    rows = counts.class_count
    n = float(rows.sum())
    check_range(n, solver=solver)
    with np.errstate(over="ignore"):
        _, total, within = pooled_moments(counts)
    if not np.isfinite(total).all():
        column = int(np.argmin(np.isfinite(total)))
        raise ValueError(
            f"{solver} needs values whose squares are in the range of floating point. "
            f"Got a variance beyond it in column {column}. "
            "Hint: divide the column by a number; its gain stays."
        )
    eligible = total > 0
    safe = np.where(eligible, total, 1.0)
    between = np.maximum(total - within, 0.0) / safe - _RELATIVE_FLOOR
    if variance == "class":
        per_class = class_moments(counts)[1] / np.where(rows > 0, rows, 1.0)[:, None]
        ratios = per_class / safe + _RELATIVE_FLOOR
        apart = (rows[:, None] * divergence(1.0, ratios)).sum(axis=0)
        gains = 0.5 * (apart + n * between)
    else:
        apart = n * divergence(1.0, within / safe + _RELATIVE_FLOOR)
        gains = 0.5 * (apart + n * between)
    gains = np.where(eligible, np.maximum(gains, 0.0), 0.0)
    present = int((rows > 0).sum())

    def estimate(columns: NDArray[np.int64]) -> Floats:
        # Means are signed, so Gaussian estimates are not probabilities: the estimator
        # takes means and variances from the counts itself.
        return np.empty((rows.shape[0], 0))

    return AdditiveProblem(
        gains=gains,
        eligible=eligible,
        null_value=float(
            -0.5 * n * (np.log(2 * math.pi * total[eligible]) + 1.0).sum()
        ),
        extra_parameters=float((present - 1) * (2 if variance == "class" else 1)),
        n_rows=n,
        class_shares=rows / n,
        # A ratio of variances is n / n_c at most: so much more than in a table of
        # counts may its deviation from one weigh.
        weight=n * n / float(rows[rows > 0].min()),
        estimate=estimate,
    )
