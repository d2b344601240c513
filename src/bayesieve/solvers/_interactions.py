"""Pairs of binary features that say more together than each for itself.

For features i and j, ``I(x_i, x_j; y) = I(x_i; y) + I(x_j; y | x_i)``, so what the pair
says beyond the sum of both is ``I(x_j; y | x_i) - I(x_j; y)``. With the rows split by
x_i the first term is a sum of two ordinary gains: one pass over the rows for each
screened i gives it for every j at once, and no pair of all features is ever formed.
"""

from __future__ import annotations

import math

import numpy as np

from bayesieve import _core
from bayesieve.solvers._logs import Floats

__all__ = ["interaction_excess", "pair_penalty"]


def interaction_excess(
    absent: Floats, present: Floats, absent_rows: Floats, present_rows: Floats
) -> Floats:
    """``n (I(x_j; y | x_i) - I(x_j; y))`` of every column j.

    Parameters
    ----------
    absent, present : ndarray of shape (n_classes, n_features)
        Class counts of every column over the rows without and with feature i.
    absent_rows, present_rows : ndarray of shape (n_classes,)
        Rows of each class without and with feature i.
    """
    unsmoothed = np.zeros(1)
    excess = np.negative(
        _core.bernoulli_gains(absent + present, absent_rows + present_rows, unsmoothed)[
            0
        ]
    )
    for table, rows in ((absent, absent_rows), (present, present_rows)):
        if rows.sum() > 0:
            excess += _core.bernoulli_gains(table, rows, unsmoothed)[0]
    return excess


def pair_penalty(n_rows: float, n_classes: int, n_pairs: float) -> float:
    """What the excess must reach: extended BIC for the number of pairs looked at.

    An interaction has K - 1 parameters; ``log(n_pairs)`` is the price of the choice
    (Chen and Chen 2008, with gamma = 1).
    """
    return 0.5 * (n_classes - 1) * math.log(max(n_rows, 2.0)) + math.log(n_pairs)
