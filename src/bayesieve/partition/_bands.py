"""Bands around class probabilities whose posterior mean and deviation are known."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

__all__ = ["beta_band"]


def beta_band(
    means: np.ndarray, deviations: np.ndarray, coverage: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Limits between which probabilities lie with a posterior probability.

    The posterior of a class probability is a mixture of Beta distributions, one for
    each part that may hold the bin. Here it is taken as the one Beta distribution of
    the same mean and deviation, and its quantiles are the limits.

    Parameters
    ----------
    means, deviations : ndarray
        Of any shape; means within (0, 1).
    coverage : float, default=0.95

    Returns
    -------
    low, high : ndarray
        Of the same shape. Where the deviation is zero, or as large as that of a coin
        which always falls on one side, the mean and the whole of [0, 1].
    """
    spread = means * (1.0 - means)
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = spread / deviations**2 - 1.0
    certain = ~np.isfinite(rows)
    rows = np.where(certain, 1.0, np.maximum(rows, 1e-6))
    tail = 0.5 * (1.0 - coverage)
    low, high = (
        np.where(certain, means, betaincinv(means * rows, (1.0 - means) * rows, share))
        for share in (tail, 1.0 - tail)
    )
    return low, high
