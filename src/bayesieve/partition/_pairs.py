"""What two or three columns say together: all recursive halvings of their grid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayesieve import _core
from bayesieve.partition._averaged import (
    STRENGTH,
    FineBins,
    class_shares,
)

__all__ = [
    "UNKNOWN",
    "Axis",
    "PairShape",
    "average_pairs",
    "most_levels",
    "pair_levels",
    "place_rows",
]

#: Halvings of an axis of a pair: 16 cells.
PAIR_LEVELS = 4
#: Rows from which on an axis of a triple has 8 cells and not 4.
_FINE_TRIPLES = 2000
#: Cell of values that the rows have not shown.
UNKNOWN = -1
#: Chi-square distance of the class probabilities of neighbouring bins at a step.
_SHARP = 2.0


@dataclass(frozen=True, eq=False)
class Axis:
    """A column as an axis of grids: 2 ** level cells of neighbouring bins.

    Attributes
    ----------
    cells : ndarray of int16 of shape (n_bins,)
        Cell of each bin; -1 for values that the rows have not shown.
    level : int
    log_orders : float
        Of categories, the logarithm of the ways to arrange them on the axis: what it
        takes to say which one was chosen.
    """

    cells: np.ndarray
    level: int
    log_orders: float

    @classmethod
    def from_bins(cls, bins: FineBins, probabilities: np.ndarray) -> Axis:
        """A cell for each bin, or for neighbouring bins.

        `probabilities` are those of the bins' averaged shape.
        """
        rows = bins.counts.sum(axis=1)
        used = np.arange(rows.size)[bins.in_use]
        cells = np.full(rows.size, UNKNOWN, dtype=np.int16)
        most = 2**PAIR_LEVELS
        # Missing values keep a cell of their own.
        apart = int(bins.levels is not None and used.size > 0 and used[0] == 0)
        cells[used[:apart]] = 0
        there = used[apart:]
        cells[there] = apart + _merged(rows[there], probabilities[there], most - apart)
        return cls.from_cells(cells, is_ordered=bins.levels is not None)

    @classmethod
    def from_cells(cls, cells: np.ndarray, *, is_ordered: bool) -> Axis:
        """The axis of given cells; those of categories could be in any order."""
        n_cells = int(cells.max(initial=0)) + 1
        level = max(n_cells - 1, 0).bit_length()
        return cls(cells, level, 0.0 if is_ordered else _log_arrangements(n_cells))

    def coarser(self, level: int) -> np.ndarray:
        """Cell of each bin on at most 2 ** level cells."""
        shift = max(self.level - level, 0)
        return np.where(self.cells < 0, UNKNOWN, self.cells >> shift)


def _merged(rows: np.ndarray, probabilities: np.ndarray, most: int) -> np.ndarray:
    """Cell of each bin: cells of equal frequency, and none across a sharp step.

    Cells of equal frequency do not depend on the classes of the rows, so that leaving
    a row out leaves them as they are. A threshold may lie far out, though, and few
    rows beyond it: where the class probabilities jump from one bin to the next, and so
    are known to, a cell ends.
    """
    if rows.size <= most:
        return np.arange(rows.size)
    mean = rows @ probabilities / rows.sum()
    jump = ((probabilities[1:] - probabilities[:-1]) ** 2 / mean).sum(axis=1)
    steps = np.argsort(-jump, kind="stable")[: most // 2 - 1]
    steps = steps[jump[steps] > _SHARP]
    middle = (np.cumsum(rows) - 0.5 * rows) / rows.sum()
    equal = (middle * (most - steps.size)).astype(np.int64)
    ends = np.union1d(np.flatnonzero(np.diff(equal)), steps)  # last bins of cells
    return np.searchsorted(ends, np.arange(rows.size), side="left")


def _log_arrangements(n_cells: int) -> float:
    """Orders of cells that a tree of halves tells apart, as a logarithm."""
    size = 1 << max(n_cells - 1, 0).bit_length()
    alike = 0  # nodes whose halves can be exchanged
    while size > 1:
        alike += n_cells // size
        size //= 2
    return math.lgamma(n_cells + 1) - alike * math.log(2.0)


@dataclass(frozen=True, eq=False)
class PairShape:
    """Class probabilities of the cells of two or three columns, averaged.

    Attributes
    ----------
    columns : tuple of int
        Numbers of the columns in the table.
    cells : tuple of ndarray
        Of each column, the cell of each of its bins; -1 where nothing is known.
    levels : tuple of int
        Column i has ``2 ** levels[i]`` cells; the last one runs fastest.
    counts, probabilities, deviations : ndarray of shape (n_cells + 1, n_classes)
        As in `Shape`. The last line is that of rows with an unknown value.
    evidence : float
        Nats by which the grid explains the classes better than one part.
    """

    columns: tuple[int, ...]
    cells: tuple[np.ndarray, ...]
    levels: tuple[int, ...]
    counts: np.ndarray
    probabilities: np.ndarray
    deviations: np.ndarray
    evidence: float

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells of each axis."""
        return tuple(1 << level for level in self.levels)

    @property
    def n_cells(self) -> tuple[int, ...]:
        """Cells of each axis that hold some value: the first ones."""
        return tuple(int(own.max(initial=0)) + 1 for own in self.cells)

    def lifts(self, shares: np.ndarray) -> np.ndarray:
        """Logarithms of the probabilities, less those of the class shares."""
        return np.asarray(np.log(self.probabilities) - np.log(shares))

    def place(self, bins: Sequence[np.ndarray]) -> np.ndarray:
        """Cell of each row from the bins of its columns."""
        return place_rows(self.cells, self.levels, bins)


