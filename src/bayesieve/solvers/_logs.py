"""Logarithms of counts, in one place: zero counts are handled by the formula."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

Floats = NDArray[np.float64]

__all__ = ["Floats", "entropy_gap", "log_or_zero", "xlogx"]


def xlogx(x: Floats) -> Floats:
    """``x log x``, continued by 0 at 0."""
    result: Floats = xlogy(x, x)
    return result


def log_or_zero(shares: Floats) -> Floats:
    """``log p`` where p is positive, 0 elsewhere.

    A share of zero belongs to a class without any count, so its logarithm is only ever
    multiplied by zero.
    """
    positive = shares > 0
    return np.log(shares, out=np.zeros_like(shares), where=positive)


def entropy_gap(sums: Floats) -> float:
    """``B log B - sum_c B_c log B_c`` with ``B = sum_c B_c``."""
    total = float(sums.sum())
    if total <= 0.0:
        return 0.0
    return -float(xlogy(sums, sums / total).sum())
