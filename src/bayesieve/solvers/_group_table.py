"""Groups of columns that are taken whole, behind the face of a table of columns.

At class shares p a group gains the sum of what its columns gain. Sums of counts and
gains at the overall class shares are taken once, in one pass over the columns; from
there gains at any other p are a few products for each group.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bayesieve.solvers._block import Block, Members
from bayesieve.solvers._columns import ACCURACY, ColumnTable
from bayesieve.solvers._logs import UNIT, Floats, log_ratio
from bayesieve.solvers._rules import Rules

__all__ = ["GroupTable"]

#: Accuracy of gains beside the largest of them.
_NEAR = 1e-10
#: Share of the average total of a column below which gains do not matter.
_RARE = 1e-2


class GroupTable:
    """Items of a `MultinomialProblem` that are groups of columns."""

    def __init__(
        self, base: ColumnTable, rules: Rules, shares: Floats, total: float
    ) -> None:
        assert rules.group is not None
        self.base, self.rules, self.anchor = base, rules, shares
        self.n_classes, self.n_features = base.n_classes, rules.n_groups
        # Most columns are rare and gain next to nothing: a share of their average total
        # is near enough for them, and errs by no more than this all together.
        self._scale = _RARE * total / base.n_features
        self._missing = 0.0 if base.is_sparse else ACCURACY * _RARE * total
        self.counts: Any
        if base.is_sparse:
            m = base.n_features
            members = sp.csr_array(
                (np.ones(m), rules.group, np.arange(m + 1)), shape=(m, rules.n_groups)
            )
            self.counts = sp.csc_array(base.counts @ members)
            self.alpha = rules.per_item(base.alpha_of(np.arange(m)))
            self._value = self._sparse_gains(shares)
        else:
            self.counts, self._value, self.alpha = base.group_sums(
                shares, self._scale, rules.group, rules.n_groups
            )
        totals = np.asarray(self.counts.sum(axis=0)).ravel()
        self._filled = np.flatnonzero(totals > 0)
        self._largest = float((totals + self.n_classes * self.alpha).max(initial=0.0))

    def nonempty(self) -> NDArray[np.int64]:
        """Groups with any count."""
        return self._filled

    def gains_of(self, groups: NDArray[np.int64], shares: Floats) -> Floats:
        """Gains of some groups at p."""
        some: Floats = self.gains(shares)[groups]
        return some

    def promising(
        self, shares: Floats, accuracy: float, n: int, least: float
    ) -> tuple[NDArray[np.int64], Floats]:
        """Groups with any count and their gains at p: all, which are no less than n."""
        return self._filled, self.gains(shares, accuracy)[self._filled]

    def _sparse_gains(self, shares: Floats) -> Floats:
        gains = self.base.gains(shares)
        # A column without counts has its smoothing: the same in every class.
        filled = np.zeros(self.base.n_features, dtype=bool)
        filled[self.base.with_total(0.0)] = True
        empty = np.flatnonzero(~filled)
        beyond = -float(np.log(self.n_classes * shares[shares > 0]).sum())
        gains[empty] = self.base.alpha_of(empty) * max(beyond, 0.0)
        return self.rules.per_item(gains)

    def gains(self, shares: Floats, accuracy: float = _NEAR) -> Floats:
        """Gain of every group at p, to this accuracy beside the largest of them."""
        ratio = log_ratio(shares, self.anchor)
        steepest = float(np.abs(ratio).max())
        if steepest == 0.0:
            return self._value
        counts = self.counts.T @ ratio if self.base.is_sparse else ratio @ self.counts
        gains: Floats = self._value - counts - self.alpha * ratio.sum()
        rough = (8 + 2 * self.n_classes) * UNIT * self._largest * steepest
        if rough <= accuracy * float(gains.max(initial=0.0)):
            return gains
        if self.base.is_sparse:
            return self._sparse_gains(shares)
        assert self.rules.group is not None
        sums = self.base.group_sums(
            shares, self._scale, self.rules.group, self.n_features
        )
        return sums[1]

    def with_gain(self, shares: Floats, level: float) -> NDArray[np.int64]:
        """Groups whose gain at p reaches the level."""
        gains = self.gains(shares)
        near = _NEAR * float(gains.max(initial=0.0)) + self._missing
        return np.flatnonzero(gains + near >= level)

    def block(self, groups: NDArray[np.int64], anchor: Floats) -> Block:
        """Some groups as candidates, their gains taken at the anchor."""
        rules = self.rules
        assert rules.group is not None
        columns = rules.columns_of(groups)
        place = np.searchsorted(groups, rules.group[columns])
        part, alpha = self.base.counts[:, columns], self.base.alpha_of(columns)
        if not self.base.is_sparse:
            part = part + alpha
        members = Members(part, alpha if self.base.is_sparse else None, place)
        counts = self.counts[:, groups]
        if not self.base.is_sparse:
            counts = counts + self.alpha[groups]
        return Block.of(
            groups,
            counts,
            self.alpha[groups] if self.base.is_sparse else None,
            anchor,
            positive=bool((alpha > 0).all()),
            members=members,
        )
