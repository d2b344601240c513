"""The cost of given intervals, by hand and against what the search reports."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.oracle.interval_cost import finest_granularity, interval_cost
from tests.oracle.interval_oracle import partition_total

from bayesieve.partition._discretize import discretize


def test_worked_example_of_two_intervals():
    # U(1;5) + U(1;1) + ln 1 + 2 ln 11, and ln 10.
    cost = interval_cost([[9, 1], [0, 10]], 1, attribute_cost=math.log(2))
    assert cost.construction == pytest.approx(2 * math.log(2), abs=1e-12)
    assert cost.preparation == pytest.approx(5.440894, abs=5e-7)
    assert cost.data == pytest.approx(math.log(10), abs=1e-12)


def test_worked_example_of_one_interval():
    cost = interval_cost([[9, 11]], attribute_cost=math.log(2))
    assert cost.construction == pytest.approx(0.693147, abs=5e-7)
    assert cost.preparation == pytest.approx(math.log(21), abs=1e-12)
    assert cost.data == pytest.approx(math.log(math.comb(20, 9)), abs=1e-12)


def test_classical_form_by_hand():
    # ln 20 + ln C(21, 1) + 2 ln 11, and ln 10; nothing for the choice of the variable.
    cost = interval_cost([[9, 1], [0, 10]], attribute_cost=3.0, criterion="classical")
    assert cost.construction == 0.0
    assert cost.preparation == pytest.approx(
        math.log(20) + math.log(21) + 2 * math.log(11), abs=1e-12
    )
    assert cost.data == pytest.approx(math.log(10), abs=1e-12)


@pytest.mark.parametrize(
    ("n_rows", "g"), [(1, 1), (2, 1), (2.5, 2), (3, 2), (4, 2), (1024, 10), (1025, 11)]
)
def test_finest_granularity(n_rows, g):
    assert finest_granularity(n_rows) == g


def test_more_intervals_than_the_grid_holds():
    assert interval_cost(np.ones((3, 2)), 1).total == math.inf


@pytest.mark.parametrize("criterion", ["khiops", "classical"])
@pytest.mark.parametrize("seed", range(30))
def test_the_search_reports_this_cost(seed, criterion):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 5))
    table = rng.integers(0, 6, (int(rng.integers(2, 60)), n_classes)).astype(float)
    table[len(table) // 2 :, 0] *= 5
    if seed % 3 == 0:
        table *= rng.uniform(0.3, 3.0, (len(table), 1))
    found = discretize(table, attribute_cost=1.3, criterion=criterion)
    again = interval_cost(
        found.counts, found.granularity, attribute_cost=1.3, criterion=criterion
    )
    assert found.cost.construction == pytest.approx(again.construction, abs=1e-12)
    assert found.cost.preparation == pytest.approx(again.preparation, abs=1e-8)
    assert found.cost.data == pytest.approx(again.data, abs=1e-8)
    none = interval_cost(
        table.sum(axis=0)[None], attribute_cost=1.3, criterion=criterion
    )
    assert found.null_cost.total == pytest.approx(none.total, abs=1e-8)
    kept = table.sum(axis=1) > 0
    ends = [int(kept[:e].sum()) for e in found.ends]
    assert found.cost.total == pytest.approx(
        partition_total(table[kept], ends, found.granularity, 1.3, criterion), abs=1e-8
    )
