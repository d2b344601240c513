"""A count table made ready for solving: pruned, then verified in full.

The table may have millions of columns while a support lives on a few thousand. Solving
therefore alternates between a small block of candidates and one compiled pass over the
table that finds every column whose gain reaches the level that matters; when none is
missing from the block, its bounds hold for the whole table.
"""

from __future__ import annotations

import itertools
import math
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve import _core
from bayesieve.solvers._block import Block
from bayesieve.solvers._branch import (
    PRUNE_TOLERANCE,
    Limits,
    SearchResult,
    branch_and_bound,
)
from bayesieve.solvers._columns import (
    ROUNDING,
    ColumnTable,
    equal_columns,
    least_total,
    merged,
)
from bayesieve.solvers._device_columns import DeviceColumns
from bayesieve.solvers._device_table import DeviceTable
from bayesieve.solvers._dual import Relaxation, relax
from bayesieve.solvers._group_table import GroupTable
from bayesieve.solvers._logs import UNIT, Floats, log_ratio
from bayesieve.solvers._rules import Rules
from bayesieve.solvers._swaps import improve_by_swaps
from bayesieve.solvers._topk import top_k
from bayesieve.utils._computed_once import computed_once

__all__ = ["MultinomialProblem", "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """Result of one solve, in gains over the null model.

    ``others`` bounds every other support in exact arithmetic; minus infinity where all
    are proven no better. The gain errs by no more than its ``doubt``.
    """

    support: NDArray[np.int64]
    gain: float
    doubt: float
    others: float
    relaxation: float
    shares: Floats
    nodes: int
    stopped: bool


@dataclass(frozen=True)
class _Scan:
    counted: float  # sum of all counts, without smoothing
    class_totals: Floats
    null_value: float
    n_nonempty: int
    total_levels: Floats  # lower edges of the histogram of column totals
    columns_above: NDArray[np.int64]  # columns with a total of at least that


@dataclass(frozen=True)
class _Pool:
    """Columns of large total, as a table of their own: nearly all passes go over it."""

    columns: NDArray[np.int64]
    table: ColumnTable
    least_total: float


@dataclass
class _Start:
    """Columns of large total with their gains at the overall class shares."""

    columns: NDArray[np.int64]
    gains: Floats
    ranking: NDArray[np.int64]  # positions of the largest gains so far, falling

    def best(self, wanted: int) -> NDArray[np.int64]:
        """The columns of largest gain, sorted by index."""
        if self.ranking.shape[0] < min(wanted, self.columns.shape[0]):
            top, _, _ = top_k(self.gains, wanted)
            self.ranking = top[np.argsort(-self.gains[top], kind="stable")]
        return self.columns[np.sort(self.ranking[:wanted])]


#: A pool of this many columns is not worth shrinking.
_SMALL_POOL = 1 << 13
#: The first pool has this many columns, or a power of two that is 16 times k.
_FIRST_POOL = 1 << 18
#: Accuracy of gains that only say where to begin.
_TO_RANK = 2.0**-16
#: Nodes of a search that begins where another size ended.
_WARM_NODES = 100
#: Up to these sizes a table without signal is proven to be one.
_FEW_CELLS = 10_000_000
_FEW_COLUMNS = 1000


class MultinomialProblem:
    """Sparse multinomial naive Bayes on one table of counts and one smoothing.

    Parameters
    ----------
    counts : ndarray, csc_array or DeviceTable of shape (n_classes, n_features)
        Counts without smoothing; read, never copied.
    alpha : float or ndarray of shape (n_features,)
        Smoothing added to every count.
    rules : Rules, optional
        Which supports are allowed. Sizes then count items: columns, or groups that are
        taken whole.
    """

    def __init__(
        self, counts: Any, alpha: float | Floats, rules: Rules | None = None
    ) -> None:
        self.alpha = np.atleast_1d(np.asarray(alpha, dtype=np.float64))
        on_device = isinstance(counts, DeviceTable)
        self.table: ColumnTable = (DeviceColumns if on_device else ColumnTable)(
            counts, self.alpha
        )
        self.n_classes, self.n_features = self.table.n_classes, self.table.n_features
        self.rules = rules
        self.items: ColumnTable | GroupTable = self.table
        self.included = self.excluded = np.empty(0, dtype=np.int64)
        if rules is not None:
            if rules.are_groups_whole:
                total = float(self.class_totals.sum())
                self.items = GroupTable(self.table, rules, self.overall_shares, total)
            self.included = rules.included
            self.excluded = merged(rules.excluded, rules.impossible)
        self._pool: _Pool | None = None
        self._starts: dict[int, _Start] = {}  # by the size of the first pool
        # Where the last relaxation ended: the start of a bound for another k.
        self._last: tuple[Block, Floats] | None = None

    @computed_once
    def _scan(self) -> _Scan:
        class_totals, whole, nonempty, histogram = self.table.scan()
        counted = float(class_totals.sum())
        if self.alpha.shape[0] == 1:
            class_totals = class_totals + self.alpha[0] * self.n_features
        else:
            class_totals = class_totals + self.alpha.sum()
        total = float(class_totals.sum())
        if not math.isfinite(whole) or not math.isfinite(total * math.log1p(total)):
            raise ValueError(
                "The counts are too large: their sum, or its logarithm times it, is "
                f"beyond the range of floating point. Got a sum of {total:g}. "
                "Hint: divide counts and alpha by one number; the support stays."
            )
        bins = np.flatnonzero(histogram)[::-1]
        levels = (bins.astype(np.uint64) << np.uint64(_core.HISTOGRAM_SHIFT)).view(
            np.float64
        )
        return _Scan(
            counted,
            class_totals,
            whole - (total * math.log(total) if total > 0 else 0.0),
            int(nonempty),
            levels,
            np.cumsum(histogram[bins]),
        )

    @property
    def class_totals(self) -> Floats:
        """Smoothed count of each class, over all columns."""
        return self._scan.class_totals

    @property
    def overall_shares(self) -> Floats:
        """Class shares over all columns; equal ones for a table without any count."""
        total = float(self.class_totals.sum())
        if total > 0:
            return self.class_totals / total
        return np.full(self.n_classes, 1 / self.n_classes)

    @property
    def null_value(self) -> float:
        """C: log-likelihood of the model without features."""
        return self._scan.null_value

    @computed_once
    def n_nonempty(self) -> int:
        """Items that may be selected; others have no count, or are excluded."""
        if self.rules is None:
            return self._scan.n_nonempty
        return self.n_free + int(self.included.shape[0])

    @computed_once
    def n_free(self) -> int:
        """Items about which there is a choice."""
        if isinstance(self.items, GroupTable):
            return int(self._free(self.items.nonempty()).shape[0])
        fixed = merged(self.included, self.excluded)
        counts = self.table.part(fixed)
        filled = np.asarray(counts.sum(axis=0)).ravel() > 0
        return self._scan.n_nonempty - int(filled.sum())

    def nonempty(self) -> NDArray[np.int64]:
        """Columns with any count."""
        return self.table.with_total(0.0)

    def _filled(self) -> NDArray[np.int64]:
        """Items with any count."""
        if isinstance(self.items, GroupTable):
            return self.items.nonempty()
        return self.nonempty()

    def _free(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of sorted items that are neither included nor excluded."""
        for fixed in (self.included, self.excluded):
            if fixed.shape[0] and items.shape[0]:
                place = np.searchsorted(fixed, items)
                place[place == fixed.shape[0]] = 0
                items = items[fixed[place] != items]
        return items

    def lacks_signal(self, most: float) -> bool:
        """Whether a largest gain of no more than this is none at all.

        Rounding of the second order cannot be told from a gain. Whole numbers decide:
        columns with exactly the same class shares gain nothing. Other counts have that
        rounding themselves.
        """
        nothing = self._scan.counted * (16 * self.n_classes * UNIT) ** 2
        return most <= nothing and (not self._is_whole or self._is_proportional)

    @computed_once
    def _is_whole(self) -> bool:
        return self.table.is_whole()

    @computed_once
    def _is_proportional(self) -> bool:
        """Whether all columns have exactly the same class shares; False where many."""
        if self.n_classes * self._scan.n_nonempty > _FEW_CELLS:
            return False
        columns = self.nonempty()
        different = np.unique(self.table.raw(columns), axis=1)
        if different.shape[1] > _FEW_COLUMNS:
            return False
        smoothed = [
            [Fraction(count) + Fraction(alpha) for count in counts]
            for *counts, alpha in different.T.tolist()
        ]
        return all(
            cell * sum(smoothed[0]) == own * sum(other)
            for other in smoothed[1:]
            for cell, own in zip(other, smoothed[0], strict=True)
        )

    def gains(self, shares: Floats) -> Floats:
        """``h_i(p)`` of every column; 0 without counts."""
        return self.table.gains(shares)

    def smoothed(self, columns: NDArray[np.int64]) -> Floats:
        """Smoothed counts of some columns, dense (K, len(columns))."""
        return self.table.smoothed(columns)

    def block(self, items: NDArray[np.int64], anchor: Floats) -> Block:
        """Some free items as candidates beside the included, gains at the anchor."""
        if self.rules is None:
            return self.items.block(items, anchor)
        both = merged(items, self.included)
        block = self.items.block(both, anchor)
        if self.rules.limits_choice:
            block = replace(block, choice=self.rules.choice(both))
        if self.included.shape[0]:
            chosen = np.searchsorted(both, self.included)
            block = block.take(np.searchsorted(both, items), chosen)
        return block

    def _pool_for(self, k: int) -> _Pool | None:
        """The columns of largest total, many times k; None if that is most of them."""
        if isinstance(self.items, GroupTable):
            return None
        if self._pool is not None and self._pool.columns.shape[0] >= 2 * k:
            return self._pool
        if 2 * _first_pool(k) > self.n_nonempty:
            return None
        self._make_pool(self._first_level(_first_pool(k)))
        return self._pool

    def _first_level(self, wanted: int) -> float:
        """The least total of a first pool of so many columns; 0 where it takes most."""
        if 2 * wanted > self.n_nonempty:
            return 0.0
        return self.table.level_of(
            wanted, self._scan.total_levels, self._scan.columns_above
        )

    def _make_pool(self, least: float) -> None:
        pool = self._pool
        if pool is not None and least >= pool.least_total:  # a part of what it has
            part = pool.table.large_part(least)
            if part is not None:
                self._pool = _Pool(pool.columns[part[0]], part[1], least)
        else:
            part = self.table.large_part(least)
            if part is not None:
                self._pool = _Pool(*part, least)

    def _reaching(self, k: int, shares: Floats, level: float) -> NDArray[np.int64]:
        """Every item that may be selected whose gain at p reaches the level.

        A column outside the pool has too small a total for that whenever the level asks
        for more than the least total of the pool.
        """
        if isinstance(self.items, GroupTable):
            return self._free(self.items.with_gain(shares, level))
        pool = self._pool_for(k)
        needed = least_total(shares, level)
        size = self.n_features if pool is None else pool.columns.shape[0]
        if pool is None or needed < pool.least_total or size > _SMALL_POOL:
            # Fit the pool to what is asked: wider if it is too narrow, much narrower if
            # most of it is never needed, as on the way to smaller sizes.
            lower = (
                0.8 * needed
                if pool is None or needed < pool.least_total
                else (0.5 * needed)
            )
            levels, above = self._scan.total_levels, self._scan.columns_above
            position = min(int(np.searchsorted(-levels, -lower)), above.shape[0] - 1)
            if int(above[position]) * 3 < size or (
                pool is not None
                and needed < pool.least_total
                and int(above[position]) * 8 < self.n_features
            ):
                self._make_pool(lower)
                pool = self._pool
        if pool is not None and needed >= pool.least_total:
            return self._free(pool.columns[pool.table.with_gain(shares, level)])
        return self._free(self.table.with_gain(shares, level))

    def _reaching_choice(
        self, k: int, result: Relaxation, slack: float
    ) -> NDArray[np.int64]:
        """Every item that could change the best choice, or cost at most this."""
        rules, choice = self.rules, result.block.choice
        assert rules is not None
        assert choice is not None
        assert result.shares is not None
        assert result.gains is not None
        assert result.top is not None
        gains = choice.priced(result.gains)
        floor, levels = choice.levels(gains, k, result.top)
        level = floor - slack
        cost = rules.item_cost
        if cost is not None and choice.price > 0:
            level += choice.price * float(cost.min())
        level = max(level, 0.0) * (1 - ROUNDING)
        found = self._reaching(k, result.shares, level)
        if found.shape[0] <= 4 * len(result.block) + 1000:
            return found
        # Many reach the general level: look at each one's own.
        own = self.items.gains_of(found, result.shares) * (1 + ROUNDING)
        needed = np.full(found.shape[0], floor - slack)
        if levels is not None:
            assert rules.group is not None
            assert choice.group is not None
            of_group = np.full(rules.n_groups, floor)
            of_group[rules.group[result.block.columns]] = levels[choice.group]
            needed = of_group[rules.group[found]] - slack
        if cost is not None:
            needed += choice.price * cost[found]
        return found[own >= needed]

    @computed_once
    def _witnesses(self) -> NDArray[np.int64]:
        """Columns among which every class with counts has some, for every block.

        Without smoothing a block may lack a class altogether; its share would be zero
        there, and the gains of all columns that have the class infinite unseen.
        """
        if self.alpha.min() > 0:
            return np.empty(0, dtype=np.int64)
        return self.table.witnesses(self.class_totals)

    @computed_once
    def _witness_items(self) -> NDArray[np.int64]:
        """Witnesses among the items about which there is a choice."""
        if self.rules is None or self.alpha.min() > 0:
            return self._witnesses
        if isinstance(self.table, DeviceColumns):
            fixed = merged(self.included, self.excluded)
            return self.table.witnesses(self.class_totals, fixed)
        allowed = self._free(self._filled())
        if not allowed.shape[0]:
            return allowed
        counts, alpha = self.items.counts[:, allowed], self.items.alpha
        counted = counts.max(axis=1)
        counted = counted.toarray().ravel() if self.table.is_sparse else counted
        found = np.asarray(counts.argmax(axis=1)).ravel()[counted > 0]
        smoothed = np.argmax(np.broadcast_to(alpha, self.items.n_features)[allowed])
        return allowed[np.union1d(found, [smoothed]).astype(np.int64)]

    def _candidates(self, columns: NDArray[np.int64], anchor: Floats) -> Block:
        return self.block(merged(columns, self._witness_items), anchor)

    def _first_candidates(self, k: int) -> tuple[Block, Floats]:
        """Some more than k columns of large gain at the overall class shares.

        They depend on k, not on what was solved before, and so does the support where
        several are equally good.
        """
        shares, size = self.overall_shares, _first_pool(k)
        if size not in self._starts:
            self._pool = None  # a later one may be narrower
            pool = self._pool_for(k)
            if pool is None:
                # No k of this first pool asks for more of them.
                most, least = 2 * (size // 16) + 256, self._first_level(size)
                most += self.included.shape[0] + self.excluded.shape[0]
                columns, gains = self.items.promising(shares, _TO_RANK, most, least)
            else:
                columns, gains = pool.columns, pool.table.gains(shares, _TO_RANK)
            if self.rules is not None:
                free = self._free(columns)
                gains = gains[np.searchsorted(columns, free)]
                columns = free
            self._starts[size] = _Start(columns, gains, np.empty(0, dtype=np.int64))
        return self._candidates(self._starts[size].best(2 * k + 256), shares), shares

    def _last_candidates(self, k: int) -> tuple[Block, Floats]:
        """Some more than k columns of large gain where the last relaxation ended."""
        if self._last is None or len(self._last[0]) < k:
            return self._first_candidates(k)
        block, shares = self._last
        wanted = 2 * k + 256
        if len(block) > wanted + k:
            gains = block.gains(log_ratio(shares, block.anchor))
            witnesses = np.searchsorted(block.columns, self._witness_items)
            block = block.take(merged(top_k(gains, wanted)[0], witnesses))
        return block, shares

    def relaxation(
        self,
        k: int,
        *,
        widen: bool = False,
        share: float = 0.0,
        warm: bool = False,
        limits: Limits | None = None,
    ) -> tuple[Block, Relaxation]:
        """Solve the relaxation of size k on a block that provably suffices.

        With ``widen`` the block also holds every column that could be part of a support
        better than the best one met, as the exact search needs it, or short of it by no
        more than this ``share`` of its gain. A ``warm`` start is
        where the last relaxation ended: the same bounds sooner, maybe another support.
        """
        deadline = math.inf if limits is None else limits.deadline
        block, shares = self._last_candidates(k) if warm else self._first_candidates(k)
        for attempt in itertools.count():
            result = relax(block, k, shares, deadline=deadline)
            if widen and result.slack > PRUNE_TOLERANCE * result.best_gain:
                improve_by_swaps(result)
            assert result.shares is not None
            block, shares = result.block, result.shares
            if len(block) == self.n_free:
                break
            slack = result.slack + share * result.best_gain if widen else 0.0
            if result.loss is not None:
                wider = self._reaching_choice(k, result, slack)
                if _contains(block.columns, wider):
                    break
            else:
                level = max(result.floor - slack, 0.0) * (1 - ROUNDING)
                if _contains(block.columns, self._reaching(k, shares, level)):
                    break
                wider = self._reaching(k, shares, 0.95 * level)
            # The first blocks may be far off and are replaced; from then on they grow,
            # so that this ends whatever the shares do.
            kept = block.columns[_best(result)] if attempt < 3 else block.columns
            block = self._candidates(merged(wider, kept), shares)
        self._last = (block, shares)
        return block, result

    def solve(self, k: int, *, exact: bool, limits: Limits) -> Outcome:
        """Best support of size k, ``1 <= k``, clipped to the columns with counts."""
        free = k - self.included.shape[0]
        limited = self.rules is not None and self.rules.limits_choice
        if free >= self.n_free and not limited:
            return self._take_all_free()
        if free == 0:
            return self._take_all_free(np.empty(0, dtype=np.int64))
        if k == 1 and not isinstance(self.items, GroupTable):
            # Two distributions cannot differ in one place alone.
            nothing = np.empty(0, dtype=np.int64)
            return Outcome(
                nothing,
                0.0,
                0.0,
                -math.inf,
                self.psi(1),
                self.overall_shares,
                1,
                False,
            )
        if exact and self._last is not None and len(self._last[0]) >= free:
            # From where another size ended it is quicker. Only an answer that is proven
            # to be the one best support may be taken: it depends on no start. Without
            # a search that is the exception.
            few = Limits(limits.deadline, min(limits.nodes, _WARM_NODES))
            outcome = self._search(free, exact=True, limits=few, warm=True)
            if outcome.others == -math.inf:
                return outcome
        return self._search(free, exact=exact, limits=limits, warm=False)

    def _search(self, k: int, *, exact: bool, limits: Limits, warm: bool) -> Outcome:
        block, root = self.relaxation(k, widen=exact, warm=warm, limits=limits)
        if not exact and root.slack > PRUNE_TOLERANCE * root.best_gain:
            improve_by_swaps(root)
        assert root.shares is not None
        relaxation, shares = root.upper, root.shares
        if exact and root.slack > PRUNE_TOLERANCE * root.best_gain:
            found = branch_and_bound(self._equal, k, root, limits)
        else:
            best = np.concatenate([block.chosen, block.columns[_best(root)]])
            found = SearchResult(
                np.sort(best),
                root.best_gain,
                root.best_doubt,
                root.others,
                1,
                False,
            )
        return Outcome(
            self.columns_of(found.columns),
            found.gain,
            found.doubt,
            found.others,
            relaxation,
            shares,
            found.nodes,
            found.stopped,
        )

    def columns_of(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sorted columns of some items."""
        return items if self.rules is None else self.rules.columns_of(items)

    def items_of(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """The item of each of some columns."""
        if not isinstance(self.items, GroupTable):
            return columns
        assert self.rules is not None
        assert self.rules.group is not None
        return self.rules.group[columns]

    def without(self, item: int) -> MultinomialProblem:
        """The same problem with one item less to select from, and its warm start."""
        other = copy(self)
        for name in ("n_nonempty", "n_free", "_witness_items"):
            other.__dict__.pop(name, None)
        if other.rules is None:
            nothing = np.empty(0, dtype=np.int64)
            other.rules = Rules(
                *(self.n_features, nothing, nothing), None, 0, None, None, math.inf
            )
        other.excluded = merged(self.excluded, np.array([item], dtype=np.int64))
        other._starts = {}
        if self._last is not None:
            block, shares = self._last
            other._last = (block.take(np.flatnonzero(block.columns != item)), shares)
        return other

    def _equal(self, block: Block) -> NDArray[np.int64]:
        """A number for each candidate, shared by those that are the same to a rule."""
        items, rules = block.columns, self.rules
        if isinstance(self.items, GroupTable):
            return np.arange(len(block))
        numbers = equal_columns(self.table, items)
        if rules is None or not rules.limits_choice:
            return numbers
        keys = [numbers.astype(np.float64)]
        if rules.group is not None:
            keys.append(rules.group[items].astype(np.float64))
        if rules.cost is not None:
            keys.append(rules.cost[items])
        same = np.unique(np.vstack(keys), axis=1, return_inverse=True)[1]
        return same.ravel().astype(np.int64)

    def psi(self, k: int) -> float:
        """Value of the relaxation of size k, as a gain; 0 for ``k <= 0``."""
        if k <= 0:
            return 0.0
        if k >= self.n_nonempty:
            return self._take_all_free().gain
        return self.relaxation(k)[1].upper

    def psi_at_least(self, k: int, limits: Limits | None = None) -> float:
        """A proven lower bound of psi(k), equal to it up to rounding within limits."""
        if k <= 0 or k >= self.n_nonempty:
            return self.psi(k)
        return max(0.0, self.relaxation(k, warm=True, limits=limits)[1].lower)

    def take_all(self) -> Outcome:
        """Every item that is not excluded, with or without counts."""
        everything = np.arange(self.items.n_features, dtype=np.int64)
        return self._take_all_free(self._free(everything))

    def _take_all_free(self, items: NDArray[np.int64] | None = None) -> Outcome:
        """All items that may be selected, or these beside the included."""
        shares = self.overall_shares
        free = self._free(self._filled()) if items is None else items
        result = relax(self.block(free, shares), free.shape[0], shares)
        assert result.shares is not None
        gain = result.best_gain
        return Outcome(
            self.columns_of(merged(free, self.included)),
            gain,
            result.best_doubt,
            -math.inf,
            gain,
            result.shares,
            1,
            False,
        )


def _first_pool(k: int) -> int:
    return max(_FIRST_POOL, 1 << (16 * k - 1).bit_length())


def _best(result: Relaxation) -> NDArray[np.int64]:
    assert result.best is not None
    return result.best


def _contains(sorted_columns: NDArray[np.int64], wanted: NDArray[np.int64]) -> bool:
    if not wanted.shape[0]:
        return True
    if not sorted_columns.shape[0]:
        return False
    position = np.searchsorted(sorted_columns, wanted)
    position[position == sorted_columns.shape[0]] = 0
    return bool((sorted_columns[position] == wanted).all())
