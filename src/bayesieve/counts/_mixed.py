"""Class counts of one column of a mixed table: levels or values, and missing ones.

A mixed table has few columns, each with its own levels, so its statistics are kept
column by column. They add up over rows as every other count does.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from bayesieve.counts._rounding import flush_rounding
from bayesieve.utils._arrays import Array

__all__ = ["MISSING", "LevelCounts", "ValueMoments"]


class _Missing:
    """The level of a missing value; equal to nothing that data can hold."""

    def __repr__(self) -> str:
        return "<missing>"

    def __reduce__(self) -> str:
        return "MISSING"  # pickles as the one object it is


MISSING = _Missing()


@dataclass(frozen=True)
class LevelCounts:
    """Rows of each class at each level of a categorical column.

    ``levels`` in order of first appearance, ``table`` of shape (n_classes, n_levels).
    """

    levels: tuple[Hashable, ...]
    table: Array

    @classmethod
    def count(
        cls, values: list[Hashable], codes: Array, weights: Array | None, n_classes: int
    ) -> LevelCounts:
        """Count a column given as a list of hashable levels."""
        seen: dict[Hashable, int] = {}
        found = np.array(
            [seen.setdefault(value, len(seen)) for value in values], dtype=np.int64
        )
        cells = np.bincount(
            codes * len(seen) + found, weights=weights, minlength=n_classes * len(seen)
        )
        table = cells.reshape(n_classes, len(seen)).astype(np.float64)
        return cls(tuple(seen), table)

    def __add__(self, other: LevelCounts) -> LevelCounts:
        place = {level: i for i, level in enumerate(self.levels)}
        for level in other.levels:
            place.setdefault(level, len(place))
        table = np.zeros((self.table.shape[0], len(place)))
        table[:, : len(self.levels)] = self.table
        for j, level in enumerate(other.levels):
            table[:, place[level]] += other.table[:, j]
        return LevelCounts(tuple(place), table)


@dataclass(frozen=True)
class ValueMoments:
    """Rows, mean and centred squares of each class in a continuous column.

    Over the rows that have a value; ``missing`` holds the rows that have none. Means
    are counted from ``origin``, which is not 0 for integers that are no doubles.
    """

    missing: Array
    rows: Array
    mean: Array
    squares: Array
    origin: int = 0

    @classmethod
    def count(
        cls,
        values: Array,
        codes: Array,
        weights: Array | None,
        n_classes: int,
        origin: int = 0,
    ) -> ValueMoments:
        """Count a column given as floats from an origin; NaN is a missing value."""
        weight = np.ones(values.shape[0]) if weights is None else weights
        there = ~np.isnan(values)
        missing = np.bincount(codes[~there], weight[~there], minlength=n_classes)
        codes, weight, values = codes[there], weight[there], values[there]
        rows = np.bincount(codes, weight, minlength=n_classes)
        # From one of the values, so that a constant column has exactly that mean and no
        # squares, however weights round. Two passes, never differences of squares.
        start = float(values[0]) if values.size else 0.0
        apart = values - start
        sums = np.bincount(codes, weight * apart, minlength=n_classes)
        mean = np.divide(sums, rows, out=np.zeros(n_classes), where=rows > 0)
        deviation = apart - mean[codes]
        squares = np.bincount(codes, weight * deviation**2, minlength=n_classes)
        mean = np.where(rows > 0, start + mean, 0.0)
        # A class with one value, however often, has no squares either.
        level = np.abs(mean) + abs(start)
        flush_rounding(squares[:, None], rows, level[:, None])
        return cls(missing, rows, mean, squares, origin)

    def __add__(self, other: ValueMoments) -> ValueMoments:
        rows = self.rows + other.rows
        safe = np.where(rows > 0, rows, 1.0)
        shift = other.mean - self.mean + float(other.origin - self.origin)
        return ValueMoments(
            self.missing + other.missing,
            rows,
            self.mean + shift * other.rows / safe,
            self.squares + other.squares + shift**2 * self.rows * other.rows / safe,
            self.origin,
        )
