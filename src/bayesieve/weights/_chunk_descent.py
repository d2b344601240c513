"""Projected gradient descent over chunks of rows that do not fit in memory together.

PGDMB with the rows read anew in every pass: each chunk is cut into batches, each batch
gives one step, and the weights of the last pass are averaged. A heuristic; the start
should come from a sample of the rows, which also tells how steep each weight is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bayesieve import _core
from bayesieve.weights._descent import StepSizes
from bayesieve.weights._intercepts import thin_product
from bayesieve.weights._linear_terms import LinearTerms
from bayesieve.weights._sparse_newton import WeightState
from bayesieve.weights._terms import Array

__all__ = ["Batch", "descend_chunks", "fit_chunk_intercepts"]

#: Terms, class codes and weights of some rows.
Batch = tuple[LinearTerms, Array, Array | None]
_FARTHEST = 30.0  # that one step moves an intercept
_FIRST_STEP = 0.3  # of a Newton step of the weight alone


def descend_chunks(
    batches: Callable[[], Iterator[Batch]],
    start: WeightState,
    curvature: Array,
    slope: Array,
    *,
    refit_intercept: bool = True,
    passes: int = 10,
    tol: float = 1e-4,
    tell: Callable[[], None] = lambda: None,
) -> tuple[Array, Array]:
    """Weights and intercepts that nearly minimise ``NLL + slope w`` per row.

    Parameters
    ----------
    batches : callable
        Gives all rows from the beginning, in batches.
    start : WeightState
        Weights and intercepts to begin from.
    curvature : ndarray of shape (n_terms,)
        Second derivative of the mean NLL for each weight, from a sample: steps are
        measured by it, so that rare and frequent features move alike.
    slope : ndarray of shape (n_terms,)
        Penalty of a weight of one, divided by the number of rows.
    refit_intercept : bool
    passes : int
        Most passes over the rows.
    tol : float
        A pass that lowers the mean loss by less than this share of it is the last but
        one: the weights of the last pass are averaged.
    tell : callable
        Called after each batch; may raise to end early.
    """
    w, b = start.weights.copy(), start.intercept.copy()
    steps = StepSizes(w.size, first=_FIRST_STEP, bounds=(1e-4, 1.0))
    scale = np.maximum(curvature, 1e-3 * curvature.max(initial=1e-300))
    before, last = np.inf, passes <= 1
    for number in range(passes):
        total_w, total_b, loss, seen = np.zeros_like(w), np.zeros_like(b), 0.0, 0.0
        for terms, codes, weight in batches():
            residual, nll, rows = _residual(terms, codes, weight, w, b)
            gradient = steps.follow(terms.gradient(residual) / rows + slope)
            w = np.clip(w - steps.size * gradient / scale, 0.0, 1.0)
            if refit_intercept:
                b = b + _intercept_step(terms, codes, weight, w, b)
            total_w += rows * w
            total_b += rows * b
            loss += nll + rows * float(slope @ w)
            seen += rows
            tell()
        if last or not seen:
            break
        last = not loss < (1.0 - tol) * before or number == passes - 2
        before = loss
    return (total_w / seen, total_b / seen) if seen else (w, b)


def fit_chunk_intercepts(
    batches: Callable[[], Iterator[Batch]], w: Array, b: Array, *, steps: int = 2
) -> tuple[Array, float]:
    """Intercepts for given weights, by Newton steps over all rows, and their NLL.

    A step costs a pass; one that raises the value is undone and ends them.
    """
    best, least = b, np.inf
    for number in range(steps + 1):
        force, curve, nll = np.zeros_like(b), np.zeros((b.size, b.size)), 0.0
        for terms, codes, weight in batches():
            residual, own, _ = _residual(terms, codes, weight, w, b)
            nll += own
            force += residual.sum(axis=0)
            curve += _curve(terms, weight, w, b)
        if not nll < least:
            break
        best, least = b, nll
        if number < steps:
            step = -np.linalg.solve(curve + 1e-12 * np.eye(b.size), force)
            # Where nothing curves, a step says a direction and no distance.
            b = b + step * min(1.0, _FARTHEST / max(np.abs(step).max(), 1e-300))
    return best, least


def _scores(terms: LinearTerms, w: Array, b: Array) -> Array:
    scores = np.tile(b, (terms.n_rows, 1))
    used = np.flatnonzero(w)
    terms.add_scores(scores, w[used], used)
    return scores


def _residual(
    terms: LinearTerms, codes: Array, weight: Array | None, w: Array, b: Array
) -> tuple[Array, float, float]:
    """Residuals, the sum of losses, and the number of rows or their weight."""
    scores = _scores(terms, w, b)
    nll = _core.softmax_nll(scores, codes, weight, True)
    rows = float(codes.size if weight is None else weight.sum())
    return scores, nll, rows or 1.0


def _curve(terms: LinearTerms, weight: Array | None, w: Array, b: Array) -> Array:
    """Curvature of the intercepts."""
    p = _scores(terms, w, b)
    _core.softmax_nll(p, np.zeros(terms.n_rows, np.int32), None, True)
    q = p if weight is None else p * weight[:, None]
    return np.asarray(np.diag(q.sum(axis=0)) - thin_product(q, p))


def _intercept_step(
    terms: LinearTerms, codes: Array, weight: Array | None, w: Array, b: Array
) -> Array:
    """A tenth of a Newton step: one batch says little about the classes' shares."""
    residual, _, rows = _residual(terms, codes, weight, w, b)
    curve = _curve(terms, weight, w, b) + 1e-6 * rows * np.eye(b.size)
    return np.asarray(-0.1 * np.linalg.solve(curve, residual.sum(axis=0)))
