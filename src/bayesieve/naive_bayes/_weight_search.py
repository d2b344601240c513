"""From the parameters of the classifier to one of the optimisers of its weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.utils._progress import ProgressBar
from bayesieve.weights._convex import convex
from bayesieve.weights._coordinate import coordinate
from bayesieve.weights._criterion import WeightProblem, variable_costs
from bayesieve.weights._descent import descend
from bayesieve.weights._parsimony import parsimonious
from bayesieve.weights._restarts import multistart, vns
from bayesieve.weights._result import OptimizerState, WeightResult
from bayesieve.weights._subset_criterion import SubsetProblem
from bayesieve.weights._terms import Terms

__all__ = ["WeightSearch", "generator_of", "term_sizes"]

# Iterations of a descent after each chunk of a stream.
_STREAM_STEPS = 3


def generator_of(state: Any) -> np.random.Generator:
    """NumPy's generator for scikit-learn's three kinds of `random_state`."""
    if isinstance(state, np.random.RandomState):
        state = state.randint(2**31)
    return np.random.default_rng(state)


@dataclass(frozen=True)
class WeightSearch:
    """The rows and costs of one search, with the parameters of its owner.

    Attributes
    ----------
    owner : SelectiveNB
        Whose parameters are used.
    codes, row_weight : class and weight of each row.
    preparation : ndarray of shape (n_terms,)
        B_k of each column of the search.
    n_candidates : int
        Columns in all, uninformative ones included.
    order : ndarray of shape (n_terms,)
        First order of the coordinate search.
    informative : ndarray of shape (n_terms,)
        Number of each column of the search in the table.
    regularization : float
    """

    owner: Any
    codes: np.ndarray
    row_weight: np.ndarray | None
    preparation: np.ndarray
    n_candidates: int
    order: np.ndarray
    informative: np.ndarray
    regularization: float

    @property
    def exponent(self) -> float:
        """Exponent of the penalty."""
        if self.owner.exponent is not None:
            return float(self.owner.exponent)
        return 0.95 if self.owner.optimizer == "coordinate" else 1.0

    def run(
        self, terms: Terms, log_prior: np.ndarray, first: np.ndarray | None = None
    ) -> WeightResult:
        """Search the weights; with `max_features`, again on the columns kept.

        ``first`` are weights known to be near, for optimisers that can use them.
        """
        generator = generator_of(self.owner.random_state)
        with ProgressBar("Weights") as bar:
            result = self._optimise(terms, log_prior, generator, bar, first)
            limit = self.owner.max_features
            kept = np.flatnonzero(result.weights)
            if limit is None or kept.shape[0] <= limit:
                return result
            size = term_sizes(terms, result.weights, log_prior)
            kept = np.sort(np.argsort(-size, kind="stable")[:limit])
            inner = replace(
                self,
                preparation=self.preparation[kept],
                order=np.argsort(np.argsort(self.order)[kept], kind="stable"),
                informative=self.informative[kept],
            )
            again = inner._optimise(
                terms.select(kept), log_prior, generator, bar, result.weights[kept]
            )
        weights = np.zeros(terms.n_terms)
        weights[kept] = again.weights
        return replace(again, weights=weights)

    def steps(
        self, terms: Terms, log_prior: np.ndarray, weights: np.ndarray
    ) -> WeightResult:
        """Take a few steps of a descent from given weights; never for the worse."""
        owner = self.owner
        if owner.max_features is not None:
            # Which columns may have a weight is settled by the searches in between.
            kept = np.flatnonzero(weights)
            if kept.shape[0] < weights.shape[0]:
                inner = replace(
                    self,
                    preparation=self.preparation[kept],
                    order=np.arange(kept.shape[0]),
                    informative=self.informative[kept],
                )
                result = inner.steps(terms.select(kept), log_prior, weights[kept])
                spread = np.zeros(terms.n_terms)
                spread[kept] = result.weights
                return replace(result, weights=spread)
        problem = self._problem(terms, log_prior)
        return descend(
            problem,
            weights,
            batch_size=owner.batch_size,
            max_iter=min(_STREAM_STEPS, owner.max_iter),
            tol=0.0,
            patience=owner.patience,
            step=owner.step,
            max_seconds=owner.max_seconds,
            callback=owner.callback,
            random_state=generator_of(self.owner.random_state),
        )

    def _problem(self, terms: Terms, log_prior: np.ndarray) -> WeightProblem:
        return WeightProblem(
            terms,
            self.codes,
            log_prior,
            variable_costs(self.preparation, self.n_candidates),
            regularization=self.regularization,
            exponent=self.exponent,
            row_weight=self.row_weight,
        )

    def _first_weights(self) -> np.ndarray:
        try:
            start = np.asarray(self.owner.start, dtype=np.float64)
        except (TypeError, ValueError):
            start = np.empty(0)  # refused below
        if start.ndim == 0:
            return np.full(self.informative.shape[0], float(start))
        if (
            start.shape != (self.n_candidates,)
            or not ((start >= 0) & (start <= 1)).all()
        ):
            raise ValueError(
                "The 'start' parameter of SelectiveNB must be a number in [0, 1], or "
                f"one for each of the {self.n_candidates} columns. "
                f"Got {self.owner.start!r}."
            )
        return start[self.informative]

    def _optimise(
        self,
        terms: Terms,
        log_prior: np.ndarray,
        generator: np.random.Generator,
        bar: ProgressBar,
        first: np.ndarray | None,
    ) -> WeightResult:
        owner = self.owner
        common = {
            "max_seconds": owner.max_seconds,
            "callback": self._callback(bar),
            "random_state": generator,
        }
        if owner.optimizer == "coordinate":
            problem = SubsetProblem(
                terms,
                self.codes,
                log_prior,
                self.preparation,
                self.n_candidates,
                regularization=self.regularization,
                exponent=self.exponent,
                row_weight=self.row_weight,
            )
            return coordinate(problem, order=self.order, **common)
        problem = self._problem(terms, log_prior)
        return _no_worse_than_nothing(
            self._optimised(problem, common, first), problem.value
        )

    def _optimised(
        self, problem: WeightProblem, common: dict[str, Any], first: np.ndarray | None
    ) -> WeightResult:
        owner = self.owner
        if owner.optimizer == "auto":
            return parsimonious(problem, first, min_gain=owner.min_gain, **common)
        if owner.optimizer == "convex":
            return convex(problem, first, **common)
        start = self._first_weights() if first is None else first
        descent = {
            "batch_size": owner.batch_size,
            "max_iter": owner.max_iter,
            "tol": owner.tol,
            "patience": owner.patience,
            "step": owner.step,
        }
        if owner.optimizer == "gradient":
            return descend(problem, start, **descent, **common)
        search = vns if owner.optimizer == "vns" else multistart
        return search(problem, start, effort=owner.effort, **descent, **common)

    def _callback(self, bar: ProgressBar) -> Any:
        """The user's callback, and the progress bar if one is wanted."""
        owner = self.owner
        if not owner.verbose:
            return owner.callback

        def tell(state: OptimizerState) -> bool | None:
            bar.update(state.iteration, f"criterion {state.best_value:.6g}")
            return None if owner.callback is None else owner.callback(state)

        return tell


def _no_worse_than_nothing(
    result: WeightResult, value: Callable[[np.ndarray], float]
) -> WeightResult:
    """The result, or weights of zero where these are better."""
    none = np.zeros_like(result.weights)
    least = value(none)
    if result.value <= least:
        return result
    return replace(result, weights=none, value=least)


def term_sizes(terms: Terms, weights: np.ndarray, log_prior: np.ndarray) -> np.ndarray:
    """Mean absolute distance of each weighted term from its mean."""
    prior = np.exp(log_prior)
    sizes = np.zeros(terms.n_terms)
    for k in np.flatnonzero(weights):
        term = terms.term(int(k))
        lift = term - (term @ prior)[:, None]
        sizes[k] = weights[k] * float(
            np.abs(lift - lift.mean(axis=0)).mean(axis=0) @ prior
        )
    return sizes
