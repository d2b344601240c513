"""Fractional naive Bayes: search of one weight at a time, with halved steps (FNB).

A heuristic without gradient, for the criterion F(w) of `SubsetProblem`. Weights are
multiples of a power of two, many of them exactly zero.
"""

from __future__ import annotations

import math

import numpy as np

from bayesieve.weights._result import Callback, Progress, WeightResult
from bayesieve.weights._subset_criterion import SubsetProblem, TrialScores
from bayesieve.weights._terms import Array

__all__ = ["coordinate"]

_ROUNDS = 2


def coordinate(
    problem: SubsetProblem,
    order: Array | None = None,
    *,
    w0: Array | None = None,
    step: float = 1.0,
    max_iter: int | None = None,
    max_seconds: float | None = None,
    callback: Callback | None = None,
    random_state: np.random.Generator | None = None,
) -> WeightResult:
    """Minimise F(w) by steps 1, 1/2, 1/4, ... of single weights, from w = 0.

    For each of ceil(log2(N + 1)) step sizes, at most two rounds: forward, every weight
    in turn rises by the step if F falls by more than the tolerance; backward, every
    weight in use sinks by it if F does not grow by more. The order of the weights is
    drawn again after each pass.

    Parameters
    ----------
    problem : SubsetProblem
        Terms of the informative variables only: a single one gets weight 1.
    order : ndarray of shape (n_terms,), optional
        Order of the first pass, by decreasing level; as given unless told.
    w0 : ndarray of shape (n_terms,), optional
        Where to begin, to follow a stream; with a first `step` below 1, for instance
        1/8, the search stays near.
    step : float
        First step. Weights are multiples of the last one if w0 is.
    max_iter : int, optional
        Most rounds, of a forward and a backward pass.
    max_seconds, callback
        Stop early, see `WeightResult`. The callback is called after each round.
    random_state : Generator, optional
        Orders of the later passes. On five data sets F varied by less than 1 % and
        single weights by up to 0.34 with the order.

    Returns
    -------
    WeightResult
        `value` is F(w), never above F(0).

    Notes
    -----
    At most 4 K ceil(log2(N + 1)) trials of O(N J).
    """
    rng = np.random.default_rng(random_state)
    n_terms = problem.n_terms
    order = np.arange(n_terms) if order is None else np.array(order, dtype=np.int64)
    if not np.array_equal(np.sort(order), np.arange(n_terms)):
        raise ValueError(f"The order must hold each of 0..{n_terms - 1} once.")
    progress = Progress(max_seconds, callback, max_iter)
    empty = current = TrialScores(problem, np.zeros(n_terms))
    if w0 is not None:
        current = TrialScores(problem, np.clip(w0, 0.0, 1.0))
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
