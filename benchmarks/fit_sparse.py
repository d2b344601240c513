"""Fit on a 1.6 million x 12 million count matrix, against scikit-learn.

A CSR matrix of the types that `CountVectorizer` gives (int64 counts, int32 indices),
without duplicates, indices sorted, 40 million non-zeros. Every fit runs in a process of
its own that loads the matrix, notes its peak memory, fits, and notes the peak again:
the difference is what fitting needs over the matrix. The four estimators take turns.
Beside the seconds on the wall, those of all processors together are noted.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from measurement import in_own_process, option_parser, peak_bytes, report, target, timed

SEED = 20240301
K = 1_000
PAIRS = {
    "SparseMultinomialNB": "MultinomialNB",
    "SparseBernoulliNB": "BernoulliNB",
}


def make_matrix(folder: Path, n_rows: int, n_columns: int, entries: int) -> None:
    """Write rows of Zipf-like words whose use depends on the class."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, 2, n_rows, dtype=np.int64)
    draws = int(1.3 * entries)
    row = rng.integers(0, n_rows, draws, dtype=np.int64)
    # 1/rank: the logarithm of the rank is uniform.
    column = (n_columns ** rng.random(draws)).astype(np.int64) - 1
    # In class 1, some uses of a word go to its neighbour: each pair has its own share.
    tilt = rng.random(n_columns // 2 + 1)
    moved = (y[row] == 1) & (rng.random(draws) < tilt[column // 2] ** 4)
    column[moved] = np.minimum(column[moved] | 1, n_columns - 1)
    column = rng.permutation(n_columns)[column]  # words come in no order of frequency
    keys, values = np.unique(row * n_columns + column, return_counts=True)
    if keys.shape[0] > entries:
        keep = np.sort(rng.permutation(keys.shape[0])[:entries])
        keys, values = keys[keep], values[keep]
    row = keys // n_columns
    start = np.searchsorted(row, np.arange(n_rows + 1))
    np.save(folder / "y.npy", y)
    np.save(folder / "data.npy", values.astype(np.int64))
    np.save(folder / "indices.npy", (keys % n_columns).astype(np.int32))
    np.save(folder / "indptr.npy", start.astype(np.int32))
    (folder / "shape.json").write_text(json.dumps([n_rows, n_columns]))
    print(
        json.dumps(
            {
                "shape": [n_rows, n_columns],
                "entries": int(keys.shape[0]),
                "dtype": "int64",
                "index_dtype": "int32",
                "matrix_bytes": int(12 * keys.shape[0] + 4 * (n_rows + 1)),
                "non_empty_columns": int(np.unique(keys % n_columns).shape[0]),
            }
        )
    )


def fit_one(folder: Path, name: str) -> None:
    """Fit one estimator on the stored matrix and print what it took."""
    import sklearn.naive_bayes
    from scipy import sparse

    import bayesieve

    model: Any
    if name in PAIRS:
        model = getattr(bayesieve, name)(k=K)
    else:
        model = getattr(sklearn.naive_bayes, name)()
    parts = [np.load(folder / f"{part}.npy") for part in ("data", "indices", "indptr")]
    shape = tuple(json.loads((folder / "shape.json").read_text()))
    X = sparse.csr_matrix(tuple(parts), shape=shape)
    y = np.load(folder / "y.npy")
    before = peak_bytes()
    begin = time.process_time()
    seconds, _ = timed(lambda: model.fit(X, y))
    result = {
        "seconds": seconds,
        "processor_seconds": time.process_time() - begin,
        "before": before,
        "extra": peak_bytes() - before,
    }
    if name in PAIRS:
        certificate = model.certificate_
        result |= {
            "k": model.k_,
            "is_optimal": certificate.is_optimal,
            "nodes": certificate.nodes,
        }
    print(json.dumps(result))


def parse() -> argparse.Namespace:
    parser = option_parser("fit_sparse", __doc__)
    parser.add_argument("--make", type=int, nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--fit", choices=[*PAIRS, *PAIRS.values()])
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = parse()
    if options.make:
        make_matrix(options.folder, *options.make)
        return
    if options.fit:
        fit_one(options.folder, options.fit)
        return
    if options.quick:
        size, repeats = (20_000, 150_000, 500_000), 1
    else:
        size, repeats = (1_600_000, 12_000_000, 40_000_000), 5
    with tempfile.TemporaryDirectory() as folder:
        place = ["--folder", folder]
        data = in_own_process("fit_sparse.py", ["--make", *map(str, size), *place])
        print(data)
        runs: dict[str, list[Any]] = {
            name: [] for pair in PAIRS.items() for name in pair
        }
        for _ in range(repeats):
            for name in runs:
                run = in_own_process("fit_sparse.py", ["--fit", name, *place])
                print(
                    f"{name}: {run['seconds']:.3f} s, {run['extra'] / 1e6:.0f} MB more"
                )
                runs[name].append(run)
    best = {
        name: {
            "seconds": min(run["seconds"] for run in values),
            "processor_seconds": min(run["processor_seconds"] for run in values),
            "extra_bytes": min(run["extra"] for run in values),
        }
        for name, values in runs.items()
    }
    ratios, targets = {}, []
    for ours, theirs in PAIRS.items():
        time_ratio = best[theirs]["seconds"] / best[ours]["seconds"]
        memory = best[ours]["extra_bytes"] / max(best[theirs]["extra_bytes"], 1)
        ratios[ours] = {"times_faster": time_ratio, "share_of_extra_memory": memory}
        print(f"{ours}: {time_ratio:.2f} times faster, {memory:.2f} of the memory")
        if ours == "SparseMultinomialNB":
            targets = [
                target(f"{theirs} / {ours}, seconds", time_ratio, least=4),
                target(f"{ours} / {theirs}, extra peak memory", memory, most=1),
            ]
    results = {
        "k": K,
        "data": data,
        "best": best,
        "ratios": ratios,
        "targets": targets,
        "runs": runs,
    }
    report("fit_sparse", options, SEED, results)


if __name__ == "__main__":
    main()
