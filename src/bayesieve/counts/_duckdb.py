"""DuckDB as a reader: one way to open it, and queries that cannot write.

A statement that DuckDB calls a SELECT may still write: a common table expression may
hold a COPY, and some table functions open files for logs, whatever is locked. So the
parsed query is looked through, and only what is known to read is run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from bayesieve.utils._optional import optional_module

__all__ = ["check_query", "needs", "reading_connection"]

_QUERY_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_READERS = {
    *("read_csv", "read_csv_auto", "sniff_csv", "read_parquet", "parquet_scan"),
    *("read_json", "read_json_auto", "read_ndjson", "read_ndjson_auto"),
    *("read_json_objects", "read_json_objects_auto", "read_ndjson_objects"),
    *("parquet_metadata", "parquet_schema", "read_text", "read_blob", "glob"),
    *("json_each", "json_tree", "unnest", "range", "generate_series"),
    *("repeat", "repeat_row"),
}


def needs(name: str) -> Any:
    """Import an optional dependency of the extra `text`."""
    return optional_module(name, purpose="Reading texts from files", extra="text")


def reading_connection(threads: int | None = None) -> Any:
    """A database of its own, in memory; opening it takes 40 ms.

    It fetches and loads no extension, takes no Python variable for a table, and its
    settings are locked.
    """
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
    connection.execute("SET lock_configuration = true")
    return connection


def check_query(connection: Any, query: str) -> None:
    """Refuse everything but one SELECT that reads."""
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


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    waiting = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
