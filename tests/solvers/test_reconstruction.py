"""The papers' linear program: few fractional entries, and the bounds it promises."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.oracle.brute_force import best_gains, column_values, null_value, support_gain
from tests.oracle.instances import FAMILIES, instances

from bayesieve import solve_multinomial
from bayesieve.solvers import reconstruct_published


def second_dual(counts, x):
    """``x.v + B log B - sum_c B_c log B_c`` with B = F x: at most psi(sum x)."""
    b = counts @ x
    return float(x @ column_values(counts) + b.sum() * np.log(b.sum()) - b @ np.log(b))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_rounded_support_lies_between_two_optima(family, n_classes):
    for table, alpha in instances(family, n_classes, 8, seed=4):
        alpha = max(alpha, 0.1)
        counts = table + alpha
        filled = np.flatnonzero(table.sum(axis=0) > 0)
        phi = best_gains(counts[:, filled])
        null = null_value(counts)
        for k in range(2, len(filled)):
            found = reconstruct_published(table, k, alpha=alpha)
            context = f"k={k}, alpha={alpha}, table={table.tolist()}"
            tolerance = 1e-6 * (1 + phi[-1])
            extra = found.fractional.shape[0]
            assert extra <= n_classes + 2, context
            assert found.support.shape[0] <= k + extra, context
            gain = found.objective - null
            direct = support_gain(counts, tuple(found.support.tolist()))
            assert gain == pytest.approx(direct, abs=1e-9 * (1 + direct)), context
            assert phi[k] <= gain + tolerance, context
            top = min(k + extra, len(filled))
            assert gain <= phi[top] + tolerance, context
            # The weights are feasible and of value psi(k).
            x = np.zeros(counts.shape[1])
            x[found.columns] = found.weights
            assert (x >= 0).all()
            assert (x <= 1).all()
            assert x.sum() <= k + 1e-6
            psi = found.relaxation_bound - null
            assert second_dual(counts, x) == pytest.approx(psi, abs=tolerance), context


def test_the_bound_is_that_of_the_solver():
    table = np.random.default_rng(0).integers(0, 50, (2, 200))
    for k in (2, 10, 50):
        found = reconstruct_published(table, k)
        certificate = solve_multinomial(table, k).certificate
        assert found.relaxation_bound == pytest.approx(
            certificate.relaxation_bound, rel=1e-12
        )
        assert found.objective >= certificate.objective - 1e-6
        assert k <= found.support.shape[0] <= k + 4
        assert (np.diff(found.support) > 0).all()


def test_dense_and_sparse_tables_give_the_same_bound():
    table = np.random.default_rng(1).integers(0, 5, (3, 100)).astype(float)
    dense = reconstruct_published(table, 9)
    sparse = reconstruct_published(sp.csc_array(table), 9)
    assert dense.relaxation_bound == pytest.approx(sparse.relaxation_bound, rel=1e-11)


def test_the_seed_picks_the_vertex_and_nothing_else():
    table = np.tile([[3.0, 0, 1], [0, 3, 1]], (1, 5))
    first = reconstruct_published(table, 4, random_state=0)
    again = reconstruct_published(table, 4, random_state=0)
    np.testing.assert_array_equal(first.weights, again.weights)
    for seed in range(1, 6):
        other = reconstruct_published(table, 4, random_state=seed)
        assert other.relaxation_bound == first.relaxation_bound
        assert other.fractional.shape[0] <= 4


def test_a_size_that_is_none_is_refused():
    message = "'k' parameter of reconstruct_published must be an int >= 1. Got 0"
    with pytest.raises(ValueError, match=message):
        reconstruct_published([[1, 2], [2, 1]], 0)
