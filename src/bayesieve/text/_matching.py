"""Known terms in texts: their counts text by text, and class sums of tf-idf values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve import _core
from bayesieve.text._options import TextOptions
from bayesieve.text._packing import check_codes, packed, sized
from bayesieve.text._term_names import TermNames
from bayesieve.utils._arrays import Array
from bayesieve.utils._resources import limited_threads, thread_count

_NORMS = {None: 0, "l1": 1, "l2": 2}


class TermMatcher:
    """Finds given terms in texts; built once, used for many batches.

    Column `i` is `names[i]`, of equal names the first one; terms that the options
    cannot give are never found. Memory about 20 bytes a term, and the distinct words.
    """

    def __init__(
        self, names: TermNames, options: TextOptions, *, n_jobs: int | None = -1
    ) -> None:
        self.names = names
        self.options = options
        self._native = _core.TermMatcher(
            options.plan, names.data, names.offsets, thread_count(n_jobs)
        )

    @property
    def nbytes(self) -> int:
        """Bytes of the table and its words."""
        return int(self._native.nbytes)

    def __reduce__(self) -> Any:
        return type(self), (self.names, self.options)

    def _batches(
        self, texts: Any, codes: Array | None, decode_error: str
    ) -> Iterator[tuple[Array, Array, Array | None, slice]]:
        for data, offsets, rows in packed(texts, codes, decode_error):
            if self.options.is_compiled:
                yield data, offsets, None, rows
                continue
            own = None if codes is None else codes[rows]
            for words, ends, starts, part in self.options.cut_words(data, offsets, own):
                first = rows.start + part.start
                place = slice(first, first + part.stop - part.start)
                yield words, ends, starts, place

    def rows(
        self,
        texts: Any,
        *,
        n_jobs: int | None = -1,
        binary: bool | None = None,
        decode_error: str = "strict",
    ) -> Any:
        """Return the counts of the terms in each text, a csr_array of float64."""
        texts = sized(texts)
        threads = thread_count(n_jobs)
        binary = self.options.binary if binary is None else binary
        with limited_threads(n_jobs):
            parts = [
                self._native.rows(data, offsets, words, threads, binary)
                for data, offsets, words, _ in self._batches(texts, None, decode_error)
            ]
        shape = (len(texts), len(self.names))
        if not parts:
            return sparse.csr_array(shape, dtype=np.float64)
        values, columns, ends = (list(arrays) for arrays in zip(*parts, strict=True))
        shifts = np.cumsum([0, *(part[-1] for part in ends)])
        start = np.concatenate(
            [[0], *(e[1:] + s for e, s in zip(ends, shifts[:-1], strict=True))]
        )
        if len(values) > 1:
            values, columns = [np.concatenate(values)], [np.concatenate(columns)]
        if start[-1] < 2**31:
            start = start.astype(np.int32)
        return sparse.csr_array((values[0], columns[0], start), shape=shape)

    def add_weighted(
        self,
        texts: Any,
        codes: Any,
        sums: Any,
        *,
        idf: Array | None,
        sublinear_tf: bool,
        norm: str | None,
        n_jobs: int | None = -1,
    ) -> None:
        """Add the tf-idf values of a batch to a (n_classes, n_terms) table.

        A sparse table must have a place for every value. Sums are formed in the order
        of the documents and do not depend on threads or batches.
        """
        if norm not in _NORMS:
            raise ValueError(f"'norm' must be 'l1', 'l2' or None. Got {norm!r}.")
        threads = thread_count(n_jobs)
        texts = sized(texts)
        n_classes = sums.shape[0]
        codes = check_codes(codes, len(texts), n_classes)
        start = code = None
        flat = sums.data if sparse.issparse(sums) else sums.reshape(-1)
        if sparse.issparse(sums):
            start = sums.indptr.astype(np.int64, copy=False)
            code = sums.indices.astype(np.int32, copy=False)
        for data, offsets, words, rows in self._batches(texts, codes, "strict"):
            self._native.add_weighted(
                data,
                offsets,
                words,
                codes[rows],
                n_classes,
                idf,
                sublinear_tf,
                self.options.binary,
                _NORMS[norm],
                flat,
                start,
                code,
                threads,
            )
