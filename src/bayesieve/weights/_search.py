"""A search of weights from start to end: which optimiser, how many columns, how near.

`OPTIMIZERS` is the one list of names.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bayesieve.weights._auto import Auto
from bayesieve.weights._averaged import Averaging
from bayesieve.weights._convex import Convex
from bayesieve.weights._coordinate import Coordinate
from bayesieve.weights._criterion import WeightProblem
from bayesieve.weights._descent import Gradient
from bayesieve.weights._optimizer import Optimizer, generator_of
from bayesieve.weights._restarts import VNS, MultiStart
from bayesieve.weights._result import Callback, WeightResult
from bayesieve.weights._terms import Array, Terms

__all__ = ["OPTIMIZERS", "follow", "optimizer_of", "search", "spread", "term_sizes"]

OPTIMIZERS: dict[str, type[Optimizer]] = {
    "auto": Auto,
    "convex": Convex,
    "vns": VNS,
    "multistart": MultiStart,
    "gradient": Gradient,
    "coordinate": Coordinate,
}
_STREAM_STEPS = 3  # iterations of a descent after each chunk of a stream


def optimizer_of(given: str | Optimizer) -> Optimizer:
    """The optimiser of a name, with its usual settings; others as they are."""
    if isinstance(given, Averaging):
        raise ValueError(
            "The 'optimizer' parameter of SelectiveNB must find one set of weights. "
            "Got Averaging(), which averages over subsets. Hint: AveragedNB uses it."
        )
    return OPTIMIZERS[given]() if isinstance(given, str) else given


def search(
    optimizer: Optimizer,
    problem: WeightProblem,
    start: Array | None = None,
    *,
    k: int | None = None,
    time_limit: float | None = None,
    callback: Callback | None = None,
    random_state: Any = None,
) -> WeightResult:
    """Find weights that are no worse than none; at most k of them above zero.

    With more than k, those of largest importance are kept and searched again.
    """
    options: dict[str, Any] = {
        "time_limit": time_limit,
        "callback": callback,
        "random_state": generator_of(random_state),
    }
    result = _no_worse_than_nothing(optimizer, problem, start, options)
    if k is None or np.count_nonzero(result.weights) <= k:
        return result
    size = term_sizes(problem.terms, result.weights, problem.log_prior)
    kept = np.sort(np.argsort(-size, kind="stable")[:k])
    again = _no_worse_than_nothing(
        optimizer, problem.select(kept), result.weights[kept], options
    )
    return spread(again, kept, problem.n_terms)


def follow(
    optimizer: Optimizer,
    problem: WeightProblem,
    weights: Array,
    *,
    k: int | None = None,
    time_limit: float | None = None,
    callback: Callback | None = None,
    random_state: Any = None,
) -> WeightResult:
    """Take a few steps of a descent from given weights; never for the worse.

    With k, zeros stay: the searches in between settle which columns have a weight.
    """
    kept = np.arange(problem.n_terms) if k is None else np.flatnonzero(weights)
    descent = optimizer if isinstance(optimizer, Gradient) else Gradient()
    result = descent.few_steps(_STREAM_STEPS).minimise(
        problem if kept.size == problem.n_terms else problem.select(kept),
        weights[kept],
        time_limit=time_limit,
        callback=callback,
        random_state=random_state,
    )
    return spread(result, kept, problem.n_terms)


def _no_worse_than_nothing(
    optimizer: Optimizer,
    problem: WeightProblem,
    start: Array | None,
    options: dict[str, Any],
) -> WeightResult:
    """What the optimiser finds, or weights of zero where these are better."""
    result = optimizer.minimise(problem, start, **options)
    none = np.zeros(problem.n_terms)
    if not optimizer.minimises_problem or result.value <= problem.value(none):
        return result
    return replace(result, weights=none, value=problem.value(none))


def spread(result: WeightResult, kept: Array, n_terms: int) -> WeightResult:
    """The result for all terms, of which those kept were searched."""
    weights = np.zeros(n_terms)
    weights[kept] = result.weights
    return replace(result, weights=weights)


def term_sizes(terms: Terms, weights: Array, log_prior: Array) -> Array:
    """Mean absolute distance of each weighted term from its mean."""
    prior = np.exp(log_prior)
    sizes = np.zeros(terms.n_terms)
    for k in np.flatnonzero(weights):
        term = terms.term(int(k))
        lift = term - (term @ prior)[:, None]
        sizes[k] = weights[k] * float(
            np.abs(lift - lift.mean(axis=0)).mean(axis=0) @ prior
        )
    return sizes
