"""Screening of binary columns: scores, sizes and penalised estimates.

Letters are those of Guan, Shan and Guo, "Feature screening for ultrahigh dimensional
binary data": S_k rows of class k, S_kj rows of class k with feature j, S_j their sum,
n all rows. H and Delta use the double truncated counts of `BernoulliEstimator`, so with
F for held counts, N_k for held class sizes and G_j for the sum of F over the classes

    H_j     = max_k n |n F_kj - N_k G_j| / (G_j (n - G_j))
    Delta_j = sum_k (n F_kj - N_k G_j)^2 / (n N_k G_j (n - G_j)).

Everything over columns goes block by block: beside the table of counts there are only
arrays of one number for each column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.solvers._additive import AdditiveProblem
from bayesieve.solvers._bernoulli import BernoulliEstimator, bernoulli_problem
from bayesieve.solvers._exact_tests import IndependenceTest, chi_square_tail
from bayesieve.solvers._inputs import (
    check_range,
    count_table,
    row_counts,
    warn_of_few_features,
)
from bayesieve.solvers._logs import Floats
from bayesieve.solvers._topk import top_k

__all__ = [
    "Screening",
    "benjamini_hochberg",
    "bic_threshold",
    "likelihood_ratio_screening",
    "mutual_information_screening",
    "pearson_screening",
    "penalised_estimates",
    "penalised_screening",
    "size_by_bic",
    "size_by_ratio",
    "truncated_estimates",
    "truncated_parameters",
    "unsmoothed_estimates",
]

Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

#: Numbers of the table that are looked at together: 2 MB for each temporary.
_BLOCK_CELLS = 1 << 18
#: Below this expected count the chi-square approximation is not to be trusted.
_FEW_EXPECTED = 5.0
#: Sums of weights beyond this are not told apart from whole numbers.
_LARGEST_WHOLE = 2.0**53


@dataclass(frozen=True)
class Screening:
    """One score for each column, and which columns may be selected at all.

    Attributes
    ----------
    scores : ndarray of shape (n_features,)
        0 for a column that is present in no row or in every row.
    eligible : ndarray of bool of shape (n_features,)
        Columns that vary.
    """

    scores: Floats
    eligible: Mask

    def best(self, k: int) -> Indices:
        """The k eligible columns of largest score, ties by index, sorted by index."""
        available = int(self.eligible.sum())
        if k > available:
            warn_of_few_features(k, available, what="vary over the rows")
        return self._largest(min(k, available))

    def at_least_one(self, k: int) -> Indices:
        """As `best`, without a warning; a constant column only if there is no other."""
        available = int(self.eligible.sum())
        if not available:
            return np.zeros(1, dtype=np.int64)
        return self._largest(min(max(k, 1), available))

    def above(self, penalty: float) -> Indices:
        """Eligible columns whose score exceeds the penalty; maybe none."""
        return np.flatnonzero((self.scores > penalty) & self.eligible)

    def ranking(self) -> Indices:
        """Eligible columns by falling score, ties by index."""
        columns = np.flatnonzero(self.eligible)
        return columns[np.argsort(-self.scores[columns], kind="stable")]

    def _largest(self, k: int) -> Indices:
        # A constant column has score 0 and must lose even that tie.
        ranked = np.where(self.eligible, self.scores, -1.0)
        return np.sort(top_k(ranked, k)[0])


# ------------------------------------------------------------------------------ scores


def mutual_information_screening(
    counts: Any, *, solver: str
) -> tuple[Screening, AdditiveProblem]:
    """I_j (nats for each row, truncated estimates), and the problem it comes from."""
    problem = bernoulli_problem(counts, 0.0, smoothing="truncated", solver=solver)
    return Screening(problem.gains / problem.n_rows, problem.eligible), problem


def likelihood_ratio_screening(
    counts: Any, *, solver: str
) -> tuple[Screening, Floats, Mask]:
    """``2 n I_j`` without smoothing, its p-values, and the doubtful columns.

    A class without rows takes no part. A constant column has statistic 0 and p-value 1.
    P-values of whole counts hold at every count. Fractions, which weights of rows bring
    about, have no such test: their p-values are chi-square with one degree of freedom
    less than there are classes, and a column is doubtful when some class is expected to
    have it, or to lack it, in fewer than five rows.
    """
    problem = bernoulli_problem(counts, 0.0, solver=solver)
    statistic = 2.0 * problem.gains
    rows = np.array(row_counts(counts, solver=solver), dtype=np.float64)
    table = count_table(counts, kinds=("binary",), solver=solver)
    used = np.flatnonzero(rows > 0)
    rows = rows[used]
    n = float(rows.sum())
    pvalues = np.ones(table.shape[1])
    doubtful = np.zeros(table.shape[1], dtype=bool)
    whole_rows = bool((rows == np.floor(rows)).all()) and n < _LARGEST_WHOLE
    test = IndependenceTest(rows.astype(np.int64))
    for part, block in _blocks(table):
        block = block[used]
        whole = (block == np.floor(block)).all(axis=0) & whole_rows
        found = pvalues[part]
        if whole.any():
            found[whole] = test.pvalues(block[:, whole])
        found[~whole] = chi_square_tail(statistic[part][~whole], rows.shape[0] - 1)
        totals = block.sum(axis=0)
        rarer = np.minimum(totals, n - totals)
        few = rarer * (float(rows.min()) / n) < _FEW_EXPECTED
        doubtful[part] = few & ~whole
    return Screening(statistic, problem.eligible), pvalues, doubtful


def penalised_screening(
    counts: Any, *, truncated: bool = True, solver: str
) -> Screening:
    """H_j, from truncated counts or (Appendix B) from the counts as they are."""

    def score(held: Floats, rows: Floats, n: float) -> Floats:
        present = held.sum(axis=0)
        deviation = np.abs(n * held - rows[:, None] * present)
        return _divided(n * deviation.max(axis=0), present * (n - present))

    return _scored(counts, score, truncated=truncated, solver=solver)


def pearson_screening(counts: Any, *, solver: str) -> Screening:
    """Delta_j: Pearson's chi-square for each row, from truncated counts."""

    def score(held: Floats, rows: Floats, n: float) -> Floats:
        present = held.sum(axis=0)
        deviation = n * held - rows[:, None] * present
        squares = (deviation * deviation / (n * rows[:, None])).sum(axis=0)
        return _divided(squares, present * (n - present))

    return _scored(counts, score, truncated=True, solver=solver)


