"""``bayesieve explain``: why a saved model scores the first rows as it does."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bayesieve.cli._command import Command, refuse_options
from bayesieve.cli._files import check_model_file
from bayesieve.cli._options import (
    add_data_arguments,
    add_sequence_arguments,
    at_least_one,
)
from bayesieve.cli._scored_rows import SavedModel, ScoredRows, read_batches
from bayesieve.cli._show import finite
from bayesieve.cli._terminal import Terminal, plain_text
from bayesieve.cli._told import tell

if TYPE_CHECKING:
    from bayesieve.naive_bayes import Counterfactual, Explanation

__all__ = ["EXPLAIN"]

_NUMBERS = 10  # columns of the nats
_ODDS = 13  # "x 3.62e+303" and what keeps it apart
_SHORTEST_BAR, _LONGEST_BAR = 6, 12  # to either side
_LARGEST = 700.0  # nats whose odds are still a number


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model that select has saved")
    add_data_arguments(parser, labelled=False)
    add_sequence_arguments(parser, labelled=False)
    parser.add_argument(
        "--rows",
        type=at_least_one,
        default=3,
        metavar="N",
        help="explain the first N rows (default: 3)",
    )
    parser.add_argument(
        "--by-column",
        action="store_true",
        help="share what pairs of columns add among their columns (Shapley values)",
    )
    parser.add_argument(
        "--top",
        type=at_least_one,
        default=12,
        metavar="N",
        help="show the N largest terms of each row (default: 12)",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print a JSON object for each row, with all terms and classes",
    )


def _run(arguments: argparse.Namespace) -> None:
    check_model_file(arguments.model)
    from bayesieve.io._bad_rows import BadRows

    saved = SavedModel.read(arguments.model)
    files = saved.files(arguments)
    if not hasattr(saved.model, "partitions_"):  # it has no pairs
        named = f"{arguments.model!r}, a {type(saved.model).__name__}"
        refuse_options(arguments, ("by_column",), "models of mixed tables", named)
    scored = ScoredRows.of(saved, files, arguments)
    if files.notes:
        tell(" ".join(files.notes))
    bad_rows = BadRows(files.skip_bad_rows)
    terminal, several = Terminal(), len(files.paths) > 1
    for path, number, header, own, other in _explained(scored, bad_rows, arguments):
        place: dict[str, Any] = {"file": path} if several else {}
        place |= (
            {"row": number} if header is None else {"row": number, "record": header}
        )
        if scored.rows_are_files:
            place = {"file": path}
        if arguments.json:
            found = place | _fields(own, other)
            print(json.dumps(finite(found), allow_nan=False, default=str))
        else:
            where = f"{path}, row {number:,}" if several else f"Row {number:,}"
            if scored.rows_are_files:
                where = path
            elif header is not None:
                where += f", {header}"
            _show(own, other, where, arguments.top, terminal)
    bad_rows.warn("" if scored.rows_are_files else "; rows are numbered without them")


def _explained(
    scored: ScoredRows, bad_rows: Any, arguments: argparse.Namespace
) -> Iterator[tuple[str, int, str | None, Explanation, Counterfactual | None]]:
    """Yield the first rows: file, number, header, why so, what would change it."""
    from bayesieve.inspection import explain

    left = arguments.rows
    for [batch] in read_batches([scored], bad_rows):
        found = explain(scored.saved.model, batch.rows[:left])
        for row, own in enumerate(found):
            shown = own.by_column() if arguments.by_column else own
            # Of the terms: what columns share cannot be taken from one of them.
            number, header = batch.before + row + 1, None
            if scored.records:
                header = batch.kept[0][row]
            yield batch.path, number, header, shown, own.counterfactual()
        left -= len(found)
        if not left:
            return


def _fields(own: Explanation, other: Counterfactual | None) -> dict[str, Any]:
    """One row as plain values."""
    numbers, values = own.terms.of_row(0)
    labels = [str(label) for label in own.classes.tolist()]

    def by_class(values: Any) -> dict[str, float]:
        return dict(zip(labels, values.tolist(), strict=True))

    return {
        "prediction": own.predicted.tolist()[0],
        "probability": by_class(own.probabilities[0]),
        "base": by_class(own.base),
        "terms": [
            {
                "name": own.features[t],
                "value": own.shown_input(t),
                "nats": by_class(nats),
            }
            for t, nats in zip(numbers.tolist(), values, strict=True)
        ],
        "counterfactual": None
        if other is None
        else {
            "features": other.features,
            "prediction": other.label,
            "sentence": str(other),
        },
    }


def _show(
    own: Explanation,
    other: Counterfactual | None,
    where: str,
    most: int,
    terminal: Terminal,
) -> None:
    """Print one row: the largest terms first, a bar for each, what would change it."""
    terminal.paragraph(f"{where}: {own.title()}", "bold")
    lines = own.lines(most)
    rest = terminal.width - 2 - _NUMBERS - _ODDS - 2
    value = min(max(len("value"), *(len(line[1]) for line in lines)) + 2, rest // 3)
    # Bars make way for names: a part of a k-mer is another one.
    most = max(rest // 2, rest - value - 2 * _SHORTEST_BAR - 1)
    name = min(max(len(line[0]) for line in lines) + 2, most)
    half = min(max((rest - name - value - 1) // 2, 3), _LONGEST_BAR)
    sizes = [abs(nats) for *_, nats in lines[1:-1] if math.isfinite(nats)]
    largest = max(sizes, default=0.0) or 1.0
    heading = f"{'term':{name}}{'value':{value}}{'nats':>{_NUMBERS}}{'odds':>{_ODDS}}"
    terminal.line(terminal.style(f"  {heading}", "dim"))
    terms = terminal.fit_apart([line[0] for line in lines], name - 2)
    for place, (term, (_, held, nats)) in enumerate(zip(terms, lines, strict=True)):
        line = f"  {term}  {terminal.fit(held, value - 2)}  "
        odds = f"x {math.exp(min(nats, _LARGEST)):.3g}"
        line += f"{nats:>+{_NUMBERS}.2f}{odds:>{_ODDS}}  "
        if 0 < place < len(lines) - 1:
            line += terminal.bar(nats / largest, half)
        terminal.line(line.rstrip())
    if other is not None:
        terminal.paragraph(f"  {plain_text(str(other))}", indent="  ")
    terminal.line()


EXPLAIN = Command(
    name="explain",
    summary="why a saved model predicts what it does, row by row",
    description="Show what every word, column and pair of columns adds to the score of "
    "the class that is predicted, in nats and as a factor of its odds, for the first "
    "rows of your data, and the fewest of them without which another class would be. "
    "Words and counts are told beside an empty row, columns of tables beside the mean "
    "of the training rows, the base.",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "bayesieve explain patients.model patients.csv",
        "bayesieve explain reviews.model new.csv --top 5",
        "bayesieve explain patients.model patients.csv --rows 10 --by-column",
        "bayesieve explain patients.model patients.csv --rows 1000 --json",
    ),
)
