"""Cost of given intervals: the criterion in plain Python.

The compiled search minimises these formulas; here they price a partition that is
already there.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from bayesieve.partition._partition import PartitionCost
from bayesieve.weights._integer_codes import integer_code

__all__ = ["finest_granularity", "interval_cost"]


def _log_factorial(n: float) -> float:
    return math.lgamma(n + 1.0)


def finest_granularity(n_rows: float) -> int:
    """Smallest g >= 1 with 2**g >= n_rows: a grid that separates single rows."""
    g = 1
    while 2.0**g < n_rows:
        g += 1
    return g


def row_costs(counts: ArrayLike) -> tuple[float, float]:
    """Code length of the class counts of each part, and of the classes given them."""
    table = np.asarray(counts, dtype=np.float64)
    extra = table.shape[1] - 1
    preparation = data = 0.0
    for row in table.tolist():
        n = math.fsum(row)
        whole = _log_factorial(n)
        preparation += _log_factorial(n + extra) - _log_factorial(extra) - whole
        data += whole - math.fsum(map(_log_factorial, row))
    return preparation, data


def partition_code(n_rows: float, n_parts: int, granularity: int) -> float:
    """Code length of the grid, the number of intervals and the cuts (n_parts > 1).

    U(g; Gmax) + U(I-1; N_g-1) + (I-1) ln(N_g-1) - ln (I-1)!, infinite when the grid has
    no room for that many intervals.
    """
    grid = min(2.0**granularity, n_rows)
    if n_parts > grid:
        return math.inf
    cuts = n_parts - 1
    return (
        integer_code(granularity, finest_granularity(n_rows))
        + integer_code(cuts, grid - 1.0)
        + cuts * math.log(grid - 1.0)
        - _log_factorial(cuts)
    )


def interval_cost(
    counts: ArrayLike,
    granularity: int = 0,
    *,
    attribute_cost: float = 0.0,
    criterion: str = "khiops",
) -> PartitionCost:
    """Cost of intervals with the given class counts.

    Parameters
    ----------
    counts : array-like of shape (n_parts, n_classes)
        Class counts of each interval, in any order.
    granularity : int, default=0
        Grid of the cuts; used with two intervals or more, and only by ``"khiops"``.
    attribute_cost : float, default=0.0
        Cost of the choice of the variable; not paid by a single interval, nor by
        ``"classical"``.
    criterion : {"khiops", "classical"}, default="khiops"
        With cuts on a grid of equal frequencies, or the form of 2006 without grid.

    Returns
    -------
    PartitionCost
        In nats.
    """
    table = np.asarray(counts, dtype=np.float64)
    n_rows, n_parts = math.fsum(table.ravel().tolist()), len(table)
    preparation, data = row_costs(table)
    if criterion == "classical":
        preparation += (
            math.log(max(n_rows, 1.0))
            + _log_factorial(n_rows + n_parts - 1)
            - _log_factorial(n_parts - 1)
            - _log_factorial(n_rows)
        )
        return PartitionCost(0.0, preparation, data)
    construction = math.log(2.0)
    if n_parts > 1:
        construction += attribute_cost
        preparation += partition_code(n_rows, n_parts, granularity)
    return PartitionCost(construction, preparation, data)
