"""Gain and degrees of freedom of one column of a mixed table.

Both are additive over columns, so a table of any kinds of columns has one BIC ranking:
a column changes BIC by ``-2 gain + degrees_of_freedom log n``.
"""

from __future__ import annotations

import numpy as np

from bayesieve.counts._mixed import LevelCounts, ValueMoments
from bayesieve.solvers._logs import Floats, divergence

__all__ = ["column_gain", "level_gain", "value_gain"]

_RELATIVE_FLOOR = 1e-9  # as in the Gaussian model: no class has less than this variance


def column_gain(column: LevelCounts | ValueMoments) -> tuple[float, float]:
    """Gain in nats and extra parameters of one column."""
    if isinstance(column, LevelCounts):
        return level_gain(column.table)
    return value_gain(column)


def level_gain(table: Floats) -> tuple[float, float]:
    """Gain of a categorical column: n times its mutual information with the class.

    It adds (V - 1)(K - 1) parameters.

    Levels and classes without rows do not count.
    """
    rows = table.sum(axis=1, keepdims=True)
    levels = table.sum(axis=0, keepdims=True)
    n = float(table.sum())
    if n <= 0:
        return 0.0, 0.0
    gain = float(divergence(table, rows * (levels / n)).sum())
    freedom = (int((levels > 0).sum()) - 1) * (int((rows > 0).sum()) - 1)
    return gain, float(freedom)


def value_gain(moments: ValueMoments) -> tuple[float, float]:
    """Gaussian gain with means and variances by class, and that of being missing."""
    rows = moments.rows
    n = float(rows.sum())
    present = int((rows > 0).sum())
    gain, freedom = 0.0, 0.0
    if n > 0 and present > 1:
        # Around the mean of one class, so that equal means give exactly that mean.
        start = float(moments.mean[int(np.argmax(rows))])
        mean = start + float((rows * (moments.mean - start)).sum() / n)
        total = float(moments.squares.sum() + (rows * (moments.mean - mean) ** 2).sum())
        variance = total / n
        if variance > 0:
            # A class with one value only says nothing of its variance and takes that of
            # all classes together; without this a single row would pay for any column.
            spread = moments.squares > 0
            within = float(moments.squares.sum()) / n
            per_class = moments.squares / np.where(rows > 0, rows, 1.0)
            per_class = np.where(spread, per_class, within)
            logs = np.log(per_class + _RELATIVE_FLOOR * variance)
            gain = 0.5 * n * np.log(variance) - 0.5 * float((rows * logs).sum())
            freedom = float(present - 1 + max(int(spread.sum()) - 1, 0))
    if moments.missing.any():
        missing_gain, missing_freedom = level_gain(np.stack([rows, moments.missing], 1))
        gain, freedom = gain + missing_gain, freedom + missing_freedom
    return max(float(gain), 0.0), freedom
