"""What every benchmark shares: options, timing in turns, processes, versions, JSON."""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGES = ("bayesieve", "numpy", "scipy", "scikit-learn")


def option_parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the two options that all benchmarks have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, to see that it runs"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=HERE / "results" / f"{name}.json",
        help="where the JSON goes (default: %(default)s)",
    )
    return parser


def data_folder() -> Path:
    """Return where the real data sets are; the rule of tests/conftest.py."""
    named = os.environ.get("BAYESIEVE_DATA")
    return Path(named) if named else HERE.parents[1] / "shared" / "data"


def read_data(name: str) -> Any:
    """Return a real data set as a DataFrame, or end and say where it was looked for."""
    path = data_folder() / f"{name}.parquet"
    if not path.is_file():
        sys.exit(f"{path} is not here. Hint: set BAYESIEVE_DATA to its folder.")
    import pandas as pd

    return pd.read_parquet(path)


def interleaved(
    sides: dict[str, Callable[[], object]], repeats: int
) -> dict[str, list[float]]:
    """Seconds of every repetition of every side, taken in turns.

    The machine may be shared: turns spread a slow minute over all sides, and the best
    of each side is the one to compare.
    """
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, run in sides.items():
            seconds[name].append(timed(run)[0])
    return seconds


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result of one call, with the collector out of the way."""
    gc.collect()
    gc.disable()
    try:
        begin = time.perf_counter()
        result = run()
        return time.perf_counter() - begin, result
    finally:
        gc.enable()


def peak_bytes() -> int:
    """Return the largest resident size of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


def in_own_process(script: str, arguments: Sequence[str]) -> Any:
    """Run a script of this folder in a fresh process and return the JSON it prints.

    Linux hands a parent's peak down to its child, so the caller must stay small itself:
    whoever measures memory makes its data in a process of their own.
    """
    done = subprocess.run(
        [sys.executable, str(HERE / script), *arguments],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout)


def processor() -> str:
    """Return the name of the processor as the system states it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def surroundings() -> dict[str, Any]:
    """Versions, machine and date: what a figure depends on beside the code."""
    packages = {}
    for name in PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "not installed"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "packages": packages,
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "processors": os.cpu_count(),
        "memory_gb": round(memory / 1e9, 1),
        "load_average": [round(load, 2) for load in os.getloadavg()],
    }


def target(name: str, value: float, *, least: float = 0.0, most: float = 1e300) -> dict:
    """One promise: its figure, what was asked for, and whether it is kept; printed."""
    kept = least <= value <= most
    wanted = f"at least {least:g}" if most == 1e300 else f"at most {most:g}"
    print(f"{'kept  ' if kept else 'MISSED'} {name}: {value:.3g} ({wanted})")
    return {"name": name, "value": value, "wanted": wanted, "kept": kept}


def report(
    name: str, options: argparse.Namespace, seed: int | None, results: dict[str, Any]
) -> None:
    """Write the JSON of one run."""
    content = {
        "benchmark": name,
        "quick": options.quick,
        "seed": seed,
        **surroundings(),
        **results,
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if options.quick:
        print("quick: the targets are for the full sizes, not for these")
    print(f"written: {options.output}")
