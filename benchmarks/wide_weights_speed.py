"""Seconds of screening and weights at a wanted k, beside l1 regression and RFE.

In one run, the sides in turns:

- IMDB and 20 newsgroups (bodies only), 0.1, 1 and 5 % of the words: our two weighted
  models at that k, and ONE l1 fit of liblinear (one class against the rest for 20) at
  the C that gives that k. C is found beforehand, or taken from the ledger of
  `studies/wide_weights.py`, and its search is not timed: the goal is to beat the one
  fit, not the search. On IMDB also RFE (`step=0.1`), once.
- 1.6 million generated documents x 12 million columns with 40 million non-zeros
  (`fit_sparse.py` makes them), k = 1,200: seconds and peak memory of a process of its
  own, the matrix included.
- A path of 50 points with ten-fold cross-validation on IMDB.

Counts are made beforehand. liblinear gets them as float64, ours as `CountVectorizer`
gives them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from measurement import (
    HERE,
    in_own_process,
    interleaved,
    option_parser,
    peak_bytes,
    report,
    target,
    timed,
)

sys.path.append(str(HERE / "studies"))

from ledger import read_parts

SEED = 20240307
SHARES = (0.1, 1.0, 5.0)  # percent
PARTS = ("imdb", "newsgroups20", "wide", "path")
OURS = ("SelectiveMultinomialNB", "SelectiveBernoulliNB")
WIDE_K = 1_200
STUDY = HERE / "studies" / "results" / "wide_weights"


# ----------------------------------------------------------- the models of this library


def ours(name: str, k: int) -> Any:
    """Return one of our weighted models at a wanted k."""
    import bayesieve

    return getattr(bayesieve, name)(k=k)


def cross_validated(points: int) -> Any:
    """Return the model that chooses from a path of that many points on ten folds."""
    from bayesieve import SelectiveMultinomialNBCV

    return SelectiveMultinomialNBCV(
        regularization=points, cv=10, scoring="neg_log_loss"
    )


def named_here() -> list[str]:
    """Return which of our models this version has."""
    import bayesieve

    return [name for name in OURS if hasattr(bayesieve, name)]


# ------------------------------------------------------------------------- text sets


def stored_penalty(name: str, share: float, k: int) -> float | None:
    """Return the C that the study found for the same rows and k, if it has."""
    content = read_parts(STUDY).get(f"l1_logistic/{name}", {"rows": {}})
    for row in content["rows"].get(f"l1_logistic {share:g}", []):
        facts = dict(zip(content["columns"], row, strict=True))
        if facts["k"] == k and facts["C"] is not None:
            return float(facts["C"])
    return None


def fit_quietly(make: Any, X: Any, y: np.ndarray) -> Any:
    """Fit a new model; a gap or an iteration limit is noted elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make().fit(X, y)


