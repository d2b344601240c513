"""`ClassCounts.from_sequences` and `from_bytes`: counts of the windows of files."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, nullcontext
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bayesieve import _core
from bayesieve.counts import _layout
from bayesieve.counts._checkpoint import Checkpoint, file_state
from bayesieve.counts._copies import Copies
from bayesieve.counts._selection import check_limits, least_documents
from bayesieve.io._bad_rows import BadRows
from bayesieve.io._files import find_files
from bayesieve.io._labels import LabelCodes, is_missing, sort_order
from bayesieve.sequences._key_names import KeyNames
from bayesieve.sequences._reading import Piece, read_pieces
from bayesieve.sequences._rows import row_pieces
from bayesieve.sequences._spelling import Spelling
from bayesieve.utils._arrays import Array
from bayesieve.utils._progress import ProgressBar
from bayesieve.utils._resources import check_memory_budget, thread_count
from bayesieve.utils._whole_files import whole_file

if TYPE_CHECKING:
    from bayesieve.counts._table import ClassCounts

__all__ = ["SequenceSource", "count_rows", "folder_of_file", "names_of_file"]

#: Rows of a file are numbered from this times its own number: no two rows are one.
_ROWS_OF_A_FILE = 1 << 40


class SequenceSource:
    """Files whose windows are counted, and can be read again for their rows.

    Parameters
    ----------
    paths, labels, records, classes
        As in `ClassCounts.from_sequences`.
    spelling : Spelling
    owner : str
        For messages.
    """

    def __init__(
        self,
        paths: Any,
        labels: Any,
        spelling: Spelling,
        *,
        records: bool = False,
        classes: Any = None,
        owner: str,
    ) -> None:
        self.paths = find_files([os.fspath(path) for path in _listed(paths, owner)])
        self._labels, self._records, self._classes = labels, records, classes
        self._spelling, self._owner = spelling, owner

    def _rows(self, classes: Any) -> _FileLabels | _RecordLabels:
        if self._records:
            return _RecordLabels(self._labels, classes, self._owner)
        return _FileLabels(self.paths, self._labels, classes, self._owner)

    def count(
        self,
        cls: type[ClassCounts],
        *,
        binary: bool,
        merge_copies: bool,
        min_df: float = 1,
        checkpoint: Any = None,
        memory_budget: int | None = None,
        spill_folder: Any = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> ClassCounts:
        """Count the windows of files; see `ClassCounts.from_sequences`."""
        check_memory_budget(memory_budget)
        check_limits(min_df, 1.0, None)
        if min_df != 1 and not binary:
            raise ValueError(
                f"The 'min_df' parameter of {self._owner} needs binary=True, because "
                "counts of occurrences do not tell rows. Got "
                f"min_df={min_df!r}."
            )
        found, rows, spelling = self.paths, self._rows(self._classes), self._spelling

        def new_counter() -> Any:
            return _core.KeyCounter(
                *spelling.settings,
                binary,
                thread_count(n_jobs),
                int(memory_budget or 0),
                _spill_path(spill_folder),
            )

        size = sum(map(os.path.getsize, found))
        bar = ProgressBar("Counting", size) if progress else None
        with nullcontext() if bar is None else closing(bar):
            counting = _Counting(found, rows, spelling, new_counter, bar)
            if checkpoint is None:
                counter = counting.all_files()
            else:
                settings = {
                    "windows": list(spelling.settings),
                    "binary": bool(binary),
                    "records": bool(self._records),
                    **rows.fixed(),
                }
                parts = _KeyParts(new_counter)
                counter = counting.kept_in(Checkpoint(parts, checkpoint, settings))
        classes, order = sort_order(rows.codes.labels)
        return _finished(
            cls, counter, classes, order, spelling, binary, merge_copies, min_df
        )

    def read_again(self, classes: Array) -> Iterator[tuple[list[Piece], Array]]:
        """Yield the pieces of each file, and the classes of the rows in it."""
        rows = self._rows(classes)
        for number, path in enumerate(self.paths):
            pieces = list(read_pieces(path, self._spelling, records=self._records))
            codes = [rows.codes_of(number, piece) for piece in pieces]
            yield pieces, np.concatenate(codes)


def count_rows(
    cls: type[ClassCounts],
    rows: Any,
    codes: Array,
    classes: Array,
    spelling: Spelling,
    *,
    binary: bool,
    merge_copies: bool,
    memory_budget: int | None,
    n_jobs: int | None,
) -> ClassCounts:
    """Count the windows of rows in memory, or of files where a row is a path."""
    counter = _core.KeyCounter(
        *spelling.settings,
        binary,
        thread_count(n_jobs),
        int(memory_budget or 0),
        _spill_path(None),
    )
    first = 0
    with closing(row_pieces(rows, spelling)) as pieces:
        for piece in pieces:
            begin = first - (1 if piece.goes_on else 0)
            first = begin + piece.starts.size
            prints = _random_numbers(np.arange(begin, first, dtype=np.uint64))
            own = np.ascontiguousarray(codes[begin:first], dtype=np.int32)
            counter.add(piece.symbols, piece.starts, own, prints, piece.goes_on)
    order = np.arange(classes.size)
    return _finished(cls, counter, classes, order, spelling, binary, merge_copies, 1)


def _finished(
    cls: type[ClassCounts],
    counter: Any,
    classes: Array,
    order: Array,
    spelling: Spelling,
    binary: bool,
    merge_copies: bool,
    min_df: float,
) -> ClassCounts:
    """The counts of a counter; class `i` has the code ``order[i]`` in it."""
    n_rows = counter.class_rows().astype(np.float64)
    if not n_rows.sum():
        raise ValueError("There must be at least one row to count. Got none.")
    class_count = np.zeros(classes.size)
    class_count[: n_rows.size] = n_rows
    class_count = class_count[order]
    row_of = np.empty(classes.size, dtype=np.int32)
    row_of[order] = np.arange(classes.size)
    least = least_documents(min_df, int(n_rows.sum()))
    limits = (row_of, _layout.DENSE_CELLS, least)
    copies = None
    if merge_copies:
        keys, group, first, tables = counter.finish_groups(*limits)
        names = KeyNames(keys[first], spelling)
        every = KeyNames(keys, spelling)
        every.__dict__["is_sorted"] = True
        copies = Copies(every, group)
    else:
        keys, tables = counter.finish(*limits)
        names = KeyNames(keys, spelling)
    names.__dict__["is_sorted"] = True
    if not len(names):
        raise ValueError(
            f"There must be at least one feature to count. Got none: no row has "
            f"{spelling.length} {'bases' if spelling.is_dna else 'bytes'} in a row, or "
            "min_df leaves nothing."
        )
    if len(tables) == 1:
        table: Any = tables[0]
    else:
        values, codes, start = tables
        shape = (classes.size, len(names))
        table = sparse.csc_array((values, codes, start), shape=shape)
    return cls._of(
        classes,
        class_count,
        "binary" if binary else "count",
        feature_count=table,
        feature_names=names,
        copies=copies,
    )


def _listed(paths: Any, owner: str) -> list[Any]:
    listed = [paths] if isinstance(paths, str | os.PathLike) else paths
    try:
        listed = list(listed)
    except TypeError:
        listed = None
    if not listed or not all(isinstance(path, str | os.PathLike) for path in listed):
        got = "an empty list" if listed == [] else type(paths).__name__
        raise TypeError(
            f"The 'paths' parameter of {owner} must be a path, a glob or a list of "
            f"them. Got {got}."
        )
    return listed


def _spill_path(folder: Any) -> str:
    folder = tempfile.gettempdir() if folder is None else os.fspath(folder)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"The spill_folder must be there. Got {folder!r}.")
    return os.path.join(folder, f"bayesieve-{secrets.token_hex(8)}.spill")


# --------------------------------------------------------------------------- counting


class _Counting:
    """Reads files one after the other into a counter."""

    def __init__(
        self,
        paths: list[str],
        rows: _FileLabels | _RecordLabels,
        spelling: Spelling,
        new_counter: Callable[[], Any],
        bar: ProgressBar | None,
    ) -> None:
        self._paths, self._rows, self._spelling = paths, rows, spelling
        self._new_counter = new_counter
        self._bar = bar
        self._before = 0  # bytes of the files that are done

    def all_files(self) -> Any:
        """Return a counter with all files."""
        counter = self._new_counter()
        for number in range(len(self._paths)):
            self._count(counter, number)
        return counter

    def kept_in(self, checkpoint: Checkpoint[Any]) -> Any:
        """Return a counter with all files, whose counts are kept on disk."""
        counter = self._new_counter()
        nothing = BadRows(skip=False)
        with checkpoint:
            done = checkpoint.resume(self._paths)
            for number, path in enumerate(self._paths):
                if path in done:
                    self._leave_behind(path)
                    continue
                before = file_state(path)
                self._count(counter, number)
                checkpoint.note(path, before)
                if checkpoint.is_time():
                    checkpoint.save(counter, nothing)
                    counter = self._new_counter()
            if checkpoint.has_notes:
                checkpoint.save(counter, nothing)
            return checkpoint.result(nothing)

    def _count(self, counter: Any, number: int) -> None:
        path = self._paths[number]
        first = number * _ROWS_OF_A_FILE  # of the rows of this file
        code = np.empty(0, dtype=np.int32)
        pieces = read_pieces(
            path, self._spelling, records=self._rows.are_records, told=self._told
        )
        with closing(pieces):
            for piece in pieces:
                new = self._rows.codes_of(number, piece)
                codes = np.concatenate([code[-1:], new]) if piece.goes_on else new
                last = first + codes.size - (1 if piece.goes_on else 0)
                begins = first - 1 if piece.goes_on else first
                prints = _random_numbers(np.arange(begins, last, dtype=np.uint64))
                counter.add(piece.symbols, piece.starts, codes, prints, piece.goes_on)
                first = last
                if codes.size:
                    code = codes
        self._leave_behind(path)

    def _told(self, done: int) -> None:
        if self._bar is not None:
            self._bar.update(self._before + done)

    def _leave_behind(self, path: str) -> None:
        self._before += os.path.getsize(path)
        self._told(0)


def _random_numbers(rows: Array) -> Array:
    """A number of 64 bits for each row, as if drawn at random (splitmix64)."""
    x = rows + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


class _KeyParts:
    """Parts of a checkpoint that are sorted files of the compiled core."""

    ending = "keys"

    def __init__(self, new_counter: Callable[[], Any]) -> None:
        self._new_counter = new_counter

    def save(self, counts: Any, path: Path) -> None:
        """Write what was counted to a file, atomically."""
        with whole_file(path) as beside:
            counts.write(os.fspath(beside))

    def merged(self, paths: list[Path]) -> Any:
        """Return a counter with the counts of files, which it reads in parts."""
        counter = self._new_counter()
        for path in paths:
            try:
                counter.attach(os.fspath(path))
            except ValueError as error:
                raise ValueError(
                    f"{os.fspath(path)!r} must be a file of counts of this checkpoint; "
                    f"{error}. Hint: remove the folder to start over."
                ) from None
        return counter

    def load(self, path: Path) -> Any:
        """Return a counter with the counts of a file."""
        return self.merged([path])


# --------------------------------------------------------------------------- labels


class _FileLabels:
    """The label of each file."""

    are_records = False

    def __init__(self, paths: list[str], labels: Any, classes: Any, owner: str) -> None:
        self._values = list(_file_labels(paths, labels, owner))
        missing = [is_missing(value) for value in self._values]
        present = [v for v, gone in zip(self._values, missing, strict=True) if not gone]
        if not present:
            raise ValueError("There must be at least one row to count. Got none.")
        self.codes = LabelCodes(classes)
        codes = self.codes.encode(present)
        # Sorted from the start, so that codes are the same in every run.
        if classes is None:
            self.codes = LabelCodes(sort_order(self.codes.labels)[0])
            codes = self.codes.encode(present)
        self._codes = np.full(len(self._values), -1, dtype=np.int32)
        self._codes[~np.array(missing)] = codes

    def codes_of(self, number: int, piece: Piece) -> Array:
        """Return the codes of the rows that begin in a piece of a file."""
        begin = piece.starts.size - (1 if piece.goes_on else 0)
        return np.full(begin, self._codes[number], dtype=np.int32)

    def fixed(self) -> dict[str, Any]:
        """What must be the same in all runs of one checkpoint."""
        told = json.dumps([str(value) for value in self._values]).encode()
        labels = hashlib.sha256(told).hexdigest()
        return {"classes": self.codes.labels, "labels": labels}


class _RecordLabels:
    """The label of each record, by its header or in order."""

    are_records = True

    def __init__(self, labels: Any, classes: Any, owner: str) -> None:
        if labels is None:
            raise ValueError(
                f"The 'labels' parameter of {owner} must be given with records=True: "
                "an array, a mapping or a function of headers. Got None."
            )
        self._classes = classes
        self._label_of: Callable[[str], Any] | None = None
        self._in_order: Iterator[Any] | None = None
        known = classes
        if callable(labels):
            self._label_of = labels
        elif _is_mapping(labels):
            table = dict(labels.items())
            self._label_of = lambda header: _looked_up(
                table, [header, header.split()[0] if header.split() else ""], owner
            )
            values = [value for value in table.values() if not is_missing(value)]
            known = _distinct(values) if classes is None else classes
        else:
            values = _label_list(labels, owner)
            self._n_labels = len(values)
            self._in_order = iter(values)
            present = [value for value in values if not is_missing(value)]
            known = _distinct(present) if classes is None else classes
        self._known = known is not None
        self.codes = LabelCodes(known)
        self._seen = 0

    def codes_of(self, number: int, piece: Piece) -> Array:
        """Return the codes of the rows that begin in a piece of a file."""
        if not piece.names:
            return np.empty(0, dtype=np.int32)
        if self._label_of is not None:
            values = [self._label_of(name) for name in piece.names]
        else:
            assert self._in_order is not None
            values = list(islice(self._in_order, len(piece.names)))
            self._seen += len(piece.names)
            if len(values) < len(piece.names):
                raise ValueError(
                    "There must be one label for each record. Got "
                    f"{self._n_labels:,} labels and at least {self._seen:,} records."
                )
        return self.codes.encode(values).astype(np.int32)

    def fixed(self) -> dict[str, Any]:
        """What must be the same in all runs of one checkpoint."""
        if not self._known or self._in_order is not None:
            raise ValueError(
                "A checkpoint of records needs labels by header, and 'classes' with a "
                "function: what a file counts must not depend on the files before."
            )
        return {"classes": self.codes.labels}


def _distinct(values: list[Any]) -> Array:
    codes = LabelCodes()
    codes.encode(values)
    return sort_order(codes.labels)[0]


def _is_mapping(labels: Any) -> bool:
    return isinstance(labels, Mapping) or (
        hasattr(labels, "items") and hasattr(labels, "index")
    )


def _label_list(labels: Any, owner: str) -> list[Any]:
    if isinstance(labels, str | bytes):
        raise TypeError(
            f"The 'labels' parameter of {owner} must be an array, a mapping or a "
            f"function. Got {type(labels).__name__}."
        )
    try:
        values = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    except TypeError:
        raise TypeError(
            f"The 'labels' parameter of {owner} must be an array, a mapping or a "
            f"function. Got {type(labels).__name__}."
        ) from None
    return list(values)


def _file_labels(paths: list[str], labels: Any, owner: str) -> list[Any]:
    if labels is None:
        return [folder_of_file(path) for path in paths]
    if callable(labels):
        return [labels(path) for path in paths]
    if _is_mapping(labels):
        table = dict(labels.items())
        return [_looked_up(table, names_of_file(path), owner) for path in paths]
    values = _label_list(labels, owner)
    if len(values) != len(paths):
        raise ValueError(
            f"There must be one label for each file. Got {len(values):,} labels and "
            f"{len(paths):,} files."
        )
    return values


def folder_of_file(path: str) -> str:
    """The name of the folder a file is in, which is its label without others."""
    return os.path.basename(os.path.dirname(os.path.realpath(path)))


def names_of_file(path: str) -> list[str]:
    """What a file may be called: its path, its name, and that with fewer endings."""
    name = os.path.basename(path)
    names = [path, name]
    while "." in name.strip("."):
        name = os.path.splitext(name)[0]
        names.append(name)
    return names


def _looked_up(table: dict[Any, Any], names: list[str], owner: str) -> Any:
    for name in names:
        if name in table:
            return table[name]
    near = get_close_matches(names[-1], [k for k in table if isinstance(k, str)], n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(
        f"The 'labels' of {owner} must name every row. Got none for {names[0]!r}.{hint}"
    )
