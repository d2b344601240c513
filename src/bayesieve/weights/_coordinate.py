"""Fractional naive Bayes: search of one weight at a time, with halved steps (FNB).

A heuristic without gradient, for the criterion F(w) of `SubsetProblem`. Weights are
multiples of a power of two, many of them exactly zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesieve.weights._criterion import WeightProblem
from bayesieve.weights._optimizer import COUNT_OR_NONE, Optimizer, Rule, is_number
from bayesieve.weights._result import Progress, WeightResult
from bayesieve.weights._subset_criterion import SubsetProblem, TrialScores
from bayesieve.weights._terms import Array

__all__ = ["Coordinate"]

_ROUNDS = 2


@dataclass(frozen=True, repr=False)
class Coordinate(Optimizer):
    """Search by steps 1, 1/2, 1/4, ... of single weights, from w = 0. **Heuristic**.

    For each of ceil(log2(N + 1)) step sizes, at most two rounds: forward, every weight
    in turn rises by the step if F falls by more than the tolerance; backward, every
    weight in use sinks by it if F does not grow by more. The order of the weights is
    drawn again after each pass. At most 4 K ceil(log2(N + 1)) trials of O(N J).

    Parameters
    ----------
    step : float, default=1.0
        First step. Below 1, for instance 1/8, the search begins at given weights and
        stays near; at 1 it begins at zero. Weights are multiples of the last step.
    max_iter : int, optional
        Most rounds, of a forward and a backward pass.
    """

    usual_exponent: ClassVar[float] = 0.95
    minimises_problem: ClassVar[bool] = False
    _rules: ClassVar[Mapping[str, Rule]] = {
        "step": (lambda v: is_number(v) and 0.0 < v <= 1.0, "a number in (0, 1]"),
        "max_iter": COUNT_OR_NONE,
    }

    step: float = 1.0
    max_iter: int | None = None

    def _search(
        self,
        problem: WeightProblem | SubsetProblem,
        start: Array | None,
        progress: Progress,
        rng: np.random.Generator,
    ) -> WeightResult:
        if isinstance(problem, WeightProblem):
            problem = SubsetProblem.of(problem)
        n_terms, step = problem.n_terms, self.step
        assert problem.order is not None
        order = problem.order.copy()
        progress.max_iter = self.max_iter
        empty = current = TrialScores(problem, np.zeros(n_terms))
        if start is not None and step < 1.0:
            current = TrialScores(problem, np.clip(start, 0.0, 1.0))
        null = empty.value
        progress.evaluations += 1
        tol = problem.tolerance(null)
        progress.note(current.weights, current.value)
        with progress:
            if n_terms == 1:
                current.commit(0, 1.0, current.trial(0, 1.0))
                progress.record(current.weights, current.value)
                return progress.result(current.weights, current.value)
            steps = math.ceil(math.log2(problem.n_rows + 1.0)) if n_terms else 0
            for _ in range(steps):
                if step < 2.0 ** (1 - steps):
                    break
                for _ in range(_ROUNDS):
                    before = current.value
                    _forward(current, order, step, tol, progress)
                    rng.shuffle(order)
                    _backward(current, order, step, tol, progress)
                    rng.shuffle(order)
                    progress.record(current.weights, current.value)
                    if before - current.value < tol:
                        break
                step /= 2.0
        # Backward passes may lose up to the tolerance each time.
        if current.value > null:
            return progress.result(np.zeros(n_terms), null)
        return progress.result(current.weights, current.value)


def _forward(
    current: TrialScores, order: Array, step: float, tol: float, progress: Progress
) -> None:
    """Raise each weight by the step where F falls by more than tol."""
    for k in order:
        weight = min(1.0, float(current.weights[k]) + step)
        if weight == current.weights[k]:
            continue
        progress.check()
        progress.evaluations += 1
        value = current.trial(k, weight)
        if value < current.value - tol:
            current.commit(k, weight, value)


def _backward(
    current: TrialScores, order: Array, step: float, tol: float, progress: Progress
) -> None:
    """Lower each weight in use by the step where F grows by less than tol."""
    for k in order:
        if current.weights[k] == 0.0:
            continue
        weight = max(0.0, float(current.weights[k]) - step)
        progress.check()
        progress.evaluations += 1
        value = current.trial(k, weight)
        if value < current.value + tol:
            current.commit(k, weight, value)
