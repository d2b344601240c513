"""Known k-mers, or bytes in a row, in raw rows: their counts row by row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve import _core
from bayesieve.sequences._key_names import KeyNames
from bayesieve.sequences._reading import Piece
from bayesieve.utils._resources import thread_count

__all__ = ["KeyMatcher"]


class KeyMatcher:
    """Finds given windows in rows; built once, used for many batches.

    Column `i` is `names[i]`; names must be distinct. Memory about 24 bytes a name.
    """

    def __init__(self, names: KeyNames, *, n_jobs: int | None = -1) -> None:
        self.names = names
        self._native = _core.KeyMatcher(
            *names.spelling.settings, names.keys, thread_count(n_jobs)
        )

    def __reduce__(self) -> Any:
        return type(self), (self.names,)

    def rows(self, pieces: Iterable[Piece], *, binary: bool) -> Any:
        """Return how often each name occurs in each row, or whether, a csr_array."""
        begun, n_names = 0, max(1, len(self.names))
        cells: list[Any] = [np.empty(0, dtype=np.int64)]
        counts: list[Any] = [np.empty(0, dtype=np.int64)]
        for piece in pieces:
            begin = begun - (1 if piece.goes_on else 0)
            begun = begin + piece.starts.size
            own, columns = self._native.match(piece.symbols, piece.starts)
            # Added up by piece: a row has each name once, however often it occurs.
            there, times = _counted(
                own * n_names + columns, piece.starts.size * n_names
            )
            cells.append(there + begin * n_names)
            counts.append(times)
        row, column = np.divmod(np.concatenate(cells), n_names)
        if begun < 2**31:  # as scikit-learn wants indices
            row, column = row.astype(np.int32), column.astype(np.int32)
        values = np.concatenate(counts).astype(np.float64)
        shape = (begun, len(self.names))
        table = sparse.coo_array((values, (row, column)), shape=shape).tocsr()
        table.sum_duplicates()
        if binary:
            table.data[:] = 1.0
        return table


def _counted(cells: Any, n_cells: int) -> tuple[Any, Any]:
    """The different numbers in order, and how often each is there."""
    if n_cells > max(cells.size, 1 << 16):
        return np.unique(cells, return_counts=True)
    times = np.bincount(cells, minlength=n_cells)
    there = np.flatnonzero(times)
    return there, times[there]
