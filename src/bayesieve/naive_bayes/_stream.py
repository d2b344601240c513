"""The memory of a stream: fine counts of every column and a window of recent rows.

`StreamMemory` is what `SelectiveNB.partial_fit` works with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayesieve.naive_bayes._drift import DriftWatch
from bayesieve.naive_bayes._stream_pairs import CountedPairs
from bayesieve.naive_bayes._stream_parts import StreamPartitions, StreamShapes
from bayesieve.naive_bayes._stream_texts import TextMemory
from bayesieve.partition._averaged import (
    FineBins,
    Shape,
    bins_of_numbers,
    bins_of_values,
)
from bayesieve.partition._bins import (
    LevelBins,
    NumberBins,
    assign_columns,
    counts_of_parts,
)
from bayesieve.partition._column import ColumnPartition
from bayesieve.partition._group import ValueGrouping
from bayesieve.partition._pairs import PairShape
from bayesieve.preprocessing._table_columns import Levels, TableReader
from bayesieve.preprocessing._table_input import LabelledRows, TableRows
from bayesieve.weights._text_candidates import TextRule

__all__ = ["StreamMemory"]

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

    `window`, `half_life` and `criterion` are those of `SelectiveNB`; `averages` says
    whether its partitions are averaged; `rules` are those of the text columns.
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
        averages: bool,
        rules: Sequence[TextRule] = (),
    ) -> None:
        self.reader = reader
        self.texts = TextMemory(rules, classes, window)
        self.names = names
        self.classes = classes
        self.window = window
        self.half_life = half_life
        self.criterion = criterion
        self.averages = averages
        n_columns = reader.categorical.shape[0]
        self.bins: list[NumberBins | LevelBins] = []
        self.class_count = np.zeros(classes.shape[0])
        self.partitions: list[ColumnPartition] = []
        self.fine: list[FineBins] = []  # what partitions are averaged over
        self.pairs = CountedPairs()
        self.rows_since_start = 0  # since the first row, or since the last drift
        self.bins_settled = False
        self.next_refresh = 0.0
        self.version = 0  # goes up with every change of bins or partitions
        self.is_whole = True  # False while rows are being added
        self.watch = DriftWatch()
        self.rows_since_search = 0  # of the weights
        self.rows_since_average = 0  # of the shapes
        self.in_use: StreamPartitions | StreamShapes | None = None  # by the model
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
        self,
        partitions: Sequence[ColumnPartition],
        class_count: np.ndarray,
        shapes: Sequence[Shape] = (),
        pairs: Sequence[PairShape] = (),
    ) -> None:
        """Go on from what was fitted elsewhere: its parts are the first bins.

        With averaged shapes these are the bins of the shapes.
        """
        self.bins = []
        cuts = [own.bins for own in shapes] or partitions
        for partition, cut in zip(partitions, cuts, strict=True):
            if isinstance(partition.parts, ValueGrouping):
                level = LevelBins(partition.values, self.n_classes, _LEVEL_BINS)
                known = level.counts.shape[0] - 1  # those beyond share row 0
                assert partition.value_counts is not None
                level.counts[1:] = partition.value_counts[:known]
                level.counts[0] = partition.value_counts[known:].sum(axis=0)
                self.bins.append(level)
            else:
                assert not isinstance(cut.parts, ValueGrouping)
                number = NumberBins(_finite(cut.parts.bounds), self.n_classes)
                first = 0 if cut.parts.missing_alone else 1
                number.counts[first : first + cut.n_parts] = cut.counts
                self.bins.append(number)
        self.class_count = class_count.copy()
        self.partitions = list(partitions)
        if self.averages:
            self.fine = [FineBins(cut, None) for cut in cuts]  # of categories in pairs
            maps = {j: self.parts_of_bins(j, cut) for j, cut in enumerate(cuts)}
            numeric = tuple(self.reader.numeric_columns.tolist())
            self.pairs = CountedPairs.from_shapes(pairs, maps, numeric)
            self.fine = self._fine_bins()
        self.rows_since_start = math.ceil(class_count.sum())
        self.rows_since_average = self.rows_since_start  # of bins as they are now
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

    def new_parts(self) -> StreamPartitions | StreamShapes:
        """The parts that the memory has now."""
        kind = StreamShapes if self.averages else StreamPartitions
        return kind.from_memory(self)

    def next_parts(self) -> tuple[StreamPartitions | StreamShapes, bool]:
        """The parts to learn with next, and whether they are new ones."""
        if self.in_use is None or self.in_use.version != self.version:
            return self.new_parts(), True
        self.in_use.placed.place(self, self.last_places)
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
            self._make_bins(rows.table, rows.weights)
        bins = self._bins_of(rows.table, grow=True)
        fading = self._fading(n_rows, rows.weights)
        if fading is not None:
            self.class_count *= fading[0]
            for column in self.bins:
                column.counts *= fading[0]
            self.pairs.fade(fading[0])
        self.pairs.extend(self.bins)
        self._count(bins, rows.codes, rows.weights, fading)
        self.texts.add(rows.table.texts, rows.codes, rows.weights, fading)
        self._remember(rows, bins)
        self.rows_since_start += n_rows
        self.rows_since_average += n_rows
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

    def _make_bins(self, table: TableRows, weights: np.ndarray | None) -> None:
        numeric = iter(range(table.numbers.shape[1]))
        categorical = iter(table.levels)
        # Averages feel where bins end, and a weight of two is the row twice; best
        # partitions hardly do.
        weights = weights if self.averages else None
        self.bins = []
        for is_categorical in self.reader.categorical:
            if is_categorical:
                values = next(categorical).values
                self.bins.append(LevelBins(values, self.n_classes, _LEVEL_BINS))
            else:
                column = table.numbers[:, next(numeric)]
                bins = NumberBins.from_values(
                    column, self.n_classes, _NUMBER_BINS, weights
                )
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
        self.pairs.add(bins, codes, weights)

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

    def window_share(self, n_rows: float) -> float:
        """Share of the window in so many rows that probabilities rest on.

        The penalty of weights is shared among all of these rows.
        """
        own = float(self.weights[: self.filled].sum())
        return min(1.0, own / max(float(n_rows), 1.0))

    def window_counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows of the window as they are counted: bins, classes, what is left of each.

        The oldest one comes first.
        """
        places = (self.place - self.filled + np.arange(self.filled)) % self.window
        weights = self.weights[places]
        fading = self._fading(self.filled, weights)
        left = weights if fading is None else weights * fading[1]
        return self.bin_rows[places], self.codes[places], left

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
        if self.averages:
            self.fine = self._fine_bins()

    def _fine_bins(self) -> list[FineBins]:
        """Fine bins of every column; cells of pairs that are counted are kept."""
        self.pairs = self.pairs.without_unknown(self.bin_rows[: self.filled])
        found = []
        for j, (best, bins) in enumerate(zip(self.partitions, self.bins, strict=True)):
            if isinstance(bins, LevelBins):
                own = self.fine[j] if j in self.pairs.axes else bins_of_values(best)
                parts = self.parts_of_bins(j, own.column)
                # Values without a bin of their own count too.
                table = counts_of_parts(bins.counts, parts, own.column.n_parts)
                found.append(own.counted(table))
            else:
                assert not isinstance(best.parts, ValueGrouping)
                kept = [_finite(best.parts.bounds), self.pairs.bounds(j, bins)]
                fine = bins.fine_intervals(np.concatenate(kept))
                found.append(bins_of_numbers(best, fine))
        return found

    def parts_of_bins(self, j: int, partition: ColumnPartition) -> np.ndarray:
        """Part of each bin of column j."""
        bins: Any = self.bins[j]  # of the kind of the partition
        return np.asarray(bins.parts_of_bins(partition.parts))

    def counted(self, partitions: Sequence[ColumnPartition]) -> list[ColumnPartition]:
        """Partitions with the counts of all rows so far."""
        found = []
        for j, own in enumerate(partitions):
            counts = self.class_count[None, :].copy()
            if own.level > 0:
                parts = self.parts_of_bins(j, own)
                counts = counts_of_parts(self.bins[j].counts, parts, own.n_parts)
            found.append(replace(own, parts=replace(own.parts, counts=counts)))
        return found

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
        self._make_bins(table, None if (weights == 1.0).all() else weights)
        self.pairs = CountedPairs()
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


def _finite(bounds: np.ndarray) -> np.ndarray:
    return np.asarray(bounds[np.isfinite(bounds)])


def _distinct_levels(rows: np.ndarray, values: list[Any]) -> Levels:
    used, codes = np.unique(rows, return_inverse=True)
    return Levels(codes.reshape(-1), [values[u] for u in used])
