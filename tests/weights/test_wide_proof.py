"""Proofs of weights: over all columns, and at k of them, against brute force."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from tests.naive_bayes.wide_examples import word_counts
from tests.weights.proof_examples import all_supports, best_nll, likelihood

from bayesieve import ClassCounts
from bayesieve.exceptions import NotConvergedWarning
from bayesieve.weights._candidate_columns import first_of_equals
from bayesieve.weights._column_tables import ColumnTables
from bayesieve.weights._result import Progress, _Stop
from bayesieve.weights._wide_solver import CountedRows, WideSettings, WideSolver

MODELS = ["multinomial", "bernoulli"]


def table(seed, n_columns=10, n_rows=80, n_classes=2, redundant=True):
    """Few rows and columns, some of which say the same."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_rows) % n_classes)
    rates = rng.gamma(0.8, 0.5, size=(n_classes, n_columns))
    X = rng.poisson(rates[y])
    if redundant:
        X[:, 1] = X[:, 0] + (rng.random(n_rows) < 0.1)
    X[0, X.sum(axis=0) == 0] = 1
    return X, y


def distinct_counts(seed, **shape):
    """Word counts without copies of columns."""
    X, y = word_counts(seed, **shape)
    return X[:, first_of_equals(sparse.csc_array(X))], y


def counted(X, y, model, weight=None):
    counts = ClassCounts.from_matrix(
        X, y, binary=model == "bernoulli", sample_weight=weight
    )
    return CountedRows(sparse.csr_array(X), y, weight, counts)


def settings_of(rows, model, **changes):
    shares = rows.counts.class_count / rows.total_weight
    given = {"tol": 1e-7, "binarize": 0.0} | changes
    return WideSettings(model, np.log(shares), "test", **given)


def oracle_of(X, y, rows, model, weight=None, refit=True):
    tables = ColumnTables.of(rows.counts, model, 1.0)
    slope, offset = tables.of_columns(np.arange(X.shape[1]))
    values = np.minimum(X, 1) if model == "bernoulli" else X
    prior = None if refit else np.log(rows.counts.class_count / rows.total_weight)
    return likelihood(values.astype(float), y, slope, offset, weight, prior)


# ------------------------------------------------------------- columns and tables


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_derivatives_of_all_columns_are_those_of_the_candidates(
    model, refit, n_classes
):
    X, y = word_counts(1, n_features=80, n_classes=n_classes)
    weight = np.random.default_rng(0).integers(0, 3, size=len(y)).astype(float)
    rows = counted(X, y, model, weight)
    settings = settings_of(rows, model, candidates="all", refit_intercept=refit)
    solver = WideSolver.of(rows, settings)
    solver.path.solve(0.5 * solver.path.largest)
    newton = solver.path.newton
    residual, _ = newton.dual_residual()
    everything = solver.everything.gradient(
        solver.of_all_rows(residual), solver.present, not refit
    )
    own = newton.terms.gradient(residual)
    np.testing.assert_allclose(
        everything[solver.candidates.columns], own, rtol=1e-9, atol=1e-9
    )
    others = np.setdiff1d(np.arange(80), solver.candidates.columns)
    assert not everything[others].any()


@pytest.mark.parametrize("model", MODELS)
def test_a_dense_matrix_is_read_in_pieces(model, monkeypatch):
    from bayesieve.weights import _all_columns

    X, y = word_counts(2, n_rows=300, n_features=50)
    whole = WideSolver.of(
        counted(X, y, model), settings_of(counted(X, y, model), model)
    )
    residual = np.random.default_rng(0).normal(size=(300, 1))
    expected = whole.everything.gradient(residual, whole.present, True)
    monkeypatch.setattr(_all_columns, "_DENSE_CELLS", 50 * 7)
    monkeypatch.setattr(_all_columns, "_CELLS", 1)
    rows = counted(X, y, model)
    tables = whole.everything.tables
    dense = _all_columns.AllColumns.of_matrix(rows.X.toarray(), tables, 0.0)
    np.testing.assert_allclose(
        dense.gradient(residual, whole.present, True), expected, rtol=1e-10, atol=1e-10
    )
    columns = np.array([3, 7, 20])
    assert (dense.take(columns) != whole.everything.take(columns)).nnz == 0


