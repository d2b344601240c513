"""Text for people: what the output can encode, colours, bars."""

from __future__ import annotations

import os
import sys
from typing import TextIO

__all__ = ["Terminal"]

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32"}


class Terminal:
    """Prints lines to a stream as well as that stream can show them.

    Unicode where the stream can encode it, plain ASCII where it cannot; colour only on
    a terminal, and never when ``NO_COLOR`` is set.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self._encoding = getattr(self._stream, "encoding", None) or "utf-8"
        self._colour = self._wants_colour()
        self.unicode = self._can_encode("█▌▐│·…")

    def line(self, text: str = "") -> None:
        """Print one line; a character the stream cannot encode shows as its escape."""
        shown = text.encode(self._encoding, "backslashreplace").decode(self._encoding)
        print(shown, file=self._stream)

    def style(self, text: str, name: str) -> str:
        """Return ``text`` in a colour or weight, or unchanged without colour."""
        return f"\x1b[{_CODES[name]}m{text}\x1b[0m" if self._colour else text

    def fit(self, text: str, width: int) -> str:
        """Return ``text`` in exactly ``width`` columns, cut where it is longer."""
        # Escapes first: a word that has to be spelt "\\xfc" takes four columns.
        text = text.encode(self._encoding, "backslashreplace").decode(self._encoding)
        if len(text) > width:
            text = text[: width - 1] + ("…" if self.unicode else "~")
        return text.ljust(width)

    def bar(self, share: float, half_width: int) -> str:
        """Return a bar for ``share`` in [-1, 1], left or right of a middle line.

        The width is ``2 * half_width + 1`` columns; Unicode doubles the resolution.
        """
        middle = "│" if self.unicode else "|"
        steps = round(abs(share) * half_width * 2)
        if self.unicode:
            full, half = divmod(max(steps, 1), 2)
            left, right = "▐" * half + "█" * full, "█" * full + "▌" * half
        else:
            left = right = "#" * max((steps + 1) // 2, 1)
        if share < 0:
            blank, bar = " " * (half_width - len(left)), self.style(left, "green")
            return blank + bar + middle + " " * half_width
        blank, bar = " " * (half_width - len(right)), self.style(right, "red")
        return " " * half_width + middle + bar + blank

    def _can_encode(self, text: str) -> bool:
        """Tell whether the stream can show ``text``."""
        try:
            text.encode(self._encoding)
        except UnicodeEncodeError:
            return False
        return True

    def _wants_colour(self) -> bool:
        """Colour is for terminals that have it and users who did not opt out."""
        if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            return False
        return self._stream is not None and self._stream.isatty()
