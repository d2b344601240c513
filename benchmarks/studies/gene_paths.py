"""Experiment 5 of Askari et al.: objective against k on gene expressions, and accuracy.

The paper's set (RNA sequences of UCI) is not here; every `gene_*` set stands in, 57 to
174 rows of 2,000 to 22,283 genes, 2 to 11 classes, and bladder also as in the paper,
one class against the rest. Models: sparse multinomial (alpha = 1; `gene_sets.py` says
how counts are made), and the Gaussian one, the honest model of such values, with
variances by class or pooled. For each:

path      the optimum of all rows for a geometric grid of k up to m, with its proven
          gap; the share of the full gain at 1, 5, 10 and 50 % of the genes; the least k
          with 90, 95, 99 and 99.9 % of it; the k that the classifier chooses as "elbow"
          and as "bic"
accuracy  repeated stratified folds, the features chosen on the training rows of each
          fold, for a coarser grid and those points. The standard error is that of the
          mean over rows (a row counts with its mean over the repetitions), also for the
          paired difference to all features.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from gene_paths_tables import GAINS, SHARES, document, draw
from gene_sets import SETS, as_counts, available, kinds_of_counts, load
from ledger import Ledger, progress, run_script
from sklearn.model_selection import RepeatedStratifiedKFold
from study_run import run_study, significant, study_parser

from bayesieve import (
    ClassCounts,
    SparseGaussianNB,
    SparseMultinomialNB,
    sparsity_path,
)
from bayesieve.exceptions import GapWarning

STUDY = "gene_paths"
SEED = 20200605
FOLDS, REPEATS = 5, 10
QUICK_SETS, QUICK_REPEATS = ("alon", "khan"), 1
ALPHA = 1.0
FINE, COARSE = 60, 18  # sizes of the path, and of the folds


def grid(m: int, n_sizes: int) -> list[int]:
    """Return sizes from 2 to m in equal ratios."""
    return np.unique(np.round(np.geomspace(2, m, n_sizes)).astype(int)).tolist()


def shares_of_columns(m: int) -> dict[str, int]:
    """Return the k of some shares of m columns, at least 2."""
    return {f"{s:g}": max(2, round(m * s / 100)) for s in SHARES}


def least_size(gain_at: Callable[[int], float], m: int, wanted: float) -> int:
    """Return the least k in 2..m whose gain reaches what is wanted."""
    low, high = 1, m
    while high - low > 1:
        middle = (low + high) // 2
        if gain_at(middle) >= wanted:
            high = middle
        else:
            low = middle
    return high


@dataclass(frozen=True)
class Path:
    """Gains of some sizes on all rows, with proven gaps, and of any other size."""

    k: np.ndarray
    gain: np.ndarray
    gap: np.ndarray
    gain_at: Callable[[int], float]
    null: float | None  # objective without genes; that of densities has no meaning


class MultinomialModel:
    """The multinomial model over values made into counts; every size is solved."""

    def __init__(self, kind: str, base: float | None) -> None:
        self.kind, self.base = kind, base

    def sides(
        self, train: np.ndarray, test: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows as the model takes them."""
        return as_counts(train, test, self.kind, self.base)

    def path(self, X: np.ndarray, y: np.ndarray, sizes: list[int]) -> Path:
        """Return the optima of all sizes."""
        counts = ClassCounts.from_matrix(X, y)
        found = sparsity_path(counts, sizes)

        def gain_at(k: int) -> float:
            one = sparsity_path(counts, [k])
            return float(one.objective[0] - one.null_objective)

        gain = found.objective - found.null_objective
        return Path(found.k, gain, found.gap, gain_at, float(found.null_objective))

    def chosen_size(self, X: np.ndarray, y: np.ndarray, rule: str) -> int:
        """Return the k that the library chooses."""
        return int(SparseMultinomialNB(k=rule).fit(X, y).k_)

    def predictions(
        self, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, sizes: list[int]
    ) -> np.ndarray:
        """Return the classes of the test rows for every size, all in the last row.

        Outside a support the classes do not differ; inside, the estimates are those of
        plain naive Bayes on these columns alone.
        """
        counts = ClassCounts.from_matrix(X, y)
        path = sparsity_path(counts, sizes)
        f = np.asarray(counts.feature_count, dtype=np.float64) + ALPHA
        prior = np.log(counts.class_count / counts.class_count.sum())
        said = []
        for support in (*(path.support(k) for k in sizes), slice(None)):
            part = f[:, support]
            logs = np.log(part / part.sum(axis=1, keepdims=True))
            said.append(np.argmax(X_test[:, support] @ logs.T + prior, axis=1))
        return np.array(said)


