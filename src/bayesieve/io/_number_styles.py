"""Numbers as people write them: 25,000 and 25.000,00 and $1 250 and 12 %.

A style says which mark sets decimals apart and which one groups digits. All values of
a column must be written in it, and it must be the only one that gives these values;
where two styles give different ones, both are returned, so that somebody can be asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from unicodedata import decimal

import numpy as np
from numpy.typing import NDArray

from bayesieve.io._duckdb import needs

__all__ = ["NumberStyle", "StyleGuess", "guess_style", "several_units"]

_CODES = (
    "USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|BRL|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RUB|KRW|"
    "MXN|ZAR|TRY|SGD|HKD"
)
_UNIT = rf"[$€£¥₹₽₩₺₴₫฿₪₱%‰~≈]|R\$|US\$|kr\.?|zł|Kč|(?:{_CODES})"
#: What is measured: kg, ms, km/h, °C, m², years; or of how many, /100.
_MEASURE = r"[\p{L}°µ][\p{L}°µ/²³.]{0,11}|/ ?[0-9]+"
_MINUS, _APOSTROPHE = "\u2212", "\u2019"
_SPACES = "\u00a0\u2007\u2009\u202f"  # that may stand between digits, made plain ones
_SPACE = rf"[\s{_SPACES}]*"
#: A sign, a unit on either side, digits with marks; accountants put brackets around
#: what is negative.
_WRITTEN = (
    rf"^{_SPACE}(?P<open>\(?){_SPACE}(?P<sign>[-+{_MINUS}]?){_SPACE}(?P<before>{_UNIT})?"
    rf"{_SPACE}(?P<sign2>[-+{_MINUS}]?){_SPACE}"
    rf"(?P<digits>[0-9.,'{_APOSTROPHE} {_SPACES}]*[0-9][.,]?)"
    rf"(?P<power>[eE][-+]?[0-9]+)?{_SPACE}(?P<after>{_UNIT}|{_MEASURE})?(?P<sign3>-?)"
    rf"(?P<close>\)?){_SPACE}$"
)
#: Digits of Arabic, Persian, Devanagari, Bengali and Thai, and wide ones.
_OTHER_DIGITS = (
    r"[\x{660}-\x{669}\x{6f0}-\x{6f9}\x{966}-\x{96f}\x{9e6}-\x{9ef}\x{e50}-\x{e59}"
    r"\x{ff10}-\x{ff19}]"
)
_LOOKED_AT = 500  # values that rule most columns out
#: What is not to be made a number is marked: ="12" and '12 in spreadsheets, "12" in
#: JSON.
_MARKED = r"""^\s*(?:=?"(.*)"|'([^']*)'?)\s*$"""


@dataclass(frozen=True)
class NumberStyle:
    """How numbers are written: the decimal mark, the mark between groups, the unit."""

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    @property
    def _units(self) -> list[str]:
        """Units that values have: none beside a currency is the same, beside k not."""
        needed = self.unit and not re.fullmatch(_UNIT, self.unit)
        return [self.unit] if needed else ["", self.unit]

    def _digits(self) -> str:
        """What digits look like in this style."""
        decimal, digits = re.escape(self.decimal), "[0-9]+"
        if self.thousands:
            mark = re.escape(self.thousands)
            groups = rf"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+"
            if self.thousands == ",":  # 12,34,567 in India
                groups += r"|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"
            digits = f"(?:{digits}|{groups})"
        return rf"(?:{digits}(?:{decimal}[0-9]*)?|{decimal}[0-9]+)"

    def numbers(self, values: Any) -> NDArray[np.float64]:
        """Return an Arrow array of strings as numbers; NaN for what is no number.

        Most are written simply, and are read without being cut into pieces.
        """
        pc = _compute()
        values = values.cast("string")
        short = len(self.unit) == 1 and "" in self._units
        unit = re.escape(self.unit) + "?" if short else ""
        simple = rf"^-?{unit} ?{self._digits()} ?{unit}$" if "" in self._units else "^$"
        fits = pc.fill_null(pc.match_substring_regex(values, simple), False)
        plain = values if pc.all(fits).as_py() else values.filter(fits)
        for mark in (self.unit if unit else "", " ", self.thousands):
            if mark:
                plain = pc.replace_substring(plain, mark, "")
        found = _as_floats(plain, self.decimal)
        if plain is values or len(plain) == len(values):
            return found
        rest = fits.to_numpy(zero_copy_only=False)
        every = np.empty(len(values))
        every[rest] = found
        every[~rest] = self._numbers(_cut(values.filter(pc.invert(fits))))
        return every

    def _numbers(self, written: _Written) -> NDArray[np.float64]:
        pc = _compute()
        fits = pc.match_substring_regex(written.digits, f"^{self._digits()}$")
        known = pc.is_in(written.unit, value_set=_array(self._units))
        fits = pc.and_(pc.fill_null(fits, False), known)
        plain = pc.if_else(fits, written.digits, None)
        if self.thousands:
            plain = pc.replace_substring(plain, self.thousands, "")
        plain = pc.binary_join_element_wise(plain, written.power, "")
        found = _as_floats(plain, self.decimal)
        return np.where(written.negative, -found, found)


