"""The partition of one named column: labels, a table to read, and where rows fall."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bayesieve.partition._group import ValueGrouping
from bayesieve.partition._partition import IntervalPartition, PartitionCost
from bayesieve.utils._computed_once import computed_once
from bayesieve.utils._drawing import drawn
from bayesieve.utils._exact_numbers import Origin

__all__ = ["ColumnPartition", "PartitionTable"]

_SHOWN_VALUES = 6
_SHOWN_ROWS = 100


@dataclass(frozen=True, repr=False)
class PartitionTable:
    """Rows of a partition, one for each part. Prints as aligned text.

    Attributes
    ----------
    title : str
    header : tuple of str
    rows : tuple of tuples
        Label, rows in all, share of the rows, then the share of each class.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield each row as a dictionary, so that `pandas.DataFrame(table)` works."""
        for row in self.rows:
            yield dict(zip(self.header, row, strict=True))

    def as_text(self) -> list[list[str]]:
        """The header and the first hundred rows, each cell as text."""
        cells = [list(self.header)]
        for row in self.rows[:_SHOWN_ROWS]:
            rows = float(row[1])
            shown = [
                str(row[0]),
                f"{rows:,.0f}" if rows.is_integer() else f"{rows:,.6g}",
            ]
            cells.append(shown + [f"{100 * share:.1f} %" for share in row[2:]])
        return cells

    def __str__(self) -> str:
        cells = self.as_text()
        widths = [max(len(line[c]) for line in cells) for c in range(len(self.header))]
        lines = [
            "  ".join(
                text.ljust(width) if c == 0 else text.rjust(width)
                for c, (text, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in cells
        ]
        if len(self.rows) > _SHOWN_ROWS:
            lines.append(f"... and {len(self.rows) - _SHOWN_ROWS} more")
        return "\n".join([self.title, *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return str(drawn("partition_table", self))


@dataclass(frozen=True, repr=False, eq=False)
class ColumnPartition:
    """Intervals or groups of values of one column, with their class counts.

    Attributes
    ----------
    name : str
    classes : ndarray of shape (n_classes,)
        In the order of the columns of `counts`.
    parts : IntervalPartition or ValueGrouping
        What the search found.
    values : tuple
        Values of a categorical column in the order of ``parts.group``; None is the
        missing value. Empty for a numerical column.
    value_counts : ndarray of shape (n_values, n_classes) or None
        Class counts of each of these values.
    is_time : bool
        Whether the numbers are dates, times or durations, in seconds.
    origin : Origin or None
        Where the numbers, bounds among them, are counted from: integers beyond 2**53
        and times finer than microseconds are kept as exact distances. None: from zero.
    """

    name: str
    classes: np.ndarray
    parts: IntervalPartition | ValueGrouping
    values: tuple[Hashable, ...] = ()
    value_counts: np.ndarray | None = None
    is_time: bool = False
    origin: Origin | None = None

    @computed_once
    def _groups(self) -> dict[Hashable, int]:
        assert isinstance(self.parts, ValueGrouping)
        return dict(zip(self.values, self.parts.group.tolist(), strict=True))

    @property
    def kind(self) -> str:
        """Either "numerical" or "categorical"."""
        categorical = isinstance(self.parts, ValueGrouping)
        return "categorical" if categorical else "numerical"

    @property
    def counts(self) -> np.ndarray:
        """Rows of each class in each part, shape (n_parts, n_classes)."""
        return self.parts.counts

    @property
    def n_parts(self) -> int:
        """Number of intervals or groups."""
        return int(self.parts.n_parts)

    @property
    def level(self) -> float:
        """Share of the null model's cost that the partition saves, 0 if none."""
        return float(self.parts.level)

    @property
    def cost(self) -> PartitionCost:
        """Cost of the partition in nats."""
        return self.parts.cost

    @property
    def null_cost(self) -> PartitionCost:
        """Cost of a single part, in nats."""
        return self.parts.null_cost

    def assign_levels(
        self, codes: np.ndarray, values: Sequence[Hashable]
    ) -> np.ndarray:
        """Part of each coded value; values never seen fall in the default group."""
        assert isinstance(self.parts, ValueGrouping)
        unseen = self.parts.default_group
        found = np.array(
            [self._groups.get(value, unseen) for value in values], dtype=np.int64
        )
        return found[codes] if len(values) else np.zeros(codes.shape[0], dtype=np.int64)

    @property
    def labels(self) -> list[str]:
        """A few words for each part: an interval, or the values of a group."""
        if isinstance(self.parts, ValueGrouping):
            return [self._group_label(i) for i in range(self.n_parts)]
        if self.n_parts == 1:
            return ["all values"]
        edges = [-math.inf, *self.parts.bounds.tolist(), math.inf]
        shown = [self.shown(edge) for edge in edges]
        if len(set(shown)) < len(set(edges)):  # too close for six digits
            shown = [repr(edge) for edge in edges]
        labels = [f"]{low}, {high}]" for low, high in pairwise(shown)]
        labels[-1] = labels[-1][:-1] + "["
        if self.parts.missing_alone:
            labels[0] = "missing"
        return labels

    def shown(self, number: float) -> str:
        """A number of the column as text, a time as a date."""
        if self.origin is not None:
            return self.origin.shown(number, is_time=self.is_time)
        return _time(number) if self.is_time else _number(number)

    def _group_label(self, group: int) -> str:
        assert isinstance(self.parts, ValueGrouping)
        members = np.flatnonzero(self.parts.group == group)
        shown = [_level(self.values[m]) for m in members[:_SHOWN_VALUES]]
        if members.size > _SHOWN_VALUES:
            shown.append(f"and {members.size - _SHOWN_VALUES} more")
        if self.n_parts > 1 and group == self.parts.default_group:
            shown.append("or unseen")
        return "{" + ", ".join(shown) + "}"

    @property
    def parts_told(self) -> str:
        """How many parts there are, in words: "3 intervals"."""
        kind = "interval" if self.kind == "numerical" else "group"
        return f"{self.n_parts:,} {kind}{'' if self.n_parts == 1 else 's'}"

    def table(self) -> PartitionTable:
        """Return what each part holds: rows, share, and the classes within it."""
        counts = self.counts
        rows = counts.sum(axis=1)
        total = max(float(rows.sum()), np.finfo(float).tiny)
        shares = counts / np.maximum(rows, np.finfo(float).tiny)[:, None]
        lines = tuple(
            (label, float(n), float(n / total), *map(float, share))
            for label, n, share in zip(self.labels, rows, shares, strict=True)
        )
        title = f"{self.name}: {self.parts_told}, level {self.level:.4f}"
        header = ("part", "rows", "share", *(f"P({c})" for c in self.classes.tolist()))
        return PartitionTable(title, header, lines)

    def __str__(self) -> str:
        return str(self.table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _number(bound: float) -> str:
    """Six digits, and more only for large numbers that fit without an exponent."""
    text = f"{bound:.6g}"
    return f"{bound:.12g}" if "e+" in text and abs(bound) < 1e12 else text


def _time(seconds: float) -> str:
    """A moment as ISO date, with the time of day if that is not midnight."""
    if not math.isfinite(seconds):
        return f"{seconds:g}"
    moment = str(np.datetime64(round(seconds), "s"))
    return moment.removesuffix("T00:00:00")


def _breaks(value: Hashable) -> bool:
    return isinstance(value, str) and len(value.splitlines()) > 1


def _level(value: Hashable) -> str:
    if value is None:
        return "missing"
    text = (
        str(value).encode("unicode_escape").decode() if _breaks(value) else str(value)
    )
    return text if len(text) <= 30 else text[:29] + "…"
