"""The files a command reads: globs, formats, and the columns of tables in them.

Tables go through DuckDB. Nothing is guessed from a sample of rows: columns of CSV files
are text until all of a column is known, and a file is read in the order of its rows.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from bayesieve.cli._command import CommandError
from bayesieve.cli._unreadable import check_encoding, convert_hint, unreadable
from bayesieve.utils._computed_once import computed_once

__all__ = [
    "DataFiles",
    "check_column",
    "check_model_file",
    "expanded",
    "find_files",
    "needs",
]

_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "json lines",
    ".ndjson": "json lines",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}
_PACKED = (".gz", ".zst", ".bz2")
_ZIP = b"PK\x03\x04"  # what saved counts and models begin with
_BATCH_ROWS = 1 << 13  # small, so that progress moves and Ctrl-C is heard
_MOST_COLUMNS = 100_000  # of a CSV file; DuckDB's time grows with their square
_LONGEST_ROW = 1 << 25  # as in the library, which is loaded later


def needs(name: str) -> Any:
    """Import an optional dependency of the extra `cli`."""
    from bayesieve.utils._optional import optional_module

    try:
        return optional_module(name, purpose="reading such files", extra="cli")
    except ImportError as error:
        raise CommandError(str(error)) from error


def check_model_file(path: str) -> None:
    """Refuse what cannot be a saved model, before anything heavy is loaded."""
    if not os.path.exists(path):
        near = _near_hint(path, os.path.splitext(path)[1].lower())
        raise CommandError(f"there is no model {path!r}.{near}")
    if os.path.isdir(path):
        raise CommandError(f"{path!r} is a folder, and a model is a file.")
    if not os.path.isfile(path):  # opening a pipe would wait for whoever writes to it
        raise CommandError(f"{path!r} is a stream, and a model is a file.")
    with open(path, "rb") as file:
        begins = file.read(len(_ZIP))
    if begins != _ZIP:
        raise CommandError(
            f"{path!r} is no saved model. Hint: bayesieve select DATA --save MODEL "
            "writes one."
        )


def find_files(patterns: Sequence[str]) -> DataFiles:
    """Return the files that paths and globs name, all of one format."""
    found: list[str] = []
    for pattern in patterns:
        found += _matches(os.path.expanduser(pattern))
    seen: set[str] = set()
    for path in found:
        if os.path.realpath(path) in seen:
            raise CommandError(f"each file can be read once. Got {path!r} twice.")
        seen.add(os.path.realpath(path))
    formats = {_format_of(path): path for path in reversed(found)}
    if len(formats) > 1:
        a, b = list(formats.values())[:2]
        raise CommandError(
            f"files that are read together must be of one format. Got {a!r} and {b!r}."
        )
    return DataFiles(tuple(found), next(iter(formats)))


def expanded(patterns: Sequence[str]) -> list[str]:
    """Return the files that paths and globs name, without a word on what is missing."""
    found: list[str] = []
    for pattern in map(os.path.expanduser, patterns):
        found += [pattern] if os.path.isfile(pattern) else _globbed(pattern)
    return found


def _globbed(pattern: str) -> list[str]:
    if not glob.has_magic(pattern):
        return []
    return sorted(p for p in glob.glob(pattern, recursive=True) if os.path.isfile(p))


def _matches(pattern: str) -> list[str]:
    if os.path.isfile(pattern):
        return [pattern]
    if "://" in pattern:
        raise CommandError(
            f"files must be on this machine. Got {pattern!r}. Hint: fetch it first."
        )
    if pattern == "-" or (os.path.exists(pattern) and not os.path.isdir(pattern)):
        raise CommandError(
            f"{pattern!r} is a stream, and data must be in files, which are read more "
            "than once. Hint: write it to a file first."
        )
    if os.path.isdir(pattern):
        raise CommandError(
            f"{pattern!r} is a folder. Hint: a glob such as "
            f"'{os.path.join(pattern, '*.csv')}' names the files in it."
        )
    if glob.has_magic(pattern):
        found = _globbed(pattern)
        if found:
            return found
        raise CommandError(f"no file matches {pattern!r}.")
    raise CommandError(
        f"there is no file {pattern!r}.{_near_hint(pattern, *_FORMATS, *_PACKED)}"
    )


def _near_hint(path: str, *endings: str) -> str:
    """Ask whether another file of the same folder is meant, if a name is close."""
    folder = os.path.dirname(path) or "."
    names = os.listdir(folder) if os.path.isdir(folder) else []
    near = _near_name(os.path.basename(path), names, endings)
    if near is None:
        return ""
    return f" Did you mean {os.path.join(os.path.dirname(path), near)!r}?"


def _near_name(name: str, names: Sequence[str], endings: Sequence[str]) -> str | None:
    """Return the file that may be meant; endings alone make no names alike."""
    stems = {
        os.path.splitext(own)[0].lower(): own
        for own in sorted(names)
        if os.path.splitext(own)[1].lower() in ("", *endings)
    }
    stem = os.path.splitext(name)[0].lower()
    near = difflib.get_close_matches(stem, stems, n=1, cutoff=0.75)
    return stems[near[0]] if near else None


def _format_of(path: str) -> str:
    stem, ending = os.path.splitext(path.lower())
    if ending in _PACKED:
        ending = os.path.splitext(stem)[1]
    if ending in _FORMATS:
        return _FORMATS[ending]
    with open(path, "rb") as file:
        if file.read(len(_ZIP)) == _ZIP:
            return "saved"
    raise CommandError(
        f"the format of a file is told by its ending, one of {', '.join(_FORMATS)}, "
        f"and .gz after it. Got {path!r}."
    )


def check_column(name: str, columns: Sequence[str], where: str) -> None:
    """Refuse a column that is not there, and say which one may be meant."""
    if name in columns:
        return
    lower = {column.lower(): column for column in columns}
    near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.7)
    hint = f" Did you mean column {lower[near[0]]!r}?" if near else ""
    shown = ", ".join(repr(column) for column in columns[:12])
    more = ", ..." if len(columns) > 12 else ""
    raise CommandError(
        f"there is no column {name!r} in {where}.{hint} Its columns are "
        f"{shown}{more or '.'}"
    )


@dataclass(frozen=True)
class DataFiles:
    """Files of one format, read one after the other.

    Attributes
    ----------
    paths : tuple of str
    format : str
    skip_bad_rows : bool
        Whether rows that cannot be read are left out.
    longest : int
        Bytes that a row may have.
    same_rows : SameRows or None
        What was read, if the files are read several times.
    skipped : list of int
        Rows left out of each file of each pass; known for CSV and TSV files.
    undecoded : list of int
        How many of them are not UTF-8.
    """

    paths: tuple[str, ...]
    format: str
    skip_bad_rows: bool = False
    longest: int = _LONGEST_ROW
    same_rows: Any = field(default=None, compare=False)
    skipped: list[int] = field(default_factory=list, compare=False)
    undecoded: list[int] = field(default_factory=list, compare=False)

    @property
    def name(self) -> str:
        """What the data is called in headings."""
        first = os.path.basename(self.paths[0])
        more = len(self.paths) - 1
        return first if not more else f"{first} and {more} more"

    @property
    def nbytes(self) -> int:
        """Size of all files."""
        return sum(os.path.getsize(path) for path in self.paths)

    @property
    def is_text(self) -> bool:
        """Whether values are written as text and have no types."""
        return self.format in ("csv", "tsv")

    @computed_once
    def connection(self) -> Any:
        """A DuckDB of its own."""
        needs("pyarrow")
        needs("duckdb")
        from bayesieve.io._duckdb import reading_connection

        return reading_connection(self.paths)

    @computed_once
    def columns(self) -> list[str]:
        """Names of the columns, the same in every file."""
        first = self._columns_of(self.paths[0])
        for path in self.paths[1:]:
            for name in first:
                check_column(name, self._columns_of(path), repr(path))
        return first

    def rows(self, columns: Sequence[str]) -> Iterator[tuple[str, int, Any]]:
        """Yield (path, rows before, Arrow batch) with these columns, as c0, c1, ...."""
        duckdb = needs("duckdb")
        for path in self.paths:
            done = 0
            reading = None
            if self.same_rows is not None:
                reading = self.same_rows.reading(repr(path), columns)
            try:
                for batch in self._batches(path, columns):
                    if reading is not None:
                        reading.add(batch.columns)
                    yield path, done, batch
                    done += batch.num_rows
            # DuckDB before 2.0 lets the latter out for a damaged Parquet file.
            except (duckdb.Error, RuntimeError) as error:
                raise self._unreadable(path, error) from None
            if reading is not None:
                reading.end()

    def _batches(self, path: str, columns: Sequence[str]) -> Iterator[Any]:
        source = self._source(path)
        if source is None:
            return
        asked = ", ".join(
            f"{self._identifier(path, name)} AS c{i}" for i, name in enumerate(columns)
        )
        from bayesieve.io import _files as texts

        if self.format == "parquet":
            texts.check_parquet(self.connection, path, columns, self.longest)
        self._forget_rejects()
        relation = self.connection.sql(f"SELECT {asked} FROM {source}")
        n_bytes = 0
        for batch in texts.record_batches(relation, _BATCH_ROWS):
            if self.is_text:
                n_bytes += sum(map(texts.value_bytes, batch.columns))
            yield batch
        if self.is_text:
            opened = functools.partial(self._stream, path)
            texts.check_last_row(path, opened, self.longest, n_bytes)
        if self.skip_bad_rows and self.is_text:
            count = (
                "SELECT count(DISTINCT line), count(DISTINCT CASE WHEN "
                "error_type = 'INVALID ENCODING' THEN line END) FROM reject_errors"
            )
            rows, undecoded = self.connection.execute(count).fetchone()
            self.skipped.append(int(rows))
            self.undecoded.append(int(undecoded))

    def _forget_rejects(self) -> None:
        """Drop what was noted of rows left out, also by a read that ended early."""
        for table in ("reject_errors", "reject_scans"):
            self.connection.execute(f"DROP TABLE IF EXISTS {table}")

    def _identifier(self, path: str, name: str) -> str:
        if self.is_text:
            return f"f{self._header(path)[0].index(name)}"
        return '"' + name.replace('"', '""') + '"'

    def _source(self, path: str) -> str | None:
        """Return the SQL that reads a file, None for a file without anything."""
        from bayesieve.io._duckdb import literal, quoted

        place = quoted(literal(path))
        if self.format == "parquet":
            return f"read_parquet({place})"
        if self._is_blank(path):
            return None
        if self.is_text:
            names, delimiter, blank = self._header(path)
            kinds = ", ".join(f"'f{i}': 'VARCHAR'" for i in range(len(names)))
            skip = (
                ", ignore_errors = true, store_rejects = true"
                if self.skip_bad_rows
                else ""
            )
            return (
                f"read_csv({place}, auto_detect = false, header = true, "
                f"skip = {blank}, delim = {quoted(delimiter)}, quote = '\"', "
                f"escape = '\"', columns = {{{kinds}}}, max_line_size = "
                f"{self.longest}, buffer_size = {max(self.longest, 1 << 20)}{skip})"
            )
        from bayesieve.io._row_bounds import refuse_deep_json

        form = "newline_delimited" if self.format == "json lines" else "auto"
        with self._stream(path) as stream:
            refuse_deep_json(stream, repr(path), by_line=form != "auto")
        skip = self.skip_bad_rows and form != "auto"
        return (
            f"read_json({place}, format = '{form}', sample_size = -1, "
            f"maximum_object_size = {self.longest}"
            f"{', ignore_errors = true' if skip else ''})"
        )

    def _columns_of(self, path: str) -> list[str]:
        source = self._source(path)
        if source is None:
            raise CommandError(f"{path!r} is empty: it has neither columns nor rows.")
        if self.is_text:
            return self._header(path)[0]
        duckdb = needs("duckdb")
        try:
            return list(self.connection.sql(f"FROM {source} LIMIT 0").columns)
        except (duckdb.Error, RuntimeError) as error:
            raise self._unreadable(path, error) from None

    @computed_once
    def _headers(self) -> dict[str, tuple[list[str], str, int]]:
        return {}

    def _header(self, path: str) -> tuple[list[str], str, int]:
        """Return the names, the delimiter and the blank lines above of a CSV file."""
        if path not in self._headers:
            self._headers[path] = self._read_header(path)
        return self._headers[path]

    def _read_header(self, path: str) -> tuple[list[str], str, int]:
        from bayesieve.io._files import HeaderError, header_row

        best: tuple[list[str], str, int] = ([], ",", 0)
        problem = None
        for delimiter in "\t" if self.format == "tsv" else ",;\t|":
            try:
                with self._stream(path) as stream:
                    blank, names = header_row(
                        stream, delimiter, self.longest, repr(path)
                    )
            except HeaderError as error:
                problem = error
                continue
            if names is not None and len(names) > len(best[0]):
                best = (names, delimiter, blank)
        if problem is not None and len(best[0]) < 2:
            raise problem
        names = [name or f"column {i + 1}" for i, name in enumerate(best[0])]
        if len(names) > _MOST_COLUMNS:
            raise CommandError(
                f"a table must have at most {_MOST_COLUMNS:,} columns. {path!r} has "
                f"{len(names):,}. Hint: svmlight files hold wide matrices."
            )
        name, times = Counter(names).most_common(1)[0] if names else ("", 0)
        if times > 1:
            raise CommandError(f"{path!r} has two columns {name!r}.")
        return names, best[1], best[2]

    def _is_blank(self, path: str) -> bool:
        with self._stream(path) as stream:
            block = stream.read(1 << 16)
            check_encoding(path, self.format, block)
            return len(block) < 1 << 16 and not block.strip()

    @contextlib.contextmanager
    def _stream(self, path: str) -> Iterator[Any]:
        pyarrow = needs("pyarrow")
        packed = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
        ending = os.path.splitext(path.lower())[1]
        try:
            with pyarrow.input_stream(path, compression=packed.get(ending)) as stream:
                yield stream
        except (OSError, EOFError) as error:
            raise CommandError(f"{path!r} cannot be read: {error}") from None

    def _unreadable(self, path: str, error: Exception) -> CommandError:
        from bayesieve.io._files import bad_json_line
        from bayesieve.io._row_bounds import oversized, too_long

        if oversized(error):
            return CommandError(str(too_long(f"a row of {path!r}", self.longest)))
        found = None
        if self.format == "json lines":
            with self._stream(path) as stream:
                found = bad_json_line(stream, self.longest)
        problem = None if found is None else f"line {found[0]:,} {found[1]}"
        return unreadable(path, self.format, error, problem, skippable=self._skippable)

    def warn_skipped(self, others: int = 0, note: str = "") -> None:
        """Tell how many rows were left out so far, with others that were."""
        left_out, undecoded = others + sum(self.skipped), sum(self.undecoded)
        if not left_out:
            return
        from bayesieve.exceptions import BadRowsWarning
        from bayesieve.utils._warnings import warn_user  # NumPy comes with it

        told = f"{left_out:,} bad {'row was' if left_out == 1 else 'rows were'} left "
        told += f"out{note}."
        if undecoded:
            told += f" Not UTF-8: {undecoded:,} of them. {convert_hint(self.format)}"
        warn_user(told, BadRowsWarning)

    @property
    def _skippable(self) -> bool:
        return not self.skip_bad_rows and self.format in ("csv", "tsv", "json lines")
