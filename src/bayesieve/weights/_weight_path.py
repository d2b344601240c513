"""Weights along a path of penalties, and the penalty that gives a wanted size.

The path begins at the smallest penalty that keeps every weight at zero and goes down;
each solution is the start of the next one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.weights._criterion import WeightProblem, tangent_slopes
from bayesieve.weights._result import Progress
from bayesieve.weights._sparse_newton import SparseNewton, WeightState, spread
from bayesieve.weights._terms import Array
from bayesieve.weights._wide_terms import WideTerms

__all__ = ["PathPoint", "PathSolver", "WeightPath", "geometric_grid"]

_LOOSE, _NEARER = 5.0, 2.0  # factors of the tolerance, far from the wanted size
_SIZE_TOLERANCE = 0.01  # of the wanted size: so many are dropped rather than searched
_SHARPEST = 1e-6  # share of the tolerance, where features gain less than that
_MAX_SEARCH = 60
_PATH_RATIO = 0.5  # between penalties on the way to a given one
#: How fast the number of features grows as the penalty falls, on a doubly logarithmic
#: scale, on texts; only the number of steps of the search depends on it.
_USUAL_RATE = 0.8
_TANGENT_ROUNDS = 30
#: The path ends there: below it the penalty has no say against rounding.
_LEAST_SHARE = 1e-7


@dataclass(frozen=True, eq=False)
class WeightPath:
    """Weights for decreasing penalties.

    Attributes
    ----------
    lambdas : ndarray of shape (n_points,)
        Penalties, decreasing.
    weights : csr_array of shape (n_points, n_features)
    intercepts : ndarray of shape (n_points, n_classes)
        Score of each class without any feature.
    nll : ndarray of shape (n_points,)
        Sum of negative log-likelihoods.
    dual_gap : ndarray of shape (n_points,)
        Proven distance to the minimum of the criterion, in nats; NaN for exponents
        below 1, where a local minimum is all there is.
    """

    lambdas: Array
    weights: Any
    intercepts: Array
    nll: Array
    dual_gap: Array

    @property
    def n_features(self) -> Array:
        """Number of weights above zero at each point."""
        return np.diff(self.weights.indptr)

    def __len__(self) -> int:
        return int(self.lambdas.size)

    def __repr__(self) -> str:
        if not len(self):
            return "WeightPath(no points)"
        sizes = self.n_features
        return (
            f"WeightPath({len(self)} points, lambda {self.lambdas[0]:.4g} to "
            f"{self.lambdas[-1]:.4g}, {sizes[0]} to {sizes[-1]} features)"
        )


def geometric_grid(largest: float, n_points: int, ratio: float) -> Array:
    """Penalties from the largest one down to its share `ratio`, evenly in logarithm."""
    return np.asarray(largest * ratio ** np.linspace(0.0, 1.0, n_points))


@dataclass(frozen=True, eq=False)
class PathPoint:
    """Solution for one penalty.

    Attributes
    ----------
    penalty : float
        lambda.
    weights : ndarray of shape (n_terms,)
    intercept : ndarray of shape (n_classes - 1,)
        Relative to class 0.
    nll, gap : float
    """

    penalty: float
    weights: Array
    intercept: Array
    nll: float
    gap: float

    @property
    def size(self) -> int:
        """Number of weights above zero."""
        return int(np.count_nonzero(self.weights))


class PathSolver:
    """Solves one problem for many penalties, keeping every solution.

    Parameters
    ----------
    problem : WeightProblem
        With `WideTerms`. Its regularization is not looked at; its exponent p is: for
        p < 1 each convex solution (p = 1) is followed by minimising tangents of the
        concave penalty, a local search.
    refit_intercept : bool
    tol : float
        Duality gap to reach, as a share of the NLL without any weight.
    progress : Progress
        Clock, callback and interruption.
    """

    def __init__(
        self,
        problem: WeightProblem,
        *,
        refit_intercept: bool = True,
        tol: float = 3e-4,
        progress: Progress | None = None,
    ) -> None:
        self.problem = problem
        self.progress = Progress() if progress is None else progress
        self.newton = SparseNewton(
            problem, refit_intercept=refit_intercept, progress=self.progress
        )
        self.tol = tol * max(self.newton.null_nll, 1e-300)
        self.points: list[PathPoint] = []
        self.largest = self._largest_penalty()

    def _largest_penalty(self) -> float:
        """The smallest penalty for which all penalised weights are zero."""
        cost = self.problem.cost
        free = np.flatnonzero(cost == 0.0)
        if free.size:  # features that cost nothing are fitted first
            self.newton.minimise(np.zeros(cost.size), self.tol, free)
        paid = np.flatnonzero(cost > 0.0)
        pull = -self.newton.gradient(paid) / cost[paid]
        return float(pull.max(initial=0.0))

    # ------------------------------------------------------------- where it stands

    @property
    def state(self) -> WeightState:
        """Where the solver stands."""
        return self.newton.state

    def start_at(self, weights: Array) -> WeightState:
        """Stand at given weights, with the intercepts as they are."""
        self.newton.state = self.newton.at(weights, self.newton.state.intercept)
        return self.newton.state

    def settle(self, weights: Array, penalty: float) -> float:
        """Minimise for one penalty from given weights; returns the gap."""
        self.start_at(weights)
        return self.newton.minimise(penalty * self.problem.cost, self.tol)

    # ------------------------------------------------------------------ one penalty

    def solve(self, penalty: float, *, looseness: float = 1.0) -> PathPoint:
        """Solve for one penalty from where the solver stands; adds to the points.

        `looseness` multiplies the tolerance.
        """
        slope = penalty * self.problem.cost
        tol = self.tol * looseness
        gap = self.newton.minimise(slope, tol)
        state = self.newton.state
        if self.problem.exponent < 1.0 and penalty > 0.0:
            point = self._tangents(slope, tol)
            # A local minimum: nothing bounds how far the best one is.
            found = PathPoint(
                penalty, point.weights, point.intercept, point.nll, np.nan
            )
            self.newton.state = state  # the next penalty starts from the convex one
        else:
            found = PathPoint(penalty, state.weights, state.intercept, state.nll, gap)
        self.points.append(found)
        value = found.nll + float(slope @ found.weights**self.problem.exponent)
        self.progress.best_value = np.inf  # values of different penalties do not rank
        self.progress.record(found.weights, value)
        return found

    def _tangents(self, slope: Array, tol: float) -> WeightState:
        """Minimise the concave penalty by its tangents; zeros stay zero."""
        newton, p = self.newton, self.problem.exponent
        value = np.inf
        for _ in range(_TANGENT_ROUNDS):
            state = newton.state
            new = state.nll + float(slope @ state.weights**p)
            if not new < value - tol:
                break
            value = new
            tangent = tangent_slopes(slope, p, state.weights)
            newton.minimise(tangent, tol, np.flatnonzero(state.weights))
        if not newton.state.nll + float(slope @ newton.state.weights**p) <= (
            newton.null_nll
        ):
            newton.state = newton.null
        return newton.state

    # ----------------------------------------------------------------------- a path

    def follow(self, penalties: Sequence[float] | Array) -> None:
        """Solve for decreasing penalties."""
        for penalty in penalties:
            self.solve(float(penalty))

    def descend_to(self, penalty: float, least: float = 0.0) -> PathPoint:
        """Follow the path from the largest penalty to this one, in steps of a half.

        For a penalty of zero the steps end at `least`.
        """
        if penalty < self.largest:
            self.begin()
        last = penalty if penalty > 0.0 else max(least, 1e-300)
        fall = math.log(max(self.largest / last, 1.0)) if self.largest > 0.0 else 0.0
        for step in range(1, int(fall / -math.log(_PATH_RATIO)) + 1):
            self.solve(self.largest * _PATH_RATIO**step, looseness=_LOOSE)
        return self.solve(penalty)

    def reach(self, size: int, near: PathPoint | None = None) -> PathPoint:
        """Find a penalty with `size` weights above zero, or few more.

        Goes down the path in steps foreseen from the sizes so far, then closes in
        between the two penalties around; only the last solution is sharp. Ends with the
        wanted size, or at most one in a hundred more (the caller drops the least), or
        the largest size there is. Begins at the penalty of a point, where one is given.
        """
        spare = max(1, int(_SIZE_TOLERANCE * size))
        if not self.largest > 0.0:
            return self.begin()
        before = below = self.begin()
        above: PathPoint | None = None
        sharpness = 1.0
        if near is None:
            penalty = self._first_penalty(size)
        else:
            penalty = near.penalty
            smaller = [
                point
                for point in self.points
                if point.size < size and point.penalty > penalty
            ]
            below = min(smaller, key=lambda point: point.penalty, default=below)
        for _ in range(_MAX_SEARCH):
            if penalty < _LEAST_SHARE * self.largest and above is None:
                break
            looseness = (_LOOSE if above is None else _NEARER) * sharpness
            point = self.solve(penalty, looseness=looseness)
            if 0 <= point.size - size <= spare:
                self.points.pop()
                point = self.solve(penalty, looseness=min(looseness, 1.0))
                if 0 <= point.size - size <= spare:
                    return point
            if point.size > size:
                above = point
            else:
                if point.size <= below.size:
                    # What is left to gain is below the tolerance: look closer.
                    sharpness = max(0.1 * sharpness, _SHARPEST)
                before, below = below, point
            if above is not None and above.penalty > (1.0 - 1e-6) * below.penalty:
                break
            penalty = self._next_penalty(size, before, below, above)
        end = below if above is None else above
        return self.solve(end.penalty, looseness=min(sharpness, 1.0))

    def begin(self) -> PathPoint:
        """The first point of a path: the largest penalty, where nothing is paid for."""
        if not self.points:
            self.points.append(self.here())
        return self.points[0]

    def here(self, penalty: float | None = None) -> PathPoint:
        """The state of the solver as a point, by default at the largest penalty."""
        penalty = self.largest if penalty is None else penalty
        gap = self.newton.gap(penalty * self.problem.cost)
        state = self.newton.state
        return PathPoint(penalty, state.weights, state.intercept, state.nll, gap)

    def widen(self, problem: WeightProblem, places: Array) -> None:
        """Go on with more columns; `places` are those of the columns so far."""
        assert isinstance(problem.terms, WideTerms)
        paid = np.setdiff1d(np.flatnonzero(problem.cost > 0.0), places)
        pull = -problem.terms.gradient(self.newton.null.residual, paid)
        largest = float((pull / problem.cost[paid]).max(initial=0.0))
        # From here on no kernel runs, which could end with the time.
        self.largest = max(self.largest, largest)
        self.problem = problem
        self.newton.widen(problem, places)
        self.points = [
            replace(point, weights=spread(point.weights, problem.n_terms, places))
            for point in self.points
        ]

    def _first_penalty(self, size: int) -> float:
        """A penalty that surely has few features: `size` of them pull at zero weights.

        Features that say the same share what they explain, so nearly always fewer stay.
        """
        cost = self.problem.cost
        paid = np.flatnonzero(cost > 0.0)
        pull = -self.newton.gradient(paid) / cost[paid]
        if size >= pull.size:
            return 0.5 * self.largest
        level = float(-np.partition(-pull, size)[size])
        return min(max(level, 1e-3 * self.largest), 0.9 * self.largest)

    def _next_penalty(
        self, size: int, before: PathPoint, below: PathPoint, above: PathPoint | None
    ) -> float:
        """Where the wanted size is likely, from sizes on both sides or before."""
        # A little to the side of more features, which may end the search.
        wanted = math.log(size * (1.0 + 0.5 * _SIZE_TOLERANCE))
        few = math.log(max(below.size, 0.5))
        if above is None:
            rate = _USUAL_RATE
            if 0 < before.size < below.size:
                run = math.log(before.penalty / below.penalty)
                # It falls along the path; and somewhat too far is better than short of
                # the size: between two sizes the search ends fast.
                rate = max(0.8 * (few - math.log(before.size)) / run, 0.1)
            step = (wanted - few) / rate
            return below.penalty * min(max(math.exp(-step), 0.2), 0.95)
        high, low = math.log(below.penalty), math.log(above.penalty)
        share = (wanted - few) / max(math.log(above.size) - few, 1e-9)
        return math.exp(high + (low - high) * min(max(share, 0.1), 0.9))

    # --------------------------------------------------------------------- a support

    def refit(
        self,
        point: PathPoint,
        support: Array,
        penalty: float = 0.0,
        *,
        stay: bool = True,
    ) -> WeightState:
        """Weights of a support only, from a point, with another penalty or none.

        Without `stay`, the solver is put back where it was.
        """
        before = self.newton.state
        self.within(point, support)
        slope = penalty * self.problem.cost
        self.newton.minimise(slope, self.tol, support)
        if self.problem.exponent < 1.0 and penalty > 0.0:
            self._tangents(slope, self.tol)
        found = self.newton.state
        if not stay:
            self.newton.state = before
        return found

    def strongest(self, point: PathPoint, k: int) -> Array:
        """Terms with a weight at the point; of more than k those that matter most."""
        used = np.flatnonzero(point.weights)
        if used.size <= k:
            return used
        size = point.weights[used] * self.newton.terms.sizes(used)
        return np.sort(used[np.argsort(-size, kind="stable")[:k]])

    def within(self, point: PathPoint, support: Array) -> WeightState:
        """The point on a support only, as it is; nothing if that is better."""
        weights = np.zeros(self.problem.n_terms)
        weights[support] = point.weights[support]
        self.newton.state = self.newton.at(weights, point.intercept)
        return self.newton.no_worse_than_nothing()

    def ordered(self) -> list[PathPoint]:
        """All points so far by decreasing penalty."""
        return sorted(self.points, key=lambda point: -point.penalty)

    def path(
        self,
        columns: Array,
        n_features: int,
        whole_intercept: Callable[[Array, Array], Array],
    ) -> WeightPath:
        """All points so far by decreasing penalty, spread over all features.

        `columns` has the feature of each term; `whole_intercept` gives the score of
        each class from relative intercepts and weights.
        """
        points = self.ordered()
        rows = [np.flatnonzero(point.weights) for point in points]
        data = [point.weights[used] for point, used in zip(points, rows, strict=True)]
        ends = np.concatenate([[0], np.cumsum([used.size for used in rows])])
        empty = np.empty(0)
        weights = sparse.csr_array(
            (
                np.concatenate([*data, empty]),
                columns[np.concatenate([*rows, empty]).astype(np.int64)],
                ends.astype(np.int64),
            ),
            shape=(len(points), n_features),
        )
        scores = [whole_intercept(point.intercept, point.weights) for point in points]
        return WeightPath(
            lambdas=np.array([point.penalty for point in points]),
            weights=weights,
            intercepts=np.array(scores).reshape(len(points), -1),
            nll=np.array([point.nll for point in points]),
            dual_gap=np.array([point.gap for point in points]),
        )
