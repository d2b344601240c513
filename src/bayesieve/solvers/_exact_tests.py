"""Tests of a binary column against the classes that hold at low counts.

Given how many rows each class has and how many rows have the column, and if it says
nothing about the class, the counts by class are hypergeometric. So the p-value of the
likelihood ratio ``2 n I`` is a sum over outcomes, and chi-square only its limit: of
columns with 20 rows in two equal classes, chi-square rejects 0.25 % at the level 0.1 %.

Two classes: the outcomes at least as extreme are added up. More classes: with fewer
than five rows for each class on average, K times the least p-value of one class against
the others. Else the classes are split off one by one, the largest first, each against
those that are left; the likelihood ratio is the sum of those of the splits. Given the
splits before it a p-value P of a split is at least uniform, so the chi-square quantiles
of all P add up to at most chi-square with K-1 degrees of freedom: valid at every count,
and the likelihood ratio itself in the limit.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesieve.solvers._logs import Floats

__all__ = ["IndependenceTest", "chi_square_tail"]

Integers = NDArray[np.int64]

#: Up to this variance of the count in a class outcomes are added up. Above it the
#: chi-square tail with a correction for continuity stands in, off by 1 % at most on the
#: wrong side. With K classes the variance is divided by K-1, as so many tests then
#: share the error; at the least variance, 100, it is 6 %.
_SUMMED_VARIANCE = 900.0
_LEAST_SUMMED_VARIANCE = 100.0
#: Rows with the column for each class, on average, below which one class matters most.
_FEW_ROWS = 5


class IndependenceTest:
    """The test of columns against classes of so many rows, all above zero.

    What was added up for one block of columns is kept for the next one.
    """

    def __init__(self, rows: Integers) -> None:
        self._rows = rows
        self._n = int(rows.sum())
        self._summed = max(
            _LEAST_SUMMED_VARIANCE, _SUMMED_VARIANCE / max(rows.shape[0] - 1, 1)
        )
        self._splits: dict[tuple[int, int], _Split] = {}

    def pvalues(self, table: Floats) -> Floats:
        """P-values of whole counts, shape (n_classes, n_features); 1 if constant."""
        rows, n_classes = self._rows, self._rows.shape[0]
        whole: Integers = table.astype(np.int64)
        totals = whole.sum(axis=0)
        pvalues = np.ones(totals.shape[0])
        if n_classes < 2:
            return pvalues
        varies = np.flatnonzero((totals > 0) & (totals < self._n))
        totals, whole = totals[varies], whole[:, varies]
        if n_classes == 2:
            split = self._split(self._n, int(rows[0]))
            pvalues[varies] = split.pvalues(totals, whole[0])
            return pvalues
        few = np.minimum(totals, self._n - totals) < _FEW_ROWS * n_classes
        pvalues[varies[few]] = self._against_the_others(whole[:, few], totals[few])
        pvalues[varies[~few]] = self._one_by_one(whole[:, ~few], totals[~few])
        return pvalues

    def _split(self, n: int, size: int) -> _Split:
        if (n, size) not in self._splits:
            self._splits[n, size] = _Split(n, size, self._summed)
        return self._splits[n, size]

    def _against_the_others(self, table: Integers, totals: Integers) -> Floats:
        """K times the least p-value of a class against all others."""
        least = np.ones(totals.shape[0])
        for size, counts in zip(self._rows.tolist(), table, strict=True):
            found = self._split(self._n, size).pvalues(totals, counts)
            np.minimum(least, found, out=least)
        bound: Floats = np.minimum(1.0, self._rows.shape[0] * least)
        return bound

    def _one_by_one(self, table: Integers, totals: Integers) -> Floats:
        """Split off the classes in turn; add up the chi-square quantiles."""
        rows, left = self._rows, self._n
        statistic = np.zeros(totals.shape[0])
        for c in np.argsort(-rows, kind="stable")[:-1]:
            pvalues = self._split(left, int(rows[c])).pvalues(totals, table[c])
            statistic += 2.0 * special.erfcinv(pvalues) ** 2
            left -= int(rows[c])
            totals = totals - table[c]
        return chi_square_tail(statistic, rows.shape[0] - 1)


class _Split:
    """A class of ``size`` rows among n, against the others."""

    def __init__(self, n: int, size: int, summed: float) -> None:
        self._n, self._size, self._summed = n, size, summed
        self._number = np.zeros(0, dtype=np.int32)  # of the list of a total, from 1
        self._first = np.zeros(1, dtype=np.int64)
        self._last = np.zeros(1, dtype=np.int64)
        self._shift = np.zeros(1, dtype=np.int64)
        self._lists = np.zeros(0)

    def pvalues(self, totals: Integers, counts: Integers) -> Floats:
        """P-values of the counts in the class, given the totals."""
        n, size = self._n, self._size
        pvalues = np.ones(totals.shape[0])
        spread = float(size) * (n - size) / (float(n) * n * max(n - 1, 1))
        variance = spread * totals * (n - totals)
        many = variance > self._summed
        pvalues[many] = _continuity_corrected(n, size, totals[many], counts[many])
        columns = np.flatnonzero(~many & (variance > 0))
        if columns.shape[0]:
            totals, counts = totals[columns], counts[columns]
            self._add_up(np.flatnonzero(np.bincount(totals)))
            number = self._number[totals]
            # Beyond a list p-values are below 1e-100; its end is a bound of them.
            held = np.clip(counts, self._first[number], self._last[number])
            pvalues[columns] = self._lists[self._shift[number] + held]
        return pvalues

    def _add_up(self, totals: Integers) -> None:
        """Make the lists of p-values of the totals that have none yet."""
        if totals[-1] >= self._number.shape[0]:
            grown = np.zeros(int(totals[-1]) + 1, dtype=np.int32)
            grown[: self._number.shape[0]] = self._number
            self._number = grown
        totals = totals[self._number[totals] == 0]
        if not totals.shape[0]:
            return
        made = [_outcomes(self._n, self._size, total) for total in totals.tolist()]
        first = np.array([first for first, _ in made])
        lengths = np.array([found.shape[0] for _, found in made])
        begin = self._lists.shape[0] + np.cumsum(lengths) - lengths
        known = self._first.shape[0]
        self._number[totals] = np.arange(known, known + totals.shape[0])
        self._first = np.concatenate([self._first, first])
        self._last = np.concatenate([self._last, first + lengths - 1])
        # Where a list begins, less its first count: add a count for its place.
        self._shift = np.concatenate([self._shift, begin - first])
        self._lists = np.concatenate([self._lists, *(found for _, found in made)])


def _outcomes(n: int, size: int, total: int) -> tuple[int, Floats]:
    """P-value of every count that a class may have of a total, and the first count.

    Counts further than 30 standard deviations and 100 from the mean are left out. By
    ratios of neighbours and distances from the mean, as logarithms of factorials would
    lose both where there are many rows.
    """
    mean = total * size / n
    reach = 30.0 * math.sqrt(mean * (1.0 - size / n) * (n - total) / max(n - 1, 1))
    first = max(0, total - (n - size), math.floor(mean - reach - 100.0))
    last = min(total, size, math.ceil(mean + reach + 100.0))
    inside = np.arange(first, last + 1)
    # The four cells: with and without the column, in the class and outside.
    cells = (inside, total - inside, size - inside, n - size - total + inside)
    ratios = np.log(cells[1][:-1]) + np.log(cells[2][:-1])
    ratios -= np.log(cells[0][1:]) + np.log(cells[3][1:])
    log_chance = np.concatenate([[0.0], np.cumsum(ratios)])
    log_chance -= special.logsumexp(log_chance)
    expected = (
        *(mean, total * (n - size) / n),
        *(size * (n - total) / n, (n - size) * (n - total) / n),
    )
    statistic = np.zeros(inside.shape[0])
    for sign, mean_of_cell in zip((1.0, -1.0, -1.0, 1.0), expected, strict=True):
        away = np.maximum(sign * (inside - mean) / mean_of_cell, -1.0)
        statistic += mean_of_cell * (special.xlog1py(1.0 + away, away) - away)
    # The most extreme outcome first, and smallest numbers first in the sum; two that
    # mirror each other count as equal, whatever rounding says.
    order = np.argsort(-statistic, kind="stable")
    tail = np.cumsum(np.exp(log_chance[order]))
    level = statistic - 1e-9 * (1.0 + statistic)
    place = np.searchsorted(-statistic[order], -level, side="right") - 1
    return first, np.minimum(tail[place], 1.0)


def _continuity_corrected(
    n: int, size: int, totals: Integers, counts: Integers
) -> Floats:
    """Chi-square tail of the likelihood ratio half a row nearer to the mean."""
    total = totals.astype(np.float64)
    mean = total * size / n
    distance = np.maximum(np.abs(counts - mean) - 0.5, 0.0)
    inside = mean + np.copysign(distance, counts - mean)
    statistic = np.zeros(total.shape[0])
    for cell, margin, other in (
        (inside, size, total),
        (total - inside, n - size, total),
        (size - inside, size, n - total),
        (n - size - total + inside, n - size, n - total),
    ):
        statistic += special.xlogy(cell, cell * n / (margin * other))
    return chi_square_tail(np.maximum(2.0 * statistic, 0.0), 1)


def chi_square_tail(statistic: Floats, degrees: int) -> Floats:
    """P(chi-square > statistic); 1 without a degree of freedom."""
    tail = np.ones_like(statistic)
    # Most columns of wide data are empty: their statistic is 0 and the tail 1.
    positive = np.flatnonzero(statistic > 0)
    values = statistic[positive]
    if degrees == 1:
        tail[positive] = special.erfc(np.sqrt(0.5 * values))
    elif degrees == 2:
        tail[positive] = np.exp(-0.5 * values)
    elif degrees > 2:
        tail[positive] = special.chdtrc(float(degrees), values)
    return tail
