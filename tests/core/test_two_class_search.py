"""The compiled two-class search against its plain twin and against enumeration.

The twin is the search that all other tables take, `bayesieve.solvers._branch._search`.
"""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from tests.oracle.brute_force import best_gains, support_gain
from tests.oracle.exact_gains import exact_gains, extreme_instances
from tests.oracle.instances import FAMILIES, instances

from bayesieve import _core
from bayesieve.solvers import _branch
from bayesieve.solvers._block import Block
from bayesieve.solvers._branch import Limits, branch_and_bound
from bayesieve.solvers._dual import relax


def block_of(f, anchor):
    columns = np.arange(f.shape[1])
    return Block.of(columns, f, None, anchor, positive=bool((f > 0).all()))


def equal(block):
    return np.unique(block.counts, axis=1, return_inverse=True)[1].ravel()


def search(f, k, share, *, compiled, loose=False, anchor=None, limits=None):
    """From a root that is solved, or that was left at its first point."""
    shares = np.array([share, 1.0 - share])
    good_enough = math.inf if loose else -math.inf
    root = relax(
        block_of(f, shares if anchor is None else anchor),
        k,
        shares,
        good_enough=good_enough,
    )
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            patch.setattr(_branch, "_search_two_classes", _branch._search)
        return branch_and_bound(equal, k, root, limits or Limits())


def balancing(m, noise, seed, shares=(0.6, 0.95)):
    """Columns that gain alike at equal shares: the best ones even the classes out."""
    rng = np.random.default_rng(seed)
    share = rng.uniform(*shares, m)
    share = np.where(np.arange(m) % 2, share, 1 - share)
    f = np.array([share, 1 - share])
    return f * 1000.0 * (1 + noise * rng.random(m)) / (f * np.log(2 * f)).sum(axis=0)


def same_gap(a, b):
    """Whether both are proven, or both left open by about as much."""
    if a.others == -math.inf or b.others == -math.inf:
        return a.others == b.others
    return a.others == pytest.approx(b.others, rel=1e-6)


@pytest.mark.parametrize("noise", [1e-6, 1e-4, 1e-2, 0.1])
@pytest.mark.parametrize(("m", "k"), [(24, 7), (60, 15), (300, 41)])
def test_supports_gaps_and_nodes_are_those_of_the_twin(m, k, noise):
    f = balancing(m, noise, seed=m)
    limits = Limits(nodes=600)
    found = search(f, k, 0.5, compiled=True, limits=limits)
    twin = search(f, k, 0.5, compiled=False, limits=limits)
    np.testing.assert_array_equal(found.columns, twin.columns)
    assert found.gain == pytest.approx(twin.gain, rel=1e-13)
    assert found.doubt == pytest.approx(twin.doubt, rel=0.5)
    assert same_gap(found, twin)
    assert found.stopped == twin.stopped
    # Sums are rounded in another order: a bound may fall on the other side of a level.
    assert found.nodes == pytest.approx(twin.nodes, rel=0.1, abs=4)


@pytest.mark.parametrize("family", FAMILIES)
def test_loose_roots_lead_to_the_same_supports_as_the_twin(family):
    rng = np.random.default_rng(3)
    nodes = 0
    for table, alpha in instances(family, 2, 60, seed=9):
        f = table[:, table.sum(axis=0) > 0] + alpha
        k = int(rng.integers(1, f.shape[1] + 1))
        share = float(rng.uniform(0.05, 0.95))
        found = search(f, k, share, compiled=True, loose=True)
        twin = search(f, k, share, compiled=False, loose=True)
        rounding = found.doubt + twin.doubt
        assert found.gain == pytest.approx(twin.gain, abs=rounding)
        assert same_gap(found, twin)
        assert not found.stopped
        if family in {"uniform", "near_identity"}:  # no ties
            np.testing.assert_array_equal(found.columns, twin.columns)
        nodes += found.nodes
    assert nodes > 2 * 60


@pytest.mark.parametrize("family", FAMILIES)
def test_the_support_is_the_best_of_all_from_any_root(family):
    rng = np.random.default_rng(FAMILIES.index(family))
    solved = 0
    for table, alpha in instances(family, 2, 300, seed=4):
        f = table[:, table.sum(axis=0) > 0] + alpha
        phi = best_gains(f)
        for k in range(1, f.shape[1] + 1):
            share = float(rng.uniform(0.02, 0.98))
            found = search(f, k, share, compiled=True, loose=True)
            tolerance = 1e-10 * phi[k] + 1e-13 * f.sum() * (1 + np.log(f.sum() + 1))
            assert not found.stopped
            assert found.columns.shape == (k,)
            assert support_gain(f, tuple(found.columns.tolist())) == pytest.approx(
                phi[k], abs=tolerance
            )
            assert found.gain == pytest.approx(phi[k], abs=tolerance)
            assert found.others <= phi[k] + tolerance
            solved += 1
    assert solved > 1000


