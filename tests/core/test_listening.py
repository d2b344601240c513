"""Kernels end when a signal arrives or their time is up, and nothing is left half done.

How soon is measured by `benchmarks/listening.py`; nothing here looks at a clock.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
from tests.core.kernel_cases import CASES, INSTANT, kernel_of
from tests.patience import HANGS

from bayesieve import _core
from bayesieve.text._options import TextOptions


def callables():
    """Names of all functions and methods of the core."""
    for name in dir(_core):
        if name.startswith("_"):
            continue
        yield name
        thing = getattr(_core, name)
        if isinstance(thing, type):
            for method in vars(thing):
                if not method.startswith("_"):
                    yield f"{name}.{method}"


def test_every_kernel_has_a_case():
    named = {kernel_of(case) for case in CASES}
    assert named | INSTANT == set(callables())
    assert not named & INSTANT


@pytest.mark.parametrize("case", CASES)
def test_a_kernel_whose_time_is_up_says_so(case):
    # Enough work for two polls; grouping is the one that needs long for little.
    call = CASES[case](4_000 if case.startswith("group") else 400_000)
    with _core.TimeLimit(0.0), pytest.raises(_core.TimeLimitReached):
        call()


class HeardError(Exception):
    pass


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
@pytest.mark.parametrize(
    "case",
    [
        "discretize_columns:classes",
        "group_tables:merges",
        "search_two_classes",
        "TextCounter.add:words",
    ],
)
def test_a_signal_ends_a_kernel_by_the_exception_of_its_handler(case):
    # Work for minutes: the test ends because the signal is heard.
    call = CASES[case](4_000_000)

    def handler(number, frame):
        raise HeardError

    def interrupted():
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        call()

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(HeardError):
            interrupted()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_a_handler_that_raises_nothing_does_not_disturb():
    make = CASES["DenseColumns.gains"]
    expected = make(3_000_000)()
    seen = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
        found = make(3_000_000)()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    np.testing.assert_array_equal(found, expected)
    assert seen


def test_limits_end_with_their_block_and_the_first_counts():
    call = CASES["divergence"](400_000)
    with _core.TimeLimit(1e6):
        with _core.TimeLimit(0.0), pytest.raises(_core.TimeLimitReached):
            call()
        call()
    with _core.TimeLimit(0.0), _core.TimeLimit(1e6), pytest.raises(TimeoutError):
        call()
    with pytest.raises(ZeroDivisionError), _core.TimeLimit(0.0):
        raise ZeroDivisionError
    call()
    with _core.TimeLimit(math.inf):
        call()
    with _core.TimeLimit(math.nan), pytest.raises(_core.TimeLimitReached):
        call()


def test_limits_may_end_in_any_order():
    call = CASES["divergence"](400_000)
    first, second = _core.TimeLimit(1e6), _core.TimeLimit(0.0)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    with pytest.raises(_core.TimeLimitReached):
        call()
    second.__exit__(None, None, None)
    call()


def test_a_limit_is_that_of_its_thread():
    call = CASES["divergence"](400_000)
    failures = []

    def other():
        try:
            call()
        except BaseException as error:
            failures.append(error)

    with _core.TimeLimit(0.0):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert not failures


def test_interrupted_counts_of_texts_are_not_taken_for_an_answer():
    counter = _core.TextCounter(TextOptions().plan, 2, 2, 0, "", False, 0)
    data = np.frombuffer(b"some words " * 100_000, np.uint8)
    offsets = np.arange(0, data.size + 1, 11)
    codes = np.zeros(offsets.size - 1, np.int32)
    counter.add(data, offsets, codes)
    with _core.TimeLimit(0.0), pytest.raises(_core.TimeLimitReached):
        counter.add(data, offsets, codes)
    for again in (lambda: counter.add(data, offsets, codes), lambda: counter.finish(9)):
        with pytest.raises(RuntimeError, match="lost when counting was interrupted"):
            again()


FORKING = """
    import os, sys, threading
    import numpy as np
    sys.path.insert(0, {root!r})
    from tests.core.kernel_cases import CASES

    names = ["compressed_class_sums:columns", "DenseColumns.gains"]
    names.append("TextCounter.add:words")
    for name in names:
        CASES[name](300_000)()  # threads have come and gone
    busy = CASES["discretize_columns:wide"](20_000_000)
    from bayesieve import _core

    def work():
        with _core.TimeLimit(20.0):
            try:
                busy()
            except TimeoutError:
                pass

    threading.Thread(target=work, daemon=True).start()
    for _ in range(5):
        child = os.fork()
        if child == 0:
            for name in names:
                CASES[name](300_000)()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    print("all children ended")
    sys.stdout.flush()
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_kernels_run_in_a_child_forked_while_others_run():
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            textwrap.dedent(FORKING.format(root=root)),
        ],
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert done.stdout.strip() == "all children ended", done.stderr
