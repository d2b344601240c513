"""``bayesieve export``: a saved model in another language."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from bayesieve.cli._command import Command, CommandError
from bayesieve.cli._files import check_model_file
from bayesieve.cli._output import check_outputs

__all__ = ["EXPORT"]

_DIALECTS = ("duckdb", "postgres", "spark", "sqlite")
#: Options of `--to sql` that `to_sql` takes under the same name.
_OF_SQL = {
    "text": "column of a model of texts (default: text)",
    "row": "of a table of terms: the column of documents",
    "term": "of a table of terms: the column of terms",
    "count": "of a table of terms: the column of counts (default: each row is one)",
    "key": "column that tells the rows apart (default for SQLite: its rowid)",
    "order-by": "column that the rows are put in order by",
}


def _as_sql(model: Any, arguments: argparse.Namespace) -> bytes:
    """The query, with a line break at its end."""
    from bayesieve.export import to_sql

    options = {name.replace("-", "_") for name in _OF_SQL}
    given = {name: getattr(arguments, name) for name in options}
    query = to_sql(model, arguments.table.split("."), arguments.dialect, **given)
    return f"{query}\n".encode()


#: Each language with what writes a model in it: a new one is one more line.
_WRITERS: dict[str, Callable[[Any, argparse.Namespace], bytes]] = {"sql": _as_sql}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model that select has saved")
    parser.add_argument(
        "--to", required=True, choices=_WRITERS, help="what it is written in"
    )
    parser.add_argument(
        "--out", metavar="FILE", help="where it goes (default: the terminal)"
    )
    sql = parser.add_argument_group("sql")
    sql.add_argument(
        "--dialect",
        choices=_DIALECTS,
        default="duckdb",
        help="whose SQL (default: duckdb)",
    )
    sql.add_argument(
        "--table",
        default="data",
        metavar="NAME",
        help="the table to score; dots part schema and table (default: data)",
    )
    for name, told in _OF_SQL.items():
        sql.add_argument(f"--{name}", metavar="COLUMN", help=told)


def _run(arguments: argparse.Namespace) -> None:
    check_outputs({"--out": arguments.out}, [arguments.model])
    check_model_file(arguments.model)
    from bayesieve.persistence import load_model

    model = load_model(arguments.model)
    try:
        written = _WRITERS[arguments.to](model, arguments)
    except TypeError as error:  # a selector, which predicts nothing
        raise CommandError(str(error)) from None
    if arguments.out is None:
        print(written.decode(), end="")
        return
    from bayesieve.utils._whole_files import whole_file

    with whole_file(arguments.out) as beside, open(beside, "wb") as file:
        file.write(written)
    print(f"Wrote the model as {arguments.to} to {arguments.out!r}.")


EXPORT = Command(
    name="export",
    summary="write a saved model as SQL",
    description="Write a saved model in another language: as one SQL query that gives "
    "every row of a table its label and probabilities, the same as predict does.",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "bayesieve export people.model --to sql --table people",
        "bayesieve export people.model --to sql --dialect postgres --out score.sql",
        "bayesieve export reviews.model --to sql --row doc --term word --count n",
    ),
)
