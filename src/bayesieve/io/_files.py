"""Files on this machine: found by their names, opened by their formats."""

from __future__ import annotations

import codecs
import glob
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from bayesieve.io._arrow import Arrow
from bayesieve.io._bad_rows import BadRows
from bayesieve.io._containers import (
    PACKED_ENDINGS,
    UNPACKING_ERRORS,
    Packed,
    holds_no_data,
    holds_sequences,
    looked_into,
    without_packing,
)
from bayesieve.io._csv import Csv, Text, Tsv, csv_label
from bayesieve.io._duckdb import (
    needs,
    reading_connection,
    reading_errors,
    refuse_address,
)
from bayesieve.io._encodings import (
    Decoding,
    LineKinds,
    NewEncodingError,
    found_encoding,
    looks_like_utf8,
    utf8_blocks,
)
from bayesieve.io._excel import Excel
from bayesieve.io._format import Format
from bayesieve.io._headers import tidy_names
from bayesieve.io._json import Json, JsonLines
from bayesieve.io._near_names import check_column, near_hint
from bayesieve.io._parquet import Parquet
from bayesieve.io._read_options import ReadOptions
from bayesieve.io._sequences import Sequences
from bayesieve.io._svmlight import Svmlight, svmlight_batches
from bayesieve.io._temporary import TemporaryFiles
from bayesieve.utils._computed_once import computed_once

__all__ = [
    "BATCH_ROWS",
    "FORMATS",
    "STANDARD_INPUT",
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
    *(Csv(), Tsv(), JsonLines(), Json(), Parquet(), Arrow(), Excel(), Text()),
    *(Svmlight(), Sequences()),
)
BATCH_ROWS = 1 << 16
#: Where rows come from that another program writes.
STANDARD_INPUT = "-"
_DEFAULT = ReadOptions()
_BY_NAME = {own.name: own for own in FORMATS}


# ------------------------------------------------------------------------------- names


def format_of(path: str) -> Format | None:
    """Return the format that the name of a file tells, if it does."""
    ending = os.path.splitext(without_packing(path))[1]
    return next((own for own in FORMATS if ending in own.endings), None)


def unknown_format(path: str, hint: str = "") -> ValueError:
    """The error for a file whose format neither name nor content tells."""
    endings = ", ".join(ending for own in FORMATS for ending in own.endings)
    packed = ", ".join(PACKED_ENDINGS)
    return ValueError(
        f"The format of a file is told by its ending, one of {endings}, and {packed} "
        f"after it. Got {path!r}, whose content tells none either.{hint}"
    )


def find_files(patterns: Iterable[str], hint: str = "") -> list[str]:
    """Return the files that paths and globs name, each once.

    `hint` goes with the error for a path that is not there and like no other.
    """
    found: list[str] = []
    for pattern in patterns:
        found += _matches(os.path.expanduser(pattern), hint)
    seen: dict[str, str] = {}
    for path in found:
        place = os.path.realpath(path)
        if place in seen:
            told = f"{path!r} more than once"
            if os.path.abspath(seen[place]) != os.path.abspath(path):
                told = f"{seen[place]!r} and {path!r}, which lead to the same file"
            raise ValueError(f"Each file can be read once. Got {told}.")
        seen[place] = path
    return found


def _matches(pattern: str, hint: str) -> list[str]:
    if os.path.isfile(pattern) or pattern == STANDARD_INPUT:
        return [pattern]
    refuse_address(pattern)
    if os.path.isdir(pattern):
        raise IsADirectoryError(
            f"{pattern!r} is a folder. Hint: a glob such as {_glob_of(pattern)!r} "
            "names the files in it."
        )
    if os.path.exists(pattern):
        raise ValueError(
            f"{pattern!r} is a stream, and data must be in files, which may be read "
            "more than once. Hint: - reads a table from standard input, and keeps a "
            "copy; sequences must be in files, packed or not."
        )
    if glob.has_magic(pattern):
        found = [p for p in glob.glob(pattern, recursive=True) if os.path.isfile(p)]
        if found:
            return sorted(found)
        raise FileNotFoundError(f"No file matches {pattern!r}.")
    if os.path.islink(pattern):
        target = os.path.realpath(pattern)
        raise FileNotFoundError(
            f"The link {pattern!r} leads to {target!r}, which is not there."
        )
    endings = [ending for own in FORMATS for ending in own.endings]
    near = near_hint(pattern, [*endings, *PACKED_ENDINGS])
    raise FileNotFoundError(f"There is no file {pattern!r}.{near or hint}")


