"""Statements of the mathematical pages that no other test checks, by brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from bayesieve import solve_multinomial


def partition_term(counts):
    """e(n_1, ..., n_J) of the page on MODL."""
    counts = np.asarray(counts, dtype=float)
    n, classes = counts.sum(), counts.shape[0]
    return gammaln(n + classes) - gammaln(classes) - gammaln(counts + 1).sum()


def test_one_more_feature_is_not_enough_for_five_classes():
    proof = solve_multinomial(np.eye(5), 2, alpha=0.0).certificate
    gain = proof.objective - proof.null_objective
    assert gain == pytest.approx(2 * math.log(2))
    assert gain < math.log(5)  # psi(1) - C: the best class shares are uniform


def test_four_more_features_are_not_enough_for_fifty_classes():
    # phi(j) - C = j log j: j features of one count each, all of different classes.
    proof = solve_multinomial(np.eye(50)[:, :12], 10, alpha=0.0).certificate
    gain = proof.objective - proof.null_objective
    assert gain == pytest.approx(10 * math.log(10))
    assert gain < 6 * math.log(50)


def test_partition_term_is_concave():
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b = rng.exponential(10, size=(2, 4)) * rng.integers(2, size=(2, 4))
        middle = partition_term((a + b) / 2)
        assert middle >= (partition_term(a) + partition_term(b)) / 2 - 1e-9


def groupings(n_values, n_groups):
    """Group of each value, for all groupings into at most so many groups."""
    return itertools.product(range(n_groups), repeat=n_values)


@pytest.mark.parametrize("seed", range(8))
def test_best_groups_of_two_classes_are_intervals(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 12, size=(6, 2)) + 1
    table = table[np.argsort(table[:, 0] / table.sum(axis=1))]
    for n_groups in (2, 3):
        costs = {"any": math.inf, "intervals": math.inf}
        for group in groupings(len(table), n_groups):
            sums = np.zeros((n_groups, 2))
            np.add.at(sums, list(group), table)
            cost = sum(partition_term(own) for own in sums)
            costs["any"] = min(costs["any"], cost)
            if list(group) == sorted(group):
                costs["intervals"] = min(costs["intervals"], cost)
        assert costs["intervals"] == pytest.approx(costs["any"], rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_pure_neighbours_need_not_be_separated(seed):
    rng = np.random.default_rng(seed)
    rows = [[int(rng.integers(1, 6)), 0] for _ in range(4)]  # a run pure in one class
    rows = [rng.integers(0, 6, 2).tolist(), *rows, rng.integers(0, 6, 2).tolist()]
    table = np.array(rows)
    prices = np.cumsum(rng.exponential(0.2, size=len(table)))  # P does not decrease
    best = {True: math.inf, False: math.inf}
    for n_cuts in range(len(table)):
        for cuts in itertools.combinations(range(1, len(table)), n_cuts):
            parts = np.split(table, cuts)
            cost = sum(partition_term(part.sum(axis=0)) for part in parts)
            apart = any(2 <= cut <= 4 for cut in cuts)
            best[apart] = min(best[apart], cost + prices[n_cuts])
    assert best[False] <= best[True] + 1e-9


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("penalty", [3.0, 30.0, 300.0])
def test_penalised_estimate_is_the_maximum(sign, penalty):
    rng = np.random.default_rng(7)
    moved = 0
    for _ in range(50):
        size = int(rng.integers(20, 200))
        present = int(rng.integers(1, size))
        pooled = float(rng.uniform(0.05, 0.95))
        slope = (present - size * pooled) / (pooled * (1 - pooled))
        if sign * slope <= penalty:
            continue
        moved += 1
        root = math.sqrt((penalty + sign * size) ** 2 - 4 * penalty * sign * present)
        formula = 0.5 + sign / (2 * penalty) * (size - root)

        def loss(theta, size=size, present=present, pooled=pooled):
            likelihood = present * math.log(theta)
            likelihood += (size - present) * math.log1p(-theta)
            return penalty * abs(theta - pooled) - likelihood

        found = minimize_scalar(
            loss, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-10}
        )
        assert loss(formula) <= found.fun + 1e-6
    assert moved
