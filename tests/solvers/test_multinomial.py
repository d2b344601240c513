"""The multinomial solver: inputs, wide tables, limits and degenerate tables."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from tests.oracle.brute_force import best_gains, null_value, support_gain

from bayesieve import ClassCounts, _core, solve_multinomial
from bayesieve.exceptions import (
    DegenerateSupportWarning,
    FewFeaturesWarning,
    GapWarning,
)
from bayesieve.solvers._branch import Limits, branch_and_bound
from bayesieve.solvers._dual import relax
from bayesieve.solvers._multinomial import multinomial_problem


def count_table(rng, n_classes, m, density=0.5):
    table = rng.integers(1, 40, (n_classes, m)) * (rng.random((n_classes, m)) < density)
    return table.astype(float)


def gain_of(solution):
    return solution.certificate.objective - solution.certificate.null_objective


# ----------------------------------------------------------------------------- inputs


@pytest.mark.parametrize("n_classes", [2, 3, 7, 30])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_dense_and_sparse_tables_give_the_same_answer(n_classes, alpha):
    # Every class has two words of its own, so the 2 K best columns are beyond doubt
    # and the relaxation is tight there; noise and empty columns surround them.
    rng = np.random.default_rng(n_classes)
    table = count_table(rng, n_classes, 90, density=0.1)
    own = rng.choice(90, 2 * n_classes, replace=False)
    table[np.arange(2 * n_classes) % n_classes, own] = 3000 + 10 * rng.random(len(own))
    formats = [sp.csc_array]
    if n_classes == 3:
        formats += [sp.csr_array, sp.coo_array, sp.csc_matrix]
    k = 2 * n_classes
    dense = solve_multinomial(table, k, alpha=alpha)
    np.testing.assert_array_equal(dense.support, np.sort(own))
    for size in (k, k + 5):
        dense = solve_multinomial(table, size, alpha=alpha, exact=False)
        for make in formats:
            sparse = solve_multinomial(make(table), size, alpha=alpha, exact=False)
            np.testing.assert_array_equal(sparse.support, dense.support)
            np.testing.assert_allclose(sparse.gains, dense.gains, rtol=1e-9)
            np.testing.assert_allclose(sparse.log_theta, dense.log_theta, rtol=1e-12)
            for name in ("objective", "upper_bound", "null_objective", "sharp_bound"):
                assert getattr(sparse.certificate, name) == pytest.approx(
                    getattr(dense.certificate, name), rel=1e-11
                )


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_dense_and_sparse_tables_give_the_same_optimum(n_classes):
    rng = np.random.default_rng(n_classes)
    table = count_table(rng, n_classes, 40, density=0.4)
    for k in (2, 4, 9):
        dense = solve_multinomial(table, k)
        sparse = solve_multinomial(sp.csc_array(table), k)
        assert dense.certificate.is_optimal
        assert sparse.certificate.is_optimal
        np.testing.assert_array_equal(sparse.support, dense.support)


def test_array_list_integers_and_class_counts_are_the_same_input():
    rng = np.random.default_rng(1)
    table = count_table(rng, 3, 20)
    expected = solve_multinomial(table, 6)  # from 5 on no bound of three classes is NaN
    counts = ClassCounts(["a", "b", "c"], [5, 5, 5], table)
    for given in (
        table.tolist(),
        table.astype(np.int32),
        table.astype(np.float32),
        np.asfortranarray(table),
        np.repeat(table, 2, axis=1)[:, ::2],
        counts,
    ):
        solution = solve_multinomial(given, 6)
        np.testing.assert_array_equal(solution.support, expected.support)
        assert solution.certificate == expected.certificate


def test_a_sparse_table_with_repeated_entries_is_summed():
    # Column 0 is stored as 1 + 2 in class 0, as a COO matrix without sum_duplicates.
    data, rows, start = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0, 0, 1, 1, 0, 1], [0, 2, 4, 6]
    table = sp.csc_array((data, rows, start), shape=(2, 3))
    before = table.data.copy()
    solution = solve_multinomial(table, 2)
    expected = solve_multinomial([[3, 0, 5], [0, 7, 6]], 2)
    np.testing.assert_array_equal(solution.support, expected.support)
    assert gain_of(solution) == pytest.approx(gain_of(expected), rel=1e-12)
    np.testing.assert_array_equal(table.data, before)


def test_the_table_is_never_written_to():
    rng = np.random.default_rng(2)
    table = count_table(rng, 3, 50)
    sparse = sp.csc_array(table)
    alpha = np.linspace(0, 1, 50)
    table.flags.writeable = alpha.flags.writeable = False
    for array in (sparse.data, sparse.indices, sparse.indptr):
        array.flags.writeable = False
    for k in (2, 10):
        solve_multinomial(table, k, alpha=alpha)
        solve_multinomial(sparse, k, alpha=alpha)
    np.testing.assert_array_equal(sparse.toarray(), table)


def test_every_feature_may_have_its_own_smoothing():
    rng = np.random.default_rng(3)
    for trial in range(12):
        n_classes = 2 + trial % 3
        table = count_table(rng, n_classes, 7)
        alpha = rng.random(7) * (rng.random(7) < 0.7)
        filled = table.sum(axis=0) > 0
        phi = best_gains((table + alpha)[:, filled])
        for k in range(2, int(filled.sum()) + 1):
            for given in (table, sp.csc_array(table)):
                solution = solve_multinomial(given, k, alpha=alpha)
                assert gain_of(solution) == pytest.approx(phi[k], rel=1e-9, abs=1e-10)
                assert filled[solution.support].all()
    same = solve_multinomial(table, 3, alpha=np.full(7, 0.5))
    one = solve_multinomial(table, 3, alpha=0.5)
    np.testing.assert_array_equal(same.support, one.support)
    assert gain_of(same) == pytest.approx(gain_of(one), rel=1e-12)


@pytest.mark.parametrize("k", [0, -1, 2.0, True, "3", None])
def test_a_size_that_is_no_positive_int_is_refused(k):
    message = r"'k' parameter of solve_multinomial must be an int >= 1\. Got "
    with pytest.raises(ValueError, match=message):
        solve_multinomial([[1, 2], [3, 4]], k)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, 2, 3]], r"n_classes >= 2.*Got shape \(1, 3\)"),
        ([1, 2, 3], r"Got shape \(3,\)"),
        (np.empty((2, 0)), r"n_features >= 1.*Got shape \(2, 0\)"),
        ([[1, np.nan], [1, 1]], "finite counts. Got NaN or infinity"),
        ([[1, np.inf], [1, 1]], "finite counts. Got NaN or infinity"),
        ([[1, 1, 1], [1, 1, -2]], r"counts >= 0\. Got -2 in column 2"),
        (sp.csc_array([[0.0, 0, 1], [1, -3, 0]]), r"Got -3 in column 1"),
    ],
)
def test_a_table_that_is_no_table_of_counts_is_refused(table, message):
    with pytest.raises(ValueError, match=message):
        solve_multinomial(table, 2)


def test_counts_of_another_kind_are_refused():
    X = [[0.5, 1.0], [2.0, 1.0], [0.0, 3.0]]
    moments = ClassCounts.from_matrix(X, [0, 1, 1], kind="moments")
    with pytest.raises(
        ValueError, match=r"kind 'count' or 'binary'. Got kind 'moments'"
    ):
        solve_multinomial(moments, 2)


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        (-1, r">= 0 and finite\. Got -1"),
        (np.nan, r"Got nan"),
        (np.inf, r"Got inf"),
        ([1.0, 2.0], r"each of the 3 features\. Got shape \(2,\)"),
        ([[1.0, 1.0, 1.0]], r"Got shape \(1, 3\)"),
    ],
)
def test_a_smoothing_that_is_none_is_refused(alpha, message):
    with pytest.raises(ValueError, match=f"'alpha' parameter.*{message}"):
        solve_multinomial([[1, 2, 3], [3, 4, 5]], 2, alpha=alpha)


# ------------------------------------------------------------------- edges of the data


def test_one_feature_has_no_gain_and_says_so():
    with pytest.warns(DegenerateSupportWarning, match="k=1 has gain 0"):
        solution = solve_multinomial([[4, 6, 10], [12, 0, 0]], 1, alpha=0)
    assert solution.support.shape == (0,)
    certificate = solution.certificate
    assert certificate.objective == certificate.null_objective
    assert certificate.is_optimal
    # psi(1) is positive all the same: min over p of the largest h_i(p).
    assert certificate.relaxation_bound > certificate.null_objective


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_one_feature_of_a_table_without_counts(alpha):
    with pytest.warns(DegenerateSupportWarning):
        solution = solve_multinomial(np.zeros((2, 3)), 1, alpha=alpha)
    assert solution.support.shape == (0,)
    assert np.isfinite(solution.certificate.class_shares).all()


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("make", [np.asarray, sp.csc_array])
def test_more_features_than_have_counts(make, alpha):
    table = make(np.array([[3.0, 0, 1, 0, 0], [0, 0, 2, 5, 0]]))
    with pytest.warns(FewFeaturesWarning, match="k=4 features.*only 3 have any count"):
        solution = solve_multinomial(table, 4, alpha=alpha)
    np.testing.assert_array_equal(solution.support, [0, 2, 3])
    assert solution.certificate.is_optimal
    with pytest.warns(FewFeaturesWarning, match="only 0 have any count"):
        nothing = solve_multinomial(make(np.zeros((2, 4))), 2, alpha=alpha)
    assert nothing.support.shape == (0,)
    assert nothing.certificate.is_optimal


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("alpha", [0.0, 0.1, 1.0])
def test_a_table_without_signal_is_solved_and_certified(n_classes, alpha):
    # Equal columns have equal shares, so every support has gain 0.
    column = np.arange(n_classes)[:, None] * 7.0 + 11.0
    for table in (np.tile(column, (1, 9)), np.ones((n_classes, 9))):
        for exact in (True, False):
            solution = solve_multinomial(table, 3, alpha=alpha, exact=exact)
            certificate = solution.certificate
            np.testing.assert_array_equal(solution.support, [0, 1, 2])
            assert certificate.is_optimal
            assert certificate.objective == pytest.approx(
                certificate.null_objective, abs=1e-11
            )


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_rounding_of_a_table_without_signal_is_no_gap(n_classes):
    # Proportional columns: every gain is 0 up to the rounding of its terms.
    rng = np.random.default_rng(n_classes)
    for _ in range(60):
        share = rng.random((n_classes, 1)) * 10.0 ** rng.integers(0, 5)
        table = share * rng.integers(1, 50, (1, 9))
        for exact in (True, False):
            certificate = solve_multinomial(table, 3, alpha=0, exact=exact).certificate
            assert certificate.is_optimal
            assert certificate.gap == 0.0


def test_a_support_without_gain_has_an_infinite_relative_gap():
    # Without exact the supports met are pairs of equal columns, of gain 0.
    table = [[6, 6, 8, 8, 8, 6, 1, 1], [0, 0, 7, 7, 7, 0, 11, 11]]
    certificate = solve_multinomial(table, 2, alpha=0.1, exact=False).certificate
    gain = certificate.objective - certificate.null_objective
    assert certificate.relative_gap > 1e-9 or gain > 1.0
    assert certificate.is_optimal == (certificate.relative_gap <= 1e-9)


@pytest.mark.parametrize("make", [np.asarray, sp.csc_array])
def test_one_class_with_all_counts(make):
    table = make(np.array([[3.0, 1, 4, 1, 5, 9], [0.0, 0, 0, 0, 0, 0]]))
    solution = solve_multinomial(table, 2, alpha=0)
    assert solution.support.shape == (2,)
    assert gain_of(solution) == pytest.approx(0.0, abs=1e-12)
    assert solution.certificate.is_optimal
    # The class without counts has the shared parameters, so it still sums to one.
    mass = np.exp(solution.log_theta).sum(axis=1)
    assert mass[0] == pytest.approx(mass[1])


@pytest.mark.parametrize("make", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_that_only_small_columns_have_is_not_overlooked(make, n_classes):
    # The columns of largest total know nothing of the last class, whose gains are
    # infinite at a share of zero: leaving it out of the first candidates hides it.
    heavy = np.zeros((n_classes, 30))
    heavy[0] = 100.0 + np.arange(30)
    if n_classes == 3:
        heavy[1] = 50.0 + np.arange(30)[::-1]
    light = np.zeros((n_classes, 4))
    light[0], light[-1] = [1, 2, 3, 1], [2, 3, 1, 1]
    table = np.hstack([heavy, light])
    for k in (2, 3):
        solution = solve_multinomial(make(table), k, alpha=0)
        problem = multinomial_problem(table, 0.0, solver="test")
        unpruned = solve_on_all_columns(problem, k)
        assert gain_of(solution) == pytest.approx(unpruned.gain, rel=1e-9)
        np.testing.assert_array_equal(solution.support, unpruned.columns)


def test_a_class_in_one_feature_only():
    rng = np.random.default_rng(8)
    for _ in range(20):
        table = np.vstack([rng.integers(1, 9, (2, 7)), np.zeros((1, 7))]).astype(float)
        table[2, rng.integers(7)] = rng.integers(1, 4)
        phi = best_gains(table)
        for k in range(2, 8):
            solution = solve_multinomial(table, k, alpha=0)
            assert gain_of(solution) == pytest.approx(phi[k], rel=1e-9)
            assert solution.certificate.is_optimal


def test_ties_go_to_the_lowest_indices():
    columns = np.array([[9.0, 1, 5, 5], [1, 9, 5, 5]])
    table = columns[:, [2, 0, 3, 1, 0, 1, 0, 1]]
    solution = solve_multinomial(table, 2)
    # Columns (9, 1) sit at 1, 4, 6 and (1, 9) at 3, 5, 7: the first of each.
    np.testing.assert_array_equal(solution.support, [1, 3])
    np.testing.assert_array_equal(solve_multinomial(table, 4).support, [1, 3, 4, 5])


# ------------------------------------------------------------------------------ pruning


def solve_on_all_columns(problem, k):
    """Branch and bound on a block that holds every column: nothing is pruned."""
    block = problem.block(problem.nonempty(), problem.overall_shares)
    root = relax(block, k, np.full(problem.n_classes, 1 / problem.n_classes))
    return branch_and_bound(problem._equal, k, root, Limits())


def zipf_table(seed, n_classes=2, m=200_000):
    rng = np.random.default_rng(seed)
    rate = 3e5 / (np.arange(m) + 10.0)
    tilt = rng.normal(0, 0.5, (n_classes, m))
    return rng.permuted(rng.poisson(rate * np.exp(tilt)), axis=1).astype(float)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_pruning_a_wide_table_changes_nothing(n_classes, alpha):
    table = zipf_table(1, n_classes)
    problem = multinomial_problem(table, alpha, solver="test")
    for k in (2, 9, 60, 1000):
        solution = solve_multinomial(table, k, alpha=alpha)
        unpruned = solve_on_all_columns(problem, k)
        assert solution.certificate.is_optimal
        assert gain_of(solution) == pytest.approx(unpruned.gain, rel=1e-10)
        np.testing.assert_array_equal(solution.support, unpruned.columns)


def no_signal_column(table):
    """A huge common column with the class shares of the whole table."""
    table[:, 17] = 50 * table.sum(axis=1)
    return table


def rare_class(table):
    """The last class has a hundred counts in all, in columns of small totals."""
    table[-1] = 0
    small = np.argsort(table.sum(axis=0))[2000:2100]
    table[-1, small] = 1
    return table


def one_class_columns(table):
    """The largest columns belong to one class only, so the first shares mislead."""
    largest = np.argsort(-table.sum(axis=0))[:500]
    table[1:, largest] = 0
    return table


@pytest.mark.parametrize("spoil", [no_signal_column, rare_class, one_class_columns])
@pytest.mark.parametrize("alpha", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_pruning_withstands_adversarial_totals(spoil, alpha, n_classes):
    table = spoil(zipf_table(2, n_classes, 10_000))
    problem = multinomial_problem(table, alpha, solver="test")
    for k in (2, 7, 40):
        solution = solve_multinomial(table, k, alpha=alpha)
        unpruned = solve_on_all_columns(problem, k)
        assert solution.certificate.is_optimal
        assert gain_of(solution) == pytest.approx(unpruned.gain, rel=1e-9)
        np.testing.assert_array_equal(solution.support, unpruned.columns)


def test_the_bound_of_a_pruned_relaxation_holds_for_every_column():
    table = zipf_table(4, 3, 50_000)
    problem = multinomial_problem(table, 1.0, solver="test")
    for k in (40, 3, 200):  # warm starts in both directions
        _, relaxation = problem.relaxation(k)
        gains = problem.gains(relaxation.shares)
        top = np.sort(gains)[::-1][:k].sum()
        assert relaxation.upper == pytest.approx(top, rel=1e-10)


# ------------------------------------------------------------------------------- limits


@pytest.fixture(scope="module")
def near_identity():
    rng = np.random.default_rng(0)
    table = rng.random((20, 40))
    table[np.arange(40) % 20, np.arange(40)] += 50
    return table


@pytest.fixture(scope="module")
def swapped_gain(near_identity):
    """The best of many supports by greedy swaps from random starts, alpha = 1."""
    counts = near_identity + 1.0
    rng = np.random.default_rng(1)
    best = 0.0
    for _ in range(8):
        support = rng.choice(40, 8, replace=False).tolist()
        gain, improved = support_gain(counts, tuple(support)), True
        while improved:
            improved = False
            for place in range(8):
                for other in set(range(40)) - set(support):
                    trial = [*support[:place], other, *support[place + 1 :]]
                    value = support_gain(counts, tuple(trial))
                    if value > gain + 1e-9:
                        support, gain, improved = trial, value, True
        best = max(best, gain)
    return best


def check_stopped(solution, table, swapped_gain):
    certificate = solution.certificate
    assert not certificate.is_optimal
    direct = support_gain(table + 1.0, tuple(solution.support.tolist()))
    assert gain_of(solution) == pytest.approx(direct, rel=1e-11)
    assert certificate.null_objective == pytest.approx(null_value(table + 1.0))
    upper = certificate.upper_bound - certificate.null_objective
    assert upper >= swapped_gain
    assert certificate.gap == pytest.approx(upper - gain_of(solution), rel=1e-9)
    assert certificate.relative_gap == pytest.approx(certificate.gap / direct, rel=1e-9)
    assert certificate.upper_bound <= certificate.relaxation_bound * (1 - 1e-12)


def test_node_limit_ends_the_search_with_its_true_gap(near_identity, swapped_gain):
    with pytest.warns(GapWarning, match=r"k=8 stopped at its limit after 30\d nodes"):
        solution = solve_multinomial(near_identity, 8, node_limit=300, time_limit=None)
    assert 300 <= solution.certificate.nodes <= 301  # children come in pairs
    check_stopped(solution, near_identity, swapped_gain)


def test_time_limit_ends_the_search_with_its_true_gap(near_identity, swapped_gain):
    with pytest.warns(GapWarning, match="raise time_limit to close"):
        solution = solve_multinomial(near_identity, 8, node_limit=None, time_limit=0.5)
    # Without the limit the search runs over tens of thousands of nodes.
    assert 1 <= solution.certificate.nodes < 10_000
    check_stopped(solution, near_identity, swapped_gain)


@pytest.mark.parametrize("at", [1, 2, 7, 50])
def test_a_kernel_cut_off_in_mid_search_leaves_the_true_gap(
    near_identity, swapped_gain, monkeypatch, at
):
    calls = itertools.count(1)

    def cut_off(*arguments, **keywords):
        if next(calls) == at:
            raise _core.TimeLimitReached
        return relax(*arguments, **keywords)

    monkeypatch.setattr("bayesieve.solvers._branch.relax", cut_off)
    with pytest.warns(GapWarning):
        solution = solve_multinomial(near_identity, 8, time_limit=1e6, node_limit=None)
    check_stopped(solution, near_identity, swapped_gain)


def test_a_time_limit_already_over_still_gives_a_bounded_support(near_identity):
    with pytest.warns(GapWarning):
        solution = solve_multinomial(near_identity, 8, time_limit=0.0)
    assert solution.certificate.nodes == 1
    assert solution.support.shape == (8,)
    assert math.isfinite(solution.certificate.upper_bound)


def test_more_nodes_never_loosen_the_bounds(near_identity):
    gaps, objectives = [], []
    for nodes in (1, 20, 100):
        with pytest.warns(GapWarning):
            solution = solve_multinomial(
                near_identity, 8, node_limit=nodes, time_limit=None
            )
        gaps.append(solution.certificate.upper_bound)
        objectives.append(solution.certificate.objective)
    assert gaps == sorted(gaps, reverse=True)
    assert objectives == sorted(objectives)


def test_a_search_that_ends_within_its_limits_does_not_warn():
    table = count_table(np.random.default_rng(4), 3, 12)
    solution = solve_multinomial(table, 4, time_limit=None, node_limit=None)
    assert solution.certificate.is_optimal


@pytest.mark.parametrize(
    "limits",
    [{"time_limit": -1.0}, {"time_limit": "x"}, {"node_limit": 0}, {"node_limit": 2.5}],
)
def test_limits_that_are_none_are_refused_by_name(limits):
    (name,) = limits
    with pytest.raises(ValueError, match=f"'{name}' parameter of solve_multinomial"):
        solve_multinomial([[1, 2, 3], [3, 2, 1]], 2, **limits)
