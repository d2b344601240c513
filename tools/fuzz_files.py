"""Read thousands of files of counts and models that were made to do harm.

    python tools/fuzz_files.py --files 50000

Run from the root of the checkout. Each file has right checksums and wrong content, and
what can be read of it is used. Every outcome but an answer or a ValueError of one
sentence is told with its seed, a crash of the process too: files are read in a process
of their own, with little memory.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.persistence.mutations import bases, mutated, used

SECONDS = 20  # for one file
MEMORY = 1 << 30  # beyond what is in use before the first


def _read_all(seeds: range, whole: dict[str, bytes], pipe) -> None:
    """Read a file for each seed and send what came of it."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, _too_long)
    names, contents = list(whole), list(whole.values())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        for seed in seeds:
            rng = random.Random(seed)
            name = rng.choice(names)
            path.write_bytes(mutated(whole[name], rng, contents))
            pipe.send((seed, name, "began"))
            signal.alarm(SECONDS)
            try:
                outcome = used(path, name)
            except BaseException:
                outcome = traceback.format_exc(limit=-4)
            signal.alarm(0)
            pipe.send((seed, name, outcome))


def _too_long(*_) -> None:
    raise TimeoutError(f"more than {SECONDS} seconds")


def fuzz(seeds: range, whole: dict[str, bytes]):
    """Yield (seed, name, outcome) of each; a process that dies is started again."""
    context = multiprocessing.get_context("fork")
    while seeds:
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_read_all, args=(seeds, whole, there))
        process.start()
        there.close()
        last = (seeds[0], "?", "began")
        try:
            while True:
                last = here.recv()
                if last[2] != "began":
                    yield last
        except EOFError:
            process.join()
        if last[2] == "began":
            yield (*last[:2], f"the process died with code {process.exitcode}")
        seeds = range(last[0] + seeds.step, seeds.stop, seeds.step)


def main() -> int:
    """Read, judge, tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    parser.add_argument("--files", type=int, default=50_000, help="how many")
    parser.add_argument("--step", type=int, default=1, help="from seed to seed")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    stop = arguments.first + arguments.files * arguments.step
    ends: Counter[str] = Counter()
    wrong = 0
    for seed, name, outcome in fuzz(
        range(arguments.first, stop, arguments.step), bases()
    ):
        if outcome in ("used", "refused", "refused in use"):
            ends[outcome] += 1
        else:
            wrong += 1
            print(f"seed {seed} ({name}): {outcome}", flush=True)
    shown = ", ".join(f"{number} {end}" for end, number in sorted(ends.items()))
    print(f"{arguments.files} files: {shown}; {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
