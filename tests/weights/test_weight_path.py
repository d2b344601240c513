"""Paths of penalties: their ends, continuity, wanted sizes, interruption."""

from __future__ import annotations

import numpy as np
import pytest
from tests.weights.linear_examples import linear_problem

from bayesieve.weights import PathSolver, geometric_grid
from bayesieve.weights._result import Progress


def whole(intercept, weights):
    """Scores of the classes, the first one as reference."""
    return np.concatenate([[0.0], intercept])


def solver_of(problem, tol=1e-8, **options):
    return PathSolver(problem, tol=tol, **options)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("refit", [True, False])
def test_at_the_largest_penalty_every_weight_is_zero_and_below_not(n_classes, refit):
    problem = linear_problem(0, n_classes=n_classes)
    solver = solver_of(problem, refit_intercept=refit)
    assert not solver.solve(solver.largest).weights.any()
    assert not solver.solve(2.0 * solver.largest).weights.any()
    assert solver.solve(0.99 * solver.largest).weights.any()


def test_the_penalised_path_is_continuous():
    problem = linear_problem(1, n_classes=3)
    solver = solver_of(problem, tol=1e-11)
    solver.follow(geometric_grid(solver.largest, 400, 1e-2))
    weights = solver.path(np.arange(12), 12, whole).weights.toarray()
    jumps = np.abs(np.diff(weights, axis=0)).sum(axis=1)
    # Column 11 repeats column 0: only the sum of such weights is determined.
    joined = weights.copy()
    joined[:, 0] += joined[:, 11]
    jumps = np.abs(np.diff(joined[:, :11], axis=0)).max(axis=1)
    assert weights[-1].sum() > 1.0
    assert jumps.max() < 0.05
    nll = solver.path(np.arange(12), 12, whole).nll
    assert (np.diff(nll) <= 1e-9).all()


def test_costs_of_zero_are_free_and_costs_scale_the_penalty():
    cost = np.ones(12)
    cost[3] = 0.0
    solver = solver_of(linear_problem(2, cost=cost))
    at_top = solver.solve(2.0 * solver.largest).weights
    assert np.flatnonzero(at_top).tolist() == [3]
    once = solver_of(linear_problem(2)).solve(3.0)
    twice = solver_of(linear_problem(2, cost=np.full(12, 2.0))).solve(1.5)
    np.testing.assert_allclose(once.weights, twice.weights, atol=1e-4)


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_a_wanted_size_is_reached_or_slightly_passed(size):
    solver = solver_of(linear_problem(4, n_rows=500, n_terms=30), tol=1e-6)
    point = solver.reach(size)
    assert size <= point.size <= size + 1
    assert point.gap <= solver.tol


def test_a_size_out_of_reach_gives_what_there_is():
    solver = solver_of(linear_problem(4), tol=1e-6)
    point = solver.reach(12)
    assert 0 < point.size <= 12
    assert point.penalty <= 1e-2 * solver.largest


def test_a_refit_without_penalty_stays_on_the_support_and_gains():
    solver = solver_of(linear_problem(6, n_terms=20))
    point = solver.solve(0.2 * solver.largest)
    support = np.flatnonzero(point.weights)
    state = solver.refit(point, support)
    assert set(np.flatnonzero(state.weights)) <= set(support)
    assert state.nll <= point.nll + 1e-9
    half = solver.refit(point, support, 0.5 * point.penalty)
    assert state.nll - 1e-9 <= half.nll <= point.nll + 1e-9


def test_concave_penalties_shrink_less_and_never_raise_the_criterion():
    convex_point = solver_of(linear_problem(7)).solve(4.0)
    solver = solver_of(linear_problem(7, exponent=0.5))
    point = solver.solve(4.0)

    def value(p):
        return p.nll + 4.0 * np.sum(p.weights**0.5)

    assert value(point) <= value(convex_point) + 1e-9
    assert point.size <= convex_point.size


def test_an_empty_matrix_has_an_empty_path():
    problem = linear_problem(0)
    nothing = problem.terms.select(np.array([], dtype=np.int64))
    from dataclasses import replace

    empty = PathSolver(replace(problem, terms=nothing, cost=np.empty(0)))
    assert empty.largest == 0.0
    assert empty.reach(3).size == 0


def test_the_path_stops_at_the_clock_and_at_the_callback():
    seen = []

    def callback(state):
        seen.append(np.count_nonzero(state.weights))
        return len(seen) == 3

    progress = Progress(None, callback)
    solver = PathSolver(linear_problem(0), progress=progress)
    with progress:
        solver.follow(geometric_grid(solver.largest, 20, 1e-2))
    assert progress.stopped == "callback"
    assert len(solver.points) == 3
    late = Progress(0.0)
    solver = PathSolver(linear_problem(0), progress=late)
    with late:
        solver.follow(geometric_grid(solver.largest, 20, 1e-2))
    assert late.stopped == "time"
    assert len(solver.points) < 20


def test_the_path_is_spread_over_all_features_by_decreasing_penalty():
    problem = linear_problem(0)
    solver = solver_of(problem)
    solver.solve(1.0)
    solver.solve(5.0)
    columns = np.arange(12) * 3
    path = solver.path(columns, 40, whole)
    assert path.lambdas.tolist() == [5.0, 1.0]
    assert path.weights.shape == (2, 40)
    assert set(path.weights.indices) <= set(columns)
    assert path.n_features.tolist() == [p.size for p in solver.points[::-1]]
    assert path.intercepts.shape == (2, problem.terms.n_classes)
    assert "2 points" in repr(path)
