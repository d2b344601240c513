"""Dates as people write them: 2024-12-31, 31.12.2024, 12/31/24, Dec 31, 2024."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from bayesieve.utils._optional import optional_module

__all__ = [
    "ISO",
    "DateGuess",
    "dates",
    "guess_dates",
    "guess_several_formats",
    "look_like_dates",
]

#: What is not a format of its own: all that ISO 8601 allows.
ISO = "ISO8601"
#: Stands between the formats of a column that has several.
_OR = " or "
_MOST_FORMATS = 3
_LOOKED_AT = 500
_DAY = re.compile(
    r"\s*(\d{4}-\d\d|\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}(?![.\d])"
    r"|\d{1,2}[-/ .]+[^\W\d]{3,}\.?,?[-/ ]|[^\W\d]{3,}\.? \d{1,2},? \d{4}"
    r"|[^\W\d]{3}\.?,? (\d{1,2} [^\W\d]{3}|[^\W\d]{3} +\d{1,2}) )"
)
_DAYS = (
    *("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%b-%Y", "%d-%b-%y"),
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y"),
    *("%a %d %b %Y", "%a, %d %b %Y", "%y/%m/%d", "%y-%m-%d", "%y.%m.%d"),
)
#: As mails, C programs and social networks write them.
_WITH_TIMES = (
    *("%a, %d %b %Y %H:%M:%S %z", "%a %b %d %H:%M:%S %Y"),
    "%a %b %d %H:%M:%S %z %Y",
)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p")


@dataclass(frozen=True)
class DateGuess:
    """A format that values have; `other` too, with other days."""

    format: str
    other: str | None = None


def dates(values: Any, format: str, errors: str = "raise") -> Any:
    """Return a series of strings as times without zone, of microseconds or finer.

    The format may be several, each for the values that have none of those before.
    """
    pandas = optional_module("pandas", purpose="Reading tables", extra="cli")
    values = values.str.strip()
    first, *others = format.split(_OR)
    errors = "coerce" if others else errors
    found = _times(pandas, values, first, errors)
    for own in others:
        found = found.fillna(_times(pandas, values, own, "coerce"))
    return found.dt.tz_localize(None)


def _times(pandas: Any, values: Any, format: str, errors: str) -> Any:
    """Times of one format; pandas before 3 has nanoseconds only, which end in 2262."""
    found = pandas.to_datetime(values, errors="coerce", format=format, utc=True)
    missed = values[found.isna() & values.notna()]
    if found.dt.unit == "ns" and len(missed) and _far(missed.iloc[0], format):
        times = [_far(own, format) for own in missed]
        found = found.dt.as_unit("us").copy()
        found[missed.index] = pandas.Series(
            np.array(times, dtype="datetime64[us]"), missed.index
        ).dt.tz_localize("UTC")
        missed = missed[[own is None for own in times]]
    if errors == "raise" and len(missed):
        pandas.to_datetime(missed, format=format, utc=True)  # says what is wrong
    return found


def _far(value: str, format: str) -> datetime | None:
    """A time that nanoseconds since 1970 cannot hold, None if it is none."""
    try:
        if format == ISO:
            found = datetime.fromisoformat(value)
        else:
            found = datetime.strptime(value, format)
    except ValueError:
        return None
    if found.tzinfo is not None:
        found = found.astimezone(UTC).replace(tzinfo=None)
    return None if 1678 <= found.year <= 2261 else found


def guess_dates(distinct: Any) -> DateGuess | None:
    """Return the format of the values of a column (an Arrow array), if it has one."""
    first = _first(distinct)
    if not first or not all(map(_DAY.match, first)):
        return None
    pandas = optional_module("pandas", purpose="Reading tables", extra="cli")
    some, every = pandas.Series(first), None
    found: list[str] = []
    for format in _formats():
        # One value rules most formats out, and quickly.
        if format != ISO and not _has_format(first[0], format):
            continue
        if dates(some, format, errors="coerce").isna().any():
            continue
        every = pandas.Series(distinct.to_pylist()) if every is None else every
        if len(every) <= len(some) or not dates(every, format, "coerce").isna().any():
            found.append(format)
            if format == ISO:
                break
    if not found:
        return None
    found = _of_near_years(some, found) if len(found) > 1 else found
    read = dates(some, found[0])
    others = [own for own in found[1:] if not dates(some, own).equals(read)]
    return DateGuess(found[0], others[0] if others else None)


def _of_near_years(values: Any, formats: list[str]) -> list[str]:
    """Leave out formats that take days for years, which are then far apart."""
    years = {own: dates(values, own).dt.year for own in formats}
    spans = {own: int(found.max() - found.min()) for own, found in years.items()}
    return [own for own in formats if spans[own] <= 2 * min(spans.values()) + 1]


def look_like_dates(distinct: Any) -> float:
    """Return the share of some values of a column that begin like dates."""
    first = _first(distinct)
    return sum(bool(_DAY.match(own)) for own in first) / max(len(first), 1)


def guess_several_formats(distinct: Any) -> DateGuess | None:
    """Return the formats of values that are written in more than one way.

    None where one of them leaves open what the day is and what the month.
    """
    pandas = optional_module("pandas", purpose="Reading tables", extra="cli")
    rest = pandas.Series([own for own in _first(distinct) if _DAY.match(own)])
    formats: list[str] = []
    while len(rest) and len(formats) < _MOST_FORMATS:
        possible = [
            own
            for own in _formats()
            if own == ISO or any(_has_format(value, own) for value in rest)
        ]
        read = {own: dates(rest, own, "coerce").notna() for own in possible}
        best = max(read, key=lambda own: int(read[own].sum()))
        swapped = [own for own in read if own.upper() == _exchanged(best).upper()]
        either = [own for own in swapped if own != best and read[own].any()]
        if not read[best].any() or either or set(swapped) & set(formats):
            break
        formats.append(best)
        rest = rest[~read[best]]
    # What is left may be strays, or too many ways.
    return DateGuess(_OR.join(formats)) if formats else None


def _first(distinct: Any) -> list[str]:
    return [str(value) for value in distinct[:_LOOKED_AT].to_pylist()]


def _formats() -> tuple[str, ...]:
    return (ISO, *(day + time for day in _DAYS for time in _TIMES), *_WITH_TIMES)


def _has_format(value: str, format: str) -> bool:
    try:
        datetime.strptime(value.strip(), format)
    except ValueError:
        return False
    return True


def _exchanged(format: str) -> str:
    return format.replace("%d", "%_").replace("%m", "%d").replace("%_", "%m")
