"""Displays of partitions and of the search of weights."""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")


from bayesieve import MODLEncoder, PartitionDisplay, SelectiveNB, WeightHistoryDisplay


def table(n=600):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n) + y,
            "<b>colour</b>": np.where(
                rng.random(n) < 0.7, np.array(["red", "green", "blue"])[y], "grey"
            ),
        }
    )
    return frame, y


def test_partition():
    X, y = table()
    encoder = MODLEncoder().fit(X, y)
    display = PartitionDisplay.from_estimator(encoder, "size")
    partition = encoder.partitions_[0]
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == partition.labels
    widths = sum(
        np.array([bar.get_width() for bar in bars]) for bars in display.ax_.containers
    )
    np.testing.assert_allclose(widths, 1)
    assert len(display.ax_.containers) == 3
    assert "size" in display.ax_.get_title(loc="left")
    same = PartitionDisplay.from_estimator(encoder, 0, ax=display.ax_)
    assert same.ax_ is display.ax_


def test_names_with_formulas_stay_text():
    X, y = table()
    X = X.rename(columns={"size": "$\\frac{1$"})
    display = PartitionDisplay.from_estimator(SelectiveNB().fit(X, y), 0)
    display.figure_.canvas.draw()
    assert "frac{1" in display.ax_.get_title(loc="left")


def test_long_groups_leave_room_for_the_bars():
    rng = np.random.default_rng(0)
    values = np.array([f"a rather long name of a value, number {n}" for n in range(40)])
    picked = rng.integers(40, size=4000)
    y = (rng.random(4000) < np.where(picked % 2, 0.8, 0.2)).astype(int)
    encoder = MODLEncoder().fit(pd.DataFrame({"name": values[picked]}), y)
    display = PartitionDisplay.from_estimator(encoder, 0)
    display.figure_.canvas.draw()
    assert display.ax_.get_position().width > 0.3


def test_few_of_many_parts():
    x = np.arange(3000.0)
    y = (x // 50 % 2).astype(int)
    encoder = MODLEncoder().fit(x[:, None], y)
    assert encoder.partitions_[0].n_parts == 60
    display = PartitionDisplay.from_estimator(encoder, "x0")
    assert len(display.ax_.get_yticklabels()) == 40
    assert "largest 40" in display.ax_.get_title(loc="left")


def test_unknown_column():
    X, y = table()
    encoder = MODLEncoder().fit(X, y)
    with pytest.raises(ValueError, match="Got 'weight'"):
        PartitionDisplay.from_estimator(encoder, "weight")
    with pytest.raises(ValueError, match="below 2"):
        PartitionDisplay.from_estimator(encoder, 2)


def test_history():
    X, y = table()
    model = SelectiveNB(optimizer="vns", random_state=0).fit(X, y)
    display = WeightHistoryDisplay.from_estimator(model)
    best = display.ax_.lines[1].get_ydata()
    np.testing.assert_array_equal(best, model.history_[:, 3])
    seconds = WeightHistoryDisplay.from_estimator(model, against="seconds")
    assert seconds.ax_.get_xlabel() == "seconds"
    with pytest.raises(ValueError, match="against must be"):
        WeightHistoryDisplay.from_estimator(model, against="epoch")


def test_without_matplotlib(monkeypatch):
    X, y = table()
    encoder = MODLEncoder().fit(X, y)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        PartitionDisplay.from_estimator(encoder, 0)
