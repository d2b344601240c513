"""The convex relaxation: psi(k) = C + min over class shares p of s_k(h(p)).

``s_k`` is the sum of the k largest gains. Each evaluation at some p gives an upper
bound on every support (the sum itself) and a support (the k largest), whose own value
bounds the optimum from below. Each support T is also an *atom*, the curve
``p -> sum_T h_i(a) - sum_c B_c log(p_c / a_c)`` with the anchor a of the block, that
stays below ``s_k(h(p))`` everywhere, so the minimum over p of the largest atom bounds
psi from below. The iteration stops when that bound meets the best value seen: at a kink
of s_k, where no support is tight, it ends as surely as at a smooth minimum.

Two classes need a bracket on one number; more classes the fully corrective Frank-Wolfe
method of ``_hull``. All values here are gains over the null model; C never enters.

Upper bounds hold in exact arithmetic: what rounding may hide is part of them. Far from
the anchor of the block that is the larger part of a gain that is small beside its
counts; then the block is anchored at the point found and solved again.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayesieve import _core
from bayesieve.solvers._block import Block
from bayesieve.solvers._choice import Choice
from bayesieve.solvers._hull import maximise_on_hull
from bayesieve.solvers._logs import UNIT, Floats, log_ratio
from bayesieve.solvers._topk import top_k

__all__ = ["Relaxation", "relax"]

#: The relaxation is solved to this relative accuracy.
DUAL_TOLERANCE = 1e-12
#: A node that will be branched on needs its bound to this share of what it exceeds.
BRANCH_TOLERANCE = 0.02
MAX_EVALUATIONS = 500
#: Rounding up to this share of the gain needs no better anchor.
ANCHOR_TOLERANCE = 1e-12
MAX_ANCHORS = 6
#: Prices of a budget that are tried for one bound.
_MAX_PRICES = 30
#: psi is known to this share of it.
PSI_TOLERANCE = 1e-11


@dataclass
class Relaxation:
    """Best bounds met while solving the relaxation of one (sub)problem."""

    block: Block  # the candidates, anchored where the bounds were found
    upper: float = math.inf  # s_k(h(p)) plus the chosen columns, at `shares`
    margin: float = 0.0  # part of `upper`: what rounding may add so far from the anchor
    lower: float = -math.inf  # psi is at least this, up to rounding
    shares: Floats | None = None
    gains: Floats | None = None  # h at `shares`, each raised by its doubt
    floor: float = math.nan  # k-th largest gain at `shares`
    following: float = math.nan  # (k+1)-th largest gain at `shares`
    best_gain: float = -math.inf  # value of the best support met
    best_doubt: float = 0.0  # how far rounding may have moved it
    best: NDArray[np.int64] | None = None  # positions of that support
    evaluations: int = 0
    has_choice: bool = True  # whether there is more than one support
    # Where more than their number decides which candidates may be together:
    top: NDArray[np.int64] | None = None  # the best choice at `shares`
    loss: Floats | None = None  # of each candidate, if decided against that choice
    spent: float = 0.0  # cost of the optimum

    @property
    def slack(self) -> float:
        """What a support better than the best one met can at most add."""
        return max(0.0, self.upper - (self.best_gain - self.best_doubt))

    @property
    def others(self) -> float:
        """A bound on every support but the best; minus infinity if none is as good.

        An exchange at `shares` costs at least ``floor - following``.
        """
        least = self.floor - self.following
        if self.loss is not None:
            least = float(self.loss.min(initial=math.inf))
        return -math.inf if least > self.slack else self.upper

    def decided(self, sure: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Candidates in every support above this value, and those in none."""
        slack = max(0.0, self.upper - sure)
        assert self.gains is not None
        if self.loss is None:
            inside = self.gains - self.following > slack
            return inside, self.floor - self.gains > slack
        assert self.top is not None
        far = self.loss > slack
        inside = np.zeros(far.shape[0], dtype=bool)
        inside[self.top] = far[self.top]
        return inside, far & ~inside


