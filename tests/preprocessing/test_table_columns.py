"""Columns of frames and arrays, read as numbers or levels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayesieve.preprocessing._table_columns import (
    TableReader,
    match_by_name,
    read_levels,
)


def decoded(level):
    return [level.values[code] for code in level.codes]


PANDAS = pd.DataFrame(
    {
        "float": [1.5, np.nan, 2.5],
        "int": [1, 2, 3],
        "nullable": pd.array([1, None, 3], dtype="Int64"),
        "text": ["a", None, "b"],
        "string": pd.array(["a", None, "b"], dtype="string"),
        "category": pd.Categorical(["u", "v", None], categories=["v", "u", "w"]),
        "bool": [True, False, True],
        "boolean": pd.array([True, None, False], dtype="boolean"),
        "date": pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
        "object": pd.Series([1, "x", 2.5], dtype=object),
        "nothing": pd.Series([None, None, None], dtype=object),
    }
)
POLARS = pl.DataFrame(
    {
        "float": [1.5, None, 2.5],
        "int": [1, 2, 3],
        "text": ["a", None, "b"],
        "category": pl.Series(["u", "v", None], dtype=pl.Categorical),
        "bool": [True, None, False],
        "date": pl.Series(["2020-01-01", None, "2020-01-03"]).str.to_date(),
    }
)


def test_pandas_kinds():
    reader, numbers, levels = TableReader.from_table(PANDAS, "from_dtype")
    numeric = [PANDAS.columns[j] for j in reader.numeric_columns]
    assert numeric == ["float", "int", "nullable", "date"]
    np.testing.assert_array_equal(numbers[:, 0], [1.5, np.nan, 2.5])
    np.testing.assert_array_equal(numbers[:, 2], [1, np.nan, 3])
    assert np.isnan(numbers[1, 3])
    assert numbers[2, 3] > numbers[0, 3]
    found = {
        PANDAS.columns[j]: decoded(level)
        for j, level in zip(reader.categorical_columns, levels, strict=True)
    }
    assert found["text"] == found["string"] == ["a", None, "b"]
    assert found["category"] == ["u", "v", None]
    assert found["bool"] == [True, False, True]
    assert found["boolean"] == [True, None, False]
    assert found["object"] == [1, "x", 2.5]
    assert found["nothing"] == [None, None, None]


def test_polars_kinds():
    reader, numbers, levels = TableReader.from_table(POLARS, "from_dtype")
    numeric = [POLARS.columns[j] for j in reader.numeric_columns]
    assert numeric == ["float", "int", "date"]
    np.testing.assert_array_equal(numbers[:, 0], [1.5, np.nan, 2.5])
    assert np.isnan(numbers[1, 2])
    assert [decoded(level) for level in levels] == [
        ["a", None, "b"],
        ["u", "v", None],
        [True, None, False],
    ]


@pytest.mark.parametrize("kind", [list, np.array, pl.Series, pd.Series])
def test_levels_of_any_column(kind):
    values = ["b", "a", "b", "c"]
    column = kind(values) if kind is not list else np.array(values, dtype=object)
    assert decoded(read_levels(column, "x")) == values


@pytest.mark.parametrize("dtype", [object, "str", "string", "string[python]"])
def test_strings_with_null_characters_are_told_apart(dtype):
    # pandas.factorize reads such strings up to the null character.
    values = ["a", "a\0", "a\0b", "a\0c", "a"]
    level = read_levels(pd.Series(values, dtype=dtype), "x")
    assert level.values == values[:4]
    assert decoded(level) == values
    gone = pd.Series([*values, None], dtype=dtype)
    assert decoded(read_levels(gone, "x")) == [*values, None]


def test_all_kinds_of_missing_are_one_level():
    column = np.array([None, float("nan"), np.nan, pd.NA, pd.NaT, "a"], dtype=object)
    level = read_levels(column, "x")
    assert level.values == ["a", None]
    assert decoded(level) == [None] * 5 + ["a"]


def test_unhashable_values_are_refused():
    column = np.empty(2, dtype=object)
    column[:] = [["a"], ["b"]]
    with pytest.raises(TypeError, match="categorical column must hold strings"):
        read_levels(column, "column 'x'")


@pytest.mark.parametrize(
    ("chosen", "categorical"),
    [
        ("from_dtype", [False, False, True]),
        (["n"], [False, True, True]),
        ([1], [False, True, True]),
        ([-3], [True, False, True]),
        ([True, False, False], [True, False, True]),
        ("n", [False, True, True]),
    ],
)
def test_categorical_features(chosen, categorical):
    frame = pd.DataFrame({"x": [1.0, 2.0], "n": [1, 2], "t": ["a", "b"]})
    reader, _, _ = TableReader.from_table(frame, chosen)
    assert reader.categorical.tolist() == categorical


def test_unknown_categorical_feature():
    frame = pd.DataFrame({"x": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"categorical_features must be .* Got 'y'"):
        TableReader.from_table(frame, ["y"])


def test_infinity_is_named():
    frame = pd.DataFrame({"x": [1.0, 2.0], "size": [1.0, np.inf]})
    with pytest.raises(ValueError, match="Got inf at row 1 of column 'size'"):
        TableReader.from_table(frame, "from_dtype")
    with pytest.raises(ValueError, match="Got -inf at row 0 of column 1"):
        TableReader.from_table(np.array([[1.0, -np.inf]]), "from_dtype")


def test_huge_numbers_are_not_infinite():
    X = np.array([[1e308, 2.0], [1e308, 1.0]])
    _, numbers, _ = TableReader.from_table(X, "from_dtype")
    np.testing.assert_array_equal(numbers, X)


def test_words_in_a_column_of_numbers():
    reader, _, _ = TableReader.from_table(pd.DataFrame({"x": [1.0, 2.0]}), "from_dtype")
    with pytest.raises(ValueError, match=r"Column 'x' held numbers .* such as 'a'"):
        reader.read(pd.DataFrame({"x": ["a", None]}))
    numbers, _ = reader.read(pd.DataFrame({"x": [None, None]}, dtype=object))
    assert np.isnan(numbers).all()


def test_duplicate_names():
    frame = pd.DataFrame([[1.0, 2.0]], columns=["x", "x"])
    with pytest.raises(ValueError, match=r"names must differ\. Got 'x' more than once"):
        TableReader.from_table(frame, "from_dtype")


def test_match_by_name():
    frame = pd.DataFrame({"b": [1], "a": [2]})
    assert list(match_by_name(frame, ["a", "b"]).columns) == ["a", "b"]
    assert match_by_name(frame, ["b", "a"]) is frame
    assert match_by_name(frame, ["a", "c"]) is frame  # scikit-learn says what is wrong
    assert match_by_name(POLARS, POLARS.columns[::-1]).columns == POLARS.columns[::-1]


# ------------------------------------------------------------------------------ texts

NOTES = [f"the {i}th note says a few words" for i in range(8)]


@pytest.mark.parametrize("library", ["pandas", "polars", "array"])
def test_columns_of_texts_are_found(library):
    frame = pd.DataFrame(
        {
            "x": range(8),
            "note": NOTES,
            "town": ["Rome", "Lima"] * 4,
            "id": list("abcdefgh"),
        }
    )
    X = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "array": frame.to_numpy(dtype=object),
    }[library]
    reader, _, levels = TableReader.from_table(X, "from_dtype", "auto")
    assert reader.text.tolist() == [False, True, False, False]
    assert reader.text_columns.tolist() == [1]
    assert reader.categorical.tolist() == [False, True, True, True]
    assert levels[0].values == [None]  # what it says is in its texts
    assert reader.texts(X) == [NOTES]
    # Encoders and others that do not ask for texts have none.
    assert not TableReader.from_table(X, "from_dtype")[0].text.any()


def test_missing_texts_are_empty_and_do_not_hide_a_column_of_texts():
    column = pd.Series([*NOTES, None, np.nan, pd.NA], dtype=object)
    reader, _, _ = TableReader.from_table(column.to_frame("note"), "from_dtype", "auto")
    assert reader.text.tolist() == [True]
    assert reader.texts(column.to_frame("note")) == [[*NOTES, "", "", ""]]
    gone = pd.DataFrame({"note": [np.nan, np.nan]})
    assert reader.texts(gone) == [["", ""]]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(NOTES, dtype="category"),
        pl.Series(NOTES, dtype=pl.Categorical),
        pd.Series([*NOTES[:-1], 5], dtype=object),
        pd.Series(["yes", "no"] * 4),
    ],
    ids=["category", "Categorical", "with a number", "names"],
)
def test_what_is_not_read_as_texts(column):
    frame = type(column)(column).to_frame("note")
    reader, _, _ = TableReader.from_table(frame, "from_dtype", "auto")
    assert not reader.text.any()


def test_text_columns_must_hold_strings():
    frame = pd.DataFrame({"x": [1.0, 2.0], "note": NOTES[:2]})
    told = r"strings or missing values\. Got 1\.0 at row 0 of column 'x'"
    reader, _, _ = TableReader.from_table(frame, "from_dtype", ["x"])
    with pytest.raises(ValueError, match=told):
        reader.texts(frame)
    with pytest.raises(ValueError, match=r"not both\. Got column 'note' in both"):
        TableReader.from_table(frame, ["note"], ["note"])
