"""What an optimiser tells: its state on the way, its result, and why it stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self

import numpy as np

from bayesieve import _core
from bayesieve.weights._terms import Array

__all__ = ["Callback", "OptimizerState", "Progress", "WeightResult"]

Stopped = Literal["converged", "budget", "time", "interrupted", "callback"]


@dataclass(frozen=True, eq=False)
class OptimizerState:
    """What a callback receives; `weights` is read-only."""

    iteration: int
    value: float
    best_value: float
    weights: Array
    seconds: float


Callback = Callable[[OptimizerState], bool | None]


@dataclass(frozen=True, eq=False)
class WeightResult:
    """Weights found, and how.

    Attributes
    ----------
    weights : ndarray of shape (n_terms,)
    value : float
        Criterion of these weights: CR(w), or F(w) for the coordinate search.
    history : ndarray of shape (n_records, 4)
        Iteration, seconds, value, best value so far.
    iterations, evaluations : int
        Steps made, and passes over the rows they took.
    stopped : {"converged", "budget", "time", "interrupted", "callback"}
        The weights are valid whatever the reason.
    """

    weights: Array
    value: float
    history: Array
    iterations: int
    evaluations: int
    stopped: Stopped


class _Stop(Exception):  # noqa: N818  (not an error: leaves nested loops)
    def __init__(self, reason: Stopped) -> None:
        super().__init__(reason)
        self.reason = reason


class Progress:
    """Keeps the best weights, the clock and the history of one optimisation.

    Used as a context: a stop by the clock, by the callback or by Ctrl-C leaves the
    block quietly with `stopped` set, and the best weights so far stay valid. From the
    first weights on the compiled core looks at the clock as well, in mid iteration.
    """

    def __init__(
        self,
        time_limit: float | None = None,
        callback: Callback | None = None,
    ) -> None:
        self._start = time.perf_counter()
        self._limit = time_limit
        self._callback = callback
        #: Points to record at most.
        self.max_iter: int | None = None
        self._rows: list[tuple[float, float, float, float]] = []
        self.best_weights: Array | None = None
        self.best_value = np.inf
        self.iterations = 0
        self.evaluations = 0
        self.stopped: Stopped = "converged"
        self._entered = False
        self._kernels: _core.TimeLimit | None = None

    def __enter__(self) -> Self:
        self._entered = True
        self._limit_kernels()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self._entered = False
        if self._kernels is not None:
            own = self._kernels.reached
            self._kernels.__exit__(None, None, None)
            self._kernels = None
            if own and isinstance(error, _core.TimeLimitReached):
                self.stopped = "time"
                return True
        if isinstance(error, _Stop):
            self.stopped = error.reason
            return True
        if isinstance(error, KeyboardInterrupt) and self.best_weights is not None:
            self.stopped = "interrupted"
            return True
        return False

    @property
    def seconds(self) -> float:
        """Time since the optimisation began."""
        return time.perf_counter() - self._start

    def note(self, weights: Array, value: float) -> None:
        """Remember the weights if they are the best so far."""
        if self.best_weights is None or value < self.best_value:
            self.best_weights, self.best_value = weights.copy(), float(value)
            self._limit_kernels()

    def _limit_kernels(self) -> None:
        """Let kernels end with the time, once there are weights to end with."""
        ready = self._entered and self.best_weights is not None
        if ready and self._limit is not None and self._kernels is None:
            self._kernels = _core.TimeLimit(self._limit - self.seconds)
            self._kernels.__enter__()

    def check(self) -> None:
        """Stop if the time is up."""
        if self._limit is not None and self.seconds >= self._limit:
            raise _Stop("time")

    def record(self, weights: Array, value: float) -> None:
        """End one iteration: remember, tell the callback, look at the clock."""
        self.note(weights, value)
        seconds = self.seconds
        self._rows.append((self.iterations, seconds, value, self.best_value))
        if self._callback is not None:
            shown = weights.copy()
            shown.flags.writeable = False
            state = OptimizerState(
                self.iterations, float(value), self.best_value, shown, seconds
            )
            if self._callback(state):
                raise _Stop("callback")
        self.iterations += 1
        if self.iterations == self.max_iter:
            raise _Stop("budget")
        self.check()

    def result(self, weights: Array, value: float) -> WeightResult:
        """Result with these weights."""
        return WeightResult(
            weights=weights,
            value=float(value),
            history=np.array(self._rows, dtype=np.float64).reshape(-1, 4),
            iterations=self.iterations,
            evaluations=self.evaluations,
            stopped=self.stopped,
        )

    def best(self) -> WeightResult:
        """Result with the best weights so far."""
        assert self.best_weights is not None  # every optimiser notes its start
        return self.result(self.best_weights, self.best_value)
