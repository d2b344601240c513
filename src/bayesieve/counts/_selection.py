"""Some features of a table of class counts: by position, or by document frequency."""

from __future__ import annotations

import math
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.counts._copies import NamesWithCopies
from bayesieve.counts._layout import category_offsets, laid_out
from bayesieve.utils._arrays import Array

if TYPE_CHECKING:
    from bayesieve.counts._table import ClassCounts


def select(counts: ClassCounts, indices: Any) -> ClassCounts:
    """Return the counts of some features, in the order asked for."""
    chosen = _positions(indices, counts.n_features)
    picked: dict[str, Any] = {}
    columns = chosen
    if counts.n_categories is not None:
        sizes = counts.n_categories[chosen]
        starts = category_offsets(counts.n_categories)[:-1][chosen]
        shift = starts - category_offsets(sizes)[:-1]
        columns = np.repeat(shift, sizes) + np.arange(int(sizes.sum()))
        picked["n_categories"] = sizes
    if counts.mean is not None and counts.centred_squares is not None:
        picked["mean"] = np.ascontiguousarray(counts.mean[:, chosen])
        picked["centred_squares"] = np.ascontiguousarray(
            counts.centred_squares[:, chosen]
        )
    else:
        picked["feature_count"] = laid_out(counts.feature_count[:, columns])
    if counts.document_count is not None:
        picked["document_count"] = laid_out(counts.document_count[:, chosen])
    if counts.feature_names is not None:
        picked["feature_names"] = counts.feature_names[chosen]
    if counts.copies is not None:
        copies = counts.copies.select(chosen)
        picked["copies"] = copies
        picked["feature_names"] = NamesWithCopies(picked["feature_names"].keys, copies)
    return counts._with(**picked)


def _positions(indices: Any, n_features: int) -> Array:
    """Return the positions that integers or a mask stand for."""
    chosen = np.asarray(indices)
    if chosen.ndim != 1:
        raise ValueError(f"indices must have one dimension. Got shape {chosen.shape}.")
    if chosen.dtype == bool:
        if chosen.size != n_features:
            raise ValueError(
                f"A boolean mask must have one entry per feature, {n_features} in all. "
                f"Got {chosen.size}."
            )
        return np.flatnonzero(chosen)
    if chosen.size == 0:
        return np.empty(0, dtype=np.int64)
    if chosen.dtype.kind not in "iu":
        raise ValueError(
            f"indices must be integers or a boolean mask. Got dtype {chosen.dtype}."
        )
    chosen = chosen.astype(np.int64)
    outside = (chosen < -n_features) | (chosen >= n_features)
    if outside.any():
        raise ValueError(
            f"indices must lie in 0 .. {n_features - 1}. "
            f"Got {int(chosen[np.argmax(outside)])}."
        )
    return np.where(chosen < 0, chosen + n_features, chosen)


# --------------------------------------------------------------------------- documents


def documents_with(counts: ClassCounts) -> Any:
    """Return the documents of each class with each term, None if not counted."""
    return counts.feature_count if counts.kind == "binary" else counts.document_count


def document_frequency(counts: ClassCounts) -> Array:
    """Return the number of documents with each term, of all classes."""
    return np.asarray(documents_with(counts).sum(axis=0)).ravel()


def prune(
    counts: ClassCounts,
    min_df: float = 1,
    max_df: float = 1.0,
    max_features: int | None = None,
) -> ClassCounts:
    """Return the counts of the terms that CountVectorizer would keep.

    Integers are numbers of documents and floats shares of all documents. Ties at
    `max_features` are cut as CountVectorizer cuts them.
    """
    total = int(counts.class_count.sum())
    low, high = _document_limits(min_df, max_df, max_features, total)
    frequency = document_frequency(counts)
    mask = (frequency >= low) & (frequency <= high)
    if max_features is not None and mask.sum() > max_features:
        uses = np.asarray(counts.feature_count.sum(axis=0)).ravel().astype(np.int64)
        kept = np.flatnonzero(mask)[(-uses[mask]).argsort()[:max_features]]
        mask = np.zeros(mask.size, dtype=bool)
        mask[kept] = True
    return counts if mask.all() else select(counts, mask)


def check_limits(min_df: float, max_df: float, max_features: int | None) -> None:
    """Refuse wrong limits before anything is read, as if there were many documents."""
    many = 10**15
    if isinstance(min_df, Integral) == isinstance(max_df, Integral):
        _document_limits(min_df, max_df, max_features, many)
    else:  # a share and a number can be compared only once there are documents
        _document_limits(min_df, 1.0, max_features, many)
        _document_limits(1, max_df, max_features, many)


def keep_all(min_df: float, max_df: float = 1.0) -> bool:
    """Whether limits leave no term out: 1 is a number of documents, 1.0 all of them."""
    low = min_df == (1 if isinstance(min_df, Integral) else 0.0)
    return bool(low and not isinstance(max_df, Integral) and max_df == 1.0)


def least_documents(min_df: float, total: int) -> int:
    """Return in how many documents a term must be, at least."""
    return math.ceil(_document_limits(min_df, 1.0, None, total)[0])


def _document_limits(
    min_df: float, max_df: float, max_features: int | None, total: int
) -> tuple[float, float]:
    """Return the least and the largest number of documents with a term."""
    low = _document_limit("min_df", min_df, total)
    high = _document_limit("max_df", max_df, total)
    if max_features is not None and (
        not isinstance(max_features, Integral) or max_features < 1
    ):
        raise ValueError(
            f"'max_features' must be None or an int >= 1. Got {max_features!r}."
        )
    if low > total and max_df == 1.0:  # whose default is not to blame
        raise ValueError(
            f"min_df ({low:g}) must not be above the number of documents ({total})."
        )
    if high < low:
        raise ValueError(
            f"max_df ({high:g} documents) must not be below min_df ({low:g})."
        )
    return low, high


def _document_limit(name: str, value: float, total: int) -> float:
    if isinstance(value, Integral) and value >= 1:
        return int(value)
    if isinstance(value, float | np.floating) and 0.0 <= value <= 1.0:
        return float(value) * total
    raise ValueError(
        f"{name!r} must be a number of documents (int >= 1) or a share in [0, 1] "
        f"(float). Got {value!r}."
    )