def relax(
    block: Block,
    k: int,
    shares: Floats,
    *,
    good_enough: float = -math.inf,
    deadline: float = math.inf,
) -> Relaxation:
    """Minimise ``s_k(h(p))`` over class shares p, from the given start.

    Parameters
    ----------
    block : Block
        Candidates, of which k are to be added to the chosen columns.
    k : int
        ``0 <= k <= len(block)``.
    shares : ndarray of shape (n_classes,)
        Where to start.
    good_enough : float
        Stop as soon as the upper bound falls to this value (a node that is beaten), and
        do not refine the bound of a node that is clearly above it.
    deadline : float
        ``time.monotonic()`` after which the bounds found so far are returned.
    """
    living = block.living_classes()
    one_class = living.sum() <= 1 and not block.has_constants
    if block.is_settled(k) or (one_class and block.choice is None):
        return _without_choice(block, min(k, len(block)), shares, living)
    if one_class or block.has_constants:
        living = np.ones(block.n_classes, dtype=bool)
    start = _interior(np.where(living, shares, 0.0), living)
    best: Relaxation | None = None
    rough = math.inf
    for _ in range(MAX_ANCHORS):
        if block.choice is None and block.n_classes == 2 and block.alpha is None:
            result = _relax_two(block, k, start, good_enough, deadline)
        else:
            solve = _relax_many if block.choice is None else _relax_choice
            result = solve(block, k, start, living, good_enough, deadline)
            assert result.best is not None
            result.best_gain, result.best_doubt = block.gain_of(result.best)
        assert result.shares is not None
        # Bounds of the optimum have the rounding of a support of its size.
        result.lower = max(
            result.best_gain - result.best_doubt, result.lower - 2 * result.best_doubt
        )
        if best is None or result.upper < best.upper:
            best, other = result, best
        else:
            other = result
        if other is not None and (
            other.best_gain - other.best_doubt > best.best_gain - best.best_doubt
        ):
            best.best, best.best_gain = other.best, other.best_gain
            best.best_doubt = other.best_doubt
        before, rough = rough, result.margin + result.best_doubt
        # At the root psi itself is wanted, and near its minimum slopes are sharper.
        open_gap = result.upper - result.lower - result.margin - 2 * result.best_doubt
        is_rough = good_enough > -math.inf or block.choice is not None
        if is_rough or open_gap <= PSI_TOLERANCE * result.upper:
            open_gap = 0.0
        if (
            (rough <= ANCHOR_TOLERANCE * result.best_gain and not open_gap > 0.0)
            or rough > 0.5 * before
            or result.upper <= good_enough
            or np.array_equal(result.shares, block.anchor)
            or (deadline < math.inf and time.monotonic() > deadline)
        ):
            break
        start = _interior(np.where(living, result.shares, 0.0), living)
        block = block.anchored(start)
    assert best is not None
    return best


def _interior(
    shares: Floats, living: NDArray[np.bool_], mixing: float = 1e-3
) -> Floats:
    """Move class shares off the boundary, where gains are infinite."""
    uniform: Floats = living / living.sum()
    total = shares.sum()
    if not total > 0:
        return uniform
    shares = shares / total
    if (shares[living] > 0).all():
        return shares
    mixed: Floats = (1.0 - mixing) * shares + mixing * uniform
    return mixed


def _without_choice(
    block: Block, k: int, shares: Floats, living: NDArray[np.bool_]
) -> Relaxation:
    """All or none are taken, or one class has all counts and every gain is zero."""
    everything = np.arange(k)
    _, sums = block.atom(everything)
    total = float(sums.sum())
    p = sums / total if total > 0 else shares
    gain = doubt = 0.0
    if living.sum() > 1 or block.has_constants:
        gain, doubt = block.gain_of(everything)
        if doubt > ANCHOR_TOLERANCE * gain and not block.has_constants:
            block = block.anchored(p)
            gain, doubt = block.gain_of(everything)
    result = Relaxation(block, has_choice=0 < k < len(block))
    result.shares = p
    if living.sum() <= 1 and not block.has_constants:
        result.gains = np.zeros(len(block))
    else:
        result.gains = block.gains(log_ratio(p, block.anchor))
    _, result.floor, result.following = top_k(result.gains, k)
    if block.choice is not None:
        result.top, result.loss = everything, np.full(len(block), math.inf)
    result.best, result.best_gain, result.best_doubt = everything, gain, doubt
    result.upper, result.lower = gain + doubt, gain - doubt
    result.evaluations = 1
    return result


@dataclass(frozen=True)
class _Atom:
    """The curve of one support: ``value - sums . log(p / anchor)``."""

    value: float
    sums: Floats
    own_gain: float  # its minimum over p
    cost: float = 0.0


