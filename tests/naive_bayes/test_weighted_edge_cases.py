"""Weighted classifiers at the edges: few rows, odd labels, streams, messages."""

from __future__ import annotations

import datetime
from decimal import Decimal

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

mpl.use("Agg")

from bayesieve import (
    AveragedNB,
    MODLEncoder,
    PartitionDisplay,
    SelectiveNB,
    WeightHistoryDisplay,
    compression_rate,
)
from bayesieve.weights import VNS, Auto, Gradient, MultiStart


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return rng.normal(size=(n, 3)) + np.outer(y, [2.0, 1.0, 0.0]), y


def test_a_first_chunk_longer_than_the_window_counts_whole():
    y = np.repeat([0, 1], 10_000)
    X = np.random.default_rng(0).normal(size=(20_000, 2)) + 2 * y[:, None]
    model = SelectiveNB().partial_fit(X, y)
    assert model.class_count_.tolist() == [10_000, 10_000]
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("size", [10, 400, 800, 1000, 3000])
def test_counts_do_not_depend_on_the_size_of_chunks(size):
    X, y = rows(4000)
    model = SelectiveNB(window=1000)
    for start in range(0, 4000, size):
        chunk = slice(start, start + size)
        model.partial_fit(X[chunk], y[chunk], classes=[0, 1])
    assert model.class_count_.tolist() == np.bincount(y).tolist()


@pytest.mark.parametrize("size", [10, 100, 1000])
def test_rows_fade_by_their_age_whatever_the_chunks(size):
    X, y = rows(4000)
    model = SelectiveNB(half_life=50.0, drift_detection=False)
    for start in range(0, 4000, size):
        chunk = slice(start, start + size)
        model.partial_fit(X[chunk], y[chunk], classes=[0, 1])
    expected = (0.5 ** (np.arange(4000) / 50)).sum()
    assert model.class_count_.sum() == pytest.approx(expected)


def test_known_categories_keep_their_group_after_fit_and_refresh():
    rng = np.random.default_rng(0)
    town = rng.choice(["a1", "a2", "a3", "b1", "b2", "b3"], size=3000)
    y = (rng.random(3000) < np.where(np.char.startswith(town, "a"), 0.9, 0.1)).astype(
        int
    )
    frame = pd.DataFrame({"town": town})
    model = SelectiveNB().fit(frame, y)
    some = np.flatnonzero(np.isin(town, ["a1", "b1"]))[:200]
    model.partial_fit(frame.iloc[some], y[some])
    model.refresh()
    chance = model.predict_proba(pd.DataFrame({"town": ["a3", "b3"]}))[:, 1]
    assert chance[0] > 0.8
    assert chance[1] < 0.2


def test_an_error_on_the_way_leaves_a_model_that_predicts():
    X, y = rows(600)

    def stop(state):
        raise RuntimeError("enough")

    model = SelectiveNB(callback=stop)
    with pytest.raises(RuntimeError, match="enough"):
        model.partial_fit(X, y)
    model.set_params(callback=None).partial_fit(X, y)
    before = model.predict_proba(X)
    model.set_params(callback=stop)
    shifted = X[:, ::-1].copy()
    with pytest.raises(RuntimeError, match="enough"):
        model.partial_fit(shifted, y).refresh()
    assert model.predict_proba(X).shape == before.shape
    model.set_params(callback=None).partial_fit(X, y)
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("size", [10, 29, 30, 100])
def test_drift_is_noticed_in_short_chunks(size):
    X, y = rows(6000)
    y[3000:] = 1 - y[3000:]
    model = SelectiveNB()
    for start in range(0, 6000, size):
        chunk = slice(start, start + size)
        model.partial_fit(X[chunk], y[chunk], classes=[0, 1])
    assert len(model.drifts_) >= 1
    assert abs(model.drifts_[0] - 3000) <= 100
    assert model.score(X[3000:], y[3000:]) > 0.8


