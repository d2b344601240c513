"""The path over k: every size as if solved alone, and the choices made from it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.brute_force import best_gains
from tests.oracle.instances import instances

from bayesieve import ClassCounts, solve_multinomial, sparsity_path
from bayesieve.exceptions import FewFeaturesWarning, GapWarning
from bayesieve.solvers._criteria import (
    default_sizes,
    elbow_position,
    largest_advised_size,
)
from bayesieve.solvers._selection import build_problem


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(6)
    return np.floor(rng.pareto(0.8, (3, 300)) * 4)


@pytest.mark.parametrize("ks", [[2, 3, 5, 20, 100], [100, 2, 20, 5, 3, 5], [5]])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_every_size_is_solved_as_if_alone(table, ks, alpha):
    path = sparsity_path(table, ks, alpha=alpha)
    np.testing.assert_array_equal(path.k, np.unique(ks))
    assert path.k.dtype == np.int64
    for k, objective, upper, gap in zip(
        path.k, path.objective, path.upper_bound, path.gap, strict=True
    ):
        alone = solve_multinomial(table, int(k), alpha=alpha)
        assert objective == pytest.approx(alone.certificate.objective, rel=1e-12)
        assert path.null_objective == alone.certificate.null_objective
        np.testing.assert_array_equal(path.support(k), alone.support)
        assert objective <= upper
        assert gap <= 1e-9 * (objective - path.null_objective)


def test_an_iterator_of_sizes_will_do(table):
    path = sparsity_path(table, (k for k in (4, 2)))
    np.testing.assert_array_equal(path.k, [2, 4])


def test_the_path_rises_with_k(table):
    path = sparsity_path(table)
    assert path.k[0] == 2
    assert path.k[-1] == (table.sum(axis=0) > 0).sum()
    assert 35 <= len(path.k) <= 50
    assert (np.diff(path.k) > 0).all()
    assert (np.diff(path.objective) > 0).all()
    assert (path.objective > path.null_objective).all()


def test_default_sizes_are_geometric_and_bounded():
    sizes = default_sizes(10**7, smallest=2)
    assert sizes[0] == 2
    assert sizes[-1] == 10_000
    assert 40 <= len(sizes) <= 50
    np.testing.assert_array_equal(default_sizes(3, smallest=2), [2, 3])
    np.testing.assert_array_equal(default_sizes(1, smallest=2), [1])


def test_elbow_by_hand():
    # Scaled: k -> (0, 1/9, 2/9, 1), objective -> (0, 0.6, 0.8, 1).
    # Height over the chord: 0, 0.489, 0.578, 0: the third.
    k = np.array([1, 2, 3, 10])
    objective = np.array([-10.0, -4.0, -2.0, 0.0])
    assert elbow_position(k, objective) == 2
    # A straight path has no elbow, a path of one point neither: the first.
    assert elbow_position(np.array([2, 4, 6]), np.array([1.0, 2.0, 3.0])) == 0
    assert elbow_position(np.array([5]), np.array([1.0])) == 0
    assert elbow_position(np.array([2, 3]), np.array([1.0, 1.0])) == 0


def test_elbow_of_a_path_is_the_largest_height_over_its_chord(table):
    path = sparsity_path(table, [2, 4, 8, 16, 64, 256])
    rise = (path.objective - path.objective[0]) / np.ptp(path.objective)
    height = rise - (path.k - 2) / 254
    assert path.elbow == path.k[np.argmax(height)]
    assert 2 < path.elbow < 256


def test_bic_by_enumeration():
    rng = np.random.default_rng(7)
    y = np.arange(60) % 3
    rate = np.ones((3, 8))
    rate[0, 0] = rate[1, 1] = rate[2, 2] = 4.0
    X = rng.poisson(rate[y])
    counts = ClassCounts.from_matrix(X, y)
    phi = best_gains(counts.feature_count + 1.0)
    # -2 phi(k) + (K - 1)(k - 1) log n with K = 3, n = 60.
    bic = [-2 * phi[k] + 2 * (k - 1) * np.log(60) for k in range(2, 9)]
    path = sparsity_path(counts, range(2, 9))
    np.testing.assert_allclose(path.bic_values, bic, rtol=1e-9)
    assert path.bic == 2 + int(np.argmin(bic))
    assert path.bic < 8


def test_bic_of_a_plain_table_says_what_is_missing(table):
    path = sparsity_path(table, [2, 3])
    assert np.isnan(path.bic_values).all()
    with pytest.raises(ValueError, match="BIC needs the number of rows"):
        _ = path.bic


def test_a_support_off_the_grid_is_solved_when_asked_for(table):
    path = sparsity_path(table, [2, 50])
    np.testing.assert_array_equal(
        path.support(13), solve_multinomial(table, 13).support
    )
    filled = np.flatnonzero(table.sum(axis=0))
    np.testing.assert_array_equal(path.support(10_000), filled)


@pytest.mark.parametrize("k", [0, -3, 2.5, "4"])
def test_a_support_of_no_size_is_refused(table, k):
    path = sparsity_path(table, [2, 5])
    with pytest.raises(ValueError, match=r"'k'.*must be an int.*Got "):
        path.support(k)


def test_sizes_beyond_the_table_are_cut_to_it(table):
    filled = int((table.sum(axis=0) > 0).sum())
    with pytest.warns(FewFeaturesWarning, match="k=1000 .* can be selected"):
        path = sparsity_path(table, [2, 500, 1000])
    np.testing.assert_array_equal(path.k, [2, filled])


@pytest.mark.parametrize("ks", [[], [0, 2], [1, 2], [-1], [2.5], ["a"], [True], 5])
def test_sizes_that_are_none_are_refused(table, ks):
    with pytest.raises(ValueError, match="'ks' parameter of sparsity_path must hold"):
        sparsity_path(table, ks)


def test_an_unknown_model_is_refused(table):
    message = "'model' parameter of sparsity_path must be one of multinomial.*Got 'x'"
    with pytest.raises(ValueError, match=message):
        sparsity_path(table, model="x")


def test_additive_models_need_their_counts(table):
    with pytest.raises(TypeError, match="needs a ClassCounts"):
        sparsity_path(table, model="bernoulli")
    with pytest.raises(ValueError, match="kind 'moments'"):
        sparsity_path(table, model="gaussian")
    with pytest.raises(ValueError, match="kind 'category'"):
        sparsity_path(table, model="categorical")


@pytest.fixture(scope="module")
def near_identity():
    rng = np.random.default_rng(0)
    hard = rng.random((20, 40))
    hard[np.arange(40) % 20, np.arange(40)] += 50
    return hard


def test_a_limit_is_never_hit_in_silence(near_identity):
    with pytest.warns(GapWarning, match="k=8"):
        path = sparsity_path(near_identity, [8], time_limit=0.1)
    assert path.gap[0] > 0


def test_without_exact_the_path_keeps_the_gap_of_the_relaxation(near_identity):
    path = sparsity_path(near_identity, [3, 8], exact=False)
    for k, upper in zip((3, 8), path.upper_bound, strict=True):
        alone = solve_multinomial(near_identity, k, exact=False).certificate
        assert upper == pytest.approx(alone.relaxation_bound, rel=1e-9)
    assert (path.gap > 0).all()


def test_plot_returns_the_axes_with_the_path_on_them(table):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    path = sparsity_path(table, [2, 5, 20, 80])
    ax = path.plot()
    drawn = [line.get_ydata() for line in ax.get_lines()]
    gain = path.objective - path.null_objective
    assert any(len(y) == 4 and np.allclose(y, gain) for y in drawn)
    assert str(path.elbow) in " ".join(
        t.get_text() for t in ax.get_legend().get_texts()
    )
    _, own = plt.subplots()
    assert path.plot(ax=own) is own
    plt.close("all")


def test_a_path_knows_that_one_feature_is_as_good_as_none():
    path = sparsity_path([[8, 1, 4, 0], [1, 8, 3, 2]], ks=[2, 3])
    assert path.support(1).shape == (0,)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("family", ["ties", "repeated", "integer", "near_identity"])
def test_every_size_of_a_path_is_the_solution_of_that_size(family, n_classes):
    for table, alpha in instances(family, n_classes, 25, seed=7):
        largest = int((table.sum(axis=0) > 0).sum())
        sizes = range(2, largest + 1)
        path = sparsity_path(table, sizes, alpha=alpha)
        for k, objective, upper in zip(
            path.k, path.objective, path.upper_bound, strict=True
        ):
            solution = solve_multinomial(table, int(k), alpha=alpha)
            np.testing.assert_array_equal(path.support(int(k)), solution.support)
            assert objective == solution.certificate.objective
            assert upper == solution.certificate.upper_bound


def test_every_size_of_a_path_over_a_wide_table_with_many_ties():
    rng = np.random.default_rng(3)
    table = rng.integers(0, 4, (2, 30_000)).astype(float)  # 16 different columns
    path = sparsity_path(table, [2, 3, 10, 37, 500, 4000], alpha=1.0)
    for k, objective in zip(path.k, path.objective, strict=True):
        solution = solve_multinomial(table, int(k), alpha=1.0)
        np.testing.assert_array_equal(path.support(int(k)), solution.support)
        assert objective == solution.certificate.objective


@pytest.mark.parametrize("model", ["bernoulli", "gaussian", "categorical"])
def test_every_size_of_an_additive_path_is_the_solution_of_that_size(model):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3 if model == "categorical" else 2, (40, 12))
    X = np.hstack([X, X[:, ::-1]])
    kinds = {"gaussian": "moments", "categorical": "category", "bernoulli": "binary"}
    counts = ClassCounts.from_matrix(X, rng.integers(0, 3, 40), kind=kinds[model])
    path = sparsity_path(counts, range(1, 25), model=model)
    problem = build_problem(counts, model=model, owner="test")
    for k, objective in zip(path.k, path.objective, strict=True):
        solution = problem.solve(int(k))
        np.testing.assert_array_equal(path.support(int(k)), solution.support)
        assert objective == solution.certificate.objective


def test_few_rows_advise_no_large_sizes():
    """Pure noise of 60 rows: elbow and BIC lie far above what so few rows can tell."""
    rng = np.random.default_rng(0)
    noise, y = rng.normal(size=(60, 3000)), rng.integers(2, size=60)
    counts = ClassCounts.from_matrix(noise, y, kind="moments")
    path = sparsity_path(counts, model="gaussian")
    assert largest_advised_size(counts.class_count.sum()) == 30
    assert min(path.elbow, path.bic) > 30
    assert [largest_advised_size(n) for n in (0, 1, 2.5, 7, 1e6)] == [
        1,
        1,
        1,
        3,
        500_000,
    ]