def _evaluate(block: Block, k: int, shares: Floats, result: Relaxation) -> _Atom:
    """Take the k largest gains at p; record every bound this yields."""
    if block.choice is not None:
        return _evaluate_choice(block, block.choice, k, shares, result)
    ratio = log_ratio(shares, block.anchor)
    gains = block.gains(ratio)
    positions, floor, following = top_k(gains, k)
    value, sums = block.atom(positions)
    atom = _Atom(value, sums, block.own_gain(value, sums))
    upper = max(value - float((sums * ratio).sum()), atom.own_gain)
    margin = 0.0
    if upper < result.upper:
        margin = block.margin(shares, ratio, k, value)
        upper += margin
    if upper < result.upper:
        result.upper, result.shares, result.gains = upper, shares, gains
        result.floor, result.following, result.margin = floor, following, margin
    if atom.own_gain > result.best_gain:
        result.best_gain, result.best = atom.own_gain, positions
        result.lower = max(result.lower, atom.own_gain)
    result.evaluations += 1
    return atom


def _evaluate_choice(
    block: Block, choice: Choice, k: int, shares: Floats, result: Relaxation
) -> _Atom:
    """The same for the best candidates that may be together, at the price of now."""
    ratio = log_ratio(shares, block.anchor)
    gains = block.gains(ratio)
    positions = choice.largest(choice.priced(gains), k)
    value, sums = block.atom(positions)
    own_gain = block.own_gain(value, sums)
    paid = choice.refund(positions)
    cost = 0.0 if choice.cost is None else float(choice.cost[positions].sum())
    atom = _Atom(value + paid, sums, own_gain + paid, cost)
    upper = max(value - float((sums * ratio).sum()), own_gain)
    margin = block.margin(shares, ratio, k, value)
    if choice.cost is not None:  # a price times sums of costs is rounded as well
        margin += 16 * UNIT * (abs(paid) + choice.price * (cost + abs(choice.budget)))
    upper += paid + margin
    if upper < result.upper:
        result.upper, result.shares, result.gains = upper, shares, gains
        result.margin, result.top = margin, positions
    if choice.cost is not None and not choice.fits(positions):
        positions = choice.within_budget(gains, k)
        own_gain = block.own_gain(*block.atom(positions))
    if own_gain > result.best_gain:
        result.best_gain, result.best = own_gain, positions
    result.lower = max(result.lower, atom.own_gain)
    result.evaluations += 1
    return atom


def _is_done(result: Relaxation, good_enough: float, deadline: float) -> bool:
    tolerance = max(DUAL_TOLERANCE * abs(result.upper), 2 * result.margin)
    if result.lower > good_enough > -math.inf:
        # A node that will be branched on anyway needs no better bound than this.
        tolerance = max(tolerance, BRANCH_TOLERANCE * (result.lower - good_enough))
    return (
        result.upper - result.lower <= tolerance
        or result.upper <= good_enough
        or result.evaluations >= MAX_EVALUATIONS
        or (deadline < math.inf and time.monotonic() > deadline)
    )


def _relax_two(
    block: Block, k: int, start: Floats, good_enough: float, deadline: float
) -> Relaxation:
    """Bracket the step from the anchor, in the compiled core."""
    seconds = math.inf if deadline == math.inf else deadline - time.monotonic()
    a, b = float(block.anchor[0]), float(block.anchor[1])
    # From the smaller class, whose share is the more accurate one; a share may round to
    # zero, but its logarithm must stay finite.
    step = float(start[0]) - a if a <= b else b - float(start[1])
    step = min(max(step, -a * (1 - 2.0**-52)), b * (1 - 2.0**-52))
    (
        upper,
        margin,
        lower,
        step,
        gains,
        floor,
        following,
        best_gain,
        best_doubt,
        best,
        evaluations,
    ) = _core.relax_two_classes(
        block.value,
        block.doubt,
        block.counts[0],
        block.counts[1],
        k,
        block.chosen_value,
        block.chosen_doubt,
        float(block.chosen_sums[0]),
        float(block.chosen_sums[1]),
        a,
        b,
        block.weight(k),
        step,
        good_enough,
        DUAL_TOLERANCE,
        BRANCH_TOLERANCE,
        MAX_EVALUATIONS,
        seconds,
    )
    return Relaxation(
        block,
        upper=upper,
        margin=margin,
        lower=lower,
        shares=np.array([a + step, b - step]),
        gains=gains,
        floor=floor,
        following=following,
        best_gain=best_gain,
        best_doubt=best_doubt,
        best=best.view(np.int64),
        evaluations=evaluations,
    )