# --------------------------------------------------------------- over all columns


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("refit", [True, False])
def test_few_candidates_end_where_all_columns_do(model, n_classes, refit):
    X, y = distinct_counts(3, n_classes=n_classes)
    if model == "bernoulli":
        X, y = (X[:, first_of_equals(sparse.csc_array(X > 0))] > 0).astype(int), y
    rows = counted(X, y, model)
    fits = [
        WideSolver.of(
            rows,
            settings_of(
                rows,
                model,
                regularization=0.4,
                share=1.0,
                candidates=candidates,
                refit_intercept=refit,
                tol=1e-9,
            ),
        ).fit()
        for candidates in (2, "all")
    ]
    criteria = [fit.path.nll[-1] + 0.4 * fit.weights.sum() for fit in fits]
    null = len(y) * np.log(n_classes)
    assert fits[0].n_candidates < fits[1].n_candidates
    for fit in fits:
        assert -1e-9 <= fit.gap <= 1e-9 * null * 1.01
    # Each is within its gap of the one optimum.
    assert abs(criteria[0] - criteria[1]) <= 2e-9 * null


def test_the_gap_is_that_of_all_columns_before_any_joins():
    X, y = table(5, n_columns=12)
    rows = counted(X, y, "multinomial")
    few = WideSolver.of(
        rows, settings_of(rows, "multinomial", regularization=1.0, candidates=2)
    )
    point = few.to_penalty(1.0)
    assert point.gap <= few.path.tol
    whole, lacking = few.proof.over_all(point)
    assert lacking.size
    criterion = point.nll + point.weights.sum()
    best = best_nll(oracle_of(X, y, rows, "multinomial"), range(12), 2, penalty=1.0)
    assert criterion - whole.gap <= best + 1e-6 < criterion
    joined = few.proof.joined(point, None)
    assert joined.nll + joined.weights.sum() == pytest.approx(best, abs=1e-5)
    assert joined.gap <= few.path.tol


@pytest.mark.parametrize("candidates", ["auto", 2, "all"])
def test_copies_stay_out_unless_all_columns_are_candidates(candidates):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    X = rng.poisson(1.0, size=(400, 6))
    X[:, 2] += rng.poisson(2.0 * y)
    X[:, 4] = X[:, 2]
    rows = counted(X, y, "multinomial")
    settings = settings_of(
        rows, "multinomial", regularization=0.01, share=1.0, candidates=candidates
    )
    found = WideSolver.of(rows, settings).fit()
    # One weight of one is not enough here: a second copy would lower the criterion.
    sets = [0, 1, 2, 3, 5], [0, 1, 2, 3, 4, 5]
    columns = sets[candidates == "all"]
    of = oracle_of(X, y, rows, "multinomial")
    values = [best_nll(of, own, 2, penalty=0.01) for own in sets]
    assert values[1] < values[0] - 1.0
    reached = found.path.nll[-1] + 0.01 * found.weights.sum()
    assert reached == pytest.approx(values[candidates == "all"], abs=1e-4)
    assert ({2, 4} <= set(found.columns.tolist())) == (candidates == "all")
    assert found.n_proven == len(columns)
    assert found.gap <= 1e-7 * 400


def test_costs_decide_which_columns_are_lacking():
    X, y = word_counts(4)
    rows = counted(X, y, "multinomial")
    cost = np.random.default_rng(0).uniform(0.2, 5.0, size=X.shape[1])
    fits = [
        WideSolver.of(
            rows,
            settings_of(
                rows,
                "multinomial",
                regularization=0.5,
                share=1.0,
                candidates=candidates,
                feature_cost=cost,
                tol=1e-9,
            ),
        ).fit()
        for candidates in (3, "all")
    ]
    values = [f.path.nll[-1] + 0.5 * cost[f.columns] @ f.weights for f in fits]
    assert values[0] == pytest.approx(values[1], abs=1e-5)
    assert max(f.gap for f in fits) <= 1e-9 * 600


