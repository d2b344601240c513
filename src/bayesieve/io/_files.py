"""Files on this machine: found by their names, opened by their formats."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayesieve.io._bad_rows import BadRows
from bayesieve.io._csv import Csv, Tsv, csv_label
from bayesieve.io._duckdb import needs, reading_connection, refuse_address
from bayesieve.io._format import Format
from bayesieve.io._json import Json, JsonLines
from bayesieve.io._near_names import check_column, near_hint
from bayesieve.io._parquet import Parquet
from bayesieve.io._read_options import ReadOptions
from bayesieve.io._svmlight import Svmlight
from bayesieve.utils._computed_once import computed_once

__all__ = [
    "BATCH_ROWS",
    "FORMATS",
    "DataFile",
    "TextFile",
    "csv_label",
    "find_files",
    "format_of",
    "open_files",
    "unknown_format",
]

#: Every kind of file that can be read; a new one is added here.
FORMATS: tuple[Format, ...] = (
    *(Csv(), Tsv(), JsonLines(), Json(), Parquet()),
    Svmlight(),
)
BATCH_ROWS = 1 << 16
_DEFAULT = ReadOptions()
_COMPRESSION = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}


# ------------------------------------------------------------------------------- names


def format_of(path: str) -> Format | None:
    """Return the format that the name of a file tells, if it does."""
    stem, ending = os.path.splitext(path.lower().strip())
    inner = os.path.splitext(stem)[1]
    for own in FORMATS:
        if ending in own.endings or (ending in own.packed and inner in own.endings):
            return own
    return None


def unknown_format(path: str, hint: str = "") -> ValueError:
    """The error for a name that tells no format."""
    endings = ", ".join(ending for own in FORMATS for ending in own.endings)
    return ValueError(
        f"The format of a file is told by its ending, one of {endings}, and .gz or "
        f".zst after it. Got {path!r}.{hint}"
    )


def find_files(patterns: Iterable[str], hint: str = "") -> list[str]:
    """Return the files that paths and globs name, each once.

    `hint` goes with the error for a path that is not there and like no other.
    """
    found: list[str] = []
    for pattern in patterns:
        found += _matches(os.path.expanduser(pattern), hint)
    seen: set[str] = set()
    for path in found:
        if os.path.realpath(path) in seen:
            raise ValueError(
                f"Each file can be read once. Got {path!r} more than once."
            )
        seen.add(os.path.realpath(path))
    return found


def _matches(pattern: str, hint: str) -> list[str]:
    if os.path.isfile(pattern):
        return [pattern]
    refuse_address(pattern)
    if os.path.isdir(pattern):
        raise IsADirectoryError(
            f"{pattern!r} is a folder. Hint: a glob such as "
            f"{os.path.join(pattern, '*.csv')!r} names the files in it."
        )
    if pattern == "-" or os.path.exists(pattern):
        raise ValueError(
            f"{pattern!r} is a stream, and data must be in files, which may be read "
            "more than once. Hint: write it to a file first."
        )
    if glob.has_magic(pattern):
        found = [p for p in glob.glob(pattern, recursive=True) if os.path.isfile(p)]
        if found:
            return sorted(found)
        raise FileNotFoundError(f"No file matches {pattern!r}.")
    endings = [e for own in FORMATS for e in (*own.endings, *own.packed)]
    near = near_hint(pattern, endings)
    raise FileNotFoundError(f"There is no file {pattern!r}.{near or hint}")


# ------------------------------------------------------------------------------- files


class Reader:
    """The DuckDB that reads the files of one job, and reaches nothing else."""

    def __init__(self, paths: Iterable[str], threads: int | None = None) -> None:
        self._paths, self._threads = paths, threads

    @computed_once
    def connection(self) -> Any:
        """A database of its own, in memory."""
        return reading_connection(self._paths, self._threads)


class DataFile:
    """A file whose columns have names, read as the options say.

    `types` are SQL types of the columns, for formats that have to look for them;
    `notes` are sentences on what was guessed or changed, each once.
    """

    def __init__(
        self, path: str, reader: Reader, options: ReadOptions = _DEFAULT
    ) -> None:
        found = format_of(path)
        if found is None:
            raise unknown_format(path)
        self.path, self.format, self.options = path, found, options
        self.notes: list[str] = []
        self.types: dict[str, str] = {}
        self._reader = reader

    @property
    def longest(self) -> int:
        """Bytes that a row may have."""
        return self.options.longest

    def note(self, sentence: str) -> None:
        """Keep a sentence on what was guessed or changed, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    @property
    def connection(self) -> Any:
        """The DuckDB that may read the file."""
        return self._reader.connection

    @computed_once
    def columns(self) -> list[str]:
        """Names of the columns; none for an empty file."""
        try:
            return self.format.columns(self)
        except self._errors as error:
            raise self.format.unreadable(self, error) from None

    def batches(
        self,
        names: Sequence[str],
        bad_rows: BadRows,
        *,
        types: Mapping[str, str] | None = None,
        rows: int = BATCH_ROWS,
    ) -> Iterator[Any]:
        """Yield Arrow batches of about so many rows with these columns: one pass.

        `bad_rows` is told of rows that cannot be read; `types` are SQL types to read
        columns as, where a format does not know them.
        """
        try:
            yield from self.format.batches(self, names, bad_rows, types or {}, rows)
        except self._errors as error:
            raise self.format.unreadable(self, error) from None

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        # DuckDB before 2.0 lets a RuntimeError out for a damaged Parquet file.
        return needs("duckdb").Error, OSError, EOFError, RuntimeError

    def check_columns(
        self, names: Iterable[str], columns: Sequence[str] | None = None
    ) -> None:
        """Refuse names that are no columns of the file."""
        columns = self.columns if columns is None else columns
        known = set(columns)
        for name in names:
            if name not in known:
                check_column(name, columns, repr(self.path))

    def stream(self) -> Any:
        """Open the file, unpacked."""
        ending = os.path.splitext(self.path.lower())[1]
        return needs("pyarrow").input_stream(
            self.path, compression=_COMPRESSION.get(ending)
        )


def open_files(
    paths: Sequence[str],
    threads: int | None = None,
    options: ReadOptions = _DEFAULT,
) -> list[DataFile]:
    """Return files that share one reader."""
    needs("duckdb")
    reader = Reader(paths, threads)
    return [DataFile(path, reader, options) for path in paths]


@dataclass(frozen=True)
class TextFile:
    """A file with a column of texts and one of labels."""

    file: DataFile
    text: str
    label: str

    @property
    def path(self) -> str:
        """Where it is."""
        return self.file.path

    @property
    def nbytes(self) -> int:
        """Size of the file."""
        return os.path.getsize(self.path)

    @property
    def value_of(self) -> Callable[[Any], Any] | None:
        """How a label is made of what is read."""
        return self.file.format.label_of

    @property
    def notes(self) -> list[str]:
        """What was guessed or changed when the file was read."""
        return self.file.notes

    @property
    def told(self) -> str:
        """Name of the file in messages."""
        return repr(self.path)

    def place(self, row: int) -> str:
        """Name a row, counted from 0, in messages."""
        return f"Row {row + 1} of {self.path!r}"

    def batches(self, bad_rows: BadRows) -> Iterator[tuple[Any, Any]]:
        """Yield (texts, labels) as Arrow arrays."""
        types = {self.text: "VARCHAR", self.label: "JSON"}
        names = (self.text, self.label)
        for batch in self.file.batches(names, bad_rows, types=types):
            yield batch.column(0), batch.column(1)
