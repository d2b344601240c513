"""Rules against enumeration of every allowed support."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.oracle.instances import FAMILIES, instances
from tests.oracle.rules import (
    COMBINATIONS,
    KINDS,
    additive_gains,
    allowed_supports,
    multinomial_gains,
    random_rules,
    subset_number,
)

from bayesieve import ClassCounts, solve_bernoulli, solve_multinomial
from bayesieve.exceptions import DegenerateSupportWarning, FewFeaturesWarning
from bayesieve.solvers import _class_envelope
from bayesieve.solvers._selection import select_features

ALL = tuple((kind,) for kind in KINDS) + COMBINATIONS


def check_multinomial(table, alpha, rules, k):
    m = table.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewFeaturesWarning)
        warnings.simplefilter("ignore", DegenerateSupportWarning)
        solution = solve_multinomial(table, k, alpha=alpha, **rules)
    filled = table.sum(axis=0) > 0
    allowed = allowed_supports(rules, m, k, filled)
    gains = multinomial_gains(table + alpha)
    best = gains[allowed].max()
    rounding = 1e-13 * np.abs(table + alpha).sum() * (1 + np.log(table.sum() + 1))
    tolerance = 1e-10 * best + rounding
    context = f"k={k}, alpha={alpha}, rules={rules}, table={table.tolist()}"
    certificate = solution.certificate
    number = subset_number(solution.support)
    assert allowed[number], context
    assert abs(gains[number] - best) <= tolerance, context
    # A gain of nothing at all cannot be told from rounding.
    assert certificate.is_optimal or best <= rounding, context
    assert abs(certificate.objective - certificate.null_objective - best) <= tolerance
    assert certificate.upper_bound - certificate.null_objective >= best - tolerance


@pytest.mark.parametrize("kinds", ALL, ids="+".join)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_multinomial_is_the_best_allowed_support(kinds, n_classes):
    _many_multinomial(kinds, n_classes, 8, seed=3)


@pytest.mark.parametrize("kinds", ALL, ids="+".join)
def test_rules_hold_where_the_class_envelope_is_asked_at_once(kinds, monkeypatch):
    monkeypatch.setattr(_class_envelope, "_FIRST_NODES", 0)  # else after some nodes
    _many_multinomial(kinds, 4, 8, seed=18)


@pytest.mark.slow
@pytest.mark.parametrize("kinds", ALL, ids="+".join)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_multinomial_is_the_best_allowed_support_on_thousands(kinds, n_classes):
    assert _many_multinomial(kinds, n_classes, 145, seed=4) > 1000


def _many_multinomial(kinds, n_classes, how_many, seed):
    rng = np.random.default_rng([seed, n_classes])
    solved = 0
    for family in FAMILIES:
        for table, alpha in instances(family, n_classes, how_many, seed=seed):
            k = int(rng.integers(2, table.shape[1] + 1))
            rules = random_rules(rng, kinds, table.shape[1], k)
            check_multinomial(table, alpha, rules, k)
            solved += 1
    return solved


KIND = {"bernoulli": "binary", "gaussian": "moments", "categorical": "category"}


def additive_counts(rng, model):
    n_classes, m, rows = int(rng.integers(2, 5)), int(rng.integers(3, 10)), 40
    y = np.arange(rows) % n_classes
    if model == "gaussian":
        X = rng.normal(rng.normal(0, 1, (n_classes, m))[y], 1.0)
    else:
        most = 1 if model == "bernoulli" else 3
        X = rng.binomial(most, rng.random((n_classes, m))[y])
    if rng.random() < 0.5:
        X[:, rng.integers(0, m)] = X[:, 0]
    return ClassCounts.from_matrix(X, y, kind=KIND[model])


def check_additive(rng, model, kinds, k):
    counts = additive_counts(rng, model)
    m = counts.n_features
    k = min(k, m)
    rules = random_rules(rng, kinds, m, k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewFeaturesWarning)
        whole = select_features(counts, m, model=model, owner="test").solution
        found = select_features(counts, k, model=model, rules=rules, owner="test")
    own = np.zeros(m)
    own[whole.support] = whole.gains
    solution = found.solution
    filled = np.zeros(m, dtype=bool)
    filled[whole.support] = True
    allowed = allowed_supports(rules, m, k, filled)
    gains = additive_gains(own)
    best = gains[allowed].max()
    number = subset_number(solution.support)
    context = f"{model}, k={k}, rules={rules}, gains={own.tolist()}"
    assert allowed[number], context
    assert gains[number] == pytest.approx(best, rel=1e-10, abs=1e-10), context
    # A gain of nothing at all cannot be told from rounding.
    assert solution.certificate.is_optimal or best <= 1e-20, context


@pytest.mark.parametrize("kinds", ALL, ids="+".join)
@pytest.mark.parametrize("model", KIND)
def test_additive_models_have_the_best_allowed_support(model, kinds):
    rng = np.random.default_rng(5)
    for _ in range(30):
        check_additive(rng, model, kinds, int(rng.integers(2, 8)))


@pytest.mark.slow
@pytest.mark.parametrize("kinds", ALL, ids="+".join)
@pytest.mark.parametrize("model", KIND)
def test_additive_models_have_the_best_allowed_support_on_thousands(model, kinds):
    rng = np.random.default_rng(6)
    for _ in range(3000):
        check_additive(rng, model, kinds, int(rng.integers(2, 8)))


def test_the_public_solver_is_the_same():
    rng = np.random.default_rng(7)
    for kinds in ALL:
        counts = additive_counts(rng, "bernoulli")
        k = min(3, counts.n_features)
        rules = random_rules(rng, kinds, counts.n_features, k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewFeaturesWarning)
            found = select_features(
                counts, k, model="bernoulli", rules=rules, owner="test"
            ).solution
            solution = solve_bernoulli(counts, k, **rules)
        np.testing.assert_array_equal(solution.support, found.support)
