"""Progress for whatever takes more than a second."""

from __future__ import annotations

import sys
import time

from bayesieve.utils._progress import ProgressBar

__all__ = ["Progress"]

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