def test_dates_of_any_unit_and_library_mean_the_same():
    days = pd.date_range("2020-01-01", periods=300, freq="D")
    y = (days.month > 6).astype(int)
    encoder = MODLEncoder().fit(pd.DataFrame({"day": days}), y)
    expected = encoder.transform(pd.DataFrame({"day": days}))
    polars = pl.DataFrame({"day": days.to_numpy()})
    for unit in ("ns", "us", "ms"):
        table = polars.with_columns(pl.col("day").cast(pl.Datetime(unit)))
        np.testing.assert_array_equal(encoder.transform(table), expected)
    as_date = polars.with_columns(pl.col("day").cast(pl.Date))
    np.testing.assert_array_equal(encoder.transform(as_date), expected)
    objects = pd.DataFrame({"day": pd.Series(list(days.date), dtype=object)})
    np.testing.assert_array_equal(encoder.transform(objects), expected)
    with pytest.raises(ValueError, match=r"held times when fitted .* such as 1\.5"):
        encoder.transform(pd.DataFrame({"day": [1.5]}))
    assert encoder.partitions_[0].labels[0] == "]-inf, 2020-06-30T12:00:00]"
    old = np.array(["1000-01-01"] * 50 + ["2020-01-01"] * 50, dtype="M8[s]")
    cut = MODLEncoder().fit(pd.DataFrame({"t": old}), np.repeat([0, 1], 50))
    assert cut.transform(pd.DataFrame({"t": old[[0, -1]]}))[:, 0].tolist() == [0, 1]
    assert datetime.date(2020, 1, 1) in objects["day"].tolist()


@pytest.mark.parametrize(
    "optimizer", ["gradient", VNS(effort=1), MultiStart(effort=1), "auto"]
)
def test_k_holds_on_streams(optimizer):
    X, y = rows(6000)
    model = SelectiveNB(optimizer=optimizer, k=1, random_state=0)
    for start in range(0, 6000, 500):
        chunk = slice(start, start + 500)
        model.partial_fit(X[chunk], y[chunk], classes=[0, 1])
        assert model.support_.sum() <= 1


@pytest.mark.parametrize("mask", [[True, False], [False, False, False, True]])
def test_a_mask_of_the_wrong_length_is_refused(mask):
    X, y = rows(50)
    with pytest.raises(ValueError, match="must have 3 booleans"):
        MODLEncoder(categorical_features=mask).fit(X, y)


def test_numbers_are_numbers_in_any_container():
    X, y = rows(100)
    expected = MODLEncoder().fit(X, y).levels_
    objects = X.astype(object)
    decimals = [[Decimal(repr(float(v))) for v in row] for row in X]
    for table in (
        objects,
        pd.DataFrame(objects),
        pd.DataFrame(decimals),
        X.tolist(),
        pl.DataFrame(X),
    ):
        encoder = MODLEncoder().fit(table, y)
        assert [p.kind for p in encoder.partitions_] == ["numerical"] * 3
        np.testing.assert_allclose(encoder.levels_, expected)
    mixed = MODLEncoder().fit([[1.5, "a"], [2.5, "b"], [3.5, "a"]], [0, 1, 0])
    assert [p.kind for p in mixed.partitions_] == ["numerical", "categorical"]


def test_names_in_pipelines():
    X, y = rows(60)
    frame = pd.DataFrame(X, columns=list("abc"))
    pipe = make_pipeline(SimpleImputer(), MODLEncoder()).fit(frame, y)
    assert pipe.get_feature_names_out().tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="should have length equal"):
        MODLEncoder().fit(X, y).get_feature_names_out(["a"])


def test_importances_of_ready_made_log_likelihoods():
    X, y = rows(300)
    logs = MODLEncoder(output="log_likelihood").fit(X, y).transform(X)
    model = SelectiveNB(input="log_likelihood").fit(logs, y)
    assert model.feature_importances_.shape == (3,)
    assert model.feature_importances_[0] > model.feature_importances_[2]


