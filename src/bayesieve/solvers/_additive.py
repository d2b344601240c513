"""Models whose gain is a sum over features: the k largest gains are the optimum.

Bernoulli, Gaussian and categorical naive Bayes differ only in how a column's gain, its
number of extra parameters and its estimates are computed. Supports are nested, so one
ranking answers every k.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesieve.solvers._certificate import Certificate, Solution
from bayesieve.solvers._inputs import warn_of_few_features
from bayesieve.solvers._logs import Floats
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
    estimate : callable
        Estimates for some columns, as `Solution.estimates`.
    """

    gains: Floats
    eligible: NDArray[np.bool_]
    null_value: float
    extra_parameters: float | Floats
    n_rows: float
    class_shares: Floats
    estimate: Callable[[NDArray[np.int64]], Floats]

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
        if k >= self.n_eligible:
            return np.flatnonzero(self.eligible)
        columns, least, _ = top_k(self.gains, k)
        if not least > 0.0:
            # A column that is not eligible has gain 0 and must lose even that tie.
            columns, _, _ = top_k(np.where(self.eligible, self.gains, -1.0), k)
        return np.sort(columns)

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

    def solve(self, k: int) -> Solution:
        """Support of size k, exact; fewer with a warning where too few columns vary."""
        if k > self.n_eligible:
            warn_of_few_features(k, self.n_eligible, what="vary over the rows")
        return self.solution(self.best(k), k)

    def solution(self, columns: NDArray[np.int64], k: int) -> Solution:
        """The given support with its certificate."""
        gains = self.gains[columns]
        total = float(gains.sum())
        certificate = Certificate.from_gains(
            null=self.null_value,
            gain=total,
            relaxation=total,
            nodes=1,
            k=k,
            sharp=total,
            class_shares=self.class_shares,
        )
        return Solution(columns, gains, certificate, self.estimate(columns))
