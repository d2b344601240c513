"""Bounds and intervals of stability selection."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import sparse

from bayesieve import StabilitySelection
from bayesieve.model_selection._stability import GainSample
from bayesieve.model_selection._stability_bounds import _concave_tail, error_bound


def test_the_bound_without_assumptions_is_that_of_meinshausen_and_buehlmann():
    # Their example: q = sqrt(0.8 m) features and a cutoff of 0.9 leave one at most.
    assert error_bound(math.sqrt(0.8 * 1000), 1000, 0.9, 50) == pytest.approx(1.0)
    # q^2 / ((2 tau - 1) m) = 2500 / (0.2 * 1000)
    assert error_bound(50, 1000, 0.6, 50) == pytest.approx(12.5)


@pytest.mark.parametrize(
    ("q", "m", "tau", "pairs", "wanted"),
    [
        # tau <= 3/4: q^2 / m / (2 (2 tau - 1 - 1 / (2 B)))
        (50, 1000, 0.6, 50, 2.5 / (2 * (0.2 - 0.01))),
        (50, 1000, 0.75, 50, 2.5 / (2 * (0.5 - 0.01))),
        # above: q^2 / m * 4 (1 - tau + 1 / (2 B)) / (1 + 1 / B)
        (50, 1000, 0.9, 50, 2.5 * 4 * (0.1 + 0.01) / 1.02),
        (10, 200, 1.0, 25, 0.5 * 4 * 0.02 / 1.04),
        # A cutoff between two frequencies is the larger one of them.
        (50, 1000, 0.893, 50, 2.5 * 4 * (0.1 + 0.01) / 1.02),
        # theta above 1 / sqrt(3), or a cutoff too near to 1/2: nothing is gained.
        (700, 1000, 0.9, 50, 0.7 * 700 / 0.8),
        (50, 1000, 0.51, 50, 2.5 / 0.02),
    ],
)
def test_the_unimodal_bound_is_that_of_theorem_2(q, m, tau, pairs, wanted):
    assert error_bound(q, m, tau, pairs, "unimodal") == pytest.approx(wanted)


def test_more_belief_and_a_higher_cutoff_give_smaller_bounds():
    for q, m in ((3, 30), (50, 1000), (20, 75_000)):
        table = np.array(
            [
                [error_bound(q, m, tau, 50, a) for tau in (0.6, 0.7, 0.8, 0.9, 1.0)]
                for a in ("none", "unimodal", "r-concave")
            ]
        )
        assert (np.diff(table, axis=0) < 0).all()
        assert (np.diff(table, axis=1) < 0).all()


def convex_sequences(rng, n):
    """r-th powers of an r-concave distribution with negative r are convex."""
    slopes = np.sort(rng.normal(size=n) * rng.exponential(size=n))
    values = np.concatenate([[0.0], np.cumsum(slopes)])
    return values - values.min() + rng.exponential() * 10.0 ** rng.integers(-3, 2)


@pytest.mark.parametrize("r", [-1 / 2, -1 / 4])
def test_no_r_concave_distribution_has_a_larger_tail(r):
    rng = np.random.default_rng(0)
    n, tight = 12, 0.0
    for _ in range(3000):
        g = convex_sequences(rng, n)
        if rng.random() < 0.5:  # near to the extremes: a line, and an end
            g = rng.exponential() + np.arange(n + 1.0)
            g[rng.integers(4, n + 1) :] = np.inf
        share = g ** (1 / r)
        share /= share.sum()
        mean = float(share @ np.arange(n + 1)) / n
        for least in (4, 8, 12):
            bound = _concave_tail(mean, least, n, r)
            tail = share[least:].sum()
            assert tail <= bound + 1e-7
            if 0 < bound < 1:
                tight = max(tight, tail / bound)
    assert tight > 0.99


def test_a_mean_beyond_reach_is_bounded_by_one():
    assert _concave_tail(0.6, 9, 10, -1 / 4) == 1.0
    assert _concave_tail(0.2, 3, 10, -1 / 4) == 1.0


# ------------------------------------------------------------------------ the result


def result(frequencies, n_resamples=20, **fields):
    """A result with such frequencies of the columns."""
    numbers = np.round(np.array(frequencies) * n_resamples).astype(int)
    supports = [np.flatnonzero(numbers > i) for i in range(n_resamples)]
    own = {"support_indices_": np.array([0]), "method": "pairs", "cutoff": 0.9}
    return StabilitySelection.of_supports(supports, len(numbers), **own | fields)


def test_frequencies_support_and_order():
    found = result([0.9, 0.25, 1.0, 0.0])
    assert found.frequencies_.tolist() == [0.9, 0.25, 1.0, 0.0]
    assert isinstance(found.supports_, sparse.csr_array)
    assert found.supports_.sum(axis=0).tolist() == [18, 5, 20, 0]
    assert found.support_.tolist() == [True, False, True, False]
    assert found.selected().tolist() == [2, 0]
    assert found.selected(0.2).tolist() == [2, 0, 1]
    assert found.n_selected_ == pytest.approx(2.15)
    assert found.names([0, 2]) == ["x0", "x2"]
    named = result([1.0, 0.5], feature_names_=np.array(["u", "v"], dtype=object))
    assert named.names([1]) == ["v"]
    assert found.error_bound_ == pytest.approx(2.15**2 / (0.8 * 4))
    assert "2 of 4 features in at least 90% of 20 resamples" in repr(found)
    bootstrap = result([1.0], method="bootstrap")
    assert bootstrap.error_bound_ is None
    with pytest.raises(ValueError, match="exists for method='pairs'"):
        bootstrap.error_bound()


def test_bad_arguments_are_refused_in_one_sentence():
    found = result([0.9, 0.25])
    for bad in (0, 1.1, "x", None.__class__):
        with pytest.raises(ValueError, match=r"'cutoff' .* in \(0, 1\]"):
            found.selected(bad)
    with pytest.raises(ValueError, match=r"'cutoff' .* in \(0.5, 1\]"):
        found.error_bound(0.5)
    with pytest.raises(ValueError, match="'assumption' parameter must be one of"):
        found.error_bound(assumption="normal")
    for bad in (0.0, 1.0, 95):
        with pytest.raises(ValueError, match="'confidence' parameter"):
            found.frequency_intervals(bad)
    with pytest.raises(ValueError, match="needs an estimator with gains"):
        found.gain_intervals()


def test_intervals_of_frequencies_are_wilsons():
    # Wilson, 18 of 20 at 95 %: (0.6990, 0.9721), as in Newcombe (1998)'s formula.
    low, high = result([0.9]).frequency_intervals()[0]
    z, p, n = 1.959964, 0.9, 20
    root = z * math.sqrt(z**2 + 4 * n * p * (1 - p))
    ends = (2 * n * p + z**2 + np.array([-root, root])) / (2 * (n + z**2))
    np.testing.assert_allclose([low, high], ends, rtol=1e-6)
    assert round(low, 4) == 0.6990
    ends = result([0.0, 1.0]).frequency_intervals(0.99)
    assert ends[0, 0] == pytest.approx(0.0, abs=1e-15)
    assert ends[1, 1] == pytest.approx(1.0)


def test_intervals_of_gains_take_off_the_bias_and_stop_at_zero():
    # Estimates 10 and 1; resamples have means 12 and 2, standard deviation 2.
    resampled = np.array([[10.0, 0.0], [12.0, 2.0], [14.0, 4.0]])
    ends = GainSample(np.array([10.0, 1.0]), resampled).intervals(0.95)
    np.testing.assert_allclose(ends[0], [8 - 3.919928, 8 + 3.919928], rtol=1e-6)
    np.testing.assert_allclose(ends[1], [0.0, 3.919928], rtol=1e-6)


def test_wilson_covers_the_chance_of_independent_draws():
    rng = np.random.default_rng(0)
    for chance, n in itertools.product((0.3, 0.8), (40, 100)):
        drawn = rng.random((n, 3000)) < chance
        supports = [np.flatnonzero(row) for row in drawn]
        found = StabilitySelection.of_supports(
            supports, 3000, support_indices_=[], method="bootstrap", cutoff=0.9
        )
        low, high = found.frequency_intervals().T
        covered = np.mean((low <= chance) & (chance <= high))
        assert 0.925 < covered < 0.975  # it steps, as counts do
