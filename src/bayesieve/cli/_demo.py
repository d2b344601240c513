"""``bayesieve demo``: twenty words that tell spam from ham, and the proof."""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any

from bayesieve.cli._command import Command, CommandError
from bayesieve.cli._terminal import Terminal

__all__ = ["DEMO"]

_SEED = 0
_TEST_SHARE = 0.25
_LONGEST_TABLE = 40  # words shown; with a larger k, those of largest weight
_WORD, _COUNT, _WEIGHT, _HALF_BAR = 16, 7, 8, 18  # widths: 2+16+7+7+8+2+37 = 79


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
    all_words: _Score
    majority: _Score
    select_seconds: float
    total_seconds: float


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-k",
        type=_number_of_words,
        default=20,
        metavar="N",
        help="how many words to select (default: 20)",
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
    outcome = _compute(arguments.k)
    if arguments.json:
        print(json.dumps(_as_json(outcome), indent=2, allow_nan=False))
    else:
        _show(outcome, Terminal())


def _compute(k: int) -> _Outcome:
    """Load, split, select, and compare with all words."""
    start = time.perf_counter()
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics import accuracy_score, balanced_accuracy_score
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import MultinomialNB

    from bayesieve.datasets import load_sms_spam
    from bayesieve.exceptions import GapWarning
    from bayesieve.naive_bayes import SparseMultinomialNB

    messages, labels = load_sms_spam(return_X_y=True)
    train, test, y_train, y_test = train_test_split(
        messages, labels, test_size=_TEST_SHARE, stratify=labels, random_state=_SEED
    )
    vectorizer = CountVectorizer()
    X_train, X_test = vectorizer.fit_transform(train), vectorizer.transform(test)
    names = vectorizer.get_feature_names_out()
    if k > len(names):
        raise CommandError(
            f"the number of words must be at most {len(names):,}, the size of the "
            f"training vocabulary. Got {k:,}."
        )

    select_start = time.perf_counter()
    with warnings.catch_warnings():
        # A gap is told in the sentence about the certificate.
        warnings.simplefilter("ignore", GapWarning)
        sparse = SparseMultinomialNB(k=k).fit(X_train, y_train)
    select_seconds = time.perf_counter() - select_start
    full = MultinomialNB().fit(X_train, y_train)

    def score(predicted: Any) -> _Score:
        return _Score(
            float(accuracy_score(y_test, predicted)),
            float(balanced_accuracy_score(y_test, predicted)),
        )

    support = sparse.support_indices_
    ham, spam = sparse.feature_log_prob_
    uses = X_train[:, support]
    words = [
        _Word(str(name), int(in_ham), int(in_spam), float(weight))
        for name, in_ham, in_spam, weight in zip(
            names[support],
            np.asarray(uses[y_train == "ham"].sum(axis=0)).ravel(),
            np.asarray(uses[y_train == "spam"].sum(axis=0)).ravel(),
            spam - ham,
            strict=True,
        )
    ]
    return _Outcome(
        k=k,
        messages=len(messages),
        train_messages=len(train),
        test_messages=len(test),
        vocabulary=len(names),
        words=sorted(words, key=lambda word: (-word.weight, word.word)),
        certificate=_certificate_fields(sparse.certificate_),
        sparse=score(sparse.predict(X_test)),
        all_words=score(full.predict(X_test)),
        majority=score(np.full(len(test), "ham")),
        select_seconds=select_seconds,
        total_seconds=time.perf_counter() - start,
    )


def _certificate_fields(certificate: Any) -> dict[str, Any]:
    """Return the parts of a certificate that the demo reports, as plain numbers."""
    numbers = ("objective", "null_objective", "upper_bound", "gap", "relative_gap")
    fields: dict[str, Any] = {
        name: float(getattr(certificate, name)) for name in numbers
    }
    fields["is_optimal"] = bool(certificate.is_optimal)
    fields["nodes"] = int(certificate.nodes)
    return fields