# Those with a mark between groups first: what is read later may have it.
_STYLES = (
    *(NumberStyle(".", ","), NumberStyle(",", ".")),
    *(NumberStyle(".", " "), NumberStyle(",", " ")),
    *(NumberStyle(".", "'"), NumberStyle(",", "'")),
)


@dataclass(frozen=True, eq=False)
class StyleGuess:
    """A style that fits all values of a column, and the numbers they are.

    `other` fits too, with other numbers.
    """

    style: NumberStyle
    numbers: NDArray[np.float64]
    other: NumberStyle | None = None


@dataclass(frozen=True, eq=False)
class _Written:
    digits: Any
    power: Any
    unit: Any
    negative: NDArray[np.bool_]


def _compute() -> Any:
    needs("pyarrow")
    from pyarrow import compute

    return compute


def _as_floats(values: Any, decimal: str) -> NDArray[np.float64]:
    if decimal == ",":
        values = _compute().replace_substring(values, ",", ".")
    floats = values.cast("float64").to_numpy(zero_copy_only=False)
    return np.asarray(floats, dtype=np.float64)


def _cut(values: Any) -> _Written:
    """Cut strings into sign, unit and digits; null digits for what is no number."""
    pc = _compute()
    values = pc.replace_substring_regex(values.cast("string"), _MARKED, r"\1\2")
    if pc.any(pc.match_substring_regex(values, _OTHER_DIGITS)).as_py():
        values = _array([_in_ascii(own) for own in values.to_pylist()])
    parts = pc.extract_regex(values, _WRITTEN)
    digits, before, after = (
        pc.struct_field(parts, name) for name in ("digits", "before", "after")
    )
    for space in _SPACES:
        digits = pc.replace_substring(digits, space, " ")
    digits = pc.utf8_trim_whitespace(pc.replace_substring(digits, _APOSTROPHE, "'"))
    signs = [pc.struct_field(parts, f"sign{n}") for n in ("", "2", "3")]
    signs += [pc.struct_field(parts, "open"), pc.struct_field(parts, "close")]
    joined = pc.fill_null(pc.binary_join_element_wise(*signs, ""), "")
    minus = pc.is_in(joined, value_set=_array(["-", _MINUS, "()"]))
    proper = pc.is_in(joined, value_set=_array(["", "+", "-", _MINUS, "()"]))
    both = pc.and_(pc.not_equal(before, ""), pc.not_equal(after, ""))
    proper = pc.and_(proper, pc.invert(pc.fill_null(both, False)))
    return _Written(
        pc.if_else(proper, digits, None),
        pc.fill_null(pc.struct_field(parts, "power"), ""),
        pc.binary_join_element_wise(before, after, ""),
        minus.to_numpy(zero_copy_only=False),
    )


def _in_ascii(text: str | None) -> str | None:
    """Write the digits of any script as 0 to 9."""
    if text is None or not any(map(str.isdecimal, text)):
        return text
    text = text.replace("\u066b", ".").replace("\u066c", ",")
    return "".join(str(decimal(own)) if own.isdecimal() else own for own in text)


def _array(values: Sequence[str | None]) -> Any:
    return needs("pyarrow").array(values, "string")


def guess_style(
    distinct: Any, decimal: str | None = None, thousands: str | None = None
) -> StyleGuess | None:
    """Return the style of a column, if all its values are numbers in one.

    Parameters
    ----------
    distinct : pyarrow.Array of str
        The different values of a column that are not missing.
    decimal, thousands : str, optional
        The marks, where somebody has said them.
    """
    styles = _STYLES if decimal is thousands is None else _said(decimal, thousands)
    some = distinct[:_LOOKED_AT]
    written = _cut(some)
    if not len(some) or written.digits.null_count:
        return None
    units = set(written.unit.unique().to_pylist()) - {""}
    if len(units) > 1:
        return None  # amounts in two currencies cannot be compared
    unit = units.pop() if units else ""
    readings: list[tuple[NumberStyle, NDArray[np.float64]]] = []
    for style in (replace(own, unit=unit) for own in styles):
        if np.isnan(style._numbers(written)).any():
            continue
        values = style.numbers(distinct)
        if np.isfinite(values).all():  # 1E310 is no number that a double can hold
            readings.append((style, values))
    if not readings:
        return None
    best, values = readings[0]
    others = [own for own, other in readings if not np.array_equal(other, values)]
    return StyleGuess(best, values, others[0] if others else None)


def several_units(distinct: Any) -> list[str]:
    """Return the units of a column of numbers, if it has more than one.

    An empty one is that of numbers without a unit.
    """
    written = _cut(distinct[:_LOOKED_AT])
    if not len(distinct) or written.digits.null_count > 0.05 * len(written.digits):
        return []
    units = [own for own in written.unit.unique().to_pylist() if own is not None]
    if any(re.fullmatch("[A-JLN-Z]|/.*", own) for own in units):
        return []  # seats such as 12A and fractions, not measures
    return units if len(units) > 1 else []


def _said(decimal: str | None, thousands: str | None) -> tuple[NumberStyle, ...]:
    if decimal is None:
        decimal = "," if thousands == "." else "."
    if thousands is not None:
        return (NumberStyle(decimal, thousands),)
    return tuple(own for own in _STYLES if own.decimal == decimal)
