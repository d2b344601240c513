"""A fitted classifier as a plain additive score: what any other engine needs of it.

The score of class c is ``start[c]`` and what each term adds for c; the largest score
wins, and the softmax of the scores are the probabilities. Terms are of four kinds, in
NumPy arrays alone. An estimator declares its scorecard in its own class (`_scorecard`);
whoever writes models in another language reads that and looks at nothing else.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.special import softmax

from bayesieve.partition._column import ColumnPartition
from bayesieve.partition._partition import IntervalPartition
from bayesieve.text._matching import TermMatcher
from bayesieve.text._options import TextOptions
from bayesieve.text._term_names import TermNames
from bayesieve.utils._exact_numbers import Origin
from bayesieve.utils._validation import is_missing

__all__ = [
    "Axis",
    "CountTerms",
    "InputColumn",
    "Intervals",
    "LookupTerm",
    "NormalTerms",
    "Scorecard",
    "Slopes",
    "Term",
    "TextTerms",
    "Values",
    "axis_of",
]

#: Part of an axis of which nothing is known.
UNKNOWN = -1

#: What a column holds, and what it must not hold:
#: "count": numbers >= 0, none missing; "binary": 0 and 1, none missing; "finite":
#: numbers, none missing; "code": 0, 1, 2, ... or missing; "number": finite numbers or
#: missing; "time": dates, times or durations, or missing; "category": anything, or
#: missing; "text": strings; "note": strings, or missing, which is an empty text.
Kind = Literal[
    "count", "binary", "finite", "code", "number", "time", "category", "text", "note"
]


@dataclass(frozen=True, eq=False)
class InputColumn:
    """A column that a scorecard reads.

    Attributes
    ----------
    name : str
        ``x7`` where columns have no names.
    number : int
        Its place among the columns that rows have.
    kind : str
        What it holds, see `Kind`.
    origin : Origin or None
        Of "number" and "time": where numbers are counted from. None: numbers as they
        are, times in seconds since 1970 (durations in seconds), as doubles.
    """

    name: str
    number: int
    kind: Kind
    origin: Origin | None = None


@dataclass(frozen=True, eq=False)
class Slopes:
    """What counts, or presences, of k things add to the scores: linear in them.

    Attributes
    ----------
    slope : ndarray of shape (k, n_classes)
        What one of each adds; finite.
    offset : ndarray of shape (k, n_classes)
        What each adds whatever its count; finite.
    never, always : ndarray of bool of shape (k, n_classes)
        Classes that cannot produce a row which has some of it, and a row which has
        none: their score is minus infinity then.
    """

    slope: np.ndarray
    offset: np.ndarray
    never: np.ndarray
    always: np.ndarray

    @classmethod
    def from_logs(cls, present: np.ndarray, absent: np.ndarray) -> Slopes:
        """From what one of each adds and what none of it does, maybe minus infinity."""
        never, always = np.isneginf(present), np.isneginf(absent)
        offset = np.where(always, 0.0, absent)
        slope = np.where(never, 0.0, present) - offset
        return cls(np.where(never, 0.0, slope), offset, never, always)

    def scores(self, counts: Any) -> np.ndarray:
        """What rows of counts, of shape (n_rows, k), add to each class."""
        found = np.asarray(counts @ self.slope) + self.offset.sum(axis=0)
        if self.never.any() or self.always.any():
            there = (counts != 0).astype(np.float64)
            unexpected = np.asarray(there @ self.never.astype(np.float64))
            met = np.asarray(there @ self.always.astype(np.float64))
            found[(unexpected > 0) | (met < self.always.sum(axis=0))] = -np.inf
        return np.asarray(found)

    def take(self, chosen: np.ndarray) -> Slopes:
        """Those of some of the things."""
        return Slopes(
            self.slope[chosen],
            self.offset[chosen],
            self.never[chosen],
            self.always[chosen],
        )


@dataclass(frozen=True, eq=False)
class CountTerms:
    """Terms that are linear in the counts, or the presences, of columns.

    Attributes
    ----------
    columns : tuple of int
        Places of the k columns in `Scorecard.columns`.
    slopes : Slopes
    binarize : float or None
        Values above it count as 1, others as 0; None: values count as they are.
    """

    columns: tuple[int, ...]
    slopes: Slopes
    binarize: float | None = None

    def joint(self, columns: Sequence[Any]) -> np.ndarray:
        """What the terms add to each class, of shape (n_rows, n_classes)."""
        n_rows = len(columns[self.columns[0]]) if self.columns else 0
        values = np.empty((n_rows, len(self.columns)))
        for place, column in enumerate(self.columns):
            values[:, place] = columns[column]
        if self.binarize is not None:
            values = (values > self.binarize).astype(np.float64)
        return self.slopes.scores(values)


@dataclass(frozen=True, eq=False)
class TextTerms:
    """Terms that are linear in the counts, or presences, of n-grams of a text.

    Attributes
    ----------
    column : int
        Place of the text in `Scorecard.columns`.
    terms : tuple of str
        The k n-grams, distinct.
    options : TextOptions
        How texts are cut; with `binary` an n-gram counts once.
    slopes : Slopes
    binarize : float or None
        Counts above it count as 1, others as 0; None: counts as they are.
    """

    column: int
    terms: tuple[str, ...]
    options: TextOptions
    slopes: Slopes
    binarize: float | None = None

    def counts(self, texts: Sequence[Any]) -> Any:
        """What the slopes are multiplied by: a csr_array of shape (n_rows, k)."""
        matcher = TermMatcher(TermNames.from_strings(self.terms), self.options)
        found = matcher.rows(["" if is_missing(own) else own for own in texts])
        if self.binarize is not None:
            above = (found.data > self.binarize).astype(np.float64)
            found = sparse.csr_array(
                (above, found.indices, found.indptr), shape=found.shape
            )
            found.eliminate_zeros()
        return found

    def joint(self, columns: Sequence[Any]) -> np.ndarray:
        """What the terms add to each class, of shape (n_rows, n_classes)."""
        return self.slopes.scores(self.counts(columns[self.column]))


@dataclass(frozen=True, eq=False)
class NormalTerms:
    """Logarithms of normal densities of measurements: quadratic in columns.

    Attributes
    ----------
    columns : tuple of int
        Places of the k columns in `Scorecard.columns`.
    mean, variance : ndarray of shape (k, n_classes)
        A variance of 0 makes the mean certain, which adds nothing, and any other value
        impossible.
    """

    columns: tuple[int, ...]
    mean: np.ndarray
    variance: np.ndarray

    def joint(self, columns: Sequence[Any]) -> np.ndarray:
        """What the terms add to each class, of shape (n_rows, n_classes)."""
        found: Any = 0.0
        for column, mean, variance in zip(
            self.columns, self.mean, self.variance, strict=True
        ):
            certain = variance <= 0
            width = np.where(certain, 1.0, variance)
            distance = np.asarray(columns[column], dtype=np.float64)[:, None] - mean
            term = -0.5 * (np.log(2.0 * np.pi * width) + distance**2 / width)
            miss = np.where(distance == 0, 0.0, -np.inf)
            found = found + np.where(certain, miss, term)
        return np.asarray(found)


@dataclass(frozen=True, eq=False)
class Intervals:
    """Parts of a column of numbers or times.

    Attributes
    ----------
    column : int
        Place in `Scorecard.columns`.
    bounds : ndarray of shape (n_intervals - 1,)
        Finite, ascending. Interval i is ``]bounds[i - 1], bounds[i]]``; of a column
        with an origin, counted from there.
    parts : ndarray of int of shape (n_intervals,)
        Part of each interval, `UNKNOWN` where nothing is known.
    missing : int
        Part of missing values.
    """

    column: int
    bounds: np.ndarray
    parts: np.ndarray
    missing: int

    def place(self, columns: Sequence[Any]) -> np.ndarray:
        """Part of each row."""
        values = np.asarray(columns[self.column], dtype=np.float64)
        found = self.parts[np.searchsorted(self.bounds, values, side="left")]
        return np.where(np.isnan(values), self.missing, found)


@dataclass(frozen=True, eq=False)
class Values:
    """Parts of a column of categories.

    Attributes
    ----------
    column : int
        Place in `Scorecard.columns`.
    values : tuple
        Distinct strings, numbers, booleans or other plain values; none is missing.
        They are told apart as Python does: 1, 1.0 and True are one, "1" is another.
    parts : ndarray of int of shape (n_values,)
        Part of each value, `UNKNOWN` where nothing is known.
    missing, others : int
        Part of missing values, and of values that are not listed.
    """

    column: int
    values: tuple[Hashable, ...]
    parts: np.ndarray
    missing: int
    others: int

    def place(self, columns: Sequence[Any]) -> np.ndarray:
        """Part of each row."""
        known = dict(zip(self.values, self.parts.tolist(), strict=True))
        return np.array(
            [
                self.missing if is_missing(value) else known.get(value, self.others)
                for value in columns[self.column]
            ],
            dtype=np.int64,
        )


Axis = Intervals | Values


@dataclass(frozen=True, eq=False)
class LookupTerm:
    """A term that is looked up by the parts of one, two or three columns.

    Attributes
    ----------
    axes : tuple of Intervals or Values
    table : ndarray of shape (n_parts of each axis ..., n_classes)
        What it adds in each cell; finite or minus infinity.
    unknown : ndarray of shape (n_classes,)
        What it adds where the part of any axis is `UNKNOWN`.
    """

    axes: tuple[Axis, ...]
    table: np.ndarray
    unknown: np.ndarray

    def joint(self, columns: Sequence[Any]) -> np.ndarray:
        """What the term adds to each class, of shape (n_rows, n_classes)."""
        parts = [axis.place(columns) for axis in self.axes]
        found = self.table[tuple(parts)]
        found[np.any([own == UNKNOWN for own in parts], axis=0)] = self.unknown
        return np.asarray(found)


Term = CountTerms | TextTerms | NormalTerms | LookupTerm


@dataclass(frozen=True, eq=False)
class Scorecard:
    """A fitted classifier, reduced to the scores of its classes.

    Attributes
    ----------
    labels : ndarray of shape (n_classes,)
        Of equal scores, the first class wins.
    start : ndarray of shape (n_classes,)
        Scores before any term, minus infinity for a class that never is. A row that no
        class can produce, whose scores are all minus infinity, has these scores.
    columns : tuple of InputColumn
        What rows must have.
    terms : tuple
        `CountTerms`, `TextTerms`, `NormalTerms` and `LookupTerm`.
    n_columns : int
        Columns of the rows, in use or not; 0 where rows are single texts.
    spread : float
        Probabilities p end as ``(p + spread / n_classes) / (1 + spread)``.
    owner : str
        Name of the estimator's class.
    """

    labels: np.ndarray
    start: np.ndarray
    columns: tuple[InputColumn, ...]
    terms: tuple[Term, ...]
    n_columns: int
    spread: float = 0.0
    owner: str = ""

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.labels.shape[0])

    def joint(self, columns: Sequence[Any], n_rows: int) -> np.ndarray:
        """Scores of rows, of shape (n_rows, n_classes): what others must reproduce.

        Parameters
        ----------
        columns : sequence
            What the rows hold in each of `columns`: float64 with NaN for missing, for
            times and numbers with an origin as `InputColumn` says; values of
            categories; strings.
        n_rows : int
        """
        found = np.tile(self.start, (n_rows, 1))
        for term in self.terms:
            found += term.joint(columns)
        found[np.isneginf(found).all(axis=1)] = self.start
        return found

    def probabilities(self, joint: np.ndarray) -> np.ndarray:
        """Class probabilities from scores."""
        found = softmax(joint, axis=1)
        return np.asarray((found + self.spread / self.n_classes) / (1.0 + self.spread))

    def predict(self, joint: np.ndarray) -> np.ndarray:
        """Labels from scores."""
        return np.asarray(self.labels[np.argmax(joint, axis=1)])

    def renumbered(self, numbers: np.ndarray, n_columns: int) -> Scorecard:
        """The same for rows of which a step before the model takes some columns.

        `numbers` are those of the columns taken, among `n_columns`.
        """
        columns = tuple(
            replace(own, number=int(numbers[own.number])) for own in self.columns
        )
        return replace(self, columns=columns, n_columns=n_columns)


def axis_of(cut: ColumnPartition, column: int, cells: np.ndarray | None = None) -> Axis:
    """The axis of a column that was cut, with a part for each interval or group.

    Parameters
    ----------
    cut : ColumnPartition
    column : int
        Place in `Scorecard.columns`.
    cells : ndarray of int of shape (n_parts,), optional
        Part of each interval or group, where these are put together; by default each
        is a part.
    """
    cells = np.arange(cut.n_parts) if cells is None else np.asarray(cells, np.int64)
    if isinstance(cut.parts, IntervalPartition):
        bounds = cut.parts.bounds
        alone = int(cut.parts.missing_alone)  # a part for missing values only
        return Intervals(column, bounds[alone:], cells[alone:], int(cells[0]))
    others = int(cells[cut.parts.default_group])
    groups = cut.parts.group.tolist()
    known = {v: int(cells[g]) for v, g in zip(cut.values, groups, strict=True)}
    missing = known.pop(None, others)
    parts = np.array([*known.values()], dtype=np.int64)
    return Values(column, tuple(known), parts, missing, others)
