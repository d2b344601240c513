"""Features that occur in the same rows, held as one column with many members."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.sequences._key_names import KeyNames
from bayesieve.utils._arrays import Array
from bayesieve.utils._computed_once import computed_once

__all__ = ["Copies"]


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
        """Return the column that stands for a feature, by its name."""
        place = int(self.names.index_of([name])[0])
        if place < 0:
            return None
        found = np.flatnonzero(self.columns == self.group[place])
        return int(found[0]) if found.size else None

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
