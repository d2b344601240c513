"""Typed access to the compiled class sums, for dense, CSR and CSC input alike.

Every function adds to the arrays it is given and returns the position of the first
value that its check refuses, or None. A position is found back with `locate`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import bayesieve._core as compiled
from bayesieve.utils._arrays import Array
from bayesieve.utils._validation import native_values

_core: Any = compiled  # arrays of any dtype: the kernels check what they are given

# What a value may be; the numbers are those of _core/class_sums.cpp.
NON_NEGATIVE = 0
FINITE = 1
PRESENCE = 2  # finite, and counted as one when above the threshold
ZERO_ONE = 3
CATEGORY = 4


class Compressed(NamedTuple):
    """The three arrays of a CSR or CSC matrix, as the kernels take them."""

    data: Array
    indices: Array
    indptr: Array
    by_row: bool


def compressed(X: Any) -> Compressed:
    """Return the arrays of a CSR or CSC matrix; only the small indptr is widened."""
    return Compressed(
        np.ascontiguousarray(native_values(X.data)),
        np.ascontiguousarray(X.indices),
        np.ascontiguousarray(X.indptr, dtype=np.int64),
        X.format == "csr",
    )


def has_duplicates(X: Any) -> bool:
    """Tell whether a CSR or CSC matrix stores any cell twice.

    CountVectorizer leaves indices unsorted; sorting them only to find that nothing is
    stored twice would cost more than counting.
    """
    x = compressed(X)
    minor = X.shape[1] if x.by_row else X.shape[0]
    return bool(_core.has_duplicates(x.indices, x.indptr, minor))


def _call(kernel: str, X: Any, *arguments: Any) -> int | None:
    """Call the kernel for compressed or for dense X; return the position it reports."""
    if sparse.issparse(X):
        found = getattr(_core, f"compressed_{kernel}")(*compressed(X), *arguments)
    else:
        found = getattr(_core, f"dense_{kernel}")(X, *arguments)
    return None if found is None or found < 0 else int(found)


def class_sums(
    X: Any,
    codes: Array,
    weights: Array | None,
    out: Array,
    check: int = NON_NEGATIVE,
    threshold: float = 0.0,
) -> int | None:
    """Add `sum_j w_j x_ji` over the rows j of class c to `out[c, i]`."""
    return _call("class_sums", X, codes, weights, check, threshold, out)


def centred_sums(X: Any, codes: Array, weights: Array | None, *tables: Array) -> None:
    """Add `w (x - mean)`, `w (x - mean)^2` and, for sparse X, the stored weight.

    `tables` are the means and where to add.
    """
    _call("centred_sums", X, codes, weights, *tables)


def column_max(X: Any, out: Array) -> int | None:
    """Raise `out[i]` to the largest category code of column i."""
    rows = (X.shape[0],) if sparse.issparse(X) else ()
    return _call("column_max", X, *rows, out)


def category_sums(
    X: Any, codes: Array, weights: Array | None, offsets: Array, out: Array
) -> None:
    """Add the weight of each (class, column, code); sparse X leaves code 0 out."""
    _call("category_sums", X, codes, weights, offsets, out)


def sparse_class_sums(
    X: Any,
    codes: Array,
    weights: Array | None,
    n_classes: int,
    check: int = NON_NEGATIVE,
    threshold: float = 0.0,
) -> tuple[Any, int | None]:
    """Return the class sums of a sparse X as a `csc_array` (K, m).

    Memory: the result itself plus O(n_rows + n_columns); no (K, m) array is made.
    """
    columns = X.shape[1]
    parts = compressed(X)
    slots = np.zeros(columns, dtype=np.int64)
    found = _core.sparse_class_slots(
        *parts, codes, weights, n_classes, check, threshold, slots
    )
    if found >= 0:
        return None, found
    starts = np.zeros(columns + 1, dtype=np.int64)
    np.cumsum(slots, out=starts[1:])
    del slots
    classes = np.empty(int(starts[-1]), dtype=np.int32)
    values = np.empty(int(starts[-1]), dtype=np.float64)
    _core.sparse_class_sums(
        *parts, codes, weights, n_classes, check, threshold, starts, classes, values
    )
    return class_table(values, classes, starts, n_classes), None


def class_table(values: Array, classes: Array, starts: Array, n_classes: int) -> Any:
    """Wrap CSC arrays with sorted row indices as a `csc_array` (K, m)."""
    small = values.size <= np.iinfo(np.int32).max
    table = sparse.csc_array(
        (values, classes, starts.astype(np.int32 if small else np.int64)),
        shape=(n_classes, starts.size - 1),
    )
    table.has_canonical_format = True
    return table


def dense_class_sums_as_sparse(
    X: Array,
    codes: Array,
    weights: Array | None,
    n_classes: int,
    check: int = NON_NEGATIVE,
    threshold: float = 0.0,
) -> tuple[Any, int | None]:
    """Return the class sums of a dense X as a `csc_array`, block by block.

    Memory: blocks of columns of at most 1,000,000 cells (8 MB) beside the result.
    """
    width = max(1, 1_000_000 // max(n_classes, 1))
    blocks = []
    for first in range(0, X.shape[1], width):
        part = X[:, first : first + width]
        out = np.zeros((n_classes, part.shape[1]))
        position = class_sums(part, codes, weights, out, check, threshold)
        if position is not None:
            row, column = divmod(position, part.shape[1])
            return None, row * X.shape[1] + first + column
        blocks.append(sparse.csc_array(out))
    table = sparse.hstack(blocks, format="csc")
    table.sort_indices()
    return table, None


def locate(X: Any, position: int) -> tuple[int, int, Any]:
    """Return row, column and value of a position reported by a kernel."""
    if not sparse.issparse(X):
        row, column = divmod(position, X.shape[1])
        return row, column, X[row, column].item()
    major = int(np.searchsorted(X.indptr, position, side="right")) - 1
    minor = int(X.indices[position])
    row, column = (major, minor) if X.format == "csr" else (minor, major)
    return row, column, X.data[position].item()
