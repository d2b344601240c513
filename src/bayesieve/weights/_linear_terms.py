"""Terms of a wide sparse matrix: one slope a column and class, never made dense.

The term of column j is ``x_nj slope_jc + offset_jc``: the logarithm of a multinomial
probability to the power of a count, or of the presence or absence of a feature. Zeros
cost nothing, so millions of entries stay as they are stored.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve import _core
from bayesieve.utils._computed_once import computed_once
from bayesieve.weights._terms import Array, Rows, as_weights
from bayesieve.weights._wide_terms import WideTerms

__all__ = ["LinearTerms"]


class LinearTerms(WideTerms):
    """Columns of a sparse matrix, each with one slope a class.

    Parameters
    ----------
    block : sparse array or ndarray of shape (n_rows, n_terms)
        Kept by columns. Values that are all one are not kept; whole numbers below
        2**24 are kept in four bytes, others in eight.
    slope : ndarray of shape (n_terms, n_classes)
        What one unit of x_j adds to the score of each class; finite.
    offset : ndarray of shape (n_terms, n_classes), optional
        What weight j adds to the scores whatever x_j; zero unless given.

    Notes
    -----
    A gradient takes O(nnz (n_classes - 1)), by columns and in parallel; results do not
    depend on the number of threads.
    """

    def __init__(self, block: Any, slope: Array, offset: Array | None = None) -> None:
        matrix = sparse.csc_array(block)
        matrix.sum_duplicates()
        slope = np.asarray(slope, dtype=np.float64)
        if slope.ndim != 2 or slope.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"Slopes must have shape ({matrix.shape[1]}, n_classes). "
                f"Got {slope.shape}."
            )
        if offset is not None and offset.shape != slope.shape:
            raise ValueError(
                f"Offsets must have the shape of the slopes, {slope.shape}. "
                f"Got {offset.shape}."
            )
        for name, table in (("Slopes", slope), ("Offsets", offset)):
            if table is not None and not np.isfinite(table).all():
                raise ValueError(f"{name} must be finite: smooth zero probabilities.")
        if matrix.shape[0] > np.iinfo(np.int32).max:
            raise ValueError(
                f"There can be at most 2147483647 rows. Got {matrix.shape[0]}."
            )
        self.n_rows, self.n_terms = matrix.shape
        self.n_classes = slope.shape[1]
        self._slopes = slope
        self._offsets = None if offset is None else np.asarray(offset, np.float64)
        self._set_matrix(matrix)
        self._set_tables()

    def _set_matrix(self, matrix: Any) -> None:
        self._indptr = matrix.indptr.astype(np.int64, copy=False)
        self._index = matrix.indices.astype(np.int32, copy=False)
        self._values = _compact(matrix.data)

    def _set_tables(self) -> None:
        self._slope = np.ascontiguousarray(self._slopes[:, 1:] - self._slopes[:, :1])
        self._offset = (
            None
            if self._offsets is None
            else np.ascontiguousarray(self._offsets[:, 1:] - self._offsets[:, :1])
        )

    # ------------------------------------------------------------------ the matrix

    @property
    def columns(self) -> Any:
        """The matrix by columns."""
        values = np.ones(self._index.size) if self._values is None else self._values
        return sparse.csc_array(
            (values, self._index, self._indptr), shape=(self.n_rows, self.n_terms)
        )

    @computed_once
    def _by_rows(self) -> Any:
        return self.columns.tocsr()

    @property
    def stored(self) -> int:
        """Entries that are not zero."""
        return int(self._index.size)

    def entries(self, chosen: Array) -> int:
        """Entries of the chosen columns that are not zero."""
        return int((self._indptr[chosen + 1] - self._indptr[chosen]).sum())

    def sizes(self, chosen: Array) -> Array:
        """Sum over the rows of how far each chosen term sets two classes apart."""
        values = np.ones(self._index.size) if self._values is None else self._values
        sums = np.concatenate([[0.0], np.cumsum(np.abs(values), dtype=np.float64)])
        spread = np.ptp(self._slopes[chosen], axis=1)
        return np.asarray(
            (sums[self._indptr[chosen + 1]] - sums[self._indptr[chosen]]) * spread
        )

    def spread(self) -> Array:
        """For each row, how far its terms together can set two classes apart."""
        return np.asarray(abs(self.columns) @ np.ptp(self._slopes, axis=1))

    def scaled(self, factor: float) -> LinearTerms:
        """Return the same terms times a number; the matrix is shared."""
        terms = copy.copy(self)
        terms._slopes = factor * self._slopes
        terms._offsets = None if self._offsets is None else factor * self._offsets
        terms._set_tables()
        return terms

    def take(self, rows: Rows) -> LinearTerms:
        """Return the terms of some rows; the first call orders the matrix by rows."""
        terms = LinearTerms.__new__(LinearTerms)
        part = self._by_rows[rows].tocsc()
        terms.n_rows, terms.n_terms = part.shape
        terms.n_classes = self.n_classes
        terms._slopes, terms._offsets = self._slopes, self._offsets
        terms._slope, terms._offset = self._slope, self._offset
        terms._set_matrix(part)
        return terms

    def select(self, chosen: Array) -> LinearTerms:
        """Return some of the terms, for all rows; their columns are copied."""
        offset = None if self._offsets is None else self._offsets[chosen]
        return LinearTerms(self.columns[:, chosen], self._slopes[chosen], offset)

    # ------------------------------------------------------------ what solvers need

    def gradient(self, residual: Array, chosen: Array | None = None) -> Array:
        """Derivatives from the residuals (posterior less class), of chosen columns."""
        out = np.empty(self.n_terms if chosen is None else chosen.size)
        _core.linear_gradient(
            self._indptr, self._index, self._values, self._slope, residual, chosen, out
        )
        if self._offset is not None:
            own = self._offset if chosen is None else self._offset[chosen]
            out += own @ residual.sum(axis=0)
        return out

    def add_scores(self, out: Array, step: Array, chosen: Array) -> None:
        """Add the terms of the chosen columns, times a step, to relative scores."""
        _core.linear_scores(
            self._indptr, self._index, self._values, self._slope, step, chosen, out
        )
        if self._offset is not None:
            out += step @ self._offset[chosen]

    def newton_step(
        self,
        posterior: Array,
        row_weight: Array | None,
        chosen: Array,
        gradient: Array,
        low: Array,
        high: Array,
        intercept_gradient: Array | None,
        *,
        rounds: int,
        conjugate_steps: int,
        tol: float,
    ) -> tuple[Array, Array]:
        """Step of the chosen weights that nearly minimises the second-order model.

        Sweeps of coordinate descent and conjugate gradients within ``low <= step <=
        high``, until a round of them gains less than `tol` of what the first one did.
        The intercepts move with them, without bounds, where their gradient is given.
        Returns both steps.
        """
        step, intercept = np.empty(chosen.size), np.zeros(self.n_classes - 1)
        _core.linear_descent(
            self._indptr,
            self._index,
            self._values,
            self._slope,
            self._offset,
            posterior,
            row_weight,
            chosen,
            gradient,
            low,
            high,
            step,
            intercept_gradient,
            None if intercept_gradient is None else intercept,
            rounds,
            conjugate_steps,
            tol,
        )
        return step, intercept

    def diagonal(
        self, scores: Array, chosen: Array, row_weight: Array | None = None
    ) -> Array:
        """Second derivative for each chosen weight alone, at relative scores."""
        p = scores.copy()
        _core.softmax_nll(p, np.zeros(self.n_rows, np.int32), None, True)
        out = np.empty(chosen.size)
        _core.linear_curvatures(
            self._indptr,
            self._index,
            self._values,
            self._slope,
            self._offset,
            p,
            row_weight,
            chosen,
            out,
        )
        return out

    def panel(self, rows: slice) -> Array:
        """Terms of some rows, dense: (rows, n_terms, n_classes)."""
        x = self._by_rows[rows].toarray()
        dense = x[:, :, None] * self._slopes[None, :, :]
        return np.asarray(dense if self._offsets is None else dense + self._offsets)

    # --------------------------------------------------------------------- scores

    def scores(self, w: Array, log_prior: Array) -> Array:
        """Scores s_j, of shape (n_rows, n_classes)."""
        w = as_weights(w, self.n_terms)
        used = np.flatnonzero(w)
        out = np.asarray(self.columns[:, used] @ (w[used, None] * self._slopes[used]))
        out += log_prior
        if self._offsets is not None:
            out += w @ self._offsets
        return out

    def term(self, k: int) -> Array:
        """Log-likelihoods of one term, of shape (n_rows, n_classes)."""
        x = self.columns[:, [k]].toarray()
        offset = 0.0 if self._offsets is None else self._offsets[k]
        return np.asarray(x * self._slopes[k] + offset)


def _compact(values: Array) -> Array | None:
    """Values as floats of four bytes where that is exact; None if all are one."""
    if (values == 1).all():
        return None
    with np.errstate(over="ignore"):  # beyond its range a value is not kept short
        short = values.astype(np.float32)
    if (short == values).all():
        return short
    return values.astype(np.float64, copy=False)
