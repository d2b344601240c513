"""Scaling a table of class counts, and selecting features from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bayesieve.counts._parts import Parts, category_offsets, laid_out


def scale(parts: Parts, factor: float) -> Parts:
    """Return the counts of the same rows with every weight multiplied."""
    if isinstance(factor, bool) or not isinstance(factor, (int, float, np.number)):
        raise TypeError(
            f"The 'factor' parameter must be a number > 0. Got {type(factor).__name__}."
        )
    factor = float(factor)
    if not (np.isfinite(factor) and factor > 0):
        raise ValueError(
            f"The 'factor' parameter must be a finite number > 0. Got {factor!r}."
        )
    scaled = {
        name: getattr(parts, name) * factor
        for name in (
            "class_count",
            "feature_count",
            "document_count",
            "centred_squares",
        )
        if getattr(parts, name) is not None
    }
    return replace(parts, **scaled)


def select(parts: Parts, indices: Any) -> Parts:
    """Return the counts of some features, in the order asked for."""
    chosen = np.asarray(indices)
    m = parts.n_features
    if chosen.ndim != 1:
        raise ValueError(f"indices must have one dimension. Got shape {chosen.shape}.")
    if chosen.dtype == bool:
        if chosen.size != m:
            raise ValueError(
                f"A boolean mask must have one entry per feature, {m} in all. "
                f"Got {chosen.size}."
            )
        chosen = np.flatnonzero(chosen)
    elif chosen.size == 0:
        chosen = np.empty(0, dtype=np.int64)
    elif chosen.dtype.kind not in "iu":
        raise ValueError(
            f"indices must be integers or a boolean mask. Got dtype {chosen.dtype}."
        )
    chosen = chosen.astype(np.int64)
    outside = (chosen < -m) | (chosen >= m)
    if outside.any():
        raise ValueError(
            f"indices must lie in 0 .. {m - 1}. Got {int(chosen[np.argmax(outside)])}."
        )
    chosen = np.where(chosen < 0, chosen + m, chosen)
    picked: dict[str, Any] = {}
    columns = chosen
    if parts.n_categories is not None:
        sizes = parts.n_categories[chosen]
        starts = category_offsets(parts.n_categories)[:-1][chosen]
        shift = starts - category_offsets(sizes)[:-1]
        columns = np.repeat(shift, sizes) + np.arange(int(sizes.sum()))
        picked["n_categories"] = sizes
    if parts.feature_count is not None:
        picked["feature_count"] = laid_out(parts.feature_count[:, columns])
    if parts.document_count is not None:
        picked["document_count"] = laid_out(parts.document_count[:, chosen])
    if parts.mean is not None and parts.centred_squares is not None:
        picked["mean"] = np.ascontiguousarray(parts.mean[:, chosen])
        picked["centred_squares"] = np.ascontiguousarray(
            parts.centred_squares[:, chosen]
        )
    if parts.feature_names is not None:
        picked["feature_names"] = parts.feature_names[chosen]
    return replace(parts, **picked)
