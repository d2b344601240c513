"""Scores, sizes and estimates of the screeners against their definitions in full."""

from __future__ import annotations

import math
import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from scipy import optimize, sparse, stats
from scipy.special import xlogy
from sklearn.metrics import mutual_info_score

from bayesieve import ClassCounts
from bayesieve.exceptions import FewFeaturesWarning
from bayesieve.solvers import _screening as screening_module
from bayesieve.solvers._bernoulli import BernoulliEstimator
from bayesieve.solvers._screening import (
    Screening,
    benjamini_hochberg,
    bic_threshold,
    chi_square_tail,
    likelihood_ratio_screening,
    mutual_information_screening,
    pearson_screening,
    penalised_estimates,
    penalised_screening,
    size_by_bic,
    size_by_ratio,
    truncated_estimates,
    truncated_parameters,
    unsmoothed_estimates,
)

EMPTY, UNIVERSAL, WHOLE_CLASS, NEVER_IN_CLASS = 4, 7, 2, 5


def data(n_classes, seed=0, n=90, p=11):
    """Columns of every kind; the last class has one row."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes - 1, size=n)
    y[: n_classes - 1] = np.arange(n_classes - 1)
    y[-1] = n_classes - 1
    chance = 0.15 + 0.7 * rng.random((n_classes, p))
    X = (rng.random((n, p)) < chance[y]).astype(float)
    X[:, EMPTY] = 0.0
    X[:, UNIVERSAL] = 1.0
    X[y == 0, WHOLE_CLASS] = 1.0
    X[y == 1, NEVER_IN_CLASS] = 0.0
    return X, y


def counted(X, y):
    return ClassCounts.from_matrix(X, y, binary=True)


def truncated(X, y):
    """pi, mu, theta_kj, theta_j by the definitions, cell by cell."""
    classes = np.unique(y)
    n = len(y)
    share = [min(max(np.mean(y == c), 1 / n), 1 - 1 / n) for c in classes]
    largest = int(np.argmax([np.sum(y == c) for c in classes]))
    share[largest] = 1 - sum(s for c, s in enumerate(share) if c != largest)
    mu = np.empty((len(classes), X.shape[1]))
    for c, label in enumerate(classes):
        top = share[c] - 1 / n if n * share[c] >= 2 - 1e-9 else share[c] / 2
        for j in range(X.shape[1]):
            mu[c, j] = min(max(X[y == label, j].sum() / n, 1 / n), top)
    pi = np.array(share)
    return pi, mu, mu / pi[:, None], mu.sum(axis=0)


def constant(X):
    return (X.sum(axis=0) == 0) | (X.sum(axis=0) == len(X))


def information(X, y):
    pi, _, theta, pooled = truncated(X, y)
    terms = theta * np.log(theta / pooled) + (1 - theta) * np.log(
        (1 - theta) / (1 - pooled)
    )
    return np.where(constant(X), 0.0, pi @ terms)


def truncated_likelihood(X, y, support):
    """L_t(M) of Appendix A, divided by nothing."""
    pi, _, _, pooled = truncated(X, y)
    null = np.sum(xlogy(pooled, pooled) + xlogy(1 - pooled, 1 - pooled))
    gain = information(X, y)[list(support)].sum()
    return len(y) * (np.sum(pi * np.log(pi)) + null + gain)


def bic(X, y, support):
    n, p = X.shape
    K, d = len(np.unique(y)), len(support)
    df = (K - 1) + K * d + (p - d)
    return -2 / n * truncated_likelihood(X, y, support) + df * math.log(n) / n


@pytest.fixture(params=[2, 3, 5], ids=lambda K: f"K={K}")
def case(request):
    return data(request.param)


# ------------------------------------------------------------------------------ scores


def test_information_is_that_of_the_definition(case):
    X, y = case
    screening, _ = mutual_information_screening(counted(X, y), solver="test")
    np.testing.assert_allclose(screening.scores, information(X, y), atol=1e-13)
    np.testing.assert_array_equal(screening.eligible, ~constant(X))


def test_information_without_truncation_is_mutual_information():
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=200)
    X = (rng.random((200, 30)) < 0.2 + 0.6 * rng.random((3, 30))[y]).astype(float)
    present = np.array([X[y == c].sum(axis=0) for c in range(3)])
    absent = np.bincount(y)[:, None] - present
    assert min(present.min(), absent.min()) >= 1  # nothing is truncated
    screening, problem = mutual_information_screening(counted(X, y), solver="test")
    expected = [mutual_info_score(X[:, j], y) for j in range(30)]
    np.testing.assert_allclose(problem.gains, 200 * np.array(expected), atol=1e-10)
    np.testing.assert_allclose(screening.scores, expected, atol=1e-12)


def test_h_is_that_of_the_definition(case):
    X, y = case
    pi, _, theta, pooled = truncated(X, y)
    h = len(y) * pi[:, None] * np.abs(theta - pooled) / (pooled * (1 - pooled))
    expected = np.where(constant(X), 0.0, h.max(axis=0))
    found = penalised_screening(counted(X, y), solver="test")
    np.testing.assert_allclose(found.scores, expected, rtol=1e-12)
    np.testing.assert_array_equal(found.eligible, ~constant(X))


def test_h_without_truncation_is_that_of_appendix_b(case):
    X, y = case
    n = len(y)
    expected = np.zeros(X.shape[1])
    for j in np.flatnonzero(~constant(X)):
        Sj = X[:, j].sum()
        expected[j] = max(
            n * abs(n * X[y == c, j].sum() - (y == c).sum() * Sj) / (Sj * (n - Sj))
            for c in np.unique(y)
        )
    found = penalised_screening(counted(X, y), truncated=False, solver="test")
    np.testing.assert_allclose(found.scores, expected, rtol=1e-13)


def test_delta_is_that_of_the_definition(case):
    X, y = case
    pi, mu, _, pooled = truncated(X, y)
    expected = np.zeros(X.shape[1])
    for j in np.flatnonzero(~constant(X)):
        for c in range(len(pi)):
            for joint, marginal in (
                (mu[c, j], pooled[j]),
                (pi[c] - mu[c, j], 1 - pooled[j]),
            ):
                product = pi[c] * marginal
                expected[j] += (joint - product) ** 2 / product
    found = pearson_screening(counted(X, y), solver="test")
    np.testing.assert_allclose(found.scores, expected, rtol=1e-11, atol=1e-15)
    np.testing.assert_array_equal(found.eligible, ~constant(X))


def test_likelihood_ratio_is_scipys_g_test(case):
    X, y = case
    # Rows of weight 1.37 have no test that counts outcomes: chi-square, and doubts.
    counts = counted(X, y).scaled(1.37)
    screening, pvalues, few = likelihood_ratio_screening(counts, solver="test")
    whole, _, doubtful = likelihood_ratio_screening(counted(X, y), solver="test")
    np.testing.assert_allclose(screening.scores, 1.37 * whole.scores, atol=1e-9)
    assert not doubtful.any()
    for j in range(X.shape[1]):
        if constant(X)[j]:
            assert (screening.scores[j], pvalues[j], few[j]) == (0.0, 1.0, True)
            continue
        present = counts.feature_count[:, j]
        table = np.array([present, counts.class_count - present])
        g, p, _, expected = stats.chi2_contingency(
            table, correction=False, lambda_="log-likelihood"
        )
        assert screening.scores[j] == pytest.approx(g, abs=1e-9)
        assert pvalues[j] == pytest.approx(p, rel=1e-8)
        assert few[j] == (expected.min() < 5)


def test_low_counts_are_flagged_below_five_exactly():
    # 200 rows of weight 1/2, 20 of class 1: the least expected cell is 10 S_j / 100, so
    # 4.95 at S_j = 49.5, and at 50.5 for the rows without it. Whole sums are in no
    # doubt, not even 49.
    y = np.repeat([0, 1], [180, 20])
    X = np.zeros((200, 4))
    X[:99, 0] = X[:100, 1] = X[:101, 2] = X[:98, 3] = 1
    weights = np.full(200, 0.5)
    counts = ClassCounts.from_matrix(X, y, weights, binary=True)
    _, _, few = likelihood_ratio_screening(counts, solver="test")
    np.testing.assert_array_equal(few, [True, False, True, False])


def test_a_class_without_rows_takes_a_degree_of_freedom():
    X, y = data(2)
    two = likelihood_ratio_screening(counted(X, y), solver="test")
    three = likelihood_ratio_screening(
        ClassCounts.from_matrix(X, y, binary=True, classes=[0, 1, 2]), solver="test"
    )
    np.testing.assert_allclose(three[0].scores, two[0].scores, atol=1e-9)
    np.testing.assert_allclose(three[1], two[1], rtol=1e-8)
    np.testing.assert_array_equal(three[2], two[2])


@pytest.mark.parametrize("degrees", [1, 2, 3, 7])
def test_chi_square_tail_is_scipys(degrees):
    values = np.array([0.0, 1e-9, 0.3, 2.0, 30.0, 400.0])
    np.testing.assert_allclose(
        chi_square_tail(values, degrees), stats.chi2.sf(values, degrees), rtol=1e-10
    )


def test_sparse_tables_give_the_same_answers():
    X, y = data(5)
    dense = counted(X, y)
    # The layout of tables above 1e8 numbers, forced on a small one.
    table = dense._with(feature_count=sparse.csc_array(dense.feature_count))
    assert sparse.issparse(table.feature_count)
    for function in (penalised_screening, pearson_screening):
        one, other = (function(c, solver="test") for c in (dense, table))
        np.testing.assert_array_equal(one.scores, other.scores)
        np.testing.assert_array_equal(one.eligible, other.eligible)
    for function in (truncated_estimates, unsmoothed_estimates):
        np.testing.assert_array_equal(
            function(dense, solver="test"), function(table, solver="test")
        )
    np.testing.assert_array_equal(
        penalised_estimates(dense, 3.0, solver="test"),
        penalised_estimates(table, 3.0, solver="test"),
    )
    one, _ = mutual_information_screening(dense, solver="test")
    other, _ = mutual_information_screening(table, solver="test")
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-13)
    np.testing.assert_array_equal(one.eligible, other.eligible)
    one = likelihood_ratio_screening(dense, solver="test")
    other = likelihood_ratio_screening(table, solver="test")
    np.testing.assert_allclose(one[0].scores, other[0].scores, atol=1e-10)
    np.testing.assert_array_equal(one[2], other[2])


def test_blocks_of_columns_do_not_show(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 12
    X = (rng.random((60, 41)) < 0.4).astype(float)
    X[:, -1] = X[:, 0]  # equal columns, equal bits, in whichever block
    counts = counted(X, y)

    def everything():
        return [
            penalised_screening(counts, solver="test").scores,
            pearson_screening(counts, solver="test").scores,
            truncated_estimates(counts, solver="test"),
            penalised_estimates(counts, 1.5, solver="test"),
        ]

    whole = everything()
    monkeypatch.setattr(screening_module, "_BLOCK_CELLS", 48)  # four columns
    parts = everything()
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)
    for scores in parts[:2]:
        assert scores[0] == scores[-1] > 0


@pytest.mark.parametrize("function", [penalised_screening, pearson_screening])
def test_no_temporary_of_the_size_of_the_table(function):
    # 50 classes x 100,000 columns: the table has 40 MB, an array over the columns 0.8.
    rng = np.random.default_rng(0)
    counts = ClassCounts(
        classes=np.arange(50),
        class_count=np.full(50, 40.0),
        feature_count=rng.integers(0, 41, size=(50, 100_000)),
        kind="binary",
    )
    tracemalloc.start()
    try:
        function(counts, solver="test")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20e6


# ------------------------------------------------------------------------------- sizes


@pytest.mark.parametrize("seed", range(6))
def test_the_closed_form_of_bic_is_the_best_nested_model(seed):
    X, y = data(2 + seed % 2, seed=seed)
    screening, problem = mutual_information_screening(counted(X, y), solver="test")
    order = np.argsort(-information(X, y), kind="stable")
    values = [bic(X, y, order[:d]) for d in range(1, X.shape[1] + 1)]
    best = np.sort(order[: int(np.argmin(values)) + 1])
    np.testing.assert_array_equal(problem.best_by_bic(), best)
    threshold = bic_threshold(len(np.unique(y)), len(y))
    if len(best) > 1:
        np.testing.assert_array_equal(screening.above(threshold), best)


def test_the_closed_form_of_bic_is_the_best_of_all_models():
    X, y = data(3, seed=1, p=8)
    _, problem = mutual_information_screening(counted(X, y), solver="test")
    best = min(
        (s for d in range(1, 9) for s in combinations(range(8), d)),
        key=lambda support: bic(X, y, support),
    )
    assert tuple(problem.best_by_bic()) == best


@pytest.mark.parametrize("seed", range(6))
def test_bic_over_another_order_is_accumulated(seed):
    X, y = data(2 + seed % 3, seed=seed)
    K = len(np.unique(y))
    screening = penalised_screening(counted(X, y), solver="test")
    order = screening.ranking()
    gains = len(y) * information(X, y)[order]
    values = [bic(X, y, order[:d]) for d in range(1, len(order) + 1)]
    assert size_by_bic(gains, K - 1, len(y)) == int(np.argmin(values)) + 1


def test_bic_goes_past_a_weak_column_when_a_strong_one_follows():
    # n = e^2, one extra parameter: a column must gain 1. The sums of 1 - gain are
    # 0.5, -3.5, -2.5: two columns, though the first does not pay for itself.
    gains = np.array([0.5, 5.0, 0.0])
    assert size_by_bic(gains, 1.0, math.e**2) == 2
    assert size_by_bic(gains[:0], 1.0, math.e**2) == 1
    assert size_by_bic(np.zeros(3), 1.0, 100.0) == 1


@pytest.mark.parametrize(
    ("scores", "size"),
    [
        ([1.0, 8.0, 2.0, 1.5], 1),  # 8/2 = 4 beats 2/1.5 and 1.5/1
        ([9.0, 8.0, 1.0, 7.0], 3),  # 7/1
        ([4.0, 2.0, 1.0], 1),  # a tie at 2: the smallest
        ([4.0, 3.0, 0.0, 0.0], 1),  # 3/0 and 0/0 are skipped
        ([5.0, 5.0, 1e-3, 1e-9, 0.0], 3),  # two tiny values: unstable, as published
        ([5.0, 0.0], 1),  # no ratio at all
        ([5.0], 1),
        ([0.0, 0.0], 1),
    ],
)
def test_size_by_ratio(scores, size):
    assert size_by_ratio(np.array(scores)) == size


def test_benjamini_hochberg_by_hand():
    # m = 5, q = 0.1: levels 0.02, 0.04, 0.06, 0.08, 0.1. Sorted p-values 0.01, 0.05,
    # 0.055, 0.09, 0.5: the third meets its level (0.055 <= 0.06), so the second is
    # rejected with it, although 0.05 > 0.04; the fourth is not (0.09 > 0.08).
    pvalues = np.array([0.5, 0.055, 0.01, 0.09, 0.05])
    np.testing.assert_array_equal(benjamini_hochberg(pvalues, 0.1), [1, 2, 4])
    assert benjamini_hochberg(np.array([0.2, 0.9]), 0.1).shape == (0,)


@pytest.mark.parametrize("q", [0.01, 0.1, 0.5])
def test_benjamini_hochberg_is_scipys(q):
    rng = np.random.default_rng(5)
    for _ in range(20):
        pvalues = rng.random(40) ** rng.integers(1, 5)
        adjusted = stats.false_discovery_control(pvalues)
        np.testing.assert_array_equal(
            benjamini_hochberg(pvalues, q), np.flatnonzero(adjusted <= q)
        )


def test_a_constant_column_loses_every_tie_and_is_the_last_resort():
    screening = Screening(np.zeros(4), np.array([False, True, False, True]))
    np.testing.assert_array_equal(screening.best(1), [1])
    np.testing.assert_array_equal(screening.at_least_one(9), [1, 3])
    np.testing.assert_array_equal(screening.ranking(), [1, 3])
    with pytest.warns(FewFeaturesWarning, match="k=3 .* only 2 vary"):
        np.testing.assert_array_equal(screening.best(3), [1, 3])
    nothing = Screening(np.zeros(2), np.zeros(2, dtype=bool))
    np.testing.assert_array_equal(nothing.at_least_one(2), [0])


# --------------------------------------------------------------------------- estimates


def test_truncated_estimates_are_those_of_the_definition(case):
    X, y = case
    pi, _, theta, _ = truncated(X, y)
    found = truncated_estimates(counted(X, y), solver="test")
    np.testing.assert_allclose(found, theta, rtol=1e-12)
    assert 0 < found.min() < found.max() < 1
    shares, part = truncated_parameters(
        counted(X, y), np.array([6, 0, WHOLE_CLASS]), solver="test"
    )
    np.testing.assert_allclose(shares, pi, rtol=1e-12)
    np.testing.assert_allclose(part, theta[:, [6, 0, WHOLE_CLASS]], rtol=1e-12)


def test_unsmoothed_estimates_are_shares(case):
    X, y = case
    expected = [X[y == c].mean(axis=0) for c in np.unique(y)]
    found = unsmoothed_estimates(counted(X, y), solver="test")
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def maximised(present, rows, centre, penalty):
    """Numerical maximiser of one cell of the penalised likelihood."""

    def loss(theta):
        likelihood = xlogy(present, theta) + xlogy(rows - present, 1 - theta)
        return penalty * abs(theta - centre) - likelihood

    # On either side of the kink the function is smooth.
    candidates = [centre]
    for low, high in ((0.0, centre), (centre, 1.0)):
        if low < high:
            found = optimize.minimize_scalar(
                loss, bounds=(low, high), method="bounded", options={"xatol": 1e-11}
            )
            candidates += [low, high, found.x]
    return min(candidates, key=loss)


@pytest.mark.parametrize("penalty", [0.0, 0.4, 3.0, 8.0, 25.0, 70.0, 1e4])
def test_penalised_estimates_maximise_the_penalised_likelihood(case, penalty):
    X, y = case
    counts = counted(X, y)
    found = penalised_estimates(counts, penalty, solver="test")
    for c in range(counts.n_classes):
        for j in range(X.shape[1]):
            expected = maximised(
                counts.feature_count[c, j],
                counts.class_count[c],
                X[:, j].mean(),
                penalty,
            )
            assert found[c, j] == pytest.approx(expected, abs=1e-6), (c, j)


def test_penalised_estimates_are_those_printed_in_appendix_b(case):
    # With U = 0 unless |V| > 1: the floor brackets that the paper lost.
    X, y = case
    n, penalty = len(y), 6.0
    varying = np.flatnonzero(~constant(X))
    counts = counted(X, y)
    f, rows = counts.feature_count[:, varying], counts.class_count[:, None]
    Sj = f.sum(axis=0)
    V = n * (n * f - rows * Sj) / (penalty * Sj * (n - Sj))
    U = np.where(np.abs(V) > 1, np.sign(V), 0.0)
    root = np.sqrt((penalty + U * rows) ** 2 - 4 * penalty * U * f)
    printed = 0.5 + U / (2 * penalty) * (rows - root) + (1 - np.abs(U)) * (Sj / n - 0.5)
    found = penalised_estimates(counts, penalty, solver="test")[:, varying]
    np.testing.assert_allclose(found, printed, atol=1e-12)
    assert 0 < np.count_nonzero(U) < U.size


@pytest.mark.parametrize("penalty", [0.0, 1.0, 4.0, 9.0, 20.0, 60.0])
def test_a_column_moves_exactly_when_h_exceeds_the_penalty(case, penalty):
    X, y = case
    counts = counted(X, y)
    theta = penalised_estimates(counts, penalty, solver="test")
    moved = (theta != X.mean(axis=0)).any(axis=0)
    screening = penalised_screening(counts, truncated=False, solver="test")
    np.testing.assert_array_equal(np.flatnonzero(moved), screening.above(penalty))


def test_penalised_estimates_of_constant_columns_stay():
    X, y = data(3)
    theta = penalised_estimates(counted(X, y), 0.5, solver="test")
    np.testing.assert_array_equal(theta[:, EMPTY], 0.0)
    np.testing.assert_array_equal(theta[:, UNIVERSAL], 1.0)


def test_small_estimates_do_not_cancel():
    # S_k = 1e6, S_kj = 1, penalty 10: theta = 2 / (b + sqrt(b^2 + 40)), b = 999,990,
    # that is 1 / (b + 10 / b - ...) = 1.00001e-6 (1 - 1e-11).
    counts = ClassCounts(
        classes=[0, 1],
        class_count=[1e6, 1e6],
        feature_count=[[1.0], [5e5]],
        kind="binary",
    )
    theta = penalised_estimates(counts, 10.0, solver="test")
    assert theta[0, 0] == pytest.approx(1 / (999_990 + 10 / 999_990), rel=1e-14)


@pytest.mark.parametrize(
    "rows", [[3, 1, 0, 0, 0, 0], [0.3, 0.2], [1, 0], [2, 0, 0], [5] * 20 + [0] * 40]
)
def test_class_shares_stay_positive_when_the_largest_class_cannot_pay(rows):
    # Truncation at one row each would leave the largest class with nothing, or less:
    # 3 - 5 * 1 = -1 for the first. The paper's section 2.1 overlooks this.
    estimator = BernoulliEstimator.truncated(np.array(rows, dtype=np.float64))
    assert estimator.rows.min() > 0
    assert estimator.rows.sum() == pytest.approx(sum(rows))
    assert (estimator.upper < estimator.rows).all()
    assert (estimator.upper > 0).all()


@pytest.mark.parametrize("weight", [1e70, 1e80, 1e160])
def test_weights_of_any_size_scale_the_scores_or_are_refused(weight):
    X, y = data(3)
    heavy = ClassCounts.from_matrix(
        X, y, sample_weight=np.full(len(y), weight), binary=True
    )
    if weight > 1e75:
        for refused in (penalised_screening, pearson_screening):
            with pytest.raises(ValueError, match=r"too large.*1e\+75 at most"):
                refused(heavy, solver="test")
        with pytest.raises(ValueError, match=r"too large.*1e\+75 at most"):
            penalised_estimates(heavy, 1.0, solver="test")
        return
    # Rows so heavy are not held away from none and all: the scores of plain counts.
    plain = penalised_screening(counted(X, y), truncated=False, solver="test").scores
    scores = penalised_screening(heavy, solver="test").scores / weight
    np.testing.assert_allclose(scores, plain, rtol=1e-12)
    assert np.isfinite(pearson_screening(heavy, solver="test").scores).all()
