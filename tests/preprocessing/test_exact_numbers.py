"""Integers beyond 2**53 and times in nanoseconds are cut exactly, or one is told."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesieve
from bayesieve import MODLEncoder
from bayesieve.exceptions import MergedValuesWarning
from bayesieve.feature_selection import MixedScreener
from bayesieve.naive_bayes import SelectiveNB
from bayesieve.utils._exact_numbers import choose_origin, whole_column

# Four neighbours that determine the class: 0, 1, 0, 1.
STEP = np.random.default_rng(0).permutation(np.repeat(np.arange(4), 60))
Y = STEP % 2
NANOSECONDS = pd.Timestamp("2024-02-03 04:05:06.123456").value + STEP


def datetimes(unit="ns"):
    return NANOSECONDS.astype("M8[ns]").astype(f"M8[{unit}]")


def holes(values, where=STEP == 0):
    """The first neighbour as a missing value."""
    return [None if none else v for v, none in zip(values, where, strict=True)]


LARGE = 2**60 + STEP
TABLES = {
    "int64": lambda: LARGE[:, None],
    "negative": lambda: (STEP - 2**61)[:, None],
    "uint64": lambda: (np.uint64(2**63) + STEP.astype(np.uint64))[:, None],
    "python": lambda: np.array([[10**30 + int(s)] for s in STEP], dtype=object),
    "pandas": lambda: pd.DataFrame({"a": LARGE}),
    "pandas Int64": lambda: pd.DataFrame({"a": pd.array(LARGE, dtype="Int64")}),
    "pandas arrow": lambda: pd.DataFrame({"a": pd.array(LARGE, "int64[pyarrow]")}),
    "polars": lambda: pl.DataFrame({"a": LARGE}),
    "polars UInt64": lambda: pl.DataFrame({"a": LARGE.astype(np.uint64)}),
    "missing": lambda: pd.DataFrame({"a": pd.array(holes(LARGE), dtype="Int64")}),
    "polars missing": lambda: pl.DataFrame({"a": holes(LARGE.tolist())}),
    "datetime64": lambda: datetimes()[:, None],
    "picoseconds": lambda: (datetimes("ps") + STEP)[:, None],
    "timedelta64": lambda: (NANOSECONDS.astype("m8[ns]"))[:, None],
    "pandas times": lambda: pd.DataFrame({"a": datetimes()}),
    "pandas zone": lambda: pd.DataFrame(
        {"a": pd.Series(datetimes()).dt.tz_localize("Europe/Paris")}
    ),
    "pandas NaT": lambda: pd.DataFrame({"a": pd.Series(holes(datetimes()))}),
    "Timestamps": lambda: np.array([[pd.Timestamp(t)] for t in datetimes()], object),
    "polars times": lambda: pl.DataFrame(
        {"a": pl.Series(NANOSECONDS).cast(pl.Datetime("ns"))}
    ),
    "polars durations": lambda: pl.DataFrame(
        {"a": pl.Series(NANOSECONDS).cast(pl.Duration("ns"))}
    ),
    "late microseconds": lambda: (
        np.datetime64("2900-01-01", "us") + STEP.astype("m8[us]")
    )[:, None],
}


@pytest.fixture(params=TABLES)
def table(request):
    return TABLES[request.param]()


def test_neighbours_are_cut_and_found_again(table):
    encoder = MODLEncoder().fit(table, Y)
    plain = MODLEncoder().fit(STEP[:, None].astype(float), Y)
    assert encoder.levels_.tolist() == plain.levels_.tolist()
    assert encoder.partitions_[0].parts.exact
    np.testing.assert_array_equal(encoder.transform(table).ravel(), STEP)
    assert len(set(encoder.partitions_[0].labels)) == 4


def test_classifiers_learn_from_neighbours(table):
    model = SelectiveNB().fit(table, Y)
    np.testing.assert_array_equal(model.predict(table), Y)
    stream = SelectiveNB().partial_fit(table, Y, classes=[0, 1])
    stream.partial_fit(table, Y)
    stream.refresh()
    np.testing.assert_array_equal(stream.predict(table), Y)


def test_saved_models_keep_what_is_exact(table, tmp_path):
    for model in (MODLEncoder().fit(table, Y), SelectiveNB().fit(table, Y)):
        bayesieve.save_model(model, tmp_path / "model")
        again = bayesieve.load_model(tmp_path / "model")
        assert [p.labels for p in again.partitions_] == [
            p.labels for p in model.partitions_
        ]
        use = "transform" if hasattr(model, "transform") else "predict_proba"
        found, expected = (getattr(one, use)(table) for one in (again, model))
        np.testing.assert_array_equal(found, expected)


def test_bounds_are_shown_to_the_last_digit():
    encoder = MODLEncoder().fit(LARGE[:, None], Y)
    (partition,) = encoder.partitions_
    assert partition.labels[1] == "]1152921504606846976, 1152921504606846977]"
    np.testing.assert_array_equal(encoder.transform(LARGE[:, None]).ravel(), STEP)
    (partition,) = MODLEncoder().fit(datetimes()[:, None], Y).partitions_
    assert partition.labels[0] == "]-inf, 2024-02-03T04:05:06.123456000]"


def test_new_values_fall_where_they_belong():
    encoder = MODLEncoder().fit(LARGE[:, None], Y)
    new = np.array([[-(2**63)], [0], [2**60 - 1], [2**60 + 2], [2**60 + 9], [2**62]])
    assert encoder.transform(new).ravel().tolist() == [0, 0, 0, 2, 3, 3]
    assert encoder.transform(new.astype(float)[[0, 1, 5]]).ravel().tolist() == [0, 0, 3]
    # In another unit or container the same moments are the same.
    encoder = MODLEncoder().fit(datetimes()[:, None], Y)
    stamps = np.array([[pd.Timestamp(t)] for t in datetimes()], dtype=object)
    np.testing.assert_array_equal(encoder.transform(stamps).ravel(), STEP)
    coarse = np.array([["2024-02-03T04:05:06.123456"], ["2030-01-01"]], dtype="M8[us]")
    assert encoder.transform(coarse).ravel().tolist() == [0, 3]


def test_screening_tells_neighbours_apart(tmp_path):
    X = pd.DataFrame({"a": 2**60 + 3 * Y + STEP // 2, "b": np.zeros(240)})
    plain = X.assign(a=X["a"] - 2**60)
    found, expected = MixedScreener().fit(X, Y), MixedScreener().fit(plain, Y)
    np.testing.assert_allclose(found.gains_, expected.gains_, rtol=1e-12)
    parts = MixedScreener()
    for rows in (slice(0, 100), slice(100, 240)):
        parts.partial_fit(X[rows], Y[rows], classes=[0, 1])
    np.testing.assert_allclose(parts.gains_, expected.gains_, rtol=1e-12)
    bayesieve.save_model(parts, tmp_path / "model")
    again = bayesieve.load_model(tmp_path / "model").partial_fit(X, Y)
    np.testing.assert_array_equal(again.gains_, parts.partial_fit(X, Y).gains_)


@given(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 52),
    st.lists(st.integers(0, 2**53), min_size=8, max_size=60),
    st.randoms(use_true_random=False),
)
@settings(max_examples=60)
def test_the_partition_is_that_of_the_ranks(start, bits, steps, random):
    # Only the order of the values matters: their ranks are the oracle.
    values = [min(max(start + (s >> bits), -(2**63)), 2**63 - 1) for s in steps]
    column = np.array([values], dtype=np.int64).T
    y = np.array([random.random() < 0.2 + 0.6 * (v % 2) for v in values])
    y[:2] = [False, True]
    ranks = np.unique(column, return_inverse=True)[1].reshape(-1, 1).astype(float)
    exact, ranked = MODLEncoder().fit(column, y), MODLEncoder().fit(ranks, y)
    assert exact.levels_.tolist() == ranked.levels_.tolist()
    np.testing.assert_array_equal(exact.transform(column), ranked.transform(ranks))


def test_far_values_take_nothing_from_the_others():
    # The largest integer for "none" beside small numbers, or beside large ones.
    for column in (STEP, LARGE):
        column = column.astype(np.int64)
        column[:7] = 2**63 - 1
        encoder = MODLEncoder().fit(column[:, None], Y)
        kept = np.arange(240) >= 7
        parts = encoder.transform(column[:, None]).ravel()
        np.testing.assert_array_equal(parts[kept] == 3, STEP[kept] == 3)
    dates = np.array(["2020-01-01"] * 240, dtype="M8[us]") + STEP.astype("m8[us]")
    dates[:7] = np.datetime64("9999-12-31")
    assert choose_origin(whole_column(dates)) is None
    assert MODLEncoder().fit(dates[:, None], Y).levels_[0] > 0.5


def test_ordinary_columns_have_no_origin():
    days = np.arange("1900-01-01", "2100-01-01", dtype="M8[D]")
    for column in (
        days,
        days.astype("M8[ns]") + np.timedelta64(1, "us"),
        days.astype("M8[ms]"),
        np.array([-(2**53), 0, 2**53]),
        pl.Series([datetime(2020, 1, 1, 1, 2, 3, 4)]),
    ):
        assert choose_origin(whole_column(column)) is None
    for column in (np.array([0.5]), np.arange(3, dtype=np.int32), np.array(["a"])):
        assert whole_column(column) is None


MERGED = {
    "integers": lambda: np.array([[int(s) + 2**62 * (s > 1)] for s in STEP]),
    "times": lambda: (NANOSECONDS + (STEP > 1) * (10**18)).astype("M8[ns]")[:, None],
    "decimals": lambda: np.array([[Decimal(f"1.{s:030}")] for s in STEP], object),
    "long doubles": lambda: (1 + STEP * np.finfo(np.longdouble).eps)[:, None],
}


@pytest.mark.parametrize("kind", MERGED)
def test_what_cannot_be_exact_is_told(kind):
    X = MERGED[kind]()
    if kind == "long doubles" and np.finfo(np.longdouble).eps == np.finfo(float).eps:
        pytest.skip("long doubles are doubles here")
    with pytest.warns(MergedValuesWarning, match="[Cc]olumn 0 holds .* of its 4 "):
        encoder = MODLEncoder().fit(X, Y)
    encoder.transform(X)  # said once, where one learns
    with pytest.warns(MergedValuesWarning):
        model = SelectiveNB().partial_fit(X, Y, classes=[0, 1])
    with pytest.warns(MergedValuesWarning):
        model.partial_fit(X, Y)


def test_integers_that_grow_large_in_a_stream_are_told():
    model = SelectiveNB().partial_fit(STEP[:, None], Y, classes=[0, 1])
    with pytest.warns(MergedValuesWarning, match="integers"):
        model.partial_fit(LARGE[:, None], Y)
