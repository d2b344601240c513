"""Sparse multinomial naive Bayes: the k features of largest likelihood, certified."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.exceptions import DegenerateSupportWarning
from bayesieve.solvers._branch import Limits
from bayesieve.solvers._certificate import Certificate, Solution
from bayesieve.solvers._inputs import (
    check_alpha,
    check_limits,
    count_table,
    warn_of_few_features,
    warn_of_limit,
)
from bayesieve.solvers._logs import Floats
from bayesieve.solvers._problem import MultinomialProblem, Outcome
from bayesieve.solvers._rule_input import rules_of
from bayesieve.solvers._rules import Rules, allowed_size, check_device_rules
from bayesieve.utils._resources import keeps_to_jobs
from bayesieve.utils._warnings import warn_user

__all__ = [
    "certify",
    "multinomial_estimates",
    "multinomial_problem",
    "solve_all_multinomial",
    "solve_multinomial",
    "solve_multinomial_problem",
]

DEGENERATE_MESSAGE = (
    "k=1 has gain 0 under the multinomial model, because two distributions cannot "
    "differ in exactly one feature; use k >= 2 or the Bernoulli model."
)


@keeps_to_jobs
def solve_multinomial(
    counts: Any,
    k: int | None = None,
    *,
    alpha: float | Floats = 1.0,
    exact: bool = True,
    time_limit: float | None = 10.0,
    node_limit: int | None = 10_000,
    include: Any = None,
    exclude: Any = None,
    groups: Any = None,
    max_per_group: int | None = None,
    feature_cost: Any = None,
    budget: float | None = None,
    n_jobs: int | None = -1,
) -> Solution:
    """Find the k features that maximise the multinomial naive Bayes likelihood.

    The answer is **exact** unless a limit is hit, and **bounded** then: the certificate
    states the true gap either way.

    Parameters
    ----------
    counts : ClassCounts or {array, sparse array} of shape (n_classes, n_features)
        Class-conditional sums. An array of PyTorch, CuPy or another library of the
        array API stays on its device, but for columns that may matter.
    k : int, optional
        Number of features, at least 2. One feature has gain 0: then a
        `DegenerateSupportWarning` and an empty support. None, beside a budget or
        `max_per_group`: as many as they allow.
    alpha : float or array of shape (n_features,), default=1.0
        Smoothing added to every count, as in scikit-learn's ``MultinomialNB``.
    exact : bool, default=True
        Close the gap of the relaxation by branch and bound. Without it the best support
        met while solving the relaxation is returned with its gap.
    time_limit : float or None, default=10.0
        Seconds after which the search stops with a `GapWarning`. The first support and
        its bound, some passes over the counts, are computed in any case.
    node_limit : int or None, default=10_000
        Solved nodes after which it stops likewise.
    include, exclude : names, numbers or a mask of columns, optional
        Features that every support must have, and that none may have.
    groups : array-like of shape (n_features,), lists of columns or dict, optional
        A label for each column; columns without one (None, NaN) are alone. Groups are
        taken whole and k counts groups; with `max_per_group` at most so many columns
        are taken of each.
    max_per_group : int, optional
        See `groups`.
    feature_cost : array-like of shape (n_features,) or dict of names, optional
        What each feature costs, >= 0; together at most `budget`.
    budget : float, optional
        See `feature_cost`.
    n_jobs : int or None, default=-1
        Threads, as scikit-learn counts them: -1 is one for each processor.

    Returns
    -------
    Solution

    Notes
    -----
    About four passes over the table, plus work on a few thousand candidates. Columns
    without any count are never selected. Of equal columns those of lowest index are
    taken. Different supports may tie as well: then one of the best is returned, the
    same one for the same table and k, alone or in a `sparsity_path`.

    References
    ----------
    A. Askari, A. d'Aspremont, L. El Ghaoui, "Naive feature selection: a nearly tight
    convex relaxation for sparse naive Bayes".

    Examples
    --------
    >>> from bayesieve import solve_multinomial
    >>> solution = solve_multinomial([[4, 6, 10], [12, 0, 0]], k=2, alpha=0)
    >>> solution.support
    array([0, 2])
    >>> round(float(solution.gains.sum()), 4)
    8.9475
    >>> solution.certificate.is_optimal
    True
    """
    name = "solve_multinomial"
    check_limits(time_limit, node_limit, solver=name)
    table = count_table(counts, kinds=("count", "binary"), solver=name, on_device=True)
    rules = rules_of(
        table.shape[1],
        getattr(counts, "feature_names", None),
        include=include,
        exclude=exclude,
        groups=groups,
        max_per_group=max_per_group,
        feature_cost=feature_cost,
        budget=budget,
        owner=name,
    )
    size = allowed_size(k, rules, solver=name)
    check_device_rules(counts, rules, solver=name)
    problem = MultinomialProblem(
        table, check_alpha(alpha, table.shape[1], solver=name), rules
    )
    return solve_multinomial_problem(
        problem,
        size,
        exact=exact,
        limits=Limits.starting_now(time_limit, node_limit),
    )


def multinomial_problem(
    counts: Any,
    alpha: float | Floats,
    *,
    rules: Rules | None = None,
    on_device: bool = False,
    solver: str,
) -> MultinomialProblem:
    """Checked counts and smoothing, ready for any number of solves."""
    table = count_table(
        counts, kinds=("count", "binary"), solver=solver, on_device=on_device
    )
    alphas = check_alpha(alpha, table.shape[1], solver=solver)
    return MultinomialProblem(table, alphas, rules)


def solve_multinomial_problem(
    problem: MultinomialProblem,
    k: int,
    *,
    exact: bool,
    limits: Limits,
    with_bounds: bool = True,
) -> Solution:
    """Solve, warn where due, and certify; ``with_bounds`` adds two lower bounds."""
    rules = problem.rules
    whole = rules is not None and rules.are_groups_whole
    if k == 1 and not whole:
        warn_user(DEGENERATE_MESSAGE, DegenerateSupportWarning)
        if rules is None or not rules.include.shape[0]:
            return null_solution(problem)
    if k > problem.n_nonempty and (rules is None or not rules.limits_choice):
        warn_of_few_features(k, problem.n_nonempty, what="have any count")
    outcome = problem.solve(k, exact=exact, limits=limits)
    # Two lower bounds for the record: they may take a second each beyond the limit.
    bounded = with_bounds and rules is None
    solution = _certified(problem, k, outcome, limits if bounded else None)
    if outcome.stopped:
        warn_of_limit(solution.certificate, outcome.nodes, limits)
    return solution


def solve_all_multinomial(problem: MultinomialProblem) -> Solution:
    """Plain naive Bayes: every column that may be, with or without counts."""
    if problem.rules is not None:
        return _certified(problem, problem.rules.n_items, problem.take_all(), None)
    columns = np.arange(problem.n_features)
    counts = problem.smoothed(columns)
    shares = problem.overall_shares
    gains = problem.gains(shares)
    # Columns without counts have gain under smoothing too; it belongs to the objective.
    empty = np.setdiff1d(columns, problem.nonempty(), assume_unique=True)
    if empty.shape[0]:
        block = problem.block(empty, shares)
        gains[empty] = block.value - block.doubt
    total = float(gains.sum())
    certificate = Certificate.from_gains(
        null=problem.null_value,
        gain=total,
        relaxation=total,
        nodes=1,
        k=problem.n_features,
        class_shares=shares,
    )
    totals = float(problem.class_totals.sum())
    estimates = multinomial_estimates(counts, totals)
    return Solution(columns, gains, certificate, estimates)


def multinomial_estimates(counts: Floats, grand_total: float) -> Floats:
    """Theta on a support: class-wise shares of the mass that the support has overall.

    ``theta_ci = (B / B_c) f_ci / S``; a class without count on the support (alpha = 0
    only) spreads the mass in proportion to the column totals.
    """
    class_sums = counts.sum(axis=1)
    mass = class_sums.sum() / grand_total if grand_total > 0 else 0.0
    missing = class_sums <= 0
    shares: Floats = counts / np.where(missing, 1.0, class_sums)[:, None]
    if missing.any():
        totals = counts.sum(axis=0)
        shares[missing] = totals / totals.sum() if totals.sum() > 0 else 0.0
    return shares * mass


def null_solution(problem: MultinomialProblem) -> Solution:
    """No column at all: the best there is for k = 1, or with a single column."""
    shares = problem.overall_shares
    certificate = Certificate.from_gains(
        null=problem.null_value,
        gain=0.0,
        relaxation=problem.psi(1),
        nodes=1,
        k=1,
        sharp=0.0,
        class_shares=shares,
    )
    return Solution(
        np.empty(0, dtype=np.int64),
        np.empty(0),
        certificate,
        np.empty((problem.n_classes, 0)),
    )


def certify(
    problem: MultinomialProblem,
    k: int,
    outcome: Outcome,
    *,
    published: float = math.nan,
    sharp: float = math.nan,
) -> tuple[Floats, Certificate]:
    """Gain of each selected feature, and the certificate of the support."""
    # At its own class shares, so that the gains of the features sum to that of all.
    block = problem.table.block(outcome.support, otherwise=outcome.shares)
    gain, doubt = block.gain_of(np.arange(len(block)))
    others = outcome.others
    if problem.lacks_signal(max(gain, others)):
        others = -math.inf
    certificate = Certificate.from_gains(
        null=problem.null_value,
        gain=gain,
        others=others,
        relaxation=max(outcome.relaxation, gain),
        nodes=outcome.nodes,
        k=k,
        published=published,
        sharp=sharp,
        class_shares=outcome.shares,
        doubt=max(doubt, outcome.doubt),
        under_rules=problem.rules is not None,
    )
    return block.value - block.doubt, certificate


def _certified(
    problem: MultinomialProblem, k: int, outcome: Outcome, limits: Limits | None
) -> Solution:
    published = sharp = math.nan
    if limits is not None:
        n_classes = problem.n_classes
        sharp = problem.psi_at_least(k - n_classes + 1, limits.extended(1.0))
        if k >= n_classes + 2:
            published = problem.psi_at_least(k - n_classes - 2, limits.extended(1.0))
    gains, certificate = certify(problem, k, outcome, published=published, sharp=sharp)
    estimates = multinomial_estimates(
        problem.smoothed(outcome.support), float(problem.class_totals.sum())
    )
    return Solution(outcome.support, gains, certificate, estimates)
