"""Logarithms of counts, in one place: zero counts are handled by the formula.

Gains are sums of `divergence`, whose terms are never negative: differences of
``x log x`` would lose a gain that is small beside its counts. The compiled kernels
share it (``_core/divergence.h``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesieve import _core

Floats = NDArray[np.float64]

__all__ = ["ROUNDING_UNITS", "UNIT", "Floats", "divergence", "log_or_zero", "log_ratio"]

#: Half a unit in the last place of 1: the largest relative error of one operation.
UNIT = float(np.finfo(np.float64).eps) / 2
#: A sum of divergences errs by so many units of itself and of all ``|counts -
#: expected|`` (and by one more for each term), the rounding of its arguments included.
ROUNDING_UNITS = 16.0


def divergence(counts: ArrayLike, expected: ArrayLike) -> Floats:
    """``counts log(counts / expected) - counts + expected``, never negative.

    Where counts and expected have equal sums, as over the classes of a column, the last
    two terms add up to nothing. 0 where nothing is expected: there is no count either.
    """
    pair = np.broadcast_arrays(
        np.asarray(counts, np.float64), np.asarray(expected, np.float64)
    )
    flat = [np.ascontiguousarray(one).ravel() for one in pair]
    result: Floats = _core.divergence(*flat).reshape(pair[0].shape)
    return result


def log_or_zero(shares: Floats) -> Floats:
    """``log p`` where p is positive, 0 elsewhere.

    A share of zero belongs to a class without any count, so its logarithm is only ever
    multiplied by zero.
    """
    positive = shares > 0
    return np.log(shares, out=np.zeros_like(shares), where=positive)


def log_ratio(shares: Floats, anchor: Floats) -> Floats:
    """``log(p / anchor)`` to full relative accuracy near 0; 0 where one is zero."""
    if not (shares.min() > 0 and anchor.min() > 0):
        both = (shares > 0) & (anchor > 0)
        shares, anchor = np.where(both, shares, 1.0), np.where(both, anchor, 1.0)
    moved = (shares - anchor) / anchor
    if moved.max() < 0.5 and moved.min() > -0.5:
        return np.log1p(moved)
    near = np.abs(moved) < 0.5
    return np.where(near, np.log1p(np.where(near, moved, 0.0)), np.log(shares / anchor))
