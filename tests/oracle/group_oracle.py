"""The best groups of a few values by enumeration: every partition, every garbage group.

Written from the formulas alone, with integers wherever they are integers; nothing is
shared with the package.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np


@cache
def log2_star(n: int) -> float:
    total, term = 0.0, math.log2(n)
    while term > 0:
        total += term
        term = math.log2(term)
    return total


@cache
def integer_code(n: int, largest: int) -> float:
    assert 1 <= n <= largest
    c0 = math.fsum(2.0 ** -log2_star(i) for i in range(1, largest + 1))
    return log2_star(n) * math.log(2) + math.log(c0)


@cache
def stirling(n: int, k: int) -> int:
    if n == 0 or k == 0:
        return int(n == k)
    return k * stirling(n - 1, k) + stirling(n - 1, k - 1)


@cache
def log_partitions(items: int, groups: int) -> float:
    return math.log(sum(stirling(items, k) for k in range(1, groups + 1)))


def log_factorial(n: float) -> float:
    return math.lgamma(n + 1)


def group_rows(counts: np.ndarray) -> float:
    """rows_prep + rows_data of one group."""
    n, J = float(counts.sum()), len(counts)
    prep = log_factorial(n + J - 1) - log_factorial(J - 1) - log_factorial(n)
    return prep + log_factorial(n) - sum(log_factorial(float(c)) for c in counts)


@cache
def set_partitions(n: int) -> tuple[tuple[int, ...], ...]:
    """Every partition of n items, each a tuple of bit masks."""
    if n == 0:
        return ((),)
    bit = 1 << (n - 1)
    found = []
    for blocks in set_partitions(n - 1):
        found.append((*blocks, bit))
        for i, block in enumerate(blocks):
            found.append((*blocks[:i], block | bit, *blocks[i + 1 :]))
    return tuple(found)


def partile_tables(table: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """(g, table of partiles) of every explored granularity of a whole-number table."""
    table = table[table.sum(axis=1) > 0]
    table = table[np.argsort(-table.sum(axis=1), kind="stable")]
    frequency = [int(f) for f in table.sum(axis=1)]
    N = sum(frequency)

    def at(g):
        least = -(-N // 2**g)
        own = sum(f >= least for f in frequency)
        parts = list(table[:own])
        if own < len(table):
            parts.append(table[own:].sum(axis=0))
        return np.array(parts)

    visited = [g for g in range(1, N.bit_length()) if 2**g < N]
    if not visited:
        return []
    twice = sum(f >= 2 for f in frequency)
    M = twice + (1 if twice < len(frequency) else 0)
    explored, previous = [], 0
    for g in visited:
        V = len(at(g))
        end = M == V or g == visited[-1]
        if end or (1.5 * previous <= V and 1.5 * V <= M):
            explored.append((g, at(g)))
            previous = V
        if end:
            break
    return explored


def best_at(parts: np.ndarray, head: float, classical: bool) -> float:
    """Least cost of at least two groups of these partiles."""
    V = len(parts)
    masks = [
        group_rows(sum((parts[i] for i in range(V) if s >> i & 1), parts[0] * 0))
        for s in range(1 << V)
    ]
    best = math.inf
    for blocks in set_partitions(V):
        groups = len(blocks)
        if groups < 2:
            continue
        rows = sum(masks[block] for block in blocks)
        prior = log_partitions(V, groups)
        if not classical:
            prior += integer_code(groups - 1, V - 1)
            if V >= 7 and groups >= 3:
                held = max(block.bit_count() for block in blocks)
                outside = V - held
                garbage = (
                    integer_code(outside - 1, V - 2)
                    + outside * math.log(V)
                    - log_factorial(outside)
                    + integer_code(groups - 2, outside - 1)
                    + log_partitions(outside, groups - 1)
                )
                prior = min(prior, garbage)
        best = min(best, rows + prior)
    return best + head


def best_cost(
    table: np.ndarray, attribute_cost: float = 0.0, criterion: str = "khiops"
) -> tuple[float, float]:
    """Least cost before a granularity is lowered, one group included; null cost."""
    table = np.asarray(table)
    seen = table[table.sum(axis=1) > 0]
    rows = group_rows(seen.sum(axis=0))
    if criterion == "classical":
        head = math.log(len(seen))
        best = best_at(seen, head, True) if len(seen) > 1 else math.inf
        return min(best, head + rows), head + rows
    N = int(seen.sum())
    null = math.log(2) + rows
    best = null
    for g, parts in partile_tables(table):
        V = len(parts)
        if V < 2:
            continue
        head = math.log(2) + attribute_cost + integer_code(g, math.ceil(math.log2(N)))
        head += math.log(2) if V > 7 else 0.0
        best = min(best, best_at(parts, head, False))
    return best, null


def cost_before_lowering(table: np.ndarray, found) -> float:
    """Cost of a grouping at the granularity that was explored.

    Lowering comes after the choice among the explored ones, so it is this cost that the
    enumeration can bound.
    """
    if found.granularity == 0:
        return found.cost.total
    table = np.asarray(table)
    top = math.ceil(math.log2(int(table.sum())))
    explored = min(g for g, _ in partile_tables(table) if g >= found.granularity)
    lowered = integer_code(explored, top) - integer_code(found.granularity, top)
    return found.cost.total + lowered
