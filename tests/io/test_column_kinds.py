"""What columns are: numbers, dates, categories; guessed, said, or known before."""

from __future__ import annotations

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

from bayesieve.io._column_format import ColumnFormat, Marks  # noqa: E402
from bayesieve.io._column_kinds import (  # noqa: E402
    as_frame,
    read_as,
    read_column,
    read_columns,
)
from bayesieve.io._roles import left_out  # noqa: E402


def column(values, said=None, **marks):
    return read_column(pa.array(values, "string"), "c", said, Marks(**marks))


def test_plain_numbers_are_read_without_a_word():
    found = column(["1", "2.5", "", "NA", "-3e2"])
    assert found.kind == "number"
    np.testing.assert_array_equal(found.values, [1, 2.5, np.nan, np.nan, -300])
    assert (found.guessed, found.doubt) == ("", "")


def test_a_style_is_told_by_an_example():
    found = column(["25000,00", "3,5", "n/a"])
    np.testing.assert_array_equal(found.values, [25000, 3.5, np.nan])
    assert found.guessed == "25000,00 as 25000"
    assert found.doubt == ""


def test_doubt_names_both_readings_and_the_options():
    found = column(["25,000", "950"])
    assert found.values.tolist() == [25000, 950]
    for part in ("'25,000'", "25000", "could be 25", "--decimal ,", "--thousands ,"):
        assert part in found.doubt
    assert column(["25,000", "950"], decimal=",").values.tolist() == [25, 950]
    said = column(["25,000", "950"], thousands=",")
    assert (said.values.tolist(), said.doubt) == ([25000, 950], "")


def test_points_between_thousands_are_doubtful_beside_smaller_numbers():
    found = column(["1.250", "950", "2.000"])
    assert found.values.tolist() == [1.25, 950, 2]
    assert "--thousands ." in found.doubt
    assert column(["1.250", "950"], thousands=".").values.tolist() == [1250, 950]
    # Decimals that are all written out, or not by threes, leave no doubt.
    for values in (
        ["1.250", "9.500"],
        ["1.25", "950"],
        ["0.125", "7"],
        ["1.250", "2000"],
    ):
        assert column(values).doubt == ""


def test_sure_columns_speak_for_the_others_of_the_file():
    table = pa.table({"sure": ["3,5", "1"], "unsure": ["25,000", "950"]})
    _, unsure = read_columns(table, table.column_names)
    assert unsure.values.tolist() == [25, 950]
    assert unsure.doubt == ""
    assert unsure.guessed
    table = pa.table({"sure": ["1,000.5", "1"], "unsure": ["25,000", "950"]})
    assert read_columns(table, table.column_names)[1].values.tolist() == [25000, 950]


def test_few_strays_among_many_numbers_are_missing_and_told():
    found = column([*map(str, range(100)), "over 100", "ask"])
    assert found.kind == "number"
    assert np.isnan(found.values[-2:]).all()
    assert "2 values that are no numbers ('over 100', 'ask')" in found.guessed


def test_many_strays_make_a_category_with_a_warning():
    values = [*map(str, range(60)), *(f"x{i}" for i in range(40))]
    found = column(values)
    assert found.kind == "category"
    assert "60 %" in found.doubt
    assert "--types 'c=number'" in found.doubt
    said = column(values, "number")
    assert said.values[:60].tolist() == list(range(60))
    assert np.isnan(said.values[60:]).all()
    assert "40 values" in said.guessed


def test_codes_of_few_kinds_stay_categories():
    found = column(["1", "2", "3", "A"] * 50)
    assert (found.kind, found.doubt) == ("category", "")


def test_dates_that_can_be_read_in_two_ways():
    found = column(["01/02/2024", "03/04/2024"])
    assert found.kind == "date"
    assert "date:%m/%d/%Y" in found.doubt or "date:%d/%m/%Y" in found.doubt
    said = column(["01/02/2024", "03/04/2024"], "date:%m/%d/%Y")
    days = said.values.astype("M8[D]").astype(str).tolist()
    assert days == ["2024-01-02", "2024-03-04"]
    assert said.doubt == ""


@pytest.mark.parametrize(
    ("values", "said", "told"),
    [
        (["x", "y"], "number", "has none"),
        (["x", "y"], "date", "date:%d.%m.%Y"),
        (["2024-01-01"], "date:%d.%m.%Y", "as %d.%m.%Y"),
    ],
)
def test_what_was_said_and_is_not_so(values, said, told):
    with pytest.raises(ValueError, match="Column 'c' was said to hold") as caught:
        column(values, said)
    assert told in str(caught.value)


