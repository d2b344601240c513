"""Arrow columns as Spark hands them out, as matrices and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.utils._arrays import Array


def label_values(column: Any) -> Array:
    """Return labels as an array of strings or numbers; a missing one is an error."""
    if column.null_count:
        row = int(np.argmax(np.asarray(column.is_null())))
        raise ValueError(
            f"Labels must not be missing. Got a missing one at row {row} of a batch. "
            "Hint: drop the row, or give it a label of its own."
        )
    values = column.to_pylist()
    if values and isinstance(values[0], str):
        labels = np.empty(len(values), dtype=object)
        labels[:] = values
        return labels
    return np.asarray(values)


def feature_matrix(batch: Any, names: list[str]) -> Any:
    """Return the features of a record batch whose last column is the label.

    One column of vectors or arrays, or numeric columns; `names` is for messages.
    """
    import pyarrow as pa

    columns = batch.columns[:-1]
    for name, column in zip(names, columns, strict=True):
        if column.null_count:
            row = int(np.argmax(np.asarray(column.is_null())))
            raise ValueError(
                f"Features must not be missing. Got a missing value in column "
                f"{name!r}, row {row} of a batch."
            )
    if len(columns) == 1:
        (column,) = columns
        if pa.types.is_struct(column.type):
            return _vectors(column)
        if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
            return _arrays(column)
    dense = []
    for name, column in zip(names, columns, strict=True):
        kind = column.type
        number = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
        if not any(test(kind) for test in number):
            raise ValueError(
                "Features must be numbers, or one column of vectors or arrays. Got "
                f"column {name!r} of type {kind}."
            )
        dense.append(column.to_numpy(zero_copy_only=False).astype(np.float64))
    return np.column_stack(dense)


def _list_parts(column: Any) -> tuple[Array, Array]:
    """Return the values of an Arrow list column and the length of each row."""
    values = np.asarray(column.flatten().to_numpy(zero_copy_only=False))
    lengths = column.value_lengths().to_numpy(zero_copy_only=False)
    return values, np.nan_to_num(lengths).astype(np.int64)


def _arrays(column: Any) -> Array:
    values, lengths = _list_parts(column)
    width = int(lengths[0]) if lengths.size else 0
    wrong = np.flatnonzero(lengths != width)
    if wrong.size:
        raise _uneven(width, int(lengths[wrong[0]]))
    return values.reshape(lengths.size, width)


def _uneven(width: int, other: int) -> ValueError:
    return ValueError(
        "Every row must have the same number of features. "
        f"Got {width} in one row and {other} in another."
    )


def _vectors(column: Any) -> Any:
    """Return MLlib vectors as a CSR matrix, or as an array if all are dense.

    Spark stores a vector as (type, size, indices, values), type 0 being sparse; dense
    ones have neither size nor indices.
    """
    fields = [column.type.field(i).name for i in range(column.type.num_fields)]
    if fields != ["type", "size", "indices", "values"]:
        raise ValueError(
            f"Features must be vectors, arrays or numbers. Got a struct of {fields}."
        )
    kind, size, indices, values = (column.field(i) for i in range(4))
    is_dense = kind.to_numpy(zero_copy_only=False) == 1
    data, lengths = _list_parts(values)
    widths = np.where(
        is_dense,
        lengths,
        np.nan_to_num(size.to_numpy(zero_copy_only=False)).astype(np.int64),
    )
    width = int(widths[0])
    wrong = np.flatnonzero(widths != width)
    if wrong.size:
        raise _uneven(width, int(widths[wrong[0]]))
    if is_dense.all():
        return data.reshape(lengths.size, width)
    starts = np.zeros(lengths.size + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    stored = np.asarray(indices.flatten().to_numpy(zero_copy_only=False))
    if is_dense.any():
        everywhere = np.empty(data.size, dtype=np.int64)
        of_dense = np.repeat(is_dense, lengths)
        everywhere[~of_dense] = stored
        everywhere[of_dense] = np.tile(np.arange(width), int(is_dense.sum()))
        stored = everywhere
    return sparse.csr_array((data, stored, starts), shape=(lengths.size, width))
