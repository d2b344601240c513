"""The optimum by enumeration of every support: slow, plain, and beyond doubt."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.special import xlogy


def null_value(counts: np.ndarray) -> float:
    """C of the specification: log-likelihood without any feature."""
    totals = counts.sum(axis=0)
    return float(xlogy(totals, totals).sum() - xlogy(totals.sum(), totals.sum()))


def support_gain(counts: np.ndarray, support: tuple[int, ...]) -> float:
    """F(T) - C from the likelihood itself, with the closed-form parameters."""
    inside = counts[:, list(support)]
    sums = inside.sum(axis=1, keepdims=True)
    totals = inside.sum(axis=0)
    # theta inside T is B/S * f_ci/B_c; against theta_i = G_i/S of the null model.
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = inside * sums.sum() / (sums * totals)
    return float(xlogy(inside, np.where(inside > 0, ratio, 1.0)).sum())


def best_support(
    counts: np.ndarray, k: int, candidates: np.ndarray | None = None
) -> tuple[float, tuple[int, ...]]:
    """phi(k) - C over all supports of size k among the candidates."""
    if candidates is None:
        candidates = np.arange(counts.shape[1])
    k = min(k, len(candidates))
    return max(
        ((support_gain(counts, s), s) for s in combinations(candidates.tolist(), k)),
        key=lambda pair: pair[0],
    )
