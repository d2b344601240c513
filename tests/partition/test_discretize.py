"""Intervals against a dynamic programme in plain Python, and their properties."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import interval_oracle as oracle

from bayesieve.partition._discretize import discretize, discretize_columns

X20 = np.arange(1.0, 21.0)
Y20 = np.array([0] * 7 + [1] + [0] * 2 + [1] * 10)
ALWAYS, NEVER = math.inf, 0


def table_of(x, y, n_classes, weight=None):
    """Class counts of the sorted distinct values, missing first."""
    key = np.where(np.isnan(x), -np.inf, x + 0.0)
    values, row = np.unique(key, return_inverse=True)
    table = np.zeros((len(values), n_classes))
    np.add.at(table, (row, y), 1.0 if weight is None else weight)
    return table


def random_table(rng):
    """A small table of one of the kinds that break searches."""
    n_classes = int(rng.integers(1, 6))
    n_values = int(rng.integers(1, 26))
    kind = rng.integers(0, 6)
    if kind == 0:  # distinct values
        table = np.zeros((n_values, n_classes))
        table[np.arange(n_values), rng.integers(0, n_classes, n_values)] = 1.0
    elif kind == 1:  # blocks of one class with some noise
        label = (np.arange(n_values) * rng.integers(1, 5) // n_values) % n_classes
        noisy = rng.random(n_values) < 0.15
        label = np.where(noisy, rng.integers(0, n_classes, n_values), label)
        table = np.zeros((n_values, n_classes))
        table[np.arange(n_values), label] = rng.integers(1, 9, n_values)
    elif kind == 2:  # heavy ties
        table = np.floor(rng.pareto(0.8, (n_values, n_classes)) * 3)
    elif kind == 3:  # rows of zeros and a class without rows
        table = rng.integers(0, 4, (n_values, n_classes)).astype(float)
        table[rng.random(n_values) < 0.3] = 0.0
        table[:, -1] = 0.0
    elif kind == 4:  # drifting shares
        share = np.linspace(0.05, 0.95, n_values)[:, None] ** np.arange(
            1, n_classes + 1
        )
        table = rng.poisson(12 * share).astype(float)
    else:  # fractional weights
        table = rng.random((n_values, n_classes)) * rng.choice([0.2, 1.0, 7.0])
        table[rng.random(table.shape) < 0.4] = 0.0
    return table


def check_reaches(table, found, attribute_cost, criterion, tolerance):
    """The cost is that of the best partition, on a grid that has its cuts."""
    kept = table.sum(axis=1) > 0
    ends = [int(kept[:e].sum()) for e in found.ends]
    best, _ = oracle.best_total(table, attribute_cost, criterion)
    reached = oracle.reached_total(table[kept], ends, attribute_cost, criterion)
    assert reached >= best - 1e-7  # nothing can be below the dynamic programme
    return reached <= best + tolerance


def test_worked_example():
    found = discretize_columns(X20[:, None], Y20, 2, attribute_cost=math.log(2))[0]
    assert found.bounds.tolist() == [10.5]
    assert found.counts.tolist() == [[9, 1], [0, 10]]
    assert found.granularity == 1
    assert found.cost.construction == pytest.approx(2 * math.log(2), abs=1e-12)
    assert found.cost.preparation == pytest.approx(5.440894, abs=5e-7)
    assert found.cost.data == pytest.approx(2.302585, abs=5e-7)
    null = found.null_cost
    assert null.construction == pytest.approx(0.693147, abs=5e-7)
    assert null.preparation == pytest.approx(3.044522, abs=5e-7)
    assert null.data == pytest.approx(math.log(math.comb(20, 9)), abs=1e-9)
    assert found.level == pytest.approx(0.421036, abs=5e-7)
    assert found.exact
    assert found.n_parts == 2
    assert not found.missing_alone


def test_explored_granularities_of_the_worked_example():
    assert oracle.explored(table_of(X20, Y20, 2)) == [1, 2, 3, 5]


@pytest.mark.parametrize("criterion", ["khiops", "classical"])
@pytest.mark.parametrize("block", range(10))
def test_exact_search_is_the_dynamic_programme(block, criterion):
    rng = np.random.default_rng(block)
    for _ in range(30):
        table = random_table(rng)
        attribute_cost = float(rng.choice([0.0, 1.0, 4.0]))
        found = discretize(
            table,
            attribute_cost=attribute_cost,
            criterion=criterion,
            exact_budget=ALWAYS,
        )
        assert found.exact
        assert found.counts.sum() == pytest.approx(table.sum())
        starts = [0, *found.ends[:-1].tolist()]
        for a, b, row in zip(starts, found.ends.tolist(), found.counts, strict=True):
            assert row == pytest.approx(table[a:b].sum(axis=0))
        assert check_reaches(table, found, attribute_cost, criterion, 1e-6)


def test_search_without_proof_on_small_tables():
    rng = np.random.default_rng(99)
    for _ in range(150):
        table = random_table(rng)
        found = discretize(table, exact_budget=NEVER)
        assert check_reaches(table, found, 0.0, "khiops", 1e-6)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_search_without_proof_nearly_always_is_the_optimum(n_classes):
    # Beyond some 200 rows merges and local moves are on their own.
    rng = np.random.default_rng(n_classes)
    gaps = []
    for trial in range(40):
        n = int(rng.integers(400, 1200))
        cuts = np.sort(rng.random(int(rng.integers(1, 12))))
        x = rng.random(n)
        y = rng.integers(0, n_classes, len(cuts) + 1)[np.searchsorted(cuts, x)]
        y = np.where(
            rng.random(n) < rng.uniform(0.2, 0.9), rng.integers(0, n_classes, n), y
        )
        weight = rng.random(n) if trial % 4 == 0 else None
        proven = one(x, y, n_classes, sample_weight=weight, criterion="classical")
        found = one(
            x,
            y,
            n_classes,
            sample_weight=weight,
            criterion="classical",
            exact_budget=NEVER,
        )
        assert proven.exact
        gaps.append(found.cost.total - proven.cost.total)
    assert min(gaps) >= -1e-7
    assert np.mean(np.array(gaps) < 1e-6) >= 0.9
    assert max(gaps) < 5.0


def test_grid_is_lowered_while_it_has_the_cuts():
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(200):
        n = int(rng.integers(10, 60))
        y = (np.arange(n) >= n // 3).astype(int) ^ (rng.random(n) < 0.05)
        table = np.zeros((n, 2))
        table[np.arange(n), y] = 1.0
        found = discretize(table, exact_budget=ALWAYS)
        if found.n_parts == 1:
            continue
        ends = found.ends.tolist()
        assert set(ends) <= set(oracle.grid_ends(table, found.granularity))
        assert oracle.lowered(table, ends, found.granularity) == found.granularity
        seen.add(found.granularity in oracle.explored(table))
    assert seen == {True, False}  # both a grid looked at, and one only lowered to


@pytest.mark.parametrize("criterion", ["khiops", "classical"])
def test_nothing_to_tell(criterion):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=40)
    y = rng.integers(0, 2, 40)
    for x, codes, n_classes in [
        (np.ones(40), y, 2),  # constant
        (noise, np.zeros(40, int), 1),  # one class
        (np.full(40, np.nan), y, 2),  # all missing
        (noise, np.zeros(40, int), 2),  # a second class without rows
        (noise[:1], y[:1], 2),
    ]:
        found = discretize_columns(x[:, None], codes, n_classes, criterion=criterion)[0]
        assert found.n_parts == 1
        assert found.level == 0.0
        assert found.granularity == 0
        assert found.cost == found.null_cost
        assert found.bounds.shape == (0,)


@pytest.mark.parametrize("criterion", ["khiops", "classical"])
@pytest.mark.parametrize("total", [0.0, 1e-9, 0.5, 1.0, 1.9, 2.0, 2.1, 2.9, 3.0])
def test_tiny_weights_are_finite(total, criterion):
    weight = np.full(20, total / 20)
    found = discretize_columns(
        X20[:, None], Y20, 2, sample_weight=weight, criterion=criterion
    )[0]
    assert math.isfinite(found.cost.total)
    assert math.isfinite(found.null_cost.total)
    assert 0.0 <= found.level < 1.0
    if total < 2:
        assert found.n_parts == 1


def test_missing_values_alone_and_merged():
    x = np.concatenate([np.full(30, np.nan), np.arange(30.0), np.arange(30.0) + 100])
    alone = np.repeat([0, 1, 2], 30)
    found = discretize_columns(x[:, None], alone, 3)[0]
    assert found.missing_alone
    assert found.bounds.tolist() == [-np.inf, 64.5]
    assert found.counts.tolist() == (30 * np.eye(3)).tolist()
    assert found.assign(x).tolist() == alone.tolist()
    merged = discretize_columns(x[:, None], np.repeat([0, 0, 1], 30), 2)[0]
    assert not merged.missing_alone
    assert merged.bounds.tolist() == [64.5]
    assert merged.assign(np.array([np.nan, -1e9, 64.5, 64.6])).tolist() == [0, 0, 0, 1]


def test_bounds_of_neighbouring_doubles():
    low = 1.0
    high = np.nextafter(low, 2.0)
    x = np.repeat([low, high], 30)
    y = np.repeat([0, 1], 30)
    found = discretize_columns(x[:, None], y, 2)[0]
    assert low <= found.bounds[0] < high
    assert found.assign(x).tolist() == y.tolist()


def test_bounds_of_huge_values_and_signed_zero():
    x = np.concatenate([np.full(30, -1.7e308), np.full(30, 1.7e308)])
    y = np.repeat([0, 1], 30)
    found = discretize_columns(x[:, None], y, 2)[0]
    assert found.assign(x).tolist() == y.tolist()
    zeros = np.where(np.arange(60) % 2, 0.0, -0.0)
    assert discretize_columns(zeros[:, None], np.arange(60) % 2, 2)[0].n_parts == 1


def test_wrong_arguments():
    with pytest.raises(ValueError, match="criterion must be"):
        discretize([[1, 2]], criterion="modl")
    with pytest.raises(ValueError, match="shape"):
        discretize([1, 2])
    with pytest.raises(ValueError, match="negative"):
        discretize([[1, -2], [2, 1]])
    with pytest.raises(ValueError, match=r"0\.\.n_classes-1"):
        discretize_columns(X20[:, None], Y20, 1)
    with pytest.raises(ValueError, match="one value for each row"):
        discretize_columns(X20[:, None], Y20[:-1], 2)
    with pytest.raises(ValueError, match="weights must not be negative"):
        discretize_columns(X20[:, None], Y20, 2, sample_weight=-np.ones(20))


@st.composite
def columns(draw):
    n = draw(st.integers(2, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_classes = draw(st.integers(2, 4))
    y = rng.integers(0, n_classes, n)
    x = rng.normal(size=n) + y * draw(st.sampled_from([0.0, 1.0, 4.0]))
    if draw(st.booleans()):
        x = np.round(x)
    if draw(st.booleans()):
        x[rng.random(n) < 0.2] = np.nan
    return x, y, n_classes, rng


def one(x, y, n_classes, **options):
    options.setdefault("exact_budget", ALWAYS)
    return discretize_columns(np.asarray(x)[:, None], y, n_classes, **options)[0]


@settings(max_examples=60, deadline=None)
@given(columns())
def test_columns_are_their_tables(case):
    x, y, n_classes, _ = case
    table = table_of(x, y, n_classes)
    a, b = one(x, y, n_classes), discretize(table, exact_budget=ALWAYS)
    assert a.counts.tolist() == b.counts.tolist()
    assert a.cost == b.cost
    assert a.granularity == b.granularity
    counted = np.zeros_like(a.counts)
    np.add.at(counted, (a.assign(x), y), 1.0)
    assert counted.tolist() == a.counts.tolist()


@settings(max_examples=60, deadline=None)
@given(columns())
def test_what_leaves_the_cost_alone(case):
    x, y, n_classes, rng = case
    cost = one(x, y, n_classes).cost.total
    relabelled = rng.permutation(n_classes)[y]
    assert one(x, relabelled, n_classes).cost.total == pytest.approx(cost, abs=1e-8)
    assert one(np.arctan(x) * 3 + 1, y, n_classes).cost.total == pytest.approx(
        cost, abs=1e-8
    )
    order = rng.permutation(len(x))
    shuffled = one(x[order], y[order], n_classes)
    assert shuffled.cost.total == pytest.approx(cost, abs=1e-8)


@settings(max_examples=60, deadline=None)
@given(columns())
def test_weights_repeat_rows(case):
    x, y, n_classes, rng = case
    weight = rng.integers(0, 4, len(x))
    repeated = np.repeat(np.arange(len(x)), weight)
    a = one(x, y, n_classes, sample_weight=weight)
    b = one(x[repeated], y[repeated], n_classes)
    assert a.counts.tolist() == b.counts.tolist()
    assert a.bounds.tolist() == b.bounds.tolist()
    assert a.cost == b.cost


@settings(max_examples=40, deadline=None)
@given(columns())
def test_an_empty_class_costs_only_its_counts(case):
    x, y, n_classes, _ = case
    found = one(x, y, n_classes)
    wider = one(x, y, n_classes + 1)
    n = found.counts.sum(axis=1)
    # ln C(n+J, J) - ln C(n+J-1, J-1) = ln((n+J) / J) for every interval.
    null_more = math.log((n.sum() + n_classes) / n_classes)
    assert wider.null_cost.data == pytest.approx(found.null_cost.data, abs=1e-9)
    assert wider.null_cost.preparation == pytest.approx(
        found.null_cost.preparation + null_more, abs=1e-8
    )
    if wider.n_parts > 1 and wider.counts[:, :-1].tolist() == found.counts.tolist():
        assert wider.cost.data == pytest.approx(found.cost.data, abs=1e-9)
        assert wider.cost.preparation == pytest.approx(
            found.cost.preparation + np.log((n + n_classes) / n_classes).sum(), abs=1e-8
        )


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_column_alone_is_the_column_among_many(order):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 3000)
    X = rng.normal(size=(3000, 40)) + y[:, None] * np.linspace(0, 2, 40)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, ::5] = np.round(X[:, ::5], 1)
    weight = rng.random(3000)
    for sample_weight in (None, weight):
        many = discretize_columns(
            np.asarray(X, order=order), y, 3, sample_weight=sample_weight
        )
        for k in (0, 1, 17, 39):
            alone = discretize_columns(X[:, [k]], y, 3, sample_weight=sample_weight)[0]
            assert alone.bounds.tolist() == many[k].bounds.tolist()
            assert alone.counts.tolist() == many[k].counts.tolist()
            assert alone.cost == many[k].cost
            assert alone.exact == many[k].exact


def test_sweeps_of_long_columns_find_what_is_there():
    # 60,000 distinct values: merges in sweeps before the heap.
    rng = np.random.default_rng(11)
    x = rng.random(60_000)
    share = np.select([x < 0.2, x < 0.55, x < 0.551], [0.2, 0.7, 0.0], 0.4)
    y = (rng.random(60_000) < share).astype(int)
    found = one(x, y, 2, exact_budget=NEVER)
    assert found.bounds == pytest.approx([0.2, 0.55, 0.551], abs=2e-3)
    assert not found.exact
    noise = one(rng.permutation(x), y, 2, exact_budget=NEVER)
    assert noise.level == 0.0


@pytest.mark.parametrize("weight", [1e6, 1e9, 1e12, 1e300])
def test_huge_weights_end(weight):
    """Costs of 1e9 nats round by more than the smallest gain: moves went in circles."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300).astype(np.int32)
    X = np.column_stack([rng.normal(size=300) + 2 * y, rng.normal(size=300)])
    found = discretize_columns(X, y, 2, sample_weight=np.full(300, weight))
    assert [partition.n_parts > 10 for partition in found] == [True, True]


