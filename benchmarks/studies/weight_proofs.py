"""What is proven of the weights on the ten sets of wide_weights.py.

`SelectiveMultinomialNB(k)` with its defaults, on the training rows of the first split,
for k = 5, 20, 1 % and 5 % of the words. Of each fit:

    gap        the duality gap over all columns beside the tolerance of the fit
    joined     columns that screening had left out and that the last pass let in
    seconds    of the fit without proofs, of the pass over all columns with what joins,
               and of the bound on any k weighted words
    gain       nats of log-likelihood of the training labels over no word
    bound      what no k words gain, whatever their weights in [0, 1]
    exact      gain, bound and nodes of the search, `exact=True`, for ten seconds more

and the accuracy on the test rows of both.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ledger import Ledger, markdown, progress, read_parts, run_script
from study_run import names_of, run_study, significant, study_parser, surroundings_line
from wide_sets import NAMES, SEED, TITLES, Part, available, counted, load

from bayesieve import SelectiveMultinomialNB
from bayesieve.weights._wide_proof import WideProof

STUDY = "weight_proofs"
SIZES = ("5", "20", "1 %", "5 %")
QUICK_SETS = ("cr", "mpqa")
SEARCH = 10.0  # seconds of the search beyond three times those of the fit
HEAD = """# What is proven of the weights

Written by `weight_proofs.py` from the results beside it: `SelectiveMultinomialNB(k)`
on the training rows of the first split of each set. Seconds are shares of the fit
without proofs, in one run.

{around}
"""


def size_of(label: str, n_columns: int) -> int:
    """Return the k that a label of SIZES means."""
    if label.endswith("%"):
        return max(1, round(n_columns * float(label[:-1]) / 100))
    return int(label)


@contextmanager
def stopwatch(spent: dict[str, float], *names: str) -> Iterator[None]:
    """Add up the seconds of methods of the proof."""

    def timed(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            begin = time.perf_counter()
            try:
                return method(*given)
            finally:
                spent[name] = spent.get(name, 0.0) + time.perf_counter() - begin

        return run

    methods = {name: getattr(WideProof, name) for name in names}
    for name, method in methods.items():
        setattr(WideProof, name, timed(name, method))
    try:
        yield
    finally:
        for name, method in methods.items():
            setattr(WideProof, name, method)


def fitted(part: Part, k: int, **parameters: Any) -> tuple[Any, dict[str, float]]:
    """Return a fitted model and the seconds of the fit and of its proofs."""
    spent: dict[str, float] = {}
    with stopwatch(spent, "joined", "certificate"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer features than k, of small sets
        begin = time.perf_counter()
        model = SelectiveMultinomialNB(k, **parameters).fit(part.X_train, part.y_train)
        spent["whole"] = time.perf_counter() - begin
    return model, spent


def outcome_of(model: Any, part: Part) -> dict[str, float]:
    """Return what one fit proves, and its accuracy."""
    proof = model.certificate_
    return {
        "gain": significant(proof.objective - proof.null_objective, 8),
        "bound": significant(proof.upper_bound - proof.null_objective, 8),
        "nodes": proof.nodes,
        "optimal": int(proof.is_optimal),
        "accuracy": significant(model.score(part.X_test, part.y_test), 5),
    }


def unit_of(part: Part, k: int) -> dict[str, Any]:
    """Return everything about one size."""
    model, spent = fitted(part, k)
    rest = spent["whole"] - spent["joined"] - spent["certificate"]
    null = -model.certificate_.null_objective
    unit: dict[str, Any] = {
        "k": k,
        "columns": part.X_train.shape[1],
        "tolerance": significant(model.tol * null, 6),
        "gap": significant(model.dual_gap_, 6),
        "joined": model.n_candidates_ - first_candidates(part, k),
        "seconds": significant(rest, 4),
        "seconds_of_columns": significant(spent["joined"], 4),
        "seconds_of_bound": significant(spent["certificate"], 4),
        "fit": outcome_of(model, part),
    }
    limit = SEARCH + 3.0 * spent["whole"]
    model, spent = fitted(part, k, exact=True, time_limit=limit)
    unit["exact"] = outcome_of(model, part) | {
        "seconds": significant(spent["whole"], 4),
        "stopped": model.stopped_,
    }
    return unit


def first_candidates(part: Part, k: int) -> int:
    """Return how many distinct columns screening lets in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = SelectiveMultinomialNB(regularization=1e12, candidates=max(5 * k, 5000))
        return int(found.fit(part.X_train, part.y_train).n_candidates_)


