"""Experiment 4 of Askari et al.: the nine words of IMDB, beside their Table 4.

Train rows of the official split, k = 9. Four kinds of words: one-letter words too
(`\\w{1,}`, as the paper's counts of features suggest) or scikit-learn's default, with
and without the English stop words of scikit-learn. Three parts:

lists    counts, alpha = 1: the certified optimum, what the published code returns with
         the same smoothing and without any, the words of Table 4, `refine=True` and
         `SelectiveMultinomialNB`. For each list its gain in likelihood, the share of
         the optimum's, the weights log theta+ - log theta-, and test accuracy of naive
         Bayes and of logistic regression (the paper's stage 2) on these nine columns.
search   which setting gives Table 4: kind of words x counts, words present or not,
         tf-idf x alpha, the published code and the optimum.
larger   whether Table 4 is a part of a larger k: the nine largest weights, or gains, of
         the optimum at k = 9 to 40.

`--without-peers` leaves out the published code, which runs in its own environment.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import text_vectors
from ledger import Ledger, progress, run_script
from nine_words_tables import TABLE_4, K, document, draw
from peer_environment import PeerWorker
from scipy import sparse
from sklearn.feature_extraction.text import (
    ENGLISH_STOP_WORDS,
    CountVectorizer,
    TfidfTransformer,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from study_run import run_study, study_parser
from support_gains import gain_of, weights_of

from bayesieve import (
    ClassCounts,
    NaiveFeatureSelector,
    SelectiveMultinomialNB,
    solve_multinomial,
)

STUDY = "nine_words"
TOKENS = {"one letter": r"\w{1,}", "default": r"(?u)\b\w\w+\b"}
LARGEST_SIZE = 40
LIMIT = 600.0  # seconds for the published code
QUICK_ROWS = 4_000


@dataclass(frozen=True)
class Rows:
    """Both sides of the split over one choice of words."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    names: np.ndarray

    def over(self, keep: np.ndarray) -> Rows:
        """Return the same rows over some of the words."""
        columns = np.flatnonzero(keep)
        return Rows(
            self.X[:, columns],
            self.y,
            self.X_test[:, columns],
            self.y_test,
            self.names[columns],
        )

    def with_values(self, values: str) -> Rows:
        """Return counts as they are, as 0 and 1, or as tf-idf."""
        if values == "count":
            return self
        if values == "present":
            both = [(X > 0).astype(np.float64) for X in (self.X, self.X_test)]
        else:
            maker = TfidfTransformer().fit(self.X)
            both = [maker.transform(X) for X in (self.X, self.X_test)]
        return Rows(both[0], self.y, both[1], self.y_test, self.names)

    def class_sums(self) -> np.ndarray:
        """Return f-, f+ as a table of two rows."""
        counts = ClassCounts.from_matrix(self.X, self.y).feature_count
        return np.asarray(counts, dtype=np.float64)


