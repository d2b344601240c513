"""Terms that read the columns of a row, as expressions of SQL."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from bayesieve._scorecard import (
    CountTerms,
    InputColumn,
    NormalTerms,
    Scorecard,
)
from bayesieve.export._dialects import NEVER, Dialect, balanced
from bayesieve.export._reduced import Cells, Table, tables_of
from bayesieve.export._sql_strings import category_of_files, number_of_files

__all__ = ["RowTerms"]

_NUMBERS = ("count", "binary", "finite", "code", "number")
_PER_SECOND = 10**6
#: Bits of a word that holds a column's places in several tables.
_WORD = 62


class RowTerms:
    """Expressions of the terms of a scorecard, one level upon the other.

    Parameters
    ----------
    card : Scorecard
    dialect : Dialect
    names : list of str
        Quoted names of the columns of the card, with that of their table.
    as_files : bool
        Whether strings are read as the command line reads those of files.

    Attributes
    ----------
    first : list of (name, expression)
        Numbers and parts, from columns of the table.
    second : list of (name, expression)
        Words of columns that have several, from the names of `first`.
    third : list of (name, expression)
        Places in tables, from the names before.
    scores : list of lists of str
        For each score, what is added, from all these names.
    valid : list of str
        Conditions that a row must fulfil to be scored.
    tables : list of (name, list of rows)
        Constant tables that expressions look into.
    """

    def __init__(
        self,
        card: Scorecard,
        dialect: Dialect,
        names: Sequence[str],
        as_files: bool = False,
    ) -> None:
        self._card, self._dialect, self._as_files = card, dialect, as_files
        # Columns that are not of their type: no other dialect has any.
        words = as_files and dialect.loosely_typed
        self._names = [
            number_of_files(dialect, name) if words and own.kind in _NUMBERS else name
            for own, name in zip(card.columns, names, strict=True)
        ]
        self.first: list[tuple[str, str]] = []
        self.second: list[tuple[str, str]] = []
        self.third: list[tuple[str, str]] = []
        self.scores: list[list[str]] = [[] for _ in range(card.start.size)]
        self.valid: list[str] = []
        self.tables: list[tuple[str, list[tuple[str, str]]]] = []
        self._numbers: dict[int, str] = {}
        for term in card.terms:
            if isinstance(term, CountTerms):
                self._add_counts(term)
            elif isinstance(term, NormalTerms):
                self._add_normals(term)
        self._add_lookups()

    def _named(self, expression: str) -> str:
        """A name for an expression of the first level."""
        name = f"bayesieve_{len(self.first)}"
        self.first.append((name, expression))
        return name

    def _number(self, column: int) -> str:
        """A column of numbers as doubles, and what its values must be."""
        if column not in self._numbers:
            self._numbers[column] = self._named(
                self._dialect.number_of(self._names[column])
            )
            self._demand(self._card.columns[column], self._numbers[column])
        return self._numbers[column]

    def _demand(self, own: InputColumn, x: str) -> None:
        """What the values of a column must be, as the model does."""
        most = self._dialect.infinity
        missing = self._missing(x)
        conditions = {
            "count": f"{x} >= 0 AND {x} < {most}",
            "binary": f"{x} IN (0, 1)",
            "finite": f"{x} > -{most} AND {x} < {most}",
            "code": f"({missing} OR ({x} >= 0 AND {x} < {most} AND {x} = FLOOR({x})))",
            "number": f"({missing} OR ({x} > -{most} AND {x} < {most}))",
        }
        self.valid.append(conditions[own.kind])

    def _missing(self, x: str) -> str:
        nan = f" OR {self._dialect.is_nan(x)}" if self._dialect.has_nan else ""
        return f"({x} IS NULL{nan})"

    # ---------------------------------------------------------------- counts, normals

    def _add_counts(self, term: CountTerms) -> None:
        write, slopes = self._dialect.number, term.slopes
        for c, own in enumerate(slopes.offset.sum(axis=0).tolist()):
            if own:
                self.scores[c].append(write(own))
        for place, column in enumerate(term.columns):
            x = self._number(column)
            there = f"{x} <> 0"
            if term.binarize is not None:
                there = f"{x} > {self._dialect.bound(term.binarize)}"
                x = f"(CASE WHEN {there} THEN 1 ELSE 0 END)"
            for c in range(self._card.start.size):
                slope = float(slopes.slope[place, c])
                if slopes.never[place, c]:
                    value, other = NEVER, 0.0
                elif slopes.always[place, c]:
                    value, other = slope, NEVER
                else:
                    if slope:
                        self.scores[c].append(f"{x} * {write(slope)}")
                    continue
                self.scores[c].append(
                    f"(CASE WHEN {there} THEN {write(value)} ELSE {write(other)} END)"
                )

    def _add_normals(self, term: NormalTerms) -> None:
        write = self._dialect.number
        for column, mean, variance in zip(
            term.columns, term.mean, term.variance, strict=True
        ):
            x = self._number(column)
            for c in range(self._card.start.size):
                away = f"({x} - {write(mean[c])})"
                if variance[c] <= 0:
                    same = f"{x} = {self._dialect.bound(mean[c])}"
                    own = f"(CASE WHEN {same} THEN 0 ELSE {write(NEVER)} END)"
                else:
                    constant = -0.5 * math.log(2.0 * math.pi * variance[c])
                    width = math.sqrt(2.0 * variance[c])
                    own = self._density(f"{away} / {write(width)}", constant)
                self.scores[c].append(own)

    def _density(self, away: str, constant: float) -> str:
        """The logarithm of a density; where it would overflow it is impossible."""
        write = self._dialect.number
        square = f"({away}) * ({away})"
        return (
            f"(CASE WHEN ABS({away}) < {write(1e149)} "
            f"THEN {write(constant)} - {square} ELSE {write(NEVER)} END)"
        )

    # ------------------------------------------------------------------------- lookups

    def _add_lookups(self) -> None:
        """Each column is cut once, into a word that holds its place in each table."""
        cells, tables = tables_of(self._card)
        summands: list[list[str]] = [[] for _ in tables]
        for column, own in cells.items():
            users = [n for n, table in enumerate(tables) if column in table.columns]
            fields = np.stack([_steps(tables[n], column) for n in users])
            for n, part in zip(users, self._fields(own, fields), strict=True):
                summands[n].append(part)
        for table, parts in zip(tables, summands, strict=True):
            place = f"bayesieve_place_{len(self.third)}"
            self.third.append((place, " + ".join(["1", *parts])))
            values = table.values.reshape(-1, self._card.start.size)
            values = np.where(np.isneginf(values), NEVER, values)
            for c, scores in enumerate(self.scores):
                scores.append(self._dialect.pick(values[:, c].tolist(), place))

    def _fields(self, cells: Cells, fields: np.ndarray) -> list[str]:
        """Expressions for each of some integers that the cell of a row decides."""
        widths = [int(own.max()).bit_length() for own in fields]
        words, found = [np.zeros(fields.shape[1], dtype=np.int64)], []
        used = 0
        for own, width in zip(fields, widths, strict=True):
            if used + width > _WORD:
                words.append(np.zeros_like(words[0]))
                used = 0
            words[-1] += own << used
            found.append((len(words) - 1, used, (1 << width) - 1))
            used += width
        if len(words) == 1:
            names = [self._named(self._cut(cells, words[0]))]
        else:
            number = np.arange(1, fields.shape[1] + 1)
            cell, names = self._named(self._cut(cells, number)), []
            for own in words:
                names.append(f"bayesieve_word_{len(self.second)}")
                listed = self._dialect.pick(own.tolist(), cell, whole=True)
                self.second.append((names[-1], listed))
        if len(fields) == 1:
            return names
        return [self._dialect.field(names[n], *where) for n, *where in found]

    def _cut(self, cells: Cells, wanted: np.ndarray) -> str:
        """The integer that is wanted for the cell of each row."""
        own = self._card.columns[cells.column]
        if cells.bounds is not None:
            return self._interval(cells.column, cells.bounds, wanted.tolist())
        if own.kind == "code":
            bounds = np.arange(len(cells.values), dtype=np.float64)
            return self._interval(cells.column, bounds, wanted.tolist())
        return self._group(cells, wanted.tolist())

    def _interval(self, place: int, bounds: np.ndarray, wanted: list[int]) -> str:
        own, column = self._card.columns[place], self._names[place]
        *inside, gone = wanted
        kept = np.flatnonzero(np.diff(inside))  # bounds between unequal cells
        parts = [inside[cell] for cell in [*kept.tolist(), len(inside) - 1]]
        missing = f"{column} IS NULL"
        if own.kind == "time":
            compare = self._compare_times(own, column)
        elif own.origin is not None:
            whole = own.origin.whole
            compare = self._compare_whole(
                self._dialect.whole_of(column), lambda b: whole + _most_whole(b)
            )
            if self._dialect.loosely_typed:
                self._number(place)
        else:
            # Once more at this level: names of one level do not see each other.
            x = self._dialect.real(column)
            self._number(place)
            missing = self._missing(x)

            def compare(bound: float) -> str:
                return f"{x} <= {self._dialect.bound(bound)}"

        # No comparison is true of what is missing: it ends up on the right.
        last = f"CASE WHEN {missing} THEN {gone} ELSE {parts[-1]} END"
        return _tree(bounds[kept].tolist(), [*map(str, parts[:-1]), last], compare)

    def _compare_whole(
        self, column: str, last: Callable[[float], int]
    ) -> Callable[[float], str]:
        return lambda bound: f"{column} <= {self._dialect.whole(last(bound))}"

    def _compare_times(self, own: InputColumn, column: str) -> Callable[[float], str]:
        dialect = self._dialect
        if not dialect.has_times:
            raise ValueError(
                f"{dialect.title} has no dates that could be compared. Got a model "
                f"with the column {own.name!r}, which held times when it was fitted."
            )
        origin, micros = own.origin, dialect.micros(column)
        if origin is None:
            return self._compare_whole(micros, _last_micros)
        if origin.ticks > _PER_SECOND:
            nanos, ticks = dialect.nanos(column), 10**9
            if nanos is None:  # no finer than microseconds
                nanos, ticks = micros, _PER_SECOND
            return self._compare_whole(
                nanos,
                lambda b: _in_ticks(origin.whole + _most_whole(b), origin.ticks, ticks),
            )
        return self._compare_whole(
            micros,
            lambda b: _in_ticks(
                origin.whole + _most_whole(b), origin.ticks, _PER_SECOND
            ),
        )

    def _group(self, cells: Cells, wanted: list[int]) -> str:
        own, column = self._card.columns[cells.column], self._names[cells.column]
        *parts, others, missing = wanted
        x, write, gone = self._of_values(own, column, cells.values)
        listed = [
            (write(value), part)
            for value, part in zip(cells.values, parts, strict=True)
            if part != others
        ]
        most = self._dialect.most_listed
        if not listed:
            found = str(others)
        elif most is not None and len(listed) > most:
            name = f"bayesieve_values_{len(self.tables)}"
            self.tables.append((name, [(value, str(part)) for value, part in listed]))
            found = (
                f"COALESCE((SELECT MAX(v.part) FROM {name} AS v WHERE v.value = {x}), "
                f"{others})"
            )
        else:
            cases = " ".join(f"WHEN {value} THEN {part}" for value, part in listed)
            found = f"CASE {x} {cases} ELSE {others} END"
        return f"CASE WHEN {gone} THEN {missing} ELSE {found} END"

    def _word(self, value: str) -> str:
        return self._dialect.exact(self._dialect.text(value, "A category"))

    def _of_values(
        self, own: InputColumn, column: str, values: Sequence[Any]
    ) -> tuple[str, Callable[[Any], str], str]:
        """A column of categories, how its values are written, when one is missing."""
        plain = [v.item() if isinstance(v, np.generic) else v for v in values]
        kinds = {type(value) for value in plain}
        gone = f"{column} IS NULL"
        if kinds <= {str} and self._as_files:
            text, missing = category_of_files(self._dialect, column, plain)
            return text, self._word, missing
        if kinds <= {str}:
            return column, self._word, gone
        if kinds <= {bool, int, float} and self._dialect.loosely_typed:
            is_number = self._dialect.is_number(column)
            reads = f"CASE WHEN {column} IS NULL OR {is_number} THEN 1 ELSE 0 END"
            self.valid.append(f"{self._named(reads)} = 1")
        if kinds == {bool}:
            return self._dialect.flag(column), lambda v: str(int(v)), gone
        if kinds <= {bool, int}:
            return self._dialect.whole_of(column), lambda v: str(int(v)), gone
        if kinds <= {bool, int, float}:
            numbers = self._dialect.to_compare(column)
            return (
                numbers,
                lambda v: self._dialect.bound(float(v)),
                self._missing(numbers),
            )
        named = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(
            "Categories must be strings, or numbers and booleans, to be written in "
            f"SQL. Got {named} in the column {own.name!r}."
        )


def _steps(table: Table, column: int) -> np.ndarray:
    """What each cell of a column adds to the place in a table, if flattened."""
    axis = table.columns.index(column)
    step = prod(table.values.shape[axis + 1 : -1])
    return np.asarray(table.places[axis], dtype=np.int64) * step


def _tree(
    bounds: Sequence[float], parts: Sequence[str], compare: Callable[[float], str]
) -> str:
    """The part of an interval by quarters: few comparisons, few levels, no depth."""
    n_parts = len(parts)
    if n_parts == 1:
        return parts[0]
    edges = (
        [n_parts * own // 4 for own in range(5)] if n_parts > 4 else range(n_parts + 1)
    )
    pieces = [
        _tree(bounds[first : last - 1], parts[first:last], compare)
        for first, last in pairwise(edges)
    ]
    cases = " ".join(
        f"WHEN {compare(bounds[last - 1])} THEN {piece}"
        for last, piece in zip(edges[1:-1], pieces[:-1], strict=True)
    )
    return f"CASE {cases} ELSE {pieces[-1]} END"


def _most_whole(bound: float) -> int:
    """The largest integer that as a double is not above a bound."""
    if abs(bound) < 2**53:
        return math.floor(bound)
    last = (int(bound) + int(math.nextafter(bound, math.inf))) // 2
    while float(last) > bound:
        last -= 1
    return last


def _last_micros(bound: float) -> int:
    """The last microsecond whose seconds, as a double, are not above a bound."""
    last = math.floor(bound * _PER_SECOND)
    while (last + 1) / _PER_SECOND <= bound:
        last += 1
    while last / _PER_SECOND > bound:
        last -= 1
    return last


def _in_ticks(last: int, ticks: int, wanted: int) -> int:
    """The last of finer or coarser ticks that belongs to a tick or one before."""
    if wanted >= ticks:
        return (last + 1) * (wanted // ticks) - 1
    return last // (ticks // wanted)


def sum_of(parts: Sequence[str]) -> str:
    """A sum of any length."""
    return balanced(parts, "({} + {})")
