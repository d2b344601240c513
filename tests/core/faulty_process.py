"""Runs kernels while memory or threads run out.

    python faulty_process.py KIND SIZE [CASE ...]

To be started with the library of `tools/faults.cpp` preloaded. Prints one line for each
case; ends by a signal where a kernel brings the process down.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.core.kernel_cases import CASES

from bayesieve import _core

KINDS = {"memory": 1, "thread": 2}


def core_range() -> tuple[int, int]:
    """Addresses of the compiled core in this process."""
    spans = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith(_core.__file__):
            low, high = line.split()[0].split("-")
            spans.append((int(low, 16), int(high, 16)))
    return min(spans)[0], max(spans)[1]


def equal(a: object, b: object) -> bool:
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(equal, a, b))
    return np.array_equal(a, b, equal_nan=isinstance(a, float | np.ndarray))


def main() -> None:
    faults = ctypes.CDLL(None)
    faults.faults_within.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
    faults.faults_arm.argtypes = [ctypes.c_int, ctypes.c_long]
    faults.faults_seen.restype = ctypes.c_long
    faults.faults_within(*core_range())
    kind = KINDS[sys.argv[1]]
    for case in sys.argv[3:] or CASES:
        make = CASES[case]
        # Partitions need long for little.
        size = int(sys.argv[2])
        if case.startswith(("group", "discretize")):
            size = min(size, 4000)
        expected = make(size)()
        n, refused = 1, 0
        while True:
            call = make(size)
            print(f"{case}, fault {n}", flush=True)
            faults.faults_arm(kind, n)
            try:
                found = call()
            except MemoryError:
                found = None
            finally:
                seen = faults.faults_seen()
                faults.faults_arm(0, 0)
            del call
            refused += found is None and expected is not None
            assert kind == KINDS["memory"] or found is not None or expected is None
            assert found is None or equal(found, expected), (
                f"{case}: another answer at {n}"
            )
            if seen < n:
                break
            n += 1 + n // 4
        print(f"{case}: {refused} refused of {n}", flush=True)


if __name__ == "__main__":
    main()
