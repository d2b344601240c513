"""The columns of a mixed table as lists of levels or arrays of values."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.utils._validation import is_missing

_NUMBERS = (int, float, Decimal, np.integer, np.floating)

#: What values of a category are called in messages; booleans are the numbers 0 and 1.
_KINDS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("strings", (str,)),
    ("numbers", (*_NUMBERS, np.bool_)),
    ("times", (date, timedelta, np.datetime64, np.timedelta64)),
)

__all__ = [
    "as_numbers",
    "columns_of",
    "is_continuous",
    "levels_of",
    "refuse_another_kind",
    "values_of",
]


def columns_of(X: Any) -> tuple[list[Any], list[str] | None]:
    """Columns of a frame or an array, and their names if all are strings."""
    if sparse.issparse(X):
        raise TypeError(
            "A mixed table must be a DataFrame or a dense array. Got a sparse matrix. "
            "Hint: L0Screener takes sparse binary data."
        )
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        columns = [X.iloc[:, j] for j in range(X.shape[1])]
        names = list(X.columns)
    elif hasattr(X, "columns") and hasattr(X, "get_columns"):
        columns, names = X.get_columns(), list(X.columns)
    else:
        array = np.asarray(X)
        if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
            array = np.array(X, dtype=object)  # a list's numbers stay numbers
        if array.ndim != 2:
            raise ValueError(
                "A mixed table must have rows and columns. "
                f"Got an array of shape {array.shape}. Reshape your data."
            )
        if np.iscomplexobj(array):
            raise ValueError("Complex data not supported. Got a complex array.")
        columns, names = [array[:, j] for j in range(array.shape[1])], []
    if not columns:
        raise ValueError(
            "A mixed table must have at least one column. "
            f"Got 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is "
            "required."
        )
    named = bool(names) and all(isinstance(name, str) for name in names)
    return columns, names if named else None


def is_continuous(column: Any) -> bool:
    """Whether a column holds numbers other than 0 and 1.

    Booleans, strings, categories and columns of 0 and 1 are categorical.
    """
    values = as_numbers(column)
    if values is None:
        return False
    there = values[~np.isnan(values)]
    return not np.isin(there, (0.0, 1.0)).all()


def values_of(column: Any) -> np.ndarray:
    """A continuous column as float64, NaN where missing."""
    values = as_numbers(column)
    if values is None:
        raise ValueError(
            "A continuous column must hold numbers. "
            f"Got values such as {_first(column)!r}."
        )
    if np.isinf(values).any():
        raise ValueError(
            "A continuous column must hold finite numbers or missing values. Got inf."
        )
    return values


def levels_of(column: Any, missing: Hashable) -> list[Hashable]:
    """A categorical column as a list of levels, missing values as the given one."""
    values = column.to_list() if hasattr(column, "to_list") else column.tolist()
    levels: list[Hashable] = []
    for value in values:
        if is_missing(value):
            levels.append(missing)
        elif isinstance(value, Hashable):
            levels.append(value)
        else:
            raise TypeError(
                "A categorical column must hold strings, numbers or other plain "
                f"values. Got {type(value).__name__}; argument must be a string or a "
                "number."
            )
    return levels


def as_numbers(column: Any) -> np.ndarray | None:
    """Float64 with NaN for missing, or None if the column is not numeric."""
    if hasattr(column, "cast"):  # polars
        if not column.dtype.is_numeric():
            return None
        import polars as pl

        floats = column.cast(pl.Float64).fill_null(float("nan"))
        return np.asarray(floats.to_numpy(), dtype=np.float64)
    dtype = column.dtype
    kind = getattr(dtype, "kind", "O")
    if str(dtype) == "category" or kind == "b":
        return None
    if kind in "iuf":
        if hasattr(column, "to_numpy"):
            return np.asarray(
                column.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64
            )
        return np.asarray(column, dtype=np.float64)
    if kind != "O":
        return None
    values = column.tolist()
    # One look tells most columns of words from columns of numbers.
    if values and isinstance(values[0], str):
        return None
    numbers = [np.nan if is_missing(value) else value for value in values]
    if all(isinstance(v, _NUMBERS) and not isinstance(v, bool) for v in numbers):
        found = np.array(numbers, dtype=np.float64)
        # Nothing but missing values: numbers only in an array, as NumPy has no dtype
        # for missing words.
        if isinstance(column, np.ndarray) or not np.isnan(found).all():
            return found
    return None


def _first(column: Any) -> Any:
    return column[0] if isinstance(column, np.ndarray) else column.to_list()[0]


def _kinds_of(values: Collection[Hashable]) -> set[str]:
    """What values are: strings, numbers, times, or others by their type."""
    found = set()
    for own in set(map(type, values)) - {type(None)}:
        known = [kind for kind, types in _KINDS if issubclass(own, types)]
        found.add(known[0] if known else f"values of type {own.__name__}")
    return found


def refuse_another_kind(
    known: Collection[Hashable], met: Collection[Hashable], where: str
) -> None:
    """Refuse a category of strings that comes as numbers: no value would be known.

    The same for all kinds of values. One value of a kind that was met before will do:
    the others are unseen then, as are strings that are new among strings.
    """
    before, now = _kinds_of(known), _kinds_of(met)
    if before and now and before.isdisjoint(now):
        value = next(own for own in met if own is not None)
        kinds, kind = " or ".join(sorted(before)), min(_kinds_of([value]))
        raise ValueError(
            f"{where[0].upper()}{where[1:]} held {kinds} when fitted and must hold "
            f"{kinds} now. Got {kind} such as {value!r}."
        )
