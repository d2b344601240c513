"""Bands of class probabilities from their posterior mean and deviation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from bayesieve.partition._bands import beta_band


def test_a_beta_distribution_has_its_own_quantiles():
    a, b = np.array([2.0, 30.0, 0.4]), np.array([5.0, 3.0, 0.4])
    own = beta(a, b)
    for coverage in (0.5, 0.95):
        low, high = beta_band(own.mean(), own.std(), coverage)
        np.testing.assert_allclose(low, own.ppf((1 - coverage) / 2), rtol=1e-6)
        np.testing.assert_allclose(high, own.ppf((1 + coverage) / 2), rtol=1e-6)


def test_what_is_certain_has_no_width():
    low, high = beta_band(np.array([0.3]), np.array([0.0]))
    assert low == high == pytest.approx(0.3)


def test_the_largest_deviation_reaches_both_ends():
    mean = np.array([0.5])
    low, high = beta_band(mean, np.sqrt(mean * (1 - mean)))
    assert low == pytest.approx(0.0, abs=1e-12)
    assert high == pytest.approx(1.0)
