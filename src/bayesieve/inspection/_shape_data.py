"""Shapes and pairs of a model as they are drawn: in nats, with bands and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np

from bayesieve._description import TableColumns, TableShapes, describe
from bayesieve.partition._averaged import Shape
from bayesieve.partition._bands import beta_band
from bayesieve.partition._column import ColumnPartition
from bayesieve.partition._group import ValueGrouping
from bayesieve.partition._pairs import PairShape
from bayesieve.partition._partition import IntervalPartition

__all__ = [
    "CellAxis",
    "ColumnCurve",
    "PairMap",
    "column_curve",
    "column_number",
    "drawn_classes",
    "has_shape",
    "is_crowded",
    "pair_map",
    "pair_number",
    "shapes_of",
    "shown_bounds",
]

#: Beyond the outermost bounds a picture shows so much of the distance between them.
_MARGIN = 0.15
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class ColumnCurve:
    """What a column adds to the scores over its values.

    Attributes
    ----------
    column : ColumnPartition
        Its parts are the bins.
    classes : list of int
        Numbers of the classes that the curves are of.
    weight : float
        That the curves are multiplied by; 1 if the column has none by itself.
    used : bool
        Whether the column has a weight by itself.
    evidence : float
    bins : ndarray of int
        The bins with rows in them, without that of missing numbers.
    edges : ndarray of shape (n_bins + 1,) or None
        Of numbers, where the bins begin and end in a picture.
    values, low, high : ndarray of shape (all bins, n_curves)
        Weighted log-odds, or lifts in logarithms, and the limits of their band.
    rows : ndarray of shape (all bins,)
    """

    column: ColumnPartition
    classes: list[int]
    weight: float
    used: bool
    evidence: float
    bins: np.ndarray
    edges: np.ndarray | None
    values: np.ndarray
    low: np.ndarray
    high: np.ndarray
    rows: np.ndarray

    @property
    def missing(self) -> int | None:
        """The bin of missing numbers, if there are any; categories have none."""
        return 0 if self.edges is not None and self.rows[0] > 0 else None

    @property
    def labels(self) -> list[str]:
        """A few words for each bin in `bins`."""
        found = self.column.labels
        return [found[i].strip("{}") for i in self.bins.tolist()]


@dataclass(frozen=True, eq=False)
class CellAxis:
    """A column along a side of a heat map.

    Attributes
    ----------
    name : str
    labels : list of str
        Of each cell, exact.
    bounds : list of str or None
        Of numbers, what is written between neighbouring cells, in few digits; nothing
        after a cell of missing ones.
    """

    name: str
    labels: list[str]
    bounds: list[str] | None


@dataclass(frozen=True, eq=False)
class PairMap:
    """What two or three columns add together in each cell of their grid.

    Attributes
    ----------
    axes : tuple of CellAxis
    classes : list of int
        Numbers of the classes that the maps are of.
    weight, evidence : float
    values : ndarray of shape (*cells of the axes, n_maps)
        Weighted log-odds, or lifts in logarithms.
    rows : ndarray of shape (*cells of the axes)
    """

    axes: tuple[CellAxis, ...]
    classes: list[int]
    weight: float
    evidence: float
    values: np.ndarray
    rows: np.ndarray


def shapes_of(
    estimator: Any, feature_names: Any = None
) -> tuple[TableColumns, TableShapes]:
    """The columns and shapes of a fitted model, or why it has none."""
    found = describe(estimator, feature_names)
    table = found.table
    if table is None or table.shapes is None:
        raise ValueError(
            "Shapes are drawn of a SelectiveNB that was fitted with "
            f"partitions='averaged' on a table. Got {found.owner} without "
            "shapes. Hint: PartitionDisplay draws partitions."
        )
    return table, table.shapes


def has_shape(shape: Shape) -> bool:
    """Whether rows differ in the column; texts are counted in no bin."""
    return bool(np.count_nonzero(shape.bins.counts.any(axis=1)) > 1)


def column_number(names: Sequence[str], feature: Any) -> int:
    """The column that a number or name stands for."""
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(
                f"feature must be the number or name of a column. Got {feature!r}."
            )
        return list(names).index(feature)
    known = range(-len(names), len(names))
    if not isinstance(feature, Integral) or int(feature) not in known:
        raise ValueError(
            f"feature must be a column number below {len(names)} or a name. "
            f"Got {feature!r}."
        )
    return int(feature) % len(names)


def drawn_classes(classes: np.ndarray, label: Any) -> list[int]:
    """Numbers of the classes to draw: the label's, else all; of two the second."""
    if label is None:
        return [1] if classes.shape[0] == 2 else list(range(classes.shape[0]))
    known = classes.tolist()
    if label not in known:
        told = ", ".join(repr(own) for own in known[:10])
        raise ValueError(f"label must be one of the classes {told}. Got {label!r}.")
    return [known.index(label)]


def column_curve(
    table: TableColumns, shapes: TableShapes, j: int, classes: Sequence[int]
) -> ColumnCurve:
    """The curves of some classes over a column."""
    shape = shapes.columns[j]
    weights = table.weights
    own = 0.0 if weights is None else float(weights[j])
    weight = own if own > 0.0 else 1.0
    chosen = list(classes)
    means, deviations = shape.probabilities[:, chosen], shape.deviations[:, chosen]
    low, high = beta_band(means, deviations)
    shares = shapes.shares[chosen]
    odds = shapes.shares.shape[0] == 2
    column, rows = shape.bins, shape.bins.counts.sum(axis=1)
    first = 1 if column.kind == "numerical" else 0
    values, lowest, highest = (
        weight * _lift(limit, shares, odds) for limit in (means, low, high)
    )
    return ColumnCurve(
        column,
        chosen,
        weight,
        own > 0.0,
        shape.evidence,
        np.flatnonzero((rows > 0) & (np.arange(rows.size) >= first)),
        _edges(column, rows, None if shapes.ranges is None else shapes.ranges[j]),
        values,
        lowest,
        highest,
        rows,
    )


