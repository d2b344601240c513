"""``bayesieve report``: the page of a saved model, again."""

from __future__ import annotations

import argparse
import os

from bayesieve.cli._command import Command
from bayesieve.cli._files import check_model_file
from bayesieve.cli._output import check_outputs, report_page

__all__ = ["REPORT"]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model that select has saved")
    parser.add_argument(
        "--out",
        default="report.html",
        metavar="FILE",
        help="where the page goes (default: report.html)",
    )


def _run(arguments: argparse.Namespace) -> None:
    check_outputs({"--out": arguments.out}, [arguments.model])
    check_model_file(arguments.model)
    from bayesieve.inspection import ReportData, collect_report
    from bayesieve.persistence import load_model, load_notes

    notes = load_notes(arguments.model)
    if "report" in notes:
        data = ReportData.from_json(notes["report"])
    else:  # saved from Python: what the model itself knows
        name = os.path.basename(arguments.model)
        data = collect_report(load_model(arguments.model), data_name=name)
    report_page(arguments.out, data)
    print(f"Wrote the report to {arguments.out!r}.")


REPORT = Command(
    name="report",
    summary="write the HTML report of a saved model",
    description="Write the report of a saved model as one HTML file that needs no "
    "network. The data is not needed again.",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "bayesieve report reviews.model",
        "bayesieve report reviews.model --out reviews.html",
    ),
)
