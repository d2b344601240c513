"""The regularised criterion of the weighted classifier, to be minimised.

``CR(w) = sum_n NLL_n(w) + lambda sum_k c_k w_k^p`` over weights in [0, 1]. The first
sum is convex; the penalty is convex for p >= 1 and concave for p < 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from bayesieve.weights._terms import Array, Terms

__all__ = [
    "POWER_FLOOR",
    "ColumnPrior",
    "WeightProblem",
    "compression_rate_of",
    "feature_costs",
    "tangent_slopes",
]

# w^(p-1) is unbounded at 0 for p < 1: derivatives are taken at max(w, POWER_FLOOR).
POWER_FLOOR = 1e-3


def feature_costs(preparation: Array | None, n_variables: int) -> Array:
    """Cost c_k = max(0, ln K - 1 + B_k) of every variable.

    Parameters
    ----------
    preparation : ndarray of shape (n_terms,) or None
        Preparation costs B_k, the prior part of the cost of each partition; None for
        variables that were not prepared (B_k = 1, one cost for `n_variables` terms).
    n_variables : int
        K, the number of candidate variables, uninformative ones included.
    """
    if preparation is None:
        preparation = np.ones(n_variables)
    return np.maximum(
        0.0, math.log(max(n_variables, 1)) - 1.0 + np.asarray(preparation, np.float64)
    )


def tangent_slopes(slope: Array, exponent: float, w: Array) -> Array:
    """Slopes at w of the concave penalty (p < 1), an upper bound that is exact there.

    Zero where w is, for weights that stay at zero.
    """
    used = w > 0.0
    tangent = np.zeros_like(slope)
    tangent[used] = slope[used] * exponent * w[used] ** (exponent - 1.0)
    return tangent


def compression_rate_of(nll: float, nll_prior: float) -> float:
    """1 - NLL(model) / NLL(prior only), both on the same rows; 0 if the prior is sure.

    The prior keeps the class probabilities of training, so weights of zero give
    exactly 0 whatever the rows.
    """
    return 1.0 - nll / nll_prior if nll_prior > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class ColumnPrior:
    """What is known of the columns of a table before their weights.

    Parameters
    ----------
    preparation : ndarray of shape (n_terms,)
        B_k of each term.
    n_variables : int
        K, all candidate columns, uninformative ones included.
    places : ndarray of shape (n_terms,)
        Number of each term's column in the table.
    order : ndarray of shape (n_terms,)
        Terms by decreasing level.
    """

    preparation: Array
    n_variables: int
    places: Array
    order: Array

    def select(self, chosen: Array) -> ColumnPrior:
        """The same for some of the terms."""
        return replace(
            self,
            preparation=self.preparation[chosen],
            places=self.places[chosen],
            order=np.argsort(np.argsort(self.order)[chosen], kind="stable"),
        )


@dataclass(frozen=True, eq=False)
class WeightProblem:
    """Data and settings of one criterion.

    Parameters
    ----------
    terms : PartTerms or DenseTerms
        Log-likelihoods of K terms.
    codes : ndarray of shape (n_rows,)
        Class of each row, 0 to J - 1.
    log_prior : ndarray of shape (n_classes,)
        ln P(C_j), finite.
    cost : ndarray of shape (n_terms,)
        c_k >= 0, see `feature_costs`.
    regularization : float
        lambda >= 0.
    exponent : float
        p > 0.
    row_weight : ndarray of shape (n_rows,), optional
        A weight of 2 is a row twice.
    n_reference : float, optional
        Rows the penalty is meant for, when those of the problem are a sample or a
        window of them: the penalty is then multiplied by their share.
    columns : ColumnPrior, optional
        For optimisers with a criterion of their own, see `SubsetProblem.of`.
    """

    terms: Terms
    codes: Array
    log_prior: Array
    cost: Array
    regularization: float = 0.1
    exponent: float = 1.0
    row_weight: Array | None = None
    n_reference: float | None = None
    columns: ColumnPrior | None = None
    _slope: Array = field(init=False, repr=False)
    _total: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "codes", np.ascontiguousarray(self.codes, dtype=np.int32))
        for name in ("log_prior", "cost", "row_weight"):
            array = getattr(self, name)
            if array is not None:
                set_field(self, name, np.ascontiguousarray(array, dtype=np.float64))
        terms = self.terms
        if self.codes.shape != (terms.n_rows,):
            raise ValueError(
                f"Codes must have shape ({terms.n_rows},). Got {self.codes.shape}."
            )
        if self.codes.size and not (
            0 <= self.codes.min() <= self.codes.max() < terms.n_classes
        ):
            raise ValueError(f"Codes must be in 0..{terms.n_classes - 1}.")
        if (
            self.log_prior.shape != (terms.n_classes,)
            or not np.isfinite(self.log_prior).all()
        ):
            raise ValueError(
                f"The log prior must have {terms.n_classes} finite values. "
                f"Got {self.log_prior}."
            )
        if self.cost.shape != (terms.n_terms,) or not (self.cost >= 0.0).all():
            raise ValueError(
                f"Costs must be {terms.n_terms} numbers >= 0. Got {self.cost}."
            )
        if self.row_weight is not None and (
            self.row_weight.shape != (terms.n_rows,) or not (self.row_weight >= 0).all()
        ):
            raise ValueError(f"Row weights must be {terms.n_rows} numbers >= 0.")
        if not self.regularization >= 0.0 or not self.exponent > 0.0:
            raise ValueError(
                "Regularization must be >= 0 and the exponent > 0. "
                f"Got {self.regularization} and {self.exponent}."
            )
        total = terms.n_rows if self.row_weight is None else self.row_weight.sum()
        share = 1.0 if self.n_reference is None else total / self.n_reference
        set_field(self, "_slope", self.regularization * share * self.cost)
        set_field(self, "_total", float(total))

    def select(self, chosen: Array) -> WeightProblem:
        """The problem of some of the terms."""
        return replace(
            self,
            terms=self.terms.select(chosen),
            cost=self.cost[chosen],
            columns=None if self.columns is None else self.columns.select(chosen),
        )

    @property
    def n_terms(self) -> int:
        """K, the number of weights."""
        return self.terms.n_terms

    @property
    def n_rows(self) -> float:
        """Sum of the row weights, which per-row values are divided by."""
        return self._total or 1.0

    @property
    def is_convex(self) -> bool:
        """Whether the penalty, hence the criterion, is convex."""
        return self.exponent >= 1.0 or not self._slope.any()

    @property
    def slope(self) -> Array:
        """Penalty lambda c_k of a weight of one."""
        return self._slope

    def penalty(self, w: Array) -> float:
        """Penalty lambda sum_k c_k w_k^p."""
        if self.exponent != 1.0:
            w = w**self.exponent
        return float(self._slope @ w)

    def penalty_gradient(self, w: Array) -> Array:
        """Derivative of the penalty; for p < 1 at max(w, 1e-3), so always finite."""
        p = self.exponent
        if p == 1.0:
            return self._slope
        if p < 1.0:
            w = np.maximum(w, POWER_FLOOR)
        return np.asarray(self._slope * p * w ** (p - 1.0))

    def nll(self, w: Array) -> float:
        """Sum of negative log-likelihoods."""
        return self.terms.value(w, self.log_prior, self.codes, self.row_weight)

    def value(self, w: Array) -> float:
        """CR(w)."""
        return self.nll(w) + self.penalty(w)

    def value_gradient(self, w: Array) -> tuple[float, Array]:
        """CR(w) and its gradient."""
        nll, gradient = self.terms.value_gradient(
            w, self.log_prior, self.codes, self.row_weight
        )
        return nll + self.penalty(w), gradient + self.penalty_gradient(w)

    def per_row(self, w: Array) -> float:
        """q(w) = CR(w) / N."""
        return self.value(w) / self.n_rows

    def batch_gradient(self, w: Array, rows: Array | slice | None) -> Array:
        """Gradient of q(w) on some rows.

        The mean over the batch estimates the mean over all rows, and the penalty is
        divided by all rows, so it keeps its strength for every batch size.
        """
        if rows is None:
            _, gradient = self.terms.value_gradient(
                w, self.log_prior, self.codes, self.row_weight
            )
            total = self.n_rows
        else:
            weight = None if self.row_weight is None else self.row_weight[rows]
            codes = self.codes[rows]
            _, gradient = self.terms.take(rows).value_gradient(
                w, self.log_prior, codes, weight
            )
            total = float(codes.size if weight is None else weight.sum()) or 1.0
        share: Array = self.penalty_gradient(w) / self.n_rows
        return share + gradient / total
