"""What columns are for: labels and texts guessed, identifiers and constants found."""

from __future__ import annotations

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from bayesieve.io._column_kinds import read_column  # noqa: E402
from bayesieve.io._roles import guess_roles, left_out, n_distinct  # noqa: E402
from bayesieve.io._suspicions import (  # noqa: E402
    gives_label_away,
    missing_as,
    odd_labels,
    repeated_rows,
    repeats_are_odd,
)

N = 60
NUMBERS = [i / 7 for i in range(N)]
FLAG = ["yes", "no"] * (N // 2)
KINDS = ["a", "b", "c"] * (N // 3)
TEXTS = [f"some words about the number {i}" for i in range(N)]


@pytest.mark.parametrize(
    ("sample", "label"),
    [
        ({"class": KINDS, "x": NUMBERS, "flag": FLAG}, "class"),
        ({"Risk": KINDS, "x": NUMBERS, "flag": FLAG}, "Risk"),
        ({"is_fraud": FLAG, "x": NUMBERS, "town": KINDS}, "is_fraud"),
        ({"isActive": FLAG, "x": NUMBERS, "town": KINDS}, "isActive"),
        ({"has_car": FLAG, "y": KINDS, "town": KINDS}, "y"),
        ({"churn_flag": FLAG, "x": NUMBERS, "town": KINDS}, "churn_flag"),
        ({"is_a": FLAG, "is_b": FLAG, "town": KINDS}, "town"),
        ({"x": NUMBERS, "town": KINDS, "bought": FLAG}, "bought"),
        ({"x": NUMBERS, "town": KINDS, "z": NUMBERS}, "town"),
        ({"a": KINDS, "b": KINDS, "z": NUMBERS}, None),
        ({"text": TEXTS, "stars": KINDS, "is_spam": FLAG}, "is_spam"),
        ({"x": NUMBERS}, None),
    ],
)
def test_labels(sample, label):
    found = guess_roles(sample)
    assert found.label == label
    if label is not None:
        assert found.labels[0] == label


def test_other_candidates_are_offered():
    found = guess_roles({"town": KINDS, "is_a": FLAG, "bought": FLAG})
    assert set(found.labels) == {"town", "is_a", "bought"}


def test_texts_are_found_wordiest_first_and_called_ones_before():
    longer = [f"{own} and much more to say about it" for own in TEXTS]
    found = guess_roles({"head": TEXTS, "story": longer, "review": TEXTS, "y": FLAG})
    assert found.texts == ["review", "story", "head"]


def test_texts_that_repeat_are_texts_if_called_so():
    repeated = ["very good", "very bad"] * (N // 2)
    assert guess_roles({"comment": repeated, "y": FLAG}).texts == ["comment"]
    assert guess_roles({"town": repeated, "y": FLAG}).texts == []


def column(values, name="c"):
    return read_column(pa.array(values), name)


@pytest.mark.parametrize(
    ("values", "name", "why"),
    [
        ([5] * N, "c", "constant"),
        (["x"] * N, "c", "constant"),
        ([None] * N, "c", "constant"),
        ([5, None] * N, "c", ""),
        (["x", None] * N, "c", ""),
        ([f"user {i}" for i in range(N)], "c", "identifier"),
        ([f"u{i}" for i in range(10)], "c", ""),
        (list(range(N)), "c", ""),
        (list(range(N)), "customer_id", "identifier"),
        (list(range(N)), "Id", "identifier"),
        (list(range(N)), "paid", ""),
        ([i // 2 for i in range(N)], "id", ""),
        (KINDS, "id", ""),
    ],
)
def test_what_says_nothing(values, name, why):
    assert left_out(column(values, name)) == why


def test_distinct_values():
    assert n_distinct(column(["a", "b", "", "a"])) == 2
    assert n_distinct(column([1.5, None, 1.5])) == 1
    assert n_distinct(column(["2024-01-01", "2024-01-02"] * 3)) == 2


def test_columns_that_give_the_label_away():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 400)
    told = ["yes" if code else "no" for code in codes]
    assert gives_label_away(column(told), codes, 2) == 1.0
    numbers = rng.random(400) + 2 * codes
    assert gives_label_away(column(numbers), codes, 2) == 1.0
    told[0] = "no" if told[0] == "yes" else "yes"
    assert gives_label_away(column(told), codes, 2) == pytest.approx(399 / 400)
    assert gives_label_away(column(rng.random(400)), codes, 2) is None
    assert gives_label_away(column(rng.choice(["a", "b"], 400)), codes, 2) is None
    # Values that are nearly all different tell every label, and nothing.
    assert gives_label_away(column([f"u{i}" for i in range(400)]), codes, 2) is None
    # A rare class that a noisy column cannot tell.
    rare = (np.arange(400) % 100 == 0).astype(int)
    assert gives_label_away(column(rng.random(400)), rare, 2) is None


def test_repeated_rows_are_counted():
    codes = np.array([0, 1, 0, 0])
    columns = [column(["a", "b", "a", "a"]), column([1.0, 2.0, 1.0, 3.0])]
    assert repeated_rows(columns, codes) == 1
    rng = np.random.default_rng(0)
    table = rng.integers(0, 4, (2000, 5))
    own = [column(table[:, j].astype(float)) for j in range(5)]
    distinct = len({tuple(row) for row in table.tolist()})
    assert repeated_rows(own, np.zeros(2000, dtype=int)) == 2000 - distinct


@pytest.mark.parametrize(
    ("stand_in", "others", "told"),
    [
        (-999, range(100), True),
        (-9, range(100), True),
        (9999, range(100), True),
        (999, range(900), False),  # the next of them
        (-999, range(-900, 100), False),
        (-5, range(100), False),
    ],
)
def test_values_that_stand_for_missing_ones(stand_in, others, told):
    values = np.array([*others, *[stand_in] * 10, np.nan], dtype=float)
    assert bool(missing_as(values)) == told
    once = np.array([*others, stand_in], dtype=float)
    assert not missing_as(once)


@pytest.mark.parametrize(
    ("classes", "rows", "told"),
    [
        (["no", "yes"], [5, 5], []),
        (["no", "None"], [5, 5], []),
        ([0, 1], [1, 1], []),
        (["NO", "no", "yes"], [5, 5, 5], ["how they are written alone"]),
        (["no", "yes", " yes"], [5, 5, 5], ["how they are written alone"]),
        (["0", "1", "1.0"], [5, 5, 5], ["how they are written alone ('1', '1.0')"]),
        (["1.0", "1.5"], [5, 5], []),
        (["NA", "no", "yes"], [3, 5, 5], ["3 rows of the class 'NA'"]),
        (["maybe", "no", "yes"], [1, 5, 5], ["one row only"]),
        (["bought", "no", "yes"], [1, 5, 5], ["header seems to be repeated"]),
    ],
)
def test_odd_labels(classes, rows, told):
    found = odd_labels("bought", classes, rows)
    assert len(found) == len(told)
    assert all(own in sentence for own, sentence in zip(told, found, strict=True))


def test_repeats_of_few_categories_are_not_odd():
    few = [column(["a", "b"] * 100), column(["x", "x", "y", "y"] * 50)]
    assert not repeats_are_odd(few, 200)
    many = [column(np.arange(200.0) + shift) for shift in range(3)]
    assert repeats_are_odd(many, 200)


@pytest.mark.parametrize(
    ("table", "labels"),
    [
        # The last column that has anything.
        ({"a": ["x", "y"] * 9, "b": ["p", "q", "r"] * 6, "c": [""] * 18}, ["b", "a"]),
        # The only one that answers yes or no, where the last is measured.
        (
            {"won": ["yes", "no"] * 30, "b": ["p", "q"] * 30, "x": range(60)},
            ["won", "b"],
        ),
        # Ages are no classes.
        ({"age": [*range(20, 40)] * 3, "b": ["p", "q"] * 30}, ["b"]),
    ],
)
def test_guesses_of_labels(table, labels):
    table = {name: [str(own) for own in values] for name, values in table.items()}
    assert guess_roles(table).labels == labels


def test_a_sorted_file_gives_nothing_away():
    """Rows of one value, or of none, keep the order of the file, which says nothing."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], 200)
    flag = rng.integers(0, 2, 400).astype(float)
    gaps = np.where(rng.random(400) < 0.95, np.nan, rng.random(400))
    for values in (flag, gaps):
        assert gives_label_away(column(values), codes, 2) is None
    days = np.where(codes, "2024-01-01", "2024-01-02")
    assert gives_label_away(column(days.tolist()), codes, 2) == 1.0
