"""Whether the indices of a sparse matrix lie inside its shape.

SciPy follows them wherever they lead, and another thread may change them between the
look and the use: `own_structure` looks at a copy.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["native_indices", "own_structure", "refuse_malformed"]

_INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))


def refuse_malformed(X: Any, *, counted: bool = False) -> None:
    """Stop at sparse indices that leave the shape.

    Parameters
    ----------
    X : object
        Anything but a sparse matrix passes.
    counted : bool, default=False
        Whether the compiled passes, or `own_structure`, are the first to read the
        indices of CSR and CSC; looking at them twice would cost time.
    """
    if not sparse.issparse(X):
        return
    if X.format in ("csr", "csc", "bsr"):
        sound = (
            _sound_pointers(X)
            and (
                (counted and X.format != "bsr")
                # Arrays may have room to spare behind the last entry.
                or _inside(X.indices[: X.indptr[-1]], _blocks_of(X)[1])
            )
        )
    elif X.format == "coo":
        sound = all(own.shape == X.data.shape for own in X.coords) and all(
            _inside(own, end) for own, end in zip(X.coords, X.shape, strict=True)
        )
    elif X.format == "dia":
        sound = X.data.ndim == 2 and X.offsets.shape == X.data.shape[:1]
    elif X.format == "lil":
        sound = _sound_lists(X)
    else:  # a dictionary, which Python itself looks after
        sound = True
    if not sound:
        raise ValueError(
            "The sparse matrix is malformed: an index is outside its shape. "
            "Hint: X.check_format(full_check=True) shows where."
        )


def own_structure(X: Any) -> Any:
    """Return X for SciPy to work on: its indices a checked copy, its values shared.

    Parameters
    ----------
    X : object
        Anything but a sparse matrix is returned as it is.
    """
    if not sparse.issparse(X):
        return X
    own = copy.copy(X)
    if X.format in ("csr", "csc", "bsr"):
        own.indptr = X.indptr.copy()
        # SciPy's selection of columns also follows the room to spare behind the
        # last entry, where anything may stand.
        end = max(int(own.indptr[-1]), 0) if own.indptr.size else 0
        own.indices, own.data = X.indices[:end].copy(), X.data[:end]
    elif X.format == "coo":
        own.coords = tuple(coordinate.copy() for coordinate in X.coords)
    refuse_malformed(own)
    return own


def native_indices(matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices and pointers of CSR or CSC as int32 or int64, as SciPy has it.

    Whoever sets them by hand, or reads them from a file, may hold other integers.
    """
    indices, pointers = matrix.indices, matrix.indptr
    if indices.dtype in _INDEX_TYPES and pointers.dtype in _INDEX_TYPES:
        return indices, pointers
    for name, array in (("indices", indices), ("indptr", pointers)):
        if array.dtype.kind not in "iu":
            raise ValueError(
                f"The {name} of a sparse matrix must be integers. "
                f"Got dtype {array.dtype}."
            )
    bound = matrix.shape[1 if matrix.format == "csr" else 0]
    for name, array, end in (
        ("indices", indices, bound),
        ("indptr", pointers, indices.size + 1),
    ):
        # Looked at before the cast, which would wrap them round.
        outside = array[(array < 0) | (array >= end)] if array.size else array
        if outside.size:
            raise ValueError(
                f"The sparse matrix is malformed: {name} must lie in 0..{end - 1}. "
                f"Got {int(outside[0])}."
            )
    narrow = max(*matrix.shape, indices.size) <= np.iinfo(np.int32).max
    wanted = _INDEX_TYPES[0 if narrow else 1]
    return indices.astype(wanted), pointers.astype(wanted)


def _sound_pointers(X: Any) -> bool:
    indices, pointers = X.indices, X.indptr
    return bool(
        pointers.shape == (_blocks_of(X)[0] + 1,)
        and pointers[0] == 0
        and pointers[-1] <= indices.size == X.data.shape[0]
        and (pointers[1:] >= pointers[:-1]).all()
    )


def _sound_lists(X: Any) -> bool:
    """Whether the rows of a LIL matrix are lists of columns, each with its value."""
    if not len(X.rows) == len(X.data) == X.shape[0]:
        return False
    for columns, values in zip(X.rows, X.data, strict=True):
        if len(columns) != len(values):
            return False
        if columns and not 0 <= min(columns) <= max(columns) < X.shape[1]:
            return False
    return True


def _blocks_of(X: Any) -> tuple[int, int]:
    """Number of slices that pointers tell apart, and end of the indices in them."""
    rows, columns = X.shape
    if X.format == "bsr":
        return rows // X.blocksize[0], columns // X.blocksize[1]
    return (rows, columns) if X.format == "csr" else (columns, rows)


def _inside(indices: np.ndarray, end: int) -> bool:
    return not indices.size or bool(indices.min() >= 0 and indices.max() < end)
