"""Columns of real data: the default search against the proven optimum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.oracle import interval_oracle as oracle
from tests.oracle.interval_cost import interval_cost

from bayesieve.partition._discretize import discretize, discretize_columns

NOT_FEATURES = {"label", "split", "Id", "name", "speaker", "Hospital Number"}


def numeric(frame):
    """Numerical columns as float64 with NaN for missing, and the coded label."""
    wanted = [
        c
        for c in frame.columns
        if c not in NOT_FEATURES and frame[c].dtype.kind in "iufb"
    ]
    X = frame[wanted].to_numpy(dtype=np.float64, na_value=np.nan)
    classes, codes = np.unique(
        frame["label"].to_numpy().astype(str), return_inverse=True
    )
    return np.asfortranarray(X), codes, len(classes)


@pytest.mark.parametrize(
    "name",
    [
        "uci_vehicle",
        "uci_spam",
        "uci_letter",
        "uci_shuttle",
        "uci_segmentation",
        "uci_hypothyroid",
        "uci_abalone",
        "uci_sonar",
    ],
)
def test_default_search_is_the_optimum(real_data, name):
    X, codes, n_classes = numeric(real_data(name))
    cost = math.log(X.shape[1])
    usual = discretize_columns(X, codes, n_classes, attribute_cost=cost)
    proven = discretize_columns(
        X, codes, n_classes, attribute_cost=cost, exact_budget=math.inf
    )
    heuristic = discretize_columns(
        X, codes, n_classes, attribute_cost=cost, exact_budget=0
    )
    assert all(p.exact for p in proven)
    assert any(p.level > 0.01 for p in proven)
    for a, b, c, x in zip(usual, proven, heuristic, X.T, strict=True):
        assert a.cost.total == pytest.approx(b.cost.total, abs=1e-6)
        # Without any proof at all: never below, and within a few nats of thousands.
        assert b.cost.total - 1e-6 <= c.cost.total <= b.cost.total * 1.001
        again = interval_cost(a.counts, a.granularity, attribute_cost=cost)
        assert a.cost.total == pytest.approx(again.total, abs=1e-7)
        counted = np.zeros_like(a.counts)
        np.add.at(counted, (a.assign(x), codes), 1.0)
        assert counted.tolist() == a.counts.tolist()


@pytest.mark.parametrize("name", ["uci_iris", "uci_wine"])
def test_plain_dynamic_programme_agrees(real_data, name):
    X, codes, n_classes = numeric(real_data(name))
    for x in X.T:
        values, row = np.unique(x, return_inverse=True)
        table = np.zeros((len(values), n_classes))
        np.add.at(table, (row, codes), 1.0)
        found = discretize(table, attribute_cost=1.0)
        best, _ = oracle.best_total(table, 1.0)
        assert found.exact
        assert oracle.reached_total(table, found.ends.tolist(), 1.0) == pytest.approx(
            best, abs=1e-6
        )
