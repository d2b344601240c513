"""What a partition of one variable is: its parts, their class counts and its cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["IntervalPartition", "Partition", "PartitionCost", "RowPartition"]

# A gain below this share of the null cost is no gain.
_NO_LEVEL = 1e-10


@dataclass(frozen=True)
class PartitionCost:
    """Code length of a partition and of the classes given it, in nats.

    Attributes
    ----------
    construction : float
        Choice of the variable.
    preparation : float
        Description of the parts and of the class counts inside them.
    data : float
        The classes of the rows, given those counts.
    """

    construction: float
    preparation: float
    data: float

    @property
    def total(self) -> float:
        """Sum of the three parts."""
        return self.construction + self.preparation + self.data


def compression_level(cost: PartitionCost, null_cost: PartitionCost) -> float:
    """Share of the null cost that the partition saves; 0 when it saves nothing."""
    if not null_cost.total > 0.0:
        return 0.0
    level = 1.0 - cost.total / null_cost.total
    return level if level >= _NO_LEVEL else 0.0


@dataclass(frozen=True, kw_only=True)
class Partition:
    """What every partition has, whatever its parts are made of.

    Attributes
    ----------
    counts : ndarray of float64 of shape (n_parts, n_classes)
        Class counts of each part.
    granularity : int
        How fine the grid of cuts, or how rare a value of its own, may be. 0 for a
        single part and for the classical criterion.
    cost, null_cost : PartitionCost
        Cost of these parts, and of a single one.
    exact : bool
        Whether no cheaper partition exists at the granularities looked at (proven), or
        the search was heuristic.
    """

    counts: NDArray[np.float64]
    granularity: int
    cost: PartitionCost
    null_cost: PartitionCost
    exact: bool

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return len(self.counts)

    @property
    def level(self) -> float:
        """Compression of the classes, in [0, 1); 0 when there is one part."""
        if self.n_parts == 1:
            return 0.0
        return compression_level(self.cost, self.null_cost)


@dataclass(frozen=True, kw_only=True)
class RowPartition(Partition):
    """Intervals of the rows of a table of class counts.

    Attributes
    ----------
    ends : ndarray of int64 of shape (n_parts,)
        Interval i holds the rows ``ends[i - 1]`` to ``ends[i] - 1``.
    """

    ends: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class IntervalPartition(Partition):
    """Intervals of a numerical variable; a missing value is below all numbers.

    Attributes
    ----------
    bounds : ndarray of float64 of shape (n_parts - 1,)
        Upper bounds: interval i is ``]bounds[i - 1], bounds[i]]``, the last one has no
        end. The first bound is ``-inf`` when missing values are an interval alone.
    """

    bounds: NDArray[np.float64]

    @property
    def missing_alone(self) -> bool:
        """Whether missing values have an interval of their own."""
        return len(self.bounds) > 0 and bool(self.bounds[0] == -np.inf)

    def assign(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the interval of each value; NaN is missing and goes to the first."""
        parts = np.searchsorted(self.bounds, values, side="left").astype(np.int64)
        parts[np.isnan(values)] = 0
        return parts
