"""`TermNames`: millions of sorted strings in two arrays."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from bayesieve import _core
from bayesieve.utils._arrays import Array
from bayesieve.utils._computed_once import computed_once
from bayesieve.utils._packed_names import PackedNames


def pack(texts: Iterable[str]) -> tuple[Array, Array]:
    """Return the UTF-8 of strings one after the other, and their offsets."""
    data, offsets, raw = _core.pack_texts(list(texts), np.empty(0, dtype=np.int32))
    if raw:
        raise TypeError("Names must be str. Got bytes.")
    return data, offsets


class TermNames(PackedNames):
    """Distinct strings in the order of their code points, packed as UTF-8.

    That is the order of `sorted`, of UTF-8 bytes, and of CountVectorizer's features. No
    Python string is made until it is asked for: 11 million bigrams take 0.2 GB instead
    of 0.9. Treat an instance as immutable.

    Parameters
    ----------
    data : ndarray of uint8
        The strings, one after the other.
    offsets : ndarray of shape (n_names + 1,), int64
        String `i` is `data[offsets[i] : offsets[i + 1]]`.

    Notes
    -----
    A selection in another order is allowed, but can no longer be merged.

    Examples
    --------
    >>> from bayesieve.text._term_names import TermNames
    >>> names = TermNames.from_strings(["be", "not to", "to", "to be"])
    >>> names[1], names[2:].tolist(), names.index_of(["to", "or"]).tolist()
    ('not to', ['to', 'to be'], [2, -1])
    """

    def __init__(self, data: Any, offsets: Any) -> None:
        self.data: Array = np.ascontiguousarray(data, dtype=np.uint8)
        self.offsets: Array = np.ascontiguousarray(offsets, dtype=np.int64)

    @classmethod
    def from_strings(cls, texts: Iterable[str]) -> TermNames:
        """Pack strings, in the order given; sort them first if need be."""
        return cls(*pack(texts))

    @computed_once
    def is_sorted(self) -> bool:
        """Whether the strings are distinct and in order."""
        return bool(_core.names_are_sorted(self.data, self.offsets))

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return int(self.data.nbytes + self.offsets.nbytes)

    def __len__(self) -> int:
        return int(self.offsets.size) - 1

    def _name(self, position: int) -> str:
        first, last = self.offsets[position : position + 2]
        return self.data[first:last].tobytes().decode("utf-8", "surrogatepass")

    def _taken(self, chosen: slice | Array) -> TermNames:
        if isinstance(chosen, slice):
            ends = self.offsets[chosen.start : chosen.stop + 1]
            return TermNames(self.data[ends[0] : ends[-1]], ends - ends[0])
        return TermNames(*_core.take_names(self.data, self.offsets, chosen))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TermNames):
            return NotImplemented
        return (
            len(self) == len(other)
            and np.array_equal(np.diff(self.offsets), np.diff(other.offsets))
            and np.array_equal(self._bytes(), other._bytes())
        )

    def _bytes(self) -> Array:
        return self.data[self.offsets[0] : self.offsets[-1]]

    def tolist(self) -> list[str]:
        """Return the names as Python strings."""
        blob, ends = self.data.tobytes(), self.offsets.tolist()
        return [
            blob[first:last].decode("utf-8", "surrogatepass")
            for first, last in pairwise(ends)
        ]

    def index_of(self, texts: Iterable[str]) -> Array:
        """Return the position of each string, or -1 where it is not there."""
        wanted = list(texts)
        if self.is_sorted:
            return np.asarray(_core.find_names(self.data, self.offsets, *pack(wanted)))
        places: dict[str, int] = {}
        for i, name in enumerate(self):
            places.setdefault(name, i)
        return np.array([places.get(text, -1) for text in wanted], dtype=np.int64)

    def is_like(self, other: PackedNames) -> bool:
        """Whether the other names are strings of any length, too."""
        return isinstance(other, TermNames)

    def merged(self, other: TermNames) -> tuple[TermNames, Array, Array]:
        """Return the union of two sets of names, and the columns of both in it."""
        self._refuse_unsorted(other)
        data, offsets, column_a, column_b = _core.merge_names(
            self.data, self.offsets, other.data, other.offsets
        )
        union = TermNames(data, offsets)
        union.__dict__["is_sorted"] = True
        return union, column_a, column_b

    def __getstate__(self) -> dict[str, Array]:
        return {"data": self._bytes(), "offsets": self.offsets - self.offsets[0]}

    def __setstate__(self, state: dict[str, Array]) -> None:
        self.__init__(state["data"], state["offsets"])  # type: ignore[misc]
