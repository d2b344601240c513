"""How soon every kernel of the compiled core hears Ctrl-C and a time limit.

    python benchmarks/listening.py
    python benchmarks/listening.py --only text

Each kernel gets an input that it needs long for. A timer raises a signal while it runs,
as Ctrl-C does; the figure is the time from the signal to the exception, the worst of
three. The same for `_core.TimeLimit`.
"""

from __future__ import annotations

import gc
import signal
import sys
import time
from typing import Any

from bayesieve import _core
from measurement import HERE, option_parser, report, target

sys.path.append(str(HERE.parent))

#: Begin of the interruption, in seconds after the call; kernels run longer than that.
AFTER = 0.06
LONG_ENOUGH = 2.5 * AFTER
LARGEST = 1 << 27


class SignalError(Exception):
    """Raised by the handler in the place of KeyboardInterrupt."""


def on_signal(number: int, frame: Any) -> None:
    raise SignalError


def long_input(make: Any) -> tuple[int, float]:
    """A size at which one call takes long enough, and how long it takes."""
    size, seconds = 1 << 12, 0.0
    while True:
        call = make(size)
        begin = time.perf_counter()
        with _core.TimeLimit(8 * LONG_ENOUGH):
            try:
                call()
            except _core.TimeLimitReached:
                return size, 8 * LONG_ENOUGH
        seconds = time.perf_counter() - begin
        if seconds >= LONG_ENOUGH or size >= LARGEST:
            return size, seconds
        factor = 2 if seconds <= 0 else min(16.0, 1.5 * LONG_ENOUGH / seconds)
        size = min(LARGEST, int(size * max(2.0, factor)))


def signal_delay(call: Any) -> float | None:
    begin = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, AFTER)
    try:
        call()
    except SignalError:
        return time.perf_counter() - begin - AFTER
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    return None


def limit_delay(call: Any) -> float | None:
    begin = time.perf_counter()
    try:
        with _core.TimeLimit(AFTER):
            call()
    except _core.TimeLimitReached:
        return time.perf_counter() - begin - AFTER
    return None


def main() -> None:
    from tests.core.kernel_cases import CASES

    parser = option_parser("listening", __doc__)
    parser.add_argument("--only", default="", help="part of the names of kernels")
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, on_signal)
    rows = []
    print(f"{'kernel':42s} {'whole call':>11s} {'signal':>11s} {'limit':>11s}")
    for name, make in CASES.items():
        if options.only not in name:
            continue
        size, seconds = long_input(make)
        row: dict[str, Any] = {"kernel": name, "size": size, "seconds": seconds}
        for kind, measure in (("signal", signal_delay), ("limit", limit_delay)):
            delays = [measure(make(size)) for _ in range(1 if options.quick else 3)]
            row[kind] = [delay for delay in delays if delay is not None]
            gc.collect()
        rows.append(row)
        shown = [
            f"{1000 * max(row[kind]):.1f} ms" if row[kind] else "not needed"
            for kind in ("signal", "limit")
        ]
        print(
            f"{name:42s} {seconds:9.2f} s {shown[0]:>11s} {shown[1]:>11s}", flush=True
        )
    worst = max(d for row in rows for kind in ("signal", "limit") for d in row[kind])
    promises = [target("worst delay in seconds", worst, most=0.1)]
    report("listening", options, None, {"kernels": rows, "targets": promises})


if __name__ == "__main__":
    main()
