"""Selective naive Bayes with compression-based averaging (SNB)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bayesieve.weights._result import Callback, Progress, WeightResult
from bayesieve.weights._subset_criterion import SubsetProblem, TrialScores
from bayesieve.weights._terms import Array

__all__ = ["AveragedResult", "averaged"]

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


def averaged(
    problem: SubsetProblem,
    order: Array | None = None,
    *,
    max_seconds: float | None = None,
    callback: Callback | None = None,
    random_state: np.random.Generator | None = None,
) -> AveragedResult:
    """Average over the subsets met by a multi-start forward-backward search.

    Parameters
    ----------
    problem : SubsetProblem
        Terms of the informative variables.
    order : ndarray of shape (n_terms,), optional
        Order of the first pass of the first start, by decreasing level.
    max_seconds, callback, random_state
        Stop early, see `WeightResult`; orders of the other passes. The callback is
        called after each pass, with the current subset.

    Returns
    -------
    AveragedResult
        Heuristic. A weight below 1 / (N + 1) is zero.

    Notes
    -----
    ceil(log2(N + 1) + log2(K + 1)) + 1 starts of at most two rounds; each round tries
    every variable once forward, and the chosen ones once backward, at O(N J) a trial.
    """
    rng = np.random.default_rng(random_state)
    n_terms, n_rows = problem.n_terms, problem.n_rows
    first = np.arange(n_terms) if order is None else np.array(order, dtype=np.int64)
    if not np.array_equal(np.sort(first), np.arange(n_terms)):
        raise ValueError(f"The order must hold each of 0..{n_terms - 1} once.")
    progress = Progress(max_seconds, callback)
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
        for start in range(starts):
            current = TrialScores(problem, np.zeros(n_terms))
            for round_ in range(_ROUNDS):
                before = current.value
                given = start == 0 and round_ == 0
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
