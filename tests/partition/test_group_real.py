"""Columns of real data: costs recomputed, and no single move or merge that gains."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from tests.oracle.group_cost import explored_granularities, grouping_cost
from tests.oracle.group_oracle import cost_before_lowering

from bayesieve.partition._group import group_many


def categorical_tables(frame):
    """Class counts of every text column; a missing value is the empty string."""
    classes, codes = np.unique(frame["label"].astype(str), return_inverse=True)
    tables = {}
    for name in frame.columns.difference(["label", "split"], sort=False):
        column = frame[name]
        if column.dtype.kind in "biuf":
            continue
        values, of_row = np.unique(
            column.astype(object).where(column.notna(), "").astype(str),
            return_inverse=True,
        )
        table = np.zeros((len(values), len(classes)))
        np.add.at(table, (of_row, codes), 1.0)
        tables[name] = table
    return tables


def cost_of(table, group, granularity, attribute_cost):
    return grouping_cost(
        table, group, granularity=granularity, attribute_cost=attribute_cost
    ).total


@pytest.mark.parametrize("name", ["uci_adult", "uci_mushroom", "uci_soybean"])
@pytest.mark.parametrize("budget", [0, 1_000_000])
def test_no_move_and_no_merge_gains(real_data, name, budget):
    tables = categorical_tables(real_data(name))
    price = math.log(len(tables))
    found = group_many(tables.values(), attribute_cost=price, exact_budget=budget)
    informative = 0
    for table, result in zip(tables.values(), found, strict=True):
        if result.n_parts == 1:
            continue
        informative += 1
        g, V = min(
            pair
            for pair in explored_granularities(table)
            if pair[0] >= result.granularity
        )
        ours = cost_before_lowering(table, result)
        again = cost_of(table, result.group, g, price)
        assert again == pytest.approx(ours, abs=1e-7)
        own = np.argsort(-table.sum(axis=1), kind="stable")[:V]
        if len(table) > V:
            own = own[:-1]  # the catch-all moves as one; its values may not
        for value in own:
            for to in range(result.n_parts):
                other = result.group.copy()
                other[value] = to
                assert cost_of(table, other, g, price) >= ours - 1e-6
        for a, b in combinations(range(result.n_parts), 2):
            merged = np.where(result.group == b, a, result.group)
            if len(set(merged.tolist())) > 1:
                assert cost_of(table, merged, g, price) >= ours - 1e-6
    assert informative >= 5


def test_heuristic_reaches_the_proven_optima(real_data):
    proven = 0
    for name in ("uci_mushroom", "uci_soybean", "uci_crx", "uci_flag"):
        tables = list(categorical_tables(real_data(name)).values())
        exact = group_many(tables)
        heuristic = group_many(tables, exact_budget=0)
        for table, best, reached in zip(tables, exact, heuristic, strict=True):
            gap = cost_before_lowering(table, reached) - cost_before_lowering(
                table, best
            )
            if best.exact:
                proven += 1
                assert gap >= -1e-6
            assert gap <= 1e-6
    assert proven > 60
