"""`n_jobs` means what it means in scikit-learn."""

from __future__ import annotations

import os

import joblib
import numpy as np
import pytest
from scipy import sparse
from tests.core.test_thread_limit import TASKS, most_threads

from bayesieve import ClassCounts, SparseTextNB, _core
from bayesieve.utils._resources import limited_threads, thread_count


def test_numbers_of_threads():
    processors = joblib.cpu_count()
    assert thread_count(1) == 1
    assert thread_count(np.int64(3)) == 3
    assert thread_count(10**6) == 64
    assert thread_count(-1) == min(processors, 64)
    assert thread_count(-2) == max(1, min(processors - 1, 64))
    assert thread_count(-1000) == 1
    assert thread_count(None) == 1
    with joblib.parallel_config("threading", n_jobs=3):
        assert thread_count(None) == 3
    for wrong in (0, 1.0, True, "all"):
        with pytest.raises(ValueError, match="'n_jobs' parameter must be an int other"):
            thread_count(wrong)


def test_kernels_keep_to_the_limit():
    free = _core.available_threads()
    with limited_threads(1):
        assert _core.available_threads() == 1
    with limited_threads(-1):
        assert _core.available_threads() == free


@pytest.mark.skipif(not os.path.isdir(TASKS), reason=f"counts threads in {TASKS}")
def test_one_job_is_one_thread():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 50_000, 2_000_000).astype(np.int32)
    rows = np.arange(0, 2_000_001, 400)
    X = sparse.csr_array((np.ones(columns.size), columns, rows), (5_000, 50_000))
    y = rng.integers(0, 2, 5_000)
    texts = [" ".join(f"w{j}" for j in rng.integers(0, 5000, 50)) for _ in range(5000)]
    before = len(os.listdir(TASKS))
    for work in (
        lambda: ClassCounts.from_matrix(X, y, n_jobs=1),
        lambda: ClassCounts.from_chunks([(X, y), (X, y)], n_jobs=1),
        lambda: ClassCounts.from_text([(texts, y)], n_jobs=1),
        lambda: SparseTextNB(50, n_jobs=1).fit(texts, y).predict(texts),
    ):
        assert most_threads(work) <= before
