"""Which optimizer SelectiveNB should use unless told: all of them on the same folds.

Each candidate is fitted as a user would fit it, preparation included, and they take
turns fold by fold. On the test rows: AUC, log loss and compression; of the fit: kept
variables and seconds; and the gap: how much the criterion with p = 1, lambda = 0.1 of
the weights found is above its minimum, in nats per row. The gap says how well an
optimizer with exponent 1 solves the problem it is given; the others solve another one,
and "auto" gives some of it away on purpose, for fewer variables.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from candidates import candidate, fitted, kept, key_of
from fold_results import (
    SetResult,
    better_and_worse,
    folds_note,
    over_sets,
    read_results,
)
from ledger import markdown, progress, run_script
from probability_scores import all_classes, scored
from study_run import run_study
from uci_generators import read_set
from weighted_nb_folds import Fold, option_parser, parsed, run_set

from bayesieve.weights import Convex

STUDY = "weighted_nb_optimizers"
COLUMNS = ["AUC", "log loss", "compression", "kept", "seconds", "gap"]
AUC, LOSS, RATE, KEPT, SECONDS, GAP = COLUMNS
DEFAULT = "SelectiveNB"
REGULARIZATION = 0.1
WORDS = [
    [],
    ["optimizer=convex"],
    ["optimizer=convex", "exponent=0.95"],
    ["optimizer=convex", "exponent=0.5"],
    ["optimizer=vns"],
    ["optimizer=vns", "batch_size=None"],
    ["optimizer=multistart"],
    ["optimizer=gradient"],
    ["optimizer=gradient", "batch_size=None"],
    ["optimizer=coordinate"],
    ["AveragedNB"],
]
CANDIDATES = {key_of(words): words for words in WORDS}
KEYS = list(CANDIDATES)


def solves_the_reference(key: str) -> bool:
    """Tell whether a candidate minimises the criterion that the gap is about."""
    name, options = candidate(CANDIDATES[key])
    other = options.get("optimizer") == "coordinate" or "exponent" in options
    return name == DEFAULT and not other


class Minimum:
    """The least criterion of the fold at hand, found once for all candidates."""

    def __init__(self) -> None:
        self._fold = -1
        self._value = 0.0

    def gap(self, fold: Fold, weights: np.ndarray) -> float:
        """Return the criterion above its minimum, nats per row."""
        problem = fold.problem(REGULARIZATION)
        if fold.number != self._fold:
            self._fold, self._value = fold.number, Convex().minimise(problem).value
        found = problem.value(weights[fold.informative])
        return (found - self._value) / fold.n_train


def measure(X: Any, minimum: Minimum, fold: Fold, key: str) -> list[float]:
    """Fit one candidate on the rows of a fold; return the row of COLUMNS."""
    y = fold.y
    words = CANDIDATES[key]
    if candidate(words)[0] == DEFAULT:  # the criterion is about these
        words = [*words, "partitions=best"]
    model, seconds = fitted(words, X.iloc[fold.train], y[fold.train])
    proba = model.predict_proba(X.iloc[fold.test])
    proba = all_classes(proba, model.classes_, int(y.max()) + 1)
    scores = scored(y, fold.train, fold.test, proba)
    gap = minimum.gap(fold, model.weights_)
    return [*(scores[name] for name in (AUC, LOSS, RATE)), kept(model), seconds, gap]


# ---------------------------------------------------------------------------- tables

INTRODUCTION = """# Optimizers of SelectiveNB

Written by `weighted_nb_optimizers.py`. Means over folds, then over sets. AUC: one class
against the rest, weighted by frequency. Log loss in nats a row. Better / worse than the
default: sets, paired t-test over the folds, two-sided at 5 %. Seconds of one fit,
preparation included: sum over the sets of the medians over folds, and the largest of
them. Gap: criterion with p = 1, lambda = 0.1 above its minimum, nats per row (largest:
of the means of the sets); in brackets for candidates that minimise something else.
"""


def label_of(key: str) -> str:
    """Return a short name for the tables."""
    words = " ".join(CANDIDATES[key]).replace("optimizer=", "")
    return words or "auto (the default)"


def against(results: list[SetResult], key: str, column: str) -> str:
    """Return on how many sets a candidate is better / worse than the default."""
    if key == DEFAULT:
        return ""
    more, less = better_and_worse(results, key, DEFAULT, column)
    return f"{less} / {more}" if column == LOSS else f"{more} / {less}"


def overview(results: list[SetResult]) -> str:
    """Return one line for each candidate."""
    head = ["", "AUC", "better / worse", "log loss", "better / worse", "kept"]
    head += ["seconds, all sets", "slowest set", "gap mean", "gap largest"]
    body = []
    for key in KEYS:
        seconds = [float(np.median(r.column(key, SECONDS))) for r in results]
        gap = over_sets(results, key, GAP)
        own = solves_the_reference(key)
        body.append(
            [
                label_of(key),
                f"{over_sets(results, key, AUC).mean():.4f}",
                against(results, key, AUC),
                f"{over_sets(results, key, LOSS).mean():.4f}",
                against(results, key, LOSS),
                f"{over_sets(results, key, KEPT).mean():.2f}",
                f"{sum(seconds):.2f}",
                f"{max(seconds):.2f}",
                *(
                    f"{value:.2g}" if own else f"({value:.2g})"
                    for value in (gap.mean(), gap.max())
                ),
            ]
        )
    return markdown(head, body)


def set_table(results: list[SetResult], column: str, form: str) -> str:
    """Return one measure of every set and candidate; of seconds the median."""
    head = ["", *(label_of(key) for key in KEYS)]
    middle = np.median if column == SECONDS else np.nanmean
    body = [
        [r.name, *(f"{middle(r.column(key, column)):{form}}" for key in KEYS)]
        for r in results
    ]
    return markdown(head, body)


def document(folder: Path) -> str:
    """Return the page of all that is stored."""
    results = read_results(folder, KEYS)
    parts = [INTRODUCTION, folds_note(results) + "\n", overview(results)]
    for title, column, form in (
        ("Test AUC", AUC, ".4f"),
        ("Log loss", LOSS, ".4f"),
        ("Kept variables", KEPT, ".1f"),
        ("Seconds of one fit", SECONDS, ".3f"),
        ("Gap, nats per row", GAP, ".1e"),
    ):
        parts += [f"## {title}\n", set_table(results, column, form)]
    return "\n".join(parts)


def run(options: argparse.Namespace) -> None:
    """Do what is missing of every set."""
    for name in options.names:
        progress(name)
        X, minimum = read_set(name).X, Minimum()
        run_set(
            name,
            options.folder,
            KEYS,
            lambda fold, key, X=X, minimum=minimum: measure(X, minimum, fold, key),
            study=STUDY,
            columns=COLUMNS,
            folds=options.folds,
        )


def main(arguments: list[str] | None = None) -> None:
    options = parsed(option_parser(STUDY, __doc__), arguments)
    run_study(STUDY, options, run, document, parts=options.names)


if __name__ == "__main__":
    run_script(main)
