"""Cross-validation on counts: what is left of a fold is a subtraction.

One pass over the rows counts every fold at once. The counts without a fold are those of
all others, so each pair (alpha, k) costs a solve on counts and a share of one scoring
pass: test rows are scored for every k together, by cumulating what each feature adds
when it enters a support and takes away when it leaves.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.counts import ClassCounts, count_matrix
from bayesieve.solvers._additive import AdditiveProblem
from bayesieve.solvers._additive_rules import solve_additive_under
from bayesieve.solvers._branch import Limits
from bayesieve.solvers._logs import log_or_zero
from bayesieve.solvers._multinomial import multinomial_estimates
from bayesieve.solvers._problem import MultinomialProblem
from bayesieve.solvers._rules import Rules

__all__ = ["SearchBudget", "bernoulli_scores", "multinomial_scores", "training_counts"]

#: Numbers held at once while scoring test rows: rows x sizes x classes.
_SCORING_CELLS = 1 << 23
#: Tables of all folds together up to this many numbers are counted in one pass.
_ONE_PASS_CELLS = 1 << 28


class SearchBudget:
    """Seconds that searches stopped at a limit may cost in all.

    One adversarial table must not cost its limit once for every fold, alpha and k: when
    the stopped searches together have used up the limit, later ones return the best
    support of the relaxation.
    """

    def __init__(self, exact: bool, time_limit: float | None) -> None:
        self._exact, self._time_limit = exact, time_limit
        self._spent = 0.0
        self.stopped = 0

    def solve(self, problem: MultinomialProblem, k: int) -> np.ndarray:
        """Support of size k."""
        limit = self._time_limit
        left = None if limit is None else max(0.0, limit - self._spent)
        exact = self._exact and left != 0.0
        begin = time.monotonic()
        outcome = problem.solve(
            k, exact=exact, limits=Limits.starting_now(left, 10_000)
        )
        if outcome.stopped or (self._exact and not exact):
            self.stopped += 1
            self._spent += time.monotonic() - begin
        return outcome.support

    def solve_additive(
        self, problem: AdditiveProblem, k: int, rules: Rules
    ) -> np.ndarray:
        """Support of k items under rules."""
        limits = Limits.starting_now(self._time_limit, 10_000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said about all rows, or in the scores
            solution = solve_additive_under(problem, k, rules, limits, "ks")
        self.stopped += not solution.certificate.is_optimal
        return solution.support


def training_counts(
    X: Any,
    codes: np.ndarray,
    classes: np.ndarray,
    weights: np.ndarray | None,
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
    **options: Any,
) -> Iterator[ClassCounts]:
    """Counts of the training rows of each split, in order."""
    fold = _fold_of_rows(X.shape[0], splits)
    cells = len(splits) * classes.shape[0] * X.shape[1]
    if fold is None or cells > _ONE_PASS_CELLS:
        for train, _ in splits:
            part = None if weights is None else weights[train]
            yield count_matrix(X[train], codes[train], classes, part, **options)
        return
    n_folds, n_classes = len(splits), classes.shape[0]
    everything = count_matrix(
        X,
        fold * n_classes + codes,
        np.arange(n_folds * n_classes),
        weights,
        **options,
    )
    table = everything.feature_count
    if not isinstance(table, np.ndarray):
        table = table.toarray()  # at most _ONE_PASS_CELLS numbers
    tables = table.reshape(n_folds, n_classes, -1)
    rows = everything.class_count.reshape(n_folds, n_classes)
    for i in range(n_folds):
        # Added up, not subtracted: a column that only this fold has must end at exactly
        # zero, and differences of sums of fractions would leave rounding behind.
        others = np.arange(n_folds) != i
        yield ClassCounts(
            classes=classes,
            class_count=rows[others].sum(axis=0),
            feature_count=tables[others].sum(axis=0),
            kind=everything.kind,
        )


def _fold_of_rows(
    n_rows: int, splits: Sequence[tuple[np.ndarray, np.ndarray]]
) -> np.ndarray | None:
    """Test fold of each row if the splits are a partition, else None."""
    fold = np.full(n_rows, -1, dtype=np.int64)
    for i, (train, test) in enumerate(splits):
        if train.shape[0] + test.shape[0] != n_rows or (fold[test] >= 0).any():
            return None
        fold[test] = i
        if np.intersect1d(train, test).shape[0]:
            return None
    return None if (fold < 0).any() else fold


@dataclass(frozen=True)
class _Moves:
    """Features entering (+1) and leaving (-1) the support along increasing sizes."""

    columns: np.ndarray  # distinct columns that are ever in a support, sorted
    position: np.ndarray  # of each move, in `columns`
    step: np.ndarray  # at which size
    sign: np.ndarray


def _moves(supports: Sequence[np.ndarray]) -> tuple[_Moves, np.ndarray]:
    """The moves, and which of their columns each support has, one row a support."""
    ever = np.zeros(1 + max((int(s[-1]) for s in supports if s.size), default=-1), bool)
    for support in supports:
        ever[support] = True
    columns = np.flatnonzero(ever)
    inside = np.zeros((len(supports), columns.shape[0]), dtype=bool)
    position, step, sign = [], [], []
    before = np.zeros(columns.shape[0], dtype=bool)
    for i, support in enumerate(supports):
        now = inside[i]
        now[np.searchsorted(columns, support)] = True
        changed = np.flatnonzero(now != before)
        position.append(changed)
        step.append(np.full(changed.shape[0], i))
        sign.append(np.where(now[changed], 1.0, -1.0))
        before = now
    moves = _Moves(
        columns, np.concatenate(position), np.concatenate(step), np.concatenate(sign)
    )
    return moves, inside


class _Cumulation:
    """Sums over the support of every size at once, for some test rows.

    ``part`` is CSC with one column for each of ``moves.columns``.
    """

    def __init__(self, part: Any, moves: _Moves, n_steps: int) -> None:
        self._shape = (part.shape[0], n_steps)
        lengths = np.diff(part.indptr)[moves.position]
        starts = part.indptr[moves.position]
        entry = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
        entry = entry + np.arange(entry.shape[0])
        self._move = np.repeat(np.arange(lengths.shape[0]), lengths)
        self._position = moves.position
        self._value = part.data[entry] * moves.sign[self._move]
        self._has_fractions = bool((part.data != np.floor(part.data)).any())
        rows = part.indices[entry].astype(np.int64)
        self._cell = rows * n_steps + moves.step[self._move]

    def of(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Sum of ``x * weight`` over the support, for each row and size."""
        value = self._value
        if weights is not None:
            value = value * weights[self._position][self._move]
        return self._cumulated(value)

    def number(self, columns: np.ndarray | None = None) -> np.ndarray:
        """How many of the support, or of these columns of it, each row has.

        Whole numbers: sums of fractions need not come back to 0 when a feature leaves.
        """
        value = np.sign(self._value)  # values are at least 0; a stored zero is none
        if columns is not None:
            value = value * columns[self._position][self._move]
        return self._cumulated(value)

    def nothing(self, mass: np.ndarray) -> np.ndarray:
        """Where a row has nothing of the support, whose values sum to ``mass``."""
        return (self.number() if self._has_fractions else mass) <= 0

    def _cumulated(self, value: np.ndarray) -> np.ndarray:
        n_rows, n_steps = self._shape
        sums = np.bincount(self._cell, weights=value, minlength=n_rows * n_steps)
        return np.cumsum(sums.reshape(n_rows, n_steps), axis=1)


