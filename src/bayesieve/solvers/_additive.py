"""Models whose gain is a sum over features: the k largest gains are the optimum.

Bernoulli, Gaussian and categorical naive Bayes differ only in how a column's gain, its
number of extra parameters and its estimates are computed. Supports are nested, so one
ranking answers every k. The ranking is that of computed gains: `AdditiveProblem.doubt`
bounds their rounding, and where it may have changed the k largest the certificate
does not call them optimal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesieve.solvers._certificate import Certificate, Solution
from bayesieve.solvers._inputs import warn_of_few_features
from bayesieve.solvers._logs import ROUNDING_UNITS, UNIT, Floats
from bayesieve.solvers._topk import top_k
from bayesieve.utils._computed_once import computed_once

__all__ = ["AdditiveProblem"]


@dataclass(frozen=True)
class AdditiveProblem:
    """Gains of all columns under one additive model.

    Attributes
    ----------
    gains : ndarray of shape (n_features,)
        Gain over the null model in nats; 0 for a column that cannot be selected.
    eligible : ndarray of bool of shape (n_features,)
        Columns that vary; the others say nothing and are never selected.
    null_value : float
        Log-likelihood without features.
    extra_parameters : float or ndarray of shape (n_features,)
        Parameters that a selected column adds, for BIC.
    n_rows : float
        Rows, or the sum of their weights.
    class_shares : ndarray of shape (n_classes,)
    weight : float
        At least the sum of the smoothed counts of a column, which bounds its rounding.
    estimate : callable
        Estimates for some columns, as `Solution.estimates`.
    """

    gains: Floats
    eligible: NDArray[np.bool_]
    null_value: float
    extra_parameters: float | Floats
    n_rows: float
    class_shares: Floats
    weight: float
    estimate: Callable[[NDArray[np.int64]], Floats]
    #: Where only leading columns are held: their numbers in the table, in order.
    columns: NDArray[np.int64] | None = None

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.gains.shape[0])

    @computed_once
    def n_eligible(self) -> int:
        """Number of columns that may be selected."""
        return int(self.eligible.sum())

    @computed_once
    def ranking(self) -> NDArray[np.int64]:
        """Eligible columns by falling gain, ties by index."""
        columns = np.flatnonzero(self.eligible)
        return columns[np.argsort(-self.gains[columns], kind="stable")]

    def best(self, k: int) -> NDArray[np.int64]:
        """The k eligible columns of largest gain, sorted by index."""
        return self._in_table(self._best_and_following(k)[0])

    def _in_table(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        return columns if self.columns is None else self.columns[columns]

    def _best_and_following(self, k: int) -> tuple[NDArray[np.int64], float]:
        """The k eligible columns of largest gain, and the largest gain outside."""
        if k >= self.n_eligible:
            return np.flatnonzero(self.eligible), -math.inf
        columns, least, following = top_k(self.gains, k)
        if not least > 0.0:
            # A column that is not eligible has gain 0 and must lose even that tie.
            columns, _, following = top_k(np.where(self.eligible, self.gains, -1.0), k)
        return np.sort(columns), following

    def best_by_bic(self) -> NDArray[np.int64]:
        """Columns whose gain exceeds their share of the BIC penalty, at least one.

        A column changes BIC by ``-2 gain + extra_parameters log n``, so the minimiser
        over all supports keeps exactly those where this is negative.
        """
        penalty = (
            0.5 * math.log(max(self.n_rows, 1.0)) * np.asarray(self.extra_parameters)
        )
        surplus = np.where(self.eligible, self.gains - penalty, -np.inf)
        columns = np.flatnonzero(surplus > 0)
        if not columns.shape[0] and self.n_eligible:
            columns = np.array([int(np.argmax(surplus))])
        return columns

    def doubt(self, gains: Floats) -> Floats:
        """How far rounding may have moved gains of columns.

        A gain is a sum of divergences, which err by units in the last place of
        themselves and of ``sum |F - e|``; Pinsker's inequality bounds the latter by
        ``sqrt(2 weight gain)``.
        """
        units = (ROUNDING_UNITS + 2 * self.class_shares.shape[0]) * UNIT
        first = gains + np.sqrt(2.0 * self.weight * gains)
        result: Floats = units * first + units**2 * self.weight
        return result

    def solve(self, k: int) -> Solution:
        """Support of size k, exact; fewer with a warning where too few columns vary."""
        if k > self.n_eligible:
            warn_of_few_features(k, self.n_eligible, what="vary over the rows")
        return self.solution(*self._best_and_following(min(k, self.n_eligible)), k)

    def solution(
        self, columns: NDArray[np.int64], following: float, k: int
    ) -> Solution:
        """A support with its certificate; minus infinity if no other is meant."""
        gains = self.gains[columns]
        certificate = self.certificate(gains, k, following)
        support = self._in_table(columns)
        return Solution(support, gains, certificate, self.estimate(columns))

    def certificate(self, gains: Floats, k: int, following: float) -> Certificate:
        """What is proven of a support by its gains and the largest one outside it."""
        total = float(gains.sum())
        each = self.doubt(gains)
        # Sums are added in blocks of 128, then in pairs.
        doubt = float(each.sum()) + 64 * UNIT * total
        others = -math.inf
        if following >= 0.0:
            # No exchange adds more than the outsider at its upper end, less the chosen
            # one at its lower end.
            most = following + float(self.doubt(np.array(following)))
            missing = float(np.maximum(most - (gains - each), 0.0).sum())
            if missing > 0.0:
                others = total - doubt + missing
        return Certificate.from_gains(
            null=self.null_value,
            gain=total,
            others=others,
            relaxation=total,
            nodes=1,
            k=k,
            sharp=total,
            class_shares=self.class_shares,
            doubt=doubt,
        )