def test_bounds_hold_in_sixty_digits():
    cases = 0
    rng = np.random.default_rng(8)
    for table, alpha in extreme_instances(2, 60, seed=11):
        if (table + alpha - alpha != table).any():  # else it is another table
            continue
        f = table[:, table.sum(axis=0) > 0] + alpha
        gains = exact_gains(f, 0.0)
        for k in range(1, f.shape[1]):
            share = float(rng.uniform(0.02, 0.98))
            found = search(f, k, share, compiled=True, loose=True)
            true = float(gains[tuple(found.columns.tolist())])
            best = float(max(g for s, g in gains.items() if len(s) == k))
            assert abs(found.gain - true) <= found.doubt
            assert best <= max(found.gain + found.doubt, found.others) * (1 + 1e-11)
            twin = search(f, k, share, compiled=False, loose=True)
            assert found.doubt <= 2 * twin.doubt
            cases += 1
    assert cases > 100


def test_nodes_are_anchored_anew_where_rounding_asks_for_it():
    # Counts of 1e6 that differ in single digits: far from the anchor nothing of the
    # gains is left.
    rng = np.random.default_rng(0)
    f = 1e6 + rng.integers(0, 30, (2, 30)).astype(float)
    root = {"loose": True, "anchor": np.array([0.4, 0.6])}
    found = search(f, 9, 0.45, compiled=True, **root)
    twin = search(f, 9, 0.45, compiled=False, **root)
    np.testing.assert_array_equal(found.columns, twin.columns)
    near = search(f, 9, 0.5, compiled=True)
    np.testing.assert_array_equal(found.columns, near.columns)
    assert found.others == near.others == -math.inf
    # Gains at the root's anchor have 1e6 times this rounding.
    assert found.doubt <= 1e-9 * found.gain


def test_equal_columns_are_counted_not_told_apart():
    kinds = np.array([[9.0, 1.0, 7.0, 3.0, 5.0], [1.0, 8.0, 2.0, 8.0, 4.0]])
    f = np.repeat(kinds, 30, axis=1)[:, np.random.default_rng(1).permutation(150)]
    for k in (31, 47, 75):
        found = search(f, k, 0.2, compiled=True, loose=True)
        twin = search(f, k, 0.2, compiled=False, loose=True)
        np.testing.assert_array_equal(found.columns, twin.columns)
        assert found.nodes == twin.nodes < 200
        numbers = equal(block_of(f, np.array([0.5, 0.5])))
        for number in range(5):  # the lowest of each kind
            alike = np.flatnonzero(numbers == number)
            taken = np.isin(alike, found.columns)
            assert (np.diff(taken.astype(int)) <= 0).all()


def test_a_node_limit_ends_it_with_a_bound_on_what_is_open():
    f = balancing(24, 1e-6, seed=24)
    proven = search(f, 7, 0.5, compiled=True)
    assert proven.nodes > 600
    for nodes in (2, 3, 50, 51):
        found = search(f, 7, 0.5, compiled=True, limits=Limits(nodes=nodes))
        assert found.stopped
        assert nodes <= found.nodes <= nodes + 1
        assert proven.gain - proven.doubt <= found.others


def test_time_ends_it_with_a_bound_on_what_is_open():
    # An odd number of columns that are nearly alike: no bound is near before long.
    f = balancing(100, 1e-3, seed=1, shares=(0.899, 0.901))
    limits = Limits(time.monotonic() + 0.2)
    found = search(f, 15, 0.5, compiled=True, limits=limits)
    assert found.stopped
    assert found.nodes > 1
    assert 1.003 * found.gain < found.others <= 15_000 * (1 + 2e-3)


def test_time_that_is_up_before_the_first_node_leaves_the_bound_of_the_root():
    f = balancing(24, 1e-6, seed=24)
    found = search(f, 7, 0.5, compiled=True, limits=LateLimits())
    assert found.stopped
    assert found.nodes == 1
    assert found.gain <= found.others <= 7_000 * (1 + 2e-6)


class LateLimits(Limits):
    """Time that ends between the last look at the clock and the search."""

    def in_kernels(self):
        return _core.TimeLimit(0.0)


def test_a_class_without_counts_among_the_candidates_gains_nothing():
    f = np.vstack([np.arange(1.0, 9.0), np.zeros(8)])
    f[1, 7] = 3.0
    phi = best_gains(f)
    for k in range(1, 8):
        found = search(f, k, 0.4, compiled=True, loose=True)
        assert found.gain == pytest.approx(phi[k], abs=1e-12)
        assert found.others <= phi[k] + 1e-11
