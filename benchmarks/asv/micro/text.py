"""Texts to class counts, and texts to a model."""

from __future__ import annotations

from inspect import signature

from bayesieve import ClassCounts, SparseTextNB
from micro import made_data
from micro.made_data import Micro

# Older versions, which these timings are compared with, had a name of their own.
PARAMETERS = signature(ClassCounts.from_text).parameters
N_JOBS = "n_jobs" if "n_jobs" in PARAMETERS else "threads"


class Counting(Micro):
    """Count the terms of texts of a hundred words by class."""

    params = ([1_000, 10_000], [(1, 1), (1, 2)], [1, 2])
    param_names = ("texts", "n-grams", "threads")

    def setup(self, texts: int, ngrams: tuple[int, int], threads: int) -> None:
        self.texts, self.y = made_data.texts_of(texts)

    def count(self, ngrams: tuple[int, int], threads: int) -> None:
        batches = iter([(self.texts, self.y)])
        ClassCounts.from_text(batches, ngram_range=ngrams, **{N_JOBS: threads})

    def time_count(self, texts: int, ngrams: tuple[int, int], threads: int) -> None:
        self.count(ngrams, threads)

    def peakmem_count(self, texts: int, ngrams: tuple[int, int], threads: int) -> None:
        self.count(ngrams, threads)


class TextModel(Micro):
    """Fit the text classifier, by likelihood alone and with weights."""

    params = ([1_000, 10_000], [False, True])
    param_names = ("texts", "weights")

    def setup(self, texts: int, weights: bool) -> None:
        self.texts, self.y = made_data.texts_of(texts)

    def time_fit(self, texts: int, weights: bool) -> None:
        SparseTextNB(k=500, weights=weights).fit(self.texts, self.y)
