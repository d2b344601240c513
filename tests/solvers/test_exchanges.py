"""Exchanges by rising loss against enumeration."""

from __future__ import annotations

from itertools import combinations, islice

import numpy as np
import pytest

from bayesieve.solvers._exchanges import exchanges


def enumerated(inside, outside, most):
    losses = [
        sum(inside[list(a)]) + sum(outside[list(b)])
        for size in range(min(len(inside), len(outside)) + 1)
        for a in combinations(range(len(inside)), size)
        for b in combinations(range(len(outside)), size)
    ]
    return np.sort([loss for loss in losses if loss <= most])


@pytest.mark.parametrize("seed", range(40))
def test_every_exchange_comes_once_and_in_order(seed):
    rng = np.random.default_rng(seed)
    inside, outside = rng.random(rng.integers(0, 6)), rng.random(rng.integers(0, 7))
    if seed % 3 == 0:  # ties
        inside, outside = np.round(inside, 1), np.round(outside, 1)
    most = float(rng.random() * 3)
    found = list(exchanges(inside, outside, most + 1e-12))
    losses = [loss for loss, _, _ in found]
    np.testing.assert_allclose(
        losses, enumerated(inside, outside, most + 1e-12), atol=1e-12
    )
    pairs = {(tuple(sorted(a)), tuple(sorted(b))) for _, a, b in found}
    assert len(pairs) == len(found)
    for loss, a, b in found:
        assert len(a) == len(b)
        assert loss == pytest.approx(inside[a].sum() + outside[b].sum())


def test_the_first_of_very_many_come_at_once():
    rng = np.random.default_rng(0)
    first = list(islice(exchanges(rng.random(300), rng.random(3000), 50.0), 1000))
    assert len(first) == 1000
    assert (np.diff([loss for loss, _, _ in first]) >= -1e-12).all()
