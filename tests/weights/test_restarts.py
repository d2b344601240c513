"""Restarts: the neighbourhood, the budget, and what they reach."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.weights.examples import run, weight_problem

from bayesieve.weights import VNS, Convex, MultiStart, _restarts, iteration_budget
from bayesieve.weights._descent import Descent


class FakeDescent(Descent):
    """Descents whose values are given; the result is where they started."""

    script: tuple[float, ...] = ()
    length = 10

    def __init__(self, problem, settings, rng):
        super().__init__(problem, settings, rng)
        self.starts, self.lengths = [], []
        FakeDescent.last = self

    def run(self, w0, max_iter, progress):
        self.starts.append(w0.copy())
        self.lengths.append(max_iter)
        progress.note(w0, self.script[0])
        value, *rest = self.script
        type(self).script = tuple(rest)
        return w0, value, min(self.length, max_iter), True

    def value(self, w, progress):
        return 100.0


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr(_restarts, "Descent", FakeDescent)
    return FakeDescent


def run_fake(fake, script, n_terms=2000, **options):
    fake.script = tuple(script)
    problem = weight_problem(0, n_rows=20, n_terms=n_terms)
    result = run(
        VNS,
        problem,
        np.full(n_terms, 0.5),
        budget=10 * len(script),
        random_state=np.random.default_rng(0),
        **options,
    )
    return fake.last, result


def test_t14_the_neighbourhood_grows_on_failure_and_shrinks_on_success(fake):
    # From 1/16: failure doubles, improvement halves (not below 1/16), at most 1.
    script = [90, 95, 95, 80, 95, 95, 95, 95, 95, 95]
    sizes = [1 / 16, 1 / 8, 1 / 4, 1 / 8, 1 / 4, 1 / 2, 1, 1, 1]
    descents, _ = run_fake(fake, script)
    best = descents.starts[0]
    for i, size in enumerate(sizes):
        if i == 3:
            best = descents.starts[3]
        moved = np.abs(descents.starts[i + 1] - best).max()
        reachable = min(size, max(best.max(), 1 - best.min()))
        assert moved <= size + 1e-12
        assert moved > 0.9 * reachable


def test_t15_restarts_are_around_the_best_not_the_last(fake):
    # The third result is worse: the fourth start is around the second.
    descents, result = run_fake(fake, [90, 80, 95, 95])
    best = descents.starts[1]
    assert np.abs(descents.starts[3] - best).max() <= 1 / 8 + 1e-12
    assert np.abs(descents.starts[2] - best).max() <= 1 / 16 + 1e-12
    np.testing.assert_array_equal(result.weights, best)


def test_t16_every_weight_moves_by_its_own_draw(fake):
    descents, _ = run_fake(fake, [90, 95])
    moves = descents.starts[1] - 0.5
    assert np.unique(moves).size == moves.size
    assert abs(moves.mean()) < 0.005
    assert abs(moves.std() - (1 / 16) / math.sqrt(3)) < 0.003


def test_t17_the_budget_is_a_whole_number_and_never_exceeded(fake):
    assert iteration_budget(10, 1000, 5) == math.ceil(math.log(10_000) * 32) == 295
    assert iteration_budget(1, 1, 5) == 1
    fake.script = (90.0,) * 20
    problem = weight_problem(0)
    run(VNS, problem, budget=34, max_iter=25)
    assert fake.last.lengths == [25, 24, 14, 4]
    fake.script = (90.0,) * 20
    run(MultiStart, problem, budget=7)
    assert fake.last.lengths == [7]


@pytest.mark.parametrize("optimiser", [VNS, MultiStart])
def test_t17_real_descents_stay_within_the_budget(optimiser):
    result = run(optimiser, weight_problem(0), effort=2)
    assert result.iterations == iteration_budget(5, 200, 2)
    assert result.stopped == "budget"


@pytest.mark.parametrize("optimiser", [VNS, MultiStart])
def test_t18_the_value_comes_with_the_weights_and_is_the_best(optimiser):
    problem = weight_problem(3, n_terms=6, exponent=0.5, regularization=0.5)
    result = run(
        optimiser, problem, batch_size=None, random_state=np.random.default_rng(0)
    )
    assert result.value == problem.value(result.weights)
    # Gains below the tolerance, 1e-4 on 200 rows, do not count; nor does thresholding.
    assert result.value <= result.history[:, 2].min() + 2 * 1e-4 * 200


@pytest.mark.parametrize("regularization", [0.0, 0.1])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_vns_is_within_1e_3_nats_per_row_of_the_minimum(regularization, n_classes):
    problem = weight_problem(
        n_classes,
        n_rows=600,
        n_terms=9,
        n_classes=n_classes,
        regularization=regularization,
    )
    best = run(Convex, problem).value
    result = run(VNS, problem, batch_size=None, random_state=np.random.default_rng(0))
    assert 0 <= (result.value - best + 1e-9) / 600 < 1e-3


def test_a_zero_can_come_back_in_vns_below_one():
    problem = weight_problem(0, exponent=0.5, regularization=0.01)
    start = np.zeros(5)
    result = run(
        VNS, problem, start, batch_size=None, random_state=np.random.default_rng(0)
    )
    assert result.weights.any()
    assert result.value < problem.value(start)


def test_below_one_the_local_search_is_not_worse_than_restarts():
    for seed in range(3):
        problem = weight_problem(seed, n_terms=7, exponent=0.5, regularization=0.5)
        searched = run(Convex, problem).value
        rng = np.random.default_rng(seed)
        drawn = run(MultiStart, problem, batch_size=None, random_state=rng).value
        assert searched <= drawn + 1e-3 * problem.n_rows
