"""A limit of threads is kept by every kernel that is called inside it."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest
from scipy import sparse

from bayesieve import ClassCounts, _core

TASKS = "/proc/self/task"


def most_threads(work):
    """Return how many threads at most were seen beside the one that looks."""
    seen, ended = [], threading.Event()

    def look():
        while not ended.is_set():
            seen.append(len(os.listdir(TASKS)) - 1)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        work()
    finally:
        ended.set()
        watcher.join()
    return max(seen, default=0)


@pytest.mark.skipif(not os.path.isdir(TASKS), reason=f"counts threads in {TASKS}")
def test_one_thread_is_one_thread():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 50_000, 2_000_000).astype(np.int32)
    rows = np.arange(0, 2_000_001, 400)
    X = sparse.csr_array((np.ones(columns.size), columns, rows), (5_000, 50_000))
    y = rng.integers(0, 2, 5_000)
    before = len(os.listdir(TASKS))
    with _core.ThreadLimit(1):
        assert most_threads(lambda: ClassCounts.from_matrix(X, y)) <= before


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
