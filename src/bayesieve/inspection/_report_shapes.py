"""Shapes and pairs of a report: curves with bands, heat maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve._description import TableColumns, TableShapes
from bayesieve.inspection._report_checks import clean_text
from bayesieve.inspection._report_paths import rounded
from bayesieve.inspection._report_schema import LIMITS
from bayesieve.inspection._shape_data import (
    ColumnCurve,
    column_curve,
    drawn_classes,
    has_shape,
    is_crowded,
    pair_map,
    shown_bounds,
)

__all__ = ["shapes_section"]

_MOST_NUMBERS = 100_000  # of all curves, and of all maps: a megabyte of text
_MOST_TICKS = 5
_MOST_VALUES = 24  # of a category
_FARTHEST = 50.0  # nats; a band may go to infinity


def shapes_section(table: TableColumns) -> dict[str, Any] | None:
    """Shapes of the columns with a weight and all pairs, the largest terms first."""
    shapes = table.shapes
    if shapes is None or table.weights is None or table.importances is None:
        return None
    classes = drawn_classes(np.arange(shapes.shares.shape[0]), None)
    classes = classes[: LIMITS["classes"]]
    # A column of texts has a weight, but no shape.
    used = np.flatnonzero(
        [
            w > 0 and has_shape(own)
            for w, own in zip(table.weights, shapes.columns, strict=True)
        ]
    )
    order = used[np.argsort(-table.importances[used], kind="stable")].tolist()
    columns, room = [], _MOST_NUMBERS
    for j in order[: LIMITS["columns"]]:
        room -= 3 * len(classes) * shapes.columns[j].bins.n_parts
        if room < 0:
            break
        columns.append(_column(column_curve(table, shapes, j, classes)))
    return {
        "odds": shapes.shares.shape[0] == 2,
        "columns": columns,
        "n_columns": int(used.size),
        "pairs": _pairs(shapes, classes),
        "n_pairs": len(shapes.pairs),
    }


def _nats(values: np.ndarray) -> list[float]:
    return [rounded(own) for own in np.clip(values, -_FARTHEST, _FARTHEST).tolist()]


def _column(curve: ColumnCurve) -> dict[str, Any]:
    labels = curve.column.labels

    def part(i: int) -> dict[str, Any]:
        return {
            "label": clean_text(labels[i].strip("{}"), 300),
            "rows": rounded(curve.rows[i]),
            "values": _nats(curve.values[i]),
            "low": _nats(curve.low[i]),
            "high": _nats(curve.high[i]),
        }

    shown = curve.bins
    if curve.edges is None:
        largest = np.argsort(-curve.rows[shown], kind="stable")[:_MOST_VALUES]
        shown = shown[np.sort(largest)]
    edges, ticks = _places(curve)
    return {
        "name": curve.column.name,
        "weight": rounded(curve.weight),
        "evidence": rounded(curve.evidence),
        "edges": edges,
        "ticks": ticks,
        "bins": [part(i) for i in shown.tolist()],
        "n_bins": int(curve.bins.size),
        "missing": None if curve.missing is None else part(curve.missing),
    }


def _places(
    curve: ColumnCurve,
) -> tuple[list[float] | None, list[dict[str, Any]] | None]:
    """Where the bins of numbers lie, and marks where plain numbers would not do."""
    edges = curve.edges
    if edges is None:
        return None, None
    crowded = is_crowded(edges)
    places = np.arange(edges.size, dtype=np.float64) if crowded else edges
    if not crowded and not curve.column.is_time and curve.column.origin is None:
        return places.tolist(), None
    marked = np.unique(np.linspace(1, edges.size - 2, _MOST_TICKS).astype(int))
    marked = marked[(marked > 0) & (marked < edges.size - 1)]
    texts = shown_bounds(curve.column, edges[marked])
    ticks = [
        {"at": at, "text": text}
        for at, text in zip(places[marked].tolist(), texts, strict=True)
    ]
    return places.tolist(), ticks


def _pairs(shapes: TableShapes, classes: list[int]) -> list[dict[str, Any]]:
    found, room = [], _MOST_NUMBERS
    order = np.argsort(-shapes.pair_sizes, kind="stable")
    for q in order[: LIMITS["pairs"]].tolist():
        own = pair_map(shapes, q, classes)
        room -= own.values.size
        if room < 0:
            break
        found.append(
            {
                "axes": [
                    {
                        "name": axis.name,
                        "labels": [clean_text(text, 60) for text in axis.labels],
                        "bounds": axis.bounds,
                    }
                    for axis in own.axes
                ],
                "weight": rounded(own.weight),
                "evidence": rounded(own.evidence),
                "values": [
                    _nats(own.values[..., c].reshape(-1)) for c in range(len(classes))
                ],
                "rows": [rounded(n) for n in own.rows.reshape(-1).tolist()],
            }
        )
    return found
