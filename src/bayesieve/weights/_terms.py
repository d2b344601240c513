"""Where the log-likelihoods of the weighted classifier come from.

The score of class j is ``s_j = ln P(C_j) + sum_k w_k ln p_k(x_k | C_j)``, and the
negative log-likelihood of a row is ``-ln softmax(s)_y``. It depends only on differences
between classes, so class 0 is the reference and tables hold J - 1 columns.

`PartTerms` reads part indexes and small tables, `DenseTerms` ready-made
log-likelihoods, `LinearTerms` a sparse matrix; optimisers need nothing but `Terms`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesieve import _core

__all__ = [
    "Array",
    "DenseTerms",
    "PartTerms",
    "Rows",
    "ScoredTerms",
    "Terms",
    "as_weights",
    "relative_prior",
]

Array = np.ndarray[Any, np.dtype[Any]]
Rows = Array | slice


class Terms(ABC):
    """What the criterion and its optimisers ask of the terms.

    A subclass sets the sizes.
    """

    n_rows: int
    n_terms: int
    n_classes: int

    @abstractmethod
    def take(self, rows: Rows) -> Terms:
        """The terms of some rows."""

    @abstractmethod
    def select(self, chosen: Array) -> Terms:
        """Some of the terms, for all rows."""

    @abstractmethod
    def term(self, k: int) -> Array:
        """Log-likelihoods of one term, of shape (n_rows, n_classes)."""

    @abstractmethod
    def scores(self, w: Array, log_prior: Array) -> Array:
        """Scores s_j, of shape (n_rows, n_classes)."""

    @abstractmethod
    def relative_scores(self, w: Array, log_prior: Array) -> Array:
        """Scores less that of class 0, of shape (n_rows, n_classes - 1)."""

    @abstractmethod
    def value(
        self, w: Array, log_prior: Array, codes: Array, row_weight: Array | None = None
    ) -> float:
        """Sum of negative log-likelihoods."""

    @abstractmethod
    def value_gradient(
        self, w: Array, log_prior: Array, codes: Array, row_weight: Array | None = None
    ) -> tuple[float, Array]:
        """`value` and its gradient, an array of shape (n_terms,)."""

    @abstractmethod
    def curvature(
        self, w: Array, log_prior: Array, chosen: Array, row_weight: Array | None = None
    ) -> Array:
        """Second derivatives for the chosen weights, O(n_rows n_classes size^2)."""

    def relative_term(self, k: int) -> Array:
        """One term less that of class 0, of shape (n_rows, n_classes - 1)."""
        term = self.term(k)
        return np.ascontiguousarray(term[:, 1:] - term[:, :1])

    def trial(
        self,
        scores: Array,
        k: int,
        delta: float,
        codes: Array,
        row_weight: Array | None = None,
        *,
        smoothing_rows: float = 0.0,
    ) -> float:
        """Cost after adding `delta` to weight k of relative `scores`, O(n_rows J).

        The negative log-likelihood, or with `smoothing_rows` = N that of posteriors
        (N p + 0.5/J) / (N + 0.5).
        """
        if self.n_classes < 2:
            return 0.0
        return _core.weighted_trial(
            scores,
            None,
            self.relative_term(k),
            delta,
            codes,
            row_weight,
            smoothing_rows,
        )

    def shift(self, scores: Array, k: int, delta: float) -> None:
        """Add delta to weight k, in relative scores."""
        scores += delta * self.relative_term(k)


class ScoredTerms(Terms):
    """Terms whose values and gradients are found by way of the scores."""

    @abstractmethod
    def gradient(self, residual: Array) -> Array:
        """Derivatives for all weights from the residuals (posterior less class)."""

    def value(
        self, w: Array, log_prior: Array, codes: Array, row_weight: Array | None = None
    ) -> float:
        """Sum of negative log-likelihoods."""
        if self.n_classes < 2:
            return 0.0
        return _core.softmax_nll(self.relative_scores(w, log_prior), codes, row_weight)

    def value_gradient(
        self, w: Array, log_prior: Array, codes: Array, row_weight: Array | None = None
    ) -> tuple[float, Array]:
        """`value` and its gradient, an array of shape (n_terms,)."""
        if self.n_classes < 2:
            return 0.0, np.zeros(self.n_terms)
        scores = self.relative_scores(w, log_prior)
        value = _core.softmax_nll(scores, codes, row_weight, True)
        return value, self.gradient(scores)


def as_weights(w: Array, n_terms: int) -> Array:
    """Weights as doubles, one a term."""
    w = np.ascontiguousarray(w, dtype=np.float64)
    if w.shape != (n_terms,):
        raise ValueError(f"Weights must have shape ({n_terms},). Got {w.shape}.")
    return w


def relative_prior(log_prior: Array) -> Array:
    """Log-probabilities of the classes less that of class 0."""
    return np.asarray(log_prior[1:] - log_prior[0], dtype=np.float64)


class PartTerms(Terms):
    """Rows as part indexes, with one table of log-probabilities a variable.

    Parameters
    ----------
    parts : ndarray of shape (n_rows, n_terms)
        Part of each row and variable, unsigned integers of 8, 16 or 32 bits (others
        are converted). Kept column by column, ``n_rows * n_terms`` items.
    tables : sequence of n_terms arrays of shape (n_parts, n_classes)
        ``ln p_k(i | C_j)``; every value finite.
    n_classes : int, optional
        Needed only if there are no tables.

    Notes
    -----
    Time O(n_rows * n_terms * n_classes) for one value or gradient; weights of zero cost
    nothing in values. Results do not depend on the number of threads.
    """

    def __init__(
        self, parts: Array, tables: Sequence[Array], n_classes: int | None = None
    ) -> None:
        parts = np.asarray(parts)
        if parts.ndim != 2 or parts.shape[1] != len(tables):
            raise ValueError(
                f"Parts must have shape (n_rows, {len(tables)}), one column for each "
                f"table. Got {parts.shape}."
            )
        if not len(tables) and n_classes is None:
            raise ValueError("Without tables, n_classes must be given.")
        self.n_rows, self.n_terms = parts.shape
        self.n_classes = int(tables[0].shape[1]) if len(tables) else int(n_classes or 1)
        sizes = [len(table) for table in tables]
        self._offset = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._full = (
            np.ascontiguousarray(np.concatenate(tables), dtype=np.float64)
            if len(tables)
            else np.empty((0, self.n_classes))
        )
        if not np.isfinite(self._full).all():
            raise ValueError("Tables must be finite: smooth zero probabilities.")
        self._table = np.ascontiguousarray(self._full[:, 1:] - self._full[:, :1])
        if self.n_rows:
            low, high = parts.min(axis=0), parts.max(axis=0)
            for k in np.flatnonzero((low < 0) | (high >= sizes)):
                raise ValueError(
                    f"Term {k} has {sizes[k]} parts, but part indexes from {low[k]} to "
                    f"{high[k]} were found."
                )
        if parts.dtype not in (np.uint8, np.uint16, np.uint32):
            parts = parts.astype(np.min_scalar_type(max(sizes, default=1)))
        self._parts = np.ascontiguousarray(parts.T)

    @classmethod
    def _of(cls, source: PartTerms, parts: Array) -> PartTerms:
        terms = cls.__new__(cls)
        terms.__dict__.update(source.__dict__)
        terms._parts, terms.n_rows = parts, parts.shape[1]
        return terms

    def take(self, rows: Rows) -> PartTerms:
        """Return the terms of some rows; a slice copies nothing."""
        if isinstance(rows, slice):
            if rows.step in (None, 1):
                return self._of(self, self._parts[:, rows])
            rows = np.arange(self.n_rows)[rows]
        return self._of(self, np.ascontiguousarray(self._parts[:, rows]))

    def beside(self, parts: Array, tables: Sequence[Array]) -> PartTerms:
        """Return these terms and then others, of the same rows."""
        other = PartTerms(parts, tables, self.n_classes)
        terms = self._of(self, _stacked(self._parts, other._parts))
        terms.n_terms = self.n_terms + other.n_terms
        terms._offset = np.append(self._offset, self._offset[-1] + other._offset[1:])
        terms._full = np.concatenate([self._full, other._full])
        terms._table = np.concatenate([self._table, other._table])
        return terms

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """Parts (n_terms, n_rows), tables less class 0, where each table begins."""
        return self._parts, self._table, self._offset

    @property
    def tables(self) -> list[Array]:
        """Table of each term, of shape (n_parts, n_classes)."""
        return np.split(self._full, self._offset[1:-1]) if self.n_terms else []

    def select(self, chosen: Array) -> PartTerms:
        """Return some of the terms, for all rows; columns are copied."""
        terms = self._of(self, self._parts[chosen])
        terms.n_terms = terms._parts.shape[0]
        sizes = np.diff(self._offset)[chosen]
        terms._offset = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        own = np.repeat(self._offset[:-1][chosen] - terms._offset[:-1], sizes)
        lines = own + np.arange(own.size)
        terms._full, terms._table = self._full[lines], self._table[lines]
        return terms

    def value(
        self, w: Array, log_prior: Array, codes: Array, row_weight: Array | None = None
    ) -> float:
        """Sum of negative log-likelihoods."""
        return self._value(w, log_prior, codes, row_weight, None)

    def value_gradient(
        self, w: Array, log_prior: Array, codes: Array, row_weight: Array | None = None
    ) -> tuple[float, Array]:
        """`value` and its gradient, an array of shape (n_terms,)."""
        gradient = np.zeros(self.n_terms)
        return self._value(w, log_prior, codes, row_weight, gradient), gradient

    def _value(
        self,
        w: Array,
        log_prior: Array,
        codes: Array,
        row_weight: Array | None,
        gradient: Array | None,
    ) -> float:
        if self.n_classes < 2:
            return 0.0
        return _core.weighted_nll(
            self._parts,
            self._table,
            self._offset,
            as_weights(w, self.n_terms),
            relative_prior(log_prior),
            codes,
            row_weight,
            gradient,
        )

    def curvature(
        self,
        w: Array,
        log_prior: Array,
        chosen: Array,
        row_weight: Array | None = None,
    ) -> Array:
        """Second derivatives for the chosen terms, O(n_rows n_classes size^2)."""
        chosen = np.ascontiguousarray(chosen, dtype=np.int64)
        out = np.zeros((chosen.size, chosen.size))
        if self.n_classes > 1 and chosen.size:
            _core.weighted_curvature(
                self._parts,
                self._table,
                self._offset,
                as_weights(w, self.n_terms),
                relative_prior(log_prior),
                row_weight,
                chosen,
                out,
            )
        return out

    def scores(self, w: Array, log_prior: Array) -> Array:
        """Scores s_j of every row, of shape (n_rows, n_classes)."""
        out = np.empty((self.n_rows, self.n_classes))
        prior = np.ascontiguousarray(log_prior, dtype=np.float64)
        w = as_weights(w, self.n_terms)
        _core.weighted_scores(self._parts, self._full, self._offset, w, prior, out)
        return out

    def relative_scores(self, w: Array, log_prior: Array) -> Array:
        """Scores less that of class 0, of shape (n_rows, n_classes - 1)."""
        out = np.empty((self.n_rows, self.n_classes - 1))
        if self.n_classes > 1:
            w, start = as_weights(w, self.n_terms), relative_prior(log_prior)
            _core.weighted_scores(self._parts, self._table, self._offset, w, start, out)
        return out

    def term(self, k: int) -> Array:
        """Log-probabilities of one term, of shape (n_rows, n_classes)."""
        own = self._full[self._offset[k] : self._offset[k + 1]]
        return np.asarray(own[self._parts[k]])

    def trial(
        self,
        scores: Array,
        k: int,
        delta: float,
        codes: Array,
        row_weight: Array | None = None,
        *,
        smoothing_rows: float = 0.0,
    ) -> float:
        """Cost after adding `delta` to weight k; see `Terms.trial`."""
        if self.n_classes < 2:
            return 0.0
        part, table = self._parts[k], self._table[self._offset[k] : self._offset[k + 1]]
        return _core.weighted_trial(
            scores, part, table, delta, codes, row_weight, smoothing_rows
        )

    def shift(self, scores: Array, k: int, delta: float) -> None:
        """Add delta to weight k, in relative scores."""
        if self.n_classes > 1:
            table = self._table[self._offset[k] : self._offset[k + 1]]
            scores += (delta * table)[self._parts[k]]


def _stacked(above: Array, below: Array) -> Array:
    """Both, with integers that are wide enough for either."""
    return np.concatenate([above, below], dtype=np.result_type(above, below))


class DenseTerms(ScoredTerms):
    """Ready-made conditional log-likelihoods.

    Parameters
    ----------
    likelihoods : ndarray of shape (n_rows, n_terms, n_classes)
        ``ln p_k(x_nk | C_j)``, finite. Kept as differences, ``n_terms * n_rows *
        (n_classes - 1)`` doubles, and class 0 apart.
    """

    def __init__(self, likelihoods: Array) -> None:
        likelihoods = np.asarray(likelihoods, dtype=np.float64)
        if likelihoods.ndim != 3:
            raise ValueError(
                "Likelihoods must have shape (n_rows, n_terms, n_classes). "
                f"Got {likelihoods.shape}."
            )
        if not np.isfinite(likelihoods).all():
            raise ValueError("Log-likelihoods must be finite.")
        self.n_rows, self.n_terms, self.n_classes = likelihoods.shape
        by_term = likelihoods.transpose(1, 0, 2)
        self._first = np.ascontiguousarray(by_term[:, :, 0])
        self._terms = np.ascontiguousarray(by_term[:, :, 1:] - by_term[:, :, :1])

    def take(self, rows: Rows) -> DenseTerms:
        """Return the terms of some rows."""
        terms = DenseTerms.__new__(DenseTerms)
        terms._first = np.ascontiguousarray(self._first[:, rows])
        terms._terms = np.ascontiguousarray(self._terms[:, rows])
        terms.n_rows = terms._first.shape[1]
        terms.n_terms, terms.n_classes = self.n_terms, self.n_classes
        return terms

    def select(self, chosen: Array) -> DenseTerms:
        """Return some of the terms, for all rows."""
        terms = DenseTerms.__new__(DenseTerms)
        terms._first, terms._terms = self._first[chosen], self._terms[chosen]
        terms.n_terms = terms._first.shape[0]
        terms.n_rows, terms.n_classes = self.n_rows, self.n_classes
        return terms

    def _flat(self) -> Array:
        return self._terms.reshape(self.n_terms, self.n_rows * (self.n_classes - 1))

    def gradient(self, residual: Array) -> Array:
        """Derivatives for all weights from the residuals (posterior less class)."""
        return np.asarray(self._flat() @ residual.ravel())

    def curvature(
        self,
        w: Array,
        log_prior: Array,
        chosen: Array,
        row_weight: Array | None = None,
    ) -> Array:
        """Second derivatives for the chosen terms, in panels of rows."""
        chosen = np.asarray(chosen, dtype=np.int64)
        out = np.zeros((chosen.size, chosen.size))
        if self.n_classes < 2 or not chosen.size:
            return out
        scores = self.relative_scores(w, log_prior)
        # Posteriors are the residuals of rows that all have the reference class.
        _core.softmax_nll(scores, np.zeros(self.n_rows, np.int32), None, True)
        panel = max(1, 2_000_000 // (chosen.size * self.n_classes))
        for first in range(0, self.n_rows, panel):
            rows = slice(first, first + panel)
            p = scores[rows]
            terms = self._terms[chosen, rows]
            mean = np.einsum("knc,nc->kn", terms, p)
            weight = 1.0 if row_weight is None else row_weight[rows]
            rest = np.maximum(0.0, 1.0 - p.sum(axis=1))
            root = np.sqrt(p * np.reshape(weight, (-1, 1)))
            centred = (root * (terms - mean[:, :, None])).reshape(chosen.size, -1)
            reference = np.sqrt(rest * weight) * mean
            out += centred @ centred.T + reference @ reference.T
        return out

    def scores(self, w: Array, log_prior: Array) -> Array:
        """Scores s_j of every row, of shape (n_rows, n_classes)."""
        w = as_weights(w, self.n_terms)
        first = w @ self._first + log_prior[0]
        return np.column_stack(
            [first, first[:, None] + self.relative_scores(w, log_prior)]
        )

    def relative_scores(self, w: Array, log_prior: Array) -> Array:
        """Scores less that of class 0, of shape (n_rows, n_classes - 1)."""
        flat = as_weights(w, self.n_terms) @ self._flat()
        return flat.reshape(self.n_rows, self.n_classes - 1) + relative_prior(log_prior)

    def term(self, k: int) -> Array:
        """Log-likelihoods of one term, of shape (n_rows, n_classes)."""
        first = self._first[k]
        return np.column_stack([first, first[:, None] + self._terms[k]])

    def relative_term(self, k: int) -> Array:
        """One term less that of class 0, of shape (n_rows, n_classes - 1)."""
        return np.asarray(self._terms[k])
