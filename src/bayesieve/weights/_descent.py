"""Projected gradient descent by mini-batches, with one step size a weight (PGDMB).

A heuristic for data that do not fit one pass, or arrive as a stream; any-time: the best
weights so far are always valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesieve.weights._criterion import WeightProblem
from bayesieve.weights._optimizer import (
    COUNT,
    COUNT_OR_NONE,
    NOT_NEGATIVE,
    POSITIVE,
    Optimizer,
    Rule,
)
from bayesieve.weights._result import Progress, WeightResult
from bayesieve.weights._terms import Array

__all__ = ["Descent", "Gradient", "StepSizes"]


class StepSizes:
    """One step size a weight: longer while its gradient keeps its sign, else shorter.

    `average` is the share of the gradient before in a running mean.
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


def _are_weights(start: Any) -> bool:
    starts = start if isinstance(start, tuple) else (start,)
    return all(isinstance(w, int | float) and 0 <= w <= 1 for w in starts)


@dataclass(frozen=True, kw_only=True, repr=False)
class Gradient(Optimizer):
    """One projected gradient descent by mini-batches (PGDMB). **Heuristic**.

    Parameters
    ----------
    batch_size : int or None, default=1000
        Rows of each gradient; None takes all. Below about 1000 the noise of the signs
        shrinks the steps too soon; `average` helps a little.
    max_iter : int, default=100
        Most iterations, each O((n_rows + batch_size) K J).
    tol : float, default=1e-4
        Least gain of the criterion per row that counts as one.
    patience : int, default=5
        Successive iterations without gain before the descent ends.
    step : float, default=0.01
        First step size of every weight.
    start : float or sequence of float, default=0.5
        First weights in [0, 1]; a sequence has one for each column of the table.
    sign_only : bool, default=False
        Step by the sign of the gradient (Rprop) instead of its value.
    average : float in [0, 1), default=0.0
        Share of the previous gradient in a running mean used for signs and steps.
    grow, shrink : float, default=1.2 and 0.5
        Factors of a step size when the sign of its gradient is kept, or changes.
    step_bounds : (float, float), optional
        Limits of the step sizes; (1e-6, 50), or (1e-6, 1) with `sign_only`.
    threshold : float, default=1e-3
        Smaller weights become 0 at the end; the value is that of the result.
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        "batch_size": COUNT_OR_NONE,
        "max_iter": COUNT,
        "patience": COUNT,
        "tol": NOT_NEGATIVE,
        "step": POSITIVE,
        "start": (_are_weights, "a number in [0, 1], or one for each column"),
    }

    batch_size: int | None = 1000
    max_iter: int = 100
    tol: float = 1e-4
    patience: int = 5
    step: float = 0.01
    start: float | Sequence[float] = 0.5
    sign_only: bool = False
    average: float = 0.0
    grow: float = 1.2
    shrink: float = 0.5
    step_bounds: tuple[float, float] | None = None
    threshold: float = 1e-3

    def __post_init__(self) -> None:
        if np.ndim(self.start):  # so that equal settings are equal, and can be saved
            object.__setattr__(self, "start", tuple(np.asarray(self.start).tolist()))
        super().__post_init__()

    def first_weights(self, problem: WeightProblem) -> Array:
        """The weights to begin from."""
        if not isinstance(self.start, tuple):
            return np.full(problem.n_terms, self.start, dtype=np.float64)
        columns = problem.columns
        n_columns = problem.n_terms if columns is None else columns.n_variables
        self._check(
            "start",
            len(self.start) == n_columns,
            f"a number in [0, 1], or one for each of the {n_columns} columns",
        )
        chosen = np.asarray(self.start, dtype=np.float64)
        return chosen if columns is None else chosen[columns.places]

    def few_steps(self, most: int) -> Gradient:
        """A short descent with the same batches and steps, to follow a stream."""
        return Gradient(
            batch_size=self.batch_size,
            max_iter=min(most, self.max_iter),
            tol=0.0,
            patience=self.patience,
            step=self.step,
        )

    def _search(
        self,
        problem: WeightProblem,
        start: Array | None,
        progress: Progress,
        rng: np.random.Generator,
    ) -> WeightResult:
        descent = Descent(problem, self, rng)
        found: tuple[Array, float] | None = None
        with progress:
            first = self.first_weights(problem) if start is None else start
            w, value, _, settled = descent.run(first, self.max_iter, progress)
            found = w, value
            progress.stopped = "converged" if settled else "budget"
        return descent.result(progress, found)


class Descent:
    """The batches of a descent.

    One object serves several descents, so that restarts go on through the rows.
    """

    def __init__(
        self, problem: WeightProblem, settings: Gradient, rng: np.random.Generator
    ) -> None:
        self.problem, self.settings, self.rng = problem, settings, rng
        self._batches = self._endless(settings.batch_size)

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
        return np.where(w < self.settings.threshold, 0.0, w)

    def run(
        self, w0: Array, max_iter: int, progress: Progress
    ) -> tuple[Array, float, int, bool]:
        """Descend from w0.

        Returns the thresholded best weights, their CR, the number of iterations and
        whether the descent stopped by itself.
        """
        problem, settings = self.problem, self.settings
        least_gain = settings.tol * problem.n_rows
        w = np.clip(w0, 0.0, 1.0).astype(np.float64)
        best_w, best = w, self.value(w, progress)
        progress.note(w, best)
        steps = StepSizes(
            w.size,
            first=settings.step,
            grow=settings.grow,
            shrink=settings.shrink,
            # A step that ignores the gradient's size never needs to exceed the box.
            bounds=settings.step_bounds or (1e-6, 1.0 if settings.sign_only else 50.0),
            average=settings.average,
        )
        failures = iteration = 0
        # w^(p-1) has no value at 0 for p < 1: such a weight stays until a restart.
        movable = (w > 0.0) | (problem.exponent >= 1.0)
        while iteration < max_iter and failures < settings.patience:
            iteration += 1
            progress.evaluations += 1
            gradient = problem.batch_gradient(w, next(self._batches))
            gradient = np.where(movable, gradient, 0.0)
            gradient = steps.follow(gradient)
            move = np.sign(gradient) if settings.sign_only else gradient
            w = np.clip(w - steps.size * move, 0.0, 1.0)
            if problem.exponent < 1.0:
                movable = movable & (w > 0.0)
            value = self.value(w, progress)
            if value < best - least_gain:
                best_w, best, failures = w, value, 0
            else:
                failures += 1
            progress.record(w, value)
        best_w = self.sparse(best_w)
        best = self.value(best_w, progress)
        progress.note(best_w, best)
        return best_w, best, iteration, failures >= settings.patience

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
