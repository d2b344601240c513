"""Class counts of other array libraries: the answer is that of NumPy."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.array_libraries import on_cupy, on_strict_device, on_torch, on_torch_gpu
from tests.patience import HANGS

from bayesieve import ClassCounts, L0Screener, solve_bernoulli, solve_multinomial
from bayesieve.exceptions import DegenerateSupportWarning, FewFeaturesWarning
from bayesieve.solvers import _device_columns, _device_table, _problem, sparsity_path
from bayesieve.utils import _device_arrays

FIELDS = (
    "objective",
    "null_objective",
    "upper_bound",
    "relaxation_bound",
    "published_bound",
    "sharp_bound",
)


LIBRARIES = {
    "array-api-strict": on_strict_device,
    "torch": on_torch,
    "torch on a GPU": on_torch_gpu,
    "CuPy": on_cupy,
}


@pytest.fixture(params=LIBRARIES)
def elsewhere(request, monkeypatch):
    """Puts a table on a device; tensors in host memory are treated as if on one."""
    monkeypatch.setattr(_device_arrays, "_is_in_host_memory", lambda array: False)
    return LIBRARIES[request.param]


@pytest.fixture
def small_steps(monkeypatch):
    """Limits at which tables of some hundred columns take every path of huge ones."""
    shrink(monkeypatch)


def shrink(monkeypatch):
    monkeypatch.setattr(_device_table, "SMALL_CELLS", 0)
    monkeypatch.setattr(_device_table, "CHUNK_CELLS", 64)
    monkeypatch.setattr(_device_table, "SAMPLE_COLUMNS", 16)
    monkeypatch.setattr(_device_columns, "KEPT_COLUMNS", 40)
    monkeypatch.setattr(_device_columns, "MOST_COLUMNS", 120)
    monkeypatch.setattr(_problem, "_FIRST_POOL", 16)
    monkeypatch.setattr(_problem, "_SMALL_POOL", 8)


def skewed(rng, n_classes, m):
    scale = rng.pareto(1.0, (1, m)) * rng.exponential(1.0, (n_classes, m))
    return rng.poisson(3 * scale).astype(float)


def with_ties(rng, n_classes, m):
    """Five different columns, many times each."""
    few = rng.integers(1, 9, (n_classes, 5)).astype(float)
    return few[:, rng.integers(0, 5, m)]


def mostly_empty(rng, n_classes, m):
    return rng.poisson(20.0, (n_classes, m)) * (rng.random((n_classes, m)) < 0.1) * 1.0


def fractions(rng, n_classes, m):
    return rng.exponential(1.0, (n_classes, m)) * (rng.random((n_classes, m)) < 0.5)


TABLES = [skewed, with_ties, mostly_empty, fractions]


def assert_same(here, there):
    np.testing.assert_array_equal(there.support, here.support)
    np.testing.assert_allclose(there.gains, here.gains, rtol=1e-9)
    np.testing.assert_allclose(there.log_theta, here.log_theta, rtol=1e-9)
    for name in FIELDS:
        np.testing.assert_allclose(
            getattr(there.certificate, name),
            getattr(here.certificate, name),
            rtol=1e-9,
            err_msg=name,
        )
    assert there.certificate.is_optimal == here.certificate.is_optimal
    np.testing.assert_allclose(
        there.certificate.class_shares, here.certificate.class_shares, rtol=1e-6
    )


# ------------------------------------------------------------------------ multinomial


@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 50.0, "columns"])
def test_multinomial_answer_is_that_of_numpy(
    make, n_classes, alpha, elsewhere, small_steps
):
    rng = np.random.default_rng(7 * n_classes)
    table = make(rng, n_classes, 300)
    if alpha == "columns":
        alpha = rng.random(300) * (rng.random(300) < 0.7)
    for k in (2, 7, 20):
        here = solve_multinomial(table, k, alpha=alpha)
        there = solve_multinomial(elsewhere(table), k, alpha=alpha)
        assert_same(here, there)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_multinomial_answer_is_that_of_numpy_for_any_table(seed):
    rng = np.random.default_rng(seed)
    n_classes, m = int(rng.integers(2, 7)), int(rng.integers(3, 200))
    table = TABLES[rng.integers(len(TABLES))](rng, n_classes, m)
    n_filled = int((table.sum(axis=0) > 0).sum())
    if n_filled < 2:
        return
    k = int(rng.integers(2, n_filled + 1))
    alpha = float(rng.choice([0.0, 0.3, 1.0, 10.0]))
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        here = solve_multinomial(table, k, alpha=alpha)
        there = solve_multinomial(on_strict_device(table), k, alpha=alpha)
    assert_same(here, there)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int32, np.uint8, np.bool_])
def test_other_types_are_added_in_float64(dtype, elsewhere, small_steps):
    table = skewed(np.random.default_rng(1), 3, 200).clip(0, 200).astype(dtype)
    assert_same(
        solve_multinomial(table.astype(float), 9),
        solve_multinomial(elsewhere(table), 9),
    )


def test_rules_hold_on_a_device(elsewhere, small_steps):
    rng = np.random.default_rng(3)
    table = skewed(rng, 3, 250)
    top = solve_multinomial(table, 6).support
    for alpha in (0.0, 1.0):
        rules = {"alpha": alpha, "include": [11, 200], "exclude": top[:3].tolist()}
        here = solve_multinomial(table, 8, **rules)
        assert_same(here, solve_multinomial(elsewhere(table), 8, **rules))
    limited = {"groups": (np.arange(250) // 5).tolist(), "max_per_group": 1}
    here = solve_multinomial(table, 6, **limited)
    assert_same(here, solve_multinomial(elsewhere(table), 6, **limited))
    with pytest.raises(ValueError, match="takes groups whole only of counts in the"):
        solve_multinomial(elsewhere(table), 6, groups=limited["groups"])


@pytest.mark.parametrize("odd", [0.5, 2.0, 500.0])
def test_the_first_pool_is_that_of_the_host_whatever_a_sample_says(odd, small_steps):
    table = skewed(np.random.default_rng(8), 2, 300) + 1.0
    table[:, ::19] = odd  # every column of the sample of 16
    for alpha in (0.0, 3.0):
        here = _problem.MultinomialProblem(table, alpha)
        counts = _device_table.DeviceTable(on_strict_device(table), "the test")
        there = _problem.MultinomialProblem(counts, alpha)
        for wanted in range(1, 150, 7):
            assert there._first_level(wanted) == here._first_level(wanted)


def test_witnesses_are_none_of_the_columns_that_are_fixed(small_steps):
    table = np.zeros((2, 200))
    table[0, [3, 150]] = table[1, [5, 6, 190]] = 4.0
    counts = _device_table.DeviceTable(on_strict_device(table), "the test")
    columns = _device_columns.DeviceColumns(counts, np.zeros(1))
    totals = table.sum(axis=1)
    assert columns.witnesses(totals).tolist() == [3, 5]
    assert columns.witnesses(totals, np.array([3, 5, 6])).tolist() == [150, 190]


def test_all_columns_and_one(elsewhere, small_steps):
    table = skewed(np.random.default_rng(5), 2, 60)
    table[:, [3, 40]] = 0.0  # of no use
    with pytest.warns(FewFeaturesWarning):
        here = solve_multinomial(table, 60)
    with pytest.warns(FewFeaturesWarning):
        assert_same(here, solve_multinomial(elsewhere(table), 60))
    with pytest.warns(DegenerateSupportWarning):
        assert solve_multinomial(elsewhere(table), 1).support.size == 0


def test_path_is_that_of_numpy(elsewhere, small_steps):
    table = skewed(np.random.default_rng(9), 3, 300)
    sizes = [2, 5, 11, 30]
    here, there = sparsity_path(table, sizes), sparsity_path(elsewhere(table), sizes)
    np.testing.assert_allclose(there.objective, here.objective, rtol=1e-9)
    np.testing.assert_allclose(there.upper_bound, here.upper_bound, rtol=1e-9)
    for k in (2, 7, 30):  # 7 is not on the grid
        np.testing.assert_array_equal(there.support(k), here.support(k))


def test_a_table_without_signal(elsewhere, small_steps):
    table = np.outer([1.0, 3.0], np.random.default_rng(2).integers(1, 9, 200))
    here, there = (solve_multinomial(t, 4, alpha=0) for t in (table, elsewhere(table)))
    assert_same(here, there)
    assert there.certificate.is_optimal


# -------------------------------------------------------------------------- bernoulli


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("alpha", [0.0, 1.0, "columns"])
@pytest.mark.parametrize("power", [0, 1, 3])
def test_bernoulli_answer_is_that_of_numpy(
    n_classes, alpha, power, elsewhere, small_steps
):
    rng = np.random.default_rng(11 * n_classes)
    rows = rng.integers(5, 40, n_classes).astype(float)
    share = rng.random((1, 300)) ** power * (0.5 + 0.5 * rng.random((n_classes, 300)))
    table = rng.binomial(rows[:, None].astype(int), share).astype(float)
    table[:, 100:150], table[:, 160] = table[:, [3]], rows  # ties; present everywhere
    if alpha == "columns":
        alpha = rng.random(300) * (rng.random(300) < 0.7)
    for k in (1, 8, 60):
        here = solve_bernoulli(table, k, class_count=rows, alpha=alpha)
        there = solve_bernoulli(elsewhere(table), k, class_count=rows, alpha=alpha)
        assert_same(here, there)
        np.testing.assert_array_equal(there.gains, here.gains)
        assert there.certificate.gap == here.certificate.gap
    options = {"model": "bernoulli", "class_count": rows}
    here = sparsity_path(table, [1, 5, 9], **options)
    there = sparsity_path(elsewhere(table), [1, 5, 9], **options)
    np.testing.assert_allclose(there.objective, here.objective, rtol=1e-9)
    np.testing.assert_allclose(there.bic_values, here.bic_values, rtol=1e-9)
    for k in (5, 50):  # 50 is beyond the columns that were fetched
        np.testing.assert_array_equal(there.support(k), here.support(k))


def test_a_plain_table_with_class_count_is_that_of_class_counts():
    rng = np.random.default_rng(0)
    X, y = rng.random((50, 30)) < 0.4, rng.integers(0, 2, 50)
    counts = ClassCounts.from_matrix(X, y, binary=True)
    plain = solve_bernoulli(counts.feature_count, 5, class_count=counts.class_count)
    assert plain == solve_bernoulli(counts, 5)
    with pytest.raises(ValueError, match="a ClassCounts knows its own"):
        solve_bernoulli(counts, 5, class_count=counts.class_count)
    with pytest.raises(
        ValueError, match="finite number of rows >= 0 for each of the 2"
    ):
        solve_bernoulli(counts.feature_count, 5, class_count=[1.0])


# ----------------------------------------------------------------------------- errors


@pytest.mark.parametrize("small", [True, False])
def test_what_is_refused(small, elsewhere, monkeypatch):
    if not small:
        shrink(monkeypatch)
    table = np.random.default_rng(0).integers(1, 9, (2, 100)).astype(float)
    rows = [1000.0, 1000.0]
    solves = [
        lambda t: solve_multinomial(t, 3),
        lambda t: solve_bernoulli(t, 3, class_count=rows),
    ]
    for solve in solves:
        for bad, message in (
            (np.nan, "needs finite counts. Got NaN or infinity"),
            (np.inf, "needs finite counts. Got NaN or infinity"),
            (-2.0, "needs counts >= 0. Got -2 in column 77"),
        ):
            wrong = table.copy()
            wrong[1, 77] = bad
            for one in (wrong, elsewhere(wrong)):
                with pytest.raises(ValueError, match=message):
                    solve(one)
        with pytest.raises(ValueError, match=r"Got shape \(200,\)"):
            solve(elsewhere(table.ravel())) if solve is solves[0] else (
                solve_multinomial(elsewhere(table.ravel()), 3)
            )
        with pytest.raises(TypeError, match=r"real numbers.*Got dtype .*complex128"):
            solve(elsewhere(table.astype(complex)))
    many = table.copy()
    many[1, 40] = 1001.0
    for one in (many, elsewhere(many)):
        with pytest.raises(
            ValueError, match="Got 1001 in column 40, where class 1 has"
        ):
            solve_bernoulli(one, 3, class_count=rows)
    with pytest.raises(ValueError, match=r"keeps to rules .* only of Bernoulli counts"):
        solve_bernoulli(elsewhere(table), 3, class_count=rows, exclude=[1])
    with pytest.raises(TypeError, match=r"knows the number of .* Hint: class_count=\["):
        solve_bernoulli(elsewhere(table), 3)


# ----------------------------------------------------------------------------- memory


def test_no_more_than_a_part_of_a_wide_table_is_copied(monkeypatch):
    # 2 million columns; the first pool is 2^10 columns and a chunk 2^16 counts.
    monkeypatch.setattr(_device_table, "CHUNK_CELLS", 1 << 16)
    monkeypatch.setattr(_device_table, "SAMPLE_COLUMNS", 1 << 10)
    monkeypatch.setattr(_device_columns, "KEPT_COLUMNS", 1 << 11)
    monkeypatch.setattr(_problem, "_FIRST_POOL", 1 << 10)
    m = 2_000_000
    rng = np.random.default_rng(4)
    rate = 1.5 * m / np.arange(10, m + 10)
    table = rng.poisson(rng.permutation(rate) * rng.lognormal(0, 0.3, (2, m))) * 1.0
    copied = []

    def counting(array, to_host=_device_arrays.to_host):
        found = to_host(array)
        copied.append(found.size)
        return found

    monkeypatch.setattr(_device_table, "to_host", counting)
    there = solve_multinomial(on_strict_device(table), 50)
    # The counts of a chunk at most at once; all together a hundredth of the table.
    assert max(copied) <= 1 << 16
    assert sum(copied) < 2 * m / 100
    assert_same(solve_multinomial(table, 50), there)

    copied.clear()
    rows = table.sum(axis=1)
    there = solve_bernoulli(on_strict_device(table), 50, class_count=rows)
    # More: no gain is known of the first chunks beyond that of a sample.
    assert max(copied) <= 1 << 16
    assert sum(copied) < 2 * m / 10
    assert_same(solve_bernoulli(table, 50, class_count=rows), there)


def test_tensors_in_host_memory_are_not_copied():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    table = torch.rand((2, 1000), dtype=torch.float64, requires_grad=True)
    seen = _device_arrays.in_host_memory(table)
    assert isinstance(seen, np.ndarray)
    assert seen.ctypes.data == table.data_ptr()
    assert_same(solve_multinomial(seen, 5), solve_multinomial(table, 5))


def test_numpy_counts_need_no_other_library():
    code = (
        "import sys, numpy as np, bayesieve as b\n"
        "t = np.arange(60.0).reshape(2, 30)\n"
        "b.solve_multinomial(t, 3); b.sparsity_path(t, [2, 3])\n"
        "c = b.ClassCounts.from_matrix(t > 7, [0, 1], binary=True)\n"
        "b.solve_bernoulli(c, 3)\n"
        "sys.exit(any(m.split('.')[0] in ('array_api_compat', 'torch', 'cupy')"
        " for m in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=HANGS)


# -------------------------------------------------------------------------- screening


def test_l0_screener_takes_a_matrix_on_a_device(elsewhere):
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 200)
    X = (rng.random((200, 40)) < 0.3 + 0.4 * (y[:, None] * (np.arange(40) < 4))) * 1.0
    here, there = L0Screener().fit(X, y), L0Screener().fit(elsewhere(X), y)
    np.testing.assert_array_equal(there.support_indices_, here.support_indices_)
    np.testing.assert_array_equal(there.scores_, here.scores_)
    assert there.n_features_in_ == 40
    stream = L0Screener().partial_fit(elsewhere(X[:90]), y[:90], classes=[0, 1])
    stream.partial_fit(elsewhere(X[90:]), y[90:])
    np.testing.assert_array_equal(stream.scores_, here.scores_)
    with pytest.raises(ValueError, match="expecting 40 features"):
        stream.partial_fit(elsewhere(X[:, :5]), y)
    with pytest.raises(ValueError, match="at least two classes"):
        L0Screener().fit(elsewhere(X), np.zeros(200))
