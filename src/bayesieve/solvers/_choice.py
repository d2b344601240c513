"""Which candidates may join a support together, beside their number.

At fixed class shares a support is a sum of gains, so a bound needs the best sum over
the allowed supports. At most so many of each group: the largest gains, taken as long as
their groups have room, are the best (a partition matroid). A budget is paid for by a
price: gains less price times cost, plus the price of the whole budget, bound the gain
of every support within it, whatever the price.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayesieve.solvers._logs import Floats
from bayesieve.solvers._topk import top_k

__all__ = ["Choice"]

Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Choice:
    """Room in groups and money left, for the candidates of one block.

    ``group`` numbers the group of each candidate, ``room`` says how many of each group
    may still join; ``cost`` is what each candidate costs, ``budget`` what is left, with
    some more for rounding.
    """

    group: Indices | None = None
    room: Indices | None = None
    cost: Floats | None = None
    budget: float = math.inf
    price: float = 0.0

    def take(self, keep: Indices, choose: Indices) -> Choice:
        """What is left for these candidates once those have joined."""
        room, budget = self.room, self.budget
        if choose.shape[0]:
            if room is not None:
                assert self.group is not None
                used = np.bincount(self.group[choose], minlength=room.shape[0])
                room = room - used
            if self.cost is not None:
                budget = budget - float(self.cost[choose].sum())
        return replace(
            self,
            group=None if self.group is None else self.group[keep],
            room=room,
            cost=None if self.cost is None else self.cost[keep],
            budget=budget,
        )

    @property
    def is_broken(self) -> bool:
        """Whether more has joined than is allowed."""
        full = self.room is not None and bool((self.room < 0).any())
        return full or self.budget < 0.0

    def possible(self, n: int) -> Mask:
        """Candidates that may join at all."""
        allowed = np.ones(n, dtype=bool)
        if self.room is not None:
            assert self.group is not None
            allowed &= self.room[self.group] > 0
        if self.cost is not None:
            allowed &= self.cost <= self.budget
        return allowed

    def fits(self, positions: Indices) -> bool:
        """Whether these candidates may join together."""
        if self.room is not None:
            assert self.group is not None
            used = np.bincount(self.group[positions], minlength=self.room.shape[0])
            if (used > self.room).any():
                return False
        if self.cost is None:
            return True
        return float(self.cost[positions].sum()) <= self.budget

    def refund(self, positions: Indices) -> float:
        """Price of the money that these candidates leave: negative if too little."""
        if self.cost is None or self.price == 0.0:
            return 0.0
        return self.price * (self.budget - float(self.cost[positions].sum()))

    def priced(self, gains: Floats) -> Floats:
        """Gains less what the candidates cost."""
        if self.cost is None or self.price == 0.0:
            return gains
        result: Floats = gains - self.price * self.cost
        return result

    # -------------------------------------------------------------------- maximising

    def largest(self, gains: Floats, k: int) -> Indices:
        """Best candidates, k at most, as far as groups go; sorted, gains above 0."""
        n = gains.shape[0]
        wanted = n if self.room is None else min(n, 4 * k + 64)
        while True:
            if self.room is None:
                chosen = top_k(gains, k)[0]
                return chosen[gains[chosen] > 0.0]
            near, least, _ = top_k(gains, wanted)
            kept = near[gains[near] > 0.0]
            kept = kept[np.argsort(-gains[kept], kind="stable")]
            kept = kept[self._rank(kept) < self._room_of(kept)]
            if kept.shape[0] >= k or wanted == n or not least > 0.0:
                return np.sort(kept[:k])
            wanted = min(n, 4 * wanted)

    def _room_of(self, positions: Indices) -> Indices:
        assert self.group is not None
        assert self.room is not None
        return self.room[self.group[positions]]

    def _rank(self, ordered: Indices) -> Indices:
        """How many before each one, in this order, are of its group."""
        assert self.group is not None
        groups = self.group[ordered]
        by_group = np.argsort(groups, kind="stable")
        sorted_groups = groups[by_group]
        starts = np.flatnonzero(
            np.append(True, sorted_groups[1:] != sorted_groups[:-1])
        )
        lengths = np.diff(np.append(starts, groups.shape[0]))
        rank = np.empty(groups.shape[0], dtype=np.int64)
        rank[by_group] = np.arange(groups.shape[0]) - np.repeat(starts, lengths)
        return rank

    def levels(
        self, gains: Floats, k: int, top: Indices
    ) -> tuple[float, Floats | None]:
        """Gain that a candidate must reach to join: in general, and by group.

        Those of full groups must exceed the least of their group.
        """
        full = top.shape[0] >= k
        floor = float(gains[top].min()) if full and top.shape[0] else 0.0
        if self.room is None:
            return floor, None
        assert self.group is not None
        level = np.full(self.room.shape[0], floor)
        used = np.bincount(self.group[top], minlength=self.room.shape[0])
        least = np.full(self.room.shape[0], np.inf)
        np.minimum.at(least, self.group[top], gains[top])
        closed = used >= self.room
        level[closed] = least[closed]
        return floor, level

    def losses(self, gains: Floats, k: int, top: Indices) -> Floats:
        """What each candidate costs if it is decided against the best choice."""
        floor, level = self.levels(gains, k, top)
        member = np.zeros(gains.shape[0], dtype=bool)
        member[top] = True
        rest = np.flatnonzero(~member)
        loss = np.empty(gains.shape[0])
        full = top.shape[0] >= k
        if level is None:
            following = float(gains[rest].max(initial=0.0)) if full else 0.0
            loss[rest] = floor - gains[rest]
            loss[top] = gains[top] - following
            return loss
        assert self.group is not None
        assert self.room is not None
        of_rest = self.group[rest]
        loss[rest] = level[of_rest] - gains[rest]
        used = np.bincount(self.group[top], minlength=self.room.shape[0])
        open_groups = used < self.room
        following = 0.0
        if full:
            following = float(gains[rest[open_groups[of_rest]]].max(initial=0.0))
        in_group = np.zeros(self.room.shape[0])
        np.maximum.at(in_group, of_rest, gains[rest])
        loss[top] = gains[top] - np.maximum(following, in_group[self.group[top]])
        return loss

    def within_budget(self, gains: Floats, k: int) -> Indices:
        """Good candidates that may join together, by priced gains and what they pay."""
        assert self.cost is not None
        top = self.largest(self.priced(gains), k)
        if self.fits(top) and top.shape[0] >= min(k, gains.shape[0]):
            return top
        near = top_k(self.priced(gains), min(gains.shape[0], 2 * k + 128))[0]
        order = near[np.argsort(-self.priced(gains)[near], kind="stable")]
        cost = self.cost[order].tolist()
        group = None if self.group is None else self.group[order].tolist()
        room = None if self.room is None else self.room.tolist()
        left = self.budget
        taken: list[int] = []
        for place, one in enumerate(order.tolist()):
            if len(taken) == k:
                break
            if cost[place] > left or (room and group and room[group[place]] <= 0):
                continue
            taken.append(one)
            left -= cost[place]
            if room and group:
                room[group[place]] -= 1
        return np.sort(np.array(taken, dtype=np.int64))

    def start_price(self, gains: Floats, k: int) -> float:
        """Gain for each unit of cost where the budget ends, best candidates first."""
        assert self.cost is not None
        paid = np.flatnonzero((self.cost > 0) & (gains > 0))
        if not paid.shape[0]:
            return 0.0
        worth = gains[paid] / self.cost[paid]
        order = np.argsort(-worth, kind="stable")
        spent = np.cumsum(self.cost[paid][order])
        last = int(np.searchsorted(spent, max(self.budget, 0.0)))
        return float(worth[order[min(last, paid.shape[0] - 1)]])

    def swaps(self, leaving: Indices, joining: Indices, top: Indices) -> Mask:
        """Which of these may join for which of those, beside the others of a choice."""
        allowed = np.ones((leaving.shape[0], joining.shape[0]), dtype=bool)
        if self.room is not None:
            assert self.group is not None
            used = np.bincount(self.group[top], minlength=self.room.shape[0])
            free = (used < self.room)[self.group[joining]]
            same = self.group[leaving][:, None] == self.group[joining]
            allowed &= free | same
        if self.cost is not None:
            spent = float(self.cost[top].sum())
            after = spent - self.cost[leaving][:, None] + self.cost[joining]
            allowed &= after <= self.budget
        return allowed
