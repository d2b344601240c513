"""The optimum by enumeration of every support: slow, plain, and beyond doubt."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
from scipy.optimize import minimize
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


@cache
def _subsets(m: int) -> tuple[np.ndarray, np.ndarray]:
    """Every subset of m columns as a row of zeros and ones, and its size."""
    member = ((np.arange(2**m)[:, None] >> np.arange(m)) & 1).astype(np.float64)
    return member, member.sum(axis=1).astype(np.int64)


def column_values(counts: np.ndarray) -> np.ndarray:
    """``v_i = sum_c f_ci log(f_ci / G_i)``."""
    totals = counts.sum(axis=0)
    return xlogy(counts, counts / np.where(totals > 0, totals, 1.0)).sum(axis=0)


def best_gains(counts: np.ndarray) -> np.ndarray:
    """phi(k) - C for k = 0 .. m over all supports of all columns, at once.

    F(T) - C = sum_T v_i + B log B - sum_c B_c log B_c, over the 2**m sets T.
    """
    m = counts.shape[1]
    member, size = _subsets(m)
    sums = member @ counts.T
    total = sums.sum(axis=1)
    gains = member @ column_values(counts) + xlogy(total, total)
    gains -= xlogy(sums, sums).sum(axis=1)
    best = np.full(m + 1, -np.inf)
    np.maximum.at(best, size, gains)
    return best


def gains_at(counts: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """``h_i(p) = v_i - sum_c f_ci log p_c``, infinite where p lacks a class."""
    with np.errstate(divide="ignore"):
        log_p = np.log(shares)
    cross = np.where(counts > 0, counts * log_p[:, None], 0.0).sum(axis=0)
    return column_values(counts) - cross


def relaxation_bracket(counts: np.ndarray, k: int) -> tuple[float, float]:
    """Numbers on both sides of psi(k) - C, near each other, by a general optimiser.

    Any x in [0, 1]^m that sums to k gives ``x.v + entropy_gap(F x) <= psi``, any p
    gives ``psi <= s_k(h(p))``: the optimiser only proposes, it is never trusted.
    """
    m = counts.shape[1]
    v = column_values(counts)

    def entropy(b: np.ndarray) -> float:
        return float(xlogy(b.sum(), b.sum()) - xlogy(b, b).sum())

    def negative(x: np.ndarray) -> float:
        return -float(x @ v) - entropy(counts @ x)

    def slope(x: np.ndarray) -> np.ndarray:
        b = counts @ x
        return -gains_at(counts, b / b.sum())

    low, high = -np.inf, np.inf
    start = np.full(m, k / m)
    for _ in range(4):
        found = minimize(
            negative,
            start,
            jac=slope,
            method="SLSQP",
            bounds=[(1e-12, 1.0)] * m,
            constraints={
                "type": "eq",
                "fun": lambda x: x.sum() - k,
                "jac": np.ones_like,
            },
            options={"ftol": 1e-15, "maxiter": 500},
        )
        x = np.clip(found.x, 0.0, 1.0)
        x *= min(1.0, k / x.sum())  # feasible, whatever the optimiser left
        low = max(low, -negative(x))
        sums = counts @ x
        top = np.sort(gains_at(counts, sums / sums.sum()))[::-1][:k]
        high = min(high, float(top.sum()))
        start = np.clip(0.9 * x + 0.1 * k / m, 1e-12, 1.0)
    return low, high
