"""Terms of sparse matrices against the same terms made dense, and SciPy's optimum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from tests.weights.examples import run
from tests.weights.linear_examples import dense_twin, linear_problem

from bayesieve import _core
from bayesieve.weights import Convex, Gradient, LinearTerms
from bayesieve.weights._sparse_newton import SparseNewton, box_gap

KINDS = [
    {"n_classes": 2},
    {"n_classes": 5},
    {"n_classes": 2, "offset": True},
    {"n_classes": 4, "offset": True, "weights": True},
    {"n_classes": 3, "weights": True, "binary": True},
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_method_agrees_with_the_dense_twin(kind):
    problem = linear_problem(0, **kind)
    twin = dense_twin(problem)
    rng = np.random.default_rng(1)
    w = np.where(rng.random(12) < 0.3, 0.0, rng.random(12))
    ours, theirs = problem.terms, twin.terms
    given_ = (problem.log_prior, problem.codes, problem.row_weight)
    assert ours.value(w, *given_) == pytest.approx(theirs.value(w, *given_), rel=1e-12)
    value, gradient = ours.value_gradient(w, *given_)
    other, expected = theirs.value_gradient(w, *given_)
    assert value == pytest.approx(other, rel=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-9)
    for method in ("scores", "relative_scores"):
        np.testing.assert_allclose(
            getattr(ours, method)(w, problem.log_prior),
            getattr(theirs, method)(w, problem.log_prior),
            rtol=1e-10,
            atol=1e-10,
        )
    chosen = np.array([0, 3, 11])
    np.testing.assert_allclose(
        ours.curvature(w, problem.log_prior, chosen, problem.row_weight),
        theirs.curvature(w, problem.log_prior, chosen, problem.row_weight),
        rtol=1e-9,
        atol=1e-9,
    )
    np.testing.assert_allclose(
        ours.diagonal(
            ours.relative_scores(w, problem.log_prior), chosen, problem.row_weight
        ),
        np.diag(theirs.curvature(w, problem.log_prior, chosen, problem.row_weight)),
        rtol=1e-9,
    )
    scores = ours.relative_scores(w, problem.log_prior)
    for smoothing in (0.0, 50.0):
        assert ours.trial(
            scores, 3, 0.2, problem.codes, problem.row_weight, smoothing_rows=smoothing
        ) == pytest.approx(
            theirs.trial(
                scores,
                3,
                0.2,
                problem.codes,
                problem.row_weight,
                smoothing_rows=smoothing,
            ),
            rel=1e-12,
        )
    shifted, expected = scores.copy(), scores.copy()
    ours.shift(shifted, 2, -0.3)
    theirs.shift(expected, 2, -0.3)
    np.testing.assert_allclose(shifted, expected, rtol=1e-12, atol=1e-12)
    rows = np.array([5, 0, 17])
    np.testing.assert_allclose(
        ours.take(rows).scores(w, problem.log_prior),
        theirs.take(rows).scores(w, problem.log_prior),
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        ours.select(chosen).scores(w[chosen], problem.log_prior),
        theirs.select(chosen).scores(w[chosen], problem.log_prior),
        rtol=1e-12,
    )


def plain_descent_model(problem, w, b, chosen, intercept):
    """Gradient and second derivatives of the NLL for weights, then intercepts."""
    terms = problem.terms
    n, R = terms.n_rows, terms.n_classes - 1
    A = np.stack([terms.term(k) for k in range(terms.n_terms)], axis=1)
    A = (A[:, :, 1:] - A[:, :, :1])[:, chosen]  # rows, weights, classes
    if intercept:
        A = np.concatenate([A, np.tile(np.eye(R), (n, 1, 1))], axis=1)
    full = np.stack([terms.term(k) for k in range(terms.n_terms)], axis=1)
    z = np.einsum("nkc,k->nc", full[:, :, 1:] - full[:, :, :1], w) + b
    e = np.exp(np.column_stack([np.zeros(n), z]))
    p = (e / e.sum(axis=1, keepdims=True))[:, 1:]
    r = np.ones(n) if problem.row_weight is None else problem.row_weight
    residual = p - np.eye(R + 1)[problem.codes][:, 1:]
    g = np.einsum("nkc,nc,n->k", A, residual, r)
    W = np.einsum("nc,cd->ncd", p, np.eye(R)) - np.einsum("nc,nd->ncd", p, p)
    H = np.einsum("nkc,ncd,nld,n->kl", A, W, A, r)
    return g, H, p


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("intercept", [True, False])
def test_the_descent_kernel_minimises_the_plain_second_order_model(kind, intercept):
    problem = linear_problem(3, **kind)
    terms = problem.terms
    rng = np.random.default_rng(0)
    w = rng.random(12) * 0.3
    R = terms.n_classes - 1
    b = 0.1 * rng.normal(size=R)
    chosen = np.array([0, 2, 5, 7, 11])
    g, H, p = plain_descent_model(problem, w, b, chosen, intercept)
    low, high = -w[chosen], 1.0 - w[chosen]
    step, shift = terms.newton_step(
        np.ascontiguousarray(p),
        problem.row_weight,
        chosen,
        g[:5].copy(),
        low,
        high,
        g[5:].copy() if intercept else None,
        rounds=5000,
        conjugate_steps=20,
        tol=1e-16,
    )
    found = np.concatenate([step, shift]) if intercept else step
    bounds = [*zip(low, high, strict=True), *[(None, None)] * (found.size - 5)]
    best = minimize(
        lambda d: (g @ d + 0.5 * d @ H @ d, g + H @ d),
        np.zeros(found.size),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 10_000, "ftol": 1e-16, "gtol": 1e-12},
    )
    value = g @ found + 0.5 * found @ H @ found
    # With more than two classes the kernel keeps rows in single precision.
    rounding = 1e-9 if R == 1 else 1e-6
    assert value <= best.fun + rounding * abs(best.fun)
    assert (step >= low).all()
    assert (step <= high).all()


def scipy_optimum(problem, slope, refit):
    """Bounded quasi-Newton on weights and free intercepts."""
    twin = dense_twin(problem)
    k, J = problem.n_terms, problem.terms.n_classes

    def value(x):
        prior = problem.log_prior.copy()
        if refit:
            prior = np.concatenate([[0.0], x[k:]])
        nll, g = twin.terms.value_gradient(
            x[:k], prior, problem.codes, problem.row_weight
        )
        scores = twin.terms.relative_scores(x[:k], prior)
        _core.softmax_nll(scores, problem.codes, problem.row_weight, True)
        rest = scores.sum(axis=0) if refit else np.empty(0)
        n = problem.n_rows
        return (nll + slope @ x[:k]) / n, np.concatenate([g + slope, rest]) / n

    start = np.concatenate(
        [np.full(k, 0.3), (problem.log_prior[1:] - problem.log_prior[0]) * refit]
    )
    x = start[: k + (J - 1) * refit]
    for _ in range(4):
        done = minimize(
            value,
            x,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, 1)] * k + [(None, None)] * ((J - 1) * refit),
            options={"maxiter": 20_000, "ftol": 1e-17, "gtol": 1e-12, "maxcor": 30},
        )
        x = done.x
    return done.fun * problem.n_rows


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("penalty", [0.0, 1.0, 8.0])
def test_sparse_newton_reaches_a_generic_bounded_solver_to_1e_8(kind, refit, penalty):
    problem = linear_problem(5, **kind)
    slope = np.full(12, penalty)
    solver = SparseNewton(problem, refit_intercept=refit)
    gap = solver.minimise(slope, 1e-9 * problem.n_rows)
    value = solver.state.nll + slope @ solver.state.weights
    expected = scipy_optimum(problem, slope, refit)
    assert value <= expected + 1e-8 * problem.n_rows
    assert value >= expected - 1e-8 * problem.n_rows
    assert -1e-9 <= gap <= 1e-9 * problem.n_rows


@given(
    st.integers(0, 10_000),
    st.integers(2, 4),
    st.floats(0.0, 20.0),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_the_gap_bounds_what_is_left_at_any_point(seed, n_classes, penalty, refit, off):
    problem = linear_problem(
        seed, n_rows=60, n_terms=6, n_classes=n_classes, offset=off
    )
    slope = np.full(6, penalty)
    rng = np.random.default_rng(seed)
    solver = SparseNewton(problem, refit_intercept=refit)
    solver.state = solver.at(np.round(rng.random(6), 1))
    gap = solver.gap(slope)
    here = solver.state.nll + slope @ solver.state.weights
    solver.minimise(slope, 1e-10)
    there = solver.state.nll + slope @ solver.state.weights
    assert gap >= -1e-9
    assert here - there <= gap + 1e-7


def test_other_optimisers_take_sparse_terms():
    problem = replace(linear_problem(2, n_classes=3), regularization=2.0)
    twin = replace(dense_twin(problem), regularization=2.0)
    assert run(Convex, problem).value == pytest.approx(
        run(Convex, twin).value, rel=1e-10
    )
    sparse_run = run(
        Gradient, problem, batch_size=50, random_state=np.random.default_rng(0)
    )
    dense_run = run(
        Gradient, twin, batch_size=50, random_state=np.random.default_rng(0)
    )
    np.testing.assert_allclose(sparse_run.weights, dense_run.weights, atol=1e-8)


def test_values_are_kept_small_where_that_is_exact():
    slope = np.zeros((2, 2))
    ones = LinearTerms(sparse.csr_array([[1.0, 0], [1, 1]]), slope)
    assert ones._values is None
    whole = LinearTerms(sparse.csr_array([[1.0, 0], [7, 1]]), slope)
    assert whole._values.dtype == np.float32
    fraction = LinearTerms(sparse.csr_array([[0.1, 0], [7, 1]]), slope)
    assert fraction._values.dtype == np.float64


def test_wrong_tables_are_refused_in_one_sentence():
    X = sparse.csr_array(np.eye(3))
    with pytest.raises(ValueError, match=r"Slopes must have shape \(3, n_classes\)"):
        LinearTerms(X, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="Slopes must be finite"):
        LinearTerms(X, np.full((3, 2), -np.inf))
    with pytest.raises(ValueError, match="Offsets must have the shape of the slopes"):
        LinearTerms(X, np.zeros((3, 2)), np.zeros((3, 3)))


def test_gap_of_a_corner_that_is_optimal_is_zero():
    assert box_gap(np.array([0.0, 1.0]), np.array([2.0, -3.0])) == 0.0
    assert box_gap(np.array([0.5, 0.0]), np.array([2.0, -3.0])) == 4.0


def test_values_beyond_single_precision_are_kept_whole():
    block = np.array([[1e40, 0.0], [3.0, 1e300]])
    terms = LinearTerms(block, np.ones((2, 2)))  # warnings are errors
    np.testing.assert_array_equal(terms.columns.toarray(), block)
