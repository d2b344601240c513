"""Numbers as people write them, read by the style that all of a column has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")

from bayesieve.io._number_styles import NumberStyle, guess_style  # noqa: E402


def read(*values, **marks):
    guess = guess_style(pa.array(values), **marks)
    if guess is None:
        return None
    assert guess.style.numbers(pa.array(values)).tolist() == guess.numbers.tolist()
    return guess.numbers.tolist()


def doubtful(*values):
    return guess_style(pa.array(values)).other is not None


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["25000,00", "3,5"], [25000, 3.5]),
        (["1.234,5", "2"], [1234.5, 2]),
        (["1,234.5", "2"], [1234.5, 2]),
        (["1.234.567", "89"], [1234567, 89]),
        (["1,234,567", "89"], [1234567, 89]),
        (["12,34,567", "7"], [1234567, 7]),
        (["25 000", "1 250 000,5"], [25000, 1250000.5]),
        (["25\u00a0000,5", "1\u202f250"], [25000.5, 1250]),
        (["1'234.5", "1\u2019000"], [1234.5, 1000]),
        (["$1,250.50", "$3", "-$4"], [1250.5, 3, -4]),
        (["5 €", "7,50 €"], [5, 7.5]),
        (["USD 5", "12.5 USD"], [5, 12.5]),
        (["R$ 5,50", "R$ 1.000,00"], [5.5, 1000]),
        (["12 %", "3,5 %", "7%"], [12, 3.5, 7]),
        (["(1,234.00)", "5.00"], [-1234, 5]),
        (["\u22125,5", "+2"], [-5.5, 2]),
        (["5-", "3"], [-5, 3]),
        (["1,5e3", "2"], [1500, 2]),
        ([".5", "1."], [0.5, 1]),
        ([",5", "1,"], [0.5, 1]),
        (["1.5 kg", "12 kg"], [1.5, 12]),
        (["~1.5", "12"], [1.5, 12]),
        (["1,5k", "10,25k"], [1.5, 10.25]),
        (["-5 °C", "12.5 °C"], [-5, 12.5]),
        (['="1.5"', '="22"'], [1.5, 22]),
        (["'1.5", "'22"], [1.5, 22]),
        (["\u0661\u0662", "\u0663\u066b\u0665"], [12, 3.5]),
        (["\uff11\uff12", "\uff13"], [12, 3]),
    ],
)
def test_one_reading(values, numbers):
    assert read(*values) == pytest.approx(numbers)
    assert not doubtful(*values)


@pytest.mark.parametrize("values", [["25,000", "31,500"], ["1,234", "12"], ["$1,234"]])
def test_two_readings_are_told(values):
    """The mark could be either; it is taken for one between thousands."""
    assert doubtful(*values)
    assert read(*values)[0] > 1000
    assert read(*values, decimal=",")[0] < 1000
    assert not guess_style(pa.array(values), thousands=",").other


@pytest.mark.parametrize(
    "values",
    [
        ["abc", "1"],
        ["1,2,3"],
        ["10.11.2024"],
        ["€ 5", "$ 5"],
        ["$5$"],
        ["1-2"],
        ["--5"],
        ["5)"],
        ["12:30"],
        ["1,234.5", "1.234,5"],
        ["0,123,456"],
        [""],
        ["."],
        ["1 2"],
        ["12 34 5"],
        ["5k", "800"],
        ["5k", "3M"],
        ["1 year", "2 years"],
        [],
    ],
)
def test_no_numbers(values):
    assert read(*values) is None


def written(value, style, places):
    digits = f"{abs(value):,.{places}f}"
    digits = digits.replace(",", "T").replace(".", style.decimal)
    digits = digits.replace("T", style.thousands)
    sign = "-" if value < 0 else ""
    return f"{sign}{style.unit}{digits}"


STYLES = [
    NumberStyle(decimal, thousands, unit)
    for decimal, thousands in [(".", ","), (",", "."), (".", " "), (",", "'")]
    for unit in ("", "$", "€")
]


@settings(deadline=None)
@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20),
    st.sampled_from(STYLES),
    st.integers(1, 4),
)
def test_what_is_written_is_read(values, style, places):
    numbers = [value / 10**places for value in values]
    texts = pa.array([written(value, style, places) for value in numbers])
    np.testing.assert_allclose(style.numbers(texts), numbers, rtol=1e-12)
    guess = guess_style(texts)
    assert guess is not None
    if guess.other is None:
        np.testing.assert_allclose(guess.numbers, numbers, rtol=1e-12)
    else:  # the right reading is one of the two
        readings = [own.numbers(texts) for own in (guess.style, guess.other)]
        assert any(np.allclose(own, numbers, rtol=1e-12) for own in readings)


@settings(deadline=None)
@given(st.lists(st.text("0123456789.,' -+$€%()eE", max_size=9), max_size=6))
def test_whatever_is_read_as_numbers_is_so_in_every_style(texts):
    """Quick and slow ways agree, and nothing raises."""
    guess = guess_style(pa.array(texts, "string"))
    if guess is None:
        return
    assert np.isfinite(guess.numbers).all()
    one_by_one = [guess.style.numbers(pa.array([text]))[0] for text in texts]
    assert guess.numbers.tolist() == one_by_one
