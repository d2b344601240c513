"""Progress for whatever takes more than a second, and what Ctrl-C does meanwhile."""

from __future__ import annotations

import signal
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Any

from bayesieve.cli._overheard import Overheard
from bayesieve.utils._progress import ProgressBar

__all__ = ["Interrupt", "Overheard", "Progress"]

_PATIENCE = 1.0


class Progress(ProgressBar):
    """A progress bar that comes after a second and goes away when done."""

    def __init__(self, title: str, total: int | None = None) -> None:
        if sys.stderr is None:  # closed by the caller
            self.shown, self._width = False, 0
        else:
            super().__init__(title, total)
        self._start = time.monotonic()

    def update(self, step: int, note: str = "") -> None:
        """Draw the line for a step, if a second has passed."""
        if self.shown and time.monotonic() - self._start >= _PATIENCE:
            super().update(step, note)


class Interrupt:
    """Lets a long read end early: the first Ctrl-C asks, the second one insists.

    Without ``enabled`` (nothing would be saved), Ctrl-C ends the command at once.

    Attributes
    ----------
    requested : bool
        Whether Ctrl-C was pressed.
    """

    def __init__(self, enabled: bool) -> None:
        self.requested = False
        main = threading.current_thread() is threading.main_thread()
        self._enabled = enabled and main
        self._before: Any = None

    def __enter__(self) -> Interrupt:
        if self._enabled:
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._enabled:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
