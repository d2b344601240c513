"""From texts to class counts of terms, without a document-term matrix."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve import _core
from bayesieve.counts import _parts
from bayesieve.counts._parts import Array, laid_out
from bayesieve.counts._term_names import TermNames, pack
from bayesieve.counts._text_input import check_codes, packed, sized
from bayesieve.counts._text_options import TextOptions

__all__ = ["TextCounter", "TextCounts", "count_text"]

_REGEX_ROWS = 1 << 13


def available_threads(threads: int | None) -> int:
    """Return how many threads to use: those asked for, else one per processor."""
    if threads is None:
        if hasattr(os, "sched_getaffinity"):
            return max(1, len(os.sched_getaffinity(0)))
        return max(1, os.cpu_count() or 1)
    if not isinstance(threads, Integral) or threads < 1:
        raise ValueError(f"'threads' must be None or an int >= 1. Got {threads!r}.")
    return int(threads)


def cut_words(
    options: TextOptions, data: Array, offsets: Array, codes: Array
) -> Iterator[tuple[Array, Array, Array, slice]]:
    """Give the words that `re` finds, packed, for successive rows."""
    ends = offsets.tolist()
    words_of = options.words_of
    for first in range(0, len(ends) - 1, _REGEX_ROWS):
        rows = slice(first, min(first + _REGEX_ROWS, len(ends) - 1))
        blob = data[ends[rows.start] : ends[rows.stop]].tobytes()
        shift = ends[rows.start]
        found = [
            words_of(
                blob[ends[i] - shift : ends[i + 1] - shift].decode(
                    "utf-8", "surrogatepass"
                )
            )
            if codes[i] >= 0
            else []
            for i in range(rows.start, rows.stop)
        ]
        starts = np.zeros(len(found) + 1, dtype=np.int64)
        np.cumsum([len(words) for words in found], out=starts[1:])
        yield *pack(chain.from_iterable(found)), starts, rows


@dataclass(frozen=True, eq=False)
class TextCounts:
    """Counts of terms by class: all that is kept of the texts.

    Attributes
    ----------
    names : TermNames
        The terms, sorted.
    count : {ndarray, csc_array} of shape (n_classes, n_terms), float64
        Occurrences of each term in each class; with `binary`, the same as
        `document_count`. Laid out as `ClassCounts.feature_count`.
    document_count : {ndarray, csc_array} of shape (n_classes, n_terms), float64
        Number of documents of each class that have the term.
    n_documents : ndarray of shape (n_classes,), int64
        Number of documents of each class, empty ones included.
    """

    names: TermNames
    count: Any
    document_count: Any
    n_documents: Array

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.n_documents.size)

    @property
    def document_frequency(self) -> Array:
        """Number of documents with each term, of all classes."""
        return np.asarray(self.document_count.sum(axis=0)).ravel()

    def merge(self, other: TextCounts) -> TextCounts:
        """Return the counts of both sets of documents; O(terms of both)."""
        if self.n_classes != other.n_classes:
            raise ValueError(
                "Text counts can be merged when they have the same classes. Got "
                f"{self.n_classes} and {other.n_classes} classes."
            )
        names, own, others = TermNames.merge(self.names, other.names)
        width = len(names)
        tables = [
            _merged(a, own, b, others, width)
            for a, b in (
                (self.count, other.count),
                (self.document_count, other.document_count),
            )
        ]
        return TextCounts(names, *tables, self.n_documents + other.n_documents)

    def selected(self, columns: Any) -> TextCounts:
        """Return the counts of some terms: positions, or a mask."""
        columns = np.asarray(columns)
        tables = [
            laid_out(table[:, columns]) for table in (self.count, self.document_count)
        ]
        names = self.names[columns]
        assert isinstance(names, TermNames)
        return TextCounts(names, *tables, self.n_documents)

    def pruned(
        self,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
    ) -> TextCounts:
        """Return the counts of the terms that CountVectorizer would keep.

        Integers are numbers of documents and floats shares of all documents. Ties at
        `max_features` are cut as CountVectorizer cuts them.
        """
        total = int(self.n_documents.sum())
        low = _document_limit("min_df", min_df, total)
        high = _document_limit("max_df", max_df, total)
        if max_features is not None and (
            not isinstance(max_features, Integral) or max_features < 1
        ):
            raise ValueError(
                f"'max_features' must be None or an int >= 1. Got {max_features!r}."
            )
        if high < low:
            raise ValueError(
                f"max_df ({high:g} documents) must not be below min_df ({low:g})."
            )
        frequency = self.document_frequency
        mask = (frequency >= low) & (frequency <= high)
        if max_features is not None and mask.sum() > max_features:
            uses = np.asarray(self.count.sum(axis=0)).ravel().astype(np.int64)
            kept = (-uses[mask]).argsort()[:max_features]
            kept = np.flatnonzero(mask)[kept]
            mask = np.zeros(mask.size, dtype=bool)
            mask[kept] = True
        return self if mask.all() else self.selected(mask)


def _document_limit(name: str, value: float, total: int) -> float:
    if isinstance(value, Integral) and value >= 0:
        return int(value)
    if isinstance(value, float | np.floating) and 0.0 <= value <= 1.0:
        return float(value) * total
    raise ValueError(
        f"{name!r} must be a number of documents (int) or a share in [0, 1] (float). "
        f"Got {value!r}."
    )


def _merged(a: Any, own: Array, b: Any, others: Array, width: int) -> Any:
    if not sparse.issparse(a) and not sparse.issparse(b):
        if _parts.is_dense_layout(a.shape[0], width):
            return _core.merge_named_tables(a, own, b, others, width)
    parts = []
    for table, column in ((a, own), (b, others)):
        csc = sparse.csc_array(table)
        entries = np.zeros(width + 1, dtype=csc.indptr.dtype)
        entries[column + 1] = np.diff(csc.indptr)
        wide = (csc.data, csc.indices, np.cumsum(entries, dtype=csc.indptr.dtype))
        parts.append(sparse.csc_array(wide, shape=(table.shape[0], width)))
    return laid_out(parts[0] + parts[1])


class TextCounter:
    """Counts the terms of texts by class, batch after batch, in bounded memory.

    Exact, and equal term by term to CountVectorizer followed by class sums; the result
    does not depend on threads, batches or the budget. An error leaves the counter
    unusable, as part of the batch may have been counted.

    Parameters
    ----------
    options : TextOptions
        How texts become terms.
    n_classes : int
        Number of classes.
    threads : int, default=None
        Number of threads; None for one per processor.
    memory_budget : int, default=None
        Bytes for records and tables; beyond, tables go to temporary files and are
        gathered in the end. The dictionary of distinct words is not written out, and
        the result itself comes on top. None: no limit.
    spill_folder : path-like, default=None
        Where temporary files go; None for the system's folder. They are removed
        however the process ends.
    decode_error : {"strict", "ignore", "replace"}, default="strict"
        What to do about bytes that are not UTF-8.

    Notes
    -----
    Time O(characters + terms log terms); memory O(distinct terms), about 30 bytes for
    each (term, class), plus 0.1 GB of records.

    Examples
    --------
    >>> from bayesieve.counts._text_counter import TextCounter
    >>> from bayesieve.counts._text_options import TextOptions
    >>> counter = TextCounter(TextOptions(), 2)
    >>> counter.add(["To be, or not to be", "that is not it"], [0, 1])
    >>> counts = counter.finish()
    >>> counts.names.tolist()
    ['be', 'is', 'it', 'not', 'or', 'that', 'to']
    >>> counts.count
    array([[2., 0., 0., 1., 1., 0., 2.],
           [0., 1., 1., 1., 0., 1., 0.]])
    """

    def __init__(
        self,
        options: TextOptions,
        n_classes: int,
        *,
        threads: int | None = None,
        memory_budget: int | None = None,
        spill_folder: Any = None,
        decode_error: str = "strict",
        _pending: int = 0,
    ) -> None:
        if not isinstance(n_classes, Integral) or n_classes < 1:
            raise ValueError(f"'n_classes' must be an int >= 1. Got {n_classes!r}.")
        if memory_budget is not None and not (
            isinstance(memory_budget, Integral) and memory_budget >= 1
        ):
            raise ValueError(
                "'memory_budget' must be None or a number of bytes (int >= 1). Got "
                f"{memory_budget!r}."
            )
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
        self._n_documents = np.zeros(self.n_classes, dtype=np.int64)
        self._native = _core.TextCounter(
            options.plan,
            self.n_classes,
            available_threads(threads),
            int(memory_budget or 0),
            os.fspath(spill),
            options.binary,
            _pending,
        )
        self._state = "open"

    def _use(self) -> None:
        if self._state != "open":
            raise RuntimeError(
                "The counter can no longer be used: "
                + (
                    "its counts have been taken."
                    if self._state == "finished"
                    else "an earlier batch failed."
                )
            )

    def add(self, texts: Any, codes: Any) -> None:
        """Count a batch of texts.

        Parameters
        ----------
        texts : sequence of str or bytes, Arrow array, or Series
            Arrow's strings are read in place.
        codes : array-like of int, one for each text
            Class of each text; -1 leaves the text out, whatever it is.
        """
        self._use()
        texts = sized(texts)
        codes = check_codes(codes, len(texts), self.n_classes)
        self._state = "failed"
        for data, offsets, rows in packed(texts, codes, self._errors):
            own = codes[rows]
            if self.options.is_compiled:
                self._native.add(data, offsets, own)
            else:
                for *words, part in cut_words(self.options, data, offsets, own):
                    self._native.add_words(*words, own[part])
        self._n_documents += np.bincount(codes[codes >= 0], minlength=self.n_classes)
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

    def finish(self) -> TextCounts:
        """Return the counts, terms sorted; the counter can no longer be used."""
        self._use()
        self._state = "finished"
        data, offsets, count, documents, *places = self._native.finish(
            _parts.DENSE_CELLS
        )
        names = TermNames(data, offsets)
        names.__dict__["is_sorted"] = True
        if places:
            start, code = places
            shape = (self.n_classes, len(names))
            count = sparse.csc_array((count, code, start), shape=shape)
            documents = sparse.csc_array((documents, code, start), shape=shape)
        return TextCounts(names, count, documents, self._n_documents)


def count_text(
    texts: Any, codes: Any, n_classes: int, options: TextOptions, **keywords: Any
) -> TextCounts:
    """Return the counts of one batch of texts; see `TextCounter`."""
    counter = TextCounter(options, n_classes, **keywords)
    counter.add(texts, codes)
    return counter.finish()
