"""Two ways to choose k from a path: the elbow and BIC."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayesieve.solvers._logs import Floats

__all__ = [
    "MOST_DEFAULT",
    "default_sizes",
    "elbow_position",
    "largest_advised_size",
    "multinomial_bic",
]


#: The largest size of a path that is not told its sizes.
MOST_DEFAULT = 10_000


def default_sizes(n_features: int, *, smallest: int) -> NDArray[np.int64]:
    """About 50 sizes, geometric from the smallest to min(n_features, 10,000)."""
    largest = max(min(n_features, MOST_DEFAULT), 1)
    smallest = min(smallest, largest)
    return np.unique(np.round(np.geomspace(smallest, largest, 50)).astype(np.int64))


def elbow_position(k: NDArray[np.int64], objective: Floats) -> int:
    """Position farthest above the chord of the path, both axes scaled to [0, 1]."""
    rise = float(objective[-1] - objective[0])
    run = float(k[-1] - k[0])
    if rise <= 0 or run <= 0:
        return 0
    height = (objective - objective[0]) / rise - (k - k[0]) / run
    return int(np.argmax(height))


def largest_advised_size(n_rows: float) -> int:
    """The largest k that elbow or BIC may advise after so many rows, at least 1.

    Half the rows. Both look at the rows that chose the features: among many thousand
    columns and few rows noise alone fits, every further column gains, and the elbow of
    that curve lies where the grid ends. BIC's penalty in turn is the first term of an
    expansion for rows that outnumber the parameters; each feature has at least one, and
    with fewer than two rows for each its remainder is as large as the penalty itself.
    Sizes above are still shown, but by no means recommended.
    """
    return max(int(n_rows // 2), 1)


def multinomial_bic(
    k: NDArray[np.int64], gain: Floats, n_classes: int, n_rows: float
) -> Floats:
    """``-2 (phi(k) - C) + (K-1)(k-1) log n``: k features differ in k-1 free shares."""
    penalty = (n_classes - 1) * (k - 1) * math.log(max(n_rows, 1.0))
    bic: Floats = -2.0 * gain + penalty
    return bic
