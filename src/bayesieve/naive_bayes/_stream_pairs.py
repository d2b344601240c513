"""Pairs of a stream: their cells are counted with every row since they were chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bayesieve.partition._averaged import class_shares
from bayesieve.partition._bins import LevelBins, NumberBins
from bayesieve.partition._pairs import (
    UNKNOWN,
    Axis,
    PairShape,
    average_pairs,
    place_rows,
)

__all__ = ["CountedPairs"]

Set = tuple[int, ...]


@dataclass
class CountedPairs:
    """Cells of pairs and triples of columns, as unions of the bins of a stream.

    Attributes
    ----------
    axes : dict of int to Axis
        Of each column in a pair, cells of the bins of the stream.
    counts : dict of tuples of int to ndarray of shape (n_cells + 1, n_classes)
        Class counts of each set of columns, as in `PairShape`.
    levels : dict of tuples of int to tuples of int
        Halvings of the axes of each set.
    n_candidates : int
        Sets that these were chosen from.
    """

    axes: dict[int, Axis] = field(default_factory=dict)
    counts: dict[Set, np.ndarray] = field(default_factory=dict)
    levels: dict[Set, tuple[int, ...]] = field(default_factory=dict)
    n_candidates: int = 1

    @classmethod
    def from_shapes(
        cls, shapes: Sequence[PairShape], maps: Mapping[int, np.ndarray], numeric: Set
    ) -> CountedPairs:
        """Go on from the pairs of a model.

        `maps` has, of each column, the bin of the model for each bin of the stream;
        `numeric` are the numbers of the columns that are no categories.
        """
        found = cls(n_candidates=max(len(shapes), 1))
        for shape in shapes:
            found.counts[shape.columns] = shape.counts.copy()
            found.levels[shape.columns] = shape.levels
            for j, cells in zip(shape.columns, shape.cells, strict=True):
                axis = Axis.from_cells(cells, is_ordered=j in numeric)
                # Triples have coarser cells than pairs.
                if j not in found.axes or found.axes[j].level < axis.level:
                    found.axes[j] = replace(axis, cells=axis.cells[maps[j]])
        return found

    def chosen_again(
        self,
        levels: Mapping[Set, tuple[int, ...]],
        axes: Mapping[int, Axis],
        bins: np.ndarray,
        codes: np.ndarray,
        weights: np.ndarray,
        n_classes: int,
    ) -> CountedPairs:
        """Pairs with given levels: known ones keep counts, others begin with rows.

        `axes` are those of the bins of the stream, and `bins` the rows by such bins.
        """
        found = CountedPairs(
            {j: axes[j] for own in levels for j in own}, levels=dict(levels)
        )
        for own in levels:
            found.counts[own] = (
                self.counts[own].copy()
                if self.levels.get(own) == levels[own]
                else found._table(own, bins, codes, weights, n_classes)
            )
        return found

    @property
    def most_rows(self) -> float:
        """Rows that the table of a pair rests on, at most."""
        return max((float(own.sum()) for own in self.counts.values()), default=0.0)

    def add(
        self, bins: np.ndarray, codes: np.ndarray, weights: np.ndarray | None
    ) -> None:
        """Count rows, given by the bins of all columns."""
        for own, counts in self.counts.items():
            counts += self._table(own, bins, codes, weights, counts.shape[1])

    def _table(
        self,
        own: Set,
        bins: np.ndarray,
        codes: np.ndarray,
        weights: np.ndarray | None,
        n_classes: int,
    ) -> np.ndarray:
        """Class counts of the cells of some rows."""
        levels = self.levels[own]
        cells = [
            self.axes[j].coarser(level) for j, level in zip(own, levels, strict=True)
        ]
        place = place_rows(cells, levels, [bins[:, j] for j in own])
        size = ((1 << sum(levels)) + 1) * n_classes
        found = np.bincount(place * n_classes + codes, weights, size)
        return found.astype(np.float64).reshape(-1, n_classes)

    def fade(self, share: float) -> None:
        """Multiply all counts."""
        for counts in self.counts.values():
            counts *= share

    def extend(self, bins: Sequence[NumberBins | LevelBins]) -> None:
        """Values met since the axes were made are where those without a bin are."""
        for j, axis in self.axes.items():
            missing = bins[j].counts.shape[0] - axis.cells.shape[0]
            if missing > 0:
                new = np.full(missing, axis.cells[0])
                cells = np.concatenate([axis.cells, new])
                self.axes[j] = replace(axis, cells=cells)

    def without_unknown(self, bins: np.ndarray) -> CountedPairs:
        """The pairs whose axes have a cell for each of some rows."""
        axes = {
            j: axis
            for j, axis in self.axes.items()
            if not (axis.cells[bins[:, j]] == UNKNOWN).any()
        }
        counts = {
            own: table
            for own, table in self.counts.items()
            if all(j in axes for j in own)
        }
        used = {j for own in counts for j in own}
        return CountedPairs(
            {j: axis for j, axis in axes.items() if j in used},
            counts,
            {own: self.levels[own] for own in counts},
            self.n_candidates,
        )

    def bounds(self, j: int, bins: NumberBins) -> np.ndarray:
        """Bounds between the cells of a column of numbers."""
        if j not in self.axes:
            return np.empty(0)
        numbers = self.axes[j].cells[1:]
        return bins.bounds[np.flatnonzero(np.diff(numbers))]

    def average(
        self,
        axes: Mapping[int, Axis],
        class_count: np.ndarray,
        *,
        leave_one_out: bool,
    ) -> tuple[list[PairShape], list[np.ndarray]]:
        """Shapes of the pairs by the counts so far; `axes` are those of fine bins.

        A pair that was chosen late has met other shares of the classes than the whole
        stream. What it says is relative to its own, of a class it has not met it says
        nothing; the probabilities are those of rows with the shares of the stream.
        """
        shapes, tables = [], []
        shares = class_shares(class_count)
        for own, counts in self.counts.items():
            met = counts.sum(axis=0)
            found, left_out = average_pairs(
                [own],
                axes,
                [self.levels[own]],
                [counts.copy()],
                met,
                leave_one_out=leave_one_out,
            )
            means = _with_shares(found[0].probabilities, met, shares)
            away = found[0].deviations * (means / found[0].probabilities)
            shapes.append(replace(found[0], probabilities=means, deviations=away))
            tables += [_with_shares(table, met, shares) for table in left_out]
        return shapes, tables


def _with_shares(
    probabilities: np.ndarray, met: np.ndarray, shares: np.ndarray
) -> np.ndarray:
    """Probabilities by rows of the classes met, for rows of other class shares."""
    lifts = np.where(met > 0.0, probabilities / class_shares(met), 1.0)
    found = lifts * shares
    return np.asarray(found / found.sum(axis=1, keepdims=True))
