"""A limit of threads is kept by every kernel that is called inside it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
from tests.patience import HANGS

from bayesieve import _core

TASKS = "/proc/self/task"
# In a process of its own: what other tests have loaded may start threads at any time.
PROGRAM = """
import os, sys, threading
import numpy as np
from scipy import sparse
from bayesieve import ClassCounts, SparseTextNB, _core

rng = np.random.default_rng(0)
columns = rng.integers(0, 50_000, 2_000_000).astype(np.int32)
rows = np.arange(0, 2_000_001, 400)
X = sparse.csr_array((np.ones(columns.size), columns, rows), (5_000, 50_000))
y = rng.integers(0, 2, 5_000)
texts = [" ".join(f"w{j}" for j in rng.integers(0, 5000, 50)) for _ in range(5000)]


def limited():
    with _core.ThreadLimit(1):
        ClassCounts.from_matrix(X, y)


work = {
    "ThreadLimit": limited,
    "from_matrix": lambda: ClassCounts.from_matrix(X, y, n_jobs=1),
    "from_chunks": lambda: ClassCounts.from_chunks([(X, y), (X, y)], n_jobs=1),
    "from_text": lambda: ClassCounts.from_text([(texts, y)], n_jobs=1),
    "SparseTextNB": lambda: SparseTextNB(50, n_jobs=1).fit(texts, y).predict(texts),
}[sys.argv[1]]
work()  # imports, and pools of other packages
seen, ended = [], threading.Event()


def look():
    while not ended.is_set():
        seen.append(len(os.listdir("/proc/self/task")) - 1)


before = len(os.listdir("/proc/self/task"))
watcher = threading.Thread(target=look)
watcher.start()
work()
ended.set()
watcher.join()
print(before, max(seen))
"""


@pytest.mark.skipif(not os.path.isdir(TASKS), reason=f"counts threads in {TASKS}")
@pytest.mark.parametrize(
    "work", ["ThreadLimit", "from_matrix", "from_chunks", "from_text", "SparseTextNB"]
)
def test_one_thread_is_one_thread(work):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, work],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    before, most = map(int, done.stdout.split())
    assert most <= before


def test_limits_nest_and_end_in_any_order():
    outer, inner = _core.ThreadLimit(3), _core.ThreadLimit(2)
    assert _core.available_threads() >= 1
    free = _core.available_threads()
    outer.__enter__()
    inner.__enter__()
    assert _core.available_threads() == 2
    outer.__exit__(None, None, None)
    assert _core.available_threads() == 2
    inner.__exit__(None, None, None)
    assert _core.available_threads() == free


def test_a_limit_is_that_of_its_thread():
    found = []
    with _core.ThreadLimit(1):
        other = threading.Thread(target=lambda: found.append(_core.available_threads()))
        other.start()
        other.join()
        assert _core.available_threads() == 1
    assert found == [_core.available_threads()]
