"""What a partition of one variable costs."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PartitionCost"]


@dataclass(frozen=True)
class PartitionCost:
    """Code length of a partition and of the classes given it, in nats."""

    construction: float
    preparation: float
    data: float

    @property
    def total(self) -> float:
        """Sum of the three."""
        return self.construction + self.preparation + self.data
