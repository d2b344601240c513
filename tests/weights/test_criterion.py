"""The regularised criterion: its value, its derivative, its edges."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.weights.examples import likelihoods, nll_of, parts_of, weight_problem

from bayesieve.weights import (
    DenseTerms,
    PartTerms,
    WeightProblem,
    compression_rate_of,
    feature_costs,
)


@pytest.mark.parametrize("kind", ["parts", "dense"])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
@pytest.mark.parametrize("exponent", [0.5, 0.95, 1.0, 2.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_is_that_of_finite_differences(
    kind, n_classes, exponent, weighted
):
    parts, tables, codes, prior = parts_of(n_classes, n_classes=n_classes)
    rng = np.random.default_rng(1)
    terms = (
        PartTerms(parts, tables)
        if kind == "parts"
        else DenseTerms(likelihoods(parts, tables))
    )
    row_weight = rng.uniform(0, 3, codes.size) if weighted else None
    problem = WeightProblem(
        terms, codes, prior, np.array([4.0, 0, 2, 1, 7]), 0.7, exponent, row_weight
    )
    w = rng.uniform(0.1, 0.9, 5)
    value, gradient = problem.value_gradient(w)
    assert value == pytest.approx(problem.value(w), rel=1e-13)
    h = 1e-5
    for k in range(5):
        step = h * np.eye(5)[k]
        slope = (problem.value(w + step) - problem.value(w - step)) / (2 * h)
        assert gradient[k] == pytest.approx(slope, rel=1e-6, abs=1e-5)


def test_per_row_and_batch_gradient_agree():
    problem = weight_problem(3, exponent=2.0)
    w, h = np.linspace(0.2, 0.9, 5), 1e-5
    g = problem.batch_gradient(w, None)
    for k in range(5):
        step = h * np.eye(5)[k]
        slope = (problem.per_row(w + step) - problem.per_row(w - step)) / (2 * h)
        assert g[k] == pytest.approx(slope, rel=1e-5, abs=1e-8)
    assert problem.per_row(w) == pytest.approx(problem.value(w) / 200)


def test_t11_no_weight_costs_the_prior():
    problem = weight_problem(0, n_classes=3)
    prior = -problem.log_prior[problem.codes].sum()
    assert problem.value(np.zeros(5)) == pytest.approx(prior, rel=1e-13)
    assert prior > 0


def test_t12_costs_are_never_negative():
    np.testing.assert_array_equal(feature_costs(np.array([0.1, 0.0]), 2), [0, 0])
    np.testing.assert_allclose(feature_costs(np.array([5.0]), 10), math.log(10) + 4)
    np.testing.assert_allclose(feature_costs(None, 4), np.full(4, math.log(4)))


def test_t21_zero_weights_compress_by_exactly_zero_on_any_rows():
    problem = weight_problem(0)
    test = problem.terms.take(slice(0, 30))
    codes = problem.codes[:30]
    nll = test.value(np.zeros(5), problem.log_prior, codes)
    prior = -problem.log_prior[codes].sum()
    assert compression_rate_of(nll, prior) == pytest.approx(0.0, abs=1e-14)
    assert compression_rate_of(0.0, 0.0) == 0.0
    assert compression_rate_of(1.0, 4.0) == 0.75


def test_t25_boolean_weights_have_the_same_value_for_every_exponent():
    problem = weight_problem(2)
    for w in ([0, 1, 1, 0, 1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]):
        w = np.array(w, dtype=float)
        values = {
            round(replace(problem, exponent=p).value(w), 9) for p in (0.5, 0.95, 1, 2)
        }
        assert len(values) == 1


@pytest.mark.parametrize("regularization", [0.0, 0.5])
def test_t9_derivatives_are_finite_at_zero(regularization):
    problem = weight_problem(1, exponent=0.5, regularization=regularization)
    problem = replace(problem, cost=np.array([0.0, 1, 1, 0, 3]))
    _, gradient = problem.value_gradient(np.zeros(5))
    assert np.isfinite(gradient).all()
    flat = replace(problem, regularization=0.0).value_gradient(np.zeros(5))[1]
    expected = regularization * problem.cost * 0.5 * 1e-3**-0.5
    np.testing.assert_allclose(gradient - flat, expected, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_row_weight_of_two_is_the_row_twice(n_classes):
    parts, tables, codes, prior = parts_of(4, n_classes=n_classes)
    twice = np.where(np.arange(codes.size) % 3 == 0, 2, 1)
    cost = np.ones(5)
    weighted = WeightProblem(
        PartTerms(parts, tables), codes, prior, cost, row_weight=twice
    )
    repeated = WeightProblem(
        PartTerms(np.repeat(parts, twice, axis=0), tables),
        np.repeat(codes, twice),
        prior,
        cost,
    )
    w = np.linspace(0, 1, 5)
    a, b = weighted.value_gradient(w), repeated.value_gradient(w)
    assert a[0] == pytest.approx(b[0], rel=1e-12)
    np.testing.assert_allclose(a[1], b[1], atol=1e-10)
    assert weighted.n_rows == repeated.n_rows
    assert weighted.per_row(w) == pytest.approx(repeated.per_row(w))


def test_the_likelihood_is_convex_along_segments():
    problem = weight_problem(5, n_classes=3, exponent=1.0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.random((2, 5))
        ends = 0.5 * (problem.value(a) + problem.value(b))
        assert problem.value(0.5 * (a + b)) <= ends + 1e-9


def test_no_terms_and_one_class():
    codes = np.array([0, 1, 1, 0, 1], dtype=np.int32)
    prior = np.log([0.4, 0.6])
    none = WeightProblem(
        PartTerms(np.empty((5, 0), np.uint8), [], n_classes=2),
        codes,
        prior,
        np.empty(0),
    )
    value, gradient = none.value_gradient(np.empty(0))
    assert value == pytest.approx(-prior[codes].sum())
    assert gradient.shape == (0,)
    parts = np.array([[0], [1], [1]], dtype=np.uint8)
    sure = WeightProblem(
        PartTerms(parts, [np.log([[0.3], [0.7]])]), [0, 0, 0], [0.0], [2.0], 0.0
    )
    assert sure.value_gradient(np.ones(1)) == (0.0, np.zeros(1))
    assert sure.terms.scores(np.ones(1), np.zeros(1))[0, 0] == pytest.approx(
        np.log(0.3)
    )


def test_the_twin_agrees_on_a_large_problem_cut_into_blocks():
    parts, tables, codes, prior = parts_of(0, n_rows=10_000, n_classes=3)
    terms, cube, w = (
        PartTerms(parts, tables),
        likelihoods(parts, tables),
        np.full(5, 0.7),
    )
    expected = nll_of(cube, w, prior, codes)
    assert terms.value(w, prior, codes) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codes": np.zeros(3)}, "codes must have shape"),
        ({"codes": np.full(200, 2)}, "Codes must be in 0..1"),
        ({"log_prior": np.array([0.0, -np.inf])}, "finite"),
        ({"cost": np.array([-1.0, 0, 0, 0, 0])}, "Costs must be"),
        ({"row_weight": np.full(200, -1.0)}, "Row weights"),
        ({"regularization": -1.0}, "Regularization must be"),
        ({"exponent": 0.0}, "exponent > 0"),
    ],
)
def test_bad_problems_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(weight_problem(0), **change)
