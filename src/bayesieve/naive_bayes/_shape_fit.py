"""Fitting of averaged shapes: bins, leave-one-out terms, weights, pairs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
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
from bayesieve.naive_bayes._weighted import log_prior_of
from bayesieve.partition._averaged import (
    AveragedColumns,
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

__all__ = ["MOST_CLASSES", "ShapeFittedNB", "ShapedRows", "worth_a_term"]

#: A column that explains the classes worse than none by more nats than this has shapes
#: too flat to be worth a weight.
LEAST_EVIDENCE = -1.0
#: Leave-one-out tables have the square of this many numbers a bin.
MOST_CLASSES = 64
#: Cost of a pair in logarithms of the number of pairs looked at; of a column it is one.
#: With the usual regularization a weight of one costs a pair that logarithm in full.
_PAIR_PRICE = 10.0
#: Largest derivative per row of weights that only serve to judge the next pairs.
_ROUGH = 1e-4


@dataclass(frozen=True, eq=False)
class ShapedRows:
    """Training rows by the bins of the columns that have a term.

    Attributes
    ----------
    fine : list of FineBins
        Of all columns.
    averaged : AveragedColumns
        Of all columns.
    columns : ndarray of shape (n_terms,)
        Columns that may have a weight.
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
    averaged: AveragedColumns
    columns: np.ndarray
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
    def leaves_out(self) -> bool:
        """Whether rows are left out of their own tables: not of very many classes."""
        return self.n_classes <= MOST_CLASSES

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
        if not self.leaves_out:
            tables = [self.averaged.shapes[j].probabilities for j in self.columns]
            parts = self.bins
        else:
            tables = [self.averaged.left_out[j] for j in self.columns]
            most = max((len(table) for table in tables), default=1)
            parts = self.bins.astype(np.min_scalar_type(max(most - 1, 1)))
            parts *= parts.dtype.type(self.n_classes)
            parts += self.codes[:, None].astype(parts.dtype)
        lifts = [np.log(table) - log_shares for table in tables]
        return PartTerms(parts, lifts, self.n_classes)

    def for_pairs(self, kept: np.ndarray) -> PairRows:
        """What pairs of some of the columns are chosen from."""
        columns = self.columns[kept]
        return PairRows(
            columns,
            [self.axis(j) for j in columns],
            self.bins[:, kept],
            [self.averaged.shapes[j] for j in columns],
            self.codes,
            self.weights,
            self.row_weight,
            np.bincount(self.codes, self.weights, self.n_classes).astype(np.float64),
            self.log_prior,
        )

    def axis(self, j: int) -> Axis:
        """Column j as an axis of grids."""
        if j in self.axes:
            return self.axes[j]
        return Axis.from_bins(self.fine[j], self.averaged.shapes[j].probabilities)


def worth_a_term(shapes: list[Shape]) -> np.ndarray:
    """Columns that may have a weight: all of few, of many those that say something.

    A column that says nothing alone may say something with another.
    """
    varies = np.array([(own.bins.counts.any(axis=1)).sum() > 1 for own in shapes])
    if varies.sum() > MOST_COLUMNS:
        varies &= np.array([own.evidence > LEAST_EVIDENCE for own in shapes])
    return np.flatnonzero(varies)


