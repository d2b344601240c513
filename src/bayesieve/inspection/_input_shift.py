"""How rows to be scored differ from the rows a model was fitted on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from bayesieve._description import Description, describe
from bayesieve._pipeline import open_model
from bayesieve.naive_bayes._base import SupportClassifier
from bayesieve.naive_bayes._weighted import WeightedNaiveBayes
from bayesieve.partition._column import ColumnPartition
from bayesieve.preprocessing._prepare import part_indexes
from bayesieve.preprocessing._table_columns import Levels
from bayesieve.preprocessing._table_input import TableRows
from bayesieve.solvers._exact_tests import IndependenceTest

__all__ = ["ColumnShift", "InputShift", "InputWatch", "input_shift"]

#: Chance that any column at all is called shifted where none is.
_LEVEL = 0.01
#: Bits below which a change is too small to matter, however sure: a share that goes
#: from 50 to 62 %, or from 10 to 18 %. A stability index (PSI) of 0.1, by custom a
#: moderate shift, is about 0.018 bits; the index itself is infinite as soon as one part
#: is empty, which the divergence of Jensen and Shannon never is.
_LEAST_DIVERGENCE = 0.01
#: Rows that a sample counts as at most. What a million rows do not make sure is too
#: small to matter, and lists of outcomes stay short.
_MOST_TESTED = 1 << 20


@dataclass(frozen=True)
class ColumnShift:
    """How one column of the scored rows differs from that of the training rows.

    Attributes
    ----------
    name : str
    divergence : float
        Of Jensen and Shannon between the shares of the parts, in bits: 0 for the same
        shares, 1 for parts that have no row in common. NaN where the model has no
        counts of the column, or there are no rows.
    p_value : float
        Least chance, over the parts and times their number, that a part has shares as
        different in two samples of one population.
    adjusted_p_value : float
        Times the number of columns the model could choose among, at most 1.
    shifted : bool
        Whether `adjusted_p_value` is at most 0.01 and `divergence` at least 0.01.
    part : str or None
        The part whose share has changed most surely.
    training_share, scored_share : float
        Shares of that part, NaN without one.
    unseen_rows : int
        Rows with a category, or a missing value, that was never met in training.
    unseen_example : object
        The first of them, None for a missing value.
    outside_rows : int
        Rows with a number outside the range of training.
    outside_example : float, str or None
        The one that is furthest outside; a time as text.
    training_range : tuple of two, or None
        Least and largest number of training; None where it is not known.
    """

    name: str
    divergence: float = np.nan
    p_value: float = 1.0
    adjusted_p_value: float = 1.0
    shifted: bool = False
    part: str | None = None
    training_share: float = np.nan
    scored_share: float = np.nan
    unseen_rows: int = 0
    unseen_example: Any = None
    outside_rows: int = 0
    outside_example: float | str | None = None
    training_range: tuple[float | str, float | str] | None = None


@dataclass(frozen=True)
class InputShift:
    """How scored rows differ from the training rows, in the columns a model uses.

    Attributes
    ----------
    n_rows : int
        Rows that were looked at.
    columns : list of ColumnShift
        In the order of the columns; those without a weight cannot change a prediction
        and are left out.
    tested : bool
        Whether the model has counts to compare shares with.
    rows_without_features : int or None
        Rows with none of the selected terms or features; None for a mixed table.
    """

    n_rows: int
    columns: list[ColumnShift]
    tested: bool
    rows_without_features: int | None = None

    @property
    def shifted(self) -> list[ColumnShift]:
        """The columns that have shifted, the largest divergence first."""
        found = [column for column in self.columns if column.shifted]
        return sorted(found, key=lambda column: -column.divergence)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, with the names of the shifted columns."""
        return asdict(self) | {"shifted": [column.name for column in self.shifted]}


