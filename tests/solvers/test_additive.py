"""The closed forms (Bernoulli, Gaussian, categorical) against likelihoods in full."""

from __future__ import annotations

from decimal import Decimal, localcontext
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.special import xlogy
from sklearn.metrics import mutual_info_score

from bayesieve import ClassCounts, solve_bernoulli, sparsity_path
from bayesieve.exceptions import FewFeaturesWarning
from bayesieve.solvers import _bernoulli
from bayesieve.solvers._bernoulli import bernoulli_problem
from bayesieve.solvers._categorical import categorical_problem
from bayesieve.solvers._gaussian import gaussian_problem
from bayesieve.solvers._selection import select_features


@pytest.fixture(scope="module")
def binary_data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    chance = rng.random((3, 10)) * 0.6 + 0.2
    X = (rng.random((120, 10)) < chance[y]).astype(float)
    X[:, 4] = 0.0
    X[:, 7] = 1.0
    return X, y


def bernoulli_log_likelihood(X, y, alpha, support):
    """Smoothed rows count as rows: each class has alpha of both values on top."""
    total = 0.0
    for i in range(X.shape[1]):
        present = np.array([X[y == c, i].sum() + alpha for c in range(3)])
        rows = np.array([(y == c).sum() + 2 * alpha for c in range(3)])
        if i not in support:
            present, rows = present.sum(), rows.sum()
        theta = present / rows
        total += np.sum(xlogy(present, theta) + xlogy(rows - present, 1 - theta))
    return total


@pytest.mark.parametrize("alpha", [0.0, 1e-12])
def test_bernoulli_gains_are_n_times_the_mutual_information(binary_data, alpha):
    X, y = binary_data
    counts = ClassCounts.from_matrix(X, y, binary=True)
    solution = solve_bernoulli(counts, 8, alpha=alpha)
    for i, gain in zip(solution.support, solution.gains, strict=True):
        assert gain == pytest.approx(120 * mutual_info_score(X[:, i], y), abs=1e-10)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_bernoulli_support_is_the_best_of_all_supports(binary_data, alpha):
    X, y = binary_data
    counts = ClassCounts.from_matrix(X, y, binary=True)
    varying = [0, 1, 2, 3, 5, 6, 8, 9]
    null = bernoulli_log_likelihood(X, y, alpha, ())
    for k in (1, 2, 5, 8):
        solution = solve_bernoulli(counts, k, alpha=alpha)
        best = max(
            bernoulli_log_likelihood(X, y, alpha, support)
            for support in combinations(varying, k)
        )
        certificate = solution.certificate
        assert certificate.objective == pytest.approx(best, rel=1e-12)
        assert certificate.null_objective == pytest.approx(null, rel=1e-12)
        assert certificate.upper_bound == certificate.objective
        assert certificate.is_optimal
        theta = np.exp(solution.log_theta)
        for c in range(3):
            rows = X[y == c][:, solution.support]
            np.testing.assert_allclose(
                theta[c], (rows.sum(axis=0) + alpha) / (len(rows) + 2 * alpha)
            )


def test_bernoulli_supports_are_nested(binary_data):
    X, y = binary_data
    counts = ClassCounts.from_matrix(X, y, binary=True)
    previous: set[int] = set()
    for k in range(1, 9):
        support = solve_bernoulli(counts, k).support
        assert support.shape == (k,)
        assert (np.diff(support) > 0).all()
        assert previous < set(support.tolist())
        previous = set(support.tolist())


def test_columns_that_never_vary_are_never_selected(binary_data):
    X, y = binary_data
    counts = ClassCounts.from_matrix(X, y, binary=True)
    with pytest.warns(FewFeaturesWarning, match="only 8 vary over the rows"):
        solution = solve_bernoulli(counts, 10)
    np.testing.assert_array_equal(solution.support, [0, 1, 2, 3, 5, 6, 8, 9])
    # Under unbalanced classes smoothing alone would give them a gain.
    y = np.array([0] * 50 + [1] * 2)
    X = np.column_stack([np.zeros(52), np.ones(52), [1] + [0] * 51])
    counts = ClassCounts.from_matrix(X, y, binary=True)
    np.testing.assert_array_equal(solve_bernoulli(counts, 1).support, [2])


