"""Dates as people write them."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

from bayesieve.io._date_styles import ISO, dates, guess_dates  # noqa: E402


@pytest.mark.parametrize(
    ("values", "format"),
    [
        (["2024-12-31", "2024-01-02"], ISO),
        (["2024-12-31 10:00:00", "2024-01-02T11:00"], ISO),
        (["31.12.2024", "01.02.2024"], "%d.%m.%Y"),
        (["31/12/2024", "01/02/2024"], "%d/%m/%Y"),
        (["12/31/2024", "01/02/2024"], "%m/%d/%Y"),
        (["2024/12/31"], ISO),
        (["12/31/24 10:30"], "%m/%d/%y %H:%M"),
        (["31.12.2024 23:59:59"], "%d.%m.%Y %H:%M:%S"),
        (["Dec 31, 2024", "Jan 1, 2025"], "%b %d, %Y"),
        (["31 December 2024"], "%d %B %Y"),
        (["31-Dec-2024"], "%d-%b-%Y"),
        (["Tue 31 Dec 2024"], "%a %d %b %Y"),
        (["Tue, 31 Dec 2024 10:30:00 +0000"], "%a, %d %b %Y %H:%M:%S %z"),
        (["Tue Dec 31 10:30:00 +0000 2024"], "%a %b %d %H:%M:%S %z %Y"),
        (["26/07/24", "03/08/23", "15/01/24"], "%d/%m/%y"),
        (["24/07/03", "23/08/09", "24/01/28"], "%y/%m/%d"),
    ],
)
def test_one_format(values, format):
    guess = guess_dates(pa.array(values))
    assert (guess.format, guess.other) == (format, None)
    assert dates(pd.Series(values), guess.format).notna().all()


def test_days_and_months_that_cannot_be_told_apart():
    guess = guess_dates(pa.array(["01/02/2024", "03/04/2024"]))
    assert {guess.format, guess.other} == {"%d/%m/%Y", "%m/%d/%Y"}


@pytest.mark.parametrize(
    "values",
    [
        ["1.5", "2"],
        ["12:30"],
        ["2024"],
        ["31.12.2024", "x"],
        ["a-b-c"],
        ["5/5"],
        ["10.0.12.34"],
        [],
    ],
)
def test_no_dates(values):
    assert guess_dates(pa.array(values, "string")) is None


@settings(deadline=None)  # the first one waits for pandas
@given(
    st.lists(
        st.dates(datetime.date(1970, 1, 1), datetime.date(2060, 1, 1)), min_size=1
    ),
    st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d %b %Y"]),
)
def test_what_is_written_is_read(days, format):
    texts = [day.strftime(format) for day in days]
    guess = guess_dates(pa.array(texts))
    found = [own for own in (guess.format, guess.other) if own is not None]
    readings = [dates(pd.Series(texts), own).dt.date.tolist() for own in found]
    assert days in readings
    if len(found) == 1:
        assert readings == [days]


def test_dates_beyond_nanoseconds_are_read_with_every_pandas():
    pandas = pytest.importorskip("pandas", reason="reading tables needs pandas")
    values = pandas.Series(["9999-12-31", "2024-07-26", "0800-12-25"])
    for format in (ISO, "%Y-%m-%d"):
        assert dates(values, format).dt.year.tolist() == [9999, 2024, 800]
    with pytest.raises(ValueError, match="x"):
        dates(pandas.Series(["9999-12-31", "x"]), "%Y-%m-%d")
    found = dates(pandas.Series(["9999-12-31", "x"]), "%Y-%m-%d", "coerce")
    assert found.isna().tolist() == [False, True]
