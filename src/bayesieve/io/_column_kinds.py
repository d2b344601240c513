"""What the columns of a table are: numbers, dates or categories, and how written.

Strings of any format are read here, and here only. A column is what all of its values
are; where that was guessed from how they are written, the guess is noted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bayesieve.io._column_format import ColumnFormat, Marks, ReadColumn
from bayesieve.io._date_styles import ISO
from bayesieve.io._number_styles import NumberStyle
from bayesieve.io._string_column import (
    StringColumn,
    are_codes,
    are_digits,
    beyond_doubles,
    plain_numbers,
    points_between_thousands,
    said_dates,
    said_numbers,
    whole_numbers,
)
from bayesieve.io._suspicions import missing_as
from bayesieve.utils._optional import optional_module
from bayesieve.utils._resources import thread_count

__all__ = [
    "as_frame",
    "formats_of",
    "read_as",
    "read_column",
    "read_columns",
]

_MANY_CELLS = 2_000_000
_FEW = 0.2  # of the values of a column may be no numbers, and are missing then
_STRINGS = ("string", "large_string", "string_view")


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
    columns = [table.column(i) for i in range(len(names))]
    said = [kinds.get(name) for name in names]
    own = partial(read_column, marks=marks)
    if table.num_rows * len(names) < _MANY_CELLS:
        read = list(map(own, columns, names, said))
    else:  # most of the work is done by Arrow, side by side
        with ThreadPoolExecutor(thread_count(-1)) as pool:
            read = list(pool.map(own, columns, names, said))
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
        plain = None if marks.said else plain_numbers(column)
        if plain is not None and kind == "" and are_codes(plain, column):
            guessed = "codes with zeros in front as categories"
            return replace(
                StringColumn(column).as_they_are(name, "category"), guessed=guessed
            )
        if plain is not None and beyond_doubles(plain):
            exact = whole_numbers(column)
            if exact is not None:
                return ReadColumn(name, ColumnFormat("number"), exact)
            if kind == "" and are_digits(column):
                guessed = "numbers of very many digits as categories"
                own = StringColumn(column).as_they_are(name, "category")
                return replace(own, guessed=guessed)
        if plain is not None:
            doubt = points_between_thousands(plain, column) or missing_as(plain)
            return ReadColumn(name, ColumnFormat("number"), plain, doubt=doubt)
    strings = StringColumn(column)
    if kind in ("category", "text"):
        return strings.as_they_are(name, kind)
    if kind == "number":
        return said_numbers(strings, name, marks)
    if kind == "date":
        return said_dates(strings, name, date)
    return (
        strings.numbers(name, marks)
        or strings.dates(name)
        or strings.nearly_dates(name)
        or strings.nearly_numbers(name, marks)
    )


# ----------------------------------------------------------------- columns with types


def _typed(column: Any, name: str, kind: str) -> ReadColumn:
    """Read a column that has a type of its own."""
    type = str(column.type)
    if type.startswith(("list", "large_list", "fixed_size_list", "struct", "map")):
        if kind:
            raise ValueError(
                f"Column {name!r} was said to hold {kind}s, and holds {type} in the "
                f"file. Hint: --drop '{name}'"
            )
        texts = [None if own is None else str(own) for own in column.to_pylist()]
        values = np.array([*texts, None], dtype=object)[:-1]
        return ReadColumn(name, ColumnFormat("nested"), values)
    if type.startswith("date"):  # else an object for each day
        column = column.cast("timestamp[ms]")
    values = column.to_pandas()
    if type == "bool":
        # As CSV files have them, missing ones beside them or not.
        values = values.map({True: "True", False: "False"}).astype(object)
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
    if not numeric:
        return ReadColumn(name, ColumnFormat("category"), values)
    doubt = missing_as(values.to_numpy(dtype=np.float64, na_value=np.nan))
    return ReadColumn(name, ColumnFormat("number"), values, doubt=doubt)


# ---------------------------------------------------------------------- as known before


def read_as(
    table: Any,
    names: Sequence[str],
    formats: Mapping[str, ColumnFormat],
    marks: Marks | None = None,
    spaced: Collection[str] = (),
) -> list[ReadColumn]:
    """Read columns as they were when a model was made; others are errors.

    Categories lose the white space around them, but those that are `spaced`: whose
    values have some that tells them apart. No value depends on the rows beside it.
    """
    marks = marks or Marks()
    return [
        _known(table.column(i), name, formats[name], marks, name not in spaced)
        for i, name in enumerate(names)
    ]


def _known(
    column: Any, name: str, format: ColumnFormat, marks: Marks, strip: bool
) -> ReadColumn:
    if str(column.type).startswith("dictionary"):
        column = column.cast("string")
    kind = format.kind
    if str(column.type) not in _STRINGS:
        words = kind in ("category", "text")
        found = _typed(column, name, kind if words else "")
        if not words and found.kind != kind and column.null_count < len(column):
            raise _another_kind(name, kind, column.drop_null()[0].as_py())
        return replace(found, format=format)
    if kind == "number" and format.style is None and not marks.said:
        plain = plain_numbers(column)
        if plain is not None:
            exact = whole_numbers(column) if beyond_doubles(plain) else None
            return ReadColumn(name, format, plain if exact is None else exact)
    strings = StringColumn(column)
    if kind in ("category", "text"):
        return strings.as_they_are(name, kind, strip=strip)
    if kind == "date":
        values = strings.times(format.date, errors="coerce")
        if format.date != ISO and np.isnat(values).any():  # which is never ambiguous
            plainly = strings.times(ISO, errors="coerce")
            values = np.where(np.isnat(values), plainly, values)
        lost = np.isnat(values)
    else:
        style = format.style or NumberStyle()
        if marks.said:
            style = replace(
                style, decimal=marks.decimal or ".", thousands=marks.thousands or ""
            )
        values = strings.spread(style.numbers(strings.values))
        lost = np.isnan(values)
    there = ~strings.no_number[strings.codes]
    lost &= there
    if not lost.any():
        return ReadColumn(name, format, values)
    example = str(strings.values[strings.codes[lost.argmax()]])
    if lost.sum() > (0.5 if format.strays else _FEW) * there.sum():
        raise _another_kind(name, kind, example)
    return ReadColumn(name, format, values, strays=(int(lost.sum()), example))


def _another_kind(name: str, kind: str, value: Any) -> ValueError:
    hint = " Hint: --decimal and --thousands say how."
    if kind == "date":
        hint = f" Hint: --types '{name}=date:%d.%m.%Y' says how."
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
