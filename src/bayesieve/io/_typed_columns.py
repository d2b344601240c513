"""Columns of files as a frame: numbers and times where all of a column are such."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesieve.utils._optional import optional_module

__all__ = ["typed_frame"]

#: Ways to write that a value is missing in a CSV file.
_MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")


def typed_frame(
    table: Any,
    names: Sequence[str],
    *,
    is_text: bool,
    kinds: Mapping[str, str] | None = None,
) -> Any:
    """Return the first columns of an Arrow table or batch as a pandas frame.

    Parameters
    ----------
    table : pyarrow.Table or pyarrow.RecordBatch
    names : sequence of str
        What its first columns are called.
    is_text : bool
        Whether they are strings of a text format, to be typed.
    kinds : mapping of str to {"number", "time", "category"}, optional
        What each column must be; by default strings are what all of them can be.
    """
    pandas = optional_module("pandas", purpose="Reading tables", extra="cli")
    kinds = kinds or {}
    if is_text:
        columns = {
            name: _typed(table.column(i), name, kinds.get(name))
            for i, name in enumerate(names)
        }
        values = list(columns.values())
        if values and all(isinstance(own, np.ndarray) for own in values):
            # Numbers only: one block at once, not column by column.
            return pandas.DataFrame(np.column_stack(values), columns=list(columns))
        return pandas.DataFrame(columns)
    table = table.select(list(range(len(names))))
    frame = table.to_pandas()
    frame.columns = list(names)
    for name, field in zip(names, table.schema, strict=True):
        if str(field.type) == "bool" and frame[name].dtype == bool:
            frame[name] = frame[name].astype(str)  # as CSV files have them
    for name, kind in kinds.items():
        frame[name] = _as_kind(frame[name], name, kind)
    return frame


def _typed(column: Any, name: str, kind: str | None) -> Any:
    """Return strings as numbers, times or plain objects."""
    numbers = _numbers(column) if kind in (None, "number") else None
    if numbers is not None:
        return numbers
    values = column.to_pandas()
    values = values.mask(values.isin(_MISSING))
    if kind is not None:
        return _as_kind(values, name, kind)
    there = values.notna()
    if there.any():
        for own in ("number", "time"):
            if own == "time" and "-" not in str(values[there].iloc[0]):
                continue
            found = _converted(values, own, errors="coerce")
            if found.notna()[there].all():
                return found
    return values.astype(object)


def _numbers(column: Any) -> Any:
    """Return strings as numbers where all are written plainly, which is quick."""
    import pyarrow
    from pyarrow import compute

    try:
        return np.asarray(column.cast("float64").to_numpy())
    except pyarrow.ArrowInvalid:
        pass
    missing = compute.is_in(column, value_set=pyarrow.array(_MISSING))
    column = compute.if_else(missing, pyarrow.scalar(None, column.type), column)
    if column.null_count == len(column):
        return None
    try:
        return np.asarray(column.cast("float64").to_numpy(zero_copy_only=False))
    except pyarrow.ArrowInvalid:
        return None


def _converted(values: Any, kind: str, errors: str = "raise") -> Any:
    import pandas

    if kind == "number":
        return pandas.to_numeric(values, errors=errors).astype(np.float64)
    times = pandas.to_datetime(values, errors=errors, format="ISO8601", utc=True)
    return times.dt.tz_localize(None)


def _as_kind(values: Any, name: str, kind: str) -> Any:
    if kind == "category":
        return values.astype(object)
    try:
        return _converted(values, kind)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Column {name!r} held {kind}s when the model was made and must hold "
            f"{kind}s now. Got: {error}"
        ) from None
