"""``bayesieve select``: which features matter, how sure that is, and a model."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import warnings
from dataclasses import asdict
from typing import Any

from bayesieve.cli._columns import Columns
from bayesieve.cli._command import EXIT_INTERRUPTED, Command
from bayesieve.cli._files import expanded
from bayesieve.cli._interrupts import InterruptWatch
from bayesieve.cli._next_steps import next_steps
from bayesieve.cli._options import (
    above_zero,
    add_data_arguments,
    add_model_arguments,
    add_sequence_arguments,
    add_text_arguments,
    seed,
    share_or_none,
    wanted_size,
)
from bayesieve.cli._output import (
    check_outputs,
    report_data,
    report_page,
    saved_notes,
)
from bayesieve.cli._rules import add_rule_arguments
from bayesieve.cli._show import (
    certificate_sentence,
    finite,
    show_evaluation,
    show_features,
    show_next,
    size_in_bytes,
)
from bayesieve.cli._sources import open_data
from bayesieve.cli._terminal import Terminal, plain_text
from bayesieve.cli._told import complain, listed, tell, told_so_far

__all__ = ["SELECT"]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_data_arguments(parser, labelled=True)
    parser.add_argument(
        "-k",
        type=wanted_size,
        metavar="N",
        help="prove the best N features: a number, a share such as 0.01, all, elbow, "
        "bic, cv (best by cross-validation) or 1se (fewest within one standard error "
        "of it); default: features with weights, as many as help to predict",
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="the proven selection in place of weights, of 20 features without -k",
    )
    add_text_arguments(parser)
    add_sequence_arguments(parser)
    add_model_arguments(parser)
    add_rule_arguments(parser)
    parser.add_argument(
        "--weights",
        action="store_true",
        help="give each of the features of -k a weight in [0, 1], so that features "
        "that say the same count once; the default without -k",
    )
    parser.add_argument(
        "--test-share",
        type=share_or_none,
        default=0.25,
        metavar="S",
        help="share of the rows held out to measure accuracy, 0 for none "
        "(default: 0.25)",
    )
    parser.add_argument(
        "--seed",
        type=seed,
        default=0,
        metavar="N",
        help="which rows are held out (default: 0)",
    )
    parser.add_argument(
        "--l1",
        action="store_true",
        help="compare with logistic regression with an l1 penalty, too; slow",
    )
    parser.add_argument(
        "--error-cost",
        action="append",
        default=[],
        type=_error_cost,
        metavar="CLASS=COST",
        help="what missing a row of CLASS costs (default: 1); may be repeated",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="no fits but those of the model and of all features: less is known of it",
    )
    parser.add_argument("--save", metavar="FILE", help="write the model to FILE")
    parser.add_argument("--report", metavar="FILE", help="write an HTML report to FILE")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of a table"
    )


def _error_cost(text: str) -> tuple[str, float]:
    label, found, cost = text.rpartition("=")
    if not found or not label:
        raise argparse.ArgumentTypeError(f"must be CLASS=COST. Got {text!r}.")
    return label, above_zero(cost)


def _run(arguments: argparse.Namespace) -> int | None:
    outputs = {"--save": arguments.save, "--report": arguments.report}
    labels = [] if arguments.labels is None else [arguments.labels]
    check_outputs(outputs, expanded([*arguments.data, *labels]))
    from bayesieve._description import describe
    from bayesieve.cli._features import certificate_fields, selected_features
    from bayesieve.cli._fit_outcome import Clock
    from bayesieve.cli._judgement import Judgement, judge
    from bayesieve.exceptions import GapWarning

    clock = Clock()
    with clock.measure("reading"):
        data, columns = open_data(arguments, mixes=True)
    with warnings.catch_warnings(), InterruptWatch() as watch:
        # A gap is told in the sentence about the certificate.
        warnings.simplefilter("ignore", GapWarning)
        fitted = data.fit(clock, saves=arguments.save is not None)
    # Models of texts do not tell themselves that their search was ended.
    cut_short = watch.interrupted
    judgement, interrupted = Judgement(), fitted.interrupted or cut_short
    model = fitted.model
    described = describe(model)
    try:
        with clock.measure("evaluation"):
            judgement = judge(fitted, described, data.labels.classes, arguments)
    except KeyboardInterrupt:
        if arguments.save is None:
            raise
        interrupted = True
    evaluation = judgement.as_dict()
    steps = next_steps(judgement.verdict, data, arguments)
    features = selected_features(described, fitted.counts)
    strings = data.left_out_strings() if hasattr(data, "left_out_strings") else []
    reasons = f"the {fitted.unit}" if data.files.is_sequences else "other columns"
    _doubt_reading(columns, strings, len(features), judgement.verdict.codes, reasons)
    outcome: dict[str, Any] = {
        "verdict": judgement.verdict.as_dict(steps),
        "data": data.files.name,
        "model": type(model).__name__,
        "unit": fitted.unit,
        "classes": model.classes_.tolist(),
        "k": described.n_used,
        "n_features": fitted.n_features,
        "n_copies": _n_copies(fitted.counts),
        "n_pairs": described.n_pairs,
        "train_rows": fitted.train_rows,
        "guessed": columns.guessed,
        "ignored": getattr(data, "ignored", {}),
        "features": [asdict(feature) for feature in features],
        "certificate": None
        if described.certificate is None
        else certificate_fields(described.certificate),
        "dual_gap": described.dual_gap,
        "proof": described.sentence,
        "proof_detail": described.detail,
        "evaluation": evaluation,
        "cross_validation": None if fitted.cv is None else fitted.cv.rows,
        "seconds": clock.seconds,
        "stopped": described.stopped,
        "saved": arguments.save,
        "report": arguments.report,
        "interrupted": interrupted,
    }
    _write_files(arguments, fitted, data, judgement, steps, clock)
    outcome["warnings"] = told_so_far()
    if arguments.json:
        print(json.dumps(finite(outcome), indent=2, allow_nan=False, default=str))
    else:
        _show(outcome, features, arguments, fitted.cv, Terminal())
    if interrupted:
        told = "was not evaluated"
        if cut_short:
            told = "is cut short: the search of its weights had not ended"
        elif fitted.interrupted:
            told = f"knows the first {fitted.train_rows:,} rows only"
        where = "" if arguments.save is None else f" in {arguments.save!r}"
        complain(f"interrupted; the model{where} {told}")
        return EXIT_INTERRUPTED
    return None


def _n_copies(counts: Any) -> int | None:
    """Features that occur in the same rows as one of those that were looked at."""
    if counts is None or counts.copies is None:
        return None
    return int(counts.copies.n_features - counts.n_features)


def _doubt_reading(
    columns: Columns, texts: list[str], k: int, codes: list[str], reasons: str
) -> None:
    """Where nothing tells the label, say what may have been read wrongly.

    A guessed label may be another column, and strings that were left out because they
    differ in every row, `texts`, may be words.
    """
    if k and "guessing" not in codes:
        return
    if texts:
        named = shlex.quote(f"{texts[0]}=text")
        tell(
            "warning: nothing tells the label, and what was left out as identifiers "
            f"may be words: {listed(texts)}. Hint: --types {named}"
        )
    if "--label" not in columns.guessed:
        return
    others = [f"--label {shlex.quote(own)}" for own in columns.labels[1:5]]
    hint = f" Hint: other columns look like labels too: {', '.join(others)}."
    tell(
        f"warning: {columns.label!r} was guessed to be the label, and {reasons} do "
        f"not tell it better than guessing.{hint if others else ''}"
    )


def _write_files(
    arguments: argparse.Namespace,
    fitted: Any,
    source: Any,
    judgement: Any,
    steps: list[tuple[str, str]],
    clock: Any,
) -> None:
    """Write the model and the report, as asked for."""
    if arguments.save is None and arguments.report is None:
        return
    from bayesieve.persistence import save_model

    with warnings.catch_warnings(), clock.measure("report"):
        warnings.simplefilter("ignore")  # gaps of the path are in the report
        data = report_data(
            fitted,
            data_name=source.files.name,
            judgement=judgement,
            steps=steps,
            seconds=clock.seconds,
            command_line=arguments.command_line,
            inspected=_inspected(source),
        )
    if arguments.save is not None:
        settings = fitted.settings | {"unit": fitted.unit}
        notes = saved_notes(settings, data)
        save_model(fitted.model, arguments.save, notes=notes)
    if arguments.report is not None:
        report_page(arguments.report, data)


def _inspected(source: Any) -> Any:
    """How the data was read: columns of a table, and all that was told."""
    from bayesieve.io import Inspection

    columns = source.facts() if hasattr(source, "facts") else []
    n_rows = int(source.labels.rows.sum())
    return Inspection(source.files.name, n_rows, columns, told_so_far())


def _show(
    outcome: dict[str, Any],
    features: list[Any],
    arguments: argparse.Namespace,
    cv: Any,
    terminal: Terminal,
) -> None:
    """Print the outcome for people: the answer first, the proof behind it."""
    classes = outcome["classes"]
    shown = [plain_text(str(label)) for label in classes]
    told = " from ".join(shown) if len(shown) == 2 else f"{len(shown)} classes apart"
    unit, copies = outcome["unit"], ""
    if outcome["n_copies"]:
        copies = f" and {outcome['n_copies']:,} copies in the same rows"
    terminal.paragraph(
        f"Which {unit} tell {told}? {plain_text(outcome['data'])}: "
        f"{outcome['train_rows']:,} training rows, {outcome['n_features']:,} {unit}"
        f"{copies}."
    )
    terminal.line()
    for place, line in enumerate(outcome["verdict"]["lines"]):
        terminal.paragraph(plain_text(line), None if place else "bold")
    terminal.line()
    if outcome["evaluation"] is not None:
        show_evaluation(outcome["evaluation"], unit, terminal)
        terminal.line()
    show_features(features, classes, unit, terminal)
    if features:
        terminal.line()
    _show_proof(outcome, arguments, terminal)
    if cv is not None:
        _show_choice(cv, arguments, terminal)
    _show_files(outcome, arguments, terminal)


def _show_proof(
    outcome: dict[str, Any], arguments: argparse.Namespace, terminal: Terminal
) -> None:
    certificate, k, unit = outcome["certificate"], outcome["k"], outcome["unit"]
    if outcome["dual_gap"] is not None:
        terminal.paragraph(outcome["proof"])
        terminal.paragraph(outcome["proof_detail"])
    elif certificate is not None:
        terminal.paragraph(certificate_sentence(certificate, k, unit))
        gain = certificate["objective"] - certificate["null_objective"]
        spent = outcome["seconds"]
        seconds = spent["selection"] + spent.get("cross-validation", 0.0)
        terminal.paragraph(
            f"Log-likelihood gained: {gain:,.1f} nats. "
            f"Search nodes: {certificate['nodes']:,}. Selected in {seconds:.2g} s."
        )
    else:
        terminal.paragraph(_weighted(outcome, arguments.k))
        if outcome["stopped"] == "time":
            terminal.paragraph("The search of the weights stopped at --time-limit.")


def _weighted(outcome: dict[str, Any], wanted: Any) -> str:
    """Say how many columns have a weight, and why no others."""
    k, unit, n_features = outcome["k"], outcome["unit"], outcome["n_features"]
    if not k:
        told = f"None of {n_features:,} {unit} has a weight: "
        return told + "each would cost more than it tells."
    n_pairs, has = outcome["n_pairs"], "has" if k == 1 else "have"
    in_pairs = ""
    if n_pairs:
        in_pairs = f", alone or in {n_pairs:,} pair{'' if n_pairs == 1 else 's'}"
    if k == n_features and k > 1:
        return (
            f"All {k:,} {unit} have a weight{in_pairs}: each tells more than it costs."
        )
    told = f"{k:,} of {n_features:,} {unit} {has} a weight{in_pairs}: "
    if isinstance(wanted, float):
        wanted = max(1, round(wanted * n_features))
    if wanted == k:
        return told + "those that say most, as many as -k asks for."
    return told + "any other would cost more than it tells."


def _show_choice(cv: Any, arguments: argparse.Namespace, terminal: Terminal) -> None:
    score = max(row["mean"] for row in cv.rows)
    told = f"Cross-validation: {100 * score:.1f} % right with {cv.best:,}"
    if cv.sparing < cv.best:
        told += f"; {cv.sparing:,} are within one standard error of that"
        told += " (-k 1se)" if arguments.k == "cv" else ""
    terminal.paragraph(told + ".")


def _show_files(
    outcome: dict[str, Any], arguments: argparse.Namespace, terminal: Terminal
) -> None:
    """Say what was written, and what can be done next."""
    written = []
    if arguments.save is not None:
        size = os.path.getsize(arguments.save)
        written.append(f"model in {arguments.save!r} ({size_in_bytes(size)})")
    if arguments.report is not None:
        written.append(f"report in {arguments.report!r}")
    if written:
        terminal.line()
        terminal.paragraph(f"Wrote the {' and the '.join(written)}.")
    terminal.line()
    terminal.line("Try next:")
    steps = [(own["command"], own["meaning"]) for own in outcome["verdict"]["next"]]
    show_next([(plain_text(own), told) for own, told in steps], terminal)


SELECT = Command(
    name="select",
    summary="find the features of your data that matter, and say how good they are",
    description="Find the features that tell the labels of your data, and say how good "
    "they are on held-out rows. Texts, tables of numbers and categories, sparse "
    "matrices and sequences. Without -k the model that predicts best, with a weight "
    "for each of as many features as help; with -k N or --exact the N features that "
    "explain the labels best, with a proof; each is compared with the other. Columns "
    "that are not named are guessed, and the guesses are told. FASTA and FASTQ are cut "
    "into k-mers, each file or record a row, with labels in a table of their own.",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "bayesieve select reviews.csv --report reviews.html",
        "bayesieve select reviews.csv -k 20",
        "bayesieve select 'reviews/*.csv.gz' --text body --label stars -k 100",
        "bayesieve select patients.parquet --label outcome --drop id --save my.model",
        "bayesieve select counts.svm --model bernoulli -k bic --json",
        "bayesieve select 'genomes/*.fasta' --labels genomes.csv --save genomes.model",
        "bayesieve select genes.fna --records --labels genes.tsv -k 5",
        "bayesieve select reviews.csv --include plot --exclude film -k 20",
    ),
)
