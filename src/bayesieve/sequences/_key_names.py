"""`KeyNames`: half a billion k-mers by name, eight bytes each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bayesieve import _core
from bayesieve.sequences._spelling import Spelling
from bayesieve.utils._arrays import Array
from bayesieve.utils._computed_once import computed_once
from bayesieve.utils._packed_names import PackedNames

__all__ = ["KeyNames"]


class KeyNames(PackedNames):
    """Names of k-mers, or of bytes in a row, held as keys of 64 bits.

    Parameters
    ----------
    keys : ndarray of uint64
    spelling : Spelling
        What the keys stand for.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.sequences._key_names import KeyNames
    >>> from bayesieve.sequences._spelling import Spelling
    >>> names = KeyNames(np.array([0, 6, 27]), Spelling(is_dna=True, length=3))
    >>> names.tolist(), names[1], names.index_of(["CGT", "TTT"]).tolist()
    (['AAA', 'ACG', 'CGT'], 'ACG', [2, -1])
    """

    def __init__(self, keys: Any, spelling: Spelling) -> None:
        self.keys: Array = np.ascontiguousarray(keys, dtype=np.uint64)
        self.spelling = spelling

    @computed_once
    def is_sorted(self) -> bool:
        """Whether the keys are distinct and in order."""
        return bool((self.keys[:-1] < self.keys[1:]).all())

    @property
    def nbytes(self) -> int:
        """Memory of the keys."""
        return int(self.keys.nbytes)

    def __len__(self) -> int:
        return int(self.keys.size)

    def _name(self, position: int) -> str:
        return self.spelling.names(self.keys[position : position + 1])[0]

    def _taken(self, chosen: slice | Array) -> KeyNames:
        return KeyNames(self.keys[chosen], self.spelling)

    def tolist(self) -> list[str]:
        """Return the names as Python strings."""
        return self.spelling.names(self.keys)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeyNames):
            return NotImplemented
        return self.is_like(other) and np.array_equal(self.keys, other.keys)

    def index_of(self, texts: Iterable[str]) -> Array:
        """Return the position of each string, or -1 where it is not there.

        A k-mer may be in small letters, and on either strand if it was counted so.
        """
        name_of = self.spelling.canonical_name
        called = [name_of(own) if isinstance(own, str) else own for own in texts]
        wanted, known = self.spelling.keys(called)
        order = None if self.is_sorted else np.argsort(self.keys, kind="stable")
        place = np.searchsorted(self.keys, wanted, sorter=order)
        place = np.minimum(place, max(len(self) - 1, 0))
        if order is not None and order.size:
            place = order[place]
        found = known & (len(self) > 0)
        if len(self):
            found &= self.keys[place] == wanted
        return np.where(found, place, -1).astype(np.int64)

    def is_like(self, other: PackedNames) -> bool:
        """Whether the other names are those of windows of the same kind."""
        return isinstance(other, KeyNames) and self.spelling == other.spelling

    def merged(self, other: KeyNames) -> tuple[KeyNames, Array, Array]:
        """Return the union of two sets of names, and the columns of both in it."""
        self._refuse_unsorted(other)
        keys, own, others = _core.merge_keys(self.keys, other.keys)
        union = KeyNames(keys, self.spelling)
        union.__dict__["is_sorted"] = True
        return union, own, others
