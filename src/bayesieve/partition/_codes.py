"""Elementary code lengths of MODL, in nats.

The compiled searches use the same formulas (``_core/code_lengths.h``); these are for
costs of single partitions and for tests.
"""

from __future__ import annotations

import math
from functools import lru_cache

__all__ = ["integer_code", "log2_star", "log_partition_count"]

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


@lru_cache(maxsize=4096)
def log_partition_count(items: int, groups: int) -> float:
    """Ln B(V, G): logarithm of the ways to split V items into at most G groups.

    Dobinski's finite sum, B = sum_i i^V / i! * D(G - i) with D(r) = sum_{m <= r}
    (-1)^m / m!, all of whose terms are positive or zero; in log space.
    """
    groups = min(groups, items)
    if groups <= 1:
        return 0.0
    terms = []
    for i in range(1, groups + 1):
        inner = _alternating(groups - i)
        if inner > 0.0:
            terms.append(items * math.log(i) - math.lgamma(i + 1) + math.log(inner))
    top = max(terms)
    return top + math.log(math.fsum(math.exp(term - top) for term in terms))


@lru_cache(maxsize=64)
def _alternating(last: int) -> float:
    """sum_{m = 0..last} (-1)^m / m!, which is 1/e to double precision from 18 on."""
    return math.fsum((-1) ** m / math.factorial(m) for m in range(min(last, 20) + 1))
