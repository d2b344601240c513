"""The texts of a stream: n-grams counted in bounded memory, and those of the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayesieve.counts import ClassCounts
from bayesieve.counts._selection import document_frequency
from bayesieve.naive_bayes._text_terms import WeightedNGrams
from bayesieve.text._term_names import TermNames
from bayesieve.weights._text_candidates import (
    NGrams,
    TextRule,
    count_ngrams,
    screen_ngrams,
    within_limits,
)

__all__ = ["TextMemory"]

#: N-grams of a column whose counts are kept; twice as many for a while.
_MOST = 1 << 17
#: Rows that wait to be counted together: a table is merged once for all of them.
_WAITING = 1000

#: Texts, class codes and weights of some rows.
_Rows = tuple[list[str], np.ndarray, np.ndarray]


class _ColumnMemory:
    """Counts of one column: of n-grams in many texts, and of all others together."""

    def __init__(self, rule: TextRule, classes: np.ndarray) -> None:
        self.rule, self.classes = rule, classes
        self.counts: ClassCounts | None = None
        self.waiting: list[_Rows] = []
        self.dropped = np.zeros(classes.shape[0])
        self.n_dropped = 0
        self.is_new = False  # whether rows were counted since a model looked

    def start_from(self, ngrams: NGrams, class_count: np.ndarray) -> None:
        """Go on from the n-grams of a model; of all others it knows the sum."""
        self.counts = ClassCounts(
            self.classes,
            class_count,
            ngrams.counts,
            feature_names=ngrams.names,
            document_count=ngrams.counts,
        )
        self.dropped = np.maximum(ngrams.totals - ngrams.counts.sum(axis=1), 0.0)
        self.n_dropped = ngrams.n_distinct - len(ngrams.names)

    def fade(self, share: float) -> None:
        """Multiply all counts."""
        if self.counts is not None:
            self.counts = self.counts.scaled(share)
        self.dropped *= share
        self.waiting = [
            (texts, codes, share * weight) for texts, codes, weight in self.waiting
        ]

    def add(self, texts: list[str], codes: np.ndarray, weight: np.ndarray) -> None:
        """Take rows, which are counted together with others."""
        self.waiting.append((texts, codes, weight))
        if sum(len(texts) for texts, _, _ in self.waiting) >= _WAITING:
            self.settle()

    def settle(self) -> None:
        """Count the rows that wait."""
        if not self.waiting:
            return
        texts = [text for own, _, _ in self.waiting for text in own]
        codes = np.concatenate([codes for _, codes, _ in self.waiting])
        weight = np.concatenate([weight for _, _, weight in self.waiting])
        plain = TextRule(self.rule.options)
        own = None if (weight == 1.0).all() else weight
        counts = count_ngrams(texts, codes, own, self.classes, plain)
        self.counts = counts if self.counts is None else self.counts + counts
        self.waiting, self.is_new = [], True
        if self.counts.n_features > 2 * _MOST:
            self._drop_rare()

    def _drop_rare(self) -> None:
        assert self.counts is not None
        frequency = document_frequency(self.counts)
        order = np.argsort(-frequency, kind="stable")
        kept = self.counts.select(np.sort(order[:_MOST]))
        self.dropped += _totals(self.counts) - _totals(kept)
        self.n_dropped += self.counts.n_features - _MOST
        self.counts = kept

    def candidates(self, k: int | None, owner: str) -> NGrams:
        """N-grams of largest gain, by the counts of all rows so far."""
        self.settle()
        assert self.counts is not None  # some rows have come
        kept = within_limits(self.counts, self.rule)
        found = screen_ngrams(kept, self.rule.options, k, owner)
        return replace(
            found,
            totals=np.maximum(found.totals + self.dropped, 0.0),
            n_distinct=found.n_distinct + self.n_dropped,
            documents=None,  # a stream may go on from counts without any
        )

    def updated(self, ngrams: NGrams) -> NGrams:
        """The same n-grams with the counts of the rows that were counted so far."""
        counts = self.counts
        if counts is None or not self.is_new:
            return ngrams
        self.is_new = False
        names = counts.feature_names
        assert isinstance(names, TermNames)
        at = names.index_of(ngrams.names)
        there = np.flatnonzero(at >= 0)
        table = np.zeros_like(ngrams.counts)
        own = counts.feature_count[:, at[there]]
        table[:, there] = own if isinstance(own, np.ndarray) else own.toarray()
        kept = within_limits(counts, self.rule)
        return NGrams(
            ngrams.names,
            ngrams.options,
            table,
            np.maximum(_totals(kept) + self.dropped, 0.0),
            kept.n_features + self.n_dropped,
        )


def _totals(counts: ClassCounts) -> np.ndarray:
    sums = counts.feature_count.sum(axis=1)
    return np.asarray(sums, dtype=np.float64).reshape(-1)


class TextMemory:
    """Texts of the window, and counts of the n-grams of all rows so far.

    At most 2**18 n-grams of a column are counted one by one: of more, those in fewest
    texts are counted together from then on, and begin anew when they come again.

    Parameters
    ----------
    rules : list of TextRule
        One for each text column.
    classes : ndarray of shape (n_classes,)
    window : int
    """

    def __init__(
        self, rules: Sequence[TextRule], classes: np.ndarray, window: int
    ) -> None:
        self.rules, self.classes = list(rules), classes
        self.window: list[list[str]] = [[""] * window for _ in rules]
        self._columns = [_ColumnMemory(rule, classes) for rule in rules]
        self.penalty: float | None = None  # of an n-gram, as it was chosen last

    def start_from(
        self, texts: Sequence[WeightedNGrams], class_count: np.ndarray
    ) -> None:
        """Go on from a model that was fitted at once."""
        for column, own in zip(self._columns, texts, strict=True):
            column.start_from(own.ngrams, class_count)

    def add(
        self,
        texts: Sequence[list[str]],
        codes: np.ndarray,
        weight: np.ndarray | None,
        fading: tuple[float, np.ndarray] | None,
    ) -> None:
        """Count new rows; older ones fade."""
        weight = np.ones(codes.shape[0]) if weight is None else weight
        if fading is not None:
            weight = weight * fading[1]
        for column, own in zip(self._columns, texts, strict=True):
            if fading is not None:
                column.fade(fading[0])
            column.add(own, codes, weight)

    def remember(
        self, texts: Sequence[list[str]], taken: slice, places: np.ndarray
    ) -> None:
        """Put texts in the window."""
        for window, own in zip(self.window, texts, strict=True):
            for place, text in zip(places.tolist(), own[taken], strict=True):
                window[place] = text

    def begin_with(
        self,
        places: np.ndarray,
        codes: np.ndarray,
        weight: np.ndarray,
        fading: tuple[float, np.ndarray] | None,
    ) -> None:
        """Forget all but some rows of the window, which move to its front."""
        kept = [[window[place] for place in places.tolist()] for window in self.window]
        for window, own in zip(self.window, kept, strict=True):
            window[: len(own)] = own
        self._columns = [_ColumnMemory(rule, self.classes) for rule in self.rules]
        self.add(kept, codes, weight, fading)

    def candidates(self, k: int | None, owner: str) -> list[NGrams]:
        """Screened n-grams of each column."""
        return [column.candidates(k, owner) for column in self._columns]

    def updated(self, texts: Sequence[WeightedNGrams]) -> list[WeightedNGrams]:
        """The n-grams in use with the counts so far."""
        pairs: Any = zip(texts, self._columns, strict=True)
        return [
            replace(own, ngrams=column.updated(own.ngrams)) for own, column in pairs
        ]
