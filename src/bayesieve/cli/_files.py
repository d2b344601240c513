"""The files that a command reads, all of one format."""

from __future__ import annotations

import argparse
import glob
import math
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bayesieve.cli._command import CommandError
from bayesieve.io._near_names import near_hint
from bayesieve.io._read_options import ReadOptions
from bayesieve.utils._computed_once import computed_once

if TYPE_CHECKING:
    from bayesieve.io._bad_rows import BadRows
    from bayesieve.io._files import DataFile
    from bayesieve.io._format import Format
    from bayesieve.io._same_rows import SameRows

__all__ = ["DataFiles", "check_model_file", "expanded"]

_ZIP = b"PK\x03\x04"  # what saved counts and models begin with
_DEFAULT = ReadOptions()
_LOOKED_AT = 200  # columns; wider tables have their label at an end
_BATCH_ROWS = 1 << 13  # small, so that progress moves and Ctrl-C is heard


def check_model_file(path: str) -> None:
    """Refuse what cannot be a saved model, before anything heavy is loaded."""
    if not os.path.exists(path):
        near = near_hint(path, [os.path.splitext(path)[1].lower()])
        raise CommandError(f"there is no model {path!r}.{near}")
    if os.path.isdir(path):
        raise CommandError(f"{path!r} is a folder, and a model is a file.")
    if not os.path.isfile(path):  # opening a pipe would wait for its writer
        raise CommandError(f"{path!r} is a stream, and a model is a file.")
    if not _is_archive(path):
        raise CommandError(
            f"{path!r} is no saved model. Hint: bayesieve select DATA --save MODEL "
            "writes one."
        )


def _is_archive(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(_ZIP)) == _ZIP


def expanded(patterns: Sequence[str]) -> list[str]:
    """Return the files that paths and globs name, without a word on what is missing."""
    found: list[str] = []
    for pattern in map(os.path.expanduser, patterns):
        if os.path.isfile(pattern):
            found.append(pattern)
        elif glob.has_magic(pattern):
            found += filter(os.path.isfile, glob.glob(pattern, recursive=True))
    return found


