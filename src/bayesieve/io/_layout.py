"""How a text file is laid out: its delimiter, its header, the lines above.

All of it is found in the first rows: a delimiter is the one that cuts them into the
same number of fields, quotes respected.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from bayesieve.io._headers import (
    header_looks_like_data,
    place_names,
    title_rows,
)
from bayesieve.io._row_bounds import too_long

if TYPE_CHECKING:
    from bayesieve.io._files import DataFile

__all__ = ["LINES", "Layout", "csv_quotes", "found_layout"]

#: Separates nothing: each line is one field, quotes and all.
LINES = "\x1f"
_USUAL = ",;\t|"
#: Where every row has as many, and nothing else separates.
_RARE = ": ~^\x01"
_SAMPLE_BYTES, _SAMPLE_ROWS = 1 << 18, 200
#: Stands at the end of lines of a file that goes on.
_MORE = "more"
_WORDS = {"\t": "tabs", " ": "spaces"}
_MARK = re.compile(r"sep=(.)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Layout:
    """Names of the columns of a text file, and how its rows are cut.

    `skip` is the number of rows above the values, blank ones and the header included;
    `quote` stands around a value, `escape` before a quote within. Where the first line
    ends in another way than the next, `has_other_ends`.
    """

    names: list[str]
    delimiter: str
    skip: int
    quote: str = '"'
    escape: str = '"'
    has_other_ends: bool = False

    @property
    def is_lines(self) -> bool:
        """Whether a row is a line as it is."""
        return self.delimiter == LINES


@dataclass(frozen=True)
class _Cut:
    """The first rows under one delimiter."""

    delimiter: str
    rows: list[list[str]]  # blank ones are empty
    width: int
    header: int
    fit: float
    quote: str = '"'
    escape: str = '"'

    @property
    def names(self) -> list[str]:
        return self.rows[self.header] if self.header < len(self.rows) else []


class _HeaderError(ValueError):
    """A first row that is no header with some delimiter; it may be with another."""


def found_layout(
    file: DataFile, delimiters: str = _USUAL, *, may_be_lines: bool = False
) -> Layout | None:
    """Find the layout of a file, and note what was not as expected; None if empty.

    The first of the delimiters is the one that needs no word. Where `may_be_lines`, a
    file that nothing cuts into the same number of fields holds one text a line.
    """
    lines, above = _first_lines(file), 0
    first = [line for line in lines[:2] if line is not _MORE and line[-1:] in "\r\n"]
    marked = _MARK.fullmatch(lines[0]) if lines else None
    given = file.options.sep
    if marked:  # "sep=;", as Excel writes it
        lines, above, given = lines[1:], 1, given or marked[1]
    if not any(line.strip() for line in lines):
        return None
    cut: _Cut | None
    if given is not None:
        cut = _cut(lines, given, file, header=file.options.header)
    else:
        cut = _best_cut(lines, delimiters, file)
        if may_be_lines and (cut is None or cut.fit < 1):
            return Layout(["text"], LINES, 0)
    if cut is None:
        cut = _one_column(lines, file)
    cut = _otherwise_quoted(cut, lines, file)
    if given is None and cut.width > 1 and cut.delimiter != delimiters[0]:
        told = _WORDS.get(cut.delimiter, repr(cut.delimiter))
        file.note(
            f"The fields of {file.path!r} are separated by {told}; --sep changes it."
        )
    elif given is None and may_be_lines and cut.width > 1:
        told = _WORDS.get(cut.delimiter, repr(cut.delimiter))
        file.note(
            f"{file.path!r} is read as a table whose fields are separated by {told}; "
            "--sep changes it."
        )
    found = _named(file, cut, above)
    ends = {line[len(line.rstrip("\r\n")) :] for line in first}
    return replace(
        found, quote=cut.quote, escape=cut.escape, has_other_ends=len(ends) > 1
    )


def _named(file: DataFile, cut: _Cut, above: int) -> Layout:
    path = file.path
    if not file.options.header:
        first = next((i for i, row in enumerate(cut.rows) if row), 0)
        return Layout(place_names(cut.width), cut.delimiter, above + first)
    names, below = list(cut.names), [row for row in cut.rows[cut.header + 1 :] if row]
    skipped = sum(any(map(str.strip, row)) for row in cut.rows[: cut.header])
    if skipped:
        lines = "1 line" if skipped == 1 else f"{skipped} lines"
        file.note(
            f"Left out above the header of {path!r}: {lines}; --no-header "
            "reads them as rows."
        )
    # Every row may end with a delimiter, the header too.
    if len(names) == cut.width + 1 and not names[-1].strip():
        names.pop()
    if len(names) == cut.width - 1:
        if len({row[0] for row in below}) < len(below):
            raise ValueError(
                f"The rows of {path!r} have {cut.width} fields, and its header has "
                f"{len(names)} names: a comma within values may cut them in two. Hint: "
                "such values need quotes around them; --no-header reads all as rows."
            )
        names = ["", *names]
        file.note(
            f"The header of {path!r} has one name less than its rows have fields: the "
            "first ones are taken for names of rows, and called 'column 1'; "
            "--no-header reads it as a row."
        )
    elif header_looks_like_data(names, below):
        file.note(
            f"The first row of {path!r} is taken for names of columns, and looks like "
            "data; --no-header reads it as a row."
        )
    return Layout(file.unique_names(names), cut.delimiter, above + cut.header + 1)


# -------------------------------------------------------------------------- the sample


def _first_lines(file: DataFile, most: int = _SAMPLE_BYTES) -> list[str]:
    """Return lines from the beginning of a file, with their ends: two rows or more.

    Where the file goes on, a last row that does not end is left out when it is cut.
    """
    found: list[str] = []
    n_bytes = 0
    with file.stream() as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="")
        while n_bytes < most and len(found) < most // 128:
            line = text.readline(file.longest + 1)
            if not line:
                return found
            found.append(line)
            n_bytes += len(line)
            if len(line) > file.longest:
                raise too_long(f"The first row of {file.path!r}", file.longest)
    # A quote that goes on and on takes all lines for one row.
    if found[0].count('"') % 2 and "".join(found[1:]).count('"') < 2:
        if n_bytes > file.longest:
            raise too_long(f"The first row of {file.path!r}", file.longest)
        return _first_lines(file, 8 * most)
    return [*found, _MORE]


def _otherwise_quoted(cut: _Cut, lines: Sequence[str], file: DataFile) -> _Cut:
    """Cut rows again whose values have single quotes, or backslashes before quotes."""
    header = file.options.header
    single = [own.strip() for own in cut.names]
    if len(single) > 1 and all(re.fullmatch("'.+'", own) for own in single):
        again = _cut(lines, cut.delimiter, file, header=header, quote="'", escape="'")
        if again.fit >= cut.fit:
            return again
    if any('\\"' in line for line in lines) and cut.delimiter != LINES:
        again = _cut(lines, cut.delimiter, file, header=header, escape="\\")
        if again.fit > cut.fit or not any('""' in line for line in lines):
            return again
    return cut


def _cut(
    lines: Sequence[str],
    delimiter: str,
    file: DataFile,
    *,
    header: bool,
    quote: str = '"',
    escape: str = '"',
) -> _Cut:
    rows: list[list[str]] = []
    goes_on = lines[-1] is _MORE
    lines = lines[:-1] if goes_on else lines
    # Spaces before a quote are no part of a value.
    spaces = delimiter not in " \t"
    reader = csv.reader(
        lines,
        delimiter=delimiter,
        skipinitialspace=spaces,
        **csv_quotes(quote, escape),
    )
    try:
        for row in islice(reader, _SAMPLE_ROWS):
            rows.append(row)
    except csv.Error as error:
        if not any(rows):
            raise _HeaderError(
                f"The header of {file.path!r} cannot be read: {error}."
            ) from None
    if goes_on and reader.line_num >= len(lines) and len(rows) > 1:
        rows.pop()
    filled = [row for row in rows if row]
    widths = [_width(row) for row in (filled[1:] or filled)]
    width = Counter(widths).most_common(1)[0][0] if widths else 0
    place = title_rows(rows, width) if header else 0
    first = len(rows[place]) if place < len(rows) else 0
    if header and len(filled) == 1:
        width = first
    below = [_width(row, width) for row in rows[place + header :] if row] or [width]
    fit = sum(own == width for own in below) / len(below)
    if (
        (header and first not in (width, width + 1, width - 1))
        or (header and first == width + 1 and rows[place][-1].strip())
        or (header and first == width - 1 and (width < 3 or fit < 1))
    ):
        fit = 0.0
    return _Cut(delimiter, rows, width, place, fit, quote, escape)


def csv_quotes(quote: str, escape: str) -> dict[str, Any]:
    """Return how quotes are written, as Python's module asks for it."""
    if escape == quote:
        return {"quotechar": quote}
    return {"quotechar": quote, "escapechar": escape, "doublequote": False}


