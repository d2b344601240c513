"""Weights of columns and n-grams together, against the usual optimiser."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.weights.joint_examples import joint_problem
from tests.weights.linear_examples import dense_twin

from bayesieve.weights import WeightProblem
from bayesieve.weights._joint_solver import TOL, JointRows, fit_joint
from bayesieve.weights._result import Progress


def joint_rows(seed, **kind):
    """The rows of a joint problem, and the problem itself."""
    problem = joint_problem(seed, **kind)
    terms = problem.terms
    sizes = terms._sizes
    tables = np.split(terms._logs, np.cumsum(sizes)[:-1])
    counts = terms._counts
    rows = JointRows(
        terms._part,
        tables,
        counts.columns,
        counts._slopes,
        problem.codes,
        problem.row_weight,
        problem.log_prior,
    )
    return rows, problem


def least(problem: WeightProblem, slope):
    """The minimum over weights and intercepts by SciPy."""
    n = problem.n_terms
    terms = dense_twin(problem).terms

    def value(x):
        prior = np.concatenate([[0.0], x[n:]])
        nll, gradient = terms.value_gradient(
            x[:n], prior, problem.codes, problem.row_weight
        )
        residual = np.exp(terms.scores(x[:n], prior))
        residual /= residual.sum(axis=1, keepdims=True)
        residual[np.arange(problem.codes.size), problem.codes] -= 1.0
        if problem.row_weight is not None:
            residual *= problem.row_weight[:, None]
        free = residual.sum(axis=0)[1:]
        return nll + slope @ x[:n], np.concatenate([gradient + slope, free])

    free = problem.terms.n_classes - 1
    bounds = [(0.0, 1.0)] * n + [(None, None)] * free
    found = minimize(
        value,
        np.zeros(n + free),
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-14, "gtol": 1e-9},
    )
    return float(found.fun)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weights", [False, True])
def test_the_fit_is_the_optimum_within_its_gap(n_classes, weights):
    rows, problem = joint_rows(0, n_classes=n_classes, weights=weights)
    slope = np.linspace(0.5, 3.0, problem.n_terms)
    found = fit_joint(rows, slope, Progress())
    best = least(problem, slope)
    weight = np.ones(rows.codes.size) if rows.weight is None else rows.weight
    null = -float(problem.log_prior[problem.codes] @ weight)
    assert best - 1e-4 <= found.result.value <= best + TOL * null
    assert 0.0 <= found.result.value - best <= found.gap + 1e-4
    w, b = found.result.weights, found.intercept
    scores = rows.scores(w, b)
    np.testing.assert_allclose(
        scores, problem.terms.scores(w, b), rtol=1e-12, atol=1e-12
    )


def test_no_more_than_k_terms():
    rows, problem = joint_rows(1, n_rows=500)
    slope = np.full(problem.n_terms, 0.5)
    whole = fit_joint(rows, slope, Progress())
    assert np.count_nonzero(whole.result.weights) > 4
    four = fit_joint(rows, slope, Progress(), k=4)
    assert np.count_nonzero(four.result.weights) == 4
    assert four.result.value > whole.result.value


def test_a_class_without_rows_keeps_its_prior():
    rows, _ = joint_rows(2, n_classes=3)
    there = np.flatnonzero(rows.codes < 2)
    some = replace(
        rows,
        parts=rows.parts[there],
        block=rows.block.tocsr()[there],
        codes=rows.codes[there],
    )
    assert some.present.tolist() == [0, 1]
    found = fit_joint(some, np.ones(some.n_terms), Progress())
    assert found.intercept[2] == rows.log_prior[2]
    assert np.isfinite(found.intercept).all()


@pytest.mark.parametrize("k", [None, 3])
def test_stopped_on_the_way_there_are_weights(k):
    rows, problem = joint_rows(3)
    for progress in (Progress(0.0), Progress(callback=lambda state: True)):
        found = fit_joint(rows, np.ones(problem.n_terms), progress, k=k)
        assert found.result.stopped in ("time", "callback")
        assert (found.result.weights >= 0.0).all()
        assert np.isfinite(found.result.value)
