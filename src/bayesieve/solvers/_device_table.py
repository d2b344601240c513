"""A table of counts that stays on its device, and what solvers ask of it.

A pass over all columns runs there, a chunk of columns at a time, and only decides which
columns may matter; these are fetched, and the compiled core on the host decides as it
does for any table. So the answer is that of the same counts in NumPy, and no more than
a chunk is ever copied.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from bayesieve.solvers._logs import Floats
from bayesieve.utils._device_arrays import (
    as_float64,
    device_of,
    is_on_device,
    namespace,
    to_host,
)

__all__ = ["DeviceTable", "device_table", "refuse_presences"]

#: Counts that are looked at together: 128 MB, and half of it for each temporary of two
#: classes. Much smaller ones take the device longer to be told than to do.
CHUNK_CELLS = 1 << 24
#: A table of no more counts is solved on the host.
SMALL_CELLS = 1 << 20
#: Up to so many classes are added row by row: reductions over so few are slower.
_FEW_CLASSES = 4
#: Columns, at equal distances, that tell beforehand what to expect of all.
SAMPLE_COLUMNS = 1 << 17


class DeviceTable:
    """Counts (K, m) on a device; read, never written to.

    Parameters
    ----------
    counts : array of the array API of shape (n_classes, n_features)
    owner : str
        Who asks, for messages.
    """

    def __init__(self, counts: Any, owner: str) -> None:
        self.xp = namespace(counts, purpose=f"an array of {type(counts).__name__}")
        self.counts, self.owner = counts, owner
        self.shape = tuple(int(n) for n in counts.shape)
        self.device = device_of(counts)

    def chunks(self) -> Iterator[tuple[slice, Any]]:
        """Neighbouring columns, and their counts (K, n) as float64 on the device."""
        n_classes, n_features = self.shape
        width = max(1, CHUNK_CELLS // n_classes)
        for first in range(0, n_features, width):
            place = slice(first, min(first + width, n_features))
            yield place, as_float64(self.xp, self.counts[:, place], owner=self.owner)

    def columns(self, columns: NDArray[np.int64]) -> Floats:
        """Counts of some columns, on the host."""
        return self.fetched(self.taken(self.there(columns)))

    def taken(self, columns: Any) -> Any:
        """Counts of columns that are named on the device, which stay there."""
        return self.xp.take(self.counts, columns, axis=1)

    def sample(self) -> tuple[slice, Floats]:
        """Columns at equal distances and their counts, on the host."""
        place = slice(None, None, -(-self.shape[1] // SAMPLE_COLUMNS))
        return place, self.fetched(self.counts[:, place])

    def chosen(self, place: slice, part: Any, wanted: Any) -> tuple[Any, Any]:
        """Columns of a chunk that a mask wants, and their counts, on the device."""
        found = self.xp.nonzero(wanted)[0]
        return found + place.start, self.xp.take(part, found, axis=1)

    def numbered(self, columns: Any) -> NDArray[np.int64]:
        """Columns on the device, on the host."""
        return to_host(columns).astype(np.int64)

    def fetched(self, part: Any) -> Floats:
        """Counts on the device, or some of their columns, on the host."""
        converted = as_float64(self.xp, part, owner=self.owner)
        return np.ascontiguousarray(to_host(converted))

    def there(self, values: NDArray[Any]) -> Any:
        """A NumPy array on the device of the table."""
        return self.xp.asarray(values, device=self.device)

    def empty(self, shape: int | tuple[int, ...], dtype: str = "float64") -> Any:
        """An array on the device that is written to later."""
        return self.xp.empty(shape, dtype=getattr(self.xp, dtype), device=self.device)

    def zeros(self, shape: int, dtype: str = "float64") -> Any:
        """Zeros on the device."""
        return self.xp.zeros(shape, dtype=getattr(self.xp, dtype), device=self.device)

    def value(self, values: Floats) -> Any:
        """One value for all columns, or an array with one for each, on the device."""
        return float(values[0]) if values.shape[0] == 1 else self.there(values)

    def numbers(self, values: list[Any]) -> Floats:
        """Results of the same shape, one for each chunk, fetched together."""
        return to_host(self.xp.stack(values))

    def refuse_bad_counts(self, least: Floats, sums: Floats) -> None:
        """Refuse NaN, infinity and negative counts, known by sums and least counts."""
        if np.isfinite(least).all() and np.isfinite(sums).all() and least.min() >= 0:
            return
        xp, lowest, column = self.xp, 0.0, 0
        for place, part in self.chunks():
            if not bool(xp.all(xp.isfinite(part))):
                raise ValueError(
                    f"{self.owner} needs finite counts. Got NaN or infinity."
                )
            of_columns = xp.min(part, axis=0)
            at = int(xp.argmin(of_columns))
            if float(of_columns[at]) < lowest:
                lowest, column = float(of_columns[at]), place.start + at
        if lowest < 0:
            raise ValueError(
                f"{self.owner} needs counts >= 0. Got {lowest:g} in column {column}."
            )

    def refuse_more_than(self, most: Floats, rows: Floats) -> None:
        """Refuse presences in more rows than a class has, known by the largest."""
        if (most <= rows * (1 + 1e-12)).all():
            return
        c = int(np.flatnonzero(most > rows * (1 + 1e-12))[0])
        for place, part in self.chunks():
            at = int(self.xp.argmax(part[c, :]))
            if float(part[c, at]) == most[c]:
                refuse_presences(most[c], c, place.start + at, rows, self.owner)

    def totals(self, part: Any) -> Any:
        """Sum of the counts of each column, as an array that may be written to."""
        if self.shape[0] > _FEW_CLASSES:
            return self.xp.sum(part, axis=0)
        totals = part[0, :] + part[1, :]
        for c in range(2, self.shape[0]):
            totals += part[c, :]
        return totals

    def sum_of_products(self, a: Any, b: Any) -> Any:
        """Sum of ``a_i b_i``; by a product of vectors, which makes no third one."""
        return self.xp.matmul(a, b)


def refuse_presences(
    count: float, c: int, column: int, rows: Floats, owner: str
) -> NoReturn:
    """Say that a feature cannot be in more rows of a class than there are."""
    raise ValueError(
        f"{owner} needs in how many rows each feature is present, no more than the "
        f"class has. Got {count:g} in column {column}, where class {c} has "
        f"{rows[c]:g} rows."
    )


def device_table(counts: Any, *, solver: str) -> DeviceTable | Floats | None:
    """Counts on a device, checked but for their values; a small table as NumPy has it.

    None for what is not on a device at all.
    """
    if not is_on_device(counts):
        return None
    shape = tuple(counts.shape)
    if len(shape) != 2 or shape[0] < 2 or shape[1] < 1:
        raise ValueError(
            f"{solver} needs a ClassCounts or a table of shape (n_classes >= 2, "
            f"n_features >= 1). Got shape {shape}."
        )
    if not hasattr(counts, "__array_namespace__") and "sparse" in (
        f"{type(counts).__module__} {getattr(counts, 'layout', '')}"
    ):
        raise TypeError(
            f"{solver} needs class counts on a device as a dense array. Got a sparse "
            f"{type(counts).__name__}. Hint: class_sums(X, y) counts a sparse X there."
        )
    table = DeviceTable(counts, solver)
    kinds = ("bool", "integral", "real floating")
    if not table.xp.isdtype(counts.dtype, kinds):
        raise TypeError(
            f"{solver} needs counts that are real numbers (bool, integer or float). "
            f"Got dtype {counts.dtype}."
        )
    if math.prod(shape) <= SMALL_CELLS:
        return to_host(as_float64(table.xp, counts, owner=solver))
    return table
