"""The compiled Bernoulli gains against plain NumPy and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import xlogy
from sklearn.metrics import mutual_info_score

from bayesieve import _core


def plain(table, rows, alpha):
    """Log-likelihood of class-wise parameters less that of shared ones, in full."""
    present = table + alpha
    total = (rows[:, None] + 2 * alpha) * np.ones(table.shape)
    absent = total - present
    g, n = present.sum(axis=0), total.sum(axis=0)
    null = xlogy(g, g / n) + xlogy(n - g, (n - g) / n)
    safe = np.where(total > 0, total, 1.0)
    inside = xlogy(present, present / safe) + xlogy(absent, absent / safe)
    raw = table.sum(axis=0)
    varies = (raw > 0) & (raw < rows.sum())
    return np.where(varies, inside.sum(axis=0) - null, 0.0), null.sum()


def csc_gains(table, rows, alpha):
    csc = sp.csc_array(table)
    return _core.bernoulli_gains_csc(
        csc.indptr.astype(np.int64), csc.indices.astype(np.int32), csc.data, rows, alpha
    )


def presence_table(rng, rows, m):
    """Rows of each class that have a feature: rare, common, never and always ones."""
    share = rng.random((len(rows), m)) ** rng.integers(1, 9, m)
    table = np.floor(share * (rows[:, None] + 1.0))
    table = np.minimum(table, np.floor(rows)[:, None])
    if m > 3:
        table[:, 0] = 0.0
        table[:, 1] = rows
        table[:, 2] = 0.0
        table[0, 2] = np.floor(rows[0])
    return table


# 16,383 .. 16,385: around the kernel's block; 4,097: just past the memo's threshold.
@pytest.mark.parametrize("m", [1, 2, 4096, 4097, 16383, 16384, 16385, 40000])
@pytest.mark.parametrize("alpha", [0.0, 1e-10, 1.0])
def test_gains_are_the_plain_gains_at_any_width(m, alpha):
    rng = np.random.default_rng(m)
    rows = np.array([150.0, 90.0])
    table = presence_table(rng, rows, m)
    expected, null = plain(table, rows, alpha)
    for gains, value in (
        _core.bernoulli_gains(table, rows, np.array([alpha])),
        csc_gains(table, rows, alpha),
    ):
        np.testing.assert_allclose(gains, expected, rtol=1e-10, atol=1e-11)
        assert value == pytest.approx(null, rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 50])
@pytest.mark.parametrize("fractional", [False, True])
def test_gains_with_many_classes_and_weights(n_classes, fractional):
    rng = np.random.default_rng(n_classes)
    rows = rng.integers(1, 300, n_classes).astype(float)
    table = presence_table(rng, rows, 5000)
    if fractional:
        table *= 0.7
        rows *= 0.7
    for alpha in (0.0, 0.5):
        expected, null = plain(table, rows, alpha)
        dense = _core.bernoulli_gains(table, rows, np.array([alpha]))
        sparse = csc_gains(table, rows, alpha)
        atol = 1e-13 * rows.sum()
        np.testing.assert_allclose(dense[0][2:], expected[2:], rtol=1e-9, atol=atol)
        np.testing.assert_allclose(sparse[0], dense[0], rtol=1e-9, atol=atol)
        assert dense[1] == pytest.approx(null, rel=1e-11)
        assert sparse[1] == pytest.approx(null, rel=1e-11)
        assert dense[0][0] == dense[0][1] == 0.0  # never and always present
        assert sparse[0][0] == sparse[0][1] == 0.0


def test_every_column_may_have_its_own_smoothing():
    rng = np.random.default_rng(3)
    rows = np.array([40.0, 25.0, 60.0])
    table = presence_table(rng, rows, 3000)
    alpha = rng.random(3000)
    alpha[::3] = 0.0
    gains, value = _core.bernoulli_gains(table, rows, alpha)
    expected, null = plain(table, rows, alpha)
    np.testing.assert_allclose(gains, expected, rtol=1e-10, atol=1e-11)
    assert value == pytest.approx(null, rel=1e-12)


def test_a_class_without_rows_changes_nothing_without_smoothing():
    rows = np.array([10.0, 0.0, 7.0])
    table = np.array([[3.0, 10.0], [0.0, 0.0], [6.0, 2.0]])
    keep = [0, 2]
    gains, _ = _core.bernoulli_gains(table, rows, np.zeros(1))
    expected, _ = _core.bernoulli_gains(table[keep].copy(), rows[keep], np.zeros(1))
    np.testing.assert_allclose(gains, expected, rtol=1e-14)
    np.testing.assert_allclose(csc_gains(table, rows, 0.0)[0], expected, rtol=1e-12)


def test_weak_columns_keep_their_relative_accuracy():
    # Shares 0.5 and 0.5 + d: n MI = n (d/2)^2 / (2 * 0.25) to first order = n d^2 / 2,
    # with n = 2e8, d = 2e-7, f = (5e7, 5e7 + 20): gain = 2e8 * 4e-14 / 2 = 4e-6.
    rows = np.array([1e8, 1e8])
    table = np.array([[5e7], [5e7 + 20]])
    gains, _ = _core.bernoulli_gains(table, rows, np.zeros(1))
    assert gains[0] == pytest.approx(4e-6, rel=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 1e-13])
def test_gain_is_n_times_the_mutual_information_of_scikit_learn(alpha):
    rng = np.random.default_rng(11)
    y = rng.integers(0, 3, 200)
    X = (rng.random((200, 60)) < rng.random(60)).astype(float)
    rows = np.bincount(y).astype(float)
    table = np.array([X[y == c].sum(axis=0) for c in range(3)])
    expected = [200 * mutual_info_score(X[:, i], y) for i in range(60)]
    for gains, _ in (
        _core.bernoulli_gains(table, rows, np.array([alpha])),
        csc_gains(table, rows, alpha),
    ):
        np.testing.assert_allclose(gains, expected, atol=1e-10)


@pytest.mark.parametrize("m", [1, 4097, 40000])
@pytest.mark.parametrize("smoothing", ["one", "each", "truncated"])
def test_columns_that_gain_so_much_are_those_of_all_gains(m, smoothing):
    rng = np.random.default_rng(m)
    rows = np.array([150.0, 90.0])
    table = presence_table(rng, rows, m)
    alpha = rng.random(m) if smoothing == "each" else np.ones(1)
    upper = rows - 1.0 if smoothing == "truncated" else None
    gains, value = _core.bernoulli_gains(table, rows, alpha, upper)
    for least in (0.0, float(np.median(gains)), float(gains.max()), np.inf):
        columns, own, same = _core.bernoulli_columns(table, rows, alpha, upper, least)
        np.testing.assert_array_equal(columns, np.flatnonzero(gains >= least))
        np.testing.assert_array_equal(own, gains[columns])
        assert same == value


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="class_count must have one value"):
        _core.bernoulli_gains(np.ones((2, 3)), np.ones(3), np.ones(1))
    with pytest.raises(ValueError, match="alpha must have one value"):
        _core.bernoulli_gains(np.ones((2, 3)), np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="upper must have one value"):
        _core.bernoulli_columns(
            np.ones((2, 3)), np.ones(2), np.ones(1), np.ones(1), 0.0
        )
