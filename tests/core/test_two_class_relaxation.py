"""The compiled two-class relaxation against its plain twin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import xlogy

from bayesieve import _core


def curve(value, s, anchor, step):
    """``value - s0 log(1 + step / a) - s1 log(1 - step / b)``."""
    return (
        value - s[0] * np.log1p(step / anchor[0]) - s[1] * np.log1p(-step / anchor[1])
    )


def twin(value, f0, f1, k, chosen, anchor, step, good_enough=-math.inf):
    """The same bracket in a few lines: best bounds and best set met."""
    chosen_value, chosen0, chosen1 = chosen
    upper, lower, best_gain = math.inf, -math.inf, -math.inf
    low, high, left, right = -anchor[0], anchor[1], None, None
    best = None
    for evaluation in range(1, 501):
        h = np.maximum(curve(value, (f0, f1), anchor, step), 0.0)
        top = np.sort(np.lexsort((np.arange(h.size), -h))[:k])
        v = chosen_value + value[top].sum()
        s = np.array([chosen0 + f0[top].sum(), chosen1 + f1[top].sum()])
        own = v - xlogy(s, s / s.sum() / anchor).sum()
        upper = min(upper, max(curve(v, s, anchor, step), own))
        if own > best_gain:
            best_gain, best = own, top
        lower = max(lower, own)
        target = s[0] / s.sum() - anchor[0]
        if target > step:
            low, left = step, (v, s)
        elif target < step:
            high, right = step, (v, s)
        else:
            lower = upper
        if upper - lower <= 1e-12 * abs(upper) or upper <= good_enough:
            break
        if low < target < high and evaluation < 40:
            step = target
        elif left and right:
            step, bound = crossing(left, right, anchor, low, high)
            lower = max(lower, min(bound, upper))
            if upper - lower <= 1e-12 * abs(upper):
                break
        else:
            step = 0.5 * (low + high)
        if not low < step < high:
            lower = upper
            break
    return upper, lower, best_gain, best


def crossing(left, right, anchor, low, high):
    a, b = low, high
    for _ in range(100):
        middle = 0.5 * (a + b)
        if not a < middle < b:
            break
        above = curve(*left, anchor, middle) > curve(*right, anchor, middle)
        a, b = (middle, b) if above else (a, middle)
    own = [s[0] / s.sum() - anchor[0] for _, s in (left, right)]
    x = min(own[0], b), max(own[1], a)
    values = curve(*left, anchor, x[0]), curve(*right, anchor, x[1])
    return (x[0], values[0]) if values[0] <= values[1] else (x[1], values[1])


def relax(value, f0, f1, k, chosen, anchor, step=0.0, **options):
    good_enough, most = options.get("good_enough", -math.inf), options.get("most", 500)
    weight, doubt = options.get("weight", 0.0), options.get("doubt", 0.0)
    limits = (good_enough, 1e-12, 0.02, most, math.inf)
    chosen_value, *chosen_sums = chosen
    doubts = np.full(value.shape, doubt)
    return _core.relax_two_classes(
        value,
        doubts,
        f0,
        f1,
        k,
        chosen_value,
        doubt,
        *chosen_sums,
        *anchor,
        weight,
        step,
        *limits,
    )


def columns(seed):
    """Gains at an anchor, and the counts they belong to."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 400))
    if seed % 3 == 0:  # small integers: many ties
        f = rng.integers(0, 4, size=(2, n)) + 1.0
    else:
        f = rng.gamma(0.3, 20.0, size=(2, n)) + 0.1
    share = float(rng.uniform(0.05, 0.95))
    anchor = np.array([share, 1.0 - share])
    value = xlogy(f, f / f.sum(axis=0) / anchor[:, None]).sum(axis=0)
    return value, f[0], f[1], anchor, rng