def input_shift(model: Any, X: Any, *, feature_names: Any = None) -> InputShift:
    """Compare rows with those a model was fitted on, column by column.

    The model keeps how many training rows each part of a column had (of a text or a
    wide matrix: how many had the term or feature). A part whose share of the scored
    rows could not be so different in two samples of one population has shifted. The
    test is **exact** at low counts, so twenty rows of the same population are not
    called shifted; the chance that any column is, where none is, stays below 1 %.

    Parameters
    ----------
    model : classifier
        A fitted classifier of the package, alone, at the end of a Pipeline, or as
        ``(vectorizer, model)``.
    X : DataFrame, array, sparse matrix or sequence of str
        Rows as for ``model.predict``; at least one.
    feature_names : array-like of str of shape (n_features_in_,), optional
        Names of the columns that reach the classifier, where nothing knows them.

    Returns
    -------
    InputShift
        With the columns that the model uses. Means of measurements are no counts:
        columns of `SparseGaussianNB` are not tested, nor are features of a model that
        was fitted on chunks or ready counts which do not know the rows, nor the n-grams
        of a stream.

    Notes
    -----
    One pass over the rows, O(columns in use) memory. The test is conditional on the
    counts of both samples, so it holds for selected columns too: p-values are
    multiplied by the number of columns there were to choose among.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SelectiveNB
    >>> from bayesieve.inspection import input_shift
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = (X[:, 0] + X[:, 2] > 0).astype(int)
    >>> model = SelectiveNB().fit(X, y)
    >>> new = rng.normal(size=(200, 3))
    >>> input_shift(model, new).shifted
    []
    >>> new[:, 2] += 1
    >>> [column.name for column in input_shift(model, new).shifted]
    ['x2']
    """
    watch = InputWatch(model, feature_names)
    watch.read(X)
    return watch.result()


class InputWatch:
    """Takes batches of scored rows in constant memory, and compares them at the end."""

    def __init__(self, model: Any, feature_names: Any = None) -> None:
        opened = open_model(model, feature_names)
        opened.require_last("input_shift")
        self._opened, self._rows, model = opened, 0, opened.model
        self._tally: _Tally
        if isinstance(model, SupportClassifier):
            self._tally = _PresenceTally(model, describe(opened).names)
        elif isinstance(model, WeightedNaiveBayes) and model.partitions_:
            self._tally = _TableTally(model, describe(opened))
        elif isinstance(model, WeightedNaiveBayes):  # of ready-made log-likelihoods
            self._tally = _NoTally()
        else:
            raise TypeError(
                "A fitted classifier of bayesieve is needed. "
                f"Got {type(model).__name__}."
            )

    def read(self, X: Any) -> np.ndarray:
        """Take rows, and return their class probabilities: they are read once."""
        model, X = self._opened.model, self._opened.rows(X)
        if isinstance(self._tally, _NoTally):
            proba = model.predict_proba(X)
        else:
            rows = self._tally.rows_of(X)
            proba = model._proba_of(rows)
            self._tally.add(rows)
        self._rows += proba.shape[0]
        return np.asarray(proba)

    def result(self) -> InputShift:
        """Compare what was taken so far."""
        columns = self._tally.columns(self._rows)
        return InputShift(
            self._rows, columns, self._tally.tested, self._tally.without_features
        )


# ----------------------------------------------------------------------------- tallies


class _Tally(ABC):
    """Counts of scored rows beside those of the training rows."""

    tested = False
    without_features: int | None = None

    @abstractmethod
    def rows_of(self, X: Any) -> Any:
        """Read rows as the model does."""

    @abstractmethod
    def add(self, rows: Any) -> None:
        """Count rows."""

    @abstractmethod
    def columns(self, n_rows: int) -> list[ColumnShift]:
        """Compare the columns in use."""


class _NoTally(_Tally):
    """Of a model that knows nothing about its columns."""

    def rows_of(self, X: Any) -> Any:
        """Never asked for."""
        raise NotImplementedError

    def add(self, rows: Any) -> None:
        """Count nothing."""

    def columns(self, n_rows: int) -> list[ColumnShift]:
        """Nothing is known."""
        return []


