"""Near-optimal supports against enumeration of every support."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.oracle.brute_force import support_gain
from tests.oracle.instances import FAMILIES, instances

from bayesieve import ClassCounts, near_optimal_supports, solve_bernoulli
from bayesieve.solvers._near_supports import count_choices


def enumerated(gain_of, columns, k):
    """Gain of every support of size k, best first."""
    supports = list(combinations(columns, k))
    gains = np.array([gain_of(one) for one in supports])
    order = np.argsort(-gains, kind="stable")
    return [supports[i] for i in order], gains[order]


def check(found, supports, gains, k, columns, gain_of, exact_others):
    tolerance = 1e-9 * max(abs(gains[0]), 1e-9) + 1e-11
    level = gains[0] * (1 - found.within)
    assert found.complete
    listed = [tuple(one.tolist()) for one in found.supports]
    assert len(set(listed)) == len(listed)
    sure = {s for s, g in zip(supports, gains, strict=True) if g > level + tolerance}
    may = {s for s, g in zip(supports, gains, strict=True) if g >= level - tolerance}
    assert sure <= set(listed) <= may
    np.testing.assert_allclose(
        found.gains, [gain_of(one) for one in listed], atol=tolerance
    )
    assert (np.diff(found.gains) <= tolerance).all()
    assert found.n_at_least <= len(may)
    assert found.n_at_most >= len(sure)
    everywhere = set(columns).intersection(*map(set, listed))
    assert set(found.core.tolist()) == everywhere
    assert set(found.possible.tolist()) == set().union(*map(set, listed))
    best = set(listed[0])
    for i in columns:
        flipped = [
            g for s, g in zip(supports, gains, strict=True) if (i in s) != (i in best)
        ]
        if not flipped:
            continue
        lost = gains[0] - max(flipped)
        if i in best or exact_others:
            assert found.margins[i] == pytest.approx(lost, abs=2 * tolerance)
        else:
            assert found.margins[i] <= lost + tolerance


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_multinomial_supports_are_those_of_enumeration(family, n_classes):
    rng = np.random.default_rng(n_classes)
    checked = 0
    for table, alpha in instances(family, n_classes, 12, seed=9):
        columns = np.flatnonzero(table.sum(axis=0) > 0).tolist()
        if len(columns) < 3:
            continue
        k = int(rng.integers(2, len(columns)))
        smoothed = table + alpha

        def gain_of(support, smoothed=smoothed):
            return support_gain(smoothed, support)

        supports, gains = enumerated(gain_of, columns, k)
        if gains[0] < 1e-6:
            continue
        within = float(rng.choice([0.0, 0.01, 0.1, 0.5]))
        found = near_optimal_supports(table, k, within=within, alpha=alpha)
        check(found, supports, gains, k, columns, gain_of, exact_others=False)
        checked += 1
    assert checked >= 6


@pytest.mark.parametrize("seed", range(30))
def test_bernoulli_supports_are_those_of_enumeration(seed):
    rng = np.random.default_rng(seed)
    m, rows = int(rng.integers(4, 9)), 60
    y = np.arange(rows) % 3
    X = rng.random((rows, m)) < rng.random((3, m))[y]
    if seed % 2:
        X[:, 1] = X[:, 0]
    counts = ClassCounts.from_matrix(X, y, binary=True)
    own = np.zeros(m)
    whole = solve_bernoulli(counts, m)
    own[whole.support] = whole.gains
    k = int(rng.integers(1, m))

    def gain_of(support):
        return own[list(support)].sum()

    supports, gains = enumerated(gain_of, range(m), k)
    found = near_optimal_supports(
        counts, k, within=float(rng.choice([0.0, 0.05, 0.3])), model="bernoulli"
    )
    check(found, supports, gains, k, range(m), gain_of, exact_others=True)


def test_replacements_are_the_support_without_the_feature():
    rng = np.random.default_rng(1)
    table = rng.poisson(20, (2, 30)) + 30.0 * (rng.random((2, 30)) < 0.2)
    found = near_optimal_supports(table, 5)
    from bayesieve import solve_multinomial

    for i, stand_in in zip(found.supports[0], found.replacements, strict=True):
        other = solve_multinomial(table, 5, exclude=[i])
        np.testing.assert_array_equal(
            stand_in, np.setdiff1d(other.support, found.supports[0])
        )


def test_more_than_the_limit_are_counted_from_both_sides():
    rng = np.random.default_rng(2)
    table = rng.poisson(30, (2, 14)) + 5.0
    everything = near_optimal_supports(table, 6, within=0.3, limit=10_000)
    assert everything.complete
    some = near_optimal_supports(table, 6, within=0.3, limit=50)
    assert not some.complete
    assert len(some) == 50
    assert some.n_at_least <= len(everything) <= some.n_at_most
    assert set(some.core) <= set(everything.core)
    assert set(everything.possible) <= set(some.possible)
    for one, other in zip(some, everything, strict=False):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("seed", range(20))
def test_counted_choices_are_never_fewer_than_there_are(seed):
    rng = np.random.default_rng(seed)
    inside, outside = rng.random(5), rng.random(6)
    most = float(rng.random()) * 2
    found = 0
    for size in range(6):
        for a in combinations(inside, size):
            found += sum(sum(a) + sum(b) <= most for b in combinations(outside, size))
    counted = count_choices(inside, outside, most)
    assert counted >= found
    assert counted <= 1.1 * found + 2


def test_exchanges_name_what_stands_in_alone():
    table = np.array([[50.0, 3, 20, 20, 3], [3, 50, 2, 2, 4]])
    found = near_optimal_supports(table, 3, within=0.05)
    assert {i: c.tolist() for i, c in found.exchanges().items()} == {2: [3]}


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"within": 1.0}, "'within' parameter .* share in .0, 1.. Got 1.0"),
        ({"within": "x"}, "share in"),
        ({"limit": 0}, "'limit' parameter .* int >= 1. Got 0"),
        ({"model": "x"}, "'model' parameter .* must be one of"),
        ({"k": 1}, "too small"),
        ({"k": 0}, "int >= 1"),
    ],
)
def test_what_cannot_be_listed_is_refused(parameters, told):
    with pytest.raises(ValueError, match=told):
        near_optimal_supports([[4, 6, 10], [12, 0, 0]], **({"k": 2} | parameters))