def test_bernoulli_dense_and_sparse_tables_agree():
    rng = np.random.default_rng(5)
    rows = rng.integers(20, 60, 6).astype(float)
    table = np.floor(
        rng.random((6, 300)) * rows[:, None] * (rng.random((6, 300)) < 0.4)
    )
    dense = ClassCounts(np.arange(6), rows, table, kind="binary")
    # The layout of tables above 1e8 numbers, forced on a small one.
    sparse = dense._with(feature_count=sp.csc_array(dense.feature_count))
    assert sp.issparse(sparse.feature_count)
    for alpha in (0.0, 1.0):
        for k in (1, 20, 250):
            a = solve_bernoulli(dense, k, alpha=alpha)
            b = solve_bernoulli(sparse, k, alpha=alpha)
            np.testing.assert_array_equal(a.support, b.support)
            np.testing.assert_allclose(a.gains, b.gains, rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(a.log_theta, b.log_theta)


def test_ties_between_gains_go_to_the_lowest_index():
    X = np.array([[1, 0, 1, 0, 1], [0, 1, 0, 1, 0]] * 4)
    counts = ClassCounts.from_matrix(X, [0, 1] * 4, binary=True)
    np.testing.assert_array_equal(solve_bernoulli(counts, 2).support, [0, 1])
    np.testing.assert_array_equal(solve_bernoulli(counts, 3).support, [0, 1, 2])


@pytest.mark.parametrize("alphas", ["one", "each"])
@pytest.mark.parametrize("ties", [False, True])
def test_of_wide_tables_only_leading_columns_are_held(alphas, ties, monkeypatch):
    rng = np.random.default_rng(5)
    rows = np.array([900.0, 500.0, 3.0])
    table = np.floor(rng.random((3, 3000)) ** 3 * (rows[:, None] + 1))
    table = np.minimum(table, rows[:, None])
    if ties:
        table = table[:, rng.integers(0, 40, 3000)].copy()
    alpha = 1.0 if alphas == "one" else rng.random(3000)
    whole = [solve_bernoulli(table, k, class_count=rows, alpha=alpha) for k in (1, 40)]
    monkeypatch.setattr(_bernoulli, "_WIDE", 1000)
    monkeypatch.setattr(_bernoulli, "_LEAST_STEP", 2)
    monkeypatch.setattr(_bernoulli, "_SAMPLED_FOR_EACH", 8)
    held = bernoulli_problem(
        table, alpha, class_count=rows, leading=41, solver="test"
    ).n_features
    assert 41 <= held < 1500
    for k, expected in zip((1, 40), whole, strict=True):
        solution = solve_bernoulli(table, k, class_count=rows, alpha=alpha)
        np.testing.assert_array_equal(solution.support, expected.support)
        np.testing.assert_array_equal(solution.gains, expected.gains)
        np.testing.assert_array_equal(solution.log_theta, expected.log_theta)
        assert solution.certificate == expected.certificate


def test_bernoulli_needs_binary_counts():
    with pytest.raises(TypeError, match=r"needs a ClassCounts.*Got ndarray"):
        solve_bernoulli(np.ones((2, 3)), 1)
    counts = ClassCounts.from_matrix([[1, 2], [3, 4]], [0, 1])
    with pytest.raises(ValueError, match=r"kind 'binary'. Got kind 'count'"):
        solve_bernoulli(counts, 1)
    binary = ClassCounts.from_matrix([[1, 0], [0, 1]], [0, 1], binary=True)
    with pytest.raises(ValueError, match=r"'k' parameter of solve_bernoulli.*Got 0"):
        solve_bernoulli(binary, 0)


# ----------------------------------------------------------------------------- Gaussian


@pytest.fixture(scope="module")
def real_valued():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], [40, 25, 60])
    X = rng.normal(size=(125, 6)) * [1, 2, 0.5, 1, 1, 10]
    X[:, 0] += y
    X[:, 1] *= 1 + y
    X[:, 3] = 4.0
    X[:, 5] += 1e3
    return X, y


