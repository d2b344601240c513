"""One contestant of peers.py in a process of its own, or the data they all read.

    peers_worker.py make PART FOLDER [--quick]     writes the rows, prints their shape
    peers_worker.py run PART FOLDER NAME ...       says "ready", then prints one answer

The process that starts these stays small: Linux hands the peak memory of a parent down
to its children.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from peers_contestants import by_name

SEED = 20241115
K = {"text": None, "wide": 1_000}  # text: 1 % of the words
GENE_K = 50
FOLDS = 5
WARM = 5.0  # whoever needs fewer seconds is run a second time, warm


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# ------------------------------------------------------------------------------- data


def make(part: str, folder: Path, quick: bool) -> dict[str, Any]:
    """Write the rows of a part and return what they are."""
    if part.startswith("gene_"):
        return make_genes(part, folder, quick)
    parts = make_text(quick) if part == "text" else make_wide(folder, quick)
    X, y, X_test, y_test, k = parts
    for name, matrix in (("train", X), ("test", X_test)):
        sparse.save_npz(folder / f"{name}.npz", sparse.csr_matrix(matrix), False)
    np.save(folder / "y_train.npy", y)
    np.save(folder / "y_test.npy", y_test)
    return {
        "rows": int(X.shape[0]),
        "test_rows": int(X_test.shape[0]),
        "columns": int(X.shape[1]),
        "entries": int(X.nnz),
        "classes": int(y.max()) + 1,
        "k": k,
    }


def make_text(quick: bool) -> tuple[Any, ...]:
    """Return IMDB as counts, its official split; quick: few of the rows."""
    import text_vectors

    data = text_vectors.load("imdb")
    if quick:
        few = slice(None, None, 25)
        data = text_vectors.Texts("imdb", data.rows[few], data.y[few], data.part[few])
    one = text_vectors.vectors(data, "count", 0)
    k = text_vectors.wanted_size(one.X_train.shape[1], 1.0)
    return one.X_train, one.y_train, one.X_test, one.y_test, k


def make_wide(folder: Path, quick: bool) -> tuple[Any, ...]:
    """Return generated counts (fit_sparse.py); a fifth of the rows is the test part."""
    import contextlib
    import io

    import fit_sparse

    size = (5_000, 50_000, 250_000) if quick else (250_000, 1_000_000, 12_500_000)
    with contextlib.redirect_stdout(io.StringIO()):
        fit_sparse.make_matrix(folder, *size)
    fields = tuple(np.load(folder / f"{n}.npy") for n in ("data", "indices", "indptr"))
    X = sparse.csr_matrix(fields, shape=size[:2])
    y = np.load(folder / "y.npy")
    cut = size[0] * 4 // 5
    return X[:cut], y[:cut], X[cut:], y[cut:], K["wide"] // (10 if quick else 1)


def make_genes(name: str, folder: Path, quick: bool) -> dict[str, Any]:
    """Write a set of measurements and its folds; quick: a few of its columns."""
    from sklearn.model_selection import StratifiedKFold

    from measurement import read_data

    frame = read_data(name)
    X = frame.drop(columns="label").to_numpy(dtype=np.float64)
    X = X[:, :1_000] if quick else X
    y = np.unique(frame["label"].to_numpy().astype(str), return_inverse=True)[1]
    fold = np.empty(y.shape[0], dtype=np.int64)
    cuts = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for at, (_, test) in enumerate(cuts.split(X, y)):
        fold[test] = at
    np.savez(folder / "genes.npz", X=X, y=y, fold=fold)
    return {
        "rows": int(X.shape[0]),
        "columns": int(X.shape[1]),
        "classes": int(y.max()) + 1,
        "folds": FOLDS,
        "k": GENE_K,
    }


# ---------------------------------------------------------------------------- measuring


def measured(run: Any, X: Any, y: np.ndarray) -> tuple[Any, dict[str, Any]]:
    """Run once, and once more where that is quick; return the answer and its cost."""
    gc.collect()
    before, seconds = peak_bytes(), []
    for _ in range(2):
        begin, used = time.perf_counter(), time.process_time()
        chosen = run(X, y)
        seconds.append(time.perf_counter() - begin)
        if len(seconds) == 1:
            extra = peak_bytes() - before
            processor = time.process_time() - used
        if seconds[0] > WARM:
            break
    cost = {"seconds": seconds, "processor_seconds": processor}
    return chosen, {**cost, "loaded_bytes": before, "extra_bytes": extra}


def run_sparse(options: argparse.Namespace) -> dict[str, Any]:
    """Select on the training rows, then measure accuracy on the test rows."""
    one = by_name(options.name)
    X = sparse.load_npz(options.folder / "train.npz")
    y = np.load(options.folder / "y_train.npy")
    if one.floats:
        X = X.astype(np.float64)
    run = one.make(options.k, options.penalty, options.limit)
    say({"ready": True})
    chosen, result = measured(run, X, y)
    say({"measured": True})
    X_test = sparse.load_npz(options.folder / "test.npz")
    y_test = np.load(options.folder / "y_test.npy")
    return {
        **result,
        "chosen": int(chosen.support.shape[0]),
        "notes": chosen.notes,
        "accuracy": accuracies(chosen, one.model_on, X, y, X_test, y_test),
    }


def accuracies(
    chosen: Any, model_on: str, X: Any, y: np.ndarray, X_test: Any, y_test: np.ndarray
) -> dict[str, float]:
    """Return the accuracy of the method itself and of two models on its columns."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB

    part, part_test = X[:, chosen.support], X_test[:, chosen.support]
    models = {
        "naive Bayes": MultinomialNB(),
        "logistic regression": LogisticRegression(max_iter=1_000),
    }
    result = {
        name: float(model.fit(part, y).score(part_test, y_test))
        for name, model in models.items()
    }
    if chosen.model is not None:
        rows = part_test if model_on == "chosen" else X_test
        result["own"] = float(np.mean(chosen.model.predict(rows) == y_test))
    return result


