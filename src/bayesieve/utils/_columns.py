"""Taking a few columns out of a wide matrix without touching the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.utils._sparse_structure import own_structure

__all__ = ["take_columns"]


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
