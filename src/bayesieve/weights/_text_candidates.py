"""N-grams of a column of texts: counted by class, screened, found again in rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.counts import ClassCounts
from bayesieve.counts._layout import laid_out
from bayesieve.counts._selection import document_frequency, keep_all, prune
from bayesieve.counts._texts import count_texts
from bayesieve.text._matching import TermMatcher
from bayesieve.text._options import TextOptions
from bayesieve.text._term_names import TermNames
from bayesieve.utils._computed_once import computed_once
from bayesieve.weights._candidate_columns import first_of_equals
from bayesieve.weights._candidates import candidate_number, screen
from bayesieve.weights._terms import Array

__all__ = [
    "NGrams",
    "TextRule",
    "count_ngrams",
    "distinct_ngrams",
    "screen_ngrams",
    "within_limits",
]

_ALPHA = 1.0  # added to every count, as in the models of texts alone
_ROWS = 100_000  # texts whose rows of n-grams are made in one go


@dataclass(frozen=True)
class TextRule:
    """How a column of texts is cut into n-grams, and which of them count.

    `min_df` and `max_df` are those of CountVectorizer.
    """

    options: TextOptions
    min_df: float = 1
    max_df: float = 1.0


@dataclass(frozen=True, eq=False)
class NGrams:
    """Some n-grams of a column, and what is known of all of them.

    Attributes
    ----------
    names : TermNames
        Sorted.
    options : TextOptions
    counts : ndarray of shape (n_classes, n_ngrams)
        How often each one was met in each class.
    totals : ndarray of shape (n_classes,)
        How often any n-gram of the column was met, these or others.
    n_distinct : int
        Distinct n-grams of the column.
    documents : ndarray of shape (n_ngrams,) or None
        Texts that have each one, where that is known.
    """

    names: TermNames
    options: TextOptions
    counts: Array
    totals: Array
    n_distinct: int
    documents: Array | None = None

    @computed_once
    def slope(self) -> Array:
        """``ln theta_cj`` of shape (n_ngrams, n_classes), less its mean over classes.

        theta is the smoothed share of an n-gram among all of a class. A class without
        any text says nothing: its slopes are the mean of the others.
        """
        known = self.totals > 0.0
        if not known.any():
            return np.zeros(self.counts.T.shape)
        smoothed = np.log(self.counts + _ALPHA)
        logs = (smoothed - np.log(self.totals + _ALPHA * self.n_distinct)[:, None]).T
        logs = logs - logs[:, known].mean(axis=1, keepdims=True)
        logs[:, ~known] = 0.0
        return np.ascontiguousarray(logs)

    @computed_once
    def matcher(self) -> TermMatcher:
        """Finds these n-grams in texts."""
        return TermMatcher(self.names, self.options)

    def rows(self, texts: Sequence[str]) -> Any:
        """Counts of these n-grams in each text, a csr_array."""
        return self.matcher.rows(texts)

    def take(self, chosen: Array) -> NGrams:
        """Some of them, in their order."""
        names = self.names[chosen]
        assert isinstance(names, TermNames)
        documents = None if self.documents is None else self.documents[chosen]
        counts = self.counts[:, chosen]
        return replace(self, names=names, counts=counts, documents=documents)

    def sizes(self, weights: Array, class_count: Array) -> Array:
        """Mean size of each weighted term over the rows, in nats."""
        total = float(class_count.sum())
        lift = self.slope - (self.slope @ (class_count / total))[:, None]
        sizes = (self.counts.T * np.abs(lift)).sum(axis=1)
        return np.asarray(weights * sizes / total)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made again when it is needed."""
        state = self.__dict__.copy()
        for name in ("matcher", "slope"):
            state.pop(name, None)
        return state


def count_ngrams(
    texts: Sequence[str],
    codes: Array,
    weight: Array | None,
    classes: Array,
    rule: TextRule,
) -> ClassCounts:
    """Counts by class of all n-grams of texts within `min_df` and `max_df`.

    A weight of 2 is the same text twice.
    """
    counts = count_texts(ClassCounts, texts, codes, classes, rule.options)
    counts = counts._with(kind="count")
    if weight is not None:
        counts = _weighted(counts, texts, codes, weight, rule.options)
    return within_limits(counts, rule)


def within_limits(counts: ClassCounts, rule: TextRule) -> ClassCounts:
    """The n-grams within `min_df` and `max_df`; none where there are too few texts."""
    if not counts.n_features or keep_all(rule.min_df, rule.max_df):
        return counts
    few = isinstance(rule.min_df, Integral) and rule.min_df > counts.class_count.sum()
    return counts.select([]) if few else prune(counts, rule.min_df, rule.max_df)


def _weighted(
    counts: ClassCounts,
    texts: Sequence[str],
    codes: Array,
    weight: Array,
    options: TextOptions,
) -> ClassCounts:
    """The counts of the same n-grams with weights of the texts."""
    names = counts.feature_names
    assert isinstance(names, TermNames)
    matcher = TermMatcher(names, options)
    shape = (counts.n_classes, counts.n_features)
    total, documents = sparse.csr_array(shape), sparse.csr_array(shape)
    for first in range(0, len(texts), _ROWS):
        part = slice(first, first + _ROWS)
        rows = matcher.rows(texts[part])
        n_rows = rows.shape[0]
        by_class = sparse.csr_array(
            (weight[part], (codes[part], np.arange(n_rows))),
            shape=(counts.n_classes, n_rows),
        )
        total = total + by_class @ rows
        rows.data = np.ones_like(rows.data)
        documents = documents + by_class @ rows
    return counts._with(
        class_count=np.bincount(codes, weight, counts.n_classes),
        feature_count=laid_out(total),
        document_count=laid_out(documents),
    )


def screen_ngrams(
    counts: ClassCounts, options: TextOptions, k: int | None, owner: str
) -> NGrams:
    """The n-grams of largest certified gain, as many as the wide models look at."""
    size = candidate_number("auto", k, counts.n_features)
    columns = np.arange(0)
    if counts.n_features:
        columns = screen(
            counts, size, model="multinomial", alpha=_ALPHA, owner=owner
        ).columns
    table = counts.feature_count
    assert isinstance(counts.feature_names, TermNames)
    names = counts.feature_names[columns]
    assert isinstance(names, TermNames)
    own = table[:, columns]
    return NGrams(
        names,
        options,
        own if isinstance(own, np.ndarray) else own.toarray(),
        np.asarray(table.sum(axis=1), dtype=np.float64).reshape(-1),
        counts.n_features,
        document_frequency(counts)[columns],
    )


def distinct_ngrams(found: NGrams, rows: Any) -> tuple[NGrams, Any]:
    """Of n-grams that are the same in every row the first, and their rows by columns.

    Copies would share one weight in any way at all.
    """
    block = rows.tocsc()
    kept = first_of_equals(block)
    if kept.size == len(found.names):
        return found, block
    return found.take(kept), block[:, kept]
