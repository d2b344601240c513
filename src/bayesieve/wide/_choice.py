"""Choosing penalty and relaxation on rows that were not fitted.

Counts of a fold are those of the other folds, and candidates are screened again inside
each fold: nothing that was learnt from a test row is used to judge it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from bayesieve.counts import ClassCounts
from bayesieve.model_selection._fold_counts import training_counts
from bayesieve.weights._result import Progress
from bayesieve.weights._sparse_newton import WeightState
from bayesieve.weights._weight_path import PathPoint
from bayesieve.wide._block import candidate_block
from bayesieve.wide._fit import WideData, WideModel, WideSettings

__all__ = [
    "SHARES",
    "Clock",
    "Fold",
    "choose_penalty",
    "choose_share",
    "cv_scores",
    "folds",
    "mean_log_loss",
]

#: Shares of the penalty tried when the relaxation is to be chosen.
SHARES = (1.0, 0.5, 0.2, 0.0)
_RATIO = 0.6  # between the penalties of the path that is judged on held-out rows
#: Penalties without a better loss that end it, once there are so many features, and so
#: many times those of the best: a few columns of huge counts enter long before others.
_PATIENCE = 4
_FEW_FEATURES, _MANY_TIMES = 20, 4

Split = tuple[np.ndarray, np.ndarray]


def mean_log_loss(
    joint: np.ndarray, codes: np.ndarray, weight: np.ndarray | None
) -> float:
    """Mean negative log-probability of the true class."""
    posterior = joint - logsumexp(joint, axis=1, keepdims=True)
    own = posterior[np.arange(codes.size), codes]
    # A class that the training rows lack has no chance: bounded, as metrics do it.
    loss = -np.maximum(own, np.log(np.finfo(np.float64).eps))
    return float(np.average(loss, weights=weight))


class Clock:
    """Time for several models together.

    Parameters
    ----------
    seconds : float or None
        No limit if None.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def progress(self) -> Progress:
        """Progress of one model, with the time that is left."""
        if self._end is None:
            return Progress()
        return Progress(max(0.0, self._end - time.monotonic()))


@dataclass(frozen=True, eq=False)
class Fold:
    """A model of the training rows, and the test rows it is judged on."""

    model: WideModel
    counts: ClassCounts
    share_of_rows: float
    test: np.ndarray
    block: Any
    codes: np.ndarray
    weight: np.ndarray | None

    def joint(self, state: PathPoint | WeightState) -> np.ndarray:
        """Scores of the test rows, of shape (n_test, n_classes)."""
        used = np.flatnonzero(state.weights)
        found, w = self.model.candidates, state.weights[used]
        joint = np.asarray(self.block[:, used] @ (w[:, None] * found.slope[used]))
        joint = joint + self.model.whole_intercept(state.intercept, state.weights)
        if found.offset is not None:
            joint += w @ found.offset[used]
        return joint

    def loss(self, state: PathPoint | WeightState) -> float:
        """Log loss on the test rows."""
        return mean_log_loss(self.joint(state), self.codes, self.weight)


def folds(
    data: WideData,
    settings: WideSettings,
    splits: Sequence[Split],
    options: dict[str, Any],
    clock: Clock | None = None,
) -> Iterator[Fold]:
    """Models of the training rows of each split, one after the other."""
    classes = data.counts.classes
    counted = training_counts(
        data.X, data.codes, classes, data.row_weight, splits, **options
    )
    for (train, test), counts in zip(splits, counted, strict=True):
        weight = data.row_weight
        part = WideData(
            data.X[train],
            data.codes[train],
            None if weight is None else weight[train],
            counts,
        )
        own = settings.for_rows(part)
        model = WideModel.of(part, own, None if clock is None else clock.progress())
        block = candidate_block(
            data.X[test], model.candidates.columns, own.model, own.binarize
        ).tocsr()
        yield Fold(
            model,
            counts,
            part.total_weight / data.total_weight,
            test,
            block,
            data.codes[test],
            None if weight is None or not weight[test].any() else weight[test],
        )


