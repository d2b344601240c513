"""Integers and times that doubles cannot tell apart, as distances from an origin.

Doubles hold every integer up to 2**53. Identifiers, hashes and times in nanoseconds are
larger, and neighbours would become one value. What matters of a numerical column is the
order of its values, so a column of such integers is kept as ``value - origin``, exact
where the values lie within 2**53 of the origin. Other columns have no origin and are
kept as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from bayesieve.exceptions import MergedValuesWarning
from bayesieve.utils._validation import is_missing
from bayesieve.utils._warnings import warn_user

__all__ = [
    "TICKS",
    "Origin",
    "WholeColumn",
    "choose_origin",
    "warn_if_rounded",
    "whole_column",
]

_EXACT = 2**53  # every integer up to here is a double
_FINEST_PLAIN = (
    10**6
)  # doubles tell the microseconds of our centuries apart, in seconds
_PER_SECOND = {
    **dict.fromkeys(("Y", "M", "W", "D", "h", "m", "s", "generic"), 1),
    **{unit: 10 ** (3 * i) for i, unit in enumerate(("ms", "us", "ns", "ps"), 1)},
    **{"fs": 10**15, "as": 10**18},
}
_UNIT = {ticks: unit for unit, ticks in _PER_SECOND.items() if ticks > 1} | {1: "s"}
TICKS = frozenset(_UNIT)


@dataclass(frozen=True)
class Origin:
    """Where the numbers of a column are counted from, and in what.

    The number x of a column stands for ``(whole + x) / ticks``: an integer if `ticks`
    is 1 and the column holds no times, else a time in seconds.
    """

    whole: int
    ticks: int = 1

    def numbers(self, values: np.ndarray) -> np.ndarray:
        """Return plain values of the column as distances from here."""
        if values.dtype.kind in "iu" and self.ticks == 1:
            return _distances(values, self.whole)
        return np.asarray(values, dtype=np.float64) * self.ticks - float(self.whole)

    def shown(self, number: float, *, is_time: bool) -> str:
        """Write the last value that a bound has below it, to the last digit."""
        if not math.isfinite(number):
            return f"{number:g}"
        last = self.whole + math.floor(number)
        if not is_time:
            return str(last)
        return str(np.array(last, dtype=f"datetime64[{_UNIT[self.ticks]}]"))


@dataclass(frozen=True)
class WholeColumn:
    """A column of integers, or of times as integers, before any rounding.

    `values` are int64, uint64 or Python's integers; `missing` says which are none, and
    `ticks` how many make a second, None for integers that are no times.
    """

    values: np.ndarray
    missing: np.ndarray
    ticks: int | None

    def there(self) -> np.ndarray:
        """Return the values that are not missing."""
        return self.values[~self.missing] if self.missing.any() else self.values

    def numbers(self, origin: Origin | None) -> np.ndarray:
        """Return doubles with NaN for missing: counted from the origin, or plain."""
        values, ticks = self.values, self.ticks or 1
        wanted = min(ticks, _FINEST_PLAIN) if origin is None else origin.ticks
        if ticks > wanted:  # what lies between two ticks belongs to the first
            values = values // (ticks // wanted)
        elif ticks < wanted:
            values = values.astype(object) * (wanted // ticks)
        if origin is None:
            found = values.astype(np.float64) / wanted
        else:
            found = _distances(values, origin.whole)
        found[self.missing] = np.nan
        return found

    def coarsened(self) -> WholeColumn:
        """Return times in ticks no finer than they need, down to plain doubles'."""
        values, ticks = self.there(), self.ticks
        if ticks is None or ticks <= _FINEST_PLAIN:
            return self
        while ticks > _FINEST_PLAIN and not (values % 1000).any():
            values, ticks = values // 1000, ticks // 1000
        return WholeColumn(values, np.zeros(values.shape, bool), ticks)

    def warn_if_merged(self, numbers: np.ndarray, name: str) -> None:
        """Say so when different values of the column have become the same double."""
        own = self.coarsened()
        there = numbers[~np.isnan(numbers)]
        fine = own.ticks is None or own.ticks <= _FINEST_PLAIN
        if not there.size or (
            fine and np.abs(there).max() * (own.ticks or 1) <= _EXACT
        ):
            return
        kind = "integers" if self.ticks is None else "times"
        _warn_of_merged(_distinct(own.there()), there, kind, name)


