"""CSV, TSV and other text: rows as strings.

Nothing but the layout is taken from the first rows (`_layout`): values are strings
until all of a column is known. DuckDB reads the rows in parallel. Where it stops, the
rows from there on are cut by Python's own module, which says what is wrong in which
line, goes past what is only unusual, such as lines that end in several ways, and leaves
bad rows out. So do files of very many columns, as the time of DuckDB grows with the
square of them.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesieve.io._bad_rows import BadRows
from bayesieve.io._duckdb import literal, needs, quoted, reading_errors
from bayesieve.io._format import Format, record_batches
from bayesieve.io._layout import Layout, csv_quotes, found_layout
from bayesieve.io._row_bounds import (
    VECTOR_ROWS,
    check_last_row,
    oversized,
    physical_memory,
    too_long,
    value_bytes,
)

if TYPE_CHECKING:
    from bayesieve.io._files import DataFile

__all__ = ["Csv", "Text", "Tsv", "csv_label"]

_LEAST_BUFFER = 1 << 20
_WIDE = 2000  # columns
_WIDE_CELLS = 1 << 21  # of a batch


def csv_label(raw: str) -> str | None:
    """Return the label that a field stands for; nothing is missing."""
    return raw or None


class Csv(Format):
    """Fields with a delimiter between them."""

    name = "csv"
    told = "CSV"
    endings: tuple[str, ...] = (".csv",)
    is_text = True
    is_encoded = True
    label_of = staticmethod(csv_label)
    #: The first one is taken without a word.
    delimiters = ",;\t|"
    may_be_lines = False

    def columns(self, file: DataFile) -> list[str]:
        """Names of the columns; one without a name is called by its place."""
        layout = self._layout(file)
        return [] if layout is None else layout.names

    def batches(
        self,
        file: DataFile,
        names: Sequence[str],
        bad_rows: BadRows,
        types: Mapping[str, str],
        rows: int,
    ) -> Iterator[Any]:
        """Yield Arrow batches of strings, empty where a field is."""
        layout = self._layout(file)
        if layout is None:
            return
        file.check_columns(names, layout.names)
        place = {name: i for i, name in enumerate(layout.names)}
        places = [place[name] for name in names]
        done = 0
        if len(layout.names) <= _WIDE and not layout.has_other_ends:
            try:
                for batch in self._rows(file, layout, places, rows):
                    done += batch.num_rows
                    yield batch
                return
            except reading_errors() as error:
                if oversized(error) or not _is_of_rows(error):
                    raise
        yield from self._careful_rows(file, layout, places, bad_rows, rows, done)

    def _layout(self, file: DataFile) -> Layout | None:
        if file.layout is None and not self.is_blank(file):
            file.layout = found_layout(
                file, self.delimiters, may_be_lines=self.may_be_lines
            )
        found: Layout | None = file.layout
        return found

    def _rows(
        self, file: DataFile, layout: Layout, places: list[int], rows: int
    ) -> Iterator[Any]:
        """Yield the rows as DuckDB reads them, as long as there is nothing odd."""
        query = self._query(file, layout, places)
        path, compression = file.readable
        # Rows of a file that is not packed take no more memory than it has bytes.
        small = compression is None and os.path.getsize(path) < physical_memory() // 16
        vector = rows if small else VECTOR_ROWS
        n_bytes = 0
        for batch in record_batches(file.connection.sql(query), rows, vector=vector):
            n_bytes += sum(map(value_bytes, batch.columns))
            yield batch
        check_last_row(
            path, compression, file.stream, file.longest, n_bytes, told=repr(file.path)
        )

    def _query(self, file: DataFile, layout: Layout, places: list[int]) -> str:
        kinds = ", ".join(f"'f{i}': 'VARCHAR'" for i in range(len(layout.names)))
        asked = ", ".join(
            f"coalesce(f{own}, '') AS c{i}" for i, own in enumerate(places)
        )
        path, compression = file.readable
        quote, escape = quoted(layout.quote), quoted(layout.escape)
        if layout.is_lines:
            quote = escape = "''"
        return (
            f"SELECT {asked} FROM read_csv({quoted(literal(path))}, "
            f"auto_detect = false, header = false, skip = {layout.skip}, "
            f"delim = {quoted(layout.delimiter)}, quote = {quote}, escape = {escape}, "
            f"compression = '{compression or 'none'}', "
            f"columns = {{{kinds}}}, max_line_size = {file.longest}, "
            f"buffer_size = {max(file.longest, _LEAST_BUFFER)})"
        )

    # ------------------------------------------------------------------ row by row

    def _careful_rows(
        self,
        file: DataFile,
        layout: Layout,
        places: list[int],
        bad_rows: BadRows,
        rows: int,
        done: int,
    ) -> Iterator[Any]:
        """Yield the rows after those that are done, and tell of the bad ones."""
        width = len(layout.names)
        rows = max(1, min(rows, _WIDE_CELLS // width))
        with file.stream() as stream:
            fields = _Fields(file, stream, layout)
            for _ in range(layout.skip):
                fields.rows(1)
            while read := fields.rows(rows):
                good = []
                for line, row, problem, extent in read:
                    if not problem and not row and width == 1:
                        row = [""]
                    if not problem and row and len(row) != width:
                        if len(row) == width + 1 and not row[-1]:
                            row.pop()  # every row may end with a delimiter
                        else:
                            problem = (
                                f"it has {_fields(len(row))}, and the table has {width}"
                            )
                    if problem:
                        if extent > 1:
                            problem += f" (a row of {extent:,} lines)"
                        _bad(file, bad_rows, line, problem)
                    elif row:
                        good.append((line, row))
                good, done = good[done:], max(0, done - len(good))
                try:
                    batch = _strings(places, good)
                except UnicodeEncodeError:
                    good = list(_decoded(file, bad_rows, places, good))
                    batch = _strings(places, good)
                if good:
                    yield batch


class Tsv(Csv):
    """Fields with tabs between them."""

    name = "tsv"
    told = "TSV"
    endings = (".tsv", ".tab")
    delimiters = "\t,;|"


class Text(Csv):
    """One text a line, or a table where a delimiter cuts all lines alike."""

    name = "txt"
    told = "text"
    endings = (".txt", ".dat", ".data", ".psv")
    delimiters = "\t,;|"
    may_be_lines = True


def _fields(number: int) -> str:
    return "1 field" if number == 1 else f"{number:,} fields"


def _is_of_rows(error: Exception) -> bool:
    """Whether DuckDB stopped at what rows hold, which another reading can tell."""
    told = str(error).lower()
    return any(sign in told for sign in ("csv", "unicode", "utf-8", "utf8"))


def _bad(
    file: DataFile, bad_rows: BadRows, line: int, problem: str, undecoded: int = 0
) -> None:
    told = f"Line {line:,} of {file.path!r} cannot be read: {problem}."
    bad_rows.found(1, told, undecoded)


def _decoded(
    file: DataFile,
    bad_rows: BadRows,
    places: list[int],
    rows: list[tuple[int, list[str]]],
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are UTF-8 where they are looked at."""
    for line, row in rows:
        if all(_is_utf8(row[place]) for place in places):
            yield line, row
        else:
            _bad(file, bad_rows, line, file.not_decoded(), undecoded=1)


