"""Some rows of whatever rows are: frames, matrices, lists of texts, Arrow arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve._compat import safe_indexing

__all__ = ["some_texts", "take_rows"]

_MOST_TEXTS = 1_000


def take_rows(X: Any, places: np.ndarray) -> Any:
    """Rows by their numbers."""
    if hasattr(X, "to_pylist") and hasattr(X, "take"):  # an array of Arrow
        return X.take(places)
    return safe_indexing(X, places)


def some_texts(X: Any) -> list[Any]:
    """The first rows where they are texts, else none."""
    if getattr(X, "ndim", 1) != 1 or hasattr(X, "nnz") or not hasattr(X, "__len__"):
        return []
    part = X[:_MOST_TEXTS]
    return part.to_pylist() if hasattr(part, "to_pylist") else list(part)
