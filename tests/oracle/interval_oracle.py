"""Discretization in plain Python: the criterion, its grids and a dynamic programme.

Written from the formulas, with nothing of the library, and as slowly as they read.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

LN2 = math.log(2.0)


def lf(n: float) -> float:
    return math.lgamma(n + 1.0)


def log2_star(n: float) -> float:
    total, term = 0.0, math.log2(n)
    while term > 0.0:
        total, term = total + term, math.log2(term)
    return total


@cache
def c0(largest: int) -> float:
    return math.fsum(2.0 ** -log2_star(i) for i in range(1, largest + 1))


def integer_code(n: int, largest: float) -> float:
    return log2_star(n) * LN2 + math.log(c0(int(largest)))


def finest(n_rows: float) -> int:
    return max(1, math.ceil(math.log2(n_rows)))


def partition_part(n_rows, n_parts, g, attribute_cost, criterion):
    """Everything but the two row terms."""
    if criterion == "classical":
        cuts = n_parts - 1
        at_least_one = max(n_rows, 1.0)
        return math.log(at_least_one) + lf(n_rows + cuts) - lf(cuts) - lf(n_rows)
    if n_parts == 1:
        return LN2
    grid = min(2.0**g, n_rows)
    if n_parts > grid:
        return math.inf
    cuts = n_parts - 1
    return (
        LN2
        + attribute_cost
        + integer_code(g, finest(n_rows))
        + integer_code(cuts, grid - 1)
        + cuts * math.log(grid - 1)
        - lf(cuts)
    )


def row_terms(counts) -> float:
    """rows_prep + rows_data of one part."""
    counts = [float(c) for c in counts]
    extra = len(counts) - 1
    return lf(sum(counts) + extra) - lf(extra) - sum(map(lf, counts))


def grid_ends(table: np.ndarray, g: int) -> list[int]:
    """Exclusive ends, in rows, of the parts of granularity g."""
    below = [0.0, *np.cumsum(table.sum(axis=1)).tolist()]
    n_rows, n_values, parts = below[-1], len(table), 2**g
    if parts >= n_rows:
        return list(range(1, n_values + 1))
    whole = bool((table == np.floor(table)).all())
    ends: set[int] = set()
    for q in range(parts):
        target = n_rows * (q + 1) / parts + (-1e-10 if q < parts / 2 else 1e-10)
        reach = math.floor(target + 0.5) if whole else target
        v = next((v for v in range(n_values) if below[v + 1] >= reach), n_values - 1)
        nearer = abs(target - below[v]) <= abs(below[v + 1] - target)
        ends.add(v if nearer else v + 1)
    return sorted((ends - {0}) | {n_values})


def explored(table: np.ndarray) -> list[int]:
    """Granularities worth a look."""
    n_values, found, before = len(table), [], 0
    for g in range(1, finest(table.sum()) + 1):
        parts = len(grid_ends(table, g))
        if parts == n_values:
            return [*found, g]
        if parts >= 1.5 * before and 1.5 * parts <= n_values:
            found.append(g)
        before = parts
    return found


def partition_total(table, ends, g, attribute_cost=0.0, criterion="khiops") -> float:
    starts = [0, *ends[:-1]]
    return partition_part(
        table.sum(), len(ends), g, attribute_cost, criterion
    ) + math.fsum(
        row_terms(table[a:b].sum(axis=0)) for a, b in zip(starts, ends, strict=True)
    )


def best_on_grid(table, ends, g, attribute_cost, criterion):
    """Least cost of a partition whose cuts are among ``ends``, and its ends."""
    bounds, m = [0, *ends], len(ends)
    cost = np.full((m + 1, m + 1), math.inf)
    for i in range(m):
        for k in range(i + 1, m + 1):
            cost[i, k] = row_terms(table[bounds[i] : bounds[k]].sum(axis=0))
    layer, back = [np.full(m + 1, math.inf)], []
    layer[0][0] = 0.0
    for _ in range(m):
        ways = layer[-1][:, None] + cost
        back.append(ways.argmin(axis=0))
        layer.append(ways.min(axis=0))
    totals = [
        layer[i][m] + partition_part(table.sum(), i, g, attribute_cost, criterion)
        for i in range(1, m + 1)
    ]
    n_parts = int(np.argmin(totals)) + 1
    found, k = [], m
    for i in range(n_parts, 0, -1):
        found.append(bounds[k])
        k = int(back[i - 1][k])
    return totals[n_parts - 1], found[::-1]


def best_total(table, attribute_cost=0.0, criterion="khiops"):
    """Least cost over the explored grids, before the grid of the winner is lowered."""
    table = np.asarray(table, dtype=float)
    table = table[table.sum(axis=1) > 0]
    one = partition_total(table, [len(table)], 1, attribute_cost, criterion)
    if len(table) < 2 or table.shape[1] < 2 or table.sum() < 2:
        return one, [len(table)]
    if criterion == "classical":
        ends = list(range(1, len(table) + 1))
        return best_on_grid(table, ends, 1, attribute_cost, criterion)
    best = one, [len(table)]
    for g in explored(table):
        ends = grid_ends(table, g)
        found = best_on_grid(table, ends, g, attribute_cost, criterion)
        if found[0] < best[0] - 1e-6:
            best = found
    return best


def reached_total(table, ends, attribute_cost=0.0, criterion="khiops") -> float:
    """Least cost of given intervals over the explored grids that have their cuts."""
    table = np.asarray(table, dtype=float)
    if criterion == "classical" or len(ends) == 1:
        return partition_total(table, ends, 1, attribute_cost, criterion)
    return min(
        partition_total(table, ends, g, attribute_cost, criterion)
        for g in explored(table)
        if set(ends) <= set(grid_ends(table, g))
    )


def lowered(table, ends, g) -> int:
    """The coarsest grid, down to the last but one explored, that still has the cuts."""
    grids = [0, *explored(np.asarray(table, dtype=float))]
    while g - 1 > grids[-2] and set(ends) <= set(grid_ends(table, g - 1)):
        g -= 1
    return g
