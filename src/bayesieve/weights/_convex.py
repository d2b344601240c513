"""Minimise the criterion to high accuracy.

For p >= 1 the criterion is convex and the answer is its minimum. For p < 1 the answer
is a local minimum that no change of a single variable improves: heuristic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesieve.weights._criterion import WeightProblem, tangent_slopes
from bayesieve.weights._newton import newton
from bayesieve.weights._optimizer import COUNT_OR_NONE, POSITIVE, Optimizer, Rule
from bayesieve.weights._result import Progress, WeightResult
from bayesieve.weights._terms import Array

__all__ = ["Convex"]

_MAX_ROUNDS = 50  # of majorise-minimise, and of moves
_CANDIDATES = 5  # moves followed to their end, of those that look best
_GRID = np.array([0.0625, 0.125, 0.25, 0.5, 1.0])  # tried for a weight that is zero


@dataclass(frozen=True, repr=False)
class Convex(Optimizer):
    """Projected Newton steps to high accuracy; **exact** for p >= 1, else heuristic.

    For p >= 1 the minimum. For p < 1 first that of p = 1, then repeated minimisation of
    the tangent penalty (slopes ``lambda c_k p w_k^(p-1)``, convex, never worse; zeros
    stay), then moves of single weights to zero, the others following, and from zero,
    until none gains 1e-5 nats a row. Nothing is random here.

    Parameters
    ----------
    gtol : float, default=1e-9
        Largest projected derivative per row at the end.
    max_iter : int, optional
        Most points recorded, the start included; as many as it takes unless given.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.weights import Convex, PartTerms, WeightProblem
    >>> parts = np.array([[0], [0], [1], [1]], dtype=np.uint8)
    >>> table = np.log([[0.9, 0.2], [0.1, 0.8]])  # p(part | class)
    >>> problem = WeightProblem(
    ...     PartTerms(parts, [table]),
    ...     codes=np.array([0, 0, 1, 1]),
    ...     log_prior=np.log([0.5, 0.5]),
    ...     cost=np.array([1.0]),
    ... )
    >>> Convex().minimise(problem).weights
    array([1.])
    """

    spends_budget: ClassVar[bool] = False
    _rules: ClassVar[Mapping[str, Rule]] = {
        "gtol": POSITIVE,
        "max_iter": COUNT_OR_NONE,
    }

    gtol: float = 1e-9
    max_iter: int | None = None

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
        progress.max_iter = self.max_iter
        w = np.zeros(problem.n_terms)
        if start is not None:
            w = np.clip(start, 0.0, 1.0).astype(np.float64)
        with progress:
            if problem.is_convex:
                newton(
                    problem,
                    w,
                    problem.slope,
                    max(problem.exponent, 1.0),
                    high=np.ones(w.size),
                    gtol=self.gtol,
                    progress=progress,
                )
            else:
                _LocalSearch(problem, self.gtol, progress).run(w)
        # The last iterate may lie above an earlier one by rounding alone.
        return progress.best()


class _LocalSearch:
    """Search for p < 1; every point it records is judged by the true criterion."""

    def __init__(self, problem: WeightProblem, gtol: float, progress: Progress) -> None:
        self.problem, self.gtol, self.progress = problem, gtol, progress
        # Gains below this are not worth a pass, and keep rounding from cycling.
        self.least_gain = 1e-7 * problem.n_rows
        self.least_move = 1e-5 * problem.n_rows

    def run(self, w: Array) -> None:
        """Convex start, then descents and moves until nothing helps."""
        problem = self.problem
        self.progress.record(w, self.value(w))
        # Without a shortcut for weights already given: they are a start like another.
        if not w.any():
            w, _ = newton(
                problem,
                w,
                problem.slope,
                1.0,
                high=np.ones(w.size),
                gtol=max(self.gtol, 1e-6),
                progress=self.progress,
                record=False,
            )
        w, value = self.descend(w)
        # Descents record what improves: their start may already be the best.
        self.progress.record(w, value)
        for _ in range(_MAX_ROUNDS):
            moved = self.drop(w, value)
            if moved is None:
                moved = self.add(w, value)
            if moved is None:
                break
            w, value = moved
        self.descend(w, gtol=self.gtol)

    def value(self, w: Array) -> float:
        """CR(w)."""
        self.progress.evaluations += 1
        return self.problem.value(w)

    def descend(
        self, w: Array, target: float = np.inf, gtol: float = 1e-6
    ) -> tuple[Array, float]:
        """Majorise the concave penalty by its tangent and minimise, repeatedly.

        Only the terms in use take part: zeros stay. Gives up when ten times the last
        gain would not reach the target, and records only when there is none.
        """
        progress = self.progress
        used = np.flatnonzero(w > 0.0)
        own = self.problem.select(used)
        x = w[used]
        progress.evaluations += 1
        value = own.value(x)
        for _ in range(_MAX_ROUNDS):
            new, _ = newton(
                own,
                x,
                tangent_slopes(own.slope, own.exponent, x),
                1.0,
                high=(x > 0.0).astype(np.float64),
                gtol=max(gtol, self.gtol),
                progress=progress,
                record=False,
            )
            progress.evaluations += 1
            new_value = own.value(new)
            if not new_value < value:
                break
            gain, x, value = value - new_value, new, new_value
            if np.isinf(target):
                progress.record(self._whole(w.size, used, x), value)
            if gain < self.least_gain or value - 10.0 * gain > target:
                break
        return self._whole(w.size, used, x), value

    @staticmethod
    def _whole(size: int, used: Array, x: Array) -> Array:
        w = np.zeros(size)
        w[used] = x
        return w

    def follow(self, trial: Array, value: float) -> tuple[Array, float] | None:
        """Descend from a changed point; None unless that ends well below `value`."""
        w, new_value = self.descend(trial, target=value - self.least_move)
        if not new_value < value - self.least_move:
            return None
        # Values of the terms in use alone differ from those of all by rounding.
        self.progress.evaluations += 1
        new_value = self.problem.value(w)
        self.progress.record(w, new_value)
        return w, new_value

    def drop(self, w: Array, value: float) -> tuple[Array, float] | None:
        """Set one weight to zero and let the others follow, if that is better.

        Which one: by the second-order loss w_k^2 / (2 (H^-1)_kk) of removing it when
        the others adapt, less the penalty saved.
        """
        problem = self.problem
        used = np.flatnonzero(w > 0.0)
        if not used.size:
            return None
        free = used[w[used] < 1.0]
        loss = np.full(w.size, np.inf)
        if free.size:
            self.progress.evaluations += 1
            H = problem.terms.curvature(w, problem.log_prior, free, problem.row_weight)
            H[np.diag_indices_from(H)] += 1e-9 * (1.0 + H.trace() / free.size)
            inverse = np.linalg.inv(H)
            loss[free] = 0.5 * w[free] ** 2 / np.maximum(np.diag(inverse), 1e-300)
        alone = self.trials(w, used, -w[used])
        nll = problem.nll(w)
        loss[used] = np.minimum(loss[used], alone - nll)
        gain = problem.slope * w**problem.exponent - loss
        order = used[np.argsort(-gain[used], kind="stable")]
        for k in order[:_CANDIDATES]:
            # The model of second order is rough: losses a little above the saving too.
            if gain[k] < -10.0 * self.least_move:
                break
            trial = w.copy()
            trial[k] = 0.0
            moved = self.follow(trial, value)
            if moved is not None:
                return moved
        return None

    def add(self, w: Array, value: float) -> tuple[Array, float] | None:
        """Give a weight that is zero the best value of a grid, if that is better."""
        problem = self.problem
        unused = np.flatnonzero(w == 0.0)
        if not unused.size:
            return None
        _, gradient = problem.terms.value_gradient(
            w, problem.log_prior, problem.codes, problem.row_weight
        )
        self.progress.evaluations += 1
        # The likelihood is convex: w_k = x gains at most -gradient * x, the penalty
        # costs at least slope * x.
        unused = unused[gradient[unused] + problem.slope[unused] < 0.0]
        if not unused.size:
            return None
        nll = problem.nll(w)
        costs = np.empty((unused.size, _GRID.size))
        for column, x in enumerate(_GRID):
            costs[:, column] = self.trials(w, unused, np.full(unused.size, x)) - nll
            costs[:, column] += problem.slope[unused] * x**problem.exponent
        best = costs.min(axis=1)
        for i in np.argsort(best, kind="stable")[:_CANDIDATES]:
            if best[i] > 10.0 * self.least_move:
                break
            trial = w.copy()
            trial[unused[i]] = _GRID[costs[i].argmin()]
            moved = self.follow(trial, value)
            if moved is not None:
                return moved
        return None

    def trials(self, w: Array, chosen: Array, deltas: Array) -> Array:
        """NLL after each single move."""
        problem = self.problem
        scores = problem.terms.relative_scores(w, problem.log_prior)
        self.progress.evaluations += chosen.size
        result = np.empty(chosen.size)
        for i, (k, delta) in enumerate(zip(chosen, deltas, strict=True)):
            self.progress.check()
            result[i] = problem.terms.trial(
                scores, int(k), float(delta), problem.codes, problem.row_weight
            )
        return result
