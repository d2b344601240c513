"""Better supports of k weighted columns: exchanges, then branch and bound.

A support is judged by the NLL of its best weights without penalty. Exchanges follow the
second-order model of the likelihood. The search splits the supports into those without
a column and those in which it is counted, bounds each part as `relax` does, and ends
with a proof where no part is left.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from bayesieve.weights._sparse_newton import SparseNewton, WeightState
from bayesieve.weights._support_bound import Relaxation, relax
from bayesieve.weights._terms import Array

__all__ = ["SupportSearch"]

_TRIALS = 60  # supports refitted in the exchanges
_SINGLES = 5  # columns on each side that are tried one for one
_CLOSED = 5e-10  # share of the gain by which a part must be better to stay open
#: Gap of a refit, as a share of the NLL without columns: of supports that are compared,
#: of the one that is proven, and of that where it is large and never proven to the end.
_ROUGH, _SHARP, _SHARP_OF_MANY = 1e-6, 1e-12, 1e-8
_MANY = 500
#: Gap of the bounds of parts, as a share of what is left to close, and at least this
#: share of the NLL without columns.
_NODE_TOL, _NODE_SHARP = 0.01, 1e-10
_NODE_ROUNDS = 12
_NODE_NEAR = 0.02


@dataclass(order=True)
class _Part:
    """Supports that have some columns and lack others, with a bound on their NLL."""

    bound: float
    number: int
    free: Array = field(compare=False)
    inside: Array = field(compare=False)
    start: Relaxation = field(compare=False)


class SupportSearch:
    """The best support of k columns so far, and what is proven of the others.

    Parameters
    ----------
    newton : SparseNewton
    k : int
    state : WeightState
        Of a support of at most k columns.

    Attributes
    ----------
    state : WeightState
        The best one found, its weights fitted without penalty.
    bound : float
        No support within the columns of the search has a lower NLL.
    nodes : int
        Parts that were bounded.
    """

    def __init__(self, newton: SparseNewton, k: int, state: WeightState) -> None:
        self.newton, self.k, self.state = newton, k, state
        self.bound, self.nodes = -np.inf, 1
        self._closed = np.inf  # least bound of what was closed
        self._tried: set[bytes] = set()
        scale = max(newton.null_nll, 1e-300)
        self._rough = _ROUGH * scale
        self._sharp = (_SHARP if k <= _MANY else _SHARP_OF_MANY) * scale
        self._sharpest = _NODE_SHARP * max(newton.null_nll, 1e-300)

    @property
    def least_gain(self) -> float:
        """Improvements up to this many nats are none."""
        return _CLOSED * max(self.newton.null_nll - self.state.nll, 0.0)

    def try_support(self, support: Array, start: WeightState) -> bool:
        """Fit the weights of a support, from another one; keep it if it is better."""
        support = np.sort(support)
        key = support.tobytes()
        if key in self._tried:
            return False
        self._tried.add(key)
        newton = self.newton
        weights = np.zeros(newton.problem.n_terms)
        weights[support] = start.weights[support]
        newton.state = newton.at(weights, start.intercept)
        newton.minimise(np.zeros(weights.size), self._rough, support)
        better = newton.state.nll < self.state.nll - self.least_gain
        if newton.state.nll < self.state.nll:
            self.state = newton.state
        return better

    def sharpen(self) -> None:
        """Settle the weights of the best support."""
        support = np.flatnonzero(self.state.weights)
        self.newton.state = self.state
        self.newton.minimise(np.zeros(self.state.weights.size), self._sharp, support)
        self.state = self.newton.state

    # ------------------------------------------------------------------- exchanges

    def exchange(self) -> None:
        """Exchange columns while that lowers the NLL."""
        trials = _TRIALS
        while trials > 0:
            used = np.flatnonzero(self.state.weights)
            for out, into in self._exchanges(used):
                trials -= 1
                kept = np.setdiff1d(used, out, assume_unique=True)
                if self.try_support(np.concatenate([kept, into]), self.state):
                    break
                if trials == 0:
                    return
            else:
                return

    def _exchanges(self, used: Array) -> list[tuple[Array, Array]]:
        """Columns to drop and to take, most at once first, by the second-order model.

        ``NLL(t) ~ NLL + g t + h t^2 / 2`` for each weight alone: what dropping costs
        and what taking gains.
        """
        newton, state = self.newton, self.state
        newton.state = state
        columns = np.arange(newton.problem.n_terms)
        g = newton.gradient()
        h = newton.terms.diagonal(state.scores, columns, newton.problem.row_weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(g < 0.0, np.minimum(1.0, -g / h), 0.0)
        gain = -g * step - 0.5 * h * step**2
        w = state.weights[used]
        loss = -g[used] * w + 0.5 * h[used] * w**2
        gain[used] = 0.0
        into = np.argsort(-gain, kind="stable")[: int((gain > 0.0).sum())]
        if used.size < self.k:  # there is room
            return [(used[:0], into[: self.k - used.size])] if into.size else []
        out = used[np.argsort(loss, kind="stable")]
        loss = np.sort(loss)
        found, size = [], 1
        while size <= min(out.size, into.size):
            if gain[into[:size]].sum() > loss[:size].sum():
                found.append((out[:size], into[:size]))
            size *= 2
        found.reverse()
        for i in range(min(_SINGLES, out.size)):
            found += [(out[[i]], into[[j]]) for j in range(min(_SINGLES, into.size))]
        return found

    # ------------------------------------------------------------ branch and bound

    def prove(self, root: Relaxation, free: Array, beyond: float, limit: int) -> None:
        """Close the gap over the free columns, or as much of it as `limit` nodes can.

        `root` is a relaxation over them, `beyond` a bound on supports with others.
        """
        self._closed = beyond
        parts = [_Part(root.bound, 0, free, free[:0], root)]
        while parts and not self.is_beaten(parts[0].bound):
            self._raise_bound(parts[0].bound)
            if self.nodes >= limit:
                return
            for child in self._children(heapq.heappop(parts)):
                if self.is_beaten(child.bound):
                    self._closed = min(self._closed, child.bound)
                else:
                    heapq.heappush(parts, child)
        self._raise_bound(parts[0].bound if parts else np.inf)

    def _raise_bound(self, open_bound: float) -> None:
        best = min(open_bound, self._closed, self.state.nll)
        self.bound = max(self.bound, best)

    def is_beaten(self, bound: float) -> bool:
        """Whether nothing above this bound would be worth finding."""
        return bound >= self.state.nll - self.least_gain

    def _children(self, part: _Part) -> list[_Part]:
        column = self._column_to_split(part)
        rest = part.free[part.free != column]
        with_it = np.append(part.inside, column)
        return [
            self._bounded(part, rest, with_it),
            self._bounded(part, rest, part.inside),
        ]

    def _column_to_split(self, part: _Part) -> int:
        """The column whose two parts are both expected to be far above the bound."""
        state, penalty = part.start.state, part.start.penalty
        terms, problem = self.newton.terms, self.newton.problem
        w = state.weights[part.free]
        h = terms.diagonal(state.scores, part.free, problem.row_weight)
        score = np.minimum(penalty * (1.0 - w), 0.5 * h * w**2 + 1e-12 * w)
        return int(part.free[int(np.argmax(score))])

    def _bounded(self, part: _Part, free: Array, inside: Array) -> _Part:
        """A part with its own bound; whole supports found on the way are tried."""
        self.nodes += 1
        newton, left = self.newton, self.k - inside.size
        if left == 0 or free.size <= left:
            support = inside if left == 0 else np.concatenate([inside, free])
            bound = max(part.bound, self._value_of(support, part.start.state))
            return _Part(bound, self.nodes, free[:0], inside, part.start)
        known = np.concatenate([inside, free])
        newton.state = self._within(known, part.start.state)
        found = relax(
            newton,
            left,
            part.start.penalty or self._some_penalty(free),
            tol=max(_NODE_TOL * (self.state.nll - part.bound), self._sharpest),
            rounds=_NODE_ROUNDS,
            near=_NODE_NEAR,
            free=free,
            inside=inside,
            enough=self.state.nll - self.least_gain,
        )
        bound = max(found.bound, part.bound)
        if self.is_beaten(bound):
            return _Part(bound, self.nodes, free, inside, found)
        order = np.argsort(-found.state.weights[free], kind="stable")[:left]
        self.try_support(np.concatenate([inside, free[order]]), found.state)
        with_it, _ = found.dual.least_with_and_without(left)
        gone = with_it >= self.state.nll - self.least_gain
        self._closed = min(self._closed, float(with_it[gone].min(initial=np.inf)))
        free = free[~gone]
        if free.size <= left:
            support = np.concatenate([inside, free])
            bound = max(bound, self._value_of(support, found.state))
        return _Part(bound, self.nodes, free, inside, found)

    def _value_of(self, support: Array, start: WeightState) -> float:
        """A bound on the NLL of one support, by its own weights."""
        newton = self.newton
        support = np.sort(support)
        newton.state = self._within(support, start)
        gap = newton.minimise(np.zeros(newton.problem.n_terms), self._sharp, support)
        if newton.state.nll < self.state.nll:
            self.state = newton.state
        self._tried.add(support.tobytes())
        return newton.state.nll - gap

    def _within(self, columns: Array, start: WeightState) -> WeightState:
        weights = np.zeros(self.newton.problem.n_terms)
        weights[columns] = start.weights[columns]
        return self.newton.at(weights, start.intercept)

    def _some_penalty(self, free: Array) -> float:
        """A penalty to begin with, where the part before needed none."""
        pull = -self.newton.gradient(free).min(initial=0.0)
        return max(0.1 * float(pull), 1e-9 * self.newton.null_nll)
