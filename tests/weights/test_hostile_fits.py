"""Weights on counts that separate the classes, of any size: never worse than none."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tests.weights.hostile_fits import fit_hostile, hostile_case
from tests.weights.linear_examples import linear_problem

from bayesieve import SelectiveMultinomialNB, SelectiveNB
from bayesieve.exceptions import FewFeaturesWarning, NotConvergedWarning
from bayesieve.weights import PathSolver
from bayesieve.weights._chunk_descent import fit_chunk_intercepts


def separable_counts(seed=3, n_classes=10, n_rows=200, n_features=10, mean=100):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    rates = rng.gamma(0.3, mean, size=(n_classes, n_features))
    return rng.poisson(rates[y]), y


def test_counts_that_separate_ten_classes():
    X, y = separable_counts()
    model = SelectiveMultinomialNB(k=5).fit(X, y)
    own = model.predict_log_proba(X)[np.arange(y.size), y]
    assert model.score(X, y) > 0.95
    assert -own.mean() < 0.05
    assert model.stopped_ == "converged"
    assert np.abs(model.class_intercept_).max() < 1e4


def judged(seeds):
    """Fit the cases and demand what must hold for each; returns how they ended."""
    ends = Counter()
    for seed in seeds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewFeaturesWarning)
            result = fit_hostile(seed)
        ends[result.found.stopped] += 1
        assert result.nll <= result.null_nll + result.rounding, seed
        assert result.distance <= result.gap + result.rounding, seed
        if result.found.stopped == "converged":
            assert not result.gap > result.found.tol, seed
    return ends


def test_hostile_fits_are_never_worse_than_none_and_gaps_hold():
    ends = judged(range(60))
    assert ends["converged"] >= 58


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_more_hostile_fits(part):
    """`tools/fuzz_weights.py` runs thousands."""
    first = 1_000 + 60 * part
    ends = judged(range(first, first + 60))
    assert ends["converged"] >= 58


def test_an_end_above_the_tolerance_is_told(monkeypatch):
    X, y = separable_counts(mean=3)
    for limit in ("_MAX_ROUNDS", "_INNER_STEPS"):
        monkeypatch.setattr(f"bayesieve.weights._sparse_newton.{limit}", 1)
    with pytest.warns(NotConvergedWarning, match="did not converge.*gap of .* nats"):
        model = SelectiveMultinomialNB(regularization=0.1, tol=1e-9).fit(X, y)
    assert model.stopped_ == "budget"
    assert model.dual_gap_ > 0.0


def test_a_mixed_table_whose_search_ends_early_is_told(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 5)) + y[:, None]
    monkeypatch.setattr("bayesieve.weights._newton._MAX_STEPS", 1)
    with pytest.warns(NotConvergedWarning, match="SelectiveNB did not converge"):
        model = SelectiveNB(optimizer="convex").fit(X, y)
    assert model.stopped_ == "budget"


def test_a_bad_start_is_left_for_none():
    """A warm start whose weights are far worse than none at the new penalty."""
    X, y = separable_counts(seed=5, n_classes=4)
    model = SelectiveMultinomialNB(regularization=0.01, warm_start=True)
    model.fit(X, y)
    model.set_params(regularization=1e12)
    model.fit(X, y[::-1].copy())
    assert not model.weights_.any()


def test_a_support_cut_to_k_is_never_worse_than_none():
    solver = PathSolver(linear_problem(3, n_classes=5), tol=1e-6)
    solver.begin()
    point = solver.solve(0.01 * solver.largest)
    for column in np.flatnonzero(point.weights):
        state = solver.within(point, np.array([column]))
        assert state.nll <= solver.newton.null_nll


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("size", [1.0, 1e3, 1e6, 1e9])
def test_intercepts_are_found_however_large_the_scores(size, weights):
    problem = linear_problem(1, n_classes=6, weights=weights)
    problem = replace(problem, terms=problem.terms.scaled(size))
    newton = PathSolver(problem).newton
    newton.state = newton.at(np.random.default_rng(0).random(problem.n_terms))
    newton.fit_intercepts()
    # At the optimum each class expects as many rows as it has.
    excess = np.abs(newton.state.residual.sum(axis=0)).sum()
    assert excess <= 1e-9 * problem.n_rows


def test_a_gap_without_settled_intercepts_still_holds():
    problem = linear_problem(4, n_classes=4)
    solver = PathSolver(problem, tol=1e-10)
    slope = 3.0 * problem.cost
    newton = solver.newton
    least = None
    newton.minimise(slope, solver.tol)
    least = newton.state.nll + float(slope @ newton.state.weights)
    rng = np.random.default_rng(0)
    for _ in range(200):
        size = 10.0 ** rng.uniform(-6, 3)
        b = newton.state.intercept + size * rng.normal(size=3)
        newton.state = newton.at(rng.random(problem.n_terms), b)
        gap, _ = newton._gap_and_gradient(slope, None)
        value = newton.state.nll + float(slope @ newton.state.weights)
        assert value - least <= gap * (1.0 + 1e-9) + 1e-9
        newton.minimise(slope, solver.tol)


def test_intercepts_over_chunks_never_rise():
    problem = linear_problem(2, n_classes=4)
    terms, codes = problem.terms.scaled(300.0), problem.codes

    def batches():
        yield terms, codes, None

    w = np.full(problem.n_terms, 0.5)
    start = np.zeros(3)
    _, before = fit_chunk_intercepts(batches, w, start, steps=0)
    b, after = fit_chunk_intercepts(batches, w, start, steps=3)
    assert after <= before
    assert np.isfinite(b).all()


def test_hostile_cases_cover_what_they_say():
    cases = [hostile_case(seed) for seed in range(300)]
    assert {len(np.unique(y)) for _, _, y, _ in cases} >= {2, 3, 10, 12}
    largest = [X.max() for _, X, _, _ in cases]
    assert min(largest) < 1.0
    assert max(largest) > 1e8


def test_a_penalty_that_time_did_not_reach_is_told():
    X, y = separable_counts(seed=5, n_classes=4)
    with pytest.warns(NotConvergedWarning, match="ran out of time at a penalty of"):
        model = SelectiveMultinomialNB(regularization=0.1, time_limit=0.0).fit(X, y)
    assert model.stopped_ == "time"
    assert model.lambda_ > 0.1
