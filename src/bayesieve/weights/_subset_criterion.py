"""The criterion of variable selection, for subsets and for fractional weights.

``F(w) = lambda [ln 2 + U(s) - ln s! + sum_k (ln K + B_k) w_k^p] + D(w)`` with
``s = ceil(sum w)``, U the universal code of an integer, and D the negative
log-likelihood of smoothed posteriors. Weights of 0 and 1 are a subset of size s. The
empty model codes the class counts instead: ``lambda [ln 2 + ln C(N+J-1, J-1)] + D(0)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bayesieve.weights._criterion import WeightProblem, set_arrays
from bayesieve.weights._integer_codes import integer_code
from bayesieve.weights._terms import Array, Terms

__all__ = ["SubsetProblem", "TrialScores"]


@dataclass(frozen=True, eq=False)
class SubsetProblem:
    """Data and settings of F(w).

    Parameters
    ----------
    terms : PartTerms or DenseTerms
        Terms of the informative variables.
    codes : ndarray of shape (n_rows,)
    log_prior : ndarray of shape (n_classes,)
    preparation : ndarray of shape (n_terms,)
        B_k, prior part of the cost of each partition.
    n_variables : int
        K, all candidate variables, uninformative ones included.
    regularization, exponent : float
        lambda and p; the exponent does not matter to subsets.
    row_weight : ndarray of shape (n_rows,), optional
    n_reference : float, optional
        N of the smoothing, the tolerance and the empty model; the sum of the row
        weights unless given.
    order : ndarray of shape (n_terms,), optional
        Terms by decreasing level, the order of a first pass; as they are unless given.
    """

    terms: Terms
    codes: Array
    log_prior: Array
    preparation: Array
    n_variables: int
    regularization: float = 0.1
    exponent: float = 0.95
    row_weight: Array | None = None
    n_reference: float | None = None
    order: Array | None = None

    @classmethod
    def of(cls, problem: WeightProblem) -> SubsetProblem:
        """F for the data and settings of a problem whose columns are known."""
        if problem.columns is None:
            raise ValueError(
                "The criterion of variable selection needs what is known of the "
                "columns. Got a WeightProblem with columns=None."
            )
        return cls(
            problem.terms,
            problem.codes,
            problem.log_prior,
            problem.columns.preparation,
            problem.columns.n_variables,
            regularization=problem.regularization,
            exponent=problem.exponent,
            row_weight=problem.row_weight,
            n_reference=problem.n_reference,
            order=problem.columns.order,
        )

    def __post_init__(self) -> None:
        terms = self.terms
        set_arrays(self, "preparation")
        every = np.arange(terms.n_terms)
        order = every if self.order is None else np.asarray(self.order, np.int64)
        if not np.array_equal(np.sort(order), every):
            raise ValueError(
                f"The order must hold each of 0..{terms.n_terms - 1} once. Got {order}."
            )
        object.__setattr__(self, "order", order)
        if self.n_variables < terms.n_terms:
            raise ValueError(
                f"n_variables counts all candidates, at least the {terms.n_terms} "
                f"terms. Got {self.n_variables}."
            )

    @property
    def n_terms(self) -> int:
        """Number of weights."""
        return self.terms.n_terms

    @property
    def n_rows(self) -> float:
        """N."""
        if self.n_reference is not None:
            return float(self.n_reference)
        if self.row_weight is None:
            return float(self.terms.n_rows)
        return float(self.row_weight.sum())

    @property
    def variable_prior(self) -> Array:
        """Cost ln K + B_k of a whole variable."""
        return math.log(max(self.n_variables, 1)) + self.preparation

    def prior(self, w: Array) -> float:
        """Code length of the weights, times lambda."""
        if w.any():
            size = math.ceil(w.sum())
            used = float(self.variable_prior @ w**self.exponent)
            code = integer_code(size) - math.lgamma(size + 1.0) + used
        else:
            # ln C(N + J - 1, J - 1)
            n, classes = self.n_rows, self.terms.n_classes
            code = (
                math.lgamma(n + classes) - math.lgamma(n + 1.0) - math.lgamma(classes)
            )
        return self.regularization * (math.log(2.0) + code)

    def value(self, w: Array) -> float:
        """F(w), from scratch."""
        return TrialScores(self, w).value

    def data_cost(self, w: Array) -> float:
        """D(w), from scratch."""
        return self.value(w) - self.prior(w)

    def tolerance(self, null: float) -> float:
        """Least change that counts, 0.01 (1 + |F(0)|) / (1 + N)."""
        return 0.01 * (1.0 + abs(null)) / (1.0 + self.n_rows)


class TrialScores:
    """Weights with their scores, so that changing one of them costs O(N J)."""

    def __init__(self, problem: SubsetProblem, w: Array) -> None:
        self.problem = problem
        self.weights = np.array(w, dtype=np.float64)
        self._scores = problem.terms.relative_scores(self.weights, problem.log_prior)
        self.value = problem.prior(self.weights) + self._whole()

    def _whole(self) -> float:
        terms, problem = self.problem.terms, self.problem
        if terms.n_terms:
            return self._trial(0, 0.0)
        # No term to add nothing of: the same sum from the prior alone.
        p = np.exp(problem.log_prior - np.logaddexp.reduce(problem.log_prior))
        n = problem.n_rows
        smoothed = (n * p + 0.5 / p.size) / (n + 0.5)
        count = np.bincount(problem.codes, problem.row_weight, minlength=p.size)
        return -float(count @ np.log(smoothed))

    def _trial(self, k: int, delta: float) -> float:
        problem = self.problem
        return problem.terms.trial(
            self._scores,
            k,
            delta,
            problem.codes,
            problem.row_weight,
            smoothing_rows=problem.n_rows,
        )

    def trial(self, k: int, weight: float) -> float:
        """F if weight k were this."""
        delta = weight - float(self.weights[k])
        return self.problem.prior(self._with(k, weight)) + self._trial(k, delta)

    def commit(self, k: int, weight: float, value: float) -> None:
        """Give weight k this value, where F has the value its trial found."""
        new, delta = self._with(k, weight), weight - float(self.weights[k])
        # Together and last: an interruption leaves weights and value that agree.
        self.problem.terms.shift(self._scores, k, delta)
        self.weights, self.value = new, value

    def _with(self, k: int, weight: float) -> Array:
        new = self.weights.copy()
        new[k] = weight
        return new
