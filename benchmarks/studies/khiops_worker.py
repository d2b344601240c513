"""Khiops' side of khiops_comparison: runs inside Khiops' own environment.

One process for one data set: Python, its imports and the first call of Khiops are over
before anything is measured. Commands come as JSON lines on stdin, one answer line each:

    {"do": "fit", "fold": 3}    fit on that fold's training rows; with "proba", a path,
                                also predict its test rows and write them as .npy
    {"do": "end"}

The classifier gets neither trees nor pairs nor constructed features: the univariate
preparation and the naive Bayes on the original variables, which is what we compare.
"""

from __future__ import annotations

import contextlib
import gc
import json
import pickle
import sys
import time
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

SETTINGS = {"n_features": 0, "n_pairs": 0, "n_trees": 0, "n_text_features": 0}


class Stopwatch:
    """Sums the seconds of calls of the Khiops program, from start to end of it."""

    def __init__(self, runner: Any) -> None:
        self.seconds = 0.0
        self._call = runner.raw_run
        runner.raw_run = self._timed

    def _timed(self, *arguments: Any, **options: Any) -> Any:
        begin = time.perf_counter()
        try:
            return self._call(*arguments, **options)
        finally:
            self.seconds += time.perf_counter() - begin


def frame_of(columns: list[tuple[str, np.ndarray]]) -> pd.DataFrame:
    """Return the table; text columns came as object arrays of str and None."""
    return pd.DataFrame({name: pd.Series(values) for name, values in columns})


def fit(classifier: Any, X: Any, y: Any, watch: Stopwatch) -> dict[str, Any]:
    """Fit and return seconds of the call, of the Khiops program, and what was kept."""
    watch.seconds = 0.0
    gc.collect()
    gc.disable()
    try:
        begin = time.perf_counter()
        classifier.fit(X, y)
        seconds = time.perf_counter() - begin
    finally:
        gc.enable()
    inside = watch.seconds
    predictor = classifier.model_report_.modeling_report.get_snb_predictor()
    # Nothing informative: the report has no list of selected variables.
    kept = predictor.selected_variables or []
    return {"seconds": seconds, "inside": inside, "kept": len(kept)}


def serve(path: str) -> None:
    """Answer commands about the pickled data set until told to end."""
    from khiops.core.internals.runner import get_runner
    from khiops.sklearn import KhiopsClassifier

    # Written by the parent a moment ago, in a folder of its own.
    with open(path, "rb") as file:
        stored = pickle.load(file)
    X, y, folds = frame_of(stored["columns"]), stored["y"], stored["folds"]
    watch = Stopwatch(get_runner())
    tiny = pd.DataFrame({"x": np.arange(40.0)})
    KhiopsClassifier(**SETTINGS).fit(tiny, np.arange(40) // 20)
    answer: dict[str, Any] = {
        "khiops": version("khiops"),
        "khiops-core": version("khiops-core"),
        "python": sys.version.split()[0],
    }
    while True:
        print(json.dumps(answer), file=ANSWERS, flush=True)
        line = sys.stdin.readline()
        if not line or json.loads(line)["do"] == "end":
            return
        asked = json.loads(line)
        train, test = folds[asked["fold"]]
        classifier = KhiopsClassifier(**SETTINGS)
        answer = fit(classifier, X.iloc[train], y[train], watch)
        answer["classes"] = [int(c) for c in classifier.classes_]
        if asked.get("proba"):
            proba = classifier.predict_proba(X.iloc[test])
            np.save(asked["proba"], np.asarray(proba, dtype=np.float64))


# Whatever Khiops or MPI prints must not get between the answers.
ANSWERS = sys.stdout

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr):
        serve(sys.argv[1])
