"""Candidates: the columns of largest likelihood, with their log-probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.counts import ClassCounts
from bayesieve.solvers._bernoulli import bernoulli_problem
from bayesieve.solvers._branch import Limits
from bayesieve.solvers._multinomial import (
    multinomial_problem,
    null_solution,
    solve_multinomial_problem,
)
from bayesieve.weights._column_tables import ColumnTables

__all__ = ["Candidates", "candidate_number", "screen"]

_LEAST = 5_000  # candidates, where there are so many columns
_UNKNOWN_SIZE = 20_000  # candidates when the number of features is still to be chosen
_FOLD = 5  # candidates for each wanted feature


@dataclass(frozen=True, eq=False)
class Candidates:
    """Screened columns.

    Attributes
    ----------
    columns : ndarray of int64 of shape (n_candidates,)
        Sorted.
    slope : ndarray of shape (n_candidates, n_classes)
        What one unit of the feature adds to the score of each class at weight one.
    offset : ndarray of shape (n_candidates, n_classes) or None
        What its absence adds (Bernoulli model).
    gains : ndarray of shape (n_candidates,)
        Gain of each column in nats; NaN for columns that joined later.
    """

    columns: np.ndarray
    slope: np.ndarray
    offset: np.ndarray | None
    gains: np.ndarray

    def take(self, chosen: np.ndarray) -> Candidates:
        """Some of the candidates."""
        return replace(
            self,
            columns=self.columns[chosen],
            slope=self.slope[chosen],
            offset=None if self.offset is None else self.offset[chosen],
            gains=self.gains[chosen],
        )

    def joined(self, columns: np.ndarray, tables: ColumnTables) -> Candidates:
        """These and other columns, sorted."""
        slope, offset = tables.of_columns(columns)
        both = np.concatenate([self.columns, columns])
        order = np.argsort(both, kind="stable")
        if self.offset is not None:
            assert offset is not None
            offset = np.concatenate([self.offset, offset])[order]
        return Candidates(
            both[order],
            np.concatenate([self.slope, slope])[order],
            offset,
            np.concatenate([self.gains, np.full(columns.size, np.nan)])[order],
        )


def candidate_number(candidates: Any, k: int | None, n_features: int) -> int:
    """How many columns to screen in: what the user says, or some times k."""
    if candidates == "all":
        return n_features
    if candidates == "auto":
        wanted = _UNKNOWN_SIZE if k is None else max(_FOLD * k, _LEAST)
        return min(wanted, n_features)
    return min(int(candidates), n_features)


def screen(
    counts: ClassCounts, size: int, *, model: str, alpha: Any, owner: str
) -> Candidates:
    """The `size` columns of largest likelihood, by the relaxation and its bound.

    The search of branch and bound is left out: it would exchange a few columns at the
    edge, which have no chance of a weight.
    """
    if model == "bernoulli":
        return _screen_bernoulli(counts, size, alpha, owner)
    problem = multinomial_problem(counts, alpha, solver=owner)
    if problem.n_nonempty < 2:  # two distributions cannot differ in one place alone
        solution = null_solution(problem)
    else:
        solution = solve_multinomial_problem(
            problem,
            max(2, min(size, problem.n_nonempty)),
            exact=False,
            limits=Limits.starting_now(None, 1),
        )
    tables = ColumnTables.of(counts, model, alpha)
    columns = solution.support
    return Candidates(columns, *tables.of_columns(columns), solution.gains)


def _screen_bernoulli(
    counts: ClassCounts, size: int, alpha: Any, owner: str
) -> Candidates:
    problem = bernoulli_problem(counts, alpha, solver=owner)
    solution = problem.solve(min(size, problem.n_eligible))
    tables = ColumnTables.of(counts, "bernoulli", alpha)
    columns = solution.support
    return Candidates(columns, *tables.of_columns(columns), solution.gains)
