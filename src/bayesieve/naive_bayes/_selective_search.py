"""The search of the weights of columns and n-grams, by the parameters of a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from bayesieve._description import Description, Saved
from bayesieve.exceptions import NotConvergedWarning
from bayesieve.naive_bayes._feature_cost import preparation_costs
from bayesieve.naive_bayes._shaped import ShapedNB
from bayesieve.naive_bayes._text_terms import TextTable, WeightedNGrams
from bayesieve.naive_bayes._text_weighted import TextFit
from bayesieve.naive_bayes._weighted import order_by_level
from bayesieve.partition._column import ColumnPartition
from bayesieve.utils._progress import ProgressBar
from bayesieve.utils._warnings import warn_if_interrupted, warn_user
from bayesieve.weights import (
    Auto,
    ColumnPrior,
    Convex,
    Optimizer,
    OptimizerState,
    WeightProblem,
    WeightResult,
    feature_costs,
    optimizer_of,
)
from bayesieve.weights._joint_solver import JointRows, fit_joint
from bayesieve.weights._result import Progress, Stopped
from bayesieve.weights._terms import Terms
from bayesieve.weights._text_candidates import NGrams

__all__ = ["SearchedNB"]


class SearchedNB(ShapedNB):
    """Base: the criterion of the weights, its search, and what is told of the search.

    Owns ``history_``, ``n_iter_`` and ``stopped_``; ``criterion_`` is that of all
    weighted models. The parameters are those of `SelectiveNB`.
    """

    _saved: ClassVar[dict[str, Saved]] = {
        "history_": Saved("floats", "points", 4, domain="any"),
        "n_iter_": Saved("int"),
        "stopped_": Saved("text"),
    }
    k: int | None
    optimizer: str | Optimizer
    regularization: float
    exponent: float | None
    feature_cost: Any
    time_limit: float | None
    random_state: Any
    callback: Any
    verbose: bool

    # ----------------------------------------------------------------- the criterion

    def _prior_of(
        self, partitions: Sequence[ColumnPartition], informative: np.ndarray
    ) -> ColumnPrior:
        """What is known of the informative columns among some partitions."""
        preparation = np.array([p.cost.preparation for p in partitions])
        return ColumnPrior(
            self._preparation_costs(preparation, self._column_names())[informative],
            len(partitions),
            informative,
            order_by_level(partitions, informative),
        )

    def _problem(
        self,
        terms: Terms,
        codes: np.ndarray,
        log_prior: np.ndarray,
        row_weight: np.ndarray | None,
        columns: ColumnPrior,
        share: float = 1.0,
    ) -> WeightProblem:
        """The criterion; a share of all rows bears that share of the penalty."""
        return WeightProblem(
            terms,
            codes,
            log_prior,
            feature_costs(columns.preparation, columns.n_variables),
            regularization=self.regularization * share,
            exponent=self._penalty_exponent(),
            row_weight=row_weight,
            columns=columns,
        )

    def _penalty_exponent(self) -> float:
        if self.exponent is not None:
            return float(self.exponent)
        return optimizer_of(self.optimizer).usual_exponent

    def _preparation_costs(self, found: np.ndarray, names: list[str]) -> np.ndarray:
        return preparation_costs(self.feature_cost, found, names, type(self).__name__)

    # ------------------------------------------------------------------ the search

    def _searched(
        self,
        how: Callable[..., WeightResult],
        problem: WeightProblem,
        start: np.ndarray | None = None,
        *,
        k: int | None = None,
        end: float | None = None,
    ) -> WeightResult:
        """Search the weights, or follow a stream, with the parameters of the model.

        At most k of the terms; not beyond the moment `end` where it is given.
        """
        limit = self.time_limit
        if limit is not None and end is not None:
            limit = max(0.0, end - time.monotonic())
        with self._bar("Weights") as bar:
            return how(
                optimizer_of(self.optimizer),
                problem,
                start,
                k=k,
                time_limit=limit,
                callback=self._callback(bar),
                random_state=self.random_state,
            )

    def _bar(self, title: str) -> ProgressBar:
        bar = ProgressBar(title)
        bar.shown = bar.shown and bool(self.verbose)
        return bar

    def _callback(self, bar: ProgressBar) -> Any:
        """The user's callback, and the progress bar where somebody sees or hears it."""
        if not bar.is_followed:
            return self.callback

        def tell(state: OptimizerState) -> bool | None:
            bar.update(state.iteration, f"criterion {state.best_value:.6g}")
            return None if self.callback is None else self.callback(state)

        return tell

    def _tell(self, result: WeightResult) -> None:
        """Store how the search went; say so where it did not come to its end."""
        self.criterion_ = float(result.value)
        self.history_ = np.asarray(result.history, dtype=np.float64).reshape(-1, 4)
        self.n_iter_ = int(result.iterations)
        self.stopped_ = result.stopped
        warn_if_interrupted(type(self).__name__, result.stopped)
        if (
            result.stopped == "budget"
            and not optimizer_of(self.optimizer).spends_budget
        ):
            warn_user(
                f"The weights of {type(self).__name__} did not converge: the search "
                f"ended after {self.n_iter_} steps. The weights are valid and better "
                "than none.",
                NotConvergedWarning,
            )

    def _describe(self) -> Description:
        found = super()._describe()
        how = f" The search of the weights ended: {self.stopped_}."
        return replace(found, detail=found.detail + how, stopped=self.stopped_)

    # ----------------------------------------------------------------------- texts

    def _fit_texts(
        self,
        table: TextTable,
        rows: JointRows,
        ngrams: list[NGrams],
        prior: ColumnPrior,
        *,
        share: float = 1.0,
        penalty: float | None = None,
    ) -> TextFit:
        """Weights of columns and n-grams; a share of the rows bears that of the costs.

        `penalty` is that of each n-gram; chosen unless given.
        """
        self._check_for_texts()
        begin = time.monotonic()
        costs = feature_costs(prior.preparation, prior.n_variables)
        column_slope = self.regularization * share * costs
        given = self._given_text_penalties(ngrams)
        chosen: Stopped = "converged"
        if self.regularization == 0:
            penalty = 0.0
        elif penalty is None and None in given:
            limit = None if self.time_limit is None else 0.5 * self.time_limit
            choice = Progress(limit)
            with self._bar("Choosing the penalty of n-grams") as bar:
                penalty = table.chosen_penalty(column_slope, choice, bar.update)
            warn_if_interrupted(type(self).__name__, chosen := choice.stopped)
        penalty = max(own or 0.0 for own in given) if penalty is None else penalty
        of_terms = [
            np.full(len(found.names), penalty if own is None else share * own)
            for own, found in zip(given, ngrams, strict=True)
        ]
        left = self.time_limit
        if left is not None:
            left = max(0.0, left - (time.monotonic() - begin))
        with self._bar("Weights") as bar:
            found = fit_joint(
                rows,
                np.concatenate([column_slope, *of_terms]),
                Progress(left, self._callback(bar)),
                k=self.k,
                exponent=self._penalty_exponent(),
            )
        if chosen != "converged" and found.result.stopped == "converged":
            found = replace(found, result=replace(found.result, stopped=chosen))
        weights = found.result.weights[rows.n_columns :]
        columns = self._reader.text_columns.tolist()
        texts = WeightedNGrams.from_weights(columns, ngrams, weights)
        return TextFit(found, texts, penalty)

    def _check_for_texts(self) -> None:
        """Refuse optimisers and exponents that texts cannot have."""
        must = f"parameter of {type(self).__name__} must be"
        columns = self._column_names()
        texts = ", ".join(repr(columns[j]) for j in self._reader.text_columns)
        hint = f"Hint: text_features=None reads {texts} as categories."
        if not isinstance(optimizer_of(self.optimizer), Auto | Convex):
            raise ValueError(
                f"The 'optimizer' {must} 'auto' or 'convex' for a table with texts. "
                f"Got {self.optimizer!r}. {hint}"
            )
        if self._penalty_exponent() > 1.0:
            raise ValueError(
                f"The 'exponent' {must} at most 1 for a table with texts. "
                f"Got {self.exponent!r}. {hint}"
            )

    def _given_text_penalties(self, ngrams: list[NGrams]) -> list[float | None]:
        """Penalty of an n-gram of each text column, where the user gives its cost."""
        unknown = np.full(self.n_features_in_, np.nan)
        costs = self._preparation_costs(unknown, self._column_names())
        return [
            None
            if np.isnan(cost)
            else self.regularization * float(feature_costs(cost, own.n_distinct))
            for cost, own in zip(costs[self._reader.text], ngrams, strict=True)
        ]
