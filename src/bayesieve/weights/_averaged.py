"""Selective naive Bayes with compression-based averaging (SNB)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesieve.weights._optimizer import Optimizer
from bayesieve.weights._result import Progress, WeightResult
from bayesieve.weights._subset_criterion import SubsetProblem, TrialScores
from bayesieve.weights._terms import Array

__all__ = ["AveragedResult", "Averaging"]

_ROUNDS = 2


@dataclass(frozen=True, eq=False)
class AveragedResult(WeightResult):
    """Averaged weights, with the best single subset.

    Attributes
    ----------
    weights : ndarray of shape (n_terms,)
        Share of the evaluated models, by their compression, that hold each variable.
    value : float
        Cost of the best subset.
    map_weights : ndarray of shape (n_terms,)
        The best subset met, as weights of 0 and 1.
    """

    map_weights: Array


class _Average:
    """Sums over every evaluated subset of its compression 1 - cost / null cost."""

    def __init__(self, n_terms: int, null: float) -> None:
        self.null = null
        self.total = 0.0
        self.by_term = np.zeros(n_terms)

    def add(self, subset: Array, cost: float) -> None:
        share = max(0.0, 1.0 - cost / self.null)
        self.total += share
        self.by_term += share * subset


@dataclass(frozen=True, repr=False)
class Averaging(Optimizer):
    """Average over the subsets met by a multi-start forward-backward search (SNB).

    **Heuristic.** ceil(log2(N + 1) + log2(K + 1)) + 1 starts of at most two rounds;
    each round tries every variable once forward, and the chosen ones once backward, at
    O(N J) a trial. A weight below 1 / (N + 1) is zero.
    """

    minimises_problem: ClassVar[bool] = False

    def _search(
        self,
        problem: SubsetProblem,
        start: Array | None,
        progress: Progress,
        rng: np.random.Generator,
    ) -> AveragedResult:
        n_terms, n_rows = problem.n_terms, problem.n_rows
        assert problem.order is not None
        first = problem.order
        empty = TrialScores(problem, np.zeros(n_terms))
        null = empty.value
        tol = problem.tolerance(null)
        average = _Average(n_terms, null)
        progress.note(empty.weights, null)
        progress.evaluations += 1
        starts = 0
        if n_terms and null > 0.0:
            starts = 1 + math.ceil(
                math.log2(n_rows + 1) + math.log2(1 + problem.n_variables)
            )
        with progress:
            for number in range(starts):
                current = TrialScores(problem, np.zeros(n_terms))
                for round_ in range(_ROUNDS):
                    before = current.value
                    given = number == 0 and round_ == 0
                    for forward in (True, False):
                        if not (given and forward):
                            first = rng.permutation(n_terms)
                        _pass(current, first, forward, tol, average, progress)
                        progress.record(current.weights, current.value)
                    if before - current.value < tol:
                        break
        weights = average.by_term / average.total if average.total else average.by_term
        weights[weights < 1.0 / (n_rows + 1.0)] = 0.0
        best = progress.best()
        return AveragedResult(
            **{**vars(best), "weights": weights}, map_weights=best.weights
        )


def _pass(
    current: TrialScores,
    order: Array,
    forward: bool,
    tol: float,
    average: _Average,
    progress: Progress,
) -> None:
    """Try to add, or to drop, every variable once; all trials enter the average."""
    for k in order:
        if (current.weights[k] > 0.0) == forward:
            continue
        progress.check()
        progress.evaluations += 1
        weight = 1.0 if forward else 0.0
        cost = current.trial(k, weight)
        subset = current.weights.copy()
        subset[k] = weight
        average.add(subset, cost)
        progress.note(subset, cost)
        if cost < current.value + (-tol if forward else tol):
            current.commit(k, weight, cost)
