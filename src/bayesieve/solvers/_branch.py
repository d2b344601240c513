"""The exact optimum by branch and bound on the relaxation.

At a point p with upper bound U, k-th largest gain lambda_k and next one lambda_(k+1),
and a support of value L in hand, a feature with ``h_i - lambda_(k+1) > U - L`` is in
every better support and one with ``lambda_k - h_i > U - L`` in none. What stays free is
a handful; the search branches on the one nearest the threshold, best bound first.

Bounds hold in exact arithmetic and L is taken at its lower end, so rounding proves
nothing. Supports that rounding cannot tell from the best one may be many, and searching
does not tell them apart: after some nodes of that kind they are closed, and their
bounds stay in the answer.

Small counts make many equal columns. Among equal columns the lowest indices are taken
first, so a branch that takes one takes those before it, and a branch that leaves one
out leaves out those behind it: the search counts how many, never which.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayesieve import _core
from bayesieve.solvers._block import Block
from bayesieve.solvers._class_envelope import BoundsInUse, class_envelope
from bayesieve.solvers._dual import (
    ANCHOR_TOLERANCE,
    BRANCH_TOLERANCE,
    DUAL_TOLERANCE,
    MAX_ANCHORS,
    MAX_EVALUATIONS,
    Relaxation,
    relax,
)
from bayesieve.solvers._logs import Floats

__all__ = [
    "Limits",
    "Node",
    "SearchResult",
    "branch_and_bound",
    "children",
    "reduced",
]

#: A node whose bound exceeds the best support by no more than this share is closed.
PRUNE_TOLERANCE = 1e-11
#: Nodes after which supports are no longer told apart that rounding makes nearly alike.
_ROUNDING_NODES = 200


@dataclass(frozen=True)
class Limits:
    """When to stop: seconds on the monotonic clock, and solved nodes."""

    deadline: float = math.inf
    nodes: float = math.inf

    @classmethod
    def starting_now(cls, time_limit: float | None, node_limit: int | None) -> Limits:
        """Limits counted from this moment; None means no limit."""
        return cls(
            math.inf if time_limit is None else time.monotonic() + time_limit,
            math.inf if node_limit is None else node_limit,
        )

    def extended(self, seconds: float) -> Limits:
        """The same, with at least so many seconds from now."""
        return Limits(max(self.deadline, time.monotonic() + seconds), self.nodes)

    def name_of_reached(self, nodes: int) -> str:
        """The parameter whose limit ended a search."""
        return "node_limit" if nodes >= self.nodes else "time_limit"

    def in_kernels(self) -> _core.TimeLimit:
        """A context in which compiled code ends with the time."""
        return _core.TimeLimit(self.deadline - time.monotonic())

    def reached(self, nodes: int) -> bool:
        """Whether to stop now."""
        return nodes >= self.nodes or (
            self.deadline < math.inf and time.monotonic() >= self.deadline
        )


@dataclass(frozen=True)
class SearchResult:
    """Best support found, the proven upper bound, and the work it took.

    ``others`` bounds every other support; minus infinity if all are proven no better.
    """

    columns: NDArray[np.int64]
    gain: float
    doubt: float
    others: float
    nodes: int
    stopped: bool


@dataclass(frozen=True)
class Node:
    """A subproblem of the search: candidates, how many may join, what bounds them."""

    groups: NDArray[np.int64]
    k: int
    relaxation: Relaxation
    ceiling: float = math.inf  # the bound of the node it comes from
    lines: Floats | None = None  # of the class envelope, where that was asked
    scores: Floats | None = None  # of the candidates, from these lines

    @property
    def bound(self) -> float:
        """What none of its supports exceeds."""
        return min(self.relaxation.upper, self.ceiling)

    @property
    def block(self) -> Block:
        """Its candidates."""
        return self.relaxation.block


class _Incumbent:
    """The best support so far and the levels a node must exceed."""

    def __init__(self) -> None:
        self.columns = np.empty(0, dtype=np.int64)
        self.gain, self.doubt = -math.inf, 0.0
        #: Bound of every closed node that may hold another support as good as this one.
        self.others = -math.inf
        self.is_leaf = False  # whether no open node holds it

    @property
    def sure(self) -> float:
        """The gain that is certain."""
        return self.gain - self.doubt

    @property
    def rounds(self) -> bool:
        """Whether it is rounding that limits what can be told apart."""
        return 2 * self.doubt > PRUNE_TOLERANCE * abs(self.gain)

    def level(self, nodes: int) -> float:
        """A node whose bound is no more than this is closed, after so many nodes."""
        if self.rounds:
            return self.sure if nodes < _ROUNDING_NODES else self.gain + 2 * self.doubt
        return self.gain + PRUNE_TOLERANCE * abs(self.gain)

    def offer(self, relaxation: Relaxation) -> None:
        """Take the best support of a node if it is better."""
        if relaxation.best is None:
            return
        gain, doubt = relaxation.best_gain, relaxation.best_doubt
        leaf = not relaxation.has_choice
        if gain + doubt < self.sure:
            return
        block = relaxation.block
        columns = np.concatenate([block.chosen, block.columns[relaxation.best]])
        columns.sort()
        if np.array_equal(columns, self.columns):
            self.is_leaf = self.is_leaf or leaf
            if gain - doubt > self.sure:
                self.gain, self.doubt = gain, doubt
        # Nodes were closed because of what is sure: that must not fall.
        elif gain > self.gain and gain - doubt >= self.sure:
            if self.is_leaf:  # nobody else will speak for it
                self.others = max(self.others, self.gain + self.doubt)
            self.columns, self.is_leaf = columns, leaf
            self.gain, self.doubt = gain, doubt
        elif leaf:
            self.others = max(self.others, relaxation.upper)

    def close(self, bound: float) -> None:
        """Keep the bound of a node that is not searched further."""
        self.others = max(self.others, bound)

    def result(self, others: float, nodes: int, *, stopped: bool) -> SearchResult:
        """It as the answer of a search."""
        return SearchResult(self.columns, self.gain, self.doubt, others, nodes, stopped)


def branch_and_bound(
    equal: Callable[[Block], NDArray[np.int64]],
    k: int,
    root: Relaxation,
    limits: Limits,
) -> SearchResult:
    """Close the gap of a solved root relaxation, or stop with the true gap.

    ``equal`` gives a number to each candidate; those that may stand for each other
    share it.
    """
    best = _Incumbent()
    best.offer(root)
    if limits.reached(1):  # grouping takes seconds where millions stay free
        others = root.others if root.others > best.sure else -math.inf
        return best.result(others, 1, stopped=others > -math.inf)
    # Equal columns have equal gains and are fixed alike: group what stays free.
    start = reduced(Node(np.arange(len(root.block)), k, root), best.sure)
    if start is None:
        return best.result(-math.inf, 1, stopped=False)
    start = Node(equal(start.block), start.k, start.relaxation)
    search = _search_two_classes if _is_compiled(start.block) else _search
    return search(start, best, limits)


def _search(start: Node, best: _Incumbent, limits: Limits) -> SearchResult:
    """From the root that fixing has left, for any block; the first bound is its own."""
    order = itertools.count()  # ties between bounds: first come, first served
    nodes, stopped = 1, False
    heap: list[tuple[float, int, Node]] = [(-start.bound, next(order), start)]
    bounds = BoundsInUse(start.block)
    while heap:
        node = heap[0][2]
        if node.bound <= best.level(nodes) and not _is_decided(node):
            break
        if stopped or limits.reached(nodes):
            stopped = True
            break
        entry = heapq.heappop(heap)
        try:
            with limits.in_kernels():
                if node.lines is None and bounds.asks_envelope(
                    node.block, node.k, nodes
                ):
                    opened = [_sharpened(node, best, bounds)]
                else:
                    opened = []
                    for child in children(node):
                        opened.append(
                            _bounded(child, node, best, bounds, nodes, limits.deadline)
                        )
                        nodes += 1
        except _core.TimeLimitReached:
            heapq.heappush(heap, entry)  # its bound holds for what was not searched
            stopped = True
            break
        for one in opened:
            if one is None:
                continue
            if one.bound <= best.level(nodes) and not _is_decided(one):
                best.close(one.bound)
                continue
            heapq.heappush(heap, (-one.bound, next(order), one))
    others = max([best.others] + [-key for key, _, _ in heap])
    if others <= best.sure:  # proven, also where a limit came at the same moment
        others, stopped = -math.inf, False
    return best.result(others, nodes, stopped=stopped)


def _is_compiled(block: Block) -> bool:
    """Whether the compiled search does the same: two classes, any k candidates."""
    return (
        block.n_classes == 2
        and block.alpha is None
        and block.choice is None
        and block.members is None
        and bool((block.anchor > 0).all())
    )


def _search_two_classes(start: Node, best: _Incumbent, limits: Limits) -> SearchResult:
    """The same as `_search`, in the compiled core."""
    block, relaxation = start.block, start.relaxation
    shares, gains = _shares(relaxation), relaxation.gains
    assert gains is not None
    try:
        with limits.in_kernels():
            columns, gain, doubt, others, nodes, stopped = _core.search_two_classes(
                block.value,
                block.doubt,
                block.counts[0],
                block.counts[1],
                block.columns,
                start.groups,
                block.largest,
                block.together,
                block.positive,
                block.chosen,
                block.chosen_value,
                block.chosen_doubt,
                float(block.chosen_sums[0]),
                float(block.chosen_sums[1]),
                float(block.anchor[0]),
                float(block.anchor[1]),
                start.k,
                start.bound,
                float(shares[0]),
                float(shares[1]),
                gains,
                relaxation.floor,
                relaxation.following,
                best.columns,
                best.gain,
                best.doubt,
                best.is_leaf,
                DUAL_TOLERANCE,
                BRANCH_TOLERANCE,
                ANCHOR_TOLERANCE,
                PRUNE_TOLERANCE,
                MAX_EVALUATIONS,
                MAX_ANCHORS,
                _ROUNDING_NODES,
                limits.nodes,
            )
    except _core.TimeLimitReached:  # before the first node
        return best.result(start.bound, 1, stopped=True)
    return SearchResult(columns.view(np.int64), gain, doubt, others, nodes, stopped)


def _bounded(
    child: tuple[Block, NDArray[np.int64], int],
    parent: Node,
    best: _Incumbent,
    bounds: BoundsInUse,
    nodes: int,
    deadline: float,
) -> Node | None:
    """A part of a node with bounds of its own; None if it has no better support."""
    block, groups, k = child
    shares = _shares(parent.relaxation)
    with_envelope = bounds.asks_envelope(block, k, nodes)
    if with_envelope and not bounds.asks_relaxation(nodes):
        open_end = Relaxation(block, shares=shares)
        node = Node(groups, k, open_end, parent.bound, parent.lines)
        return _sharpened(node, best, None)
    relaxation = relax(block, k, shares, good_enough=best.level(0), deadline=deadline)
    best.offer(relaxation)
    if relaxation.upper <= best.sure or not relaxation.has_choice:
        return None
    node = Node(groups, k, relaxation, parent.bound, parent.lines)
    left = reduced(node, best.sure)
    return _sharpened(left, best, bounds) if with_envelope and left else left


def _sharpened(node: Node, best: _Incumbent, bounds: BoundsInUse | None) -> Node | None:
    """The node with the bound of the class envelope, where that is lower.

    Fixing is done by both bounds, and again while many features are fixed.
    """
    before = math.inf
    while not _is_decided(node) and len(node.block) < 0.9 * before:
        before = len(node.block)
        found, lines = class_envelope(
            node.block, node.k, _shares(node.relaxation), best.sure, node.lines
        )
        best.offer(found)
        lower = found.upper <= node.relaxation.upper
        if bounds is not None:
            bounds.record(envelope_is_lower=lower)
            bounds = None
        if found.upper <= best.sure:
            return None
        node = replace(
            node,
            relaxation=found if lower else node.relaxation,
            lines=lines,
            scores=found.gains,
        )
        left = reduced(node, best.sure, found)
        assert left is not None  # any choice is allowed where this bound is asked
        node = left
    return node


def _is_decided(node: Node) -> bool:
    """Whether fixing has left one support only: a leaf shows its value."""
    return node.block.is_settled(node.k)


def _shares(relaxation: Relaxation) -> Floats:
    assert relaxation.shares is not None
    return relaxation.shares


def reduced(node: Node, sure: float, by: Relaxation | None = None) -> Node | None:
    """Fix features by the reduced cost of a bound, its own by default.

    The node shrinks alike. None where the fixed ones may not be together: then no
    support is better.
    """
    relaxation, scores = node.relaxation, node.scores
    inside, outside = (by or relaxation).decided(sure)
    if not (inside.any() or outside.any()):
        return node
    free = np.flatnonzero(~(inside | outside))
    choose = np.flatnonzero(inside)
    block, k = relaxation.block.take(free, choose), node.k - choose.shape[0]
    groups, h, loss = node.groups[free], relaxation.gains, relaxation.loss
    assert h is not None
    h, top = h[free], relaxation.top
    if block.choice is not None:
        if block.choice.is_broken or k < 0:
            return None
        assert loss is not None
        assert top is not None
        member = np.zeros(inside.shape[0], dtype=bool)
        member[top] = True
        loss, member = loss[free], member[free]
        allowed = np.flatnonzero(block.choice.possible(len(block)))
        block, groups, h = block.take(allowed), groups[allowed], h[allowed]
        loss, top = loss[allowed], np.flatnonzero(member[allowed])
    fixed = replace(relaxation, block=block, gains=h, best=None, loss=loss, top=top)
    return replace(
        node,
        groups=groups,
        k=k,
        relaxation=fixed,
        scores=None if scores is None else scores[free],
    )


def children(node: Node) -> list[tuple[Block, NDArray[np.int64], int]]:
    """With and without one free feature.

    By gains it is the one nearest the threshold. Scores of the class envelope are
    nearly alike for columns that belong to one class each; taking the first settles its
    class.
    """
    block, groups, k = node.block, node.groups, node.k
    n = len(block)
    if _is_decided(node):  # nothing left to decide: one leaf
        keep = np.arange(n if k > 0 else 0)
        return [(block.take(keep), groups[keep], max(k, 0))]
    if block.choice is not None:
        pick = _least_lost(node)
    elif node.scores is not None:
        pick = int(np.argmax(node.scores))
    else:
        pick = _nearest(node)
    same = groups == groups[pick]
    position = np.arange(n)
    before = same & (position <= pick)
    behind = same & (position >= pick)
    found = []
    with_it = k - int(before.sum())
    if with_it >= 0:
        keep = np.flatnonzero(~before)
        taken = block.take(keep, np.flatnonzero(before))
        if taken.choice is None:
            found.append((taken, groups[keep], with_it))
        elif not taken.choice.is_broken:
            allowed = np.flatnonzero(taken.choice.possible(len(taken)))
            found.append((taken.take(allowed), groups[keep][allowed], with_it))
    keep = np.flatnonzero(~behind)
    if k <= keep.shape[0] or block.choice is not None:
        found.append((block.take(keep), groups[keep], k))
    return found


def _nearest(node: Node) -> int:
    h, relaxation = node.relaxation.gains, node.relaxation
    assert h is not None
    threshold = 0.5 * (relaxation.floor + relaxation.following)
    distance = np.abs(h - threshold)
    nearest = np.flatnonzero(distance == distance.min())
    # Of equal columns, take the one where the k largest end.
    ahead = int((h > h[nearest[0]]).sum())
    return int(nearest[min(max(node.k - ahead - 1, 0), nearest.shape[0] - 1)])


def _least_lost(node: Node) -> int:
    """The candidate about which the bound is least sure, where its equals end."""
    loss, top = node.relaxation.loss, node.relaxation.top
    assert loss is not None
    assert top is not None
    pick = int(np.argmin(loss))
    alike = np.flatnonzero(node.groups == node.groups[pick])
    taken = np.isin(alike, top)
    if taken.all() or (taken.any() and np.isin(pick, top)):
        return int(alike[taken][-1])
    return int(alike[~taken][0])
