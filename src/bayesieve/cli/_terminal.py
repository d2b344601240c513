"""Text for people: what the output can encode, its width, colours, bars."""

from __future__ import annotations

import os
import re
import shutil
import sys
import unicodedata
from collections import Counter
from typing import TextIO

__all__ = ["Terminal", "display_width", "plain_text"]

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "blue": "34"}
_NARROWEST, _WIDEST = 40, 100


def plain_text(text: str) -> str:
    """Return text without control characters: data must not steer a terminal."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in text
    )


def display_width(text: str) -> int:
    """Return the columns that text takes; East Asian characters take two."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(c)
        else 2
        if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )


class Terminal:
    """Prints lines to a stream as well as that stream can show them.

    Unicode where the stream can encode it, plain ASCII where it cannot; colour only on
    a terminal, and never when ``NO_COLOR`` is set.

    Attributes
    ----------
    width : int
        Columns to print within: those of the terminal between 40 and 100, and 80 where
        there is none.
    """

    def __init__(self, stream: TextIO | None = None, width: int | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self._encoding = getattr(self._stream, "encoding", None) or "utf-8"
        self._colour = self._wants_colour()
        self.unicode = self._can_encode("█▌▐│·…")
        self.width = self._columns() if width is None else width

    def line(self, text: str = "") -> None:
        """Print one line; a character the stream cannot encode shows as its escape."""
        shown = text.encode(self._encoding, "backslashreplace").decode(self._encoding)
        print(shown, file=self._stream)

    def paragraph(self, text: str, style: str | None = None, indent: str = "") -> None:
        """Print words in lines that fit, all but the first indented.

        A number and its percent sign stay together.
        """
        line = ""
        for word in re.findall(r"\S+(?: %\S*)?", text):
            longer = f"{line} {word}" if line else word
            if line.strip() and display_width(longer) > self.width:
                self.line(self.style(line, style) if style else line)
                longer = indent + word
            line = longer
        self.line(self.style(line, style) if style else line)

    def style(self, text: str, name: str) -> str:
        """Return ``text`` in a colour or weight, or unchanged without colour."""
        return f"\x1b[{_CODES[name]}m{text}\x1b[0m" if self._colour else text

    def fit(self, text: str, width: int, *, right: bool = False) -> str:
        """Return ``text`` in exactly ``width`` columns, cut where it is longer."""
        # Escapes first: a word that has to be spelt "\\xfc" takes four columns.
        text = plain_text(text)
        text = text.encode(self._encoding, "backslashreplace").decode(self._encoding)
        if display_width(text) > width:
            while display_width(text) > width - 1:
                text = text[:-1]
            text += "…" if self.unicode else "~"
        blank = " " * (width - display_width(text))
        return blank + text if right else text + blank

    def fit_apart(self, names: list[str], width: int) -> list[str]:
        """Return names in exactly ``width`` columns, those cut alike told apart.

        Names that would be cut to the same are cut in their middle, so that the ends,
        the second name of a pair for instance, are seen.
        """
        fitted = [self.fit(name, width) for name in names]
        times = Counter(fitted)
        return [
            self._fit_ends(name, width) if times[own] > 1 else own
            for name, own in zip(names, fitted, strict=True)
        ]

    def _fit_ends(self, name: str, width: int) -> str:
        """Return a name cut in its middle where it is longer."""
        name = plain_text(name)
        if display_width(self.fit(name, width).rstrip()) <= width and (
            display_width(name) <= width
        ):
            return self.fit(name, width)
        head = self.fit(name, (width + 1) // 2)
        tail, room = "", width - display_width(head)
        for letter in reversed(name):
            if display_width(letter + tail) > room:
                break
            tail = letter + tail
        return self.fit(head + tail, width)

    def bar(self, share: float, half_width: int) -> str:
        """Return a bar for ``share`` in [-1, 1], left or right of a middle line.

        The width is ``2 * half_width + 1`` columns; Unicode doubles the resolution.
        """
        middle = "│" if self.unicode else "|"
        left, right = self._blocks(share, half_width)
        if share < 0:
            blank, bar = " " * (half_width - len(left)), self.style(left, "green")
            return blank + bar + middle + " " * half_width
        blank, bar = " " * (half_width - len(right)), self.style(right, "red")
        return " " * half_width + middle + bar + blank

    def one_sided_bar(self, share: float, width: int) -> str:
        """Return a bar for ``share`` in [0, 1] that begins at the left."""
        return self.style(self._blocks(share, width)[1], "blue")

    def _blocks(self, share: float, width: int) -> tuple[str, str]:
        """Return a bar that ends, and one that begins, at the middle line."""
        if not share:
            return "", ""
        steps = round(min(abs(share), 1.0) * width * 2)
        if not self.unicode:
            bar = "#" * max((steps + 1) // 2, 1)
            return bar, bar
        full, half = divmod(max(steps, 1), 2)
        return "▐" * half + "█" * full, "█" * full + "▌" * half

    def _can_encode(self, text: str) -> bool:
        """Tell whether the stream can show ``text``."""
        try:
            text.encode(self._encoding)
        except UnicodeEncodeError:
            return False
        return True

    def _columns(self) -> int:
        """Return how wide lines may be."""
        if self._stream is None or not self._stream.isatty():
            return 80
        columns = shutil.get_terminal_size((80, 24)).columns
        return max(_NARROWEST, min(columns, _WIDEST))

    def _wants_colour(self) -> bool:
        """Colour is for terminals that have it and users who did not opt out."""
        if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            return False
        return self._stream is not None and self._stream.isatty()
