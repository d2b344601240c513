"""Every kernel called by many threads at once gives what it gives to one.

Kernels work without the interpreter's lock, so that their threads are truly beside each
other on every Python; what runs with the lock is beside other threads only on a Python
that has none. `python3 dev.py races` runs this with the core under ThreadSanitizer.
"""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.core.kernel_cases import CASES, Call
from tests.patience import HANGS

from bayesieve import _core
from bayesieve.text._options import TextOptions
from bayesieve.text._term_names import pack

THREADS = 6
SIZE = 6_000  # numbers: several blocks of work for some kernels, milliseconds for all

#: Kernels that may be called once for each object, so that none can be shared.
ONCE = {"TextCounter.finish"}


@pytest.fixture(autouse=True)
def hasty_switches() -> Iterator[None]:
    """Let threads that hold the interpreter's lock give it up all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """Start all calls together, each in a thread of its own; their results in order."""
    start = threading.Barrier(len(calls), timeout=HANGS)

    def wait_and(call: Callable[[], Any]) -> Any:
        start.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        running = [pool.submit(wait_and, call) for call in calls]
        return [future.result(timeout=HANGS) for future in running]


def flat(thing: Any) -> list[Any]:
    """The arrays and other values in tuples and lists, in order."""
    if isinstance(thing, tuple | list):
        return [value for part in thing for value in flat(part)]
    return [thing]


def given_to(call: Call) -> list[Any]:
    """What a call holds: its inputs, and the arrays that it writes to."""
    cells = call.__closure__ or ()
    return [cell.cell_contents for cell in cells]


def arrays_of(call: Call) -> list[np.ndarray]:
    return [a for a in flat(given_to(call)) if isinstance(a, np.ndarray)]


def answer(call: Call) -> list[np.ndarray]:
    """Call, and return the numbers that come back and all arrays that it was given."""
    # Objects of the core are compared by what their methods give, in their own cases.
    kinds = (np.ndarray, bool, int, float, str, bytes)
    found = [value for value in flat(call()) if isinstance(value, kinds)]
    return [np.array(value) for value in [*found, *arrays_of(call)]]


def with_copies_of(call: Call, written: set[int]) -> Call:
    """The same call on the same inputs, with arrays of its own to write to."""

    def own(thing: Any) -> Any:
        if isinstance(thing, tuple | list):
            return type(thing)(own(part) for part in thing)
        return thing.copy(order="K") if id(thing) in written else thing

    cells = tuple(types.CellType(own(thing)) for thing in given_to(call))
    return types.FunctionType(
        call.__code__, call.__globals__, call.__name__, call.__defaults__, cells
    )


def assert_same(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs, strict=True)


def size_of(case: str) -> int:
    return SIZE // 4 if case.startswith("group") else SIZE


@pytest.mark.parametrize("case", CASES)
def test_each_thread_with_inputs_of_its_own(case):
    make = CASES[case]
    calls = [make(size_of(case)) for _ in range(THREADS)]
    expected = answer(make(size_of(case)))
    for found in at_once([lambda call=call: answer(call) for call in calls]):
        assert_same(found, expected)


@pytest.mark.parametrize("case", sorted(CASES.keys() - ONCE))
def test_all_threads_with_the_same_inputs(case):
    make = CASES[case]
    serial, shared = make(size_of(case)), make(size_of(case))
    before = [array.copy() for array in arrays_of(serial)]
    expected = answer(serial)
    written = {
        id(mine)
        for mine, old, new in zip(
            arrays_of(shared), before, arrays_of(serial), strict=True
        )
        if not np.array_equal(old, new, equal_nan=old.dtype.kind == "f")
    }
    calls = [with_copies_of(shared, written) for _ in range(THREADS)]
    for found in at_once([lambda call=call: answer(call) for call in calls]):
        assert_same(found, expected)


def test_all_kernels_at_once():
    """Each thread calls every kernel, from another one on: any two may meet."""
    names = list(CASES)
    expected = {case: answer(CASES[case](size_of(case))) for case in names}

    def walk(first: int) -> None:
        for case in names[first:] + names[:first]:
            assert_same(answer(CASES[case](size_of(case))), expected[case])

    starts = range(0, len(names), -(-len(names) // THREADS))
    at_once([lambda first=first: walk(first) for first in starts])


# -------------------------------------------------- objects that several threads change


def texts_of(thread: int) -> list[str]:
    rng = np.random.default_rng(thread)
    return [" ".join(f"w{w}" for w in row) for row in rng.integers(0, 900, (300, 8))]


def test_one_counter_fed_by_many_threads():
    def counter() -> Any:
        return _core.TextCounter(TextOptions().plan, 2, 2, 0, "", False, 0)

    def feed(counter: Any, thread: int) -> None:
        for texts in (texts_of(thread)[:150], texts_of(thread)[150:]):
            codes = np.arange(len(texts), dtype=np.int32) % 2
            counter.add(*pack(texts), codes)
            assert counter.nbytes > 0

    alone, shared = counter(), counter()
    for thread in range(THREADS):
        feed(alone, thread)
    at_once([lambda thread=t: feed(shared, thread) for t in range(THREADS)])
    assert_same(list(shared.finish(1 << 40)), list(alone.finish(1 << 40)))


def test_a_counter_is_finished_by_one_thread_alone():
    counter = _core.TextCounter(TextOptions().plan, 2, 2, 0, "", False, 0)
    counter.add(*pack(texts_of(0)), np.zeros(300, np.int32))

    def finish() -> Any:
        try:
            return counter.finish(1 << 40)
        except RuntimeError as error:
            return str(error)

    found = at_once([finish] * THREADS)
    assert sum(isinstance(result, tuple) for result in found) == 1
    rest = {result for result in found if isinstance(result, str)}
    assert rest == {"the counts have been taken already"}


def test_texts_packed_while_their_list_is_changed():
    """Whatever is packed was the list at one moment."""
    texts = [f"text {i} ünd mehr" for i in range(4000)]
    ended = threading.Event()

    def change() -> None:
        while not ended.is_set():
            texts.append("one more")
            texts.pop()

    def look() -> list[int]:
        try:
            return [
                len(unpacked(_core.pack_texts(texts, np.empty(0, np.int32))))
                for _ in range(20)
            ]
        finally:
            ended.set()

    def unpacked(packed: Any) -> list[str]:
        data, offsets, _ = packed
        blob = data.tobytes()
        found = [blob[a:b].decode() for a, b in pairwise(offsets.tolist())]
        assert found[:4000] == texts[:4000]
        assert found[4000:] in ([], ["one more"])
        return found

    sizes, _ = at_once([look, change])
    assert set(sizes) <= {4000, 4001}


def test_limits_are_of_the_thread_that_enters_them():
    """One object entered by many threads is a limit of each; none reaches beyond it."""
    threads = _core.ThreadLimit(1)

    def enter() -> list[int]:
        seen = []
        for _ in range(200):
            with threads:
                seen.append(_core.available_threads())
            seen.append(_core.available_threads())
        return seen

    free = _core.available_threads()
    for seen in at_once([enter] * THREADS):
        assert seen == [1, free] * 200


def test_one_time_limit_entered_by_many_threads():
    up, far = _core.TimeLimit(0.0), _core.TimeLimit(1e6)

    def enter() -> None:
        values = np.zeros(400_000)  # enough for two polls; it is written to
        for _ in range(5):
            with up, pytest.raises(_core.TimeLimitReached):
                _core.exp_nonpositive(values)
            with far:
                _core.exp_nonpositive(values)
            assert up.reached
            assert not far.reached

    at_once([enter] * THREADS)