class DataFiles:
    """Files of one format, read one after the other; saved counts have `format` None.

    They are read as `options` say; rows that cannot be read may be left out. With
    `as_bytes` nobody looks into them: each is a row of bytes.

    Attributes
    ----------
    paths : list of str
        Without the files that were left out.
    unreadable : dict of str to str
        Files of sequences that could not be opened, and why, where bad rows are left
        out.
    """

    def __init__(
        self,
        patterns: Sequence[str],
        *,
        skip_bad_rows: bool = False,
        options: ReadOptions = _DEFAULT,
        as_bytes: bool = False,
    ) -> None:
        from bayesieve.io._files import find_files, open_files
        from bayesieve.io._sequences import Bytes

        self.paths = find_files(patterns)
        self.skip_bad_rows, self.options = skip_bad_rows, options
        self.unreadable: dict[str, str] = {}
        self._files: list[DataFile] = []
        if as_bytes:
            self.format: Format | None = Bytes()
            return
        formats: dict[Format | None, str] = {}
        if skip_bad_rows:
            self._leave_out_unopened()
        self._files = open_files(self.paths, options=options)
        for file in self._files:
            formats.setdefault(None if file.is_saved else file.format, file.path)
        if len(formats) > 1:
            a, b = list(formats.values())[:2]
            raise CommandError(
                "files that are read together must be of one format. Got "
                f"{a!r} and {b!r}."
            )
        self.format = next(iter(formats))

    @classmethod
    def of(cls, arguments: argparse.Namespace, *, as_bytes: bool = False) -> DataFiles:
        """Return the files that a command was given."""
        options = ReadOptions(
            encoding=arguments.encoding,
            sep=arguments.sep,
            header=not arguments.no_header,
            sheet=arguments.sheet,
            longest=arguments.max_row_bytes,
        )
        skip = arguments.skip_bad_rows
        return cls(
            arguments.data, skip_bad_rows=skip, options=options, as_bytes=as_bytes
        )

    def _leave_out_unopened(self) -> None:
        """A file of sequences may be a row, and one that cannot be opened a bad one."""
        from bayesieve.io._files import format_of, open_files

        for path in self.paths:
            named = format_of(path)
            if named is not None and named.is_sequences:
                try:
                    open_files([path], options=self.options)
                except (ValueError, OSError) as error:
                    self.unreadable[path] = str(error)
        self.keep_only([own for own in self.paths if own not in self.unreadable])

    def keep_only(self, paths: Sequence[str]) -> None:
        """Do without the other files; there must be one that can be read."""
        if not paths and self.unreadable:
            first = next(iter(self.unreadable.values()))
            raise CommandError(
                f"no file of {len(self.unreadable):,} can be read. The first: {first}"
            )
        kept = set(paths)
        self.paths = list(paths)
        self._files = [file for file in self._files if file.path in kept]

    @property
    def name(self) -> str:
        """What the data is called in headings."""
        first = os.path.basename(self.paths[0])
        more = len(self.paths) - 1
        return first if not more else f"{first} and {more} more"

    @property
    def is_saved(self) -> bool:
        """Whether the files are saved counts or models."""
        return self.format is None

    @property
    def is_matrix(self) -> bool:
        """Whether the files hold matrices."""
        return self.format is not None and self.format.is_matrix

    @property
    def is_sequences(self) -> bool:
        """Whether the files hold sequences, or are taken as bytes."""
        return self.format is not None and self.format.is_sequences

    @property
    def is_dna(self) -> bool:
        """Whether they are FASTA or FASTQ."""
        return self.is_sequences and bool(self._files)

    @property
    def is_text(self) -> bool:
        """Whether values are written as text and have no types."""
        return self.format is not None and self.format.is_text

    @property
    def most_bytes(self) -> float:
        """Bytes that columns take in memory at most; infinite for packed files."""
        form = self.format
        if form is None or not form.is_text:
            return math.inf
        if any(file.is_packed for file in self._files):
            return math.inf
        return 5.0 * sum(file.size for file in self._files)  # values and their ends

    @property
    def notes(self) -> list[str]:
        """What was guessed or changed in the files read so far, each sentence once."""
        return list(dict.fromkeys(note for own in self._files for note in own.notes))

    @computed_once
    def columns(self) -> list[str]:
        """Names of the columns, the same in every file."""
        for file in self._files:
            if not file.columns:
                raise CommandError(
                    f"{file.path!r} is empty: it has neither columns nor rows."
                )
            file.check_columns(self._files[0].columns)
        return self._files[0].columns

    def refuse_other_columns(self) -> None:
        """Stop at a column that the first file lacks: nobody would hear of it."""
        first = self._files[0]
        for file in self._files[1:]:
            for name in file.columns:
                if name not in first.columns:
                    raise CommandError(
                        "tables that are read together must have the same columns. "
                        f"Got {name!r} in {file.path!r}, which {first.path!r} lacks."
                    )

    def sample(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """Return the first rows of some columns; of very many those at both ends."""
        from bayesieve.io._roles import SAMPLE_ROWS

        if len(names) > _LOOKED_AT:
            half = _LOOKED_AT // 2
            names = [*names[:half], *names[-half:]]
        for _, _, batch in self.rows(names):
            if batch.num_rows:  # a file may have a header only
                part = batch.slice(0, SAMPLE_ROWS)
                columns = (part.column(i).to_pylist() for i in range(len(names)))
                return dict(zip(names, columns, strict=True))
        told = "has no rows that can be read" if self.skip_bad_rows else "has no rows"
        raise CommandError(f"{self.paths[0]!r} {told}.")

    def whole_table(self) -> tuple[Any, list[str], int]:
        """Return all columns as an Arrow table, notes on it, and the bad rows."""
        from bayesieve.io._inspect import read_whole

        return read_whole(self._files)

    def has_mixed_values(self, name: str) -> bool:
        """Whether a column of JSON files holds values of several kinds."""
        return any(file.types.get(name) == "JSON" for file in self._files)

    def rows(
        self,
        columns: Sequence[str],
        bad_rows: BadRows | None = None,
        same_rows: SameRows | None = None,
    ) -> Iterator[tuple[str, int, Any]]:
        """Yield (path, rows before, Arrow batch) with these columns: one pass."""
        from bayesieve.io._bad_rows import BadRows

        bad_rows = bad_rows or BadRows(self.skip_bad_rows)
        for file in self._files:
            done, reading = 0, None
            if same_rows is not None:
                reading = same_rows.reading(repr(file.path), columns)
            for batch in file.batches(columns, bad_rows, rows=_BATCH_ROWS):
                if reading is not None:
                    reading.add(batch.columns)
                yield file.path, done, batch
                done += batch.num_rows
            if reading is not None:
                reading.end()

    def matrices(self, bad_rows: BadRows) -> Iterator[tuple[str, Any, Any]]:
        """Yield (path, sparse matrix, labels) of files that hold matrices."""
        for file in self._files:
            for X, y in file.matrices(bad_rows):
                yield file.path, X, y
