"""Averages over all partitions equal those of a list of every one of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import averaging as oracle

from bayesieve import _core


def tables(rows, classes):
    cell = st.one_of(st.integers(0, 12), st.sampled_from([0.25, 1.5, 60.0]))
    line = st.lists(cell, min_size=classes, max_size=classes)
    return st.lists(line, min_size=rows, max_size=rows).map(
        lambda lines: np.array(lines, dtype=np.float64)
    )


def sized_tables(least, most):
    sizes = st.tuples(st.integers(least, most), st.integers(2, 3))
    return sizes.flatmap(lambda size: tables(*size))


def priors(classes):
    own = st.floats(0.1, 3.0)
    return st.lists(own, min_size=classes, max_size=classes).map(np.array)


def check(answer, table, alpha, partitions):
    """Compare a kernel's answer with the list of partitions and their log-priors."""
    evidence, mean, deviation, without = answer
    wanted = oracle.average(table, alpha, partitions)
    assert evidence == pytest.approx(wanted[0], abs=1e-9)
    np.testing.assert_allclose(mean, wanted[1], atol=1e-11)
    # A deviation is the root of a difference.
    np.testing.assert_allclose(deviation, wanted[2], atol=1e-7)
    np.testing.assert_allclose(mean.sum(axis=1), 1.0, atol=1e-12)
    if without.shape[0]:
        np.testing.assert_allclose(without.sum(axis=1), 1.0, atol=1e-12)
        # Counts below one are taken out whole, which is not what the formula of a
        # whole row says.
        if (table == np.floor(table)).all():
            wanted = oracle.left_out(
                table, lambda rest: oracle.average(rest, alpha, partitions)[1]
            )
            np.testing.assert_allclose(without, wanted, atol=1e-11)


@settings(max_examples=60, deadline=None)
@given(sized_tables(1, 8), st.data())
def test_intervals(table, data):
    bins, classes = table.shape
    alpha = data.draw(priors(classes))
    log_prior = np.array(
        data.draw(st.lists(st.floats(-5.0, 0.0), min_size=bins, max_size=bins))
    )
    (answer,) = _core.average_intervals(
        [table], alpha, [[np.arange(1, bins + 1)]], [[log_prior]], True
    )
    check(
        answer,
        table,
        alpha,
        [(log_prior[len(p) - 1], p) for p in oracle.interval_partitions(bins)],
    )


def test_intervals_of_twelve_bins():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 30, size=(12, 2)).astype(np.float64)
    log_prior = np.array([-math.log(12 * math.comb(11, i)) for i in range(12)])
    (answer,) = _core.average_intervals(
        [table], np.ones(2), [[np.arange(1, 13)]], [[log_prior]], True
    )
    check(
        answer,
        table,
        np.ones(2),
        [(log_prior[len(p) - 1], p) for p in oracle.interval_partitions(12)],
    )


@settings(max_examples=30, deadline=None)
@given(sized_tables(4, 7), st.data())
def test_grids_are_averaged_by_their_evidence(table, data):
    bins, classes = table.shape
    alpha = np.ones(classes)
    coarse = sorted(data.draw(st.sets(st.integers(1, bins - 1), max_size=2)) | {bins})
    grids = [np.array(coarse), np.arange(1, bins + 1)]
    log_priors = [np.full(len(coarse), -1.0), np.full(bins, -2.0)]
    (answer,) = _core.average_intervals([table], alpha, [grids], [log_priors], True)
    every = [(-2.0, parts) for parts in oracle.interval_partitions(bins)]
    for parts in oracle.interval_partitions(bins):
        if {part[-1] + 1 for part in parts} <= set(coarse):
            every.append((-1.0, parts))
    check(answer, table, alpha, every)


def test_a_prior_of_few_lengths_knows_no_longer_partitions():
    table = np.array([[5.0, 0], [0, 6], [7, 0]])
    (answer,) = _core.average_intervals(
        [table], np.ones(2), [[np.arange(1, 4)]], [[np.zeros(2)]], True
    )
    few = [(0.0, p) for p in oracle.interval_partitions(3) if len(p) <= 2]
    check(answer, table, np.ones(2), few)


@settings(max_examples=60, deadline=None)
@given(sized_tables(1, 6), st.data())
def test_groups(table, data):
    values, classes = table.shape
    alpha = data.draw(priors(classes))
    log_prior = np.array(
        data.draw(st.lists(st.floats(-5.0, 0.0), min_size=values, max_size=values))
    )
    (answer,) = _core.average_groups([table], alpha, [log_prior], True)
    check(
        answer,
        table,
        alpha,
        [(log_prior[len(p) - 1], p) for p in oracle.set_partitions(values)],
    )


