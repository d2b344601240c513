"""Progress for whatever takes more than a second: bars, and steps without a measure."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any

from bayesieve.utils._progress import ProgressBar, listening

__all__ = ["Progress", "Step"]

_PATIENCE = 1.0
_PACE = 0.25
#: One line is drawn at a time: a bar hides the step that it is part of.
_bars = 0


class Progress(ProgressBar):
    """A progress bar that comes after a second and goes away when done."""

    def __init__(self, title: str, total: int | None = None) -> None:
        if sys.stderr is None:  # closed by the caller
            self.shown, self._width = False, 0
            self.title, self.total, self._drawn_at = title, total, 0.0
        else:
            super().__init__(title, total)
        self._start = time.monotonic()
        self._counted = False

    def update(self, step: int, note: str = "") -> None:
        """Draw the line for a step, if a second has passed."""
        global _bars
        if self.shown and time.monotonic() - self._start >= _PATIENCE:
            _bars += not self._counted
            self._counted = True
            super().update(step, note)

    def close(self) -> None:
        """Take the line away."""
        global _bars
        _bars -= self._counted
        self._counted = False
        super().close()


class Step:
    """Names what a command is doing, once it has taken a second, until it is done.

    A thread of its own draws the line, for work that cannot be asked how far it is;
    what the library tells of its steps stands behind the name.
    """

    def __init__(self, name: str) -> None:
        self._bar = Progress(name)
        self._name, self._note = name, ""
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._hearing: Any = None

    def __enter__(self) -> Step:
        if self._bar.shown:
            self._hearing = listening(self._hear)
            self._hearing.__enter__()
            self._thread = threading.Thread(target=self._draw, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
            self._hearing.__exit__(None, None, None)
        self._bar.close()

    def _hear(self, text: str) -> None:
        self._note = text

    def _draw(self) -> None:
        begin = time.monotonic()
        while not self._done.wait(_PACE):
            seconds = time.monotonic() - begin
            if seconds < _PATIENCE:
                continue
            if _bars:  # somebody knows better how far it is
                ProgressBar.close(self._bar)
                continue
            told = f"{self._name}, {seconds:.0f} s"
            self._bar.write(f"{told}  {self._note}" if self._note else told)
