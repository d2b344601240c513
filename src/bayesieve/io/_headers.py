"""Names of columns: where they stand, what they are, and whether they are names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

__all__ = [
    "header_looks_like_data",
    "place_names",
    "tidy_names",
    "title_rows",
]

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)*|\.\d+)([eE][+-]?\d+)?\s?%?")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ]\d{1,2}:\d{2}(:\d{2})?.*)?")
_LEAST = 0.8  # share of a column that must be of one kind
_MOST_TITLES = 20
_SPACES = " \t\r\n\ufeff\xa0"


def place_names(number: int) -> list[str]:
    """What columns without names are called, by their places."""
    return [f"column {i + 1}" for i in range(number)]


def tidy_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return names that differ and are not empty, and what was changed.

    >>> tidy_names(["a", " a ", ""])
    (['a', 'a_2', 'column 3'], ["'a' (column 2) is 'a_2'"])
    """
    stripped = [_stripped(name) for name in names]
    taken = set(stripped)
    found: dict[str, None] = {}
    changes = []
    for place, name in enumerate(stripped, start=1):
        own, number = name or f"column {place}", 2
        if not name:
            taken.add(own)
        base = own
        while own in found:
            own, number = f"{base}_{number}", number + 1
            if own in taken and own not in found:
                own = base  # some other column is called so
        if own != base:
            changes.append(f"{base!r} (column {place}) is {own!r}")
        found[own] = None
    return list(found), changes


def _stripped(name: str) -> str:
    """A name without spaces and quotes around it."""
    name = name.strip(_SPACES)
    if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"":
        name = name[1:-1].strip(_SPACES)
    return name


def _kind(value: str) -> str:
    if _NUMBER.fullmatch(value):
        return "number"
    return "date" if _DATE.fullmatch(value) else "text"


def _column_kind(values: Sequence[str]) -> str:
    """Return what nearly all values of a column are; text if they are mixed."""
    there = [own for value in values if (own := value.strip())]
    for kind in ("number", "date"):
        if there and sum(_kind(own) == kind for own in there) >= _LEAST * len(there):
            return kind
    return "text"


def header_looks_like_data(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row of a table seems to be one of its rows, not its header.

    It is when names are numbers or dates where the columns below hold the same, and no
    column says otherwise, or when each name is a value of its own column as well, or
    one of few. Names that count, such as years, are names.

    >>> header_looks_like_data(["5.1", "setosa"], [["4.9", "setosa"], ["4.7", "other"]])
    True
    >>> header_looks_like_data(["length", "kind"], [["4.9", "setosa"], ["4.7", "b"]])
    False
    >>> header_looks_like_data(["town", "2019", "2020"], [["Oslo", "3", "4"]])
    False
    """
    names = [_stripped(name) for name in names]
    if not rows or not any(names):
        return False
    columns = [[row[i] for row in rows if i < len(row)] for i in range(len(names))]
    same = 0
    for name, values in zip(names, columns, strict=True):
        kind = _column_kind(values)
        if kind == "text":
            continue
        if name and _kind(name) != kind:
            return False
        same += bool(name)
    counts = [int(name) for name in names if name.isdecimal()]
    steps = {b - a for a, b in pairwise(counts)}
    if len(counts) > 1 and len(steps) == 1 and steps != {0}:
        return False
    if same:
        return True
    own = [name in values for name, values in zip(names, columns, strict=True) if name]
    if len(rows) > 2 and len(own) > 1 and all(own):
        return True
    # A label such as "yes" is a value of its column many times.
    return any(
        values.count(name) > len(values) / 10 and len(set(values)) <= len(values) / 5
        for name, values in zip(names, columns, strict=True)
        if name
    )


def title_rows(rows: Sequence[Sequence[str]], width: int) -> int:
    """Return how many rows stand above the header of a table of so many columns.

    `rows` hold empty ones for blank lines. A title is a row with one filled cell, above
    a row that is filled; it is taken for one if blank lines follow it, or if the row
    below it is clearly a header: names, over a column of numbers or dates.
    """
    header = 0
    while header < min(len(rows), _MOST_TITLES) and _filled(rows[header]) <= 1:
        header += 1
    titles = [row for row in rows[:header] if _filled(row)]
    if header >= len(rows) or width < 2 or _filled(rows[header]) < width - 1:
        header = len(rows)
    if not titles or header == len(rows):  # blank lines alone
        return next((i for i, row in enumerate(rows) if _filled(row)), 0)
    if not _filled(rows[header - 1]) or _is_header(rows[header], rows[header + 1 :]):
        return header
    return next(i for i, row in enumerate(rows) if _filled(row))


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _is_header(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    below = [own for own in below if len(own) >= len(row)]
    if not below or any(_kind(cell.strip()) != "text" for cell in row):
        return False
    return any(
        cell.strip() and _column_kind([own[i] for own in below]) != "text"
        for i, cell in enumerate(row)
    )
