"""The corrected gradient descent: every trap of the source text has its test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.weights.examples import run, weight_problem

from bayesieve.weights import VNS, Convex, Gradient, MultiStart


class Scripted:
    """A problem of one weight whose values are given one after the other."""

    exponent = 1.0
    n_terms = 1

    def __init__(self, values, n_rows=100):
        self.values = list(values)
        self.met = []
        self.n_rows = float(n_rows)
        self.terms = type("Terms", (), {"n_rows": n_rows})()

    def value(self, w):
        # What was met before keeps its value, as with a real criterion.
        for old, value in self.met:
            if np.array_equal(old, w):
                return value
        self.met.append((w.copy(), self.values.pop(0)))
        return self.met[-1][1]

    def batch_gradient(self, w, rows):
        return np.array([0.1])  # a small step each time: every point is new


class Gradients(Scripted):
    """A problem whose gradients are given, and whose value always falls."""

    def __init__(self, gradients):
        super().__init__(range(100, 0, -1))
        self.gradients = list(gradients)

    def batch_gradient(self, w, rows):
        return np.array([self.gradients.pop(0)])


def moves_of(gradients, **options):
    seen = [0.5]
    run(
        Gradient,
        Gradients(gradients),
        np.array([0.5]),
        max_iter=len(gradients),
        callback=lambda state: seen.append(state.weights[0]),
        **options,
    )
    return np.diff(seen)


def test_t1_steps_halve_when_the_sign_changes_and_grow_by_a_fifth_otherwise():
    got = moves_of([1.0, 1.0, -1.0, -2.0, 0.0, 3.0, 3.0])
    sizes = [0.01, 0.012, 0.006, 0.0072, 0.0072, 0.0072, 0.00864]
    np.testing.assert_allclose(got, np.multiply(sizes, [-1, -1, 1, 2, 0, -3, -3]))


def test_t2_the_step_is_size_times_gradient_unless_only_the_sign_is_asked_for():
    gradients = [4.0, 2.0, -1.0]
    np.testing.assert_allclose(moves_of(gradients), [-0.04, -0.024, 0.006])
    signs = moves_of(gradients, sign_only=True)
    np.testing.assert_allclose(signs, [-0.01, -0.012, 0.006])


def test_t2_step_sizes_have_bounds():
    tiny = moves_of([1e-3] * 60)
    assert np.abs(tiny).max() == pytest.approx(50 * 1e-3)
    held = moves_of([1.0] * 5, step_bounds=(1e-6, 0.011))
    np.testing.assert_allclose(held, [-0.01, -0.011, -0.011, -0.011, -0.011])


def test_t27_gradients_may_be_averaged():
    got = moves_of([1.0, 0.0, 1.0], average=0.5)
    np.testing.assert_allclose(got, [-0.01, -0.012 * 0.5, -0.0144 * 0.75])


def test_t3_failures_are_counted_in_succession():
    # Improvements at the second and fourth step: never two failures in a row before.
    problem = Scripted([10, 11, 9, 11, 8, 11, 12, 0])
    result = run(Gradient, problem, np.array([1.0]), patience=2, step=0.01)
    assert result.iterations == 6
    assert result.value == 8
    assert result.stopped == "converged"


def test_t4_the_best_is_kept_not_the_last_improvement():
    problem = Scripted([10, 5, 8, 7, 6, 9, 9, 9])
    result = run(Gradient, problem, np.array([1.0]), patience=5)
    assert result.value == 5
    np.testing.assert_array_equal(result.weights, problem.met[1][0])


def test_t5_nothing_better_returns_the_start():
    problem = Scripted([10, 11, 12, 13, 14, 15])
    result = run(Gradient, problem, np.array([1.0]), patience=5)
    assert result.value == 10
    np.testing.assert_array_equal(result.weights, [1.0])
    assert result.iterations == 5


def test_t6_the_tolerance_is_per_row():
    values = [10 - 0.5 * i for i in range(8)]
    # Three steps of 0.5 on 100 rows gain 0.015 a row.
    slow = run(Gradient, Scripted(values), np.array([1.0]), patience=3, tol=0.02)
    fast = run(
        Gradient, Scripted(values), np.array([1.0]), patience=3, tol=0.004, max_iter=6
    )
    assert (slow.value, slow.iterations, slow.stopped) == (10.0, 3, "converged")
    assert (fast.value, fast.iterations, fast.stopped) == (7.0, 6, "budget")


def test_t7_the_penalty_has_the_same_strength_for_every_batch():
    problem = weight_problem(0, regularization=3.0)
    bare = replace(problem, regularization=0.0)
    w = np.linspace(0.1, 0.9, 5)
    expected = 3.0 * problem.cost / 200
    for rows in (None, np.arange(10), np.arange(50), slice(0, 150)):
        got = problem.batch_gradient(w, rows) - bare.batch_gradient(w, rows)
        np.testing.assert_allclose(got, expected, rtol=1e-9)
    halves = [problem.batch_gradient(w, slice(i, i + 100)) for i in (0, 100)]
    np.testing.assert_allclose(np.mean(halves, axis=0), problem.batch_gradient(w, None))


def test_t7_a_reference_number_of_rows_sets_the_share():
    problem = replace(weight_problem(0), n_reference=1000.0)
    bare = replace(problem, regularization=0.0)
    w = np.full(5, 0.5)
    share = problem.batch_gradient(w, None) - bare.batch_gradient(w, None)
    np.testing.assert_allclose(share, 0.1 * problem.cost / 1000, rtol=1e-9)
    # 200 of 1000 rows carry a fifth of the penalty, in the criterion as well.
    assert problem.penalty(w) == pytest.approx(0.1 * problem.cost.sum() * 0.5 / 5)
    assert problem.per_row(w) == pytest.approx(problem.value(w) / 200)


@pytest.mark.parametrize("optimiser", [Gradient, VNS, MultiStart])
def test_t9_below_one_a_zero_stays_during_a_descent(optimiser):
    problem = weight_problem(0, exponent=0.5, regularization=0.0)
    start = np.array([0.0, 0.5, 0.0, 0.5, 0.5])
    seen = []
    options = {} if optimiser is Gradient else {"budget": 20}
    run(
        optimiser,
        problem,
        start,
        batch_size=None,
        max_iter=20,
        callback=lambda state: seen.append(state.weights),
        **options,
    )
    assert len(seen) > 5
    first_descent = np.array(seen[:5])
    assert not first_descent[:, [0, 2]].any()
    assert (first_descent[:, 1] > 0).all()


def test_t9_at_one_a_zero_may_leave():
    problem = weight_problem(0, exponent=1.0, regularization=0.0)
    result = run(Gradient, problem, np.zeros(5), batch_size=None)
    assert result.weights.any()


def test_t10_the_value_is_that_of_the_thresholded_weights():
    problem = weight_problem(1, n_terms=8, regularization=1.0)
    for optimiser in (Gradient, MultiStart, VNS):
        rng = np.random.default_rng(0)
        result = run(
            optimiser, problem, batch_size=None, threshold=0.2, random_state=rng
        )
        small = (result.weights > 0) & (result.weights < 0.2)
        assert not small.any()
        assert (result.weights == 0).any()
        assert result.value == problem.value(result.weights)


@pytest.mark.parametrize("options", [{}, {"sign_only": True}, {"average": 0.5}])
@pytest.mark.parametrize("regularization", [0.0, 0.1])
def test_one_descent_comes_near_the_minimum(options, regularization):
    problem = weight_problem(2, n_rows=1000, regularization=regularization, n_terms=7)
    best = run(Convex, problem).value
    result = run(Gradient, problem, batch_size=None, **options)
    assert result.value >= best - 1e-9
    assert (result.value - best) / problem.n_rows < 2e-3
    assert (result.weights >= 0).all()
    assert (result.weights <= 1).all()


def test_batches_are_random_but_reproducible():
    problem = weight_problem(2, n_rows=1000)
    a, b, c = (
        run(Gradient, problem, batch_size=100, random_state=np.random.default_rng(seed))
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(a.weights, b.weights)
    assert (a.weights != c.weights).any()
    best = run(Convex, problem).value
    assert (a.value - best) / 1000 < 0.05


def test_a_descent_can_be_continued():
    problem = weight_problem(2, n_rows=1000)
    first = run(Gradient, problem, batch_size=None, max_iter=5)
    assert first.stopped == "budget"
    assert first.iterations == 5
    second = run(Gradient, problem, first.weights, batch_size=None)
    assert second.value <= first.value


def test_the_input_is_not_changed():
    problem = weight_problem(0)
    start = np.full(5, 0.5)
    for optimiser in (Gradient, VNS, MultiStart, Convex):
        run(optimiser, problem, start)
        np.testing.assert_array_equal(start, np.full(5, 0.5))
