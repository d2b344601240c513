"""Other answers that are as good: margins, near-optimal supports, how many there are.

At a dual point p with upper bound U, a support S within epsilon of the best value L
gives up at most ``U - L + epsilon`` of the gains at p: every chosen feature that it
lacks costs its distance to the threshold between the k-th and the next gain, and so
does every other one that it has. That alone says which features are in all such
supports and which in none, and bounds their number. The supports themselves are the
leaves of the tree of `branch_and_bound` when a node is closed only below
``L - epsilon``; taken by falling bound, they come in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.exceptions import GapWarning
from bayesieve.solvers._additive import AdditiveProblem
from bayesieve.solvers._branch import Limits
from bayesieve.solvers._dual import Relaxation
from bayesieve.solvers._exchanges import exchanges
from bayesieve.solvers._inputs import check_limits
from bayesieve.solvers._logs import Floats
from bayesieve.solvers._multinomial import DEGENERATE_MESSAGE
from bayesieve.solvers._near_supports import count_choices, supports_above
from bayesieve.solvers._path import MODELS
from bayesieve.solvers._problem import MultinomialProblem
from bayesieve.solvers._rules import Rules, allowed_size
from bayesieve.solvers._selection import build_problem
from bayesieve.solvers._topk import top_k
from bayesieve.utils._resources import keeps_to_jobs
from bayesieve.utils._warnings import warn_user

__all__ = ["Alternatives", "alternatives_of", "near_optimal_supports"]

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Supports that are nearly as good as the best, and what tells them apart.

    Attributes
    ----------
    supports : list of ndarray of int64
        Sorted columns of each support, the best first.
    gains : ndarray of shape (n_supports,)
        Gain of each over no features, in nats.
    within : float
        Share of the best gain that a support may fall short by.
    complete : bool
        Whether all supports within that share are listed.
    n_at_least, n_at_most : float
        Bounds on the number of supports within that share.
    core : ndarray of int64
        Columns in every support within the share: all of them if ``complete``, else
        those that are proven to be.
    possible : ndarray of int64
        Columns in some: none but these if ``complete``, else all that are not proven to
        be in none.
    margins : ndarray of shape (n_features,)
        What is lost, in nats, if a selected column may not be selected, or another one
        must be. Exact for selected columns (NaN where a search ended early) and for
        additive models; for other columns of the multinomial model it is at least this.
    replacements : list of ndarray of int64
        For each column of the best support, the columns that come in without it.
    feature_names : sequence of str or None
    """

    supports: list[Indices]
    gains: Floats
    within: float
    complete: bool
    n_at_least: float
    n_at_most: float
    core: Indices
    possible: Indices
    margins: Floats
    replacements: list[Indices]
    feature_names: Any = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.supports)

    def __iter__(self) -> Iterator[Indices]:
        return iter(self.supports)

    def __repr__(self) -> str:
        more = "" if self.complete else " and more"
        many = f"{len(self)} support{'' if len(self) == 1 else 's'}{more}"
        most = "" if self.complete else "at most "
        return (
            f"Alternatives({many} within {100 * self.within:g} % of a gain of "
            f"{self.gains[0]:,.6g} nats; {self.core.shape[0]} features in all of them, "
            f"{most}{self.possible.shape[0]} in any)"
        )

    def exchanges(self) -> dict[int, Indices]:
        """Columns that can take the place of one of the best support, alone.

        For each column of the best support that a listed support lacks, and that is all
        it lacks: those which stand in for it, best first.
        """
        best = set(self.supports[0].tolist())
        found: dict[int, list[int]] = {}
        for support in self.supports[1:]:
            own = set(support.tolist())
            left, joined = best - own, own - best
            if len(left) == 1 and len(joined) == 1:
                found.setdefault(left.pop(), []).append(joined.pop())
        return {i: np.array(columns) for i, columns in found.items()}

    def name(self, column: int) -> str:
        """Name of a column, or its number."""
        names = self.feature_names
        return str(column) if names is None else str(names[column])


