"""Class sums of tf-idf values: a second scan of texts that were counted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bayesieve.counts._selection import document_frequency
from bayesieve.text._matching import TermMatcher
from bayesieve.text._options import TextOptions
from bayesieve.text._term_names import TermNames

if TYPE_CHECKING:
    from bayesieve.counts._table import ClassCounts


def tfidf_sums(
    batches: Iterable[tuple[Any, Any]],
    counts: ClassCounts,
    options: TextOptions,
    *,
    smooth_idf: bool = True,
    sublinear_tf: bool = False,
    norm: str | None = "l2",
    use_idf: bool = True,
    n_jobs: int | None = -1,
) -> Any:
    """Return the class sums of the values that TfidfVectorizer would give.

    `batches` are (texts, codes) of the documents that were counted, whose frequencies
    must be known first; terms may have been pruned since. The sums are laid out as
    `counts.feature_count`.
    """
    assert isinstance(counts.feature_names, TermNames)  # texts are counted so
    matcher = TermMatcher(counts.feature_names, options, n_jobs=n_jobs)
    idf = None
    if use_idf:
        frequency = document_frequency(counts) + float(smooth_idf)
        total = float(counts.class_count.sum()) + float(smooth_idf)
        idf = np.log(total / frequency) + 1.0
    table: Any = counts.feature_count
    if sparse.issparse(table):
        nothing = np.zeros_like(table.data), table.indices, table.indptr
        sums = sparse.csc_array(nothing, shape=table.shape)
    else:
        sums = np.zeros_like(table)
    for texts, codes in batches:
        matcher.add_weighted(
            texts,
            codes,
            sums,
            idf=idf,
            sublinear_tf=sublinear_tf,
            norm=norm,
            n_jobs=n_jobs,
        )
    return sums
