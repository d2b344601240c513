"""Where predictions go: CSV, TSV, JSON lines or Parquet, on stdout or in a file."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from bayesieve.cli._command import CommandError
from bayesieve.cli._output import written
from bayesieve.cli._show import finite
from bayesieve.cli._terminal import plain_text

__all__ = ["FORMULAS", "Formulas", "Sink", "nameable", "opened_sink", "output_format"]

_ENDINGS = {
    **{".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"},
    **{".parquet": "parquet", ".pq": "parquet"},
}
#: Formats that spreadsheets open, and run what looks like a formula in them.
FORMULAS = ("csv", "tsv")


def nameable(path: str, form: str) -> str:
    """Return a path as it can be written, whatever bytes its name has.

    CSV and TSV have the bytes themselves, and JSON the escapes that Python reads them
    as; Parquet holds text alone.
    """
    with contextlib.suppress(UnicodeEncodeError):
        path.encode("utf-8", "strict" if form == "parquet" else "surrogateescape")
        return path
    return path.encode("utf-8", "backslashreplace").decode()


def output_format(out: str | None, as_json: bool) -> str:
    """Return the format of a file by its ending, or that of standard output."""
    if out is None:
        return "jsonl" if as_json else "csv"
    ending = os.path.splitext(out.lower())[1]
    if ending not in _ENDINGS:
        raise CommandError(
            "the format of --out is told by its ending, .csv, .tsv, .jsonl or "
            f".parquet. Got {out!r}."
        )
    return _ENDINGS[ending]


class Formulas:
    """What a spreadsheet would compute: escaped where asked for, or else told once."""

    def __init__(self, escape: bool) -> None:
        self._escape = escape
        self.found: str | None = None

    def checked(self, values: list[Any]) -> list[Any]:
        """Return values, those that begin as a formula does with an apostrophe."""
        places = [i for i, value in enumerate(values) if _is_formula(value)]
        if not places:
            return values
        if not self._escape:
            self.found = values[places[0]] if self.found is None else self.found
            return values
        values = list(values)
        for i in places:
            values[i] = f"'{values[i]}"
        return values

    def warn(self) -> None:
        """Tell of the first one that was written as it is."""
        if self.found is not None and sys.stderr is not None:
            print(
                f"bayesieve: warning: {self.found!r} begins as a formula does, and a "
                "spreadsheet that opens the predictions may run it. Hint: "
                "--escape-formulas writes an apostrophe before it.",
                file=sys.stderr,
            )


def _is_formula(value: Any) -> bool:
    """Tell what a spreadsheet would compute: text that begins like a formula."""
    if not isinstance(value, str) or not value.startswith(
        ("=", "+", "-", "@", "\t", "\r")
    ):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


class Sink(Protocol):
    """Takes rows of predictions; nothing is written before the first ones are known."""

    def add(self, columns: list[Any]) -> None:
        """Write rows, given column by column: lists, or Arrow arrays of the data."""

    def end(self) -> None:
        """Finish, also when there were no rows."""


class _Shown:
    """A terminal, which data must not steer: what cannot be printed is escaped."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text; only ends of lines are not escaped."""
        shown = "\n".join(map(plain_text, text.split("\n")))
        return int(self._stream.write(shown))


