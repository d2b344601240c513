"""Selection of k features by their weights, or by whichever way cross-validates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.counts import ClassCounts
from bayesieve.solvers import Certificate
from bayesieve.wide._block import candidate_block
from bayesieve.wide._candidates import Candidates
from bayesieve.wide._choice import Fold, Split, folds
from bayesieve.wide._fit import WideData, WideModel, WideSettings

__all__ = ["Refined", "refined_support", "weights_win"]

_TIMES = 2  # features let in for each one that stays


@dataclass(frozen=True, eq=False)
class Refined:
    """Support chosen by weights.

    Attributes
    ----------
    columns : ndarray of int64 of shape (k,)
        Sorted.
    certificate : Certificate
        Of the screening.
    """

    columns: np.ndarray
    certificate: Certificate


def refined_support(data: WideData, settings: WideSettings) -> Refined:
    """The k features that would be missed most among twice as many with a weight.

    The penalty that leaves k weights has shrunk them much, and frequent features gain
    by that. So twice as many are let in, their weights are refitted without penalty,
    and those stay whose removal would cost most. Where fewer than k ever get a weight,
    the candidates of largest gain fill up.
    """
    model = WideModel.of(data, settings)
    return Refined(_chosen(model, settings), model.candidates.certificate)


def _chosen(model: WideModel, settings: WideSettings) -> np.ndarray:
    """The k features."""
    assert settings.k is not None
    point = model.to_size(_TIMES * settings.k)
    support = np.flatnonzero(point.weights)
    if support.size > settings.k:
        state = model.solver.refit(point, support)
        terms, problem = model.solver.newton.terms, model.solver.problem
        curve = terms.diagonal(state.scores, support, problem.row_weight)
        # What the likelihood would lose to second order, the others held.
        loss = state.weights[support] ** 2 * curve
        kept = np.argsort(-loss, kind="stable")[: settings.k]
        support = np.sort(support[kept])
    return _filled(model.candidates.columns[support], model.screened, settings.k)


def _filled(columns: np.ndarray, screened: Candidates, k: int) -> np.ndarray:
    missing = min(k, screened.columns.size) - columns.size
    if missing <= 0:
        return columns
    rest = np.flatnonzero(~np.isin(screened.columns, columns))
    best = rest[np.argsort(-screened.gains[rest], kind="stable")[:missing]]
    return np.union1d(columns, screened.columns[best])


def weights_win(
    data: WideData,
    settings: WideSettings,
    splits: Sequence[Split],
    options: dict[str, Any],
    by_likelihood: Callable[[ClassCounts], np.ndarray],
) -> bool:
    """Whether k features chosen by weights classify test rows at least as well.

    Both choices are judged by plain naive Bayes on their features.

    Parameters
    ----------
    data, settings, splits, options
        See `folds`.
    by_likelihood : callable
        The k columns of largest likelihood, from counts.
    """
    hits = np.zeros(2)
    for fold in folds(data, settings, splits, options):
        weighted = _chosen(fold.model, settings)
        for i, columns in enumerate((by_likelihood(fold.counts), weighted)):
            hits[i] += _naive_bayes_hits(data.X, fold, columns, settings)
    return bool(hits[1] >= hits[0])


def _naive_bayes_hits(
    X: Any, fold: Fold, columns: np.ndarray, settings: WideSettings
) -> float:
    """Test rows that naive Bayes on these columns alone classifies right."""
    block = candidate_block(X[fold.test], columns, settings.model, settings.binarize)
    counts = fold.counts
    table = counts.feature_count[:, columns]
    if not isinstance(table, np.ndarray):
        table = table.toarray()
    alpha = np.broadcast_to(settings.alpha, counts.n_features)[columns]
    smoothed = table + alpha
    with np.errstate(divide="ignore"):
        joint = np.log(counts.class_count)
    if settings.model == "multinomial":
        slope = np.log(smoothed) - np.log(smoothed.sum(axis=1, keepdims=True))
    else:
        theta = smoothed / (counts.class_count[:, None] + 2.0 * alpha)
        slope = np.log(theta) - np.log1p(-theta)
        joint = joint + np.log1p(-theta).sum(axis=1)
    best = np.argmax(np.asarray(block @ slope.T) + joint, axis=1)
    right = best == fold.codes
    return float(right.sum() if fold.weight is None else right @ fold.weight)
