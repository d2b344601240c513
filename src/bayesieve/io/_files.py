"""Reading texts and labels from files, through DuckDB.

Every file is one query that streams Arrow batches. Nothing is guessed from a sample: a
CSV file is read with the delimiter under which its header has the columns asked for,
JSON labels keep their own type, and CSV labels are text until all of them are known.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bayesieve.io._bad_rows import BadRows
from bayesieve.io._duckdb import (
    identifier,
    literal,
    needs,
    quoted,
    reading_connection,
)
from bayesieve.io._row_bounds import (
    LONGEST_ROW,
    VECTOR_ROWS,
    bounded_lines,
    check_last_row,
    check_parquet,
    oversized,
    refuse_deep_json,
    too_long,
    value_bytes,
)
from bayesieve.utils._computed_once import computed_once

BATCH_ROWS = 1 << 16
# Vectors of DuckDB are put together to batches of more rows as long as they are small.
_LEAST_BUFFER = 1 << 20
_BATCH_BYTES = 1 << 26
_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_SVMLIGHT = (".svm", ".svmlight", ".libsvm")
_PACKED = (".gz", ".zst")


def has_file_ending(path: str) -> bool:
    """Whether a string ends as the name of a file of data does."""
    return _ending(path) in (*_FORMATS, *_SVMLIGHT)


def _ending(path: str) -> str:
    """Ending of a name, that of the packed file if it is packed."""
    stem, ending = os.path.splitext(path.lower().strip())
    return os.path.splitext(stem)[1] if ending in _PACKED else ending


def file_format(path: str) -> str:
    """Return the format that the name of a file tells."""
    ending = _ending(path)
    if ending in _SVMLIGHT:
        raise ValueError(
            f"{path!r} is an svmlight file, which holds a matrix and no texts. Hint: "
            "X, y = sklearn.datasets.load_svmlight_file(path), then "
            "ClassCounts.from_matrix(X, y)."
        )
    if ending not in _FORMATS:
        raise ValueError(
            f"The format of a file is told by its ending, one of "
            f"{', '.join(_FORMATS)}, and .gz or .zst after it. Got {path!r}. Hint: "
            "sql=\"SELECT text, label FROM read_csv('...')\" reads any file."
        )
    return _FORMATS[ending]


def check_column(name: str, columns: list[str], where: str) -> None:
    """Check that a column is there; say which one may be meant if not."""
    if name in columns:
        return
    lower = {column.lower(): column for column in columns}
    near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.7)
    hint = f" Did you mean {lower[near[0]]!r}?" if near else ""
    shown = ", ".join(repr(column) for column in columns[:20])
    more = ", ..." if len(columns) > 20 else ""
    raise ValueError(
        f"There is no column {name!r} in {where}. Its columns are [{shown}{more}]."
        f"{hint}"
    )


def record_batches(relation: Any, rows: int = BATCH_ROWS) -> Iterator[Any]:
    """Yield the rows of a relation as Arrow batches, bounded in rows and in bytes."""
    stream = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
    waiting: list[Any] = []
    n_rows = n_bytes = 0
    for batch in stream(min(rows, VECTOR_ROWS)):
        waiting.append(batch)
        n_rows += batch.num_rows
        n_bytes += batch.nbytes
        if n_rows >= rows or n_bytes >= _BATCH_BYTES:
            yield _together(waiting)
            waiting, n_rows, n_bytes = [], 0, 0
    if waiting:
        yield _together(waiting)


def _together(batches: list[Any]) -> Any:
    if len(batches) == 1:
        return batches[0]
    table = needs("pyarrow").Table.from_batches(batches).combine_chunks()
    return table.to_batches()[0] if table.num_rows else batches[0]


class HeaderError(ValueError):
    """A first row that is no header with some delimiter; it may be with another."""


def header_row(
    stream: Any, delimiter: str, longest: int, told: str
) -> tuple[int, list[str] | None]:
    """Return the blank lines above the first row of a CSV file, and its fields."""
    lines = io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="")
    try:
        rows = csv.reader(bounded_lines(lines, longest, told), delimiter=delimiter)
        return next(((n, row) for n, row in enumerate(rows) if row), (0, None))
    except csv.Error as error:
        raise HeaderError(f"The header of {told} cannot be read: {error}.") from None


def bad_json_line(stream: Any, longest: int) -> tuple[int, str] | None:
    """Look for the line of JSON that cannot be read; return it and what is wrong.

    DuckDB may count lines in another way.
    """
    lines = io.BufferedReader(stream, 1 << 20)
    number = 0
    while line := lines.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise too_long(f"Line {number:,}", longest)
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            json.loads(text.strip() or "0")
        except RecursionError:
            return number, "is nested too deeply"
        except ValueError as error:
            what = "is not UTF-8" if isinstance(error, UnicodeError) else "is no JSON"
            return number, f"{what}: {error}"
    return None


def json_label(raw: str) -> Any:
    """Return the label that a JSON value stands for."""
    try:
        value = json.loads(raw)
    except RecursionError:
        value = []
        raw = f"{raw[:20]}..., nested too deeply"
    if isinstance(value, dict | list):
        raise ValueError(
            f"Labels must be strings, integers, booleans or floats. Got the JSON {raw}."
        )
    return value


def csv_label(raw: str) -> str | None:
    """Return the label that a field of a CSV file stands for; nothing is missing."""
    return raw or None


class Reader:
    """The DuckDB that reads all files of a count.

    Parameters
    ----------
    paths : iterable of str
        The files, which are all that it can read.
    threads : int, default=None
        Number of threads; None for one per processor.
    """

    def __init__(self, paths: Iterable[str], threads: int | None = None) -> None:
        self._paths, self._threads = paths, threads

    @computed_once
    def connection(self) -> Any:
        """A database of its own, in memory."""
        return reading_connection(self._paths, self._threads)


@dataclass(frozen=True)
class TextFile:
    """A file with a column of texts and one of labels."""

    path: str
    text: str
    label: str
    reader: Reader
    longest: int = LONGEST_ROW

    @property
    def format(self) -> str:
        """What the file is."""
        return file_format(self.path)

    @property
    def nbytes(self) -> int:
        """Size of the file."""
        return os.path.getsize(self.path)

    @property
    def value_of(self) -> Callable[[Any], Any] | None:
        """How a label is made of what is read."""
        return {
            "csv": csv_label,
            "tsv": csv_label,
            "json": json_label,
            "jsonl": json_label,
        }.get(self.format)

    @property
    def told(self) -> str:
        """Name of the file in messages."""
        return repr(self.path)

    def place(self, row: int) -> str:
        """Name a row, counted from 0, in messages."""
        return f"Row {row + 1} of {self.path!r}"

    def batches(self, bad_rows: BadRows) -> Iterator[tuple[Any, Any]]:
        """Yield (texts, labels) as Arrow arrays."""
        duckdb = needs("duckdb")
        read = getattr(self, f"_read_{self.format}")
        try:
            yield from read(self.reader.connection, bad_rows)
        except (duckdb.Error, OSError, RuntimeError) as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> Exception:
        if oversized(error):
            return too_long(f"A row of {self.path!r}", self.longest)
        lines = str(error).strip().splitlines() or [type(error).__name__]
        hint = ""
        if "state machine" in lines[0]:
            hint = (
                " Its lines may end in different ways (\\r\\n and \\n). Hint: a query "
                "with read_csv(..., strict_mode = false) is less strict."
            )
        return ValueError(f"{self.path!r} cannot be read: {lines[0]}{hint}")

    # ------------------------------------------------------------------ Parquet

    def _read_parquet(
        self, connection: Any, bad_rows: BadRows
    ) -> Iterator[tuple[Any, Any]]:
        source = f"read_parquet({quoted(literal(self.path))})"
        columns = connection.sql(f"FROM {source} LIMIT 0").columns
        self._check(columns)
        names = (self.text, self.label)
        check_parquet(connection, self.path, names, self.longest)
        asked = ", ".join(map(identifier, names))
        for batch in record_batches(connection.sql(f"SELECT {asked} FROM {source}")):
            yield batch.column(0), batch.column(1)

    def _check(self, columns: list[str]) -> None:
        for name in (self.text, self.label):
            check_column(name, list(columns), repr(self.path))

    # ------------------------------------------------------------------ JSON

    def _read_json(
        self, connection: Any, bad_rows: BadRows, form: str = "auto"
    ) -> Iterator[tuple[Any, Any]]:
        options = (
            f"{quoted(literal(self.path))}, format = '{form}', maximum_object_size = "
            f"{self.longest}"
        )
        if self._is_blank():
            return
        with self._stream() as stream:
            refuse_deep_json(stream, self.told, by_line=form != "auto")
        # A sample is enough to find a name that is spelt wrongly.
        look = f"{options}, sample_size = 1000, maximum_depth = 1"
        if form != "auto":
            look += ", ignore_errors = true"
        columns = connection.sql(f"FROM read_json({look}) LIMIT 0").columns
        if columns != ["json"]:  # what is found in an empty list
            self._check(columns)
        kinds = {self.text: "VARCHAR", self.label: "JSON"}
        columns_of = ", ".join(f"{quoted(n)}: '{k}'" for n, k in kinds.items())
        skip = bad_rows.skip and form != "auto"
        more = ", ignore_errors = true" if skip else ""
        query = (
            f"SELECT {identifier(self.text)} AS a, {identifier(self.label)} AS b "
            f"FROM read_json({options}, columns = {{{columns_of}}}{more})"
        )
        try:
            for batch in record_batches(connection.sql(query)):
                yield batch.column(0), batch.column(1)
        except needs("duckdb").Error as error:
            if form != "auto" and not oversized(error):
                self._refuse_json_line()
            raise

    def _read_jsonl(
        self, connection: Any, bad_rows: BadRows
    ) -> Iterator[tuple[Any, Any]]:
        yield from self._read_json(connection, bad_rows, "newline_delimited")

    def _is_blank(self) -> bool:
        with self._stream() as stream:
            block = stream.read(1 << 16)
            return len(block) < 1 << 16 and not block.strip()

    def _refuse_json_line(self) -> None:
        with self._stream() as stream:
            found = bad_json_line(stream, self.longest)
        if found is not None:
            number, problem = found
            raise ValueError(
                f"Line {number:,} of {self.path!r} {problem}. Hint: on_bad_rows='skip' "
                "leaves such rows out."
            )

    # ------------------------------------------------------------------ CSV

    def _read_csv(
        self, connection: Any, bad_rows: BadRows, delimiters: str = ",;\t|"
    ) -> Iterator[tuple[Any, Any]]:
        header = self._header(delimiters)
        if header is None:
            return
        query = self._csv_query(*header, skip=bad_rows.skip)
        n_bytes = 0
        try:
            for batch in record_batches(connection.sql(query)):
                n_bytes += sum(map(value_bytes, batch.columns))
                yield batch.column(0), batch.column(1)
        except needs("duckdb").Error as error:
            if oversized(error):
                raise
            found = self._rejected(connection, header) if not bad_rows.skip else []
            if not found:
                raise
            bad_rows.found(len(found), self._describe(*found[0]))
            raise AssertionError("a bad row is an error here") from error
        check_last_row(self.path, self._stream, self.longest, n_bytes)
        if bad_rows.skip:
            found = self._rejects(connection)
            if found:
                bad_rows.found(len(found), self._describe(*found[0]))

    def _read_tsv(
        self, connection: Any, bad_rows: BadRows
    ) -> Iterator[tuple[Any, Any]]:
        yield from self._read_csv(connection, bad_rows, "\t")

    def _stream(self) -> Any:
        pyarrow = needs("pyarrow")
        packed = {".gz": "gzip", ".zst": "zstd"}
        ending = os.path.splitext(self.path.lower())[1]
        return pyarrow.input_stream(self.path, compression=packed.get(ending))

    def _header(self, delimiters: str) -> tuple[list[str], str, int] | None:
        """Return names of columns, delimiter and blank lines above; None if empty."""
        columns: list[str] = []
        problem: HeaderError | None = None
        self._refuse_utf16()
        for delimiter in delimiters:
            try:
                with self._stream() as stream:
                    blank, found = header_row(
                        stream, delimiter, self.longest, self.told
                    )
            except HeaderError as error:
                problem = error
                continue
            if found is None:
                return None
            if self.text in found and self.label in found:
                return found, delimiter, blank
            columns = max(columns, found, key=len)
        if problem is not None and len(columns) < 2:
            raise problem
        self._check(columns)
        raise AssertionError("one of the columns is not there")

    def _refuse_utf16(self) -> None:
        with self._stream() as stream:
            if stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                raise ValueError(
                    f"{self.path!r} is UTF-16 text, and must be UTF-8. Hint: save the "
                    "file as UTF-8, for example: iconv -f utf-16 -t utf-8 in > out"
                )

    def _csv_query(
        self, columns: list[str], delimiter: str, blank: int, *, skip: bool
    ) -> str:
        for name in (self.text, self.label):
            if columns.count(name) > 1:
                raise ValueError(f"{self.path!r} has two columns {name!r}.")
        # Names of other columns do not matter, and may be empty or there twice.
        names = [
            {self.text: "a", self.label: "b"}.get(name, f"c{i}")
            for i, name in enumerate(columns)
        ]
        if self.text == self.label:
            names[columns.index(self.text)] = "a"
        kinds = ", ".join(f"'{name}': 'VARCHAR'" for name in names)
        label = "a" if self.text == self.label else "b"
        more = ", ignore_errors = true, store_rejects = true" if skip else ""
        return (
            # An empty field is an empty text, and a missing label.
            f"SELECT coalesce(a, '') AS a, {label} AS b FROM read_csv("
            f"{quoted(literal(self.path))}, "
            f"auto_detect = false, header = true, skip = {blank}, "
            f"delim = {quoted(delimiter)}, "
            f"quote = '\"', escape = '\"', columns = {{{kinds}}}, "
            f"max_line_size = {self.longest}, "
            f"buffer_size = {max(self.longest, _LEAST_BUFFER)}{more})"
        )

    def _rejected(
        self, connection: Any, header: tuple[list[str], str, int]
    ) -> list[Any]:
        """Read the file again to learn where its bad rows are."""
        for _ in record_batches(connection.sql(self._csv_query(*header, skip=True))):
            pass
        return self._rejects(connection)

    def _rejects(self, connection: Any) -> list[Any]:
        rows: list[Any] = connection.execute(
            "SELECT line_byte_position, min(error_message), "
            "max(length(csv_line) - length(replace(csv_line, chr(10), ''))) "
            "FROM reject_errors GROUP BY 1 ORDER BY 1"
        ).fetchall()
        for table in ("reject_errors", "reject_scans"):  # the next file begins anew
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        return rows

    def _describe(self, position: int | None, message: str, breaks: int | None) -> str:
        where = repr(self.path)
        if position is not None:
            where = f"Line {self._line_of(int(position) - 1)} of {where}"
        problem = re.sub(r"\s+", " ", message).strip().rstrip(".")
        # A quote that is never closed takes all the rest of a file for one row.
        extent = f" (a row of {breaks + 1} lines)" if breaks else ""
        convert = ""
        if "utf-8" in problem.lower():
            convert = (
                " Save the file as UTF-8, for example: iconv -f latin1 -t utf-8 in > "
                "out."
            )
        return f"{where} cannot be read: {problem}{extent}.{convert}"

    def _line_of(self, position: int) -> int:
        """Return the line, counted from 1, that a byte lies in."""
        line, left = 1, position
        with self._stream() as stream:
            while left > 0:
                block = stream.read(min(left, 1 << 24))
                if not block:
                    break
                line += max(block.count(b"\n"), block.count(b"\r"))
                left -= len(block)
        return line
