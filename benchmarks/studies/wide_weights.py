"""Screening, then weights, beside the selectors of scikit-learn, at equal numbers of k.

Ten wide sparse sets (`wide_sets.py`), 0.1, 1, 5 and 10 % of the words of the training
rows, and every method at that many (`wide_methods.py`, `wide_peers.py`). Test accuracy
and log loss, with standard errors: over the test rows where the set has a fixed test
part, over five resplits elsewhere. Beside them the seconds of the whole selection, and
those of the one fit whose result is used: for the l1 models, whose C must be searched,
that is "one fit at the same k".

A cell is one job, one split and one size, computed in a process of its own that is
ended at --limit seconds; the ledger then says that it did not end (no scores). Every
row holds the second at which its run began: rows with the same one were timed together.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ledger import Ledger, progress, run_script
from study_run import names_of, run_study, study_parser
from wide_methods import BY_NAME, COLUMNS, JOBS, Job, quietly
from wide_sets import (
    NAMES,
    RESPLITS,
    SEED,
    Part,
    WideSet,
    available,
    counted,
    load,
    wanted_sizes,
)
from wide_weights_tables import document

STUDY = "wide_weights"
SHARES = (0.1, 1.0, 5.0, 10.0)  # percent
QUICK_SETS = ("cr", "mpqa", "words_basehock", "words_relathe")
LIMIT = 1_800.0


def key_of(method: str, share: float) -> str:
    """Return the key of a method at a share in the ledger."""
    return f"{method} {share:g}"


def work(pipe: Any, job: Job, part: Part, sizes: Sequence[int], limit: float) -> None:
    """Send the rows of one size after the other (in a process of its own)."""
    for rows in quietly(job, part, sizes, limit):
        pipe.send(rows)
    pipe.close()


def cells(job: Job, part: Part, sizes: Sequence[int], limit: float) -> Any:
    """Give the rows of each size; None for one that took more than limit seconds.

    Forked: the counts are there without a copy. The parent fits nothing itself, so no
    thread of its own is lost in the child.
    """
    context = multiprocessing.get_context("fork")
    left = list(sizes)
    while left:
        here, there = context.Pipe(duplex=False)
        child = context.Process(target=work, args=(there, job, part, left, limit))
        child.start()
        there.close()
        try:
            while left:
                if not here.poll(limit):
                    yield None
                    left = left[1:]
                    break
                try:
                    rows = here.recv()
                except EOFError:
                    raise RuntimeError(
                        f"{job.name} ended without its rows for k = {left[0]}; what it "
                        "said is above."
                    ) from None
                yield rows
                left = left[1:]
        finally:
            child.kill() if child.is_alive() and left else None
            child.join(5)
            if child.is_alive():
                child.kill()
                child.join()
            here.close()


def book_of(job: Job, data: WideSet, folder: Path) -> Ledger:
    """Return the ledger of one job on one set."""
    return Ledger(
        folder,
        f"{job.name}/{data.name}",
        columns=COLUMNS,
        study=STUDY,
        job=job.name,
        side=job.side,
        methods=job.methods,
        data=data.name,
        seed=SEED,
        rows_of_set=len(data.y),
        classes=data.n_classes,
        fixed=data.fixed,
    )


def run_job(
    job: Job, data: WideSet, parts: dict[int, Part], options: argparse.Namespace
) -> None:
    """Do what is missing of one job on one set, writing after every size."""
    book = book_of(job, data, options.folder)
    for split in range(min(options.splits, len(data.splits))):
        first = next(iter(job.methods))
        shares = [s for s in options.shares if book.done(key_of(first, s)) <= split]
        if not shares:
            continue
        if split not in parts:
            parts[split] = counted(data, split)
        part = parts[split]
        sizes = wanted_sizes(part.X_train.shape[1], shares)
        results = cells(job, part, sizes, options.limit)
        for share, k, rows in zip(shares, sizes, results, strict=True):
            for method in job.methods:
                row = unended(options.limit) if rows is None else rows[method]
                line = [k, *row, int(options.began)]
                book.extend(key_of(method, share), split, [line])
            say(job, data, split, share, k, rows)


def unended(limit: float) -> list[float | None]:
    """Return the row of a cell that did not end: nothing but the seconds it had."""
    row: list[float | None] = [None] * (len(COLUMNS) - 2)
    row[COLUMNS.index("seconds") - 1] = limit
    return row


def say(job: Job, data: WideSet, split: int, share: float, k: int, rows: Any) -> None:
    """Tell how one cell went."""
    place = f"{data.name} split {split} {share:g} % k={k} {job.name}"
    if rows is None:
        progress(f"{place}: did not end")
        return
    told = [
        f"{method} {row[0]:.4f} / {'-' if row[2] is None else f'{row[2]:.4f}'}"
        for method, row in rows.items()
    ]
    row = next(iter(rows.values()))
    progress(
        f"{place}: {row[4]} columns, {row[5]:.2f} s ({row[7]} fits, the last "
        f"{row[6]:.2f} s): {', '.join(told)}"
    )


def run(options: argparse.Namespace) -> None:
    """Do what is missing: all sets for the first phase, then those of the slow one."""
    slow = [job for job in options.jobs if job.name in ("rfe", "rfe_fine")]
    quick = [job for job in options.jobs if job not in slow]
    for phase in (quick, slow):
        if not phase:
            continue
        for name in options.names:
            data = load(name)
            parts: dict[int, Part] = {}
            for job in phase:
                run_job(job, data, parts, options)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = study_parser(STUDY, __doc__, "four small sets, 2 splits, 1 and 5 %%")
    add = parser.add_argument
    add("--sets", type=names_of(NAMES), help="names with commas between (all)")
    add("--only", choices=["ours", "alone", "peers"], help="the jobs of one side")
    add("--jobs", type=names_of(BY_NAME), help="(all that this version can do)")
    add("--splits", type=int, help=f"resplits where there is no test part ({RESPLITS})")
    add("--shares", help="percents of the words with commas between (0.1,1,5,10)")
    add("--limit", type=float, default=LIMIT, help="seconds of a cell (%(default)g)")
    options = parser.parse_args(arguments)
    options.began = time.time()
    options.splits = options.splits or (2 if options.quick else RESPLITS)
    options.shares = (
        tuple(float(share) for share in options.shares.split(","))
        if options.shares
        else ((1.0, 5.0) if options.quick else SHARES)
    )
    options.names = options.sets or (QUICK_SETS if options.quick else NAMES)
    absent = set(options.names) - set(available())
    if absent and not options.tables_only:
        parser.error(f"no file of {', '.join(sorted(absent))}: set BAYESIEVE_DATA")
    options.jobs = chosen_jobs(options)
    return options


def chosen_jobs(options: argparse.Namespace) -> list[Job]:
    """Return the jobs that are asked for and that this version can do."""
    if options.jobs:
        asked = [BY_NAME[name] for name in options.jobs]
    else:
        asked = [job for job in JOBS if options.only in (None, job.side)]
    for job in asked:
        if job.missing():
            progress(f"{job.name} is left out: no {', '.join(job.missing())} here")
    return [job for job in asked if not job.missing()]


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    parts = [f"{job.name}/{name}" for job in options.jobs for name in options.names]
    run_study(STUDY, options, run, document, parts=parts)


if __name__ == "__main__":
    run_script(main)