class _PresenceTally(_Tally):
    """Rows with each selected term or feature."""

    def __init__(self, model: Any, names: list[str]) -> None:
        self._model, self._names = model, names
        self._found = np.zeros(len(self._names), dtype=np.int64)
        rows = model._frequency_rows
        self._known: np.ndarray | None = None if rows is None else model._frequency
        self.tested = self._known is not None and len(self._names) > 0
        # Measurements are hardly ever zero, and zero is a value like others.
        counted = model._count_kind() in ("count", "binary")
        self.without_features = 0 if counted else None

    def rows_of(self, X: Any) -> Any:
        """Read the selected columns."""
        return self._model._selected_columns(X)

    def add(self, rows: Any) -> None:
        """Count the rows that have each column, and those that have none."""
        if self.without_features is None:
            return
        present = rows > (getattr(self._model, "binarize", None) or 0.0)
        self._found += np.asarray(present.sum(axis=0)).ravel()
        with_some = np.count_nonzero(np.asarray(present.sum(axis=1)))
        self.without_features += int(rows.shape[0] - with_some)

    def columns(self, n_rows: int) -> list[ColumnShift]:
        """Compare the share of the rows that have each column."""
        if self._known is None or not n_rows:
            return [ColumnShift(name) for name in self._names]
        total = float(self._model._frequency_rows)
        with_it = np.minimum(self._known, total)
        cells = [
            _Cells(
                [("present", ours, theirs), ("absent", total - ours, n_rows - theirs)]
            )
            for ours, theirs in zip(with_it.tolist(), self._found.tolist(), strict=True)
        ]
        tests = _compared(cells, total, n_rows, self._model.n_features_in_)
        return [
            ColumnShift(name, **test)
            for name, test in zip(self._names, tests, strict=True)
        ]


class _TableTally(_Tally):
    """Rows in each part of the columns with a weight, and values never met."""

    tested = True

    def __init__(self, model: Any, described: Description) -> None:
        self._model, self._reader = model, model._reader
        self._n_candidates = described.n_features
        assert described.table is not None
        self._names = [own.name for own in described.table.partitions]
        texts = self._reader.text  # whose terms are no parts
        self._used = [j for j in model.support_indices_.tolist() if not texts[j]]
        self._all = model.partitions_
        numbers = {int(j): at for at, j in enumerate(self._reader.numeric_columns)}
        levels = {int(j): at for at, j in enumerate(self._reader.categorical_columns)}
        self._columns: list[_NumberColumn | _CategoryColumn] = [
            _NumberColumn(model, j, numbers[j])
            if j in numbers
            else _CategoryColumn(model, j, levels[j])
            for j in self._used
        ]
        self._texts = [
            _TextColumn(place, self._names[own.column], own.ngrams)
            for place, own in enumerate(getattr(model, "_texts", ()))
        ]

    def rows_of(self, X: Any) -> TableRows:
        """Read the table."""
        found: TableRows = self._model._read_more(X)
        return found

    def add(self, rows: TableRows) -> None:
        """Count the rows in each part, and look at the values."""
        parts = part_indexes(
            self._all, self._used, self._reader, rows.numbers, rows.levels
        )
        for at, column in enumerate(self._columns):
            column.add(parts[:, at], rows)
        for text in self._texts:
            text.add(rows)

    def columns(self, n_rows: int) -> list[ColumnShift]:
        """Compare the shares of the parts."""
        total = float(self._model.class_count_.sum())
        cells = [column.cells() for column in self._columns]
        terms = [own for text in self._texts for own in text.cells(total, n_rows)]
        cells += [own for _, own in terms]
        tests = _compared(cells, total, n_rows, self._n_candidates)
        n_columns = len(self._columns)
        found = [
            ColumnShift(self._names[j], **test, **column.never_met())
            for j, column, test in zip(
                self._used, self._columns, tests[:n_columns], strict=True
            )
        ]
        return found + [
            ColumnShift(name, **test)
            for (name, _), test in zip(terms, tests[n_columns:], strict=True)
        ]


