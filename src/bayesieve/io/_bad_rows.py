"""Rows that cannot be used: an error, or left out and counted."""

from __future__ import annotations

from bayesieve.exceptions import BadRowsWarning
from bayesieve.utils._warnings import warn_user

__all__ = ["BadRows"]


class BadRows:
    """Rows that cannot be used: the first one is an error, or all are left out.

    So far `skipped` were, of which `undecoded` are not UTF-8.
    """

    def __init__(self, skip: bool) -> None:
        self.skip = skip
        self.skipped = self.undecoded = 0
        self.first = ""

    def found(self, number: int, problem: str, undecoded: int = 0) -> None:
        """Take note of some rows; `problem` describes the first of them."""
        if not number:
            return
        if not self.skip:
            raise ValueError(
                f"{problem} Hint: on_bad_rows='skip' leaves such rows out."
            )
        self.skipped += number
        self.undecoded += undecoded
        self.first = self.first or problem

    def warn(self, note: str = "") -> None:
        """Say once how many rows were left out."""
        if not self.skipped:
            return
        rows = "row was" if self.skipped == 1 else "rows were"
        told = f"{self.skipped:,} bad {rows} left out{note}."
        if self.undecoded:
            told += f" Not UTF-8: {self.undecoded:,} of them."
        warn_user(
            f"{told} The first: {self.first}" if self.first else told, BadRowsWarning
        )