def choose_origin(column: WholeColumn) -> Origin | None:
    """Return an origin for a column whose values plain doubles cannot hold.

    The middle of the different values, so that a few far ones, such as the largest
    integer for "none", take nothing from the others.
    """
    own = column.coarsened()
    there = own.there()
    if not there.size:
        return None
    plain = own.numbers(None)[~own.missing]
    if own.ticks is None:
        if max(-int(there.min()), int(there.max())) <= _EXACT:
            return None
    elif own.ticks <= _FINEST_PLAIN and _same(np.rint(plain * own.ticks), there):
        return None
    different = np.unique(there)
    origin = Origin(int(float(different[different.size // 2])), own.ticks or 1)
    numbers = own.numbers(origin)[~own.missing]
    if np.abs(numbers).max() <= _EXACT or _distinct(numbers) > _distinct(plain):
        return origin
    return None


def _same(rounded: np.ndarray, values: np.ndarray) -> bool:
    """Whether doubles are exactly these integers."""
    if np.abs(rounded).max() >= 2.0**63:
        return False
    return bool((rounded.astype(np.int64) == values).all())


def _distinct(values: np.ndarray) -> int:
    return int(np.unique(values).size)


def _distances(values: np.ndarray, origin: int) -> np.ndarray:
    """Return ``values - origin`` as doubles, rounded once."""
    if values.dtype == object:
        return np.array([float(int(value) - origin) for value in values], np.float64)
    if values.dtype == np.uint64:  # the same order and distances, as signed integers
        values = (values ^ np.uint64(1 << 63)).view(np.int64)
        origin -= 1 << 63
    if not -(1 << 63) <= origin < 1 << 63:
        return _distances(values.astype(object), origin)
    own = values.astype(np.int64, copy=False)
    with np.errstate(over="ignore"):
        apart = own - np.int64(origin)
    found = apart.astype(np.float64)
    wrapped = (own >= origin) != (apart >= 0)
    if wrapped.any():
        found[wrapped] = own[wrapped].astype(np.float64) - float(origin)
    return found


# --------------------------------------------------------------------------- reading


def whole_column(column: Any) -> WholeColumn | None:
    """Read a column of times or of integers that may be too large for doubles.

    None for all others: floats, integers of 32 bits and less, words.
    """
    if hasattr(column, "cast"):
        return _polars_column(column)
    dtype = column.dtype
    kind = getattr(dtype, "kind", "O")
    if kind in "iu":
        if getattr(dtype, "itemsize", 8) < 8 or str(dtype) == "category":
            return None
        wide = np.int64 if kind == "i" else np.uint64
        if not hasattr(column, "to_numpy"):
            values = np.asarray(column, dtype=wide)
            return WholeColumn(values, np.zeros(values.shape, bool), None)
        missing = np.asarray(column.isna(), dtype=bool)
        options = {"na_value": 0} if missing.any() else {}
        return WholeColumn(
            np.asarray(column.to_numpy(dtype=wide, **options)), missing, None
        )
    if kind in "mM":
        return _moments(column, kind)
    return _object_column(column) if kind == "O" else None


def _moments(column: Any, kind: str) -> WholeColumn:
    dtype = column.dtype
    arrow = getattr(dtype, "pyarrow_dtype", None)
    unit = getattr(dtype if arrow is None else arrow, "unit", None)
    if unit is None:
        unit = np.datetime_data(dtype)[0]
    ticks = _PER_SECOND[unit]
    moments = np.asarray(column, dtype=f"{kind}8[{'s' if ticks == 1 else unit}]")
    return WholeColumn(moments.astype(np.int64), np.isnat(moments), ticks)


def _polars_column(column: Any) -> WholeColumn | None:
    import polars as pl

    dtype = column.dtype
    ticks = None
    if dtype.is_temporal():
        if dtype == pl.Date:
            column = column.cast(pl.Datetime("us"))
        ticks = 10**9 if dtype == pl.Time else _PER_SECOND[column.dtype.time_unit]
        column = column.to_physical()
    elif not dtype.is_integer() or dtype.is_(pl.Int8) or dtype.is_(pl.UInt8):
        return None
    missing = column.is_null().to_numpy()
    whole = column.fill_null(0)
    if whole.dtype == pl.UInt64 or whole.dtype == pl.Int64:
        return WholeColumn(whole.to_numpy(), missing, ticks)
    if whole.dtype in (pl.Int16, pl.UInt16, pl.Int32, pl.UInt32):
        return None
    return WholeColumn(np.array(whole.to_list(), dtype=object), missing, ticks)


def _object_column(column: Any) -> WholeColumn | None:
    if str(column.dtype) == "category" or not len(column):
        return None
    values = column.tolist()
    if isinstance(values[0], str):  # most columns of words are told by one look
        return None
    gone = [is_missing(value) for value in values]
    there = [value for value, none in zip(values, gone, strict=True) if not none]
    if not there:
        return None
    missing = np.array(gone)
    if all(isinstance(value, date) for value in there):
        plain = [None if none else v for v, none in zip(values, gone, strict=True)]
        moments = np.array(plain, dtype="M8[us]").astype(np.int64)
        parts = [getattr(v, "nanosecond", 0) for v in there]  # pandas' Timestamp
        if not any(parts):
            return WholeColumn(moments, missing, 10**6)
        whole = moments.astype(object) * 1000
        whole[~missing] += np.array(parts, dtype=object)
        return WholeColumn(whole, missing, 10**9)
    if not all(
        isinstance(value, int | np.integer) and not isinstance(value, bool)
        for value in there
    ):
        return None
    filled = [0 if none else int(v) for v, none in zip(values, gone, strict=True)]
    return WholeColumn(np.array(filled, dtype=object), missing, None)


def warn_if_rounded(column: Any, numbers: np.ndarray, name: str) -> None:
    """Say so when different decimals or long doubles have become the same double."""
    dtype = column.dtype
    if hasattr(column, "cast"):
        if not dtype.is_decimal():
            return
        different = int(column.drop_nulls().n_unique())
    elif getattr(dtype, "kind", "O") == "O":
        there = [value for value in column.tolist() if not is_missing(value)]
        if all(type(value) is float for value in there):
            return
        different = len(set(there))
    elif dtype.kind == "f" and getattr(dtype, "itemsize", 8) > 8:
        values = np.asarray(column)
        different = _distinct(values[~np.isnan(values)])
    else:
        return
    _warn_of_merged(different, numbers[~np.isnan(numbers)], "numbers", name)


def _warn_of_merged(different: int, numbers: np.ndarray, kind: str, name: str) -> None:
    merged = different - _distinct(numbers)
    if merged > 0:
        warn_user(
            f"{name[0].upper()}{name[1:]} holds {kind} that doubles cannot tell apart: "
            f"{merged} of its {different} different values count as their neighbours. "
            "Hint: take a part of the range, or group the column by "
            "categorical_features.",
            MergedValuesWarning,
        )
