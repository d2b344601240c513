"""All experiments of Askari, d'Aspremont and El Ghaoui, and the peers, one command.

    python benchmarks/studies/rerun.py --quick    # small sizes, some minutes
    python benchmarks/studies/rerun.py --folder new   # all of it into new/; hours
    python benchmarks/studies/rerun.py            # goes on with the stored results

Runs the scripts below one after the other with the same interpreter, shows what they
print, and ends with a line for each: what it is, seconds, whether it came to its end.
A script that fails does not keep the others from running; the exit code tells.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from ledger import run_script
from study_run import names_of

HERE = Path(__file__).resolve().parent
SCRIPTS = {
    "two_stage": ("two_stage.py", "Experiment 1: select, then train"),
    "two_stage_speed": ("two_stage_speed.py", "Experiment 1: seconds in turns"),
    "published_objective": ("published_objective.py", "objective beside the published"),
    "unlimited_features": ("unlimited_features.py", "Experiment 2: all features"),
    "run_time_growth": ("run_time_growth.py", "Experiment 3: seconds against m"),
    "nine_words": ("nine_words.py", "Experiment 4: the words of IMDB"),
    "gene_paths": ("gene_paths.py", "Experiment 5: objective against k, genes"),
    "duality_gap": ("duality_gap.py", "Experiment 6: duality gap"),
    "peers": ("../peers.py", "what a user would pick instead"),
}


def run(name: str, quick: bool, folder: Path | None) -> tuple[float, int]:
    """Run one script; return seconds and its exit code."""
    script, title = SCRIPTS[name]
    print(f"== {name}: {title}", flush=True)
    command = [sys.executable, str((HERE / script).resolve())]
    begin = time.perf_counter()
    if quick:
        command.append("--quick")
    elif folder is not None and name == "peers":
        command += ["--output", str(folder.resolve() / "peers.json")]
    elif folder is not None:
        command += ["--folder", str(folder.resolve() / name)]
    done = subprocess.run(command, check=False)
    return time.perf_counter() - begin, done.returncode


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for and tell how each ended."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes for all")
    parser.add_argument("--folder", type=Path, help="begin anew, in this folder")
    parser.add_argument("--only", type=names_of(SCRIPTS), default=list(SCRIPTS))
    options = parser.parse_args(arguments)
    ends = {name: run(name, options.quick, options.folder) for name in options.only}
    print()
    for name, (seconds, code) in ends.items():
        state = "done" if code == 0 else f"FAILED with code {code}"
        print(f"{name:20} {seconds:8.1f} s  {state}")
    return int(any(code for _, code in ends.values()))


if __name__ == "__main__":
    run_script(main)
