"""Universal code lengths of integers, in nats.

The compiled searches use the same formulas (``_core/code_lengths.h``).
"""

from __future__ import annotations

import math
from functools import lru_cache

__all__ = ["integer_code", "integers_up_to", "log2_star"]

# Rissanen's constant: the sum of 2^(-log2*(i)) over all i >= 1.
_ALL_INTEGERS = 2.86511
_EXACT = 2000


def log2_star(n: float) -> float:
    """log2 n + log2 log2 n + ..., the positive terms."""
    total, term = 0.0, math.log2(n)
    while term > 0.0:
        total += term
        term = math.log2(term)
    return total


@lru_cache(maxsize=1)
def _partial_sums() -> list[float]:
    sums = [0.0]
    for i in range(1, _EXACT + 1):
        sums.append(sums[-1] + 2.0 ** -log2_star(i))
    return sums


def _iterated_log2(x: float, times: int) -> float:
    for _ in range(times):
        x = math.log2(x)
    return x


def integers_up_to(largest: float) -> float:
    """C0(M): the sum of 2^(-log2*(i)) for i = 1..M, by an integral beyond 2000."""
    if largest <= _EXACT:
        return _partial_sums()[int(largest)]
    end = largest + 0.5  # the midpoint rule: without the halves the error is 1e-5
    total = _partial_sums()[_EXACT] + math.log(2) ** 4 * (
        _iterated_log2(min(end, 65536.0), 4) - _iterated_log2(_EXACT + 0.5, 4)
    )
    if end > 65536.0:
        total += math.log(2) ** 5 * _iterated_log2(end, 5)
    return total


def integer_code(n: float, largest: float | None = None) -> float:
    """U(n; M): universal code of an integer in 1..M, or of any n >= 1."""
    total = _ALL_INTEGERS if largest is None else integers_up_to(largest)
    return log2_star(n) * math.log(2) + math.log(total)
