"""Probabilities of fitted models for new rows and new texts."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import bayesieve
from micro import made_data
from micro.made_data import SEED, Micro

COLUMNS = 100_000


@lru_cache(maxsize=1)
def fitted(model: str, k: int) -> Any:
    """Return a model of two classes, fitted on 20,000 rows."""
    X, y = made_data.rows_of(2, 20_000, COLUMNS)
    return getattr(bayesieve, model)(k=k).fit(X, y)


@lru_cache(maxsize=1)
def fitted_on_texts(weights: bool) -> Any:
    """Return the text classifier with 500 words, fitted on 5,000 texts."""
    texts, y = made_data.texts_of(5_000)
    return bayesieve.SparseTextNB(k=500, weights=weights).fit(texts, y)


class Rows(Micro):
    """Probabilities for rows of 100,000 columns."""

    params = (
        ["SparseMultinomialNB", "SparseBernoulliNB", "SelectiveMultinomialNB"],
        [10_000, 100_000],
        [100, 5_000],
    )
    param_names = ("model", "rows", "k")

    def setup(self, model: str, rows: int, k: int) -> None:
        self.model = fitted(model, k)
        self.X, _ = made_data.rows_of(2, rows, COLUMNS, seed=SEED + 1)

    def time_predict_proba(self, model: str, rows: int, k: int) -> None:
        self.model.predict_proba(self.X)


class Texts(Micro):
    """Probabilities for raw texts of a hundred words."""

    params = ([False, True], [1_000, 10_000])
    param_names = ("weights", "texts")

    def setup(self, weights: bool, texts: int) -> None:
        self.model = fitted_on_texts(weights)
        self.texts, _ = made_data.texts_of(texts)

    def time_predict_proba(self, weights: bool, texts: int) -> None:
        self.model.predict_proba(self.texts)
