"""What the penalty does to the classifier: section 1.4.2 of the weighted NB paper.

C. Hue, M. Boullé, V. Lemaire, "Online learning of a weighted selective naive Bayes
classifier with non-convex optimization", Figures 1.4 and 1.5: train and test AUC, kept
variables and sum of the weights for lambda in 0, 0.01, 0.1, 0.5 and exponents p in 0.5,
1, 2, beside the averaged classifier SNB. The weights are found as in the paper, by VNS
with batches of 1000 rows at level 5; --optimizer takes another way.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from fold_results import (
    SetResult,
    better_and_worse,
    folds_note,
    over_sets,
    read_results,
)
from ledger import markdown, progress, run_script
from probability_scores import compression, weighted_auc
from study_run import run_study
from weighted_nb_figures import Panel, by_exponent
from weighted_nb_folds import Fold, option_parser, parsed, run_set

from bayesieve.weights import VNS, Convex, MultiStart, WeightProblem, WeightResult

STUDY = "weighted_nb_regularisation"
COLUMNS = ["train AUC", "test AUC", "test compression", "kept", "weight sum"]
TRAIN_AUC, TEST_AUC, RATE, KEPT, SUM = COLUMNS
STRENGTHS = (0.01, 0.1, 0.5)
EXPONENTS = (0.5, 1.0, 2.0)
SNB = "SNB"
NONE = "lambda=0"
BATCH, LEVEL = 1000, 5


def key_of(strength: float, exponent: float) -> str:
    """Return the key of one penalty."""
    return f"lambda={strength:g} p={exponent:g}"


PENALTIES = {key_of(s, p): (s, p) for s in STRENGTHS for p in EXPONENTS}
KEYS = [SNB, NONE, *PENALTIES]

Optimizer = Callable[[WeightProblem, Fold], WeightResult]


def _by(kind: type[VNS | MultiStart], batch: int | None) -> Optimizer:
    search = kind(effort=LEVEL, batch_size=batch)
    return lambda problem, fold: search.minimise(problem, random_state=fold.generator())


OPTIMIZERS: dict[str, Optimizer] = {
    "vns": _by(VNS, BATCH),
    "vns_all_rows": _by(VNS, None),
    "multistart": _by(MultiStart, BATCH),
    "convex": lambda problem, _: Convex().minimise(problem),
}


def measure(fold: Fold, key: str, optimizer: Optimizer) -> list[float]:
    """Return the row of COLUMNS."""
    if key == SNB:
        weights = fold.averaged().weights
    else:
        strength, exponent = PENALTIES.get(key, (0.0, 1.0))
        weights = optimizer(fold.problem(strength, exponent), fold).weights
    train, test = (fold.probabilities(weights, test=part) for part in (False, True))
    return [
        weighted_auc(fold.y[fold.train], train),
        weighted_auc(fold.y[fold.test], test),
        compression(fold.y[fold.test], test, fold.prior()),
        np.count_nonzero(weights),
        weights.sum(),
    ]


# ---------------------------------------------------------------------------- tables

INTRODUCTION = """# Regularisation of the weights

