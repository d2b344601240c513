"""A line on the terminal that says how far a long job is."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TextIO

__all__ = ["ProgressBar"]


class ProgressBar:
    """One line on standard error, redrawn at most ten times a second.

    Nothing is written unless the stream is a terminal, so logs stay clean.

    Parameters
    ----------
    title : str
    total : int or None
        Steps in all, if known.
    stream : file, optional
        Standard error unless given.
    """

    def __init__(
        self, title: str, total: int | None = None, stream: TextIO | None = None
    ) -> None:
        self.title = title
        self.total = total
        self.stream = sys.stderr if stream is None else stream
        self.shown = self.stream.isatty()
        self._drawn_at = 0.0
        self._width = 0

    def update(self, step: int, note: str = "") -> None:
        """Draw the line for a step, if it is time."""
        now = time.monotonic()
        if not self.shown or now - self._drawn_at < 0.1:
            return
        self._drawn_at = now
        if self.total:
            share = min(step / self.total, 1.0)
            full = round(24 * share)
            bar = "█" * full + "░" * (24 - full)
            text = f"{self.title} {bar} {100 * share:3.0f} %"
        else:
            text = f"{self.title} {step}"
        text = f"{text}  {note}".rstrip()
        self.stream.write("\r" + text.ljust(self._width))
        self.stream.flush()
        self._width = len(text)

    def close(self) -> None:
        """Take the line away."""
        if self._width:
            self.stream.write("\r" + " " * self._width + "\r")
            self.stream.flush()
            self._width = 0

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
