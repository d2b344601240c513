"""``bayesieve demo``: twenty words that tell spam from ham, and the proof."""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any

from bayesieve.cli._command import Command, CommandError
from bayesieve.cli._output import check_writable, report_data, report_page
from bayesieve.cli._show import (
    certificate_sentence,
    finite,
    show_evaluation,
    show_features,
    show_next,
)
from bayesieve.cli._terminal import Terminal

__all__ = ["DEMO"]

_SEED = 0
_TEST_SHARE = 0.25
_STEPS = [
    ("bayesieve demo -k 10", "fewer words"),
    ("bayesieve select DATA", "the same for your own file"),
    ("bayesieve --help", "all commands"),
]


@dataclass(frozen=True)
class _Word:
    """One selected word: its uses in the training messages and its weight (nats)."""

    word: str
    ham: int
    spam: int
    weight: float


@dataclass(frozen=True)
class _Score:
    """How well a classifier did on the held-out messages."""

    accuracy: float
    balanced_accuracy: float


@dataclass(frozen=True)
class _Outcome:
    """Everything the demo found out, before any printing."""

    k: int
    messages: int
    train_messages: int
    test_messages: int
    vocabulary: int
    words: list[_Word]
    certificate: dict[str, Any]
    sparse: _Score
    weighted: _Score
    all_words: _Score
    majority: _Score
    verdict: dict[str, Any]
    evaluation: dict[str, Any]
    select_seconds: float
    total_seconds: float
    report: str | None = None


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-k",
        type=_number_of_words,
        default=20,
        metavar="N",
        help="how many words to select (default: 20)",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--report",
        default="report.html",
        metavar="FILE",
        help="where the HTML report goes (default: report.html)",
    )
    where.add_argument(
        "--no-report", action="store_true", help="write no report, only print"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of a table"
    )


