"""What columns are for: label, text, number, category, date, identifier, constant.

Labels and texts are guessed from names and the first rows, before a file is read;
identifiers and constants are known when it was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.io._column_format import ReadColumn
from bayesieve.utils._arrays import n_unique
from bayesieve.utils._reads_like_text import reads_like_text

__all__ = [
    "SAMPLE_ROWS",
    "Roles",
    "guess_roles",
    "is_called_label",
    "left_out",
    "n_distinct",
    "n_missing",
]

SAMPLE_ROWS = 2000
_LABELS = (
    *("label", "labels", "class", "classes", "target", "y", "sentiment", "outcome"),
    *("diagnosis", "risk", "response", "churn", "churned", "survived", "fraud", "spam"),
    *("polarity", "category", "species"),
)
_TEXTS = (
    *("text", "texts", "message", "body", "content", "review", "comment"),
    *("sentence", "document", "tweet", "description", "title", "abstract"),
)
_YES_NO = ({"true", "false"}, {"yes", "no"}, {"0", "1"}, {"y", "n"}, {"t", "f"})
_MOST_CLASSES = 50
_MOST_NUMBERS = 10
_NUMBER = re.compile(r"[-+]?[0-9.,]+")
#: Rows from which values that are all different say nothing.
_LEAST_ROWS = 20
_IDENTIFIER = re.compile(
    r"unnamed: ?\d+|__index_level_\d+__|index|row|rowid|column 1"
    r"|(.*[ _.-])?(id|key|no|nr|number|uuid|guid)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Roles:
    """The label and the texts of a table, as guessed; `labels` are all that may be."""

    label: str | None
    texts: list[str]
    labels: list[str] = field(default_factory=list)


def guess_roles(
    sample: Mapping[str, Sequence[Any]], *, label: str | None = None
) -> Roles:
    """Guess what columns are for from their names and values.

    Parameters
    ----------
    sample : mapping of str to sequence
        Columns in their order, with the values of the first rows.
    label : str, optional
        The label, where it was said.
    """
    texts = [name for name in sample if name != label and _is_text(name, sample[name])]
    texts.sort(key=lambda name: (not _called_text(name), -_length(sample[name])))
    labels = _labels(
        {name: own for name, own in sample.items() if name not in texts}, label
    )
    if label is None and labels:
        best = labels[0]
        return Roles(best, texts, labels)
    return Roles(label, texts, labels)


# ------------------------------------------------------------------------------- texts


def _is_text(name: str, values: Sequence[Any]) -> bool:
    there = [value for value in values if value not in (None, "")]
    if not there or not all(isinstance(value, str) for value in there):
        return False
    if reads_like_text(there):
        return True
    # Many rows of few texts may still be texts, if that is how they are called.
    words = sum(len(value.split()) for value in there) / len(there)
    return _called_text(name) and words >= 2


def _called_text(name: str) -> bool:
    return name.strip().lower() in _TEXTS


def _length(values: Sequence[Any]) -> int:
    return sum(len(value) for value in values if value)


# ------------------------------------------------------------------------------ labels


def _labels(sample: Mapping[str, Sequence[Any]], said: str | None) -> list[str]:
    """Columns that may be labels, the likeliest first; none where it is not clear."""
    there = {
        name: {_written(value) for value in values if value not in (None, "")}
        for name, values in sample.items()
        if name != said and _can_be_labels(values)
    }
    likely = [
        name
        for name, found in there.items()
        if len(found) >= 2 and _few_enough(found, sample[name])
    ]
    # The first rows of a sorted file have one label, and its name tells.
    exactly = [n for n in there if is_called_label(n)]
    exactly = [n for n in exactly if _few_enough(there[n], sample[n])]
    exactly.sort(key=lambda name: _rank(name, words=False) or 0)
    flags = [name for name in likely if _is_flag(name, there[name])]
    partly = [name for name in likely if _rank(name, words=True) is not None]
    partly.sort(key=lambda name: _rank(name, words=True) or 0)
    # By custom the label of a table is its last column; empty ones are none.
    filled = [name for name in sample if _is_filled(sample[name])]
    last = [name for name in likely if name == filled[-1]]
    first = [*exactly, *(flags if len(flags) == 1 else ()), *partly, *last]
    if not first:
        answers = [name for name in likely if there[name] in _YES_NO]
        first = likely if len(likely) == 1 else answers if len(answers) == 1 else []
    if not first:
        return []
    few = [name for name in likely if not _is_measured(there[name])]
    return list(dict.fromkeys([*first, *flags, *few]))


def _is_filled(values: Sequence[Any]) -> bool:
    return any(value not in (None, "") for value in values)


def _is_measured(found: set[str]) -> bool:
    """Tell numbers of many values, which are rather measured than classes."""
    return len(found) > _MOST_NUMBERS and all(map(_NUMBER.fullmatch, found))


def _can_be_labels(values: Sequence[Any]) -> bool:
    return not any(isinstance(value, list | dict | set) for value in values)


def _written(value: Any) -> str:
    return str(value).strip().lower()


def _few_enough(found: set[str], values: Sequence[Any]) -> bool:
    there = sum(value not in (None, "") for value in values)
    return 1 <= len(found) <= min(_MOST_CLASSES, max(there // 2, 2))


def _rank(name: str, *, words: bool) -> int | None:
    """Place among the names of labels that a name, or a word of it, has."""
    parts = [name.strip()]
    if words:
        parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)
    found = [_LABELS.index(own.lower()) for own in parts if own.lower() in _LABELS]
    return min(found, default=None)


def is_called_label(name: str) -> bool:
    """Whether a column is called a label, so that no other can be meant."""
    return _rank(name, words=False) is not None


def _is_flag(name: str, found: set[str]) -> bool:
    """Tell a column that says yes or no and is called so."""
    begins = re.match(r"(is|has|was|did)([_\s.-]|(?=[A-Z]))", name.strip()) is not None
    return begins and any(found <= known for known in _YES_NO)


# ------------------------------------------------------------------- what says nothing


def n_distinct(read: ReadColumn) -> int:
    """How many different values a column has, missing ones not counted."""
    if read.strings is not None:
        used = np.bincount(read.strings.codes, minlength=len(read.strings.missing)) > 0
        return int((used & ~read.strings.missing).sum())
    values = np.asarray(read.values)
    if values.dtype == object:
        return len({value for value in values.tolist() if value is not None})
    return n_unique(values[~_is_missing(values)])


def n_missing(read: ReadColumn) -> int:
    """How many values of a column are missing."""
    if read.strings is not None:
        return int(read.strings.missing[read.strings.codes].sum())
    values = np.asarray(read.values)
    if values.dtype == object:
        return sum(value is None or value != value for value in values.tolist())
    return int(np.sum(_is_missing(values)))


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(
        np.isnat(values) if values.dtype.kind == "M" else values != values
    )


def left_out(read: ReadColumn) -> str:
    """Say why a column says nothing about any label; empty if it may."""
    values = np.asarray(read.values)
    if read.kind == "nested":
        return "nested"
    if not values.size:
        return ""
    if values.dtype.kind in "iuf":
        first = values[0]
        if (values == first).all() or (first != first and (values != values).all()):
            return "constant"
        if values.size < _LEAST_ROWS or not _IDENTIFIER.fullmatch(read.name.strip()):
            return ""
        whole = (values == np.floor(values)).all()  # and none is missing
        return "identifier" if whole and n_unique(values) == values.size else ""
    distinct, missing = n_distinct(read), n_missing(read)
    if distinct + (missing > 0) <= 1:
        return "constant"
    there = values.size - missing
    if read.kind == "category" and there >= _LEAST_ROWS and distinct >= 0.95 * there:
        return "identifier"
    return ""