@pytest.mark.parametrize("block", range(4))
def test_few_values_of_many_rows_have_the_grids_of_the_definition(block):
    """Parts that are many more than the values are leapt over, not met one by one."""
    rng = np.random.default_rng(block)
    for _ in range(8):
        n_values = int(rng.integers(2, 7))
        size = 10.0 ** rng.uniform(0, 3.5, (n_values, 1))
        table = np.floor(rng.random((n_values, 2)) * size)
        if rng.random() < 0.3:
            table *= 0.7
        found = discretize(table, exact_budget=ALWAYS)
        assert check_reaches(table, found, 0.0, "khiops", 1e-6)
        kept = table[table.sum(axis=1) > 0]
        ends = [int((table[:e].sum(axis=1) > 0).sum()) for e in found.ends]
        if len(ends) > 1:
            assert set(ends) <= set(oracle.grid_ends(kept, found.granularity))
            coarser = oracle.lowered(kept, ends, found.granularity)
            assert coarser == found.granularity


# Four rows took seconds at a weight of 1e9 and would take days at 1e15.
HEAVY = """
import numpy as np
from bayesieve.preprocessing import MODLEncoder
for weight in 10.0 ** np.arange(0, 16):
    for weights in ([weight] * 4, [1, weight, 1, 2 * weight], [weight, 1, 0.5, 3.25]):
        for column in ([0.0, 1.0, 2.0, 3.0], ["a", "b", "c", "d"]):
            X = np.array([column], dtype=object).T
            fitted = MODLEncoder().fit(X, [0, 0, 1, 1], sample_weight=weights)
print("level", float(fitted.levels_[0]))
"""


def test_time_does_not_grow_with_the_weights():
    done = subprocess.run(
        [sys.executable, "-c", HEAVY], capture_output=True, text=True, timeout=240
    )
    assert done.stdout.startswith("level"), done.stderr