class _TextColumn:
    """One column of texts: rows with each of its n-grams in use."""

    def __init__(self, place: int, name: str, ngrams: Any) -> None:
        self._place, self._name, self._ngrams = place, name, ngrams
        self._found = np.zeros(len(ngrams.names), dtype=np.int64)

    def add(self, rows: TableRows) -> None:
        """Count the texts that have each n-gram."""
        counts = self._ngrams.rows(rows.texts[self._place])
        self._found += np.bincount(counts.indices, minlength=self._found.size)

    def cells(self, total: float, n_rows: int) -> list[tuple[str, _Cells]]:
        """Texts with and without each n-gram; none where training kept no counts."""
        if self._ngrams.documents is None or not n_rows:
            return []
        known = np.minimum(self._ngrams.documents, total).tolist()
        return [
            (
                f'{self._name}: "{term}"',
                _Cells([("present", a, b), ("absent", total - a, n_rows - b)]),
            )
            for term, a, b in zip(
                self._ngrams.names.tolist(), known, self._found.tolist(), strict=True
            )
        ]


class _TableColumn(ABC):
    """One column of a mixed table: rows in its parts, missing values apart."""

    def __init__(self, partition: ColumnPartition, trained_missing: float) -> None:
        self.partition = partition
        self._trained_missing = trained_missing  # NaN where it is not known
        self._found = np.zeros(partition.n_parts, dtype=np.int64)
        self._missing = 0

    @abstractmethod
    def add(self, parts: np.ndarray, rows: TableRows) -> None:
        """Count rows."""

    @abstractmethod
    def never_met(self) -> dict[str, Any]:
        """Values that training did not have, as fields of a `ColumnShift`."""

    @abstractmethod
    def _part_of_missing(self) -> int:
        """The part in which a missing value falls."""

    def _count(self, parts: np.ndarray, missing: np.ndarray) -> None:
        self._found += np.bincount(parts, minlength=self.partition.n_parts)
        self._missing += int(np.count_nonzero(missing))

    def cells(self) -> _Cells:
        """Training and scored rows of each part; missing values are a part."""
        labels, lost = self.partition.labels, self._trained_missing
        trained = self.partition.counts.sum(axis=1).tolist()
        cells = list(zip(labels, trained, self._found.tolist(), strict=True))
        own = self._part_of_missing()
        nothing = np.isnan(lost) or not (lost > 0 or self._missing)
        if nothing or labels[own] == "missing":  # or apart already
            return _Cells(cells)
        label, ours, theirs = cells[own]
        lost = min(lost, ours)
        cells[own] = (label, ours - lost, theirs - self._missing)
        return _Cells([*cells, ("missing", lost, self._missing)])


