"""What the penalty does to the classifier: section 1.4.2 of the weighted NB paper.

C. Hue, M. Boullé, V. Lemaire, "Online learning of a weighted selective naive Bayes
classifier with non-convex optimization", Figures 1.4 and 1.5: train and test AUC, kept
variables and sum of the weights for lambda in 0, 0.01, 0.1, 0.5 and exponents p in 0.5,
1, 2, beside the averaged classifier SNB. The weights are found as in the paper, by VNS
with batches of 1000 rows at level 5; --optimizer takes another way.
"""

from __future__ import annotations

import sys
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
from ledger import markdown, progress
from probability_scores import compression, weighted_auc
from weighted_nb_figures import Panel, by_exponent, can_draw
from weighted_nb_folds import Fold, each_set, option_parser, parsed, run_set

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


def document(found: dict[str, list[SetResult]]) -> str:
    """Return the page of all optimizers that are stored."""
    parts = [INTRODUCTION]
    for optimizer, results in found.items():
        parts += [f"## {optimizer}\n", folds_note(results) + "\n"]
        parts += [penalty_table(results), set_table(results)]
    return "\n".join(parts)


def draw(results: list[SetResult], optimizer: str, folder: Path) -> None:
    """Draw Figures 1.4 and 1.5."""

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


def main(arguments: list[str] | None = None) -> int:
    parser = option_parser(__doc__)
    parser.add_argument(
        "--optimizer", choices=OPTIMIZERS, default="vns", help="(%(default)s)"
    )
    options = parsed(parser, arguments, STUDY)
    optimizer = OPTIMIZERS[options.optimizer]

    def run(name: str) -> None:
        run_set(
            name,
            options.folder / options.optimizer / f"{name}.json",
            KEYS,
            lambda fold, key: measure(fold, key, optimizer),
            study=STUDY,
            columns=COLUMNS,
            folds=options.folds,
            optimizer=options.optimizer,
        )

    if not each_set(options, run):
        return 130
    found = {one: read_results(options.folder / one, KEYS) for one in OPTIMIZERS}
    found = {one: results for one, results in found.items() if results}
    text = document(found)
    (options.folder / "tables.md").write_text(text, encoding="utf-8")
    if can_draw():
        for one, results in found.items():
            draw(results, one, options.folder)
    else:
        progress("no matplotlib here: no figures")
    print(text)
    print(f"written: {options.folder / 'tables.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
