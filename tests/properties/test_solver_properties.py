"""Laws that every solve obeys for any table of counts."""

from __future__ import annotations

import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.oracle.brute_force import best_gains, support_gain

from bayesieve import ClassCounts, solve_bernoulli, solve_multinomial

SETTINGS = settings(max_examples=60, deadline=None)
ALPHAS = st.sampled_from([0.0, 0.1, 1.0])


@st.composite
def problems(draw, largest=30, most=7):
    """A table with at least three columns that have counts, a size and a smoothing."""
    n_classes, m = draw(st.integers(2, 4)), draw(st.integers(3, most))
    cells = st.integers(0, largest)
    table = draw(hnp.arrays(np.int64, (n_classes, m), elements=cells)).astype(float)
    filled = int((table.sum(axis=0) > 0).sum())
    assume(filled >= 3)
    return table, draw(st.integers(2, filled - 1)), draw(ALPHAS)


def solve(table, k, alpha):
    solution = solve_multinomial(table, k, alpha=alpha)
    assert solution.certificate.is_optimal
    return solution


def gain(solution):
    return solution.certificate.objective - solution.certificate.null_objective


def close(a, b, table):
    """Equal up to the rounding of sums of this size."""
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b)) + 1e-11 * (1 + table.sum())


def has_one_optimum(table, k, alpha):
    """No other support comes near the best: drop any of its columns, and lose."""
    columns = np.flatnonzero(table.sum(axis=0) > 0)
    smoothed = table[:, columns] + alpha
    best = best_gains(smoothed)[k]
    support = solve(table, k, alpha).support
    for column in support:
        others = best_gains(np.delete(smoothed, np.searchsorted(columns, column), 1))
        if others[min(k, len(others) - 1)] > best - 1e-6 * (1 + best):
            return False
    return True


@SETTINGS
@given(problems(), st.randoms(use_true_random=False))
def test_permuting_columns_permutes_the_support(problem, random):
    table, k, alpha = problem
    order = list(range(table.shape[1]))
    random.shuffle(order)
    first, second = solve(table, k, alpha), solve(table[:, order], k, alpha)
    assert close(gain(first), gain(second), table)
    if has_one_optimum(table, k, alpha):
        moved = np.sort(np.asarray(order)[second.support])
        np.testing.assert_array_equal(moved, first.support)


@SETTINGS
@given(problems(), st.sampled_from([2.0, 3.0, 1e-6, 1e6, 0.37]))
def test_multiplying_counts_and_smoothing_keeps_the_support(problem, factor):
    table, k, alpha = problem
    first, second = solve(table, k, alpha), solve(table * factor, k, alpha * factor)
    assert close(gain(first), gain(second) / factor, table)
    if factor == 2.0 or has_one_optimum(table, k, alpha):
        np.testing.assert_array_equal(first.support, second.support)


@SETTINGS
@given(problems(), st.randoms(use_true_random=False))
def test_swapping_classes_keeps_the_support(problem, random):
    table, k, alpha = problem
    order = list(range(table.shape[0]))
    random.shuffle(order)
    first, second = solve(table, k, alpha), solve(table[order], k, alpha)
    assert close(gain(first), gain(second), table)
    if has_one_optimum(table, k, alpha):
        np.testing.assert_array_equal(first.support, second.support)
        np.testing.assert_allclose(
            first.log_theta[order], second.log_theta, rtol=1e-10, atol=1e-12
        )


@SETTINGS
@given(problems(), st.data())
def test_an_empty_column_changes_nothing_but_the_index(problem, data):
    table, k, alpha = problem
    at = data.draw(st.integers(0, table.shape[1]))
    wider = np.insert(table, at, 0.0, axis=1)
    first, second = solve(table, k, alpha), solve(wider, k, alpha)
    assert at not in second.support
    assert close(gain(first), gain(second), table)
    if has_one_optimum(table, k, alpha):
        expected = first.support + (first.support >= at)
        np.testing.assert_array_equal(second.support, expected)


@SETTINGS
@given(problems(largest=6, most=4), st.integers(2, 3))
def test_duplicated_columns_never_break_optimality(problem, times):
    table, k, alpha = problem
    repeated = np.repeat(table, times, axis=1)
    filled = repeated.sum(axis=0) > 0
    best = best_gains((repeated + alpha)[:, filled])[k]
    solution = solve(repeated, k, alpha)
    assert close(gain(solution), best, repeated)
    direct = support_gain(repeated + alpha, tuple(solution.support.tolist()))
    assert close(direct, best, repeated)


@SETTINGS
@given(problems())
def test_an_empty_column_is_never_selected_and_sparse_is_dense(problem):
    table, k, alpha = problem
    table[:, 0] = 0.0
    assume((table.sum(axis=0) > 0).sum() >= k)
    dense, csc = solve(table, k, alpha), solve(sparse.csc_array(table), k, alpha)
    for solution in (dense, csc):
        assert (table.sum(axis=0)[solution.support] > 0).all()
    assert close(gain(dense), gain(csc), table)


@SETTINGS
@given(problems())
def test_a_larger_support_is_never_worse_and_bounds_are_ordered(problem):
    table, k, alpha = problem
    one, two = solve(table, k, alpha), solve(table, k + 1, alpha)
    slack = 1e-11 * (1 + table.sum()) + 1e-9 * gain(two)
    assert gain(one) <= gain(two) + slack
    for solution in (one, two):
        certificate = solution.certificate
        assert certificate.sharp_bound <= certificate.objective + slack
        assert certificate.objective <= certificate.upper_bound
        assert certificate.upper_bound <= certificate.relaxation_bound + slack


@SETTINGS
@given(
    hnp.arrays(np.int64, (9, 5), elements=st.integers(0, 1)),
    st.permutations(range(9)),
    ALPHAS,
)
def test_bernoulli_knows_neither_row_order_nor_class_names(X, order, alpha):
    X[0], X[1] = 0, 1  # every column varies
    y = np.array([0, 1, 2] * 3)
    names = np.array(["z", "a", "m"])
    first = ClassCounts.from_matrix(X, y, binary=True)
    second = ClassCounts.from_matrix(X[list(order)], names[y[list(order)]], binary=True)
    for k in (1, 3):
        a = solve_bernoulli(first, k, alpha=alpha)
        b = solve_bernoulli(second, k, alpha=alpha)
        np.testing.assert_allclose(np.sort(a.gains), np.sort(b.gains), atol=1e-12)