@pytest.mark.parametrize("seed", range(120))
def test_bounds_and_sets_are_those_of_the_twin(seed):
    value, f0, f1, anchor, rng = columns(seed)
    k = int(rng.integers(1, value.size))
    own = xlogy([2.0, 5.0], np.array([2.0, 5.0]) / 7.0 / anchor).sum()
    chosen = (3.0 + own, 2.0, 5.0) if seed % 2 else (0.0, 0.0, 0.0)
    step = float(rng.uniform(0.05, 0.95)) - anchor[0] if seed % 4 else 0.0
    upper, _, lower, at, gains, floor, following, best_gain, best_doubt, best, _ = (
        relax(value, f0, f1, k, chosen, anchor, step, weight=f0.sum() + f1.sum() + 7.0)
    )
    expected = twin(value, f0, f1, k, chosen, anchor, step)
    scale = 1e-11 * max(f0.sum() + f1.sum(), 1.0)
    assert upper == pytest.approx(expected[0], abs=scale)
    assert lower == pytest.approx(expected[1], abs=scale)
    assert best_gain == pytest.approx(expected[2], abs=scale)
    # 98 units of sums of this size, no more.
    assert (
        0 < best_doubt <= 1e-13 * (value[best].sum() + chosen[0] + f0.sum() + f1.sum())
    )
    assert best.shape == (k,)
    assert (np.diff(best) > 0).all()
    # What is said about the point of the upper bound is true of that point.
    h = np.maximum(curve(value, (f0, f1), anchor, at), 0.0)
    np.testing.assert_allclose(gains, h, rtol=1e-12, atol=scale)
    ordered = np.sort(h)[::-1]
    assert floor == pytest.approx(ordered[k - 1], abs=scale)
    assert following == pytest.approx(ordered[k], abs=scale)
    assert lower <= upper


def test_rounding_is_part_of_the_upper_bound_away_from_the_anchor():
    value, f0, f1, _, _ = columns(1)
    some = (value, f0, f1, 5, (0.0, 0.0, 0.0), (0.5, 0.5))
    assert relax(*some, most=1, weight=1e16)[0] == relax(*some, most=1)[0]
    plain = relax(*some, 0.25, most=1)[0]
    wider = relax(*some, 0.25, most=1, weight=1e16)[0]
    # The second share has shrunk to a half: eight units of log 2 + 1.
    rough = 8 * 2.0**-53 * 1e16 * (math.log(2) + 1)
    assert wider - plain == pytest.approx(rough, rel=1e-9)
    assert relax(*some, 0.25, most=1, weight=1e16)[1] == pytest.approx(rough)


def test_the_gain_of_the_best_set_is_not_raised_by_its_doubts():
    value, f0, f1, anchor, _ = columns(1)
    some = (value, f0, f1, 5, (3.0, 2.0, 5.0), anchor)
    plain, raised = relax(*some), relax(*some, doubt=0.125)
    assert raised[7] == pytest.approx(plain[7] - 6 * 0.125, rel=1e-12)
    assert raised[8] == pytest.approx(plain[8] + 6 * 0.125, rel=1e-12)


def test_equal_gains_go_to_the_lowest_positions():
    equal = np.full(6, 1.0), np.full(6, 2.0), np.full(6, 3.0)
    best = relax(*equal, 3, (0.0, 0.0, 0.0), (0.6, 0.4))[9]
    assert best.tolist() == [0, 1, 2]


def test_it_stops_as_soon_as_the_bound_is_good_enough():
    value, f0, f1, anchor, _ = columns(1)
    some = (value, f0, f1, 5, (0.0, 0.0, 0.0), anchor, 0.04 - anchor[0])
    assert relax(*some, good_enough=1e12)[10] == 1 < relax(*some)[10]
    assert relax(*some, most=2)[10] == 2


@pytest.mark.parametrize("k", [0, 6, 7])
def test_sizes_without_a_choice_are_refused(k):
    with pytest.raises(ValueError, match="1 <= k < n"):
        relax(np.zeros(6), np.ones(6), np.ones(6), k, (0.0, 0.0, 0.0), (0.5, 0.5))
