"""Features that occur in the same rows, held as one column with many members."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bayesieve.sequences._key_names import KeyNames
from bayesieve.utils._arrays import Array
from bayesieve.utils._computed_once import computed_once

__all__ = ["Copies", "NamesWithCopies"]


class Copies:
    """The members of columns that stand for all features with the same rows.

    Usually ``ClassCounts.copies`` after counting with ``merge_copies=True``. The name
    of a column is that of its first member.

    Parameters
    ----------
    names : KeyNames
        All features, sorted.
    group : ndarray of shape (len(names),), uint32
        The group of each.
    columns : ndarray of int64, default=None
        The group that each column stands for; all of them, in order, unless given.

    Attributes
    ----------
    n_features : int
        Features in all columns together.
    sizes : ndarray of int64
        Members of each column.
    """

    def __init__(self, names: KeyNames, group: Array, columns: Any = None) -> None:
        self.names = names
        self.group = group
        if columns is None:
            columns = np.arange(self._n_groups)
        self.columns: Array = np.asarray(columns, dtype=np.int64)

    @computed_once
    def _n_groups(self) -> int:
        return int(self.group.max()) + 1 if self.group.size else 0

    def __len__(self) -> int:
        return int(self.columns.size)

    @computed_once
    def sizes(self) -> Array:
        """Members of each column."""
        counted = np.zeros(self._n_groups, dtype=np.int64)
        # In parts, as NumPy makes 64 bits of each number of a group.
        step = max(1 << 24, self._n_groups)
        for first in range(0, self.group.size, step):
            part = self.group[first : first + step]
            counted += np.bincount(part, minlength=self._n_groups)
        sizes: Array = counted[self.columns]
        return sizes

    @property
    def n_features(self) -> int:
        """Features in all columns together."""
        return int(self.sizes.sum())

    def members(self, column: int) -> KeyNames:
        """Return the features of a column, sorted by name."""
        return self.members_of([column])[0]

    def members_of(self, columns: Any) -> list[KeyNames]:
        """Return the features of some columns, in one pass over all features."""
        groups = self.columns[np.asarray(columns, dtype=np.int64)]
        wanted = np.zeros(self._n_groups, dtype=bool)
        wanted[groups] = True
        places = np.flatnonzero(wanted[self.group])
        order = np.argsort(self.group[places], kind="stable")
        own = self.group[places[order]]
        first, last = (np.searchsorted(own, groups, side=s) for s in ("left", "right"))
        return [
            self.names._taken(places[order[a:b]])
            for a, b in zip(first.tolist(), last.tolist(), strict=True)
        ]

    def column_of(self, name: str) -> int | None:
        """Return the column that stands for a feature, by its name.

        A k-mer may be read on either strand, if it was counted so.
        """
        column = int(self.index_of([name])[0])
        return None if column < 0 else column

    def index_of(self, names: Iterable[str]) -> Array:
        """Return the column that stands for each feature, -1 where none does."""
        place = self.names.index_of(names)
        known = place >= 0
        found = np.full(place.size, -1, dtype=np.int64)
        found[known] = self._column_of_group(self.group[place[known]])
        return found

    def _column_of_group(self, groups: Array) -> Array:
        if self._is_whole:
            return groups.astype(np.int64)
        if not len(self):
            return np.full(groups.size, -1)
        order = self._order
        place = np.searchsorted(self.columns, groups, sorter=order)
        column = order[np.minimum(place, len(self) - 1)]
        return np.where(self.columns[column] == groups, column, -1)

    @computed_once
    def _is_whole(self) -> bool:
        """Whether columns are all groups in order."""
        return len(self) == self._n_groups and bool(
            (self.columns == np.arange(len(self))).all()
        )

    @computed_once
    def _order(self) -> Array:
        return np.argsort(self.columns, kind="stable")

    def select(self, columns: Array) -> Copies:
        """Return the copies of some columns; the features are not copied."""
        return Copies(self.names, self.group, self.columns[columns])

    def is_same(self, other: Copies | None) -> bool:
        """Whether the columns stand for the same features."""
        if other is None:
            return False
        return self is other or (
            np.array_equal(self.columns, other.columns)
            and self.names == other.names
            and np.array_equal(self.group, other.group)
        )

    def __repr__(self) -> str:
        return f"Copies({len(self)} columns of {self.n_features} features)"


class NamesWithCopies(KeyNames):
    """Names of columns with copies: each is known by any of its members.

    Whoever looks a name up, a rule or the command line, finds the column of a member.

    Parameters
    ----------
    keys : ndarray of uint64
        The first member of each column.
    copies : Copies
        The members of the same columns.
    """

    def __init__(self, keys: Any, copies: Copies) -> None:
        super().__init__(keys, copies.names.spelling)
        self._copies = copies

    def index_of(self, texts: Iterable[str]) -> Array:
        """Return the column that each string is a member of, or -1."""
        return self._copies.index_of(texts)

    def alone(self) -> KeyNames:
        """The same names, without the copies behind them."""
        return KeyNames(self.keys, self.spelling)