def _scored(
    counts: Any,
    score: Callable[[Floats, Floats, float], Floats],
    *,
    truncated: bool,
    solver: str,
) -> Screening:
    """A score of every column that varies; 0 by definition for the others."""
    table = count_table(counts, kinds=("binary",), solver=solver)
    rows = np.array(row_counts(counts, solver=solver), dtype=np.float64)
    n = float(rows.sum())
    check_range(n, power=4, solver=solver)
    estimator = BernoulliEstimator.truncated(np.array(rows)) if truncated else None
    scores = np.zeros(table.shape[1])
    eligible = np.zeros(table.shape[1], dtype=bool)
    for part, block in _blocks(table):
        totals = block.sum(axis=0)
        eligible[part] = (totals > 0) & (totals < n * (1 - 1e-12))
        if estimator is None:
            value = score(block, rows, n)
        else:
            upper = estimator.upper
            held = np.maximum(block, 1.0)
            if upper is not None:
                np.minimum(held, upper[:, None], out=held)
            value = score(held, estimator.rows, n)
        scores[part] = np.where(eligible[part], value, 0.0)
    return Screening(scores, eligible)


def _blocks(table: Any) -> Iterator[tuple[slice, Floats]]:
    """Neighbouring columns as dense blocks of nearly equal width.

    Never a block of one column beside wider ones: sums over classes are then formed in
    the same order in every block, and equal columns have equal bits.
    """
    n_classes, n_features = table.shape
    width = max(4, _BLOCK_CELLS // n_classes)
    n_blocks = max(1, -(-n_features // width))
    edges = [n_features * b // n_blocks for b in range(n_blocks + 1)]
    for first, last in pairwise(edges):
        part = slice(first, last)
        block = table[:, part]
        yield part, block if isinstance(table, np.ndarray) else block.toarray()


def _divided(numerator: Floats, denominator: Floats) -> Floats:
    """Quotient, 0 where the denominator is 0 (a constant column)."""
    result: Floats = np.divide(
        numerator,
        denominator,
        out=np.zeros_like(numerator),
        where=denominator > 0,
    )
    return result


# ------------------------------------------------------------------------------- sizes


def bic_threshold(n_classes: int, n_rows: float) -> float:
    """``(K-1) log n / (2n)``: the I_j above which a column lowers BIC."""
    return (n_classes - 1) * math.log(max(n_rows, 1.0)) / (2.0 * n_rows)


def size_by_bic(gains: Floats, extra_parameters: float, n_rows: float) -> int:
    """Size of least BIC among the nested models of an order, at least 1.

    ``gains`` come in that order. The d-th column changes BIC by ``-2 gain +
    extra_parameters log n``; gains need not fall, so the changes are added up. Ties
    take the smaller size.
    """
    if not gains.shape[0]:
        return 1
    change = extra_parameters * math.log(max(n_rows, 1.0)) - 2.0 * gains
    return int(np.argmin(np.cumsum(change))) + 1


def size_by_ratio(scores: Floats) -> int:
    """The d < p of largest ``score_(d) / score_(d+1)``, scores sorted downwards.

    A zero denominator is skipped, ties take the smallest d. Without any ratio (one
    column, or at most one score above zero) the size is 1.
    """
    positive = np.sort(scores[scores > 0])[::-1]
    if positive.shape[0] < 2:
        return 1
    return int(np.argmax(positive[:-1] / positive[1:])) + 1


def benjamini_hochberg(pvalues: Floats, q: float) -> Indices:
    """Positions rejected at level q among all p-values, sorted.

    With ``p_(i)`` in rising order, those up to the last i with ``p_(i) <= q i / m``.
    """
    # None above q can be rejected: only the others are sorted.
    candidates = np.flatnonzero(pvalues <= q)
    ordered = np.sort(pvalues[candidates])
    levels = q * np.arange(1, ordered.shape[0] + 1) / max(pvalues.shape[0], 1)
    met = np.flatnonzero(ordered <= levels)
    if not met.shape[0]:
        return np.empty(0, dtype=np.int64)
    rejected: Indices = candidates[pvalues[candidates] <= ordered[met[-1]]]
    return rejected


# --------------------------------------------------------------------------- estimates


def truncated_estimates(counts: Any, *, solver: str) -> Floats:
    """Double truncated probabilities of presence, shape (n_classes, n_features)."""
    rows = np.array(row_counts(counts, solver=solver), dtype=np.float64)
    return _estimated(counts, BernoulliEstimator.truncated(rows), solver=solver)


def truncated_parameters(
    counts: Any, columns: Indices, *, solver: str
) -> tuple[Floats, Floats]:
    """Double truncated class shares, and the probabilities of some columns."""
    table = count_table(counts, kinds=("binary",), solver=solver)
    rows = np.array(row_counts(counts, solver=solver), dtype=np.float64)
    estimator = BernoulliEstimator.truncated(rows)
    part = table[:, columns]
    dense = part if isinstance(table, np.ndarray) else part.toarray()
    shares: Floats = estimator.rows / estimator.rows.sum()
    return shares, estimator.theta(dense, columns)


def unsmoothed_estimates(counts: Any, *, solver: str) -> Floats:
    """``S_kj / S_k``, shape (n_classes, n_features); 1/2 for a class without rows."""
    rows = np.array(row_counts(counts, solver=solver), dtype=np.float64)
    laplace = BernoulliEstimator.laplace(rows, np.zeros(1))
    return _estimated(counts, laplace, solver=solver)


def _estimated(counts: Any, estimator: BernoulliEstimator, *, solver: str) -> Floats:
    table = count_table(counts, kinds=("binary",), solver=solver)
    theta = np.empty(table.shape)
    for part, block in _blocks(table):
        theta[:, part] = estimator.theta(block, part)
    return theta


def penalised_estimates(counts: Any, penalty: float, *, solver: str) -> Floats:
    """Maximisers of the likelihood less ``penalty sum |theta_kj - S_j / n|``.

    Shape (n_classes, n_features). At ``theta = S_j / n`` the slope of the likelihood is
    ``n (n S_kj - S_k S_j) / (S_j (n - S_j))``; where it does not exceed the penalty the
    estimate stays there. Elsewhere, with U the sign of the slope, it is the root of

        penalty U theta^2 - (penalty U + S_k) theta + S_kj = 0

    that lies in [0, 1]: Appendix B of the paper, with U = 0 unless the slope exceeds
    the penalty, and written so that nothing cancels and penalty 0 gives ``S_kj / S_k``.
    """
    table = count_table(counts, kinds=("binary",), solver=solver)
    rows = np.array(row_counts(counts, solver=solver), dtype=np.float64)
    n = float(rows.sum())
    check_range(n, power=4, solver=solver)
    theta = np.empty(table.shape)
    size = rows[:, None]
    for part, block in _blocks(table):
        present = block.sum(axis=0)
        constant = (present <= 0) | (present >= n * (1 - 1e-12))
        deviation = n * block - size * present
        # The same arithmetic as H, so that a column is kept exactly when it moves.
        slope = _divided(
            n * np.abs(deviation),
            np.broadcast_to(present * (n - present), block.shape),
        )
        moves = (slope > penalty) & ~constant
        mean = np.where(constant, (present > 0).astype(np.float64), present / n)
        theta[:, part] = np.where(
            moves,
            np.where(
                deviation > 0,
                _root_above(block, size, penalty),
                _root_below(block, size, penalty),
            ),
            mean,
        )
    np.clip(theta, 0.0, 1.0, out=theta)  # weights that do not add up to the last digit
    return theta


def _root_above(present: Floats, size: Floats, penalty: float) -> Floats:
    """U = 1: ``2 S_kj / (penalty + S_k + sqrt((penalty - S_k)^2 + 4 penalty absent))``.

    The root of the square equals that of ``(penalty + S_k)^2 - 4 penalty S_kj``.
    """
    absent = np.maximum(size - present, 0.0)
    root = np.sqrt((penalty - size) ** 2 + 4.0 * penalty * absent)
    return _divided(2.0 * present, penalty + size + root)


def _root_below(present: Floats, size: Floats, penalty: float) -> Floats:
    """U = -1: ``(e + sqrt(e^2 + 4 penalty S_kj)) / (2 penalty)``, e = penalty - S_k.

    Where ``penalty < S_k`` the sum would cancel; there its conjugate is taken.
    """
    excess = np.broadcast_to(penalty - size, present.shape)
    root = np.sqrt(excess**2 + 4.0 * penalty * present)
    conjugate = _divided(2.0 * present, root - excess)
    if penalty <= 0.0:
        return conjugate
    direct: Floats = (excess + root) / (2.0 * penalty)
    return np.where(excess > 0, direct, conjugate)
