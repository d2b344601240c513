"""Kernels of the weighted classifier against plain NumPy."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.weights.examples import (
    curvature_of,
    likelihoods,
    log_posterior,
    nll_gradient_of,
    nll_of,
    parts_of,
    smoothed_cost_of,
)

from bayesieve import _core
from bayesieve.weights import DenseTerms, PartTerms


def case(seed, n_classes, n_rows=300, n_terms=6, weighted=False, **kw):
    parts, tables, codes, log_prior = parts_of(
        seed, n_rows=n_rows, n_terms=n_terms, n_classes=n_classes, **kw
    )
    rng = np.random.default_rng(seed + 100)
    w = rng.uniform(0, 1, n_terms)
    w[rng.random(n_terms) < 0.3] = 0.0
    row_weight = rng.uniform(0, 2, n_rows) if weighted else None
    cube = likelihoods(parts, tables)
    return (
        PartTerms(parts, tables),
        DenseTerms(cube),
        cube,
        w,
        log_prior,
        codes,
        row_weight,
    )


def test_the_exponential_is_exact_to_1e_15_and_never_zero():
    x = -np.concatenate([np.linspace(0, 708, 200_001), np.geomspace(1e-300, 1, 1000)])
    y = x.copy()
    _core.exp_nonpositive(y)
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-15, atol=0)
    deep = np.array([-708.5, -1e3, -1e6, -1e15, -0.0])
    _core.exp_nonpositive(deep)
    assert (deep[:4] > 0).all()
    assert (deep[:4] < 1e-306).all()
    assert deep[4] == 1.0


# 1 to 8 columns have their own code, 9 to 25 go eight at a time with a rest.
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 17, 26])
@pytest.mark.parametrize("weighted", [False, True])
def test_value_gradient_and_curvature_are_those_of_the_formulas(n_classes, weighted):
    parts, dense, cube, w, prior, codes, r = case(
        n_classes, n_classes, weighted=weighted
    )
    expected = nll_of(cube, w, prior, codes, r)
    gradient = nll_gradient_of(cube, w, prior, codes, r)
    H = curvature_of(cube, w, prior, r)
    for terms in (parts, dense):
        assert terms.value(w, prior, codes, r) == pytest.approx(expected, rel=1e-12)
        value, g = terms.value_gradient(w, prior, codes, r)
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(g, gradient, rtol=1e-9, atol=1e-9)
        chosen = np.array([0, 1, 2, 4, 5])
        np.testing.assert_allclose(
            terms.curvature(w, prior, chosen, r), H[np.ix_(chosen, chosen)], atol=1e-9
        )


@pytest.mark.parametrize("n_classes", [1, 2, 4, 11])
def test_scores_are_the_weighted_sums_of_all_classes(n_classes):
    parts, dense, cube, w, prior, *_ = case(3, n_classes)
    expected = prior + np.einsum("nkj,k->nj", cube, w)
    for terms in (parts, dense):
        np.testing.assert_allclose(terms.scores(w, prior), expected, atol=1e-11)
        np.testing.assert_allclose(
            terms.relative_scores(w, prior),
            (expected - expected[:, :1])[:, 1:],
            atol=1e-11,
        )
        np.testing.assert_allclose(terms.term(2), cube[:, 2], atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 9])
@pytest.mark.parametrize("weighted", [False, True])
def test_trials_cost_what_the_changed_weights_cost(n_classes, weighted):
    parts, dense, cube, w, prior, codes, r = case(7, n_classes, weighted=weighted)
    changed = w.copy()
    changed[3] += 0.25
    smooth = smoothed_cost_of(cube, changed, prior, codes, 250.0, r)
    plain = nll_of(cube, changed, prior, codes, r)
    for terms in (parts, dense):
        scores = terms.relative_scores(w, prior)
        kept = scores.copy()
        got = terms.trial(scores, 3, 0.25, codes, r, smoothing_rows=250.0)
        assert got == pytest.approx(smooth, rel=1e-12)
        assert terms.trial(scores, 3, 0.25, codes, r) == pytest.approx(plain, rel=1e-12)
        np.testing.assert_array_equal(scores, kept)
        terms.shift(scores, 3, 0.25)
        np.testing.assert_allclose(
            scores, terms.relative_scores(changed, prior), atol=1e-11
        )


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.int64])
def test_every_kind_of_part_index_gives_the_same(dtype):
    parts, tables, codes, prior = parts_of(1, n_classes=3)
    w = np.linspace(0, 1, 5)
    value = PartTerms(parts, tables).value_gradient(w, prior, codes)
    other = PartTerms(parts.astype(dtype), tables).value_gradient(w, prior, codes)
    assert value[0] == other[0]
    np.testing.assert_array_equal(value[1], other[1])


@pytest.mark.parametrize("rows", [slice(10, 150), np.array([3, 3, 250, 0, 17])])
def test_some_rows_are_the_problem_of_those_rows(rows):
    parts, dense, cube, w, prior, codes, r = case(2, 3, weighted=True)
    expected = nll_of(cube[rows], w, prior, codes[rows], r[rows])
    gradient = nll_gradient_of(cube[rows], w, prior, codes[rows], r[rows])
    for terms in (parts, dense):
        some = terms.take(rows)
        assert some.value(w, prior, codes[rows], r[rows]) == pytest.approx(expected)
        value, g = some.value_gradient(w, prior, codes[rows], r[rows])
        assert value == pytest.approx(expected)
        np.testing.assert_allclose(g, gradient, atol=1e-10)


@pytest.mark.parametrize("chosen", [[2], [4, 0, 3], [], [1, 1]])
def test_some_terms_are_the_problem_of_those_terms(chosen):
    parts, dense, cube, w, prior, codes, _ = case(2, 3)
    chosen = np.array(chosen, dtype=np.int64)
    for terms in (parts, dense):
        own = terms.select(chosen)
        assert own.n_terms == chosen.size
        value, g = own.value_gradient(w[chosen], prior, codes)
        assert value == pytest.approx(nll_of(cube[:, chosen], w[chosen], prior, codes))
        expected = nll_gradient_of(cube[:, chosen], w[chosen], prior, codes)
        np.testing.assert_allclose(g, expected, atol=1e-10)
        full = prior + np.einsum("nkj,k->nj", cube[:, chosen], w[chosen])
        np.testing.assert_allclose(own.scores(w[chosen], prior), full, atol=1e-11)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_extreme_tables_give_finite_values(n_classes):
    rng = np.random.default_rng(0)
    parts = rng.integers(0, 3, size=(50, 4)).astype(np.uint8)
    tables = [rng.choice([-800.0, -1e-3], size=(3, n_classes)) for _ in range(4)]
    codes = (np.arange(50) % n_classes).astype(np.int32)
    prior = np.full(n_classes, -np.log(n_classes))
    terms, w = PartTerms(parts, tables), np.ones(4)
    value, gradient = terms.value_gradient(w, prior, codes)
    cube = likelihoods(parts, tables)
    assert value == pytest.approx(nll_of(cube, w, prior, codes), rel=1e-12)
    np.testing.assert_allclose(
        gradient, nll_gradient_of(cube, w, prior, codes), rtol=1e-9, atol=1e-9
    )
    assert np.isfinite(terms.curvature(w, prior, np.arange(4))).all()
    scores = terms.relative_scores(w, prior)
    got = terms.trial(scores, 0, 0.5, codes, smoothing_rows=50.0)
    changed = np.array([1.5, 1, 1, 1])
    assert got == pytest.approx(smoothed_cost_of(cube, changed, prior, codes))
    assert np.isfinite(log_posterior(cube, w, prior)).all()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux only")
@pytest.mark.parametrize("n_classes", [2, 4])
def test_threads_change_nothing(n_classes):
    cores = os.sched_getaffinity(0)
    if len(cores) < 2:
        pytest.skip("one core only")
    parts, _, _, w, prior, codes, _ = case(5, n_classes, n_rows=40_000, n_terms=6)

    def everything():
        scores = parts.relative_scores(w, prior)
        return [
            parts.value(w, prior, codes),
            *parts.value_gradient(w, prior, codes),
            parts.curvature(w, prior, np.arange(6)),
            parts.trial(scores, 1, 0.5, codes, smoothing_rows=4e4),
        ]

    many = everything()
    try:
        os.sched_setaffinity(0, {min(cores)})
        one = everything()
    finally:
        os.sched_setaffinity(0, cores)
    for a, b in zip(many, one, strict=True):
        np.testing.assert_array_equal(a, b)


def box_minimum(H, g, low, high):
    """Minimum over a box by trying every set of bounds held."""
    best, size = np.inf, g.size
    for held in itertools.product((0, 1, 2), repeat=size):
        held = np.array(held)
        d = np.where(held == 1, low, np.where(held == 2, high, 0.0))
        free = held == 0
        if free.any():
            right = -(g + H @ d)[free]
            d[free] = np.linalg.lstsq(H[np.ix_(free, free)], right, rcond=None)[0]
        if (d >= low - 1e-9).all() and (d <= high + 1e-9).all():
            best = min(best, g @ d + 0.5 * d @ H @ d)
    return best


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 5), rank=st.integers(0, 6))
def test_the_quadratic_program_reaches_the_minimum(seed, size, rank):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(rank, size))
    H, g = A.T @ A, rng.normal(size=size) * rng.choice([0.1, 1, 10])
    low, high = -rng.random(size), rng.random(size)
    d = np.empty(size)
    _core.box_qp(H, g, low, high, 1e-10, 200, d)
    assert (d >= low).all()
    assert (d <= high).all()
    reached = g @ d + 0.5 * d @ H @ d
    assert reached <= box_minimum(H, g, low, high) + 1e-8


def test_bad_terms_are_refused():
    parts, tables, *_ = parts_of(0)
    with pytest.raises(ValueError, match="Term 1 has 2 parts"):
        PartTerms(parts, [tables[0], tables[1][:2], *tables[2:]])
    with pytest.raises(ValueError, match="one column for each"):
        PartTerms(parts[:, :3], tables)
    with pytest.raises(ValueError, match="finite"):
        PartTerms(parts, [np.full((4, 2), -np.inf), *tables[1:]])
    with pytest.raises(ValueError, match="n_classes"):
        PartTerms(parts[:, :0], [])
    with pytest.raises(ValueError, match="shape"):
        DenseTerms(np.zeros((3, 2)))
