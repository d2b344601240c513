"""The penalty of n-grams beside columns, by its loss on rows that were not fitted.

Columns have penalties of their own, which stay; every n-gram has the same one. It falls
along a path that begins where no n-gram has a weight, on several folds at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bayesieve.model_selection._scoring import mean_log_loss
from bayesieve.weights._joint_solver import TOL, JointRows
from bayesieve.weights._result import Progress
from bayesieve.weights._sparse_newton import SparseNewton

__all__ = ["choose_text_penalty", "even_folds"]

Floats = NDArray[np.float64]
Fold = tuple[JointRows, JointRows]
_RATIO = 0.35  # between penalties; those around the best are then tried as well
_LEAST_NATS = 0.1  # penalties below are not looked at
#: Penalties without a better loss that end it, once there are so many n-grams, and so
#: many times those of the best.
_PATIENCE = 2
_FEW, _MANY_TIMES = 20, 2
_FOLDS = 5
#: Share of the least loss by which fewer n-grams may have more.
_SPARE = 1e-3
#: Rows from which on one fold is enough: losses of a fifth of them differ by little.
_MANY_ROWS = 20_000


def even_folds(codes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Rows to judge on, fold by fold; each class is spread evenly, at random.

    The same for the same classes: a fit has no chance in it.
    """
    order = np.random.default_rng(0).permutation(codes.size)
    order = order[np.argsort(codes[order], kind="stable")]
    n_folds = 1 if codes.size >= _MANY_ROWS else _FOLDS
    return [np.sort(order[first::_FOLDS]) for first in range(n_folds)]


class _Judged:
    """A solver of the training rows of a fold, and its loss on the test rows.

    Penalties of n-grams are those of all rows. A penalty has to outweigh the noise of a
    derivative, which grows with the square root of the rows.
    """

    def __init__(self, fold: Fold, column_slope: Floats, progress: Progress) -> None:
        self.train, self.test = fold
        self.column_slope = column_slope
        train, test = (_total(rows) for rows in fold)
        self.share = float(np.sqrt(train / (train + test)))
        problem = self.train.problem(np.ones(self.train.n_terms))
        self.newton = SparseNewton(problem, progress=progress)
        self.tol = TOL * max(self.newton.null_nll, 1e-300)
        columns = np.arange(self.train.n_columns)
        if columns.size:
            self.newton.minimise(self._slope(0.0), self.tol, columns)
        pull = -self.newton.gradient()[self.train.n_columns :]
        self.largest = float(pull.max(initial=0.0)) / self.share

    def _slope(self, penalty: float) -> Floats:
        n_ngrams = self.train.n_terms - self.train.n_columns
        ngrams = np.full(n_ngrams, self.share * penalty)
        return np.concatenate([self.column_slope, ngrams])

    @property
    def n_ngrams(self) -> int:
        """N-grams with a weight."""
        return int(np.count_nonzero(self.newton.state.weights[self.train.n_columns :]))

    def loss(self, penalty: float) -> float:
        """Log loss on the test rows of the weights for a penalty."""
        self.newton.minimise(self._slope(penalty), self.tol)
        state, test = self.newton.state, self.test
        scores = test.scores(state.weights, self.train.intercept(state.intercept))
        return mean_log_loss(scores, test.codes, test.weight)


def choose_text_penalty(
    folds: Sequence[Fold],
    column_slope: Floats,
    progress: Progress,
    usual: float,
    tell: Callable[[int, str], None] | None = None,
) -> float:
    """Penalty of each n-gram with the least loss on the test rows, for all rows.

    Of penalties with next to the same loss the largest, which has fewest n-grams.

    Parameters
    ----------
    folds : sequence of (JointRows, JointRows)
        Training and test rows.
    column_slope : ndarray of shape (n_columns,)
        Penalties of the columns, for all rows.
    progress : Progress
        When time is up or Ctrl-C is pressed, the best penalty so far is the answer.
    usual : float
        The penalty where none was judged, and the largest while the losses still fell
        when time was up: a path that ended early has met too few n-grams to drop them.
    tell : callable, optional
        Called with the number of penalties so far and a note before each.
    """
    losses: dict[float, float] = {}
    largest = 0.0
    with progress:
        progress.note(np.zeros(1), np.inf)
        judged = [_Judged(fold, column_slope, progress) for fold in folds]
        largest = max(fold.largest for fold in judged)

        def try_penalty(penalty: float) -> None:
            if tell is not None:
                tell(len(losses) + 1, f"penalty {penalty:.3g}")
            losses[penalty] = float(np.mean([fold.loss(penalty) for fold in judged]))

        penalty, best_size, failures = largest, 0, 0
        while penalty >= _LEAST_NATS:
            before = min(losses.values(), default=np.inf)
            try_penalty(penalty)
            size = max(fold.n_ngrams for fold in judged)
            failures = 0 if losses[penalty] < before else failures + 1
            best_size = best_size if failures else size
            if failures >= _PATIENCE and size >= max(_FEW, _MANY_TIMES * best_size):
                break
            penalty *= _RATIO
        if len(losses) > 1:
            best = min(losses, key=losses.__getitem__)
            for near in (best * _RATIO**0.5, best / _RATIO**0.5):
                try_penalty(min(near, largest))
    ended_early = progress.stopped != "converged"
    if not losses:
        return usual if ended_early else 2.0 * _LEAST_NATS
    enough = min(losses.values()) * (1.0 + _SPARE)
    best = max(p for p, loss in losses.items() if loss <= enough)
    if ended_early and losses[min(losses)] == min(losses.values()):
        return min(best, usual)
    # At the largest no n-gram has a weight, and with all rows none should have one.
    return best if best < largest else 2.0 * largest


def _total(rows: JointRows) -> float:
    return float(rows.codes.size if rows.weight is None else rows.weight.sum())
