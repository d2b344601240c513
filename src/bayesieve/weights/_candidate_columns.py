"""The columns of the candidates as a matrix of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.counts._matrix import canonical
from bayesieve.utils._columns import take_columns

__all__ = ["as_read", "candidate_block", "columns_by_name", "first_of_equals"]


def candidate_block(
    X: Any, columns: np.ndarray, model: str, binarize: float | None
) -> Any:
    """Some columns of X by columns; presence for the Bernoulli model.

    The other columns are never touched again. Values were checked when X was counted.
    """
    block = sparse.csc_array(as_read(take_columns(X, columns), model, binarize))
    block.eliminate_zeros()
    return block


def as_read(part: Any, model: str, binarize: float | None) -> Any:
    """Values as the model reads them: counts, or ones for what is present."""
    if sparse.issparse(part):
        part = canonical(part)  # a cell stored twice is one value
    if model == "multinomial":
        return part
    # Without a threshold the values are 0 and 1 already.
    limit = 0.0 if binarize is None else binarize
    if sparse.issparse(part) and limit < 0.0:
        return part.astype(np.float64)
    return (part > limit).astype(np.float64)


def columns_by_name(
    X: Any, names: np.ndarray, wanted: np.ndarray
) -> tuple[Any, np.ndarray]:
    """Columns of the wanted names, in their order; zeros where X has no such column.

    Returns a matrix with one column for each wanted name, and all its positions.
    """
    place = {str(name): i for i, name in enumerate(names.tolist())}
    at = np.array(
        [place.get(str(name), -1) for name in wanted.tolist()], dtype=np.int64
    )
    there = np.flatnonzero(at >= 0)
    # One entry a column picks it; products of sparse matrices touch nothing else.
    pick = sparse.csr_array(
        (np.ones(there.size), (at[there], there)), shape=(X.shape[1], wanted.size)
    )
    return sparse.csr_array(X) @ pick, np.arange(wanted.size)


def first_of_equals(block: Any) -> np.ndarray:
    """Columns of a CSC block that no earlier column equals in every row.

    Equal columns have equal sums of random numbers over their rows; those that agree
    in two such sums are compared in full.
    """
    rng = np.random.default_rng(0)
    sums = np.asarray(block.T @ rng.random((block.shape[0], 2)))
    sizes = np.diff(block.indptr)
    order = np.lexsort((np.arange(sizes.size), sums[:, 1], sums[:, 0], sizes))
    before, here = order[:-1], order[1:]
    alike = (sizes[before] == sizes[here]) & (sums[before] == sums[here]).all(axis=1)
    kept = np.ones(sizes.size, dtype=bool)
    first, previous = -1, -2
    for place in np.flatnonzero(alike):
        if place != previous + 1:
            first = int(order[place])
        previous = int(place)
        kept[order[place + 1]] = not _equal(block, first, order[place + 1])
    return np.flatnonzero(kept)


def _equal(block: Any, one: int, other: int) -> bool:
    a = slice(block.indptr[one], block.indptr[one + 1])
    b = slice(block.indptr[other], block.indptr[other + 1])
    return bool(
        np.array_equal(block.indices[a], block.indices[b])
        and np.array_equal(block.data[a], block.data[b])
    )
