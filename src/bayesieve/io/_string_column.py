"""A column of strings: the numbers, dates or categories that all of them are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.io._column_format import ColumnFormat, Marks, ReadColumn
from bayesieve.io._date_styles import (
    ISO,
    dates,
    guess_dates,
    guess_several_formats,
    look_like_dates,
)
from bayesieve.io._duckdb import needs
from bayesieve.io._number_styles import (
    NumberStyle,
    StyleGuess,
    guess_style,
    several_units,
)
from bayesieve.utils._optional import optional_module

__all__ = [
    "AROUND",
    "MISSING_NUMBERS",
    "MISSING_WORDS",
    "SPACES",
    "StringColumn",
    "are_codes",
    "are_digits",
    "beyond_doubles",
    "have_spaces",
    "plain_numbers",
    "points_between_thousands",
    "said_dates",
    "said_numbers",
    "whole_numbers",
]

#: White space around the values of files.
SPACES = " \t\r\n\u00a0"
#: What is not looked at where a value may be missing; strings among others of JSON have
#: quotes.
AROUND = f'{SPACES}"'
#: Ways to write that a value is missing in a file of text.
MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")
#: And those that are meant so among numbers and dates.
MISSING_NUMBERS = (
    *(
        "n/a",
        "na",
        "none",
        "NIL",
        "nil",
        "-",
        "--",
        "---",
        ".",
        "..",
        "\u2014",
        "\u2013",
        "#N/A",
    ),
    *("#NA", "#NULL!", "#VALUE!", "#DIV/0!", "#NUM!", "#REF!"),
    *(
        "N.A.",
        "n.a.",
        "k.A.",
        "missing",
        "Missing",
        "unknown",
        "Unknown",
        "<NA>",
        "NaT",
    ),
    *("0000-00-00", "0000-00-00 00:00:00", "00/00/0000", "00.00.0000"),
)
# A column is one of numbers if nearly all rows have one, and the others say few things.
_LOOKED_AT = 200
_PLAIN = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_TIME = re.compile(
    r"\s*\d{1,3}:\d\d(:\d\d(\.\d+)?)?\s*([ap]\.?m\.?)?\s*", re.IGNORECASE
)
_NUMBER = re.compile(r"^\W*[0-9][0-9.,' \u00a0\u202f]*\W*$")
_MOST_STRAYS, _LEAST_SHARE, _LEAST_NUMBERS = 20, 0.95, 10
_MOST_WORDS = 2
#: Digits from which zeros in front mean a code: of a town, an article; not an hour.
_SHORTEST_CODE = 4


class StringColumn:
    """A column of strings by its different values."""

    def __init__(self, column: Any) -> None:
        from pyarrow import compute

        if hasattr(column, "combine_chunks"):
            column = column.combine_chunks()
        pyarrow = needs("pyarrow")
        if isinstance(column, pyarrow.ChunkedArray):
            column = pyarrow.concat_arrays(column.chunks)
        encoded = column.cast("large_string").dictionary_encode()
        self.values = encoded.dictionary
        self.codes = encoded.indices.fill_null(len(self.values)).to_numpy()
        trimmed = compute.utf8_trim(self.values, AROUND)
        self.missing = np.append(_is_in(trimmed, MISSING_WORDS), True)
        also = _is_in(trimmed, MISSING_NUMBERS)
        self.no_number = self.missing | np.append(also, True)

    def as_they_are(
        self, name: str, kind: str, doubt: str = "", *, strip: bool | None = None
    ) -> ReadColumn:
        """The strings, None where one is missing.

        Categories may lose the white space around them: by default where all have some.
        """
        values = self._texts()
        if kind == "category":
            values[self.missing] = None
            there = values[~self.missing]
            if strip is None:
                strip = all(own.startswith(" ") for own in there)
            if strip:
                values[~self.missing] = [own.strip(SPACES) for own in there]
        return ReadColumn(
            name, ColumnFormat(kind), values[self.codes], doubt=doubt, strings=self
        )

    def _texts(self) -> NDArray[np.object_]:
        """The different values, and None at the place of missing ones."""
        texts = np.full(len(self.values) + 1, None, dtype=object)
        texts[:-1] = self.values.to_numpy(zero_copy_only=False)
        return texts

    def distinct(self) -> Any:
        """Different values that are not missing."""
        return self.values.filter(~self.no_number[:-1])

    def spread(self, of_values: NDArray[Any]) -> NDArray[Any]:
        """Values of the different strings to all rows."""
        return np.asarray(np.append(of_values, np.nan)[self.codes])

    def numbers(self, name: str, marks: Marks) -> ReadColumn | None:
        """Numbers, if all values are."""
        distinct = self.distinct()
        guess = guess_style(distinct, marks.decimal, marks.thousands)
        if guess is None and marks.said:
            guess = guess_style(distinct)
        if guess is None:
            return None
        return self._in_style(name, guess, distinct)

    def _in_style(self, name: str, guess: StyleGuess, distinct: Any) -> ReadColumn:
        numbers = np.full(len(self.values), np.nan)
        numbers[~self.no_number[:-1]] = guess.numbers
        shown = _example(guess, distinct)
        style: NumberStyle | None = guess.style
        guessed, doubt = f"{shown} as {_number(guess.style, shown)}", ""
        if _is_plain(distinct, guess.numbers):
            style, guessed = None, ""
        if guess.other is not None:
            other = _number(guess.other, shown)
            doubt = (
                f"may be written in two ways: {shown!r} is read as "
                f"{_number(guess.style, shown)} and could be {other}. "
                f"--decimal {guess.other.decimal} or --thousands "
                f"{guess.style.thousands} says which"
            )
        format = ColumnFormat("number", style)
        return ReadColumn(name, format, self.spread(numbers), guessed, doubt)

    def dates(self, name: str) -> ReadColumn | None:
        """Dates, if all values are."""
        distinct = self.distinct()
        guess = guess_dates(distinct)
        if guess is None:
            return None
        doubt = ""
        values = self.times(guess.format)
        shown, read = str(distinct[0]).strip(), _day(values)
        if guess.other is not None:
            doubt = (
                "has dates that can be read in two ways: "
                f"{shown!r} is read as {read}. --types '{name}=date:{guess.other}' "
                "says otherwise"
            )
        guessed = "" if guess.format == ISO else f"{shown} as {read}"
        return ReadColumn(
            name, ColumnFormat("date", date=guess.format), values, guessed, doubt
        )

    def times(self, format: str, errors: str = "raise") -> Any:
        """Times of all rows."""
        pandas = optional_module("pandas", purpose="Reading tables", extra="cli")
        texts = self._texts()
        texts[self.no_number] = None
        found = dates(pandas.Series(texts, dtype=object), format, errors)
        return found.to_numpy()[self.codes]

    def nearly_dates(self, name: str) -> ReadColumn | None:
        """Dates in several formats or with few strays, which are missing."""
        distinct = self.distinct()
        if look_like_dates(distinct) < 0.5:
            return None
        guess = guess_several_formats(distinct)
        there, share = ~self.no_number[self.codes], 0.0
        if guess is not None:
            values = self.times(guess.format, errors="coerce")
            stray = np.isnat(values) & there
            share = 1.0 - float(stray.sum() / there.sum())
        shown = str(distinct[0]).strip()
        if guess is None or share < _LEAST_SHARE:
            doubt = (
                f"is not read as dates, though its values look so, such as {shown!r}: "
                "they are written in an unknown way, or in several. --types "
                f"'{name}=date:%d/%m/%Y' says how, and takes others as missing"
            )
            return self.as_they_are(name, "category", doubt)
        guessed = f"dates written as {guess.format}"
        if stray.any():
            first = str(self.values[self.codes[int(np.argmax(stray))]])
            number = int(stray.sum())
            values_are = (
                "1 value that is" if number == 1 else f"{number:,} values that are"
            )
            guessed += f", and {values_are} no date ({first!r}) as missing"
        format = ColumnFormat("date", date=guess.format, strays=bool(stray.any()))
        return ReadColumn(name, format, values, guessed)

    def nearly_numbers(self, name: str, marks: Marks) -> ReadColumn:
        """Numbers with few strays, which are missing; else a category."""
        units = several_units(self.distinct())
        if len(units) > 1 and len(self.values) >= _LEAST_NUMBERS:
            shown = ", ".join(repr(own) if own else "none" for own in units[:4])
            doubt = (
                f"is not read as numbers: they have several units ({shown}), and "
                f"cannot be compared. Hint: make them one unit, or --drop '{name}'"
            )
            return self.as_they_are(name, "category", doubt)
        if self._are_times():
            doubt = (
                f"has times, such as {str(self.distinct()[0]).strip()!r}, which are "
                "read as categories. Hint: make them numbers, of minutes for example"
            )
            return self.as_they_are(name, "category", doubt)
        if not self._some_numbers():
            return self.as_they_are(name, "category")
        share, numbers, style = self.best_numbers(marks)
        stray = np.isnan(numbers) & ~self.no_number[:-1]
        n_numbers = int((~np.isnan(numbers)).sum())
        few = share >= _LEAST_SHARE and stray.sum() <= _MOST_STRAYS
        # Or a word for what is missing, again and again.
        words = share >= 0.5 and stray.sum() <= _MOST_WORDS
        if (few or words) and n_numbers >= _LEAST_NUMBERS:
            return self.with_strays(name, numbers, style, stray)
        if share >= 0.5 and n_numbers >= _LEAST_NUMBERS:
            first = str(self.values[int(np.argmax(stray))])
            doubt = (
                f"is not read as numbers, though {100 * share:.0f} % of "
                f"its values are: others, such as {first!r}, are not. --types "
                f"'{name}=number' takes those as missing"
            )
            return self.as_they_are(name, "category", doubt)
        return self.as_they_are(name, "category")

    def _are_times(self) -> bool:
        """Whether some values are all times of a day, or durations."""
        some = self.distinct()[:_LOOKED_AT].to_pylist()
        return len(some) >= _LEAST_NUMBERS and all(map(_TIME.fullmatch, some))

    def _some_numbers(self) -> bool:
        """Whether a fair share of some values could be numbers; quick."""
        some = self.distinct()[:_LOOKED_AT]
        digits = [own for own in some.to_pylist() if _NUMBER.search(own)]
        return len(digits) >= 0.4 * len(some)

    def with_strays(
        self, name: str, numbers: NDArray[Any], style: NumberStyle, stray: NDArray[Any]
    ) -> ReadColumn:
        """Numbers, and missing values in place of others."""
        number = int(stray[self.codes[self.codes < stray.size]].sum())
        shown = ", ".join(
            repr(own) for own in self.values.filter(stray)[:3].to_pylist()
        )
        what = (
            "1 value that is no number"
            if number == 1
            else f"{number:,} values that are no numbers"
        )
        guessed = f"{what} ({shown}) as missing"
        there = ~np.isnan(numbers)
        plain = _is_plain(self.values.filter(there), numbers[there])
        format = ColumnFormat("number", None if plain else style, strays=True)
        return ReadColumn(name, format, self.spread(numbers), guessed)

    def best_numbers(self, marks: Marks) -> tuple[float, NDArray[Any], NumberStyle]:
        """Share of the rows that have a number, numbers of the values, their style."""
        rows = np.bincount(self.codes, minlength=len(self.values) + 1)[:-1]
        there = ~self.no_number[:-1]
        styles = [NumberStyle(".", ","), NumberStyle(",", ".")]
        if marks.said:
            styles = [NumberStyle(marks.decimal or ".", marks.thousands or "")]
        best = (-1.0, np.full(there.size, np.nan), styles[0])
        for style in styles:
            numbers = style.numbers(self.values)
            numbers[~there] = np.nan
            share = float(rows[~np.isnan(numbers)].sum() / max(rows[there].sum(), 1))
            if share > best[0]:
                best = share, numbers, style
        return best


def have_spaces(values: Iterable[Any]) -> bool:
    """Whether some string has white space around it."""
    return any(isinstance(own, str) and own != own.strip(SPACES) for own in values)


def said_numbers(strings: StringColumn, name: str, marks: Marks) -> ReadColumn:
    found = strings.numbers(name, marks)
    if found is not None:
        return found
    share, numbers, style = strings.best_numbers(marks)
    if share <= 0.0:
        raise ValueError(
            f"Column {name!r} was said to hold numbers, and has none: its values are "
            f"such as {_first(strings)!r}."
        )
    stray = np.isnan(numbers) & ~strings.no_number[:-1]
    return strings.with_strays(name, numbers, style, stray)


def said_dates(strings: StringColumn, name: str, format: str) -> ReadColumn:
    if not format:
        found = strings.dates(name)
        if found is not None:
            return found
        raise ValueError(
            f"Column {name!r} was said to hold dates, and its values are such as "
            f"{_first(strings)!r}. Hint: --types '{name}=date:%d.%m.%Y' says how they "
            "are written."
        )
    try:
        values = strings.times(format, errors="coerce")
    except ValueError as error:
        raise ValueError(f"The format of dates {format!r} is none: {error}") from None
    missing = strings.no_number[strings.codes]
    if np.isnat(values[~missing]).all():
        raise ValueError(
            f"Column {name!r} was said to hold dates as {format}, and its values are "
            f"such as {_first(strings)!r}."
        )
    lost = int(np.isnat(values[~missing]).sum())
    guessed = f"{lost:,} values that are no such dates as missing" if lost else ""
    strays = bool(lost)
    return ReadColumn(
        name, ColumnFormat("date", date=format, strays=strays), values, guessed
    )


def _first(strings: StringColumn) -> str:
    distinct = strings.distinct()
    return str(distinct[0]) if len(distinct) else ""


def _is_in(values: Any, known: Sequence[str]) -> NDArray[np.bool_]:
    from pyarrow import compute

    own = needs("pyarrow").array(known, values.type)
    return np.asarray(
        compute.is_in(values, value_set=own).to_numpy(zero_copy_only=False)
    )


def _day(values: NDArray[Any]) -> str:
    """The first day, as it is written in ISO 8601."""
    first = int(np.argmax(~np.isnat(values)))
    return str(np.datetime_as_string(values[first], unit="D"))


def _is_plain(distinct: Any, numbers: NDArray[np.float64]) -> bool:
    """Whether numbers are what any program reads from their strings."""
    from pyarrow import compute

    distinct = compute.utf8_trim_whitespace(distinct)
    for own in (distinct[:_LOOKED_AT], distinct):
        plain = _cast(own)
        if plain is None or not np.array_equal(plain, numbers[: len(own)]):
            return False
    return True


def _cast(values: Any) -> NDArray[np.float64] | None:
    """Strings as numbers, None if some is written otherwise."""
    import pyarrow

    try:
        return np.asarray(values.cast("float64").to_numpy(zero_copy_only=False))
    except pyarrow.ArrowInvalid:
        return None


def _example(guess: StyleGuess, distinct: Any) -> str:
    """A value that shows best how numbers are read."""
    some = distinct[:1000].to_pylist()
    marked = [own for own in some if not _PLAIN.fullmatch(own.strip())]
    if guess.other is not None:
        differ = [
            own
            for own in marked
            if _number(guess.other, own) != _number(guess.style, own)
        ]
        marked = differ or marked
    return str(max(marked or some, key=len)).strip()


def _number(style: NumberStyle, text: str) -> str:
    value = style.numbers(needs("pyarrow").array([text]))[0]
    return f"{value:.12g}"


def plain_numbers(column: Any) -> NDArray[np.float64] | None:
    """Return strings as numbers where all are written plainly, which is quick."""
    import pyarrow

    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pyarrow.ChunkedArray):
            column = pyarrow.concat_arrays(column.chunks)
    # A cast that fails has taken its time with every value: some are tried before.
    masks = False
    if len(column) > 2 * _LOOKED_AT:
        for part in (column[:_LOOKED_AT], column[-_LOOKED_AT:]):
            if _cast(part) is None:
                masks = True
                if _cast(_without_missing(part)) is None:
                    return None
    found = None if masks else _cast(column)
    if found is None:
        column = _without_missing(column)
        found = None if column.null_count == len(column) else _cast(column)
    return found


def _without_missing(column: Any) -> Any:
    """Strings, null where one says that there is no number."""
    import pyarrow
    from pyarrow import compute

    known = pyarrow.array((*MISSING_WORDS, *MISSING_NUMBERS), column.type)
    missing = compute.is_in(column, value_set=known)
    return compute.if_else(missing, pyarrow.scalar(None, column.type), column)


def beyond_doubles(numbers: NDArray[np.float64]) -> bool:
    """Whether whole numbers may be too large to be told apart as doubles."""
    return bool(numbers.size) and bool(np.nanmax(np.abs(numbers)) >= 2**53)


def are_digits(column: Any) -> bool:
    """Whether all values that are there are digits alone."""
    from pyarrow import compute

    found = compute.match_substring_regex(_without_missing(column), "^-?[0-9]+$")
    return bool(compute.all(found).as_py())


def whole_numbers(column: Any) -> NDArray[np.int64] | None:
    """Return strings as integers of 64 bits, if all are such."""
    import pyarrow

    try:
        return np.asarray(column.cast("int64").to_numpy(zero_copy_only=False))
    except (pyarrow.ArrowInvalid, TypeError):
        return None


def are_codes(numbers: NDArray[Any], column: Any) -> bool:
    """Tell codes of one length, of which some begin with a zero, such as 01234."""
    from pyarrow import compute

    there = numbers[~np.isnan(numbers)]
    if not there.size or there.min() < 0 or not (there == np.floor(there)).all():
        return False
    length = 0
    for some in (column[:_LOOKED_AT], column):  # few of them rule most columns out
        written = _without_missing(some)
        lengths = compute.min_max(compute.binary_length(written)).as_py()
        length = lengths["max"] or _SHORTEST_CODE
        if length != (lengths["min"] or length) or length < _SHORTEST_CODE:
            return False
    if there.min() >= 10 ** (length - 1):
        return False
    return bool(compute.all(compute.match_substring_regex(written, "^[0-9]+$")).as_py())


def points_between_thousands(numbers: NDArray[Any], column: Any) -> str:
    """Say that 1.250 beside 950 may be more than a thousand."""
    there = numbers[~np.isnan(numbers)]
    broken = there != np.trunc(there)
    if not broken.any() or broken.all():
        return ""
    size = np.abs(there[broken])
    if size.min() < 1 or size.max() >= 1000 or np.abs(there[~broken]).max() >= 1000:
        return ""
    if (np.abs(size * 1000 - np.rint(size * 1000)) > 1e-9 * size * 1000).any():
        return ""
    from pyarrow import compute

    has_point = compute.match_substring(column, ".")
    if compute.sum(has_point).as_py() == there.size:
        return ""  # three decimals, in all of them
    pointed = column.filter(has_point)
    pattern = r"^\s*-?[1-9][0-9]{0,2}\.[0-9]{3}\s*$"
    if not compute.all(compute.match_substring_regex(pointed, pattern)).as_py():
        return ""
    shown = str(pointed[0]).strip()
    return (
        f"may have points between thousands: {shown!r} is read as "
        f"{float(shown):g}. --thousands . reads it as {float(shown) * 1000:g}"
    )
