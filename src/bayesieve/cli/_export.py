"""``bayesieve export``: a saved model in another language."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from bayesieve.cli._command import Command, CommandError, refuse_options
from bayesieve.cli._files import check_model_file
from bayesieve.cli._output import check_outputs
from bayesieve.cli._told import tell

__all__ = ["EXPORT"]

_DIALECTS = ("duckdb", "postgres", "spark", "sqlite")
#: Options of `--to sql` that `to_sql` takes under the same name.
_OF_SQL = {
    "text": "column of a model of texts (default: text)",
    "row": "of a table of terms: the column of documents",
    "term": "of a table of terms: the column of terms",
    "count": "of a table of terms: the column of counts (default: each row is one)",
    "key": "of texts: column that tells the rows apart (Spark needs one)",
    "order-by": "column that the rows are put in order by",
    "prediction": "name of the column of labels (default: prediction)",
    "probability": "what the names of the columns of probabilities begin with "
    "(default: probability_)",
}
#: The other options of one language, which say nothing to the others.
_OWN = {
    "sql": (
        "table",
        "dialect",
        "strings",
        *(name.replace("-", "_") for name in _OF_SQL),
    ),
    "onnx": ("texts", "missing"),
}


def _given(arguments: argparse.Namespace, language: str) -> dict[str, Any]:
    """The options of a language that were given."""
    options = {name: getattr(arguments, name) for name in _OWN[language]}
    return {name: value for name, value in options.items() if value is not None}


def _made_from_files(path: str) -> bool:
    """Whether the command line has made a model, from values as it reads them."""
    from bayesieve.persistence import load_notes

    return "cli" in load_notes(path)


def _say_how_strings_come(model: Any, arguments: argparse.Namespace) -> None:
    """Tell what a language cannot do: clean strings as they are when files are read."""
    from bayesieve.export._scorecard import scorecard_of

    if arguments.to == "sql" or not _made_from_files(arguments.model):
        return
    card = scorecard_of(model)
    words = [
        card.columns[axis.column].name
        for term in card.terms
        for axis in getattr(term, "axes", ())
        if any(isinstance(value, str) for value in getattr(axis, "values", ()))
    ]
    if words:
        tell(
            f"strings, as in {words[0]!r}, must come to the exported model as predict "
            "reads them from files: without white space around them, and missing where "
            "they say so, by NA, null or ?."
        )


def _as_sql(model: Any, arguments: argparse.Namespace) -> bytes:
    """The query, with a line break at its end."""
    from bayesieve.export import to_sql

    given = _given(arguments, "sql")
    if _made_from_files(arguments.model):
        given.setdefault("strings", "files")
    table = given.pop("table", "data").split(".")
    query = to_sql(model, table, **given)
    return f"{query}\n".encode()


def _as_onnx(model: Any, arguments: argparse.Namespace) -> bytes:
    """The graph, as a file holds it."""
    from bayesieve.export import to_onnx

    made = to_onnx(model, **_given(arguments, "onnx"))
    written: bytes = made.SerializeToString()
    return written


def _as_sklearn(model: Any, arguments: argparse.Namespace) -> bytes:
    """A fitted pipeline for ``joblib.load``, which needs scikit-learn alone."""
    import io

    import joblib

    from bayesieve.export import to_sklearn

    file = io.BytesIO()
    joblib.dump(to_sklearn(model), file)
    return file.getvalue()


#: Each language with what writes a model in it: a new one is one more line.
_WRITERS: dict[str, Callable[[Any, argparse.Namespace], bytes]] = {
    "sql": _as_sql,
    "onnx": _as_onnx,
    "sklearn": _as_sklearn,
}
_TEXT = {"sql"}  # what can be shown


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model that select has saved")
    parser.add_argument(
        "--to", required=True, choices=_WRITERS, help="what it is written in"
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="where it goes (sql: the terminal unless given)",
    )
    sql = parser.add_argument_group("sql")
    sql.add_argument(
        "--dialect",
        choices=_DIALECTS,
        help="whose SQL (default: duckdb)",
    )
    sql.add_argument(
        "--table",
        metavar="NAME",
        help="the table to score; dots part schema and table (default: data)",
    )
    sql.add_argument(
        "--strings",
        choices=("exact", "files"),
        help="take strings as they are, or clean them as predict does those of files: "
        "white space around them, NA, null, ? (default: files for models that select "
        "has made)",
    )
    for name, told in _OF_SQL.items():
        shown = "NAME" if name in ("prediction", "probability") else "COLUMN"
        sql.add_argument(f"--{name}", metavar=shown, help=told)
    onnx = parser.add_argument_group("onnx")
    onnx.add_argument(
        "--texts",
        choices=("refuse", "counts"),
        help="models of texts: refuse them, or take how often each selected term is "
        "met (default: refuse)",
    )
    onnx.add_argument(
        "--missing",
        metavar="STRING",
        help="what stands for a missing value among strings (default: the empty one)",
    )


def _run(arguments: argparse.Namespace) -> None:
    for language, options in _OWN.items():
        if language != arguments.to:
            refuse_options(
                arguments, options, f"--to {language}", f"--to {arguments.to}"
            )
    if arguments.out is None and arguments.to not in _TEXT:
        raise CommandError(
            f"--to {arguments.to} writes a file of bytes: --out must name it."
        )
    check_outputs({"--out": arguments.out}, [arguments.model])
    check_model_file(arguments.model)
    from bayesieve.persistence import load_model

    model = load_model(arguments.model)
    try:
        written = _WRITERS[arguments.to](model, arguments)
        _say_how_strings_come(model, arguments)
    except (
        ImportError,
        TypeError,
    ) as error:  # an extra; a selector, which predicts nothing
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
    summary="write a saved model as SQL, ONNX or a plain scikit-learn pipeline",
    description="Write a saved model for where the data live: as one SQL query that "
    "gives every row of a table its label and probabilities, as an ONNX graph, or as a "
    "scikit-learn pipeline that joblib.load reads and that needs no bayesieve. All "
    "predict the same.",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "bayesieve export people.model --to sql --table people",
        "bayesieve export people.model --to sql --dialect postgres --out score.sql",
        "bayesieve export reviews.model --to sql --row doc --term word --count n",
        "bayesieve export people.model --to onnx --out people.onnx",
        "bayesieve export reviews.model --to onnx --texts counts --out reviews.onnx",
        "bayesieve export reviews.model --to sklearn --out reviews.joblib",
    ),
)
