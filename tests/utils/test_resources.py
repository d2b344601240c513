"""`n_jobs` means what it means in scikit-learn."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
import threadpoolctl

from bayesieve import _core
from bayesieve.utils._resources import (
    limited_threads,
    thread_count,
    with_one_blas_thread,
)


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


def blas_threads():
    return {
        own["num_threads"]
        for own in threadpoolctl.threadpool_info()
        if own["user_api"] == "blas"
    }


def test_blas_has_one_thread_within_a_call():
    @with_one_blas_thread
    def work(depth):
        if depth:
            work(depth - 1)
        assert blas_threads() == {1}
        if not depth:
            raise KeyError(depth)

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        if not blas_threads():
            pytest.skip("this NumPy has no BLAS that threadpoolctl knows")
        for depth in (0, 2):
            with pytest.raises(KeyError):
                work(depth)
            assert blas_threads() == {2}