def _lift(probabilities: np.ndarray, shares: np.ndarray, odds: bool) -> np.ndarray:
    """Logarithm of odds or probabilities, less that of the class shares."""

    def log(own: np.ndarray) -> np.ndarray:
        against = np.log(np.maximum(1.0 - own, _TINY)) if odds else 0.0
        return np.asarray(np.log(np.maximum(own, _TINY)) - against)

    return np.asarray(log(probabilities) - log(shares))


def _edges(
    column: ColumnPartition, rows: np.ndarray, limits: np.ndarray | None
) -> np.ndarray | None:
    """Where the bins of numbers begin and end, the outermost ones cut short."""
    parts = column.parts
    if not isinstance(parts, IntervalPartition):
        return None
    bounds = parts.bounds[1:]
    least, largest = (np.nan, np.nan) if limits is None else limits.tolist()
    if not bounds.size:
        ends = (least, largest) if least < largest else (0.0, 1.0)
        return np.array(ends)
    reach = _MARGIN * float(bounds[-1] - bounds[0])
    reach = reach or 0.5 * max(largest - least if largest > least else 0.0, 1.0)
    return np.concatenate(
        [
            [np.fmax(least, bounds[0] - reach)],
            bounds,
            [np.fmin(largest, bounds[-1] + reach)],
        ]
    )


def is_crowded(edges: np.ndarray) -> bool:
    """Whether most bins would be too narrow to be seen over the values."""
    widths = np.diff(edges)
    total = float(widths.sum())
    return widths.size > 8 and float(np.median(widths)) < 0.004 * total


def pair_map(shapes: TableShapes, q: int, classes: Sequence[int]) -> PairMap:
    """The maps of some classes over a pair or triple."""
    pair, chosen = shapes.pairs[q], list(classes)
    weight, odds = float(shapes.pair_weights[q]), shapes.shares.shape[0] == 2
    inside = tuple(slice(n) for n in pair.n_cells)
    means = pair.probabilities[:-1, chosen].reshape(*pair.shape, -1)[inside]
    return PairMap(
        tuple(
            _axis(shapes.columns[j].bins, cells, n)
            for j, cells, n in zip(pair.columns, pair.cells, pair.n_cells, strict=True)
        ),
        chosen,
        weight,
        pair.evidence,
        weight * _lift(means, shapes.shares[chosen], odds),
        pair.counts[:-1].sum(axis=1).reshape(pair.shape)[inside],
    )


def pair_number(names: Sequence[str], pairs: Sequence[PairShape], features: Any) -> int:
    """The pair or triple that some columns make, in any order."""
    if isinstance(features, str) or not hasattr(features, "__len__"):
        raise ValueError(
            "features must be the numbers or names of two or three columns. "
            f"Got {features!r}."
        )
    wanted = sorted(column_number(names, own) for own in features)
    for q, pair in enumerate(pairs):
        if sorted(pair.columns) == wanted:
            return q
    known = [tuple(names[j] for j in pair.columns) for pair in pairs[:5]]
    told = ", ".join(map(repr, known)) or "none"
    raise ValueError(
        f"features must be the columns of a pair in use, such as {told}. "
        f"Got {features!r}."
    )


def shown_bounds(column: ColumnPartition, bounds: np.ndarray) -> list[str]:
    """Bounds as text, as short as they can be told apart: days, or a few digits."""
    full = [column.shown(own) for own in bounds.tolist()]
    shorter: list[list[str]] = []
    if column.is_time:
        shorter.append([own.split("T")[0] for own in full])
    elif column.origin is None:
        shorter += [[f"{own:.{n}g}" for own in bounds.tolist()] for n in (3, 4, 5)]
    for texts in shorter:
        if len(set(texts)) == len(texts) and not any("e" in own for own in texts):
            return texts
    return full


def _axis(column: ColumnPartition, cells: np.ndarray, n_cells: int) -> CellAxis:
    """A column whose bins are put into cells."""
    parts = column.parts
    if isinstance(parts, ValueGrouping):
        of_value = np.where(cells[parts.group] < 0, n_cells, cells[parts.group])
        grouped = replace(
            parts,
            group=of_value.astype(np.int64),
            default_group=n_cells,
            counts=np.zeros((n_cells + 1, parts.counts.shape[1])),
        )
        labels = [own.strip("{}") for own in replace(column, parts=grouped).labels]
        return CellAxis(column.name, labels[:n_cells], None)
    used = np.flatnonzero(cells >= 0)
    last = [int(used[cells[used] == c].max()) for c in range(n_cells)]
    ends = parts.bounds[last[:-1]]
    bounds, exact = shown_bounds(column, ends), [column.shown(own) for own in ends]
    labels = ["all"]
    if exact:
        inner = [f"{low} to {high}" for low, high in pairwise(exact)]
        labels = [f"up to {exact[0]}", *inner, f"above {exact[-1]}"]
    if used[0] == 0:  # missing numbers, by themselves or with the least ones
        alone = last[0] == 0
        labels[0] = "missing" if alone else f"missing, {labels[0]}"
        if alone and n_cells > 1:
            bounds[0] = ""
            labels[1] = f"up to {exact[1]}" if n_cells > 2 else "all numbers"
    return CellAxis(column.name, labels, bounds)