class _Fields:
    """Rows of a file cut into fields, with their lines and what is wrong with them."""

    def __init__(self, file: DataFile, stream: Any, layout: Layout) -> None:
        self._longest, self._told = file.longest, repr(file.path)
        self._left, self._line = self._longest, 0
        self._text = io.TextIOWrapper(
            stream, "utf-8-sig", errors="surrogateescape", newline=""
        )
        self._source = self._lines()
        delimiter = layout.delimiter
        self._reader = csv.reader(
            self._source,
            delimiter=delimiter,
            strict=True,
            quoting=csv.QUOTE_NONE if layout.is_lines else csv.QUOTE_MINIMAL,
            **csv_quotes(layout.quote, layout.escape),
        )
        own = re.escape(delimiter)
        usual = layout.quote == layout.escape == '"'
        spaces = r"[ \t]*" if delimiter not in " \t" and usual else ""
        # A field with spaces around its quotes, which are no part of it.
        self._field = re.compile(
            rf'{spaces}"((?:[^"]|"")*)"{spaces}(?={own}|[\r\n]*\Z)|([^{own}\r\n]*)'
        )
        self._open = re.compile(rf'{spaces}"(?:[^"]|"")*\Z')
        self._spaced = () if not spaces else (f'{delimiter} "', f'" {delimiter}')
        self._raw: list[str] = []
        self._has_spaced = False

    def _lines(self) -> Iterator[str]:
        while line := self._text.readline(self._left + 1):
            self._left -= len(line)
            self._line += 1
            if self._left < 0:
                raise too_long(f"A row of {self._told}", self._longest)
            if self._spaced:
                if ' "' in line or '" ' in line:
                    self._has_spaced |= self._is_spaced(line)
                self._raw.append(line)
            yield line

    def _is_spaced(self, line: str) -> bool:
        return (
            any(own in line for own in self._spaced)
            or line.startswith(' "')
            or line.rstrip("\r\n").endswith('" ')
        )

    def rows(self, number: int) -> list[tuple[int, list[str], str, int]]:
        """Return (line, fields, problem, number of lines) of the next rows."""
        found: list[tuple[int, list[str], str, int]] = []
        # The limit of a field belongs to the whole process.
        before = csv.field_size_limit(self._longest)
        try:
            while len(found) < number:
                self._left, line = self._longest, self._line + 1
                self._has_spaced = False
                self._raw.clear()
                problem = ""
                try:
                    row = next(self._reader)
                except csv.Error as error:
                    row, problem = [], _quote_problem(error)
                if self._has_spaced:
                    row = self._recut()
                    problem = "" if row else "a quote is never closed"
                found.append((line, row, problem, self._line - line + 1))
        except StopIteration:
            pass
        finally:
            csv.field_size_limit(before)
        return found

    def _recut(self) -> list[str]:
        """Cut a row with spaces around quotes; no fields if a quote is not closed."""
        text, place, fields = "".join(self._raw), 0, []
        while True:
            while self._open.match(text, place):
                more = next(self._source, None)
                if more is None:
                    return []
                text += more
            match = self._field.match(text, place)
            assert match is not None  # the second way matches anything
            fields.append(match[2] if match[1] is None else match[1].replace('""', '"'))
            place = match.end()
            if place >= len(text) or text[place] in "\r\n":
                return fields
            place += 1


def _quote_problem(error: csv.Error) -> str:
    told = str(error)
    if "expected after" in told:
        return "text follows a closing quote"
    if "end of data" in told:
        return "a quote is never closed"
    return told


def _strings(places: list[int], rows: list[tuple[int, list[str]]]) -> Any:
    pyarrow = needs("pyarrow")
    string = pyarrow.string()
    columns = list(zip(*(row for _, row in rows), strict=True))
    arrays = [pyarrow.array(columns[place] if rows else (), string) for place in places]
    names = [f"c{i}" for i in range(len(places))]
    return pyarrow.RecordBatch.from_arrays(arrays, names=names)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
