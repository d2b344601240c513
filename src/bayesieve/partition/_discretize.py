"""Bayes-optimal intervals of numerical variables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesieve import _core
from bayesieve.partition._partition import (
    IntervalPartition,
    PartitionCost,
    RowPartition,
)

__all__ = [
    "DEFAULT_EXACT_BUDGET",
    "FINE_LEVELS",
    "FineIntervals",
    "discretize",
    "discretize_columns",
    "discretize_finely",
]

# Elementary operations per column, about a nanosecond each: proofs for tables of some
# 700 rows, while the heuristic search of thousands of values stays the larger part.
DEFAULT_EXACT_BUDGET = 2_000_000


#: Bins of equal frequency a column: 2 ** 6, and the bounds of the best partition.
FINE_LEVELS = 6


@dataclass(frozen=True)
class FineIntervals:
    """Bins finer than any partition, of equal frequency and with the best one's bounds.

    Attributes
    ----------
    bounds : ndarray of float64 of shape (n_bounds,)
        Upper bounds of all bins of numbers but the last.
    levels : ndarray of int64 of shape (n_bounds,)
        Level 0 cuts numbers in four, the next one in eight and so on; the first level
        that has each bound.
    counts : ndarray of float64 of shape (n_bounds + 2, n_classes)
        Class counts of the missing values, then of each bin.
    """

    bounds: NDArray[np.float64]
    levels: NDArray[np.int64]
    counts: NDArray[np.float64]


def _is_classical(criterion: str) -> bool:
    if criterion not in ("khiops", "classical"):
        raise ValueError(
            f"criterion must be 'khiops' or 'classical'. Got {criterion!r}."
        )
    return criterion == "classical"


def _cost(parts: NDArray[np.float64]) -> PartitionCost:
    return PartitionCost(*parts.tolist())


def discretize(
    table: ArrayLike,
    *,
    attribute_cost: float = 0.0,
    criterion: str = "khiops",
    exact_budget: float = DEFAULT_EXACT_BUDGET,
) -> RowPartition:
    """Find the intervals of rows that tell most about the class for their cost.

    The model with the least code length is looked for on grids of equal frequency, from
    coarse to fine: bottom-up merges, then local moves, then a dynamic programme that
    proves the optimum of a grid (or corrects it) where ``exact_budget`` allows.

    Parameters
    ----------
    table : array-like of shape (n_values, n_classes)
        Class counts of the distinct values in increasing order, or of fine bins. May be
        fractional (row weights). Rows of zeros have no influence.
    attribute_cost : float, default=0.0
        Code length of the choice of this variable, ln K among K variables.
    criterion : {"khiops", "classical"}, default="khiops"
        With cuts on a grid of equal frequencies, or the form of 2006 without grid and
        without ``attribute_cost``.
    exact_budget : float, default=2_000_000
        Elementary operations allowed to the dynamic programme. 0 never runs it, ``inf``
        always does.

    Returns
    -------
    RowPartition
        A single interval with the null cost when the variable says nothing.

    Notes
    -----
    O(D (J + log D)) for D rows and J classes, plus the operations of ``exact_budget``.
    """
    counts = np.ascontiguousarray(table, dtype=np.float64)
    if counts.ndim != 2:
        raise ValueError(
            f"table must have shape (n_values, n_classes). Got {counts.shape}."
        )
    ends, part_counts, granularity, cost, null_cost, exact = _core.discretize_table(
        counts, float(attribute_cost), _is_classical(criterion), float(exact_budget)
    )
    return RowPartition(
        ends=ends,
        counts=part_counts,
        granularity=granularity,
        cost=_cost(cost),
        null_cost=_cost(null_cost),
        exact=exact,
    )


def discretize_columns(
    X: NDArray[Any],
    codes: ArrayLike,
    n_classes: int,
    *,
    sample_weight: ArrayLike | None = None,
    attribute_cost: float = 0.0,
    criterion: str = "khiops",
    exact_budget: float = DEFAULT_EXACT_BUDGET,
) -> list[IntervalPartition]:
    """Discretize every column of a numerical matrix.

    Parameters
    ----------
    X : ndarray of float64 of shape (n_samples, n_features)
        NaN is a missing value, below every number; infinities are for the caller to
        refuse. Columns are read one by one, so Fortran order is best.
    codes : array-like of int of shape (n_samples,)
        Classes as 0..n_classes-1.
    n_classes : int
        Number of classes, those without a row included.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight 2 is the row twice, weight 0 no row at all.
    attribute_cost, criterion, exact_budget
        See :func:`discretize`; the budget is that of one column.

    Returns
    -------
    list of IntervalPartition
        One for each column; it does not depend on the other columns, nor on threads.

    Notes
    -----
    Columns run in parallel; each thread holds O(n_samples) memory.
    """
    return _discretized(
        X, codes, n_classes, sample_weight, attribute_cost, criterion, exact_budget, 0
    )[0]


def discretize_finely(
    X: NDArray[Any],
    codes: ArrayLike,
    n_classes: int,
    *,
    sample_weight: ArrayLike | None = None,
    attribute_cost: float = 0.0,
    criterion: str = "khiops",
) -> tuple[list[IntervalPartition], list[FineIntervals]]:
    """Discretize every column, and cut it into fine bins, for one sort of its values.

    Parameters are those of :func:`discretize_columns`.
    """
    return _discretized(
        X,
        codes,
        n_classes,
        sample_weight,
        attribute_cost,
        criterion,
        DEFAULT_EXACT_BUDGET,
        FINE_LEVELS,
    )


def _discretized(
    X: NDArray[Any],
    codes: ArrayLike,
    n_classes: int,
    sample_weight: ArrayLike | None,
    attribute_cost: float,
    criterion: str,
    exact_budget: float,
    fine_levels: int,
) -> tuple[list[IntervalPartition], list[FineIntervals]]:
    weights = None
    if sample_weight is not None:
        weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    (
        offsets,
        bounds,
        counts,
        granularity,
        costs,
        null,
        exact,
        fine_offsets,
        fine_bounds,
        fine_level,
        fine_counts,
    ) = _core.discretize_columns(
        np.asarray(X, dtype=np.float64),
        np.ascontiguousarray(codes, dtype=np.int32),
        n_classes,
        weights,
        float(attribute_cost),
        _is_classical(criterion),
        float(exact_budget),
        fine_levels,
    )
    null_cost = _cost(null)
    starts = offsets.tolist()
    partitions = []
    for k, (g, proven) in enumerate(
        zip(granularity.tolist(), exact.tolist(), strict=True)
    ):
        first, last = starts[k], starts[k + 1]
        partitions.append(
            IntervalPartition(
                bounds=bounds[first - k : last - k - 1],
                counts=counts[first:last],
                granularity=g,
                cost=_cost(costs[k]),
                null_cost=null_cost,
                exact=bool(proven),
            )
        )
    fine = []
    fine_starts = fine_offsets.tolist() if fine_levels else []
    for k, (first, last) in enumerate(pairwise(fine_starts)):
        fine.append(
            FineIntervals(
                fine_bounds[first:last],
                fine_level[first:last],
                fine_counts[first + 2 * k : last + 2 * (k + 1)],
            )
        )
    return partitions, fine
