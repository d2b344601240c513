"""The bound for many classes: valid on every enumerated node, and sharp enough."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.oracle.brute_force import best_gains
from tests.oracle.instances import FAMILIES, instances

from bayesieve import solve_multinomial
from bayesieve.exceptions import GapWarning
from bayesieve.solvers import _class_envelope
from bayesieve.solvers._block import Block
from bayesieve.solvers._class_envelope import BoundsInUse, class_envelope
from bayesieve.solvers._dual import relax


def random_table(rng, n_classes, m):
    kind = rng.integers(5)
    if kind == 0:
        table = rng.integers(0, 4, (n_classes, m)).astype(float)
    elif kind == 1:
        table = rng.gamma(0.3, 20.0, (n_classes, m))
    elif kind == 2:  # words of one class each
        table = rng.random((n_classes, m)) * rng.choice([0.0, 0.1, 1.0, 5.0, 20.0])
        table[rng.integers(0, n_classes, m), np.arange(m)] += rng.choice([10.0, 100.0])
    elif kind == 3:
        table = np.floor(10 * rng.pareto(1.0, (n_classes, m)))
    else:
        table = rng.random((n_classes, m)) * 10.0 ** rng.integers(0, 14)
    return table[:, table.sum(axis=0) > 0] + rng.choice([0.0, 0.01, 1.0, 1e6])


def random_node(rng):
    """Candidates and chosen columns, how many to add, every support and its gain."""
    while True:
        n_classes, m = int(rng.integers(2, 7)), int(rng.integers(4, 11))
        table = random_table(rng, n_classes, m)
        m = table.shape[1]
        chosen = rng.choice(m, int(rng.integers(0, max(m - 2, 1))), replace=False)
        free = np.setdiff1d(np.arange(m), chosen)
        if len(free) > 1 and len(free) + len(chosen) > 3:
            break
    anchor = table.sum(axis=1) / table.sum()
    if rng.random() < 0.3:  # an anchor that was not made for this table
        anchor = np.where(anchor > 0, rng.dirichlet(np.ones(n_classes)), 0.0)
        anchor /= anchor.sum()
    block = Block.of(np.arange(m), table, None, anchor, positive=bool(table.min() > 0))
    block = block.take(free, np.sort(chosen))
    k = int(rng.integers(1, len(free)))
    supports = list(combinations(range(len(free)), k))
    # What a support is worth at least: the bound must not be below even by rounding.
    sure = np.array([np.subtract(*block.gain_of(np.array(s))) for s in supports])
    return block, k, supports, sure


def check_node(rng):
    block, k, supports, sure = random_node(rng)
    level = float(
        rng.choice([sure.max(), np.quantile(sure, 0.7), 0.99 * sure.max(), 0.0])
    )
    lines = None
    for _ in range(2):  # from scratch, and from lines that are there
        found, lines = class_envelope(block, k, block.anchor, level, lines)
        good = [s for s, value in zip(supports, sure, strict=True) if value >= level]
        assert sure.max(initial=-math.inf, where=sure >= level) <= max(
            found.upper, level
        )
        slack = found.upper - level
        if slack < 0:
            continue
        inside = found.gains - found.following > slack
        outside = found.floor - found.gains > slack
        for support in good:
            assert inside[np.setdiff1d(np.arange(len(block)), support)].sum() == 0
            assert not outside[list(support)].any()
        assert found.best_gain - found.best_doubt <= sure.max()
    return found.upper, level


@pytest.mark.parametrize("seed", range(20))
def test_no_support_of_an_enumerated_node_is_above_the_bound(seed):
    rng = np.random.default_rng([7, seed])
    for _ in range(60):
        check_node(rng)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_no_support_of_many_enumerated_nodes_is_above_the_bound(seed):
    rng = np.random.default_rng([8, seed])
    for _ in range(500):
        check_node(rng)


def test_sparse_candidates_have_the_bound_of_dense_ones():
    rng = np.random.default_rng(3)
    for _ in range(20):
        raw = rng.integers(0, 3, (5, 12)) * (rng.random((5, 12)) < 0.4)
        raw = raw.astype(float)
        anchor = (raw + 1).sum(axis=1) / (raw + 1).sum()
        columns, ones, csc = np.arange(12), np.ones(12), sp.csc_array(raw)
        dense = Block.of(columns, raw + 1, None, anchor, positive=True)
        sparse = Block.of(columns, csc, ones, anchor, positive=True)
        first, _ = class_envelope(dense, 4, anchor, 0.0)
        second, _ = class_envelope(sparse, 4, anchor, 0.0)
        assert first.upper == pytest.approx(second.upper, rel=1e-6)


def test_what_leaves_the_range_of_numbers_is_no_bound():
    counts = np.array([[1e300, 1.0, 2.0], [1.0, 1e300, 3.0], [2.0, 1.0, 1e300]])
    anchor = np.full(3, 1 / 3)
    block = Block.of(np.arange(3), counts, None, anchor, positive=True)
    found, _ = class_envelope(block, 2, anchor, 0.0)
    gains = [block.gain_of(np.array(s))[0] for s in combinations(range(3), 2)]
    assert found.upper >= max(gains)
    assert np.isfinite(found.gains).all()


def words_of_one_class(n_classes, each, noise, seed):
    """Words with 100 counts in a class of their own, and noise in the others."""
    rng = np.random.default_rng(seed)
    table = np.kron(np.eye(n_classes), np.ones((1, each))) * 100.0
    return table + noise * rng.random(table.shape)


@pytest.fixture
def at_once(monkeypatch):
    """Ask for the class envelope from the first node on, not after some."""
    monkeypatch.setattr(_class_envelope, "_FIRST_NODES", 0)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("alpha", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("noise", [0.0, 1.0, 5.0, 20.0])
def test_words_of_one_class_are_searched_as_by_enumeration(noise, alpha):
    for seed, (n_classes, each) in enumerate([(6, 2), (4, 3), (12, 1), (5, 2)]):
        table = words_of_one_class(n_classes, each, noise, seed)
        phi = best_gains(table + alpha)
        form = sp.csc_array(table) if seed % 2 else table
        for k in (2, 3, 5, 8):
            certificate = solve_multinomial(form, k, alpha=alpha).certificate
            gain = certificate.objective - certificate.null_objective
            assert gain == pytest.approx(phi[k], rel=1e-10)
            assert certificate.is_optimal


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_classes", [3, 5])
def test_every_kind_of_small_table_is_searched_as_by_enumeration(family, n_classes):
    for table, alpha in instances(family, n_classes, 25, seed=18):
        phi = best_gains(table[:, table.sum(axis=0) > 0] + alpha)
        for k in range(2, phi.size - 1):
            solution = solve_multinomial(table, k, alpha=alpha, time_limit=None)
            certificate = solution.certificate
            gain = certificate.objective - certificate.null_objective
            scale = (table.sum() + table.size * alpha) * 1e-15
            assert gain == pytest.approx(phi[k], rel=1e-9, abs=scale)
            assert certificate.upper_bound >= certificate.objective


@pytest.mark.parametrize(
    ("noise", "most_nodes"), [(0.0, 20), (20.0, 1000)], ids=["none", "much"]
)
def test_twenty_classes_with_words_of_their_own_are_proven(noise, most_nodes):
    # By the relaxation alone 7,000 nodes leave 18 % without noise; with much, 4,143
    # close it.
    table = words_of_one_class(20, 2, noise, 20240302)
    solution = solve_multinomial(
        table, 8, alpha=0.01, time_limit=None, node_limit=most_nodes
    )
    assert solution.certificate.is_optimal


@pytest.mark.parametrize("noise", [1.0, 5.0])
def test_some_nodes_leave_a_small_gap_where_classes_are_many(noise):
    table = words_of_one_class(20, 2, noise, 20240302)
    with pytest.warns(GapWarning):
        solution = solve_multinomial(
            table, 8, alpha=1.0, time_limit=None, node_limit=300
        )
    assert solution.certificate.relative_gap < 0.05


def test_a_bound_that_loses_is_asked_at_times_only():
    block = Block.of(
        np.arange(3), np.ones((4, 3)), None, np.full(4, 0.25), positive=True
    )
    bounds = BoundsInUse(block)
    assert not bounds.asks_envelope(block, 2, 0)
    assert not bounds.asks_envelope(block, 0, 9)  # nothing to choose
    assert not bounds.asks_envelope(block, 3, 9)
    assert bounds.asks_relaxation(9)
    assert bounds.asks_envelope(block, 2, 9)
    for _ in range(100):
        bounds.record(envelope_is_lower=True)
    assert not bounds.asks_relaxation(9)
    assert bounds.asks_relaxation(32)
    for _ in range(200):
        bounds.record(envelope_is_lower=False)
    assert not bounds.asks_envelope(block, 2, 9)
    assert bounds.asks_envelope(block, 2, 32)
    assert bounds.asks_relaxation(9)


def test_two_classes_and_large_blocks_keep_the_relaxation():
    two = Block.of(np.arange(3), np.ones((2, 3)), None, np.full(2, 0.5), positive=True)
    assert not BoundsInUse(two).asks_envelope(two, 2, 50)
    wide = np.ones((3, 7000))
    block = Block.of(np.arange(7000), wide, None, np.full(3, 1 / 3), positive=True)
    assert not BoundsInUse(block).asks_envelope(block, 2, 50)


def test_the_envelope_is_lower_where_words_belong_to_one_class():
    table = words_of_one_class(8, 2, 1.0, 5) + 1.0
    anchor = table.sum(axis=1) / table.sum()
    block = Block.of(np.arange(16), table, None, anchor, positive=True)
    relaxation = relax(block, 4, anchor)
    best = best_gains(table)[4]
    found, _ = class_envelope(block, 4, anchor, relaxation.best_gain)
    assert best <= found.upper < best + 0.2 * (relaxation.upper - best)
