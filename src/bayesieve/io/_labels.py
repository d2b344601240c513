"""Labels of a stream of batches as class codes, where new labels may turn up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayesieve.utils._arrays import Array
from bayesieve.utils._validation import encode_labels, sorted_classes

_KINDS = {bool: "truth values", int: "numbers", float: "numbers", str: "strings"}


def label_kind(value: Any) -> str:
    """Say what kind of label a value is; other types are refused."""
    kind = _KINDS.get(type(value))
    if kind is None:
        raise ValueError(
            "Labels must be strings, integers, booleans or floats. Got "
            f"{type(value).__name__} {value!r}."
        )
    return kind


def can_be_label(n_classes: int, n_rows: int) -> bool:
    """Whether rows with so many different values can be told apart by them."""
    return 2 <= n_classes <= max(50, n_rows // 4)


def label_problem(classes: Sequence[Any], n_rows: int) -> str:
    """Say why values that so many rows have cannot be labels; words that follow it."""
    if not classes:
        return "has no value in any row, and cannot be a label"
    if len(classes) == 1:
        return f"has one value only, {classes[0]!r}; two classes or more are needed"
    if can_be_label(len(classes), n_rows):
        return ""
    many = f"{len(classes):,} different values in {n_rows:,} rows"
    return f"has {many}, too many for a label"


def sort_order(labels: list[Any]) -> tuple[Array, Array]:
    """Return labels as `np.unique` sorts them, and the position of each in the list."""
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    # A fixed-width string array would lose a NUL at the end of a label.
    as_objects = any(isinstance(label, str) and "\0" in label for label in labels)
    classes = sorted_classes(array if as_objects else np.array(labels))
    if classes.size != len(labels) or set(classes.tolist()) != set(labels):
        raise ValueError(
            "Labels must stay apart when they are made of one type. Got integers too "
            f"large to be told apart as {classes.dtype}, such as {max(labels)!r}. "
            "Hint: make all labels strings."
        )
    place = {label: i for i, label in enumerate(labels)}
    order = [place[label] for label in classes.tolist()]
    return classes, np.array(order, dtype=np.int64)


def as_written(classes: Array) -> Array:
    """Return classes read from plain text as numbers where all are written so.

    Integers in their plain form ("0", "-1", not "01" or "1.0"), or "True" and "False",
    as pandas reads them; anything else stays text.
    """
    texts = classes.tolist()
    if not all(isinstance(text, str) for text in texts):
        return classes
    if texts and all(text.startswith(" ") for text in texts):
        texts = [text.strip() for text in texts]  # a space after each delimiter
        if len(set(texts)) == len(texts):
            classes = np.array(texts, dtype=object)
        texts = classes.tolist()
    for yes, no in (("True", "False"), ("true", "false"), ("TRUE", "FALSE")):
        written = {yes: True, no: False}
        if texts and all(text in written for text in texts):
            return np.array([written[text] for text in texts])
    values = [_integer(text) for text in texts]
    if texts and None not in values:
        return np.array(values, dtype=np.int64)
    return classes


def _integer(text: str) -> int | None:
    if not text.isascii() or len(text) > 19:
        return None
    try:
        value = int(text)
    except ValueError:
        return None
    return value if str(value) == text and abs(value) < 2**62 else None


class LabelCodes:
    """Gives every distinct label a code, in the order they turn up.

    Parameters
    ----------
    classes : array-like, default=None
        All labels there may be; another one is an error.
    value_of : callable, default=None
        Makes the label of what is read, once for each distinct value.
    """

    def __init__(
        self, classes: Any = None, value_of: Callable[[Any], Any] | None = None
    ) -> None:
        self.labels: list[Any] = []
        self._code: dict[Any, int] = {}
        self._read: dict[Any, int] = {}
        self._value_of = value_of
        self._kind: str | None = None
        self._closed = False
        if classes is not None:
            known = np.asarray(classes)
            if known.ndim != 1 or known.size == 0:
                raise ValueError(
                    "'classes' must be a sequence of labels. Got "
                    f"an array of shape {known.shape}."
                )
            for label in known.tolist():
                self._add(label)
            self._closed = True

    def _add(self, label: Any) -> int:
        kind = label_kind(label)
        if self._kind is not None and kind != self._kind and not self._closed:
            raise ValueError(
                "Labels must all be of one kind. Got "
                f"{self._kind} ({self.labels[0]!r}) and {kind} ({label!r})."
            )
        code = self._code.get(label)
        if code is not None and kind == self._kind:
            return code
        if self._closed:
            shown = ", ".join(repr(item) for item in self.labels[:10])
            more = ", ..." if len(self.labels) > 10 else ""
            raise ValueError(
                f"The label {label!r} is not one of the classes [{shown}{more}]. "
                "Hint: 'classes' must list every class."
            )
        self._kind = kind
        self._code[label] = len(self.labels)
        self.labels.append(label)
        return len(self.labels) - 1

    def _code_of(self, read: Any) -> int:
        """Return the code of a value as read; -1 for one that stands for no label."""
        # 1 and True are one key of a dictionary, but not one label.
        key = (type(read), read)
        code = self._read.get(key)
        if code is None:
            label = read if self._value_of is None else self._value_of(read)
            code = -1 if label is None or label != label else self._add(label)
            self._read[key] = code
        return code

    def encode(self, labels: Any) -> Array:
        """Return the codes of a batch, -1 where the label is missing."""
        if hasattr(labels, "type") and hasattr(labels, "combine_chunks"):
            labels = labels.combine_chunks()  # ChunkedArray
        if hasattr(labels, "dictionary_encode"):
            distinct, codes = _arrow_codes(labels)
        else:
            distinct, codes = _array_codes(labels)
        table = np.array([self._code_of(value) for value in distinct] + [-1], np.int32)
        return np.asarray(table[codes])


def _arrow_codes(labels: Any) -> tuple[list[Any], Array]:
    kind = str(labels.type)
    if not kind.startswith("dictionary"):
        if "binary" in kind:
            labels = labels.cast("large_string")
        labels = labels.dictionary_encode()
    # Missing values get the place after the last one, whose code is -1.
    missing = len(labels.dictionary)
    codes = labels.indices.cast("int64").fill_null(missing)
    distinct = labels.dictionary.to_pylist()
    return distinct, np.asarray(codes.to_numpy(zero_copy_only=False))


def _array_codes(labels: Any) -> tuple[list[Any], Array]:
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(
            "Labels must be in one dimension, one for each text. Got shape "
            f"{array.shape}."
        )
    if isinstance(labels, list | tuple) and (
        array.dtype.kind in "USf" or (array.dtype.kind == "i" and True in labels)
    ):
        # NumPy makes strings of [1, "a"], floats of [1, None], integers of [1, True].
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
    if array.dtype.kind == "T":
        array = array.astype(object)
    if array.dtype == object:
        missing = np.array([is_missing(value) for value in array], dtype=bool)
    elif array.dtype.kind == "f":
        missing = np.isnan(array)
    else:
        missing = np.zeros(array.size, dtype=bool)
    present = array[~missing]
    if present.dtype == object:
        seen: dict[Any, int] = {}
        items = (v.item() if isinstance(v, np.generic) else v for v in present)
        keys = [(type(value), value) for value in items]  # 1 is not True
        codes = np.array([seen.setdefault(key, len(seen)) for key in keys], np.int64)
        distinct = [value for _, value in seen]
    else:
        values, codes = encode_labels(present)
        distinct = values.tolist()
    whole = np.full(array.size, len(distinct), dtype=np.int64)
    whole[~missing] = codes
    return distinct, whole


def is_missing(value: Any) -> bool:
    """Tell None, NaN, NaT and pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True
