"""A scorecard made smaller: the same scores from fewer numbers and fewer lookups.

Of two classes only the difference of their scores matters. Terms that are looked up by
the same columns are added up beforehand, and a term goes into one of more columns where
the table stays small; each column then has cells that all its tables agree upon.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod

import numpy as np

from bayesieve._scorecard import (
    UNKNOWN,
    Axis,
    Intervals,
    LookupTerm,
    NormalTerms,
    Scorecard,
    Slopes,
    Term,
)

__all__ = ["Cells", "Table", "always_possible", "cells_of", "contrasted", "tables_of"]

#: Numbers in a table of several terms, unless these alone are as many.
MOST_MERGED = 1024


# ------------------------------------------------------------ two classes, one score


def contrasted(card: Scorecard) -> Scorecard:
    """Of two classes, the score of the second less that of the first, as one score.

    A card in which something is impossible, or of more classes, stays as it is: what
    neither class can produce has no difference.
    """
    if card.n_classes != 2 or not always_possible(card):
        return card
    terms = tuple(_difference(term) for term in card.terms)
    return replace(card, start=np.diff(card.start), terms=terms)


def always_possible(card: Scorecard) -> bool:
    """Whether all scores are finite, whatever the row."""
    return bool(np.isfinite(card.start).all()) and all(map(_is_plain, card.terms))


def _is_plain(term: Term) -> bool:
    """Whether all that a term adds is finite, whatever the row."""
    if isinstance(term, NormalTerms):
        return False
    if isinstance(term, LookupTerm):
        return bool(np.isfinite(term.table).all() and np.isfinite(term.unknown).all())
    return not (term.slopes.never.any() or term.slopes.always.any())


def _difference(term: Term) -> Term:
    if isinstance(term, LookupTerm):
        return replace(term, table=np.diff(term.table), unknown=np.diff(term.unknown))
    assert not isinstance(term, NormalTerms)
    own = term.slopes
    none = np.zeros((own.slope.shape[0], 1), dtype=bool)
    slopes = Slopes(np.diff(own.slope), np.diff(own.offset), none, none)
    return replace(term, slopes=slopes)


# ------------------------------------------------------------------------------- cells


@dataclass(frozen=True, eq=False)
class Cells:
    """What a column is cut into, so finely that all axes upon it agree.

    Attributes
    ----------
    column : int
        Place in `Scorecard.columns`.
    bounds : ndarray or None
        Of intervals, which are the first cells; None for values.
    values : tuple
        The values of the first cells otherwise; those not listed are a cell then.

    The last cell is that of missing values.
    """

    column: int
    bounds: np.ndarray | None
    values: tuple[Hashable, ...]

    def parts(self, axis: Axis) -> np.ndarray:
        """Part of an axis that each cell lies in."""
        if isinstance(axis, Intervals):
            assert self.bounds is not None
            inside = np.searchsorted(axis.bounds, self.bounds, side="left")
            found = axis.parts[np.append(inside, axis.bounds.size)].tolist()
        else:
            known = dict(zip(axis.values, axis.parts.tolist(), strict=True))
            found = [known.get(value, axis.others) for value in self.values]
            found.append(axis.others)
        return np.array([*found, axis.missing], dtype=np.int64)


def cells_of(axes: Sequence[Axis]) -> Cells:
    """The cells that all axes of one column agree upon."""
    column = axes[0].column
    if isinstance(axes[0], Intervals):
        every = [own.bounds for own in axes if isinstance(own, Intervals)]
        return Cells(column, np.unique(np.concatenate(every)), ())
    listed = [value for own in axes for value in getattr(own, "values", ())]
    return Cells(column, None, tuple(dict.fromkeys(listed)))


# ------------------------------------------------------------------------------ tables


@dataclass(frozen=True, eq=False)
class Table:
    """What one lookup, by the cells of some columns, adds to the scores.

    Attributes
    ----------
    columns : tuple of int
        Places in `Scorecard.columns`, ascending.
    places : tuple of ndarray of int
        For each column, the place along its axis of each of its cells.
    values : ndarray of shape (n_places of each axis ..., n_scores)
        Finite or minus infinity.
    """

    columns: tuple[int, ...]
    places: tuple[np.ndarray, ...]
    values: np.ndarray

    @classmethod
    def of_term(cls, term: LookupTerm, cells: dict[int, Cells]) -> Table:
        """A term alone."""
        order = np.argsort([axis.column for axis in term.axes])
        axes = [term.axes[own] for own in order]
        table = np.transpose(term.table, [*order, len(axes)])
        parts, places = [], []
        for axis in axes:
            distinct, own = np.unique(
                cells[axis.column].parts(axis), return_inverse=True
            )
            parts.append(distinct)
            places.append(own)
        values = table[np.ix_(*parts)]
        nowhere = [distinct == UNKNOWN for distinct in parts]
        values[reduce(np.logical_or.outer, nowhere)] = term.unknown
        return cls(tuple(axis.column for axis in axes), tuple(places), values)

    @property
    def size(self) -> int:
        """Number of places."""
        return prod(self.values.shape[:-1])

    def with_added(self, other: Table, most: int) -> Table | None:
        """One table with another of some of its columns; None if too large."""
        mine, others, places = [], [], []
        for column, own in zip(self.columns, self.places, strict=True):
            added = np.zeros_like(own)
            if column in other.columns:
                added = other.places[other.columns.index(column)]
            pairs, inverse = np.unique(
                np.stack([own, added]), axis=1, return_inverse=True
            )
            mine.append(pairs[0])
            others.append(pairs[1])
            places.append(inverse.reshape(-1))
        size = prod(own.size for own in mine)
        if size > max(most, self.size + other.size):
            return None
        theirs = [self.columns.index(column) for column in other.columns]
        grid = np.ix_(*others)
        values = self.values[np.ix_(*mine)]
        values = values + other.values[tuple(grid[own] for own in theirs)]
        return Table(self.columns, tuple(places), values)


def tables_of(card: Scorecard) -> tuple[dict[int, Cells], list[Table]]:
    """The cells of columns that are looked up, and as few tables as are small."""
    terms = [term for term in card.terms if isinstance(term, LookupTerm)]
    axes: dict[int, list[Axis]] = {}
    for term in terms:
        for axis in term.axes:
            axes.setdefault(axis.column, []).append(axis)
    cells = {column: cells_of(own) for column, own in axes.items()}
    single = [Table.of_term(term, cells) for term in terms]
    most = MOST_MERGED // card.start.size
    kept: list[Table] = []
    # Those of few columns first: what they go into is still to come.
    waiting = sorted(single, key=lambda own: (len(own.columns), own.size))
    while waiting:
        own = waiting.pop(0)
        best: tuple[int, int, Table] | None = None
        for place, into in enumerate(waiting):
            if set(own.columns) <= set(into.columns):
                sum_ = into.with_added(own, most)
                if sum_ is not None and (best is None or sum_.size < best[0]):
                    best = sum_.size, place, sum_
        if best is None:
            kept.append(own)
        else:
            waiting[best[1]] = best[2]
    return cells, kept
