"""DuckDB as a reader: one way to open it, for files that are named beforehand.

Such a database reaches these files and nothing else. A statement that DuckDB calls a
SELECT may still do more than read: a common table expression may hold a COPY, and some
table functions open files for logs, whatever is locked. So the parsed query is looked
through, and only what is known to read is run.
"""

from __future__ import annotations

import glob
import json
import os
import re
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

from bayesieve.utils._optional import optional_module

__all__ = [
    "identifier",
    "literal",
    "needs",
    "querying_connection",
    "quoted",
    "reading_connection",
    "reading_errors",
    "refuse_address",
]

_QUERY_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_READERS = {
    *("read_csv", "read_csv_auto", "sniff_csv", "read_parquet", "parquet_scan"),
    *("read_json", "read_json_auto", "read_ndjson", "read_ndjson_auto"),
    *("read_json_objects", "read_json_objects_auto", "read_ndjson_objects"),
    *("parquet_metadata", "parquet_schema"),
    *("json_each", "json_tree", "unnest", "range", "generate_series"),
    *("repeat", "repeat_row"),
}
# Beyond it, sorting and joining go to disk.
_LEAST_MEMORY, _MEMORY_PER_THREAD = 4 << 30, 1 << 28


def needs(name: str) -> Any:
    """Import an optional dependency of the extra `text`."""
    return optional_module(name, purpose="Reading files", extra="text")


def reading_errors() -> tuple[type[Exception], ...]:
    """What DuckDB raises while it reads, also through Arrow and before version 2.0."""
    arrow = needs("pyarrow").ArrowException
    return needs("duckdb").Error, RuntimeError, OSError, arrow


def quoted(text: str) -> str:
    """Return a SQL string."""
    return "'" + text.replace("'", "''") + "'"


def literal(path: str) -> str:
    """Return a path that DuckDB does not take for a pattern of other paths."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def refuse_address(path: str) -> None:
    """Stop at what is no path of this machine, such as https:// and s3://."""
    if "://" in path:
        raise ValueError(
            f"Files must be on this machine. Got {path!r}. Hint: fetch the file first; "
            "in Python, a relation of a DuckDB of your own may reach further."
        )


def reading_connection(
    paths: Iterable[str], threads: int | None = None, *, folder: str | None = None
) -> Any:
    """A database of its own, in memory, that can read these files; opened in 40 ms.

    So it can those of a folder, which need not be there yet.

    It reaches nothing else, fetches and loads no extension, takes no Python variable
    for a table, and its settings are locked.
    """
    return _locked(_opened(threads), paths, folder)


def querying_connection(query: str) -> Any:
    """A database that can run one query: it reads the files that the query names."""
    connection = _opened(None)
    return _locked(connection, _named_files(check_query(connection, query)))


def _opened(threads: int | None) -> Any:
    needs("pyarrow")
    connection = needs("duckdb").connect(
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "python_enable_replacements": "false",
        }
    )
    if threads is not None:
        connection.execute(f"SET threads = {int(threads)}")
    return connection


def identifier(name: str) -> str:
    """Return a SQL name."""
    return '"' + name.replace('"', '""') + '"'


def _locked(connection: Any, paths: Iterable[str], folder: str | None = None) -> Any:
    # A folder that is made when memory runs short, and goes with the database. By
    # default it would be in the working folder.
    name = f"bayesieve-{secrets.token_hex(8)}"
    spill = os.path.join(tempfile.gettempdir(), name)
    allowed = dict.fromkeys(form for path in paths for form in (path, literal(path)))
    for setting, value in (
        ("temp_directory", quoted(spill)),
        ("memory_limit", quoted(f"{_memory_limit(connection)} bytes")),
        ("allowed_paths", f"[{', '.join(map(quoted, allowed))}]"),
        ("allowed_directories", f"[{quoted(folder)}]" if folder else "[]"),
        ("enable_external_access", "false"),
        ("lock_configuration", "true"),
    ):
        connection.execute(f"SET {setting} = {value}")
    return connection


def _memory_limit(connection: Any) -> int:
    """Bytes that a reader may take: what its buffers need, where the machine has it."""
    [(threads, shown)] = connection.execute(
        "SELECT current_setting('threads'), current_setting('memory_limit')"
    ).fetchall()
    number, unit = shown.split()  # "18.7 GiB"
    powers = {"bytes": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}
    own = int(float(number) * 2 ** powers[unit])
    return min(own, max(_LEAST_MEMORY, int(threads) * _MEMORY_PER_THREAD))


def _named_files(tree: Any) -> list[str]:
    """The files and patterns of files that a parsed query names in its sources."""
    names: list[str] = []
    for node in _nodes(tree):
        if node.get("type") == "BASE_TABLE":
            names.append(str(node.get("table_name")))
        elif node.get("type") == "TABLE_FUNCTION":
            for own in _nodes(node):
                names += [value for value in own.values() if isinstance(value, str)]
    found: list[str] = []
    for name in names:
        refuse_address(name)
        if os.path.isfile(name):
            found.append(name)
        elif glob.has_magic(name):
            found += [name, *glob.glob(name, recursive=True)]
    return found


def check_query(connection: Any, query: str) -> Any:
    """Refuse everything but one SELECT that reads; returns it parsed."""
    duckdb = needs("duckdb")
    hint = (
        "Hint: for anything else use a connection of your own and pass what its sql() "
        "returns."
    )
    found = [statement.type for statement in connection.extract_statements(query)]
    if found != [duckdb.StatementType.SELECT]:
        kinds = " and ".join(kind.name for kind in found) or "none"
        raise ValueError(f"A query must be one SELECT statement. Got {kinds}. {hint}")
    # All rows are fetched: a result that is not read to its end stays open.
    [(parsed,)] = connection.execute(
        "SELECT json_serialize_sql(?::VARCHAR)", [query]
    ).fetchall()
    tree = json.loads(parsed)
    if tree.get("error"):
        raise ValueError(
            f"A query must be a plain SELECT statement. Got {query!r}. {hint}"
        )
    for node in _nodes(tree):
        kind = str(node.get("type"))
        if kind.endswith("_NODE") and kind not in _QUERY_NODES:
            raise ValueError(
                "A query may only read, in its common table expressions too. Got "
                f"{kind.partition('_')[0]}. {hint}"
            )
        if kind == "TABLE_FUNCTION":
            name = str(node["function"].get("function_name"))
            if name.lower() not in _READERS:
                raise ValueError(
                    "The table functions of a query must be among "
                    f"{', '.join(sorted(_READERS))}. Got {name}. {hint}"
                )
    return tree


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    waiting = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
