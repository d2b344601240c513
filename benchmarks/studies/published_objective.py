"""Is our training objective ever below that of the published code? On every count set.

The published code of the paper (naive-feature-selection 0.0.1) bisects the dual and
takes the columns at its last point. Ours searches until the optimum is proven. At the
same k and smoothing, both supports are judged by one formula: the log-likelihood of
sparse multinomial naive Bayes over that of no feature, in nats. The published code
knows two classes: elsewhere it is the largest class against the rest. It has no
smoothing: it gets one more row for each class, full of alpha.

Texts are counted by words, Chinese ones by one and two characters; gene values are
shifted by the minimum of their column, since the model is one of counts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ledger import (
    Ledger,
    data_folder,
    markdown,
    progress,
    read_data,
    read_parts,
    run_script,
)
from peer_environment import DEFAULT, PEERS, PeerWorker
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from smoothing_choice import class_sums
from study_run import names_of, run_study, study_parser
from support_gains import gain_of

import bayesieve

STUDY = "published_objective"
WORDS = (
    "cr",
    "mpqa",
    "sms_spam",
    "trec",
    "amazon_mds",
    "ag_news_test",
    "mr",
    "sst2_sentences",
    "sst2",
    "twitter_s140_sample",
    "newsgroups20",
    "imdb",
)
CHARACTERS = ("chnsenticorp_htl", "thucnews_titles", "online_shopping_10_cats")
TABLES = ("words_basehock", "words_relathe", "uci_spam")
GENES = ("golub", "alon", "khan", "tox171", "all_bt", "bladder", "11tumors")
SIZES = (2, 3, 5, 9, 20, 50, 100, 200, 500, 1_000)
SHARES = (1.0, 5.0, 10.0)  # percent
ALPHAS = (0.0, 0.1, 1.0)
QUICK = ("cr", "words_relathe", "gene_alon")


# -------------------------------------------------------------------------------- sets


def from_texts(name: str) -> tuple[Any, np.ndarray]:
    """Return counts of words, or of characters, and labels."""
    frame = read_data(name)
    if name in CHARACTERS:
        counter = CountVectorizer(analyzer="char", ngram_range=(1, 2))
    else:
        counter = CountVectorizer()
    return counter.fit_transform(frame["text"]), frame["label"].to_numpy()


def from_table(name: str) -> tuple[Any, np.ndarray]:
    """Return a table of numbers, its columns from zero on, and labels."""
    frame = read_data(name)
    labels = frame.pop("label").to_numpy()
    values = frame.drop(columns="split", errors="ignore").to_numpy(dtype=np.float64)
    if name.startswith("gene_"):
        values = np.nan_to_num(values - np.nanmin(values, axis=0))
    return sparse.csr_matrix(values), labels


def from_active(name: str) -> tuple[Any, np.ndarray]:
    """Return dorothea: rows given by the columns that are active."""
    frame = read_data(name)
    sizes = frame["features"].map(len).to_numpy()
    columns = np.concatenate(frame["features"].to_list())
    start = np.append(0, np.cumsum(sizes))
    shape = (len(frame), 100_000)
    rows = sparse.csr_matrix((np.ones(columns.shape[0]), columns, start), shape)
    return rows, frame["label"].to_numpy()


READERS: dict[str, Callable[[str], tuple[Any, np.ndarray]]] = {
    **dict.fromkeys(TABLES, from_table),
    **{f"gene_{name}": from_table for name in GENES},
    "dorothea": from_active,
    **dict.fromkeys(WORDS, from_texts),
    **dict.fromkeys(CHARACTERS, from_texts),
}


def load(name: str) -> tuple[Any, np.ndarray]:
    """Return rows without empty columns, and 1 for the largest class, else 0."""
    X, labels = READERS[name](name)
    values, codes = np.unique(labels, return_inverse=True)
    y = (codes == np.bincount(codes).argmax()).astype(np.int64)
    if len(values) == 2:
        y = codes
    X = sparse.csr_matrix(X)
    used = np.flatnonzero(np.asarray(X.sum(axis=0)).ravel() > 0)
    return X[:, used].astype(np.float64), y


# -------------------------------------------------------------------------------- runs


def wanted_sizes(columns: int) -> list[int]:
    """Return the sizes of one set, rising."""
    shares = [round(columns * share / 100) for share in SHARES]
    return sorted({k for k in (*SIZES, *shares) if 2 <= k < columns})


def compare(name: str, environment: Path, limit: float) -> dict[str, Any]:
    """Return a row for each smoothing and size of one set."""
    X, y = load(name)
    sums, rows = class_sums(X, y), []
    with PeerWorker(X, y, environment) as worker:
        for alpha in ALPHAS:
            for k in wanted_sizes(X.shape[1]):
                begin = time.perf_counter()
                model = bayesieve.NaiveFeatureSelector(k=k, alpha=alpha).fit(X, y)
                seconds = time.perf_counter() - begin
                answer = worker.ask("published", limit=limit, k=k, alpha=alpha)
                if not answer["ended"]:
                    sys.exit(f"The published code on {name}, k = {k}: {answer['why']}")
                theirs = np.array(answer["support"], dtype=np.int64)
                rows.append(
                    [
                        alpha,
                        k,
                        gain_of(sums + alpha, model.support_indices_),
                        gain_of(sums + alpha, theirs),
                        model.certificate_.upper_bound - model.certificate_.objective,
                        int(model.certificate_.is_optimal),
                        round(seconds, 5),
                        round(answer["seconds"], 5),
                    ]
                )
    return {
        "rows": X.shape[0],
        "columns": X.shape[1],
        "classes_joined": bool(len(np.unique(READERS[name](name)[1])) > 2),
        "cells": rows,
    }


# ------------------------------------------------------------------------------ tables


def differences(found: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return ours minus theirs for each cell, and what rounding may explain."""
    ours = np.array([row[2] for row in found["cells"]])
    theirs = np.array([row[3] for row in found["cells"]])
    total = found["columns"] * np.finfo(np.float64).eps
    return ours - theirs, 1e-9 + (1e-12 + total) * np.abs(ours)


