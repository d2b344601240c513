"""Projected gradient descent by mini-batches, with one step size a weight (PGDMB).

A heuristic for data that do not fit one pass, or arrive as a stream; any-time: the best
weights so far are always valid.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayesieve.weights._criterion import WeightProblem
from bayesieve.weights._result import Callback, Progress, WeightResult
from bayesieve.weights._terms import Array

__all__ = ["Descent", "StepSizes", "descend"]


class StepSizes:
    """One step size a weight: longer while its gradient keeps its sign, else shorter.

    Parameters
    ----------
    n_weights : int
    first : float
        First size of every step.
    grow, shrink : float
    bounds : (float, float)
    average : float in [0, 1)
        Share of the gradient before in a running mean.
    """

    def __init__(
        self,
        n_weights: int,
        *,
        first: float,
        grow: float = 1.2,
        shrink: float = 0.5,
        bounds: tuple[float, float] = (1e-6, 50.0),
        average: float = 0.0,
    ) -> None:
        self.size = np.full(n_weights, first)
        self._grow, self._shrink, self._bounds = grow, shrink, bounds
        self._average = average
        self._old: Array | None = None

    def follow(self, gradient: Array) -> Array:
        """Adapt the sizes to a new gradient; returns it, or the running mean."""
        old = self._old
        if old is not None:
            if self._average:
                gradient = self._average * old + (1.0 - self._average) * gradient
            turn = np.sign(gradient) * np.sign(old)
            self.size = self.size * np.where(
                turn < 0.0, self._shrink, np.where(turn > 0.0, self._grow, 1.0)
            )
            self.size = np.clip(self.size, *self._bounds)
        self._old = gradient
        return gradient


class Descent:
    """Settings of a descent, and its batches.

    One object serves several descents, so that restarts go on through the rows.
    """

    def __init__(
        self,
        problem: WeightProblem,
        *,
        batch_size: int | None = 1000,
        tol: float = 1e-4,
        patience: int = 5,
        step: float = 0.01,
        sign_only: bool = False,
        average: float = 0.0,
        grow: float = 1.2,
        shrink: float = 0.5,
        step_bounds: tuple[float, float] | None = None,
        threshold: float = 1e-3,
        random_state: np.random.Generator | None = None,
    ) -> None:
        self.problem = problem
        self.tol, self.patience, self.step = tol, patience, step
        self.sign_only, self.average = sign_only, average
        self.grow, self.shrink = grow, shrink
        # A step that ignores the size of the gradient never needs to exceed the box.
        self.low, self.high = step_bounds or (1e-6, 1.0 if sign_only else 50.0)
        self.threshold = threshold
        self.rng = np.random.default_rng(random_state)
        self._batches = self._endless(batch_size)

    def _endless(self, batch_size: int | None) -> Iterator[Array | None]:
        """Batches of rows in a random order, drawn again after each pass."""
        n_rows = self.problem.terms.n_rows
        if batch_size is None or batch_size >= n_rows:
            while True:
                yield None
        while True:
            order = self.rng.permutation(n_rows)
            # A last batch too short for its mean to say much is left out of this pass.
            for first in range(0, n_rows - batch_size + 1, batch_size):
                yield order[first : first + batch_size]

    def sparse(self, w: Array) -> Array:
        """Weights below the threshold set to zero."""
        return np.where(w < self.threshold, 0.0, w)

    def run(
        self, w0: Array, max_iter: int, progress: Progress
    ) -> tuple[Array, float, int, bool]:
        """Descend from w0.

        Returns the thresholded best weights, their CR, the number of iterations and
        whether the descent stopped by itself.
        """
        problem = self.problem
        scale = problem.n_rows
        w = np.clip(w0, 0.0, 1.0).astype(np.float64)
        best_w, best = w, self.value(w, progress)
        progress.note(w, best)
        steps = StepSizes(
            w.size,
            first=self.step,
            grow=self.grow,
            shrink=self.shrink,
            bounds=(self.low, self.high),
            average=self.average,
        )
        failures = iteration = 0
        # w^(p-1) has no value at 0 for p < 1: such a weight stays until a restart.
        movable = (w > 0.0) | (problem.exponent >= 1.0)
        while iteration < max_iter and failures < self.patience:
            iteration += 1
            progress.evaluations += 1
            gradient = problem.batch_gradient(w, next(self._batches))
            gradient = np.where(movable, gradient, 0.0)
            gradient = steps.follow(gradient)
            move = np.sign(gradient) if self.sign_only else gradient
            w = np.clip(w - steps.size * move, 0.0, 1.0)
            if problem.exponent < 1.0:
                movable = movable & (w > 0.0)
            value = self.value(w, progress)
            if value < best - self.tol * scale:
                best_w, best, failures = w, value, 0
            else:
                failures += 1
            progress.record(w, value)
        best_w = self.sparse(best_w)
        best = self.value(best_w, progress)
        progress.note(best_w, best)
        return best_w, best, iteration, failures >= self.patience

    def value(self, w: Array, progress: Progress) -> float:
        """CR(w) on all rows: current and best weights are judged on the same ones."""
        progress.evaluations += 1
        return self.problem.value(w)

    def result(
        self, progress: Progress, found: tuple[Array, float] | None
    ) -> WeightResult:
        """Result: what was found or, if better, the best point met, thresholded."""
        if found is None or progress.stopped not in ("converged", "budget"):
            assert progress.best_weights is not None  # a descent notes its start
            met = self.sparse(progress.best_weights)
            value = self.value(met, progress)
            if found is None or value < found[1]:
                found = met, value
        return progress.result(*found)


def descend(
    problem: WeightProblem,
    w0: Array | None = None,
    *,
    batch_size: int | None = 1000,
    max_iter: int = 100,
    tol: float = 1e-4,
    patience: int = 5,
    step: float = 0.01,
    sign_only: bool = False,
    average: float = 0.0,
    grow: float = 1.2,
    shrink: float = 0.5,
    step_bounds: tuple[float, float] | None = None,
    threshold: float = 1e-3,
    max_seconds: float | None = None,
    callback: Callback | None = None,
    random_state: np.random.Generator | None = None,
) -> WeightResult:
    """One projected gradient descent from w0.

    Parameters
    ----------
    problem : WeightProblem
    w0 : ndarray of shape (n_terms,), optional
        Where to begin; 0.5 unless given.
    batch_size : int or None
        Rows of each gradient; None takes all. Below about 1000 the noise of the signs
        shrinks the steps too soon; `average` helps a little.
    max_iter : int
        Most iterations, each O((n_rows + batch_size) K J).
    tol : float
        Least gain of the criterion per row that counts as one.
    patience : int
        Successive iterations without gain before the descent ends.
    step : float
        First step size of every weight.
    sign_only : bool
        Step by the sign of the gradient (Rprop) instead of its value.
    average : float in [0, 1)
        Share of the previous gradient in a running mean used for signs and steps.
    grow, shrink : float
        Factors of a step size when the sign of its gradient is kept, or changes.
    step_bounds : (float, float), optional
        Limits of the step sizes; (1e-6, 50), or (1e-6, 1) with `sign_only`.
    threshold : float
        Smaller weights become 0 at the end; the value is that of the result.
    max_seconds, callback, random_state
        Stop early, see `WeightResult`; order of the batches.
    """
    descent = Descent(
        problem,
        batch_size=batch_size,
        tol=tol,
        patience=patience,
        step=step,
        sign_only=sign_only,
        average=average,
        grow=grow,
        shrink=shrink,
        step_bounds=step_bounds,
        threshold=threshold,
        random_state=random_state,
    )
    progress = Progress(max_seconds, callback)
    found: tuple[Array, float] | None = None
    with progress:
        start = np.full(problem.n_terms, 0.5) if w0 is None else w0
        w, value, _, settled = descent.run(start, max_iter, progress)
        found = w, value
        progress.stopped = "converged" if settled else "budget"
    return descent.result(progress, found)