def test_gaussian_gains_are_differences_of_log_likelihoods(real_valued):
    X, y = real_valued
    counts = ClassCounts.from_matrix(X, y, kind="moments")
    classwise = gaussian_problem(counts, variance="class", solver="test")
    pooled = gaussian_problem(counts, variance="pooled", solver="test")
    null_sum = 0.0
    for i in (0, 1, 2, 4, 5):
        x = X[:, i]
        null = stats.norm.logpdf(x, x.mean(), x.std()).sum()
        null_sum += null
        mean = np.array([x[y == c].mean() for c in range(3)])[y]
        spread = np.array([x[y == c].std() for c in range(3)])[y]
        within = np.sqrt(np.mean((x - mean) ** 2))
        # The floor of 1e-9 of the column's variance moves a gain by at most
        # n/2 * 1e-9 * var / var_c, here under 1e-6.
        floor = 0.5e-9 * len(x) * x.var() / min(spread.min(), within) ** 2
        expected = stats.norm.logpdf(x, mean, spread).sum() - null
        assert classwise.gains[i] == pytest.approx(expected, abs=floor + 1e-9)
        expected = stats.norm.logpdf(x, mean, within).sum() - null
        assert pooled.gains[i] == pytest.approx(expected, abs=floor + 1e-9)
    assert classwise.null_value == pytest.approx(null_sum, rel=1e-12)
    for problem in (classwise, pooled):
        assert problem.gains[3] == 0.0
        assert not problem.eligible[3]
    # Three classes: two further means, with "class" two further variances.
    assert classwise.extra_parameters == 4
    assert pooled.extra_parameters == 2


def test_gaussian_gains_do_not_depend_on_units(real_valued):
    X, y = real_valued
    units = np.array([1.0, 1e-6, 1e6, 1.0, 1e3, 1e-3])
    for variance in ("class", "pooled"):
        first, second = (
            gaussian_problem(
                ClassCounts.from_matrix(data, y, kind="moments"),
                variance=variance,
                solver="test",
            )
            for data in (X, X * units)
        )
        np.testing.assert_allclose(first.gains, second.gains, rtol=1e-9)


def test_a_class_without_spread_has_a_finite_gain():
    # var = 0.25, var_c = 0: gain = n/2 (log 0.25 - log(1e-9 * 0.25)) = 2 log 1e9.
    counts = ClassCounts.from_matrix(
        [[0.0], [0], [1], [1]], [0, 0, 1, 1], kind="moments"
    )
    for variance in ("class", "pooled"):
        problem = gaussian_problem(counts, variance=variance, solver="test")
        assert problem.gains[0] == pytest.approx(2 * np.log(1e9), rel=1e-9)


@pytest.mark.parametrize("variance", ["class", "pooled"])
def test_gaussian_never_selects_a_constant_column_under_weights(variance):
    # The pooled mean of equal class means must be that mean, however weights round.
    random = np.random.default_rng(0)
    for _ in range(10):
        X = np.tile(1e3 * random.random(50), (40, 1))
        counts = ClassCounts.from_matrix(
            X, random.integers(0, 3, 40), random.random(40), kind="moments"
        )
        problem = gaussian_problem(counts, variance=variance, solver="test")
        assert not problem.eligible.any()


def test_gaussian_refuses_counts_of_another_kind():
    with pytest.raises(ValueError, match=r"kind 'moments'. Got 'ndarray'"):
        gaussian_problem(np.ones((2, 3)), variance="class", solver="test")


# -------------------------------------------------------------------------- categorical


@pytest.fixture(scope="module")
def categorical_data():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 150)
    X = np.column_stack(
        [
            rng.integers(0, 4, 150),
            (y + rng.integers(0, 2, 150)) % 3,
            np.full(150, 2),
            rng.integers(0, 2, 150),
            np.where(rng.random(150) < 0.6, y, rng.integers(0, 5, 150)),
        ]
    )
    return X, y


