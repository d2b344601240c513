"""SelectiveNB beside Khiops: ten folds of the UCI sets and four generated ones.

Both sides see the same rows of the same folds. Khiops (its Python package, in an
environment of its own that this script makes) fits `KhiopsClassifier` without trees,
pairs or constructed features; ours is `SelectiveNB()`, with --ours any options of it.
The sides take turns fold by fold, so that a slow minute of the machine meets both.
Khiops runs its serial program (it has no other for two processors), our compiled passes
use all processors: --one-core gives both sides one.

On the test rows of each fold: AUC (one class against the rest, weighted by frequency),
log loss (nats a row, probabilities below 1e-15 raised to it), compression rate (1 -
loss / loss of the training priors); of the fit: variables with a weight, seconds of the
call. Khiops' call writes a file and starts a program; "inside" is the time of that
program.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from candidates import add_option, kept, key_of, make
from khiops_tables import (
    AUC,
    COLUMNS,
    KEPT,
    KHIOPS,
    LOSS,
    SECONDS,
    document,
)
from ledger import Ledger, progress, read_parts, run_script, write_parts
from probability_scores import (
    all_classes,
    compression,
    row_losses,
    usual_folds,
    weighted_auc,
)
from study_run import names_of, run_study, study_parser
from uci_generators import GENERATORS, generate
from uci_sets import NAMES, VARIANTS, DataSet, available, is_text, load

from measurement import surroundings, timed  # ledger has put its folder on the path

HERE = Path(__file__).resolve().parent
STUDY = "khiops_comparison"
SEED = 20110601
REQUIREMENT = "khiops==11.0.1.1"  # brings khiops-core, the program, and openmpi
QUICK_SETS = ["iris", "glass", "heart", "crx", "soybean", "waveform"]


# ---------------------------------------------------------------------------- Khiops


def khiops_python(folder: Path) -> Path:
    """Return the interpreter of Khiops' environment, made when it is not there."""
    python = folder / "bin" / "python"
    if not python.is_file():
        progress(f"making {folder} with {REQUIREMENT}")
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "-q", REQUIREMENT]
        subprocess.run(install, check=True)
    return python


def khiops_versions(folder: Path) -> dict[str, str]:
    """Return what the environment holds, without a start of Khiops."""
    ask = (
        "import json, sys; from importlib.metadata import version as v; "
        "print(json.dumps({n: v(n) for n in ('khiops', 'khiops-core')} "
        "| {'python': sys.version.split()[0]}))"
    )
    command = [str(khiops_python(folder)), "-c", ask]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


class KhiopsWorker:
    """One process of khiops_worker.py, for one data set and its folds."""

    def __init__(self, environment: Path, data: DataSet, y: Any, folds: Any) -> None:
        python = khiops_python(environment)
        self._folder = tempfile.TemporaryDirectory(prefix="khiops_")
        path = Path(self._folder.name) / "data.pickle"
        # Plain arrays: the two environments may have different versions of pandas.
        columns = [
            (
                str(name),
                np.asarray(data.X[name], object if is_text(data.X[name]) else None),
            )
            for name in data.X
        ]
        stored = {"columns": columns, "y": y, "folds": folds}
        path.write_bytes(pickle.dumps(stored, protocol=5))
        around = {
            **os.environ,
            "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
            "KHIOPS_PROC_NUMBER": "1",  # the serial program; 2 would choose it as well
            # One process needs no transport; looking for one costs a second a call.
            "OMPI_MCA_btl": "self",
            "OMPI_MCA_pml": "ob1",
        }
        around.pop("PYTHONPATH", None)
        self._process = subprocess.Popen(
            [str(python), str(HERE / "khiops_worker.py"), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=around,
        )
        self.versions = self._answer()

    def _answer(self) -> Any:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"The Khiops worker ended with code {self._process.wait()}; what it "
                "said is above."
            )
        return json.loads(line)

    def fit(self, fold: int, *, predict: bool = True) -> tuple[dict[str, Any], Any]:
        """Return what the worker says of one fit, and the test probabilities."""
        path = Path(self._folder.name) / "proba.npy" if predict else None
        asked = {"do": "fit", "fold": fold, "proba": str(path) if path else None}
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        answer = self._answer()
        return answer, np.load(path) if path else None

    def close(self) -> None:
        """End the process and remove its files."""
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()


# ------------------------------------------------------------------------------ runs


def fit_ours(words: list[str], X: Any, y: Any) -> tuple[Any, dict[str, Any]]:
    """Return a fitted estimator and the same facts that the worker gives."""
    model = make(words)
    seconds, _ = timed(lambda: model.fit(X, y))
    return model, {"seconds": seconds, "inside": seconds, "kept": kept(model)}


def read(name: str) -> DataSet:
    """Return a set, loaded or generated."""
    return generate(name) if name in GENERATORS else load(name)


def scored(y: Any, train: Any, test: Any, proba: Any, facts: dict) -> list[float]:
    """Return the row of COLUMNS but for the two that the caller knows."""
    prior = np.bincount(y[train], minlength=y.max() + 1) / train.shape[0]
    return [
        weighted_auc(y[test], proba),
        float(row_losses(y[test], proba).mean()),
        compression(y[test], proba, prior),
        facts["kept"],
        round(facts["seconds"], 5),
        round(facts["inside"], 5),
    ]


def warm_up(options: Any, books: dict[str, Ledger], data: DataSet, y: Any) -> None:
    """Fit ours once on few rows, so that imports are not measured; the worker does too.

    Nothing to do for a candidate whose folds are all there.
    """
    few = np.random.default_rng(SEED).permutation(y.shape[0])[:200]
    for words in options.ours:
        book = books.get(key_of(words))
        if book is not None and book.done("folds") < options.folds:
            fit_ours(words, data.X.iloc[few], y[few])


