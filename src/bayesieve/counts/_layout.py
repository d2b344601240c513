"""How tables of class counts are laid out, and how they are compared."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse

from bayesieve.utils._arrays import Array
from bayesieve.utils._packed_names import PackedNames

Kind = Literal["count", "binary", "moments", "category"]
KINDS: tuple[str, ...] = get_args(Kind)

# Above this many cells a table of three or more classes is kept as a csc_array.
DENSE_CELLS = 100_000_000


def is_dense_layout(n_classes: int, width: int) -> bool:
    """Tell whether a (K, width) table is kept as a NumPy array."""
    return n_classes == 2 or n_classes * width <= DENSE_CELLS


def laid_out(table: Any) -> Any:
    """Return a table as NumPy array or canonical csc_array, as its size asks."""
    if is_dense_layout(*table.shape):
        if sparse.issparse(table):
            return np.asarray(table.toarray(), dtype=np.float64)
        return np.ascontiguousarray(table, dtype=np.float64)
    result = sparse.csc_array(table, dtype=np.float64)
    if not result.has_canonical_format:
        result = result.copy() if result is table else result
        result.sum_duplicates()
    if result.data.size and not result.data.all():
        result = result.copy() if result is table else result
        result.eliminate_zeros()
    return result


def category_offsets(n_categories: Array) -> Array:
    """Return where the codes of each feature start in the flat table, and its width."""
    offsets = np.zeros(n_categories.size + 1, dtype=np.int64)
    np.cumsum(n_categories, out=offsets[1:])
    return offsets


def same_table(a: Any, b: Any) -> bool:
    """Compare two tables exactly, both dense, both sparse or both None."""
    if a is None or b is None:
        return a is b
    if sparse.issparse(a) != sparse.issparse(b) or a.shape != b.shape:
        return False
    if not sparse.issparse(a):
        return bool(np.array_equal(a, b))
    return (
        np.array_equal(a.indptr, b.indptr)
        and np.array_equal(a.indices, b.indices)
        and np.array_equal(a.data, b.data)
    )


def same_labels(a: Array | PackedNames | None, b: Array | PackedNames | None) -> bool:
    """Compare two arrays of names or classes; 1 and '1' differ."""
    if a is None or b is None:
        return a is b
    if a is b:
        return True
    if len(a) != len(b):
        return False
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):  # one is packed
            return all(x == y for x, y in zip(a, b, strict=True))
        return a == b
    numeric = [array.dtype.kind in "biuf" for array in (a, b)]
    return numeric[0] == numeric[1] and bool(np.array_equal(a, b))
