"""The partitions of a table's columns as a few long arrays, and its reader.

A table may have tens of thousands of columns, so their partitions are laid end to end
instead of each having members of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.counts._storage import rises
from bayesieve.partition._column import ColumnPartition
from bayesieve.partition._group import ValueGrouping
from bayesieve.partition._partition import IntervalPartition, PartitionCost
from bayesieve.persistence._archive import ModelArchive
from bayesieve.persistence._kinds import Arrays, Kind, Sizes, check_domain
from bayesieve.persistence._values import pack_values, unpack_values
from bayesieve.preprocessing._table_columns import TableReader
from bayesieve.utils._exact_numbers import TICKS, Origin

__all__ = ["Partitions", "ReaderKind"]


def _stacked(tables: list[np.ndarray], n_classes: int) -> np.ndarray:
    return np.vstack([np.zeros((0, n_classes)), *tables])


def _joined(arrays: list[Any], dtype: Any) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype), *arrays]).astype(dtype)


class Partitions(Kind):
    """A list of `ColumnPartition`, one for each of m columns."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        """Add the arrays; names and classes of the columns stand elsewhere."""
        parts = [column.parts for column in value]
        groups = [p for p in parts if isinstance(p, ValueGrouping)]
        grouped = [column for column in value if column.kind == "categorical"]
        n_classes = value[0].classes.shape[0]
        costs = [(p.cost, p.null_cost) for p in parts]
        mine = {
            "n_parts": np.array([p.n_parts for p in parts], np.int64),
            "categorical": np.array([isinstance(p, ValueGrouping) for p in parts]),
            "is_time": np.array([column.is_time for column in value]),
            "exact": np.array([bool(p.exact) for p in parts]),
            "granularity": np.array([p.granularity for p in parts], np.int64),
            "costs": np.array(
                [
                    [c.construction, c.preparation, c.data]
                    for pair in costs
                    for c in pair
                ],
                np.float64,
            ).reshape(-1, 6),
            "counts": _stacked([p.counts for p in parts], n_classes),
            "bounds": _joined(
                [p.bounds for p in parts if isinstance(p, IntervalPartition)],
                np.float64,
            ),
            "n_values": np.array([len(column.values) for column in grouped], np.int64),
            "group": _joined([p.group for p in groups], np.int64),
            "default_group": np.array([p.default_group for p in groups], np.int64),
            "garbage_group": np.array([p.garbage_group for p in groups], np.int64),
            "value_counts": _stacked(
                [column.value_counts for column in grouped], n_classes
            ),
        }
        for part, array in mine.items():
            arrays[f"{name}.{part}"] = array
        values = [value for column in grouped for value in column.values]
        pack_values(arrays, f"{name}.values", values, "a categorical column")

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        """Read the partitions and check that their parts fit together."""
        own = reader.below(f"{name}.")
        n_parts = own.integers("n_parts")
        n_columns = n_parts.shape[0]
        sizes.agree("m", n_columns, name)
        categorical = own.array("categorical", "bool")
        is_time, exact = own.array("is_time", "bool"), own.array("exact", "bool")
        granularity = own.integers("granularity")
        for flags in (categorical, is_time, exact, granularity):
            Sizes(m=n_columns).agree("m", flags.shape[0], name)
        costs = own.floats("costs", 2)
        if costs.shape != (n_columns, 6) or not np.isfinite(costs).all():
            raise ValueError(f"{name!r} has costs that are not numbers")
        if (n_parts < 1).any() or n_parts.max(initial=0) >= 2**31:
            raise ValueError(f"{name!r} has a column without parts")
        counts = _split(_counts(own, "counts"), n_parts, sizes["C"], name)
        numeric = ~categorical
        bounds = _split(own.floats("bounds"), n_parts[numeric] - 1, None, name)
        n_values = own.integers("n_values")
        if n_values.shape[0] != int(categorical.sum()) or (n_values < 0).any():
            raise ValueError(f"{name!r} has values without a column")
        group = _split(own.integers("group"), n_values, None, name)
        value_counts = _split(_counts(own, "value_counts"), n_values, sizes["C"], name)
        values = unpack_values(own, "values")
        if len(values) != int(n_values.sum()):
            raise ValueError(f"{name!r} has values without a column")
        defaults, garbage = (
            own.integers("default_group"),
            own.integers("garbage_group"),
        )
        if not defaults.shape == garbage.shape == n_values.shape:
            raise ValueError(f"{name!r} has groups without a column")
        ends = np.concatenate([[0], np.cumsum(n_values)]).tolist()
        unknown = np.empty(0)  # classes and names come from the estimator
        found: list[ColumnPartition] = []
        cut = grouped = 0
        for j in range(n_columns):
            common: dict[str, Any] = {
                "counts": counts[j],
                "granularity": int(granularity[j]),
                "cost": PartitionCost(*costs[j, :3].tolist()),
                "null_cost": PartitionCost(*costs[j, 3:].tolist()),
                "exact": bool(exact[j]),
            }
            if not categorical[j]:
                edges = bounds[cut]
                if np.isnan(edges).any() or not rises(edges, strictly=True):
                    raise ValueError(f"{name!r} has bounds that do not rise")
                cut += 1
                parts: Any = IntervalPartition(bounds=edges, **common)
                time = bool(is_time[j])
                found.append(ColumnPartition("", unknown, parts, is_time=time))
                continue
            mine = tuple(values[ends[grouped] : ends[grouped + 1]])
            groups = group[grouped]
            outside = groups.size and (groups.min() < 0 or groups.max() >= n_parts[j])
            default, rest = int(defaults[grouped]), int(garbage[grouped])
            if outside or not (0 <= default < n_parts[j] and -1 <= rest < n_parts[j]):
                raise ValueError(f"{name!r} has a group that is not there")
            if len(set(mine)) != len(mine):
                raise ValueError(f"{name!r} has a value twice")
            parts = ValueGrouping(
                group=groups, default_group=default, garbage_group=rest, **common
            )
            own_counts = value_counts[grouped]
            found.append(ColumnPartition("", unknown, parts, mine, own_counts))
            grouped += 1
        return found


def _counts(own: ModelArchive, name: str) -> np.ndarray:
    table = own.floats(name, 2)
    check_domain(table, "counts", name)
    return table


def _split(
    table: np.ndarray, lengths: np.ndarray, width: int | None, name: str
) -> list[np.ndarray]:
    """Cut an array into pieces of given lengths."""
    wrong = width is not None and table.shape[1] != width
    if wrong or table.shape[0] != sum(lengths.tolist()):
        raise ValueError(f"{name!r} has arrays of different lengths")
    return np.split(table, np.cumsum(lengths)[:-1]) if lengths.size else []


class ReaderKind(Kind):
    """What each column of a table is; names come from the estimator."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        """Add which columns are categorical, times or texts."""
        arrays[f"{name}.categorical"] = np.asarray(value.categorical, bool)
        arrays[f"{name}.temporal"] = np.asarray(value.temporal, bool)
        if value.text.any():
            arrays[f"{name}.text"] = np.asarray(value.text, bool)
        if value.origins:  # most tables have none, and no members for them
            columns = sorted(value.origins)
            found = [value.origins[j] for j in columns]
            arrays[f"{name}.origin_columns"] = np.array(columns, np.int64)
            arrays[f"{name}.origin_ticks"] = np.array(
                [origin.ticks for origin in found], np.int64
            )
            whole = [origin.whole for origin in found]  # of any size, so as text
            pack_values(arrays, f"{name}.origins", whole, "a table")

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        """Read the columns."""
        own = reader.below(f"{name}.")
        categorical, temporal = (
            own.array("categorical", "bool"),
            own.array("temporal", "bool"),
        )
        text = np.zeros(categorical.shape, bool)
        if own.holds("text"):
            text = own.array("text", "bool")
        for flags in (categorical, temporal, text):
            sizes.agree("m", flags.shape[0], name)
        if (text & ~categorical).any():
            raise ValueError(f"{name!r} has texts in a column of numbers")
        origins = _origins(own, name, categorical)
        return TableReader(categorical, [], temporal, origins, text)


def _origins(
    own: ModelArchive, name: str, categorical: np.ndarray
) -> dict[int, Origin]:
    if not own.holds("origin_columns"):
        return {}
    columns = own.integers("origin_columns").tolist()
    ticks = own.integers("origin_ticks").tolist()
    whole = unpack_values(own, "origins")
    if not (
        len(columns) == len(set(columns)) == len(ticks) == len(whole)
        and all(0 <= j < categorical.size and not categorical[j] for j in columns)
        and all(t in TICKS for t in ticks)
        and all(type(w) is int and abs(w) < 2**1000 for w in whole)
    ):
        raise ValueError(f"{name!r} has origins that fit no column")
    return {
        j: Origin(w, t)  # type: ignore[arg-type]
        for j, w, t in zip(columns, whole, ticks, strict=True)
    }
