"""CSV and TSV: the header, and rows as text.

Nothing is guessed from a sample: the delimiter is the one under which the header has
the columns asked for, and values are strings until all of a column is known. DuckDB
reads the rows in parallel. Its time grows with the square of the columns, so files of
very many columns are cut into fields by Python's own module, as fast as there.
"""

from __future__ import annotations

import contextlib
import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesieve.io._bad_rows import BadRows
from bayesieve.io._duckdb import literal, needs, quoted
from bayesieve.io._format import Format, problem_of, record_batches
from bayesieve.io._row_bounds import (
    bounded_lines,
    check_last_row,
    oversized,
    too_long,
    value_bytes,
)

if TYPE_CHECKING:
    from bayesieve.io._files import DataFile

__all__ = ["Csv", "Tsv", "csv_label"]

_LEAST_BUFFER = 1 << 20
_WIDE = 2000  # columns
_WIDE_CELLS = 1 << 21  # of a batch


def csv_label(raw: str) -> str | None:
    """Return the label that a field stands for; nothing is missing."""
    return raw or None


@dataclass(frozen=True)
class _Header:
    """Names of the columns, the delimiter, and the blank lines above."""

    names: list[str]
    delimiter: str
    blank: int


class _HeaderError(ValueError):
    """A first row that is no header with some delimiter; it may be with another."""


