"""What users hold texts in, as pieces that give batches of (texts, labels)."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from bayesieve.io._bad_rows import BadRows
from bayesieve.io._duckdb import identifier, needs, querying_connection
from bayesieve.io._files import (
    BATCH_ROWS,
    TextFile,
    find_files,
    format_of,
    open_files,
)
from bayesieve.io._format import record_batches
from bayesieve.io._near_names import check_column
from bayesieve.io._read_options import LARGEST_ROW, LONGEST_ROW, ReadOptions

# What begins like SQL, behind comments and parentheses too.
_QUERY = re.compile(
    r"(\s|\(|--[^\n]*\n|/\*.*?\*/)*(select|with|from|values)\b.*\s",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Sql:
    """A query as a source of texts."""

    query: str


def chosen_source(source: Any, sql: Any) -> Any:
    """Return what texts are read from, a source or the answer to a query."""
    if sql is None:
        if source is None:
            raise TypeError("Texts need a 'source', or a query, 'sql'. Got neither.")
        return source
    if source is not None:
        raise TypeError("Texts come from a 'source' or a query, 'sql'. Got both.")
    if not isinstance(sql, str):
        raise TypeError(
            f"The 'sql' parameter must be a query as a str. Got {type(sql).__name__}. "
            "Hint: a relation of DuckDB is a source."
        )
    return Sql(sql)


def text_pieces(
    source: Any,
    text: str,
    label: str,
    threads: int | None = None,
    max_row_bytes: int = LONGEST_ROW,
) -> list[Any]:
    """Return the pieces of a source, each of which gives batches."""
    if (
        isinstance(max_row_bytes, bool)
        or not isinstance(max_row_bytes, Integral)
        or not 1 <= max_row_bytes <= LARGEST_ROW
    ):
        raise ValueError(
            "The 'max_row_bytes' parameter of from_text must be an int in 1..."
            f"{LARGEST_ROW:,}. Got {max_row_bytes!r}."
        )
    limits = threads, ReadOptions(longest=int(max_row_bytes))
    for name, value in (("text", text), ("label", label)):
        if not isinstance(value, str):
            raise TypeError(
                f"The {name!r} parameter of from_text must be the name of a column. "
                f"Got {type(value).__name__}."
            )
    if isinstance(source, Sql):
        return [_Query(source.query, text, label)]
    if isinstance(source, str | os.PathLike):
        return _files([os.fspath(source)], text, label, *limits)
    if isinstance(source, list | tuple) and not source:
        raise ValueError("There must be at least one row to count. Got an empty list.")
    if isinstance(source, list | tuple) and all(
        isinstance(item, str | os.PathLike) for item in source
    ):
        return _files([os.fspath(item) for item in source], text, label, *limits)
    if _is_relation(source):
        return [_Relation(source, text, label)]
    if _is_table(source):
        return [_Batches([source], text, label)]
    if isinstance(source, Iterable):
        return [_Batches(source, text, label)]
    raise TypeError(
        "The 'source' parameter of from_text must be a path, a glob, a list of paths, "
        "a DuckDB relation, a table, or an iterable of batches. Got "
        f"{type(source).__name__}."
    )


def _is_relation(source: Any) -> bool:
    duckdb = sys.modules.get("duckdb")
    return duckdb is not None and isinstance(source, duckdb.DuckDBPyRelation)


def _is_table(source: Any) -> bool:
    """Tell a table: pandas, polars, Arrow, or anything that gives an Arrow stream."""
    if isinstance(source, list | tuple):
        return False
    signs = ("collect_schema", "__arrow_c_stream__", "columns", "schema")
    return any(hasattr(source, sign) for sign in signs)


# --------------------------------------------------------------------------- files


def _files(
    paths: list[str], text: str, label: str, threads: int | None, options: ReadOptions
) -> list[TextFile]:
    for path in paths:
        _refuse_query(os.path.expanduser(path))
    found = find_files(
        paths,
        " Hint: texts themselves are counted as batches, from_text([(texts, labels)]).",
    )
    files = open_files(found, threads, options)
    for file in files:
        if file.format.is_matrix:
            raise ValueError(
                f"{file.path!r} is an svmlight file, which holds a matrix and no "
                "texts. Hint: X, y = sklearn.datasets.load_svmlight_file(path), then "
                "ClassCounts.from_matrix(X, y)."
            )
    return [TextFile(file, text, label) for file in files]


def _refuse_query(path: str) -> None:
    """The name of a file is never run, so a query must say that it is one."""
    if os.path.isfile(path) or not _QUERY.match(path) or format_of(path) is not None:
        return
    if not glob.glob(path):
        raise ValueError(
            "A source is a file, a glob or rows, and never SQL. Got what looks like a "
            f"query, {_shortened(path)!r}. Hint: pass it as sql=."
        )


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[:most] + "..."


# --------------------------------------------------------------------------- DuckDB


@dataclass(frozen=True)
class _Relation:
    relation: Any
    text: str
    label: str

    nbytes = None
    value_of = None
    twice = True

    told = "What the query reads"

    def place(self, row: int) -> str:
        return f"Row {row + 1} of the query"

    def batches(self, bad_rows: BadRows) -> Iterator[tuple[Any, Any, Any]]:
        """Yield (texts, labels, hashes of the rows)."""
        relation = self.relation
        for name in (self.text, self.label):
            check_column(name, list(relation.columns), "the query")
        text, label = identifier(self.text), identifier(self.label)
        asked = f"{text} AS a, {label} AS b, hash({text}, {label}) AS c"
        try:
            for batch in record_batches(relation.project(asked), BATCH_ROWS):
                yield batch.column(0), batch.column(1), batch.column(2)
        except (needs("duckdb").Error, RuntimeError) as error:
            raise _failed(error) from None


@dataclass(frozen=True)
class _Query:
    query: str
    text: str
    label: str

    nbytes = None
    value_of = None
    twice = True
    told = _Relation.told
    place = _Relation.place

    def batches(self, bad_rows: BadRows) -> Iterator[tuple[Any, Any, Any]]:
        """Yield (texts, labels, hashes of the rows)."""
        duckdb = needs("duckdb")
        try:
            with querying_connection(self.query) as connection:
                relation = connection.sql(self.query)
                yield from _Relation(relation, self.text, self.label).batches(bad_rows)
        except (duckdb.Error, RuntimeError) as error:
            raise _failed(error) from None


def _failed(error: Exception) -> ValueError:
    duckdb, hint = needs("duckdb"), ""
    if isinstance(error, duckdb.PermissionException):
        hint = " Hint: it reads the files that it names in quotes, and no others."
    elif isinstance(error, duckdb.CatalogException):
        hint = (
            " Hint: it reads files; for tables of your own pass a relation, "
            "connection.sql(...)."
        )
    return ValueError(f"The query failed: {' '.join(str(error).split())}{hint}")


# --------------------------------------------------------------------------- memory


@dataclass
class _Batches:
    source: Any
    text: str
    label: str
    _starts: list[int] = field(default_factory=list)

    nbytes = None
    value_of = None
    told = "The source of texts"

    @property
    def twice(self) -> bool:
        """Whether the source can be read again."""
        if isinstance(self.source, list | tuple):
            return all(not _is_one_shot(item) for item in self.source)
        return not isinstance(self.source, Iterator)

    def place(self, row: int) -> str:
        number = int(np.searchsorted(self._starts, row, side="right")) - 1
        if len(self._starts) == 1:
            return f"Row {row}"
        return f"Row {row - self._starts[number]} of batch {number}"

    def batches(self, bad_rows: BadRows) -> Iterator[tuple[Any, Any]]:
        done = 0
        self._starts.clear()
        for item in self.source:
            self._starts.append(done)
            for texts, labels in self._of(item):
                yield texts, labels
                done += len(texts)

    def _of(self, item: Any) -> Iterator[tuple[Any, Any]]:
        if isinstance(item, list | tuple):
            if len(item) != 2 or isinstance(item[0], str):
                raise ValueError(
                    "A batch must be a pair (texts, labels) or a table. Got a "
                    f"{type(item).__name__} of length {len(item)}."
                )
            texts, labels = item
            texts = texts if hasattr(texts, "__len__") else list(texts)
            yield texts, labels
        elif _is_relation(item):
            relation = _Relation(item, self.text, self.label)
            for texts, labels, _ in relation.batches(BadRows(False)):
                yield texts, labels
        elif _is_table(item):
            yield from self._of_table(item)
        else:
            raise TypeError(
                "A batch must be a pair (texts, labels) or a table. Got "
                f"{type(item).__name__}."
            )

    def _of_table(self, table: Any) -> Iterator[tuple[Any, Any]]:
        if hasattr(table, "collect_schema") and hasattr(table, "collect"):  # lazy
            for name in (self.text, self.label):
                check_column(name, table.collect_schema().names(), "the table")
            table = table.select(list({self.text, self.label})).collect()
        names = getattr(table, "columns", None)  # of Arrow: the columns themselves
        if hasattr(getattr(table, "schema", None), "names"):
            names = table.schema.names
            names = names() if callable(names) else names
        if names is None:
            table = needs("pyarrow").RecordBatchReader.from_stream(table)
            names = table.schema.names
        for name in (self.text, self.label):
            check_column(name, [str(column) for column in names], "the table")
        if hasattr(table, "to_batches") and hasattr(table, "count_rows"):  # Dataset
            table = iter(table.to_batches(columns=[self.text, self.label]))
        elif hasattr(table, "read_next_batch"):
            table = iter(table)
        if isinstance(table, Iterator):
            for batch in table:
                yield batch.column(self.text), batch.column(self.label)
            return
        yield table[self.text], table[self.label]


def _is_one_shot(item: Any) -> bool:
    return hasattr(item, "read_next_batch") or isinstance(item, Iterator)
