"""Experiment 2 of Askari, d'Aspremont and El Ghaoui: no limit on the features.

The five texts and four vectors of text_vectors.py with every term of the training rows,
0.01, 0.05, 0.1 and 1 % of the columns kept. Stage 1 selects: the likelihood
(`NaiveFeatureSelector`, plain and refined by weights), thresholded multinomial naive
Bayes, odds ratio, and the paper's published code for its run time and its objective.
Stage 2 is `MultinomialNB` on the chosen columns. One alpha serves all of a split: the
best of ten in ten-fold cross-validation of `MultinomialNB` on its training rows.

Seconds are of the selection from the matrix, text counting apart; the sides of one size
are measured in turns and the best of three counts (one where a run takes more than a
second). The work goes split by split, so that stopping anywhere leaves a balanced
result; the same command goes on from there, and `--again` begins anew.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ledger import Ledger, progress, run_script
from peer_environment import DEFAULT, PEERS, PeerWorker
from smoothing_choice import FOLDS
from study_run import at_least_one, names_of, run_study, study_parser
from text_vectors import (
    NAMES,
    SEED,
    TITLES,
    VECTORS,
    Texts,
    available,
    load,
    vectors,
    wanted_size,
)
from unlimited_cells import ALPHAS, COLUMNS, Job, cell, prepared
from unlimited_tables import PERCENTS, document, figure

STUDY = "unlimited_features"
SPLITS = {"mpqa": 10, "amazon": 5, "sst2": 5, "twitter": 5, "imdb": 2}
QUICK = {"mpqa": 1}
LIMIT = 900.0  # seconds for one answer of the published code


def book_of(name: str, vector: str, folder: Path) -> Ledger:
    """Return the ledger of one set and vector."""
    return Ledger(
        folder,
        f"{name}_{vector}",
        columns=COLUMNS,
        study=STUDY,
        data=name,
        vector=vector,
        seed=SEED,
        alphas=list(ALPHAS),
        folds=FOLDS,
        published=PEERS["naive-feature-selection"],
    )


def missing(book: Ledger, split: int) -> list[float]:
    """Return the shares of columns that a split still lacks."""
    return [p for p in PERCENTS if book.done(f"{p:g}") <= split]


def do_split(data: Texts, vector: str, split: int, options: argparse.Namespace) -> None:
    """Do what is missing of one split, writing after every size."""
    book = book_of(data.name, vector, options.folder)
    shares = missing(book, split)
    if not shares:
        return
    title = f"split {split}, {TITLES[data.name]}, {VECTORS[vector]}"
    progress(f"{title}: counting")
    job: Job = prepared(vectors(data, vector, split, max_features=None))
    X, y = job.data.X_train, job.data.y_train
    progress(f"{title}: {X.shape[1]:,} columns, alpha = {job.alpha:g}")
    with PeerWorker(X, y, options.environment) as worker:
        for percent in shares:
            k = wanted_size(X.shape[1], percent)
            row = cell(job, k, worker, limit=options.limit, run=options.began)
            book.extend(f"{percent:g}", split, [row])
            at = dict(zip(COLUMNS, row, strict=True))
            progress(
                f"  {percent:g} %, k = {k:,}: {at['ours_accuracy']:.4f} in "
                f"{at['ours_seconds']:.3g} s; refined {at['refined_accuracy']:.4f}, "
                f"thresholded {at['thresholded_accuracy']:.4f}, odds ratio "
                f"{at['odds_accuracy']:.4f}; published code "
                f"{at['published_seconds'] or float('nan'):.3g} s"
            )


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = study_parser(STUDY, __doc__, "one split of MPQA")
    parser.add_argument("--sets", type=names_of(NAMES), default=NAMES)
    parser.add_argument("--vectors", type=names_of(VECTORS), default=list(VECTORS))
    parser.add_argument("--splits", type=at_least_one, help="so many for every set")
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--environment", type=Path, default=DEFAULT)
    return parser.parse_args(arguments)


def planned(options: argparse.Namespace, here: Sequence[str]) -> dict[str, int]:
    """Return the number of splits of each set that is wanted and here."""
    usual = QUICK if options.quick else SPLITS
    wanted = {n: options.splits or usual[n] for n in usual if n in options.sets}
    for name in set(wanted) - set(here):
        progress(f"{TITLES[name]} is left out: its file is not in the data folder.")
    return {name: count for name, count in wanted.items() if name in here}


def run(options: argparse.Namespace) -> None:
    """Do what is missing, split by split."""
    plan = planned(options, available())
    if not plan:
        sys.exit("No set is here. Hint: set BAYESIEVE_DATA to the data folder.")
    texts = {name: load(name) for name in plan}
    for split in range(max(plan.values())):
        for name in plan:
            if split < plan[name]:
                for vector in options.vectors:
                    do_split(texts[name], vector, split, options)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, or what is left of it."""
    options = parsed(arguments)
    options.began = int(time.time())
    here = [name for name in options.sets if name in available()]
    parts = [f"{name}_{vector}" for name in here for vector in options.vectors]
    run_study(STUDY, options, run, document, figure, parts=parts)


if __name__ == "__main__":
    run_script(main)
