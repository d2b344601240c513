"""The memory of a stream: fine counts of every column and a window of recent rows.

`StreamMemory` is what `SelectiveNB.partial_fit` works with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.naive_bayes._drift import DriftWatch
from bayesieve.naive_bayes._stream_texts import TextMemory
from bayesieve.partition._bins import LevelBins, NumberBins, assign_columns
from bayesieve.partition._column import ColumnPartition
from bayesieve.partition._group import ValueGrouping
from bayesieve.preprocessing._table_columns import Levels, TableReader
from bayesieve.preprocessing._table_input import LabelledRows, TableRows
from bayesieve.weights._text_candidates import TextRule

__all__ = ["StreamMemory", "StreamPartitions"]

# Bins of a numerical column: cuts are then off by a thousandth of the rows at most.
_NUMBER_BINS = 512
# Partitions are searched again when the number of rows has grown by this factor: more
# often as long as the bins are made anew too.
_GROWTH = 2.0
_SETTLED_GROWTH = 4.0
_LEVEL_BINS = 10_000


class StreamMemory:
    """Counts of all rows so far and the last rows themselves, in constant memory.

    Counts of fine bins add up over the stream, so partitions and probabilities rest on
    every row (older ones fading by `half_life`). The window is for the weights, which
    need rows, and for new bins when the stream has changed.

    `window`, `half_life` and `criterion` are those of `SelectiveNB`; `rules` those of
    the text columns.
    """

    def __init__(
        self,
        reader: TableReader,
        names: list[str],
        classes: np.ndarray,
        *,
        window: int,
        half_life: float | None,
        criterion: str,
        rules: Sequence[TextRule] = (),
    ) -> None:
        self.reader = reader
        self.texts = TextMemory(rules, classes, window)
        self.names = names
        self.classes = classes
        self.window = window
        self.half_life = half_life
        self.criterion = criterion
        n_columns = reader.categorical.shape[0]
        self.bins: list[NumberBins | LevelBins] = []
        self.class_count = np.zeros(classes.shape[0])
        self.partitions: list[ColumnPartition] = []
        self.rows_since_start = 0  # since the first row, or since the last drift
        self.bins_settled = False
        self.next_refresh = 0.0
        self.version = 0  # goes up with every change of bins or partitions
        self.is_whole = True  # False while rows are being added
        self.watch = DriftWatch()
        self.rows_since_search = 0  # of the weights
        self.in_use: StreamPartitions | None = None  # by the model
        # The window is a ring: row r of the stream is at place r % window.
        self.filled = 0
        self.place = 0
        self.numbers = np.empty((window, reader.numeric_columns.shape[0]), order="F")
        self.level_rows = np.zeros(
            (window, reader.categorical_columns.shape[0]), dtype=np.int32, order="F"
        )
        self.level_values: list[list[Any]] = [
            [] for _ in range(self.level_rows.shape[1])
        ]
        self._level_row: list[dict[Any, int]] = [
            {} for _ in range(self.level_rows.shape[1])
        ]
        self.bin_rows = np.zeros((window, n_columns), dtype=np.int32, order="F")
        self.codes = np.zeros(window, dtype=np.int32)
        self.last_places = np.empty(0, dtype=np.int64)  # where the last rows went
        self.weights = np.ones(window)

    # ------------------------------------------------------------------ learning

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.classes.shape[0])

    def start_from(
        self, partitions: Sequence[ColumnPartition], class_count: np.ndarray
    ) -> None:
        """Go on from partitions fitted elsewhere: their parts are the first bins."""
        self.bins = []
        for partition in partitions:
            if isinstance(partition.parts, ValueGrouping):
                level = LevelBins(partition.values, self.n_classes, _LEVEL_BINS)
                known = level.counts.shape[0] - 1  # those beyond share row 0
                assert partition.value_counts is not None
                level.counts[1:] = partition.value_counts[:known]
                level.counts[0] = partition.value_counts[known:].sum(axis=0)
                self.bins.append(level)
            else:
                bounds = partition.parts.bounds
                inner = bounds[np.isfinite(bounds)]
                number = NumberBins(inner, self.n_classes)
                first = 0 if partition.parts.missing_alone else 1
                number.counts[first : first + partition.n_parts] = partition.counts
                self.bins.append(number)
        self.class_count = class_count.copy()
        self.partitions = list(partitions)
        self.rows_since_start = math.ceil(class_count.sum())
        self.bins_settled = True
        self.next_refresh = _SETTLED_GROWTH * self.rows_since_start

    def take(
        self, rows: LabelledRows, losses: np.ndarray, *, detect: bool
    ) -> int | None:
        """Add rows of a stream that goes on, and search partitions where that is due.

        Parameters
        ----------
        rows : LabelledRows
        losses : ndarray of shape (n_rows,)
            Of the model before it has learnt from them.
        detect : bool
            Whether to begin again from the latest rows when the stream has changed.

        Returns
        -------
        suspect : int or None
            How many of the latest rows are of a changed stream; None if it goes on.
        """
        absent = self.class_count == 0
        # Much changes in many steps; Ctrl-C may come between two of them.
        self.is_whole = False
        self.add(rows)
        newcomer = bool((self.class_count[absent] > 0).any())
        suspect = None
        if self.watch.sees(losses) and detect:
            suspect = min(self.watch.suspect_rows, self.filled)
            self.watch.reset()
            self.forget_before(suspect)
        elif newcomer or self.is_due():
            # No partition tells a class apart that was not there when it was made.
            self.renew()
        self.is_whole = True
        return suspect

    def refuse_torn(self) -> None:
        """Refuse to go on if an interruption left rows half added."""
        if not self.is_whole:
            raise RuntimeError(
                "An earlier partial_fit was interrupted while its rows were added, and "
                "what is remembered of the stream holds some of them only; the model "
                "still predicts as before. Hint: fit begins anew, or go on from a "
                "model saved earlier."
            )

    def next_partitions(self) -> tuple[StreamPartitions, bool]:
        """The partitions to learn with next, and whether they are new ones."""
        if self.in_use is None or self.in_use.version != self.version:
            return StreamPartitions.from_memory(self), True
        self.in_use.place(self, self.last_places)
        return self.in_use, False

    def add(self, rows: LabelledRows) -> np.ndarray:
        """Count new rows and put them in the window; return their bins."""
        n_rows = rows.codes.shape[0]
        if not self.bins_settled and self.rows_since_start + n_rows > self.window:
            # From now on some rows are known by their counts only.
            if self.bins:
                self._bin_window(self.filled)
            self.bins_settled = True
            self.next_refresh = 0.0
        if not self.bins:
            self._make_bins(rows.table)
        bins = self._bins_of(rows.table, grow=True)
        fading = self._fading(n_rows, rows.weights)
        if fading is not None:
            self.class_count *= fading[0]
            for column in self.bins:
                column.counts *= fading[0]
        self._count(bins, rows.codes, rows.weights, fading)
        self.texts.add(rows.table.texts, rows.codes, rows.weights, fading)
        self._remember(rows, bins)
        self.rows_since_start += n_rows
        return bins

    def _fading(
        self, n_rows: int, weights: np.ndarray | None
    ) -> tuple[float, np.ndarray] | None:
        """What is left of all older rows, and of each of these rows, the last whole."""
        if self.half_life is None:
            return None
        steps = np.ones(n_rows) if weights is None else weights
        after = np.cumsum(steps[::-1])[::-1]  # rows from each one to the last
        left = 0.5 ** ((after - steps) / self.half_life)
        return float(0.5 ** (after[0] / self.half_life)) if n_rows else 1.0, left

    def _make_bins(self, table: TableRows) -> None:
        numeric = iter(range(table.numbers.shape[1]))
        categorical = iter(table.levels)
        self.bins = []
        for is_categorical in self.reader.categorical:
            if is_categorical:
                values = next(categorical).values
                self.bins.append(LevelBins(values, self.n_classes, _LEVEL_BINS))
            else:
                column = table.numbers[:, next(numeric)]
                bins = NumberBins.from_values(column, self.n_classes, _NUMBER_BINS)
                self.bins.append(bins)

    def _bins_of(self, table: TableRows, *, grow: bool) -> np.ndarray:
        bins = np.empty((table.n_rows, len(self.bins)), dtype=np.int32, order="F")
        numeric = self.reader.numeric_columns
        bounds = [b.bounds for b in self.bins if isinstance(b, NumberBins)]
        if numeric.shape[0] == len(self.bins):
            assign_columns(table.numbers, bounds, bins, 1)
        elif numeric.shape[0]:
            own = np.empty((table.n_rows, numeric.shape[0]), np.int32, order="F")
            assign_columns(table.numbers, bounds, own, 1)
            bins[:, numeric] = own
        for place, j in enumerate(self.reader.categorical_columns):
            level, known = table.levels[place], self.bins[j]
            assert isinstance(known, LevelBins)
            if grow:
                known.extend(level.values)
            bins[:, j] = known.assign(level.codes, level.values)
        return bins

    def _count(
        self,
        bins: np.ndarray,
        codes: np.ndarray,
        weights: np.ndarray | None,
        fading: tuple[float, np.ndarray] | None,
    ) -> None:
        if fading is not None:
            weights = fading[1] if weights is None else weights * fading[1]
        n_classes = self.n_classes
        self.class_count += np.bincount(codes, weights, n_classes)
        for j, column in enumerate(self.bins):
            cells = np.bincount(
                bins[:, j] * n_classes + codes, weights, column.counts.size
            )
            column.counts += cells.reshape(-1, n_classes)

    def _remember(self, rows: LabelledRows, bins: np.ndarray) -> None:
        n = rows.codes.shape[0]
        skipped = max(n - self.window, 0)  # of a chunk longer than the window
        taken = slice(skipped, n)
        places = (self.place + np.arange(n - skipped)) % self.window
        self.numbers[places] = rows.table.numbers[taken]
        for q, level in enumerate(rows.table.levels):
            self.level_rows[places, q] = self._window_rows(q, level)[taken]
        self.texts.remember(rows.table.texts, taken, places)
        self.bin_rows[places] = bins[taken]
        self.codes[places] = rows.codes[taken]
        self.weights[places] = 1.0 if rows.weights is None else rows.weights[taken]
        self.last_places = places
        self.place = (self.place + n - skipped) % self.window
        self.filled = min(self.filled + n - skipped, self.window)

    def _window_rows(self, q: int, level: Levels) -> np.ndarray:
        """Code values of the window by a dictionary that is emptied when too long."""
        known, values = self._level_row[q], self.level_values[q]
        if len(values) > 2 * self.window + _LEVEL_BINS:
            used, again = np.unique(self.level_rows[:, q], return_inverse=True)
            self.level_rows[:, q] = again
            values = [values[u] for u in used if u < len(values)]
            known = {value: row for row, value in enumerate(values)}
            self._level_row[q], self.level_values[q] = known, values
        rows = np.empty(len(level.values), dtype=np.int32)
        for code, value in enumerate(level.values):
            row = known.get(value)
            if row is None:
                row = known[value] = len(values)
                values.append(value)
            rows[code] = row
        return np.asarray(rows[level.codes])

    # ---------------------------------------------------------------- partitions

    def refresh(self) -> None:
        """Search the partitions again, from the counts so far."""
        self.version += 1
        candidates = math.log(len(self.bins))
        options: Any = {"attribute_cost": candidates, "criterion": self.criterion}
        self.partitions = []
        for j, (name, bins) in enumerate(zip(self.names, self.bins, strict=True)):
            if isinstance(bins, LevelBins):
                grouping, values = bins.partition(**options)
                partition = ColumnPartition(
                    name, self.classes, grouping, values, bins.counts[1:].copy()
                )
            else:
                interval = bins.partition(**options)
                time = bool(self.reader.temporal[j])
                partition = ColumnPartition(
                    name,
                    self.classes,
                    interval,
                    is_time=time,
                    origin=self.reader.origins.get(j),
                )
            self.partitions.append(partition)

    def part_counts(self, j: int, parts_of_bins: np.ndarray) -> np.ndarray:
        """Class counts of the parts of column j, from the counts of its bins."""
        n_parts = self.partitions[j].n_parts
        counts = np.zeros((n_parts, self.n_classes))
        for c in range(self.n_classes):
            counts[:, c] = np.bincount(
                parts_of_bins, self.bins[j].counts[:, c], n_parts
            )
        return counts

    def parts_of_bins(self, j: int) -> np.ndarray:
        """Part of each bin of column j."""
        bins: Any = self.bins[j]  # of the kind of the partition
        return np.asarray(bins.parts_of_bins(self.partitions[j].parts))

    def with_new_values(
        self, partitions: Sequence[ColumnPartition]
    ) -> list[ColumnPartition]:
        """Partitions with the values that were met since they were made."""
        found = []
        for partition, bins in zip(partitions, self.bins, strict=True):
            if isinstance(partition.parts, ValueGrouping):
                assert isinstance(bins, LevelBins)
                parts, values = partition.parts, tuple(bins.row)
                new = np.full(len(values) - len(partition.values), parts.default_group)
                partition = replace(
                    partition,
                    parts=replace(parts, group=np.concatenate([parts.group, new])),
                    values=values,
                    value_counts=bins.counts[1:].copy(),
                )
            found.append(partition)
        return found

    def is_due(self) -> bool:
        """Whether so many rows have come that partitions should be searched again."""
        return self.rows_since_start >= self.next_refresh

    def renew(self) -> None:
        """Search partitions again; as long as the window holds all rows, bins too."""
        if not self.bins_settled:
            self._bin_window(self.filled)
        self.refresh()
        growth = _SETTLED_GROWTH if self.bins_settled else _GROWTH
        self.next_refresh = growth * self.rows_since_start

    def _bin_window(self, n_last: int) -> None:
        """Make bins of the last rows of the window, and count those rows anew."""
        n_last = min(n_last, self.filled)
        places = (self.place - n_last + np.arange(n_last)) % self.window
        table = TableRows(
            self.numbers[places],
            [
                _distinct_levels(self.level_rows[places, q], values)
                for q, values in enumerate(self.level_values)
            ],
        )
        codes, weights = self.codes[places], self.weights[places]
        self._make_bins(table)
        self.class_count = np.zeros(self.n_classes)
        bins = self._bins_of(table, grow=False)
        fading = self._fading(n_last, weights)
        self._count(bins, codes, weights, fading)
        self.texts.begin_with(places, codes, weights, fading)
        # The rows move to the front of the ring.
        self.numbers[:n_last] = table.numbers
        for q in range(self.level_rows.shape[1]):
            self.level_rows[:n_last, q] = self.level_rows[places, q]
        self.bin_rows[:n_last], self.codes[:n_last] = bins, codes
        self.weights[:n_last] = weights
        self.filled, self.place = n_last, n_last % self.window
        self.version += 1

    def forget_before(self, n_last: int) -> None:
        """After a drift: keep only the last rows, and all is learnt from them."""
        self._bin_window(n_last)
        self.rows_since_start = self.filled
        self.bins_settled = False
        self.renew()


def _distinct_levels(rows: np.ndarray, values: list[Any]) -> Levels:
    used, codes = np.unique(rows, return_inverse=True)
    return Levels(codes.reshape(-1), [values[u] for u in used])


@dataclass
class StreamPartitions:
    """One version of a stream's partitions, and the parts of the window's rows.

    A model keeps the version it was learnt with until the next one is learnt.

    Attributes
    ----------
    version : int
        That of the stream's memory.
    partitions : list of ColumnPartition
    informative : ndarray of int64
        Columns whose partition says something.
    maps : list of ndarray
        Part of each bin, for each informative column.
    parts : ndarray of shape (window, n_informative)
        Parts of the rows of the window.
    """

    version: int
    partitions: list[ColumnPartition]
    informative: np.ndarray
    maps: list[np.ndarray]
    parts: np.ndarray

    @classmethod
    def from_memory(cls, stream: StreamMemory) -> StreamPartitions:
        """Follow the partitions a stream has now."""
        informative = np.flatnonzero([p.level > 0 for p in stream.partitions])
        widest = max((p.n_parts for p in stream.partitions), default=1)
        parts = np.zeros(
            (stream.window, informative.shape[0]),
            dtype=np.uint8 if widest <= 256 else np.uint16,
            order="F",
        )
        maps = [stream.parts_of_bins(int(j)) for j in informative]
        found = cls(stream.version, stream.partitions, informative, maps, parts)
        found.place(stream, np.arange(stream.filled))
        return found

    def place(self, stream: StreamMemory, rows: np.ndarray) -> None:
        """Find the parts of some rows of the window."""
        self._extend(stream)
        bins = stream.bin_rows[rows]
        for k, j in enumerate(self.informative):
            self.parts[rows, k] = self.maps[k][bins[:, j]]

    def part_counts(self, stream: StreamMemory) -> list[np.ndarray]:
        """Class counts of the parts of each informative column, of all rows so far."""
        self._extend(stream)
        return [
            stream.part_counts(j, known)
            for j, known in zip(self.informative, self.maps, strict=True)
        ]

    def _extend(self, stream: StreamMemory) -> None:
        """Values met since the groups were made belong to the default group."""
        for k, j in enumerate(self.informative):
            missing = stream.bins[j].counts.shape[0] - self.maps[k].shape[0]
            if missing > 0:
                grouping = self.partitions[j].parts
                assert isinstance(grouping, ValueGrouping)
                new = np.full(missing, grouping.default_group)
                self.maps[k] = np.concatenate([self.maps[k], new])

    def counted(self, stream: StreamMemory) -> list[ColumnPartition]:
        """The partitions with the counts of all rows so far."""
        counts = dict(
            zip(self.informative.tolist(), self.part_counts(stream), strict=True)
        )
        whole = stream.class_count[None, :]
        return [
            replace(
                partition,
                parts=replace(
                    partition.parts, counts=counts[j] if j in counts else whole.copy()
                ),
            )
            for j, partition in enumerate(self.partitions)
        ]