class Csv(Format):
    """Fields with one of four delimiters."""

    name = "csv"
    endings: tuple[str, ...] = (".csv",)
    is_text = True
    label_of = staticmethod(csv_label)
    delimiters = ",;\t|"

    def columns(self, file: DataFile) -> list[str]:
        """Names of the columns; one without a name is called by its place."""
        header = self._header(file, ())
        return [] if header is None else header.names

    def batches(
        self,
        file: DataFile,
        names: Sequence[str],
        bad_rows: BadRows,
        types: Mapping[str, str],
        rows: int,
    ) -> Iterator[Any]:
        """Yield Arrow batches of strings, empty where a field is."""
        header = self._header(file, names)
        if header is None:
            return
        file.check_columns(names, header.names)
        times = Counter(header.names)
        for name in names:
            if times[name] > 1:
                raise ValueError(f"{file.path!r} has two columns {name!r}.")
        place = {name: i for i, name in enumerate(header.names)}
        places = [place[name] for name in names]
        read = self._rows if len(header.names) <= _WIDE else self._wide_rows
        yield from read(file, header, places, bad_rows, rows)

    # ------------------------------------------------------------------- header

    def _header(self, file: DataFile, wanted: Sequence[str]) -> _Header | None:
        """Return the header with the wanted columns, or else with most; None if empty.

        A line of its own may hold a delimiter of another kind.
        """
        if self.is_blank(file):
            return None
        best, problem = _Header([], ",", 0), None
        for delimiter in self.delimiters:
            try:
                blank, names = _first_row(file, delimiter)
            except _HeaderError as error:
                problem = error
                continue
            names = [name or f"column {i + 1}" for i, name in enumerate(names)]
            if wanted and set(wanted) <= set(names):
                return _Header(names, delimiter, blank)
            if len(names) > len(best.names):
                best = _Header(names, delimiter, blank)
        if problem is not None and len(best.names) < 2:
            raise problem
        return best if best.names else None

    # ---------------------------------------------------------------- by DuckDB

    def _rows(
        self,
        file: DataFile,
        header: _Header,
        places: list[int],
        bad_rows: BadRows,
        rows: int,
    ) -> Iterator[Any]:
        self._rejects(file)  # those of a reading that ended early
        query = self._query(file, header, places, bad_rows.skip)
        n_bytes = 0
        try:
            for batch in record_batches(file.connection.sql(query), rows):
                n_bytes += sum(map(value_bytes, batch.columns))
                yield batch
        except needs("duckdb").Error as error:
            if oversized(error) or bad_rows.skip:
                raise
            # Read again, to learn where the bad rows are.
            query = self._query(file, header, places, skip=True)
            for _ in record_batches(file.connection.sql(query), rows):
                pass
            self._note(file, bad_rows)
            raise
        check_last_row(file.path, file.stream, file.longest, n_bytes)
        if bad_rows.skip:
            self._note(file, bad_rows)

    def _query(
        self, file: DataFile, header: _Header, places: list[int], skip: bool
    ) -> str:
        kinds = ", ".join(f"'f{i}': 'VARCHAR'" for i in range(len(header.names)))
        asked = ", ".join(
            f"coalesce(f{own}, '') AS c{i}" for i, own in enumerate(places)
        )
        more = ", ignore_errors = true, store_rejects = true" if skip else ""
        return (
            f"SELECT {asked} FROM read_csv({quoted(literal(file.path))}, "
            f"auto_detect = false, header = true, skip = {header.blank}, "
            f"delim = {quoted(header.delimiter)}, quote = '\"', escape = '\"', "
            f"columns = {{{kinds}}}, max_line_size = {file.longest}, "
            f"buffer_size = {max(file.longest, _LEAST_BUFFER)}{more})"
        )

    def _note(self, file: DataFile, bad_rows: BadRows) -> None:
        found = self._rejects(file)
        if found:
            position, message, breaks, _ = found[0]
            line = 1 if position is None else _line_of(file, int(position) - 1)
            problem = problem_of(message)
            if breaks:  # a quote that is never closed takes all the rest for one row
                problem += f" (a row of {breaks + 1} lines)"
            undecoded = sum(bool(row[3]) for row in found)
            self._bad(file, bad_rows, line, problem, len(found), undecoded)

    def _bad(
        self,
        file: DataFile,
        bad_rows: BadRows,
        line: int,
        problem: str,
        number: int = 1,
        undecoded: int = 0,
    ) -> None:
        convert = f" {self.convert_hint()}." if "utf-8" in problem.lower() else ""
        bad_rows.found(
            number,
            f"Line {line} of {file.path!r} cannot be read: {problem}.{convert}",
            undecoded,
        )

    def _rejects(self, file: DataFile) -> list[Any]:
        """Return what DuckDB has noted of bad rows, and let it forget."""
        run = file.connection.execute
        rows: list[Any] = []
        with contextlib.suppress(needs("duckdb").CatalogException):  # nothing yet
            rows = run(
                "SELECT line_byte_position, min(error_message), "
                "max(length(csv_line) - length(replace(csv_line, chr(10), ''))), "
                "bool_or(error_type = 'INVALID ENCODING') "
                "FROM reject_errors GROUP BY 1 ORDER BY 1"
            ).fetchall()
        for table in ("reject_errors", "reject_scans"):
            run(f"DROP TABLE IF EXISTS {table}")
        return rows

    # -------------------------------------------------------------- many columns

    def _wide_rows(
        self,
        file: DataFile,
        header: _Header,
        places: list[int],
        bad_rows: BadRows,
        rows: int,
    ) -> Iterator[Any]:
        rows = max(1, min(rows, _WIDE_CELLS // len(header.names)))
        with file.stream() as stream:
            fields = _Fields(file, stream, header.delimiter)
            fields.rows(header.blank + 1)
            while read := fields.rows(rows):
                good = []
                for line, row, problem in read:
                    if not problem and row and len(row) != len(header.names):
                        problem = (
                            f"Expected Number of Columns: {len(header.names)} Found: "
                            f"{len(row)}"
                        )
                    if problem:
                        self._bad(file, bad_rows, line, problem)
                    elif row:
                        good.append((line, row))
                try:
                    yield _strings(places, good)
                    continue
                except UnicodeEncodeError:
                    pass
                kept = []
                for line, row in good:
                    if all(_is_utf8(row[place]) for place in places):
                        kept.append((line, row))
                    else:
                        self._bad(file, bad_rows, line, "it is not UTF-8", 1, 1)
                yield _strings(places, kept)


class Tsv(Csv):
    """Fields with tabs between them."""

    name = "tsv"
    endings = (".tsv",)
    delimiters = "\t"


def _first_row(file: DataFile, delimiter: str) -> tuple[int, list[str]]:
    """Return the blank lines above the first row, and its fields."""
    with file.stream() as stream:
        lines = io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="")
        told = repr(file.path)
        rows = csv.reader(bounded_lines(lines, file.longest, told), delimiter=delimiter)
        try:
            return next(((n, row) for n, row in enumerate(rows) if row), (0, []))
        except csv.Error as error:
            raise _HeaderError(
                f"The header of {told} cannot be read: {error}."
            ) from None


class _Fields:
    """Rows of a file cut into fields, with their lines and what is wrong with them."""

    def __init__(self, file: DataFile, stream: Any, delimiter: str) -> None:
        self._longest, self._told = file.longest, repr(file.path)
        self._left = self._longest
        self._text = io.TextIOWrapper(
            stream, "utf-8-sig", errors="surrogateescape", newline=""
        )
        self._reader = csv.reader(self._lines(), delimiter=delimiter, strict=True)
        self._spaced, self._has_spaced = f'{delimiter} "', False

    def _lines(self) -> Iterator[str]:
        while line := self._text.readline(self._left + 1):
            self._left -= len(line)
            if self._left < 0:
                raise too_long(f"A row of {self._told}", self._longest)
            self._has_spaced |= self._spaced in line or line.startswith(' "')
            yield line

    def rows(self, number: int) -> list[tuple[int, list[str], str]]:
        """Return (line, fields, problem) of the next rows."""
        found: list[tuple[int, list[str], str]] = []
        # The limit of a field belongs to the whole process.
        before = csv.field_size_limit(self._longest)
        try:
            while len(found) < number:
                self._left, line = self._longest, self._reader.line_num + 1
                try:
                    row, problem = next(self._reader), ""
                    if self._has_spaced and any(map(_is_spaced_quote, row)):
                        problem = "a quote must begin its field, not follow a space"
                    self._has_spaced = False
                    found.append((line, row, problem))
                except csv.Error as error:
                    extent = self._reader.line_num - line
                    lines = f" (a row of {extent + 1} lines)" if extent > 0 else ""
                    found.append((line, [], f"{error}{lines}"))
        except StopIteration:
            pass
        finally:
            csv.field_size_limit(before)
        return found


def _is_spaced_quote(field: str) -> bool:
    return field.startswith(" ") and field.lstrip(" ").startswith('"')


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


def _line_of(file: DataFile, position: int) -> int:
    """Return the line, counted from 1, that a byte lies in."""
    line, left = 1, position
    with file.stream() as stream:
        while left > 0 and (block := stream.read(min(left, 1 << 24))):
            line += max(block.count(b"\n"), block.count(b"\r"))
            left -= len(block)
    return line
