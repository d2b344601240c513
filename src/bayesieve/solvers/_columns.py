"""The columns of a smoothed count table, dense or sparse, behind one face."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve import _core
from bayesieve.solvers._block import Block
from bayesieve.solvers._logs import Floats, log_or_zero

__all__ = ["ColumnTable", "equal_columns", "merged"]

#: Of gains that are shown.
ACCURACY = 2.0**-34
#: Rounding of a gain, relative to the level it is compared with.
ROUNDING = 1e-9
#: Among more columns of a sparse table equal ones are not looked for.
_GROUPING_LIMIT = 20_000


class ColumnTable:
    """A (K, m) table of counts and its smoothing; read, never copied."""

    def __init__(self, counts: Any, alpha: Floats) -> None:
        self.counts = counts
        self.alpha = alpha  # one value, or one for each column
        self.n_classes, self.n_features = (int(n) for n in counts.shape)
        self.is_sparse = not isinstance(counts, np.ndarray)
        self._core: Any
        if self.is_sparse:
            self._core = _core.SparseColumns(
                np.ascontiguousarray(counts.indptr, dtype=np.int64),
                np.ascontiguousarray(counts.indices, dtype=np.int32),
                np.ascontiguousarray(counts.data, dtype=np.float64),
                self.n_classes,
                alpha,
            )
        else:
            table = np.ascontiguousarray(counts, dtype=np.float64)
            self._core = _core.DenseColumns(table, alpha)

    def scan(self) -> tuple[Floats, float, int, NDArray[np.int64]]:
        """Class totals without smoothing, sum of G log G, filled columns, histogram."""
        totals, whole, filled, histogram = self._core.scan()
        return totals, float(whole), int(filled), histogram

    def level_of(self, wanted: int, levels: Floats, above: NDArray[np.int64]) -> float:
        """The largest of falling totals that so many columns reach.

        ``above`` says how many reach each.
        """
        position = min(int(np.searchsorted(above, wanted)), above.shape[0] - 1)
        return float(levels[position])

    def witnesses(self, class_totals: Floats) -> NDArray[np.int64]:
        """Few columns that have every class of positive total between them."""
        return _as_int64(self._core.witnesses(class_totals))

    def with_total(self, least: float) -> NDArray[np.int64]:
        """Columns with a count whose smoothed total is at least this."""
        return _as_int64(self._core.with_total(least))

    def with_gain(self, shares: Floats, level: float) -> NDArray[np.int64]:
        """Columns whose gain at p reaches the level."""
        return _as_int64(
            self._core.with_gain(shares, level, least_total(shares, level))
        )

    def gains(self, shares: Floats, accuracy: float = ACCURACY) -> Floats:
        """``h_i(p)`` of every column, to this relative accuracy; 0 without counts."""
        gains: Floats = self._core.gains(shares, accuracy)
        return gains

    def gains_of(self, columns: NDArray[np.int64], shares: Floats) -> Floats:
        """``h_i(p)`` of some columns."""
        some: Floats = self.gains(shares)[columns]
        return some

    def group_sums(
        self, shares: Floats, scale: float, groups: NDArray[np.int64], n_groups: int
    ) -> tuple[Floats, Floats, Floats]:
        """Counts (K, n_groups) of a dense table, gains at p and smoothing of groups.

        Gains of columns are accurate to their size, or to this scale.
        """
        sums: tuple[Floats, Floats, Floats] = self._core.group_sums(
            shares, ACCURACY, scale, groups, n_groups
        )
        return sums

    def promising(
        self, shares: Floats, accuracy: float, n: int, least: float
    ) -> tuple[NDArray[np.int64], Floats]:
        """Columns with a count, at least the n of largest gain at p, and their gains.

        Those of smaller totals than this need not be looked at.
        """
        columns = self.with_total(least)
        return columns, self.gains(shares, accuracy)[columns]

    def is_whole(self) -> bool:
        """Whether all counts are whole numbers."""
        values = self.counts.data if self.is_sparse else self.counts
        return bool((values == np.floor(values)).all())

    def part(self, columns: NDArray[np.int64]) -> Any:
        """Counts of some columns, without smoothing, dense or sparse as the table."""
        return self.counts[:, columns]

    def alpha_of(self, columns: NDArray[np.int64]) -> Floats:
        """Smoothing of some columns, one value each."""
        if self.alpha.shape[0] == 1:
            return np.full(columns.shape[0], self.alpha[0])
        return self.alpha[columns]

    def smoothed(self, columns: NDArray[np.int64]) -> Floats:
        """Smoothed counts of some columns, dense (K, len(columns))."""
        part = self.part(columns)
        if self.is_sparse:
            part = part.toarray()
        smoothed: Floats = part + self.alpha_of(columns)
        return smoothed

    def raw(self, columns: NDArray[np.int64]) -> Floats:
        """Counts of some columns and below them their smoothing, dense, unrounded."""
        part = self.part(columns)
        dense = part.toarray() if self.is_sparse else part
        stacked: Floats = np.vstack([dense, self.alpha_of(columns)])
        return stacked

    def block(
        self,
        columns: NDArray[np.int64],
        anchor: Floats | None = None,
        *,
        otherwise: Floats | None = None,
    ) -> Block:
        """Some columns as candidates, their gains taken at the anchor.

        That is by default their own class shares, or ``otherwise`` without any count.
        """
        alpha = self.alpha_of(columns)
        positive = bool((alpha > 0).all())
        part = self.part(columns)
        if not self.is_sparse:
            part = part + alpha
        if anchor is None:
            sums = np.asarray(part.sum(axis=1), dtype=np.float64).ravel()
            if self.is_sparse:
                sums = sums + alpha.sum()
            total = float(sums.sum())
            assert total > 0 or otherwise is not None
            anchor = sums / total if total > 0 else otherwise
        assert anchor is not None
        return Block.of(
            columns, part, alpha if self.is_sparse else None, anchor, positive=positive
        )

    def large_part(self, least: float) -> tuple[NDArray[np.int64], ColumnTable] | None:
        """Columns with a total of at least this, and they as a table of their own.

        None if they are too many for that.
        """
        if self.is_sparse:
            columns = self.with_total(least)
            counts = self.counts[:, columns]
        else:
            columns, counts = self._core.extract(least)
            columns = _as_int64(columns)
        alpha = self.alpha if self.alpha.shape[0] == 1 else self.alpha[columns]
        return columns, ColumnTable(counts, alpha)


def least_total(shares: Floats, level: float) -> float:
    """Total below which no column can have a gain of that level at p.

    ``h_i(p) <= G_i max_c(-log p_c)``.
    """
    steepest = float((-log_or_zero(shares)).max())
    return level / steepest * (1 - ROUNDING) if steepest > 0 else 0.0


def merged(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Union of two sorted sets of columns, sorted."""
    if not b.shape[0]:
        return a
    both = np.concatenate([a, b])
    both.sort(kind="stable")  # two runs: this is a merge
    if both.shape[0] < 2:
        return both
    distinct: NDArray[np.int64] = both[np.append(True, both[1:] != both[:-1])]
    return distinct


def equal_columns(table: ColumnTable, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """A group number for each column; equal columns share it.

    Counts and smoothing are compared, not their sums, which may have lost a count.
    """
    n = columns.shape[0]
    if not table.is_sparse:
        rows = np.ascontiguousarray(table.raw(columns).T)
        keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))
        return np.unique(keys.ravel(), return_inverse=True)[1].astype(np.int64).ravel()
    if n > _GROUPING_LIMIT:
        return np.arange(n)
    counts, alpha = table.counts[:, columns], table.alpha_of(columns)
    numbers: dict[tuple[float, bytes, bytes], int] = {}
    result = np.empty(n, dtype=np.int64)
    for j in range(n):
        entries = slice(counts.indptr[j], counts.indptr[j + 1])
        key = (
            alpha[j],
            counts.indices[entries].tobytes(),
            counts.data[entries].tobytes(),
        )
        result[j] = numbers.setdefault(key, len(numbers))
    return result


def _as_int64(columns: Any) -> NDArray[np.int64]:
    """NumPy has two names for the same 64-bit integer; use the usual one."""
    usual: NDArray[np.int64] = columns.view(np.int64)
    return usual