def text_set(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds of every side at every size on one text set."""
    import wide_peers as peers
    from wide_sets import Part, counted, load, wanted_sizes

    part = counted(load(name), 0)
    if options.quick:
        rows = np.random.default_rng(SEED).permutation(part.y_train.shape[0])[:1_000]
        X = part.X_train[rows]
        X = X[:, np.flatnonzero(np.diff(X.tocsc().indptr))]
        part = Part(X, part.y_train[rows], part.X_test, part.y_test)
    X, y = part.X_train, part.y_train
    as_float = X.astype(np.float64)
    n_classes = int(y.max()) + 1
    sizes = []
    for share, k in zip(SHARES, wanted_sizes(X.shape[1], SHARES), strict=True):
        C = None if options.quick else stored_penalty(name, share, k)
        if C is None:
            print(f"{name}: searching C for k = {k}", flush=True)
            C = peers.search_penalty(peers.l1_logistic, as_float, y, k, loss="log").C
        l1 = partial(peers.l1_logistic, C, n_classes)
        found = peers.used_columns(fit_quietly(l1, as_float, y)).shape[0]
        sides: dict[str, Any] = {
            side: partial(fit_quietly, partial(ours, side, k), X, y)
            for side in named_here()
        }
        features = {side: feature_count(run()) for side, run in sides.items()}
        sides["l1 logistic regression"] = partial(fit_quietly, l1, as_float, y)
        features["l1 logistic regression"] = int(found)
        seconds = interleaved(sides, options.repeats)
        if name == "imdb" and options.rfe:
            seconds["RFE"] = [timed(lambda: peers.eliminate(as_float, y, k))[0]]  # noqa: B023
        best = {side: min(values) for side, values in seconds.items()}
        sizes.append(
            {
                "share": share,
                "k": k,
                "C": C,
                "features": features,
                "best": best,
                "ratios": ratios(best),
                "seconds": seconds,
            }
        )
        tell(name, sizes[-1])
    return {"shape": list(X.shape), "entries": int(X.nnz), "sizes": sizes}


def feature_count(model: Any) -> int:
    """Return how many columns a fitted model of ours uses."""
    return int(np.count_nonzero(model.support_))


def ratios(best: dict[str, float]) -> dict[str, dict[str, float]]:
    """Return peer -> model of ours -> how many times faster ours is."""
    return {
        peer: {side: value / best[side] for side in best if side in OURS}
        for peer, value in best.items()
        if peer not in OURS
    }


def tell(name: str, size: dict[str, Any]) -> None:
    """Print the seconds and ratios of one size."""
    print(f"{name}, k = {size['k']}:", flush=True)
    for side, value in size["best"].items():
        print(f"  {side}: {value:.3f} s, {size['features'].get(side, '')} words")
    for peer, values in size["ratios"].items():
        for side, ratio in values.items():
            print(f"  {side} is {ratio:.2f} times as fast as {peer}")


# -------------------------------------------------------------------- generated, path


def fit_wide(folder: Path, name: str) -> None:
    """Fit one of ours on the stored matrix and print what it took (own process)."""
    from scipy import sparse

    parts = [np.load(folder / f"{part}.npy") for part in ("data", "indices", "indptr")]
    shape = tuple(json.loads((folder / "shape.json").read_text()))
    X = sparse.csr_matrix(tuple(parts), shape=shape)
    y = np.load(folder / "y.npy")
    del parts
    before = peak_bytes()
    begin = time.process_time()
    k = min(WIDE_K, shape[1] // 100)
    seconds, model = timed(partial(fit_quietly, partial(ours, name, k), X, y))
    result = {
        "k": k,
        "features": feature_count(model),
        "seconds": seconds,
        "processor_seconds": time.process_time() - begin,
        "peak_before": before,
        "peak": peak_bytes(),
    }
    print(json.dumps(result))


def wide(options: argparse.Namespace) -> dict[str, Any]:
    """Return the runs on the generated documents, each in its own process."""
    size = (1_600_000, 12_000_000, 40_000_000)
    if options.quick:
        size = (20_000, 150_000, 500_000)
    runs: dict[str, list[Any]] = {name: [] for name in named_here()}
    with tempfile.TemporaryDirectory() as folder:
        place = ["--folder", folder]
        data = in_own_process("fit_sparse.py", ["--make", *map(str, size), *place])
        for _ in range(options.repeats):
            for name in runs:
                run = in_own_process(
                    "wide_weights_speed.py", ["--fit-wide", name, *place]
                )
                runs[name].append(run)
                print(
                    f"{name} on {size[0]:,} x {size[1]:,}: {run['seconds']:.1f} s, "
                    f"peak {run['peak'] / 1e9:.2f} GB",
                    flush=True,
                )
    return {"data": data, "runs": runs}


def path(options: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds of the cross-validated path on IMDB."""
    from wide_sets import counted, load

    part = counted(load("imdb"), 0)
    X, y = part.X_train, part.y_train
    points = 50
    if options.quick:
        X, y, points = X[::25], y[::25], 10
    seconds, model = timed(partial(fit_quietly, partial(cross_validated, points), X, y))
    accuracy = float(np.mean(model.predict(part.X_test) == part.y_test))
    words = feature_count(model)
    print(
        f"{points} points on ten folds: {seconds:.1f} s; {words} words, test accuracy "
        f"{accuracy:.4f}"
    )
    return {
        "points": points,
        "folds": 10,
        "rows": int(X.shape[0]),
        "seconds": seconds,
        "features": words,
        "test_accuracy": accuracy,
    }


# ------------------------------------------------------------------------------- main


def targets_of(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what was asked for, against the multinomial model."""
    found = []
    asked = {
        ("imdb", "l1 logistic regression"): 1,
        ("imdb", "RFE"): 10,
        ("newsgroups20", "l1 logistic regression"): 10,
    }
    for (name, peer), least in asked.items():
        for size in results.get(name, {}).get("sizes", []):
            ratio = size["ratios"].get(peer, {}).get(OURS[0])
            if ratio is not None:
                title = f"{name}, k = {size['k']}: {peer} / {OURS[0]}, seconds"
                found.append(target(title, ratio, least=least))
    for name, runs in results.get("wide", {}).get("runs", {}).items():
        seconds = min(run["seconds"] for run in runs)
        peak = max(run["peak"] for run in runs) / 1e9
        found.append(target(f"wide, {name}: seconds", seconds, most=60))
        found.append(target(f"wide, {name}: peak GB", peak, most=8))
    return found


def parse() -> argparse.Namespace:
    parser = option_parser("wide_weights_speed", __doc__)
    add = parser.add_argument
    add("--parts", default=",".join(PARTS), help="with commas between (%(default)s)")
    add("--repeats", type=int, help="repetitions of each side (5, quick: 1)")
    add("--no-rfe", dest="rfe", action="store_false", help="leave out RFE")
    add("--fit-wide", choices=OURS, help=argparse.SUPPRESS)
    add("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.parts = options.parts.split(",")
    wrong = set(options.parts) - set(PARTS)
    if wrong:
        parser.error(f"no part is named {', '.join(wrong)}: {', '.join(PARTS)}")
    options.repeats = options.repeats or (1 if options.quick else 5)
    return options


def main() -> None:
    options = parse()
    if options.fit_wide:
        fit_wide(options.folder, options.fit_wide)
        return
    if not named_here():
        print(f"no {' or '.join(OURS)} here: the peers alone are measured")
    results: dict[str, Any] = {}
    # First what measures memory: a child is given the peak of its parent.
    if "wide" in options.parts and named_here():
        results["wide"] = wide(options)
    for name in ("imdb", "newsgroups20"):
        if name in options.parts:
            results[name] = text_set(name, options)
    if "path" in options.parts and named_here():
        results["path"] = path(options)
    results["targets"] = targets_of(results)
    report("wide_weights_speed", options, SEED, results)


if __name__ == "__main__":
    main()
