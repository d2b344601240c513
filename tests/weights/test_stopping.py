"""Stopped by the clock, by the callback or by Ctrl-C: the best so far is returned."""

from __future__ import annotations

import time

import numpy as np
import pytest
from tests.weights.examples import run, subset_problem, weight_problem

from bayesieve import _core
from bayesieve.weights import VNS, Averaging, Convex, Coordinate, Gradient, MultiStart
from bayesieve.weights._result import Progress

OPTIMISERS = [Gradient, MultiStart, VNS, Convex, Coordinate, Averaging]


def problem_for(optimiser, **kw):
    if optimiser in (Coordinate, Averaging):
        return subset_problem(0, n_terms=8, **kw)
    exponent = 0.5 if optimiser is Convex else 1.0
    return weight_problem(0, n_terms=8, exponent=exponent, **kw)


def check_valid(problem, result):
    weights = getattr(result, "map_weights", result.weights)
    assert ((weights >= 0) & (weights <= 1)).all()
    assert result.value == pytest.approx(problem.value(weights), rel=1e-10)
    assert result.value <= problem.value(np.zeros(8)) + 1e-9


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("at", [0, 2])
def test_a_callback_stops_by_returning_true(optimiser, at):
    problem = problem_for(optimiser)
    states = []

    def stop(state):
        states.append(state)
        return len(states) > at

    result = run(optimiser, problem, callback=stop)
    assert result.stopped == "callback"
    assert len(states) == at + 1
    check_valid(problem, result)
    if optimiser not in (Coordinate, Averaging):
        # Thresholding may change the value of the best point in the last digits.
        assert result.value <= states[-1].best_value + 1e-2


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("at", [0, 2])
def test_a_keyboard_interrupt_returns_the_best_so_far(optimiser, at):
    problem = problem_for(optimiser)
    states = []

    def interrupt(state):
        states.append(state)
        if len(states) > at:
            raise KeyboardInterrupt

    result = run(optimiser, problem, callback=interrupt)
    assert result.stopped == "interrupted"
    check_valid(problem, result)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_no_time_at_all_still_gives_valid_weights(optimiser):
    problem = problem_for(optimiser)
    result = run(optimiser, problem, time_limit=0.0)
    assert result.stopped == "time"
    check_valid(problem, result)


@pytest.mark.parametrize("optimiser", [VNS, Coordinate, Averaging])
def test_the_time_limit_holds(optimiser, monkeypatch):
    """By a clock that only the callback moves: no step begins after the limit."""
    problem = problem_for(optimiser, n_rows=2000)
    clock = {"now": 0.0}
    monkeypatch.setattr(time, "perf_counter", lambda: clock["now"])
    calls = []

    def callback(state):
        calls.append(state.iteration)
        clock["now"] += 0.03

    options = {"budget": 10**7} if optimiser is VNS else {}
    result = run(optimiser, problem, time_limit=0.05, callback=callback, **options)
    assert result.stopped == "time"
    assert len(calls) == 2
    check_valid(problem, result)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_history_and_states_tell_the_same(optimiser):
    problem = problem_for(optimiser)
    states = []
    result = run(optimiser, problem, callback=lambda state: states.append(state))
    assert result.stopped in ("converged", "budget")
    assert result.history.shape == (len(states), 4)
    assert [s.iteration for s in states] == list(range(len(states)))
    np.testing.assert_array_equal(result.history[:, 2], [s.value for s in states])
    np.testing.assert_array_equal(result.history[:, 3], [s.best_value for s in states])
    assert (np.diff(result.history[:, 1]) >= 0).all()
    assert (np.diff(result.history[:, 3]) <= 0).all()
    assert result.evaluations >= result.iterations > 0
    with pytest.raises(ValueError, match="read-only"):
        states[0].weights[0] = 1.0


def test_other_errors_are_not_swallowed():
    def fail(_):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        run(VNS, weight_problem(0), callback=fail)


@pytest.mark.parametrize("optimiser", [Convex, Coordinate])
def test_iterations_can_be_limited(optimiser):
    problem = problem_for(optimiser)
    result = run(optimiser, problem, max_iter=2)
    assert result.stopped == "budget"
    assert result.iterations == 2
    check_valid(problem, result)


def test_a_kernel_in_mid_iteration_ends_with_the_time():
    progress = Progress(time_limit=0.0)
    best = np.array([0.5])
    with progress:
        progress.note(best, 1.0)  # from here on there is something to end with
        _core.divergence(np.ones(10), np.ones(10))
        pytest.fail("the kernel did not look at the clock")
    assert progress.stopped == "time"
    assert progress.best().weights == best
    _core.divergence(np.ones(10), np.ones(10))  # the limit has ended with the block


def test_the_first_evaluation_is_never_cut_off():
    with Progress(time_limit=0.0) as progress:
        _core.divergence(np.ones(10), np.ones(10))
        progress.note(np.array([0.5]), 1.0)
    assert progress.stopped == "converged"


def test_the_limit_of_somebody_else_is_not_taken_for_its_own():
    def optimise():
        with Progress(time_limit=1e6) as progress:
            progress.note(np.array([0.5]), 1.0)
            _core.divergence(np.ones(10), np.ones(10))

    with _core.TimeLimit(0.0), pytest.raises(_core.TimeLimitReached):
        optimise()
