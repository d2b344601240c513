"""Enumeration in sixty digits, where double precision itself is under test."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext

import numpy as np

EXTREME_ALPHAS = (0.0, 1e-12, 1e-4, 1.0, 1e5, 1e10)


def exact_gains(table: np.ndarray, alpha: float) -> dict[tuple[int, ...], Decimal]:
    """F(T) - C of every support T of the columns with counts, as numbers are."""
    with localcontext() as context:
        context.prec = 60
        f = [[Decimal(float(x)) + Decimal(alpha) for x in row] for row in table]
        filled = np.flatnonzero(table.sum(axis=0) > 0).tolist()
        values = {i: _entropy_gap([row[i] for row in f]) for i in filled}
        gains = {}
        for code in range(1, 2 ** len(filled)):
            support = tuple(i for bit, i in enumerate(filled) if code >> bit & 1)
            sums = [sum(row[i] for i in support) for row in f]
            gains[support] = _entropy_gap(sums) - sum(values[i] for i in support)
        return gains


def _entropy_gap(counts: list[Decimal]) -> Decimal:
    """``B log B - sum_c B_c log B_c``."""

    def xlogx(x: Decimal) -> Decimal:
        return x * x.ln() if x else Decimal(0)

    return xlogx(sum(counts, Decimal(0))) - sum(xlogx(x) for x in counts)


def extreme_table(rng: np.random.Generator, n_classes: int) -> np.ndarray:
    """Counts from 1 to 1e15 in one table, of one of three kinds.

    Any size in any cell; columns of any size whose classes are alike to many digits;
    single digits beside columns of 1e14 that say nearly nothing.
    """
    m = int(rng.integers(3, 7))
    kind = int(rng.integers(3))
    if kind == 0:
        return np.floor(10.0 ** rng.uniform(0, 15, (n_classes, m)))
    if kind == 1:
        shares = rng.dirichlet(np.ones(n_classes))
        totals = 10.0 ** rng.uniform(0, 15, m)
        tilt = 1 + 10.0 ** rng.uniform(-9, 0, m) * rng.standard_normal((n_classes, m))
        return np.floor(np.abs(shares[:, None] * totals * tilt)) + 1.0
    table = rng.integers(0, 10, (n_classes, m)).astype(float)
    large = rng.random(m) < 0.4
    table[:, large] += np.floor(10.0 ** rng.uniform(10, 15))
    return table


def extreme_instances(
    n_classes: int, how_many: int, seed: int = 0
) -> Iterator[tuple[np.ndarray, float]]:
    """Tables with at least three columns that have counts, each with a smoothing."""
    rng = np.random.default_rng([seed, n_classes, 15])
    made = 0
    while made < how_many:
        table = extreme_table(rng, n_classes)
        if (table.sum(axis=0) > 0).sum() < 3:
            continue
        yield table, EXTREME_ALPHAS[made % len(EXTREME_ALPHAS)]
        made += 1
