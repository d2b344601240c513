"""An attribute that is computed once, and holds nothing meanwhile."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from bayesieve.solvers._problem import MultinomialProblem
from bayesieve.utils._computed_once import computed_once


class Squares:
    def __init__(self, n):
        self.n, self.calls = n, 0

    @computed_once
    def total(self):
        """Sum of squares."""
        self.calls += 1
        return sum(i * i for i in range(self.n))


def test_it_is_computed_once_and_kept():
    one, other = Squares(4), Squares(3)
    assert one.total == one.total == 14
    assert other.total == 5
    assert (one.calls, other.calls) == (1, 1)
    assert Squares.total.__doc__ == "Sum of squares."


def test_an_error_is_not_kept():
    class Faulty:
        broken = True

        @computed_once
        def value(self):
            if self.broken:
                raise ValueError("not yet")
            return 1

    faulty = Faulty()
    with pytest.raises(ValueError, match="not yet"):
        _ = faulty.value
    faulty.broken = False
    assert faulty.value == 1


def exit_status(child, seconds):
    """Exit status of a child that must end by itself; None if it had to be killed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


# Python 3.12 and newer say that a child of many threads may hang: this one must not.
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_child_forked_while_another_thread_computes_does_not_wait_for_it():
    counts = np.array([[4.0, 6.0, 10.0], [12.0, 0.0, 1.0]])
    slow, quick = MultinomialProblem(counts, 1.0), MultinomialProblem(counts, 1.0)
    inside, go_on = threading.Event(), threading.Event()
    scan = slow.table.scan

    def waiting_scan():
        inside.set()
        go_on.wait(60)
        return scan()

    slow.table.scan = waiting_scan
    thread = threading.Thread(target=lambda: slow.n_nonempty)
    thread.start()
    try:
        assert inside.wait(60)
        child = os.fork()
        if child == 0:
            os._exit(0 if quick.n_nonempty == 3 else 1)
        assert exit_status(child, seconds=30) == 0
    finally:
        go_on.set()
        thread.join()
    assert slow.n_nonempty == 3