def category_log_likelihood(x, y, alpha, n_values, shared):
    """Sum over smoothed cells of F log theta, class by class or for all at once."""
    cells = np.array([[((y == c) & (x == v)).sum() + alpha for v in range(n_values)]
                      for c in range(3)])  # fmt: skip
    share = cells.sum(axis=0) / cells.sum() if shared else None
    total = 0.0
    for row in cells:
        total += xlogy(row, share if shared else row / row.sum()).sum()
    return total


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_categorical_gains_are_differences_of_log_likelihoods(categorical_data, alpha):
    X, y = categorical_data
    counts = ClassCounts.from_matrix(X, y, kind="category")
    problem = categorical_problem(counts, alpha, solver="test")
    null = 0.0
    for i in range(5):
        arguments = (X[:, i], y, alpha, X[:, i].max() + 1)
        shared = category_log_likelihood(*arguments, shared=True)
        null += shared
        if i != 2:
            expected = category_log_likelihood(*arguments, shared=False) - shared
            assert problem.gains[i] == pytest.approx(expected, rel=1e-10)
            if alpha == 0:
                information = 150 * mutual_info_score(X[:, i], y)
                assert problem.gains[i] == pytest.approx(information, rel=1e-9)
    assert problem.null_value == pytest.approx(null, rel=1e-12)
    assert problem.gains[2] == 0.0
    np.testing.assert_array_equal(problem.eligible, [True, True, False, True, True])
    # (V - 1)(K - 1) with V = 4, 3, 3, 2, 5 values and K = 3 classes.
    np.testing.assert_array_equal(problem.extra_parameters, [6, 4, 4, 2, 8])


def test_categorical_estimates_are_smoothed_shares(categorical_data):
    X, y = categorical_data
    counts = ClassCounts.from_matrix(X, y, kind="category")
    solution = categorical_problem(counts, 1.0, solver="test").solve(2)
    np.testing.assert_array_equal(solution.support, [1, 4])
    theta = np.exp(solution.log_theta)
    assert theta.shape == (3, 3 + 5)
    np.testing.assert_allclose(theta[:, :3].sum(axis=1), 1.0)
    np.testing.assert_allclose(theta[:, 3:].sum(axis=1), 1.0)
    rows = X[y == 1]
    for v in range(5):
        expected = ((rows[:, 4] == v).sum() + 1) / (len(rows) + 5)
        assert theta[1, 3 + v] == pytest.approx(expected)


def test_categorical_refuses_counts_of_another_kind():
    with pytest.raises(ValueError, match=r"kind 'category'. Got 'list'"):
        categorical_problem([[1]], 1.0, solver="test")


# ---------------------------------------------------------------------------------- BIC


def additive_problems(binary_data, real_valued, categorical_data):
    yield bernoulli_problem(
        ClassCounts.from_matrix(*binary_data, binary=True), 1.0, solver="test"
    )
    for variance in ("class", "pooled"):
        yield gaussian_problem(
            ClassCounts.from_matrix(*real_valued, kind="moments"),
            variance=variance,
            solver="test",
        )
    yield categorical_problem(
        ClassCounts.from_matrix(*categorical_data, kind="category"), 1.0, solver="test"
    )


def test_bic_support_minimises_over_all_subsets(
    binary_data, real_valued, categorical_data
):
    strict = 0
    for problem in additive_problems(binary_data, real_valued, categorical_data):
        eligible = np.flatnonzero(problem.eligible)
        extra = np.broadcast_to(problem.extra_parameters, problem.gains.shape)

        def bic(support, problem=problem, extra=extra):
            support = list(support)
            penalty = extra[support].sum() * np.log(problem.n_rows)
            return -2 * problem.gains[support].sum() + penalty

        everything = [
            subset
            for size in range(1, len(eligible) + 1)
            for subset in combinations(eligible.tolist(), size)
        ]
        best = min(everything, key=bic)
        assert tuple(problem.best_by_bic().tolist()) == best
        strict += len(best) < len(eligible)
    assert strict >= 2


