"""What is proven of the weights of a wide matrix: over all columns, and at k of them.

Two claims. At its penalty, no weights of any of the columns have a lower criterion by
more than the gap: columns that were left out by the screening join where they would be
missed. And no k columns, whatever their weights in [0, 1], reach a larger conditional
likelihood than a bound: the certificate.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayesieve.solvers import Certificate
from bayesieve.weights._dual_point import DualPoint
from bayesieve.weights._sparse_newton import WeightState, box_gap
from bayesieve.weights._support_bound import Relaxation, relax
from bayesieve.weights._support_search import SupportSearch
from bayesieve.weights._terms import Array
from bayesieve.weights._weight_path import PathPoint

if TYPE_CHECKING:
    from bayesieve.weights._wide_solver import WideSolver

__all__ = ["WideProof", "unproven"]

_MAX_JOINS = 20
_MOST_JOINING = 5_000  # columns at a time, where the candidates are fewer
#: Of the penalty whose weights add up to k: problems solved, how near, and their gap as
#: a multiple of the tolerance.
_BOUND_ROUNDS, _BOUND_NEAR, _BOUND_LOOSE = 3, 0.3, 5.0
_EXACT_ROUNDS, _EXACT_NEAR, _EXACT_LOOSE = 10, 0.01, 0.05
_NODE_LIMIT = 1_000
_MOST_BRANCHED = 200_000  # columns that may still be in and are copied for a search


class WideProof:
    """Proofs about the solutions of one solver.

    Parameters
    ----------
    solver : WideSolver
        Where it knows the rows of the candidates only, the proofs are about these.
    """

    def __init__(self, solver: WideSolver) -> None:
        self.solver = solver
        self._relaxations: list[Relaxation] = []
        self._search: SupportSearch | None = None
        #: The point that was chosen, as wide as the candidates are now.
        self.point: PathPoint | None = None
        self._is_over_all = False
        #: A residual, and the derivatives of all columns there.
        self._known: tuple[Array, Array] | None = None

    # ------------------------------------------------------------ over all columns

    def _gradient(self, residual: Array) -> Array:
        """Derivatives of the NLL for all columns, or else for the candidates."""
        solver = self.solver
        if solver.everything is None:
            return solver.path.newton.terms.gradient(residual)
        if self._known is None or self._known[0] is not residual:
            gradient = solver.everything.gradient(
                solver.of_all_rows(residual),
                solver.present,
                not solver.settings.refit_intercept,
            )
            self._known = residual, gradient
        gradient = self._known[1].copy()
        gradient[solver.copies] = 0.0  # what they say is said
        return gradient

    def over_all(self, point: PathPoint) -> tuple[PathPoint, Array]:
        """The point with its gap over all columns, and the columns that it lacks.

        Those come first whose derivative at weight zero is farthest below minus their
        penalty.
        """
        solver = self.solver
        if solver.everything is None or solver.settings.exponent < 1.0:
            return point, np.arange(0)
        newton = solver.path.newton
        if newton.state.weights is not point.weights:
            newton.state = newton.at(point.weights, point.intercept)
        residual, lost = newton.dual_residual()
        cost = solver.settings.feature_cost
        rho = self._gradient(residual) + point.penalty * (1.0 if cost is None else cost)
        known = solver.candidates.columns
        gap = lost + box_gap(point.weights, rho[known])
        rho[known] = 0.0
        lacking = np.flatnonzero(rho < 0.0)
        gap -= float(rho[lacking].sum())
        value = point.nll + point.penalty * float(
            solver.path.problem.cost @ point.weights
        )
        worst = np.argsort(rho[lacking], kind="stable")
        return replace(point, gap=min(gap, value)), lacking[worst]

    def joined(self, point: PathPoint, k: int | None) -> PathPoint:
        """Let columns join that the point lacks, until it is optimal over all."""
        solver, path = self.solver, self.solver.path
        self.point = point
        for _ in range(_MAX_JOINS):
            at = path.points.index(self.point)
            self.point, lacking = self.over_all(self.point)
            path.points[at] = self.point
            if self.point.gap <= path.tol or not lacking.size:
                break
            most = max(_MOST_JOINING, solver.candidates.columns.size)
            if self._join(np.sort(lacking[:most])).size == self._n_terms():
                continue  # copies of others, every one
            if k is None:
                found = path.solve(self.point.penalty)
            else:
                found = path.reach(k, self.point)
            del path.points[at]
            self.point = found
        self._is_over_all = True
        return self.point

    def _n_terms(self) -> int:
        return self.solver.path.problem.n_terms

    def _join(self, columns: Array) -> Array:
        """Let columns join; returns the places of those so far."""
        path = self.solver.path
        assert self.point is not None
        at = path.points.index(self.point)
        places = self.solver.join(columns)
        self.point = path.points[at]
        size = self._n_terms()
        self._relaxations = [
            replace(found, state=found.state.widened(size, places))
            for found in self._relaxations
        ]
        if self._search is not None:
            self._search.state = self._search.state.widened(size, places)
        return places

    def completed(self, point: PathPoint) -> PathPoint:
        """The point with its gap over all columns, also where the search was stopped.

        Rows that would have to be read once more for that prove nothing then.
        """
        everything = self.solver.everything
        if self._is_over_all or everything is None:
            return point
        at = self.solver.path.points.index(point)
        if everything.is_cheap:
            point, _ = self.over_all(point)
        else:
            point = replace(point, gap=np.nan)
        self.solver.path.points[at] = point
        return point

    # -------------------------------------------------------------- at k features

    def _relax(
        self, point: PathPoint, k: int, rounds: int, near: float, loose: float
    ) -> None:
        """Search the penalty that bounds every k columns best, near to a point."""
        path = self.solver.path
        newton = path.newton
        penalty = min(point.penalty, 0.9 * path.largest) or 0.1 * path.largest
        newton.state = newton.at(point.weights, point.intercept)
        if self._relaxations:
            newton.state = self._relaxations[-1].state
            penalty = self._relaxations[-1].penalty or penalty
        relax(
            newton,
            k,
            penalty,
            tol=loose * path.tol,
            rounds=rounds,
            near=near,
            found=self._relaxations,
        )

    @property
    def best(self) -> WeightState | None:
        """The best support of a search, where there was one."""
        return None if self._search is None else self._search.state

    def improved(self, point: PathPoint, support: Array) -> Array:
        """Search a better support of k columns, and prove it where that is possible.

        Columns outside the candidates that a better support could have join first.
        """
        path, k = self.solver.path, self.solver.settings.k
        assert k is not None
        self.point = point
        state = path.refit(point, support)
        for _ in range(_MAX_JOINS):
            self._search = search = SupportSearch(path.newton, k, state)
            search.try_support(np.flatnonzero(state.weights), state)
            if not path.largest > 0.0:
                break
            # First as without a search: what time ends is no worse than that.
            if not self._relaxations:
                self._relax(self.point, k, _BOUND_ROUNDS, _BOUND_NEAR, _BOUND_LOOSE)
            relaxed = self._relaxations[-1].state
            order = np.argsort(-relaxed.weights, kind="stable")[:k]
            search.try_support(order[relaxed.weights[order] > 0.0], relaxed)
            search.exchange()
            search.sharpen()
            self._relax(self.point, k, _EXACT_ROUNDS, _EXACT_NEAR, _EXACT_LOOSE)
            root = self._relaxations[-1]
            with_it, _ = self._dual(root.state).least_with_and_without(k)
            beaten = with_it >= search.state.nll - search.least_gain
            beyond = float(with_it[beaten].min(initial=np.inf))
            columns = np.setdiff1d(np.flatnonzero(~beaten), self._saying_nothing())
            if columns.size > _MOST_BRANCHED:
                break
            free, lacking = self._among_candidates(columns)
            if not lacking.size:
                own = replace(root, dual=root.dual.take(free))
                search.prove(own, free, beyond, _NODE_LIMIT)
                break
            self._join(lacking)
            state = search.state
        return np.flatnonzero(search.state.weights)

    def _saying_nothing(self) -> Array:
        """Columns that no support has: those that never vary, and copies of others."""
        solver = self.solver
        if solver.everything is None:
            return np.arange(0)
        return np.union1d(solver.copies, np.flatnonzero(~solver.everything.varying))

    def _among_candidates(self, columns: Array) -> tuple[Array, Array]:
        """Places of columns among the candidates, and the columns that are none."""
        if self.solver.everything is None:
            return columns, columns[:0]
        known = self.solver.candidates.columns
        place = np.minimum(np.searchsorted(known, columns), known.size - 1)
        found = known[place] == columns
        return place[found], columns[~found]

    def _dual(self, state: WeightState) -> DualPoint:
        """What a state proves of all columns, or else of the candidates."""
        solver, newton = self.solver, self.solver.path.newton
        before, newton.state = newton.state, state
        residual, lost = newton.dual_residual()
        newton.state = before
        used = np.flatnonzero(state.weights)
        place = used if solver.everything is None else solver.candidates.columns[used]
        return DualPoint.at(
            state.nll, lost, self._gradient(residual), place, state.weights[used]
        )

    def certificate(
        self, point: PathPoint, state: PathPoint | WeightState, k: int
    ) -> Certificate:
        """How good k weighted columns are, and what is proven about all others.

        In terms of the conditional log-likelihood of the labels.
        """
        solver, path, search = self.solver, self.solver.path, self._search
        if search is None and k > 0 and solver.progress.stopped == "converged":
            with solver.progress:
                self._relax(point, k, _BOUND_ROUNDS, _BOUND_NEAR, _BOUND_LOOSE)
        newton, nll = path.newton, state.nll
        everything = solver.everything
        if k == 0 or not path.largest > 0.0:
            least, rounding = nll, 0.0  # no column has anything to say
        elif not self._relaxations and everything and not everything.is_cheap:
            least, rounding = 0.0, 0.0  # nothing has a larger likelihood than one
        else:
            last = 1 if search is None else 2  # a search may be stopped before its best
            states = [found.state for found in self._relaxations[-last:]]
            if not states:  # stopped before: what the point itself proves
                states = [newton.at(point.weights, point.intercept)]
            duals = [self._dual(state) for state in states]
            best = max(duals, key=lambda dual: dual.least(k))
            least, rounding = best.least(k), best.rounding
        root = least
        if search is not None:
            least = max(least, search.bound)
        null = newton.null_nll
        return Certificate.from_gains(
            null=-null,
            gain=null - nll,
            others=null - min(least, nll),
            relaxation=null - min(root, nll),
            nodes=1 if search is None else search.nodes,
            k=k,
            class_shares=np.exp(solver.settings.log_prior),
            doubt=rounding,
        )


def unproven(null: float, nll: float, k: int, class_shares: Array) -> Certificate:
    """A certificate that only says that no likelihood is above one."""
    return Certificate.from_gains(
        null=-null,
        gain=null - nll,
        others=null,
        relaxation=null,
        nodes=1,
        k=k,
        class_shares=class_shares,
    )
