"""Kernels when memory or threads run out: an error or the same answer, no abort."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.patience import HANGS

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "tools" / "faults.cpp"

# Kernels that share work among threads, at a size at which they do.
THREADED = [
    "compressed_class_sums:classes",
    "compressed_class_sums:columns",
    "dense_class_sums:rows",
    "DenseColumns.scan",
    "SparseColumns.gains",
    "bernoulli_gains",
    "bernoulli_columns",
    "discretize_columns:wide",
    "group_tables:two classes",
    "weighted_nll:many classes",
    "weighted_curvature",
    "linear_gradient",
    "assign_bins",
    "TextCounter.add:words",
    "TextCounter.finish",
    "TermMatcher.rows",
    "merge_named_tables",
]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("g++")
    if platform.libc_ver()[0] != "glibc" or compiler is None:
        pytest.skip("needs glibc, whose functions are replaced, and g++")
    path = tmp_path_factory.mktemp("faults") / "faults.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-std=c++17", str(SOURCE)]
    subprocess.run([*command, "-o", str(path), "-ldl", "-pthread"], check=True)
    return path


def run_with_faults(library, *arguments):
    done = subprocess.run(
        [sys.executable, str(HERE / "faulty_process.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=HANGS,
        env={**os.environ, "LD_PRELOAD": str(library)},
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"{lines[-1:]}: {done.stderr}"
    return [line for line in lines if "refused" in line]


def test_no_kernel_aborts_when_an_allocation_fails(library):
    lines = run_with_faults(library, "memory", "1000")
    refused = [line for line in lines if ": 0 refused" not in line]
    assert len(refused) > 40  # the faults are met


def test_kernels_do_the_work_with_the_threads_they_get(library):
    lines = run_with_faults(library, "thread", "300000", *THREADED)
    assert len(lines) == len(THREADED)
    assert all(": 0 refused" in line for line in lines)
    # On one processor no kernel asks for a thread that could be refused.
    asked = [line for line in lines if not line.endswith("of 1")]
    assert len(asked) > 10 or os.cpu_count() == 1