def _row_chunks(n_rows: int, n_steps: int, n_classes: int) -> Iterator[slice]:
    size = max(1, _SCORING_CELLS // max(1, n_steps * n_classes))
    for first in range(0, n_rows, size):
        yield slice(first, min(n_rows, first + size))


def _csc_part(X: Any, rows: slice, columns: np.ndarray) -> Any:
    if rows.stop - rows.start < X.shape[0]:
        X = X[rows]
    return sparse.csc_array(X[:, columns])


def multinomial_scores(
    counts: ClassCounts,
    X_test: Any,
    sizes: Sequence[int],
    alpha: float,
    log_prior: np.ndarray,
    budget: SearchBudget,
    *,
    rules: Rules | None = None,
) -> np.ndarray:
    """Joint log-probabilities of test rows, shape (n_rows, n_sizes, n_classes).

    Sizes increase. ``log theta_ci = log f_ci - log B_c`` up to a constant of the row,
    so a row needs the sum of ``x log f`` and of ``x`` over the support. A class without
    count on the support has estimates of another form, and is scored by them.
    """
    problem = MultinomialProblem(counts.feature_count, alpha, rules)
    supports = [budget.solve(problem, k) for k in reversed(sizes)][::-1]
    moves, inside = _moves(supports)
    n_classes, n_steps = counts.n_classes, len(sizes)
    smoothed = problem.smoothed(moves.columns)
    log_counts = log_or_zero(smoothed)
    # Summed anew for every size: what differences leave of a class that has lost its
    # last count is rounding, not the smoothing of the others.
    class_sums = np.array([smoothed @ kept.astype(np.float64) for kept in inside])
    log_sums = log_or_zero(class_sums)
    impossible = smoothed <= 0
    joint = np.empty((X_test.shape[0], n_steps, n_classes))
    for rows in _row_chunks(X_test.shape[0], n_steps, n_classes):
        part = _csc_part(X_test, rows, moves.columns)
        cumulated = _Cumulation(part, moves, n_steps)
        mass = cumulated.of()
        nothing = cumulated.nothing(mass)
        for c in range(n_classes):
            value = cumulated.of(log_counts[c]) - mass * log_sums[:, c]
            value[nothing] = 0.0  # no selected feature in the row: no rounding either
            if impossible[c].any():
                value[cumulated.number(impossible[c]) > 0] = -np.inf
            joint[rows, :, c] = value
        for step in np.flatnonzero((class_sums <= 0).any(axis=1)):
            kept, missing = np.flatnonzero(inside[step]), class_sums[step] <= 0
            table = smoothed[:, kept]
            # The sum for the total: the mass outside the support is left out, as above.
            estimates = multinomial_estimates(table, float(table.sum()))[missing]
            joint[rows, step, missing] = part[:, kept] @ log_or_zero(estimates).T
        joint[rows] += log_prior
    return joint


def bernoulli_scores_of(
    supports: Sequence[np.ndarray],
    estimate: Callable[[np.ndarray], np.ndarray],
    X_test: Any,
    log_prior: np.ndarray,
) -> np.ndarray:
    """The same as `bernoulli_scores` for supports that need not be nested."""
    joint = np.empty((X_test.shape[0], len(supports), log_prior.shape[0]))
    for step, support in enumerate(supports):
        estimates = estimate(support)
        with np.errstate(divide="ignore"):
            present, absent = np.log(estimates), np.log1p(-estimates)
        part = X_test[:, support]
        never, always = np.isneginf(present), np.isneginf(absent)
        finite = np.where(always, 0.0, absent)
        value = part @ (np.where(never, 0.0, present) - finite).T + finite.sum(axis=1)
        odd = part @ never.T.astype(np.float64)
        met = part @ always.T.astype(np.float64)
        value[(odd > 0) | (met < always.sum(axis=1))] = -np.inf
        joint[:, step] = value + log_prior
    return joint


def bernoulli_scores(
    ranking: np.ndarray,
    estimates: np.ndarray,
    X_test: Any,
    sizes: Sequence[int],
    log_prior: np.ndarray,
) -> np.ndarray:
    """Joint log-probabilities of test rows, shape (n_rows, n_sizes, n_classes).

    ``ranking`` lists the columns by falling gain, ``estimates`` (K, len(ranking)) their
    probabilities; a size takes the first so many. ``X_test`` holds 0 and 1.
    """
    n_classes, n_steps = log_prior.shape[0], len(sizes)
    largest = min(int(sizes[-1]), ranking.shape[0])
    ranking, estimates = ranking[:largest], estimates[:, :largest]
    order = np.argsort(ranking)
    moves = _Moves(
        ranking[order],
        np.arange(largest),
        np.searchsorted(np.asarray(sizes), order, side="right"),
        np.ones(largest),
    )
    with np.errstate(divide="ignore"):
        present, absent = np.log(estimates), np.log1p(-estimates)
    taken = np.minimum(np.asarray(sizes), largest)
    never, always = np.isneginf(present), np.isneginf(absent)
    finite_absent = np.where(always, 0.0, absent)
    weights = np.where(never, 0.0, present) - finite_absent
    base = np.concatenate(
        [np.zeros((n_classes, 1)), np.cumsum(finite_absent, axis=1)], axis=1
    )[:, taken]
    expected = np.concatenate(
        [np.zeros((n_classes, 1)), np.cumsum(always, axis=1)], axis=1
    )[:, taken]
    joint = np.empty((X_test.shape[0], n_steps, n_classes))
    for rows in _row_chunks(X_test.shape[0], n_steps, n_classes):
        part = _csc_part(X_test, rows, moves.columns)
        cumulated = _Cumulation(part, moves, n_steps)
        for c in range(n_classes):
            value = cumulated.of(weights[c, order]) + base[c]
            if never[c].any() or always[c].any():
                odd = cumulated.number(never[c, order])
                met = cumulated.number(always[c, order])
                value[(odd > 0) | (met < expected[c])] = -np.inf
            joint[rows, :, c] = value + log_prior[c]
    return joint
