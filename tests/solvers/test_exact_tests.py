"""P-values of the independence test: sums over outcomes, valid at every count."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from bayesieve import ClassCounts, FDRScreener
from bayesieve.solvers._exact_tests import IndependenceTest


def likelihood_ratio(rows, present):
    rows, present = np.asarray(rows, float), np.asarray(present, float)
    n, total = rows.sum(), present.sum()
    value = 0.0
    for size, found in zip(rows, present, strict=True):
        for cell, share in ((found, total / n), (size - found, 1 - total / n)):
            value += cell * math.log(cell / (size * share)) if cell else 0.0
    return 2 * value


def outcomes(rows, total):
    """Every way to spread a total over the classes, and how probable it is."""
    rows = list(rows)
    for head in itertools.product(*(range(min(s, total) + 1) for s in rows[:-1])):
        rest = total - sum(head)
        if 0 <= rest <= rows[-1]:
            present = (*head, rest)
            ways = math.prod(map(math.comb, rows, present))
            yield present, ways / math.comb(sum(rows), total)


@pytest.mark.parametrize("rows", [(6, 6), (10, 3), (17, 1), (5, 12)])
def test_two_classes_add_up_the_outcomes_at_least_as_extreme(rows):
    test = IndependenceTest(np.array(rows))
    for total in range(sum(rows) + 1):
        known = list(outcomes(rows, total))
        ratios = np.array([likelihood_ratio(rows, present) for present, _ in known])
        chances = np.array([chance for _, chance in known])
        table = np.array([present for present, _ in known], dtype=float).T
        expected = [chances[ratios >= g - 1e-7].sum() for g in ratios]
        np.testing.assert_allclose(test.pvalues(table), expected, rtol=1e-11)


@pytest.mark.parametrize(
    "rows", [(30, 30), (57, 3), (8, 8, 8), (14, 6, 2), (9, 5, 3, 1)]
)
def test_p_values_are_valid_at_every_total_and_level(rows):
    # P(p <= level) <= level, by all outcomes; levels are the p-values that occur.
    test = IndependenceTest(np.array(rows))
    for total in range(1, sum(rows)):
        known = list(outcomes(rows, total))
        chances = np.array([chance for _, chance in known])
        table = np.array([present for present, _ in known], dtype=float).T
        pvalues = test.pvalues(table)
        order = np.argsort(pvalues)
        size = np.cumsum(chances[order])
        last = np.append(np.diff(pvalues[order]) > 0, True)  # of those that are equal
        assert (size[last] <= pvalues[order][last] * (1 + 1e-9)).all()


@pytest.mark.parametrize("classes", [[5000, 5000], [9500, 500], [9900, 100]])
def test_above_the_sums_the_error_is_small(classes):
    # Counts of variance 900 and more: compared with SciPy's hypergeometric tails.
    n, size = sum(classes), classes[1]
    test = IndependenceTest(np.array(classes))
    for total in (n // 2, n // 3):
        null = stats.hypergeom(n, size, total)
        if null.var() <= 900:
            continue
        x = np.arange(null.ppf(1e-12), null.isf(1e-12) + 1)
        found = test.pvalues(np.stack([total - x, x]))
        upper, lower = null.sf(x - 1), null.cdf(x)
        one_sided = np.minimum(upper, lower)
        far = one_sided < 0.02
        assert (found[far] >= 0.99 * one_sided[far]).all()
        ratios = np.array([likelihood_ratio(classes, (total - v, v)) for v in x])
        both = np.array([null.pmf(x)[ratios >= g - 1e-7].sum() for g in ratios])
        assert (found[far] >= 0.99 * both[far]).all()
        assert (found[far] <= 1.15 * both[far]).all()


def test_many_classes_tend_to_chi_square():
    rng = np.random.default_rng(0)
    rows = np.array([40_000, 30_000, 20_000, 10_000])
    table = rng.binomial(rows[:, None], 0.3, size=(4, 400)).astype(float)
    pvalues = IndependenceTest(rows).pvalues(table)
    ratios = [likelihood_ratio(rows, column) for column in table.T]
    np.testing.assert_allclose(pvalues, stats.chi2.sf(ratios, 3), rtol=0.15, atol=0.01)


def test_blocks_give_what_one_call_gives():
    rng = np.random.default_rng(1)
    rows = np.array([300, 200, 100])
    table = rng.binomial(rows[:, None], rng.random(500) * 0.2).astype(float)
    whole = IndependenceTest(rows).pvalues(table)
    test = IndependenceTest(rows)
    parts = [test.pvalues(part) for part in np.array_split(table, 17, axis=1)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_far_outcomes_keep_their_order_of_magnitude():
    pvalues = IndependenceTest(np.array([500, 500])).pvalues(
        np.array([[60.0, 300.0], [0.0, 0.0]])
    )
    # All 60 (300) rows in one of two equal classes: twice that chance.
    expected = [2 * math.comb(500, k) / math.comb(1000, k) for k in (60, 300)]
    np.testing.assert_allclose(pvalues, expected, rtol=1e-9)


# ------------------------------------------------------------------- simulated rates


def realised(rng, rows, expected, n_columns, share):
    """Shares of false ones among the kept, and of true ones that were kept."""
    rows = np.array(rows)
    chance = np.tile(rng.choice(expected, size=n_columns) / rows.sum(), (len(rows), 1))
    true = rng.random(n_columns) < share
    lifted = rng.integers(len(rows), size=n_columns)
    chance[lifted[true], np.flatnonzero(true)] *= 3.0
    counts = ClassCounts(
        classes=np.arange(len(rows)),
        class_count=rows.astype(float),
        feature_count=rng.binomial(rows[:, None], chance).astype(float),
        kind="binary",
    )
    kept = FDRScreener(q=0.05).fit_counts(counts).support_
    false = (kept & ~true).sum() / max(kept.sum(), 1)
    return false, (kept & true).sum() / max(true.sum(), 1)


CLASSES = {
    "equal": [2000, 2000],
    "95 to 5": [3800, 200],
    "three": [1400, 1300, 1300],
    "five": [3200, 400, 200, 120, 80],
}
EXPECTED = {
    "near 20": np.arange(15, 41),
    "all": np.unique(np.geomspace(1, 1000, 200).astype(int)),
    "large": np.arange(201, 1001),
}


def assert_nominal(rates, level=0.05):
    rates = np.array(rates)
    error = rates.std() / np.sqrt(len(rates))
    assert rates.mean() <= level + 3 * error


@pytest.mark.slow
@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("expected", EXPECTED)
def test_the_rate_of_false_discoveries_is_the_nominal_one(classes, expected):
    rng = np.random.default_rng(5)
    runs = [
        realised(rng, CLASSES[classes], EXPECTED[expected], 4000, 0.05)
        for _ in range(10)
    ]
    rates, power = zip(*runs, strict=True)
    assert_nominal(rates)
    if expected == "large":
        assert np.mean(power) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.05])
@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("expected", EXPECTED)
def test_the_rate_holds_for_a_hundred_thousand_columns(classes, expected, share):
    rng = np.random.default_rng(6)
    runs = [
        realised(rng, CLASSES[classes], EXPECTED[expected], 100_000, share)
        for _ in range(12)
    ]
    rates, power = zip(*runs, strict=True)
    if share:
        assert_nominal(rates)
    else:  # every discovery is false: runs with any are few, 4 of 12 in 1 of 500 cases
        assert sum(rates) <= 4
    if expected == "large" and share:
        assert np.mean(power) > 0.9


@pytest.mark.parametrize("n", [10**4, 10**9, 10**12, 10**15, 3 * 10**15])
def test_many_rows_do_not_drown_a_small_column(n):
    """Six of six in a class of half the rows: both ends together have 2 / 2^6."""
    rows = np.array([n // 2, n - n // 2])
    (pvalue,) = IndependenceTest(rows).pvalues(np.array([[6.0], [0.0]]))
    # Without replacement the chance is smaller by about 15 / n in relative terms.
    assert pvalue == pytest.approx(2.0 / 2**6, rel=1e-9 + 20.0 / n)
