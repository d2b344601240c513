"""Experiment 1 of Askari et al.: select features, then train, on five real texts.

For 0.1, 1, 5 and 10 % of the columns of four vectors (text_vectors.py), seventeen
selectors (two_stage_selectors.py) choose columns and three classifiers
(two_stage_models.py) are trained on them. Each row: test accuracy of the three, seconds
of the selection, and the training objective of the columns. The smoothing is chosen by
ten-fold cross-validation of MultinomialNB on the training rows and used wherever there
is one; the paper does that for each share anew.

Seconds are as measured beside whatever else ran; two_stage_speed.py takes those that
are compared. What a selector did not end on the first split is not asked on the others.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from ledger import Ledger, progress, run_script
from peer_environment import DEFAULT, PeerWorker
from smoothing_choice import class_sums
from study_run import at_least_one, names_of, run_study, study_parser
from support_gains import gain_of
from text_vectors import (
    FILES,
    NAMES,
    SEED,
    VECTORS,
    Texts,
    Vectors,
    available,
    load,
    vectors,
    wanted_size,
)
from two_stage_figures import draw
from two_stage_models import (
    STAGE_2,
    accuracy,
    choose_alpha,
)
from two_stage_selectors import BY_NAME, SELECTORS, Question, Selection
from two_stage_tables import COLUMNS, PERCENTS, document

STUDY = "two_stage"
# The paper has 10 of each; a whole run takes several hours.
SPLITS = {"mpqa": 10, "amazon": 5, "sst2": 3, "twitter": 3, "imdb": 3}


def book_of(data: str, vector: str, options: argparse.Namespace) -> Ledger:
    """Return the ledger of one set as one vector."""
    return Ledger(
        options.folder,
        f"{data}_{vector}",
        columns=COLUMNS,
        study=STUDY,
        data=data,
        vector=vector,
        seed=SEED,
        limit=options.limit,
    )


def row_of(
    found: Selection, k: int, alpha: float, data: Vectors, sums: np.ndarray
) -> list[Any]:
    """Return the row of COLUMNS for one selection."""
    columns, tests = data.X_train.shape[1], data.y_test.shape[0]
    known = [k, columns, tests, alpha]
    if found.support is None or found.support.shape[0] == 0:
        why = found.why or "no column"
        return [*known, *[None] * (len(COLUMNS) - len(known) - 1), why]
    scores = [accuracy(name, alpha, data, found.support) for name in STAGE_2]
    return [
        *known,
        found.support.shape[0],
        *[round(score, 6) for score in scores],
        round(gain_of(sums + alpha, found.support), 6),
        round(found.seconds, 5),
        round(found.fit_seconds, 5),
        int(found.converged),
        found.why,
    ]


def reasons(book: Ledger, selector: str) -> dict[float, str]:
    """Return why a selector ended on no column, for the sizes of the first split."""
    first = {p: book.rows.get(f"{selector} {p:g}", [[]])[0] for p in PERCENTS}
    return {p: row[-1] for p, row in first.items() if row and row[-1]}


def run_split(
    texts: Texts, vector: str, split: int, book: Ledger, options: argparse.Namespace
) -> None:
    """Do what is missing of one split of one set as one vector."""
    missing = [
        selector
        for selector in SELECTORS
        if selector.name in options.selectors
        and any(book.done(f"{selector.name} {p:g}") == split for p in PERCENTS)
    ]
    if not missing:
        return
    began = time.perf_counter()
    data = vectors(texts, vector, split)
    sizes = [wanted_size(data.X_train.shape[1], p) for p in PERCENTS]
    alpha = choose_alpha(data.X_train, data.y_train)
    sums = class_sums(data.X_train, data.y_train)
    with PeerWorker(data.X_train, data.y_train, options.environment) as worker:
        asked = Question(data, sizes, alpha, worker, options.limit)
        for selector in missing:
            began_here = time.perf_counter()
            why = reasons(book, selector.name) if split else {}
            left = [k for p, k in zip(PERCENTS, sizes, strict=True) if p not in why]
            found = selector.select(replace(asked, sizes=left))
            for p, k in zip(PERCENTS, sizes, strict=True):
                one = Selection(None, why=why[p]) if p in why else next(found)
                key = f"{selector.name} {p:g}"
                if book.done(key) == split:
                    book.extend(key, split, [row_of(one, k, alpha, data, sums)])
            progress(
                f"{texts.name} {vector} split {split}: {selector.name}, "
                f"{time.perf_counter() - began_here:.1f} s"
            )
    progress(
        f"{texts.name} {vector} split {split} done in "
        f"{time.perf_counter() - began:.0f} s"
    )


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options; --quick has few of everything."""
    parser = study_parser(STUDY, __doc__, "counts of MPQA, one split")
    parser.add_argument("--environment", type=Path, default=DEFAULT)
    parser.add_argument("--sets", type=names_of(FILES), default=NAMES)
    parser.add_argument("--vectors", type=names_of(VECTORS), default=list(VECTORS))
    parser.add_argument("--selectors", type=names_of(BY_NAME), default=list(BY_NAME))
    parser.add_argument("--splits", type=at_least_one, help="of every set (its own)")
    parser.add_argument(
        "--limit", type=float, default=200.0, help="seconds for one question"
    )
    options = parser.parse_args(arguments)
    if options.quick:
        options.sets, options.vectors, options.splits = ["mpqa"], ["count"], 1
        options.limit = 20.0
    return options


def run(options: argparse.Namespace) -> None:
    """Do what is missing, split by split: wherever it ends, every set has as many."""
    here = [name for name in options.sets if name in available()]
    if not here:
        sys.exit("None of the sets is here. Hint: set BAYESIEVE_DATA.")
    texts = {name: load(name) for name in here}
    counts = {name: options.splits or SPLITS[name] for name in here}
    for split in range(max(counts.values())):
        for name, vector in product(here, options.vectors):
            if split < counts[name]:
                book = book_of(name, vector, options)
                run_split(texts[name], vector, split, book, options)


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    here = [name for name in options.sets if name in available()]
    parts = [f"{name}_{vector}" for name, vector in product(here, options.vectors)]
    run_study(STUDY, options, run, document, draw, parts=parts)


if __name__ == "__main__":
    run_script(main)