@pytest.mark.parametrize("k", [3, 12, 40])
def test_a_wanted_size_is_reached_after_columns_joined(k):
    X, y = word_counts(6)
    rows = counted(X, y, "multinomial")
    found = [
        WideSolver.of(
            rows, settings_of(rows, "multinomial", k=k, share=1.0, candidates=size)
        ).fit()
        for size in (2, "all")
    ]
    assert [fit.columns.size for fit in found] == [k, k]
    assert max(fit.gap for fit in found) <= 1e-7 * 600


# ------------------------------------------------------------------ at k features

CASES = [
    (seed, model, n_classes, refit, weighted)
    for seed, (model, n_classes, refit, weighted) in enumerate(
        [
            ("multinomial", 2, True, False),
            ("multinomial", 2, False, True),
            ("multinomial", 3, True, True),
            ("bernoulli", 2, True, True),
            ("bernoulli", 2, False, False),
            ("bernoulli", 3, True, False),
        ]
    )
]


@pytest.mark.parametrize(("seed", "model", "n_classes", "refit", "weighted"), CASES)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_search_equals_enumeration(seed, model, n_classes, refit, weighted, k):
    X, y = table(seed, n_columns=12, n_rows=60, n_classes=n_classes)
    weight = None
    if weighted:
        weight = np.random.default_rng(seed).integers(1, 4, size=len(y)).astype(float)
    rows = counted(X, y, model, weight)
    of = oracle_of(X, y, rows, model, weight, refit)
    values = all_supports(of, X.shape[1], k, n_classes, refit)
    best = min(values.values())
    for exact in (False, True):
        settings = settings_of(
            rows, model, k=k, refit_intercept=refit, exact=exact, candidates=3
        )
        found = WideSolver.of(rows, settings).fit()
        proof = found.certificate
        nll, least = -proof.objective, -proof.upper_bound
        # SciPy's values are good to about 1e-7 of theirs.
        assert least <= best + 1e-6 <= nll + 2e-6
        assert proof.k == k
        own = best_nll(of, found.columns, n_classes, refit)
        assert nll == pytest.approx(own, abs=1e-4)
        if exact:
            assert proof.is_optimal
            assert nll == pytest.approx(best, abs=1e-6)


@pytest.mark.filterwarnings("ignore::bayesieve.exceptions.FewFeaturesWarning")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_holds_for_every_support(model, seed):
    X, y = table(20 + seed, n_columns=7, n_rows=60)
    rows = counted(X, y, model)
    of = oracle_of(X, y, rows, model)
    for k in (1, 2, 3, 5, 7):
        best = min(all_supports(of, 7, k, 2).values())
        for share in (0.0, 1.0):
            settings = settings_of(rows, model, k=k, share=share, tol=1e-2)
            proof = WideSolver.of(rows, settings).fit().certificate
            assert -proof.upper_bound <= best + 1e-6
            assert -proof.objective >= best - 1e-6
    # With every column there is nothing to choose, and the bound says so.
    assert proof.k == 7
    every = settings_of(rows, model, k=7, tol=1e-9)
    assert WideSolver.of(rows, every).fit().certificate.relative_gap < 1e-3


@pytest.mark.parametrize("model", MODELS)
def test_a_bound_among_candidates_only_says_nothing_of_others(model):
    X, y = table(31, n_columns=9)
    rows = counted(X, y, model)
    settings = settings_of(rows, model, k=2, candidates=4)
    whole = WideSolver.of(rows, settings)
    block = whole.everything.take(whole.candidates.columns)
    alone = WideSolver(settings, whole.candidates, block, y, None, n_features=9)
    proof = alone.fit().certificate
    of = oracle_of(X, y, rows, model)
    pairs = all_supports(of, 9, 2, 2)
    known = set(alone.candidates.columns.tolist())
    among = min(value for pair, value in pairs.items() if set(pair) <= known)
    assert -proof.upper_bound <= among + 1e-6 <= -proof.objective + 2e-6


