"""Texts of a table: rules of their columns, rows for the solver, n-grams in use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from bayesieve.counts._selection import check_limits
from bayesieve.model_selection._text_penalty import choose_text_penalty, even_folds
from bayesieve.naive_bayes._class_weight import count_by_class
from bayesieve.naive_bayes._weighted import log_prior_of
from bayesieve.preprocessing._prepare import log_likelihood_tables
from bayesieve.text._options import TextOptions
from bayesieve.utils._computed_once import computed_once
from bayesieve.utils._scripts import default_analyzer
from bayesieve.weights._joint_solver import JointRows, side_by_side
from bayesieve.weights._result import Progress
from bayesieve.weights._text_candidates import (
    NGrams,
    TextRule,
    count_ngrams,
    distinct_ngrams,
    screen_ngrams,
)

__all__ = ["TextTable", "WeightedNGrams", "check_text_options", "text_rule"]

_LIMITS = ("min_df", "max_df")


def check_text_options(given: Any, owner: str) -> dict[str, Any]:
    """The options of texts as a dict; wrong ones are refused."""
    options = {} if given is None else dict(given)
    known = [*(own.name for own in fields(TextOptions)), *_LIMITS]
    for name in options:
        if name not in known:
            raise ValueError(
                f"The 'text_options' parameter of {owner} must have keys among "
                f"{', '.join(known)}. Got {name!r}."
            )
    limits = {name: options.pop(name) for name in _LIMITS if name in options}
    check_limits(limits.get("min_df", 1), limits.get("max_df", 1.0), None)
    TextOptions(**options)
    return options | limits


def text_rule(options: Mapping[str, Any], texts: Sequence[str]) -> TextRule:
    """The rule of a column: what the user says, else what suits its script."""
    own = dict(options)
    limits = {name: own.pop(name) for name in _LIMITS if name in own}
    if "analyzer" not in own:
        analyzer, ngram_range = default_analyzer(texts)
        own = {"analyzer": analyzer, "ngram_range": ngram_range} | own
    return TextRule(TextOptions(**own), **limits)


@dataclass(frozen=True, eq=False)
class TextTable:
    """Training rows of a table with texts, before anything is counted.

    Attributes
    ----------
    parts : ndarray of shape (n_rows, n_columns)
        Parts of the columns that say something.
    n_parts : list of int
    texts : list of lists of str
    rules : list of TextRule
        One for each list of texts.
    codes, weight, classes
        Class of each row, its weight (None: all one), and the labels.
    k : int or None
        Wanted number of terms.
    owner : str
        For messages.
    class_factors : ndarray of shape (n_classes,) or None
        How many times a row of each class counts where errors are judged; counts and
        tables are those of the rows with their weights.
    known_tables : list of ndarray, optional
        Log-likelihoods of the parts where they do not depend on which rows are taken:
        those with each row left out of its own.
    """

    parts: np.ndarray
    n_parts: Sequence[int]
    texts: Sequence[Sequence[str]]
    rules: Sequence[TextRule]
    codes: np.ndarray
    weight: np.ndarray | None
    classes: np.ndarray
    k: int | None
    owner: str
    class_factors: np.ndarray | None = None
    known_tables: Sequence[np.ndarray] | None = None

    def take(self, rows: np.ndarray) -> TextTable:
        """Some of the rows."""
        places = rows.tolist()
        return replace(
            self,
            parts=self.parts[rows],
            texts=[[column[row] for row in places] for column in self.texts],
            codes=self.codes[rows],
            weight=None if self.weight is None else self.weight[rows],
        )

    @computed_once
    def class_count(self) -> np.ndarray:
        """Weight of the rows of each class."""
        found = np.bincount(self.codes, self.weight, self.classes.shape[0])
        return found.astype(np.float64)

    def tables(self) -> list[np.ndarray]:
        """Log-likelihoods of the parts: known ones, or by these rows alone."""
        if self.known_tables is not None:
            return list(self.known_tables)
        n_classes = self.classes.shape[0]
        counts = []
        for k, n_parts in enumerate(self.n_parts):
            cells = self.parts[:, k].astype(np.int64) * n_classes + self.codes
            counted = np.bincount(cells, self.weight, n_parts * n_classes)
            counts.append(counted.reshape(-1, n_classes))
        return log_likelihood_tables(counts, self.class_count)

    def ngrams(self) -> list[NGrams]:
        """Candidates of each text column, by these rows alone."""
        found = []
        for texts, rule in zip(self.texts, self.rules, strict=True):
            counts = count_ngrams(texts, self.codes, self.weight, self.classes, rule)
            found.append(screen_ngrams(counts, rule.options, self.k, self.owner))
        return found

    def rows(
        self,
        tables: Sequence[np.ndarray],
        ngrams: Sequence[NGrams],
        log_prior: np.ndarray | None = None,
        blocks: Sequence[Any] | None = None,
    ) -> JointRows:
        """The rows as the solver takes them."""
        if blocks is None:
            pairs = zip(ngrams, self.texts, strict=True)
            blocks = [own.rows(texts) for own, texts in pairs]
        n_classes = self.classes.shape[0]
        return JointRows(
            self.parts,
            tables,
            side_by_side(blocks, self.codes.shape[0]),
            np.vstack([np.empty((0, n_classes)), *(own.slope for own in ngrams)]),
            self.codes,
            count_by_class(self.weight, self.class_factors, self.codes),
            log_prior_of(self.class_count, self.class_factors)
            if log_prior is None
            else log_prior,
        )

    def training_rows(
        self,
        tables: Sequence[np.ndarray] | None = None,
        ngrams: Sequence[NGrams] | None = None,
        log_prior: np.ndarray | None = None,
    ) -> tuple[JointRows, list[NGrams]]:
        """The rows with their candidates; of n-grams that are the same, the first."""
        found, blocks = [], []
        for own, texts in zip(
            self.ngrams() if ngrams is None else ngrams, self.texts, strict=True
        ):
            distinct, block = distinct_ngrams(own, own.rows(texts))
            found.append(distinct)
            blocks.append(block)
        tables = self.tables() if tables is None else tables
        return self.rows(tables, found, log_prior, blocks), found

    def chosen_penalty(
        self,
        column_slope: np.ndarray,
        progress: Progress,
        tell: Callable[[int, str], None] | None = None,
    ) -> float:
        """Penalty of each n-gram, by its loss on rows that were not fitted.

        Half the logarithm of the rows, what BIC asks of a parameter, where there are
        too few rows or too little time for that.
        """
        total = float(self.class_count.sum())
        few = 0.5 * float(np.log(max(total, 2.0)))
        folds = []
        for test in even_folds(self.codes):
            train = np.setdiff1d(np.arange(self.codes.shape[0]), test)
            if test.size < 2 or np.unique(self.codes[train]).size < 2:
                return few
            own = self.take(train)
            rows, ngrams = own.training_rows()
            judged = self.take(test).rows(rows.tables, ngrams, rows.log_prior)
            folds.append((rows, judged))
        return choose_text_penalty(folds, column_slope, progress, few, tell)


@dataclass(frozen=True, eq=False)
class WeightedNGrams:
    """The n-grams of one text column that have a weight.

    Attributes
    ----------
    column : int
        Number of the column in the table.
    ngrams : NGrams
    weights : ndarray of shape (n_ngrams,)
        In (0, 1].
    """

    column: int
    ngrams: NGrams
    weights: np.ndarray

    @classmethod
    def from_weights(
        cls, columns: Sequence[int], found: Sequence[NGrams], weights: np.ndarray
    ) -> list[WeightedNGrams]:
        """Those with a weight, from the weights of all candidates one after another."""
        ends = np.cumsum([len(own.names) for own in found])[:-1]
        kept = []
        for column, own, w in zip(columns, found, np.split(weights, ends), strict=True):
            used = np.flatnonzero(w)
            kept.append(cls(int(column), own.take(used), w[used]))
        return kept

    @property
    def terms(self) -> list[str]:
        """The n-grams, sorted."""
        return self.ngrams.names.tolist()

    def scores(self, texts: Sequence[str]) -> np.ndarray:
        """What they add to the score of each class, of shape (n_rows, n_classes)."""
        slope = self.weights[:, None] * self.ngrams.slope
        return np.asarray(self.ngrams.rows(texts) @ slope)

    def sizes(self, class_count: np.ndarray) -> np.ndarray:
        """Mean size of each term in the scores, in nats."""
        return self.ngrams.sizes(self.weights, class_count)

    def options(self) -> dict[str, Any]:
        """How the texts are cut, as plain values."""
        return asdict(self.ngrams.options)
