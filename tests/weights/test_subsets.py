"""Coordinate search (FNB) and averaging (SNB) against plain Python."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.weights.examples import (
    likelihoods,
    parts_of,
    run,
    subset_problem,
    subset_value_of,
    universal_code,
)

from bayesieve.weights import (
    Averaging,
    Coordinate,
    DenseTerms,
    PartTerms,
    SubsetProblem,
)


def cube_of(problem):
    return np.stack([problem.terms.term(k) for k in range(problem.n_terms)], axis=1)


def plain_coordinate(problem, order, rng):
    """Section 8, line by line."""
    cube, n = cube_of(problem), problem.codes.size

    def cost(w):
        return subset_value_of(cube, problem, w)

    w = [0.0] * problem.n_terms
    order = np.array(order)
    current = null = cost(w)
    tol = 0.01 * (1 + abs(null)) / (1 + n)
    h = 1.0
    for _ in range(math.ceil(math.log2(n + 1))):
        for _ in range(2):
            before = current
            for k in order:
                new = w.copy()
                new[k] = min(1.0, w[k] + h)
                if new[k] != w[k] and cost(new) < current - tol:
                    w, current = new, cost(new)
            rng.shuffle(order)
            for k in order:
                if w[k] > 0:
                    new = w.copy()
                    new[k] = max(0.0, w[k] - h)
                    if cost(new) < current + tol:
                        w, current = new, cost(new)
            rng.shuffle(order)
            if before - current < tol:
                break
        h /= 2
    return np.array(w), current


def plain_averaged(problem, order, rng):
    """Section 7, line by line."""
    cube, n, k_all = cube_of(problem), problem.codes.size, problem.n_variables

    def cost(subset):
        w = [1.0 if k in subset else 0.0 for k in range(problem.n_terms)]
        return subset_value_of(cube, problem, w)

    null = cost(set())
    tol = 0.01 * (1 + abs(null)) / (1 + n)
    evaluated, best = [], (null, frozenset())
    for start in range(math.ceil(math.log2(n + 1) + math.log2(k_all + 1)) + 1):
        chosen, current = set(), null
        for turn in range(2):
            before = current
            for forward in (True, False):
                first = start == 0 and turn == 0 and forward
                for k in order if first else rng.permutation(problem.n_terms):
                    if (k in chosen) == forward:
                        continue
                    trial = chosen | {k} if forward else chosen - {k}
                    value = cost(trial)
                    evaluated.append((value, frozenset(trial)))
                    best = min(best, evaluated[-1], key=lambda item: item[0])
                    if value < current + (-tol if forward else tol):
                        chosen, current = trial, value
            if before - current < tol:
                break
    weights, total = np.zeros(problem.n_terms), 0.0
    for value, subset in evaluated:
        share = max(0.0, 1 - value / null)
        total += share
        weights[list(subset)] += share
    weights = weights / total if total else weights
    return np.where(weights < 1 / (n + 1), 0, weights), best


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_criterion_is_that_of_the_formula(n_classes):
    problem = subset_problem(1, n_classes=n_classes)
    cube = cube_of(problem)
    for w in ([0, 0, 0, 0, 0], [1, 0, 1, 1, 0], [0.5, 0.25, 0, 0.125, 1], [1] * 5):
        w = np.array(w, dtype=float)
        expected = subset_value_of(cube, problem, w)
        assert problem.value(w) == pytest.approx(expected, rel=1e-12)


def test_worked_values_of_the_integer_code():
    # Section 11 of the specification: U(1), U(5), U(10).
    for n, code in ((1, 1.052607), (5, 3.699453), (10, 5.105026)):
        assert universal_code(n) == pytest.approx(code, abs=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_coordinate_finds_the_weights_of_plain_python(seed, n_classes):
    problem = subset_problem(seed, n_rows=60, n_terms=6, n_classes=n_classes)
    order = np.random.default_rng(seed).permutation(6)
    expected, value = plain_coordinate(problem, order, np.random.default_rng(seed))
    result = run(
        Coordinate,
        replace(problem, order=order),
        random_state=np.random.default_rng(seed),
    )
    np.testing.assert_array_equal(result.weights, expected)
    assert result.value == pytest.approx(value, rel=1e-10)
    assert result.stopped == "converged"


@pytest.mark.parametrize("seed", range(6))
def test_coordinate_weights_are_dyadic_and_never_worse_than_none(seed):
    n_rows = 50 + 37 * seed
    problem = subset_problem(seed, n_rows=n_rows, n_terms=7, regularization=0.1 * seed)
    result = run(Coordinate, problem)
    unit = 2.0 ** (math.ceil(math.log2(n_rows + 1)) - 1)
    np.testing.assert_array_equal(result.weights * unit % 1.0, 0.0)
    assert result.value <= problem.value(np.zeros(7))
    assert result.value == pytest.approx(problem.value(result.weights), rel=1e-11)
    trials = 4 * 7 * math.ceil(math.log2(n_rows + 1))
    assert result.evaluations <= trials + 1


def test_one_variable_has_weight_one_and_none_the_prior():
    one = subset_problem(0, n_terms=1)
    np.testing.assert_array_equal(run(Coordinate, one).weights, [1.0])
    codes = np.array([0, 1, 1], dtype=np.int32)
    none = SubsetProblem(
        PartTerms(np.empty((3, 0), np.uint8), [], n_classes=2),
        codes,
        np.log([1 / 3, 2 / 3]),
        np.empty(0),
        4,
    )
    p = (3 * np.array([1 / 3, 2 / 3]) + 0.25) / 3.5
    expected = 0.1 * (math.log(2) + math.log(4)) - np.log(p)[codes].sum()
    for search in (Coordinate, Averaging):
        result = run(search, none)
        assert result.weights.shape == (0,)
        assert result.value == pytest.approx(expected)


def test_one_class_costs_nothing_but_the_prior():
    terms = PartTerms(np.zeros((3, 2), np.uint8), [np.zeros((1, 1))] * 2)
    problem = SubsetProblem(terms, [0, 0, 0], [0.0], [1.0, 1.0], 2)
    for search in (Coordinate, Averaging):
        result = run(search, problem)
        assert not result.weights.any()
        assert result.value == pytest.approx(0.1 * math.log(2))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_averaged_finds_the_weights_of_plain_python(seed, n_classes):
    problem = subset_problem(
        seed, n_rows=60, n_terms=6, n_classes=n_classes, regularization=0.5
    )
    order = np.random.default_rng(seed).permutation(6)
    weights, (cost, subset) = plain_averaged(
        problem, order, np.random.default_rng(seed)
    )
    result = run(
        Averaging,
        replace(problem, order=order),
        random_state=np.random.default_rng(seed),
    )
    np.testing.assert_allclose(result.weights, weights, atol=1e-9)
    assert set(np.flatnonzero(result.map_weights)) == set(subset)
    assert result.value == pytest.approx(cost, rel=1e-10)


def test_averaged_without_information_is_the_prior():
    problem = subset_problem(0, regularization=1.0, preparation=1000.0)
    result = run(Averaging, problem)
    assert not result.weights.any()
    assert not result.map_weights.any()
    assert result.value == pytest.approx(problem.value(np.zeros(5)))


@pytest.mark.parametrize("search", [Coordinate, Averaging])
def test_dense_terms_and_row_weights_change_nothing(search):
    parts, tables, codes, prior = parts_of(5, n_rows=80)
    args = (np.full(5, 2.0), 6)
    twice = np.where(np.arange(80) % 3 == 0, 2, 1)
    repeated = SubsetProblem(
        PartTerms(np.repeat(parts, twice, axis=0), tables),
        np.repeat(codes, twice),
        prior,
        *args,
    )
    weighted = SubsetProblem(
        PartTerms(parts, tables), codes, prior, *args, row_weight=twice
    )
    dense = replace(weighted, terms=DenseTerms(likelihoods(parts, tables)))
    expected = run(search, repeated, random_state=np.random.default_rng(0))
    for problem in (weighted, dense):
        result = run(search, problem, random_state=np.random.default_rng(0))
        np.testing.assert_allclose(result.weights, expected.weights, atol=1e-9)
        assert result.value == pytest.approx(expected.value, rel=1e-10)


def test_bad_orders_and_shapes_are_refused():
    problem = subset_problem(0)
    with pytest.raises(ValueError, match="each of 0"):
        replace(problem, order=np.array([0, 1, 1, 2, 3]))
    with pytest.raises(ValueError, match="preparation must have shape"):
        replace(problem, preparation=np.ones(3))
    with pytest.raises(ValueError, match="n_variables"):
        replace(problem, n_variables=2)


def test_coordinate_continues_from_given_weights():
    problem = subset_problem(3, n_rows=120, n_terms=7)
    rng = np.random.default_rng(0)
    first = run(Coordinate, problem, max_iter=1, random_state=rng)
    assert first.stopped == "budget"
    second = run(Coordinate, problem, start=first.weights, step=0.125, random_state=rng)
    assert second.value < first.value
    # Two rounds of each step move a weight by at most 2 (1/8 + 1/16 + ...).
    assert 0 < np.abs(second.weights - first.weights).max() <= 0.5
    np.testing.assert_array_equal(second.weights * 64 % 1.0, 0.0)
    worse = run(Coordinate, problem, start=np.full(7, 1.0), step=2.0**-6)
    assert worse.value <= problem.value(np.zeros(7))
