"""Resampled weights and class sums against their plain twins."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import chisquare, poisson

from bayesieve import _core

GOLDEN, MASK = 0x9E3779B97F4A7C15, 2**64 - 1


def plain_draw(stream, counter):
    """One number of SplitMix64, which started at `stream`."""
    z = (stream + (counter + 1) * GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def plain_limits():
    """2**64 P(Poisson(1) <= i), with e as a fraction that is right to 2**-200."""
    e = sum(Fraction(1, factorial(i)) for i in range(60))
    sums = [sum(Fraction(1, factorial(j)) for j in range(i + 1)) for i in range(20)]
    return [int(2**64 * total / e) for total in sums]


def plain_weight(unit, seed, resample, pairs, limits):
    if pairs:
        coin = plain_draw(plain_draw(seed, resample // 2), unit // 2) >> 63
        return (coin + unit + resample) % 2
    uniform = plain_draw(plain_draw(seed, resample), unit)
    return sum(uniform >= limit for limit in limits)


def weights_of(units, seed, first, count, pairs):
    out = np.empty((len(units), count), dtype=np.uint8)
    _core.resample_weights(np.asarray(units), seed, first, pairs, out)
    return out


@pytest.mark.parametrize("pairs", [True, False])
def test_weights_are_those_of_the_plain_generator(pairs):
    units, limits = [0, 1, 2, 7, 10**12, 2**62], plain_limits()
    for seed, first in ((0, 0), (2**63 + 5, 3)):
        wanted = [
            [plain_weight(u, seed, first + b, pairs, limits) for b in range(9)]
            for u in units
        ]
        assert weights_of(units, seed, first, 9, pairs).tolist() == wanted


def test_bootstrap_weights_are_poisson_and_independent():
    weights = weights_of(np.arange(20_000), 1, 0, 20, pairs=False)
    found = np.bincount(weights.ravel(), minlength=8)
    found = np.append(found[:7], found[7:].sum())
    chances = np.append(poisson.pmf(np.arange(7), 1), poisson.sf(6, 1))
    assert chisquare(found, chances * weights.size).pvalue > 1e-4
    # 5 standard errors of a correlation of independent numbers.
    both_ways = np.corrcoef(weights.T) - np.eye(20), np.corrcoef(weights[:300])
    assert np.abs(both_ways[0]).max() < 5 / np.sqrt(20_000)
    rows = both_ways[1] - np.eye(300)
    assert abs(rows.mean()) < 5 / np.sqrt(20 * 300**2)


def test_halves_are_complements_and_equally_large():
    weights = weights_of(np.arange(1000), 4, 0, 40, pairs=True)
    assert (weights[:, ::2] + weights[:, 1::2] == 1).all()
    assert (weights.sum(axis=0) == 500).all()
    share = weights[:, ::2].mean(axis=1)
    assert abs(share[::2].mean() - 0.5) < 5 * 0.5 / np.sqrt(500 * 20)


def plain_sums(X, codes, weights, n_classes):
    dense = X.toarray().astype(np.float64)
    out = np.zeros((weights.shape[1], n_classes, dense.shape[1]))
    for row, code in enumerate(codes):
        for b, weight in enumerate(weights[row]):
            out[b, code] += float(weight) * dense[row]
    return out


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.bool_])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sums_are_those_of_plain_loops(dtype, index):
    rng = np.random.default_rng(0)
    dense = rng.random((60, 1300)) * (rng.random((60, 1300)) < 0.3) * 9
    X = sparse.csc_array(dense.astype(dtype))
    codes = rng.integers(0, 4, 60)
    weights = rng.integers(0, 6, (60, 7)).astype(np.uint8)
    out = np.zeros((7, 4, 1300))
    indices, indptr = X.indices.astype(index), X.indptr.astype(np.int64)
    call = X.data, indices, indptr, codes, weights, 0, 0.0
    assert _core.replicate_class_sums(*call, out) == -1
    np.testing.assert_array_equal(out, plain_sums(X, codes, weights, 4))
    with _core.ThreadLimit(1):
        alone = np.zeros_like(out)
        _core.replicate_class_sums(*call, alone)
    np.testing.assert_array_equal(alone, out)


def test_presence_is_counted_and_a_bad_value_is_found():
    X = sparse.csc_array(np.array([[1.0, 0.0], [3.0, 5.0]]))
    weights = np.array([[1, 2], [1, 0]], dtype=np.uint8)
    out = np.zeros((2, 1, 2))
    parts = X.data, X.indices, X.indptr.astype(np.int64), np.zeros(2, np.int64)
    _core.replicate_class_sums(*parts, weights, 2, 2.0, out)
    assert out[:, 0].tolist() == [[1.0, 1.0], [0.0, 0.0]]
    X.data[1] = -3.0
    assert _core.replicate_class_sums(*parts, weights, 0, 0.0, out) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("codes", np.array([0, 5])),
        ("codes", np.array([0])),
        ("weights", np.ones((2, 4), dtype=np.uint8)),
        ("weights", np.ones((3, 2), dtype=np.uint8)),
        ("indices", np.array([0, 7], dtype=np.int32)),
        ("indptr", np.array([0, 5, 1])),
        ("out", np.zeros((2, 1, 3))),
    ],
)
def test_what_does_not_fit_is_refused(name, value):
    own = {
        "data": np.ones(2),
        "indices": np.array([0, 1], dtype=np.int32),
        "indptr": np.array([0, 1, 2]),
        "codes": np.zeros(2, dtype=np.int64),
        "weights": np.ones((2, 2), dtype=np.uint8),
        "check": 0,
        "threshold": 0.0,
        "out": np.zeros((2, 1, 2)),
    }
    with pytest.raises(ValueError):
        _core.replicate_class_sums(**own | {name: value})
    with pytest.raises(ValueError, match="one line of weights"):
        _core.resample_weights(np.arange(3), 0, 0, True, np.ones((2, 2), np.uint8))