def _number_of_words(text: str) -> int:
    """Read ``-k``; one word alone has no gain under the multinomial model."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 2:
        raise argparse.ArgumentTypeError(
            f"the number of words must be an int >= 2. Got {text!r}. "
            "Hint: two word distributions cannot differ in one word alone"
        )
    return value


def _run(arguments: argparse.Namespace) -> None:
    report = None if arguments.no_report else arguments.report
    check_writable(report, "--report")
    outcome = _compute(arguments.k, report, arguments.command_line)
    if arguments.json:
        found = finite(asdict(outcome)) | {"dataset": "sms_spam"}
        print(json.dumps(found, indent=2, allow_nan=False))
    else:
        _show(outcome, Terminal())


def _compute(k: int, report: str | None, command_line: list[str]) -> _Outcome:
    """Load, split, select, compare with all words, and write the report."""
    start = time.perf_counter()
    import numpy as np
    from sklearn.model_selection import train_test_split

    from bayesieve._description import describe
    from bayesieve.cli._features import certificate_fields, selected_features
    from bayesieve.cli._fit_outcome import Clock, Fitted
    from bayesieve.cli._judgement import judge
    from bayesieve.counts import ClassCounts
    from bayesieve.datasets import load_sms_spam
    from bayesieve.exceptions import GapWarning
    from bayesieve.naive_bayes import SparseTextNB

    messages, labels = load_sms_spam(return_X_y=True)
    train, test, y_train, y_test = train_test_split(
        messages, labels, test_size=_TEST_SHARE, stratify=labels, random_state=_SEED
    )
    clock = Clock()
    with clock.measure("counting"):
        counts = ClassCounts.from_text([(train, y_train)])
    if k > counts.n_features:
        raise CommandError(
            f"the number of words must be at most {counts.n_features:,}, the size of "
            f"the training vocabulary. Got {k:,}."
        )
    with warnings.catch_warnings(), clock.measure("selection"):
        # A gap is told in the sentence about the certificate.
        warnings.simplefilter("ignore", GapWarning)
        sparse = SparseTextNB(k).fit_counts(counts)
    with clock.measure("comparison"):
        rivals = {
            "all": SparseTextNB("all").fit_counts(counts),
            "weighted": SparseTextNB("1se", weights=True).fit(train, y_train),
        }
    codes = np.searchsorted(sparse.classes_, y_test)
    fitted = Fitted(
        sparse,
        "words",
        counts.n_features,
        len(train),
        counts=counts,
        rivals=rivals,
        held_out=lambda: iter([(test, codes)]),
    )
    arguments = argparse.Namespace(error_cost=[], quick=True)
    described = describe(sparse)
    with clock.measure("evaluation"):
        judgement = judge(fitted, described, sparse.classes_, arguments)
    found = judgement.evaluation
    assert found is not None

    def score(predicted: Any) -> _Score:
        right = predicted == codes
        recall = [right[codes == c].mean() for c in range(2)]
        return _Score(float(right.mean()), float(np.mean(recall)))

    scores = {
        "sparse": score(found.scores.predicted),
        "weighted": score(judgement.rivals["weighted"].predicted),
        "all_words": score(judgement.rivals["all"].predicted),
        "majority": score(np.full(len(test), found.majority)),
    }
    if report is not None:
        data = report_data(
            fitted,
            data_name="SMS Spam Collection",
            judgement=judgement,
            steps=_STEPS,
            seconds=clock.seconds,
            command_line=command_line,
        )
        report_page(report, data)
    words = [
        _Word(row.name, int(ham), int(spam), row.weight)
        for row in selected_features(described, counts)
        for ham, spam in [row.by_class or (0, 0)]
    ]
    return _Outcome(
        k=k,
        messages=len(messages),
        train_messages=len(train),
        test_messages=len(test),
        vocabulary=counts.n_features,
        words=words,
        certificate=certificate_fields(sparse.certificate_),
        **scores,
        verdict=judgement.verdict.as_dict(_STEPS),
        evaluation=judgement.as_dict() or {},
        select_seconds=clock.seconds["selection"],
        total_seconds=time.perf_counter() - start,
        report=report,
    )


def _show(outcome: _Outcome, terminal: Terminal) -> None:
    """Print the outcome for people."""
    from bayesieve.cli._features import Feature

    terminal.paragraph(
        f"Which {outcome.k} words tell spam from ham? "
        f"{outcome.train_messages:,} text messages, {outcome.vocabulary:,} words."
    )
    terminal.line()
    for place, line in enumerate(outcome.verdict["lines"]):
        terminal.paragraph(line, None if place else "bold")
    terminal.line()
    features = [
        Feature(word.word, word.weight, 0.0, by_class=[word.ham, word.spam])
        for word in outcome.words
    ]
    show_features(features, ["ham", "spam"], "words", terminal)
    terminal.line()
    certificate = outcome.certificate
    terminal.paragraph(certificate_sentence(certificate, outcome.k, "words"))
    gain = certificate["objective"] - certificate["null_objective"]
    terminal.paragraph(
        f"Log-likelihood gained: {gain:,.1f} nats. Search nodes: "
        f"{certificate['nodes']:,}. Selected in {outcome.select_seconds:.2g} s."
    )
    terminal.line()
    show_evaluation(outcome.evaluation, "words", terminal)
    terminal.line()
    if outcome.report is not None:
        terminal.paragraph(
            f"The whole picture is in {outcome.report!r}: open it in a browser."
        )
    terminal.line(f"Whole demo: {outcome.total_seconds:.1f} s. Try next:")
    show_next(_STEPS, terminal)


DEMO = Command(
    name="demo",
    summary="select the words that tell spam from ham in 5,574 text messages",
    description="Select the N words that best tell spam from ham in the built-in SMS "
    "Spam Collection, prove that no other N words do better, compare with all words on "
    "held-out messages, and write a report.",
    add_arguments=_add_arguments,
    run=_run,
    examples=("bayesieve demo", "bayesieve demo -k 10 --no-report"),
)
