"""assign_bins against NumPy's searchsorted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesieve import _core


def plain(values, columns, first):
    """Twin: bounds below each value, plus first; 0 for NaN."""
    out = np.empty(values.shape, dtype=np.int64)
    for j, bounds in enumerate(columns):
        out[:, j] = np.searchsorted(bounds, values[:, j], side="left") + first
    out[np.isnan(values)] = 0
    return out


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 20), min_size=1, max_size=4),
    st.sampled_from([np.int32, np.uint8, np.uint16, np.uint32]),
    st.sampled_from(["C", "F"]),
    st.integers(0, 1),
)
def test_twin(seed, sizes, dtype, order, first):
    rng = np.random.default_rng(seed)
    columns = [np.unique(rng.integers(-5, 6, size)).astype(float) for size in sizes]
    if columns[0].size:
        columns[0][0] = -np.inf
    values = rng.integers(-6, 7, (30, len(sizes))).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    values = np.asarray(values, order=order)
    start = np.concatenate([[0], np.cumsum([c.size for c in columns])])
    out = np.empty(values.shape, dtype=dtype, order=order)
    _core.assign_bins(values, np.concatenate(columns), start, first, out)
    np.testing.assert_array_equal(out, plain(values, columns, first))


def test_many_values_on_threads():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50_000, 5))
    columns = [np.sort(rng.normal(size=n)) for n in (0, 1, 2, 100, 1023)]
    start = np.concatenate([[0], np.cumsum([c.size for c in columns])])
    out = np.empty(values.shape, dtype=np.int32, order="F")
    _core.assign_bins(values, np.concatenate(columns), start, 1, out)
    np.testing.assert_array_equal(out, plain(values, columns, 1))


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="must fit the columns"):
        _core.assign_bins(
            np.zeros((2, 2)),
            np.zeros(1),
            np.array([0, 1]),
            0,
            np.zeros((2, 2), dtype=np.uint8),
        )