def _width(row: Sequence[str], wanted: int | None = None) -> int:
    """Fields of a row, but for an empty one behind a delimiter at its end."""
    if len(row) > 1 and not row[-1] and wanted in (None, len(row) - 1):
        return len(row) - 1
    return len(row)


def _best_cut(lines: Sequence[str], delimiters: str, file: DataFile) -> _Cut | None:
    """Return the first rows under the delimiter that fits best, if one does."""
    usual = delimiters + "".join(own for own in _USUAL if own not in delimiters)
    header, problem, found = file.options.header, None, []
    for delimiter in usual:
        try:
            found.append(_cut(lines, delimiter, file, header=header))
        except _HeaderError as error:
            problem = error
    wide = [own for own in found if own.width > 1 and own.fit > 0]
    best = max(wide, key=lambda own: (own.fit, own.width), default=None)
    if best is not None and best.fit > 0.5:
        return best
    for delimiter in _RARE:
        try:
            own = _cut(lines, delimiter, file, header=header)
        except _HeaderError:
            continue
        if own.fit == 1 and own.width > 2 and len(own.rows) > 2 and not own.header:
            return own
    if best is None and problem is not None and not any(own.names for own in found):
        raise problem
    # Rows are damaged: the header says more than they do.
    most = max(found, key=lambda own: len(own.names), default=None)
    if most is None or len(most.names) < 2:
        return None
    return _Cut(most.delimiter, most.rows, len(most.names), most.header, 0.0)


def _one_column(lines: Sequence[str], file: DataFile) -> _Cut:
    """Cut nothing: by what is in no line, or by nothing at all."""
    for delimiter in _USUAL:
        cut = _cut(lines, delimiter, file, header=file.options.header)
        if all(len(row) <= 1 for row in cut.rows):
            return cut
    lines = [line for line in lines if line is not _MORE]
    rows = [[line.rstrip("\r\n")] if line.strip() else [] for line in lines]
    first = next(i for i, row in enumerate(rows) if row)
    return _Cut(LINES, rows, 1, first, 1.0)
