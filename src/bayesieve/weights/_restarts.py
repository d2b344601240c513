"""Several descents: from random points, or from around the best weights (VNS).

For p >= 1 the criterion is convex: restarts only finish what single descents left, and
`convex` does better. They are of use for p < 1, or with batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesieve.weights._criterion import WeightProblem
from bayesieve.weights._descent import Descent
from bayesieve.weights._result import Callback, Progress, WeightResult
from bayesieve.weights._terms import Array

__all__ = ["iteration_budget", "multistart", "vns"]

SMALLEST_NEIGHBOURHOOD = 1.0 / 16.0


def iteration_budget(n_terms: int, n_rows: float, effort: float) -> int:
    """T = ceil(ln(K N) 2^effort), at least one."""
    return max(
        1, math.ceil(math.log(max(n_terms * n_rows, 1.0)) * math.pow(2.0, effort))
    )


def _repeat(
    problem: WeightProblem,
    w0: Array | None,
    next_start: Callable[[Array, bool, np.random.Generator], Array],
    *,
    effort: float,
    budget: int | None,
    max_iter: int,
    max_seconds: float | None,
    callback: Callback | None,
    options: dict[str, Any],
) -> WeightResult:
    """Descents until the iterations are spent; the best thresholded result wins."""
    if budget is None:
        budget = iteration_budget(problem.n_terms, problem.n_rows, effort)
    descent = Descent(problem, **options)
    progress = Progress(max_seconds, callback)
    found: tuple[Array, float] | None = None
    with progress:
        start = np.full(problem.n_terms, 0.5) if w0 is None else np.clip(w0, 0.0, 1.0)
        start = start.astype(np.float64)
        kept = descent.sparse(start)
        found = kept, descent.value(kept, progress)
        spent = 0
        while spent < budget:
            # The last run is cut so that the total is never exceeded.
            w, value, used, _ = descent.run(
                start, min(max_iter, budget - spent), progress
            )
            spent += used
            improved = value < found[1]
            if improved:
                found = w, value
            start = next_start(found[0], improved, descent.rng)
        progress.stopped = "budget"
    return descent.result(progress, found)


def multistart(
    problem: WeightProblem,
    w0: Array | None = None,
    *,
    effort: float = 5.0,
    budget: int | None = None,
    max_iter: int = 100,
    max_seconds: float | None = None,
    callback: Callback | None = None,
    **options: Any,
) -> WeightResult:
    """Descend from `w0` (0.5 unless given), then from points uniform on the box.

    Parameters
    ----------
    problem, w0
        As in `descend`.
    effort : float
        Total of iterations T = ceil(ln(K N) 2^effort).
    budget : int, optional
        Total of iterations, instead of `effort`.
    max_iter : int
        Most iterations of one descent.
    max_seconds, callback
        Stop early, see `WeightResult`.
    **options
        Those of `descend`.
    """

    def anywhere(best: Array, _: bool, rng: np.random.Generator) -> Array:
        return rng.uniform(0.0, 1.0, best.size)

    return _repeat(
        problem,
        w0,
        anywhere,
        effort=effort,
        budget=budget,
        max_iter=max_iter,
        max_seconds=max_seconds,
        callback=callback,
        options=options,
    )


def vns(
    problem: WeightProblem,
    w0: Array | None = None,
    *,
    effort: float = 5.0,
    budget: int | None = None,
    max_iter: int = 100,
    max_seconds: float | None = None,
    callback: Callback | None = None,
    **options: Any,
) -> WeightResult:
    """Variable neighbourhood search: descents from around the best weights so far.

    Each weight of a new start moves by an independent uniform draw on [-s, s], clipped
    to the box. The neighbourhood s begins at 1/16, is halved (not below 1/16) after an
    improvement and doubled (not above 1) otherwise.

    Parameters
    ----------
    problem, w0, effort, budget, max_iter, max_seconds, callback, **options
        As in `multistart`. To follow a stream, call again with the weights found as
        `w0`, the new window of rows as `problem` and a small `budget`.
    """
    size = SMALLEST_NEIGHBOURHOOD

    def around(best: Array, improved: bool, rng: np.random.Generator) -> Array:
        nonlocal size
        if improved:
            size = max(size / 2.0, SMALLEST_NEIGHBOURHOOD)
        else:
            size = min(2.0 * size, 1.0)
        return np.clip(best + rng.uniform(-size, size, best.size), 0.0, 1.0)

    return _repeat(
        problem,
        w0,
        around,
        effort=effort,
        budget=budget,
        max_iter=max_iter,
        max_seconds=max_seconds,
        callback=callback,
        options=options,
    )