def test_bic_keeps_one_feature_when_none_is_worth_it():
    rng = np.random.default_rng(9)
    X = (rng.random((500, 4)) < 0.5).astype(float)
    y = np.arange(500) % 2
    counts = ClassCounts.from_matrix(X, y, binary=True)
    problem = bernoulli_problem(counts, 1.0, solver="test")
    assert problem.gains.max() < 0.5 * np.log(500)  # BIC would keep nothing
    np.testing.assert_array_equal(problem.best_by_bic(), [np.argmax(problem.gains)])


@pytest.mark.parametrize("model", ["bernoulli", "gaussian", "categorical"])
def test_additive_paths_are_cumulated_gains(
    model, binary_data, real_valued, categorical_data
):
    data, kind = {
        "bernoulli": (binary_data, "binary"),
        "gaussian": (real_valued, "moments"),
        "categorical": (categorical_data, "category"),
    }[model]
    counts = ClassCounts.from_matrix(*data, kind=kind)
    path = sparsity_path(counts, [3, 1, 2, 4], model=model)
    problem = {
        "bernoulli": lambda: bernoulli_problem(counts, 1.0, solver="test"),
        "gaussian": lambda: gaussian_problem(counts, variance="class", solver="test"),
        "categorical": lambda: categorical_problem(counts, 1.0, solver="test"),
    }[model]()
    np.testing.assert_array_equal(path.k, [1, 2, 3, 4])
    np.testing.assert_array_equal(path.gap, 0.0)
    np.testing.assert_array_equal(path.upper_bound, path.objective)
    order = np.argsort(-problem.gains, kind="stable")
    extra = np.broadcast_to(problem.extra_parameters, problem.gains.shape)
    bic = []
    for k, objective in zip(path.k, path.objective, strict=True):
        support = np.sort(order[:k])
        np.testing.assert_array_equal(path.support(k), support)
        expected = problem.null_value + problem.gains[support].sum()
        assert objective == pytest.approx(expected, rel=1e-13)
        penalty = extra[support].sum() * np.log(problem.n_rows)
        bic.append(-2 * problem.gains[support].sum() + penalty)
    np.testing.assert_allclose(path.bic_values, bic, rtol=1e-12)
    assert path.bic == path.k[np.argmin(bic)]


def exact_bernoulli_gains(table, rows, alpha):
    """n times the mutual information of the smoothed tables, in sixty digits."""
    with localcontext() as context:
        context.prec = 60
        gains = []
        for column in table.T:
            cells = []
            for f, n in zip(column, rows, strict=True):
                present = Decimal(float(f)) + Decimal(alpha)
                absent = Decimal(float(n)) - Decimal(float(f)) + Decimal(alpha)
                cells.append((present, absent))
            n = sum(sum(pair) for pair in cells)
            gain = Decimal(0)
            for side in (0, 1):
                of_side = sum(pair[side] for pair in cells)
                for pair in cells:
                    if pair[side]:
                        expected = sum(pair) * of_side / n
                        gain += pair[side] * (pair[side] / expected).ln()
            gains.append(gain)
        return gains


def extreme_presence(rng, n_classes):
    rows = np.floor(10.0 ** rng.uniform(0.5, 15, n_classes)) + 2
    share = rng.random() * 10.0 ** -rng.uniform(0, 3)
    tilt = 1 + 10.0 ** rng.uniform(-9, 0, 7) * rng.standard_normal((n_classes, 7))
    table = np.floor(np.clip(share * rows[:, None] * tilt, 0.0, rows[:, None]))
    table[0, table.sum(axis=0) == 0] = 1.0
    return table, rows


