"""``bayesieve compare``: how two saved models differ, and which one is right more."""

from __future__ import annotations

import argparse
import json
import math
import os
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from bayesieve.cli._command import Command
from bayesieve.cli._files import DataFiles, check_model_file
from bayesieve.cli._options import add_data_arguments, add_sequence_arguments
from bayesieve.cli._scored_rows import SavedModel, ScoredRows, read_batches
from bayesieve.cli._show import finite, size_in_bytes
from bayesieve.cli._terminal import Terminal, display_width, plain_text

if TYPE_CHECKING:
    from bayesieve.inspection import (
        ComparedFeature,
        ModelComparison,
        PredictionComparison,
    )

__all__ = ["COMPARE"]

Row = tuple[str, ...]

_LONGEST_TABLE = 20
_PLACES = {"both": "both", "first": "only A", "second": "only B"}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="A", help="a model that select has saved")
    parser.add_argument("other", metavar="B", help="another one")
    add_data_arguments(parser, labelled=False, required=False)
    add_sequence_arguments(parser, labelled=False)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of a table"
    )


def _run(arguments: argparse.Namespace) -> None:
    paths = arguments.model, arguments.other
    for path in paths:
        check_model_file(path)
    from bayesieve.inspection import compare_models
    from bayesieve.persistence import load_model

    files: DataFiles | None = None
    places: list[str] = []
    if not arguments.data:
        found = compare_models(*map(load_model, paths))
    else:
        saved = [SavedModel.read(path) for path in paths]
        # Files are bytes only where both models take them so.
        files = min(saved, key=lambda own: own.takes_bytes).files(arguments)
        scored = [ScoredRows.of(own, files, arguments) for own in saved]
        predictions, places = _predictions(scored, files)
        found = compare_models(*(own.model for own in saved))
        found = replace(found, predictions=predictions)
    sizes = [os.path.getsize(path) for path in paths]
    if arguments.json:
        outcome = _outcome(found, paths, sizes, places)
        print(json.dumps(finite(outcome), indent=2, allow_nan=False, default=str))
        return
    terminal = Terminal()
    _show_models(found, paths, sizes, terminal)
    _show_settings(found, terminal)
    _show_features(found, terminal)
    if files is not None and found.predictions is not None:
        _show_predictions(found.predictions, files.name, places, terminal)


def _predictions(
    scored: list[ScoredRows], files: DataFiles
) -> tuple[PredictionComparison, list[str]]:
    """Score the same rows with both models; say where the examples are."""
    from bayesieve.cli._progress import Progress
    from bayesieve.inspection._compare_models import PredictionTally
    from bayesieve.io._bad_rows import BadRows

    models = [own.saved.model for own in scored]
    tally = PredictionTally(*(model.classes_ for model in models))
    bad_rows = BadRows(files.skip_bad_rows)
    several, names_rows = len(files.paths) > 1, not scored[0].rows_are_files
    places: list[str] = []
    done = 0
    with Progress("Comparing") as bar:
        for first, second in read_batches(scored, bad_rows):
            labels = first.labels if first.labels is not None else second.labels
            chances = models[0].predict_proba(first.rows)
            tally.add(chances, models[1].predict_proba(second.rows), labels)
            for row, *_ in tally.examples[len(places) :]:
                place = f"{first.before + row - done + 1}"
                if not names_rows:
                    places.append(first.path)
                    continue
                places.append(f"{first.path}:{place}" if several else place)
            done += chances.shape[0]
            bar.update(done, "rows")
    bad_rows.warn("; rows are numbered without them" if names_rows else "")
    return tally.result(), places


# --------------------------------------------------------------------------- for people


def _show_models(
    found: ModelComparison,
    paths: tuple[str, str],
    sizes: list[int],
    terminal: Terminal,
) -> None:
    for letter, path, own, size in zip("AB", paths, found.models, sizes, strict=True):
        terminal.paragraph(
            f"{letter}: {plain_text(path)}, a {own.kind} with {own.n_selected:,} of "
            f"{own.n_features:,} {own.unit}, {size_in_bytes(size)}."
        )
        terminal.paragraph(f"   {own.sentence}")
    ours, theirs = ([str(label) for label in own.classes] for own in found.models)
    if ours == theirs:
        shown = ", ".join(map(plain_text, ours[:12]))
        terminal.paragraph(f"Both know the classes {shown}{_more(ours, 12)}.")
    else:
        lost = [label for label in ours if label not in theirs]
        new = [label for label in theirs if label not in ours]
        told = [
            f"{', '.join(map(plain_text, own[:12]))}{_more(own, 12)} only in {letter}"
            for letter, own in (("A", lost), ("B", new))
            if own
        ]
        terminal.paragraph(f"The classes differ: {'; '.join(told)}.", "bold")


def _more(names: list[str], shown: int) -> str:
    return ", ..." if len(names) > shown else ""


def _show_settings(found: ModelComparison, terminal: Terminal) -> None:
    terminal.line()
    if not found.settings:
        terminal.line("The settings that both have are the same.")
        return
    rows: list[Row] = [("setting", "A", "B")]
    rows += [(name, repr(a), repr(b)) for name, (a, b) in found.settings.items()]
    _table(rows, terminal)


