"""``bayesieve path``: how much is gained with how many features, and what is proven."""

from __future__ import annotations

import argparse
import json
import shlex
import warnings
from typing import Any

from bayesieve.cli._command import Command
from bayesieve.cli._options import (
    add_data_arguments,
    add_model_arguments,
    add_sequence_arguments,
    add_text_arguments,
    search_seconds,
)
from bayesieve.cli._rules import add_rule_arguments, rules_from
from bayesieve.cli._show import finite
from bayesieve.cli._sources import open_data
from bayesieve.cli._terminal import Terminal, display_width, plain_text
from bayesieve.cli._told import told_so_far
from bayesieve.utils._wording import counted

__all__ = ["PATH"]

_LONGEST_TABLE = 24
_LARGEST = 10_000  # of the sizes tried by default


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_data_arguments(parser, labelled=True)
    parser.add_argument(
        "--sizes",
        type=_sizes,
        metavar="K,K,...",
        help="numbers of features to try (default: about 50, from 2 to 10,000)",
    )
    add_text_arguments(parser)
    add_sequence_arguments(parser)
    add_model_arguments(parser)
    add_rule_arguments(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of a table"
    )


def _sizes(text: str) -> list[int]:
    try:
        sizes = sorted({int(part) for part in text.split(",")})
    except ValueError:
        sizes = [0]
    if sizes[0] < 1:
        raise argparse.ArgumentTypeError(
            f"must be numbers >= 1 with commas between them. Got {text!r}."
        )
    return sizes


def _run(arguments: argparse.Namespace) -> None:
    data, columns = open_data(arguments)
    from bayesieve.exceptions import GapWarning
    from bayesieve.solvers import sparsity_path
    from bayesieve.solvers._criteria import largest_advised_size

    counts = data.count()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)  # the table has the gaps
        path = sparsity_path(
            counts,
            arguments.sizes,
            model=data.model,
            alpha=arguments.alpha,
            time_limit=search_seconds(arguments),
            **rules_from(arguments, counts.feature_names, counts.n_features),
        )
        supports = [set(path.support(k).tolist()) for k in path.k.tolist()]
        names = _entering(supports, counts)
    gain = path.objective - path.null_objective
    rows = [
        {
            "k": int(k),
            "gain": float(gain[i]),
            "bound": float(path.upper_bound[i] - path.null_objective),
            "gap": float(path.gap[i]),
            "bic": float(path.bic_values[i]),
            "entering": names[i],
        }
        for i, k in enumerate(path.k)
    ]
    outcome = {
        "data": data.files.name,
        "unit": data.unit,
        "rows": int(counts.class_count.sum()),
        "n_features": counts.n_features,
        "elbow": path.elbow,
        "bic": path.bic,
        "bic_at_edge": _edge(path, arguments.sizes or [2, _LARGEST], data.model),
        "largest_advised": largest_advised_size(counts.class_count.sum()),
        "guessed": columns.guessed,
        "warnings": told_so_far(),
        "path": rows,
    }
    if arguments.json:
        print(json.dumps(finite(outcome), indent=2, allow_nan=False))
    else:
        rows = _thinned(rows, {outcome["elbow"], outcome["bic"]})
        shown = [supports[path.k.tolist().index(row["k"])] for row in rows]
        for row, entering in zip(rows, _entering(shown, counts), strict=True):
            row["entering"] = entering
        _show(outcome | {"path": rows}, arguments, Terminal())


def _edge(path: Any, tried: list[int], model: str) -> str | None:
    """Say at which end of the sizes tried BIC is least: it may be less beyond.

    "largest", "smallest", "only" if there is one size, or None. A path that ends before
    the largest size has run out of features.
    """
    if path.k.size == 1:
        return "only"
    if path.bic == path.k[-1] == tried[-1]:
        return "largest"
    if path.bic == path.k[0] == tried[0] > (2 if model == "multinomial" else 1):
        return "smallest"
    return None


def _entering(supports: list[set[int]], counts: Any) -> list[list[str]]:
    """Names of the features of each support that are not in the one before."""
    before: set[int] = set()
    found = []
    for support in supports:
        new = sorted(support - before)[:100]
        names = counts.feature_names
        found.append([str(j) if names is None else str(names[j]) for j in new])
        before = support
    return found