def test_a_penalty_that_leaves_nothing_has_nothing_to_prove():
    X, y = table(8)
    rows = counted(X, y, "multinomial")
    found = WideSolver.of(
        rows, settings_of(rows, "multinomial", regularization=1e6)
    ).fit()
    assert found.certificate.k == 0
    assert found.certificate.is_optimal
    assert found.gap == 0.0


def test_time_that_is_up_leaves_a_true_bound():
    X, y = word_counts(7)
    rows = counted(X, y, "multinomial")
    settings = settings_of(rows, "multinomial", regularization=0.1, exact=False)
    sharp = WideSolver.of(rows, settings).fit()
    stopped = WideSolver.of(rows, settings, Progress(0.0))
    with pytest.warns(NotConvergedWarning, match="ran out of time"):
        found = stopped.fit()
    best = sharp.path.nll[-1] + 0.1 * sharp.weights.sum()
    value = found.path.nll[-1] + found.penalty * found.weights.sum()
    assert np.isfinite(found.gap)
    assert value - found.gap <= best + (found.penalty - 0.1) * sharp.weights.sum()
    assert -found.certificate.upper_bound <= found.path.nll[-1] + 1e-9


class Patience(Progress):
    """Ends the search after so many looks at the clock."""

    def __init__(self, looks):
        super().__init__()
        self.looks = looks

    def check(self):
        self.looks -= 1
        if self.looks < 0:
            raise _Stop("time")


@pytest.mark.filterwarnings("ignore::bayesieve.exceptions.FewFeaturesWarning")
@pytest.mark.parametrize("model", MODELS)
def test_wherever_a_search_is_stopped_its_bound_holds(model):
    X, y = table(50, n_columns=9)
    rows = counted(X, y, model)
    of = oracle_of(X, y, rows, model)
    best = min(all_supports(of, 9, 3, 2).values())
    settings = settings_of(rows, model, k=3, exact=True, candidates=2)
    reasons = []
    for looks in [*range(0, 120, 10), 10_000]:
        found = WideSolver.of(rows, settings, Patience(looks)).fit()
        assert -found.certificate.upper_bound <= best + 1e-6
        assert -found.certificate.objective >= best - 1e-6
        if found.columns.size:
            own = best_nll(of, found.columns, 2)
            assert -found.certificate.objective >= own - 1e-6
        reasons.append(found.stopped)
    assert reasons[0] == "time"
    assert reasons[-1] == "converged"
    assert found.certificate.is_optimal


# ---------------------------------------------------------------------- properties


@pytest.mark.parametrize("model", MODELS)
def test_more_features_never_lower_the_bound(model):
    X, y = word_counts(9)
    rows = counted(X, y, model)
    bounds = [
        WideSolver.of(rows, settings_of(rows, model, k=k)).fit().certificate
        for k in (1, 3, 9, 27)
    ]
    gains = [proof.upper_bound for proof in bounds]
    # Each is a little above its own best by the search's tolerance.
    assert all(b > a - 1e-2 * abs(a) for a, b in pairwise(gains))
    assert all(proof.gap >= 0.0 for proof in bounds)


@pytest.mark.parametrize("model", MODELS)
def test_permuted_columns_and_repeated_rows_keep_the_proof(model):
    X, y = table(40, n_columns=8)
    order = np.random.default_rng(0).permutation(8)
    weight = np.random.default_rng(1).integers(1, 3, size=len(y)).astype(float)
    repeated = np.repeat(np.arange(len(y)), weight.astype(int))
    found = []
    for values, labels, own in (
        (X, y, weight),
        (X[:, order], y, weight),
        (X[repeated], y[repeated], None),
    ):
        rows = counted(values, labels, model, own)
        settings = settings_of(rows, model, k=3, exact=True)
        found.append(WideSolver.of(rows, settings).fit())
    for other in found[1:]:
        assert other.certificate.is_optimal
        assert other.certificate.objective == pytest.approx(
            found[0].certificate.objective, abs=1e-7
        )
    assert set(order[found[1].columns]) == set(found[0].columns)
