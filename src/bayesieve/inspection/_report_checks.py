"""Checks of plain values that may come from anywhere, each with a sentence of its own.

A check takes a value and its place, and returns the value made clean, or raises a
ValueError that says in one sentence where the text departs from what is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

__all__ = [
    "Check",
    "clean_passage",
    "clean_text",
    "flag",
    "lines",
    "many",
    "number",
    "one_of",
    "optional",
    "passage",
    "record",
    "text",
    "tuple_of",
    "whole",
]

#: A check takes a value and its place, and returns the value or raises ValueError.
Check = Callable[[Any, str], Any]

#: Control characters break lines and tables, those that turn the direction of text make
#: a command read unlike what it does, and lone surrogates cannot be written at all.
_VISIBLE = {code: 0x2400 + code for code in range(32)} | {127: 0x2421}
_VISIBLE |= dict.fromkeys(range(128, 160), 0xFFFD)
_VISIBLE |= dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
_VISIBLE |= dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD)
_VISIBLE |= {0x2028: 0x2424, 0x2029: 0x2424}


def clean_text(text: str, longest: int = 200) -> str:
    """A name or label as one line of bounded length that any file can hold."""
    text = text[: longest + 1].translate(_VISIBLE)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def clean_passage(text: str, longest: int) -> str:
    """Text of several lines of bounded length that any file can hold."""
    text = text[: longest + 1].replace("\r\n", "\n").replace("\t", "    ")
    text = "\n".join(line.translate(_VISIBLE) for line in text.split("\n"))
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _refuse(where: str, wanted: str, value: Any) -> ValueError:
    got = type(value).__name__
    if isinstance(value, bool | int | float) or value is None:
        got = repr(value)[:40]
    elif isinstance(value, str | list):
        got = f"{got} of length {len(value)}"
    return ValueError(f"A report's {where} must be {wanted}. Got {got}.")


def text(longest: int = 200) -> Check:
    """A string; made clean and cut if too long."""

    def check(value: Any, where: str) -> str:
        if not isinstance(value, str):
            raise _refuse(where, "text", value)
        return clean_text(value, longest)

    return check


def lines(longest: int) -> Check:
    """Text of several lines, refused if too long: it is there to be copied."""

    def check(value: Any, where: str) -> str:
        if not isinstance(value, str) or len(value) > longest:
            raise _refuse(where, f"text of at most {longest:,} characters", value)
        return "\n".join(clean_text(line, longest) for line in value.split("\n"))

    return check


def passage(longest: int) -> Check:
    """Text of several lines; made clean and cut if too long."""

    def check(value: Any, where: str) -> str:
        if not isinstance(value, str):
            raise _refuse(where, "text", value)
        return clean_passage(value, longest)

    return check


def one_of(*words: str) -> Check:
    """One of a few words."""

    def check(value: Any, where: str) -> str:
        if not isinstance(value, str) or value not in words:
            raise _refuse(where, f"one of {', '.join(map(repr, words))}", value)
        return value

    return check


def number(low: float = -math.inf, high: float = math.inf) -> Check:
    """A number; "inf" and "-inf" stand for what JSON cannot say."""

    def check(value: Any, where: str) -> float:
        wanted = "a number"
        if low > -math.inf or high < math.inf:
            wanted = f"a number from {low:g} to {high:g}"
        if value in ("inf", "-inf") and isinstance(value, str):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _refuse(where, wanted, value)
        try:
            found = float(value)
        except OverflowError:
            found = math.nan
        if not low <= found <= high:  # NaN as well
            raise _refuse(where, wanted, value if found == found else math.inf)
        return found

    return check


def whole(high: int = 2**53) -> Check:
    """A whole number from 0 on, one that JavaScript can hold."""

    def check(value: Any, where: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise _refuse(where, "a whole number", value)
        if not 0 <= value <= high:
            raise _refuse(where, f"a whole number from 0 to {high:,}", value)
        return value

    return check


def flag(value: Any, where: str) -> bool:
    """Yes or no."""
    if not isinstance(value, bool):
        raise _refuse(where, "true or false", value)
    return value


def optional(check: Check) -> Check:
    """Something, or null."""
    return lambda value, where: None if value is None else check(value, where)


def many(check: Check, most: int) -> Check:
    """A list of at most so many."""

    def check_all(value: Any, where: str) -> list[Any]:
        if not isinstance(value, list | tuple) or len(value) > most:
            raise _refuse(where, f"a list of at most {most:,}", value)
        return [check(item, f"{where}[{i}]") for i, item in enumerate(value)]

    return check_all


def tuple_of(*checks: Check) -> Check:
    """A list of exactly these."""

    def check_each(value: Any, where: str) -> list[Any]:
        if not isinstance(value, list | tuple) or len(value) != len(checks):
            raise _refuse(where, f"a list of {len(checks)}", value)
        return [
            check(item, f"{where}[{i}]")
            for i, (check, item) in enumerate(zip(checks, value, strict=True))
        ]

    return check_each


def record(**fields: Check) -> Check:
    """An object with these fields and no others; a missing one is null."""

    def check(value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _refuse(where, "an object", value)
        for name in value:
            if name not in fields:
                known = ", ".join(fields)
                raise ValueError(
                    f"A report's {where} must have no fields but {known}. "
                    f"Got {clean_text(str(name), 40)!r}."
                )
        return {
            name: field(value.get(name), f"{where}.{name}")
            for name, field in fields.items()
        }

    return check