def _as_json(outcome: _Outcome) -> dict[str, Any]:
    """Return the outcome for machines; a number JSON cannot hold becomes null."""
    certificate = {
        name: value if math.isfinite(value) else None
        for name, value in outcome.certificate.items()
    }
    return asdict(outcome) | {"certificate": certificate, "dataset": "sms_spam"}


def _show(outcome: _Outcome, terminal: Terminal) -> None:
    """Print the outcome for people, within 80 columns."""
    say = terminal.line
    say(
        f"Which {outcome.k} words tell spam from ham? "
        f"{outcome.train_messages:,} text messages, {outcome.vocabulary:,} words."
    )
    say()
    _show_words(outcome.words, terminal)
    say()
    say(terminal.style(_certificate_sentence(outcome), "bold"))
    certificate = outcome.certificate
    gain = certificate["objective"] - certificate["null_objective"]
    nodes = certificate["nodes"]
    say(
        f"Log-likelihood gained: {gain:,.1f} nats. "
        f"Search nodes: {nodes:,}. Selected in {outcome.select_seconds:.2g} s."
    )
    say()
    say(f"{f'On {outcome.test_messages:,} held-out messages':48}accuracy  balanced")
    for label, score in (
        (f"these {outcome.k} words (SparseMultinomialNB)", outcome.sparse),
        (f"all {outcome.vocabulary:,} words (MultinomialNB)", outcome.all_words),
        ("no words: always answer ham", outcome.majority),
    ):
        say(
            f"  {label:46}{100 * score.accuracy:6.1f} %"
            f"{100 * score.balanced_accuracy:8.1f} %"
        )
    say()
    say(f"Whole demo: {outcome.total_seconds:.1f} s. Try next:")
    for command, meaning in (
        (f"bayesieve demo -k {max(2, outcome.k // 2)}", "fewer words"),
        (f"bayesieve demo -k {min(10 * outcome.k, 2000)}", "more words"),
        ("bayesieve demo --json", "the same for machines"),
    ):
        say(f"  {command:26}{terminal.style(meaning, 'dim')}")


def _show_words(words: list[_Word], terminal: Terminal) -> None:
    """Print one line per word, spam words first."""
    shown = words
    if len(words) > _LONGEST_TABLE:
        strongest = sorted(words, key=lambda word: -abs(word.weight))[:_LONGEST_TABLE]
        shown = sorted(strongest, key=lambda word: -word.weight)
    header = (
        f"  {'word':{_WORD}}{'in ham':>{_COUNT}}{'in spam':>{_COUNT + 1}}"
        f"{'weight':>{_WEIGHT - 1}}  {'ham':>{_HALF_BAR}} spam"
    )
    terminal.line(terminal.style(header, "dim"))
    largest = max((abs(word.weight) for word in words), default=0.0) or 1.0
    for word in shown:
        terminal.line(
            f"  {terminal.fit(word.word, _WORD)}{word.ham:>{_COUNT}}"
            f"{word.spam:>{_COUNT + 1}}{word.weight:>+{_WEIGHT - 1}.2f}  "
            f"{terminal.bar(word.weight / largest, _HALF_BAR).rstrip()}"
        )
    if len(shown) < len(words):
        terminal.line(f"  and {len(words) - len(shown):,} more of smaller weight")


def _certificate_sentence(outcome: _Outcome) -> str:
    """Say in one sentence what the certificate proves."""
    if outcome.certificate["is_optimal"]:
        return f"Proven: no other {outcome.k} words explain the labels better."
    short = 100 * outcome.certificate["relative_gap"]
    return (
        f"Proven: these {outcome.k} words are at most {short:.2g} % "
        "short of the best possible."
    )


DEMO = Command(
    name="demo",
    summary="select the words that tell spam from ham in 5,574 text messages",
    description="Select the N words that best tell spam from ham in the built-in SMS "
    "Spam Collection, prove that no other N words do better, and compare with all "
    "words on held-out messages.",
    add_arguments=_add_arguments,
    run=_run,
)
