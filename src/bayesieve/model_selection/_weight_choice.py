"""Choosing penalty and relaxation of weights on rows that were not fitted.

Counts of a fold are those of the other folds, and candidates are screened again inside
each fold: nothing that was learnt from a test row is used to judge it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.counts import ClassCounts
from bayesieve.model_selection._choice import choose
from bayesieve.model_selection._fold_counts import training_counts
from bayesieve.model_selection._scoring import log_losses
from bayesieve.model_selection._splits import Split
from bayesieve.utils._resources import with_one_blas_thread
from bayesieve.weights._candidate_columns import candidate_block
from bayesieve.weights._result import Progress, Stopped
from bayesieve.weights._sparse_newton import WeightState
from bayesieve.weights._weight_path import PathPoint
from bayesieve.weights._wide_solver import CountedRows, WideSettings, WideSolver

__all__ = [
    "SHARES",
    "Fold",
    "HeldOutPath",
    "WeightChoice",
    "choose_penalty",
    "choose_share",
    "path_scores",
    "weights_win",
]

Floats = NDArray[np.float64]
#: Shares of the penalty tried when the relaxation is to be chosen.
SHARES = (1.0, 0.5, 0.2, 0.0)
_RATIO = 0.7  # between the penalties of the path that is judged on held-out rows
#: Penalties without a better loss that end it, once there are so many features, and so
#: many times those of the best (a few columns of huge counts enter long before others)
#: or a loss that is worse by so many standard errors.
_PATIENCE = 4
_CLEARLY = 3.0
_FEW_FEATURES, _MANY_TIMES = 20, 4


@dataclass(frozen=True, eq=False)
class HeldOutPath:
    """How penalties did on rows that were not fitted, from the largest on.

    Attributes
    ----------
    penalties : ndarray of shape (n_penalties,)
        For all rows.
    sizes : ndarray of shape (n_penalties,)
        Mean number of features.
    loss : ndarray of shape (n_penalties,)
        Mean log loss of a row.
    error : ndarray of shape (n_penalties,)
        Standard error of what a row loses against the best penalty. Rows are compared
        with themselves: how hard they are is the same for all penalties, and would hide
        differences that matter.
    best, within_error : int
        Places of the least loss, and of the largest penalty within one error of it.
    """

    penalties: Floats
    sizes: Floats
    loss: Floats
    error: Floats
    best: int
    within_error: int


@dataclass(frozen=True)
class WeightChoice:
    """What was chosen, and "converged" or why the choice ended early."""

    penalty: float
    share: float
    stopped: Stopped
    path: HeldOutPath | None = None

    def scaled(self, factor: float) -> WeightChoice:
        """The same with so many times the penalty."""
        path = self.path
        if path is not None:
            path = replace(path, penalties=factor * path.penalties)
        return replace(self, penalty=factor * self.penalty, path=path)


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

    def losses(self, state: PathPoint | WeightState) -> Floats:
        """Log loss of each test row."""
        return log_losses(self.joint(state), self.codes)

    def score(self, state: PathPoint | WeightState) -> float:
        """Log loss on the test rows, negative."""
        return -float(np.average(self.losses(state), weights=self.weight))


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


@with_one_blas_thread
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


@with_one_blas_thread
def choose_penalty(
    rows: CountedRows,
    settings: WideSettings,
    splits: Sequence[Split],
    counting: dict[str, Any],
    shares: Sequence[float],
    *,
    rule: str = "best",
    time_limit: float | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> WeightChoice:
    """Penalty and share by the log loss of rows that were not fitted.

    In every fold the path goes down until the loss has not fallen for a while although
    features have joined, or time is up. Penalties are those of all rows: a sum over
    fewer rows needs less to weigh against it. `rule` is "best", or "1se": the sparsest
    of those that `HeldOutPath` cannot tell from the best. `tell` is called with fold
    and number of penalties before each.
    """
    largest, done = 0.0, list[_FoldPath]()
    stopped: Stopped = "converged"
    for f, fold in enumerate(_folds(rows, settings, splits, counting, time_limit)):
        largest = largest or fold.solver.path.largest / fold.share_of_rows
        own = _FoldPath(fold, largest, shares)
        with fold.solver.stoppable():
            own.descend(None if tell is None else partial(tell, f))
        stopped = fold.solver.progress.stopped
        if stopped == "converged" or not done:
            done.append(own)
        if stopped != "converged":
            break
    scored = [own for own in done if own.losses]
    if not scored:
        return WeightChoice(largest, shares[0], stopped)
    path, setting = _held_out_path(scored, largest)
    place = path.within_error if rule == "1se" else path.best
    return WeightChoice(float(path.penalties[place]), shares[setting], stopped, path)


class _FoldPath:
    """Losses of the test rows of one fold, penalty by penalty."""

    def __init__(self, fold: Fold, largest: float, shares: Sequence[float]) -> None:
        self.fold, self._penalty, self._shares = fold, largest, shares
        self.losses: list[Floats] = []  # of shape (n_shares, n_test) each
        self.sizes: list[int] = []

    def descend(self, tell: Callable[[int], None] | None) -> None:
        """Follow the path to its end."""
        fold, solver = self.fold, self.fold.solver
        penalty, least = self._penalty * fold.share_of_rows, solver.least_penalty
        best, failures, best_size, size = np.inf, 0, 0, 0
        least_losses, worse = np.zeros(0), False
        # The first penalty is the largest of another fold, maybe beyond this one's end.
        while least > 0.0 and (penalty >= least or not self.losses):
            many = max(_FEW_FEATURES, _MANY_TIMES * best_size)
            if failures >= _PATIENCE and (size >= many or worse):
                break
            if tell is not None:
                tell(len(self.losses))
            point = solver.path.solve(penalty)
            support = np.flatnonzero(point.weights)
            found = np.array(
                [
                    fold.losses(solver.refit(point, support, share, stay=False))
                    for share in self._shares
                ]
            )
            self.losses.append(found)
            self.sizes.append(size := support.size)
            means = np.average(found, axis=1, weights=fold.weight)
            own = found[np.argmin(means)]
            if means.min() < best:
                best, best_size, failures, least_losses = means.min(), size, 0, own
            else:
                behind, failures = own - least_losses, failures + 1
                error = behind.std() / np.sqrt(behind.size)
                clear = behind.mean() > _CLEARLY * error
                worse = clear and size >= _FEW_FEATURES
            penalty *= _RATIO


def _held_out_path(
    folds: Sequence[_FoldPath], largest: float
) -> tuple[HeldOutPath, int]:
    """The path over the rows of all folds, of the share of least loss; its number."""
    n = min(len(own.losses) for own in folds)
    losses = np.concatenate([np.array(own.losses[:n]) for own in folds], axis=2)
    weight = np.concatenate(
        [
            np.ones(own.fold.test.size) if own.fold.weight is None else own.fold.weight
            for own in folds
        ]
    )
    mean = np.average(losses, axis=2, weights=weight)  # (n_penalties, n_shares)
    setting = int(np.unravel_index(np.argmin(mean), mean.shape)[1])
    own, mean = losses[:, setting], mean[:, setting]
    best = int(np.argmin(mean))
    behind = own - own[best]
    spread = behind - (mean - mean[best])[:, None]
    error = np.sqrt((weight * spread) ** 2 @ np.ones_like(weight)) / weight.sum()
    return (
        HeldOutPath(
            np.asarray(largest * _RATIO ** np.arange(n), dtype=np.float64),
            np.array([fold.sizes[:n] for fold in folds]).mean(axis=0),
            mean,
            error,
            best,
            int(np.flatnonzero(mean - mean[best] <= error)[0]),
        ),
        setting,
    )


@with_one_blas_thread
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


@with_one_blas_thread
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