class _NumberColumn(_TableColumn):
    """A column of numbers or times."""

    def __init__(self, model: Any, column: int, place: int) -> None:
        rows = model._missing_rows
        lost = np.nan if rows is None else float(rows[column])
        super().__init__(model.partitions_[column], lost)
        self._place = place
        known = [np.nan, np.nan] if model._ranges is None else model._ranges[column]
        self._low, self._high = float(known[0]), float(known[1])
        self._outside, self._furthest = 0, np.nan

    def _part_of_missing(self) -> int:
        return 0

    def add(self, parts: np.ndarray, rows: TableRows) -> None:
        values = rows.numbers[:, self._place]
        self._count(parts, np.isnan(values))
        away = np.fmax(self._low - values, values - self._high)
        outside = away > 0
        if outside.any():
            self._outside += int(np.count_nonzero(outside))
            far = float(values[np.nanargmax(away)])
            before = max(self._low - self._furthest, self._furthest - self._high)
            if not before >= max(self._low - far, far - self._high):
                self._furthest = far

    def never_met(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if not np.isnan(self._low):
            found["training_range"] = (self._shown(self._low), self._shown(self._high))
        if self._outside:
            found["outside_rows"] = self._outside
            found["outside_example"] = self._shown(self._furthest)
        if self._missing and self._trained_missing == 0:
            found["unseen_rows"] = self._missing
        return found

    def _shown(self, number: float) -> float | str:
        own = self.partition
        plain = not own.is_time and own.origin is None
        return float(number) if plain else own.shown(float(number))


class _CategoryColumn(_TableColumn):
    """A column of categories."""

    def __init__(self, model: Any, column: int, place: int) -> None:
        partition = model.partitions_[column]
        self._met = set(partition.values)
        lost = 0.0
        if None in self._met:
            lost = float(partition.value_counts[partition.values.index(None)].sum())
        super().__init__(partition, lost)
        self._place = place
        self._unseen, self._example = 0, ""

    def _part_of_missing(self) -> int:
        [part] = self.partition.assign_levels(np.zeros(1, dtype=np.int64), [None])
        return int(part)

    def add(self, parts: np.ndarray, rows: TableRows) -> None:
        level: Levels = rows.levels[self._place]
        self._count(parts, _rows_of([v is None for v in level.values], level))
        new = _rows_of([value not in self._met for value in level.values], level)
        if new.any():
            if not self._unseen:
                self._example = level.values[level.codes[np.argmax(new)]]
            self._unseen += int(np.count_nonzero(new))

    def never_met(self) -> dict[str, Any]:
        if not self._unseen:
            return {}
        return {"unseen_rows": self._unseen, "unseen_example": self._example}


def _rows_of(chosen: Sequence[bool], level: Levels) -> np.ndarray:
    """Whether each row has one of the chosen values."""
    if not len(chosen):
        return np.zeros(level.codes.shape[0], dtype=bool)
    return np.asarray(np.array(chosen)[level.codes])


# --------------------------------------------------------------------------- comparing


class _Cells:
    """The parts of a column: (label, training rows, scored rows) each."""

    def __init__(self, parts: list[tuple[str, float, int]]) -> None:
        self.labels = [label for label, _, _ in parts]
        self.counts = np.array([own[1:] for own in parts], dtype=np.float64).T


def _compared(
    columns: list[_Cells], total: float, n_rows: int, n_candidates: int
) -> list[dict[str, Any]]:
    """Fields of a `ColumnShift` for each column: every part against the others.

    A test of all parts of a column at once has a chi-square limit that twenty rows are
    far from, and says nothing of where the change is. One part against the rest is a
    table of two by two, whose p-value is a sum; the least one times the number of parts
    holds at every count. Columns were selected by the same training rows, so the number
    of tests is that of the columns there were to choose among.
    """
    if not columns:
        return []
    sizes = np.rint(np.minimum([total, n_rows], _MOST_TESTED))
    if sizes.min() < 1:
        return [{} for _ in columns]
    test = IndependenceTest(sizes.astype(np.int64))
    counts = np.hstack([own.counts for own in columns])
    shares = np.minimum(counts / np.array([[total], [n_rows]]), 1.0)
    every = test.pvalues(np.rint(shares * sizes[:, None]))
    ends = np.cumsum([own.counts.shape[1] for own in columns])
    found = []
    for own, p_values, share in zip(
        columns,
        np.split(every, ends[:-1]),
        np.split(shares, ends[:-1], axis=1),
        strict=True,
    ):
        n_parts = p_values.shape[0]
        # Of two parts each is all that the other is not: one test.
        tests = 1 if n_parts == 2 else n_parts
        at = int(np.argmin(p_values[:tests]))
        p_value = min(1.0, tests * float(p_values[at]))
        adjusted = min(1.0, n_candidates * p_value)
        divergence = _divergence(share)
        found.append(
            {
                "divergence": divergence,
                "p_value": p_value,
                "adjusted_p_value": adjusted,
                "shifted": adjusted <= _LEVEL and divergence >= _LEAST_DIVERGENCE,
                "part": own.labels[at],
                "training_share": float(share[0, at]),
                "scored_share": float(share[1, at]),
            }
        )
    return found


def _divergence(shares: np.ndarray) -> float:
    """Jensen-Shannon divergence of two rows of shares, in bits."""
    middle = shares.mean(axis=0)
    bits = (xlogy(shares, shares).sum(axis=1).mean() - xlogy(middle, middle).sum()) / (
        np.log(2.0)
    )
    return min(max(float(bits), 0.0), 1.0)
