"""Simulation: the bands of averaged shapes cover what they should."""

from __future__ import annotations

import numpy as np
import pytest

from bayesieve import SelectiveNB
from bayesieve.partition._bands import beta_band

REPEATS = 60
SMOOTH = {
    "sine": lambda x: 1 / (1 + np.exp(-1.5 * np.sin(3 * x))),
    "line": lambda x: 1 / (1 + np.exp(-1.2 * x)),
    "bump": lambda x: 0.15 + 0.6 * np.exp(-4 * x**2),
}


def covered(x, chances, rng):
    """Share of the rows whose true probability is within the band of their bin."""
    y = (rng.random(x.size) < chances).astype(int)
    shape = SelectiveNB(pairs=0).fit(x[:, None], y).shapes_[0]
    low, high = beta_band(shape.probabilities[:, 1], shape.deviations[:, 1])
    bins = shape.bins.parts.assign(x)
    return np.mean((low[bins] <= chances) & (chances <= high[bins]))


def mean_coverage(chance, n_rows):
    found = []
    for seed in range(REPEATS):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-2, 2, n_rows)
        found.append(covered(x, chance(x), rng))
    return np.mean(found)


@pytest.mark.parametrize("n_rows", [300, 1000])
def test_bands_of_smooth_curves_cover(n_rows):
    # Means over the curves: 0.938 of 300 rows, 0.905 of 1000.
    found = [mean_coverage(chance, n_rows) for chance in SMOOTH.values()]
    assert 0.90 <= np.mean(found) <= 0.99


def test_bands_of_smooth_curves_are_too_narrow_for_many_rows():
    # Partitions are steps: a smooth curve of 5000 rows leaves some of its corners
    # outside (0.863). What the guide says of it must stay true.
    found = [mean_coverage(chance, 5000) for chance in SMOOTH.values()]
    assert 0.84 <= np.mean(found) <= 0.90


@pytest.mark.parametrize("n_rows", [300, 1000, 5000])
@pytest.mark.parametrize(
    "chance",
    [lambda x: np.where(x > 0.3, 0.8, 0.3), lambda x: np.full_like(x, 0.4)],
    ids=["step", "flat"],
)
def test_bands_of_steps_cover(chance, n_rows):
    assert 0.93 <= mean_coverage(chance, n_rows) <= 1.0


@pytest.mark.parametrize("n_rows", [300, 2000])
def test_bands_cover_truths_drawn_from_the_prior(n_rows):
    # Where the prior holds a band has the probability it claims, up to what the Beta
    # distribution and quantiles for bins change: 0.938 for both.
    found = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        x = rng.random(n_rows)
        n_bins = int(rng.choice([4, 8, 16, 32]))
        n_parts = int(rng.integers(1, n_bins + 1))
        cuts = np.sort(rng.choice(n_bins - 1, n_parts - 1, replace=False) + 1) / n_bins
        chances = rng.random(n_parts)[np.searchsorted(cuts, x)]
        if chances.min() > 0.01 and chances.max() < 0.99:
            found.append(covered(x, chances, rng))
    assert len(found) > 200
    assert 0.92 <= np.mean(found) <= 0.97
