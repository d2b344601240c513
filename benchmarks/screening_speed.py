"""Screen 2,000 documents x 10 million binary columns, against scikit-learn.

`L0Screener.fit` (mutual information, BIC, the selection) against `chi2` (scores alone)
on the same CSR matrix of float64 ones, the type that `chi2` does not have to convert.
Every run is in a process of its own that loads the matrix, notes its peak memory, runs,
and notes the peak again: the difference is what a side needs over the matrix, stated in
arrays of one float64 for each column. The sides take turns; the best of each counts.

Then against `mutual_info_classif(discrete_features=True)` on 20,000 sparse columns:
one run of theirs, in one process with ours, and the largest difference of the scores.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from measurement import in_own_process, option_parser, peak_bytes, report, target, timed

SEED = 20240301
SCRIPT = "screening_speed.py"
SIDES = ("L0Screener", "chi2")


def make_matrix(folder: Path, n_rows: int, n_columns: int, draws: int) -> None:
    """Write Zipf-like documents; some words are left out more often in one class."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, 2, n_rows, dtype=np.int64)
    name = rng.permutation(n_columns).astype(np.int32)  # in no order of frequency
    avoided = rng.random(n_columns) < 0.1
    rows = []
    for label in y:
        # 1/rank: the logarithm of the rank is uniform.
        column = np.unique((n_columns ** rng.random(draws)).astype(np.int32) - 1)
        if label:
            dropped = avoided[column] & (rng.random(column.shape[0]) < 0.3)
            column = column[~dropped]
        rows.append(np.sort(name[column]))
    start = np.cumsum([0, *(row.shape[0] for row in rows)])
    indices = np.concatenate(rows)
    np.save(folder / "y.npy", y)
    np.save(folder / "data.npy", np.ones(indices.shape[0]))
    np.save(folder / "indices.npy", indices)
    np.save(folder / "indptr.npy", start.astype(np.int32))
    (folder / "shape.json").write_text(json.dumps([n_rows, n_columns]))
    print(
        json.dumps(
            {
                "shape": [n_rows, n_columns],
                "classes": 2,
                "entries": int(indices.shape[0]),
                "dtype": "float64",
                "index_dtype": "int32",
                "matrix_bytes": int(12 * indices.shape[0] + 4 * (n_rows + 1)),
                "non_empty_columns": int(np.unique(indices).shape[0]),
            }
        )
    )


def load(folder: Path) -> tuple[Any, Any]:
    from scipy import sparse

    parts = [np.load(folder / f"{part}.npy") for part in ("data", "indices", "indptr")]
    shape = tuple(json.loads((folder / "shape.json").read_text()))
    return sparse.csr_matrix(tuple(parts), shape=shape), np.load(folder / "y.npy")


def run_side(folder: Path, side: str) -> None:
    """Run one side on the stored matrix and print what it took."""
    from sklearn.feature_selection import chi2

    import bayesieve

    X, y = load(folder)
    screener = bayesieve.L0Screener()
    before = peak_bytes()
    seconds, _ = timed(
        lambda: screener.fit(X, y) if side == "L0Screener" else chi2(X, y)
    )
    extra = peak_bytes() - before
    result: dict[str, Any] = {
        "seconds": seconds,
        "extra_bytes": extra,
        "extra_arrays": extra / (8 * X.shape[1]),
    }
    if side == "L0Screener":
        result["selected"] = int(screener.support_.sum())
    print(json.dumps(result))


def run_information(folder: Path) -> None:
    """Run ours and mutual_info_classif on the stored matrix; print the seconds."""
    from sklearn.feature_selection import mutual_info_classif

    import bayesieve

    X, y = load(folder)
    ours = []
    for _ in range(5):
        seconds, screener = timed(lambda: bayesieve.L0Screener().fit(X, y))
        ours.append(seconds)
    theirs, information = timed(
        lambda: mutual_info_classif(X, y, discrete_features=True)
    )
    # Truncation changes a score unless every class has the column and lacks it.
    count = np.array([X[y == label].sum(axis=0).A1 for label in (0, 1)])
    rows = np.bincount(y)[:, None]
    inner = ((count >= 1) & (count <= rows - 1)).all(axis=0)
    print(
        json.dumps(
            {
                "ours_seconds": ours,
                "theirs_seconds": theirs,
                "columns_without_truncation": int(inner.sum()),
                "largest_difference": float(
                    np.abs(screener.scores_[inner] - information[inner]).max()
                ),
            }
        )
    )


def parse() -> argparse.Namespace:
    parser = option_parser("screening_speed", __doc__)
    parser.add_argument("--make", type=int, nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--information", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = parse()
    if options.make:
        make_matrix(options.folder, *options.make)
        return
    if options.side:
        run_side(options.folder, options.side)
        return
    if options.information:
        run_information(options.folder)
        return
    if options.quick:
        wide, narrow, repeats = (500, 200_000, 1_000), (500, 1_000, 300), 1
    else:
        wide, narrow, repeats = (2_000, 10_000_000, 15_000), (2_000, 20_000, 2_000), 5
    runs: dict[str, list[Any]] = {side: [] for side in SIDES}
    with tempfile.TemporaryDirectory() as folder:
        place = ["--folder", folder]
        data = in_own_process(SCRIPT, ["--make", *map(str, wide), *place])
        print(data)
        for _ in range(repeats):
            for side in SIDES:
                run = in_own_process(SCRIPT, ["--side", side, *place])
                print(
                    f"{side}: {run['seconds']:.3f} s, {run['extra_arrays']:.1f} arrays"
                )
                runs[side].append(run)
        narrow_data = in_own_process(SCRIPT, ["--make", *map(str, narrow), *place])
        print(narrow_data)
        information = in_own_process(SCRIPT, ["--information", *place])
    best = {
        side: {
            "seconds": min(run["seconds"] for run in values),
            "extra_arrays": min(run["extra_arrays"] for run in values),
        }
        for side, values in runs.items()
    }
    difference = best["L0Screener"]["seconds"] - best["chi2"]["seconds"]
    ratio = information["theirs_seconds"] / min(information["ours_seconds"])
    print(
        f"mutual_info_classif {information['theirs_seconds']:.2f} s, ours "
        f"{1e3 * min(information['ours_seconds']):.1f} ms, scores differ by at most "
        f"{information['largest_difference']:.1g}"
    )
    targets = [
        target("L0Screener minus chi2, seconds", difference, least=-np.inf, most=2),
        target(
            "L0Screener, extra peak memory in arrays of length p",
            best["L0Screener"]["extra_arrays"],
            most=8,
        ),
        target("mutual_info_classif / L0Screener, seconds", ratio, least=100),
    ]
    results = {
        "data": data,
        "best": best,
        "targets": targets,
        "runs": runs,
        "information_data": narrow_data,
        "information": information,
    }
    report("screening_speed", options, SEED, results)


if __name__ == "__main__":
    main()
