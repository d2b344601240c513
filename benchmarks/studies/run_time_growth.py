"""Experiment 3 of Askari, d'Aspremont and El Ghaoui: run time against the columns.

Always k = 5 % of the m columns and alpha = 1. Two parts:

- IMDB, tf-idf, the most frequent 10,000, 20,000, ... 80,000 words. The training reviews
  have 74,893 words, so the paper's 80,000 are of training and test reviews together
  (103,124 words there); so are ours here, where nothing is predicted. The rows are the
  25,000 training reviews. Timed: `NaiveFeatureSelector.fit`, the solve alone from the
  class counts, `MultinomialNB.fit`, and the paper's published code.
- Generated Zipf-like counts of two classes, m = 10,000 to 20 million. Timed: the solve
  with its certificate, the published bisection on the same table (all gains and a full
  partition at each step) and, up to a million columns, the published class itself, on
  the two rows of counts. Every size has a process of its own; its peak memory is taken
  over that of the process with the table loaded.

A row is one round: every size once, sides in turns, the best of some repetitions where
they are short. The tables take the best round of each side. Exponents are slopes of
log seconds on log m by least squares, with their standard errors.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from growth_tables import GENERATED, IMDB, SHARE, document, figure
from ledger import Ledger, progress, run_script
from peer_environment import DEFAULT, PEERS, PeerWorker
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.naive_bayes import MultinomialNB
from study_run import names_of, run_study, study_parser
from text_vectors import available, load, split_rows
from unlimited_cells import compared, short

from bayesieve import ClassCounts, NaiveFeatureSelector, solve_multinomial
from measurement import in_own_process, peak_bytes, timed
from solve_wide import SEED, published_bisection, zipf_table

STUDY = "run_time_growth"
ALPHA = 1.0
ROUNDS = 5
REPEATS = 7
ENOUGH = 2.0  # seconds after which a side is not measured again in a round
WORDS = tuple(range(10_000, 80_001, 10_000))
SIZES = (
    *(10_000, 30_000, 100_000, 300_000, 1_000_000),
    *(2_000_000, 5_000_000, 10_000_000, 20_000_000),
)
QUICK_WORDS = (10_000, 30_000, 80_000)
QUICK_SIZES = (10_000, 30_000, 100_000)
CLASS_LIMIT = 1_000_000  # columns up to which the published class is asked
PATIENCE = 600.0  # seconds for one answer of it


def best_of(
    sides: dict[str, Callable[[], float]],
    repeats: int = REPEATS,
    first: dict[str, float] | None = None,
) -> dict[str, float]:
    """Return the best seconds of each side in turns; slow ones have fewer turns.

    `first` are the seconds of turns that were taken already.
    """
    best = dict(first or {})
    spent = {**dict.fromkeys(sides, 0.0), **best}
    for _ in range(repeats):
        for name, run in sides.items():
            if spent[name] < ENOUGH:
                seconds = run()
                spent[name] += seconds
                best[name] = min(best.get(name, seconds), seconds)
    return best


class Clocked:
    """A side that returns the seconds of a call, and keeps result and processor time.

    On a shared machine the processor time is the steadier of the two.
    """

    def __init__(self, run: Callable[[], object]) -> None:
        self._run = run
        self.result: Any = None
        self.processor = math.inf

    def _counted(self) -> object:
        begin = time.process_time()
        result = self._run()
        self.processor = min(self.processor, time.process_time() - begin)
        return result

    def __call__(self) -> float:
        """Run once."""
        seconds, self.result = timed(self._counted)
        return seconds


def asked(worker: PeerWorker, k: int, alpha: float) -> Callable[[], float]:
    """Return a side that gives the seconds of the published class."""

    def ask() -> float:
        answer = worker.ask("published", limit=PATIENCE, k=k, alpha=alpha)
        if not answer["ended"]:
            sys.exit(f"The published code gave no answer: {answer['why']}.")
        return float(answer["seconds"])

    return ask


# --------------------------------------------------------------------------- the texts


def most_frequent(counts: Any, m: int) -> np.ndarray:
    """Return the m columns of largest total, as `max_features` chooses them."""
    totals = np.asarray(counts.sum(axis=0)).ravel()
    return np.sort(np.argsort(-totals)[:m])


def limited_tfidf(counts: Any, rows: np.ndarray, m: int) -> Any:
    """Return some rows of `TfidfVectorizer(max_features=m)` fitted on all rows."""
    kept = counts[:, most_frequent(counts, m)]
    X = TfidfTransformer().fit(kept).transform(kept[rows])
    X.sort_indices()
    return sparse.csr_matrix(X)


def text_round(X: Any, y: np.ndarray, worker: PeerWorker) -> list[float]:
    """Return the row of one size of IMDB, in the order of `IMDB`."""
    k = round(SHARE * X.shape[1])
    counts = ClassCounts.from_matrix(X, y)
    selector = NaiveFeatureSelector(k=k, alpha=ALPHA)
    sides = {
        "fit": Clocked(partial(selector.fit, X, y)),
        "solve": Clocked(partial(solve_multinomial, counts, k, alpha=ALPHA)),
        "mnb": Clocked(partial(MultinomialNB(alpha=ALPHA).fit, X, y)),
    }
    seconds = best_of({**sides, "published": asked(worker, k, ALPHA)})
    seconds |= {f"{name}_processor": side.processor for name, side in sides.items()}
    facts = {
        "m": X.shape[1],
        "k": k,
        "entries": int(X.nnz),
        "optimal": int(selector.certificate_.is_optimal),
    }
    return [shortened({**facts, **seconds}[name]) for name in IMDB]


def texts(sizes: Sequence[int], book: Ledger, options: argparse.Namespace) -> None:
    """Do the rounds that IMDB lacks."""
    if all(book.done(str(m)) >= options.rounds for m in sizes):
        return
    if "imdb" not in available():
        progress("IMDB is left out: its file is not in the data folder.")
        return
    progress("IMDB: counting")
    data = load("imdb")
    train, _ = split_rows(data, 0)
    counts = CountVectorizer(token_pattern=r"\w{1,}").fit_transform(data.rows)
    y = data.y[train]
    progress(f"IMDB: {counts.shape[1]:,} words in {counts.shape[0]:,} reviews")
    with contextlib.ExitStack() as stack:
        tables = {m: limited_tfidf(counts, train, m) for m in sizes}
        workers = {
            m: stack.enter_context(PeerWorker(X, y, options.environment))
            for m, X in tables.items()
        }
        for at in range(options.rounds):
            for m in sizes:
                if book.done(str(m)) == at:
                    row = text_round(tables[m], y, workers[m])
                    book.extend(str(m), at, [row])
                    progress(f"round {at}, IMDB, m = {m:,}: {told(IMDB, row)}")


# ---------------------------------------------------------------------- generated rows


def make_table(m: int, path: Path) -> dict[str, Any]:
    """Write the generated counts of one size (in a process of its own)."""
    np.save(path, zipf_table(m, np.random.default_rng(SEED)))
    return {"m": m}


def table_round(path: Path, environment: Path) -> dict[str, Any]:
    """Measure one size (in a process of its own): memory first, then the seconds."""
    table = np.load(path)
    m = table.shape[1]
    k = round(SHARE * m)
    counts = ClassCounts(
        classes=np.array([0, 1]),
        class_count=np.array([1.0, 1.0]),
        feature_count=table,
        kind="count",
    )
    before = peak_bytes()
    solve = Clocked(partial(solve_multinomial, counts, k, alpha=ALPHA))
    bisect = Clocked(partial(published_bisection, table, k))
    first = {"solve": solve()}
    solution, solved = solve.result, peak_bytes()
    first["bisection"] = bisect()
    (support, steps), bisected = bisect.result, peak_bytes()
    sides: dict[str, Callable[[], float]] = {"solve": solve, "bisection": bisect}
    with contextlib.ExitStack() as stack:
        if m <= CLASS_LIMIT:
            rows = sparse.csr_matrix(table + ALPHA)
            worker = PeerWorker(rows, np.array([0, 1]), environment)
            stack.enter_context(worker)
            sides["published"] = asked(worker, k, 0.0)
        seconds = best_of(sides, first=first)
    gain, below, rounding = compared(table, solution.support, support, ALPHA)
    return {
        "m": m,
        "k": k,
        "published": None,
        **seconds,
        "solve_processor": solve.processor,
        "bisection_processor": bisect.processor,
        "steps": steps,
        "gain": gain,
        "below": below,
        "rounding": rounding,
        "optimal": int(solution.certificate.is_optimal),
        "nodes": int(solution.certificate.nodes),
        "table_bytes": int(table.nbytes),
        "process_bytes": solved,
        "solve_bytes": solved - before,
        "bisection_bytes": bisected - before,
    }


def generated(sizes: Sequence[int], book: Ledger, options: argparse.Namespace) -> None:
    """Do the rounds that the generated counts lack."""
    script = f"studies/{STUDY}.py"
    with tempfile.TemporaryDirectory(prefix=f"{STUDY}_") as folder:
        for at in range(options.rounds):
            for m in sizes:
                if book.done(str(m)) != at:
                    continue
                path = Path(folder) / f"{m}.npy"
                if not path.is_file():
                    in_own_process(script, ["--make", str(m), str(path)])
                where = str(options.environment)
                found = in_own_process(script, ["--measure", str(path), where])
                row = [shortened(found[name]) for name in GENERATED]
                book.extend(str(m), at, [row])
                progress(f"round {at}, generated, m = {m:,}: {told(GENERATED, row)}")


def shortened(value: float | None) -> float | None:
    """Return measurements with five digits, counts as they are."""
    return short(value, 5) if isinstance(value, float) else value


def told(columns: Sequence[str], row: Sequence[float | None]) -> str:
    """Say the seconds of one row."""
    shown = ("fit", "solve", "mnb", "bisection", "published")
    return ", ".join(
        f"{name} {value:.3g} s"
        for name, value in zip(columns, row, strict=True)
        if name in shown and value is not None
    )


# ------------------------------------------------------------------------------ the run


def book_of(part: str, columns: Sequence[str], folder: Path) -> Ledger:
    """Return the ledger of one part."""
    return Ledger(
        folder,
        part,
        columns=columns,
        study=STUDY,
        part=part,
        share=SHARE,
        alpha=ALPHA,
        seed=SEED,
        repeats=REPEATS,
        published=PEERS["naive-feature-selection"],
    )


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = study_parser(STUDY, __doc__, "small sizes, one round")
    parts = ["generated", "imdb"]
    parser.add_argument("--parts", type=names_of(parts), default=parts)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--environment", type=Path, default=DEFAULT)
    hidden = {"nargs": 2, "help": argparse.SUPPRESS}
    parser.add_argument("--make", **hidden)
    parser.add_argument("--measure", **hidden)
    return parser.parse_args(arguments)


def run(options: argparse.Namespace) -> None:
    """Do what is missing of the parts that are asked for."""
    # The generated tables first: a child's peak memory is at least its parent's.
    if "generated" in options.parts:
        sizes = QUICK_SIZES if options.quick else SIZES
        generated(sizes, book_of("generated", GENERATED, options.folder), options)
    if "imdb" in options.parts:
        words = QUICK_WORDS if options.quick else WORDS
        texts(words, book_of("imdb", IMDB, options.folder), options)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, or what is left of it."""
    options = parsed(arguments)
    if options.make:
        print(json.dumps(make_table(int(options.make[0]), Path(options.make[1]))))
        return
    if options.measure:
        print(json.dumps(table_round(*map(Path, options.measure))))
        return
    if options.quick:
        options.rounds = 1
    run_study(STUDY, options, run, document, figure, parts=options.parts)


if __name__ == "__main__":
    run_script(main)
