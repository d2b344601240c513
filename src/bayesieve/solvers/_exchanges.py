"""Exchanges of items by rising loss: supports of an additive model in their order.

A support of the same size as the best one lacks some of its items and has as many
others. Its loss is a sum of one number for each, so supports by falling gain are pairs
of subsets of the same size by rising sum of two sums.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bayesieve.solvers._logs import Floats

__all__ = ["exchanges"]

Subset = tuple[int, ...]


def exchanges(
    inside: Floats, outside: Floats, most: float
) -> Iterator[tuple[float, NDArray[np.int64], NDArray[np.int64]]]:
    """Pairs of as many items to leave and to join, by rising loss up to ``most``.

    Yields the loss and the places in both arrays; first of all no exchange. Losses are
    zero or more.
    """
    leave, join = (np.argsort(one, kind="stable") for one in (inside, outside))
    a, b = (one[order] for one, order in ((inside, leave), (outside, join)))
    deepest = min(a.shape[0], b.shape[0])
    sums = np.cumsum(a[:deepest] + b[:deepest])
    deepest = int(np.searchsorted(sums, most, side="right"))
    sizes = [_pairs(a.tolist(), b.tolist(), size) for size in range(deepest + 1)]
    for loss, left, right in heapq.merge(*sizes):
        if loss > most:
            return
        yield loss, leave[list(left)], join[list(right)]


def _pairs(
    a: list[float], b: list[float], size: int
) -> Iterator[tuple[float, Subset, Subset]]:
    """Pairs of subsets of one size by rising sum."""
    left, right = _Sorted(a, size), _Sorted(b, size)
    heap = [(left.sum(0) + right.sum(0), 0, 0)]
    while heap:
        total, i, j = heapq.heappop(heap)
        yield total, left[i], right[j]
        # (i, j) is reached from (i, j - 1), and (i, 0) from (i - 1, 0): once each.
        if right.has(j + 1):
            heapq.heappush(heap, (left.sum(i) + right.sum(j + 1), i, j + 1))
        if j == 0 and left.has(i + 1):
            heapq.heappush(heap, (left.sum(i + 1) + right.sum(0), i + 1, 0))


class _Sorted:
    """Subsets of one size by rising sum, as many as were asked for."""

    def __init__(self, values: list[float], size: int) -> None:
        self._source = _subsets(values, size)
        self._found: list[tuple[float, Subset]] = []

    def has(self, place: int) -> bool:
        missing = place + 1 - len(self._found)
        self._found += itertools.islice(self._source, max(missing, 0))
        return place < len(self._found)

    def sum(self, place: int) -> float:
        assert self.has(place)
        return self._found[place][0]

    def __getitem__(self, place: int) -> Subset:
        return self._found[place][1]


def _subsets(values: list[float], size: int) -> Iterator[tuple[float, Subset]]:
    """Subsets of sorted values by rising sum: each moves one of its items on by one."""
    first = tuple(range(size))
    heap = [(sum(values[:size]), first)]
    seen = {first}
    while heap:
        total, own = heapq.heappop(heap)
        yield total, own
        for j in range(size):
            after = own[j] + 1
            if after == (own[j + 1] if j + 1 < size else len(values)):
                continue
            moved = (*own[:j], after, *own[j + 1 :])
            if moved not in seen:
                seen.add(moved)
                more = total - values[own[j]] + values[after]
                heapq.heappush(heap, (more, moved))
