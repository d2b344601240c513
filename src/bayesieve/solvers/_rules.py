"""Which supports are allowed: columns fixed in or out, groups, costs and a budget.

All in numbers of columns; `_rule_input` reads what users write. Solvers choose among
*items*: columns, or whole groups of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.solvers._choice import Choice
from bayesieve.solvers._inputs import check_size
from bayesieve.solvers._logs import Floats
from bayesieve.utils._computed_once import computed_once
from bayesieve.utils._device_arrays import device_of, is_on_device

__all__ = [
    "Indices",
    "Rules",
    "allowed_size",
    "check_device_rules",
    "most_affordable",
    "refuse_device_rules",
    "told_column",
]

Indices = NDArray[np.int64]

#: Sums of costs may exceed a budget by this share of it: three times 0.1 is 0.3.
_ROUNDING = 1e-12
_NONE: Indices = np.empty(0, dtype=np.int64)


def most_affordable(budget: float) -> float:
    """What costs within a budget may sum to, with room for rounding."""
    return budget * (1 + _ROUNDING)


@dataclass(frozen=True, eq=False)
class Rules:
    """Allowed supports of a table, in numbers of columns.

    Attributes
    ----------
    n_features : int
    include, exclude : ndarray of int64
        Columns of every allowed support, and of none; sorted.
    group : ndarray of int64 of shape (n_features,) or None
        Number of each column's group.
    n_groups : int
    max_per_group : int or None
        Columns that a support may have of one group; None takes groups whole.
    cost : ndarray of shape (n_features,) or None
        Of each column, >= 0.
    budget : float
        What a support may cost together.
    """

    n_features: int
    include: Indices
    exclude: Indices
    group: Indices | None
    n_groups: int
    max_per_group: int | None
    cost: Floats | None
    budget: float

    @property
    def are_groups_whole(self) -> bool:
        """Whether the items of a support are groups."""
        return self.group is not None and self.max_per_group is None

    @property
    def limits_choice(self) -> bool:
        """Whether more than the number of items decides which may be together."""
        return self.max_per_group is not None or self.cost is not None

    @property
    def n_items(self) -> int:
        """Number of columns, or of groups that are taken whole."""
        return self.n_groups if self.are_groups_whole else self.n_features

    @property
    def included(self) -> Indices:
        """Items of every support, sorted."""
        return self._items(self.include)

    @property
    def excluded(self) -> Indices:
        """Items of no support, sorted; a group goes with any one of its columns."""
        return self._items(self.exclude)

    @property
    def impossible(self) -> Indices:
        """Items that cannot join what is included, sorted."""
        if not self.limits_choice or (self.cost is None and not self.include.size):
            return _NONE
        out = np.zeros(self.n_items, dtype=bool)
        if self.max_per_group is not None:
            assert self.group is not None
            used = np.bincount(self.group[self.include], minlength=self.n_groups)
            if (used >= self.max_per_group).any():
                out |= (used >= self.max_per_group)[self.group]
        cost = self.item_cost
        if cost is not None:
            out |= cost > most_affordable(self.budget) - cost[self.included].sum()
        out[self.included] = False
        return np.flatnonzero(out)

    def _items(self, columns: Indices) -> Indices:
        if not self.are_groups_whole or not columns.shape[0]:
            return columns
        assert self.group is not None
        return np.unique(self.group[columns])

    @computed_once
    def item_cost(self) -> Floats | None:
        """Cost of each item."""
        if self.cost is None or not self.are_groups_whole:
            return self.cost
        return self.per_item(self.cost)

    def per_item(self, values: Floats) -> Floats:
        """Sums of values of columns over the items."""
        if not self.are_groups_whole:
            return values
        assert self.group is not None
        sums = np.bincount(self.group, values, minlength=self.n_groups)
        return sums.astype(np.float64, copy=False)

    def columns_of(self, items: Indices) -> Indices:
        """The columns of some items, sorted."""
        if not self.are_groups_whole:
            return items
        assert self.group is not None
        wanted = np.zeros(self.n_groups, dtype=bool)
        wanted[items] = True
        return np.flatnonzero(wanted[self.group])

    def choice(self, items: Indices) -> Choice:
        """Which of some items may join together."""
        group = room = cost = None
        if self.max_per_group is not None:
            assert self.group is not None
            distinct, group = np.unique(self.group[items], return_inverse=True)
            room = np.full(distinct.shape[0], self.max_per_group)
        if self.item_cost is not None:
            cost = self.item_cost[items]
        return Choice(group, room, cost, most_affordable(self.budget))

    def check_size(self, k: int, owner: str) -> None:
        """Refuse a size that is too small for what must be included."""
        needed = self.included.shape[0]
        if needed > k:
            what = "groups" if self.are_groups_whole else "features"
            raise ValueError(
                f"The 'include' parameter of {owner} must name at most k={k} {what}. "
                f"Got {needed}."
            )

    def check(self, owner: str, names: Any) -> None:
        """Refuse rules that no support meets."""
        both = np.intersect1d(self.include, self.exclude)
        if both.shape[0]:
            raise ValueError(
                f"The parameters 'include' and 'exclude' of {owner} must not share a "
                f"feature. Got {told_column(both[0], names)} in both."
            )
        if self.are_groups_whole and np.intersect1d(self.included, self.excluded).size:
            raise ValueError(
                f"The parameters 'include' and 'exclude' of {owner} must not share a "
                "group where groups are taken whole. Got one with a column in each."
            )
        if self.max_per_group is not None and self.include.shape[0]:
            assert self.group is not None
            most = int(np.unique(self.group[self.include], return_counts=True)[1].max())
            if most > self.max_per_group:
                raise ValueError(
                    f"The 'include' parameter of {owner} must have at most "
                    f"max_per_group={self.max_per_group} features of one group. "
                    f"Got {most}."
                )
        if self.item_cost is not None:
            spent = float(self.item_cost[self.included].sum())
            if spent > most_affordable(self.budget):
                raise ValueError(
                    f"The 'budget' parameter of {owner} must pay for what is included. "
                    f"Got {self.budget:g} for a cost of {spent:g}."
                )


def allowed_size(k: Any, rules: Rules | None, *, solver: str) -> int:
    """A size that the rules allow; None is as many as they allow."""
    if k is None and rules is not None and rules.limits_choice:
        return rules.n_items
    size = check_size(k, solver=solver)
    if rules is not None:
        rules.check_size(size, solver)
    return size


def told_column(column: Any, names: Any) -> str:
    """A column by its name, or its number."""
    return f"column {int(column)}" if names is None else repr(str(names[int(column)]))


def refuse_device_rules(counts: Any, given: tuple[Any, ...], *, solver: str) -> None:
    """Refuse rules where only the leading columns are taken from a device."""
    if any(one is not None for one in given):
        raise ValueError(
            f"{solver} keeps to rules (include, exclude, groups, feature_cost) only of "
            "Bernoulli counts in the memory of the host. Got an array on "
            f"{device_of(counts)}. Hint: leave columns out there, or pass NumPy's."
        )


def check_device_rules(counts: Any, rules: Rules | None, *, solver: str) -> None:
    """Refuse groups taken whole, which would need all columns, on a device."""
    if rules is not None and rules.are_groups_whole and is_on_device(counts):
        raise ValueError(
            f"{solver} takes groups whole only of counts in the memory of the host. "
            f"Got an array on {device_of(counts)}. Hint: add up the counts of each "
            "group there and select among the sums, or pass a NumPy array."
        )
