"""What a computation may use: `n_jobs` threads, `memory_budget` bytes."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, wraps
from inspect import isfunction
from numbers import Integral
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

from bayesieve import _core

__all__ = [
    "KeepsToJobs",
    "check_memory_budget",
    "is_whole",
    "keeps_to_jobs",
    "limited_threads",
    "thread_count",
    "with_one_blas_thread",
]

_MOST_THREADS = 64  # each has buffers of its own
#: Methods of estimators that compute something.
_COMPUTING = (
    *("fit", "partial_fit", "fit_counts", "fit_files", "fit_transform", "transform"),
    *("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"),
    *("explain", "alternatives"),
)

Computing = TypeVar("Computing", bound=Callable[..., Any])


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


def keeps_to_jobs(function: Computing) -> Computing:
    """Decorate a function whose kernels keep to its parameter `n_jobs`."""

    @wraps(function)
    def limited(*args: Any, n_jobs: int | None = -1, **options: Any) -> Any:
        with limited_threads(n_jobs):
            return function(*args, n_jobs=n_jobs, **options)

    return limited  # type: ignore[return-value]


@cache
def _blas() -> ThreadpoolController:
    """The libraries that are loaded; to look for them takes a millisecond."""
    return ThreadpoolController()


def with_one_blas_thread(function: Computing) -> Computing:
    """Decorate a function whose products are too short for threads of BLAS.

    These wait for more work in a loop, for some milliseconds after each product: where
    short ones follow each other they keep processors busy that kernels need.
    """

    @wraps(function)
    def limited(*args: Any, **options: Any) -> Any:
        with _blas().limit(limits=1, user_api="blas"):
            return function(*args, **options)

    return limited  # type: ignore[return-value]


class KeepsToJobs:
    """Mixin of estimators: what their methods compute keeps to `n_jobs` threads.

    Methods are wrapped when a class is made, as scikit-learn wraps `transform`, so that
    none can be forgotten.
    """

    n_jobs: int | None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in _COMPUTING:
            method = vars(cls).get(name)
            if isfunction(method):
                setattr(cls, name, _limited(method))


def _limited(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def limited(self: KeepsToJobs, *args: Any, **options: Any) -> Any:
        with limited_threads(self.n_jobs):
            return method(self, *args, **options)

    return limited


def check_memory_budget(value: Any) -> None:
    """Refuse what is not a number of bytes."""
    if value is not None and not (is_whole(value) and value >= 1):
        raise ValueError(
            "'memory_budget' must be None or a number of bytes (int >= 1). Got "
            f"{value!r}."
        )
