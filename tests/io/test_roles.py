"""What columns are for: labels and texts guessed, identifiers and constants found."""

from __future__ import annotations

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from bayesieve.io._column_kinds import read_column  # noqa: E402
from bayesieve.io._roles import guess_roles, left_out, n_distinct  # noqa: E402
from bayesieve.io._suspicions import gives_label_away, repeated_rows  # noqa: E402

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
