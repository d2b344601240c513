"""Every column of the rows: derivatives of all of them, and columns that join.

One sparse product of all columns with the residual gives the derivative of the
likelihood for each column that was left out. Nothing is made dense or copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.weights._candidate_columns import as_read, candidate_block
from bayesieve.weights._column_tables import ColumnTables
from bayesieve.weights._terms import Array

__all__ = ["AllColumns"]

#: Numbers of one pass: as many classes at a time as columns allow (512 MB).
_CELLS = 1 << 26
_DENSE_CELLS = 1 << 22  # of a dense matrix that are read in one go


class AllColumns:
    """All columns of rows that can be read again.

    Parameters
    ----------
    pieces : callable
        Gives an iterator over matrices of some rows and all columns, the same each
        time, in the order of the rows.
    tables : ColumnTables
    binarize : float or None
        Bernoulli model: values above it count as present.
    is_cheap : bool
        Whether the rows are in memory, so that one more pass costs little.
    """

    def __init__(
        self,
        pieces: Callable[[], Iterator[Any]],
        tables: ColumnTables,
        binarize: float | None,
        *,
        is_cheap: bool,
    ) -> None:
        self._pieces, self.tables = pieces, tables
        self._binarize, self.is_cheap = binarize, is_cheap
        #: Columns that can say anything at all.
        self.varying = tables.varying()

    @classmethod
    def of_matrix(
        cls, X: Any, tables: ColumnTables, binarize: float | None
    ) -> AllColumns:
        """The columns of one matrix."""

        def pieces() -> Iterator[Any]:
            if sparse.issparse(X):
                yield X
                return
            size = max(1, _DENSE_CELLS // max(X.shape[1], 1))
            for first in range(0, X.shape[0], size):
                yield X[first : first + size]

        return cls(pieces, tables, binarize, is_cheap=True)

    def gradient(self, residual: Array, present: Array, with_offset: bool) -> Array:
        """Derivatives of the NLL for every column; 0 for those that say nothing.

        Parameters
        ----------
        residual : ndarray of shape (n_rows, n_present - 1)
            Of all rows, for the present classes after the first.
        present : ndarray of int
            Classes that have rows.
        with_offset : bool
            Whether what absence adds counts; else intercepts take it over.

        Notes
        -----
        O(nnz n_classes), and 8 bytes for each column and class of one pass.
        """
        tables, m = self.tables, self.tables.n_features
        out = np.zeros(m)
        first_slope, first_offset = tables.of_class(int(present[0]))
        width = max(1, _CELLS // max(m, 1))
        sums = residual.sum(axis=0)
        for first in range(0, residual.shape[1], width):
            own = slice(first, first + width)
            product = self._product(residual[:, own])
            for i, c in enumerate(present[1:][own]):
                slope, offset = tables.of_class(int(c))
                out += (slope - first_slope) * product[:, i]
                if with_offset and offset is not None:
                    out += (offset - first_offset) * sums[first + i]
        out[~self.varying] = 0.0
        return out

    def _product(self, residual: Array) -> Array:
        """``X.T @ residual``, of shape (n_features, width)."""
        out = np.zeros((self.tables.n_features, residual.shape[1]))
        row = 0
        for piece in self._pieces():
            part = as_read(piece, self.tables.model, self._binarize)
            own = residual[row : row + part.shape[0]]
            row += part.shape[0]
            if own.shape[0] == part.shape[0]:
                out += part.T @ np.ascontiguousarray(own)
        if row != residual.shape[0]:
            raise ValueError(
                "Rows that are read several times must be the same each time. Got "
                f"{row} rows instead of {residual.shape[0]} in a later pass."
            )
        return out

    def take(self, columns: Array) -> Any:
        """Some columns as a matrix by columns, as the model reads them."""
        model, binarize = self.tables.model, self._binarize
        parts = [
            candidate_block(piece, columns, model, binarize) for piece in self._pieces()
        ]
        return parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csc")