def counted(tokens: str, n_rows: int | None) -> Rows:
    """Return the official split as counts of one kind of words."""
    data = text_vectors.load("imdb")
    train, test = text_vectors.split_rows(data, 0)
    if n_rows is not None:  # rows are sorted by class: take every so many
        train, test = (rows[:: max(1, len(rows) // n_rows)] for rows in (train, test))
    maker = CountVectorizer(token_pattern=TOKENS[tokens], dtype=np.float64)
    X = maker.fit_transform(data.rows[train])
    X_test = maker.transform(data.rows[test])
    for side in (X, X_test):
        side.sort_indices()
    names = maker.get_feature_names_out()
    return Rows(X, data.y[train], X_test, data.y[test], names)


def without_stop_words(names: np.ndarray) -> np.ndarray:
    """Return which words are no English stop words of scikit-learn."""
    return np.array([name not in ENGLISH_STOP_WORDS for name in names])


def columns_of(names: np.ndarray, words: Any) -> np.ndarray:
    """Return the columns of some words, sorted."""
    return np.flatnonzero(np.isin(names, list(words)))


def scored(rows: Rows, f: np.ndarray, support: np.ndarray) -> dict[str, Any]:
    """Return words, weights, gain and accuracy of one list; f is smoothed already."""
    weights = weights_of(f, support)
    part, part_test = rows.X[:, support], rows.X_test[:, support]
    stage_two = LogisticRegression(C=1e4, solver="lbfgs", max_iter=100)
    stage_two.fit(part, rows.y)
    order = np.argsort(-weights)
    return {
        "words": rows.names[support][order].tolist(),
        "weights": np.round(weights[order], 4).tolist(),
        "gain": gain_of(f, support),
        "accuracy": accuracy(rows, support, weights),
        "logistic": float(stage_two.score(part_test, rows.y_test)),
        "without": float(np.mean(part_test.getnnz(axis=1) == 0)),
    }


def accuracy(rows: Rows, support: np.ndarray, weights: np.ndarray) -> float:
    """Return the test accuracy of naive Bayes with these weights.

    A review without any of the words, or with a balanced choice of them, has the score
    0; it then counts as negative, as in scikit-learn, where the first class wins a tie.
    """
    prior = np.log((rows.y == 1).sum() / (rows.y == 0).sum())
    said = rows.X_test[:, support] @ weights + prior
    return float(np.mean((said > 0) == (rows.y_test == 1)))


def published(peer: PeerWorker | None, alpha: float) -> np.ndarray | None:
    """Return the columns of the published code; None without it."""
    if peer is None:
        return None
    answer = peer.ask("published", limit=LIMIT, k=K, alpha=alpha)
    if not answer["ended"]:
        raise RuntimeError(f"The published code did not end: {answer['why']}")
    return np.array(answer["support"])


def lists(rows: Rows, peer: PeerWorker | None, alpha: float = 1.0) -> dict[str, Any]:
    """Return every list of nine words of one choice of words."""
    f = rows.class_sums() + alpha
    found = solve_multinomial(rows.class_sums(), K, alpha=alpha)
    certificate = found.certificate
    refined = NaiveFeatureSelector(k=K, alpha=alpha, refine=True).fit(rows.X, rows.y)
    weighted = SelectiveMultinomialNB(k=K, alpha=alpha).fit(rows.X, rows.y)
    supports = {
        "certified optimum": found.support,
        "published code": published(peer, alpha),
        "published code, alpha = 0": published(peer, 0.0),
        "Table 4": columns_of(rows.names, TABLE_4),
        "refine=True": refined.support_indices_,
        "SelectiveMultinomialNB": weighted.support_indices_,
    }
    units = {
        name: scored(rows, f, support)
        for name, support in supports.items()
        if support is not None
    }
    units["SelectiveMultinomialNB"]["own_accuracy"] = float(
        weighted.score(rows.X_test, rows.y_test)
    )
    every = MultinomialNB(alpha=alpha).fit(rows.X, rows.y)
    return {
        "n_words": len(rows.names),
        "n_test": len(rows.y_test),
        "relaxation_gap": certificate.relaxation_bound - certificate.objective,
        "is_optimal": certificate.is_optimal,
        "nodes": certificate.nodes,
        "all_words": float(every.score(rows.X_test, rows.y_test)),
        "lists": units,
    }


def search(rows: Rows, peer: PeerWorker | None, alpha: float) -> dict[str, Any]:
    """Return the nine of the optimum and of the published code in one setting."""
    f = rows.class_sums()
    supports = {
        "certified optimum": solve_multinomial(f, K, alpha=alpha).support,
        "published code": published(peer, alpha),
    }
    unit = {}
    for name, support in supports.items():
        if support is not None:
            weights = weights_of(f + alpha, support)
            unit[name] = {
                "words": rows.names[support].tolist(),
                "weights": np.round(weights, 4).tolist(),
                "gain": gain_of(f + alpha, support),
                "accuracy": accuracy(rows, support, weights),
            }
    return unit


def larger(rows: Rows, alpha: float) -> dict[str, Any]:
    """Return at which k the optimum has all of Table 4, and what its nine first are."""
    f = rows.class_sums()
    wanted = set(TABLE_4)
    unit: dict[str, Any] = {"first_k": None, "by_weight": [], "by_gain": []}
    for k in range(K, min(LARGEST_SIZE, len(rows.names)) + 1):
        solution = solve_multinomial(f, k, alpha=alpha)
        names = rows.names[solution.support]
        weights = weights_of(f + alpha, solution.support)
        for rule, score in (("weight", np.abs(weights)), ("gain", solution.gains)):
            if set(names[np.argsort(-score)[:K]]) == wanted:
                unit[f"by_{rule}"].append(k)
        if unit["first_k"] is None and wanted <= set(names):
            of = dict(zip(names.tolist(), weights.tolist(), strict=True))
            unit["first_k"] = k
            unit["largest_difference"] = max(
                abs(of[word] - printed) for word, printed in TABLE_4.items()
            )
    return unit


def choices(base: Rows) -> Iterator[tuple[str, Rows]]:
    """Give the rows with all words, then without stop words."""
    yield "all words", base
    yield "no stop words", base.over(without_stop_words(base.names))


def run(options: argparse.Namespace) -> None:
    """Do what is missing."""
    n_rows = QUICK_ROWS if options.quick else None
    store = Ledger(options.folder, STUDY, study=STUDY, k=K, n_rows=n_rows)
    for tokens in list(TOKENS)[: 1 if options.quick else None]:
        base = None
        for at in ("all words", "no stop words"):
            place = f"{tokens}, {at}"
            todo = units_of(place, store)
            if not todo:
                continue
            if base is None:
                base = counted(tokens, n_rows)
            do_units(dict(choices(base))[at], place, todo, store, options)


VALUES = ("count", "present", "tf-idf")
ALPHAS = (0.0, 1.0)


def units_of(place: str, store: Ledger) -> list[str]:
    """Return the names of the units that are missing for one choice of words."""
    names = [f"lists: {place}", f"larger: {place}"]
    names += [f"search: {place}, {v}, {a:g}" for v in VALUES for a in ALPHAS]
    return [name for name in names if name not in store]


def do_units(
    rows: Rows,
    place: str,
    todo: list[str],
    store: Ledger,
    options: argparse.Namespace,
) -> None:
    """Do the missing units of one choice of words, a process of peers a vector."""
    for values in VALUES:
        here = rows.with_values(values)
        mine = [
            name for name in todo if name.endswith((f"{values}, 0", f"{values}, 1"))
        ]
        if values == "count":
            mine += [name for name in todo if not name.startswith("search")]
        if not mine:
            continue
        alone = options.without_peers
        with (
            nullcontext()
            if alone
            else PeerWorker(sparse.csr_matrix(here.X), here.y) as peer
        ):
            for name in mine:
                if name.startswith("lists"):
                    unit = lists(here, peer)
                elif name.startswith("larger"):
                    unit = larger(here, 0.0)
                else:
                    unit = search(here, peer, float(name.rsplit(", ", 1)[1]))
                store.put(name, unit)
                progress(f"{name}: done")


def main(arguments: list[str] | None = None) -> None:
    parser = study_parser(STUDY, __doc__, f"{QUICK_ROWS} reviews a side")
    parser.add_argument(
        "--without-peers", action="store_true", help="leave out the published code"
    )
    run_study(STUDY, parser.parse_args(arguments), run, document, draw)


if __name__ == "__main__":
    run_script(main)
