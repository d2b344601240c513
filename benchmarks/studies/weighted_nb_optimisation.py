"""How well the weights are optimised: section 1.4.1 of the weighted naive Bayes paper.

C. Hue, M. Boullé, V. Lemaire, "Online learning of a weighted selective naive Bayes
classifier with non-convex optimization". Single descents (PGDMB) with batches of L =
100, 1000 and all N rows, then with random restarts (MS) and variable neighbourhood
search (VNS) at levels 3, 4 and 5, without penalty (lambda = 0) as the paper does it.

Without penalty the criterion is convex, so a Newton method gives its minimum, and every
other result is shown beside it. Restarts are run again with p = 0.5, lambda = 0.1,
where there are local minima. Figures 1.2 and 1.3 are the paths on the first fold of
Phoneme.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from fold_results import (
    SetResult,
    folds_note,
    over_sets,
    read_results,
    significantly_greater,
)
from ledger import Ledger, markdown, progress, read_parts, run_script
from probability_scores import compression, stratified_folds
from study_run import run_study
from uci_generators import read_set
from weighted_nb_figures import Path2D, convergence, train_and_test
from weighted_nb_folds import (
    FOLDS,
    SEED,
    Fold,
    option_parser,
    parsed,
    prepare,
    rounded,
    run_set,
)

from bayesieve.weights import VNS, Convex, Gradient, MultiStart, WeightResult

STUDY = "weighted_nb_optimisation"
COLUMNS = ["train compression", "test compression", "criterion", "iterations", "rises"]
TRAIN, TEST, CRITERION, ITERATIONS, RISES = COLUMNS
PATHS_OF = "phoneme"
PATHS = "convergence_paths"
LEVELS = (3, 4, 5)
BATCHES = (100, 1000, None)
MOST_ITERATIONS = 100
# Significant sets of the paper's 36, by level.
PAPER = {"MS": (7, 16, 18), "VNS": (18, 19, 23)}
SNB = "SNB"


class Setting(NamedTuple):
    """One criterion, batch size, and reading of the least gain epsilon."""

    regularization: float
    exponent: float
    batch: int | None
    epsilon_of_sum: bool = False

    @property
    def label(self) -> str:
        """Return it as in the tables."""
        label = f"L={'N' if self.batch is None else self.batch}"
        if self.regularization:
            label += f" lambda={self.regularization:g} p={self.exponent:g}"
        return label + (" epsilon of the sum" if self.epsilon_of_sum else "")

    @property
    def exact(self) -> str:
        """Return the key of the Newton method on the same criterion."""
        plain = self._replace(batch=None, epsilon_of_sum=False)
        return plain.label.replace("L=N", "convex")


EPSILON = 1e-4
PLAIN = {batch: Setting(0.0, 1.0, batch) for batch in BATCHES}
CONCAVE = {batch: Setting(0.1, 0.5, batch) for batch in (1000, None)}
# The paper does not say whether its epsilon is of the sum over the rows, or per row.
PATIENT = {
    batch: setting._replace(epsilon_of_sum=True) for batch, setting in PLAIN.items()
}
# All levels with the paper's batches; with all rows the last level alone.
RESTARTED = {
    PLAIN[1000]: LEVELS,
    PLAIN[None]: LEVELS[-1:],
    CONCAVE[1000]: LEVELS,
    CONCAVE[None]: LEVELS[-1:],
}


def restart_key(setting: Setting, method: str, level: int) -> str:
    """Return the key of MS or VNS at one level."""
    return f"{setting.label} {method}{level}"


def methods() -> dict[str, tuple[Setting, str, int]]:
    """Return key -> setting, method and level of all but the baseline SNB."""
    found: dict[str, tuple[Setting, str, int]] = {}
    for setting in (*PLAIN.values(), *PATIENT.values(), *CONCAVE.values()):
        found[setting.label] = (setting, "descent", 0)
        found[setting.exact] = (setting, "convex", 0)
    for setting, levels in RESTARTED.items():
        for method in PAPER:
            for level in levels:
                key = restart_key(setting, method, level)
                found[key] = (setting, method, level)
    return found


METHODS = methods()
KEYS = [SNB, *METHODS]


def optimised(fold: Fold, key: str) -> WeightResult:
    """Return the weights of one method; draws are the same for all of them."""
    setting, method, level = METHODS[key]
    problem = fold.problem(setting.regularization, setting.exponent)
    if method == "convex":
        return Convex().minimise(problem)
    options = {
        "batch_size": setting.batch,
        "tol": EPSILON / (fold.n_train if setting.epsilon_of_sum else 1.0),
        "max_iter": MOST_ITERATIONS,
    }
    if method == "descent":
        search = Gradient(**options)
    else:
        kind = MultiStart if method == "MS" else VNS
        search = kind(effort=level, **options)
    return search.minimise(problem, random_state=fold.generator())


def measure(fold: Fold, key: str) -> list[float]:
    """Return the row of COLUMNS."""
    result = fold.averaged() if key == SNB else optimised(fold, key)
    weights = result.weights
    proba = fold.probabilities(weights, test=True)
    row = [
        fold.train_compression(weights),
        compression(fold.y[fold.test], proba, fold.prior()),
    ]
    if key == SNB:
        return [*row, 0, 0, 0]
    setting = METHODS[key][0]
    problem = fold.problem(setting.regularization, setting.exponent)
    values = result.history[:, 2]
    rises = float(np.mean(np.diff(values) > 0)) if values.shape[0] > 1 else 0.0
    return [*row, problem.value(weights) / fold.n_train, result.iterations, rises]


# ----------------------------------------------------------------------------- paths

PATH_KEYS = [PLAIN[batch].label for batch in BATCHES]
PATH_KEYS += [restart_key(PLAIN[1000], method, LEVELS[-1]) for method in PAPER]
PATH_KEYS += [PLAIN[None].exact]


def run_paths(folder: Path) -> None:
    """Store every iteration on the first fold of Phoneme, in nats per row."""
    columns = ["value", "best so far"]
    header = {"study": STUDY, "data": PATHS_OF, "seed": SEED}
    book = Ledger(folder, PATHS, columns=columns, **header)
    if all(book.done(key) for key in PATH_KEYS):
        return
    data = read_set(PATHS_OF)
    _, y = np.unique(data.y, return_inverse=True)
    fold = prepare(data.X, y, *stratified_folds(y, FOLDS, SEED)[0], 0)
    for key in PATH_KEYS:
        if not book.done(key):
            history = optimised(fold, key).history[:, 2:] / fold.n_train
            book.extend(key, 0, [[rounded(v) for v in row] for row in history])


# ---------------------------------------------------------------------------- tables


def gaps(results: list[SetResult], key: str, exact: str) -> np.ndarray:
    """Return the mean gap of every set to the Newton method, nats per row."""
    return np.array(
        [r.mean(key, CRITERION) - r.mean(exact, CRITERION) for r in results]
    )


def batch_table(results: list[SetResult]) -> str:
    """Return Figure 1.1 as a table, with the distance to the minimum."""
    head = ["", "train compression", "test compression", "gap mean", "gap largest"]
    head += ["iterations", "runs that reach 100", "iterations that rise"]
    body = []
    settings = (*PLAIN.values(), *PATIENT.values())
    for key in (SNB, *(setting.label for setting in settings), PLAIN[None].exact):
        cells = [key]
        cells += [f"{over_sets(results, key, one).mean():.4f}" for one in (TRAIN, TEST)]
        if key == SNB:
            body.append([*cells, "", "", "", "", ""])
            continue
        gap = gaps(results, key, PLAIN[None].exact)
        spent = np.concatenate([r.column(key, ITERATIONS) for r in results])
        cells += [f"{gap.mean():.5f}", f"{gap.max():.5f}", f"{spent.mean():.1f}"]
        if METHODS[key][1] == "descent":
            rises = over_sets(results, key, RISES).mean()
            full = int((spent >= MOST_ITERATIONS).sum())
            cells += [f"{full} of {spent.size}", f"{100 * rises:.0f} %"]
        else:
            cells += ["", ""]
        body.append(cells)
    return markdown(head, body)


def batch_significance(results: list[SetResult]) -> str:
    """Say on how many sets the batch beats L = 1000 in training, and how much."""
    large = [r for r in results if r.header["shape"][0] > 1000]
    full, part = PLAIN[None].label, PLAIN[1000].label

    def better(left: str, right: str, column: str) -> list[SetResult]:
        return [
            r
            for r in large
            if significantly_greater(r.column(left, column), r.column(right, column))
        ]

    ahead = better(full, part, TRAIN)
    gain = max(
        (r.mean(full, TRAIN) - r.mean(part, TRAIN) for r in large), default=float("nan")
    )
    return (
        f"Sets with more than 1000 rows: {len(large)} (the paper: 16). Train "
        "compression of L = N significantly better than of L = 1000: "
        f"**{len(ahead)} of {len(large)}** (the paper: 8 of 16)"
        + (f": {', '.join(r.name for r in ahead)}" if ahead else "")
        + f". Largest difference of means {gain:.4f}. The other way round: "
        f"{len(better(part, full, TRAIN))}. On test rows: "
        f"{len(better(full, part, TEST))} and {len(better(part, full, TEST))}.\n"
    )


class Gains(NamedTuple):
    """Of restarts over the single descent, or of one kind of them over another."""

    significant: int
    sizeable: int
    mean: float


def gains(
    results: list[SetResult], key: str, base: str, column: str, least: float = 0.001
) -> Gains:
    """Count the sets where a key is better; criteria fall, compressions rise."""
    sign = -1.0 if column == CRITERION else 1.0
    significant = sum(
        significantly_greater(
            sign * r.column(key, column), sign * r.column(base, column)
        )
        for r in results
    )
    each = [sign * (r.mean(key, column) - r.mean(base, column)) for r in results]
    sizeable = sum(gain > least for gain in each)
    return Gains(significant, sizeable, float(np.mean(each)))


def restart_table(results: list[SetResult], setting: Setting) -> str:
    """Return what MS and VNS gain over one descent with the same batches."""
    head = ["", "level", "compression: sets", "paper, of 36", "> 0.001", "mean gain"]
    head += ["criterion: sets", "> 0.001", "mean gain", "gap mean", "gap largest"]
    head += ["better than the other kind", "test compression"]
    body = []
    base = setting.label
    first = gaps(results, base, setting.exact)
    test = over_sets(results, base, TEST).mean()
    body.append(
        [
            *("one descent", *[""] * 8),
            *(f"{first.mean():.5f}", f"{first.max():.5f}", "", f"{test:.4f}"),
        ]
    )
    for method, paper in PAPER.items():
        other = next(one for one in PAPER if one != method)
        for level in RESTARTED[setting]:
            key = restart_key(setting, method, level)
            rate = gains(results, key, base, TRAIN)
            value = gains(results, key, base, CRITERION)
            rival = restart_key(setting, other, level)
            gap = gaps(results, key, setting.exact)
            told = paper[LEVELS.index(level)] if setting == PLAIN[1000] else ""
            body.append(
                [
                    *(method, str(level)),
                    *(str(rate.significant), str(told), str(rate.sizeable)),
                    f"{rate.mean:.5f}",
                    *(str(value.significant), str(value.sizeable)),
                    *(f"{value.mean:.5f}", f"{gap.mean():.5f}", f"{gap.max():.5f}"),
                    str(gains(results, key, rival, CRITERION).significant),
                    f"{over_sets(results, key, TEST).mean():.4f}",
                ]
            )
    exact = over_sets(results, setting.exact, TEST).mean()
    kind = "Newton" if setting.exponent >= 1 else "convex (local search)"
    body.append([kind, *[""] * 11, f"{exact:.4f}"])
    return markdown(head, body)


def set_table(results: list[SetResult]) -> str:
    """Return train compression of every set."""
    keys = [SNB, *(PLAIN[batch].label for batch in BATCHES)]
    keys += [restart_key(PLAIN[1000], method, LEVELS[-1]) for method in PAPER]
    keys += [PLAIN[None].exact]
    body = []
    for r in results:
        cells = [r.name, f"{r.header['shape'][0]:,}", str(r.folds)]
        cells += [f"{r.mean(key, TRAIN):.4f}" for key in keys]
        cells += [f"{r.mean(PLAIN[b].label, ITERATIONS):.0f}" for b in BATCHES]
        body.append(cells)
    head = ["", "rows", "folds", *keys]
    head += [f"iterations {PLAIN[batch].label}" for batch in BATCHES]
    return markdown(head, body)


INTRODUCTION = """# Optimisation of the weights

