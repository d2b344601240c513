"""Taking a few columns, or a few rows, of a matrix without touching the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.utils._sparse_structure import own_structure

__all__ = ["some_rows", "take_columns"]


def take_columns(X: Any, columns: np.ndarray) -> Any:
    """The given columns (sorted, distinct) of a dense, CSR or CSC matrix.

    SciPy's column indexing of a CSR matrix allocates an array as long as the matrix is
    wide. For a few rows of a very wide matrix, looking each entry up costs less.
    """
    X = own_structure(X)
    if not sparse.issparse(X) or X.format != "csr" or X.nnz >= X.shape[1]:
        return X if columns.shape[0] == X.shape[1] else X[:, columns]
    stored = slice(X.indptr[-1])  # arrays may have room to spare
    indices = X.indices[stored]
    position = np.searchsorted(columns, indices)
    position[position == columns.shape[0]] = 0
    if columns.shape[0]:
        kept = columns[position] == indices
    else:
        kept = np.zeros(indices.shape[0], dtype=bool)
    ends = np.concatenate([[0], np.cumsum(kept)])
    return sparse.csr_array(
        (X.data[stored][kept], position[kept], ends[X.indptr]),
        shape=(X.shape[0], columns.shape[0]),
    )


def some_rows(X: Any, values: int) -> np.ndarray | None:
    """Rows drawn at random, always the same, that hold about so many values.

    None for all rows: where there are no more values, and for other than arrays and CSR
    matrices, of which rows are not taken cheaply. Every tenth row, say, would be of one
    class where classes take turns.
    """
    if sparse.issparse(X):
        held = X.nnz if X.format == "csr" else 0
    else:
        held = X.size if isinstance(X, np.ndarray) and X.ndim == 2 else 0
    if held <= values:
        return None
    n_rows = X.shape[0]
    size = min(n_rows, max(1000, int(values / held * n_rows)))
    return np.sort(np.random.default_rng(0).choice(n_rows, size, replace=False))
