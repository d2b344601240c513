"""`ClassCounts.from_sequences` and `from_bytes`: counts of the windows of files."""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Set
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bayesieve import _core
from bayesieve.counts import _layout
from bayesieve.counts._checkpoint import Checkpoint, file_state
from bayesieve.counts._copies import Copies, NamesWithCopies
from bayesieve.counts._row_labels import FileLabels, RecordLabels
from bayesieve.counts._selection import check_limits, keep_all, least_documents
from bayesieve.io._bad_rows import BadRows
from bayesieve.io._files import find_files
from bayesieve.io._labels import sort_order
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

__all__ = ["SequenceSource", "count_rows"]


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
        if isinstance(labels, Iterator):  # it is needed twice where rows are
            labels = list(labels)
        self._labels, self._records, self._classes = labels, records, classes
        self._spelling, self._owner = spelling, owner

    def _rows(self, classes: Any) -> FileLabels | RecordLabels:
        if self._records:
            return RecordLabels(self._labels, classes, self._owner)
        return FileLabels(self.paths, self._labels, classes, self._owner)

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
        truths = {"binary": binary, "merge_copies": merge_copies}
        truths["records"] = self._records
        for name, value in truths.items():
            if not isinstance(value, bool | np.bool_):
                raise TypeError(
                    f"The {name!r} parameter of {self._owner} must be True or False. "
                    f"Got {value!r}."
                )
        check_memory_budget(memory_budget)
        check_limits(min_df, 1.0, None)
        if not keep_all(min_df) and not binary:
            raise ValueError(
                f"The 'min_df' parameter of {self._owner} needs binary=True, because "
                "counts of occurrences do not tell rows. Got "
                f"min_df={min_df!r}."
            )
        found, rows, spelling = self.paths, self._rows(self._classes), self._spelling
        self._times = [_file_times(path) for path in found]

        def new_counter() -> Any:
            return _core.KeyCounter(
                *spelling.settings,
                bool(binary),
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
        rows.refuse_others()
        classes, order = sort_order(rows.codes.labels)
        counts = _finished(
            cls, counter, classes, order, spelling, binary, merge_copies, min_df
        )
        return counts if self._classes is not None else _of_classes_seen(counts)

    def read_again(self, classes: Array) -> Iterator[tuple[list[Piece], Array]]:
        """Yield the pieces of each file, and the classes of the rows in it."""
        rows = self._rows(classes)
        for number, path in enumerate(self.paths):
            if rows.is_left_out(number):
                continue
            if _file_times(path) != self._times[number]:
                raise ValueError(f"{path!r} was changed after it was counted.")
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
    copies: Copies | None = None
    names: KeyNames
    if merge_copies:
        keys, group, first, tables = counter.finish_groups(*limits)
        every = KeyNames(keys, spelling)
        every.__dict__["is_sorted"] = True
        copies = Copies(every, group)
        names = NamesWithCopies(keys[first], copies)
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
        least_rows=max(1, least),
    )


def _of_classes_seen(counts: ClassCounts) -> ClassCounts:
    """Without the classes that labels speak of and no row has."""
    seen = counts.class_count > 0
    if seen.all():
        return counts
    table: Any = counts.feature_count
    if isinstance(table, np.ndarray):
        table = table[seen]
    else:
        row = (np.cumsum(seen) - 1).astype(table.indices.dtype)
        shape = (int(seen.sum()), table.shape[1])
        parts = (table.data, row[table.indices], table.indptr)
        table = sparse.csc_array(parts, shape=shape)
    return counts._with(
        classes=counts.classes[seen],
        class_count=counts.class_count[seen],
        feature_count=table,
    )


def _file_times(path: str) -> tuple[int, int]:
    """What tells that a file was changed, most of the time."""
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def _listed(paths: Any, owner: str) -> list[Any]:
    listed: Any = [paths] if isinstance(paths, str | os.PathLike) else paths
    try:
        listed = None if isinstance(paths, Set) else list(listed)  # without an order
    except TypeError:
        listed = None
    if not listed or not all(isinstance(path, str | os.PathLike) for path in listed):
        got = "an empty list" if listed == [] else type(paths).__name__
        raise TypeError(
            f"The 'paths' parameter of {owner} must be a path, a glob or a list of "
            f"them. Got {got}."
        )
    return list(listed)


def _spill_path(folder: Any) -> str:
    if folder is None:
        folder = tempfile.gettempdir()
    folder = os.path.expanduser(os.fspath(folder))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"The spill_folder must be there. Got {folder!r}.")
    return os.path.join(folder, f"bayesieve-{secrets.token_hex(8)}.spill")


# --------------------------------------------------------------------------- counting


class _Counting:
    """Reads files one after the other into a counter."""

    def __init__(
        self,
        paths: list[str],
        rows: FileLabels | RecordLabels,
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
            labels = [self._rows.told(number) for number in range(len(self._paths))]
            done = checkpoint.resume(
                self._paths, dict(zip(self._paths, labels, strict=True))
            )
            for number, path in enumerate(self._paths):
                if path in done:
                    self._leave_behind(path)
                    continue
                before = file_state(path)
                self._count(counter, number)
                checkpoint.note(path, before, labels[number])
                if checkpoint.is_time():
                    checkpoint.save(counter, nothing)
                    counter = self._new_counter()
            if checkpoint.has_notes:
                checkpoint.save(counter, nothing)
            return checkpoint.result(nothing)

    def _count(self, counter: Any, number: int) -> None:
        path = self._paths[number]
        if self._rows.is_left_out(number):
            self._leave_behind(path)
            return
        file = _number_of_file(path)
        first = 0  # of the rows of a piece
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
                own = _random_numbers(np.arange(begins, last, dtype=np.uint64))
                prints = _random_numbers(own ^ file)
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


def _number_of_file(path: str) -> np.uint64:
    """The same in every run, whatever other files there are."""
    name = os.fsencode(os.path.realpath(path))
    digest = hashlib.blake2b(name, digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


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
