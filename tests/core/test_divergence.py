"""Gains without cancellation against a plain twin in eighty digits."""

from __future__ import annotations

from decimal import Decimal, getcontext

import numpy as np
import pytest
import scipy.sparse as sp

from bayesieve import _core

UNIT = 2.0**-53


@pytest.fixture(autouse=True)
def eighty_digits():
    context = getcontext()
    before, context.prec = context.prec, 80
    yield
    context.prec = before


def exact(count, expected):
    """``F log(F / e) - F + e`` of two numbers as they are."""
    f, e = Decimal(float(count)), Decimal(float(expected))
    return (f * (f / e).ln() if f else Decimal(0)) - f + e


def exact_gain(counts, shares):
    """``sum_c F_c log(F_c / (G p_c))`` at the shares divided by their sum."""
    f = [Decimal(float(x)) for x in counts]
    p = [Decimal(float(x)) for x in shares]
    pairs = zip(f, p, strict=True)
    total, whole = sum(f), sum(p)
    return sum(x * (x * whole / (total * q)).ln() for x, q in pairs if x)


def test_a_divergence_is_accurate_to_the_last_digits():
    rng = np.random.default_rng(0)
    expected = 10.0 ** rng.uniform(-8, 15, 4000)
    apart = 10.0 ** rng.uniform(-16, 4, 4000) * rng.choice([-1, 1], 4000)
    counts = np.maximum(expected * (1 + apart), 0.0)
    found = _core.divergence(counts, expected)
    for f, e, value in zip(counts, expected, found, strict=True):
        true = exact(f, e)
        # The difference F - e is exact where they are close; 16 units of the rest.
        allowed = 16 * UNIT * (float(true) + abs(f - e) * (abs(f - e) >= 0.25 * e))
        assert abs(float(Decimal(float(value)) - true)) <= allowed, (f, e)
    assert (found >= 0).all()


def test_zeros_are_handled_by_the_formula():
    found = _core.divergence(
        np.array([0.0, 3.0, 0.0, 2.0]), np.array([2.0, 3.0, 0.0, 0.0])
    )
    np.testing.assert_array_equal(found, [2.0, 0.0, 0.0, 0.0])


def table_of(rng, n_classes, m):
    """Columns of every size whose class shares are alike to every degree."""
    shares = rng.dirichlet(np.full(n_classes, 2.0))
    totals = 10.0 ** rng.uniform(0, 15, m)
    tilt = 1 + 10.0 ** rng.uniform(-15, 1, (n_classes, m)) * rng.standard_normal(
        (n_classes, m)
    )
    table = np.floor(np.abs(shares[:, None] * totals * tilt))
    table[:, table.sum(axis=0) == 0] = 1.0
    return table, shares


@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1.0, 1e10])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_gains_err_by_no_more_than_their_doubt(n_classes, alpha):
    rng = np.random.default_rng([n_classes, int(alpha)])
    table, shares = table_of(rng, n_classes, 120)
    dense = _core.divergence_gains(table + alpha, shares)
    csc = sp.csc_array(table)
    sparse = _core.divergence_gains_csc(
        csc.indptr.astype(np.int64),
        csc.indices.astype(np.int32),
        csc.data,
        np.full(table.shape[1], alpha),
        shares,
    )
    for i, column in enumerate(table.T):
        smoothed = [Decimal(float(x)) + Decimal(alpha) for x in column]
        true = exact_gain(smoothed, shares)
        for gain, doubt in (dense, sparse):
            assert abs(float(Decimal(float(gain[i])) - true)) <= doubt[i], column
    # Small beside the gains: what is computed says something.
    assert np.median(dense[1] / np.maximum(dense[0], 1e-300)) < 1e-4


def test_gains_of_the_whole_table_are_the_accurate_ones():
    rng = np.random.default_rng(8)
    table, shares = table_of(rng, 3, 500)
    gain, doubt = _core.divergence_gains(table + 1e10, shares)
    columns = _core.DenseColumns(table, np.array([1e10]))
    assert (
        np.abs(columns.gains(shares, 2.0**-34) - gain) <= doubt + 1e-10 * gain
    ).all()
    for level in np.quantile(gain, [0.2, 0.5, 0.9]):
        found = columns.with_gain(shares, level, 0.0)
        assert np.isin(np.flatnonzero(gain >= level), found).all()
        assert (gain[found] + 3 * doubt[found] >= level * (1 - 1e-9)).all()


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="one length"):
        _core.divergence(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match="one value for each class"):
        _core.divergence_gains(np.ones((2, 3)), np.ones(3))
    with pytest.raises(ValueError, match="do not form a CSC matrix"):
        _core.divergence_gains_csc(
            np.zeros(2, np.int64),
            np.zeros(0, np.int32),
            np.zeros(0),
            np.ones(2),
            np.ones(2),
        )
