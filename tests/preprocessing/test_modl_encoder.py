"""MODLEncoder: worked examples, kinds of columns, missing and unseen values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayesieve import AveragedNB, MODLEncoder, SelectiveNB


def example_one():
    x = np.arange(1.0, 21.0)
    y = np.where((x <= 7) | (x == 9) | (x == 10), "n", "p")
    return pd.DataFrame({"x": x, "other": 0.0}), y


def example_two():
    counts = {"a": (9, 1), "b": (8, 2), "c": (1, 9), "d": (2, 8), "e": (5, 5)}
    values = [v for v, (n, p) in counts.items() for _ in range(n + p)]
    labels = [c for n, p in counts.values() for c in ["n"] * n + ["p"] * p]
    return pd.DataFrame({"x": values}), np.array(labels)


def test_worked_example_of_a_numerical_column():
    X, y = example_one()
    encoder = MODLEncoder().fit(X, y)
    partition = encoder.partitions_[0]
    np.testing.assert_array_equal(partition.counts, [[9, 1], [0, 10]])
    assert partition.parts.bounds == pytest.approx([10.5])
    assert partition.parts.granularity == 1
    np.testing.assert_allclose(
        encoder.costs_[0], [2 * np.log(2), 5.440894, 2.302585], atol=5e-7
    )
    # ln 2 + ln 21 + ln C(20, 9); the last one is 12.031482.
    assert encoder.null_cost_ == pytest.approx(
        0.693147 + 3.044522 + 12.031482, abs=2e-6
    )
    assert encoder.levels_[0] == pytest.approx(0.421036, abs=5e-7)
    assert encoder.levels_[1] == 0


def test_worked_example_of_a_categorical_column():
    X, y = example_two()
    encoder = MODLEncoder().fit(X, y)
    partition = encoder.partitions_[0]
    groups = dict(zip(partition.values, partition.parts.group.tolist(), strict=True))
    assert groups["a"] == groups["b"] != groups["c"] == groups["d"] == groups["e"]
    assert partition.cost.preparation == pytest.approx(12.087, abs=5e-4)
    assert partition.cost.data == pytest.approx(22.6212, abs=5e-5)
    assert partition.level == pytest.approx(0.0456705, abs=5e-8)
    assert partition.parts.granularity == 3


def mixed(rng, n=600):
    y = rng.integers(3, size=n)
    frame = pd.DataFrame(
        {
            "shift": rng.normal(size=n) + y,
            "noise": rng.normal(size=n),
            "colour": np.where(
                rng.random(n) < 0.7, np.array(["red", "green", "blue"])[y], "grey"
            ),
            "flag": rng.random(n) < 0.2 + 0.3 * y,
            "constant": 1.0,
            "empty": np.nan,
        }
    )
    frame.loc[rng.random(n) < 0.2 * (y == 1), "shift"] = np.nan
    frame.loc[rng.random(n) < 0.1, "colour"] = None
    return frame, y


def test_parts_and_counts_agree():
    X, y = mixed(np.random.default_rng(0))
    encoder = MODLEncoder().fit(X, y)
    parts = encoder.transform(X)
    assert parts.shape == X.shape
    for j, partition in enumerate(encoder.partitions_):
        again = np.zeros_like(partition.counts)
        np.add.at(again, (parts[:, j], y), 1)
        np.testing.assert_array_equal(again, partition.counts)
    assert (encoder.levels_ > 0).tolist() == [True, False, True, True, False, False]


@pytest.mark.parametrize("criterion", ["khiops", "classical"])
def test_log_likelihoods(criterion):
    X, y = mixed(np.random.default_rng(1))
    encoder = MODLEncoder(criterion=criterion, output="log_likelihood").fit(X, y)
    logs = encoder.transform(X)
    assert logs.shape == (600, 18)
    names = encoder.get_feature_names_out()
    assert names[0] == "shift__0"
    assert names[-1] == "empty__2"
    eps = 1 / 601
    partition = encoder.partitions_[2]
    parts = MODLEncoder(criterion=criterion).fit(X, y).transform(X)
    expected = np.log(
        (partition.counts + eps) / (encoder.class_count_ + partition.n_parts * eps)
    )
    np.testing.assert_allclose(logs[:, 6:9], expected[parts[:, 2]])
    # Columns that say nothing say it in every class alike.
    np.testing.assert_array_equal(logs[:, 3:6], 0)


def test_polars_and_pandas_agree():
    X, y = mixed(np.random.default_rng(2))
    from_pandas = MODLEncoder().fit(X, y)
    table = pl.from_pandas(X)
    from_polars = MODLEncoder().fit(table, y)
    np.testing.assert_array_equal(from_pandas.levels_, from_polars.levels_)
    np.testing.assert_array_equal(
        from_pandas.transform(X), from_polars.transform(table)
    )
    np.testing.assert_array_equal(from_pandas.transform(X), from_polars.transform(X))


def test_columns_are_matched_by_name():
    X, y = mixed(np.random.default_rng(3))
    encoder = MODLEncoder().fit(X, y)
    shuffled = X[["empty", "flag", "colour", "noise", "shift", "constant"]]
    np.testing.assert_array_equal(encoder.transform(shuffled), encoder.transform(X))
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now"):
        encoder.transform(X.drop(columns="flag"))
    with pytest.raises(ValueError, match="Feature names unseen at fit time"):
        encoder.transform(X.assign(new=1))


def test_unseen_values_fall_in_the_default_group():
    X, y = example_two()
    encoder = MODLEncoder().fit(X, y)
    default = encoder.partitions_[0].parts.default_group
    seen = encoder.transform(pd.DataFrame({"x": ["zebra", None, "a"]}))
    assert seen[:, 0].tolist() == [default, default, encoder.transform(X)[0, 0]]


OTHER_KINDS = {
    "integers": [1, 2],
    "floats": [1.0, np.nan],
    "booleans": [True, False],
    "integers as categories": pd.Categorical([1, 2]),
    "bytes": [b"1", None],
}


@pytest.mark.parametrize("came", OTHER_KINDS.values(), ids=OTHER_KINDS)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_of_another_kind_are_refused(came, library):
    # They used to be unseen, all of them, without a word.
    y = np.array([0, 1] * 200)
    town = np.where(y == 1, "1", "2").astype(object)
    kind = "values of type bytes" if came[0] == b"1" else "numbers"
    told = (
        r"^Column 'town' held strings when fitted and must hold strings now\. "
        rf"Got {kind} such as "
    )
    rows = pd.DataFrame({"town": came})
    if library == "polars":
        if isinstance(came, pd.Categorical):
            pytest.skip("categories of polars are strings")
        rows = pl.DataFrame({"town": came})
    for model in (MODLEncoder(), SelectiveNB(), AveragedNB()):
        model.fit(pd.DataFrame({"town": town}), y)
        with pytest.raises(ValueError, match=told):
            getattr(model, "predict", getattr(model, "transform", None))(rows)


def test_strings_in_place_of_booleans_or_numbered_categories_are_refused():
    y = np.array([0, 1] * 200)
    table = pd.DataFrame({"flag": y == 1, "code": pd.Categorical(y + 3)})
    model = SelectiveNB().fit(table, y)
    told = r"^Column 'flag' held numbers when fitted .*\. Got strings such as 'False'"
    with pytest.raises(ValueError, match=told):
        model.predict(table.assign(flag=table["flag"].astype(str)))
    with pytest.raises(ValueError, match=r"^Column 'code' held .* such as '3'"):
        model.predict(table.assign(code=table["code"].astype(str)))
    # Equal values are known whatever their type, and missing ones are of any kind.
    same = table.assign(flag=y, code=y + 3.0)
    np.testing.assert_array_equal(model.predict(same), model.predict(table))
    model.predict(table.assign(flag=np.nan))
    stream = SelectiveNB().partial_fit(table, y)
    with pytest.raises(ValueError, match="Column 'flag' held numbers"):
        stream.partial_fit(table.assign(flag="yes"), y)


def test_missing_values_form_their_own_interval_if_they_tell():
    rng = np.random.default_rng(4)
    x = rng.normal(size=400)
    y = rng.integers(2, size=400)
    x[(y == 1) & (rng.random(400) < 0.6)] = np.nan
    encoder = MODLEncoder().fit(x[:, None], y)
    partition = encoder.partitions_[0]
    assert partition.parts.missing_alone
    assert partition.labels[0] == "missing"
    assert partition.counts[0, 0] == 0
    assert encoder.transform([[np.nan], [-1e9], [0.0]])[:, 0].tolist() == [0, 1, 1]


def test_values_at_a_bound_go_left():
    X, y = example_one()
    encoder = MODLEncoder().fit(X, y)
    bound = encoder.partitions_[0].parts.bounds[0]
    table = pd.DataFrame({"x": [bound, np.nextafter(bound, np.inf)], "other": 0.0})
    assert encoder.transform(table)[:, 0].tolist() == [0, 1]


def test_weight_two_is_the_row_twice():
    X, y = mixed(np.random.default_rng(5), n=200)
    weights = np.random.default_rng(6).integers(0, 3, 200)
    repeated = np.repeat(np.arange(200), weights)
    weighted = MODLEncoder().fit(X, y, sample_weight=weights)
    plain = MODLEncoder().fit(X.iloc[repeated], y[repeated])
    np.testing.assert_allclose(weighted.levels_, plain.levels_, atol=1e-12)
    np.testing.assert_array_equal(weighted.transform(X), plain.transform(X))


def test_a_table_to_read():
    X, y = example_two()
    table = MODLEncoder().fit(X, y).partitions_[0].table()
    assert str(table).splitlines()[0] == "x: 2 groups, level 0.0457"
    assert list(pd.DataFrame(table).columns) == [
        "part",
        "rows",
        "share",
        "P(n)",
        "P(p)",
    ]
    assert len(table) == 2
    assert "or unseen" in str(table)


def test_names_are_escaped_in_notebooks():
    X, y = example_two()
    X = X.rename(columns={"x": "<script>alert(1)</script>"})
    html = MODLEncoder().fit(X, y).partitions_[0].table()._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_set_output():
    X, y = mixed(np.random.default_rng(7))
    encoder = MODLEncoder().set_output(transform="pandas").fit(X, y)
    assert list(encoder.transform(X).columns) == list(X.columns)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.ones((3, 2)), [0, 0, 0], "needs at least two classes"),
        (np.ones((3, 2)), [0, 1], "same number of rows"),
        (np.empty((0, 2)), [], "minimum of 1 is required"),
        (np.array([[1.0], [np.inf]]), [0, 1], "Got inf at row 1 of column 0"),
    ],
)
def test_bad_input(X, y, message):
    with pytest.raises(ValueError, match=message):
        MODLEncoder().fit(X, y)


def test_columns_without_information_are_one_part():
    X = np.column_stack([np.ones(50), np.full(50, np.nan), np.arange(50) % 2])
    y = np.arange(50) // 2 % 2
    encoder = MODLEncoder().fit(X, y)
    assert (encoder.levels_ == 0).all()
    assert [partition.n_parts for partition in encoder.partitions_] == [1, 1, 1]
    assert encoder.partitions_[0].labels == ["all values"]
    assert (encoder.transform(X) == 0).all()


def test_dates_are_cut_like_numbers():
    days = pd.date_range("2020-01-01", periods=200, freq="D")
    y = (days.month > 3).astype(int)
    encoder = MODLEncoder().fit(pd.DataFrame({"day": days}), y)
    assert encoder.partitions_[0].n_parts == 2
    assert encoder.levels_[0] > 0.8