class GaussianModel:
    """The Gaussian model over the values of the file; one ranking gives all sizes."""

    def __init__(self, variance: str) -> None:
        self.variance = variance

    def sides(
        self, train: np.ndarray, test: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows as they are."""
        return train, test

    def _ranked(self, X: np.ndarray, y: np.ndarray) -> tuple[Any, np.ndarray]:
        model = SparseGaussianNB(k="all", variance=self.variance).fit(X, y)
        return model, np.argsort(-model.feature_importances_, kind="stable")

    def path(self, X: np.ndarray, y: np.ndarray, sizes: list[int]) -> Path:
        """Return the optima of all sizes, sums of the largest gains: no gap."""
        model, order = self._ranked(X, y)
        sums = np.concatenate([[0.0], np.cumsum(model.feature_importances_[order])])
        k = np.array(sizes)
        no_gap = np.zeros(k.shape)
        return Path(k, sums[k], no_gap, lambda k: float(sums[k]), None)

    def chosen_size(self, X: np.ndarray, y: np.ndarray, rule: str) -> int:
        """Return the k that the library chooses."""
        return int(SparseGaussianNB(k=rule, variance=self.variance).fit(X, y).k_)

    def predictions(
        self, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, sizes: list[int]
    ) -> np.ndarray:
        """Return the classes of the test rows for every size, all in the last row."""
        model, order = self._ranked(X, y)
        prior = model.class_log_prior_
        scores = np.empty((len(prior), len(X_test), len(order)))
        for c, (mean, variance) in enumerate(
            zip(model.theta_, model.var_, strict=True)
        ):
            distance = (X_test - mean) ** 2 / variance + np.log(variance)
            scores[c] = prior[c] - 0.5 * np.cumsum(distance[:, order], axis=1)
        return np.array([scores[:, :, k - 1].argmax(0) for k in (*sizes, len(order))])


def models_of(name: str, X: np.ndarray) -> dict[str, MultinomialModel | GaussianModel]:
    """Return the models of one set by their names."""
    base = SETS[name].base
    found: dict[str, MultinomialModel | GaussianModel] = {
        f"multinomial, {kind}": MultinomialModel(kind, base)
        for kind in kinds_of_counts(X, base)
    }
    for variance in ("class", "pooled"):
        found[f"Gaussian, {variance} variance"] = GaussianModel(variance)
    return found


def path_of(model: Any, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return the path of all rows and the points on it."""
    m = X.shape[1]
    rows, _ = model.sides(X, X)
    path = model.path(rows, y, grid(m, FINE))
    full = float(path.gain[-1])
    shares = {name: path.gain_at(k) / full for name, k in shares_of_columns(m).items()}
    return {
        "k": path.k.tolist(),
        "share": [significant(x, 6) for x in (path.gain / full).tolist()],
        "gap": [significant(x, 2) for x in (path.gap / path.gain).tolist()],
        "full_gain": full,
        "null": path.null,
        "at_share": {name: significant(share, 6) for name, share in shares.items()},
        "least_k": {
            f"{g:g}": least_size(path.gain_at, m, g / 100 * full) for g in GAINS
        },
        "elbow": model.chosen_size(rows, y, "elbow"),
        "bic": model.chosen_size(rows, y, "bic"),
    }


def fold_accuracy(
    model: Any, X: np.ndarray, y: np.ndarray, sizes: list[int], repeats: int
) -> dict[str, Any]:
    """Return the accuracy for every size, and of all columns, over repeated folds."""
    folds = min(FOLDS, int(np.bincount(y).min()))
    cuts = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=SEED)
    right = np.zeros((len(sizes) + 1, len(y)))
    for train, test in cuts.split(X, y):
        rows, rows_test = model.sides(X[train], X[test])
        said = model.predictions(rows, y[train], rows_test, sizes)
        right[:, test] += said == y[test]
    right /= repeats
    return {"folds": folds, "repeats": repeats, "sizes": sizes, **row_statistics(right)}


def row_statistics(right: np.ndarray) -> dict[str, list[float]]:
    """Return means over rows with standard errors, and those less the last line's."""
    n = right.shape[1]
    difference = right - right[-1]
    values = {
        "accuracy": right.mean(axis=1),
        "error": right.std(axis=1, ddof=1) / np.sqrt(n),
        "less_all": difference.mean(axis=1),
        "less_all_error": difference.std(axis=1, ddof=1) / np.sqrt(n),
    }
    return {name: np.round(value, 5).tolist() for name, value in values.items()}


def fold_sizes(path: dict[str, Any], m: int) -> list[int]:
    """Return a coarse grid and the points of the path."""
    points = [*shares_of_columns(m).values(), *path["least_k"].values()]
    sizes = {*grid(m, COARSE), *points, path["elbow"], path["bic"]}
    return sorted(k for k in sizes if 2 <= k <= m)


def run(options: argparse.Namespace) -> None:
    """Do what is missing, a set and a model at a time."""
    repeats = QUICK_REPEATS if options.quick else REPEATS
    store = Ledger(
        options.folder, STUDY, study=STUDY, seed=SEED, folds=FOLDS, repeats=repeats
    )
    here = available()
    for name in QUICK_SETS if options.quick else SETS:
        if name not in here:
            sys.exit(f"no file of {name}. Hint: set BAYESIEVE_DATA to its folder.")
        X, y = load(name)
        if f"{name}: set" not in store:
            sizes = np.bincount(y)
            shape = {"rows": len(y), "columns": X.shape[1], "classes": len(sizes)}
            store.put(f"{name}: set", {**shape, "largest": int(sizes.max())})
        for title, model in models_of(name, X).items():
            key = f"{name}: {title}"
            if key in store:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GapWarning)  # the gap is stored
                path = path_of(model, X, y)
                sizes = fold_sizes(path, X.shape[1])
                folds = fold_accuracy(model, X, y, sizes, repeats)
            store.put(key, {"path": path, "folds": folds})
            best = max(folds["accuracy"])
            progress(f"{key}: best {best:.3f}, all {folds['accuracy'][-1]:.3f}")


def main(arguments: list[str] | None = None) -> None:
    parser = study_parser(STUDY, __doc__, "two sets, one repetition")
    run_study(STUDY, parser.parse_args(arguments), run, document, draw)


if __name__ == "__main__":
    run_script(main)
