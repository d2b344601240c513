"""Answers of the public classes on real data, to compare two versions of the package.

    python tools/answers.py write before.npz   # with the one version
    python tools/answers.py write after.npz    # with the other
    python tools/answers.py compare before.npz after.npz

Supports, bounds, weights and probabilities, by name. A parameter that has changed its
name is given by whichever name the class has; see `RENAMED`. The data sets are those of
the tests (`BAYESIEVE_DATA`), and a set that is not there is left out with a line.
"""

from __future__ import annotations

import inspect
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

import bayesieve
from bayesieve import ClassCounts

DATA = Path(os.environ.get("BAYESIEVE_DATA", "../shared/data"))
TEXTS = ("sms_spam", "cr", "mr", "trec", "ag_news_test")
GENES = ("gene_golub", "gene_khan", "gene_alon")
TABLES = (
    *("uci_iris", "uci_heart", "uci_crx", "uci_horsecolic", "uci_vehicle"),
    *("uci_tictactoe", "uci_soybean", "uci_mushroom", "uci_spam", "uci_adult"),
)
RENAMED = {
    "regularization": "penalty",
    "k": "max_features",
    "time_limit": "max_seconds",
}
ROWS = 400  # of each set whose probabilities are written

Answers = Iterator[tuple[str, Any]]


def make(name: str, **parameters: Any) -> Any:
    """Return an estimator of either version."""
    cls = getattr(bayesieve, name)
    known = inspect.signature(cls).parameters
    own = {
        key if key in known else RENAMED.get(key, key): value
        for key, value in parameters.items()
    }
    if "random_state" in known:
        own.setdefault("random_state", 0)
    return cls(**own)


def facts(name: str, model: Any, X: Any = None) -> Answers:
    """Whatever of the usual facts a fitted model has."""
    for attribute in (
        *("support_indices_", "scores_", "weights_", "k_", "k_best_", "k_1se_"),
        *("alpha_", "lambda_", "dual_gap_", "criterion_", "feature_importances_"),
        *("theta_", "levels_", "costs_", "class_intercept_"),
    ):
        value = getattr(model, attribute, None)
        if value is not None:
            yield f"{name}.{attribute}", value
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        for field in ("objective", "upper_bound", "relaxation_bound", "null_objective"):
            if hasattr(certificate, field):
                yield f"{name}.certificate.{field}", getattr(certificate, field)
    if X is not None:
        for method in ("predict_log_proba", "transform"):
            if hasattr(model, method):
                value = getattr(model, method)(X)
                value = value.toarray() if hasattr(value, "toarray") else value
                yield f"{name}.{method}", np.asarray(value, dtype=object)


def of_texts(frame: pd.DataFrame) -> Answers:
    """Counts, solutions, paths and classifiers of a text set."""
    texts, y = frame["text"].tolist(), frame["label"].to_numpy()
    for options in ({}, {"ngram_range": (1, 2), "min_df": 2}, {"tfidf": True}):
        counts = ClassCounts.from_text([(texts, y)], **options)
        name = f"counts{sorted(options)}"
        table = counts.feature_count
        table = table if isinstance(table, np.ndarray) else table.toarray()
        yield f"{name}.names", np.asarray(counts.feature_names)[::97]
        yield f"{name}.table", table.sum(axis=1)
        yield f"{name}.some", table[:, ::97]
        yield f"{name}.documents", counts.document_count[:, ::97]
        for k in (2, 10, 100):
            found = bayesieve.solve_multinomial(counts, k)
            yield f"{name}.solve{k}.support", found.support
            yield f"{name}.solve{k}.bound", found.certificate.upper_bound
    yield "path", bayesieve.sparsity_path(counts).objective
    for weights in (False, True):
        model = make("SparseTextNB", k=100, weights=weights).fit(texts, y)
        yield from facts(f"SparseTextNB(weights={weights})", model, texts[:ROWS])
    X = CountVectorizer(min_df=2).fit_transform(texts)
    yield from of_matrix(X, y)


def of_matrix(X: Any, y: Any) -> Answers:
    """Selectors and classifiers of a matrix of counts."""
    for name, parameters in (
        ("SparseMultinomialNB", {"k": 50}),
        ("SparseMultinomialNBCV", {}),
        ("SparseBernoulliNB", {"k": 50}),
        ("SparseBernoulliNBCV", {}),
        ("NaiveFeatureSelector", {"k": 30}),
        ("NaiveFeatureSelector", {"k": 30, "model": "bernoulli", "binarize": 0.0}),
        ("NaiveFeatureSelector", {"k": 30, "refine": True}),
        ("L0Screener", {"binarize": 0.0}),
        ("L0Screener", {"binarize": 0.0, "regularization": 3.0}),
        ("L1Screener", {"binarize": 0.0}),
        ("L1Screener", {"binarize": 0.0, "criterion": "cv"}),
        ("PearsonScreener", {"binarize": 0.0}),
        ("FDRScreener", {"binarize": 0.0}),
        ("SelectiveMultinomialNB", {}),
        ("SelectiveMultinomialNB", {"k": 50}),
        ("SelectiveMultinomialNB", {"regularization": 5.0, "exponent": 0.9}),
        ("SelectiveBernoulliNB", {"k": 50}),
    ):
        model = make(name, **parameters).fit(X, y)
        yield from facts(f"{name}{parameters}", model, X[:ROWS])


