"""Counts of the terms of texts by class, without a document-term matrix."""

from __future__ import annotations

import os
import secrets
import tempfile
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesieve import _core
from bayesieve.text._options import TextOptions
from bayesieve.text._packing import check_codes, packed, sized
from bayesieve.text._term_names import TermNames
from bayesieve.utils._arrays import Array
from bayesieve.utils._resources import check_memory_budget, is_whole, thread_count

__all__ = ["TermTables", "TextCounter"]


class TermTables(NamedTuple):
    """What counting gives: the terms, sorted, and a row of each table for each class.

    Tables are arrays, or `csc_array` where there are many cells and not two classes.
    """

    names: TermNames
    class_count: Array  # documents of each class, empty ones included
    feature_count: Any  # occurrences; with `binary` the same as `document_count`
    document_count: Any  # documents that have the term


class TextCounter:
    """Counts the terms of texts by class, batch after batch, in bounded memory.

    Exact, and equal term by term to CountVectorizer followed by class sums; the result
    does not depend on threads, batches or the budget. An error leaves the counter
    unusable, as part of the batch may have been counted.

    Beyond `memory_budget` bytes of records and tables, tables go to temporary files,
    which are removed however the process ends; the dictionary of distinct words is not
    written out, and the result itself comes on top. Time O(characters + terms log
    terms); memory O(distinct terms), about 30 bytes for each (term, class), plus 0.1 GB
    of records.

    Examples
    --------
    >>> from bayesieve.text._counter import TextCounter
    >>> from bayesieve.text._options import TextOptions
    >>> counter = TextCounter(TextOptions(), 2)
    >>> counter.add(["To be, or not to be", "that is not it"], [0, 1])
    >>> counter.finish(dense_cells=1000).names.tolist()
    ['be', 'is', 'it', 'not', 'or', 'that', 'to']
    """

    def __init__(
        self,
        options: TextOptions,
        n_classes: int,
        *,
        n_jobs: int | None = -1,
        memory_budget: int | None = None,
        spill_folder: Any = None,
        decode_error: str = "strict",
        _pending: int = 0,
    ) -> None:
        if not is_whole(n_classes) or n_classes < 1:
            raise ValueError(f"'n_classes' must be an int >= 1. Got {n_classes!r}.")
        check_memory_budget(memory_budget)
        if decode_error not in ("strict", "ignore", "replace"):
            raise ValueError(
                "'decode_error' must be 'strict', 'ignore' or 'replace'. Got "
                f"{decode_error!r}."
            )
        self.options = options
        self.n_classes = int(n_classes)
        self._errors = decode_error
        folder = tempfile.gettempdir() if spill_folder is None else spill_folder
        if not os.path.isdir(folder):
            raise FileNotFoundError(
                f"The spill_folder must be there. Got {os.fspath(folder)!r}."
            )
        spill = os.path.join(folder, f"bayesieve-{secrets.token_hex(8)}.spill")
        self._class_count = np.zeros(self.n_classes)
        self._native = _core.TextCounter(
            options.plan,
            self.n_classes,
            thread_count(n_jobs),
            int(memory_budget or 0),
            os.fspath(spill),
            options.binary,
            _pending,
        )
        self._state = "open"

    def _use(self) -> None:
        if self._state != "open":
            why = "an earlier batch failed"
            if self._state == "finished":
                why = "its counts have been taken"
            raise RuntimeError(f"The counter can no longer be used: {why}.")

    def add(self, texts: Any, codes: Any) -> None:
        """Count texts of the classes `codes`; -1 leaves a text out, whatever it is."""
        self._use()
        texts = sized(texts)
        codes = check_codes(codes, len(texts), self.n_classes)
        self._state = "failed"
        for data, offsets, rows in packed(texts, codes, self._errors):
            own = codes[rows]
            if self.options.is_compiled:
                self._native.add(data, offsets, own)
            else:
                cut = self.options.cut_words(data, offsets, own)
                for words, ends, starts, part in cut:
                    self._native.add_words(words, ends, starts, own[part])
        self._class_count += np.bincount(codes[codes >= 0], minlength=self.n_classes)
        self._state = "open"

    @property
    def nbytes(self) -> int:
        """Bytes that records and tables take now."""
        self._use()
        return int(self._native.nbytes)

    @property
    def spilled_bytes(self) -> int:
        """Bytes written to temporary files so far."""
        self._use()
        return int(self._native.spilled_bytes)

    def finish(self, dense_cells: int) -> TermTables:
        """Return the counts, terms sorted; the counter can no longer be used.

        Tables of more cells than `dense_cells` are sparse, unless of two classes.
        """
        self._use()
        self._state = "finished"
        data, offsets, count, documents, *places = self._native.finish(dense_cells)
        names = TermNames(data, offsets)
        names.__dict__["is_sorted"] = True
        if places:
            start, code = places
            shape = (self.n_classes, len(names))
            count = sparse.csc_array((count, code, start), shape=shape)
            documents = sparse.csc_array((documents, code, start), shape=shape)
        return TermTables(names, self._class_count, count, documents)
