"""Classifiers of tables: SelectiveNB beside Khiops, EBM, boosting, forests, regression.

Ten folds of the UCI sets and of four generated ones, the same rows for every side.
table_worker.py says how each peer is used; Khiops and InterpretML have environments of
their own that this script makes. Ours is `SelectiveNB()`, with --ours any options of
it. The sides take turns fold by fold.

On the test rows of each fold: AUC (one class against the rest, weighted by frequency,
and every class alike), log loss (nats a row, probabilities below 1e-15 raised to it),
accuracy, compression rate (1 - loss / loss of the training priors), bins for the
calibration error; of the fit: columns used, where a side chooses any, and seconds of
the call. Khiops' call writes a file and starts a program; "inside" is the time of that
program.

A run of all folds takes hours, and other work slows it: its seconds are not compared.
--seconds fits the first fold only, the sides in turns, and is for a quiet machine.
Khiops runs its serial program and EBM leaves one processor free, which is one of two;
ours and gradient boosting use all: --one-core gives every side one.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from pathlib import Path
from typing import Any

import numpy as np
from candidates import add_option, key_of
from ledger import Ledger, forget, progress, read_parts, run_script, write_parts
from probability_scores import all_classes, calibration_bins, scored, usual_folds
from study_run import names_of, run_study, significant, study_parser
from table_classifiers_tables import COLUMNS, SCORES, SECONDS, UNFINISHED, document
from table_sides import ENVIRONMENTS, side_of, versions_of
from table_worker import PEERS
from uci_generators import GENERATORS, read_set
from uci_sets import NAMES, VARIANTS, DataSet, available

from measurement import surroundings  # ledger has put its folder on the path

STUDY = "table_classifiers"
SEED = 20110601
QUICK_SETS = ["iris", "glass", "heart", "crx", "soybean", "waveform"]
OURS = "ours"
LIMITED = ("ebm",)  # the others are waited for
NO_LIMIT = 3600.0
REPEATS, ENOUGH = 5, 2.0  # of --seconds: short fits again, up to so many seconds


class Rows:
    """One set with its folds, and the sides that work on it, started when needed."""

    def __init__(self, data: DataSet, folds: int, options: argparse.Namespace) -> None:
        self.data, self._options = data, options
        labels, self.y = np.unique(data.y, return_inverse=True)
        self.classes = int(labels.shape[0])
        self.folds = usual_folds(self.y, folds) if folds else [self._all_rows()]
        self._sides: dict[str, Any] = {}

    def _all_rows(self) -> tuple[np.ndarray, np.ndarray]:
        rows = np.arange(self.y.shape[0])
        return rows, rows[:0]

    def facts(self) -> dict[str, Any]:
        """Return what headers say of the set."""
        return {
            "study": STUDY,
            "data": self.data.name,
            "folds": len(self.folds),
            "shape": list(self.data.X.shape),
            "classes": self.classes,
        }

    def fit(self, side: str, fold: int, *, predict: bool = True) -> tuple[dict, Any]:
        """Return the facts of one fit, and the probabilities of all classes."""
        options = self._options
        if side not in self._sides:
            rows = (self.data, self.y, self.folds)
            self._sides[side] = side_of(side, options.ours, options.environments, *rows)
        limit = options.limit if side in LIMITED else NO_LIMIT
        facts, proba = self._sides[side].fit(fold, limit=limit, predict=predict)
        if proba is not None:
            proba = all_classes(np.asarray(proba), facts["classes"], self.classes)
        return facts, proba

    def close(self) -> None:
        """End the processes of the sides."""
        for side in self._sides.values():
            side.close()


# ----------------------------------------------------------------------------- folds


def row_of(rows: Rows, fold: int, facts: dict[str, Any], proba: Any) -> list[Any]:
    """Return the row of COLUMNS."""
    train, test = rows.folds[fold]
    scores = scored(rows.y, train, test, proba)
    bins = calibration_bins(rows.y[test], proba).ravel()
    return [
        *(scores[name] for name in SCORES),
        facts["kept"],
        round(facts["seconds"], 5),
        round(facts.get("inside", facts["seconds"]), 5),
        test.shape[0],
        *(significant(value, 8) for value in bins),
    ]


def run_set(name: str, options: argparse.Namespace) -> None:
    """Do the folds of one set that are missing, writing after every one."""
    with contextlib.closing(Rows(read_set(name), options.folds, options)) as rows:
        books = {
            side: Ledger(
                options.folder,
                f"{side}/{name}",
                columns=COLUMNS,
                side=side,
                **rows.facts(),
                **options.versions[side],
            )
            for side in options.sides
        }
        for fold in range(options.first):
            for side, book in books.items():
                if book.done("folds") > fold or UNFINISHED in book:
                    continue
                facts, proba = rows.fit(side, fold)
                if not facts["ended"]:
                    book.put(UNFINISHED, facts["why"])
                    progress(f"{name} {side}: {facts['why']}")
                    continue
                book.extend("folds", fold, [row_of(rows, fold, facts, proba)])
    for side, book in books.items():
        if book.done("folds"):
            done = np.array(book.rows["folds"], dtype=np.float64)[:, : len(SCORES)]
            mean = dict(zip(SCORES, np.nanmean(done, axis=0), strict=True))
            progress(
                f"{name} {side}: AUC {mean['AUC']:.4f}, log loss {mean['log loss']:.4f}"
                f", accuracy {mean['accuracy']:.4f}, {book.done('folds')} folds"
            )


# --------------------------------------------------------------------------- seconds


def in_turns(rows: Rows, sides: list[str]) -> dict[str, Any]:
    """Return the seconds of fits of the first fold, or why a side has none."""
    found: dict[str, Any] = {side: [] for side in sides}
    for _ in range(REPEATS):
        for side in sides:
            if isinstance(found[side], str) or sum(found[side]) >= ENOUGH:
                continue
            facts, _ = rows.fit(side, 0, predict=False)
            if facts["ended"]:
                found[side].append(round(facts["seconds"], 5))
            else:
                found[side] = facts["why"]
    return found


def time_set(name: str, options: argparse.Namespace) -> None:
    """Take the seconds of all sides on one set, anew unless all are there."""
    part = f"{SECONDS}/{name}"
    stored = read_parts(options.folder).get(part, {"rows": {}})
    if set(options.sides) <= set(stored["rows"]):
        return
    forget(options.folder, [part])
    with contextlib.closing(Rows(read_set(name), options.folds, options)) as rows:
        versions = {side: v for side, v in options.versions.items() if v}
        header = {**rows.facts(), "one_core": options.one_core, "versions": versions}
        book = Ledger(options.folder, part, **header)
        found = in_turns(rows, options.sides)
    for side in options.sides:
        book.put(side, found[side])
    told = (
        f"{side} {min(one):.3f} s" if isinstance(one, list) else f"{side}: {one}"
        for side, one in found.items()
    )
    progress(f"{name}: {', '.join(told)}")


def time_wide_rows(options: argparse.Namespace) -> dict[str, Any]:
    """Fit once on a million generated rows of 50 columns; seconds of each side."""
    import pandas as pd

    rng = np.random.default_rng(SEED)
    n, d = options.wide_size
    y = rng.integers(2, size=n)
    # Half of the columns are moved by the class, each a little less; four decimals.
    shift = np.where(np.arange(d) < d // 2, 0.5 * 0.9 ** np.arange(d), 0.0)
    values = np.round(rng.standard_normal((n, d)) + y[:, None] * shift, 4)
    data = DataSet("wide rows", pd.DataFrame(values).rename(columns=str), y)
    result: dict[str, Any] = {"rows": n, "columns": d, "sides": {}}
    for side in options.sides:
        with contextlib.closing(Rows(data, 0, options)) as rows:
            facts, _ = rows.fit(side, 0, predict=False)
        if not facts["ended"]:
            print(f"{n:,} rows x {d} columns, {side}: {facts['why']}")
            continue
        inside = facts.get("inside", facts["seconds"])
        result["sides"][side] = {**facts, "inside": inside, **options.versions[side]}
        print(
            f"{n:,} rows x {d} columns, {side}: {facts['seconds']:.2f} s, of which "
            f"{inside:.2f} s inside, {facts['kept']} columns kept"
        )
    return result


# -------------------------------------------------------------------------- the study


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = study_parser(STUDY, __doc__, "six small sets, 3 folds")
    add = parser.add_argument
    known = [*NAMES, *GENERATORS]
    add("--sets", type=names_of([*known, *VARIANTS]), help="with commas between (all)")
    sides = [*PEERS, OURS]
    add(
        "--sides", type=names_of(sides), default=sides, help="with commas between (all)"
    )
    add_option(parser)
    add("--folds", type=int, help="folds of the cross-validation (10)")
    add("--first", type=int, help="the first so many of the folds (all)")
    add(
        "--limit",
        type=float,
        default=60.0,
        help="processor seconds of one fit of EBM (60)",
    )
    add("--seconds", action="store_true", help="only the seconds of the first fold")
    add("--one-core", action="store_true", help="every side on one processor")
    add("--wide-rows", action="store_true", help="a million rows, one fit each, alone")
    add(
        "--environments",
        type=Path,
        default=ENVIRONMENTS,
        help="where the peers' environments are or go (%(default)s)",
    )
    options = parser.parse_args(arguments)
    options.ours = {key_of(words): words for words in options.ours or [[]]}
    options.sides = [side for side in options.sides if side != OURS] + (
        list(options.ours) if OURS in options.sides else []
    )
    options.folds = options.folds or (3 if options.quick else 10)
    options.first = min(options.first or options.folds, options.folds)
    options.wide_size = (20_000, 20) if options.quick else (1_000_000, 50)
    options.names = options.sets or (QUICK_SETS if options.quick else known)
    absent = set(options.names) & set(NAMES) - set(available())
    if absent and not (options.wide_rows or options.tables_only):
        parser.error(f"no file of {', '.join(sorted(absent))}: set BAYESIEVE_DATA")
    return options


def versions(side: str, environments: Path) -> dict[str, Any]:
    """Return the header entry that names a peer's versions, none for our own."""
    found = versions_of(side, environments)
    return {"peer": found} if found else {}


def run(options: argparse.Namespace) -> None:
    """Do what is missing of every set, or the million rows alone."""
    options.versions = {
        side: versions(side, options.environments) for side in options.sides
    }
    if options.wide_rows:
        result = {**surroundings(), "one_core": options.one_core}
        parts = read_parts(options.folder)
        wide = parts.get("wide_rows", {"sides": {}})
        result |= time_wide_rows(options)
        result["sides"] = wide["sides"] | result["sides"]
        write_parts(options.folder, {**parts, "wide_rows": result})
        return
    for name in options.names:
        (time_set if options.seconds else run_set)(name, options)


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    if options.one_core and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    kinds = [SECONDS] if options.seconds else options.sides
    parts = [f"{kind}/{name}" for kind in kinds for name in options.names]
    run_study(STUDY, options, run, document, parts=parts)


if __name__ == "__main__":
    run_script(main)
