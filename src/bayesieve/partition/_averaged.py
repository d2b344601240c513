"""What a column says about the class, averaged over all its partitions.

A best partition keeps two or three steps of a smooth effect, and drops a weak column
altogether. Here every partition of fine bins has its say, by its posterior probability:
the sums are exact and take as long as the search for the best one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from bayesieve import _core
from bayesieve.partition._column import ColumnPartition
from bayesieve.partition._discretize import FineIntervals
from bayesieve.partition._group import ValueGrouping
from bayesieve.partition._partition import IntervalPartition, Partition

__all__ = [
    "STRENGTH",
    "AveragedColumns",
    "FineBins",
    "Shape",
    "average_columns",
    "bins_of_numbers",
    "bins_of_values",
    "class_shares",
    "most_telling_order",
]

#: Rows that the prior of a part counts for, spread as the classes are.
STRENGTH = 2.0
#: Groupings of so many values are summed one by one; more values are put in order.
_MOST_VALUES = 10
_MOST_BINS = 64


@dataclass(frozen=True, eq=False)
class FineBins:
    """The finest parts of a column, out of which all its partitions are made.

    Attributes
    ----------
    column : ColumnPartition
        Its parts are the bins. Of numbers the first bin holds missing values, of
        categories the last one values that were not there when bins were made (those
        that a stream has met since); either may be empty.
    levels : ndarray of shape (n_bounds,) or None
        Of numbers, the first grid that has each bound. None of categories.
    cost : float
        Nats that it takes to say which bins were chosen, where labels chose them.
    """

    column: ColumnPartition
    levels: np.ndarray | None
    cost: float = 0.0

    @property
    def counts(self) -> np.ndarray:
        """Class counts of the bins, of shape (n_bins, n_classes)."""
        return self.column.counts

    @property
    def in_use(self) -> slice:
        """Bins that partitions are made of: without an empty one for the unknown."""
        n_bins = self.column.n_parts
        if self.levels is None:
            return slice(0, n_bins if self.counts[-1].any() else n_bins - 1)
        return slice(0 if self.counts[0].any() else 1, n_bins)

    def counted(self, counts: np.ndarray) -> FineBins:
        """The same bins with other counts."""
        parts = replace(self.column.parts, counts=counts)
        return replace(self, column=replace(self.column, parts=parts))


@dataclass(frozen=True, eq=False)
class Shape:
    """Class probabilities of each bin of a column, averaged over all partitions.

    Attributes
    ----------
    bins : ColumnPartition
        Its parts are the bins.
    probabilities : ndarray of shape (n_bins, n_classes)
        Posterior mean of the class probabilities; those of all rows where nothing is
        known.
    deviations : ndarray of shape (n_bins, n_classes)
        Posterior standard deviations of these probabilities.
    evidence : float
        Nats by which all partitions together explain the classes better than one part;
        below zero for a column that says nothing.
    """

    bins: ColumnPartition
    probabilities: np.ndarray
    deviations: np.ndarray
    evidence: float

    def lifts(self, shares: np.ndarray) -> np.ndarray:
        """Logarithms of the probabilities, less those of the class shares."""
        return np.asarray(np.log(self.probabilities) - np.log(shares))


@dataclass(frozen=True, eq=False)
class AveragedColumns:
    """Shapes of columns, and their tables with each row left out of its own.

    Attributes
    ----------
    shapes : list of Shape
    left_out : list of ndarray of shape (n_bins * n_classes, n_classes)
        Line ``bin * n_classes + c``: probabilities without one row of class c in that
        bin.
    """

    shapes: list[Shape]
    left_out: list[np.ndarray]


def class_shares(class_count: np.ndarray) -> np.ndarray:
    """Share of each class; one that was not met yet has a tiny share."""
    eps = 1.0 / (float(class_count.sum()) + 1.0)
    counts = class_count + (eps if (class_count <= 0.0).any() else 0.0)
    return np.asarray(counts / counts.sum())


def bins_of_numbers(best: ColumnPartition, fine: FineIntervals) -> FineBins:
    """Bins of a numerical column with its best partition."""
    parts = IntervalPartition(
        bounds=np.concatenate([[-np.inf], fine.bounds]),
        **_plain(best.parts, fine.counts),
    )
    column = ColumnPartition(
        best.name, best.classes, parts, is_time=best.is_time, origin=best.origin
    )
    return FineBins(column, fine.levels)


def bins_of_values(best: ColumnPartition) -> FineBins:
    """Bins of a categorical column: its values, in the order that tells most."""
    assert best.value_counts is not None
    counts = best.value_counts
    met = np.flatnonzero(counts.any(axis=1))
    if met.size > _MOST_BINS:
        return _bins_of_groups(best)
    n_bins = met.size
    group = np.full(counts.shape[0], n_bins, dtype=np.int64)
    group[met[most_telling_order(counts[met])]] = np.arange(n_bins)
    summed = np.zeros((n_bins + 1, counts.shape[1]))
    np.add.at(summed, group, counts)
    parts = ValueGrouping(
        group=group,
        default_group=n_bins,
        garbage_group=-1,
        **_plain(best.parts, summed),
    )
    column = ColumnPartition(best.name, best.classes, parts, best.values, counts)
    return FineBins(column, None)


def _bins_of_groups(best: ColumnPartition) -> FineBins:
    """Bins of a column of very many values: the groups of its best partition.

    An order of so many values would be read off the labels of the very rows that are
    to be foretold. The best groups pay for their choice, and so does their evidence.
    """
    parts, counts = best.parts, best.value_counts
    assert isinstance(parts, ValueGrouping)
    assert counts is not None
    n_bins = parts.n_parts
    group = np.where(counts.any(axis=1), parts.group, n_bins)
    bins = ValueGrouping(
        group=group,
        default_group=n_bins,
        garbage_group=-1,
        **_plain(parts, np.vstack([parts.counts, np.zeros(counts.shape[1])])),
    )
    column = ColumnPartition(best.name, best.classes, bins, best.values, counts)
    n_classes = counts.shape[1]
    rows = sum(
        math.lgamma(n + n_classes) - math.lgamma(n_classes) - math.lgamma(n + 1.0)
        for n in parts.counts.sum(axis=1).tolist()
    )
    chosen = parts.cost.construction + parts.cost.preparation - rows
    return FineBins(column, None, max(chosen, 0.0))


def _plain(best: Partition, counts: np.ndarray) -> dict[str, Any]:
    """What bins have that nobody searched for."""
    null = best.null_cost
    return {
        "counts": counts,
        "granularity": 0,
        "cost": null,
        "null_cost": null,
        "exact": False,
    }


def most_telling_order(counts: np.ndarray) -> np.ndarray:
    """Values by the direction in which their class shares differ most.

    Of two classes, by the share of one of them; of more, along the first axis of a
    correspondence analysis. Shares of rare values are drawn to those of all rows.
    """
    rows = counts.sum(axis=1, keepdims=True)
    shares = class_shares(counts.sum(axis=0))
    away = (counts + STRENGTH * shares) / (rows + STRENGTH) - shares
    if counts.shape[1] <= 2 or counts.shape[0] < 3:
        return np.argsort(away[:, -1], kind="stable")
    scale = np.sqrt(shares)
    axis = np.linalg.svd(away * np.sqrt(rows) / scale, full_matrices=False)[2][0]
    # The sign of an axis is arbitrary: that of its largest entry decides.
    axis = axis * np.sign(axis[np.argmax(np.abs(axis))])
    return np.argsort(away @ (axis / scale), kind="stable")


@lru_cache(maxsize=512)
def _interval_prior(n_bins: int) -> np.ndarray:
    """Log-prior of one partition into 1, 2, ... intervals, every number as likely."""
    parts = np.arange(1, n_bins + 1)
    ways = [
        math.lgamma(n_bins) - math.lgamma(i) - math.lgamma(n_bins - i + 1)
        for i in parts.tolist()
    ]
    return -math.log(n_bins) - np.array(ways)


@lru_cache(maxsize=512)
def _group_prior(n_values: int) -> np.ndarray:
    """Log-prior of one grouping into 1, 2, ... groups, every number as likely."""
    ways = [1] + [0] * n_values
    for _ in range(n_values):  # Stirling numbers of the second kind
        ways = [0] + [i * ways[i] + ways[i - 1] for i in range(1, n_values + 1)]
    logs = [math.log(own) for own in ways[1:]]
    return -math.log(n_values) - np.array(logs)


def average_columns(
    bins: Sequence[FineBins], class_count: np.ndarray, *, leave_one_out: bool = True
) -> AveragedColumns:
    """Average the class probabilities of every bin over all partitions of its column.

    **Exact** up to rounding over all intervals of a column's bins,
    on grids of 4, 8, 16, ... bins that are as likely as each other, and over all
    groupings of up to ten values. More values are put in the order that tells most,
    and the groupings that keep it are summed; of more than 64, groupings of the groups
    of the best partition.

    Parameters
    ----------
    bins : sequence of FineBins
    class_count : ndarray of shape (n_classes,)
        Rows of each class, those of the stream included.
    leave_one_out : bool, default=True
        Whether to make tables without each row.
    """
    shares = class_shares(class_count)
    alpha = STRENGTH * shares
    n_classes = shares.shape[0]
    tables = [np.ascontiguousarray(own.counts[own.in_use]) for own in bins]
    few = [
        own.levels is None and 0 < len(table) <= _MOST_VALUES
        for own, table in zip(bins, tables, strict=True)
    ]
    grouped = [k for k, own in enumerate(few) if own]
    cut = [k for k, own in enumerate(few) if not own and len(tables[k])]
    ends, priors = [], []
    for k in cut:
        own_ends, own_priors = _grids(bins[k], len(tables[k]))
        ends.append(own_ends)
        priors.append(own_priors)
    answers = dict(
        zip(
            [*cut, *grouped],
            [
                *_core.average_intervals(
                    [tables[k] for k in cut], alpha, ends, priors, leave_one_out
                ),
                *_core.average_groups(
                    [tables[k] for k in grouped],
                    alpha,
                    [_group_prior(len(tables[k])) for k in grouped],
                    leave_one_out,
                ),
            ],
            strict=True,
        )
    )
    unknown = np.sqrt(shares * (1.0 - shares) / (STRENGTH + 1.0))
    found = AveragedColumns([], [])
    for k, own in enumerate(bins):
        n_bins = own.column.n_parts
        means = np.tile(shares, (n_bins, 1))
        deviations = np.tile(unknown, (n_bins, 1))
        evidence = 0.0
        left_out = np.tile(shares, (n_bins * n_classes if leave_one_out else 0, 1))
        if k in answers:
            log_z, mean, deviation, without = answers[k]
            means[own.in_use], deviations[own.in_use] = mean, deviation
            whole = _log_likelihood(tables[k].sum(axis=0), alpha)
            evidence = log_z - whole - own.cost
            if leave_one_out:
                first, last = own.in_use.start, own.in_use.stop
                left_out[first * n_classes : last * n_classes] = without
        found.shapes.append(Shape(own.column, means, deviations, float(evidence)))
        found.left_out.append(left_out)
    return found


def _grids(bins: FineBins, size: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Ends of the bins of each grid, and the log-prior of its partitions."""
    if bins.levels is None:
        # Only groupings that keep the order are summed, but the order was chosen:
        # the prior is that of all groupings.
        return [np.arange(1, size + 1)], [_group_prior(size)]
    first = bins.in_use.start
    # Of bin b the end is b + 1; bound i ends bin i + 1, the missing values bin 0.
    places = np.arange(bins.levels.size) + 2 - first
    n_grids = int(bins.levels.max(initial=0)) + 1
    ends, priors = [], []
    for level in range(n_grids):
        own = [places[bins.levels <= level], [size]]
        if first == 0 and size > 1:
            own.insert(0, [1])
        ends.append(np.concatenate(own).astype(np.int64))
        priors.append(_interval_prior(ends[-1].size) - math.log(n_grids))
    return ends, priors


def _log_likelihood(counts: np.ndarray, alpha: np.ndarray) -> float:
    """Of the classes of one part, in nats."""
    total = math.lgamma(alpha.sum()) - math.lgamma(float(counts.sum() + alpha.sum()))
    for count, own in zip(counts.tolist(), alpha.tolist(), strict=True):
        total += math.lgamma(count + own) - math.lgamma(own)
    return total
