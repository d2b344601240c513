"""`n_jobs` means what it means in scikit-learn."""

from __future__ import annotations

import joblib
import numpy as np
import pytest

from bayesieve import _core
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
