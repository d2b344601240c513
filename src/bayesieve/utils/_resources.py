"""What a computation may use: `n_jobs` threads, `memory_budget` bytes."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from numbers import Integral
from typing import Any

import joblib

from bayesieve import _core

__all__ = ["check_memory_budget", "is_whole", "limited_threads", "thread_count"]

_MOST_THREADS = 64  # each has buffers of its own


def is_whole(value: Any) -> bool:
    """Tell whether a value is an integer, and not a truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def thread_count(n_jobs: Any) -> int:
    """Return the number of threads, by scikit-learn's meaning of `n_jobs`.

    None is 1 unless a `joblib.parallel_config` says otherwise; -1 is one for each
    processor, -2 leaves one of them free.
    """
    if n_jobs is None:
        n_jobs = joblib.effective_n_jobs(None)
    if not is_whole(n_jobs) or n_jobs == 0:
        raise ValueError(
            "The 'n_jobs' parameter must be an int other than 0, or None. Got "
            f"{n_jobs!r}."
        )
    if n_jobs < 0:
        n_jobs = max(1, _processors() + 1 + int(n_jobs))
    return min(int(n_jobs), _MOST_THREADS)


def _processors() -> int:
    if not hasattr(os, "sched_getaffinity"):
        return _allowed_processors()
    return min(len(os.sched_getaffinity(0)), _allowed_processors())


@cache
def _allowed_processors() -> int:
    """As joblib counts them, by quotas of the system too, in 0.1 ms."""
    return int(joblib.cpu_count())


def limited_threads(n_jobs: Any) -> AbstractContextManager[Any]:
    """Return a context in which kernels keep to `n_jobs` threads."""
    return nullcontext() if n_jobs == -1 else _core.ThreadLimit(thread_count(n_jobs))


def check_memory_budget(value: Any) -> None:
    """Refuse what is not a number of bytes."""
    if value is not None and not (is_whole(value) and value >= 1):
        raise ValueError(
            "'memory_budget' must be None or a number of bytes (int >= 1). Got "
            f"{value!r}."
        )
