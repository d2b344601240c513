"""Several descents: from random points, or from around the best weights (VNS).

For p >= 1 the criterion is convex: restarts only finish what single descents left, and
`Convex` does better. They are of use for p < 1, or with batches.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesieve.weights._criterion import WeightProblem
from bayesieve.weights._descent import Descent, Gradient
from bayesieve.weights._optimizer import COUNT_OR_NONE, Rule, is_number
from bayesieve.weights._result import Progress, WeightResult
from bayesieve.weights._terms import Array

__all__ = ["VNS", "MultiStart", "iteration_budget"]

SMALLEST_NEIGHBOURHOOD = 1.0 / 16.0


def iteration_budget(n_terms: int, n_rows: float, effort: float) -> int:
    """T = ceil(ln(K N) 2^effort), at least one."""
    return max(
        1, math.ceil(math.log(max(n_terms * n_rows, 1.0)) * math.pow(2.0, effort))
    )


#: The next start, from the best weights so far and whether the last descent gained.
_NextStart = Callable[[Array, bool], Array]


@dataclass(frozen=True, kw_only=True, repr=False)
class _Restarts(Gradient):
    """Descents until the iterations are spent; the best thresholded result wins."""

    _rules: ClassVar[Mapping[str, Rule]] = {
        **Gradient._rules,
        "effort": (lambda v: is_number(v) and 0 <= v <= 30, "a number in [0, 30]"),
        "budget": COUNT_OR_NONE,
    }

    effort: float = 5
    budget: int | None = None

    @abstractmethod
    def _next_start(self, rng: np.random.Generator) -> _NextStart:
        """How the starts of one search are drawn."""

    def _search(
        self,
        problem: WeightProblem,
        start: Array | None,
        progress: Progress,
        rng: np.random.Generator,
    ) -> WeightResult:
        budget = self.budget
        if budget is None:
            budget = iteration_budget(problem.n_terms, problem.n_rows, self.effort)
        descent = Descent(problem, self, rng)
        next_start = self._next_start(descent.rng)
        found: tuple[Array, float] | None = None
        with progress:
            here = self.first_weights(problem) if start is None else start
            here = np.clip(here, 0.0, 1.0).astype(np.float64)
            kept = descent.sparse(here)
            found = kept, descent.value(kept, progress)
            spent = 0
            while spent < budget:
                # The last run is cut so that the total is never exceeded.
                w, value, used, _ = descent.run(
                    here, min(self.max_iter, budget - spent), progress
                )
                spent += used
                improved = value < found[1]
                if improved:
                    found = w, value
                here = next_start(found[0], improved)
            progress.stopped = "budget"
        return descent.result(progress, found)


@dataclass(frozen=True, kw_only=True, repr=False)
class MultiStart(_Restarts):
    """Descents from the first weights, then from points uniform on the box.

    **Heuristic.**

    Parameters
    ----------
    effort : float, default=5
        Total of iterations ``ceil(ln(K N) 2^effort)``.
    budget : int, optional
        Total of iterations, instead of `effort`.
    batch_size, max_iter, tol, patience, step, start
        Of each descent, as all others: see `Gradient`.
    """

    def _next_start(self, rng: np.random.Generator) -> _NextStart:
        return lambda best, _: rng.uniform(0.0, 1.0, best.size)


@dataclass(frozen=True, kw_only=True, repr=False)
class VNS(_Restarts):
    """Variable neighbourhood search: descents from around the best weights so far.

    Each weight of a new start moves by an independent uniform draw on [-s, s], clipped
    to the box. The neighbourhood s begins at 1/16, is halved (not below 1/16) after an
    improvement and doubled (not above 1) otherwise. **Heuristic.**

    Parameters
    ----------
    effort : float, default=5
        Total of iterations ``ceil(ln(K N) 2^effort)``.
    budget : int, optional
        Total of iterations, instead of `effort`.
    batch_size, max_iter, tol, patience, step, start
        Of each descent, as all others: see `Gradient`.
    """

    def _next_start(self, rng: np.random.Generator) -> _NextStart:
        size = SMALLEST_NEIGHBOURHOOD

        def around(best: Array, improved: bool) -> Array:
            nonlocal size
            if improved:
                size = max(size / 2.0, SMALLEST_NEIGHBOURHOOD)
            else:
                size = min(2.0 * size, 1.0)
            return np.clip(best + rng.uniform(-size, size, best.size), 0.0, 1.0)

        return around