class ShapeFittedNB(SearchedNB):
    """Base: `fit` of a model with averaged shapes."""

    partitions: str
    pairs: int | str
    criterion: str

    def _fit_shapes(self, labelled: LabelledRows) -> WeightResult:
        """Learn shapes and weights; store the model and tell of the search."""
        begin = time.monotonic()
        found, rows = self._shaped_rows(labelled)
        result, pairs = self._weigh_shapes(rows, begin)
        shapes = rows.averaged.shapes
        n_mains = rows.columns.size
        self._set_prior(rows.class_count, rows.class_factors)
        self.partitions_ = found
        self.levels_ = np.array([own.level for own in found])
        shares = class_shares(rows.class_count)
        lifts = [shapes[j].lifts(shares) for j in rows.columns]
        self._set_weights(rows.columns, result.weights[:n_mains], lifts)
        self._set_shapes(shapes, pairs, result.weights[n_mains:])
        return result

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
        averaged = average_columns(
            fine, counted, leave_one_out=n_classes <= MOST_CLASSES
        )
        columns = worth_a_term(averaged.shapes)
        bins = part_indexes(
            [own.column for own in fine],
            columns.tolist(),
            self._reader,
            table.numbers,
            table.levels,
        )
        return found, ShapedRows(
            fine,
            averaged,
            columns,
            bins,
            codes,
            weights,
            counted,
            self._class_factors(counted),
        )

    def _weigh_shapes(
        self, rows: ShapedRows, begin: float
    ) -> tuple[WeightResult, list[PairShape]]:
        """Weights of the columns, then of pairs with them."""
        end = math.inf if self.time_limit is None else begin + self.time_limit
        terms = rows.terms()
        problem = self._shape_problem(rows, terms, np.arange(terms.n_terms))
        result = self._searched(search, problem, k=self.k, end=end)
        result, kept, chosen = self._pairs_beside(rows, terms, result, end)
        if chosen is None:
            return result, []
        again = self._weigh_with_pairs(
            search, rows, kept, chosen.terms, chosen.n_candidates, chosen.weights, end
        )
        return again, chosen.shapes

    def _pairs_beside(
        self, rows: ShapedRows, terms: PartTerms, result: WeightResult, end: float
    ) -> tuple[WeightResult, np.ndarray, ChosenPairs | None]:
        """Pairs beside weighted columns, if any; and which columns stay with them."""
        kept = np.arange(terms.n_terms)
        if self.k is not None:
            kept = np.flatnonzero(result.weights)
        wanted = self.pairs != 0 and rows.leaves_out and rows.n_classes > 1
        if not wanted or kept.size < 2 or result.stopped != "converged":
            return result, kept, None
        try:
            chosen = self._choose_pairs(rows, terms, result.weights, kept, end)
        except KeyboardInterrupt:
            return replace(result, stopped="interrupted"), kept, None
        return result, kept, chosen if chosen.shapes else None

    def _weigh_with_pairs(
        self,
        how: Callable[..., WeightResult],
        rows: ShapedRows,
        kept: np.ndarray,
        terms: PartTerms,
        n_candidates: int,
        start: np.ndarray,
        end: float,
    ) -> WeightResult:
        """Weights of all columns and then of pairs; only those kept may have one."""
        problem = self._shape_problem(rows, terms, kept, n_candidates)
        found = self._searched(how, problem, start, end=end)
        weights = np.zeros(rows.columns.size + terms.n_terms - kept.size)
        weights[kept] = found.weights[: kept.size]
        weights[rows.columns.size :] = found.weights[kept.size :]
        return replace(found, weights=weights)

    def _choose_pairs(
        self,
        rows: ShapedRows,
        terms: PartTerms,
        weights: np.ndarray,
        kept: np.ndarray,
        end: float,
    ) -> ChosenPairs:
        def optimise(
            terms: PartTerms, n_candidates: int, start: np.ndarray
        ) -> np.ndarray:
            problem = self._shape_problem(rows, terms, kept, n_candidates)
            limit = None if end == math.inf else max(0.0, end - time.monotonic())
            found = search(Convex(gtol=_ROUGH), problem, start, time_limit=limit)
            return np.asarray(found.weights)

        return choose_pairs(
            rows.for_pairs(kept),
            terms.select(kept),
            weights[kept],
            optimise,
            most=None if self.pairs == "auto" else int(self.pairs),
            end=end,
        )

    def _shape_problem(
        self,
        rows: ShapedRows,
        terms: PartTerms,
        kept: np.ndarray,
        n_candidates: int = 1,
    ) -> WeightProblem:
        """The criterion of some columns and of pairs; a term costs its choice."""
        columns = rows.columns[kept]
        n_columns, n_pairs = len(rows.fine), terms.n_terms - kept.size
        preparation = self._preparation_costs(np.ones(n_columns), self._column_names())
        # Of many pairs some fit by chance: one costs more than a column does.
        price = _PAIR_PRICE * math.log(n_candidates) * rows.pair_share / rows.share
        of_pairs = np.full(n_pairs, 1.0 + price)
        # Costs add the logarithm of all candidates: columns have that of theirs.
        n_variables = n_columns + (n_candidates if n_pairs else 0)
        of_columns = preparation[columns] + math.log(n_columns)
        evidence = [rows.averaged.shapes[j].evidence for j in columns]
        prior = ColumnPrior(
            np.concatenate([of_columns, of_pairs]) - math.log(n_variables),
            n_variables,
            np.concatenate([columns, n_columns + np.arange(n_pairs)]),
            np.argsort(-np.concatenate([evidence, np.zeros(n_pairs)]), kind="stable"),
        )
        return self._problem(
            terms, rows.codes, rows.log_prior, rows.row_weight, prior, rows.share
        )
