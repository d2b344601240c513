"""The compiled two-class relaxation against its plain twin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import xlogy

from bayesieve import _core


def twin(value, f0, f1, k, chosen, share, good_enough=-math.inf):
    """The same bracket in a few lines: best bounds and best set met."""
    chosen_value, chosen0, chosen1 = chosen
    upper, lower, best_gain = math.inf, -math.inf, -math.inf
    best, at, low, high, left, right = None, share, 0.0, 1.0, None, None
    for evaluation in range(1, 501):
        h = np.maximum(value - f0 * np.log(share) - f1 * np.log1p(-share), 0.0)
        top = np.sort(np.lexsort((np.arange(h.size), -h))[:k])
        v = chosen_value + value[top].sum()
        s = np.array([chosen0 + f0[top].sum(), chosen1 + f1[top].sum()])
        own = v - xlogy(s, s / s.sum()).sum()
        here = max(v - s[0] * np.log(share) - s[1] * np.log1p(-share), own)
        if here < upper:
            upper, at = here, share
        if own > best_gain:
            best_gain, best = own, top
        lower = max(lower, own)
        target = s[0] / s.sum()
        if target > share:
            low, left = share, (v, s)
        elif target < share:
            high, right = share, (v, s)
        else:
            lower = upper
        if upper - lower <= 1e-12 * abs(upper) or upper <= good_enough:
            break
        if low < target < high and evaluation < 40:
            share = target
        elif left and right:
            share, bound = crossing(left, right, low, high)
            lower = max(lower, min(bound, upper))
            if upper - lower <= 1e-12 * abs(upper):
                break
        else:
            share = 0.5 * (low + high)
        if not low < share < high:
            lower = upper
            break
    return upper, lower, at, best_gain, best


def crossing(left, right, low, high):
    def at(atom, x):
        return atom[0] - atom[1][0] * math.log(x) - atom[1][1] * math.log1p(-x)

    a, b = low, high
    for _ in range(100):
        middle = 0.5 * (a + b)
        if not a < middle < b:
            break
        a, b = (middle, b) if at(left, middle) > at(right, middle) else (a, middle)
    x = min(left[1][0] / left[1].sum(), b), max(right[1][0] / right[1].sum(), a)
    values = at(left, x[0]), at(right, x[1])
    return (x[0], values[0]) if values[0] <= values[1] else (x[1], values[1])


def relax(value, f0, f1, k, chosen, share, good_enough=-math.inf, most=500):
    return _core.relax_two_classes(
        value, f0, f1, k, *chosen, share, good_enough, 1e-12, 0.02, most, math.inf
    )


def columns(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 400))
    if seed % 3 == 0:  # small integers: many ties
        f = rng.integers(0, 4, size=(2, n)) + 1.0
    else:
        f = rng.gamma(0.3, 20.0, size=(2, n)) + 0.1
    return xlogy(f, f / f.sum(axis=0)).sum(axis=0), f[0], f[1], rng


@pytest.mark.parametrize("seed", range(120))
def test_bounds_and_sets_are_those_of_the_twin(seed):
    value, f0, f1, rng = columns(seed)
    k = int(rng.integers(1, value.size))
    chosen = (-3.0, 2.0, 5.0) if seed % 2 else (0.0, 0.0, 0.0)
    share = float(rng.uniform(0.05, 0.95))
    upper, lower, at, gains, floor, following, best_gain, best, _ = relax(
        value, f0, f1, k, chosen, share
    )
    expected = twin(value, f0, f1, k, chosen, share)
    scale = 1e-11 * max(f0.sum() + f1.sum(), 1.0)
    assert upper == pytest.approx(expected[0], abs=scale)
    assert lower == pytest.approx(expected[1], abs=scale)
    assert best_gain == pytest.approx(expected[3], abs=scale)
    assert best.shape == (k,)
    assert (np.diff(best) > 0).all()
    # What is said about the point of the upper bound is true of that point.
    h = np.maximum(value - f0 * np.log(at) - f1 * np.log1p(-at), 0.0)
    np.testing.assert_allclose(gains, h, rtol=1e-12, atol=scale)
    ordered = np.sort(h)[::-1]
    assert floor == pytest.approx(ordered[k - 1], abs=scale)
    assert following == pytest.approx(ordered[k], abs=scale)
    assert lower <= upper


def test_equal_gains_go_to_the_lowest_positions():
    value = np.full(6, -1.0)
    best = relax(value, np.full(6, 2.0), np.full(6, 3.0), 3, (0.0, 0.0, 0.0), 0.4)[7]
    assert best.tolist() == [0, 1, 2]


def test_it_stops_as_soon_as_the_bound_is_good_enough():
    value, f0, f1, _ = columns(1)
    whole = relax(value, f0, f1, 5, (0.0, 0.0, 0.0), 0.05)
    early = relax(value, f0, f1, 5, (0.0, 0.0, 0.0), 0.05, good_enough=1e12)
    assert early[8] == 1 < whole[8]
    assert relax(value, f0, f1, 5, (0.0, 0.0, 0.0), 0.05, most=2)[8] == 2


@pytest.mark.parametrize("k", [0, 6, 7])
def test_sizes_without_a_choice_are_refused(k):
    with pytest.raises(ValueError, match="1 <= k < n"):
        relax(np.zeros(6), np.ones(6), np.ones(6), k, (0.0, 0.0, 0.0), 0.5)
