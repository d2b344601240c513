"""Columns of texts are told from columns of names."""

from __future__ import annotations

import uuid

import pytest
from tests.utils.test_scripts import SENTENCES

from bayesieve.utils._reads_like_text import reads_like_text


def numbered(pattern: str, n: int = 200) -> list[str]:
    return [pattern.format(i, i // 10, i % 28 + 1) for i in range(n)]


@pytest.mark.parametrize("script", SENTENCES)
def test_sentences_are_texts_in_every_script(script):
    sentence = SENTENCES[script]
    assert reads_like_text([f"{sentence} {i}" for i in range(20)])


@pytest.mark.parametrize(
    "values",
    [
        [],
        [None, "", "  "],
        numbered("{}"),
        numbered("{1}.{0} EUR"),
        numbered("{2} March 20{2:02d} 10:{2:02d}:00"),
        numbered("customer-{0}"),
        numbered("https://example.org/a/{0}/long-and-telling-name?x={1}"),
        [str(uuid.UUID(int=i << 60)) for i in range(50)],
        numbered("Anna Nr{0}"),
        ["王伟", "李娜", "张敏", "刘洋", "陈静"],
        ["สมชาย", "สมหญิง", "มานี"],
        ["red", "green", "blue"] * 20,
    ],
)
def test_names_codes_numbers_and_dates_are_not(values):
    assert not reads_like_text(values)


def test_repeated_answers_are_categories_however_long():
    answers = ["I agree with all of it", "I do not agree at all", "no opinion on that"]
    assert not reads_like_text(answers * 100)
    # Exactly half of them distinct is not more than half.
    assert not reads_like_text(numbered("the answer is number {0}", 50) * 2)
    assert reads_like_text(
        [*numbered("the answer is number {0}", 50) * 2, "one more it is"]
    )


def test_missing_values_say_nothing():
    texts = numbered("the answer is number {0}", 20)
    assert reads_like_text([*texts, *[None] * 1000, *[""] * 1000])


def test_words_are_counted_on_average():
    # (1 + 5) / 2 = 3 words, and (1 + 4) / 2 < 3.
    assert reads_like_text(["good", "it was not that bad"])
    assert not reads_like_text(["good", "not that bad really"])