def run_genes(options: argparse.Namespace) -> dict[str, Any]:
    """Select in each fold; return what the folds have together."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    stored = np.load(options.folder / "genes.npz")
    X, y, fold = stored["X"], stored["y"], stored["fold"]
    one = by_name(options.name)
    run = one.make(options.k, options.penalty, options.limit)
    say({"ready": True})
    costs, sizes, scores, notes = [], [], {}, []
    for at in range(FOLDS):
        train, test = np.flatnonzero(fold != at), np.flatnonzero(fold == at)
        chosen, cost = measured(run, X[train], y[train])
        costs.append(cost)
        sizes.append(int(chosen.support.shape[0]))
        notes.append(chosen.notes)
        models = {
            "naive Bayes": GaussianNB(),
            "logistic regression": make_pipeline(
                StandardScaler(), LogisticRegression(max_iter=5_000)
            ),
        }
        for name, model in models.items():
            model.fit(X[np.ix_(train, chosen.support)], y[train])
            right = model.predict(X[np.ix_(test, chosen.support)]) == y[test]
            scores.setdefault(name, []).append(float(right.mean()))
        if chosen.model is not None:
            right = chosen.model.predict(X[test]) == y[test]
            scores.setdefault("own", []).append(float(right.mean()))
    say({"measured": True})
    return {
        "seconds": [sum(min(cost["seconds"]) for cost in costs)],
        "processor_seconds": sum(cost["processor_seconds"] for cost in costs),
        "loaded_bytes": costs[0]["loaded_bytes"],
        "extra_bytes": max(cost["extra_bytes"] for cost in costs),
        "chosen": sizes,
        "notes": notes[0],
        "accuracy": {name: float(np.mean(values)) for name, values in scores.items()},
        "standard_error": {
            name: float(np.std(values, ddof=1) / np.sqrt(FOLDS))
            for name, values in scores.items()
        },
    }


# --------------------------------------------------------------------------------- all


CHANNEL = sys.stdout


def say(content: dict[str, Any]) -> None:
    print(json.dumps(content), file=CHANNEL, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", choices=("make", "run"))
    parser.add_argument("part")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name")
    parser.add_argument("--k", type=int)
    parser.add_argument("--penalty", type=float)
    parser.add_argument("--limit", type=float)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    sys.stdout = sys.stderr  # some peers print
    warnings.simplefilter("ignore")
    if options.job == "make":
        say(make(options.part, options.folder, options.quick))
        return
    run = run_genes if options.part.startswith("gene_") else run_sparse
    try:
        answer = {"ended": True, **run(options)}
    except Exception as error:  # a peer's own error is an answer
        why = str(error).strip().splitlines() or [""]
        # A refusal is ours and a plain sentence; errors of a package have their class.
        kind = type(error).__name__
        told = why[0] if kind == "RefusedError" else f"{kind}: {why[0]}"
        answer = {"ended": False, "why": told[:200]}
    say(answer)


if __name__ == "__main__":
    main()
