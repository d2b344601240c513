"""What must not change the cost of the best groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.oracle.group_oracle import cost_before_lowering

from bayesieve.partition._group import group_values

CRITERIA = st.sampled_from(["khiops", "classical"])


@st.composite
def tables(draw, most_values=9):
    shape = (draw(st.integers(2, most_values)), draw(st.integers(2, 4)))
    cells = st.integers(0, draw(st.sampled_from([3, 12, 60])))
    return draw(hnp.arrays(np.int64, shape, elements=cells))


def cost(table, criterion, **options):
    found = group_values(table, criterion=criterion, **options)
    return cost_before_lowering(table, found)


@given(tables(), CRITERIA, st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_order_of_values_and_classes(table, criterion, random):
    values, classes = list(range(len(table))), list(range(table.shape[1]))
    random.shuffle(values)
    random.shuffle(classes)
    other = cost(table[values][:, classes], criterion)
    assert other == pytest.approx(cost(table, criterion), abs=2e-6)


@given(tables(), CRITERIA)
@settings(max_examples=100, deadline=None)
def test_rows_of_zeros(table, criterion):
    padded = np.vstack([table[:1] * 0, table, table[:1] * 0])
    found, plain = (group_values(t, criterion=criterion) for t in (padded, table))
    assert found.cost == plain.cost
    assert found.group[1:-1].tolist() == plain.group.tolist()
    assert found.group[0] == found.group[-1] == found.default_group


@given(tables(), CRITERIA)
@settings(max_examples=100, deadline=None)
def test_weights_that_sum_with_rounding_errors(table, criterion):
    """A row of weight 2 is the row twice, also when the 2 is twenty times 0.1."""
    weighted = np.zeros(table.shape)
    for _ in range(20):
        weighted += 0.1 * table
    found, whole = (group_values(t, criterion=criterion) for t in (weighted, 2 * table))
    assert found.granularity == whole.granularity
    assert found.cost.total == pytest.approx(whole.cost.total, abs=1e-6)


@given(tables(), CRITERIA, st.floats(0.0, 1.0))
@settings(max_examples=100, deadline=None)
def test_fractional_counts_are_between_their_neighbours(table, criterion, share):
    found = group_values(table + share * (table > 0), criterion=criterion)
    assert np.isfinite(found.cost.total)
    assert 0.0 <= found.level < 1.0
    assert found.counts.sum() == pytest.approx((table + share * (table > 0)).sum())


@given(tables(12), CRITERIA)
@settings(max_examples=100, deadline=None)
def test_never_above_one_group_nor_below_the_optimum(table, criterion):
    best = cost(table, criterion)
    heuristic = group_values(table, criterion=criterion, exact_budget=0)
    assert heuristic.cost.total <= heuristic.null_cost.total
    assert cost_before_lowering(table, heuristic) >= best - 2e-6


@given(tables(), st.floats(0.0, 5.0))
@settings(max_examples=60, deadline=None)
def test_a_dearer_attribute_never_pays(table, price):
    dear = group_values(table, attribute_cost=price)
    assert dear.cost.total >= group_values(table).cost.total - 2e-6
