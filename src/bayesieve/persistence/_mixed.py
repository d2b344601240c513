"""The class counts of the columns of a mixed table, as `MixedScreener` keeps them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from bayesieve.counts._mixed import LevelCounts, ValueMoments
from bayesieve.persistence._archive import ModelArchive
from bayesieve.persistence._kinds import Arrays, Kind, Sizes, check_domain
from bayesieve.persistence._values import pack_values, unpack_values

__all__ = ["CategoryValues", "MixedColumns"]

_MOMENTS = ("missing", "rows", "mean", "squares")


class CategoryValues(Kind):
    """Of each column the list of its values, or None where it holds codes."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        """Add the values, end to end."""
        sizes = [-1 if own is None else len(own) for own in value]
        arrays[f"{name}.sizes"] = np.array(sizes, np.int64)
        everything = [level for own in value if own is not None for level in own]
        pack_values(arrays, f"{name}.values", everything, "a categorical column")

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        """Read the values."""
        own = reader.below(f"{name}.")
        lengths, values = own.integers("sizes"), unpack_values(own, "values")
        sizes.agree(self.shape[0], lengths.shape[0], name)
        ends = np.cumsum(np.maximum(lengths, 0))
        if (lengths < -1).any() or len(values) != ends.max(initial=0):
            raise ValueError(f"{name!r} has values that fit no column")
        found = [
            values[end - length : end] if length >= 0 else None
            for length, end in zip(lengths.tolist(), ends.tolist(), strict=True)
        ]
        if any(own is not None and len(set(own)) < len(own) for own in found):
            raise ValueError(f"{name!r} has a value twice")
        return found


class MixedColumns(Kind):
    """A list of `LevelCounts` and `ValueMoments`, one for each of m columns."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        """Add the tables, end to end."""
        levels = [column for column in value if isinstance(column, LevelCounts)]
        moments = [column for column in value if isinstance(column, ValueMoments)]
        first = levels[0].table.shape[0] if levels else moments[0].rows.shape[0]
        arrays[f"{name}.continuous"] = np.array(
            [isinstance(column, ValueMoments) for column in value]
        )
        arrays[f"{name}.n_levels"] = np.array(
            [len(column.levels) for column in levels], np.int64
        )
        arrays[f"{name}.table"] = np.hstack(
            [np.zeros((first, 0)), *(column.table for column in levels)]
        )
        arrays[f"{name}.moments"] = np.array(
            [[getattr(column, part) for part in _MOMENTS] for column in moments],
            np.float64,
        ).reshape(-1, len(_MOMENTS), first)
        origins = [column.origin for column in moments]
        if any(origins):  # integers beyond doubles are rare, and of any size
            pack_values(arrays, f"{name}.origins", origins, "a column of integers")
        everything = [level for column in levels for level in column.levels]
        pack_values(arrays, f"{name}.levels", everything, "a categorical column")

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        """Read the columns."""
        own = reader.below(f"{name}.")
        continuous = own.array("continuous", "bool")
        sizes.agree("m", continuous.shape[0], name)
        n_levels = own.integers("n_levels")
        table, moments = own.floats("table", 2), own.floats("moments", 3)
        levels = unpack_values(own, "levels")
        total = sum(n_levels.tolist())
        fits = (
            (n_levels >= 0).all()
            and n_levels.shape[0] == int((~continuous).sum())
            and table.shape == (sizes["C"], total)
            and len(levels) == total
            and moments.shape == (int(continuous.sum()), len(_MOMENTS), sizes["C"])
        )
        if not fits:
            raise ValueError(f"{name!r} has tables of different sizes")
        check_domain(table, "counts", name)
        check_domain(moments, "finite", name)
        check_domain(np.delete(moments, _MOMENTS.index("mean"), 1), "counts", name)
        ends = np.concatenate([[0], np.cumsum(n_levels)]).tolist()
        if any(len(set(levels[a:b])) < b - a for a, b in pairwise(ends)):
            raise ValueError(f"{name!r} has a level twice")
        counted = (
            LevelCounts(tuple(levels[first:last]), table[:, first:last])
            for first, last in pairwise(ends)
        )
        origins = self._origins(own, name, moments.shape[0])
        measured = (
            ValueMoments(missing, rows, mean, squares, origin)
            for (missing, rows, mean, squares), origin in zip(
                moments, origins, strict=True
            )
        )
        return [next(measured if c else counted) for c in continuous.tolist()]

    def _origins(self, own: ModelArchive, name: str, n_columns: int) -> list[int]:
        if not own.holds("origins_kinds"):
            return [0] * n_columns
        found: list[Any] = list(unpack_values(own, "origins"))
        if len(found) != n_columns or not all(
            type(whole) is int and abs(whole) < 2**1000 for whole in found
        ):
            raise ValueError(f"{name!r} has origins that fit no column")
        return found
