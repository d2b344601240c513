"""Weights of columns and n-grams together, for given penalties or a number of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.weights._criterion import WeightProblem
from bayesieve.weights._joint_terms import JointTerms
from bayesieve.weights._result import Progress, Stopped, WeightResult
from bayesieve.weights._sparse_newton import WeightState
from bayesieve.weights._terms import Array
from bayesieve.weights._weight_path import PathPoint, PathSolver

__all__ = ["JointFit", "JointRows", "fit_joint"]

#: Duality gap to reach, as a share of the NLL without any weight.
TOL = 3e-4


@dataclass(frozen=True, eq=False)
class JointRows:
    """Rows as parts of columns and counts of n-grams, with their classes.

    Attributes
    ----------
    parts : ndarray of shape (n_rows, n_columns)
    tables : list of n_columns arrays of shape (n_parts, n_classes)
    block : sparse array of shape (n_rows, n_ngrams)
    slope : ndarray of shape (n_ngrams, n_classes)
    codes : ndarray of shape (n_rows,)
    weight : ndarray of shape (n_rows,) or None
    log_prior : ndarray of shape (n_classes,)
        Finite.
    """

    parts: Array
    tables: Sequence[Array]
    block: Any
    slope: Array
    codes: Array
    weight: Array | None
    log_prior: Array

    @property
    def n_columns(self) -> int:
        """Terms that are columns; the others are n-grams."""
        return len(self.tables)

    @property
    def n_terms(self) -> int:
        """Columns and n-grams."""
        return self.n_columns + int(self.slope.shape[0])

    @property
    def present(self) -> Array:
        """Classes that a row has: others have no intercept and are left out."""
        rows = np.bincount(self.codes, self.weight, self.log_prior.size)
        return np.flatnonzero(rows > 0.0)

    def problem(self, cost: Array, exponent: float = 1.0) -> WeightProblem:
        """The criterion of the present classes, for penalties `cost`."""
        present = self.present
        position = np.zeros(self.log_prior.size, dtype=np.int32)
        position[present] = np.arange(present.size)
        terms = JointTerms(
            self.parts,
            [table[:, present] for table in self.tables],
            self.block,
            self.slope[:, present],
        )
        return WeightProblem(
            terms,
            codes=position[self.codes],
            log_prior=self.log_prior[present],
            cost=cost,
            exponent=exponent,
            row_weight=self.weight,
        )

    def intercept(self, relative: Array) -> Array:
        """Score of every class without any term; absent classes keep their prior."""
        out = self.log_prior.copy()
        present = self.present
        out[present] = self.log_prior[present[0]] + np.concatenate([[0.0], relative])
        return out

    def scores(self, weights: Array, intercept: Array) -> Array:
        """Scores of the rows, of shape (n_rows, n_classes)."""
        terms = JointTerms(self.parts, self.tables, self.block, self.slope)
        return terms.scores(weights, intercept)


def side_by_side(blocks: Sequence[Any], n_rows: int) -> Any:
    """The n-grams of several text columns as one matrix."""
    if not blocks:
        return sparse.csc_array((n_rows, 0))
    return sparse.hstack(blocks, format="csc")


@dataclass(frozen=True, eq=False)
class JointFit:
    """Weights of columns and n-grams, the scores they start from, and how it went."""

    result: WeightResult
    intercept: Array
    gap: float


def fit_joint(
    rows: JointRows,
    slope: Array,
    progress: Progress,
    *,
    k: int | None = None,
    exponent: float = 1.0,
) -> JointFit:
    """Minimise ``NLL + slope w^exponent`` over weights in [0, 1] and class intercepts.

    With k, the penalties are raised together until no more than about k terms have a
    weight; of these the k that matter most stay, with the penalties as they are given.
    """
    path = PathSolver(
        rows.problem(slope, exponent), refit_intercept=True, tol=TOL, progress=progress
    )
    point: PathPoint | None = None
    state: PathPoint | WeightState | None = None
    with progress:
        progress.note(path.state.weights, np.inf)
        point = path.descend_to(1.0)
        state = point
        if k is not None and point.size > k:
            state = _of_size(path, k)
    if state is None:
        # Stopped on the way: the last point of the path.
        path.begin()
        state = point or min(path.points, key=lambda found: found.penalty)
        if k is not None:
            state = path.within(state, path.strongest(state, k))
    value = state.nll + float(slope @ state.weights**exponent)
    stopped: Stopped = progress.stopped
    gap = point.gap if point is not None else np.nan
    if stopped == "converged" and gap > path.tol:
        stopped = "budget"
    progress.stopped = stopped
    result = progress.result(state.weights, value)
    return JointFit(result, rows.intercept(state.intercept), gap)


def _of_size(path: PathSolver, k: int) -> WeightState:
    """The k terms that matter most where few more have a weight, refitted."""
    point = path.reach(k)
    return path.refit(point, path.strongest(point, k), 1.0)
