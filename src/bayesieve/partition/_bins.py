"""Class counts of fine bins: what a stream remembers of a column, in constant memory.

Bins are finer than any partition that will be made of them, so partitions can be
searched again at any time from counts of the whole stream, without its rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayesieve import _core
from bayesieve.partition._discretize import FINE_LEVELS, FineIntervals, discretize
from bayesieve.partition._group import ValueGrouping, group_values
from bayesieve.partition._partition import IntervalPartition

__all__ = ["LevelBins", "NumberBins", "assign_columns", "counts_of_parts"]

# A stream cannot wait for proofs: the exact search only where it is over at once.
_STREAM_BUDGET = 100_000


def assign_columns(
    numbers: np.ndarray, bounds: Sequence[np.ndarray], out: np.ndarray, first: int
) -> None:
    """Number of bounds below each value of each column, plus first; 0 for NaN."""
    sizes = [own.shape[0] for own in bounds]
    start = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
    everything = np.concatenate(bounds) if len(bounds) else np.empty(0)
    _core.assign_bins(numbers, everything, start, first, out)


def counts_of_parts(
    counts: np.ndarray, parts_of_bins: np.ndarray, n_parts: int
) -> np.ndarray:
    """Class counts of parts, from those of the bins that they are made of."""
    found = np.zeros((n_parts, counts.shape[1]))
    for c in range(counts.shape[1]):
        found[:, c] = np.bincount(parts_of_bins, counts[:, c], n_parts)
    return found


class NumberBins:
    """Counts of a numerical column: bin 0 for missing values, then ]b_{i-1}, b_i].

    Parameters
    ----------
    bounds : ndarray of shape (n_bins - 2,)
        Upper bounds of all bins but the last, ascending.
    n_classes : int
    """

    def __init__(self, bounds: np.ndarray, n_classes: int) -> None:
        self.bounds = bounds
        self.counts = np.zeros((bounds.shape[0] + 2, n_classes))

    @classmethod
    def from_values(
        cls,
        values: np.ndarray,
        n_classes: int,
        max_bins: int,
        weights: np.ndarray | None = None,
    ) -> NumberBins:
        """Bins of equal frequency, one for each value if there are few."""
        known = ~np.isnan(values)
        there = np.sort(values[known])
        last_of_value = np.append(
            np.flatnonzero(there[1:] != there[:-1]), there.shape[0] - 1
        )
        cuts = last_of_value[:-1]  # rows after which a bin may end
        if cuts.shape[0] >= max_bins:
            rows = np.arange(1, there.shape[0] + 1)
            if weights is not None:
                rows = np.cumsum(weights[known][np.argsort(values[known])])
            wanted = np.arange(1, max_bins) * rows[-1] // max_bins
            near = rows[cuts].searchsorted(wanted)
            cuts = np.unique(cuts[np.minimum(near, cuts.size - 1)])
        low, high = there[cuts], there[cuts + 1]
        middle = 0.5 * low + 0.5 * high
        # Between neighbouring floats there is no middle; a bound goes to its left.
        inside = (middle >= low) & (middle < high)
        return cls(np.where(inside, middle, low), n_classes)

    def partition(self, *, attribute_cost: float, criterion: str) -> IntervalPartition:
        """Search the best intervals, unions of bins, from the counts so far."""
        used = np.flatnonzero(self.counts.sum(axis=1) > 0)
        present = np.flatnonzero(self.counts.sum(axis=0) > 0)
        table = self.counts[np.ix_(used, present)]
        found = discretize(
            table,
            attribute_cost=attribute_cost,
            criterion=criterion,
            exact_budget=_STREAM_BUDGET,
        )
        last = used[found.ends[:-1] - 1]  # last bin of each interval but the last
        bounds = np.array([-np.inf if b == 0 else self.bounds[b - 1] for b in last])
        counts = np.zeros((found.counts.shape[0], self.counts.shape[1]))
        counts[:, present] = found.counts
        return IntervalPartition(
            bounds=bounds,
            counts=counts,
            granularity=found.granularity,
            cost=found.cost,
            null_cost=found.null_cost,
            exact=found.exact,
        )

    def parts_of_bins(self, partition: IntervalPartition) -> np.ndarray:
        """Interval of each bin."""
        return np.concatenate([[0], self._intervals(partition.bounds)])

    def _intervals(self, bounds: np.ndarray) -> np.ndarray:
        """Number of bounds below each bin of numbers."""
        return bounds.searchsorted(np.append(self.bounds, np.inf), side="left")

    def fine_intervals(self, kept: np.ndarray) -> FineIntervals:
        """Unions of bins of equal frequency, as `discretize_finely` makes them of rows.

        `kept` are bounds of bins that must be among theirs.
        """
        used = np.flatnonzero(self.counts[1:].sum(axis=1) > 0)
        ends, levels = _equal_frequency(self.counts[1 + used].sum(axis=1))
        bounds = self.bounds[used[ends - 1]]
        more = np.setdiff1d(kept, bounds)
        bounds = np.concatenate([bounds, more])
        levels = np.concatenate([levels, np.full(more.size, levels.max(initial=0))])
        order = np.argsort(bounds)
        bounds, levels = bounds[order], levels[order]
        parts = np.concatenate([[0], 1 + self._intervals(bounds)])
        counts = counts_of_parts(self.counts, parts, bounds.size + 2)
        return FineIntervals(bounds, levels, counts)


def _equal_frequency(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of bins of equal frequency, and the first level that has each of them.

    Those of level 0 are nearest to the quarters of the rows, of the next one to the
    eighths, and so on; a level without an end of its own is none.
    """
    below = np.concatenate([[0.0], np.cumsum(rows)])
    level = np.full(rows.size, -1)  # of the end before each row
    number = 0
    for g in range(2, FINE_LEVELS + 1) if rows.size > 1 else ():
        wanted = below[-1] * np.arange(1, 2**g) / 2**g
        end = np.clip(below.searchsorted(wanted), 1, rows.size - 1)
        nearer = (end > 1) & (wanted - below[end - 1] <= below[end] - wanted)
        end = end - nearer
        new = end[level[end] < 0]
        level[new] = number
        number += bool(new.size)
    ends = np.flatnonzero(level >= 0)
    return ends, level[ends]