def _show(
    outcome: dict[str, Any], arguments: argparse.Namespace, terminal: Terminal
) -> None:
    unit, rows = outcome["unit"], outcome["path"]
    terminal.paragraph(
        f"How many {unit} are enough? {plain_text(outcome['data'])}: "
        f"{outcome['rows']:,} rows, {outcome['n_features']:,} {unit}."
    )
    terminal.line()
    bar = 16 if terminal.width >= 72 else 8
    width = terminal.width - 2 - 7 - 11 - 2 - bar - 2 - 10 - 2
    names = [name for row in rows for name in row["entering"][:1]]
    if max(map(len, names), default=0) > width:  # a part of a k-mer is another one
        bar, width = 8, width + bar - 8
    heading = f"  {'k':>7}{'gain':>11}  {'':{bar}}  {'short by':>10}"
    if width >= 8:
        heading += f"  new {unit}"
    terminal.line(terminal.style(heading, "dim"))
    largest = max(row["gain"] for row in rows) or 1.0
    for row in rows:
        k = row["k"]
        advised = k <= outcome["largest_advised"]
        marks = ["elbow"] if outcome["elbow"] == k and advised and len(rows) > 1 else []
        if outcome["bic"] == k and advised and outcome["bic_at_edge"] is None:
            marks.append("bic")
        short = row["gap"] / row["gain"] if row["gain"] > 0 else 0.0
        proven = "proven" if short <= 1e-9 else f"{100 * short:.2g} %"
        line = f"  {k:>7,}{row['gain']:>11,.1f}  "
        filled = terminal.one_sided_bar(row["gain"] / largest, bar)
        pad = " " * (bar - len(terminal._blocks(row["gain"] / largest, bar)[1]))
        line += f"{filled}{pad}  {proven:>10}"
        if width >= 8:
            mark = f"<- {' and '.join(marks)}" if marks else ""
            told = _within(row["entering"], mark, width)
            line += "  " + terminal.fit(told, width).rstrip()
        elif marks:
            line += f"  <- {' and '.join(marks)}"
        terminal.line(line)
    terminal.line()
    terminal.paragraph(
        f"{_advice(outcome)} 'short by' is how much better any other choice could be, "
        "at most."
    )
    terminal.line("Try next:")
    by_elbow = outcome["elbow"] <= outcome["largest_advised"]
    size = outcome["elbow"] if by_elbow else "1se"
    terminal.line(f"  {_select_command(arguments)} -k {size}")


def _within(names: list[str], mark: str, width: int) -> str:
    """A mark and as many names as there is room for, whole if one of them fits."""
    before = f"{mark}; " if mark and names else mark
    told = before + ", ".join(names)
    if display_width(plain_text(told)) <= width:
        return told
    if len(names[0]) > width - len(before):  # the name says more than where it stands
        before = ""
    for n in range(len(names) - 1, 0, -1):
        told = f"{before}{', '.join(names[:n])}, ..."
        if display_width(plain_text(told)) <= width:
            return told
    return before + names[0]


def _advice(outcome: dict[str, Any]) -> str:
    """What elbow and BIC advise, as far as so many rows can bear it."""
    unit, edge = outcome["unit"], outcome["bic_at_edge"]
    most = outcome["largest_advised"]
    if edge == "only":
        return "One size alone has neither elbow nor least BIC."
    too_large = [
        name
        for name, size in (("elbow", outcome["elbow"]), ("BIC", outcome["bic"]))
        if size > most
    ]
    reason = (
        f"{outcome['rows']:,} rows cannot bear out more than {counted(most, unit)}; "
        "above that every further one seems to gain"
    )
    if len(too_large) == 2:
        return f"Neither elbow nor BIC advises a size here: {reason}."
    elbow, bic = counted(outcome["elbow"], unit), f"{outcome['bic']:,}"
    if too_large == ["BIC"]:
        return f"The elbow is at {elbow}. BIC advises no size here: {reason}."
    told = {
        None: f"least BIC at {bic}.",
        "largest": f"and BIC still falls at {bic}, the largest size tried.",
        "smallest": f"and BIC rises from {bic} on, the smallest size tried.",
    }[edge]
    if too_large:
        told = told.removeprefix("and ")
        return f"{told[0].upper()}{told[1:]} The elbow advises no size here: {reason}."
    return f"The elbow is at {elbow}, {told}"


def _select_command(arguments: argparse.Namespace) -> str:
    """Return the command that selects from the same data with the same options."""
    words = arguments.command_line[2:]
    if "--sizes" in words:
        place = words.index("--sizes")
        words = words[:place] + words[place + 2 :]
    kept = [word for word in words if not word.startswith("--sizes=")]
    return plain_text(shlex.join(["bayesieve", "select", *kept]))


def _thinned(rows: list[dict[str, Any]], kept: set[int]) -> list[dict[str, Any]]:
    """At most so many rows that they fit a screen, the marked ones among them."""
    if len(rows) <= _LONGEST_TABLE:
        return rows
    step = -(-len(rows) // _LONGEST_TABLE)
    return [
        row
        for i, row in enumerate(rows)
        if i % step == 0 or row["k"] in kept or i == len(rows) - 1
    ]


PATH = Command(
    name="path",
    summary="show how much is gained with how many features",
    description="Show the gain of the best k features for a range of k, what is proven "
    "about each, and which features enter. Data as for select, or saved counts.",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "bayesieve path reviews.csv --text body --label stars",
        "bayesieve path genes.csv --label tumour --model gaussian --sizes 1,2,5,10,20",
        "bayesieve path week.counts --json",
    ),
)
