"""A linear function below the likelihood, and what it proves of any k weights.

The negative log-likelihood is convex: ``NLL(v, b) >= base + slope v`` for all weights v
of the box [0, 1] and all intercepts b, where base and slope come from one residual. The
right side is least where the k most negative slopes have weight one, so no k columns
bring the NLL below ``base + (sum of the k smallest slopes below 0)``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bayesieve.weights._terms import Array

__all__ = ["DualPoint"]

_ROUNDING = 1e-13  # share of the sums that is rounding


@dataclass(frozen=True, eq=False)
class DualPoint:
    """``NLL(v, b) >= base + slope v`` for every v in the box and every b.

    Attributes
    ----------
    base : float
    slope : ndarray of shape (n_columns,)
        At most 0: a weight never helps the bound by being above zero where it would
        raise the NLL.
    rounding : float
        Rounding of the sums, in nats.
    """

    base: float
    slope: Array
    rounding: float

    @classmethod
    def at(
        cls, nll: float, lost: float, gradient: Array, used: Array, weights: Array
    ) -> DualPoint:
        """From the gradient at weights of the `used` columns, all others zero.

        `lost` is what a residual that matches the classes loses.
        """
        moved = gradient[used] * weights
        rounding = _ROUNDING * (nll + lost + float(np.abs(moved).sum()))
        return cls(nll - lost - float(moved.sum()), np.minimum(gradient, 0.0), rounding)

    def take(self, columns: Array) -> DualPoint:
        """The same for some of the columns; the others have no weight."""
        return replace(self, slope=self.slope[columns])

    def least(self, k: int) -> float:
        """What no k columns, whatever their weights, bring the NLL below."""
        slope = self.slope
        if k < slope.size:
            slope = np.partition(slope, k)[:k]
        return max(self.base + float(slope.sum()) - self.rounding, 0.0)

    def least_with_and_without(self, k: int) -> tuple[Array, Array]:
        """The same where a column must be one of the k, and where it must not be."""
        slope, m = self.slope, self.slope.size
        value = self.base - self.rounding
        if k >= m:
            value += float(slope.sum())
            return np.full(m, value), value - slope
        order = np.partition(slope, [k - 1, k])
        last, following = order[k - 1], order[k]
        value += float(order[:k].sum())
        # A column beyond the last one takes its place, one before gives it up.
        chosen = slope <= last
        return (
            value + np.where(chosen, 0.0, slope - last),
            value + np.where(chosen, following - slope, 0.0),
        )
