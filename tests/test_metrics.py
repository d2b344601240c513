"""Compression rate: the prior saves nothing, certainty everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss

from bayesieve import compression_rate


def test_prior_gives_exactly_zero():
    prior = np.array([0.2, 0.3, 0.5])
    y = np.array([0, 1, 2, 2, 1])
    assert compression_rate(y, np.tile(prior, (5, 1)), prior) == 0.0


@given(st.integers(0, 2**32 - 1))
def test_against_log_loss(seed):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c", *rng.choice(["a", "b", "c"], 20)])
    proba = rng.dirichlet(np.ones(3), size=23)
    prior = rng.dirichlet(np.ones(3))
    expected = 1 - log_loss(y, proba) / log_loss(y, np.tile(prior, (23, 1)))
    assert compression_rate(y, proba, prior) == pytest.approx(expected)
    weights = rng.integers(0, 3, 23)
    repeated = np.repeat(np.arange(23), weights)
    assert compression_rate(y, proba, prior, sample_weight=weights) == pytest.approx(
        compression_rate(y[repeated], proba[repeated], prior, classes=["a", "b", "c"])
    )


def test_certainty_and_error():
    assert compression_rate([0, 1], [[1, 0], [0, 1]], [0.5, 0.5]) == 1.0
    assert compression_rate([0, 1], [[0, 1], [0, 1]], [0.5, 0.5]) == -np.inf


def test_bad_shapes():
    with pytest.raises(ValueError, match="proba must have a row for each label"):
        compression_rate([0, 1], [[0.5, 0.5]], [0.5, 0.5])
    with pytest.raises(ValueError, match="Hint: give 'classes'"):
        compression_rate([0, 0], [[0.5, 0.5]] * 2, [0.5, 0.5])
    assert compression_rate([0, 0], [[0.5, 0.5]] * 2, [0.5, 0.5], classes=[0, 1]) == 0
