"""The partitions of a stream that a model follows, and where the window's rows fall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesieve.naive_bayes._stream import StreamMemory
from bayesieve.partition._column import ColumnPartition
from bayesieve.partition._group import ValueGrouping

__all__ = ["Followed"]


@dataclass
class Followed:
    """One version of a stream's partitions.

    Attributes
    ----------
    version : int
        That of the stream's memory.
    partitions : list of ColumnPartition
    informative : ndarray of int64
        Columns whose partition says something.
    maps : list of ndarray
        Part of each bin, for each informative column.
    parts : ndarray of shape (window, n_informative)
        Parts of the rows of the window.
    """

    version: int
    partitions: list[ColumnPartition]
    informative: np.ndarray
    maps: list[np.ndarray]
    parts: np.ndarray

    @classmethod
    def from_memory(cls, stream: StreamMemory) -> Followed:
        """Follow the partitions a stream has now."""
        informative = np.flatnonzero([p.level > 0 for p in stream.partitions])
        widest = max((p.n_parts for p in stream.partitions), default=1)
        parts = np.zeros(
            (stream.window, informative.shape[0]),
            dtype=np.uint8 if widest <= 256 else np.uint16,
            order="F",
        )
        maps = [stream.parts_of_bins(j) for j in informative]
        found = cls(stream.version, stream.partitions, informative, maps, parts)
        found.place(stream, np.arange(stream.filled))
        return found

    def place(self, stream: StreamMemory, rows: np.ndarray) -> None:
        """Find the parts of some rows of the window."""
        self._extend(stream)
        bins = stream.bin_rows[rows]
        for k, j in enumerate(self.informative):
            self.parts[rows, k] = self.maps[k][bins[:, j]]

    def part_counts(self, stream: StreamMemory) -> list[np.ndarray]:
        """Class counts of the parts of each informative column, of all rows so far."""
        self._extend(stream)
        return [
            stream.part_counts(j, known)
            for j, known in zip(self.informative, self.maps, strict=True)
        ]

    def _extend(self, stream: StreamMemory) -> None:
        """Values met since the groups were made belong to the default group."""
        for k, j in enumerate(self.informative):
            missing = stream.bins[j].counts.shape[0] - self.maps[k].shape[0]
            if missing > 0:
                grouping = self.partitions[j].parts
                assert isinstance(grouping, ValueGrouping)
                new = np.full(missing, grouping.default_group)
                self.maps[k] = np.concatenate([self.maps[k], new])