def book_of(side: str, name: str, folder: Path, header: dict[str, Any]) -> Ledger:
    """Return the ledger of one side on one set."""
    return Ledger(folder, f"{side}/{name}", columns=COLUMNS, side=side, **header)


def run_set(name: str, options: argparse.Namespace) -> None:
    """Do the folds of one set that are missing, writing after every one."""
    data = read(name)
    labels, y = np.unique(data.y, return_inverse=True)
    folds = usual_folds(y, options.folds)
    header = {
        "study": STUDY,
        "data": name,
        "seed": SEED,
        "folds": options.folds,
        "shape": list(data.X.shape),
        "classes": int(labels.shape[0]),
        "one_core": options.one_core,
    }
    worker = None
    books: dict[str, Ledger] = {}
    try:
        if not options.ours_only:
            versions = {"khiops": khiops_versions(options.environment)}
            books[KHIOPS] = book_of(KHIOPS, name, options.folder, header | versions)
        for words in [] if options.khiops_only else options.ours:
            key = key_of(words)
            books[key] = book_of(key, name, options.folder, header)
        warm_up(options, books, data, y)
        for at, (train, test) in enumerate(folds):
            missing = [key for key, book in books.items() if book.done("folds") <= at]
            for key in missing:
                if key == KHIOPS:
                    worker = worker or KhiopsWorker(options.environment, data, y, folds)
                    facts, proba = worker.fit(at)
                    classes = facts["classes"]
                else:
                    words = next(w for w in options.ours if key_of(w) == key)
                    model, facts = fit_ours(words, data.X.iloc[train], y[train])
                    proba = model.predict_proba(data.X.iloc[test])
                    classes = model.classes_
                proba = all_classes(np.asarray(proba), classes, labels.shape[0])
                row = scored(y, train, test, proba, facts)
                together = int(KHIOPS in missing and len(missing) > 1)
                books[key].extend("folds", at, [[*row, together, test.shape[0]]])
    finally:
        if worker is not None:
            worker.close()
    for key, book in books.items():
        mean = np.nanmean(np.array(book.rows["folds"]), axis=0)
        progress(
            f"{name} {key}: AUC {mean[AUC]:.4f}, log loss {mean[LOSS]:.4f}, "
            f"{mean[KEPT]:.1f} kept, {mean[SECONDS]:.3f} s a fit"
        )


def wide_rows(options: argparse.Namespace) -> dict[str, Any]:
    """Fit once on a million generated rows of 50 columns; seconds of each side."""
    import pandas as pd

    rng = np.random.default_rng(SEED)
    n, d = options.wide_size
    y = rng.integers(2, size=n)
    # Half of the columns are moved by the class, each a little less; four decimals.
    shift = np.where(np.arange(d) < d // 2, 0.5 * 0.9 ** np.arange(d), 0.0)
    values = np.round(rng.standard_normal((n, d)) + y[:, None] * shift, 4)
    data = DataSet("wide rows", pd.DataFrame(values).rename(columns=str), y)
    rows = np.arange(n)
    result: dict[str, Any] = {"rows": n, "columns": d, "sides": {}}
    if not options.ours_only:
        worker = KhiopsWorker(options.environment, data, y, [(rows, rows[:0])])
        result["khiops"] = worker.versions
        result["sides"][KHIOPS] = worker.fit(0, predict=False)[0]
        worker.close()
    for words in [] if options.khiops_only else options.ours:
        fit_ours(words, data.X[:200], y[:200])
        result["sides"][key_of(words)] = fit_ours(words, data.X, y)[1]
    for key, facts in result["sides"].items():
        print(
            f"{n:,} rows x {d} columns, {key}: {facts['seconds']:.2f} s, of which "
            f"{facts['inside']:.2f} s inside, {facts['kept']} variables kept"
        )
    return result


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = study_parser(STUDY, __doc__, "six small sets, 3 folds")
    add = parser.add_argument
    known = [*NAMES, *GENERATORS]
    add("--sets", type=names_of([*known, *VARIANTS]), help="with commas between (all)")
    add("--folds", type=int, help="folds of the cross-validation (10)")
    add("--khiops-only", action="store_true")
    add("--ours-only", action="store_true")
    add_option(parser)
    add("--one-core", action="store_true", help="both sides on one processor")
    add("--wide-rows", action="store_true", help="a million rows, one fit each, alone")
    add(
        "--environment",
        type=Path,
        default=Path(tempfile.gettempdir()) / "khiops-env",
        help="where Khiops is or goes (%(default)s)",
    )
    options = parser.parse_args(arguments)
    options.ours = options.ours or [[]]
    options.folds = options.folds or (3 if options.quick else 10)
    options.wide_size = (20_000, 20) if options.quick else (1_000_000, 50)
    options.names = options.sets or (QUICK_SETS if options.quick else known)
    absent = set(options.names) & set(NAMES) - set(available())
    if absent and not (options.wide_rows or options.tables_only):
        parser.error(f"no file of {', '.join(sorted(absent))}: set BAYESIEVE_DATA")
    return options


def run(options: argparse.Namespace) -> None:
    """Do what is missing of every set, or the million rows alone."""
    if options.wide_rows:
        result = {**surroundings(), "one_core": options.one_core, **wide_rows(options)}
        parts = read_parts(options.folder)
        write_parts(options.folder, {**parts, "wide_rows": result})
        return
    for name in options.names:
        run_set(name, options)


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    if options.one_core and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    sides = [] if options.ours_only else [KHIOPS]
    sides += [] if options.khiops_only else map(key_of, options.ours)
    parts = [f"{side}/{name}" for side in sides for name in options.names]
    run_study(STUDY, options, run, document, parts=parts)


if __name__ == "__main__":
    run_script(main)
