"""`TextCounts`: what is kept of texts, and how it is merged and pruned."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve import _core
from bayesieve.counts._parts import Array, is_dense_layout, laid_out
from bayesieve.counts._term_names import TermNames


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
        return TextCounts(
            names,
            merged_tables(self.count, own, other.count, others, width),
            merged_tables(
                self.document_count, own, other.document_count, others, width
            ),
            self.n_documents + other.n_documents,
        )

    def selected(self, columns: Any) -> TextCounts:
        """Return the counts of some terms: positions, or a mask."""
        columns = np.asarray(columns)
        names = self.names[columns]
        assert isinstance(names, TermNames)
        return TextCounts(
            names,
            laid_out(self.count[:, columns]),
            laid_out(self.document_count[:, columns]),
            self.n_documents,
        )

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
        if low > total and max_df == 1.0:  # whose default is not to blame
            raise ValueError(
                f"min_df ({low:g}) must not be above the number of documents ({total})."
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


def merged_tables(a: Any, own: Array, b: Any, others: Array, width: int) -> Any:
    dense = not sparse.issparse(a) and not sparse.issparse(b)
    if dense and is_dense_layout(a.shape[0], width):
        return _core.merge_named_tables(a, own, b, others, width)
    parts = []
    for table, column in ((a, own), (b, others)):
        csc = sparse.csc_array(table)
        entries = np.zeros(width + 1, dtype=csc.indptr.dtype)
        entries[column + 1] = np.diff(csc.indptr)
        wide = (csc.data, csc.indices, np.cumsum(entries, dtype=csc.indptr.dtype))
        parts.append(sparse.csc_array(wide, shape=(table.shape[0], width)))
    return laid_out(parts[0] + parts[1])