def alternatives_of(
    problem: MultinomialProblem | AdditiveProblem,
    k: int,
    *,
    within: float,
    limit: int,
    rules: Rules | None = None,
    time_limit: float | None = 10.0,
    names: Any = None,
    owner: str,
) -> Alternatives:
    """Supports of k items that gain at least ``1 - within`` of the best gain."""
    check_limits(time_limit, None, solver=owner)
    _check_share(within, limit, owner)
    if rules is not None and rules.limits_choice:
        raise ValueError(
            f"{owner} lists supports of k features under 'include', 'exclude' and "
            "groups that are taken whole. Got 'max_per_group' or a 'budget'."
        )
    size = allowed_size(k, rules, solver=owner)
    limits = Limits.starting_now(time_limit, None)
    is_additive = isinstance(problem, AdditiveProblem)
    if size == 1 and not is_additive and not (rules and rules.are_groups_whole):
        raise ValueError(
            f"The 'k' parameter of {owner} is too small: {DEGENERATE_MESSAGE}"
        )
    if isinstance(problem, AdditiveProblem):
        return _Additive(problem, size, rules, names).found(within, limit, limits)
    return _Multinomial(problem, size, names).found(within, limit, limits)


def _check_share(within: Any, limit: Any, owner: str) -> None:
    is_share = isinstance(within, Real) and not isinstance(within, bool)
    if not is_share or not 0 <= within < 1:
        raise ValueError(
            f"The 'within' parameter of {owner} must be a share in [0, 1). "
            f"Got {within!r}."
        )
    if isinstance(limit, bool) or not isinstance(limit, Integral) or limit < 1:
        raise ValueError(
            f"The 'limit' parameter of {owner} must be an int >= 1. Got {limit!r}."
        )


# ------------------------------------------------------------------------- models


class _Multinomial:
    def __init__(self, problem: MultinomialProblem, k: int, names: Any) -> None:
        self.problem, self.k, self.names = problem, k, names

    def found(self, within: float, limit: int, limits: Limits) -> Alternatives:
        problem = self.problem
        outcome = problem.solve(self.k, exact=True, limits=limits)
        if outcome.stopped:
            warn_user(
                f"The search for k={self.k} stopped at its limit: alternatives are "
                "those of the best support found. Hint: raise time_limit.",
                GapWarning,
            )
        included = problem.included
        free = min(self.k - included.shape[0], problem.n_free)
        gain = outcome.gain
        level = gain * (1.0 - within) - outcome.doubt
        block, root = problem.relaxation(free, widen=True, share=within, warm=True)
        best = np.unique(problem.items_of(outcome.support))
        margins, replacements = self._margins(outcome.support, gain, root, limits)
        supports, gains, complete = self._listed(
            root, free, (best, gain), level, limit, limits
        )
        inside, outside = root.decided(level)
        core = np.sort(np.concatenate([included, block.columns[inside]]))
        possible = np.sort(np.concatenate([included, block.columns[~outside]]))
        at_most = float(len(supports))
        if not complete:
            at_most = _bounded(root, free, root.upper - level)
        if complete:
            core, possible = _common(supports)
        return Alternatives(
            supports=[problem.columns_of(one) for one in supports],
            gains=np.array(gains),
            within=within,
            complete=complete,
            n_at_least=float(len(supports)),
            n_at_most=max(at_most, float(len(supports))),
            core=problem.columns_of(core),
            possible=problem.columns_of(possible),
            margins=margins,
            replacements=replacements,
            feature_names=self.names,
        )

    def _listed(
        self,
        root: Relaxation,
        k: int,
        best: tuple[Indices, float],
        level: float,
        limit: int,
        limits: Limits,
    ) -> tuple[list[Indices], list[float], bool]:
        """Supports in order, led by the known best one."""
        supports, gains = [best[0]], [best[1]]
        complete = True
        try:
            for items, gain in supports_above(root, k, level, limits):
                if np.array_equal(items, best[0]):
                    continue
                if len(supports) >= limit:
                    complete = False
                    break
                supports.append(items)
                gains.append(min(gain, best[1]))
        except TimeoutError:
            complete = False
        return supports, gains, complete

    def _margins(
        self, support: Indices, gain: float, root: Relaxation, limits: Limits
    ) -> tuple[Floats, list[Indices]]:
        """Exact for what is selected, from below for all others."""
        problem = self.problem
        assert root.shares is not None
        own = problem.items.gains(root.shares)
        short = max(0.0, root.upper - gain)
        per_item = np.maximum(root.floor - own - short, 0.0)
        chosen = np.unique(problem.items_of(support))
        replaced: dict[int, Indices] = {}
        per_item[chosen] = np.nan
        per_item[problem.excluded] = per_item[problem.included] = np.nan
        leaving = np.setdiff1d(chosen, problem.included)
        # What is missed least comes first, should the time not suffice for all.
        for item in leaving[np.argsort(own[leaving], kind="stable")].tolist():
            if limits.reached(0):
                break
            other = problem.without(item)
            outcome = other.solve(self.k, exact=True, limits=limits)
            per_item[item] = max(0.0, gain - outcome.gain)
            if outcome.stopped:
                per_item[item] = np.nan
            replaced[item] = np.setdiff1d(outcome.support, support)
        missing = int(np.isnan(per_item[leaving]).sum())
        if missing:
            warn_user(
                f"The time ended before {missing} of {leaving.shape[0]} margins were "
                "known. Hint: raise time_limit.",
                GapWarning,
            )
        margins = per_item[problem.items_of(np.arange(problem.n_features))]
        of_columns = problem.items_of(support)
        nothing = np.empty(0, dtype=np.int64)
        return margins, [replaced.get(i, nothing) for i in of_columns.tolist()]