def _relax_choice(
    block: Block,
    k: int,
    start: Floats,
    living: NDArray[np.bool_],
    good_enough: float,
    deadline: float,
) -> Relaxation:
    """The least bound over all prices of the budget, which are convex in it.

    The slope is what the budget leaves. Two prices with slopes of different sign
    enclose the best; where their tangents meet is the next to try, and the least that
    any price can reach.
    """
    choice = block.choice
    assert choice is not None
    if choice.cost is None:
        return _with_losses(
            _relax_many(block, k, start, living, good_enough, deadline), k
        )

    def at(price: float) -> Relaxation:
        priced = replace(block, choice=replace(choice, price=price))
        return _relax_many(priced, k, start, living, good_enough, deadline)

    left: tuple[float, float, float] | None = None  # price, bound, slope < 0
    right: tuple[float, float, float] | None = None  # slope >= 0
    price, best = choice.price, None
    for attempt in range(_MAX_PRICES):
        result = at(price)
        if best is None or result.upper < best.upper:
            best, other = result, best
        else:
            other = result
        if other is not None and other.best_gain > best.best_gain:
            best.best, best.best_gain = other.best, other.best_gain
        assert result.shares is not None
        start = _interior(np.where(living, result.shares, 0.0), living)
        slope = choice.budget - result.spent
        if (
            best.upper <= good_enough
            or (price == 0.0 and slope >= 0.0)
            or (deadline < math.inf and time.monotonic() > deadline)
        ):
            break
        if slope < 0.0:
            left = (price, result.upper, slope)
        else:
            right = (price, result.upper, slope)
        if left is None:
            price = 0.0 if attempt else 0.5 * price
            continue
        if right is None:
            assert result.gains is not None
            guess = choice.start_price(result.gains, k)
            price = guess if guess > 1.001 * price else max(4.0 * price, guess, 1e-300)
            continue
        met = (left[1] - right[1] + right[2] * right[0] - left[2] * left[0]) / (
            right[2] - left[2]
        )
        reached = left[1] + left[2] * (met - left[0])
        open_part = best.upper - reached
        wanted = 1e-9 * abs(best.upper)
        if good_enough > -math.inf:
            wanted = max(wanted, BRANCH_TOLERANCE * (best.upper - good_enough))
        width = right[0] - left[0]
        if open_part <= wanted or not width > 1e-14 * right[0]:
            break
        price = min(max(met, left[0] + 1e-3 * width), right[0] - 1e-3 * width)
    assert best is not None
    best.lower = best.best_gain
    return _with_losses(best, k)


def _with_losses(result: Relaxation, k: int) -> Relaxation:
    """Add what deciding each candidate against the best choice would cost."""
    choice = result.block.choice
    assert choice is not None
    assert result.gains is not None
    assert result.top is not None
    gains = choice.priced(result.gains)
    result.loss = choice.losses(gains, k, result.top)
    result.floor, _ = choice.levels(gains, k, result.top)
    return result


def _relax_many(
    block: Block,
    k: int,
    shares: Floats,
    living: NDArray[np.bool_],
    good_enough: float,
    deadline: float,
) -> Relaxation:
    """Fully corrective Frank-Wolfe: the best point of the hull of all atoms so far."""
    result = Relaxation(block)
    values: list[float] = []
    sums: list[Floats] = []
    costs: list[float] = []
    weights = np.empty(0)
    accuracy, mixing = 0.01, 1e-3
    moved_off = False  # whether `shares` is beside the hull's own minimum
    while True:
        before = result.upper
        atom = _evaluate(block, k, shares, result)
        if not values:
            result.spent = atom.cost
        if block.has_constants or _is_done(result, good_enough, deadline):
            return result
        repeated = any(
            value == atom.value and np.array_equal(old, atom.sums)
            for value, old in zip(values, sums, strict=True)
        )
        if repeated and result.upper >= before:
            # Nothing new near the hull's own minimum: go nearer, until its value is psi
            # up to rounding. Upper bounds err in the first order of the distance.
            if accuracy == 0.0 and not (moved_off and mixing > 1e-15):
                return result
            accuracy, mixing = 0.0, 0.01 * mixing
        if not repeated:
            values.append(atom.value)
            sums.append(atom.sums)
            costs.append(atom.cost)
            n = len(values)
            weights = np.append(weights * ((n - 1) / n), 1.0 / n)
        gap = max(result.upper - result.lower, 0.0)
        weights, lower, shares = maximise_on_hull(
            np.array(values),
            np.array(sums),
            weights,
            anchor=block.anchor,
            tolerance=accuracy * max(gap, 10 * DUAL_TOLERANCE * result.upper),
            deadline=deadline,
        )
        result.lower = max(result.lower, min(lower, result.upper))
        result.spent = float(weights @ np.array(costs))
        if _is_done(result, good_enough, deadline):
            return result
        moved_off = bool((shares[living] <= 0).any())
        shares = _interior(np.where(living, shares, 0.0), living, mixing)
