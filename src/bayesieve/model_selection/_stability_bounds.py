"""How many features with a small chance of selection get past a cutoff.

A feature has *low selection probability* when half of the rows select it with a chance
of at most theta = q / m, where q features of m are selected on average: no more often
than by drawing q of them at random. The bounds are those of R. D. Shah and R. J.
Samworth, "Variable selection with error control: another look at stability selection"
(2013), on the expected number of such features whose frequency over B complementary
pairs of halves reaches a cutoff tau.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq, minimize_scalar

__all__ = ["ASSUMPTIONS", "error_bound"]

ASSUMPTIONS = ("none", "unimodal", "r-concave")


def error_bound(
    n_selected: float,
    n_features: int,
    cutoff: float,
    n_pairs: int,
    assumption: str = "none",
) -> float:
    """Bound the expected number of features of low probability that are selected.

    `n_selected` is the mean number of features that a half selects, and `cutoff`
    above 1/2. Frequencies are multiples of 1 / (2 B), so the next one counts.
    """
    steps = math.ceil(round(2 * n_pairs * cutoff, 9))
    tau, theta = steps / (2 * n_pairs), n_selected / n_features
    worst = theta * n_selected / (2 * tau - 1)
    if assumption == "unimodal":
        return min(worst, theta * n_selected * _unimodal_factor(theta, tau, n_pairs))
    if assumption == "r-concave":
        share = min(
            _concave_tail(theta**2, steps - n_pairs, n_pairs, -1 / 2),
            _concave_tail(theta, steps, 2 * n_pairs, -1 / 4),
        )
        return min(worst, share * n_features)
    return worst


def _unimodal_factor(theta: float, tau: float, n_pairs: int) -> float:
    """C(tau, B) of theorem 2; infinite where it says nothing."""
    half_step = 1 / (2 * n_pairs)
    if theta > 1 / math.sqrt(3):
        return math.inf
    if tau > 3 / 4:
        return 4 * (1 - tau + half_step) / (1 + 2 * half_step)
    least = min(1 / 2 + theta**2, 1 / 2 + half_step + 3 / 4 * theta**2)
    if tau <= max(least, 1 / 2 + half_step):
        return math.inf
    return 1 / (2 * (2 * tau - 1 - half_step))


@lru_cache(maxsize=256)
def _concave_tail(mean: float, least: int, n: int, r: float) -> float:
    """Largest P(X >= least / n) of an r-concave X on {0, 1/n, ..., 1} of such a mean.

    The extremes are proportional to (a + i)^(1/r) for i <= k, with what is left over on
    k + 1 so that the mean is met (section 3.3). For each k that part is between nothing
    and its full share for `a` between two roots, and the tail is maximised there.
    """
    goal = mean * n
    first = math.ceil(round(2 * goal, 9)) + 1
    if least < first:
        return 1.0
    if first > n:  # the mean is too large for any of them
        return 1.0
    places = np.arange(n + 2, dtype=np.float64)

    def shares(a: float, k: int) -> np.ndarray:
        return np.asarray(((a + places[: k + 1]) / a) ** (1 / r))

    def excess(log_a: float, k: int) -> float:
        share = shares(math.exp(log_a), k)
        return float(places[: k + 1] @ share / share.sum()) - goal

    def miss(log_a: float, k: int) -> float:
        share = shares(math.exp(log_a), k)
        whole = float((k + 1 - places[: k + 1]) @ share)
        return (k + 1 - goal) * float(share[:least].sum()) / whole - 1.0

    # Flat shares have the mean k / 2 > goal, steep ones a mean near 0.
    low, high = math.log(1e-12), math.log(1e9)
    roots = {k: brentq(excess, low, high, args=(k,)) for k in range(first, n + 1)}
    best = -miss(roots[n], n)
    for k in range(max(first, least - 1), n):
        span = (roots[k + 1], roots[k])
        found = minimize_scalar(miss, bounds=span, args=(k,), method="bounded")
        best = max(best, -float(found.fun), -miss(roots[k], k))
    return min(1.0, best)
