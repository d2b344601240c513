"""The k largest values; of equal ones, those of lowest position."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesieve.solvers._logs import Floats

__all__ = ["top_k"]

_LARGE = 1 << 16


def top_k(values: Floats, k: int) -> tuple[NDArray[np.int64], float, float]:
    """Positions of the k largest values, the k-th and the (k+1)-th largest value.

    Among equal values the lowest positions win, so the answer does not depend on how a
    partition happens to order them. Positions come in increasing order. With
    ``k == len(values)`` there is no next value: minus infinity.
    """
    n = values.shape[0]
    if k <= 0:
        largest = float(values.max()) if n else -np.inf
        return np.empty(0, dtype=np.int64), np.inf, largest
    if k >= n:
        return np.arange(n), float(values.min()) if n else np.inf, -np.inf
    if n > _LARGE and k < n // 16:
        # Nearly all values are too small to matter. The (k+1)-th largest of a sample is
        # at most that of all values, so none that matters lies below it.
        sample = values[:: n // (16 * k + 4096) or 1]
        floor = np.partition(sample, sample.shape[0] - k - 1)[sample.shape[0] - k - 1]
        kept = np.flatnonzero(values >= floor)
        if kept.shape[0] < n // 2:
            inside, kth, following = top_k(values[kept], k)
            return kept[inside], kth, following
    pivots = np.partition(values, (n - k - 1, n - k))
    following, kth = float(pivots[n - k - 1]), float(pivots[n - k])
    if following < kth:
        return np.flatnonzero(values >= kth), kth, following
    above = np.flatnonzero(values > kth)
    ties = np.flatnonzero(values == kth)[: k - above.shape[0]]
    return np.sort(np.concatenate([above, ties])), kth, following