def test_said_categories_stay_as_they_are_written():
    assert column(["01", "1", ""], "category").values.tolist() == ["01", "1", None]
    assert column(["a b", ""], "text").values.tolist() == ["a b", ""]


def test_columns_with_types_keep_them():
    table = pa.table(
        {
            "whole": [2**60 + 1, 5],
            "truth": [True, None],
            "day": pa.array([0, 1], pa.date32()),
            "words": ["a", None],
            "written": ["1,5", "2"],
        }
    )
    read = read_columns(table, table.column_names)
    assert [own.kind for own in read] == [
        "number",
        "category",
        "date",
        "category",
        "number",
    ]
    frame = as_frame(read)
    assert frame["whole"].tolist() == [2**60 + 1, 5]
    assert frame["written"].tolist() == [1.5, 2.0]
    assert read_column(table["whole"], "whole", "category").values[1] == "5"


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.struct([("a", pa.int64())])])
def test_columns_of_lists_are_left_out(kind):
    read = read_column(pa.nulls(2, kind), "c")
    assert read.kind == left_out(read) == "nested"
    with pytest.raises(ValueError, match="was said to hold numbers, and holds"):
        read_column(pa.nulls(2, kind), "c", "number")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["01234", "98765", "NA"], "category"),
        (["0930", "1015"], "category"),
        (["01", "12", "07"], "number"),
        (["1234", "9876"], "number"),
        (["01234", "12"], "number"),
        (["0.50", "1.25"], "number"),
    ],
)
def test_codes_with_zeros_in_front(values, kind):
    read = read_column(pa.array(values), "zip")
    assert read.kind == kind
    assert bool(read.guessed) == (kind == "category")
    assert read_column(pa.array(values), "zip", "number").kind == "number"


def test_numbers_of_several_units_are_doubted():
    read = read_column(
        pa.array([f"{i} {'kg' if i % 2 else 'g'}" for i in range(20)]), "w"
    )
    assert read.kind == "category"
    assert "several units ('g', 'kg')" in read.doubt
    seats = read_column(pa.array([f"{i}{'ABCD'[i % 4]}" for i in range(20)]), "seat")
    assert seats.kind == "category"
    assert not seats.doubt


def test_dates_in_several_formats():
    days = ["2024-07-26", "26.07.2024", "2024-01-02 10:30:00"] * 4
    read = read_column(pa.array([*days, "0000-00-00", ""]), "day")
    assert read.kind == "date"
    assert read.guessed.startswith("dates written as ")
    assert np.isnat(read.values[-2:]).all()
    assert read.values[0] == read.values[1] == np.datetime64("2024-07-26")
    again = read_as(pa.table({"day": days}), ["day"], {"day": read.format})
    assert (again[0].values == read.values[:12]).all()


def test_days_and_months_in_both_orders_are_doubted():
    read = read_column(pa.array(["26/07/2024", "07/26/2024", "01/02/2024"] * 5), "day")
    assert read.kind == "category"
    assert "in an unknown way, or in several. --types 'day=date:" in read.doubt


def test_times_are_doubted():
    read = read_column(pa.array([f"{i}:{i:02}" for i in range(10, 24)]), "at")
    assert read.kind == "category"
    assert "has times, such as '10:10'" in read.doubt


def test_an_example_shows_what_is_not_plain():
    read = read_column(pa.array(["12345.67", "1,234.5", "7"]), "x")
    assert read.guessed == "1,234.5 as 1234.5"


def test_missing_strings_of_json():
    read = read_column(pa.array(["1.5", '"N/A"', "2"]), "x")
    assert read.kind == "number"
    np.testing.assert_array_equal(read.values, [1.5, np.nan, 2])


def test_dates_with_strays():
    days = [f"2024-01-{i:02}" for i in range(1, 29)] * 2
    read = read_column(pa.array([*days, "day"]), "day")
    assert read.kind == "date"
    assert "1 value that is no date ('day') as missing" in read.guessed


