"""Choosing penalty and relaxation of weights on rows that were not fitted.

Counts of a fold are those of the other folds, and candidates are screened again inside
each fold: nothing that was learnt from a test row is used to judge it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.counts import ClassCounts
from bayesieve.model_selection._choice import choose
from bayesieve.model_selection._fold_counts import training_counts
from bayesieve.model_selection._scoring import mean_log_loss
from bayesieve.model_selection._splits import Split
from bayesieve.weights._candidate_columns import candidate_block
from bayesieve.weights._result import Progress, Stopped
from bayesieve.weights._sparse_newton import WeightState
from bayesieve.weights._weight_path import PathPoint
from bayesieve.weights._wide_solver import CountedRows, WideSettings, WideSolver

__all__ = [
    "SHARES",
    "Fold",
    "WeightChoice",
    "choose_penalty",
    "choose_share",
    "path_scores",
    "weights_win",
]

Floats = NDArray[np.float64]
#: Shares of the penalty tried when the relaxation is to be chosen.
SHARES = (1.0, 0.5, 0.2, 0.0)
_RATIO = 0.6  # between the penalties of the path that is judged on held-out rows
#: Penalties without a better loss that end it, once there are so many features, and so
#: many times those of the best: a few columns of huge counts enter long before others.
_PATIENCE = 4
_FEW_FEATURES, _MANY_TIMES = 20, 4


@dataclass(frozen=True)
class WeightChoice:
    """What was chosen, and "converged" or why the choice ended early."""

    penalty: float
    share: float
    stopped: Stopped


@dataclass(frozen=True, eq=False)
class Fold:
    """A solver of the training rows, and the test rows it is judged on."""

    solver: WideSolver
    counts: ClassCounts
    share_of_rows: float
    test: NDArray[np.int64]
    block: Any
    codes: NDArray[np.int64]
    weight: Floats | None

    def joint(self, state: PathPoint | WeightState) -> Floats:
        """Scores of the test rows, of shape (n_test, n_classes)."""
        used = np.flatnonzero(state.weights)
        found, w = self.solver.candidates, state.weights[used]
        joint = np.asarray(self.block[:, used] @ (w[:, None] * found.slope[used]))
        joint = joint + self.solver.whole_intercept(state.intercept, state.weights)
        if found.offset is not None:
            joint += w @ found.offset[used]
        return joint

    def score(self, state: PathPoint | WeightState) -> float:
        """Log loss on the test rows, negative."""
        return -mean_log_loss(self.joint(state), self.codes, self.weight)


def _folds(
    rows: CountedRows,
    settings: WideSettings,
    splits: Sequence[Split],
    counting: dict[str, Any],
    time_limit: float | None = None,
) -> Iterator[Fold]:
    """Solvers of the training rows of each split, within one time for all of them."""
    end = None if time_limit is None else time.monotonic() + time_limit
    weight = rows.row_weight
    counted = training_counts(
        rows.X, rows.codes, rows.counts.classes, weight, splits, **counting
    )
    for (train, test), counts in zip(splits, counted, strict=True):
        part = CountedRows(
            rows.X[train],
            rows.codes[train],
            None if weight is None else weight[train],
            counts,
        )
        left = None if end is None else max(0.0, end - time.monotonic())
        solver = WideSolver.of(part, settings.for_counts(counts), Progress(left))
        columns = solver.candidates.columns
        block = candidate_block(
            rows.X[test], columns, settings.model, settings.binarize
        )
        yield Fold(
            solver,
            counts,
            part.total_weight / rows.total_weight,
            test,
            block.tocsr(),
            rows.codes[test],
            None if weight is None or not weight[test].any() else weight[test],
        )


def choose_share(
    rows: CountedRows,
    settings: WideSettings,
    splits: Sequence[Split],
    counting: dict[str, Any],
    time_limit: float | None = None,
) -> WeightChoice:
    """Share of the penalty of least cross-validated log loss, for k or a penalty.

    When time is up, by the folds so far; without any, no penalty stays.
    """
    scores = np.full((len(SHARES), 1, len(splits)), np.nan)
    stopped: Stopped = "converged"
    for f, fold in enumerate(_folds(rows, settings, splits, counting, time_limit)):
        solver = fold.solver
        own = np.full(len(SHARES), np.nan)
        with solver.stoppable():
            if settings.k is not None:
                point = solver.to_size(settings.k)
            else:
                assert settings.regularization is not None
                point = solver.to_penalty(settings.regularization * fold.share_of_rows)
            support = solver.support(point, settings.k)
            for i, share in enumerate(SHARES):
                own[i] = fold.score(solver.refit(point, support, share))
        stopped = solver.progress.stopped
        if stopped != "converged":
            break
        scores[:, 0, f] = own
    choice = choose(scores)
    share = 0.0 if choice is None else SHARES[choice.setting]
    return WeightChoice(settings.regularization or 0.0, share, stopped)


def choose_penalty(
    rows: CountedRows,
    settings: WideSettings,
    split: Split,
    counting: dict[str, Any],
    shares: Sequence[float],
    time_limit: float | None = None,
) -> WeightChoice:
    """Penalty and share of least log loss on the test rows of one split.

    The path goes down until the loss has not fallen for a while although features have
    joined, or time is up. The penalty is scaled to all rows: a sum over more rows needs
    more to weigh against it.
    """
    (fold,) = _folds(rows, settings, [split], counting, time_limit)
    solver = fold.solver
    penalty = solver.path.largest
    penalties, scores = [penalty], [np.full(len(shares), np.nan)]
    best, failures, best_size, size = -np.inf, 0, 0, 0
    with solver.stoppable():
        while penalty >= solver.least_penalty > 0.0:
            many = max(_FEW_FEATURES, _MANY_TIMES * best_size)
            if failures >= _PATIENCE and size >= many:
                break
            point = solver.path.solve(penalty)
            support = np.flatnonzero(point.weights)
            penalties.append(penalty)
            scores.append(np.full(len(shares), np.nan))
            for i, share in enumerate(shares):
                state = solver.refit(point, support, share, stay=False)
                scores[-1][i] = fold.score(state)
            improved, size = scores[-1].max() > best, support.size
            failures = 0 if improved else failures + 1
            if improved:
                best, best_size = scores[-1].max(), size
            penalty *= _RATIO
    choice = choose(np.array(scores).T[:, :, None])
    place, setting = (0, 0) if choice is None else (choice.best, choice.setting)
    return WeightChoice(
        penalties[place] / fold.share_of_rows,
        shares[setting],
        solver.progress.stopped,
    )


def path_scores(
    rows: CountedRows,
    settings: WideSettings,
    splits: Sequence[Split],
    counting: dict[str, Any],
    penalties: Floats,
    shares: Sequence[float],
    score: Callable[[Floats, NDArray[np.int64]], float],
    tell: Callable[[int, int], None],
) -> tuple[Floats, Floats]:
    """Scores of every share, penalty and fold, and the sizes of the supports.

    Parameters
    ----------
    rows, settings, splits, counting
        What is fitted, and how rows are counted.
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
        for f, fold in enumerate(_folds(rows, wide, splits, counting)):
            for p, penalty in enumerate(penalties):
                tell(f, p)
                solver = fold.solver
                point = solver.path.solve(float(penalty) * fold.share_of_rows)
                support = np.flatnonzero(point.weights)
                sizes[p, f] = support.size
                for s, share in enumerate(shares):
                    state = solver.refit(point, support, share, stay=False)
                    scores[s, p, f] = score(fold.joint(state), fold.test)
    except (KeyboardInterrupt, StopIteration):
        pass
    return scores, sizes


def weights_win(
    rows: CountedRows,
    settings: WideSettings,
    splits: Sequence[Split],
    counting: dict[str, Any],
    by_likelihood: Callable[[ClassCounts], NDArray[np.int64]],
) -> bool:
    """Whether k features chosen by weights classify test rows at least as well.

    Both choices are judged by the accuracy of plain naive Bayes on their features.
    `by_likelihood` gives the k columns of largest likelihood, from counts.
    """
    scores = np.empty((2, 1, len(splits)))
    for f, fold in enumerate(_folds(rows, settings, splits, counting)):
        both = (fold.solver.missed_most(), by_likelihood(fold.counts))
        for i, columns in enumerate(both):
            scores[i, 0, f] = _naive_bayes_accuracy(rows.X, fold, columns)
    choice = choose(scores)
    return choice is not None and choice.setting == 0


def _naive_bayes_accuracy(X: Any, fold: Fold, columns: NDArray[np.int64]) -> float:
    """Share of the test rows that naive Bayes on these columns classifies right."""
    settings, counts = fold.solver.settings, fold.counts
    block = candidate_block(X[fold.test], columns, settings.model, settings.binarize)
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
    return float(np.average(best == fold.codes, weights=fold.weight))
