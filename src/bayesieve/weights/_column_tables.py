"""Log-parameters of columns from their counts, for some columns or for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.counts import ClassCounts
from bayesieve.weights._terms import Array

__all__ = ["ColumnTables"]


@dataclass(frozen=True, eq=False)
class ColumnTables:
    """What each column adds to the score of each class at weight one.

    A column's parameters follow from its own counts and from totals of all columns, so
    a column that joins a model changes nothing for the others.

    Attributes
    ----------
    model : {"multinomial", "bernoulli"}
    counts : ndarray or csc_array of shape (n_classes, n_features)
    rows : ndarray of shape (n_classes,)
        Rows of each class.
    alpha : ndarray of shape (1,) or (n_features,)
        Smoothing, above 0.
    totals : ndarray of shape (n_classes,)
        Smoothed counts of all columns together (multinomial model).
    """

    model: str
    counts: Any
    rows: Array
    alpha: Array
    totals: Array

    @classmethod
    def of(cls, counts: ClassCounts, model: str, alpha: Any) -> ColumnTables:
        """The tables of all columns that were counted."""
        table = counts.feature_count
        alpha = np.asarray(alpha, dtype=np.float64).reshape(-1)
        added = alpha.sum() if alpha.size > 1 else alpha[0] * table.shape[1]
        totals = np.asarray(table.sum(axis=1), dtype=np.float64).reshape(-1) + added
        return cls(model, table, counts.class_count, alpha, totals)

    @property
    def n_features(self) -> int:
        """Columns there are."""
        return int(self.counts.shape[1])

    def of_columns(self, columns: Array) -> tuple[Array, Array | None]:
        """Slopes (n_columns, n_classes), and for the Bernoulli model offsets."""
        table = self.counts[:, columns]
        table = table if isinstance(table, np.ndarray) else table.toarray()
        alpha = self.alpha if self.alpha.size == 1 else self.alpha[columns]
        slope, offset = self._logs(table, alpha, self.rows, self.totals)
        if offset is not None:
            offset = np.ascontiguousarray(offset.T)
        return np.ascontiguousarray(slope.T), offset

    def of_class(self, c: int) -> tuple[Array, Array | None]:
        """Slopes of all columns for one class, and for the Bernoulli model offsets."""
        table = self.counts[[c]]
        table = table if isinstance(table, np.ndarray) else table.toarray()
        one = slice(c, c + 1)
        slope, offset = self._logs(table, self.alpha, self.rows[one], self.totals[one])
        return slope[0], None if offset is None else offset[0]

    def _logs(
        self, table: Array, alpha: Array, rows: Array, totals: Array
    ) -> tuple[Array, Array | None]:
        """Slopes and offsets of shape (n_classes, n_columns), from counts."""
        if self.model == "multinomial":
            return np.log(table + alpha) - np.log(totals)[:, None], None
        theta = (table + alpha) / (rows[:, None] + 2.0 * alpha)
        absent = np.log1p(-theta)
        return np.log(theta) - absent, absent

    def varying(self) -> Array:
        """Whether each column can say anything at all.

        One that no row has, or that every row has under the Bernoulli model, is part
        of no support, whatever smoothing makes of it.
        """
        total = np.asarray(self.counts.sum(axis=0)).reshape(-1)
        found = total > 0.0
        if self.model == "bernoulli":
            found &= total < self.rows.sum() * (1.0 - 1e-12)
        return np.asarray(found)
