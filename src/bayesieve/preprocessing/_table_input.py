"""How estimators of mixed tables take their rows: frames or arrays, labels, weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from bayesieve._description import Saved, SelfDescribing
from bayesieve.partition._column import ColumnPartition
from bayesieve.partition._group import ValueGrouping
from bayesieve.preprocessing._mixed_columns import columns_of, refuse_another_kind
from bayesieve.preprocessing._table_columns import Levels, TableReader, match_by_name
from bayesieve.utils._resources import KeepsToJobs
from bayesieve.utils._validation import check_weights, encode_labels, refuse_one_class
from bayesieve.utils._warnings import warn_of_small_weights

__all__ = ["LabelledRows", "TableEstimator", "TableRows", "read_labels"]


@dataclass(frozen=True)
class TableRows:
    """Rows of a table: numeric columns side by side, categorical ones coded, texts."""

    numbers: np.ndarray
    levels: list[Levels]
    texts: list[list[str]] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.numbers.shape[0])

    def take(self, rows: np.ndarray) -> TableRows:
        """Return some of the rows."""
        return TableRows(
            self.numbers[rows],
            [Levels(level.codes[rows], level.values) for level in self.levels],
            [[column[row] for row in rows.tolist()] for column in self.texts],
        )


@dataclass(frozen=True)
class LabelledRows:
    """Training rows with the code of their class, and their weights if not all one."""

    table: TableRows
    codes: np.ndarray
    weights: np.ndarray | None
    classes: np.ndarray


class TableEstimator(KeepsToJobs, SelfDescribing, BaseEstimator):
    """Base of the estimators that take mixed tables; columns are matched by name."""

    _saved: ClassVar[dict[str, Saved]] = {
        "class_count_": Saved("floats", "C", domain="counts"),
        "levels_": Saved("floats", "m", domain="any"),
        "_reader": Saved("table reader"),
        "partitions_": Saved("partitions"),
        "_ranges": Saved("floats", "m", 2, domain="any", optional=True),
        "_missing_rows": Saved("floats", "m", domain="counts", optional=True),
    }
    #: Least and largest number of each column that was learnt from, and its missing
    #: rows by their weight: NaN and 0 for columns that are not numbers. None in models
    #: of earlier versions.
    _ranges: np.ndarray | None = None
    _missing_rows: np.ndarray | None = None

    def _restore(self, values: dict[str, Any]) -> None:
        """Partitions and reader of a file know neither names nor classes."""
        reader, partitions = values["_reader"], values["partitions_"]
        grouped = [isinstance(own.parts, ValueGrouping) for own in partitions]
        if grouped != reader.categorical.tolist():
            raise ValueError("'partitions_' and '_reader' differ in what columns are")
        if not values["class_count_"].any():
            raise ValueError("'class_count_' does not hold counts")
        super()._restore(values)
        named = hasattr(self, "feature_names_in_")
        names = self._column_names()
        reader.names = [
            f"column {n!r}" if named else f"column {j}" for j, n in enumerate(names)
        ]
        self.partitions_ = self._named_columns(partitions)

    def _named_columns(self, found: Sequence[ColumnPartition]) -> list[ColumnPartition]:
        """Columns of a file with the names and classes of the model."""
        names, origins = self._column_names(), self._reader.origins
        return [
            replace(own, name=n, classes=self.classes_, origin=origins.get(j))
            for j, (n, own) in enumerate(zip(names, found, strict=True))
        ]

    def _match(self, X: Any) -> Any:
        names = getattr(self, "feature_names_in_", None)
        return X if names is None else match_by_name(X, names.tolist())

    def _read_first(
        self, X: Any, categorical_features: Any, text_features: Any = None
    ) -> TableRows:
        """Settle what each column is, and read the rows."""
        reader, numbers, levels = TableReader.from_table(
            X, categorical_features, text_features
        )
        validate_data(self, X, reset=True, skip_check_array=True)
        self._reader = reader
        self._ranges = np.full((self.n_features_in_, 2), np.nan)
        self._missing_rows = np.zeros(self.n_features_in_)
        return TableRows(numbers, levels, reader.texts(X))

    def _read_more(self, X: Any, *, learn: bool = False) -> TableRows:
        """Read rows of the kind met in fit, to learn from them or to predict."""
        X = self._match(X)
        if isinstance(X, np.ndarray) and X.ndim != 2:
            columns_of(X)  # says what is wrong
        if isinstance(X, list | tuple) and any(isinstance(row, str) for row in X[:1]):
            columns_of(X)
        # The check of names and numbers costs more than a chunk of a stream takes.
        plain = isinstance(X, np.ndarray) and not hasattr(self, "feature_names_in_")
        if not plain or X.shape[1:] != (self.n_features_in_,):
            validate_data(self, X, reset=False, skip_check_array=True)
        numbers, levels = self._reader.read(X, learn=learn)
        own = self._reader.categorical_columns.tolist()
        for j, level in zip(own, levels, strict=True):
            known = self.partitions_[j].values
            refuse_another_kind(known, level.values, self._reader.names[j])
        return TableRows(numbers, levels, self._reader.texts(X))

    def _column_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
        return [f"x{j}" for j in range(self.n_features_in_)]

    def _with_labels(
        self, table: TableRows, y: Any, sample_weight: Any, classes: Any = None
    ) -> LabelledRows:
        """Check labels and weights; rows of weight zero are as if they were not."""
        codes, weights, found = read_labels(
            self, y, table.n_rows, sample_weight, classes
        )
        if weights is not None and not weights.all():
            there = np.flatnonzero(weights)
            table, weights = table.take(there), weights[there]
            kept = codes[there]
            if classes is None:
                present, kept = np.unique(kept, return_inverse=True)
                found = found[present]
            codes = kept
        refuse_one_class(type(self).__name__, found)
        self._keep_ranges(table.numbers, weights)
        return LabelledRows(table, codes.astype(np.int32), weights, found)

    def _keep_ranges(self, numbers: np.ndarray, weights: np.ndarray | None) -> None:
        """Widen the ranges of the numbers by rows that are learnt from."""
        if self._ranges is None or self._missing_rows is None or not numbers.size:
            return
        own = self._reader.numeric_columns
        low, high = self._ranges[own].T
        self._ranges[own, 0] = np.fmin(low, np.fmin.reduce(numbers, axis=0))
        self._ranges[own, 1] = np.fmax(high, np.fmax.reduce(numbers, axis=0))
        missing = np.isnan(numbers)
        self._missing_rows[own] += (
            missing.sum(axis=0) if weights is None else weights @ missing
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags


def read_labels(
    owner: Any, y: Any, n_rows: int, sample_weight: Any, classes: Any
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Return codes, weights (None if all one) and classes of labelled rows."""
    if y is None:
        raise ValueError(
            f"{type(owner).__name__} requires y to be passed, but the target y is None."
        )
    y = column_or_1d(y, warn=True)
    if n_rows < 1 or y.shape[0] != n_rows:
        raise ValueError(
            "X and y must have the same number of rows, at least one. Got "
            f"{n_rows} sample(s) in X and {y.shape[0]} in y, while a minimum of 1 is "
            "required."
        )
    known = classes is not None and classes is getattr(owner, "classes_", None)
    found, codes = encode_labels(y, classes, classes_sorted=known)
    if y.dtype.kind == "f":
        if np.isinf(y).any():
            raise ValueError(
                "Labels must be finite. Got infinity in y: Input y contains infinity."
            )
        check_classification_targets(y)
    weights = check_weights(sample_weight, n_rows, allow_zero=classes is not None)
    if weights is not None and weights.any():
        warn_of_small_weights(float(weights.sum()), n_rows)
    return codes, weights, found
