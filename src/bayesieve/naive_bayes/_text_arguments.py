"""Raw texts as estimators take them: one dimension, strings only."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.text._packing import sized

__all__ = ["checked_texts"]


def checked_texts(X: Any, *, owner: str) -> Any:
    """Return texts that have a length, or say what is wrong with them."""
    needs = f"{owner} needs a sequence of texts"
    if isinstance(X, str | bytes):
        raise ValueError(
            f"{needs}. Got a single {type(X).__name__}. Hint: put it in a list."
        )
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and len(shape) != 1:
        raise ValueError(
            f"{needs} in one dimension. Got {type(X).__name__} of shape {shape}. "
            "Hint: pass one column of strings."
        )
    if isinstance(X, dict) or not hasattr(X, "__iter__"):
        raise ValueError(f"{needs}. Got {type(X).__name__}.")
    try:
        texts = sized(X)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{needs}. Got {type(X).__name__}: {error}") from error
    if len(texts) == 0:
        raise ValueError(f"{needs}. Got none.")
    if isinstance(texts, np.ndarray) and texts.dtype.kind not in "OUST":
        raise ValueError(f"{needs}. Got an array of dtype {texts.dtype}.")
    if isinstance(texts, list | tuple | np.ndarray):
        _all_strings(texts, needs)
    elif not any(kind in str(texts.type) for kind in ("string", "binary", "utf8")):
        raise ValueError(f"{needs}. Got Arrow type {texts.type}.")
    return texts


def _all_strings(texts: Any, needs: str) -> None:
    if isinstance(texts, np.ndarray) and texts.dtype.kind in "US":
        return
    # One pass at the speed of C; the row is looked for only when it is wrong.
    if all(issubclass(kind, str | bytes) for kind in set(map(type, texts))):
        return
    row, text = next(
        (row, text)
        for row, text in enumerate(texts)
        if not isinstance(text, str | bytes)
    )
    missing = text is None or text != text  # NaN
    found = "a missing value" if missing else f"{type(text).__name__} {text!r:.40}"
    hint = " Hint: fill missing texts with ''." if missing else ""
    raise ValueError(f"{needs}. Got {found} in row {row}.{hint}")
