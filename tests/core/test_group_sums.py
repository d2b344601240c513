"""Sums over groups of columns against plain NumPy, whatever the threads."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.brute_force import gains_at

from bayesieve import _core


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("n_groups", [1, 7, 400])
def test_sums_are_those_of_the_columns(n_classes, per_column, n_groups):
    rng = np.random.default_rng(n_classes)
    m = 3000
    table = rng.poisson(rng.random(m) * 5, (n_classes, m)) * 1.0
    table[:, ::9] = 0.0
    table[:, 1::50] *= 1000.5
    alpha = rng.random(m) if per_column else np.array([0.7])
    shares = rng.dirichlet(np.ones(n_classes) * 5)
    groups = rng.integers(0, n_groups, m)
    columns = _core.DenseColumns(table, alpha)
    counts, gains, smoothing = columns.group_sums(shares, 1e-12, 0.0, groups, n_groups)
    each = gains_at(table + alpha, shares)
    np.testing.assert_allclose(
        gains, np.bincount(groups, each, minlength=n_groups), rtol=1e-9, atol=1e-9
    )
    for own, row in zip(counts, table, strict=True):
        np.testing.assert_allclose(own, np.bincount(groups, row, minlength=n_groups))
    np.testing.assert_allclose(
        smoothing,
        np.bincount(groups, np.broadcast_to(alpha, m), minlength=n_groups),
    )
    rough = columns.group_sums(shares, 2.0**-34, 10.0, groups, n_groups)[1]
    np.testing.assert_allclose(rough, gains, atol=m * 2.0**-34 * 10.0, rtol=2.0**-30)


def test_columns_without_any_smoothed_count_gain_nothing():
    table = np.array([[0.0, 2.0], [0.0, 1.0]])
    columns = _core.DenseColumns(table, np.zeros(1))
    _, gains, _ = columns.group_sums(
        np.array([0.5, 0.5]), 1e-9, 0.0, np.array([0, 1]), 2
    )
    assert gains[0] == 0.0
    assert gains[1] > 0.0


def test_groups_that_do_not_fit_are_refused():
    columns = _core.DenseColumns(np.ones((2, 4)), np.ones(1))
    shares = np.array([0.5, 0.5])
    with pytest.raises(ValueError, match="one number for each column"):
        columns.group_sums(shares, 1e-9, 0.0, np.zeros(3, dtype=np.int64), 2)
    for wrong in (2, -1):
        groups = np.array([0, 1, wrong, 0])
        with pytest.raises(ValueError, match="beyond n_groups"):
            columns.group_sums(shares, 1e-9, 0.0, groups, 2)
