"""Dates as people write them: 2024-12-31, 31.12.2024, 12/31/24, Dec 31, 2024."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from bayesieve.utils._optional import optional_module

__all__ = ["ISO", "DateGuess", "dates", "guess_dates"]

#: What is not a format of its own: all that ISO 8601 allows.
ISO = "ISO8601"
_LOOKED_AT = 500
_DAY = re.compile(
    r"\s*(\d{4}-\d\d|\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"|\d{1,2}[-/ .]+[^\W\d]{3,}\.?,?[-/ ]|[^\W\d]{3,}\.? \d{1,2},? \d{4})"
)
_DAYS = (
    *("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%b-%Y", "%d-%b-%y"),
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y"),
)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p")


@dataclass(frozen=True)
class DateGuess:
    """A format that all values have; `other` too, with days and months exchanged."""

    format: str
    other: str | None = None


def dates(values: Any, format: str, errors: str = "raise") -> Any:
    """Return a series of strings as times without zone, of microseconds or finer."""
    pandas = optional_module("pandas", purpose="Reading tables", extra="cli")
    found = pandas.to_datetime(values, errors=errors, format=format, utc=True)
    return found.dt.tz_localize(None)


def guess_dates(distinct: Any) -> DateGuess | None:
    """Return the format of the values of a column (an Arrow array), if it has one."""
    pandas = optional_module("pandas", purpose="Reading tables", extra="cli")
    first = [str(value) for value in distinct[:_LOOKED_AT].to_pylist()]
    if not first or not all(map(_DAY.match, first)):
        return None
    some, every = pandas.Series(first), None
    found: list[str] = []
    for format in (ISO, *(day + time for day in _DAYS for time in _TIMES)):
        if dates(some, format, errors="coerce").isna().any():
            continue
        every = pandas.Series(distinct.to_pylist()) if every is None else every
        if len(every) <= len(some) or not dates(every, format, "coerce").isna().any():
            found.append(format)
            if format == ISO:
                break
    if not found:
        return None
    # Of 01/02/03 the year is last, or four digits would be.
    swapped = [own for own in found[1:] if own.upper() == _exchanged(found[0]).upper()]
    return DateGuess(found[0], swapped[0] if swapped else None)


def _exchanged(format: str) -> str:
    return format.replace("%d", "%_").replace("%m", "%d").replace("%_", "%m")
