"""Bernoulli counts on a device: the columns of largest gain, and what the others add.

One pass finds out which columns could be among the largest; the compiled core computes
their gains on the host, so that they are those of any table.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve import _core
from bayesieve.solvers._columns import ROUNDING
from bayesieve.solvers._device_passes import DevicePasses
from bayesieve.solvers._device_table import DeviceTable
from bayesieve.solvers._logs import Floats
from bayesieve.solvers._topk import top_k

__all__ = ["leading_columns"]

#: Zero has a logarithm where this is added, and nothing else changes.
_TINY = float(np.finfo(np.float64).tiny)
#: A share of one less this has a logarithm of what is left.
_NEARLY_ALL = 1.0 - 2.0**-53
#: Columns that one pass may find, at least, and as a share of all: 16 bytes each.
_ROOM, _SHARE_OF_ROOM = 1 << 22, 32
#: What a pass adds to gains for their rounding, relative to the rows: for 16 classes.
_ROUNDED_UP = 2.0 * 1e-15 * (4 * 16 + 4)
#: Rounding of chi-square, relative to itself and to the counts: it decides nothing.
_ROUGH, _NOTHING = 1e-4, 1e-15


def leading_columns(
    table: DeviceTable, rows: Floats, alpha: Floats, n: int
) -> tuple[NDArray[np.int64], Floats, float]:
    """The n columns of largest gain, ties by index, their counts, and the null value.

    Fewer where fewer vary. Smoothing is Laplace's.
    """
    xp, n_rows = table.xp, float(rows.sum())
    columns, gains = np.empty(0, dtype=np.int64), np.empty(0)
    counts = np.empty((rows.shape[0], 0))
    place, sample = table.sample()
    floor = _floor(sample, rows, _alpha_at(alpha, place), n)
    at_once = _leading_at_once(table, rows, alpha, n, floor)
    if at_once is not None:
        return at_once
    least, most, sums, null_values = [], [], [], []
    with np.errstate(all="ignore"):  # of counts that are refused below
        for place, part in table.chunks():
            least.append(xp.min(part))
            most.append(xp.max(part, axis=1))
            own = _alpha_at(alpha, place)
            raw = table.totals(part)
            sums.append(xp.sum(raw))
            null_value = _null_values(table, raw, rows, own)
            null_values.append(xp.sum(null_value))
            # No gain makes a likelihood greater than one.
            wanted = (raw > 0) & (raw < n_rows * (1 - 1e-12))
            if floor > 0:
                wanted = wanted & (-null_value >= floor * (1 - ROUNDING))
            there, some = table.chosen(place, part, wanted)
            more = table.numbered(there)
            if floor > 0 and more.shape[0]:
                own = _alpha_at(alpha, more)
                wanted = _may_gain(table, some, rows, own, floor)
                if alpha.shape[0] == 1 and columns.shape[0] == n:
                    # Of equal columns those held come first.
                    last = counts[:, [int(np.argmin(gains))]]
                    wanted = wanted & xp.any(some != table.there(last), axis=0)
                inside, some = table.chosen(slice(0, None), some, wanted)
                more = more[table.numbered(inside)]
            fetched = table.fetched(some)
            columns = np.append(columns, more)
            gains = np.append(gains, _gains(fetched, rows, _alpha_at(alpha, more)))
            counts = np.hstack([counts, fetched])
            if columns.shape[0] > n:
                best = top_k(gains, n)[0]
                columns, gains, counts = columns[best], gains[best], counts[:, best]
            if columns.shape[0] == n:
                floor = max(floor, float(gains.min()))
    table.refuse_bad_counts(table.numbers(least), table.numbers(sums))
    table.refuse_more_than(table.numbers(most).max(axis=0), rows)
    return (
        columns,
        np.ascontiguousarray(counts),
        float(np.sum(table.numbers(null_values))),
    )


def _leading_at_once(
    table: DeviceTable, rows: Floats, alpha: Floats, n: int, floor: float
) -> tuple[NDArray[np.int64], Floats, float] | None:
    """The same by one compiled pass; None where there is none, or too little room."""
    if floor <= 0:
        return None
    room = max(_ROOM, table.shape[1] // _SHARE_OF_ROOM)
    passed = DevicePasses(table, alpha).presences(rows, floor * (1 - ROUNDING), room)
    if passed is None or passed.columns.shape[0] < n:
        return None
    # Gains are rounded up by no more than twice this.
    doubt = _ROUNDED_UP * float(np.max(rows.sum() + 2.0 * rows.shape[0] * alpha))
    level = float(table.xp.sort(passed.gains)[-n]) - doubt
    wanted = passed.gains >= level * (1 - ROUNDING)
    there = table.xp.sort(passed.columns[wanted])
    columns, counts = table.numbered(there), table.fetched(table.taken(there))
    best = top_k(_gains(counts, rows, _alpha_at(alpha, columns)), n)[0]
    best = np.sort(best)
    return (
        columns[best],
        np.ascontiguousarray(counts[:, best]),
        math.fsum(passed.null_values),
    )


def _alpha_at(alpha: Floats, columns: NDArray[np.int64] | slice) -> Floats:
    return alpha if alpha.shape[0] == 1 else alpha[columns]


def _gains(counts: Floats, rows: Floats, alpha: Floats) -> Floats:
    gains: Floats = _core.bernoulli_gains(
        np.ascontiguousarray(counts), rows, np.ascontiguousarray(alpha), None
    )[0]
    return gains


def _floor(sample: Floats, rows: Floats, alpha: Floats, n: int) -> float:
    """A gain that the n largest of all columns reach; minus infinity if not known."""
    sound = bool(((sample >= 0) & (sample <= rows[:, None])).all())
    if not sound or n > sample.shape[1]:
        return -np.inf
    floor = top_k(_gains(sample, rows, alpha), n)[1]
    return floor if floor > 0 else -np.inf


def _null_values(table: DeviceTable, raw: Any, rows: Floats, alpha: Floats) -> Any:
    """``G log(G / N) + (N - G) log(1 - G / N)`` of every column."""
    xp, n_classes = table.xp, rows.shape[0]
    smoothing = table.value(n_classes * alpha)
    total = table.value(float(rows.sum()) + 2.0 * n_classes * alpha)
    present = raw + smoothing + _TINY
    share = present / total
    there = present * xp.log(share)
    one = table.there(np.array(_NEARLY_ALL))
    there += (total - present) * xp.log1p(-xp.minimum(share, one))
    return there


def _may_gain(
    table: DeviceTable, part: Any, rows: Floats, alpha: Floats, level: float
) -> Any:
    """Whether chi-square leaves room for this gain, which it bounds.

    With ``d_c = F_c - N_c G / N`` it is ``sum_c d_c^2 / N_c`` over ``G / N (1 - G/N)``.
    A d errs by few units of G; where it is 1e-9 of G or more that is a small share of
    chi-square, and where all are less, chi-square is less than 1e-17 N^2 / N_c.
    """
    n_classes, raw = rows.shape[0], table.totals(part)
    total = table.value(float(rows.sum()) + 2.0 * n_classes * alpha)
    share = (raw + table.value(n_classes * alpha)) / total
    chi = 0.0 * share
    for c, n_c in enumerate(rows.tolist()):
        own = n_c + 2.0 * alpha
        away = part[c, :] + table.value(alpha) - table.value(own) * share
        chi += away * away * table.value(1.0 / np.maximum(own, _TINY))
    smallest = float(rows[rows > 0].min())
    if (rows == 0).any() and (alpha > 0).any():
        smallest = min(smallest, 2.0 * float(alpha[alpha > 0].min()))
    nothing = _NOTHING * float(np.max(rows.sum() + 2.0 * n_classes * alpha)) ** 2
    needed = level - nothing / smallest
    return chi * (1 + _ROUGH) >= needed * share * (1.0 - share)