class LevelBins:
    """Counts of a categorical column, one row for each value met.

    Row 0 gathers values that came when the dictionary was full.

    Parameters
    ----------
    values : sequence
    n_classes : int
    max_bins : int
        Largest number of values to be told apart.
    """

    def __init__(
        self, values: Sequence[Hashable], n_classes: int, max_bins: int
    ) -> None:
        self.max_bins = max_bins
        self.row: dict[Hashable, int] = {}
        self.counts = np.zeros((1, n_classes))
        self.extend(values)

    def extend(self, values: Sequence[Hashable]) -> None:
        """Make room for new values."""
        new = [value for value in values if value not in self.row]
        new = new[: max(self.max_bins - len(self.row), 0)]
        if new:
            for value in new:
                self.row[value] = len(self.row) + 1
            empty = np.zeros((len(new), self.counts.shape[1]))
            self.counts = np.vstack([self.counts, empty])

    def assign(self, codes: np.ndarray, values: Sequence[Hashable]) -> np.ndarray:
        """Bin of each coded value; a value not in the dictionary is in bin 0."""
        rows = np.array([self.row.get(value, 0) for value in values], dtype=np.int64)
        return np.asarray(rows[codes])

    def partition(
        self, *, attribute_cost: float, criterion: str
    ) -> tuple[ValueGrouping, tuple[Any, ...]]:
        """Search the best groups; values without a count left are as if unseen."""
        present = np.flatnonzero(self.counts.sum(axis=0) > 0)
        # Row 0 stands for many values that are not in the dictionary: they have the
        # default group, and so have its counts.
        table = self.counts[1:, present]
        found = group_values(table, attribute_cost=attribute_cost, criterion=criterion)
        counts = np.zeros((found.counts.shape[0], self.counts.shape[1]))
        counts[:, present] = found.counts
        counts[found.default_group] += self.counts[0]
        return replace(found, counts=counts), tuple(self.row)

    def parts_of_bins(self, grouping: ValueGrouping) -> np.ndarray:
        """Group of each bin."""
        parts = np.full(self.counts.shape[0], grouping.default_group, dtype=np.int64)
        known = grouping.group[: self.counts.shape[0] - 1]  # others share bin 0
        parts[1 : known.shape[0] + 1] = known
        return parts
