"""``bayesieve predict``: labels for new rows from a saved model, batch by batch."""

from __future__ import annotations

import argparse
from typing import Any

from bayesieve.cli._command import Command
from bayesieve.cli._files import check_model_file, expanded
from bayesieve.cli._findings import findings_line, write_findings
from bayesieve.cli._options import (
    add_data_arguments,
    add_sequence_arguments,
    at_least_one,
)
from bayesieve.cli._output import check_outputs
from bayesieve.cli._prediction_sinks import (
    FORMULAS,
    Formulas,
    nameable,
    opened_sink,
    output_format,
)
from bayesieve.cli._scored_rows import SavedModel, ScoredRows, read_batches
from bayesieve.cli._told import listed, tell

__all__ = ["PREDICT"]

_EXPLAINED = 3  # terms of each row, unless said
_ROWS_AT_ONCE = 5_000  # explained, which takes memory for each term and class


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model that select has saved")
    add_data_arguments(parser, labelled=False)
    add_sequence_arguments(parser, labelled=False)
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="COLS",
        help="columns of the data to write before the predictions, such as id,date or "
        "'addr*'; may be repeated",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="where predictions go: .csv, .tsv, .jsonl or .parquet "
        "(default: CSV on standard output)",
    )
    parser.add_argument(
        "--findings",
        metavar="FILE",
        help="write what is unlike the training data, column by column, as JSON",
    )
    parser.add_argument(
        "--proba",
        action="store_true",
        help="write the probability of every class, not of the predicted one only",
    )
    parser.add_argument(
        "--explain",
        nargs="?",
        type=at_least_one,
        const=_EXPLAINED,
        metavar="N",
        help="write what speaks most for and against each prediction in a column "
        f"'explanation': the N strongest terms, in nats (default: {_EXPLAINED})",
    )
    parser.add_argument(
        "--json", action="store_true", help="write JSON lines instead of CSV"
    )
    parser.add_argument(
        "--escape-formulas",
        action="store_true",
        help="write an apostrophe before labels, file names, kept values and "
        "explanations in CSV and TSV that a spreadsheet would run as formulas; without "
        "it they are written as they are",
    )


def _run(arguments: argparse.Namespace) -> None:
    form = output_format(arguments.out, arguments.json)
    check_outputs(
        {"--out": arguments.out, "--findings": arguments.findings},
        [arguments.model, *expanded(arguments.data)],
    )
    check_model_file(arguments.model)
    from bayesieve.cli._progress import Progress
    from bayesieve.inspection._input_shift import InputWatch
    from bayesieve.io._bad_rows import BadRows

    saved = SavedModel.read(arguments.model)
    files = saved.files(arguments)
    model, bad_rows = saved.model, BadRows(files.skip_bad_rows)
    scored = ScoredRows.of(saved, files, arguments, arguments.keep)
    if files.notes:
        tell(" ".join(files.notes))
    names_files = len(files.paths) > 1 or scored.rows_are_files
    classes = model.classes_.tolist()
    first = ["file"] * names_files + ["row"] * (not scored.rows_are_files)
    header = _header(classes, arguments, first, scored.keep)
    tally, watch, done = _Tally(model.classes_), InputWatch(model), 0
    paths = {path: nameable(path, form) for path in files.paths}
    formulas = Formulas(arguments.escape_formulas)
    if form in FORMULAS:
        written = paths.values() if names_files else ()
        formulas.checked([*map(str, classes), *written])
    with (
        opened_sink(arguments.out, form, header, formulas) as sink,
        Progress("Predicting") as bar,
    ):
        for [batch] in read_batches([scored], bad_rows):
            chances = watch.read(batch.rows)
            tally.add(batch.labels or [], chances)
            columns = _columns(model, chances, arguments.proba)
            n_rows = len(columns[0])
            if arguments.explain is not None:
                columns.append(_explanations(model, batch.rows, arguments.explain))
            place: list[Any] = []
            if names_files:
                place.append([paths.get(batch.path, batch.path)] * n_rows)
            if not scored.rows_are_files:
                place.append(list(range(batch.before + 1, batch.before + 1 + n_rows)))
            sink.add([*place, *batch.kept, *columns])
            done += n_rows
            bar.update(done, "rows")
        sink.end()
    formulas.warn()
    bad_rows.warn("" if scored.rows_are_files else "; rows are numbered without them")
    shift = watch.result()
    if arguments.findings is not None:
        write_findings(arguments.findings, scored, shift, tally.fields())
    if scored.strays:
        told = [
            f"{name!r} ({number:,}, such as {example!r})"
            for name, (number, example) in scored.strays.items()
        ]
        tell(
            "warning: values that are not what they were in training are taken as "
            f"missing: {listed(told, quote=False)}"
        )
    found = findings_line(scored, shift)
    wrote = f"wrote {done:,} rows to {arguments.out!r}" if arguments.out else None
    for line in (tally.told() if tally.known else None, found, wrote):
        if line is not None:
            tell(line)