def test_groups_of_eight_values():
    rng = np.random.default_rng(1)
    table = rng.integers(0, 30, size=(8, 3)).astype(np.float64)
    log_prior = -np.arange(8.0)
    (answer,) = _core.average_groups([table], np.ones(3), [log_prior], True)
    check(
        answer,
        table,
        np.ones(3),
        [(log_prior[len(p) - 1], p) for p in oracle.set_partitions(8)],
    )


def boxes(levels):
    sizes = [2**level for level in levels]
    return [
        (math.log(p), [oracle.cells_of(box, sizes) for box in parts])
        for p, parts in oracle.halvings(tuple((0, size) for size in sizes))
    ]


@pytest.mark.parametrize(
    "levels", [(0,), (3,), (1, 1), (2, 1), (0, 2), (1, 1, 1), (1, 0, 1)]
)
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_boxes(levels, data):
    table = data.draw(tables(2 ** sum(levels), 2))
    alpha = data.draw(priors(2))
    (answer,) = _core.average_boxes([table], alpha, [list(levels)], True)
    check(answer, table, alpha, boxes(levels))


def test_boxes_of_a_grid_of_sixteen_cells():
    """All 22,899 recursive halvings of 4 x 4 cells."""
    rng = np.random.default_rng(2)
    table = rng.integers(1, 9, size=(16, 2)).astype(np.float64)
    table[5] = 0.0
    every = boxes((2, 2))
    assert len(every) == 22_899
    (answer,) = _core.average_boxes([table], np.ones(2), [[2, 2]], False)
    check(answer, table, np.ones(2), every)
    without = _core.average_boxes([table], np.ones(2), [[2, 2]], True)[0][3]
    for cell, label in [(0, 0), (7, 1), (15, 0)]:
        rest = table.copy()
        rest[cell, label] -= 1.0
        wanted = oracle.average(rest, np.ones(2), every)[1][cell]
        np.testing.assert_allclose(without[2 * cell + label], wanted, atol=1e-11)


def test_large_counts_do_not_overflow():
    rng = np.random.default_rng(3)
    share = 1.0 / (1.0 + np.exp(-np.linspace(-4, 4, 64)))
    table = np.column_stack([rng.poisson(1e6 * share), rng.poisson(1e6 * (1 - share))])
    log_prior = -np.log(np.arange(1.0, 65.0))
    for answer in (
        _core.average_intervals(
            [table.astype(float)], np.ones(2), [[np.arange(1, 65)]], [[log_prior]], True
        )[0],
        _core.average_boxes([table.astype(float)], np.ones(2), [[3, 3]], True)[0],
    ):
        assert np.isfinite(answer[0])
        np.testing.assert_allclose(answer[1][:, 0], share, atol=2e-3)
        assert (answer[2] < 2e-3).all()


def test_tables_do_not_depend_on_each_other():
    rng = np.random.default_rng(4)
    many = [rng.poisson(5.0, size=(9, 3)).astype(float) for _ in range(5)]
    priors = [np.zeros(9)] * 5
    together = _core.average_groups(many, np.ones(3), priors, True)
    for table, own in zip(many, together, strict=True):
        (alone,) = _core.average_groups([table], np.ones(3), priors[:1], True)
        # Tables of logarithms may be longer: the sums are the same.
        for a, b in zip(alone, own, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: _core.average_intervals(
            [t], np.ones(3), [[np.array([4])]], [[np.zeros(1)]], True
        ),
        lambda t: _core.average_intervals(
            [t], np.ones(2), [[np.array([3])]], [[np.zeros(1)]], True
        ),
        lambda t: _core.average_intervals(
            [t], np.ones(2), [[np.array([2, 2, 4])]], [[np.zeros(3)]], True
        ),
        lambda t: _core.average_intervals([t], np.ones(2), [[]], [[]], True),
        lambda t: _core.average_intervals(
            [t], np.ones(2), [[np.array([4])]], [[np.zeros(0)]], True
        ),
        lambda t: _core.average_intervals(
            [t], np.array([1.0, 0.0]), [[np.array([4])]], [[np.zeros(1)]], True
        ),
        lambda t: _core.average_groups([t], np.ones(2), [np.zeros(3)], True),
        lambda t: _core.average_groups(
            [np.ones((17, 2))], np.ones(2), [np.zeros(17)], True
        ),
        lambda t: _core.average_boxes([t], np.ones(2), [[1]], True),
        lambda t: _core.average_boxes([t], np.ones(2), [[1, 1, 0, 0]], True),
        lambda t: _core.average_boxes([t], np.ones(2), [[-1, 3]], True),
        lambda t: _core.average_boxes([t], np.ones(2), [], True),
    ],
)
def test_what_does_not_fit_is_refused(call):
    with pytest.raises(ValueError):
        call(np.ones((4, 2)))