def test_messages():
    X, y = rows(60)
    frame = pd.DataFrame(X, columns=["Age In Years", "b", "c"])
    model = SelectiveNB().fit(frame, y)
    with pytest.raises(ValueError, match="Column 'Age In Years' held numbers"):
        model.predict(frame.assign(**{"Age In Years": "old"}))
    with pytest.raises(ValueError, match="first rows of a stream must have some"):
        SelectiveNB().partial_fit(X, y, classes=[0, 1], sample_weight=np.zeros(60))
    with pytest.raises(ValueError, match=r"finite numbers\. Got inf"):
        SelectiveNB(feature_cost=[np.inf, 1, 1]).fit(X, y)
    with pytest.raises(ValueError, match=r"finite numbers\. Got 'a'"):
        SelectiveNB(feature_cost=["a", 1, 1]).fit(X, y)
    with pytest.raises(ValueError, match="'start' parameter"):
        Gradient(start=["a", "b", "c"])
    with pytest.raises(AttributeError, match="not fitted"):
        _ = SelectiveNB().partitions_
    stream = SelectiveNB().partial_fit(X, y)
    with pytest.raises(ValueError, match="window cannot change"):
        stream.set_params(window=5).partial_fit(X, y)


def test_costs_in_a_series_go_by_label():
    X, y = rows(400)
    frame = pd.DataFrame(X, columns=list("abc"))
    costs = pd.Series({"b": 1e7, "a": 1.0})
    model = SelectiveNB(feature_cost=costs).fit(frame, y)
    assert model.weights_[1] == 0
    assert model.weights_[0] > 0


def test_the_last_column_can_go_too():
    X, y = rows(400)
    assert not SelectiveNB(optimizer=Auto(min_gain=10.0)).fit(X, y).weights_.any()


def test_a_new_fit_forgets_the_stream():
    X, y = rows(200)
    model = SelectiveNB().partial_fit(X, y).fit(X, y)
    assert not hasattr(model, "n_rows_seen_")


def test_compression_rate_wants_probabilities():
    with pytest.raises(ValueError, match="proba must hold probabilities"):
        compression_rate([0, 1], [[9, 1], [1, 9]], [0.5, 0.5])
    with pytest.raises(ValueError, match="prior must hold probabilities"):
        compression_rate([0, 1], [[0.5, 0.5], [0.5, 0.5]], [5, 5])
    with pytest.raises(ValueError, match="proba must hold probabilities"):
        compression_rate([0, 1], [[np.nan, 0.5], [0.5, 0.5]], [0.5, 0.5])
    with pytest.raises(ValueError, match="sorted and distinct"):
        compression_rate(["a"], [[0.5, 0.5]], [0.5, 0.5], classes=["b", "a"])
    with pytest.raises(ValueError, match="arrays of numbers"):
        compression_rate([0, 1], [[0.5, 0.5], [0.5, 0.5]], {"a": 1})


def test_tables_and_pictures():
    X, y = rows(300)
    model = SelectiveNB().fit(X, y)
    partition = model.partitions_[0]
    assert repr(partition) == str(partition.table()) == repr(partition.table())
    assert "<table>" in partition._repr_html_()
    with pytest.raises(ValueError, match=r"Got 1\.5"):
        PartitionDisplay.from_estimator(model, 1.5)
    with pytest.raises(TypeError, match="keeps no history"):
        WeightHistoryDisplay.from_estimator(AveragedNB().fit(X, y))
    words = np.array(["a\nb", "c"])[y]
    table = MODLEncoder().fit(pd.DataFrame({"w": words}), y).partitions_[0].table()
    assert len(str(table).splitlines()) == 4
    close = 1234567.5 + np.arange(40.0)
    labels = (
        MODLEncoder().fit(close[:, None], np.arange(40) // 20).partitions_[0].labels
    )
    assert labels[0] == "]-inf, 1234587]"


def test_unused_categories_are_not_shown():
    y = rows(200)[1]
    words = pd.Categorical(np.array(["u", "v"])[y], categories=["u", "v", "never"])
    partition = MODLEncoder().fit(pd.DataFrame({"w": words}), y).partitions_[0]
    assert "never" not in str(partition)


def test_huge_numbers_on_a_stream():
    y = np.arange(100) % 2
    X = np.where(y, 1.7e308, -1.7e308)[:, None]
    model = SelectiveNB().partial_fit(X, y)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("exponent", [0.95, 0.5])
def test_an_optimum_at_full_weights_is_not_lost_below_exponent_one(exponent):
    """All weights at one cannot be improved; the search returned its empty start."""
    X, y = rows(500)
    model = SelectiveNB(
        optimizer="convex", exponent=exponent, feature_cost=[0.0] * 3
    ).fit(X[:, [0, 1, 2]], y)
    assert model.weights_[0] > 0.5
