"""The columns of the candidates as a matrix of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.counts._matrix import canonical
from bayesieve.utils._columns import take_columns

__all__ = ["candidate_block"]


def candidate_block(
    X: Any, columns: np.ndarray, model: str, binarize: float | None
) -> Any:
    """Some columns of X by columns; presence for the Bernoulli model.

    The other columns are never touched again. Values were checked when X was counted.
    """
    part = take_columns(X, columns)
    if sparse.issparse(part):
        part = canonical(part)  # a cell stored twice is one value
    if model == "multinomial":
        block = sparse.csc_array(part)
    else:
        # Without a threshold the values are 0 and 1 already.
        limit = 0.0 if binarize is None else binarize
        present = part > limit if limit >= 0.0 or not sparse.issparse(part) else part
        block = sparse.csc_array(present, dtype=np.float64)
    block.eliminate_zeros()
    return block
