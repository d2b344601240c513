"""A count table made ready for solving: pruned, then verified in full.

The table may have millions of columns while a support lives on a few thousand. Solving
therefore alternates between a small block of candidates and one compiled pass over the
table that finds every column whose gain reaches the level that matters; when none is
missing from the block, its bounds hold for the whole table.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve import _core
from bayesieve.solvers._block import Block
from bayesieve.solvers._branch import (
    PRUNE_TOLERANCE,
    Limits,
    SearchResult,
    branch_and_bound,
    improve_by_swaps,
)
from bayesieve.solvers._columns import ROUNDING, ColumnTable, least_total, merged
from bayesieve.solvers._dual import Relaxation, relax
from bayesieve.solvers._logs import Floats, log_ratio
from bayesieve.solvers._topk import top_k
from bayesieve.utils._computed_once import computed_once

__all__ = ["MultinomialProblem", "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """Result of one solve, in gains over the null model.

    ``others`` bounds every other support in exact arithmetic; minus infinity where all
    are proven no better. The gain errs by no more than its ``doubt``.
    """

    support: NDArray[np.int64]
    gain: float
    doubt: float
    others: float
    relaxation: float
    shares: Floats
    nodes: int
    stopped: bool


@dataclass(frozen=True)
class _Scan:
    class_totals: Floats
    null_value: float
    n_nonempty: int
    total_levels: Floats  # lower edges of the histogram of column totals
    columns_above: NDArray[np.int64]  # columns with a total of at least that


@dataclass(frozen=True)
class _Pool:
    """Columns of large total, as a table of their own: nearly all passes go over it."""

    columns: NDArray[np.int64]
    table: ColumnTable
    least_total: float


#: A pool of this many columns is not worth shrinking.
_SMALL_POOL = 1 << 13


class MultinomialProblem:
    """Sparse multinomial naive Bayes on one table of counts and one smoothing.

    Parameters
    ----------
    counts : ndarray or csc_array of shape (n_classes, n_features)
        Counts without smoothing; read, never copied.
    alpha : float or ndarray of shape (n_features,)
        Smoothing added to every count.
    """

    def __init__(self, counts: Any, alpha: float | Floats) -> None:
        self.alpha = np.atleast_1d(np.asarray(alpha, dtype=np.float64))
        self.table = ColumnTable(counts, self.alpha)
        self.n_classes, self.n_features = self.table.n_classes, self.table.n_features
        self._pool: _Pool | None = None
        # Where the last solve ended: the start of the next one, for another k.
        self._last: tuple[Block, Floats] | None = None

    @computed_once
    def _scan(self) -> _Scan:
        class_totals, whole, nonempty, histogram = self.table.scan()
        if self.alpha.shape[0] == 1:
            class_totals = class_totals + self.alpha[0] * self.n_features
        else:
            class_totals = class_totals + self.alpha.sum()
        total = float(class_totals.sum())
        if not math.isfinite(whole) or not math.isfinite(total * math.log1p(total)):
            raise ValueError(
                "The counts are too large: their sum, or its logarithm times it, is "
                f"beyond the range of floating point. Got a sum of {total:g}. "
                "Hint: divide counts and alpha by one number; the support stays."
            )
        bins = np.flatnonzero(histogram)[::-1]
        levels = (bins.astype(np.uint64) << np.uint64(_core.HISTOGRAM_SHIFT)).view(
            np.float64
        )
        return _Scan(
            class_totals,
            whole - (total * math.log(total) if total > 0 else 0.0),
            int(nonempty),
            levels,
            np.cumsum(histogram[bins]),
        )

    @property
    def class_totals(self) -> Floats:
        """Smoothed count of each class, over all columns."""
        return self._scan.class_totals

    @property
    def overall_shares(self) -> Floats:
        """Class shares over all columns; equal ones for a table without any count."""
        total = float(self.class_totals.sum())
        if total > 0:
            return self.class_totals / total
        return np.full(self.n_classes, 1 / self.n_classes)

    @property
    def null_value(self) -> float:
        """C: log-likelihood of the model without features."""
        return self._scan.null_value

    @property
    def n_nonempty(self) -> int:
        """Columns with any count; the others never enter a support."""
        return self._scan.n_nonempty

    def nonempty(self) -> NDArray[np.int64]:
        """Columns with any count."""
        return self.table.with_total(0.0)

    def gains(self, shares: Floats) -> Floats:
        """``h_i(p)`` of every column; 0 without counts."""
        return self.table.gains(shares)

    def smoothed(self, columns: NDArray[np.int64]) -> Floats:
        """Smoothed counts of some columns, dense (K, len(columns))."""
        return self.table.smoothed(columns)

    def block(self, columns: NDArray[np.int64], anchor: Floats) -> Block:
        """Some columns as candidates, their gains taken at the anchor."""
        return self.table.block(columns, anchor)

    def _pool_for(self, k: int) -> _Pool | None:
        """The columns of largest total, many times k; None if that is most of them."""
        if self._pool is not None and self._pool.columns.shape[0] >= 2 * k:
            return self._pool
        wanted = max(16 * k, 1 << 18)
        if 2 * wanted > self.n_nonempty:
            return None
        above = self._scan.columns_above
        position = min(int(np.searchsorted(above, wanted)), above.shape[0] - 1)
        self._make_pool(float(self._scan.total_levels[position]))
        return self._pool

    def _make_pool(self, least: float) -> None:
        pool = self._pool
        if pool is not None and least >= pool.least_total:  # a part of what it has
            positions, table = pool.table.large_part(least)
            self._pool = _Pool(pool.columns[positions], table, least)
        else:
            self._pool = _Pool(*self.table.large_part(least), least)

    def _reaching(self, k: int, shares: Floats, level: float) -> NDArray[np.int64]:
        """Every column of the table whose gain at p reaches the level.

        A column outside the pool has too small a total for that whenever the level asks
        for more than the least total of the pool.
        """
        pool = self._pool_for(k)
        needed = least_total(shares, level)
        size = self.n_features if pool is None else pool.columns.shape[0]
        if pool is None or needed < pool.least_total or size > _SMALL_POOL:
            # Fit the pool to what is asked: wider if it is too narrow, much narrower if
            # most of it is never needed, as on the way to smaller sizes.
            lower = (
                0.8 * needed
                if pool is None or needed < pool.least_total
                else (0.5 * needed)
            )
            levels, above = self._scan.total_levels, self._scan.columns_above
            position = min(int(np.searchsorted(-levels, -lower)), above.shape[0] - 1)
            if int(above[position]) * 3 < size or (
                pool is not None
                and needed < pool.least_total
                and int(above[position]) * 8 < self.n_features
            ):
                self._make_pool(lower)
                pool = self._pool
        if pool is not None and needed >= pool.least_total:
            return pool.columns[pool.table.with_gain(shares, level)]
        return self.table.with_gain(shares, level)

    @computed_once
    def _witnesses(self) -> NDArray[np.int64]:
        """Columns among which every class with counts has some, for every block.

        Without smoothing a block may lack a class altogether; its share would be zero
        there, and the gains of all columns that have the class infinite unseen.
        """
        if self.alpha.min() > 0:
            return np.empty(0, dtype=np.int64)
        filled = self.nonempty()
        if not filled.shape[0]:
            return filled
        counts = self.table.counts
        if self.table.is_sparse:
            counted = np.flatnonzero(counts.data > 0)
            _, first = np.unique(counts.indices[counted], return_index=True)
            entries = counted[first]
            found = np.searchsorted(counts.indptr, entries, side="right") - 1
        else:
            found = counts.argmax(axis=1)[counts.max(axis=1) > 0]
        # A column that is smoothed has every class.
        smoothed = filled[
            np.argmax(np.broadcast_to(self.alpha, self.n_features)[filled])
        ]
        witnesses: NDArray[np.int64] = np.union1d(found, [smoothed]).astype(np.int64)
        return witnesses

    def _candidates(self, columns: NDArray[np.int64], anchor: Floats) -> Block:
        return self.block(merged(columns, self._witnesses), anchor)

    def _first_candidates(self, k: int) -> tuple[Block, Floats]:
        """Some more than k columns of large gain where the last solve ended."""
        wanted = 2 * k + 256
        if self._last is not None and len(self._last[0]) >= k:
            block, shares = self._last
            if len(block) > wanted + k:
                keep, _, _ = top_k(block.gains(log_ratio(shares, block.anchor)), wanted)
                witnesses = np.searchsorted(block.columns, self._witnesses)
                block = block.take(merged(keep, witnesses))
            return block, shares
        shares = self.overall_shares
        pool = self._pool_for(k)
        if pool is None:
            columns = self.nonempty()
            if columns.shape[0] > wanted:
                columns = columns[top_k(self.gains(shares)[columns], wanted)[0]]
        else:
            columns = pool.columns[top_k(pool.table.gains(shares), wanted)[0]]
        return self._candidates(columns, shares), shares

    def relaxation(
        self, k: int, *, widen: bool = False, limits: Limits | None = None
    ) -> tuple[Block, Relaxation]:
        """Solve the relaxation of size k on a block that provably suffices.

        With ``widen`` the block also holds every column that could be part of a support
        better than the best one met, as the exact search needs it.
        """
        deadline = math.inf if limits is None else limits.deadline
        block, shares = self._first_candidates(k)
        for attempt in itertools.count():
            result = relax(block, k, shares, deadline=deadline)
            if widen and result.slack > PRUNE_TOLERANCE * result.best_gain:
                improve_by_swaps(result)
            assert result.shares is not None
            block, shares = result.block, result.shares
            if len(block) == self.n_nonempty:
                break
            level = result.floor - (result.slack if widen else 0.0)
            level = max(level, 0.0) * (1 - ROUNDING)
            if _contains(block.columns, self._reaching(k, shares, level)):
                break
            wider = self._reaching(k, shares, 0.95 * level)
            # The first blocks may be far off and are replaced; from then on they grow,
            # so that this ends whatever the shares do.
            kept = block.columns[_best(result)] if attempt < 3 else block.columns
            block = self._candidates(merged(wider, kept), shares)
        self._last = (block, shares)
        return block, result

    def solve(self, k: int, *, exact: bool, limits: Limits) -> Outcome:
        """Best support of size k, ``1 <= k``, clipped to the columns with counts."""
        if k >= self.n_nonempty:
            return self._take_all_nonempty()
        if k == 1:  # two distributions cannot differ in one place alone
            nothing = np.empty(0, dtype=np.int64)
            return Outcome(
                nothing,
                0.0,
                0.0,
                -math.inf,
                self.psi(1),
                self.overall_shares,
                1,
                False,
            )
        block, root = self.relaxation(k, widen=exact, limits=limits)
        if not exact and root.slack > PRUNE_TOLERANCE * root.best_gain:
            improve_by_swaps(root)
        assert root.shares is not None
        relaxation, shares = root.upper, root.shares
        if exact and root.slack > PRUNE_TOLERANCE * root.best_gain:
            found = branch_and_bound(block, k, root, limits)
        else:
            found = SearchResult(
                block.columns[_best(root)],
                root.best_gain,
                root.best_doubt,
                root.upper,
                1,
                False,
            )
        return Outcome(
            found.columns,
            found.gain,
            found.doubt,
            found.others,
            relaxation,
            shares,
            found.nodes,
            found.stopped,
        )

    def psi(self, k: int) -> float:
        """Value of the relaxation of size k, as a gain; 0 for ``k <= 0``."""
        if k <= 0:
            return 0.0
        if k >= self.n_nonempty:
            return self._take_all_nonempty().gain
        return self.relaxation(k)[1].upper

    def psi_at_least(self, k: int, limits: Limits | None = None) -> float:
        """A proven lower bound of psi(k), equal to it up to rounding within limits."""
        if k <= 0 or k >= self.n_nonempty:
            return self.psi(k)
        return max(0.0, self.relaxation(k, limits=limits)[1].lower)

    def _take_all_nonempty(self) -> Outcome:
        columns, shares = self.nonempty(), self.overall_shares
        result = relax(self.block(columns, shares), columns.shape[0], shares)
        assert result.shares is not None
        gain = result.best_gain
        return Outcome(
            columns, gain, result.best_doubt, -math.inf, gain, result.shares, 1, False
        )


def _best(result: Relaxation) -> NDArray[np.int64]:
    assert result.best is not None
    return result.best


def _contains(sorted_columns: NDArray[np.int64], wanted: NDArray[np.int64]) -> bool:
    if not wanted.shape[0]:
        return True
    if not sorted_columns.shape[0]:
        return False
    position = np.searchsorted(sorted_columns, wanted)
    position[position == sorted_columns.shape[0]] = 0
    return bool((sorted_columns[position] == wanted).all())
