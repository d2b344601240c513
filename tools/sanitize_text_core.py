"""Run the text kernels under AddressSanitizer and UndefinedBehaviorSanitizer.

    python tools/sanitize_text_core.py --seconds 60
    python tools/sanitize_text_core.py --libfuzzer --seconds 3600   # needs clang++

The headers of the core know nothing of Python, so a plain C++ program can run them
(`text_core_driver.cpp`): on inputs of its own making, or driven by libFuzzer.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from bayesieve.text._characters import table_arrays

HERE = Path(__file__).resolve().parent
CORE = HERE.parent / "src" / "bayesieve" / "_core"
FLAGS = ["-std=c++17", "-O1", "-g", "-fno-omit-frame-pointer", "-pthread", "-Wall"]


def write_tables(path: Path) -> None:
    """Write the tables of characters where the program can read them."""
    with open(path, "wb") as file:
        for lowercase in (True, False):
            for accents in (None, "unicode", "ascii"):
                flags, mapping, start, data, lower, final = table_arrays(
                    lowercase, accents
                )
                rest = np.array([lower, final], dtype=np.uint16)
                for array in (flags, mapping, start, data, rest):
                    file.write(np.uint64(array.size).tobytes())
                    file.write(np.ascontiguousarray(array).tobytes())


def compiler(libfuzzer: bool) -> str | None:
    """Return a compiler, or None where there is none."""
    if libfuzzer:
        return shutil.which("clang++")
    named = os.environ.get("CXX")
    return shutil.which(named) if named else shutil.which("g++") or shutil.which("c++")


def build(folder: Path, sanitizers: str, libfuzzer: bool = False) -> Path | None:
    """Compile the program; None where compiler or sanitizers are missing."""
    command = compiler(libfuzzer)
    if command is None:
        return None
    program = folder / f"text_core_{sanitizers.replace(',', '_')}"
    extra = ["-DWITH_LIBFUZZER"] if libfuzzer else []
    done = subprocess.run(
        [
            command,
            *FLAGS,
            *extra,
            f"-fsanitize={sanitizers}",
            "-fno-sanitize-recover=all",
            f"-I{CORE}",
            str(HERE / "text_core_driver.cpp"),
            "-o",
            str(program),
        ],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        if "cannot find" in done.stderr and "san" in done.stderr:
            return None  # a compiler without the run-time libraries
        raise RuntimeError(f"the program does not compile:\n{done.stderr}")
    return program


def run(program: Path, folder: Path, seed: int, seconds: float) -> str:
    """Run the program on inputs of its own; its output, or an error with the report."""
    tables = folder / "tables.bin"
    write_tables(tables)
    done = subprocess.run(
        [str(program), str(tables), str(folder), str(seed), str(seconds)],
        capture_output=True,
        text=True,
        env={**os.environ, "ASAN_OPTIONS": "detect_leaks=1"},
    )
    if done.returncode:
        raise RuntimeError(f"{program.name} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    """Build, run, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--threads", action="store_true", help="ThreadSanitizer instead"
    )
    parser.add_argument("--libfuzzer", action="store_true")
    parser.add_argument("--corpus", type=Path, help="folder kept by libFuzzer")
    options = parser.parse_args()
    sanitizers = "thread" if options.threads else "address,undefined"
    if options.libfuzzer:
        sanitizers += ",fuzzer"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build(folder, sanitizers, options.libfuzzer)
        if program is None:
            sys.exit("No C++ compiler with the sanitizers was found.")
        if not options.libfuzzer:
            print(run(program, folder, options.seed, options.seconds), end="")
            return
        write_tables(folder / "tables.bin")
        command = [str(program), f"-max_total_time={options.seconds:g}"]
        if options.corpus:
            command.append(str(options.corpus))
        environment = {**os.environ, "TEXT_TABLES": str(folder / "tables.bin")}
        sys.exit(subprocess.run(command, env=environment).returncode)


if __name__ == "__main__":
    main()
