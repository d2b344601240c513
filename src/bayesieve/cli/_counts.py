"""``bayesieve counts``: class counts of data, and the sum of several."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from typing import Any

from bayesieve.cli._command import EXIT_INTERRUPTED, Command, CommandError
from bayesieve.cli._files import DataFiles, expanded
from bayesieve.cli._options import (
    MODELS,
    add_data_arguments,
    add_text_arguments,
)
from bayesieve.cli._output import check_outputs
from bayesieve.cli._sources import open_data
from bayesieve.cli._terminal import Terminal, plain_text

__all__ = ["COUNTS"]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_data_arguments(parser, labelled=True)
    add_text_arguments(parser)
    parser.add_argument(
        "--model",
        choices=MODELS[:-1],
        default="auto",
        help="what the counts are for (default: multinomial)",
    )
    # Counting neither smooths nor searches, but shares the arguments of what does.
    parser.set_defaults(alpha=1.0, time_limit=10.0)
    parser.add_argument(
        "--save", required=True, metavar="FILE", help="where the counts go"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of words"
    )


def _run(arguments: argparse.Namespace) -> int | None:
    merges = arguments.data[0] == "merge"
    inputs = arguments.data[1:] if merges else arguments.data
    check_outputs({"--save": arguments.save}, expanded(inputs))
    interrupted = False
    if merges:
        counts = _merged(inputs)
    else:
        from bayesieve.cli._interrupts import Interrupt

        data, _ = open_data(arguments)
        with Interrupt(True) as interrupt:
            counts = data.count(interrupt)
            interrupted = interrupt.requested or data.interrupted
    counts.save(arguments.save)
    rows = int(counts.class_count.sum())
    if arguments.json:
        found = {
            "kind": counts.kind,
            "classes": counts.classes.tolist(),
            "rows": counts.class_count.tolist(),
            "n_features": counts.n_features,
            "saved": arguments.save,
            "interrupted": interrupted,
        }
        print(json.dumps(found, indent=2))
    else:
        _show(counts, rows, arguments, Terminal())
    if interrupted:
        if sys.stderr is not None:
            print(
                f"bayesieve: interrupted; {arguments.save!r} has the counts of the "
                f"first {rows:,} rows",
                file=sys.stderr,
            )
        return EXIT_INTERRUPTED
    return None


def _merged(paths: list[str]) -> Any:
    if len(paths) < 2:
        raise CommandError(
            "counts merge needs two files of counts or more. "
            f"Got {len(paths)}. Hint: a file called 'merge' is './merge'."
        )
    from bayesieve.counts import merge_saved

    return merge_saved(DataFiles(paths).paths)


def _show(
    counts: Any, rows: int, arguments: argparse.Namespace, terminal: Terminal
) -> None:
    terminal.paragraph(
        f"{rows:,} rows, {counts.n_features:,} features, {counts.n_classes} classes "
        f"({counts.kind})."
    )
    width = max(len(plain_text(str(label))) for label in counts.classes.tolist())
    width = min(width, 30) + 2
    for label, own in list(
        zip(counts.classes.tolist(), counts.class_count.tolist(), strict=True)
    )[:20]:
        terminal.line(f"  {terminal.fit(str(label), width)}{own:>12,.0f} rows")
    if counts.n_classes > 20:
        terminal.line(f"  and {counts.n_classes - 20} more classes")
    terminal.paragraph(
        f"Saved to {arguments.save!r}. Try next: bayesieve path "
        f"{plain_text(shlex.quote(arguments.save))}"
    )


COUNTS = Command(
    name="counts",
    summary="count data by class into a file; merge such files",
    description="Count the features of your data by class and save the counts, which "
    "select and path take in place of data. Counts of several files, days or machines "
    "add up: 'bayesieve counts merge A B --save C'.",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "bayesieve counts monday.csv --text body --label stars --save monday.counts",
        "bayesieve counts merge monday.counts tuesday.counts --save week.counts",
        "bayesieve select week.counts -k 50",
    ),
)
