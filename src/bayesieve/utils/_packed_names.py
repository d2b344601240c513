"""Millions of names in a few arrays: no Python string until one is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, Self, overload

import numpy as np

from bayesieve.utils._arrays import Array

__all__ = ["PackedNames"]


class PackedNames(ABC):
    """Distinct strings as a sequence; how they are packed is up to the subclass.

    Treat an instance as immutable. A selection in another order than that of `sorted`
    is allowed, but can no longer be merged.
    """

    __hash__ = None  # type: ignore[assignment]

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def _name(self, position: int) -> str:
        """Return one name; the position is within range."""

    @abstractmethod
    def _taken(self, chosen: slice | Array) -> Self:
        """Return some names: those of a slice without steps, or at positions."""

    @abstractmethod
    def tolist(self) -> list[str]:
        """Return the names as Python strings."""

    @abstractmethod
    def index_of(self, texts: Iterable[str]) -> Array:
        """Return the position of each string, or -1 where it is not there."""

    @property
    @abstractmethod
    def is_sorted(self) -> bool:
        """Whether the strings are distinct and in order."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Memory of the arrays."""

    @abstractmethod
    def is_like(self, other: PackedNames) -> bool:
        """Whether the other names are packed in the same way."""

    @abstractmethod
    def merged(self, other: Self) -> tuple[Self, Array, Array]:
        """Return the union with names like these, and the columns of both in it."""

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: Any) -> Self | str: ...
    def __getitem__(self, key: Any) -> Self | str:
        n = len(self)
        if isinstance(key, int | np.integer):
            at = int(key) + n if key < 0 else int(key)
            if not 0 <= at < n:
                raise IndexError(f"There are {n} names. Got position {key}.")
            return self._name(at)
        if isinstance(key, slice) and (key.step is None or key.step == 1):
            first, last, _ = key.indices(n)
            return self._taken(slice(first, max(first, last)))
        if isinstance(key, slice) or np.asarray(key).dtype == bool:
            return self._taken(np.arange(n)[key])
        positions = np.asarray(key, dtype=np.int64)
        if positions.size and not (-n <= positions.min() and positions.max() < n):
            raise IndexError(f"There are {n} names. Got positions beyond them.")
        return self._taken(np.where(positions < 0, positions + n, positions))

    def __iter__(self) -> Iterator[str]:
        # In parts: neither a string at a time nor all of them at once.
        for first in range(0, len(self), 4096):
            yield from self._taken(
                slice(first, min(first + 4096, len(self)))
            ).tolist()

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3].tolist()))  # type: ignore[union-attr]
        more = ", ..." if len(self) > 3 else ""
        return f"{type(self).__name__}({len(self)}: {shown}{more})"

    def to_numpy(self) -> Array:
        """Return the names as an object array of str."""
        names = np.empty(len(self), dtype=object)
        names[:] = self.tolist()
        return names

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("Packed names cannot be an array without a copy.")
        names = self.to_numpy()
        return names if dtype is None else names.astype(dtype)

    def _refuse_unsorted(self, other: PackedNames) -> None:
        if not (self.is_sorted and other.is_sorted):
            raise ValueError(
                "Names can be merged when they are distinct and sorted. Got names in "
                "another order."
            )
