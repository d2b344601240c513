"""The convex optimum without the variables that hardly earn their place.

The penalty removes variables that cost more than they gain; at the optimum there still
are some that gain next to nothing, redundant ones above all. They are dropped while the
criterion rises by less than a given amount for each, the others following. Which ones
go is heuristic, what that costs is not: the value is the criterion of what is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesieve.weights._convex import Convex
from bayesieve.weights._criterion import WeightProblem, tangent_slopes
from bayesieve.weights._newton import newton
from bayesieve.weights._optimizer import NOT_NEGATIVE, POSITIVE, Optimizer, Rule
from bayesieve.weights._result import Progress, WeightResult
from bayesieve.weights._terms import Array

__all__ = ["Auto"]

_SUSPICION = 3.0


@dataclass(frozen=True, repr=False)
class Auto(Optimizer):
    """The convex optimum, less the variables that gain next to nothing.

    Which variables can go is read off a second-order model of the criterion, with one
    Hessian for many variables; each batch is then checked by a new optimum, and halved
    if it cost more than the model said.

    Parameters
    ----------
    min_gain : float, default=5e-5
        Least rise of the criterion, in nats per row, by which a variable earns its
        place, the weights of the others being optimal without it.
    gtol : float, default=1e-6
        Largest projected derivative per row at the end.
    """

    spends_budget: ClassVar[bool] = False
    _rules: ClassVar[Mapping[str, Rule]] = {
        "min_gain": NOT_NEGATIVE,
        "gtol": POSITIVE,
    }

    min_gain: float = 5e-5
    gtol: float = 1e-6

    def is_quick_from_near(self, exponent: float) -> bool:
        """Convex problems are."""
        return exponent >= 1.0

    def _search(
        self,
        problem: WeightProblem,
        start: Array | None,
        progress: Progress,
        rng: np.random.Generator,
    ) -> WeightResult:
        first = Convex(gtol=self.gtol)._search(problem, start, progress, rng)
        w, value = first.weights, first.value
        if not self.min_gain > 0.0 or first.stopped != "converged":
            return first
        allowed = self.min_gain * problem.n_rows
        with progress:
            while True:
                going = _proposed(problem, w, allowed)
                while going:
                    trial, new_value = _without(problem, w, going, self.gtol, progress)
                    if new_value - value <= allowed * len(going):
                        break
                    going = going[: len(going) // 2]
                if not going:
                    break
                w, value = trial, new_value
                progress.record(w, value)
        return progress.result(w, value)


def _without(
    problem: WeightProblem, w: Array, going: list[int], gtol: float, progress: Progress
) -> tuple[Array, float]:
    """Optimum with some more variables held at zero."""
    start = w.copy()
    start[going] = 0.0
    used = start > 0.0
    exponent = problem.exponent
    slope = problem.slope
    if exponent < 1.0:
        slope = tangent_slopes(slope, exponent, start)
    found, _ = newton(
        problem,
        start,
        slope,
        max(exponent, 1.0),
        high=used.astype(np.float64),
        gtol=gtol,
        progress=progress,
        record=False,
    )
    return found, problem.value(found)


def _proposed(problem: WeightProblem, w: Array, allowed: float) -> list[int]:
    """Variables to drop, in order, by the second-order model at the optimum w.

    With F the weights inside the box and V the inverse of H_FF, dropping k in F costs
    ``w_k^2 / (2 V_kk)``, and the others move by ``-w_k V_Fk / V_kk``. One held at 1
    costs ``-g_k + (H_kk - H_kF V H_Fk) / 2``, and the others move by ``V H_Fk``.
    """
    live = np.flatnonzero(w)
    if not live.size:
        return []
    H = problem.terms.curvature(w, problem.log_prior, live, problem.row_weight)
    H[np.diag_indices_from(H)] += 1e-9 * (1.0 + H.trace() / live.size)
    g = problem.value_gradient(w)[1][live]
    x = w[live]
    inside = x < 1.0
    V = np.zeros_like(H)
    if inside.any():
        V[np.ix_(inside, inside)] = np.linalg.inv(H[np.ix_(inside, inside)])
    there = np.ones(live.size, dtype=bool)
    going: list[int] = []
    while there.any():
        free, held = inside & there, ~inside & there
        cost = np.full(live.size, np.inf)
        cost[free] = 0.5 * x[free] ** 2 / np.maximum(np.diag(V)[free], 1e-300)
        rest = np.diag(H) - np.einsum("ij,ij->i", H @ V, H)
        cost[held] = 0.5 * rest[held] - g[held]
        k = int(np.argmin(cost))
        # The model need not be exact far away: the first is tried on a mere suspicion.
        if not cost[k] < (allowed if going else _SUSPICION * allowed):
            break
        if free[k]:
            move = -x[k] * V[:, k] / V[k, k]
        else:
            move = V @ H[:, k]
            move[k] = -1.0
        x, g = x + move, g + H @ move
        going.append(int(live[k]))
        there[k] = False
        if free[k]:
            V -= np.outer(V[:, k], V[:, k]) / V[k, k]
            V[k, :] = V[:, k] = 0.0
        others = free & there
        beyond = (x[others] < 0.0).any() or (x[others] > 1.0).any()
        if beyond or not cost[k] < allowed:
            break  # the model ends where another weight meets its bound
    return going
