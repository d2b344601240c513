"""What is suspicious about a table: columns that give the label away, repeated rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.io._column_format import ReadColumn
from bayesieve.io._roles import n_distinct
from bayesieve.utils._arrays import n_unique

__all__ = [
    "gives_label_away",
    "missing_as",
    "odd_labels",
    "repeated_rows",
    "repeats_are_odd",
]

_LEAST_ROWS = 30
_MOST_ROWS = 100_000  # looked at, evenly spaced
_NEARLY = 0.99  # of the rows
#: What old programs write for a value that is missing.
_STAND_INS = re.compile(r"-9|-?(99|999|9999|99999|999999|9999999|99999999)(\.0)?")
_LEAST_STAND_INS = 5
_NO_LABELS = ("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "?", "<NA>", "#N/A")


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
        _, own = np.unique(values, return_inverse=True)  # missing ones are the last
        share = _by_intervals(own, codes, n_classes)
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


def _by_intervals(
    values: NDArray[np.integer[Any]],
    codes: NDArray[np.integer[Any]],
    n_classes: int,
) -> float:
    """Share of the rows that is told by few intervals of values, numbered in order.

    Rows of one value have one label, whatever their order in the file.
    """
    pairs, rows = np.unique(values * n_classes + codes, return_counts=True)
    own, labels = pairs // n_classes, pairs % n_classes
    order = np.lexsort((-rows, own))
    most = order[np.append(True, np.diff(own[order]) > 0)]
    n_changes = int(np.count_nonzero(np.diff(labels[most])))
    wrong = codes.size - rows[most].sum() + max(0, n_changes - n_classes + 1)
    return float(1.0 - wrong / codes.size)


def missing_as(numbers: NDArray[np.float64]) -> str:
    """Say that -999 may stand for missing values: frequent, and unlike all others."""
    there = numbers[~np.isnan(numbers)]
    if there.size < _LEAST_ROWS:
        return ""
    for value in (there.min(), there.max()):
        if not _STAND_INS.fullmatch(f"{value:.0f}"):
            continue
        others = there[there != value]
        if there.size - others.size < _LEAST_STAND_INS or not others.size:
            continue
        largest = np.abs(others).max()
        if value < 0 <= others.min() or abs(value) > 2 * largest:
            share = f"{100 * (1 - others.size / there.size):.2g} %"
            return (
                f"has the value {value:.0f} in {share} of its rows, unlike all others: "
                "if it stands for missing ones, leave them empty in the file"
            )
    return ""


def odd_labels(column: str, classes: Sequence[Any], rows: Sequence[int]) -> list[str]:
    """Say what is odd about classes, each of so many rows; words that follow them."""
    found = []
    if column in classes and len(classes) > 2:
        found.append(
            f"has {column!r} among its classes: the header seems to be repeated within "
            "the file. Leave it out there"
        )
    alike: dict[str, list[str]] = {}
    for label in classes:
        if isinstance(label, str):
            alike.setdefault(_alike(label), []).append(label)
    same = [own for own in alike.values() if len(own) > 1]
    if same:
        shown = "; ".join(", ".join(map(repr, own)) for own in same[:4])
        found.append(
            f"has classes that differ in how they are written alone ({shown}): write "
            "them in one way, if they are one"
        )
    for label, number in zip(classes, rows, strict=True):
        if isinstance(label, str) and label.strip() in _NO_LABELS:
            has = "1 row" if number == 1 else f"{number:,} rows"
            found.append(
                f"has {has} of the class {label!r}: if that means that the label is "
                "missing, leave it empty in the file, and --skip-bad-rows leaves those "
                "rows out"
            )
    single = [
        label
        for label, own in zip(classes, rows, strict=True)
        if own == 1 and label != column
    ]
    if single and max(rows) > 1:
        more = f" and {len(single) - 4:,} more" if len(single) > 4 else ""
        found.append(
            f"has classes of one row only, which cannot be learnt and tested: "
            f"{', '.join(map(repr, single[:4]))}{more}"
        )
    return found


def _alike(label: str) -> str:
    """What labels have in common that differ in case, spaces, or as 1 and 1.0 do."""
    plain = " ".join(label.split()).casefold()
    return re.sub(r"(\d)\.0+$", r"\1", plain)


def repeats_are_odd(read: Sequence[ReadColumn], n_rows: int) -> bool:
    """Whether columns have so many values that rows do not repeat by chance."""
    if n_rows < _LEAST_ROWS:
        return False
    room = sum(np.log(max(n_distinct(own), 1)) for own in read)
    return bool(room > 2 * np.log(n_rows) + np.log(100))


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
                wide = values
                if values.dtype.kind not in "Miu":
                    wide = values.astype(np.float64)
                elif values.dtype.kind != "M":
                    wide = values.astype(np.int64)
                part = np.ascontiguousarray(wide).view(np.int64)
            part = part.view(np.uint64)
        # Spread the bits, so that sums of columns do not meet by chance.
        part = (part ^ (part >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        part ^= part >> np.uint64(29)
        mixed = (mixed * np.uint64(0xD6E8FEB86659FD93)) ^ part
    return int(mixed.size - n_unique(mixed))
