"""Workbooks: .xlsx, .xls, .ods, one sheet as a table of typed columns."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesieve.io._bad_rows import BadRows
from bayesieve.io._duckdb import needs
from bayesieve.io._format import Format
from bayesieve.io._headers import header_looks_like_data, place_names, title_rows
from bayesieve.utils._optional import optional_module

if TYPE_CHECKING:
    from bayesieve.io._files import DataFile

__all__ = ["Excel"]


@dataclass(frozen=True)
class _Table:
    """Rows of a sheet below its header."""

    names: list[str]
    rows: list[list[Any]]


class Excel(Format):
    """A sheet, held in memory while its rows are read."""

    name = "xlsx"
    told = "Excel"
    endings = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")

    def columns(self, file: DataFile) -> list[str]:
        """Names of the columns of the sheet."""
        return self._table(file).names

    def batches(
        self,
        file: DataFile,
        names: Sequence[str],
        bad_rows: BadRows,
        types: Mapping[str, str],
        rows: int,
    ) -> Iterator[Any]:
        """Yield Arrow batches: a column has one type, text where values differ."""
        table = self._table(file)
        file.check_columns(names, table.names)
        if not table.rows:
            return
        pyarrow = needs("pyarrow")
        place = {name: i for i, name in enumerate(table.names)}
        columns = [
            _column([row[place[n]] for row in table.rows], types.get(n) == "VARCHAR")
            for n in names
        ]
        whole = pyarrow.RecordBatch.from_arrays(
            columns, names=[f"c{i}" for i in range(len(names))]
        )
        for begin in range(0, whole.num_rows, rows):
            yield whole.slice(begin, rows)

    def _table(self, file: DataFile) -> _Table:
        if file.layout is None:
            file.layout = _read(file)
        found: _Table = file.layout
        return found


def _read(file: DataFile) -> _Table:
    calamine = optional_module(
        "python_calamine", purpose="Reading Excel", extra="excel"
    )
    told = repr(file.path)
    try:
        with calamine.CalamineWorkbook.from_path(file.readable[0]) as book:
            name = _chosen(file, book)
            rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
    except calamine.PasswordError:
        raise ValueError(
            f"{told} is locked by a password. Hint: save it without one."
        ) from None
    except calamine.CalamineError:
        raise ValueError(
            f"{told} cannot be read: it is damaged, or no Excel file."
        ) from None
    except BaseException as error:
        # A fault within calamine is of a kind of its own, beside Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError(f"{told} cannot be read: it is damaged.") from None
    return _named(file, [[_cell(own) for own in row] for row in rows])


def _chosen(file: DataFile, book: Any) -> str:
    """Return the name of the sheet that was asked for, or of the first filled one."""
    names, wanted = list(book.sheet_names), file.options.sheet
    shown = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
    if wanted is not None:
        if wanted in names:
            return str(wanted)
        if str(wanted) in names:
            return str(wanted)
        if isinstance(wanted, int) and 1 <= wanted <= len(names):
            return str(names[wanted - 1])
        raise ValueError(
            f"There is no sheet {wanted!r} in {file.path!r}. Its sheets are {shown}."
        )
    filled = (own for own in names if book.get_sheet_by_name(own).total_height)
    name = str(next(filled, names[0]))
    if len(names) > 1:
        file.note(
            f"Sheet {name!r} of {file.path!r} is read, of the sheets {shown}; --sheet "
            "names another."
        )
    return name


def _named(file: DataFile, rows: list[list[Any]]) -> _Table:
    texts = [["" if own is None else str(own) for own in row] for row in rows[:200]]
    if not any(any(row) for row in texts):
        return _Table([], [])
    width = max(map(len, rows))
    if not file.options.header:
        return _Table(place_names(width), _filled(rows))
    filled = max(sum(map(bool, row)) for row in texts)
    header = title_rows(texts, filled)
    skipped = sum(any(row) for row in texts[:header])
    if skipped:
        lines = "1 row" if skipped == 1 else f"{skipped} rows"
        file.note(
            f"Left out above the header of {file.path!r}: {lines}; "
            "--no-header reads them as rows."
        )
    if header_looks_like_data(texts[header], texts[header + 1 :]):
        file.note(
            f"The first row of {file.path!r} is taken for names of columns, and looks "
            "like data; --no-header reads it as a row."
        )
    return _Table(file.unique_names(texts[header]), _filled(rows[header + 1 :]))


def _filled(rows: list[list[Any]]) -> list[list[Any]]:
    return [row for row in rows if any(own is not None for own in row)]


def _cell(value: Any) -> Any:
    """Return a value of a cell; nothing is None, and whole numbers are whole."""
    if value == "" and isinstance(value, str):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def _column(values: list[Any], as_text: bool) -> Any:
    """Return an Arrow array of one type: that of all values, or else text."""
    pyarrow = needs("pyarrow")
    there = [value for value in values if value is not None]
    kinds = {_KINDS.get(type(value), "text") for value in there}
    if not as_text and there:
        if kinds == {"bool"}:
            return pyarrow.array(values, pyarrow.bool_())
        if kinds == {"int"}:
            return pyarrow.array(values, pyarrow.int64())
        if kinds <= {"int", "float"}:
            return pyarrow.array(values, pyarrow.float64())
        if kinds == {"date"}:
            return pyarrow.array(values, pyarrow.date32())
        if kinds <= {"date", "time"}:
            times = [
                datetime.datetime.combine(own, datetime.time())
                if type(own) is datetime.date
                else own
                for own in values
            ]
            return pyarrow.array(times, pyarrow.timestamp("us"))
    texts = [None if value is None else _written(value) for value in values]
    return pyarrow.array(texts, pyarrow.string())


_KINDS: dict[type, str] = {
    bool: "bool",
    int: "int",
    float: "float",
    datetime.date: "date",
    datetime.datetime: "time",
}


def _written(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)