def _header(
    classes: list[Any], arguments: argparse.Namespace, first: list[str], keep: list[str]
) -> list[str]:
    """Names of the columns to write; a kept one with a name of ours gets another."""
    last = ["prediction", "probability"]
    if arguments.proba:
        last = ["prediction", *(f"probability {label}" for label in classes)]
    if arguments.explain is not None:
        last.append("explanation")
    taken = {*first, *last, *keep}
    kept = []
    for name in keep:
        own = name
        if name in (*first, *last):
            while own in taken:
                own = f"data {own}"
            taken.add(own)
            tell(f"the kept column {name!r} is written as {own!r}")
        kept.append(own)
    return [*first, *kept, *last]


def _columns(model: Any, chances: Any, proba: bool) -> list[Any]:
    """Return the columns to write, predictions first."""
    import numpy as np

    best = np.argmax(chances, axis=1)
    columns: list[Any] = [model.classes_[best].tolist()]
    if proba:
        return [*columns, *chances.T.tolist()]
    return [*columns, chances[np.arange(len(best)), best].tolist()]


def _explanations(model: Any, rows: Any, n: int) -> list[str]:
    """The strongest terms of each row, for the class that is predicted."""
    n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    found: list[str] = []
    for first in range(0, n_rows, _ROWS_AT_ONCE):
        found += model.explain(rows[first : first + _ROWS_AT_ONCE]).summary(n)
    return found


class _Tally:
    """How many labels were met, and which ones the model cannot say."""

    def __init__(self, classes: Any) -> None:
        self._classes = classes
        self._foreign: dict[str, int] = {}
        self.right = self.known = 0

    def add(self, labels: list[Any], chances: Any) -> None:
        """Compare the labels of a batch; one without a label is not counted."""
        if not labels:
            return
        from bayesieve.inspection._compare_models import FOREIGN, NO_LABEL, class_codes

        codes = class_codes(labels, self._classes)
        self.known += int((codes != NO_LABEL).sum())
        self.right += int((codes == chances.argmax(axis=1)).sum())
        for row in (codes == FOREIGN).nonzero()[0].tolist():
            label = str(labels[row])
            self._foreign[label] = self._foreign.get(label, 0) + 1

    def fields(self) -> dict[str, Any]:
        """The same as numbers: labelled rows, and the share that is right."""
        accuracy = self.right / self.known if self.known else None
        return {"labelled_rows": self.known, "accuracy": accuracy}

    def told(self) -> str:
        """Say how many are right, or why that cannot be said."""
        foreign = sum(self._foreign.values())
        labels = f"({_some(sorted(self._foreign))})"
        known = [str(label) for label in self._classes.tolist()]
        classes = f"not classes of the model ({_some(known)})"
        if foreign == self.known:
            return f"the labels {labels} are {classes}"
        told = (
            f"{100 * self.right / self.known:.1f} % of {self.known:,} labelled rows "
            "are predicted right"
        )
        if foreign:
            told += f"; {foreign:,} of them have labels {labels} that are {classes}"
        return told


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join([*names[:most], *(["..."] if len(names) > most else [])])


PREDICT = Command(
    name="predict",
    summary="label new rows with a saved model",
    description="Label the rows of your data with a model that select has saved. Works "
    "in batches, so files may be larger than memory. Where the data has labels, the "
    "share that is predicted right is told on standard error, and so is what is unlike "
    "the training data.",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "bayesieve predict reviews.model new.csv",
        "bayesieve predict reviews.model 'new/*.jsonl' --out labels.parquet --proba",
        "bayesieve predict reviews.model new.csv --keep id,date --findings new.json",
        "bayesieve predict reviews.model new.csv --explain --out why.csv",
        "bayesieve predict reviews.model new.csv | head",
        "bayesieve predict genomes.model 'new/*.fasta' --labels genomes.csv",
    ),
)
