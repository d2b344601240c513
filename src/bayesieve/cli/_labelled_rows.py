"""Rows with labels: read once and held where memory allows, else read again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles
from bayesieve.cli._interrupts import Interrupt
from bayesieve.cli._progress import Progress
from bayesieve.io import _row_bounds
from bayesieve.io._bad_rows import BadRows
from bayesieve.io._frames import check_same_types
from bayesieve.io._labels import LabelCodes, as_written, label_problem, sort_order
from bayesieve.io._same_rows import SameRows

__all__ = ["LabelledRows", "Labels", "as_labels", "fits_in_memory"]

_FIRST_ROWS = 2000

Codes = NDArray[np.int64]


def fits_in_memory(n_bytes: float) -> bool:
    """Whether rows of so many bytes may be held: a quarter of the memory is enough."""
    return n_bytes <= _row_bounds.physical_memory() // 4


@dataclass(frozen=True)
class Labels:
    """The classes of a column, sorted, and how many rows each has."""

    column: str
    classes: NDArray[Any]
    rows: Codes

    @property
    def n_rows(self) -> int:
        """Rows that have a label."""
        return int(self.rows.sum())

    @property
    def majority(self) -> int:
        """The number of the class with most rows."""
        return int(np.argmax(self.rows))


def as_labels(column: str, values: list[Any], rows: Codes) -> tuple[Labels, Codes]:
    """Sort the values met into classes; returns them and the place of each value."""
    if not values:
        raise CommandError(f"there is no row with a label in column {column!r}.")
    problem = label_problem(values, int(rows.sum()))
    if problem:
        raise CommandError(
            f"column {column!r} {problem}. Hint: --label COL names another column."
        )
    classes, order = sort_order(values)
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    return Labels(column, classes, rows[order]), place


def _label_of(value: Any) -> Any:
    """Nothing is no label; a date or a decimal number is one as it is written."""
    if isinstance(value, bool | int | float | str):
        return None if value == "" else value
    return str(value)


def _json_label(value: Any) -> Any:
    """A label among others of other kinds: a string, or as it is written in JSON."""
    return _label_of(json.loads(value) if value.startswith('"') else value)


class LabelledRows:
    """Some columns of the rows that have a label (`labels`), and their class `codes`.

    The `first` rows are an Arrow batch. With `hold`, rows must be held in memory, and
    are refused if they do not fit. Where an `interrupt` is requested, the rows so far
    are all there are.
    """

    def __init__(
        self,
        files: DataFiles,
        columns: Sequence[str],
        label: str,
        *,
        hold: bool = False,
        interrupt: Interrupt | None = None,
    ) -> None:
        self._files, self._columns = files, [*columns, label]
        mixed = files.has_mixed_values(label)
        self._label_codes = LabelCodes(value_of=_json_label if mixed else _label_of)
        certain = hold or fits_in_memory(files.most_bytes)
        self._same_rows = None if certain else SameRows()
        self.interrupted = False
        memory = _row_bounds.physical_memory()
        held: list[Any] | None = []
        found: list[Codes] = []
        n_bytes = n_rows = 0
        bad_rows = BadRows(files.skip_bad_rows)
        with Progress("Reading") as bar:
            for codes, batch in self._read(bad_rows, interrupt):
                if not n_rows:
                    self.first = batch.slice(0, _FIRST_ROWS)
                found.append(codes)
                n_rows += codes.size
                if hold and 8 * n_rows * len(columns) > memory:
                    raise CommandError(
                        f"a table is held in memory, and {files.name!r} takes more "
                        f"than {8 * n_rows * len(columns):,} bytes: its first "
                        f"{n_rows:,} rows of {len(columns):,} columns. Hint: "
                        "--drop COL, or fewer rows."
                    )
                n_bytes += batch.nbytes
                if held is not None and (certain or fits_in_memory(n_bytes)):
                    held.append(batch)
                else:
                    held = None
                bar.update(n_rows, f"{n_rows:,} rows")
        values = self._label_codes.labels
        if self.interrupted and len(values) < 2:
            raise KeyboardInterrupt  # there is nothing to learn from
        if not n_rows and not files.skip_bad_rows:
            raise CommandError(f"{files.paths[0]!r} has no rows.")
        bad_rows.warn()
        codes = np.concatenate([*found, np.zeros(0, dtype=np.int64)])
        if files.is_text:
            values = as_written(np.array(values, dtype=object)).tolist()
        rows = np.bincount(codes, minlength=len(values))
        self.labels, self._place = as_labels(label, values, rows)
        self.codes = self._place[codes]
        self._held = held

    @property
    def is_held(self) -> bool:
        """Whether later passes need no file."""
        return self._held is not None

    def only(self, column: str) -> LabelledRows:
        """The same rows, which are held in memory, with one of their columns."""
        assert self._held is not None
        place = self._columns.index(column)
        own = copy(self)
        own._columns = [column, self._columns[-1]]
        own._held = [batch.select([place]) for batch in self._held]
        own.first = self.first.select([place])
        return own

    def batches(self, title: str, unit: str = "rows") -> Iterator[tuple[Codes, Any]]:
        """Yield (class numbers, Arrow batch with the columns), from the beginning."""
        done = 0
        with Progress(title, self.codes.size) as bar:
            for codes, batch in self._again():
                yield codes, batch
                done += codes.size
                bar.update(done, f"{done:,} {unit}")

    def _again(self) -> Iterator[tuple[Codes, Any]]:
        done = 0
        if self._held is None:
            for codes, batch in self._read(BadRows(self._files.skip_bad_rows)):
                if self.interrupted and done == self.codes.size:
                    return
                done += codes.size
                # A label that was not there before is told when all is read.
                yield self._place[np.minimum(codes, self._place.size - 1)], batch
            return
        for batch in self._held:
            yield self.codes[done : done + batch.num_rows], batch
            done += batch.num_rows

    def _read(
        self, bad_rows: BadRows, interrupt: Interrupt | None = None
    ) -> Iterator[tuple[Codes, Any]]:
        """Yield (numbers of the labels as they turn up, batch) without bad rows."""
        label, n_known = self._columns[-1], len(self._columns) - 1
        places, first = list(range(n_known)), None
        for path, before, batch in self._files.rows(
            self._columns, bad_rows, self._same_rows
        ):
            if interrupt is not None and interrupt.requested:
                self.interrupted = True
                return
            first = first or (path, batch.schema)
            check_same_types(self._columns, first, (path, batch.schema))
            values = batch.column(n_known)
            if str(values.type).startswith(("list", "large_list", "struct", "map")):
                raise CommandError(
                    f"column {label!r} holds {values.type}, which cannot be labels."
                )
            codes = self._label_codes.encode(values).astype(np.int64)
            batch = batch.select(places)
            if codes.size and codes.min() < 0:
                row = before + int(np.argmax(codes < 0)) + 1
                bad_rows.found(
                    int((codes < 0).sum()),
                    f"Row {row:,} of {path!r} has no label in column {label!r}.",
                )
                batch = batch.take(np.flatnonzero(codes >= 0))
                codes = codes[codes >= 0]
            yield codes, batch
