"""Columns and n-grams side by side against the same terms made dense."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.weights.joint_examples import joint_problem
from tests.weights.linear_examples import dense_twin

from bayesieve.weights import Convex, DenseTerms, PathSolver
from bayesieve.weights._intercepts import log_posteriors
from bayesieve.weights._sparse_newton import SparseNewton, box_gap

KINDS = [
    {"n_classes": 2},
    {"n_classes": 5},
    {"n_classes": 3, "weights": True},
    {"n_classes": 2, "n_columns": 0},
    {"n_classes": 3, "n_ngrams": 0},
]


def random_weights(problem, seed=1):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(problem.n_terms) < 0.3, 0.0, rng.random(problem.n_terms))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_method_agrees_with_the_dense_twin(kind):
    problem = joint_problem(0, **kind)
    ours, theirs = problem.terms, dense_twin(problem).terms
    w = random_weights(problem)
    given_ = (problem.log_prior, problem.codes, problem.row_weight)
    value, gradient = ours.value_gradient(w, *given_)
    other, expected = theirs.value_gradient(w, *given_)
    assert value == pytest.approx(other, rel=1e-12)
    assert ours.value(w, *given_) == pytest.approx(other, rel=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-9)
    for method in ("scores", "relative_scores"):
        np.testing.assert_allclose(
            getattr(ours, method)(w, problem.log_prior),
            getattr(theirs, method)(w, problem.log_prior),
            rtol=1e-10,
            atol=1e-10,
        )
    everything = np.arange(problem.n_terms)
    chosen = everything[:: max(1, problem.n_terms // 4)]
    curvature = theirs.curvature(w, problem.log_prior, chosen, problem.row_weight)
    np.testing.assert_allclose(
        ours.curvature(w, problem.log_prior, chosen, problem.row_weight),
        curvature,
        rtol=1e-9,
        atol=1e-9,
    )
    scores = ours.relative_scores(w, problem.log_prior)
    np.testing.assert_allclose(
        ours.diagonal(scores, chosen, problem.row_weight),
        np.diag(curvature),
        rtol=1e-9,
        atol=1e-9,
    )
    for k in chosen.tolist():
        np.testing.assert_allclose(ours.term(k), theirs.term(k), rtol=1e-12, atol=1e-12)
        shifted, expected = scores.copy(), scores.copy()
        ours.shift(shifted, k, -0.3)
        theirs.shift(expected, k, -0.3)
        np.testing.assert_allclose(shifted, expected, rtol=1e-10, atol=1e-10)
        for smoothing in (0.0, 50.0):
            told = [
                terms.trial(
                    scores,
                    k,
                    0.2,
                    problem.codes,
                    problem.row_weight,
                    smoothing_rows=smoothing,
                )
                for terms in (ours, theirs)
            ]
            assert told[0] == pytest.approx(told[1], rel=1e-12)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_some_rows_and_some_terms_are_those_of_the_twin(kind):
    problem = joint_problem(1, **kind)
    ours, theirs = problem.terms, dense_twin(problem).terms
    w = random_weights(problem)
    chosen = np.arange(0, problem.n_terms, 2)
    for rows in (slice(10, 50), np.array([3, 3, 100])):
        np.testing.assert_allclose(
            ours.take(rows).scores(w, problem.log_prior),
            theirs.take(rows).scores(w, problem.log_prior),
            rtol=1e-12,
        )
    assert ours.select(chosen).n_terms == chosen.size
    np.testing.assert_allclose(
        ours.select(chosen).scores(w[chosen], problem.log_prior),
        theirs.select(chosen).scores(w[chosen], problem.log_prior),
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        ours.scaled(0.5).scores(w, problem.log_prior),
        ours.scores(0.5 * w, problem.log_prior),
        rtol=1e-12,
    )


def test_sizes_and_spread_bound_what_the_terms_can_say():
    problem = joint_problem(2, n_classes=4)
    terms, chosen = problem.terms, np.array([0, 2, 5])
    spans = [np.ptp(terms.term(k), axis=1) for k in range(terms.n_terms)]
    np.testing.assert_allclose(terms.spread(), np.sum(spans, axis=0), rtol=1e-12)
    np.testing.assert_allclose(
        terms.sizes(chosen), [spans[k].sum() for k in chosen], rtol=1e-12
    )
    assert terms.entries(np.array([0, 1])) == 2 * terms.n_rows


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_classes=st.integers(2, 4),
    weights=st.booleans(),
    penalty=st.floats(0.1, 20.0),
)
def test_a_newton_step_never_raises_the_second_order_model(
    seed, n_classes, weights, penalty
):
    problem = joint_problem(seed, n_classes=n_classes, weights=weights, n_rows=90)
    terms = problem.terms
    newton = SparseNewton(problem)
    w = random_weights(problem, seed)
    newton.state = newton.at(w, newton.state.intercept)
    chosen = np.arange(problem.n_terms)
    slope = np.full(problem.n_terms, penalty)
    rho = newton.gradient() + slope
    force = newton.state.residual.sum(axis=0)
    step, shift = terms.newton_step(
        newton._intercepts.posterior(newton.state.rows),
        problem.row_weight,
        chosen,
        rho,
        -w,
        1.0 - w,
        force,
        rounds=2,
        conjugate_steps=5,
        tol=0.1,
    )
    assert (step >= -w).all()
    assert (step <= 1.0 - w).all()
    H = terms.dense_curvature(
        log_posteriors(newton.state.scores), problem.row_weight, chosen, True
    )
    both = np.concatenate([step, shift])
    model = np.concatenate([rho, force]) @ both + 0.5 * both @ H @ both
    assert model <= 1e-9 * (1.0 + abs(newton.state.nll))


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_classes=st.integers(2, 4),
    weights=st.booleans(),
    penalty=st.floats(0.05, 20.0),
)
def test_the_optimum_is_that_of_the_usual_optimiser(seed, n_classes, weights, penalty):
    problem = joint_problem(seed, n_classes=n_classes, weights=weights, n_rows=120)
    newton = SparseNewton(problem, refit_intercept=False)
    slope = penalty * problem.cost
    gap = newton.minimise(slope, 1e-7 * newton.null_nll)
    w = newton.state.weights
    reached = newton.state.nll + float(slope @ w)
    twin = replace(dense_twin(problem), regularization=penalty)
    expected = Convex(gtol=1e-9).minimise(twin).value
    assert reached - expected <= max(gap, 0.0) + 1e-6
    assert reached >= expected - 1e-6
    # The gap is proven: it bounds the distance to any weights at all.
    rho = twin.value_gradient(w)[1]
    assert box_gap(w, rho) == pytest.approx(max(gap, 0.0), abs=1e-5 * newton.null_nll)


def test_along_a_path_columns_and_ngrams_enter_together():
    problem = joint_problem(3, n_classes=3, n_rows=600)
    path = PathSolver(problem, tol=1e-6)
    path.begin()
    path.follow(path.largest * 0.5 ** np.arange(1, 8))
    used = path.points[-1].weights > 0
    assert used[:3].any()
    assert used[3:].any()
    assert all(point.gap <= path.tol for point in path.points)
    sizes = [point.nll for point in path.points]
    assert sizes == sorted(sizes, reverse=True)


def test_many_columns_are_solved_in_blocks():
    """More columns than one dense block holds; the optimum is the same."""
    problem = joint_problem(4, n_columns=300, n_ngrams=3, n_rows=60)
    newton = SparseNewton(problem, refit_intercept=False)
    slope = np.full(problem.n_terms, 0.5)
    newton.minimise(slope, 1e-6 * newton.null_nll)
    reached = newton.state.nll + float(slope @ newton.state.weights)
    twin = replace(dense_twin(problem), regularization=0.5)
    assert isinstance(twin.terms, DenseTerms)
    assert reached == pytest.approx(Convex(gtol=1e-9).minimise(twin).value, abs=1e-3)