def run(options: argparse.Namespace) -> None:
    """Do what is missing, set by set."""
    for name in options.names:
        book = Ledger(options.folder, name, study=STUDY, data=name, seed=SEED)
        missing = [label for label in SIZES if label not in book]
        if not missing:
            continue
        part = counted(load(name), 0)
        for label in missing:
            unit = unit_of(part, size_of(label, part.X_train.shape[1]))
            book.put(label, unit)
            progress(f"{name} {label}: {unit}")


# ------------------------------------------------------------------------------- page


def percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.0995 else f"{100 * share:.0f} %"


def relative_gap(outcome: dict[str, float]) -> float:
    """Return how much more could be gained, as a share of the gain."""
    return max(outcome["bound"] / outcome["gain"] - 1.0, 0.0)


def document(folder: Path) -> str:
    """Return the page of what is stored."""
    parts = read_parts(folder)
    names = [name for name in NAMES if name in parts]
    around = surroundings_line(parts[names[0]])
    return "\n".join(
        [
            HEAD.format(around=around),
            "## Over all columns\n",
            over_all_columns(parts, names),
            "## Any k weighted words\n",
            any_words(parts, names),
            "## Accuracy on test rows\n",
            accuracies(parts, names),
        ]
    )


def over_all_columns(parts: dict[str, Any], names: list[str]) -> str:
    """Return the gap of each set at its worst size, and what the proofs cost."""
    body = []
    for name in names:
        units = list(parts[name]["rows"].values())
        body.append(
            [
                TITLES[name],
                f"{units[0]['columns']:,}",
                f"{max(u['gap'] / u['tolerance'] for u in units):.2f}",
                " / ".join(f"{u['joined']:,}" for u in units),
                *(
                    percent(max(u[cost] / u["seconds"] for u in units))
                    for cost in ("seconds_of_columns", "seconds_of_bound")
                ),
            ]
        )
    head = ["", "columns", "gap / tolerance", f"joined at {', '.join(SIZES)}"]
    return markdown([*head, "pass and joins", "bound"], body)


def any_words(parts: dict[str, Any], names: list[str]) -> str:
    """Return how much more any k words could gain, of the fit and of the search."""
    body = [
        [
            TITLES[name],
            *(
                f"{percent(relative_gap(unit['fit']))} → "
                f"{percent(relative_gap(unit['exact']))}"
                for unit in (parts[name]["rows"][label] for label in SIZES)
            ),
        ]
        for name in names
    ]
    return markdown(["", *(f"k = {label}" for label in SIZES)], body)


def accuracies(parts: dict[str, Any], names: list[str]) -> str:
    """Return the accuracy of the fit and of the search, in percent."""
    body = [
        [
            TITLES[name],
            *(
                f"{100 * unit['fit']['accuracy']:.1f} → "
                f"{100 * unit['exact']['accuracy']:.1f}"
                for unit in (parts[name]["rows"][label] for label in SIZES)
            ),
        ]
        for name in names
    ]
    return markdown(["", *(f"k = {label}" for label in SIZES)], body)


def main(arguments: list[str] | None = None) -> None:
    parser = study_parser(STUDY, __doc__, "two small sets")
    parser.add_argument("--sets", type=names_of(NAMES), help="with commas between")
    options = parser.parse_args(arguments)
    options.names = options.sets or (QUICK_SETS if options.quick else NAMES)
    absent = set(options.names) - set(available())
    if absent and not options.tables_only:
        parser.error(f"no file of {', '.join(sorted(absent))}: set BAYESIEVE_DATA")
    run_study(STUDY, options, run, document, parts=options.names)


if __name__ == "__main__":
    run_script(main)