def line_of(name: str, found: dict[str, Any]) -> list[str]:
    """Return the line of one set."""
    difference, rounding = differences(found)
    gain = np.array([row[2] for row in found["cells"]])
    share = difference / np.maximum(gain, 1e-300)
    optimal = sum(row[5] for row in found["cells"])
    above = difference > rounding
    at = int(share.argmax())
    return [
        name,
        f"{found['rows']:,}",
        f"{found['columns']:,}",
        f"{len(gain)}",
        f"{optimal}",
        f"{int(np.sum(difference < -rounding))}",
        f"{int(above.sum())}",
        f"{difference.max():.3g}" if above.any() else "0",
        f"{100 * share[at]:{'.0f' if share[at] > 0.1 else '.2g'}} %",
        f"{found['cells'][at][1]:,}",
    ]


def size_lines(sets: dict[str, Any]) -> list[list[str]]:
    """Return a line for each size: how often ours is above, and by what share."""
    lines = []
    for k in SIZES:
        cells = above = 0
        shares = []
        for found in sets.values():
            difference, rounding = differences(found)
            for row, lead, allowed in zip(
                found["cells"], difference, rounding, strict=True
            ):
                if row[1] == k:
                    cells += 1
                    above += bool(lead > allowed)
                    shares.append(lead / row[2] if row[2] > 0 else 0.0)
        if cells:
            middle, mean = np.median(shares), np.mean(shares)
            lines.append(
                [
                    f"{k:,}",
                    f"{cells}",
                    f"{above}",
                    f"{100 * mean:.2g} %",
                    f"{100 * middle:.2g} %",
                ]
            )
    return lines


def document(folder: Path) -> str:
    """Return tables.md."""
    content = read_parts(folder)[STUDY]
    sets = content["rows"]
    lines = [line_of(name, sets[name]) for name in READERS if name in sets]
    cells = sum(len(found["cells"]) for found in sets.values())
    found = [differences(one) for one in sets.values()]
    below = sum(int(np.sum(d < -r)) for d, r in found)
    above = sum(int(np.sum(d > r)) for d, r in found)
    ahead = sum(bool(np.any(d > r)) for d, r in found)
    versions = {**content["packages"], "naive-feature-selection": "0.0.1"}
    return "\n".join(
        [
            "# Training objective: ours and the published code's\n",
            f"{len(sets)} sets, smoothing {', '.join(f'{a:g}' for a in ALPHAS)}, up to "
            f"{len(SIZES) + len(SHARES)} sizes each: {cells} cells. Ours is below the "
            f"published code's in **{below}** and above it in **{above}**, on "
            f"{ahead} of the sets. Above and below are beyond rounding; the lead is in "
            "nats, and as a share of the gain over no feature where it is largest.\n",
            ", ".join(f"{name} {version}" for name, version in versions.items())
            + f"; Python {content['python']}.\n",
            "Set by set:\n",
            markdown(
                [
                    "",
                    "rows",
                    "columns",
                    "cells",
                    "ours proven optimal",
                    "below",
                    "above",
                    "largest lead",
                    "largest share",
                    "at k",
                ],
                lines,
            ),
            "By size; the lead as a share of the gain:\n",
            markdown(["k", "cells", "above", "mean lead", "median"], size_lines(sets)),
        ]
    )


def run(options: argparse.Namespace) -> None:
    """Compare on the sets that are missing, writing after each."""
    store = Ledger(options.folder, STUDY, study=STUDY, peers=PEERS)
    for name in options.sets:
        if name in store:
            continue
        if not (data_folder() / f"{name}.parquet").is_file():
            progress(f"{name} is not here")
            continue
        store.put(name, compare(name, options.environment, options.limit))
        progress(f"{name}: {len(store.rows[name]['cells'])} cells")


def main(arguments: list[str] | None = None) -> None:
    parser = study_parser(STUDY, __doc__, "three small sets")
    parser.add_argument("--environment", type=Path, default=DEFAULT)
    parser.add_argument("--sets", type=names_of(READERS), default=list(READERS))
    parser.add_argument("--limit", type=float, default=300.0)
    options = parser.parse_args(arguments)
    if options.quick:
        options.sets = QUICK
    run_study(STUDY, options, run, document)


if __name__ == "__main__":
    run_script(main)
