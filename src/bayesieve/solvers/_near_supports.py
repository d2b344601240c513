"""Every choice of items above a level in order, and how many there are at most."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bayesieve import _core
from bayesieve.solvers._branch import Limits, Node, children, reduced
from bayesieve.solvers._dual import Relaxation, relax
from bayesieve.solvers._logs import Floats

__all__ = ["count_choices", "supports_above"]

Indices = NDArray[np.int64]

#: Bins of the losses when supports are counted.
_BINS = 2000
#: Features looked at when supports are counted; of more the number is not bounded.
_MOST_COUNTED = 20_000


def supports_above(
    root: Relaxation, k: int, level: float, limits: Limits
) -> Iterator[tuple[Indices, float]]:
    """Items of every choice whose gain reaches the level, by falling gain.

    The block of the root must hold every item that is part of one. Ends early, with
    `TimeoutError`, when a limit is reached.
    """
    order = itertools.count()
    heap: list[tuple[float, int, Node | None, Indices | None]] = []

    def push(relaxation: Relaxation, groups: Indices, size: int) -> None:
        if not relaxation.has_choice:
            block, best = relaxation.block, relaxation.best
            assert best is not None
            if relaxation.best_gain >= level:
                columns = np.concatenate([block.chosen, block.columns[best]])
                entry = (-relaxation.best_gain, next(order), None, np.sort(columns))
                heapq.heappush(heap, entry)
            return
        if relaxation.upper < level:
            return
        node = reduced(Node(groups, size, relaxation), level)
        if node is not None:
            heapq.heappush(heap, (-relaxation.upper, next(order), node, None))

    # Every candidate is its own: equal columns make different supports.
    push(root, np.arange(len(root.block)), k)
    nodes = 1
    while heap:
        value, _, node, columns = heapq.heappop(heap)
        if node is None:
            assert columns is not None
            yield columns, -value
            continue
        for block, groups, size in children(node):
            if limits.reached(nodes):
                raise TimeoutError
            assert node.relaxation.shares is not None
            try:
                with limits.in_kernels():
                    relaxation = relax(
                        block, size, node.relaxation.shares, good_enough=level
                    )
            except _core.TimeLimitReached:
                raise TimeoutError from None
            nodes += 1
            push(relaxation, groups, size)


def count_choices(losses_in: Floats, losses_out: Floats, most: float) -> float:
    """At most so many ways to exchange items for a total loss within ``most``.

    Losses are rounded down to bins, sums of them counted: no way is missed.
    """
    a, b = (np.sort(one[one <= most]) for one in (losses_in, losses_out))
    if a.shape[0] + b.shape[0] > _MOST_COUNTED:
        return math.inf
    most = max(most, np.finfo(np.float64).tiny)
    deepest = min(a.shape[0], b.shape[0])
    both = np.cumsum(a[:deepest] + b[:deepest])
    deepest = int(np.searchsorted(both, most, side="right"))
    if not deepest:
        return 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        left, right = (_ways(one, most, deepest) for one in (a, b))
        # Pairs of sums that stay within the bins.
        total = np.cumsum(right, axis=1)[:, ::-1]
        counted = float((left * total).sum())
    return math.inf if math.isnan(counted) else counted


def _ways(losses: Floats, most: float, deepest: int) -> Floats:
    """Number of subsets by size (up to the deepest) and by their sum in bins."""
    ways = np.zeros((deepest + 1, _BINS + 1))
    ways[0, 0] = 1.0
    for steps in np.floor(losses / most * _BINS * (1 - 1e-12)).astype(np.int64):
        ways[1:, steps:] += ways[:-1, : _BINS + 1 - steps].copy()
    return ways
