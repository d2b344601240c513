"""Additive models under rules: the same search, with gains that are constants."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayesieve.solvers._additive import AdditiveProblem
from bayesieve.solvers._block import Block
from bayesieve.solvers._branch import (
    PRUNE_TOLERANCE,
    Limits,
    SearchResult,
    branch_and_bound,
)
from bayesieve.solvers._certificate import Certificate, Solution
from bayesieve.solvers._dual import relax
from bayesieve.solvers._inputs import warn_of_few_features, warn_of_limit
from bayesieve.solvers._logs import Floats
from bayesieve.solvers._rules import Rules

__all__ = [
    "all_allowed",
    "best_by_bic_under",
    "solve_additive_under",
    "worth_their_price",
]

Indices = NDArray[np.int64]


def solve_additive_under(
    problem: AdditiveProblem, k: int | None, rules: Rules, limits: Limits, owner: str
) -> Solution:
    """The best allowed support of at most k items; None for as many as are allowed."""
    size = rules.n_items if k is None else k
    rules.check_size(size, owner)
    varying = _varying(problem, rules)
    found = _search(problem, problem.gains, varying, size, rules, limits)
    n_items = found.columns.shape[0]
    if k is not None and n_items < k and rules.cost is None:
        warn_of_few_features(k, n_items, what="may be selected and vary over the rows")
    solution = _solution(problem, rules, found, n_items if k is None else k)
    if found.stopped:
        warn_of_limit(solution.certificate, found.nodes, limits)
    return solution


def best_by_bic_under(
    problem: AdditiveProblem, rules: Rules, limits: Limits
) -> Solution:
    """The allowed support of least BIC, with at least one feature if any may be."""
    half = 0.5 * math.log(max(problem.n_rows, 1.0))
    price = half * np.asarray(problem.extra_parameters)
    return worth_their_price(problem, price, rules, limits, least=1)


def worth_their_price(
    problem: AdditiveProblem,
    price: float | Floats,
    rules: Rules,
    limits: Limits,
    *,
    least: int = 0,
) -> Solution:
    """The allowed support of largest gain less the price of its columns.

    None may be worth it; with ``least=1`` the one that comes nearest is taken then.

    Its certificate is about its gain, as every other: how much more another support of
    as many items may gain.
    """
    surplus = problem.gains - price
    varying = _varying(problem, rules)
    own = rules.per_item(np.where(problem.eligible, surplus, 0.0))
    worth = varying & (own > 0)
    allowed = varying.copy()
    allowed[rules.excluded] = allowed[rules.impossible] = False
    if least and not (worth & allowed).any() and not rules.included.shape[0]:
        nearest = np.argmax(np.where(allowed, own, -np.inf))
        worth = allowed & (np.arange(own.shape[0]) == nearest)
    found = _search(problem, surplus, worth, rules.n_items, rules, limits)
    n_items = found.columns.shape[0]
    if not n_items:
        return _solution(problem, rules, replace(found, gain=0.0, others=-math.inf), 0)
    best = _search(problem, problem.gains, varying, n_items, rules, limits)
    others = best.others
    if not np.array_equal(best.columns, found.columns):
        others = max(others, best.gain + best.doubt)
    columns = rules.columns_of(found.columns)
    solution = _solution(
        problem,
        rules,
        replace(
            found,
            gain=float(problem.gains[columns].sum()),
            doubt=float(problem.doubt(problem.gains[columns]).sum()),
            others=others,
        ),
        n_items,
    )
    if found.stopped or best.stopped:
        warn_of_limit(solution.certificate, found.nodes + best.nodes, limits)
    return solution


def _varying(problem: AdditiveProblem, rules: Rules) -> NDArray[np.bool_]:
    """Items with a column that varies."""
    return rules.per_item(problem.eligible.astype(np.float64)) > 0


def all_allowed(problem: AdditiveProblem, rules: Rules) -> Solution:
    """Every column that is not excluded."""
    columns = rules.columns_of(np.setdiff1d(np.arange(rules.n_items), rules.excluded))
    return problem.solution(columns, -math.inf, columns.shape[0])


def _search(
    problem: AdditiveProblem,
    gains: Floats,
    eligible: NDArray[np.bool_],
    k: int,
    rules: Rules,
    limits: Limits,
) -> SearchResult:
    """Items of largest gain that may be together, of those that are eligible."""
    included = rules.included
    free = eligible.copy()
    values = rules.per_item(gains)
    free[rules.excluded] = free[rules.impossible] = False
    free[included] = True
    items = np.flatnonzero(free)
    doubt = rules.per_item(problem.doubt(problem.gains))
    block = Block.of_constants(items, values[items], doubt[items], rules.choice(items))
    chosen = np.searchsorted(items, included)
    keep = np.setdiff1d(np.arange(items.shape[0]), chosen, assume_unique=True)
    block = block.take(keep, chosen)
    size = min(k - included.shape[0], len(block))
    root = relax(block, size, block.anchor)
    assert root.best is not None
    if root.slack > PRUNE_TOLERANCE * max(root.best_gain, 0.0):

        def equal(part: Block) -> Indices:
            keys = [part.value]
            if rules.max_per_group is not None:
                assert rules.group is not None
                keys.append(rules.group[part.columns].astype(np.float64))
            if part.choice is not None and part.choice.cost is not None:
                keys.append(part.choice.cost)
            same = np.unique(np.vstack(keys), axis=1, return_inverse=True)[1]
            return same.ravel().astype(np.int64)

        return branch_and_bound(equal, size, root, limits)
    columns = np.sort(np.concatenate([block.chosen, block.columns[root.best]]))
    return SearchResult(columns, root.best_gain, root.best_doubt, root.others, 1, False)


def _solution(
    problem: AdditiveProblem, rules: Rules, found: SearchResult, k: int
) -> Solution:
    columns = rules.columns_of(found.columns)
    gains = problem.gains[columns]
    gain = float(gains.sum())
    certificate = Certificate.from_gains(
        null=problem.null_value,
        gain=gain,
        others=found.others,
        relaxation=max(gain, found.others),
        nodes=found.nodes,
        k=k,
        class_shares=problem.class_shares,
        doubt=found.doubt,
        under_rules=True,
    )
    return Solution(columns, gains, certificate, problem.estimate(columns))
