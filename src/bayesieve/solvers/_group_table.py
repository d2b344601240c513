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

#: Rounding of gains that are taken from another anchor, beside the largest of them.
_NEAR = 1e-11


class GroupTable:
    """Items of a `MultinomialProblem` that are groups of columns."""

    def __init__(self, base: ColumnTable, rules: Rules) -> None:
        assert rules.group is not None
        self.base, self.rules = base, rules
        self.n_classes, self.n_features = base.n_classes, rules.n_groups
        self.counts: Any
        if base.is_sparse:
            m = base.n_features
            members = sp.csr_array(
                (np.ones(m), rules.group, np.arange(m + 1)), shape=(m, rules.n_groups)
            )
            self.counts = sp.csc_array(base.counts @ members)
        else:
            self.counts = np.vstack([rules.per_item(row) for row in base.counts])
        self.alpha = rules.per_item(base.alpha_of(np.arange(base.n_features)))
        self._anchored: tuple[Floats, Floats] | None = None

    def nonempty(self) -> NDArray[np.int64]:
        """Groups with any count."""
        totals = np.asarray(self.counts.sum(axis=0)).ravel()
        return np.flatnonzero(totals > 0)

    def gains(self, shares: Floats, accuracy: float = ACCURACY) -> Floats:
        """Gain of every group at p, those of its columns without counts included."""
        gains = self.base.gains(shares, accuracy)
        if self.base.alpha.max() > 0:
            # A column without counts has its smoothing: the same in every class.
            filled = np.zeros(self.base.n_features, dtype=bool)
            filled[self.base.with_total(0.0)] = True
            empty = np.flatnonzero(~filled)
            if empty.shape[0]:
                beyond = -float(np.log(self.n_classes * shares).sum())
                gains[empty] = self.base.alpha_of(empty) * max(beyond, 0.0)
        return self.rules.per_item(gains)

    def with_gain(self, shares: Floats, level: float) -> NDArray[np.int64]:
        """Groups whose gain at p reaches the level."""
        if self._anchored is None:
            self._anchored = (shares, self.gains(shares))
        anchor, value = self._anchored
        ratio = log_ratio(shares, anchor)
        counts = self.counts.T @ ratio if self.base.is_sparse else ratio @ self.counts
        gains = value - counts - self.alpha * ratio.sum()
        totals = np.asarray(self.counts.sum(axis=0)).ravel()
        largest = float((totals + self.n_classes * self.alpha).max(initial=0.0))
        rough = (8 + 2 * self.n_classes) * UNIT * largest * float(np.abs(ratio).max())
        if rough > _NEAR * level:
            gains = self.gains(shares)
            rough = 0.0
        return np.flatnonzero(gains + rough >= level)

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
