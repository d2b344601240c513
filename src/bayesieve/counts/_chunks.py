"""Counting a stream of chunks as if it were one matrix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.counts._layout import is_dense_layout, same_labels
from bayesieve.counts._matrix import (
    CountRule,
    add_sums,
    check_length,
    class_weights,
    count_coded,
)
from bayesieve.counts._merge import add, class_rows, place, union_classes
from bayesieve.utils._arrays import Array
from bayesieve.utils._validation import (
    as_matrix,
    check_names,
    check_weights,
    encode_labels,
    label_array,
    sorted_classes,
)

if TYPE_CHECKING:
    from bayesieve.counts._table import ClassCounts


def count_chunks(
    cls: type[ClassCounts],
    chunks: Iterable[Any],
    rule: CountRule,
    classes: Any = None,
    feature_names: Any = None,
) -> ClassCounts:
    """Count chunks of rows one after the other.

    Counts and presences are added in row order to one table, so the result equals that
    of the whole matrix to the last bit; moments and categories are merged.
    """
    total: ClassCounts | None = None
    known = None if classes is None else sorted_classes(label_array(classes))
    width: int | None = None
    number = -1
    for number, chunk in enumerate(chunks):
        X, y, sample_weight = _unpack(chunk, number)
        matrix, names = as_matrix(X)
        if feature_names is not None:
            names = check_names(feature_names, matrix.shape[1])
        if width is None:
            width = matrix.shape[1]
        if names is None and matrix.shape[1] != width:
            raise ValueError(
                f"Chunk {number} must have as many columns as the chunks before it, "
                f"{width}. Got {matrix.shape[1]}. Hint: give every chunk feature names "
                "to take the union of their columns."
            )
        found, codes = encode_labels(y, known)
        check_length(codes, matrix)
        weights = check_weights(sample_weight, matrix.shape[0], allow_zero=True)
        if total is not None and _continues(total, rule, names):
            merged = union_classes(total.classes, found)
            if is_dense_layout(merged.size, matrix.shape[1]):
                total = _grown(total, merged)
                codes = class_rows(found, merged)[codes]
                class_weights(codes, weights, merged.size, out=total.class_count)
                add_sums(matrix, codes, weights, rule, names, total.feature_count)
                continue
        part = count_coded(cls, matrix, codes, found, weights, rule, names)
        total = part if total is None else _add_chunk(total, part, number)
    if total is None:
        raise ValueError(
            "from_chunks needs at least one chunk (X, y) or (X, y, sample_weight). "
            f"Got {number + 1}."
        )
    if not total.class_count.any():
        raise ValueError(
            "The chunks must have at least one row with a weight above 0. Got none."
        )
    return total


def _unpack(chunk: Any, number: int) -> tuple[Any, Any, Any]:
    if not isinstance(chunk, (tuple, list)) or len(chunk) not in (2, 3):
        size = f" of length {len(chunk)}" if isinstance(chunk, (tuple, list)) else ""
        raise ValueError(
            "A chunk must be a tuple (X, y) or (X, y, sample_weight). "
            f"Got {type(chunk).__name__}{size} as chunk {number}."
        )
    return chunk[0], chunk[1], chunk[2] if len(chunk) == 3 else None


def _continues(total: ClassCounts, rule: CountRule, names: Array | None) -> bool:
    """Tell whether a chunk can be added in place to the dense table so far."""
    return (
        rule.kind in ("count", "binary")
        and isinstance(total.feature_count, np.ndarray)
        and same_labels(total.feature_names, names)
    )


def _grown(total: ClassCounts, classes: Array) -> ClassCounts:
    """Return the table with a row for every class; the same one if none is new."""
    if classes.size == total.classes.size:
        return total
    rows = class_rows(total.classes, classes)
    counted = np.zeros(classes.size)
    counted[rows] = total.class_count
    shape = (classes.size, total.n_features)
    table = place(total.feature_count, rows, None, shape)
    return total._with(classes=classes, class_count=counted, feature_count=table)


def _add_chunk(total: ClassCounts, part: ClassCounts, number: int) -> ClassCounts:
    try:
        return add(total, part)
    except ValueError as error:
        raise ValueError(
            f"Chunk {number} does not fit the ones before: {error}"
        ) from error
