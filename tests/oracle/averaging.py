"""Averages over partitions by listing every one of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations, pairwise

import numpy as np
from scipy.special import gammaln

Part = tuple[int, ...]


def log_likelihood(counts: np.ndarray, alpha: np.ndarray) -> float:
    """Dirichlet-multinomial probability of the labels of one part, in order."""
    n, total = counts.sum(), alpha.sum()
    return float(
        gammaln(total)
        - gammaln(n + total)
        + (gammaln(counts + alpha) - gammaln(alpha)).sum()
    )


def interval_partitions(bins: int) -> Iterator[list[Part]]:
    """Every way to cut bins 0, 1, ... into intervals."""
    for size in range(bins):
        for cuts in combinations(range(1, bins), size):
            ends = [0, *cuts, bins]
            yield [tuple(range(a, b)) for a, b in pairwise(ends)]


def set_partitions(values: int) -> Iterator[list[Part]]:
    """Every grouping of values 0, 1, ..."""
    if values == 0:
        yield []
        return
    last = values - 1
    for groups in set_partitions(last):
        for place, group in enumerate(groups):
            yield [*groups[:place], (*group, last), *groups[place + 1 :]]
        yield [*groups, (last,)]


def halvings(box: tuple[tuple[int, int], ...]) -> list[tuple[float, list]]:
    """Every way to go on with a box: probability and the boxes left whole."""

    @cache
    def ways(box: tuple[tuple[int, int], ...]) -> tuple:
        axes = [d for d, (low, high) in enumerate(box) if high - low > 1]
        if not axes:
            return ((1.0, (box,)),)
        found = [(0.5, (box,))]
        for axis in axes:
            low, high = box[axis]
            middle = (low + high) // 2
            left = (*box[:axis], (low, middle), *box[axis + 1 :])
            right = (*box[:axis], (middle, high), *box[axis + 1 :])
            found += [
                (0.5 / len(axes) * p * q, a + b)
                for p, a in ways(left)
                for q, b in ways(right)
            ]
        return tuple(found)

    return [(p, list(parts)) for p, parts in ways(box)]


def cells_of(box: tuple[tuple[int, int], ...], sizes: Sequence[int]) -> Part:
    """Cells of a box, numbered with the last axis running fastest."""
    inside = np.zeros(sizes, dtype=bool)
    inside[tuple(slice(low, high) for low, high in box)] = True
    return tuple(np.flatnonzero(inside).tolist())


def average(
    table: np.ndarray,
    alpha: np.ndarray,
    partitions: Sequence[tuple[float, list[Part]]],
) -> tuple[float, np.ndarray, np.ndarray]:
    """Evidence, means and deviations from partitions and their log-priors."""
    logs, means, squares = [], [], []
    known: dict[Part, tuple[float, np.ndarray, np.ndarray]] = {}
    for log_prior, parts in partitions:
        value = log_prior
        mean, square = np.zeros(table.shape), np.zeros(table.shape)
        for part in parts:
            if part not in known:
                counts = table[list(part)].sum(axis=0)
                m, n = counts + alpha, counts.sum() + alpha.sum()
                moments = m / n, m * (m + 1) / (n * (n + 1))
                known[part] = (log_likelihood(counts, alpha), *moments)
            own, first, second = known[part]
            value += own
            mean[part, :], square[part, :] = first, second
        logs.append(value)
        means.append(mean)
        squares.append(square)
    top = max(logs)
    weight = np.exp(np.array(logs) - top)
    evidence = top + math.log(weight.sum())
    weight /= weight.sum()
    mean = np.tensordot(weight, means, 1)
    square = np.tensordot(weight, squares, 1)
    return evidence, mean, np.sqrt(np.maximum(square - mean**2, 0.0))


def left_out(
    table: np.ndarray, mean_of: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Means of each cell without one of its rows, by doing without it."""
    cells, classes = table.shape
    found = np.empty((cells, classes, classes))
    for cell in range(cells):
        for label in range(classes):
            without = table.copy()
            without[cell, label] -= min(1.0, table[cell, label])
            found[cell, label] = mean_of(without)[cell]
    return found.reshape(-1, classes)