Written by `weighted_nb_regularisation.py`. Means over folds, then over sets. AUC: one
class against the rest, weighted by frequency. Better, worse: sets whose test AUC
differs from that of lambda = 0, paired t-test over the folds, two-sided at 5 %. Kept
share: mean over sets of kept variables divided by those of SNB (without the sets where
SNB keeps none).
"""


def kept_share(results: list[SetResult], key: str) -> float:
    """Return kept variables as a share of those of SNB, mean over sets."""
    own, base = (over_sets(results, one, KEPT) for one in (key, SNB))
    return float(np.mean(own[base > 0] / base[base > 0]))


def penalty_table(results: list[SetResult]) -> str:
    """Return one line for each penalty."""
    head = ["", "train AUC", "test AUC", "better", "worse", "test compression"]
    head += ["kept", "kept share", "weight sum"]
    body = []
    for key in KEYS:
        marks: tuple = ("", "")
        if key != NONE:
            marks = better_and_worse(results, key, NONE, TEST_AUC)
        mean = {one: over_sets(results, key, one).mean() for one in COLUMNS}
        body.append(
            [
                *(key, f"{mean[TRAIN_AUC]:.4f}", f"{mean[TEST_AUC]:.4f}"),
                *(str(marks[0]), str(marks[1]), f"{mean[RATE]:.4f}"),
                *(f"{mean[KEPT]:.2f}", f"{kept_share(results, key):.3f}"),
                f"{mean[SUM]:.2f}",
            ]
        )
    return markdown(head, body)


def set_table(results: list[SetResult]) -> str:
    """Return test AUC and kept variables of every set for the paper's choice."""
    keys = [SNB, NONE, *(key_of(0.1, p) for p in EXPONENTS), key_of(0.5, 1.0)]
    head = ["", "folds", *(f"AUC {key}" for key in keys)]
    head += [f"kept {key}" for key in keys]
    body = [
        [r.name, str(r.folds)]
        + [f"{r.mean(key, TEST_AUC):.4f}" for key in keys]
        + [f"{r.mean(key, KEPT):.1f}" for key in keys]
        for r in results
    ]
    return markdown(head, body)


def stored(folder: Path) -> dict[str, list[SetResult]]:
    """Return the results of each optimizer that has some."""
    found = {one: read_results(folder, KEYS, f"{one}/") for one in OPTIMIZERS}
    return {one: results for one, results in found.items() if results}


def document(folder: Path) -> str:
    """Return the page of all optimizers that are stored."""
    parts = [INTRODUCTION]
    for optimizer, results in stored(folder).items():
        parts += [f"## {optimizer}\n", folds_note(results) + "\n"]
        parts += [penalty_table(results), set_table(results)]
    return "\n".join(parts)


def draw(folder: Path) -> None:
    """Draw Figures 1.4 and 1.5 of each optimizer."""
    for optimizer, results in stored(folder).items():
        draw_one(results, optimizer, folder)


def draw_one(results: list[SetResult], optimizer: str, folder: Path) -> None:

    def panel(column: str, label: str) -> Panel:
        def mean(key: str) -> float:
            return float(over_sets(results, key, column).mean())

        lines = {
            f"λ = {s:g}": [mean(key_of(s, p)) for p in EXPONENTS] for s in STRENGTHS
        }
        return Panel(label, lines, {"λ = 0": mean(NONE), SNB: mean(SNB)})

    about = f"mean of {len(results)} sets, {optimizer}"
    by_exponent(
        [panel(TRAIN_AUC, "train AUC"), panel(TEST_AUC, "test AUC")],
        EXPONENTS,
        f"AUC by penalty, {about}",
        folder / f"figure_1_4_{optimizer}.png",
    )
    by_exponent(
        [panel(KEPT, "kept variables"), panel(SUM, "sum of the weights")],
        EXPONENTS,
        f"Sparsity by penalty, {about}",
        folder / f"figure_1_5_{optimizer}.png",
    )


def run(options: argparse.Namespace) -> None:
    """Do what is missing of every set with one optimizer."""
    optimizer = OPTIMIZERS[options.optimizer]
    for name in options.names:
        progress(name)
        run_set(
            name,
            options.folder,
            KEYS,
            lambda fold, key: measure(fold, key, optimizer),
            part=f"{options.optimizer}/{name}",
            study=STUDY,
            columns=COLUMNS,
            folds=options.folds,
            optimizer=options.optimizer,
        )


def main(arguments: list[str] | None = None) -> None:
    parser = option_parser(STUDY, __doc__)
    parser.add_argument(
        "--optimizer", choices=OPTIMIZERS, default="vns", help="(%(default)s)"
    )
    options = parsed(parser, arguments)
    parts = [f"{options.optimizer}/{name}" for name in options.names]
    run_study(STUDY, options, run, document, draw, parts=parts)


if __name__ == "__main__":
    run_script(main)
