"""The k largest values, whichever way they are found."""

from __future__ import annotations

import numpy as np
import pytest

from bayesieve.solvers._topk import top_k


@pytest.mark.parametrize("n", [1, 5, 1000, 70_000, 200_000])
@pytest.mark.parametrize("kind", ["distinct", "ties", "equal", "few large"])
def test_positions_and_values_are_those_of_a_stable_sort(n, kind):
    rng = np.random.default_rng(n)
    values = {
        "distinct": rng.random(n),
        "ties": rng.integers(0, 5, n).astype(float),
        "equal": np.full(n, 2.0),
        "few large": np.where(rng.random(n) < 0.001, rng.random(n), 0.0),
    }[kind]
    order = np.argsort(-values, kind="stable")
    for k in {0, 1, 2, n // 30, n // 10, n // 2, n - 1, n}:
        if not 0 <= k <= n:
            continue
        positions, kth, following = top_k(values, k)
        np.testing.assert_array_equal(np.sort(positions), np.sort(order[:k]))
        assert kth == (values[order[k - 1]] if k else np.inf)
        assert following == (values[order[k]] if k < n else -np.inf)
