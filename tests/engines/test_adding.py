"""Adding up whatever a worker has counted: engines know nothing of class counts."""

from __future__ import annotations

import operator

import pytest

from bayesieve.engines._adding import Merger, merged


@pytest.mark.parametrize("number", [1, 2, 3, 7, 8, 100])
def test_tables_are_added_once_and_in_their_order(number):
    texts = [chr(ord("a") + i % 26) for i in range(number)]
    assert merged(operator.add, texts) == "".join(texts)
    assert merged(operator.add, [None, *texts, None]) == "".join(texts)


def test_nothing_to_add():
    assert merged(operator.add, []) is None
    assert merged(operator.add, [None, None]) is None


def test_a_table_takes_part_in_few_additions():
    additions = []

    def add(a, b):
        additions.append(max(a, b))  # tables that the larger one stands for
        return a + b

    merger = Merger(add)
    for number in range(1, 65):
        merger.add(1)
        held = sum(slot is not None for slot in merger._slots)
        assert held == number.bit_count()
    assert merger.total() == 64
    assert sum(additions) <= 64 * 6 / 2  # 6 = log2(64) for each, halves counted once
