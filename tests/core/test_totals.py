"""The compiled passes over a count table against plain NumPy twins."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import xlogy

from bayesieve import _core

# Around the tile (2,048) and the block (131,072) of the kernels, and several blocks.
WIDTHS = (1, 2, 2047, 2048, 2049, 70000, 131071, 131072, 131073, 270000)
ALPHAS = ("none", "scalar", "array", "array with zeros")


def zipf_table(rng, n_classes, m, values):
    """Mostly small counts, some large, a fifth of all columns empty."""
    table = np.floor(rng.pareto(1.0, (n_classes, m)) * rng.random((n_classes, 1)))
    table[:, rng.random(m) < 0.2] = 0.0
    if m > 4:
        table[:, 1] = 5000.0  # beyond the kernel's table of x log x
        table[0, 2] = 4095.0
        table[0, 3] = 4096.0
    if values == "fraction":
        table *= rng.random((n_classes, m)) + 0.25
    return np.minimum(table, 1e6)


def smoothing(rng, kind, m):
    if kind == "none":
        return np.zeros(1)
    if kind == "scalar":
        return np.array([0.3])
    alpha = rng.random(m) + 0.01
    if kind == "array with zeros":
        alpha[::2] = 0.0
    return alpha


def as_sparse(table, alpha):
    csc = sp.csc_array(table)
    return _core.SparseColumns(
        csc.indptr.astype(np.int64),
        csc.indices.astype(np.int32),
        csc.data,
        table.shape[0],
        alpha,
    )


def plain_gains(table, alpha, shares):
    """G KL(q || p) of the smoothed columns, 0 for a column without counts."""
    log_p = np.log(shares)
    cells = table + alpha
    totals = cells.sum(axis=0)
    safe = np.where(totals > 0, totals, 1.0)
    gains = xlogy(cells, cells / safe).sum(axis=0) - log_p @ cells
    return np.where(table.sum(axis=0) > 0, np.maximum(gains, 0.0), 0.0), totals


@pytest.fixture(params=["dense", "sparse"])
def make(request):
    if request.param == "dense":
        return lambda table, alpha: _core.DenseColumns(table, alpha)
    return as_sparse


def cases():
    for m in WIDTHS:
        yield m, 2, "integer", "scalar"
    for kind in ALPHAS:
        for values in ("integer", "fraction"):
            yield 2049, 3, values, kind
    yield 32769, 50, "integer", "scalar"
    yield 2049, 50, "fraction", "array"


def build(m, n_classes, values, kind):
    rng = np.random.default_rng([m, n_classes, len(values), len(kind)])
    table = zipf_table(rng, n_classes, m, values)
    alpha = smoothing(rng, kind, m)
    shares = rng.dirichlet(np.full(n_classes, 2.0))
    return table, alpha, shares


@pytest.mark.parametrize(
    "case", list(cases()), ids=lambda case: "-".join(map(str, case))
)
def test_scan_is_the_plain_sums(make, case):
    table, alpha, _ = build(*case)
    class_totals, whole, nonempty, histogram = make(table, alpha).scan()
    totals = (table + alpha).sum(axis=0)
    filled = table.sum(axis=0) > 0
    np.testing.assert_allclose(class_totals, table.sum(axis=1), rtol=1e-12)
    assert whole == pytest.approx(xlogy(totals, totals).sum(), rel=1e-11, abs=1e-12)
    assert nonempty == filled.sum()
    # Bin of a total: its leading bits. Rounding may move a total to the next bin.
    plain = totals[filled].view(np.uint64) >> np.uint64(_core.HISTOGRAM_SHIFT)
    bins = np.repeat(np.arange(histogram.shape[0]), histogram)
    assert bins.shape == plain.shape
    assert np.abs(bins - np.sort(plain).astype(np.int64)).max(initial=0) <= 1
    if case[2] == "integer" and case[3] == "none":
        np.testing.assert_array_equal(bins, np.sort(plain))


def plain_witnesses(table, alpha):
    """The first column of each class with counts, the first that is smoothed."""
    first = [np.flatnonzero(row > 0)[:1] for row in table]
    smoothed = np.flatnonzero((table.sum(axis=0) > 0) & (alpha > 0))[:1]
    return np.unique(np.concatenate([*first, smoothed]))


@pytest.mark.parametrize(
    "case", list(cases()), ids=lambda case: "-".join(map(str, case))
)
def test_witnesses_are_the_first_column_of_each_class(make, case):
    table, alpha, _ = build(*case)
    rng = np.random.default_rng(case[0])
    # One class comes late, or never.
    for first in rng.integers(0, table.shape[1] + 1, 4):
        table[-1, :first] = 0.0
        found = make(table, alpha).witnesses(table.sum(axis=1))
        np.testing.assert_array_equal(found, plain_witnesses(table, alpha))


@pytest.mark.parametrize(
    "case", list(cases()), ids=lambda case: "-".join(map(str, case))
)
def test_gains_are_the_plain_gains(make, case):
    table, alpha, shares = build(*case)
    expected, totals = plain_gains(table, alpha, shares)
    gains = make(table, alpha).gains(shares, 2.0**-34)
    # A gain is a difference of terms of size G log G.
    scale = totals * np.log(totals + 2.0)
    assert np.abs(gains - expected).max() <= 1e-14 * scale.max()
    assert (np.abs(gains - expected) <= 1e-13 * (1 + scale)).all()
    assert (gains[table.sum(axis=0) == 0] == 0).all()
    assert (gains >= 0).all()


@pytest.mark.parametrize(
    "case", list(cases()), ids=lambda case: "-".join(map(str, case))
)
def test_collected_columns_are_exactly_those_that_reach_the_level(make, case):
    table, alpha, shares = build(*case)
    columns = make(table, alpha)
    filled = table.sum(axis=0) > 0
    totals = (table + alpha).sum(axis=0)
    np.testing.assert_array_equal(columns.with_total(0.0), np.flatnonzero(filled))
    gains = columns.gains(shares, 2.0**-34)
    for share in (0.3, 0.9, 0.999):
        # Half way between two neighbours, so that rounding decides nothing.
        level = between(totals, share)
        np.testing.assert_array_equal(
            columns.with_total(level), np.flatnonzero(filled & (totals >= level))
        )
        level = between(gains, share)
        found = columns.with_gain(shares, level, 0.0)
        reaching = np.flatnonzero(filled & (gains >= level))
        np.testing.assert_array_equal(found, reaching)
        # With the bound of the pruning nothing is lost, with a larger one it is.
        bound = level / (-np.log(shares)).max() * (1 - 1e-9)
        np.testing.assert_array_equal(columns.with_gain(shares, level, bound), reaching)
        cut = between(totals, 0.5)
        np.testing.assert_array_equal(
            columns.with_gain(shares, level, cut),
            np.flatnonzero(filled & (gains >= level) & (totals >= cut)),
        )


def test_shares_that_leave_out_a_class_prune_nothing(make):
    # A class without counts has no share: chi-square says nothing then.
    rng = np.random.default_rng(5)
    table = np.vstack([rng.gamma(0.5, 2.0, size=(2, 400)), np.zeros(400)])
    shares = np.array([0.25, 0.75, 0.0])
    columns = make(table, np.zeros(1))
    gains = columns.gains(shares, 2.0**-34)
    level = between(gains, 0.8)
    np.testing.assert_array_equal(
        columns.with_gain(shares, level, 0.0), np.flatnonzero(gains >= level)
    )


@pytest.mark.parametrize("spread", [1e-1, 1e-3, 1e-5])
def test_columns_near_the_common_shares_are_told_apart(make, spread):
    # Gains of a millionth of the total: the bound must not cut what rounding hides.
    rng = np.random.default_rng(6)
    shares = np.array([0.3, 0.7])
    totals = rng.uniform(5.0, 5e3, size=600)
    tilt = 1 + spread * rng.standard_normal(600)
    table = np.vstack([shares[0] * totals * tilt, shares[1] * totals])
    columns = make(table, np.zeros(1))
    gains = columns.gains(shares, 2.0**-34)
    for share in (0.5, 0.9, 0.99):
        level = between(gains, share)
        np.testing.assert_array_equal(
            columns.with_gain(shares, level, 0.0), np.flatnonzero(gains >= level)
        )


def between(values, share):
    """A level in the largest gap near a quantile."""
    ordered = np.unique(values)
    if ordered.shape[0] < 2:
        return float(ordered[0]) / 2
    at = int(share * (ordered.shape[0] - 2))
    near = slice(max(0, at - 50), at + 51)
    gaps = np.diff(ordered)[near]
    widest = near.start + int(np.argmax(gaps))
    return float(0.5 * (ordered[widest] + ordered[widest + 1]))


def test_a_class_without_share_adds_nothing_where_it_has_no_count(make):
    table = np.array([[3.0, 0.0], [1.0, 5.0], [0.0, 0.0]])
    shares = np.array([0.5, 0.5, 0.0])
    gains = make(table, np.zeros(1)).gains(shares, 2.0**-34)
    # 3 log(3/4 / 0.5) + log(1/4 / 0.5) = 3 log 1.5 - log 2;  5 log 2.
    np.testing.assert_allclose(gains, [3 * np.log(1.5) - np.log(2), 5 * np.log(2)])


def test_explicit_zeros_of_a_sparse_table_are_no_counts():
    start = np.array([0, 2, 3], dtype=np.int64)
    row = np.array([0, 1, 1], dtype=np.int32)
    value = np.array([0.0, 4.0, 0.0])
    columns = _core.SparseColumns(start, row, value, 3, np.array([0.5]))
    dense = _core.DenseColumns(
        np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 0.0]]), np.array([0.5])
    )
    shares = np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(
        columns.gains(shares, 1e-12), dense.gains(shares, 1e-12), rtol=1e-14
    )
    np.testing.assert_array_equal(columns.with_total(0.0), [0])
    np.testing.assert_array_equal(columns.witnesses(np.array([0.0, 4.0, 0.0])), [0])
    assert columns.scan()[2] == 1


def test_the_answer_does_not_depend_on_the_run(make):
    table, alpha, shares = build(70000, 3, "fraction", "scalar")
    first, second = make(table, alpha), make(table, alpha)
    assert first.scan()[1] == second.scan()[1]
    np.testing.assert_array_equal(first.scan()[0], second.scan()[0])
    np.testing.assert_array_equal(
        first.gains(shares, 1e-12), second.gains(shares, 1e-12)
    )


def test_wrong_shapes_are_refused(make):
    table = np.ones((2, 3))
    with pytest.raises(ValueError, match="alpha must have one value"):
        make(table, np.ones(2))
    with pytest.raises(ValueError, match="shares must have one value for each class"):
        make(table, np.ones(1)).gains(np.zeros(3), 1e-12)
    with pytest.raises(ValueError, match="shares must have one value for each class"):
        make(table, np.ones(1)).with_gain(np.zeros(1), 0.0, 0.0)
    with pytest.raises(ValueError, match="class_totals must have one value for each"):
        make(table, np.ones(1)).witnesses(np.ones(3))


def test_arrays_that_are_no_csc_matrix_are_refused():
    start = np.array([0, 1, 3], dtype=np.int64)
    row = np.array([0, 1], dtype=np.int32)
    with pytest.raises(ValueError, match="do not form a CSC matrix"):
        _core.SparseColumns(start, row, np.ones(2), 2, np.ones(1))


@pytest.mark.parametrize("m", WIDTHS)
@pytest.mark.parametrize("kind", ALPHAS)
def test_extracted_columns_come_with_their_counts(m, kind):
    rng = np.random.default_rng(m)
    table = zipf_table(rng, 3, m, "integer")
    alpha = smoothing(rng, kind, m)
    columns = _core.DenseColumns(table, alpha)
    totals = table.sum(axis=0) + 3 * alpha
    least = float(np.quantile(totals, 0.9))
    found, counts = columns.extract(least)
    expected = np.flatnonzero((table.sum(axis=0) > 0) & (totals >= least))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(counts, table[:, expected])
    np.testing.assert_array_equal(found, columns.with_total(least))