def choose_share(
    data: WideData,
    settings: WideSettings,
    splits: Sequence[Split],
    options: dict[str, Any],
    clock: Clock | None = None,
) -> float:
    """Share of the penalty of least cross-validated log loss, for k or a penalty.

    When time is up, by the folds so far; without any, no penalty stays.
    """
    losses, done = np.zeros(len(SHARES)), 0
    for fold in folds(data, settings, splits, options, clock):
        model = fold.model
        own = np.zeros(len(SHARES))
        with _stoppable(model):
            if settings.k is not None:
                point = model.to_size(settings.k)
            else:
                assert settings.penalty is not None
                point = model.to_penalty(settings.penalty * fold.share_of_rows)
            support = model.support(point, settings.k)
            for i, share in enumerate(SHARES):
                own[i] = fold.loss(model.refitted(point, support, share))
        if model.progress.stopped != "converged":
            break
        losses, done = losses + own, done + 1
    return SHARES[int(np.argmin(losses))] if done else 0.0


def _stoppable(model: WideModel) -> Progress:
    """The model's progress, ready to swallow the end of time and Ctrl-C."""
    model.progress.note(model.solver.newton.state.weights, np.inf)
    return model.progress


def choose_penalty(
    data: WideData,
    settings: WideSettings,
    split: Split,
    options: dict[str, Any],
    shares: Sequence[float],
    clock: Clock | None = None,
) -> tuple[float, float]:
    """Penalty and share of least log loss on the test rows of one split.

    The path goes down until the loss has not fallen for a while although features have
    joined, or time is up. The penalty is scaled to all rows: a sum over more rows needs
    more to weigh against it.
    """
    (fold,) = folds(data, settings, [split], options, clock)
    model, solver = fold.model, fold.model.solver
    best = (np.inf, solver.largest, shares[0])
    failures, penalty = 0, solver.largest
    best_size = size = 0
    with _stoppable(model):
        while penalty >= model.least_penalty > 0.0:
            many = max(_FEW_FEATURES, _MANY_TIMES * best_size)
            if failures >= _PATIENCE and size >= many:
                break
            point = solver.solve(penalty)
            support = np.flatnonzero(point.weights)
            improved = False
            for share in shares:
                loss = fold.loss(_refit(model, point, support, share))
                if loss < best[0]:
                    best, improved = (loss, penalty, share), True
            failures, size = 0 if improved else failures + 1, support.size
            best_size = size if improved else best_size
            penalty *= _RATIO
    return best[1] / fold.share_of_rows, best[2]


def _refit(
    model: WideModel, point: PathPoint, support: np.ndarray, share: float
) -> PathPoint | WeightState:
    """Refit, and put the solver back where the path goes on."""
    before = model.solver.newton.state
    state = model.refitted(point, support, share)
    model.solver.newton.state = before
    return state


def cv_scores(
    data: WideData,
    settings: WideSettings,
    splits: Sequence[Split],
    options: dict[str, Any],
    penalties: np.ndarray,
    shares: Sequence[float],
    score: Callable[[np.ndarray, np.ndarray], float],
    tell: Callable[[int, int], None],
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of every share, penalty and fold, and the sizes of the supports.

    Parameters
    ----------
    data, settings, splits, options
        See `folds`.
    penalties : ndarray
        Decreasing, for all rows.
    shares : sequence of float
    score : callable
        ``score(joint, test rows)``, larger is better.
    tell : callable
        Called with fold and penalty number before each one; may raise to end early.

    Returns
    -------
    scores : ndarray of shape (n_shares, n_penalties, n_folds)
        NaN for what was not reached: Ctrl-C, or whatever `tell` raises as
        `StopIteration`, ends the work and keeps what there is.
    sizes : ndarray of shape (n_penalties, n_folds)
    """
    scores = np.full((len(shares), penalties.size, len(splits)), np.nan)
    sizes = np.full((penalties.size, len(splits)), np.nan)
    wide = replace(settings, k=None)
    try:
        for f, fold in enumerate(folds(data, wide, splits, options)):
            model = fold.model
            for p, penalty in enumerate(penalties):
                tell(f, p)
                point = model.solver.solve(float(penalty) * fold.share_of_rows)
                support = np.flatnonzero(point.weights)
                sizes[p, f] = support.size
                for s, share in enumerate(shares):
                    state = _refit(model, point, support, share)
                    scores[s, p, f] = score(fold.joint(state), fold.test)
    except (KeyboardInterrupt, StopIteration):
        pass
    return scores, sizes
