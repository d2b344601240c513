"""Cross-validation over 20 alphas x 50 values of k on IMDB, against a grid search.

`SparseMultinomialNBCV` and `SparseBernoulliNBCV` do the whole grid on ten folds, their
final fit included. `GridSearchCV` on `SparseMultinomialNB` and `SparseBernoulliNB` is
MEASURED ON A PART of the grid, 2 alphas x 5 values of k, on the same ten folds and
without a final fit, and its seconds are scaled by the number of cells. A cell may cost
more the larger k is, so the part's values of k are spread evenly over the grid's, ends
included. The scores of the part must be equal, to the last bit.
"""

from __future__ import annotations

import cProfile
import pstats
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from bayesieve import (
    SparseBernoulliNB,
    SparseBernoulliNBCV,
    SparseMultinomialNB,
    SparseMultinomialNBCV,
)
from measurement import option_parser, read_data, report, target, timed

MODELS = {
    "multinomial": (SparseMultinomialNBCV, SparseMultinomialNB, 20),
    "bernoulli": (SparseBernoulliNBCV, SparseBernoulliNB, 50),
}


def grid_of_sizes(count: int, largest: int) -> list[int]:
    """That many distinct sizes, geometric from 2 on as far as whole numbers allow."""
    points, sizes = count, np.empty(0, dtype=np.int64)
    while sizes.shape[0] < count:  # small sizes fall together when rounded
        sizes = np.unique(np.rint(np.geomspace(2, largest, points)).astype(np.int64))
        points += 1
    return sizes.tolist()


def hot_spots(run: Any, count: int = 25) -> list[dict[str, Any]]:
    """Functions with the most time of their own."""
    profile = cProfile.Profile()
    profile.runcall(run)
    rows = []
    for (file, line, name), (_, calls, own, total, _) in pstats.Stats(
        profile
    ).stats.items():  # type: ignore[attr-defined]
        place = f"{Path(file).parent.name}/{Path(file).name}:{line} {name}"
        rows.append({"where": place, "calls": calls, "own": own, "total": total})
    rows.sort(key=lambda row: -row["own"])
    whole = sum(row["own"] for row in rows)
    print(f"{'own s':>8} {'share':>6} {'total s':>8} {'calls':>8}  where")
    for row in rows[:count]:
        share = row["own"] / whole
        print(
            f"{row['own']:8.2f} {share:6.1%} {row['total']:8.2f} {row['calls']:8d}  "
            f"{row['where']}"
        )
    return rows[:count]


def study(name: str, X: Any, y: Any, grid: dict[str, Any]) -> dict[str, Any]:
    ours, single, least = MODELS[name]
    fitted: dict[str, Any] = {}

    def whole() -> None:
        model = ours(grid["ks"], alphas=grid["alphas"], cv=grid["cv"])
        fitted["ours"] = model.fit(X, y)

    def part() -> None:
        cells = {"alpha": grid["part_alphas"], "k": grid["part_ks"]}
        search = GridSearchCV(single(), cells, cv=grid["cv"], refit=False)
        fitted["grid"] = search.fit(X, y)

    seconds = {"ours, whole grid": [], "grid search, part": [timed(part)[0]]}
    for _ in range(2):  # the short side before and after the long one
        seconds["ours, whole grid"].append(timed(whole)[0])
        seconds["grid search, part"].append(timed(part)[0])
    best = {side: min(values) for side, values in seconds.items()}
    cells = len(grid["alphas"]) * len(grid["ks"])
    measured = len(grid["part_alphas"]) * len(grid["part_ks"])
    scaled = best["grid search, part"] * cells / measured
    print(
        f"{name}: {cells} cells in {best['ours, whole grid']:.2f} s; grid search "
        f"{measured} cells in {best['grid search, part']:.2f} s, scaled {scaled:.0f} s"
    )
    equal, largest = compare(fitted["ours"], fitted["grid"])
    print(
        f"{name}: scores of the part equal: {equal}, largest difference {largest:.2g}"
    )
    ratio = scaled / best["ours, whole grid"]
    return {
        "model": name,
        "seconds": seconds,
        "best_seconds": best,
        "cells": cells,
        "cells_of_grid_search": measured,
        "grid_search_scaled_seconds": scaled,
        "scores_equal": equal,
        "largest_difference": largest,
        "best": {
            "alpha": fitted["ours"].alpha_,
            "k": fitted["ours"].k_best_,
            "k_1se": fitted["ours"].k_1se_,
            "score": fitted["ours"].best_score_,
        },
        "mean_fit_seconds_by_cell": fitted["grid"]
        .cv_results_["mean_fit_time"]
        .tolist(),
        "mean_score_seconds_by_cell": fitted["grid"]
        .cv_results_["mean_score_time"]
        .tolist(),
        "targets": [target(f"{name}, grid search / ours", ratio, least=least)],
        "profile": hot_spots(whole),
    }


def compare(ours: Any, grid: Any) -> tuple[bool, float]:
    """Whether all measured scores are the same in every fold, and how far off."""
    place = {
        (cell["alpha"], cell["k"]): i
        for i, cell in enumerate(ours.cv_results_["params"])
    }
    rows = [place[cell["alpha"], cell["k"]] for cell in grid.cv_results_["params"]]
    folds = [f"split{i}_test_score" for i in range(grid.n_splits_)]
    mine = np.array([ours.cv_results_[fold][rows] for fold in folds])
    theirs = np.array([grid.cv_results_[fold] for fold in folds])
    return bool(np.array_equal(mine, theirs)), float(np.abs(mine - theirs).max())


def main() -> None:
    parser = option_parser("cross_validation", __doc__)
    parser.add_argument("--model", choices=list(MODELS), help="one model only")
    options = parser.parse_args()
    warnings.simplefilter("error")
    frame = read_data("imdb")
    train = frame[frame["split"] == "train"]
    if options.quick:
        train = train.sample(2_000, random_state=0)
    X = CountVectorizer().fit_transform(train["text"])
    # CountVectorizer leaves indices unsorted, which would cost every SparseBernoulliNB
    # of the grid search a sorted copy, and flatter us.
    X.sort_indices()
    y = train["label"].to_numpy()
    n_sizes, n_alphas = (8, 3) if options.quick else (50, 20)
    ks = grid_of_sizes(n_sizes, 1_000 if options.quick else 10_000)
    alphas = np.geomspace(0.01, 10.0, n_alphas).tolist()
    spread = np.rint(np.linspace(0, n_sizes - 1, 5)).astype(int)
    grid = {
        "ks": ks,
        "alphas": alphas,
        "part_ks": [ks[i] for i in spread],
        "part_alphas": [alphas[n_alphas // 4], alphas[3 * n_alphas // 4]],
        "cv": StratifiedKFold(10, shuffle=True, random_state=0),
    }
    data = {"name": "imdb, train rows", "shape": X.shape, "entries": int(X.nnz)}
    print(data, f"{len(ks)} values of k from {ks[0]} to {ks[-1]}")
    names = [options.model] if options.model else list(MODELS)
    studies = [study(name, X, y, grid) for name in names]
    shown = {name: value for name, value in grid.items() if name != "cv"}
    results = {"data": data, "grid": shown, "folds": 10, "studies": studies}
    report("cross_validation", options, 0, results)


if __name__ == "__main__":
    main()
