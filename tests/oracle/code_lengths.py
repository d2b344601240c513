"""Elementary code lengths of MODL, in nats.

The plain twin of ``_core/code_lengths.h``.
"""

from __future__ import annotations

import math
from functools import lru_cache

__all__ = ["log_partition_count"]


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
