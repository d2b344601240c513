"""A line on the terminal or in a notebook that says how far a long job is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import TextIO

__all__ = ["ProgressBar", "in_notebook", "listening"]

#: Hears of the steps of bars that are not shown themselves.
Listener = Callable[[str], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Give what bars would write, but do not show, to a function."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def in_notebook() -> bool:
    """Whether cells show what is written: a notebook is no terminal, but has lines."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class ProgressBar:
    """One line on standard error, redrawn at most ten times a second.

    Nothing is written unless the stream is a terminal or a notebook, so logs stay
    clean. A bar that is not shown tells its steps to whoever is `listening`.

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
        self.shown = self.stream.isatty() or (stream is None and in_notebook())
        self._drawn_at = 0.0
        self._width = 0

    @property
    def is_followed(self) -> bool:
        """Whether anybody sees or hears the steps."""
        return self.shown or _listener.get() is not None

    def update(self, step: int, note: str = "") -> None:
        """Draw the line for a step, if it is time."""
        now = time.monotonic()
        listener = None if self.shown else _listener.get()
        if not (self.shown or listener) or now - self._drawn_at < 0.1:
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
        if listener is not None:
            listener(text)
            return
        self.write(text)

    def write(self, text: str) -> None:
        """Put a line in place of the one that is there."""
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
