"""Texts with labels: the class code of each text, and which of them cannot be used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesieve.io._bad_rows import BadRows
from bayesieve.io._labels import LabelCodes, is_missing
from bayesieve.utils._arrays import Array

__all__ = ["text_codes"]


def text_codes(
    texts: Any,
    labels: Any,
    label_codes: LabelCodes,
    bad_rows: BadRows,
    place: Callable[[int], str] = "Row {}".format,
) -> Array:
    """Return the class code of every text, -1 for the rows to leave out.

    `place` names a row in messages.
    """
    codes = label_codes.encode(labels)
    if codes.size != len(texts):
        raise ValueError(
            "There must be one label for each text. Got "
            f"{codes.size} labels for {len(texts)} texts."
        )
    unlabelled = codes < 0
    if unlabelled.any():
        first = place(int(np.argmax(unlabelled)))
        bad_rows.found(int(unlabelled.sum()), f"{first} has no label.")
    for rows, problem in _bad_texts(texts, bad_rows.skip):
        rows = rows[codes[rows] >= 0]
        if rows.size:
            bad_rows.found(rows.size, f"{place(int(rows[0]))} {problem}.")
            codes[rows] = -1
    return codes


def _bad_texts(texts: Any, skip: bool) -> list[tuple[Array, str]]:
    """Return the rows whose text is missing or, if they are skipped, not UTF-8."""
    if hasattr(texts, "null_count"):
        missing = np.empty(0, dtype=np.int64)
        if texts.null_count:
            missing = np.flatnonzero(np.asarray(texts.is_null()))
        raw = "binary" in str(texts.type)
    else:
        odd = [i for i, text in enumerate(texts) if type(text) is not str]
        missing = np.array([i for i in odd if is_missing(texts[i])], dtype=np.int64)
        raw = bool(odd)
    found = [(missing, "has no text")]
    if raw and skip:
        values = texts.to_pylist() if hasattr(texts, "to_pylist") else texts
        wrong = [i for i, text in enumerate(values) if not _is_utf8(text)]
        found.append((np.array(wrong, dtype=np.int64), "is not valid UTF-8"))
    return found


def _is_utf8(text: Any) -> bool:
    if not isinstance(text, bytes):
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
