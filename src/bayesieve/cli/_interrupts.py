"""What Ctrl-C does, and whether it was pressed; nothing heavy is imported."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Interrupt", "InterruptWatch"]


class InterruptWatch:
    """Notes a Ctrl-C after which a search ends with the best it has found.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C was pressed; KeyboardInterrupt is raised as ever.
    """

    def __init__(self) -> None:
        self.interrupted = False
        self._before: Any = None

    def __enter__(self) -> InterruptWatch:
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            listens = isinstance(getattr(before, "__self__", None), InterruptWatch)
            # Nobody listens yet, or one of these, which is told as well.
            if before is signal.default_int_handler or listens:
                self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.interrupted = True
        self._before(number, frame)  # raises KeyboardInterrupt


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
