"""From the columns of a table to their partitions, part indexes and log-likelihoods."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bayesieve.partition._averaged import FineBins, bins_of_numbers, bins_of_values
from bayesieve.partition._bins import assign_columns
from bayesieve.partition._column import ColumnPartition
from bayesieve.partition._discretize import discretize_columns, discretize_finely
from bayesieve.partition._group import group_many
from bayesieve.partition._partition import IntervalPartition
from bayesieve.preprocessing._table_columns import Levels, TableReader

__all__ = [
    "bin_table",
    "log_likelihood_tables",
    "part_indexes",
    "partition_table",
]


def partition_table(
    reader: TableReader,
    numbers: np.ndarray,
    levels: Sequence[Levels],
    codes: np.ndarray,
    classes: np.ndarray,
    names: Sequence[str],
    *,
    sample_weight: np.ndarray | None,
    criterion: str,
    n_candidates: int | None = None,
) -> list[ColumnPartition]:
    """Learn the partition of every column, in the order of the columns.

    ``n_candidates`` is the number of variables among which one is chosen, all columns
    unless given; its logarithm is part of the cost of using a variable.
    """
    cost = _choice_cost(reader, n_candidates)
    intervals = discretize_columns(
        numbers,
        codes,
        classes.shape[0],
        sample_weight=sample_weight,
        attribute_cost=cost,
        criterion=criterion,
    )
    return _columns(
        reader, levels, codes, classes, names, intervals, sample_weight, cost, criterion
    )


def bin_table(
    reader: TableReader,
    numbers: np.ndarray,
    levels: Sequence[Levels],
    codes: np.ndarray,
    classes: np.ndarray,
    names: Sequence[str],
    *,
    sample_weight: np.ndarray | None,
    criterion: str,
) -> tuple[list[ColumnPartition], list[FineBins]]:
    """Learn the partition of every column, and the fine bins that it is made of."""
    cost = _choice_cost(reader, None)
    intervals, fine = discretize_finely(
        numbers,
        codes,
        classes.shape[0],
        sample_weight=sample_weight,
        attribute_cost=cost,
        criterion=criterion,
    )
    found = _columns(
        reader, levels, codes, classes, names, intervals, sample_weight, cost, criterion
    )
    cut = dict(zip(reader.numeric_columns.tolist(), fine, strict=True))
    bins = [
        bins_of_numbers(own, cut[j]) if j in cut else bins_of_values(own)
        for j, own in enumerate(found)
    ]
    return found, bins


def _choice_cost(reader: TableReader, n_candidates: int | None) -> float:
    n_columns = reader.categorical.shape[0]
    return math.log(n_columns if n_candidates is None else n_candidates)


def _columns(
    reader: TableReader,
    levels: Sequence[Levels],
    codes: np.ndarray,
    classes: np.ndarray,
    names: Sequence[str],
    intervals: Sequence[IntervalPartition],
    sample_weight: np.ndarray | None,
    cost: float,
    criterion: str,
) -> list[ColumnPartition]:
    """Columns with their intervals, or with groups of values found here."""
    found: dict[int, ColumnPartition] = {}
    for j, interval in zip(reader.numeric_columns.tolist(), intervals, strict=True):
        time = bool(reader.temporal[j])
        found[j] = ColumnPartition(
            names[j], classes, interval, is_time=time, origin=reader.origins.get(j)
        )
    tables = [
        class_table(level, codes, classes.shape[0], sample_weight=sample_weight)
        for level in levels
    ]
    groupings = group_many(tables, attribute_cost=cost, criterion=criterion)
    for j, level, table, grouping in zip(
        reader.categorical_columns.tolist(), levels, tables, groupings, strict=True
    ):
        values = tuple(level.values)
        found[j] = ColumnPartition(names[j], classes, grouping, values, table)
    return [found[j] for j in range(reader.categorical.shape[0])]


def class_table(
    level: Levels,
    codes: np.ndarray,
    n_classes: int,
    *,
    sample_weight: np.ndarray | None,
) -> np.ndarray:
    """Class counts of each level of a categorical column."""
    cells = np.bincount(
        level.codes * n_classes + codes,
        weights=sample_weight,
        minlength=len(level.values) * n_classes,
    )
    return cells.astype(np.float64, copy=False).reshape(-1, n_classes)


def part_indexes(
    partitions: Sequence[ColumnPartition],
    columns: Sequence[int],
    reader: TableReader,
    numbers: np.ndarray,
    levels: Sequence[Levels],
) -> np.ndarray:
    """Part of every row in the given columns, as small unsigned integers."""
    widest = max((partitions[j].n_parts for j in columns), default=1)
    small = np.uint8 if widest <= 256 else np.uint16 if widest <= 65536 else np.uint32
    parts = np.empty((numbers.shape[0], len(columns)), dtype=small, order="F")
    place_of = {int(j): place for place, j in enumerate(reader.numeric_columns)}
    level_of = {int(j): place for place, j in enumerate(reader.categorical_columns)}
    cut = [place for place, j in enumerate(columns) if j in place_of]
    if cut:
        taken = [place_of[columns[place]] for place in cut]
        parts_of = (partitions[columns[place]].parts for place in cut)
        bounds = [own.bounds for own in parts_of if isinstance(own, IntervalPartition)]
        # Interval i is ]b_{i-1}, b_i], so the number of bounds below a value is its
        # interval; missing values come before all numbers.
        if len(cut) == len(columns) and len(cut) == numbers.shape[1]:
            assign_columns(numbers, bounds, parts, 0)
        else:
            own = np.empty((numbers.shape[0], len(cut)), dtype=small, order="F")
            assign_columns(numbers[:, taken], bounds, own, 0)
            parts[:, cut] = own
    for place, j in enumerate(columns):
        if j in level_of:
            level = levels[level_of[j]]
            parts[:, place] = partitions[j].assign_levels(level.codes, level.values)
    return parts


def log_likelihood_tables(
    counts: Sequence[np.ndarray], class_count: np.ndarray
) -> list[np.ndarray]:
    """Logarithms of (n_ij + eps) / (N_j + I eps), with eps = 1 / (N + 1).

    ``counts`` holds the class counts of the parts of each column.
    """
    eps = 1.0 / (float(class_count.sum()) + 1.0)
    return [np.log((own + eps) / (class_count + own.shape[0] * eps)) for own in counts]
