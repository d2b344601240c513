"""The compiled class envelope against its plain twin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import xlogy

from bayesieve import _core

NO_LINES = np.empty((0, 3))
#: No support is below it: nothing is cut, the formula alone is seen.
FAR_BELOW = -1e9


def split(row):
    """Positions above the widest gap among the nine largest, if it is wide enough."""
    order = np.lexsort((np.arange(row.size), -row))
    gaps = -np.diff(row[order])[:8]
    size = int(np.argmax(gaps)) + 1 if gaps.size else 0
    if not gaps.size or gaps[size - 1] <= 0.2 * row.max():
        size = 0
    large = np.zeros(row.size, bool)
    large[order[:size]] = True
    return large


def interval(values, count):
    ordered = np.sort(values)
    return ordered[:count].sum(), ordered[::-1][:count].sum()


def most(slope, ends):
    return max(slope * ends[0], slope * ends[1])


def highest(scale, chosen, line, j, large, small):
    """max over a box of -t log(t / scale) - z L - y n, t = chosen + L + n, by duality.

    The concave function is the least of all its tangents, and a tangent has its largest
    value at a corner.
    """
    y, z, u = line

    def tangent(d):
        tip = scale * math.exp(-1 - d)
        return tip + d * chosen + most(d - z, large) + most(d - y, small)

    # It is smooth between d = y and d = z, and has its minimum there or where t of a
    # corner of the box has the slope d.
    corners = [chosen + a + b for a in large for b in small]
    places = [-math.log(max(t / scale, 1e-300)) - 1 for t in corners] + [y, z]
    return min(tangent(d) for d in places) - u * j


def twin(counts, value, chosen_sums, anchor, chosen_value, k, lines):
    """Bound and scores of the lines, from the definition."""
    n = counts.shape[1]
    b = lines[-1, 0]
    low, high = (end + chosen_sums.sum() for end in interval(counts.sum(axis=0), k))
    reference = (low + high) / 2
    scores = value + b * counts.sum(axis=0)
    bound = chosen_value + b * chosen_sums.sum()
    bound += max(xlogy(t, t / reference) - b * t for t in (low, high))
    for c, row in enumerate(counts):
        large = split(row)
        y, z, u = lines[c]
        scores += np.where(large, z * row + u, y * row)
        bound += max(
            highest(
                anchor[c] * reference,
                chosen_sums[c],
                lines[c],
                j,
                interval(row[large], j),
                interval(row[~large], k - j),
            )
            for j in range(max(0, k - n + large.sum()), min(k, large.sum()) + 1)
        )
    return bound + np.sort(scores)[::-1][:k].sum(), scores


def node(seed):
    """Candidates of a class or two each, and some chosen columns."""
    rng = np.random.default_rng(seed)
    n_classes, n = int(rng.integers(2, 7)), int(rng.integers(3, 20))
    table = rng.random((n_classes, n + 2)) * rng.choice([0.5, 5.0, 20.0])
    if seed % 3:
        own = rng.integers(0, n_classes, n + 2)
        table[own, np.arange(n + 2)] += rng.choice([10.0, 100.0])
    if seed % 4 == 0:
        table = np.floor(table)  # ties, and columns that are equal
    table += rng.choice([0.01, 1.0])
    anchor = rng.dirichlet(np.full(n_classes, 5.0))
    gains, _ = _core.divergence_gains(table, anchor)
    chosen = 2 if seed % 2 else 0
    return (
        np.ascontiguousarray(table[:, chosen:]),
        gains[chosen:].copy(),
        table[:, :chosen].sum(axis=1),
        anchor,
        float(gains[:chosen].sum()),
        int(rng.integers(1, n + 2 - chosen)),
        rng,
    )


@pytest.mark.parametrize("seed", range(80))
def test_any_lines_give_the_bound_of_the_twin(seed):
    counts, value, sums, anchor, chosen_value, k, rng = node(seed)
    lines = rng.normal(size=(counts.shape[0] + 1, 3))
    lines[-1, 0] += 1.0
    upper, scores, kth, following, same = _core.class_envelope(
        counts, value, sums, anchor, chosen_value, k, lines, FAR_BELOW, 0
    )
    expected, plain = twin(counts, value, sums, anchor, chosen_value, k, lines)
    # Rounding is added: 4 K + k + 32 < 200 units of sums below 1e5.
    assert upper == pytest.approx(expected, rel=1e-9, abs=200 * 1.2e-16 * 1e5)
    np.testing.assert_allclose(scores, plain, rtol=1e-11, atol=1e-9)
    ordered = np.sort(scores)[::-1]
    assert (kth, following) == (ordered[k - 1], ordered[k])
    np.testing.assert_array_equal(same, lines)


@pytest.mark.parametrize("seed", range(40))
def test_steps_lower_the_bound_of_the_lines_they_end_with(seed):
    counts, value, sums, anchor, chosen_value, k, _ = node(seed)
    fixed = (counts, value, sums, anchor, chosen_value, k)
    first, *_, start = _core.class_envelope(*fixed, NO_LINES, FAR_BELOW, 0)
    level = 0.0  # a gain is never below it
    upper, *_, lines = _core.class_envelope(*fixed, NO_LINES, level, 300)
    assert upper <= first
    again, *_ = _core.class_envelope(*fixed, lines, FAR_BELOW, 0)
    assert again == pytest.approx(twin(*fixed, lines)[0], rel=1e-9)
    assert start.shape == lines.shape == (counts.shape[0] + 1, 3)


def test_columns_of_one_class_each_have_no_gap():
    # Two equal words to each of five classes, k = 3: the best are three classes with
    # one word each, 100 log 3 nats a word; the relaxation says 100 log 5.
    counts = np.kron(np.eye(5), np.full((1, 2), 100.0))
    shares = np.full(5, 0.2)
    value, _ = _core.divergence_gains(counts, shares)
    best = 300 * math.log(3)
    fixed = (counts, value, np.zeros(5), shares, 0.0, 3)
    upper, *_ = _core.class_envelope(*fixed, NO_LINES, best, 500)
    assert best <= upper <= best * (1 + 1e-11)


def test_equal_columns_have_equal_scores():
    for seed in range(0, 80, 4):
        counts, value, sums, anchor, chosen_value, k, rng = node(seed)
        twice = rng.integers(0, value.size, 2 * value.size)
        counts = np.ascontiguousarray(counts[:, twice])
        _, scores, *_ = _core.class_envelope(
            counts, value[twice], sums, anchor, chosen_value, k, NO_LINES, 0.0, 60
        )
        for i in np.unique(twice):
            assert np.unique(scores[twice == i]).size == 1


@pytest.mark.parametrize("size", [1e200, 1e308, math.inf, math.nan])
def test_lines_beyond_the_range_of_numbers_give_no_bound(size):
    counts, value, sums, anchor, chosen_value, k, _ = node(1)
    lines = np.full((counts.shape[0] + 1, 3), size)
    lines[::2] *= -1
    upper, *_ = _core.class_envelope(
        counts, value, sums, anchor, chosen_value, k, lines, 0.0, 5
    )
    assert not upper < 1e100


def test_wrong_shapes_are_refused():
    good = [np.ones((2, 3)), np.ones(3), np.ones(2), np.full(2, 0.5), 0.0, 1]
    _core.class_envelope(*good, NO_LINES, 0.0, 1)
    wrong = {
        1: np.ones(2),
        2: np.ones(3),
        3: np.ones(3),
        5: 3,
    }
    for at, value in wrong.items():
        bad = [*good[:at], value, *good[at + 1 :]]
        with pytest.raises(ValueError, match="1 <= k < n columns"):
            _core.class_envelope(*bad, NO_LINES, 0.0, 1)
    with pytest.raises(ValueError, match=r"no lines or \(K \+ 1, 3\)"):
        _core.class_envelope(*good, np.ones((2, 3)), 0.0, 1)
    with pytest.raises(ValueError, match="finite level"):
        _core.class_envelope(*good, NO_LINES, -math.inf, 1)
