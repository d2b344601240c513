"""Small random tables of every kind that has broken a solver of this sort."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

FAMILIES = ("integer", "uniform", "heavy", "ties", "repeated", "zeros", "near_identity")
ALPHAS = (0.0, 0.1, 1.0)


def random_table(rng: np.random.Generator, family: str, n_classes: int) -> np.ndarray:
    """A table of shape (n_classes, 3..8) of one family."""
    m = int(rng.integers(3, 9))
    shape = (n_classes, m)
    if family == "integer":
        return rng.integers(0, 30, shape).astype(float)
    if family == "uniform":
        return rng.random(shape)
    if family == "heavy":
        return np.floor(rng.pareto(0.7, shape) * 3.0)
    if family == "ties":
        return rng.integers(0, 3, shape).astype(float)
    if family == "repeated":
        few = rng.integers(0, 12, (n_classes, 3)).astype(float)
        return few[:, rng.integers(0, 3, m)]
    if family == "zeros":
        return rng.integers(1, 20, shape) * (rng.random(shape) < 0.4).astype(float)
    table = rng.random(shape) * 0.2
    table[rng.integers(0, n_classes, m), np.arange(m)] += 5.0
    return table


def instances(
    family: str, n_classes: int, how_many: int, seed: int = 0
) -> Iterator[tuple[np.ndarray, float]]:
    """Tables with at least two columns that have counts, each with a smoothing."""
    rng = np.random.default_rng([seed, n_classes, FAMILIES.index(family)])
    made = 0
    while made < how_many:
        table = random_table(rng, family, n_classes)
        if (table.sum(axis=0) > 0).sum() < 2:
            continue
        yield table, ALPHAS[made % len(ALPHAS)]
        made += 1
