"""Known terms in texts: rows for prediction, and class sums of tf-idf values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve import _core
from bayesieve.counts._parts import Array
from bayesieve.counts._term_names import TermNames
from bayesieve.text._counts import TextCounts
from bayesieve.text._options import TextOptions
from bayesieve.text._packing import available_threads, check_codes, packed, sized

_NORMS = {None: 0, "l1": 1, "l2": 2}


class TermMatcher:
    """Finds given terms in texts; built once, used for many batches.

    Parameters
    ----------
    names : TermNames
        The terms; column `i` is `names[i]`. Terms that the options cannot give are
        never found. Of equal names the first one counts.
    options : TextOptions
        How texts become terms.
    threads : int, default=None
        Number of threads that build the table; None for one per processor.

    Notes
    -----
    Memory about 20 bytes a term, and the distinct words.
    """

    def __init__(
        self, names: TermNames, options: TextOptions, *, threads: int | None = None
    ) -> None:
        self.names = names
        self.options = options
        self._native = _core.TermMatcher(
            options.plan, names.data, names.offsets, available_threads(threads)
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
        threads: int | None = None,
        binary: bool | None = None,
        decode_error: str = "strict",
    ) -> Any:
        """Return the counts of the terms in each text, a csr_array of float64."""
        texts = sized(texts)
        count = available_threads(threads)
        binary = self.options.binary if binary is None else binary
        parts = [
            self._native.rows(data, offsets, words, count, binary)
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
        norm: int,
        threads: int,
        decode_error: str,
    ) -> None:
        """Add the tf-idf values of a batch to a (n_classes, n_terms) table."""
        texts = sized(texts)
        n_classes = sums.shape[0]
        codes = check_codes(codes, len(texts), n_classes)
        start = code = None
        flat = sums.data if sparse.issparse(sums) else sums.reshape(-1)
        if sparse.issparse(sums):
            start = sums.indptr.astype(np.int64, copy=False)
            code = sums.indices.astype(np.int32, copy=False)
        for data, offsets, words, rows in self._batches(texts, codes, decode_error):
            self._native.add_weighted(
                data,
                offsets,
                words,
                codes[rows],
                n_classes,
                idf,
                sublinear_tf,
                self.options.binary,
                norm,
                flat,
                start,
                code,
                threads,
            )


def document_terms(
    texts: Any,
    names: TermNames | TermMatcher,
    options: TextOptions,
    *,
    threads: int | None = None,
    binary: bool | None = None,
    decode_error: str = "strict",
) -> Any:
    """Return the counts of given terms in each text, a csr_array of float64.

    The same as CountVectorizer with that vocabulary. Pass a `TermMatcher` where many
    batches follow each other.
    """
    matcher = names if isinstance(names, TermMatcher) else TermMatcher(names, options)
    return matcher.rows(
        texts, threads=threads, binary=binary, decode_error=decode_error
    )


def inverse_document_frequency(counts: TextCounts, smooth_idf: bool = True) -> Array:
    """Return the idf of every term, as TfidfTransformer computes it."""
    frequency = counts.document_frequency + float(smooth_idf)
    total = float(counts.n_documents.sum()) + float(smooth_idf)
    return np.asarray(np.log(total / frequency) + 1.0)


def tfidf_sums(
    batches: Callable[[], Iterable[tuple[Any, Any]]],
    counts: TextCounts,
    options: TextOptions,
    *,
    smooth_idf: bool = True,
    sublinear_tf: bool = False,
    norm: str | None = "l2",
    use_idf: bool = True,
    threads: int | None = None,
    decode_error: str = "strict",
) -> Any:
    """Return the class sums of the values that TfidfVectorizer would give.

    A second scan of the texts, as document frequencies must be known first. The sums
    are formed in the order of the documents and do not depend on threads or batches.

    Parameters
    ----------
    batches : callable
        Gives an iterator of (texts, codes), the same documents as were counted.
    counts : TextCounts
        Counts of those documents; terms may have been pruned.
    options : TextOptions
        As they were counted.
    smooth_idf, sublinear_tf, norm, use_idf
        As for TfidfVectorizer.
    threads : int, default=None
        Number of threads; None for one per processor.
    decode_error : {"strict", "ignore", "replace"}, default="strict"
        As it was counted.

    Returns
    -------
    {ndarray, csc_array} of shape (n_classes, n_terms), float64
        Laid out as `counts.count`.
    """
    if norm not in _NORMS:
        raise ValueError(f"'norm' must be 'l1', 'l2' or None. Got {norm!r}.")
    matcher = TermMatcher(counts.names, options, threads=threads)
    idf = inverse_document_frequency(counts, smooth_idf) if use_idf else None
    sums: Any
    if sparse.issparse(counts.count):
        pattern = counts.count
        sums = sparse.csc_array(
            (np.zeros_like(pattern.data), pattern.indices, pattern.indptr),
            shape=pattern.shape,
        )
    else:
        sums = np.zeros_like(counts.count)
    for texts, codes in batches():
        matcher.add_weighted(
            texts,
            codes,
            sums,
            idf=idf,
            sublinear_tf=sublinear_tf,
            norm=_NORMS[norm],
            threads=available_threads(threads),
            decode_error=decode_error,
        )
    return sums