class _Additive:
    def __init__(
        self,
        problem: AdditiveProblem,
        k: int,
        rules: Rules | None,
        names: Any,
    ) -> None:
        self.problem, self.k, self.rules, self.names = problem, k, rules, names

    def found(self, within: float, limit: int, limits: Limits) -> Alternatives:
        problem, rules = self.problem, self.rules
        values, free = problem.gains, problem.eligible.copy()
        included = np.empty(0, dtype=np.int64)
        if rules is not None:
            values = rules.per_item(values)
            free = rules.per_item(free.astype(np.float64)) > 0
            included = rules.included
            free[rules.excluded] = free[included] = False
        items = np.flatnonzero(free)
        k = min(self.k - included.shape[0], items.shape[0])
        own = values[items]
        top, floor, following = top_k(own, k)
        fixed = float(values[included].sum())
        gain = fixed + float(own[top].sum())
        level = gain * (1.0 - within)
        level -= float(problem.doubt(own[top]).sum())
        slack = gain - level
        best = np.sort(np.concatenate([items[top], included]))
        threshold = 0.5 * (floor + following) if np.isfinite(following) else floor
        distance = np.abs(own - threshold)
        member = np.zeros(items.shape[0], dtype=bool)
        member[top] = True
        inside = np.flatnonzero(member & (distance <= slack))
        outside = np.flatnonzero(~member & (distance <= slack))
        supports: list[Indices] = []
        gains: list[float] = []
        complete = True
        for loss, left, joined in exchanges(distance[inside], distance[outside], slack):
            if len(supports) >= limit or (supports and limits.reached(0)):
                complete = False
                break
            kept = np.setdiff1d(top, inside[left], assume_unique=True)
            chosen = items[np.concatenate([kept, outside[joined]])]
            supports.append(np.sort(np.concatenate([chosen, included])))
            gains.append(gain - loss)
        gained = np.array(gains)
        at_most = float(len(supports))
        if not complete:
            at_most = count_choices(distance[member], distance[~member], slack)
        core = np.concatenate([included, items[member & (own - following > slack)]])
        possible = np.concatenate([included, items[~(floor - own > slack) | member]])
        if complete:
            core, possible = _common(supports)
        margins = np.full(values.shape[0], np.nan)
        margins[items] = floor - own
        margins[items[top]] = own[top] - max(following, 0.0)
        runner = items[~member][np.argmax(own[~member])] if (~member).any() else None
        columns_of = (lambda one: one) if rules is None else rules.columns_of
        if rules is not None and rules.group is not None:
            margins = margins[rules.group]
        stand_in = np.empty(0, dtype=np.int64)
        if runner is not None:
            stand_in = columns_of(np.array([runner]))
        support = columns_of(best)
        may_leave = np.isfinite(margins[support])
        nothing = np.empty(0, dtype=np.int64)
        return Alternatives(
            supports=[columns_of(one) for one in supports],
            gains=gained,
            within=within,
            complete=complete,
            n_at_least=float(len(supports)),
            n_at_most=max(at_most, float(len(supports))),
            core=columns_of(np.sort(core)),
            possible=columns_of(np.sort(possible)),
            margins=margins,
            replacements=[stand_in if own else nothing for own in may_leave.tolist()],
            feature_names=self.names,
        )


