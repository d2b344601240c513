"""Whether the arrays of a table of class counts fit together."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bayesieve.counts._layout import KINDS, laid_out
from bayesieve.utils._arrays import Array

if TYPE_CHECKING:
    from bayesieve.counts._table import ClassCounts


def checked(counts: ClassCounts) -> ClassCounts:
    """Check that all arrays fit together; return them with tables laid out."""
    n_classes = counts.classes.size
    if counts.kind not in KINDS:
        allowed = ", ".join(repr(name) for name in KINDS)
        raise ValueError(f"kind must be one of {allowed}. Got {counts.kind!r}.")
    if counts.classes.ndim != 1 or not _rising(counts.classes):
        raise ValueError("classes must be a sorted 1-D array of distinct labels.")
    _check_counts("class_count", counts.class_count, (n_classes,))
    tables: dict[str, Any] = {}
    if counts.kind == "moments":
        if counts.mean is None or counts.centred_squares is None:
            raise ValueError("kind='moments' needs mean and centred_squares.")
        width = counts.mean.shape[-1]
        _check_shape("mean", counts.mean, (n_classes, width))
        if not np.isfinite(counts.mean).all():
            raise ValueError("mean must hold finite numbers.")
        _check_counts("centred_squares", counts.centred_squares, (n_classes, width))
    else:
        table = counts.__dict__["feature_count"]
        if table is None or len(table.shape) != 2:
            raise ValueError(f"kind={counts.kind!r} needs feature_count (K, m).")
        width = table.shape[1]
        if counts.kind == "category":
            _check_categories(counts.n_categories, width)
        _check_counts("feature_count", table, (n_classes, width))
        tables["feature_count"] = laid_out(table)
    if counts.document_count is not None:
        shape = (n_classes, counts.n_features)
        _check_counts("document_count", counts.document_count, shape)
        tables["document_count"] = laid_out(counts.document_count)
    names = counts.feature_names
    if names is not None and len(names) != counts.n_features:
        raise ValueError(
            f"feature_names must have one name per feature, {counts.n_features} in "
            f"all. Got {len(names)}."
        )
    return counts._with(**tables)


def _rising(classes: Array) -> bool:
    try:
        return all(a < b for a, b in pairwise(classes.tolist()))
    except TypeError:
        return False


def _check_shape(name: str, table: Any, shape: tuple[int, ...]) -> None:
    if table.shape != shape:
        raise ValueError(f"{name} must have shape {shape}. Got {table.shape}.")


def _check_counts(name: str, table: Any, shape: tuple[int, ...]) -> None:
    _check_shape(name, table, shape)
    values = table.data if sparse.issparse(table) else table
    # NaN fails both comparisons; reductions need no temporary of K * m bytes.
    if values.size and not (values.min() >= 0 and values.max() < np.inf):
        raise ValueError(f"{name} must hold finite numbers >= 0.")


def _check_categories(n_categories: Array | None, width: int) -> None:
    if n_categories is None or n_categories.ndim != 1:
        raise ValueError("kind='category' needs n_categories (m,).")
    exact = [int(size) for size in n_categories.tolist()]
    if any(size < 1 for size in exact) or sum(exact) != width:
        raise ValueError(
            "n_categories must be integers >= 1 that add up to the columns of "
            f"feature_count, {width} in all."
        )
