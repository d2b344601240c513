"""Count a piece, add up: what an engine is given, and how it adds.

All of it are pure functions of their arguments: a scheduler may run them again after a
lost worker, and the result is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")

__all__ = ["Counting", "Merger", "merged", "no_rows"]


class Counting(Protocol[T]):
    """What is to be done; it travels to the workers, and so do the tables."""

    @property
    def groups(self) -> int:
        """Number of tables that `count` gives, each of which is added up on its own."""

    def count(self, batches: Iterable[tuple[Any, Any]]) -> list[T] | None:
        """Count the (rows, labels) of a piece; None if it has no rows."""

    def add(self, a: T, b: T) -> T:
        """Add two tables of one group."""

    def reduce(self, total: T) -> T:
        """Leave out of the total of a group what nobody wants to have sent."""


class Merger(Generic[T]):
    """Adds up tables as they come, small ones with small ones.

    As in a binary counter, slot i holds the sum of 2**i tables: each table takes part
    in O(log n) additions, and only O(log n) tables are in memory. The order of the
    additions depends on the order of the tables alone.
    """

    def __init__(self, add: Callable[[T, T], T]) -> None:
        self._add = add
        self._slots: list[T | None] = []

    def add(self, table: T) -> None:
        """Take one more table."""
        for level, held in enumerate(self._slots):
            if held is None:
                self._slots[level] = table
                return
            self._slots[level] = None
            table = self._add(held, table)
        self._slots.append(table)

    def total(self) -> T | None:
        """Return the sum of all tables, None if there were none."""
        total = None
        for held in self._slots:
            if held is not None:
                total = held if total is None else self._add(held, total)
        return total


def merged(add: Callable[[T, T], T], tables: Iterable[T | None]) -> T | None:
    """Return the sum of the tables that are there."""
    merger = Merger(add)
    for table in tables:
        if table is not None:
            merger.add(table)
    return merger.total()


def no_rows() -> ValueError:
    """Make the error for data without a single row."""
    return ValueError("The data must have at least one row. Got none.")