def _show_features(found: ModelComparison, terminal: Terminal) -> None:
    terminal.line()
    counts = [len(found.only(place)) for place in _PLACES]
    units = {own.unit.capitalize() for own in found.models}
    unit = units.pop() if len(units) == 1 else "Features"
    terminal.paragraph(
        f"{unit} in both: {counts[0]:,}; only in A: {counts[1]:,}; only in B: "
        f"{counts[2]:,}.",
        "bold",
    )
    if not found.features:
        return
    scores = [own.score_name.partition(" (")[0] for own in found.models]
    rows: list[Row] = [
        ("", "in", "weight A", "weight B", f"{scores[0]} A", f"{scores[1]} B")
    ]
    rows += [_feature(own) for own in found.features[:_LONGEST_TABLE]]
    _table(rows, terminal, numbers_from=2)
    if len(found.features) > _LONGEST_TABLE:
        more = len(found.features) - _LONGEST_TABLE
        terminal.line(f"  and {more:,} more that say less (--json has all)")
    a, b = ((own.weight_name, own.score_name) for own in found.models)
    if a != b:
        terminal.paragraph(
            f"Weight and {scores[0]} of A: {a[0]}, {a[1]}. Of B: {b[0]}, {b[1]}. They "
            "are not on one scale."
        )


def _feature(own: ComparedFeature) -> Row:
    weights = ["" if weight is None else f"{weight:.3g}" for weight in own.weights]
    scores = ["" if score is None else f"{score:.3g}" for score in own.scores]
    return (own.name, _PLACES[own.place], *weights, *scores)


def _table(rows: list[Row], terminal: Terminal, numbers_from: int = 99) -> None:
    """Print rows under their header; columns of numbers are aligned to the right.

    The first one, of names, gets what the others leave.
    """
    n_columns = len(rows[0])
    most = max(terminal.width // min(n_columns, 3) - 4, 12)
    whole = [
        max(display_width(plain_text(row[c])) for row in rows) for c in range(n_columns)
    ]
    widths = [min(own, most) for own in whole]
    widths[0] = min(
        whole[0], max(most, terminal.width - sum(widths[1:]) - 2 * n_columns)
    )
    for place, row in enumerate(rows):
        cells = [
            terminal.fit(text, width, right=c >= numbers_from)
            for c, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        line = "  " + "  ".join(cells).rstrip()
        terminal.line(terminal.style(line, "dim") if not place else line)


def _show_predictions(
    found: PredictionComparison, name: str, places: list[str], terminal: Terminal
) -> None:
    terminal.line()
    if not found.n_rows:
        terminal.line(f"{plain_text(name)} has no rows.")
        return
    same = 100 * found.n_agree / found.n_rows
    terminal.paragraph(
        f"They agree on {found.n_agree:,} of {found.n_rows:,} rows of "
        f"{plain_text(name)} ({same:.1f} %).",
        "bold",
    )
    rows: list[Row]
    if found.n_labelled:
        rows = [(f"on {found.n_labelled:,} labelled rows", "accuracy", "log loss")]
        for letter, right, loss in zip(
            "AB", found.accuracy, found.log_loss, strict=True
        ):
            shown = f"{loss:.3f}" if math.isfinite(loss) else "-"
            rows.append((letter, f"{100 * right:.1f} %", shown))
        _table(rows, terminal, numbers_from=1)
        terminal.paragraph(_verdict(found))
    if found.examples:
        terminal.line()
        terminal.line("Rows where they differ:")
        label = ("label",) if found.n_labelled else ()
        rows = [("row", "A", "B", *label)]
        for place, (_, a, b, true) in zip(places, found.examples, strict=True):
            rows.append((place, str(a), str(b), *([str(true)] if label else [])))
        _table(rows, terminal)


def _verdict(found: PredictionComparison) -> str:
    """Say whether one model is right more often, and how sure that is."""
    a, b = found.n_only_right
    told = f"A alone is right in {a:,} rows, B alone in {b:,}"
    if a == b:
        return f"{told}: neither is right more often."
    better = "A" if a > b else "B"
    if found.p_value <= 0.05:
        sure = f"{better} is right more often than chance explains"
    else:
        sure = "chance could explain that"
    return f"{told}: {sure} (McNemar's exact test, p = {found.p_value:.2g})."


# ------------------------------------------------------------------------- for machines


def _outcome(
    found: ModelComparison,
    paths: tuple[str, str],
    sizes: list[int],
    places: list[str],
) -> dict[str, Any]:
    """All of it as one JSON object."""
    from bayesieve.cli._features import certificate_fields

    models = []
    for path, own, size in zip(paths, found.models, sizes, strict=True):
        proof = own.certificate
        fields = {name: getattr(own, name) for name in own.__dataclass_fields__}
        fields["certificate"] = None if proof is None else certificate_fields(proof)
        models.append({"path": path, "bytes": size, **fields})
    predictions = None
    if found.predictions is not None:
        accuracy = found.predictions.accuracy
        predictions = asdict(found.predictions) | {"accuracy": accuracy}
        predictions["examples"] = [
            {"row": place, "first": a, "second": b, "label": label}
            for place, (_, a, b, label) in zip(
                places, found.predictions.examples, strict=True
            )
        ]
    return {
        "models": models,
        "settings": {
            name: [_plain(a), _plain(b)] for name, (a, b) in found.settings.items()
        },
        "features": [asdict(own) | {"in": own.place} for own in found.features],
        "predictions": predictions,
    }


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | None) else repr(value)


COMPARE = Command(
    name="compare",
    summary="say how two saved models differ, and which is right more often",
    description="Compare two saved models: settings, classes, features with their "
    "weights and gains side by side, and what is proven of each. With data, compare "
    "what they predict for the same rows; where the data has labels, also how often "
    "they are right.",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "bayesieve compare small.model reviews.model",
        "bayesieve compare small.model reviews.model reviews.csv",
        "bayesieve compare small.model reviews.model new.csv --json",
    ),
)
