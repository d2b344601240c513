"""Grids of pairs: axes, places of rows, averages."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from tests.partition.test_averaged import binned

from bayesieve import _core
from bayesieve.partition._averaged import average_columns
from bayesieve.partition._pairs import (
    Axis,
    _log_arrangements,
    average_pairs,
    pair_levels,
    place_rows,
)


def axis_of(x, y):
    _, bins = binned(pd.DataFrame({"x": x}), y)
    shapes = average_columns(bins, np.bincount(y).astype(float)).shapes
    return Axis.from_bins(bins[0], shapes[0].probabilities), bins[0]


def test_an_axis_has_sixteen_cells_of_equal_frequency():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=2000), rng.integers(0, 2, size=2000)
    axis, bins = axis_of(x, y)
    assert axis.level == 4
    assert axis.cells[0] == -1  # no value was missing
    rows = np.bincount(axis.cells[1:], bins.counts[1:].sum(axis=1))
    assert rows.size == 16
    assert rows.max() - rows.min() <= 3
    assert (np.diff(axis.cells[1:]) >= 0).all()
    assert set(axis.coarser(2)) == {-1, 0, 1, 2, 3}


def test_a_sharp_step_far_out_ends_a_cell():
    rng = np.random.default_rng(1)
    x = rng.normal(size=4000)
    y = (x > 2.2).astype(int)
    axis, bins = axis_of(x, y)
    pure = bins.counts[:, 1] > 0
    assert set(axis.cells[pure]).isdisjoint(axis.cells[~pure])


def test_missing_values_keep_a_cell():
    rng = np.random.default_rng(2)
    x = rng.normal(size=1000)
    x[:20] = np.nan
    axis, _ = axis_of(x, rng.integers(0, 2, size=1000))
    assert axis.cells[0] == 0
    assert (axis.cells[1:] > 0).all()
    assert axis.cells.max() == 15


@pytest.mark.parametrize(
    ("cells", "ways"), [(1, 1), (2, 1), (3, 3), (4, 3), (5, 15), (8, 315)]
)
def test_arrangements_of_categories(cells, ways):
    assert _log_arrangements(cells) == pytest.approx(math.log(ways))


def test_places_and_tables_of_a_pair():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"x": rng.normal(size=600), "town": rng.choice(list("abc"), size=600)}
    )
    y = ((frame["x"] > 0) ^ (frame["town"] == "a")).to_numpy().astype(int)
    _, bins = binned(frame, y)
    count = np.bincount(y).astype(float)
    shapes = average_columns(bins, count).shapes
    axes = [
        Axis.from_bins(own, shape.probabilities)
        for own, shape in zip(bins, shapes, strict=True)
    ]
    levels = pair_levels((0, 1), axes, 600.0)
    assert levels == (4, 2)
    of_rows = [
        np.searchsorted(bins[0].column.parts.bounds, frame["x"], side="left"),
        bins[1].column.assign_levels(
            frame["town"].map({"a": 0, "b": 1, "c": 2}).to_numpy(), ["a", "b", "c"]
        ),
    ]
    place = place_rows([axis.cells for axis in axes], levels, of_rows)
    np.testing.assert_array_equal(
        place, axes[0].cells[of_rows[0]] * 4 + axes[1].cells[of_rows[1]]
    )
    table = np.bincount(place * 2 + y, minlength=65 * 2).reshape(-1, 2).astype(float)
    (pair,), (without,) = average_pairs([(0, 1)], axes, [levels], [table], count)
    assert pair.shape == (16, 4)
    assert pair.evidence > 300
    mean = _core.average_boxes([table[:-1]], 2.0 * count / 600, [[4, 2]], True)[0]
    np.testing.assert_array_equal(pair.probabilities[:-1], mean[1])
    np.testing.assert_allclose(pair.probabilities[-1], count / 600)
    assert without.shape == (65 * 2, 2)
    # A value that was never seen: the last line, which says nothing.
    unseen = pair.place([np.array([5]), np.array([bins[1].column.n_parts - 1])])
    assert unseen.tolist() == [64]
    np.testing.assert_allclose(pair.lifts(count / 600)[64], 0.0, atol=1e-12)


def test_triples_have_coarser_axes():
    axes = [Axis(np.arange(16, dtype=np.int16), 4, 0.0)] * 3
    assert pair_levels((0, 1), axes, 100.0) == (4, 4)
    assert pair_levels((0, 1, 2), axes, 100.0) == (2, 2, 2)
    assert pair_levels((0, 1, 2), axes, 5000.0) == (3, 3, 3)
