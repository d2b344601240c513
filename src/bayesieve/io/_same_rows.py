"""Whether a source that is read several times gives the same rows each time.

What a second reading computes rests on what the first one counted. A file that is
rewritten in between would give numbers that belong to neither, so each reading sums up
the values as they come, and another sum is an error.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

__all__ = ["Reading", "SameRows"]

_Sum = tuple[int, ...]


class SameRows:
    """What the first reading of each source found, and later ones must find.

    Costs a checksum of every value: a few per cent of the time in which texts are read
    and counted.
    """

    def __init__(self) -> None:
        self._first: dict[Hashable, _Sum] = {}

    def reading(self, told: str, columns: Sequence[Hashable]) -> Reading:
        """Begin to read some columns of a source that is called `told` in messages."""
        return Reading(self._first, told, columns)

    def pairs(self, piece: Any, bad_rows: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the (texts, labels) of a piece of a source of texts.

        A query may give its rows in another order each time. It brings a hash of every
        row, and these are added up.
        """
        reading = self.reading(piece.told, ("text", "label"))
        for texts, labels, *hashes in piece.batches(bad_rows):
            if hashes:
                reading.add_hashes(hashes[0])
            else:
                reading.add((texts, labels))
            yield texts, labels
        reading.end()


class Reading:
    """One reading of some columns from their beginning to their end."""

    def __init__(
        self, first: dict[Hashable, _Sum], told: str, columns: Sequence[Hashable]
    ) -> None:
        self._first, self._told = first, told
        self._columns = [(told, column) for column in columns]
        self._sums = [_Checksum() for _ in columns]
        self._hashes = 0

    def add(self, columns: Sequence[Any]) -> None:
        """Take note of the next rows, column by column."""
        for own, column in zip(self._sums, columns, strict=True):
            own.add(column)

    def add_hashes(self, hashes: Any) -> None:
        """Take note of rows by their hashes, in whatever order they come."""
        values = hashes.to_numpy(zero_copy_only=False).astype(np.uint64, copy=False)
        self._hashes = (self._hashes + int(values.sum(dtype=np.uint64))) % 2**64
        self._sums[0].rows += values.size

    def end(self) -> None:
        """Compare all that was read with what the first reading found."""
        for column, own in zip(self._columns, self._sums, strict=True):
            found = (*own.value, self._hashes)
            if self._first.setdefault(column, found) != found:
                raise self.changed()

    def changed(self) -> ValueError:
        """The error for a source that is not what it was."""
        return ValueError(
            f"{self._told} changed while it was in use: it is read more than once, and "
            "a later reading found other rows than the first. Hint: let nothing write "
            "to it meanwhile, or use a copy."
        )


class _Checksum:
    """Checksum of a column, the same for any batches that it may come in."""

    def __init__(self) -> None:
        self.rows = self._values = self._lengths = self._gaps = 0

    @property
    def value(self) -> _Sum:
        return self.rows, self._values, self._lengths, self._gaps

    def add(self, column: Any) -> None:
        if hasattr(column, "to_arrow"):  # polars
            column = column.to_arrow()
        if hasattr(column, "null_count"):  # Arrow
            for chunk in getattr(column, "chunks", [column]):
                self._add_arrow(chunk)
            return
        if not isinstance(column, list | tuple):
            column = np.asarray(column)
            if column.dtype != object:
                self._add_bytes(np.ascontiguousarray(column))
                self.rows += column.shape[0]
                return
        self._add_objects(column)
        self.rows += len(column)

    def _add_arrow(self, chunk: Any) -> None:
        if str(chunk.type).startswith("dictionary"):
            chunk = chunk.dictionary_decode()
        rows = len(chunk)
        if chunk.null_count:
            # Where they are in the column; what stands there otherwise is left open.
            gaps = np.flatnonzero(chunk.is_null().to_numpy(zero_copy_only=False))
            self._gaps = zlib.crc32((gaps + self.rows).tobytes(), self._gaps)
            chunk = chunk.drop_null()
        width = {"string": 4, "binary": 4, "large_string": 8, "large_binary": 8}.get(
            str(chunk.type)
        )
        if width is None:
            values = chunk.to_numpy(zero_copy_only=False)
            if values.dtype == object:
                self._add_objects(values)
            else:
                self._add_bytes(np.ascontiguousarray(values))
        elif len(chunk):
            _, ends, data = chunk.buffers()
            offsets = np.frombuffer(ends, np.dtype(f"i{width}"))
            offsets = offsets[chunk.offset : chunk.offset + len(chunk) + 1]
            if data is not None:
                view = memoryview(data)[int(offsets[0]) : int(offsets[-1])]
                self._values = zlib.crc32(view, self._values)
            lengths = np.diff(offsets).astype(np.int64, copy=False)
            self._lengths = zlib.crc32(lengths.tobytes(), self._lengths)
        self.rows += rows

    def _add_bytes(self, values: Any) -> None:
        self._values = zlib.crc32(values.view(np.uint8).data, self._values)

    def _add_objects(self, values: Any) -> None:
        hashes = np.fromiter(map(_hash, values), np.int64, len(values))
        self._values = zlib.crc32(hashes.tobytes(), self._values)


def _hash(value: Any) -> int:
    if type(value) is str or type(value) is bytes:
        return hash(value)
    if isinstance(value, float) and value != value:  # each NaN has a hash of its own
        return 0
    try:
        return hash(value)
    except TypeError:  # a list, for instance
        return hash(repr(value))
