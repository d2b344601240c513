"""The multinomial solver against enumeration of every support."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from tests.oracle.brute_force import (
    best_gains,
    best_support,
    null_value,
    relaxation_bracket,
    support_gain,
)
from tests.oracle.exact_gains import exact_gains, extreme_instances
from tests.oracle.instances import ALPHAS, FAMILIES, instances, random_table

from bayesieve import solve_multinomial


def smoothed_candidates(table, alpha):
    """Columns that may be selected, and their smoothed counts."""
    columns = np.flatnonzero(table.sum(axis=0) > 0)
    return columns, table[:, columns] + alpha


def check_instance(table, alpha):
    """Every promise of the certificate, for every k >= 2; returns how many k."""
    columns, counts = smoothed_candidates(table, alpha)
    n_classes, m = counts.shape
    phi = best_gains(counts)
    null = null_value(table + alpha)
    # Objectives are sums of terms of this size, and no closer than its rounding.
    rounding = 1e-13 * np.abs(table + alpha).sum() * (1 + np.log(table.sum() + 1))
    psi = np.zeros(m + 1)
    solutions = {}
    for k in range(2, m + 1):
        solution = solve_multinomial(table, k, alpha=alpha)
        certificate, support = solution.certificate, solution.support
        context = f"k={k}, alpha={alpha}, table={table.tolist()}"
        tolerance = 1e-10 * phi[k] + rounding
        assert certificate.is_optimal, context
        assert certificate.k == k
        assert certificate.null_objective == pytest.approx(null, abs=rounding)
        gain = certificate.objective - certificate.null_objective
        assert abs(gain - phi[k]) <= tolerance, context
        # The support is what the objective says, by the likelihood itself.
        assert support.dtype == np.int64
        assert support.shape == (k,)
        assert (np.diff(support) > 0).all()
        assert np.isin(support, columns).all(), context
        direct = support_gain(table + alpha, tuple(support.tolist()))
        assert abs(direct - phi[k]) <= tolerance, context
        assert abs(solution.gains.sum() - phi[k]) <= tolerance, context
        assert (solution.gains >= 0).all()
        # Each class's parameters on the support have the mass the support has overall.
        mass = (table + alpha)[:, support].sum() / (table + alpha).sum()
        np.testing.assert_allclose(np.exp(solution.log_theta).sum(axis=1), mass)
        assert certificate.objective <= certificate.upper_bound
        assert certificate.upper_bound <= certificate.relaxation_bound + tolerance
        psi[k] = certificate.relaxation_bound - null
        assert phi[k] <= psi[k] + tolerance, context
        solutions[k] = certificate
    for k, certificate in solutions.items():
        context = f"k={k}, alpha={alpha}, table={table.tolist()}"
        tolerance = 1e-10 * phi[k] + rounding
        sharp = certificate.sharp_bound - null
        assert sharp <= phi[k] + tolerance, context
        if k - n_classes + 1 <= 0:
            assert sharp == pytest.approx(0.0, abs=tolerance)
        elif k - n_classes + 1 >= 2:
            assert sharp == pytest.approx(psi[k - n_classes + 1], abs=tolerance)
        if k < n_classes + 2:
            assert np.isnan(certificate.published_bound)
        else:
            published = certificate.published_bound - null
            assert published <= phi[k] + tolerance, context
            assert published <= sharp + tolerance, context
    return len(solutions)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_objective_is_the_best_of_all_supports(family, n_classes):
    solved = sum(check_instance(*one) for one in instances(family, n_classes, 20))
    assert solved >= 40


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_objective_is_the_best_of_all_supports_on_thousands(family, n_classes):
    tables = instances(family, n_classes, 150, seed=1)
    assert sum(check_instance(*one) for one in tables) >= 300


def test_enumeration_at_once_agrees_with_one_support_at_a_time():
    rng = np.random.default_rng(5)
    for family in FAMILIES:
        counts = random_table(rng, family, 3) + 0.25
        phi = best_gains(counts)
        for k in range(1, counts.shape[1] + 1):
            assert phi[k] == pytest.approx(best_support(counts, k)[0], abs=1e-10)


def test_named_case_of_the_specification():
    solution = solve_multinomial([[4, 6, 10], [12, 0, 0]], k=2, alpha=0)
    # T = {0, 2}: B = (14, 12). 4 log(4*26/(14*16)) + 12 log(12*26/(12*16))
    #   + 10 log(10*26/(14*10)) = -3.0690 + 5.8261 + 6.1904 = 8.9475.
    expected = (
        4 * np.log(4 * 26 / (14 * 16)) + 12 * np.log(26 / 16) + 10 * np.log(26 / 14)
    )
    assert expected == pytest.approx(8.9475, abs=5e-5)
    np.testing.assert_array_equal(solution.support, [0, 2])
    certificate = solution.certificate
    gain = certificate.objective - certificate.null_objective
    assert gain == pytest.approx(expected, rel=1e-12)
    assert certificate.is_optimal


@pytest.mark.parametrize("family", FAMILIES)
def test_without_exact_the_bounds_enclose_the_optimum(family):
    met_a_gap = 0
    for n_classes in (2, 3, 4):
        for table, alpha in instances(family, n_classes, 12, seed=2):
            _, counts = smoothed_candidates(table, alpha)
            phi = best_gains(counts)
            for k in range(2, counts.shape[1] + 1):
                with warnings.catch_warnings():
                    warnings.simplefilter("error")  # no limit was hit: no warning
                    solution = solve_multinomial(table, k, alpha=alpha, exact=False)
                certificate = solution.certificate
                best = certificate.null_objective + phi[k]
                tolerance = 1e-10 * phi[k] + 1e-12 * abs(certificate.objective)
                assert certificate.objective <= best + tolerance
                assert best <= certificate.upper_bound + tolerance
                assert certificate.nodes == 1
                # The relaxation is solved to 1e-12 of its gain; a support that is
                # proven alone at its point needs no bound beyond its own value.
                psi = certificate.relaxation_bound - certificate.null_objective
                assert certificate.upper_bound == pytest.approx(
                    certificate.relaxation_bound, rel=1e-13, abs=2e-12 * psi
                )
                gap = certificate.upper_bound - certificate.objective
                assert certificate.gap == pytest.approx(gap, abs=tolerance)
                direct = support_gain(table + alpha, tuple(solution.support.tolist()))
                assert certificate.objective == pytest.approx(
                    certificate.null_objective + direct, rel=1e-12
                )
                met_a_gap += not certificate.is_optimal
    assert met_a_gap > 0


# Older SciPy says so when SLSQP steps outside its bounds; the bracket does not trust
# it.
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
@pytest.mark.filterwarnings(
    "ignore:invalid value encountered in subtract:RuntimeWarning"
)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_psi_agrees_with_a_general_optimiser(n_classes):
    rng = np.random.default_rng(n_classes)
    for trial in range(12):
        family = FAMILIES[trial % len(FAMILIES)]
        alpha = ALPHAS[trial % 3]
        table = random_table(rng, family, n_classes)
        columns, counts = smoothed_candidates(table, alpha)
        if len(columns) < 3:
            continue
        k = int(rng.integers(2, len(columns)))
        certificate = solve_multinomial(table, k, alpha=alpha).certificate
        psi = certificate.relaxation_bound - certificate.null_objective
        low, high = relaxation_bracket(counts, k)
        assert low - 1e-9 * (1 + low) <= psi <= high + 1e-9 * (1 + high)
        # The bracket is of use only when it is narrow on one side at least.
        assert min(psi - low, high - psi) <= 1e-5 * (1 + psi)


def test_class_shares_attain_the_relaxation():
    for n_classes in (2, 3, 4):
        for table, _ in instances("integer", n_classes, 10, seed=3):
            counts = table + 0.5
            nonempty = table.sum(axis=0) > 0
            k = 2
            certificate = solve_multinomial(table, k, alpha=0.5).certificate
            p = certificate.class_shares
            assert p.sum() == pytest.approx(1.0)
            totals = counts.sum(axis=0)
            kl = (counts * np.log(counts / totals / p[:, None])).sum(axis=0)
            top = np.sort(kl[nonempty])[::-1][:k].sum()
            psi = certificate.relaxation_bound - certificate.null_objective
            assert top == pytest.approx(psi, rel=1e-10)


def test_the_identity_needs_more_than_one_extra_feature():
    # f = identity, k = 1, K = 5: psi(1) = log 5 (p uniform), phi(2) = 2 log 2 = log 4.
    # So psi(k - 1) <= phi(k) fails for K = 5, and psi(k - K + 1) must be used.
    certificate = solve_multinomial(np.eye(5), 2, alpha=0).certificate
    null = certificate.null_objective
    assert certificate.objective - null == pytest.approx(np.log(4), rel=1e-12)
    assert certificate.relaxation_bound - null == pytest.approx(2 * np.log(5), rel=1e-9)
    assert certificate.sharp_bound == null


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_published_bound_uses_the_number_of_classes(alpha):
    # K = 50, f = identity, k = 10: the paper's psi(6) = 6 log 50 = 23.47 exceeds
    # phi(10) = 10 log 10 = 23.03 (alpha = 0), so k - 4 would not be a bound.
    certificate = solve_multinomial(
        np.eye(50)[:, :20], 10, alpha=alpha, exact=False
    ).certificate
    assert np.isnan(certificate.published_bound)
    assert certificate.sharp_bound == certificate.null_objective


def check_extreme(table, alpha):
    """What is claimed of every k holds in sixty digits; (cases, separated, proven)."""
    gains = exact_gains(table, alpha)
    found = []
    for k in range(2, len(max(gains, key=len))):
        solution = solve_multinomial(table, k, alpha=alpha)
        certificate = solution.certificate
        context = f"k={k}, alpha={alpha}, table={table.tolist()}, {certificate!r}"
        ordered = sorted(gain for support, gain in gains.items() if len(support) == k)
        best, second = ordered[-1], ordered[-2]
        missing = float(best - gains[tuple(solution.support.tolist())])
        # The gain itself, and the bounds around the best, up to the stated rounding.
        gain, rounding = float(solution.gains.sum()), certificate.rounding
        true = float(gains[tuple(solution.support.tolist())])
        assert abs(gain - true) <= rounding, context
        allowed = 1e-9 * float(best) if certificate.is_optimal else 0.0
        assert float(best) <= gain + certificate.gap + rounding + allowed, context
        if certificate.is_optimal:
            assert missing <= 1e-9 * float(best), context
        else:
            assert certificate.relative_gap > 1e-9, context
            assert missing <= certificate.gap + rounding, context
        separated = float(best - second) > 1e-9 * float(best)
        found.append((1, separated, separated and certificate.is_optimal))
    return np.array(found).sum(axis=0)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_nothing_is_claimed_that_rounding_decides(n_classes):
    tables = extreme_instances(n_classes, 30)
    cases, separated, proven = sum(check_extreme(*one) for one in tables)
    assert cases >= 60
    # Nearly every optimum that is one by more than the tolerance is proven to be it.
    assert proven >= 0.95 * separated > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_nothing_is_claimed_that_rounding_decides_on_thousands(n_classes, seed):
    tables = extreme_instances(n_classes, 100, seed=seed)
    cases, separated, proven = sum(check_extreme(*one) for one in tables)
    assert cases >= 220
    assert proven >= 0.95 * separated > 0


def test_a_column_of_1e14_does_not_hide_single_digits():
    # The balanced columns of 1e14 fix p at one half; what the others say beside them is
    # a matter of single digits.
    table = np.array([[1e14, 8.0, 1.0, 3.0], [1e14, 1.0, 9.0, 4.0]])
    solution = solve_multinomial(table, 3, alpha=0)
    np.testing.assert_array_equal(solution.support, [0, 1, 2])
    # p = 1/2: 8 log(16/9) + log(2/9) + log(1/5) + 9 log(9/5).
    expected = 8 * np.log(16 / 9) + np.log(2 / 9) + np.log(1 / 5) + 9 * np.log(9 / 5)
    assert solution.gains.sum() == pytest.approx(expected, rel=1e-12)
    assert solution.certificate.is_optimal
    assert solution.certificate.rounding < 1e-12


def test_where_rounding_decides_the_certificate_says_so():
    # Gains of 1e-14 nats in counts of 1e15: the fourth digit of a gain is rounding.
    table = np.array(
        [
            [9.0, 500680334115155.0, 500680334115155.0, 500680334115155.0],
            [9.0, 500680334115155.0, 500680334115158.0, 500680334115149.0],
        ]
    )
    certificate = solve_multinomial(table, 3, alpha=1e10).certificate
    assert not certificate.is_optimal
    assert certificate.relative_gap > 1e-9
    assert "rounding decides" in certificate.remark
    assert certificate.remark in str(certificate)


@pytest.mark.parametrize("alpha", [1e16, 1e20, 1e160])
def test_counts_that_vanish_in_the_smoothing_prove_nothing(alpha):
    table = np.array([[3.0, 9.0, 4.0, 1.0], [5.0, 2.0, 6.0, 5.0]])
    assert not solve_multinomial(table, 2, alpha=alpha).certificate.is_optimal
    assert solve_multinomial(table, 2, alpha=1e5).certificate.is_optimal


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e14])
def test_a_table_without_signal_has_gain_0_and_no_gap(scale):
    table = scale * np.array([[1.0, 2.0, 8.0, 4.0], [2.0, 4.0, 16.0, 8.0]])
    certificate = solve_multinomial(table, 2, alpha=0).certificate
    assert certificate.is_optimal
    assert certificate.gap == 0.0


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("family", FAMILIES)
def test_permuted_columns_give_the_permuted_support_unless_others_tie(
    family, n_classes
):
    rng = np.random.default_rng([n_classes, len(family)])
    unique = 0
    for table, alpha in instances(family, n_classes, 15, seed=9):
        columns, counts = smoothed_candidates(table, alpha)
        order = rng.permutation(table.shape[1])
        for k in range(2, len(columns)):
            gains = sorted(
                support_gain(table + alpha, one)
                for one in combinations(columns.tolist(), k)
            )
            plain = solve_multinomial(table, k, alpha=alpha)
            moved = solve_multinomial(table[:, order], k, alpha=alpha)
            back = np.sort(order[moved.support])
            tolerance = 1e-13 * counts.sum()
            assert support_gain(table + alpha, tuple(back)) == pytest.approx(
                support_gain(table + alpha, tuple(plain.support)), abs=tolerance
            )
            if gains[-1] - gains[-2] > tolerance:
                unique += 1
                np.testing.assert_array_equal(back, plain.support)
    assert unique or family in ("repeated", "ties")
