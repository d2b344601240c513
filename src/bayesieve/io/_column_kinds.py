"""What the columns of a table are: numbers, dates or categories, and how written.

Strings of any format are read here, and here only. A column is what all of its values
are; where that was guessed from how they are written, the guess is noted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.io._date_styles import ISO, dates, guess_dates
from bayesieve.io._duckdb import needs
from bayesieve.io._number_styles import NumberStyle, StyleGuess, guess_style
from bayesieve.utils._optional import optional_module

__all__ = [
    "KINDS",
    "ColumnFormat",
    "Marks",
    "ReadColumn",
    "as_frame",
    "formats_of",
    "read_as",
    "read_column",
    "read_columns",
]

#: What a column can be said to be.
KINDS = ("number", "category", "text", "date", "ignore")
#: Ways to write that a value is missing in a file of text.
_MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")
#: And those that are meant so among numbers and dates.
_MISSING_NUMBERS = (
    *("n/a", "na", "none", "NIL", "nil", "-", "--", "---", ".", "..", "—", "–", "#N/A"),
    *("#NA", "#NULL!", "#VALUE!", "#DIV/0!", "#NUM!", "#REF!", "N.A.", "n.a.", "k.A."),
    *("missing", "Missing", "unknown", "Unknown", "<NA>", "NaT"),
)
# A column is one of numbers if nearly all rows have one, and the others say few things.
_MOST_STRAYS, _LEAST_SHARE, _LEAST_NUMBERS = 20, 0.95, 10
_STRINGS = ("string", "large_string", "string_view")


@dataclass(frozen=True)
class Marks:
    """The marks of numbers where somebody has said them, else None."""

    decimal: str | None = None
    thousands: str | None = None

    @property
    def said(self) -> bool:
        """Whether anything was."""
        return not self.decimal is self.thousands is None


@dataclass(frozen=True)
class ColumnFormat:
    """What a column is and how its values are written; saved with a model.

    `style` is None for numbers that are written plainly, `date` has the format of
    dates; `strays` are values that are no numbers and were taken as missing.
    """

    kind: str
    style: NumberStyle | None = None
    date: str = ISO
    strays: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> ColumnFormat:
        """Return what `to_dict` has written."""
        style = given.get("style")
        return cls(
            str(given["kind"]),
            None if style is None else NumberStyle(**style),
            str(given.get("date", ISO)),
            bool(given.get("strays", False)),
        )


@dataclass
class ReadColumn:
    """A column as it was read.

    `guessed` says how values were read where that is not plain, `doubt` that they may
    be read otherwise, with the option that says how.
    """

    name: str
    format: ColumnFormat
    values: Any
    guessed: str = ""
    doubt: str = ""
    #: Rows that the values of a category or text are at, for others to look at.
    strings: Any = field(default=None, repr=False)

    @property
    def kind(self) -> str:
        """Number, date, category or text."""
        return self.format.kind


def read_columns(
    table: Any,
    names: Sequence[str],
    *,
    kinds: Mapping[str, str] | None = None,
    marks: Marks | None = None,
) -> list[ReadColumn]:
    """Read the first columns of an Arrow table, whose values are settled as a whole.

    Parameters
    ----------
    table : pyarrow.Table or pyarrow.RecordBatch
    names : sequence of str
        What its first columns are called.
    kinds : mapping of str to str, optional
        What columns were said to be; "date:%d/%m/%Y" says the format too.
    marks : Marks, optional
    """
    kinds, marks = kinds or {}, marks or Marks()
    read = [
        read_column(table.column(i), name, kinds.get(name), marks)
        for i, name in enumerate(names)
    ]
    if not marks.said:
        _settle_together(read, table)
    return read


def _settle_together(read: list[ReadColumn], table: Any) -> None:
    """Let columns that can be read in one way only speak for those of the same file."""
    sure = {
        own.format.style.decimal
        for own in read
        if own.format.style is not None and own.guessed and not own.doubt
    }
    if len(sure) != 1:
        return
    marks = Marks(decimal=sure.pop())
    for i, own in enumerate(read):
        if own.doubt and own.kind == "number":
            again = read_column(table.column(i), own.name, None, marks)
            if again.kind == "number" and again.format.style is not None:
                read[i] = replace(again, doubt="")


def read_column(
    column: Any, name: str, said: str | None = None, marks: Marks | None = None
) -> ReadColumn:
    """Read one Arrow column, as what it was said to be or else as what all of it is."""
    marks = marks or Marks()
    kind, _, date = (said or "").partition(":")
    if str(column.type).startswith("dictionary"):
        column = column.cast("string")
    if str(column.type) not in _STRINGS:
        return _typed(column, name, kind)
    if kind in ("", "number"):
        plain = None if marks.said else _plain_numbers(column)
        if plain is not None:
            doubt = _points_between_thousands(plain, column, name)
            return ReadColumn(name, ColumnFormat("number"), plain, doubt=doubt)
    strings = _Strings(column)
    if kind in ("category", "text"):
        return strings.as_they_are(name, kind)
    if kind == "number":
        return _said_numbers(strings, name, marks)
    if kind == "date":
        return _said_dates(strings, name, date)
    found = strings.numbers(name, marks) or strings.dates(name)
    return found or strings.nearly_numbers(name, marks)


class _Strings:
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
        trimmed = compute.utf8_trim_whitespace(self.values)
        self.missing = np.append(_is_in(trimmed, _MISSING), True)
        also = _is_in(trimmed, _MISSING_NUMBERS)
        self.no_number = self.missing | np.append(also, True)

    def as_they_are(self, name: str, kind: str, doubt: str = "") -> ReadColumn:
        """The strings, None where one is missing."""
        values = np.append(self.values.to_numpy(zero_copy_only=False), None)
        if kind == "category":
            values[self.missing] = None
        else:
            values[-1] = None
        return ReadColumn(
            name, ColumnFormat(kind), values[self.codes], doubt=doubt, strings=self
        )

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
        numbers = guess.style.numbers(self.values)
        numbers[self.no_number[:-1]] = np.nan
        shown = _example(guess, distinct)
        style: NumberStyle | None = guess.style
        guessed, doubt = f"{shown} as {_number(guess.style, shown)}", ""
        if _is_plain(distinct, guess.style):
            style, guessed = None, ""
        if guess.other is not None:
            other = _number(guess.other, shown)
            doubt = (
                f"column {name!r} may be written in two ways: {shown!r} is read as "
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
        shown, row = str(distinct[0]), int(np.argmax(~np.isnat(values)))
        read = np.datetime_as_string(values[row], unit="D")
        if guess.other is not None:
            doubt = (
                f"column {name!r} has dates whose day and month cannot be told apart: "
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
        texts = np.append(self.values.to_numpy(zero_copy_only=False), None)
        texts[self.no_number] = None
        found = dates(pandas.Series(texts, dtype=object), format, errors)
        return found.to_numpy()[self.codes]

    def nearly_numbers(self, name: str, marks: Marks) -> ReadColumn:
        """Numbers with few strays, which are missing; else a category."""
        share, numbers, style = self.best_numbers(marks)
        stray = np.isnan(numbers) & ~self.no_number[:-1]
        n_numbers = int((~np.isnan(numbers)).sum())
        if (
            share >= _LEAST_SHARE
            and stray.sum() <= _MOST_STRAYS
            and n_numbers >= _LEAST_NUMBERS
        ):
            return self.with_strays(name, numbers, style, stray)
        if share >= 0.5 and n_numbers >= _LEAST_NUMBERS:
            first = str(self.values[int(np.argmax(stray))])
            doubt = (
                f"column {name!r} is read as categories, though {100 * share:.0f} % of "
                f"its values are numbers: others, such as {first!r}, are not. --types "
                f"'{name}=number' takes those as missing"
            )
            return self.as_they_are(name, "category", doubt)
        return self.as_they_are(name, "category")

    def with_strays(
        self, name: str, numbers: NDArray[Any], style: NumberStyle, stray: NDArray[Any]
    ) -> ReadColumn:
        """Numbers, and missing values in place of others."""
        number = int(stray[self.codes[self.codes < stray.size]].sum())
        shown = ", ".join(repr(own) for own in self.values.filter(stray)[:3].to_pylist())
        what = "1 value that is no number" if number == 1 else f"{number:,} values that are no numbers"
        guessed = f"{what} ({shown}) as missing"
        plain = _is_plain(self.values.filter(~np.isnan(numbers)), style)
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


def _said_numbers(strings: _Strings, name: str, marks: Marks) -> ReadColumn:
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


def _said_dates(strings: _Strings, name: str, format: str) -> ReadColumn:
    if not format:
        found = strings.dates(name)
        if found is not None:
            return found
        raise ValueError(
            f"Column {name!r} was said to hold dates, and its values are such as "
            f"{_first(strings)!r}. Hint: --types '{name}=date:%d.%m.%Y' says the format."
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


def _first(strings: _Strings) -> str:
    distinct = strings.distinct()
    return str(distinct[0]) if len(distinct) else ""


def _is_in(values: Any, known: Sequence[str]) -> NDArray[np.bool_]:
    from pyarrow import compute

    own = needs("pyarrow").array(known, values.type)
    return np.asarray(compute.is_in(values, value_set=own).to_numpy(zero_copy_only=False))


def _is_plain(distinct: Any, style: NumberStyle) -> bool:
    """Whether values are numbers as any program writes them, and the same in a style."""
    try:
        plain = distinct.cast("float64").to_numpy(zero_copy_only=False)
    except needs("pyarrow").ArrowInvalid:
        return False
    return np.array_equal(plain, style.numbers(distinct))


def _example(guess: StyleGuess, distinct: Any) -> str:
    """A value that shows best how numbers are read."""
    some = distinct[:1000].to_pylist()
    marked = [own for own in some if not own.strip().isdigit()]
    if guess.other is not None:
        differ = [own for own in marked if _number(guess.other, own) != _number(guess.style, own)]
        marked = differ or marked
    return str(max(marked or some, key=len)).strip()


def _number(style: NumberStyle, text: str) -> str:
    value = style.numbers(needs("pyarrow").array([text]))[0]
    return f"{value:.12g}"


def _plain_numbers(column: Any) -> Any:
    """Return strings as numbers where all are written plainly, which is quick."""
    import pyarrow
    from pyarrow import compute

    try:
        return np.asarray(column.cast("float64").to_numpy())
    except pyarrow.ArrowInvalid:
        pass
    known = pyarrow.array((*_MISSING, *_MISSING_NUMBERS), column.type)
    missing = compute.is_in(column, value_set=known)
    column = compute.if_else(missing, pyarrow.scalar(None, column.type), column)
    if column.null_count == len(column):
        return None
    try:
        column = column.cast("float64")
    except pyarrow.ArrowInvalid:
        return None
    if isinstance(column, pyarrow.ChunkedArray):
        return np.asarray(column.to_numpy())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _points_between_thousands(numbers: NDArray[Any], column: Any, name: str) -> str:
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

    pointed = column.filter(compute.match_substring(column, "."))
    pattern = r"^\s*-?[1-9][0-9]{0,2}\.[0-9]{3}\s*$"
    if not compute.all(compute.match_substring_regex(pointed, pattern)).as_py():
        return ""
    shown = str(pointed[0]).strip()
    return (
        f"column {name!r} may have points between thousands: {shown!r} is read as "
        f"{float(shown):g}. --thousands . reads it as {float(shown) * 1000:g}"
    )


# ----------------------------------------------------------------- columns with types


def _typed(column: Any, name: str, kind: str) -> ReadColumn:
    """Read a column that has a type of its own."""
    type = str(column.type)
    values = column.to_pandas()
    if type == "bool":
        if values.dtype == bool:
            values = values.astype(str)  # as CSV files have them
        return ReadColumn(name, ColumnFormat("category"), values.to_numpy())
    if type.startswith(("timestamp", "date")):
        if kind in ("category", "text"):
            values = values.astype(str).where(values.notna(), None)
            return ReadColumn(name, ColumnFormat(kind), values.to_numpy(dtype=object))
        return ReadColumn(name, ColumnFormat("date"), values)
    numeric = type.startswith(("int", "uint", "float", "double", "half", "decimal"))
    if numeric and kind in ("category", "text"):
        strings = column.cast("string").to_pandas()
        return ReadColumn(name, ColumnFormat(kind), strings.to_numpy(dtype=object))
    if kind == "date" or (kind == "number" and not numeric):
        raise ValueError(
            f"Column {name!r} was said to hold {kind}s, and holds {type} in the file."
        )
    return ReadColumn(name, ColumnFormat("number" if numeric else "category"), values)


# ---------------------------------------------------------------------- as known before


def read_as(
    table: Any,
    names: Sequence[str],
    formats: Mapping[str, ColumnFormat],
    marks: Marks | None = None,
) -> list[ReadColumn]:
    """Read columns as they were when a model was made; others are errors."""
    marks = marks or Marks()
    return [
        _known(table.column(i), name, formats[name], marks)
        for i, name in enumerate(names)
    ]


def _known(column: Any, name: str, format: ColumnFormat, marks: Marks) -> ReadColumn:
    if str(column.type).startswith("dictionary"):
        column = column.cast("string")
    kind = format.kind
    if str(column.type) not in _STRINGS:
        if kind in ("category", "text"):
            values = column.to_pandas()
            if str(column.type) == "bool" and values.dtype == bool:
                values = values.astype(str)
            return ReadColumn(name, format, values.astype(object))
        found = _typed(column, name, "")
        if found.kind != kind and column.null_count < len(column):
            raise _another_kind(name, kind, column.drop_null()[0].as_py())
        return replace(found, format=format)
    if kind == "number" and format.style is None and not marks.said:
        plain = _plain_numbers(column)
        if plain is not None:
            return ReadColumn(name, format, plain)
    strings = _Strings(column)
    if kind in ("category", "text"):
        return strings.as_they_are(name, kind)
    if kind == "date":
        values = strings.times(format.date, errors="coerce")
        lost = np.isnat(values)
    else:
        style = format.style or NumberStyle()
        if marks.said:
            style = replace(
                style, decimal=marks.decimal or ".", thousands=marks.thousands or ""
            )
        values = strings.spread(style.numbers(strings.values))
        lost = np.isnan(values)
    lost &= ~strings.no_number[strings.codes]
    if lost.any() and (not format.strays or lost.mean() > 0.5):
        raise _another_kind(name, kind, str(strings.values[strings.codes[lost.argmax()]]))
    return ReadColumn(name, format, values)


def _another_kind(name: str, kind: str, value: Any) -> ValueError:
    hint = " Hint: --decimal and --thousands say how." if kind == "number" else ""
    return ValueError(
        f"Column {name!r} held {kind}s when the model was made and must hold {kind}s "
        f"now, written as they were then. Got {value!r}.{hint}"
    )


# ------------------------------------------------------------------------- as a frame


def as_frame(read: Sequence[ReadColumn]) -> Any:
    """Return columns as a pandas frame."""
    pandas = optional_module("pandas", purpose="Reading tables", extra="cli")
    columns = {own.name: own.values for own in read}
    values = list(columns.values())
    if values and all(
        isinstance(own, np.ndarray) and own.dtype == np.float64 for own in values
    ):
        # Numbers only: one block at once, not column by column.
        return pandas.DataFrame(np.column_stack(values), columns=list(columns))
    return pandas.DataFrame(columns)


def formats_of(read: Sequence[ReadColumn]) -> dict[str, dict[str, Any]]:
    """Return what is saved with a model: how columns that are not plain are written."""
    return {own.name: own.format.to_dict() for own in read}
