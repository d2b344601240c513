"""Sentences for people on standard error: what was guessed, left out or went wrong.

What a command has told is kept until it ends, so that ``--json`` has it too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bayesieve.cli._terminal import plain_text

__all__ = ["complain", "forget_told", "listed", "shortened", "tell", "told_so_far"]

_LONGEST_LINE = 1000
_MOST_NAMES = 8
_told: list[str] = []


def complain(message: str) -> None:
    """Write one line to stderr, whatever line breaks the message has."""
    line = "bayesieve: " + shortened(plain_text(" ".join(message.split())))
    if sys.stderr is not None:
        encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
        print(line.encode(encoding, "replace").decode(encoding), file=sys.stderr)


def tell(sentence: str) -> None:
    """Write a sentence to stderr, once, and keep it for ``--json``."""
    line = " ".join(sentence.split())
    if line not in _told:
        _told.append(line)
        complain(line)


def told_so_far() -> list[str]:
    """What the command has told, in order."""
    return list(_told)


def forget_told() -> None:
    """Begin anew, with a command."""
    _told.clear()


def shortened(line: str) -> str:
    """Leave the middle out of a line that quotes much of a file."""
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[: _LONGEST_LINE - 300]} ... {line[-300:]}"


def listed(names: Sequence[str], quote: bool = True) -> str:
    """Names one after the other; of very many the first."""
    shown = [repr(name) if quote else name for name in names[:_MOST_NAMES]]
    if len(names) > _MOST_NAMES:
        shown.append(f"{len(names) - _MOST_NAMES:,} more")
    return ", ".join(shown)