def test_what_is_read_later_is_read_alike():
    table = pa.table(
        {
            "money": ["$1.250,50", "$3"],
            "day": ["31.12.2024", "01.02.2024"],
            "town": ["Rom", "Bonn"],
            "age": [*map(str, range(2))],
        }
    )
    read = read_columns(table, table.column_names)
    formats = {own.name: ColumnFormat.from_dict(own.format.to_dict()) for own in read}
    assert formats == {own.name: own.format for own in read}
    later = pa.table(
        {
            "money": ["7", ""],
            "day": ["05.06.2024", ""],
            "town": ["Rom", "?"],
            "age": ["NA", "4"],
        }
    )
    again = {
        own.name: own.values for own in read_as(later, later.column_names, formats)
    }
    assert again["money"][0] == 7
    assert str(again["day"][0])[:10] == "2024-06-05"
    assert np.isnat(again["day"][1])
    assert list(again["town"]) == ["Rom", None]
    np.testing.assert_array_equal(again["age"], [np.nan, 4])


def test_numbers_written_in_another_way_later_are_refused():
    formats = {"c": ColumnFormat("number")}
    later = pa.table({"c": ["1.234,5", "2"]})
    with pytest.raises(ValueError, match="held numbers when the model was made"):
        read_as(later, ["c"], formats)
    found = read_as(later, ["c"], formats, Marks(",", "."))
    assert found[0].values.tolist() == [1234.5, 2]


@pytest.mark.parametrize(
    "values",
    [[1, 2, 3], [1, None, 3], [True, False, True], [True, None, False], [1.5, 2.0, 3]],
    ids=str,
)
def test_typed_columns_of_categories_are_read_as_when_the_model_was_made(values):
    # They were strings then and other values later: unseen, all of them.
    table = pa.table({"c": values})
    read = read_columns(table, ["c"], kinds={"c": "category"})[0]
    again = read_as(table, ["c"], {"c": read.format})[0]
    there = [own for own in again.values if own is not None and own == own]
    assert there
    assert all(isinstance(own, str) for own in there)
    assert [str(own) for own in read.values] == [str(own) for own in again.values]


def test_white_space_around_a_category_does_not_depend_on_the_rows_beside_it():
    formats = {"c": ColumnFormat("category")}
    for values in ([" a", "a ", "\u00a0a"], [" a", "b", "\tb"], [" ? ", '"NA"', "a"]):
        together = read_as(pa.table({"c": values}), ["c"], formats)[0].values.tolist()
        alone = [
            read_as(pa.table({"c": [own]}), ["c"], formats)[0].values[0]
            for own in values
        ]
        assert together == alone
        assert {*together} <= {"a", "b", None}
    kept = read_as(pa.table({"c": [" a", " b"]}), ["c"], formats, spaced=["c"])
    assert kept[0].values.tolist() == [" a", " b"]


def test_strays_of_training_are_missing_later_too():
    formats = {"c": ColumnFormat("number", strays=True)}
    found = read_as(pa.table({"c": ["1", "2", "ask"]}), ["c"], formats)
    assert np.isnan(found[0].values[2])
    with pytest.raises(ValueError, match="held numbers"):
        read_as(pa.table({"c": ["a", "b", "1"]}), ["c"], formats)


@pytest.mark.parametrize("first", [2**53, 10**17, 2**62])
def test_whole_numbers_beyond_doubles_stay_apart(first):
    values = [str(first + i) for i in range(40)]
    found = column(values)
    assert found.kind == "number"
    assert found.values.tolist() == [first + i for i in range(40)]
    known = read_as(pa.table({"c": values}), ["c"], {"c": found.format})
    assert known[0].values.tolist() == found.values.tolist()
    assert as_frame([found])["c"].tolist() == found.values.tolist()


def test_numbers_of_very_many_digits_are_categories():
    values = [str(10**25 + i) for i in range(5)] * 10
    found = column(values)
    assert found.kind == "category"
    assert found.values.tolist() == values
    assert "very many digits" in found.guessed
    assert column([*values, ""]).kind == "category"
    assert column(["1e20", "2e20"]).values.tolist() == [1e20, 2e20]


def test_few_values_that_are_none_are_missing_later_and_counted():
    formats = {"c": ColumnFormat("number"), "d": ColumnFormat("date", date="%d.%m.%Y")}
    rows = [*map(str, range(19)), "n/k"]
    days = ["05.06.2024"] * 18 + ["2024-06-05", "soon"]
    number, day = read_as(pa.table({"c": rows, "d": days}), ["c", "d"], formats)
    assert number.strays == (1, "n/k")
    assert np.isnan(number.values[-1])
    assert day.strays == (1, "soon")
    assert str(day.values[18])[:10] == "2024-06-05"
