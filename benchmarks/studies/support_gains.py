"""The multinomial gain of a support, straight from its formula, to check solvers with.

For counts f (classes x features), smoothed where that is wanted, a support T gains

    sum over T of v_i - sum_c B_c log(B_c / B)
    v_i = sum_c f_ci log f_ci - G_i log G_i

over the model without features; B_c are the counts of class c in T, G_i those of a
feature in all classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import xlogy


def own_values(f: np.ndarray) -> np.ndarray:
    """Return v_i of every feature."""
    totals = f.sum(axis=0)
    return xlogy(f, f).sum(axis=0) - xlogy(totals, totals)


def gain_of_sums(value: Any, sums: np.ndarray) -> Any:
    """Return the gain from the sum of v over T and the class counts of T."""
    return value - xlogy(sums, sums / sums.sum(axis=0)).sum(axis=0)


def gain_of(f: np.ndarray, support: Any) -> float:
    """Return the gain of a support."""
    part = f[:, support]
    return float(gain_of_sums(own_values(part).sum(), part.sum(axis=1)))


def weights_of(f: np.ndarray, support: Any) -> np.ndarray:
    """Return log theta+ - log theta- on a support; + is the second class.

    Inside T the estimates are those of plain naive Bayes on the columns of T alone.
    """
    part = f[:, support]
    theta = part / part.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):  # a word of one class alone: no finite weight
        return np.log(theta[1]) - np.log(theta[0])
