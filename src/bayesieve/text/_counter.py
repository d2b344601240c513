"""From texts to class counts of terms, without a document-term matrix."""

from __future__ import annotations

import os
import secrets
import tempfile
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve import _core
from bayesieve.counts import _parts
from bayesieve.counts._term_names import TermNames
from bayesieve.text._counts import TextCounts
from bayesieve.text._matching import TermMatcher, document_terms, tfidf_sums
from bayesieve.text._options import TextOptions
from bayesieve.text._packing import (
    available_threads,
    check_codes,
    is_whole,
    packed,
    sized,
)

__all__ = [
    "TermMatcher",
    "TextCounter",
    "TextCounts",
    "TextOptions",
    "count_text",
    "document_terms",
    "tfidf_sums",
]


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
    >>> from bayesieve.text._counter import TextCounter
    >>> from bayesieve.text._options import TextOptions
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
        if not is_whole(n_classes) or n_classes < 1:
            raise ValueError(f"'n_classes' must be an int >= 1. Got {n_classes!r}.")
        if memory_budget is not None and not (
            is_whole(memory_budget) and memory_budget >= 1
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
                cut = self.options.cut_words(data, offsets, own)
                for words, ends, starts, part in cut:
                    self._native.add_words(words, ends, starts, own[part])
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
