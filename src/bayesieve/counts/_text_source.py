"""What users hold texts in, as pieces that give batches of (texts, labels)."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.counts._batch_counter import BadRows
from bayesieve.counts._duckdb import check_query, needs, reading_connection
from bayesieve.counts._text_files import (
    Reader,
    TextFile,
    check_column,
    file_format,
    has_file_ending,
    identifier,
    record_batches,
)

_QUERY = re.compile(r"\s*(select|with|from|values)\b.*\s", re.IGNORECASE | re.DOTALL)


def text_pieces(
    source: Any, text: str, label: str, threads: int | None = None
) -> list[Any]:
    """Return the pieces of a source, each of which gives batches."""
    for name, value in (("text", text), ("label", label)):
        if not isinstance(value, str):
            raise TypeError(
                f"The {name!r} parameter of from_text must be the name of a column. "
                f"Got {type(value).__name__}."
            )
    if isinstance(source, str | os.PathLike):
        place = os.fspath(source)
        if isinstance(source, str) and _is_query(place):
            return [_Query(place, text, label)]
        return _files([place], text, label, threads)
    if isinstance(source, list | tuple) and not source:
        raise ValueError("There must be at least one row to count. Got an empty list.")
    if isinstance(source, list | tuple) and all(
        isinstance(item, str | os.PathLike) for item in source
    ):
        return _files([os.fspath(item) for item in source], text, label, threads)
    if _is_relation(source):
        return [_Relation(source, text, label)]
    if _is_table(source):
        return [_Batches([source], text, label)]
    if isinstance(source, Iterable):
        return [_Batches(source, text, label)]
    raise TypeError(
        "The 'source' parameter of from_text must be a path, a glob, a list of paths, "
        "a SQL query, a DuckDB relation, a table, or an iterable of batches. Got "
        f"{type(source).__name__}."
    )


def _is_query(text: str) -> bool:
    """Tell SQL: it begins like a query, and no name of files looks like it.

    A name with the ending of a file is one, there or not: in SQL such a name stands in
    quotes, and a table csv of a schema x, which `FROM x.csv` would be, does not exist.
    """
    if _QUERY.match(text) is None or has_file_ending(text) or os.path.exists(text):
        return False
    return not (glob.has_magic(text) and glob.glob(text))


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
    paths: list[str], text: str, label: str, threads: int | None
) -> list[TextFile]:
    found: list[str] = []
    for path in paths:
        found += _matches(os.path.expanduser(path))
    seen: set[str] = set()
    for path in found:
        if os.path.realpath(path) in seen:
            raise ValueError(
                f"Each file can be counted once. Got {path!r} more than once."
            )
        seen.add(os.path.realpath(path))
        file_format(path)
    needs("duckdb")
    reader = Reader(threads)
    return [TextFile(path, text, label, reader) for path in found]


def _matches(path: str) -> list[str]:
    if "://" in path:
        raise ValueError(
            f"Files must be on this machine. Got {path!r}. Hint: pass "
            f"duckdb.sql(\"FROM '{path}'\"), which reads what your DuckDB can reach."
        )
    if os.path.isfile(path):
        return [path]
    if os.path.isdir(path):
        raise IsADirectoryError(
            f"{path!r} is a folder. Hint: a glob such as "
            f"{os.path.join(path, '*.csv')!r} names the files in it."
        )
    if glob.has_magic(path):
        found = [p for p in glob.glob(path, recursive=True) if os.path.isfile(p)]
        if found:
            return sorted(found)
        raise FileNotFoundError(f"No file matches {path!r}.")
    raise FileNotFoundError(
        f"There is no file {path!r}. Hint: texts themselves are counted as batches, "
        "from_text([(texts, labels)])."
    )


# --------------------------------------------------------------------------- DuckDB


@dataclass(frozen=True)
class _Relation:
    relation: Any
    text: str
    label: str

    nbytes = None
    value_of = None
    twice = True

    def place(self, row: int) -> str:
        return f"Row {row + 1} of the query"

    def batches(self, bad_rows: BadRows) -> Iterator[tuple[Any, Any]]:
        relation = self.relation
        for name in (self.text, self.label):
            check_column(name, list(relation.columns), "the query")
        asked = f"{identifier(self.text)} AS a, {identifier(self.label)} AS b"
        try:
            for batch in record_batches(relation.project(asked)):
                yield batch.column(0), batch.column(1)
        except needs("duckdb").Error as error:
            raise ValueError(f"The query failed: {error}") from None


@dataclass(frozen=True)
class _Query:
    query: str
    text: str
    label: str

    nbytes = None
    value_of = None
    twice = True
    place = _Relation.place

    def batches(self, bad_rows: BadRows) -> Iterator[tuple[Any, Any]]:
        duckdb = needs("duckdb")
        with reading_connection() as connection:
            try:
                check_query(connection, self.query)
                relation = connection.sql(self.query)
            except duckdb.CatalogException as error:
                raise ValueError(
                    f"The query failed: {error} Hint: it reads files; for tables of "
                    "your own pass a relation, connection.sql(...)."
                ) from None
            except duckdb.Error as error:
                raise ValueError(f"The query failed: {error}") from None
            yield from _Relation(relation, self.text, self.label).batches(bad_rows)


# --------------------------------------------------------------------------- memory


@dataclass
class _Batches:
    source: Any
    text: str
    label: str
    _starts: list[int] = field(default_factory=list)

    nbytes = None
    value_of = None

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
            yield from _Relation(item, self.text, self.label).batches(BadRows(False))
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
