"""Taking a few columns out of a wide matrix without touching the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["take_columns"]


def take_columns(X: Any, columns: np.ndarray) -> Any:
    """The given columns (sorted, distinct) of a dense, CSR or CSC matrix.

    SciPy's column indexing of a CSR matrix allocates an array as long as the matrix is
    wide. For a few rows of a very wide matrix, looking each entry up costs less.
    """
    if not sparse.issparse(X) or X.format != "csr" or X.nnz >= X.shape[1]:
        return X if columns.shape[0] == X.shape[1] else X[:, columns]
    position = np.searchsorted(columns, X.indices)
    position[position == columns.shape[0]] = 0
    if columns.shape[0]:
        kept = columns[position] == X.indices
    else:
        kept = np.zeros(X.indices.shape[0], dtype=bool)
    ends = np.concatenate([[0], np.cumsum(kept)])
    return sparse.csr_array(
        (X.data[kept], position[kept], ends[X.indptr]),
        shape=(X.shape[0], columns.shape[0]),
    )
