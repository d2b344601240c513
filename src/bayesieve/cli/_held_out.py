"""Which rows are held out to measure accuracy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["held_out"]


def held_out(
    codes: NDArray[np.int64], share: float, seed: int = 0
) -> NDArray[np.bool_]:
    """Tell which rows are held out: the same share of every class, spread evenly.

    Of each block of rows of a class a fixed number is taken at random, to the nearest
    hundredth; the first row of a class is always learnt from. Each row depends on those
    before it only.
    """
    held = np.zeros(codes.size, dtype=bool)
    if share <= 0:
        return held
    size = 20 if abs(share * 20 - round(share * 20)) < 1e-9 else 100
    taken = min(max(round(share * size), 1), size - 1)
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        blocks = -(-rows.size // size)
        noise = _scrambled(
            np.arange(blocks * size), np.uint64(seed) + np.uint64(1000003 * (code + 1))
        )
        order = np.argsort(noise.reshape(blocks, size), axis=1)
        place = np.argsort(order, axis=1).reshape(-1)[: rows.size]
        held[rows[place < taken]] = True
        held[rows[0]] = False
    return held


def _scrambled(numbers: NDArray[np.int64], seed: np.uint64) -> NDArray[np.uint64]:
    """A random number for each whole number, always the same (splitmix64)."""
    with np.errstate(over="ignore"):
        z = (numbers.astype(np.uint64) + seed) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
