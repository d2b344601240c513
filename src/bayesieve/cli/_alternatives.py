"""``bayesieve alternatives``: what else would do as well as the selected features."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from bayesieve.cli._command import Command, CommandError
from bayesieve.cli._files import check_model_file
from bayesieve.cli._options import share_within
from bayesieve.cli._show import finite
from bayesieve.cli._terminal import Terminal, plain_text

if TYPE_CHECKING:
    from bayesieve.inspection import ReportData

__all__ = ["ALTERNATIVES"]

_SHOWN = 30


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model that select has saved")
    parser.add_argument(
        "--within",
        type=share_within,
        metavar="S",
        help="share of the gain that others may fall short by (default: 0.01; needs a "
        "model with its counts)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of a table"
    )


def _run(arguments: argparse.Namespace) -> None:
    check_model_file(arguments.model)
    report = _found(arguments)
    section, proof = report.alternatives, report.certificate
    if section is None or proof is None:
        raise CommandError(
            "alternatives takes models of 2 to 1,000 likeliest features, saved by "
            "select or with their counts, without --weights, --budget and "
            f"--max-per-group. {arguments.model!r} holds another {report.model}."
        )
    items = [
        {
            "name": report.names[item["name"]],
            "lost": item["lost"],
            "replaced_by": [report.names[own] for own in item["entered"]],
        }
        for item in section["items"]
    ]
    if arguments.json:
        kept = {key: own for key, own in section.items() if key != "items"}
        outcome = {"k": proof["k"], **kept, "features": items}
        print(json.dumps(finite(outcome), indent=2, allow_nan=False))
        return
    _show(report, items, Terminal())


def _found(arguments: argparse.Namespace) -> ReportData:
    """The report of a model, made anew if its file has the counts."""
    from bayesieve._pipeline import open_model
    from bayesieve.inspection import ReportData, collect_report
    from bayesieve.persistence import load_model, load_notes

    notes = load_notes(arguments.model)
    if "report" in notes and arguments.within is None:
        return ReportData.from_json(notes["report"])
    model = load_model(arguments.model)
    if arguments.within is not None and not hasattr(open_model(model).model, "counts_"):
        raise CommandError(
            f"--within needs the counts, which {arguments.model!r} does not hold. "
            "Hint: without --within it shows what select has found."
        )
    return collect_report(model, data_name=arguments.model, within=arguments.within)


def _show(report: ReportData, items: list[dict[str, Any]], terminal: Terminal) -> None:
    from bayesieve.inspection._report_alternatives import count_told

    section, proof = report.alternatives, report.certificate
    assert section is not None
    assert proof is not None
    terminal.paragraph(count_told(section, proof["k"], report.noun), "bold")
    terminal.line()
    width = min(max(len(item["name"]) for item in items) + 2, 40)
    one = report.noun.removesuffix("s")
    terminal.line(f"  {terminal.fit(one, width)}{'nats lost':>12}  would come in")
    for item in items[:_SHOWN]:
        lost = "" if item["lost"] is None else f"{item['lost']:,.1f}"
        name = terminal.fit(plain_text(item["name"]), width)
        others = plain_text(", ".join(item["replaced_by"]))
        terminal.line(f"  {name}{lost:>12}  {others}".rstrip())
    if len(items) > _SHOWN:
        terminal.line(f"  and {len(items) - _SHOWN:,} more (--json has them)")


ALTERNATIVES = Command(
    name="alternatives",
    summary="what else would do as well as the selected features",
    description="Show what is lost without each selected feature, what would take its "
    "place, and how many other choices are nearly as good.",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "bayesieve alternatives reviews.model",
        "bayesieve alternatives reviews.model --json",
    ),
)
