"""Files and columns that are not there, and the ones that may be meant."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence

__all__ = ["check_column", "near_hint"]


def near_hint(path: str, endings: Iterable[str]) -> str:
    """Ask whether another file of the same folder is meant, if a name is close.

    Endings alone make no names alike.
    """
    folder = os.path.dirname(path) or "."
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    known = {"", *endings}
    stems = {
        os.path.splitext(own)[0].lower(): own
        for own in names
        if os.path.splitext(own)[1].lower() in known
    }
    stem = os.path.splitext(os.path.basename(path))[0].lower()
    near = difflib.get_close_matches(stem, stems, n=1, cutoff=0.75)
    if not near:
        return ""
    return f" Did you mean {os.path.join(os.path.dirname(path), stems[near[0]])!r}?"


def check_column(name: str, columns: Sequence[str], where: str) -> None:
    """Check that a column is there; say which one may be meant if not."""
    if name in columns:
        return
    lower = {column.lower(): column for column in columns}
    near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.7)
    hint = f" Did you mean {lower[near[0]]!r}?" if near else ""
    shown = ", ".join(repr(column) for column in columns[:12])
    more = ", ..." if len(columns) > 12 else "."
    raise ValueError(
        f"There is no column {name!r} in {where}.{hint} Its columns are {shown}{more}"
    )
