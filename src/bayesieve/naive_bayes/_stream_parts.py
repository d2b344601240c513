"""The parts that a model of a stream is learnt with, and where the window falls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bayesieve.naive_bayes._stream_pairs import CountedPairs
from bayesieve.partition._averaged import FineBins
from bayesieve.partition._bins import counts_of_parts
from bayesieve.partition._column import ColumnPartition
from bayesieve.partition._group import ValueGrouping
from bayesieve.partition._pairs import UNKNOWN, Axis

if TYPE_CHECKING:
    from bayesieve.naive_bayes._stream import StreamMemory

__all__ = ["PlacedColumns", "StreamPartitions", "StreamShapes"]


@dataclass
class PlacedColumns:
    """Parts of some columns: of the bins of a stream, and of the rows of its window.

    Attributes
    ----------
    columns : ndarray of int64
        Numbers of the columns.
    partitions : list of ColumnPartition
        Of these columns.
    maps : list of ndarray
        Part of each bin.
    parts : ndarray of shape (window, n_columns)
        Parts of the rows of the window.
    """

    columns: np.ndarray
    partitions: list[ColumnPartition]
    maps: list[np.ndarray]
    parts: np.ndarray

    @classmethod
    def from_memory(
        cls,
        stream: StreamMemory,
        columns: np.ndarray,
        partitions: Sequence[ColumnPartition],
    ) -> PlacedColumns:
        """Place a stream in parts; those of column j are ``partitions[j]``."""
        own = [partitions[int(j)] for j in columns]
        widest = max((p.n_parts for p in own), default=1)
        parts = np.zeros(
            (stream.window, columns.shape[0]),
            dtype=np.uint8 if widest <= 256 else np.uint16,
            order="F",
        )
        maps = [
            stream.parts_of_bins(int(j), p) for j, p in zip(columns, own, strict=True)
        ]
        found = cls(columns, own, maps, parts)
        found.place(stream, np.arange(stream.filled))
        return found

    def place(self, stream: StreamMemory, rows: np.ndarray) -> None:
        """Find the parts of some rows of the window."""
        self._extend(stream)
        bins = stream.bin_rows[rows]
        for k, j in enumerate(self.columns):
            self.parts[rows, k] = self.maps[k][bins[:, j]]

    def counts(self, stream: StreamMemory) -> list[np.ndarray]:
        """Class counts of the parts of each column, of all rows so far."""
        self._extend(stream)
        return [
            counts_of_parts(stream.bins[j].counts, known, partition.n_parts)
            for j, known, partition in zip(
                self.columns, self.maps, self.partitions, strict=True
            )
        ]

    def _extend(self, stream: StreamMemory) -> None:
        """Values met since the groups were made belong to the default group."""
        for k, j in enumerate(self.columns):
            missing = stream.bins[j].counts.shape[0] - self.maps[k].shape[0]
            if missing > 0:
                grouping = self.partitions[k].parts
                assert isinstance(grouping, ValueGrouping)
                new = np.full(missing, grouping.default_group)
                self.maps[k] = np.concatenate([self.maps[k], new])


@dataclass
class StreamPartitions:
    """One version of a stream's partitions, and the parts of the window's rows.

    A model keeps the version it was learnt with until the next one is learnt.

    Attributes
    ----------
    version : int
        That of the stream's memory.
    partitions : list of ColumnPartition
    placed : PlacedColumns
        The columns whose partition says something.
    """

    version: int
    partitions: list[ColumnPartition]
    placed: PlacedColumns

    @classmethod
    def from_memory(cls, stream: StreamMemory) -> StreamPartitions:
        """Follow the partitions a stream has now."""
        informative = np.flatnonzero([p.level > 0 for p in stream.partitions])
        placed = PlacedColumns.from_memory(stream, informative, stream.partitions)
        return cls(stream.version, stream.partitions, placed)

    @property
    def informative(self) -> np.ndarray:
        """Columns whose partition says something."""
        return self.placed.columns


@dataclass
class StreamShapes:
    """One version of the fine bins that a stream's shapes are made of.

    Attributes
    ----------
    version : int
        That of the stream's memory.
    partitions : list of ColumnPartition
        The best ones.
    fine : list of FineBins
        Of all columns, with the counts of the rows when they were made.
    placed : PlacedColumns
        All columns by these bins.
    """

    version: int
    partitions: list[ColumnPartition]
    fine: list[FineBins]
    placed: PlacedColumns

    @classmethod
    def from_memory(cls, stream: StreamMemory) -> StreamShapes:
        """Follow the fine bins a stream has now."""
        placed = PlacedColumns.from_memory(
            stream, np.arange(len(stream.fine)), [own.column for own in stream.fine]
        )
        return cls(stream.version, stream.partitions, stream.fine, placed)

    def counted(self, stream: StreamMemory) -> list[FineBins]:
        """The bins with the counts of all rows so far."""
        counts = self.placed.counts(stream)
        return [
            own.counted(table) for own, table in zip(self.fine, counts, strict=True)
        ]

    def axes(self, pairs: CountedPairs) -> dict[int, Axis]:
        """Axes of counted pairs by the fine bins, whose unions their cells are."""
        found = {}
        for j, axis in pairs.axes.items():
            cells = np.full(self.fine[j].column.n_parts, UNKNOWN, dtype=np.int16)
            known = axis.cells
            cells[self.placed.maps[j][: known.shape[0]]] = known
            found[j] = replace(axis, cells=cells)
        return found