def place_rows(
    cells: Sequence[np.ndarray], levels: Sequence[int], bins: Sequence[np.ndarray]
) -> np.ndarray:
    """Cell of each row on a grid; the last one for rows with an unknown value."""
    place = np.zeros(bins[0].shape[0], dtype=np.int64)
    unknown = np.zeros(bins[0].shape[0], dtype=bool)
    for own, level, of_rows in zip(cells, levels, bins, strict=True):
        cell = own[of_rows]
        unknown |= cell < 0
        place = (place << level) | np.maximum(cell, 0)
    place[unknown] = 1 << sum(levels)
    return place


def average_pairs(
    sets: Sequence[tuple[int, ...]],
    axes: Sequence[Axis] | Mapping[int, Axis],
    levels: Sequence[tuple[int, ...]],
    tables: Sequence[np.ndarray],
    class_count: np.ndarray,
    *,
    leave_one_out: bool = True,
) -> tuple[list[PairShape], list[np.ndarray]]:
    """Average over all recursive halvings of the grid of each set; **exact**.

    Parameters
    ----------
    sets : sequence of tuples of int
        Two or three columns each.
    axes : sequence or mapping of Axis
        Of the columns, by the numbers in the sets.
    levels : sequence of tuples of int
        Halvings of the axes of each set, see `pair_levels`.
    tables : sequence of ndarray of shape (n_cells + 1, n_classes)
        Class counts of the cells of each set, see `PairShape`.
    class_count : ndarray of shape (n_classes,)
    leave_one_out : bool, default=True
        Whether to make tables without each row.

    Returns
    -------
    shapes : list of PairShape
    left_out : list of ndarray of shape ((n_cells + 1) * n_classes, n_classes)
        As in `AveragedColumns`; empty unless wanted.
    """
    shares = class_shares(class_count)
    alpha = STRENGTH * shares
    answers = _core.average_boxes(
        [np.ascontiguousarray(table[:-1]) for table in tables],
        alpha,
        [list(own) for own in levels],
        leave_one_out,
    )
    unknown = np.sqrt(shares * (1.0 - shares) / (STRENGTH + 1.0))
    shapes, left_out = [], []
    for columns, own, table, answer in zip(sets, levels, tables, answers, strict=True):
        log_z, means, deviations, without = answer
        one_part = _core.average_boxes(
            [table[:-1].sum(axis=0, keepdims=True)], alpha, [[0]], False
        )[0][0]
        shapes.append(
            PairShape(
                columns,
                tuple(
                    axes[j].coarser(level)
                    for j, level in zip(columns, own, strict=True)
                ),
                own,
                table,
                np.vstack([means, shares]),
                np.vstack([deviations, unknown]),
                log_z - one_part,
            )
        )
        if leave_one_out:
            left_out.append(np.vstack([without, np.tile(shares, (shares.size, 1))]))
    return shapes, left_out


def most_levels(n_columns: int, n_rows: float) -> int:
    """Halvings of an axis, at most: fewer for three columns than for two."""
    if n_columns == 2:
        return PAIR_LEVELS
    return 3 if n_rows >= _FINE_TRIPLES else 2


def pair_levels(
    columns: Sequence[int], axes: Sequence[Axis], n_rows: float
) -> tuple[int, ...]:
    """Halvings of each axis of a set."""
    most = most_levels(len(columns), n_rows)
    return tuple(min(axes[j].level, most) for j in columns)
