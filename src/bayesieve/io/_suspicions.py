"""What is suspicious about a table: columns that give the label away, repeated rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.io._column_format import ReadColumn

__all__ = ["gives_label_away", "repeated_rows"]

_LEAST_ROWS = 30
_MOST_ROWS = 100_000  # looked at, evenly spaced
_NEARLY = 0.99  # of the rows


def gives_label_away(
    read: ReadColumn, codes: NDArray[np.integer[Any]], n_classes: int
) -> float | None:
    """Return the share of the rows whose label a column tells, if nearly all.

    Values that are nearly all different tell nothing that way, and are not counted.
    """
    if codes.size < _LEAST_ROWS or n_classes < 2:
        return None
    some = slice(None, None, max(1, codes.size // _MOST_ROWS))
    codes, values = codes[some], np.asarray(read.values)[some]
    if read.strings is not None:
        share = _by_values(read.strings.codes[some], codes, n_classes)
    elif values.dtype.kind in "iufM":
        order = np.argsort(values, kind="stable")
        if values.dtype.kind == "M":
            values = values.view(np.int64)
        share = _by_intervals(values[order], codes[order])
    else:
        found = {value: n for n, value in enumerate(dict.fromkeys(values.tolist()))}
        own = np.array([found[value] for value in values.tolist()], dtype=np.int64)
        share = _by_values(own, codes, n_classes)
    majority = np.bincount(codes).max() / codes.size
    return share if share >= max(_NEARLY, (1 + majority) / 2) else None


def _by_values(
    values: NDArray[np.integer[Any]],
    codes: NDArray[np.integer[Any]],
    n_classes: int,
) -> float:
    table = np.bincount(values.astype(np.int64) * n_classes + codes)
    table = np.append(table, np.zeros(-table.size % n_classes, table.dtype))
    table = table.reshape(-1, n_classes)
    rows = table.sum(axis=1)
    if np.count_nonzero(rows) > codes.size / 5:
        return 0.0
    return float(table.max(axis=1).sum() / codes.size)


def _by_intervals(values: NDArray[Any], codes: NDArray[np.integer[Any]]) -> float:
    """Share of the rows that is told by few intervals: where labels rarely change."""
    changes = codes[1:] != codes[:-1]
    tied = values[1:] == values[:-1]
    if np.count_nonzero(changes & tied):  # one value, two labels
        return float(1.0 - np.count_nonzero(changes) / codes.size)
    n_changes = int(np.count_nonzero(changes))
    n_classes = np.unique(codes).size
    return float(1.0 - max(0, n_changes - n_classes + 1) / codes.size)


def repeated_rows(read: Sequence[ReadColumn], codes: NDArray[np.integer[Any]]) -> int:
    """Return how many rows equal an earlier one in all columns and the label."""
    if not codes.size:
        return 0
    mixed = codes.astype(np.uint64)
    for own in read:
        if own.strings is not None:
            part = own.strings.codes.astype(np.uint64)
        else:
            values = np.asarray(own.values)
            if values.dtype == object:
                part = np.array([hash(value) for value in values.tolist()], np.int64)
            else:
                wide = values if values.dtype.kind == "M" else values.astype(np.float64)
                part = np.ascontiguousarray(wide).view(np.int64)
            part = part.view(np.uint64)
        # Spread the bits, so that sums of columns do not meet by chance.
        part = (part ^ (part >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        part ^= part >> np.uint64(29)
        mixed = (mixed * np.uint64(0xD6E8FEB86659FD93)) ^ part
    return int(mixed.size - np.unique(mixed).size)