def _glob_of(folder: str) -> str:
    """A glob for most of the files of a folder, or else of the folders in it."""
    for inner in ("*", os.path.join("*", "*")):
        found = islice(glob.iglob(os.path.join(glob.escape(folder), inner)), 1000)
        endings = Counter(_whole_ending(path) for path in found if format_of(path))
        if endings:
            ending = endings.most_common(1)[0][0]
            return os.path.join(folder, f"{inner}{ending}")
    return os.path.join(folder, "*.csv")


def _whole_ending(path: str) -> str:
    """What tells the format of a file, and how it is packed."""
    stem = os.path.splitext(without_packing(path))[0]
    return os.path.basename(path)[len(os.path.basename(stem)) :]


# ------------------------------------------------------------------------------- files


class Reader:
    """The DuckDB that reads the files of one job, and reaches nothing else.

    Copies of files that it cannot read as they are go when it does.
    """

    def __init__(self, paths: Iterable[str], threads: int | None = None) -> None:
        self._paths, self._threads = paths, threads
        self.temporary = TemporaryFiles()

    @computed_once
    def connection(self) -> Any:
        """A database of its own, in memory."""
        return reading_connection(
            self._paths, self._threads, folder=self.temporary.folder
        )


class DataFile:
    """A file whose columns have names, read as the options say.

    Attributes
    ----------
    path : str
        What the user calls it; standard input is "-".
    format : Format or None
        Told by its content where that is clear, else by its name; None for counts and
        models that were saved.
    notes : list of str
        Sentences on what was guessed or changed, each once.
    types : dict of str to str
        SQL types of the columns, for formats that have to look for them.
    layout : object
        What its format has found out about it.
    """

    def __init__(
        self, path: str, reader: Reader, options: ReadOptions = _DEFAULT
    ) -> None:
        self.path, self.options, self._reader = path, options, reader
        self.notes: list[str] = []
        self.types: dict[str, str] = {}
        self.layout: Any = None
        self._decoding: Decoding | None = None
        self._line_kinds: LineKinds | None = None
        self._readable: tuple[str, str | None] | None = None
        place = path
        if path == STANDARD_INPUT:
            place = reader.temporary.written(_standard_input(), "standard input")
        self._packed = looked_into(place, repr(path))
        self._format = self._told_format()

    @property
    def format(self) -> Format:
        """What kind of file it is."""
        if self._format is None:
            raise ValueError(f"{self.path!r} holds counts or a model, not rows.")
        return self._format

    @property
    def is_saved(self) -> bool:
        """Whether it holds counts or a model, and no rows."""
        return self._format is None

    @property
    def longest(self) -> int:
        """Bytes that a row may have."""
        return self.options.longest

    @property
    def size(self) -> int:
        """Bytes of the file as it lies there."""
        return os.path.getsize(self._packed.path)

    @property
    def is_packed(self) -> bool:
        """Whether its rows may take much more than its bytes."""
        return self._packed.kind is not None

    def note(self, sentence: str) -> None:
        """Keep a sentence on what was guessed or changed, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def unique_names(self, names: Sequence[str]) -> list[str]:
        """Return names that differ, and note which were changed."""
        tidy, changes = tidy_names(names)
        if changes:
            some = ", ".join(changes[:5]) + (", ..." if len(changes) > 5 else "")
            self.note(
                f"Columns of {self.path!r} have the same name: {some}; --no-header "
                "calls all by their places."
            )
        return tidy

    # ---------------------------------------------------------------------- format

    def _told_format(self) -> Format | None:
        """Return the format by content, or else by name; note where they differ."""
        named, packed, path = format_of(self.path), self._packed, self.path
        if packed.content == "damaged zip":
            if named is None:
                return None  # told when it is loaded
            raise ValueError(f"{path!r} begins as a zip archive does, and is damaged.")
        if packed.content == "saved":
            if named is not None:
                raise ValueError(
                    f"{path!r} holds counts or a model that were saved, and is named "
                    "as data. Hint: give it another ending."
                )
            return None
        if packed.content is not None:
            found = _BY_NAME[packed.content]
            if named is not found and path != STANDARD_INPUT:
                self.note(f"{path!r} is read as {found.told}, which it holds.")
            return found
        ending = os.path.splitext(path.lower().strip())[1]
        if PACKED_ENDINGS.get(ending) != packed.kind and packed.head:
            how = f"packed by {packed.kind}" if packed.kind else "not packed"
            self.note(f"{path!r} is {how}, unlike its name, and is read so.")
        if named is None and packed.member is not None:
            named = format_of(packed.member)
        other = holds_no_data(packed.head)
        if other and (named is None or named.name != "txt"):
            raise ValueError(f"{path!r} is {other}, not a table.")
        if named is None and holds_sequences(packed.head):
            return _BY_NAME["fasta"]
        if named is not None and named.is_encoded:
            seems = _json_format(packed)
            if seems is None or named.name in ("json", "svmlight", seems.name):
                return named
            self.note(f"{path!r} is read as {seems.told}, which it holds.")
            return seems
        seems = _text_format(packed, named)
        if seems is None:
            if named is None:
                raise unknown_format(path)
            return named
        self.note(f"{path!r} is read as {seems.told}, which it seems to hold.")
        return seems

    # ------------------------------------------------------------------------ bytes

    @property
    def decoding(self) -> Decoding:
        """The encoding of a text file, as said or found."""
        if self._decoding is None:
            if self.options.encoding is not None:
                self._decoding = Decoding(self.options.encoding)
            elif looks_like_utf8(self._packed.open, self.size, self.is_packed):
                self._decoding = Decoding("utf-8")
            else:
                self._find_encoding()
        assert self._decoding is not None
        return self._decoding

    def _find_encoding(self) -> None:
        """Look at all lines of a file that is not UTF-8, and note what they are."""
        found, kinds = found_encoding(self._packed.open)
        self._decoding, self._line_kinds, self._readable = found, kinds, None
        if self.format.is_matrix and not found.is_utf8 and kinds is not None:
            self._decoding = Decoding("utf-8")  # it holds numbers, and comments
        elif not found.is_utf8:
            told = f"{self.path!r} is read as {found.told}{found.doubt}"
            self.note(f"{told}; --encoding changes it.")
        elif kinds is not None:
            self.note(
                f"{self.path!r} holds lines of several encodings: {kinds.valid:,} with "
                f"characters beyond ASCII are UTF-8, and {kinds.invalid:,} are not, "
                f"line {kinds.first_invalid:,} first; --encoding reads all as one."
            )

    def not_decoded(self) -> str:
        """Say what is wrong with a line whose bytes are no characters.

        Where such a line comes late, all lines are looked at for the encoding, and
        another one than so far begins the reading anew (`NewEncodingError`).
        """
        if self.decoding.is_utf8 and self._line_kinds is None:
            if self.options.encoding is not None:
                return f"it is not {self.decoding.told}"
            self._find_encoding()
            if not self.decoding.is_utf8:
                raise NewEncodingError
        kinds = self._line_kinds
        if kinds is None or not self.decoding.is_utf8:
            return f"it is not {self.decoding.told}"
        lines = "line is" if kinds.valid == 1 else "lines are"
        return (
            f"it is not UTF-8, while {kinds.valid:,} other {lines} that have "
            f"characters beyond ASCII; it may be {kinds.others.told}"
        )

    @property
    def readable(self) -> tuple[str, str | None]:
        """A file that DuckDB can read, and how it is packed: this one, or a copy."""
        if self._readable is None:
            self._readable = self._made_readable()
        return self._readable

    def _made_readable(self) -> tuple[str, str | None]:
        packed = self._packed
        if not self.format.is_encoded:
            if packed.kind is None:
                return packed.path, None
            return self._copied("utf-8", decode=False), None
        decoding = self.decoding
        marked = decoding.encoding == "utf-8-sig" and not self.format.is_text
        if not decoding.is_utf8 or marked:
            return self._copied(decoding.encoding), None
        if not packed.is_read_by_duckdb:
            return self._copied("utf-8", decode=False), None
        return packed.path, packed.kind

    def _copied(self, encoding: str, *, decode: bool = True) -> str:
        with self._packed.open() as stream:
            if decode:
                blocks = utf8_blocks(stream, encoding)
            else:
                blocks = iter(partial(stream.read, 1 << 20), b"")
            return self._reader.temporary.written(blocks, repr(self.path))

    def stream(self) -> Any:
        """Open the file, unpacked and in UTF-8."""
        path, compression = self.readable
        return needs("pyarrow").input_stream(path, compression=compression)

    # ------------------------------------------------------------------------- rows

    @property
    def connection(self) -> Any:
        """The DuckDB that may read the file."""
        return self._reader.connection

    @computed_once
    def columns(self) -> list[str]:
        """Names of the columns; none for an empty file."""
        try:
            return self._again(self.format.columns)
        except self._errors as error:
            raise self.format.unreadable(self, error) from None

    def _again(self, look: Callable[[DataFile], list[str]]) -> list[str]:
        try:
            return look(self)
        except NewEncodingError:
            return look(self)

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
        done = 0
        try:
            try:
                for batch in self.format.batches(
                    self, names, bad_rows, types or {}, rows
                ):
                    yield batch
                    done += batch.num_rows
            except NewEncodingError:  # the rows so far were of ASCII
                again = self.format.batches(self, names, bad_rows, types or {}, rows)
                yield from _after(again, done)
        except self._errors as error:
            raise self.format.unreadable(self, error) from None

    def matrices(self, bad_rows: BadRows) -> Iterator[tuple[Any, Any]]:
        """Yield (sparse matrix, labels) of a file that holds a matrix."""
        try:
            yield from svmlight_batches(self, bad_rows)
        except self._errors as error:
            raise self.format.unreadable(self, error) from None

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        return *reading_errors(), *UNPACKING_ERRORS

    def check_columns(
        self, names: Iterable[str], columns: Sequence[str] | None = None
    ) -> None:
        """Refuse names that are no columns of the file."""
        columns = self.columns if columns is None else columns
        known = set(columns)
        for name in names:
            if name not in known:
                check_column(name, columns, repr(self.path))


def _after(batches: Iterator[Any], done: int) -> Iterator[Any]:
    """Yield batches without their first rows."""
    for batch in batches:
        left, done = batch.slice(done), max(0, done - batch.num_rows)
        if left.num_rows:
            yield left


def _text_format(packed: Packed, named: Format | None) -> Format | None:
    """Return another format that a text seems to be of, if it is a text."""
    if not packed.looks_like_text:
        return None
    head = packed.head.removeprefix(codecs.BOM_UTF8).lstrip(b"\xff\xfe\0 \t\r\n")
    if head.startswith((b"{", b"[")):
        return _BY_NAME["jsonl" if head.startswith(b"{") else "json"]
    if named is not None and named.is_sequences and head.startswith((b">", b"@", b";")):
        return None  # a header, whatever is in it
    lines = head.splitlines()
    return _BY_NAME["csv"] if lines and re.search(rb"[,;\t|]", lines[0]) else None


def _json_format(packed: Packed) -> Format | None:
    """Return the format of a text that begins as JSON does, and as nothing else."""
    head = packed.head.removeprefix(codecs.BOM_UTF8).strip()
    if re.match(rb"\[\s*\{", head):
        return _BY_NAME["json"]
    try:
        found = json.loads(head.splitlines()[0]) if head.startswith(b"{") else None
    except (ValueError, RecursionError):
        return None
    return _BY_NAME["jsonl"] if isinstance(found, dict) else None


def _standard_input() -> Iterator[bytes]:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None or sys.stdin.isatty():
        raise ValueError(
            "Standard input (-) must come from a file or another program. Hint: "
            "other-program | bayesieve ... -"
        )
    yield from iter(partial(stream.read, 1 << 20), b"")


def open_files(
    paths: Sequence[str],
    threads: int | None = None,
    options: ReadOptions = _DEFAULT,
) -> list[DataFile]:
    """Return files that share one reader."""
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
        return self.file.size

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