def of_genes(frame: pd.DataFrame) -> Answers:
    """Measurements: the Gaussian model and partitions."""
    X, y = frame.drop(columns=["label", "split"], errors="ignore"), frame["label"]
    for name, parameters in (
        ("SparseGaussianNB", {"k": 20}),
        ("SparseGaussianNB", {"k": 20, "variance": "pooled"}),
        ("NaiveFeatureSelector", {"k": 20, "model": "gaussian"}),
        ("SelectiveNB", {}),
    ):
        model = make(name, **parameters).fit(X, y)
        yield from facts(f"{name}{parameters}", model, X.iloc[:ROWS])


def of_table(frame: pd.DataFrame) -> Answers:
    """A mixed table: partitions, weights by every optimiser, a stream."""
    X, y = frame.drop(columns=["label", "split"], errors="ignore"), frame["label"]
    yield from facts("MODLEncoder", make("MODLEncoder").fit(X, y), X.iloc[:ROWS])
    slow = X.shape[0] > 5000
    for optimizer in (
        *("auto", "convex", "coordinate"),
        *(() if slow else ("vns", "multistart", "gradient")),
    ):
        model = make("SelectiveNB", optimizer=optimizer).fit(X, y)
        yield from facts(f"SelectiveNB({optimizer})", model, X.iloc[:ROWS])
    yield from facts("SelectiveNB(k=3)", make("SelectiveNB", k=3).fit(X, y))
    yield from facts("AveragedNB", make("AveragedNB").fit(X, y), X.iloc[:ROWS])
    stream = make("SelectiveNB")
    for first in range(0, min(X.shape[0], 2000), 500):
        rows = slice(first, first + 500)
        stream.partial_fit(X.iloc[rows], y.iloc[rows], classes=np.unique(y))
    yield from facts("stream", stream, X.iloc[:ROWS])


def write(path: str) -> None:
    """Compute everything, and write it to one file."""
    answers: dict[str, Any] = {}
    kinds: tuple[tuple[tuple[str, ...], Callable[[Any], Answers]], ...] = (
        (TEXTS, of_texts),
        (GENES, of_genes),
        (TABLES, of_table),
    )
    for names, answer in kinds:
        for name in names:
            place = DATA / f"{name}.parquet"
            if not place.exists():
                print(f"{name}: not there", file=sys.stderr)
                continue
            begin = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for key, value in answer(pd.read_parquet(place)):
                    answers[f"{name}: {key}"] = np.asarray(value, dtype=object)
            spent = time.perf_counter() - begin
            print(f"{name}: {spent:.1f} s", file=sys.stderr, flush=True)
    np.savez_compressed(path, **{"answers": np.array(answers, dtype=object)})


def compare(before: str, after: str) -> int:
    """Print what differs, and how far; exit code 1 if anything does."""
    first, second = (
        np.load(path, allow_pickle=True)["answers"].item() for path in (before, after)
    )
    different = 0
    for key in sorted(first.keys() | second.keys()):
        if key not in first or key not in second:
            print(f"{key}: only in {before if key in first else after}")
            different += 1
            continue
        a, b = first[key], second[key]
        if a.shape != b.shape:
            print(f"{key}: shapes {a.shape} and {b.shape}")
            different += 1
            continue
        same = np.array(
            [x == y or (x != x and y != y) for x, y in zip(a.flat, b.flat, strict=True)]
        )
        if same.all():
            continue
        different += 1
        try:
            x, y = a.astype(float), b.astype(float)
            far = np.nanmax(np.abs(x - y)) / max(np.nanmax(np.abs(x)), 1e-300)
            print(f"{key}: {np.mean(~same):.1%} of values, by {far:.2g} of the largest")
        except (TypeError, ValueError):
            print(f"{key}: {np.mean(~same):.1%} of values")
    print(f"{len(first)} answers before, {len(second)} after, {different} differ")
    return int(different > 0)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "write":
        write(sys.argv[2])
    elif len(sys.argv) == 4 and sys.argv[1] == "compare":
        sys.exit(compare(*sys.argv[2:]))
    else:
        sys.exit(__doc__)
