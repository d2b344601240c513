"""The criterion of a grouping of values, for given groups: plain and slow.

The plain twin of the compiled search's formulas.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.oracle.code_lengths import log_partition_count

from bayesieve.partition._partition import PartitionCost
from bayesieve.weights._integer_codes import integer_code

__all__ = [
    "explored_granularities",
    "garbage_code",
    "grouping_cost",
    "null_grouping_cost",
    "partiles",
    "plain_code",
    "rows_cost",
]


def _settled(x: float) -> float:
    """Round sums of weights that miss a whole number by rounding alone."""
    return float(round(x)) if abs(x - round(x)) <= 1e-9 * max(x, 1.0) else x


def rows_cost(counts: NDArray[np.float64]) -> tuple[float, float]:
    """``rows_prep`` and ``rows_data`` of groups with these class counts."""
    J = counts.shape[1]
    preparation = data = 0.0
    for row in counts:
        n = float(row.sum())
        preparation += math.lgamma(n + J) - math.lgamma(J) - math.lgamma(n + 1)
        data += math.lgamma(n + 1) - sum(math.lgamma(float(c) + 1) for c in row)
    return preparation, data


def partiles(frequency: NDArray[np.float64], granularity: int) -> NDArray[np.int64]:
    """Partile of each value at a granularity: its rank, or the rank after the last one.

    ``frequency`` holds positive frequencies in decreasing order; the last partile is
    the catch-all if some value is rarer than ``ceil(N / 2**granularity)``.
    """
    N = _settled(float(frequency.sum()))
    least = math.ceil(N / 2**granularity - 1e-9) - 1e-9
    own = int((frequency >= least).sum())
    return np.minimum(np.arange(len(frequency)), own)


def explored_granularities(table: Any) -> list[tuple[int, int]]:
    """Granularities that the search visits, each with its number of partiles."""
    frequency = np.sort(np.asarray(table, dtype=np.float64).sum(axis=1))[::-1]
    frequency = frequency[frequency > 0]
    N = _settled(float(frequency.sum()))
    if N < 2:
        return []
    last = math.floor(math.log2(N))
    if 2**last >= N:
        last -= 1
    sizes = [int(partiles(frequency, g).max()) + 1 for g in range(1, last + 1)]
    explored: list[tuple[int, int]] = []
    previous = 0
    for g, V in enumerate(sizes, start=1):
        end = sizes[-1] == V
        if end or (1.5 * previous <= V and sizes[-1] >= 1.5 * V):
            explored.append((g, V))
            previous = V
        if end:
            break
    return explored


def plain_code(n_partiles: int, n_groups: int) -> float:
    """Code of the groups without a garbage group, head and granularity left out."""
    return integer_code(n_groups - 1, n_partiles - 1) + log_partition_count(
        n_partiles, n_groups
    )


def garbage_code(n_partiles: int, n_groups: int, held: int) -> float:
    """Code of the groups when one of them is garbage and holds ``held`` partiles."""
    outside, others = n_partiles - held, n_groups - 1
    return (
        integer_code(outside - 1, n_partiles - 2)
        + outside * math.log(n_partiles)
        - math.lgamma(outside + 1)
        + integer_code(others - 1, outside - 1)
        + log_partition_count(outside, others)
    )


def null_grouping_cost(table: Any, *, criterion: str = "khiops") -> PartitionCost:
    """Cost of a single group."""
    counts = np.asarray(table, dtype=np.float64)
    preparation, data = rows_cost(counts.sum(axis=0, keepdims=True))
    if criterion == "classical":
        values = int((counts.sum(axis=1) > 0).sum())
        return PartitionCost(0.0, preparation + math.log(max(values, 1)), data)
    return PartitionCost(math.log(2), preparation, data)


def grouping_cost(
    table: Any,
    group: Any,
    *,
    granularity: int,
    garbage: bool | None = None,
    attribute_cost: float = 0.0,
    criterion: str = "khiops",
) -> PartitionCost:
    """Cost of given groups of values.

    Parameters
    ----------
    table : array-like of shape (n_values, n_classes)
        Counts of each value and class.
    group : array-like of shape (n_values,)
        Group of each value, from 0. Groups of values that were all unseen do not count.
    granularity : int
        Granularity that is coded. Partiles are those of the first explored granularity
        from there on: lowering a granularity changes its code only.
    garbage : bool or None, default=None
        Whether the group with most partiles is coded as garbage; None takes the cheaper
        code.
    attribute_cost, criterion
        As for ``group_values``.

    Raises
    ------
    ValueError
        If the groups separate values of one partile.
    """
    counts = np.asarray(table, dtype=np.float64)
    frequency = counts.sum(axis=1)
    order = np.argsort(-frequency, kind="stable")
    order = order[frequency[order] > 0]
    _, label = np.unique(np.asarray(group)[order], return_inverse=True)
    n_groups = int(label.max()) + 1 if len(label) else 1
    if n_groups < 2:
        return null_grouping_cost(counts, criterion=criterion)
    held = np.zeros((n_groups, counts.shape[1]))
    np.add.at(held, label, counts[order])
    preparation, data = rows_cost(held)
    if criterion == "classical":
        V = len(order)
        code = math.log(V) + log_partition_count(V, n_groups)
        return PartitionCost(0.0, code + preparation, data)
    explored = [g for g, _ in explored_granularities(counts) if g >= granularity]
    partile = partiles(frequency[order], explored[0])
    V = int(partile.max()) + 1
    of_partile = np.full(V, -1)
    of_partile[partile] = label
    if (of_partile[partile] != label).any():
        raise ValueError(
            f"Values of one partile of granularity {explored[0]} must share a group."
        )
    most = int(np.bincount(of_partile).max())
    N = _settled(float(frequency.sum()))
    code = integer_code(granularity, max(1, math.ceil(math.log2(N))))
    code += math.log(2) if V > 7 else 0.0
    choices = []
    if garbage is not True:
        choices.append(plain_code(V, n_groups))
    if garbage is not False and V >= 7 and n_groups >= 3:
        choices.append(garbage_code(V, n_groups, most))
    return PartitionCost(
        math.log(2) + attribute_cost, code + min(choices) + preparation, data
    )
