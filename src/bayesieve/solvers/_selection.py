"""One door for estimators: counts, a model and what the user wrote for k."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.counts import ClassCounts
from bayesieve.solvers._additive import AdditiveProblem
from bayesieve.solvers._additive_rules import (
    all_allowed,
    best_by_bic_under,
    solve_additive_under,
)
from bayesieve.solvers._bernoulli import bernoulli_problem
from bayesieve.solvers._branch import Limits
from bayesieve.solvers._categorical import categorical_problem
from bayesieve.solvers._certificate import Solution
from bayesieve.solvers._gaussian import gaussian_problem
from bayesieve.solvers._logs import Floats
from bayesieve.solvers._multinomial import (
    DEGENERATE_MESSAGE,
    multinomial_problem,
    solve_all_multinomial,
    solve_multinomial_problem,
)
from bayesieve.solvers._path import additive_path, multinomial_path
from bayesieve.solvers._problem import MultinomialProblem
from bayesieve.solvers._rule_input import rules_of
from bayesieve.solvers._rules import Rules

__all__ = ["Selection", "build_problem", "check_wanted_size", "select_features"]

NODE_LIMIT = 10_000


@dataclass(frozen=True)
class Selection:
    """A solved problem: the support, and the problem for those who want every score."""

    solution: Solution
    problem: MultinomialProblem | AdditiveProblem

    def scores(self) -> Floats:
        """Gain of every column; h_i(p*) under the multinomial model."""
        if isinstance(self.problem, MultinomialProblem):
            return self.problem.gains(self.solution.certificate.class_shares)
        return self.problem.gains


def check_wanted_size(k: Any, *, owner: str, smallest: int) -> None:
    """Refuse what is not a size: names the parameter, what is allowed, what came."""
    if isinstance(k, str):
        valid = k in ("all", "elbow", "bic")
    elif isinstance(k, bool) or not isinstance(k, numbers.Real):
        valid = False
    elif isinstance(k, numbers.Integral):
        valid = int(k) >= 1
    else:
        valid = 0.0 < float(k) < 1.0
    if not valid:
        raise ValueError(
            f"The 'k' parameter of {owner} must be an int >= 1, a share in (0, 1), "
            f"'all', 'elbow' or 'bic'. Got {k!r}."
        )
    if isinstance(k, numbers.Integral) and int(k) < smallest:
        raise ValueError(
            f"The 'k' parameter of {owner} is too small: {DEGENERATE_MESSAGE}"
        )


def build_problem(
    counts: ClassCounts,
    *,
    model: str,
    alpha: float | Floats = 1.0,
    variance: str = "class",
    smoothing: str = "laplace",
    rules: Rules | None = None,
    owner: str,
) -> MultinomialProblem | AdditiveProblem:
    """The solver's view of counts under one of the four models."""
    if model == "multinomial":
        return multinomial_problem(counts, alpha, rules=rules, solver=owner)
    if model == "bernoulli":
        return bernoulli_problem(counts, alpha, smoothing=smoothing, solver=owner)
    if model == "gaussian":
        return gaussian_problem(counts, variance=variance, solver=owner)
    return categorical_problem(counts, alpha, solver=owner)


def select_features(
    counts: ClassCounts,
    k: Any,
    *,
    model: str,
    alpha: float | Floats = 1.0,
    variance: str = "class",
    smoothing: str = "laplace",
    exact: bool = True,
    time_limit: float | None = 10.0,
    rules: Mapping[str, Any] | None = None,
    owner: str,
) -> Selection:
    """Solve for a size, a share of the features, "all", "elbow" or "bic".

    ``rules`` are the user's own words for `rules_of`. With those that limit what may be
    together, "all" is as many as they allow.
    """
    names = counts.feature_names
    allowed = rules_of(counts.n_features, names, **(rules or {}), owner=owner)
    whole = allowed is not None and allowed.are_groups_whole
    smallest = 2 if model == "multinomial" and not whole else 1
    check_wanted_size(k, owner=owner, smallest=smallest)
    problem = build_problem(
        counts,
        model=model,
        alpha=alpha,
        variance=variance,
        smoothing=smoothing,
        rules=allowed,
        owner=owner,
    )
    limits = Limits.starting_now(time_limit, NODE_LIMIT)
    if isinstance(problem, AdditiveProblem):
        if allowed is not None:
            found = _solve_additive_under(problem, k, allowed, limits, owner)
            return Selection(found, problem)
        return Selection(_solve_additive(problem, k), problem)
    n_rows = float(counts.class_count.sum())
    limited = allowed is not None and allowed.limits_choice
    if isinstance(k, str) and k == "all" and not limited:
        return Selection(solve_all_multinomial(problem), problem)
    if isinstance(k, str) and k != "all":
        path = multinomial_path(
            problem, n_rows=n_rows, exact=exact, time_limit=time_limit
        )
        size = path.elbow if k == "elbow" else path.bic
    elif isinstance(k, str):
        size = problem.items.n_features
    else:
        size = _whole(k, problem.items.n_features, smallest=smallest)
    if allowed is not None:
        allowed.check_size(size, owner)
    solution = solve_multinomial_problem(
        problem, size, exact=exact, limits=Limits.starting_now(time_limit, NODE_LIMIT)
    )
    return Selection(solution, problem)


def _whole(k: Any, n_features: int, *, smallest: int) -> int:
    if isinstance(k, numbers.Integral):
        return int(k)
    return max(smallest, round(float(k) * n_features))


def _solve_additive_under(
    problem: AdditiveProblem, k: Any, rules: Rules, limits: Limits, owner: str
) -> Solution:
    if not isinstance(k, str):
        size = _whole(k, rules.n_items, smallest=1)
        return solve_additive_under(problem, size, rules, limits, owner)
    if k == "bic":
        return best_by_bic_under(problem, rules, limits)
    if k == "elbow":
        size = max(additive_path(problem, rules=rules).elbow, 1)
        return solve_additive_under(problem, size, rules, limits, owner)
    if rules.limits_choice:
        return solve_additive_under(problem, None, rules, limits, owner)
    return all_allowed(problem, rules)


def _solve_additive(problem: AdditiveProblem, k: Any) -> Solution:
    if isinstance(k, str):
        if k == "all":
            everything = np.arange(problem.n_features)
            return problem.solution(everything, -math.inf, problem.n_features)
        if k == "bic":
            columns = problem.best_by_bic()
            # Prices differ where columns have different numbers of categories: another
            # one may gain more.
            rest = problem.eligible.copy()
            rest[columns] = False
            following = float(problem.gains[rest].max()) if rest.any() else -math.inf
            return problem.solution(columns, following, columns.shape[0])
        k = max(additive_path(problem).elbow, 1)
    return problem.solve(_whole(k, problem.n_features, smallest=1))