@pytest.mark.parametrize("as_table", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("alpha", [0.0, 1e-12, 1.0, 1e10])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_bernoulli_gains_of_any_size_err_by_no_more_than_is_stated(
    n_classes, alpha, as_table
):
    rng = np.random.default_rng([n_classes, int(alpha)])
    proven = separated = 0
    for _ in range(25):
        table, rows = extreme_presence(rng, n_classes)
        counts = binary_counts(as_table(table), rows)
        problem = bernoulli_problem(counts, alpha, solver="test")
        exact = exact_bernoulli_gains(table, rows, alpha)
        varying = np.flatnonzero(problem.eligible)
        doubts = problem.doubt(problem.gains)
        for i in varying:
            assert abs(float(Decimal(problem.gains[i]) - exact[i])) <= doubts[i]
        for k in range(1, len(varying)):
            solution = problem.solve(k)
            certificate = solution.certificate
            ordered = sorted((exact[i] for i in varying), reverse=True)
            best, true = sum(ordered[:k]), sum(exact[i] for i in solution.support)
            if certificate.is_optimal:
                assert float(best - true) <= 1e-9 * float(best)
            gain, rounding = solution.gains.sum(), certificate.rounding
            assert float(best) <= (gain + certificate.gap + rounding) * (1 + 1e-9)
            if float(ordered[k - 1] - ordered[k]) > 1e-6 * float(best):
                separated += 1
                proven += certificate.is_optimal
    assert proven >= 0.95 * separated > 0


def binary_counts(table, rows):
    return ClassCounts(
        classes=np.arange(len(rows)),
        class_count=np.asarray(rows, dtype=float),
        feature_count=table,
        kind="binary",
    )


@pytest.mark.parametrize("model", ["bernoulli", "categorical", "gaussian"])
@pytest.mark.parametrize("weight", [1e-140, 1e140, 1e160])
def test_weights_of_any_size_scale_the_gains_or_are_refused(model, weight):
    rng = np.random.default_rng(6)
    X, y = rng.integers(0, 2, (30, 4)), rng.integers(0, 2, 30)
    kind = {"bernoulli": "binary", "categorical": "category", "gaussian": "moments"}

    def solved(weight):
        counts = ClassCounts.from_matrix(
            X, y, sample_weight=np.full(30, weight), kind=kind[model]
        )
        return select_features(counts, 2, model=model, alpha=weight, owner="test")

    if weight > 1e150:
        with pytest.raises(ValueError, match=r"too large.*1e\+150 at most"):
            solved(weight)
        return
    plain, scaled = solved(1.0).solution, solved(weight).solution
    np.testing.assert_array_equal(scaled.support, plain.support)
    np.testing.assert_allclose(scaled.gains / weight, plain.gains, rtol=1e-11)
    assert scaled.certificate.is_optimal


def test_gaussian_values_whose_squares_overflow_are_refused():
    X = np.array([[0.0, 1.0], [0.0, 2.0], [1e200, 5.0], [1e200, 7.0]])
    counts = ClassCounts.from_matrix(X, [0, 0, 1, 1], kind="moments")
    with pytest.raises(ValueError, match="variance beyond it in column 0"):
        gaussian_problem(counts, variance="class", solver="test")


@pytest.mark.parametrize("variance", ["class", "pooled"])
def test_gaussian_gains_of_classes_that_hardly_differ_keep_their_digits(variance):
    # Means 1 and 1 + 2d, variance 1 in both: var = 1 + d^2, and the gain is
    # n/2 log(1 + d^2) for both models, less the floor of 1e-9 of the variance.
    d = 1e-3
    X = np.array([[0.0], [2.0], [2 * d], [2 + 2 * d]])
    counts = ClassCounts.from_matrix(X, [0, 0, 1, 1], kind="moments")
    gain = gaussian_problem(counts, variance=variance, solver="test").gains[0]
    expected = -2.0 * np.log1p(-d * d / (1 + d * d) + 1e-9)
    assert gain == pytest.approx(expected, rel=1e-9)


def test_a_tie_that_rounding_makes_is_not_called_optimal():
    # Gains of 1e-22 of the counts: presence differs by one row in 1e15 and alpha.
    rows = np.array([2e15, 2e15])
    table = np.array([[1e15, 1e15 + 2, 1e15 + 1], [1e15 + 1, 1e15, 1e15 - 1]])
    certificate = solve_bernoulli(binary_counts(table, rows), 1, alpha=1e16).certificate
    assert not certificate.is_optimal
    assert "rounding decides" in certificate.remark
