"""Newton's method against SciPy, and the search below p = 1 against brute force."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.weights.examples import likelihoods, parts_of, run, weight_problem

from bayesieve.weights import Convex, DenseTerms, PartTerms, WeightProblem
from bayesieve.weights import _newton as newton_module


def scipy_minimum(problem, start=None):
    """Bounded quasi-Newton to high accuracy, from several starts; its best value."""
    n, k = problem.n_rows, problem.n_terms
    best = np.inf
    for w in [np.full(k, 0.5), np.full(k, 0.05)] if start is None else [start]:
        for _ in range(3):  # a restart renews the quasi-Newton matrix
            done = minimize(
                lambda x: tuple(part / n for part in problem.value_gradient(x)),
                w,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0, 1)] * k,
                options={"maxiter": 5000, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 30},
            )
            w = done.x
        best = min(best, done.fun * n)
    return best


def check_kkt(problem, w, tol=1e-8):
    _, g = problem.value_gradient(w)
    g = g / problem.n_rows
    assert (w >= 0).all()
    assert (w <= 1).all()
    assert (g[w == 0] >= -tol).all()
    assert (g[w == 1] <= tol).all()
    inside = (w > 0) & (w < 1)
    assert np.abs(g[inside]).max(initial=0) <= tol


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("regularization", [0.0, 0.1, 2.0])
def test_convex_problems_are_solved_to_1e_8(n_classes, exponent, regularization):
    problem = weight_problem(
        n_classes,
        n_classes=n_classes,
        n_terms=9,
        n_rows=400,
        exponent=exponent,
        regularization=regularization,
    )
    result = run(Convex, problem)
    assert result.stopped == "converged"
    assert result.value == problem.value(result.weights)
    check_kkt(problem, result.weights)
    assert result.value <= scipy_minimum(problem) + 1e-8 * abs(result.value)


@pytest.mark.parametrize("seed", range(3))
def test_the_start_does_not_matter_when_convex(seed):
    problem = weight_problem(seed, n_terms=8)
    value = run(Convex, problem).value
    start = np.random.default_rng(seed).random(8)
    assert run(Convex, problem, start).value == pytest.approx(value, abs=1e-9)


def test_dense_terms_and_row_weights():
    parts, tables, codes, prior = parts_of(8, n_classes=3, n_terms=6)
    twice = np.where(np.arange(codes.size) % 2 == 0, 2, 1)
    args = (codes, prior, np.full(6, 5.0))
    a = run(Convex, WeightProblem(PartTerms(parts, tables), *args, row_weight=twice))
    cube = likelihoods(parts, tables)
    b = run(Convex, WeightProblem(DenseTerms(cube), *args, row_weight=twice))
    c = run(
        Convex,
        WeightProblem(
            PartTerms(np.repeat(parts, twice, axis=0), tables),
            np.repeat(codes, twice),
            prior,
            np.full(6, 5.0),
        ),
    )
    np.testing.assert_allclose(a.weights, b.weights, atol=1e-6)
    np.testing.assert_allclose(a.weights, c.weights, atol=1e-6)
    assert a.value == pytest.approx(c.value, abs=1e-8)


def test_copies_of_one_variable_make_a_singular_problem():
    parts, tables, codes, prior = parts_of(1, n_terms=2)
    copies = np.repeat(parts, 4, axis=1)
    terms = PartTerms(copies, [table for table in tables for _ in range(4)])
    problem = WeightProblem(terms, codes, prior, np.full(8, 1.0), 0.1)
    result = run(Convex, problem)
    check_kkt(problem, result.weights)
    assert result.value <= scipy_minimum(problem) + 1e-8


@pytest.mark.parametrize(("warm", "widest"), [(0, 3), (3, 5)])
def test_wide_problems_take_parts_of_the_hessian(monkeypatch, warm, widest):
    problem = weight_problem(4, n_terms=12, n_rows=300)
    value = run(Convex, problem).value
    monkeypatch.setattr(newton_module, "WARM_WIDTH", warm)
    monkeypatch.setattr(newton_module, "MAX_WIDTH", widest)
    result = run(Convex, problem)
    assert result.value == pytest.approx(value, abs=1e-8)
    check_kkt(problem, result.weights)


def test_too_few_steps_are_told(monkeypatch):
    monkeypatch.setattr(newton_module, "_MAX_STEPS", 2)
    assert run(Convex, weight_problem(4, n_terms=12)).stopped == "budget"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux only")
@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_threads_change_no_weight(exponent):
    cores = os.sched_getaffinity(0)
    if len(cores) < 2:
        pytest.skip("one core only")
    problem = weight_problem(0, n_rows=60_000, n_classes=3, exponent=exponent)
    many = run(Convex, problem)
    try:
        os.sched_setaffinity(0, {min(cores)})
        one = run(Convex, problem)
    finally:
        os.sched_setaffinity(0, cores)
    np.testing.assert_array_equal(many.weights, one.weights)
    assert many.value == one.value


def test_a_strong_penalty_leaves_the_prior():
    problem = weight_problem(0, regularization=1e4)
    result = run(Convex, problem)
    assert not result.weights.any()
    assert result.value == pytest.approx(problem.value(np.zeros(5)))


def test_no_terms_and_one_class():
    none = PartTerms(np.empty((3, 0), np.uint8), [], n_classes=2)
    prior = np.log([0.5, 0.5])
    result = run(Convex, WeightProblem(none, [0, 1, 1], prior, np.empty(0)))
    assert result.weights.shape == (0,)
    assert result.value == pytest.approx(3 * np.log(2))
    sure = PartTerms(np.zeros((3, 2), np.uint8), [np.zeros((1, 1))] * 2)
    result = run(
        Convex, WeightProblem(sure, [0, 0, 0], [0.0], [1.0, 1.0]), np.full(2, 0.5)
    )
    assert result.value == 0.0
    np.testing.assert_array_equal(result.weights, [0, 0])


@pytest.mark.parametrize("exponent", [0.5, 0.95])
@pytest.mark.parametrize("seed", range(4))
def test_below_one_the_search_is_near_the_best_of_all_supports(seed, exponent):
    # Brute force: on each support, descents from several points inside the box.
    problem = weight_problem(
        seed, n_terms=4, exponent=exponent, regularization=1.0, preparation=2.0
    )
    best = problem.value(np.zeros(4))
    rng = np.random.default_rng(0)
    for mask in range(1, 16):
        used = np.array([mask >> k & 1 for k in range(4)], dtype=bool)
        for _ in range(3):
            done = minimize(
                lambda x, used=used: problem.value(np.where(used, x, 0.0)),
                np.where(used, rng.uniform(0.2, 1, 4), 0.0),
                jac=lambda x, used=used: np.where(
                    used, problem.value_gradient(np.where(used, x, 0.0))[1], 0.0
                ),
                method="L-BFGS-B",
                bounds=[(1e-3, 1) if u else (0, 0) for u in used],
            )
            best = min(best, done.fun)
    result = run(Convex, problem)
    assert result.value == pytest.approx(problem.value(result.weights), rel=1e-13)
    assert result.value <= best + 1e-4 * problem.n_rows


def test_below_one_no_single_change_is_better_and_history_falls():
    problem = weight_problem(6, n_terms=8, exponent=0.5, regularization=0.5)
    result = run(Convex, problem)
    at_one = run(Convex, replace(problem, exponent=1.0)).weights
    assert result.value <= problem.value(at_one)
    assert (np.diff(result.history[:, 3]) <= 0).all()
    for k in range(8):
        for x in (0.0, 0.25, 0.5, 1.0):
            w = result.weights.copy()
            w[k] = x
            assert problem.value(w) >= result.value - 1e-6 * problem.n_rows


def test_below_one_a_given_start_is_improved():
    problem = weight_problem(6, n_terms=8, exponent=0.5, regularization=0.5)
    start = np.full(8, 0.3)
    result = run(Convex, problem, start)
    assert result.value < problem.value(start)
    again = run(Convex, problem, result.weights)
    assert again.value <= result.value
