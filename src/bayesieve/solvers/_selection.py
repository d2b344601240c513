"""One door for estimators: counts, a model and what the user wrote for k."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.counts import ClassCounts
from bayesieve.solvers._additive import AdditiveProblem
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
    owner: str,
) -> MultinomialProblem | AdditiveProblem:
    """The solver's view of counts under one of the four models."""
    if model == "multinomial":
        return multinomial_problem(counts, alpha, solver=owner)
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
    owner: str,
) -> Selection:
    """Solve for a size, a share of the features, "all", "elbow" or "bic"."""
    check_wanted_size(k, owner=owner, smallest=2 if model == "multinomial" else 1)
    problem = build_problem(
        counts,
        model=model,
        alpha=alpha,
        variance=variance,
        smoothing=smoothing,
        owner=owner,
    )
    if isinstance(problem, AdditiveProblem):
        return Selection(_solve_additive(problem, k), problem)
    n_rows = float(counts.class_count.sum())
    if isinstance(k, str) and k == "all":
        return Selection(solve_all_multinomial(problem), problem)
    if isinstance(k, str):
        path = multinomial_path(
            problem, n_rows=n_rows, exact=exact, time_limit=time_limit
        )
        size = path.elbow if k == "elbow" else path.bic
    else:
        size = _whole(k, problem.n_features, smallest=2)
    solution = solve_multinomial_problem(
        problem, size, exact=exact, limits=Limits.starting_now(time_limit, NODE_LIMIT)
    )
    return Selection(solution, problem)


def _whole(k: Any, n_features: int, *, smallest: int) -> int:
    if isinstance(k, numbers.Integral):
        return int(k)
    return max(smallest, round(float(k) * n_features))


def _solve_additive(problem: AdditiveProblem, k: Any) -> Solution:
    if isinstance(k, str):
        if k == "all":
            everything = np.arange(problem.n_features)
            return problem.solution(everything, -math.inf, problem.n_features)
        if k == "bic":
            columns = problem.best_by_bic()
            return problem.solution(columns, -math.inf, columns.shape[0])
        k = max(additive_path(problem).elbow, 1)
    return problem.solve(_whole(k, problem.n_features, smallest=1))