Written by `weighted_nb_optimisation.py`. Means over folds, then over sets. Compression:
1 - NLL(w) / NLL(0), on training rows that of the criterion, on test rows that of the
predicted probabilities. Gap: criterion above that of `convex`, nats per row; without
penalty `convex` has found the minimum. Significant: paired t-test over the folds,
two-sided at 5 %, same seed for all methods. The paper does not name its test.
"""


def document(folder: Path) -> str:
    """Return the page of all that is stored."""
    results = read_results(folder, KEYS)
    parts = [INTRODUCTION, folds_note(results) + "\n"]
    parts += ["## Batch size, one descent, lambda = 0 (Figure 1.1)\n"]
    parts += [batch_table(results), batch_significance(results)]
    for setting in RESTARTED:
        title = setting.label.replace("lambda=", "lambda = ").replace(" p=", ", p = ")
        if not setting.regularization:
            title += ", lambda = 0"
        parts += [f"## Restarts against one descent: {title}\n"]
        parts += [restart_table(results, setting)]
    parts += ["## Train compression of every set, lambda = 0\n", set_table(results)]
    return "\n".join(parts)


# --------------------------------------------------------------------------- figures


def draw(folder: Path) -> None:
    """Draw the three figures from what is stored."""
    results = read_results(folder, KEYS)
    keys = [SNB, *(PLAIN[batch].label for batch in BATCHES)]
    train, test = (
        [float(over_sets(results, key, column).mean()) for key in keys]
        for column in (TRAIN, TEST)
    )
    title = f"Compression by batch size, mean of {len(results)} sets"
    train_and_test(keys, train, test, title, folder / "figure_1_1.png")
    parts = read_parts(folder)
    if PATHS not in parts:
        return
    rows = parts[PATHS]["rows"]
    optimum = min(row[1] for row in rows[PLAIN[None].exact])

    def path_of(key: str, label: str) -> Path2D:
        values = np.array(rows[key])
        return Path2D(label, values[:, 0], values[:, 1])

    single = [path_of(PLAIN[b].label, PLAIN[b].label) for b in BATCHES]
    title = "Phoneme, first fold: one descent, by batch size"
    convergence(single, optimum, title, folder / "figure_1_2.png", best=False)
    level = LEVELS[-1]
    names = {"MS": f"multi-start, level {level}", "VNS": f"VNS, level {level}"}
    several = [path_of(PLAIN[1000].label, "one descent")]
    several += [
        path_of(restart_key(PLAIN[1000], method, level), name)
        for method, name in names.items()
    ]
    title = "Phoneme, first fold: restarts, L = 1000"
    convergence(several, optimum, title, folder / "figure_1_3.png", best=True)


def run(options: argparse.Namespace) -> None:
    """Do what is missing of every set, and the paths of one."""
    for name in options.names:
        progress(name)
        run_set(
            *(name, options.folder, KEYS, measure),
            study=STUDY,
            columns=COLUMNS,
            folds=options.folds,
        )
        if name == PATHS_OF:
            run_paths(options.folder)


def main(arguments: list[str] | None = None) -> None:
    options = parsed(option_parser(STUDY, __doc__), arguments)
    parts = [*options.names, *([PATHS] if PATHS_OF in options.names else [])]
    run_study(STUDY, options, run, document, draw, parts=parts)


if __name__ == "__main__":
    run_script(main)