class _CsvSink:
    """CSV or TSV; a missing value is an empty field."""

    def __init__(
        self, file: Any, delimiter: str, header: list[str], formulas: Formulas
    ) -> None:
        self._file, self._delimiter, self._formulas = file, delimiter, formulas
        # Python's own writer leaves a carriage return without quotes.
        self._quoted = (delimiter, '"', "\r", "\n")
        self._header: list[str] | None = header

    def add(self, columns: list[Any]) -> None:
        """Write rows; probabilities with six digits, values of the data with all."""
        self.end()
        shown = [
            [f"{value:.6g}" for value in column]
            if isinstance(column, list) and column and isinstance(column[0], float)
            else self._fields(column)
            for column in columns
        ]
        self._write(zip(*shown, strict=True))

    def _fields(self, column: Any) -> list[str]:
        values = column if isinstance(column, list) else column.to_pylist()
        values = self._formulas.checked(values)
        return [self._field(_as_text(value)) for value in values]

    def _field(self, text: str) -> str:
        if any(mark in text for mark in self._quoted):
            return '"' + text.replace('"', '""') + '"'
        return text

    def _write(self, rows: Iterable[Iterable[str]]) -> None:
        lines = [self._delimiter.join(row) + "\n" for row in rows]
        self._file.write("".join(lines))

    def end(self) -> None:
        """Write the header, once."""
        if self._header is not None:
            self._write([self._fields(self._header)])
            self._header = None


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


class _JsonSink:
    """One JSON object a line."""

    def __init__(self, file: Any, header: list[str]) -> None:
        self._file, self._header = file, header

    def add(self, columns: list[Any]) -> None:
        """Write rows; what JSON has no type for is written as text."""
        lists = [
            column if isinstance(column, list) else finite(column.to_pylist())
            for column in columns
        ]
        for row in zip(*lists, strict=True):
            line = dict(zip(self._header, row, strict=True))
            text = json.dumps(line, ensure_ascii=False, default=str)
            if not _is_text(text):  # the name of a file may hold any bytes
                text = json.dumps(line, default=str)
            self._file.write(text + "\n")

    def end(self) -> None:
        """Write nothing: a file without lines has no rows."""


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _ParquetSink:
    """Parquet, a row group for each batch; columns of the data keep their types."""

    def __init__(self, path: str, header: list[str]) -> None:
        self._path, self._header = path, header
        self._writer: Any = None

    def add(self, columns: list[Any]) -> None:
        """Write rows."""
        import pyarrow
        from pyarrow import parquet

        table = pyarrow.table(dict(zip(self._header, columns, strict=True)))
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._path, table.schema)
        schema = self._writer.schema
        if not table.schema.equals(schema):
            table = self._cast(table, schema)
        self._writer.write_table(table)

    def _cast(self, table: Any, schema: Any) -> Any:
        """Give columns of a later file the types that those of the first one have."""
        import pyarrow

        try:
            return table.cast(schema)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
            raise CommandError(
                "a column that --keep carries into Parquet must have one type in all "
                f"files. Got: {error}. Hint: --out with .csv or .jsonl."
            ) from None

    def end(self) -> None:
        """Leave a file without rows where there were none."""
        if self._writer is None:
            import pyarrow
            from pyarrow import parquet

            empty = pyarrow.table({name: pyarrow.nulls(0) for name in self._header})
            parquet.write_table(empty, self._path)

    def close(self) -> None:
        """Let go of the file."""
        if self._writer is not None:
            self._writer.close()


@contextlib.contextmanager
def opened_sink(
    path: str | None, form: str, header: list[str], formulas: Formulas
) -> Iterator[Sink]:
    """Open the place where predictions go; a file is there when it is complete."""
    with contextlib.ExitStack() as stack:
        if path is None:
            file: Any = sys.stdout or stack.enter_context(open(os.devnull, "w"))
            if file.isatty():
                file = _Shown(file)
            elif hasattr(file, "reconfigure"):
                stack.callback(file.reconfigure, errors=file.errors)
                file.reconfigure(errors="surrogateescape")  # for names of files
        else:
            beside = stack.enter_context(written(path))
            if form == "parquet":
                with contextlib.closing(_ParquetSink(beside, header)) as sink:
                    yield sink
                return
            file = stack.enter_context(
                open(
                    beside, "w", encoding="utf-8", errors="surrogateescape", newline=""
                )
            )
        if form == "jsonl":
            yield _JsonSink(file, header)
        else:
            delimiter = "\t" if form == "tsv" else ","
            yield _CsvSink(file, delimiter, header, formulas)