def _bounded(root: Relaxation, k: int, most: float) -> float:
    """At most so many choices of k candidates lose no more than this at the root."""
    gains = root.gains
    assert gains is not None
    top, floor, following = top_k(gains, k)
    threshold = 0.5 * (floor + following) if np.isfinite(following) else floor
    distance = np.abs(gains - threshold)
    member = np.zeros(gains.shape[0], dtype=bool)
    member[top] = True
    return count_choices(distance[member], distance[~member], most)


def _common(supports: list[Indices]) -> tuple[Indices, Indices]:
    """What all supports have, and what any has."""
    columns, times = np.unique(np.concatenate(supports), return_counts=True)
    return columns[times == len(supports)], columns


@keeps_to_jobs
def near_optimal_supports(
    counts: Any,
    k: int,
    *,
    within: float = 0.01,
    limit: int = 1000,
    model: str = "multinomial",
    alpha: float | Floats = 1.0,
    time_limit: float | None = 10.0,
    n_jobs: int | None = -1,
) -> Alternatives:
    """List the supports that are nearly as good as the best one, in order.

    **Exact**: every support is listed whose gain is at least ``1 - within`` of the best
    gain, unless there are more than `limit` or the time ends; then it says so, and
    bounds how many there are.

    Parameters
    ----------
    counts : ClassCounts or array of shape (n_classes, n_features)
        A plain table will do for the multinomial model.
    k : int
        Number of features.
    within : float, default=0.01
        Share of the best gain that a support may fall short by.
    limit : int, default=1000
        Supports to list at most.
    model : {"multinomial", "bernoulli", "gaussian", "categorical"}
    alpha : float, default=1.0
        Smoothing; not used by the Gaussian model.
    time_limit : float or None, default=10.0
        Seconds for all of it.
    n_jobs : int or None, default=-1
        Threads, as scikit-learn counts them: -1 is one for each processor.

    Returns
    -------
    Alternatives

    Examples
    --------
    >>> from bayesieve import near_optimal_supports
    >>> table = [[20, 2, 9, 8, 1], [1, 18, 1, 2, 9]]
    >>> found = near_optimal_supports(table, 3, within=0.2)
    >>> found.supports[:2]
    [array([0, 1, 4]), array([0, 1, 2])]
    >>> found.core
    array([0, 1])
    """
    name = "near_optimal_supports"
    if model not in MODELS:
        raise ValueError(
            f"The 'model' parameter of {name} must be one of {', '.join(MODELS)}. "
            f"Got {model!r}."
        )
    problem = build_problem(counts, model=model, alpha=alpha, owner=name)
    return alternatives_of(
        problem,
        k,
        within=within,
        limit=limit,
        time_limit=time_limit,
        names=getattr(counts, "feature_names", None),
        owner=name,
    )
