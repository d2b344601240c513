"""JSON: one object a line, or a list of objects."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesieve.io._bad_rows import BadRows
from bayesieve.io._duckdb import identifier, literal, quoted, reading_errors
from bayesieve.io._format import Format, record_batches
from bayesieve.io._row_bounds import oversized, refuse_deep_json, too_long

if TYPE_CHECKING:
    from bayesieve.io._files import DataFile

__all__ = ["Json", "JsonLines", "json_label"]

_DATES = ("DATE", "TIME", "TIMESTAMP")  # found in many forms, read in one


def json_label(raw: str) -> Any:
    """Return the label that a JSON value stands for."""
    try:
        value = json.loads(raw)
    except RecursionError:
        value = []
        raw = f"{raw[:20]}..., nested too deeply"
    if isinstance(value, dict | list):
        raise ValueError(
            f"Labels must be strings, integers, booleans or floats. Got the JSON {raw}."
        )
    return value


class Json(Format):
    """A list of objects."""

    name = "json"
    told = "JSON"
    is_encoded = True
    endings: tuple[str, ...] = (".json",)
    label_of = staticmethod(json_label)
    form = "auto"

    def columns(self, file: DataFile) -> list[str]:
        """Names of the columns; their types are found in all of the rows."""
        if self.is_blank(file):
            return []
        try:
            found = file.connection.sql(f"FROM {self._source(file)} LIMIT 0")
        except reading_errors() as error:
            self._refuse_line(file, error)
            raise
        kinds = map(str, found.types)
        file.types.update(zip(found.columns, kinds, strict=True))
        return list(found.columns)

    def batches(
        self,
        file: DataFile,
        names: Sequence[str],
        bad_rows: BadRows,
        types: Mapping[str, str],
        rows: int,
    ) -> Iterator[Any]:
        """Yield Arrow batches; lines that are left out come without any values."""
        if self.is_blank(file):
            return
        try:
            if types:
                self._look(file, names)
            else:
                file.check_columns(names)
                types = {name: file.types[name] for name in names}
            asked = ", ".join(
                f"{identifier(name)} AS c{i}" for i, name in enumerate(names)
            )
            source = self._source(file, types, skip=bad_rows.skip)
            yield from record_batches(
                file.connection.sql(f"SELECT {asked} FROM {source}"), rows
            )
        except reading_errors() as error:
            self._refuse_line(file, error)
            raise

    def _look(self, file: DataFile, names: Sequence[str]) -> None:
        """Find a name that is spelt wrongly in the first rows, which is enough."""
        options = self._options(file, skip=True)
        look = f"{options}, sample_size = 1000, maximum_depth = 1"
        columns = file.connection.sql(f"FROM read_json({look}) LIMIT 0").columns
        if columns != ["json"]:  # what is found in an empty list
            file.check_columns(names, columns)

    def _source(
        self, file: DataFile, types: Mapping[str, str] | None = None, skip: bool = True
    ) -> str:
        options = self._options(file, skip=skip)
        if types and not any(kind.startswith(_DATES) for kind in types.values()):
            kinds = ", ".join(f"{quoted(n)}: {quoted(k)}" for n, k in types.items())
            return f"read_json({options}, columns = {{{kinds}}})"
        return f"read_json({options}, sample_size = -1)"

    def _options(self, file: DataFile, skip: bool) -> str:
        with file.stream() as stream:
            refuse_deep_json(stream, repr(file.path), by_line=self.form != "auto")
        more = ", ignore_errors = true" if skip and self.form != "auto" else ""
        path, compression = file.readable
        return (
            f"{quoted(literal(path))}, format = '{self.form}', "
            # DuckDB 1.4 knows no 'none' here.
            f"compression = '{compression or 'uncompressed'}', "
            f"maximum_object_size = {file.longest}{more}"
        )

    def _refuse_line(self, file: DataFile, error: Exception) -> None:
        """Say which line is wrong, if one is; DuckDB may count in another way."""


class JsonLines(Json):
    """One object a line."""

    name = "jsonl"
    told = "JSON lines"
    endings = (".jsonl", ".ndjson")
    form = "newline_delimited"
    leaves_gaps = True

    def _refuse_line(self, file: DataFile, error: Exception) -> None:
        if oversized(error):
            return
        with file.stream() as stream:
            found = _bad_line(stream, file.longest)
        if found is not None:
            number, problem = found
            problem = problem or file.not_decoded()
            BadRows(skip=False).found(
                1, f"Line {number:,} of {file.path!r} cannot be read: {problem}."
            )


def _bad_line(stream: Any, longest: int) -> tuple[int, str] | None:
    """Return the first line that holds no JSON object, and why, if it is UTF-8."""
    lines = io.BufferedReader(stream, 1 << 20)
    number = 0
    while line := lines.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise too_long(f"Line {number:,}", longest)
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            if text.strip():
                _check_object(text)
        except RecursionError:
            return number, "it is nested too deeply"
        except UnicodeDecodeError:
            return number, ""
        except json.JSONDecodeError as error:
            return number, f"it is no JSON: {error}"
        except ValueError as error:
            return number, str(error)
    return None


def _check_object(text: str) -> None:
    """Refuse JSON that is no object, or one with a key twice."""

    def keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        twice = [
            key for key, times in Counter(k for k, _ in pairs).items() if times > 1
        ]
        if twice:
            raise ValueError(f"an object has the key {twice[0]!r} twice")
        return dict(pairs)

    value = json.loads(text, object_pairs_hook=keys)
    if not isinstance(value, dict):
        kind = "a list" if isinstance(value, list) else "a single value"
        raise ValueError(f"it holds {kind}, and must hold an object, {{...}}")
