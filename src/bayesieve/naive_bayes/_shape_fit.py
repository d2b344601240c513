"""Fitting of averaged shapes: bins, leave-one-out terms, weights, pairs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayesieve.naive_bayes._class_weight import count_by_class
from bayesieve.naive_bayes._pair_search import (
    MOST_COLUMNS,
    ChosenPairs,
    PairRows,
    choose_pairs,
)
from bayesieve.naive_bayes._selective_search import SearchedNB
from bayesieve.naive_bayes._text_terms import TextTable
from bayesieve.naive_bayes._text_weighted import TextFit
from bayesieve.naive_bayes._weighted import log_prior_of
from bayesieve.partition._averaged import (
    FineBins,
    Shape,
    average_columns,
    class_shares,
)
from bayesieve.partition._pairs import Axis, PairShape
from bayesieve.preprocessing._prepare import bin_table, part_indexes
from bayesieve.preprocessing._table_input import LabelledRows
from bayesieve.weights import (
    ColumnPrior,
    Convex,
    PartTerms,
    WeightProblem,
    WeightResult,
    search,
)
from bayesieve.weights._search import spread, term_sizes
from bayesieve.weights._text_candidates import TextRule

__all__ = ["ShapeFittedNB", "ShapedRows", "leave_rows_out", "worth_a_term"]

#: A column that explains the classes worse than none by more nats than this has shapes
#: too flat to be worth a weight.
LEAST_EVIDENCE = -1.0
#: Leave-one-out tables have the square of this many numbers a bin, and are not made
#: where those of all columns were larger than a gigabyte.
_MOST_CLASSES = 64
_MOST_NUMBERS = 2**27
#: Cost of a pair in logarithms of the number of pairs looked at; of a column it is one.
#: With the usual regularization a weight of one costs a pair that logarithm in full.
_PAIR_PRICE = 10.0
#: How a search ends that was not broken off.
_ENDED = ("converged", "budget")
#: Largest derivative per row of weights that only serve to judge the next pairs.
_ROUGH = 1e-4


@dataclass(frozen=True, eq=False)
class ShapedRows:
    """Training rows by the bins of the columns that have a term.

    Attributes
    ----------
    fine : list of FineBins
        Of all columns.
    shapes : list of Shape
        Of all columns.
    columns : ndarray of shape (n_terms,)
        Columns that may have a weight.
    left_out : list of ndarray or None
        Of these columns, probabilities without each row, see `AveragedColumns`; None
        of very many classes.
    bins : ndarray of shape (n_rows, n_terms)
    codes, weights
        Class of each row, and its weight in the counts (None: all one).
    class_count, class_factors
        As in `PreparedRows`.
    share : float
        Share of these rows in all that the tables rest on; they bear that share of the
        penalty.
    pair_share : float
        The same of the tables of pairs; one where pairs are chosen by these rows.
    axes : mapping of int to Axis
        Of columns whose cells are settled: those of pairs that a stream counts.
    """

    fine: list[FineBins]
    shapes: list[Shape]
    columns: np.ndarray
    left_out: list[np.ndarray] | None
    bins: np.ndarray
    codes: np.ndarray
    weights: np.ndarray | None
    class_count: np.ndarray
    class_factors: np.ndarray | None
    share: float = 1.0
    pair_share: float = 1.0
    axes: Mapping[int, Axis] = field(default_factory=dict)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.class_count.shape[0])

    @property
    def log_prior(self) -> np.ndarray:
        """What scores start from."""
        return log_prior_of(self.class_count, self.class_factors)

    @property
    def row_weight(self) -> np.ndarray | None:
        """Weights of the rows in the criterion; None where all count once."""
        return count_by_class(self.weights, self.class_factors, self.codes)

    def terms(self) -> PartTerms:
        """The rows as terms, each row left out of its own tables.

        With its own row taken out a table depends on the bin and the class alone, so
        lines are ``bin * n_classes + class``.
        """
        log_shares = np.log(class_shares(self.class_count))
        if self.left_out is None:
            tables = [self.shapes[j].probabilities for j in self.columns]
            parts = self.bins
        else:
            tables = self.left_out
            most = max((len(table) for table in tables), default=1)
            parts = self.bins.astype(np.min_scalar_type(max(most - 1, 1)))
            parts *= parts.dtype.type(self.n_classes)
            parts += self.codes[:, None].astype(parts.dtype)
        lifts = [np.log(table) - log_shares for table in tables]
        return PartTerms(parts, lifts, self.n_classes)

    def select(self, kept: np.ndarray) -> ShapedRows:
        """The same with some of the columns alone."""
        left_out = self.left_out
        if left_out is not None:
            left_out = [left_out[int(k)] for k in kept]
        return replace(
            self,
            columns=self.columns[kept],
            left_out=left_out,
            bins=self.bins[:, kept],
        )

    def for_pairs(self, kept: np.ndarray, costs: np.ndarray) -> PairRows:
        """What pairs of some of the columns are chosen from; costs are of all."""
        columns = self.columns[kept]
        return PairRows(
            columns,
            [self.axis(j) for j in columns],
            self.bins[:, kept],
            [self.shapes[j] for j in columns],
            self.codes,
            self.weights,
            self.row_weight,
            np.bincount(self.codes, self.weights, self.n_classes).astype(np.float64),
            self.log_prior,
            costs[columns],
        )

    def axis(self, j: int) -> Axis:
        """Column j as an axis of grids."""
        if j in self.axes:
            return self.axes[j]
        return Axis.from_bins(self.fine[j], self.shapes[j].probabilities)


def worth_a_term(shapes: list[Shape]) -> np.ndarray:
    """Columns that may have a weight: all of few, of many those that say something.

    A column that says nothing alone may say something with another.
    """
    varies = np.array([(own.bins.counts.any(axis=1)).sum() > 1 for own in shapes])
    if varies.sum() > MOST_COLUMNS:
        varies &= np.array([own.evidence > LEAST_EVIDENCE for own in shapes])
    return np.flatnonzero(varies)


def leave_rows_out(
    fine: list[FineBins], class_count: np.ndarray
) -> list[np.ndarray] | None:
    """Tables without each row, see `AveragedColumns`; None if they were too large."""
    n_classes = class_count.shape[0]
    numbers = n_classes**2 * sum(own.column.n_parts for own in fine)
    if n_classes > _MOST_CLASSES or numbers > _MOST_NUMBERS:
        return None
    return average_columns(fine, class_count).left_out


def _rough_weights(
    problem: WeightProblem, start: np.ndarray | None, end: float
) -> np.ndarray:
    """Weights to judge pairs by; Ctrl-C ends the choice and not this search alone."""
    limit = None if end == math.inf else max(0.0, end - time.monotonic())
    found = search(Convex(gtol=_ROUGH), problem, start, time_limit=limit)
    if found.stopped == "interrupted":
        raise KeyboardInterrupt
    return np.asarray(found.weights)


def _beside(kept: np.ndarray, n_columns: int, n_pairs: int) -> np.ndarray:
    """Places of the columns kept and of all pairs, which come after the columns."""
    return np.append(kept, n_columns + np.arange(n_pairs))


class ShapeFittedNB(SearchedNB):
    """Base: `fit` of a model with averaged shapes."""

    partitions: str
    pairs: int | str
    criterion: str

    def _fit_shapes(self, labelled: LabelledRows, rules: list[TextRule]) -> None:
        """Learn shapes and weights, and the n-grams of texts by their rules."""
        begin = time.monotonic()
        found, rows = self._shaped_rows(labelled)
        end = math.inf if self.time_limit is None else begin + self.time_limit
        fitted = None
        if rules:
            fitted, pairs = self._weigh_with_texts(rows, labelled, rules, end)
            result = fitted.found.result
        else:
            result, pairs = self._weigh_shapes(rows, end)
        shapes = rows.shapes
        n_mains, n_terms = rows.columns.size, rows.columns.size + len(pairs)
        self._set_prior(rows.class_count, rows.class_factors)
        self.partitions_ = found
        self.levels_ = np.array([own.level for own in found])
        shares = class_shares(rows.class_count)
        lifts = [shapes[j].lifts(shares) for j in rows.columns]
        self._set_weights(rows.columns, result.weights[:n_mains], lifts)
        self._set_shapes(shapes, pairs, result.weights[n_mains:n_terms])
        if fitted is None:
            self._set_no_texts()
        else:
            self._set_texts(fitted)
        self._tell(result)

    def _shaped_rows(self, labelled: LabelledRows) -> tuple[list[Any], ShapedRows]:
        """Best partitions, and the rows by the bins of averaged columns."""
        table, codes, weights = labelled.table, labelled.codes, labelled.weights
        n_classes = labelled.classes.shape[0]
        found, fine = bin_table(
            self._reader,
            table.numbers,
            table.levels,
            codes,
            labelled.classes,
            self._column_names(),
            sample_weight=weights,
            criterion=self.criterion,
        )
        counted = np.bincount(codes, weights, n_classes).astype(np.float64)
        shapes = average_columns(fine, counted, leave_one_out=False).shapes
        columns = worth_a_term(shapes)
        left_out = leave_rows_out([fine[j] for j in columns], counted)
        bins = part_indexes(
            [own.column for own in fine],
            columns.tolist(),
            self._reader,
            table.numbers,
            table.levels,
        )
        return found, ShapedRows(
            fine,
            shapes,
            columns,
            left_out,
            bins,
            codes,
            weights,
            counted,
            self._class_factors(counted),
        )

    def _weigh_shapes(
        self, rows: ShapedRows, end: float
    ) -> tuple[WeightResult, list[PairShape]]:
        """Weights of the columns and of pairs; of at most k columns."""
        result, shapes, sizes = self._weigh_freely(rows, end)
        used = sizes > 0.0
        if self.k is None or used.sum() <= self.k or result.stopped not in _ENDED:
            return result, shapes
        kept = np.sort(np.argsort(-sizes, kind="stable")[: self.k])
        again, shapes, _ = self._weigh_freely(rows.select(kept), end)
        n_columns, n_pairs = rows.columns.size, len(shapes)
        places = _beside(kept, n_columns, n_pairs)
        return spread(again, places, n_columns + n_pairs), shapes

    def _weigh_freely(
        self, rows: ShapedRows, end: float
    ) -> tuple[WeightResult, list[PairShape], np.ndarray]:
        """Weights of columns and then of pairs; and how much each column adds."""
        terms, shapes = rows.terms(), []
        kept = np.arange(terms.n_terms)
        problem = self._shape_problem(rows, terms, kept)
        result = self._searched(search, problem, end=end)
        result, chosen = self._pairs_beside(rows, terms, result, kept, end)
        if chosen is not None:
            terms, shapes = chosen.terms, chosen.shapes
            pairs = [own.columns for own in shapes]
            problem = self._shape_problem(rows, terms, kept, pairs, chosen.n_candidates)
            result = self._searched(search, problem, chosen.weights, end=end)
        of_terms = term_sizes(terms, result.weights, rows.log_prior)
        sizes = of_terms[: kept.size].copy()
        place = {int(j): k for k, j in enumerate(rows.columns)}
        for own, size in zip(shapes, of_terms[kept.size :], strict=True):
            for j in own.columns:
                sizes[place[j]] += size / len(own.columns)
        return result, shapes, sizes

    def _pairs_beside(
        self,
        rows: ShapedRows,
        terms: PartTerms,
        result: WeightResult,
        kept: np.ndarray,
        end: float,
    ) -> tuple[WeightResult, ChosenPairs | None]:
        """Pairs of the columns that are kept beside their weights, if any."""
        if result.stopped not in _ENDED:
            return result, None
        try:
            chosen = self._choose_pairs(rows, terms, result.weights, kept, end)
        except KeyboardInterrupt:
            return replace(result, stopped="interrupted"), None
        return result, chosen

    def _weigh_with_pairs(
        self,
        how: Callable[..., WeightResult],
        rows: ShapedRows,
        kept: np.ndarray,
        terms: PartTerms,
        pairs: Sequence[tuple[int, ...]],
        n_candidates: int,
        start: np.ndarray,
        end: float,
    ) -> WeightResult:
        """Weights of all columns and then of pairs; only those kept may have one."""
        problem = self._shape_problem(rows, terms, kept, pairs, n_candidates)
        found = self._searched(how, problem, start, end=end)
        n_columns, n_pairs = rows.columns.size, len(pairs)
        places = _beside(kept, n_columns, n_pairs)
        return spread(found, places, n_columns + n_pairs)

    def _weigh_with_texts(
        self,
        rows: ShapedRows,
        labelled: LabelledRows,
        rules: list[TextRule],
        end: float,
    ) -> tuple[TextFit, list[PairShape]]:
        """Weights of columns and n-grams together; pairs are chosen by columns alone.

        Without pairs where k limits the terms: n-grams and columns share that limit.
        """
        terms, shapes, n_candidates = rows.terms(), [], 1
        kept = np.arange(terms.n_terms)
        if self.k is None:
            alone = self._shape_problem(rows, terms, kept)
            weights = _rough_weights(alone, None, end)
            chosen = self._choose_pairs(rows, terms, weights, kept, end)
            if chosen is not None:
                terms, shapes = chosen.terms, chosen.shapes
                n_candidates = chosen.n_candidates
        tables = terms.tables
        table = TextTable(
            terms.arrays[0].T,
            [len(own) for own in tables],
            labelled.table.texts,
            rules,
            rows.codes,
            rows.weights,
            labelled.classes,
            self.k,
            type(self).__name__,
            rows.class_factors,
            tables,
        )
        pairs = [own.columns for own in shapes]
        prior = self._shape_prior(rows, kept, pairs, n_candidates)
        fitted = self._fit_texts(table, *table.training_rows(tables), prior)
        return fitted, shapes

    def _choose_pairs(
        self,
        rows: ShapedRows,
        terms: PartTerms,
        weights: np.ndarray,
        kept: np.ndarray,
        end: float,
    ) -> ChosenPairs | None:
        """Pairs of the columns that are kept, beside them; None if there are none."""
        wanted = self.pairs != 0 and rows.left_out is not None and rows.n_classes > 1
        if not wanted or kept.size < 2:
            return None

        def optimise(
            terms: PartTerms,
            pairs: list[tuple[int, ...]],
            n_candidates: int,
            start: np.ndarray,
        ) -> np.ndarray:
            problem = self._shape_problem(rows, terms, kept, pairs, n_candidates)
            return _rough_weights(problem, start, end)

        costs = self.regularization * rows.share * self._own_costs(rows)
        chosen = choose_pairs(
            rows.for_pairs(kept, costs),
            terms.select(kept),
            weights[kept],
            optimise,
            most=None if self.pairs == "auto" else int(self.pairs),
            end=end,
        )
        return chosen if chosen.shapes else None

    def _shape_problem(
        self,
        rows: ShapedRows,
        terms: PartTerms,
        kept: np.ndarray,
        pairs: Sequence[tuple[int, ...]] = (),
        n_candidates: int = 1,
    ) -> WeightProblem:
        """The criterion of some columns and of pairs after them."""
        prior = self._shape_prior(rows, kept, pairs, n_candidates)
        return self._problem(
            terms, rows.codes, rows.log_prior, rows.row_weight, prior, rows.share
        )

    def _own_costs(self, rows: ShapedRows) -> np.ndarray:
        """What the user says that each column costs, less what it costs otherwise."""
        usual = np.ones(len(rows.fine))
        return self._preparation_costs(usual, self._column_names()) - usual

    def _shape_prior(
        self,
        rows: ShapedRows,
        kept: np.ndarray,
        pairs: Sequence[tuple[int, ...]],
        n_candidates: int,
    ) -> ColumnPrior:
        """What some columns and pairs cost: the choice of each among so many."""
        columns, n_columns, n_pairs = rows.columns[kept], len(rows.fine), len(pairs)
        own = self._own_costs(rows)
        # Of many pairs some fit by chance: one costs more than a column does.
        price = _PAIR_PRICE * math.log(n_candidates) * rows.pair_share / rows.share
        of_pairs = np.array([1.0 + price + own[list(pair)].sum() for pair in pairs])
        # Costs add the logarithm of all candidates: columns have that of theirs.
        n_variables = n_columns + (n_candidates if n_pairs else 0)
        of_columns = 1.0 + own[columns] + math.log(n_columns)
        evidence = [rows.shapes[j].evidence for j in columns]
        return ColumnPrior(
            np.concatenate([of_columns, of_pairs]) - math.log(n_variables),
            n_variables,
            np.concatenate([columns, n_columns + np.arange(n_pairs)]),
            np.argsort(-np.concatenate([evidence, np.zeros(n_pairs)]), kind="stable"),
        )
