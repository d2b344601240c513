"""The bound on every k weighted columns: ``max over lambda of min over w``.

``NLL(w) + lambda (sum w - k)`` is at most the NLL wherever no more than k weights of
[0, 1] are above zero. Its minimum over the box is a convex problem as any other of the
path; the largest over lambda is where the weights add up to k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bayesieve.weights._dual_point import DualPoint
from bayesieve.weights._sparse_newton import SparseNewton, WeightState
from bayesieve.weights._terms import Array

__all__ = ["Relaxation", "relax"]

#: How fast the sum of the weights grows as the penalty falls, on a doubly logarithmic
#: scale, on texts; only the number of steps depends on it.
_USUAL_RATE = 1.2
_LEAST_SHARE = 1e-6  # of the first penalty: below it there is none


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The best bound found, and where.

    Attributes
    ----------
    bound : float
        Proven: no choice of columns brings the NLL below it.
    dual : DualPoint
        Of the free columns; those that must be in are part of its base.
    state : WeightState
    penalty : float
    """

    bound: float
    dual: DualPoint
    state: WeightState
    penalty: float


def relax(
    newton: SparseNewton,
    k: int,
    penalty: float,
    *,
    tol: float,
    rounds: int,
    near: float,
    free: Array | None = None,
    inside: Array | None = None,
    enough: float = math.inf,
    found: list[Relaxation] | None = None,
) -> Relaxation:
    """Search the penalty whose weights add up to k, from where the solver stands.

    Parameters
    ----------
    newton : SparseNewton
        Its state has no weight but those of `free` and `inside`.
    k : int
        Weights of the free columns that may be above zero.
    penalty : float
        The first one.
    tol : float
        Gap in nats at which each problem is solved; what is left lowers the bound.
    rounds : int
        Most problems.
    near : float
        How near to k, as a share of it, the sum must come.
    free, inside : ndarray of int64, optional
        Columns that may be in, all unless given, and that are in at no penalty.
    enough : float
        A bound that ends the search.
    found : list, optional
        Gets each new best as soon as there is one.
    """
    inside = np.arange(0) if inside is None else inside
    columns = None if free is None else np.sort(np.concatenate([free, inside]))
    free = np.arange(newton.problem.n_terms) if free is None else free
    slope = np.zeros(newton.problem.n_terms)
    best: Relaxation | None = None
    below: tuple[float, float] | None = None  # (log penalty, log sum / k): too few
    above: tuple[float, float] | None = None
    least = _LEAST_SHARE * penalty
    for _ in range(rounds):
        slope[free] = penalty
        newton.minimise(slope, tol, columns)
        here = _relaxation(newton, k, penalty, free, inside)
        if best is None or here.bound > best.bound:
            best = here
            if found is not None:
                found.append(here)
        share = float(newton.state.weights[free].sum()) / k
        if best.bound >= enough or abs(share - 1.0) <= near or penalty == 0.0:
            break
        place = math.log(penalty), math.log(max(share, 0.02))
        if share < 1.0:
            step = _USUAL_RATE if below is None else _rate(below, place)
            below = place
        else:
            step = _USUAL_RATE if above is None else _rate(above, place)
            above = place
        penalty = _next(place, below, above, step)
        if penalty < least:
            penalty = 0.0
    assert best is not None
    return best


def _relaxation(
    newton: SparseNewton, k: int, penalty: float, free: Array, inside: Array
) -> Relaxation:
    both = newton.dual_point(np.concatenate([free, inside]))
    own = float(both.slope[free.size :].sum())
    dual = DualPoint(both.base + own, both.slope[: free.size], both.rounding)
    return Relaxation(dual.least(k), dual, newton.state, penalty)


def _rate(before: tuple[float, float], here: tuple[float, float]) -> float:
    """How fast the sum grew between two penalties, within reason."""
    run = before[0] - here[0]
    rate = (here[1] - before[1]) / run if run else _USUAL_RATE
    return min(max(rate, 0.2), 5.0)


def _next(
    here: tuple[float, float],
    below: tuple[float, float] | None,
    above: tuple[float, float] | None,
    rate: float,
) -> float:
    """Penalty at which the weights are likely to add up to k."""
    if below is not None and above is not None:
        share = -below[1] / max(above[1] - below[1], 1e-12)
        share = min(max(share, 0.1), 0.9)
        return math.exp(below[0] + share * (above[0] - below[0]))
    return math.exp(here[0] + min(max(here[1] / rate, -2.5), 2.5))
