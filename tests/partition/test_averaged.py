"""Averaged columns: their bins, their priors, rows left out, what is unknown."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from tests.oracle import averaging as oracle

from bayesieve import MODLEncoder
from bayesieve.partition._averaged import (
    FineBins,
    _group_prior,
    _interval_prior,
    average_columns,
    bins_of_values,
    class_shares,
    most_telling_order,
)
from bayesieve.partition._discretize import discretize_finely
from bayesieve.preprocessing._prepare import bin_table
from bayesieve.preprocessing._table_columns import TableReader


def binned(X, codes, weights=None):
    """Fine bins of all columns of a table."""
    reader, numbers, levels = TableReader.from_table(X, "from_dtype")
    names = [str(j) for j in range(reader.categorical.size)]
    classes = np.arange(codes.max() + 1)
    return bin_table(
        reader,
        numbers,
        levels,
        codes.astype(np.int32),
        classes,
        names,
        sample_weight=weights,
        criterion="khiops",
    )


def replaced(bins, counts):
    """The same bins with other counts."""
    column = bins.column
    parts = type(column.parts)(**(column.parts.__dict__ | {"counts": counts}))
    return FineBins(type(column)(**(_fields(column) | {"parts": parts})), bins.levels)


def _fields(column):
    return {name: getattr(column, name) for name in column.__dataclass_fields__}


@pytest.mark.parametrize("bins", range(1, 9))
def test_priors_sum_to_one(bins):
    cut, grouped = _interval_prior(bins), _group_prior(bins)
    total = [
        sum(math.exp(prior[len(parts) - 1]) for parts in every)
        for prior, every in (
            (cut, oracle.interval_partitions(bins)),
            (grouped, oracle.set_partitions(bins)),
        )
    ]
    assert total == pytest.approx([1.0, 1.0])


def test_bins_of_equal_frequency_hold_the_bounds_of_the_best_partition():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 1))
    y = (x[:, 0] > 2.31).astype(np.int32)  # one row in a hundred
    (best,), (fine,) = discretize_finely(x, y, 2)
    assert set(best.bounds) <= set(fine.bounds)
    assert fine.counts.sum() == 3000
    assert not fine.counts[0].any()
    for level in range(5):
        own = fine.bounds[fine.levels <= level]
        rows = np.diff([0, *np.searchsorted(np.sort(x[:, 0]), own), 3000])
        if level < 4:
            assert rows.size == 4 * 2**level
            assert rows.max() - rows.min() <= 1
    np.testing.assert_array_equal(
        np.bincount(np.searchsorted(fine.bounds, x[:, 0], side="left")),
        fine.counts[1:].sum(axis=1),
    )


def test_few_values_have_a_bin_each():
    x = np.repeat([1.0, 2.0, 5.0, np.nan], [30, 5, 40, 7])[:, None]
    y = np.arange(82) % 2
    (_,), (fine,) = discretize_finely(x, y, 2)
    assert fine.counts.sum(axis=1).tolist() == [7, 30, 5, 40]
    assert fine.bounds.tolist() == [1.5, 3.5]


def test_small_columns_equal_the_list_of_their_partitions():
    rng = np.random.default_rng(1)
    x = np.repeat(np.arange(6.0), rng.integers(5, 30, size=6))
    y = (rng.random(x.size) < x / 6).astype(int)
    _, (bins,) = binned(pd.DataFrame({"x": x}), y)
    count = np.bincount(y).astype(float)
    found = average_columns([bins], count)
    alpha = 2.0 * count / count.sum()
    # Six values: a grid of four bins by frequency, then all of them.
    table = bins.counts[1:]
    n_grids = int(bins.levels.max()) + 1
    every = []
    for level in range(n_grids):
        ends = {*(np.flatnonzero(bins.levels <= level) + 1).tolist(), 6}
        prior = _interval_prior(len(ends)) - math.log(n_grids)
        for parts in oracle.interval_partitions(6):
            if {part[-1] + 1 for part in parts} <= ends:
                every.append((prior[len(parts) - 1], parts))
    evidence, mean, deviation = oracle.average(table, alpha, every)
    alone = oracle.log_likelihood(table.sum(axis=0), alpha)
    assert found.shapes[0].evidence == pytest.approx(evidence - alone)
    np.testing.assert_allclose(found.shapes[0].probabilities[1:], mean, atol=1e-12)
    np.testing.assert_allclose(found.shapes[0].deviations[1:], deviation, atol=1e-7)


def mixed_table(rows=400):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "smooth": rng.normal(size=rows),
            "few": rng.choice(["a", "b", "c"], size=rows),
            "many": rng.choice([f"town {i}" for i in range(30)], size=rows),
            "constant": 1.0,
        }
    )
    frame.loc[::9, "smooth"] = np.nan
    chance = 1 / (1 + np.exp(-frame["smooth"].fillna(1.5) - (frame["few"] == "a")))
    return frame, (rng.random(rows) < chance).astype(int) + (rng.random(rows) < 0.2)


def test_a_row_left_out_is_a_column_averaged_without_it():
    frame, y = mixed_table()
    _, bins = binned(frame, y)
    count = np.bincount(y).astype(float)
    found = average_columns(bins, count)
    rng = np.random.default_rng(3)
    for j, own in enumerate(bins):
        there = np.argwhere(own.counts > 0)
        for b, c in there[rng.permutation(len(there))[:12]]:
            counts = own.counts.copy()
            counts[b, c] -= 1.0
            without = average_columns([replaced(own, counts)], count)
            line = found.left_out[j][b * 3 + c]
            if not counts[b].any() and own.in_use.start == b == 0:
                continue  # the only missing value: without it nothing is known
            np.testing.assert_allclose(
                line, without.shapes[0].probabilities[b], atol=1e-11
            )


def test_probabilities_sum_to_one_and_the_unknown_has_the_class_shares():
    frame, y = mixed_table()
    frame["smooth"] = frame["smooth"].fillna(0.0)
    _, bins = binned(frame, y)
    count = np.bincount(y).astype(float)
    shares = class_shares(count)
    for own, shape in zip(bins, average_columns(bins, count).shapes, strict=True):
        np.testing.assert_allclose(shape.probabilities.sum(axis=1), 1.0, atol=1e-12)
        unknown = 0 if own.levels is not None else -1  # missing, or never seen
        np.testing.assert_allclose(shape.probabilities[unknown], shares)
        np.testing.assert_allclose(shape.lifts(shares)[unknown], 0.0, atol=1e-12)
    constant = average_columns(bins, count).shapes[3]
    assert constant.evidence == pytest.approx(0.0, abs=1e-9)


def test_noise_has_no_evidence_and_a_flat_shape():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(500, 20)))
    y = rng.integers(0, 2, size=500)
    _, bins = binned(X, y)
    found = average_columns(bins, np.bincount(y).astype(float))
    assert np.median([own.evidence for own in found.shapes]) < -0.5
    away = [np.abs(own.lifts(class_shares(np.bincount(y)))) for own in found.shapes]
    assert np.median([own.max() for own in away]) < 0.15


def test_values_are_put_in_order():
    rng = np.random.default_rng(5)
    town = rng.integers(0, 40, size=6000)
    y = (rng.random(6000) < town / 40).astype(int)
    frame = pd.DataFrame({"town": [f"t{i:03}" for i in town]})
    bins = bins_of_values(MODLEncoder().fit(frame, y).partitions_[0])
    assert bins.column.n_parts == 41  # and one for towns never seen
    share = bins.counts[:-1, 1] / bins.counts[:-1].sum(axis=1)
    assert (np.diff(share) > -0.01).all()
    shape = average_columns([bins], np.bincount(y).astype(float)).shapes[0]
    assert shape.evidence > 500
    assert shape.bins.assign_levels(np.array([0]), ["nowhere"])[0] == 40


def test_very_many_values_have_the_groups_of_their_best_partition():
    rng = np.random.default_rng(5)
    town = rng.integers(0, 300, size=6000)
    y = (rng.random(6000) < np.where(town < 150, 0.2, 0.8)).astype(int)
    frame = pd.DataFrame({"town": [f"t{i:03}" for i in town]})
    (best,) = MODLEncoder().fit(frame, y).partitions_
    bins = bins_of_values(best)
    assert bins.column.n_parts == best.n_parts + 1
    np.testing.assert_array_equal(bins.counts[:-1], best.counts)
    # All nats of the best partition, less the description of its groups.
    shape = average_columns([bins], np.bincount(y).astype(float)).shapes[0]
    assert shape.evidence == pytest.approx(
        best.null_cost.total - best.cost.total, abs=10.0
    )


def test_the_order_of_values_does_not_depend_on_the_order_of_classes():
    rng = np.random.default_rng(6)
    counts = rng.poisson(8.0, size=(12, 4)).astype(float)
    order = most_telling_order(counts)
    other = most_telling_order(counts[:, ::-1])
    assert order.tolist() in (other.tolist(), other[::-1].tolist())
