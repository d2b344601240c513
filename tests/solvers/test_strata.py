"""Gains within strata against the formula, and a batch effect they are blind to."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesieve import ClassCounts, StratifiedCounts, solve_bernoulli, stratified_gains
from bayesieve.solvers._strata import class_contrasts, class_pvalues


def xlog(x, ratio):
    return x * np.log(ratio) if x > 0 else 0.0


def by_formula(strata, binary):
    """Loops over strata, classes and features: the definition, nothing saved."""
    m = next(iter(strata.values())).n_features
    gains = np.zeros(m)
    for part in strata.values():
        f = np.asarray(part.feature_count)
        sizes = part.class_count if binary else f.sum(axis=1)
        n = sizes.sum()
        for i, c in itertools.product(range(m), range(f.shape[0])):
            total = f[:, i].sum()
            if sizes[c] == 0:
                continue
            gains[i] += xlog(f[c, i], f[c, i] * n / (sizes[c] * total or 1))
            if binary:
                absent = sizes[c] - f[c, i]
                gains[i] += xlog(absent, absent * n / (sizes[c] * (n - total) or 1))
    return gains


@st.composite
def stratified(draw, binary):
    shape = draw(st.tuples(st.integers(2, 4), st.integers(1, 6)))
    parts = {}
    for s in range(draw(st.integers(1, 3))):
        rows = np.array(
            draw(st.lists(st.integers(0, 9), min_size=shape[0], max_size=shape[0]))
        )
        cells = draw(
            st.lists(
                st.integers(0, 30),
                min_size=shape[0] * shape[1],
                max_size=shape[0] * shape[1],
            )
        )
        table = np.array(cells).reshape(shape) * (rows > 0)[:, None]
        if binary:
            table = np.minimum(table, rows[:, None])
        parts[s] = ClassCounts(
            list("abcd")[: shape[0]], rows, table, kind="binary" if binary else "count"
        )
    return StratifiedCounts(parts)


@pytest.mark.parametrize("binary", [False, True])
@settings(deadline=None)
@given(data=st.data())
def test_gains_are_the_formula(binary, data):
    strata = data.draw(stratified(binary))
    found = stratified_gains(strata)
    np.testing.assert_allclose(found, by_formula(strata, binary), rtol=1e-9, atol=1e-7)
    assert (found >= 0).all()


def test_one_stratum_of_presence_has_the_gains_of_the_solver():
    rng = np.random.default_rng(0)
    counts = ClassCounts.from_matrix(
        rng.poisson(0.5, (80, 7)), rng.integers(0, 3, 80), binary=True
    )
    solution = solve_bernoulli(counts, k=7, alpha=0)
    found = stratified_gains(StratifiedCounts({"all": counts}))
    np.testing.assert_allclose(found[solution.support], solution.gains, rtol=1e-9)


@pytest.mark.parametrize("binary", [False, True])
def test_a_gene_that_only_tells_the_batch_drops_out(binary):
    """Gene 0 marks the class, gene 1 the batch; the batches differ in their classes."""
    rng = np.random.default_rng(1)
    parts, n = {}, 4000
    for batch, share in (("old", 0.85), ("new", 0.15)):
        types = rng.random(n) < share
        rates = np.full((n, 40), 0.5)
        rates[:, 0] = np.where(types, 1.0, 0.6)
        rates[:, 1] = 1.5 if batch == "old" else 0.3
        parts[batch] = ClassCounts.from_matrix(rng.poisson(rates), types, binary=binary)
    strata = StratifiedCounts(parts)
    pooled = stratified_gains(StratifiedCounts({"all": strata.total}))
    within = stratified_gains(strata)
    assert pooled[1] > 100  # a marker, to all appearances, and the better one
    assert pooled[1] > pooled[0]
    assert within[1] < 8  # noise: a chi-square of two degrees of freedom, halved
    assert within[0] > 50
    assert np.argmax(within) == 0


@pytest.mark.parametrize("binary", [False, True])
def test_contrasts_of_a_class_with_the_others(binary):
    """Against a table of two classes, the class and the others."""
    rng = np.random.default_rng(2)
    counts = ClassCounts.from_matrix(
        rng.poisson(rng.random(9), (150, 9)), rng.integers(0, 4, 150), binary=binary
    )
    columns = np.array([7, 0, 3])
    found = class_contrasts([counts], columns, alpha=0.5)
    for c in range(4):
        kept = np.array([c, *(d for d in range(4) if d != c)])
        merged = np.vstack(
            [counts.feature_count[c], counts.feature_count[kept[1:]].sum(axis=0)]
        )
        rows = [counts.class_count[c], counts.class_count[kept[1:]].sum()]
        two = ClassCounts([0, 1], rows, merged, kind=counts.kind)
        wanted = by_formula({"all": two}, binary)[columns]
        np.testing.assert_allclose(np.abs(found.gains[c]), wanted, rtol=1e-9, atol=1e-9)
        sizes = np.array(rows) if binary else merged.sum(axis=1)
        share = sizes[0] / sizes.sum()
        own, rest = merged[:, columns]
        ratio = np.log2((own / share + 0.5) / (rest / (1 - share) + 0.5))
        np.testing.assert_allclose(found.log2_ratios[c], ratio, rtol=1e-9)
        assert (
            np.sign(found.gains[c]) == np.sign(own / share - rest / (1 - share))
        ).all()


def test_the_ratio_common_to_strata_is_that_of_mantel_and_haenszel():
    a = ClassCounts(["x", "y"], [1, 1], [[10, 90], [5, 195]])
    b = ClassCounts(["x", "y"], [1, 1], [[8, 392], [1, 99]])
    found = class_contrasts([a, b], np.array([0]), alpha=0.0)
    # sum of f_x R_y / R over sum of f_y R_x / R, with R_x = 100, 400 and R_y = 200, 100
    wanted = (10 * 200 / 300 + 8 * 100 / 500) / (5 * 100 / 300 + 1 * 400 / 500)
    np.testing.assert_allclose(found.log2_ratios[:, 0], np.log2([wanted, 1 / wanted]))


def test_pvalues_are_those_of_fisher_at_low_counts():
    from scipy.stats import hypergeom

    counts = ClassCounts(
        ["x", "y", "z"], [6, 5, 9], [[4, 0], [1, 0], [2, 0]], kind="binary"
    )
    found = class_pvalues(counts)
    assert found[:, 1].tolist() == [1, 1, 1]
    for c, size in enumerate([6, 5, 9]):
        # All outcomes whose likelihood ratio is no less than that found.
        outcomes = np.arange(0, 8)
        possible = hypergeom(20, 7, size).pmf(outcomes)
        ratios = []
        for x in outcomes:
            two = ClassCounts(
                [0, 1],
                [size, 20 - size],
                [[min(x, size)], [7 - min(x, size)]],
                kind="binary",
            )
            ratios.append(by_formula({0: two}, True)[0])
        seen = ratios[int(counts.feature_count[c, 0])]
        wanted = possible[np.array(ratios) >= seen - 1e-9].sum()
        np.testing.assert_allclose(found[c, 0], wanted, rtol=1e-6)
    assert class_pvalues(counts._with(kind="count")) is None
    assert class_pvalues(counts.scaled(0.5)) is None


def test_what_gains_need():
    counts = ClassCounts.from_matrix([[1, 0], [2, 3]], ["x", "y"])
    with pytest.raises(TypeError, match=r"needs a StratifiedCounts. Got ClassCounts"):
        stratified_gains(counts)
    moments = ClassCounts.from_matrix([[1, 0], [2, 3]], ["x", "y"], kind="moments")
    with pytest.raises(ValueError, match=r"'count' or 'binary'. Got kind 'moments'"):
        stratified_gains(StratifiedCounts({"all": moments}))
