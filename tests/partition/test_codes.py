"""Worked values of the code lengths, and partitions counted by recurrence."""

from __future__ import annotations

import math

import pytest
from tests.oracle.code_lengths import log_partition_count

from bayesieve.weights._integer_codes import integer_code, integers_up_to, log2_star


@pytest.mark.parametrize(
    ("n", "value"),
    [(1, 0), (2, 1), (3, 2.249411), (5, 3.818592), (10, 5.846405), (1000, 15.803304)],
)
def test_log2_star(n, value):
    assert log2_star(n) == pytest.approx(value, abs=5e-7)


@pytest.mark.parametrize(
    ("n", "value"),
    [
        (1, 1),
        (2, 1.5),
        (5, 1.90618432),
        (10, 2.05214007),
        (100, 2.23676402),
        (1000, 2.29536391),
    ],
)
def test_sum_over_integers(n, value):
    assert integers_up_to(n) == pytest.approx(value, abs=5e-9)


@pytest.mark.parametrize("largest", [2001, 5000, 65536, 70000, 1_000_000])
def test_integral_beyond_two_thousand(largest):
    exact = math.fsum(2.0 ** -log2_star(i) for i in range(1, largest + 1))
    assert integers_up_to(largest) == pytest.approx(exact, abs=1e-6)


def test_integer_code():
    assert integer_code(1, 5) == pytest.approx(0.645104, abs=5e-7)
    assert integer_code(3, 10) == pytest.approx(2.278056, abs=5e-7)
    assert integer_code(2, 149) == pytest.approx(1.504348, abs=5e-7)
    assert integer_code(1) == pytest.approx(1.052607, abs=5e-7)
    assert integer_code(5) == pytest.approx(3.699453, abs=5e-7)
    assert integer_code(10) == pytest.approx(5.105026, abs=5e-7)


def stirling_row(items):
    row = [1]
    for n in range(1, items + 1):
        row = [0] + [(k * row[k] if k < n else 0) + row[k - 1] for k in range(1, n + 1)]
    return row


@pytest.mark.parametrize("items", [1, 2, 3, 7, 20, 57, 101])
def test_partition_counts_by_recurrence(items):
    row = stirling_row(items)
    for groups in range(1, items + 1):
        exact = math.log(sum(row[: groups + 1]))
        assert log_partition_count(items, groups) == pytest.approx(exact, abs=1e-10)


def test_printed_partition_counts():
    for items, groups, value in [
        (5, 2, 2.772589),
        (5, 3, 3.713572),
        (10, 3, 9.194414),
        (100, 5, 156.156300),
        (400, 2, 276.565725),
        (400, 20, 1155.957293),
    ]:
        assert log_partition_count(items, groups) == pytest.approx(value, abs=5e-7)
