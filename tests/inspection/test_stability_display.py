"""The picture of selection frequencies."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from bayesieve import NaiveFeatureSelector, StabilityDisplay, stability_selection


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = rng.poisson(1.0, size=(300, 60))
    X[:, :3] += rng.poisson(2.0 * y[:, None], size=(300, 3))
    return X, y


def names(display):
    return [tick.get_text() for tick in display.ax_.get_yticklabels()]


def test_the_most_frequent_come_first_with_the_bound_below(rows):
    found = stability_selection(NaiveFeatureSelector(4), *rows, random_state=0)
    display = StabilityDisplay(found).plot()
    assert sorted(names(display)[:3]) == ["x0", "x1", "x2"]
    assert "0.33 expected right of the line by chance" in display.ax_.get_xlabel()
    shown = display.ax_.get_lines()[0].get_xdata()
    assert shown.tolist() == found.frequencies_[found.selected()].tolist()


def test_names_a_limit_and_axes_of_ones_own(rows):
    words = [f"$w_{j}$" for j in range(60)]
    _, own = plt.subplots()
    display = StabilityDisplay.from_estimator(
        NaiveFeatureSelector(4),
        *rows,
        max_features=2,
        feature_names=words,
        ax=own,
        method="bootstrap",
        random_state=0,
    )
    assert display.ax_ is own
    assert sorted(names(display)) == ["$w_1$", "$w_2$"]
    assert "more not shown" in own.get_title(loc="left")
    assert "chance" not in own.get_xlabel()
    display.figure_.canvas.draw()


def test_what_cannot_be_drawn_is_refused(rows):
    with pytest.raises(TypeError, match="draws the result of stability_selection"):
        StabilityDisplay(np.ones(3))
    found = stability_selection(NaiveFeatureSelector(4), *rows, random_state=0)
    with pytest.raises(ValueError, match="max_features must be an int >= 1"):
        StabilityDisplay(found).plot(max_features=0)
    with pytest.raises(ValueError, match="one name per feature, 60 in all"):
        StabilityDisplay(found).plot(feature_names=["a"])
