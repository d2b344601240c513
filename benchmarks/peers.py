"""What a user would pick instead, in one run: speed, memory and accuracy of each.

Three kinds of data (`--parts`):

- text: IMDB as word counts (studies/text_vectors.py), the official split, 1 % of the
  words;
- wide: 200,000 generated rows x 1 million columns of counts, k = 1,000, another 50,000
  rows to measure accuracy;
- gene_bladder, gene_11tumors: measurements, k = 50, five folds.

Each contestant (peers_contestants.py) selects in a process of its own, a new one for
each repetition (peers_worker.py), in turns; memory is the peak over that of the process
with packages and rows loaded. Whoever needs more than `--limit` seconds is ended, and
that is told. What ended within `--again-below` seconds is repeated, the best counts.
Then the same two classifiers are fitted on the columns that each chose, and where the
method is a classifier itself, its own accuracy is told too.

Results go to results/peers.json after every run; the same command goes on where it was
stopped, `--again` measures anew. peers.md is made from that file, from those of other
benchmarks and studies, and from peers_features.py (`--tables-only`).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import peers_tables
from measurement import HERE, surroundings

sys.path.append(str(HERE / "studies"))

PARTS = ("text", "wide", "gene_bladder", "gene_11tumors")
WORKER = HERE / "peers_worker.py"
OUTPUT = HERE / "results" / "peers.json"
LIMIT = 300.0
QUICK = (  # who shows within two minutes that all of it runs
    "NaiveFeatureSelector",
    "SelectiveMultinomialNB",
    "SelectKBest(chi2)",
    "l1 logistic regression, liblinear",
    "l1 logistic regression, celer",
    "NaiveFeatureSelection",
    "SparseGaussianNB",
    "SelectKBest(f_classif), dense",
)
PENALTY_OF = "l1 logistic regression, liblinear"


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# ------------------------------------------------------------------------ one process


def worker_command(python: Path, *arguments: object) -> list[str]:
    return [str(python), str(WORKER), *map(str, arguments)]


def make_data(part: str, folder: Path, quick: bool) -> dict[str, Any]:
    """Have the rows of a part written by a process of its own."""
    command = worker_command(Path(sys.executable), "make", part, folder)
    command += ["--quick"] if quick else []
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:  # it has said why
        sys.exit(f"The rows of {part!r} could not be made.")
    return json.loads(done.stdout.splitlines()[-1])


def one_run(command: list[str], limit: float) -> dict[str, Any]:
    """Start a contestant and return its answer; the clock begins when it is ready."""
    around = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=around, start_new_session=True
    )

    def kill() -> None:
        with contextlib.suppress(ProcessLookupError):  # with whatever it has started
            os.killpg(process.pid, signal.SIGKILL)

    lines: list[str] = []
    clock: threading.Timer | None = None
    try:
        for line in process.stdout:
            lines.append(line)
            if '"ready"' in line:
                clock = threading.Timer(limit, kill)
                clock.start()
            elif '"measured"' in line:
                clock.cancel()
    finally:
        if clock is not None:
            clock.cancel()
        kill()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
    answer = json.loads(lines[-1]) if lines else {}
    if "ended" in answer:
        return answer
    measured = any('"measured"' in line for line in lines)
    killed = process.returncode == -signal.SIGKILL and not measured
    why = f"no end within {limit:g} s" if killed else "the process broke off"
    # On a busy machine the seconds on the wall are not all the contestant's.
    used = round(usage.ru_utime + usage.ru_stime, 1)
    return {"ended": False, "why": why, "processor_seconds": used}


# --------------------------------------------------------------------------- the record


class Record:
    """The runs of all parts and the file they live in."""

    def __init__(self, path: Path, quick: bool) -> None:
        from peer_environment import PEERS

        around = surroundings()
        self.path = path
        self.content: dict[str, Any] = {
            "benchmark": "peers",
            "quick": quick,
            "python": around["python"],
            "packages": {**around["packages"], **PEERS},
            **{n: around[n] for n in ("system", "processor", "processors")},
            "memory_gb": around["memory_gb"],
            "parts": {},
        }
        if path.is_file():
            stored = json.loads(path.read_text(encoding="utf-8"))
            for name in ("quick", "python", "packages"):
                if stored[name] != self.content[name]:
                    sys.exit(
                        f"{path} was written with {name} = {stored[name]!r}, this run "
                        f"has {self.content[name]!r}. Hint: give another --output, or "
                        "remove the file to begin again."
                    )
            self.content = stored

    def runs(self, part: str) -> dict[str, list[dict[str, Any]]]:
        return self.content["parts"][part]["runs"]

    def begin(self, part: str, data: dict[str, Any], limit: float) -> None:
        """Take a part up: its rows must be those of the runs that are there."""
        known = self.content["parts"].get(part)
        if known is not None and known["data"] != data:
            sys.exit(f"{self.path} has other rows for {part!r}: use --again.")
        if known is None:
            self.content["parts"][part] = {"data": data, "limit": limit, "runs": {}}

    def add(self, part: str, name: str, run: dict[str, Any]) -> None:
        """Take a run, with when it was and how busy the machine, and write the file."""
        around = surroundings()
        when = {"date": around["date"], "load": around["load_average"][0]}
        self.runs(part).setdefault(name, []).append({**run, **when})
        self.write()

    def write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_suffix(".tmp")
        text = json.dumps(self.content, indent=1, ensure_ascii=False)
        draft.write_text(text + "\n", encoding="utf-8")
        os.replace(draft, self.path)


def best_seconds(runs: Sequence[dict[str, Any]]) -> float | None:
    """Return the least seconds of all repetitions, None when there is no end."""
    ended = [second for run in runs if run["ended"] for second in run["seconds"]]
    return min(ended, default=None)


def missing(runs: Sequence[dict[str, Any]], repeats: int, below: float) -> int:
    """Return how many repetitions a contestant still has to do."""
    best = best_seconds(runs)
    if runs and (best is None or best > below):
        return 0
    return repeats - len(runs)


def penalty_of(runs: dict[str, list[dict[str, Any]]]) -> float | None:
    """Return the C that liblinear was found to need for k columns."""
    for run in runs.get(PENALTY_OF, []):
        if run["ended"]:
            return run["notes"]["C"]
    return None


# --------------------------------------------------------------------------------- all


def do_part(part: str, record: Record, options: argparse.Namespace) -> None:
    """Run whoever takes part, in turns, what is stored already not again."""
    from peer_environment import DEFAULT, peer_python

    from peers_contestants import of_part

    contestants = of_part(part)
    if options.only:
        contestants = [one for one in contestants if options.only in one.name]
    if options.quick:
        contestants = [one for one in contestants if one.name in QUICK]
    theirs = peer_python(options.environment or DEFAULT)
    limit = options.limit
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = make_data(part, folder, options.quick)
        if options.again and not options.only:
            record.content["parts"].pop(part, None)
        record.begin(part, data, limit)
        if options.again and options.only:
            for one in contestants:
                record.runs(part).pop(one.name, None)
        progress(f"{part}: {data}")
        for turn in range(options.repeats):
            for one in contestants:
                runs = record.runs(part).get(one.name, [])
                if (
                    len(runs) > turn
                    or missing(runs, options.repeats, options.again_below) <= 0
                ):
                    continue
                penalty = penalty_of(record.runs(part)) if one.needs_penalty else None
                if one.needs_penalty and penalty is None:
                    run = {"ended": False, "why": "liblinear found no penalty for it"}
                else:
                    python = theirs if one.in_peers_environment else sys.executable
                    command = worker_command(python, "run", part, folder)
                    command += ["--name", one.name, "--k", str(data["k"])]
                    command += ["--limit", str(limit)]
                    command += ["--penalty", str(penalty)] if penalty else []
                    run = one_run(command, limit)
                record.add(part, one.name, run)
                told = f"{min(run['seconds']):.3f} s" if run["ended"] else run["why"]
                progress(f"{part}, turn {turn + 1}, {one.name}: {told}")


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="few rows, in a new temporary folder")
    add("--parts", default=",".join(PARTS), help="which data (default: %(default)s)")
    add("--only", help="contestants with this in their name")
    add("--again", action="store_true", help="measure anew what is stored")
    add("--tables-only", action="store_true", help="write peers.md from what is stored")
    add(
        "--limit",
        type=float,
        default=LIMIT,
        help="seconds after which a contestant is ended",
    )
    add("--repeats", type=int, default=3)
    add("--again-below", type=float, default=20.0, help="seconds that are repeated")
    add("--environment", type=Path, help="where the peers' packages are")
    add("--output", type=Path, default=OUTPUT, help="where the JSON goes")
    return parser.parse_args(arguments)


def main() -> None:
    options = parse()
    if options.quick:
        options.output = Path(tempfile.mkdtemp(prefix="peers_")) / "peers.json"
        options.repeats, options.limit = 1, min(options.limit, 30.0)
        if options.parts == ",".join(PARTS):
            options.parts = "text,gene_bladder"
    unknown = set(options.parts.split(",")) - set(PARTS)
    if unknown:
        allowed = ", ".join(PARTS)
        sys.exit(f"--parts takes {allowed}. Got {', '.join(sorted(unknown))}.")
    if not options.tables_only:
        begin = time.perf_counter()
        record = Record(options.output, options.quick)
        for part in options.parts.split(","):
            do_part(part, record, options)
        progress(f"measured in {time.perf_counter() - begin:.0f} s")
    usual = options.output == OUTPUT
    page = HERE / "peers.md" if usual else options.output.with_suffix(".md")
    stored = json.loads(options.output.read_text(encoding="utf-8"))
    page.write_text(peers_tables.page(stored), encoding="utf-8")
    print(f"written: {options.output} and {page}")


if __name__ == "__main__":
    main()
