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
        found, where, begun = [], [], 0
        for piece in pieces:
            begin = begun - (1 if piece.goes_on else 0)
            begun = begin + piece.starts.size
            own, columns = self._native.match(piece.symbols, piece.starts)
            found.append(columns)
            where.append(own + begin)
        row = np.concatenate(where) if where else np.empty(0, dtype=np.int64)
        if begun < 2**31:  # as scikit-learn wants indices
            row = row.astype(np.int32)
        column = np.concatenate(found) if found else np.empty(0, dtype=np.int32)
        values = np.ones(row.size)
        shape = (begun, len(self.names))
        table = sparse.coo_array((values, (row, column)), shape=shape).tocsr()
        table.sum_duplicates()
        if binary:
            table.data[:] = 1.0
        return table
