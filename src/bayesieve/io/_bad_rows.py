"""Rows that cannot be read or counted."""

from __future__ import annotations

from bayesieve.exceptions import BadRowsWarning
from bayesieve.utils._warnings import warn_user

__all__ = ["BadRows"]


class BadRows:
    """Rows that cannot be counted: the first one is an error, or all are left out."""

    def __init__(self, skip: bool) -> None:
        self.skip = skip
        self.skipped = 0
        self.first = ""

    def found(self, number: int, problem: str) -> None:
        """Take note of some rows; `problem` describes the first of them."""
        if not number:
            return
        if not self.skip:
            raise ValueError(
                f"{problem} Hint: on_bad_rows='skip' leaves such rows out."
            )
        self.skipped += number
        self.first = self.first or problem

    def warn(self) -> None:
        """Say once how many rows were left out."""
        if self.skipped:
            rows = "row was" if self.skipped == 1 else "rows were"
            first = f" The first: {self.first}" if self.first else ""
            warn_user(
                f"{self.skipped} bad {rows} left out of the counts.{first}",
                BadRowsWarning,
            )
