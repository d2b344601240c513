"""Groups of values: worked example, enumeration, costs, catch-all, default, planted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.oracle.group_cost import (
    explored_granularities,
    grouping_cost,
    null_grouping_cost,
)
from tests.oracle.group_oracle import best_cost, cost_before_lowering, partile_tables

from bayesieve.partition._group import group_many, group_values

EXAMPLE = [[9, 1], [8, 2], [1, 9], [2, 8], [5, 5]]


def random_table(rng, most_values=9):
    """Few or many rows, ties, zero cells, rare values; with and without structure."""
    V, J = int(rng.integers(2, most_values + 1)), int(rng.integers(2, 6))
    kinds = int(rng.integers(1, 5))
    share = rng.dirichlet(np.full(J, rng.choice([0.3, 1.0])), size=kinds)
    rows = rng.geometric(1 / rng.choice([2, 5, 20, 60]), size=V)
    if rng.random() < 0.3:
        rows[:] = rows[0]
    kind = np.where(rng.random(V) < 0.5, 0, rng.integers(kinds, size=V))
    return np.array(
        [rng.multinomial(n, share[k]) for n, k in zip(rows, kind, strict=True)]
    )


def garbage_table(rng):
    """One large group of alike values and a few that differ: what garbage is for."""
    V, J = int(rng.integers(7, 10)), int(rng.integers(2, 5))
    share = rng.dirichlet(np.full(J, 0.5), size=3)
    kind = np.zeros(V, dtype=int)
    kind[-2:] = [1, 2]
    rows = rng.integers(10, 80, size=V)
    return np.array(
        [rng.multinomial(n, share[k]) for n, k in zip(rows, kind, strict=True)]
    )


def test_worked_example():
    found = group_values(EXAMPLE)
    assert found.group.tolist() == [0, 0, 1, 1, 1]
    assert found.counts.tolist() == [[17, 3], [8, 22]]
    assert found.granularity == 3
    assert found.cost.construction == pytest.approx(math.log(2))
    assert found.cost.preparation == pytest.approx(12.087, abs=5e-4)
    assert found.cost.data == pytest.approx(22.6212, abs=5e-5)
    assert found.level == pytest.approx(0.0456705, abs=5e-8)
    assert found.default_group == 1
    assert found.garbage_group == -1
    assert found.exact
    assert found.n_parts == 2


def test_worked_example_explores_two_granularities():
    # threshold 25, then 13, then 7: only the last has more than one partile
    assert explored_granularities(EXAMPLE) == [(1, 1), (3, 5)]


def test_attribute_cost_enters_construction():
    found = group_values(EXAMPLE, attribute_cost=math.log(2))
    assert found.cost.construction == pytest.approx(2 * math.log(2))
    assert group_values(EXAMPLE, attribute_cost=10.0).n_parts == 1


def test_classical_by_hand():
    # ln 5 + ln B(5, 3) + 2 ln 21 + ln 11, with B(5, 3) = 1 + 15 + 25
    found = group_values(EXAMPLE, criterion="classical", attribute_cost=3.0)
    assert found.group.tolist() == [0, 0, 1, 1, 2]
    assert found.granularity == 0
    assert found.cost.construction == 0.0
    expected = math.log(5) + math.log(41) + 2 * math.log(21) + math.log(11)
    assert found.cost.preparation == pytest.approx(expected)
    rows = 2 * math.log(math.comb(20, 3)) + math.log(math.comb(10, 5))
    assert found.cost.data == pytest.approx(rows)
    assert found.null_cost.preparation == pytest.approx(math.log(5) + math.log(51))


@pytest.mark.parametrize("criterion", ["khiops", "classical"])
@pytest.mark.parametrize("make", [random_table, garbage_table])
@pytest.mark.parametrize("seed", range(5))
def test_equal_to_enumeration(seed, make, criterion):
    rng = np.random.default_rng(seed)
    informative = heuristic_misses = 0
    for _ in range(30):
        table = make(rng)
        if table.sum() < 3:
            continue
        best, null = best_cost(table, 0.7, criterion)
        found = group_values(table, attribute_cost=0.7, criterion=criterion)
        assert found.exact
        assert found.null_cost.total == pytest.approx(null)
        assert cost_before_lowering(table, found) == pytest.approx(best, abs=2e-6)
        informative += found.n_parts > 1
        heuristic = group_values(
            table, attribute_cost=0.7, criterion=criterion, exact_budget=0
        )
        reached = cost_before_lowering(table, heuristic)
        assert reached >= best - 1e-6
        heuristic_misses += reached > best + 2e-6
        if heuristic.exact:
            assert reached == pytest.approx(best, abs=2e-6)
    assert informative >= 3
    assert heuristic_misses <= 2


def test_garbage_groups_are_found_and_needed():
    rng = np.random.default_rng(3)
    garbage = 0
    for _ in range(40):
        table = garbage_table(rng)
        found = group_values(table)
        if found.garbage_group < 0:
            continue
        garbage += 1
        without = grouping_cost(
            table, found.group, granularity=found.granularity, garbage=False
        )
        assert found.cost.total < without.total
        sizes = np.bincount(found.group)
        assert sizes[found.garbage_group] == sizes.max()
    assert garbage >= 5


def test_oracle_and_package_explore_the_same_granularities():
    rng = np.random.default_rng(8)
    for _ in range(200):
        table = random_table(rng, most_values=30)
        oracle = [(g, len(parts)) for g, parts in partile_tables(table)]
        assert explored_granularities(table) == oracle


@pytest.mark.parametrize("budget", [0, 1_000_000])
@pytest.mark.parametrize("criterion", ["khiops", "classical"])
def test_reported_cost_is_that_of_the_groups(criterion, budget):
    rng = np.random.default_rng(5)
    informative = 0
    for most_values in (6, 12, 40, 150):
        for _ in range(25):
            table = random_table(rng, most_values) * rng.integers(1, 4)
            table = table + (rng.random(table.shape) < 0.1) * 0.5
            found = group_values(
                table, attribute_cost=1.1, criterion=criterion, exact_budget=budget
            )
            null = null_grouping_cost(table, criterion=criterion)
            assert found.null_cost.total == pytest.approx(null.total, abs=1e-8)
            if found.n_parts == 1:
                assert found.cost == found.null_cost
                continue
            informative += 1
            cost = grouping_cost(
                table,
                found.group,
                granularity=found.granularity,
                garbage=found.garbage_group >= 0,
                attribute_cost=1.1,
                criterion=criterion,
            )
            for part in ("construction", "preparation", "data"):
                ours, plain = getattr(found.cost, part), getattr(cost, part)
                assert ours == pytest.approx(plain, abs=1e-8)
            for g in range(found.n_parts):
                rows = table[found.group == g].sum(axis=0)
                assert found.counts[g] == pytest.approx(rows)
    assert informative > 20


def test_heuristic_is_close_beyond_enumeration():
    rng = np.random.default_rng(11)
    misses, informative = 0, 0
    for _ in range(60):
        table = random_table(rng, 12)
        exact = group_values(table)
        heuristic = group_values(table, exact_budget=0)
        gap = cost_before_lowering(table, heuristic) - cost_before_lowering(
            table, exact
        )
        assert exact.exact
        assert gap >= -1e-6
        assert gap <= 0.05 * exact.cost.total
        misses += gap > 2e-6
        informative += exact.n_parts > 1
    assert informative > 10
    assert misses <= 3


def test_numbering_by_frequency():
    rng = np.random.default_rng(2)
    for _ in range(50):
        table = random_table(rng, 12) * 3
        found = group_values(table)
        order = np.argsort(-table.sum(axis=1), kind="stable")
        seen = found.group[order][table.sum(axis=1)[order] > 0]
        _, first = np.unique(seen, return_index=True)
        assert (np.diff(first) > 0).all()
        assert found.group.dtype == np.int64


def test_lowered_granularity_has_the_shorter_code():
    # 64 rows; values of 20, 20, 20, 2, 2: the last explored g has threshold 2 (g = 5),
    # but the two rare values are alike, and g = 2 (threshold 16) gives the same groups.
    table = np.array([[20, 0], [0, 20], [20, 0], [0, 2], [0, 2]])
    found = group_values(table)
    assert [g for g, _ in explored_granularities(table)][-1] > 2
    assert found.granularity == 2
    assert found.group.tolist() == [0, 1, 0, 1, 1]


def test_rare_values_share_the_catch_all():
    rng = np.random.default_rng(4)
    frequent = np.array([[400, 20], [30, 300], [100, 110]])
    once = np.eye(2, dtype=int)[rng.integers(2, size=60)]
    found = group_values(np.vstack([frequent, once]))
    assert found.n_parts > 1
    rare = set(found.group[3:].tolist())
    assert rare == {found.default_group}


def test_default_group_is_that_of_the_least_frequent_value():
    table = np.array([[50, 2], [3, 60], [40, 1], [2, 30]])
    found = group_values(table)
    assert found.group.tolist() == [1, 0, 1, 0]
    assert found.default_group == 0
    assert group_values(table[[0, 1, 3, 2]] * [[1], [1], [2], [1]]).default_group == 1


def test_default_group_is_the_garbage_without_a_catch_all():
    # All values are frequent; the rarest is not in the garbage group.
    table = np.array([[50, 50]] * 8 + [[45, 0], [0, 40]])
    found = group_values(table)
    assert found.garbage_group == 0
    assert found.group.tolist() == [0] * 8 + [1, 2]
    assert found.default_group == 0


def test_default_group_is_the_catch_all_beside_garbage():
    # Twenty values seen once, all of class 1, make a catch-all that is no garbage.
    table = np.array([[50, 50]] * 8 + [[60, 0]] + [[0, 1]] * 40)
    found = group_values(table)
    assert found.garbage_group == 0
    assert found.group[-1] != 0
    assert found.default_group == found.group[-1]


def test_unseen_rows_change_nothing_and_go_to_the_default_group():
    table = np.array([[0, 0], [50, 2], [3, 60], [0, 0], [40, 1], [2, 30]])
    found, plain = group_values(table), group_values(table[[1, 2, 4, 5]])
    assert found.cost == plain.cost
    assert found.group[[1, 2, 4, 5]].tolist() == plain.group.tolist()
    assert found.group[[0, 3]].tolist() == [found.default_group] * 2


@pytest.mark.parametrize(
    "table",
    [
        np.zeros((0, 2)),
        np.zeros((3, 2)),
        np.zeros((3, 0)),
        [[4, 5]],
        [[4], [5]],
        [[0, 0], [4, 5]],
        [[1, 0], [0, 1]],
        [[0.3, 0.0], [0.0, 0.4]],
        [[0.9, 0.0], [0.0, 1.3]],
        [[1e-300, 0.0], [0.0, 1e-300]],
        [[5, 0], [7, 0]],
    ],
)
@pytest.mark.parametrize("criterion", ["khiops", "classical"])
def test_nothing_to_group(table, criterion):
    found = group_values(table, criterion=criterion)
    assert found.level == 0.0
    assert found.n_parts == 1
    assert found.cost == found.null_cost
    assert np.isfinite(found.cost.total)
    assert found.granularity == 0
    assert found.default_group == 0
    assert found.garbage_group == -1
    assert (found.group == 0).all()


@pytest.mark.parametrize("classes", [2, 5])
def test_identifier_has_level_zero(classes):
    rng = np.random.default_rng(0)
    table = np.eye(classes)[rng.integers(classes, size=3000)]
    assert group_values(table).level == 0.0


@pytest.mark.parametrize("classes", [2, 3, 8])
def test_planted_groups_are_recovered(classes):
    rng = np.random.default_rng(classes)
    share = np.full((3, classes), 0.4 / classes)
    share[[0, 1, 2], [0, 1, classes - 1]] += [0.6, 0.6, 0.6]
    if classes == 2:
        share = np.array([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]])
    truth = rng.integers(3, size=200)
    rows = rng.multinomial(50_000, np.full(200, 1 / 200))
    table = np.array(
        [rng.multinomial(n, share[k]) for n, k in zip(rows, truth, strict=True)]
    )
    found = group_values(table)
    assert found.n_parts == 3
    for g in range(3):
        assert len(set(truth[found.group == g].tolist())) == 1


def test_many_rare_values_of_many_classes():
    # More values than sqrt(N): they are tied before pairs are merged.
    rng = np.random.default_rng(1)
    share = np.full((3, 6), 0.05)
    share[[0, 1, 2], [0, 2, 4]] += 0.7
    truth = rng.integers(3, size=1500)
    table = np.array([rng.multinomial(20, share[k]) for k in truth])
    found = group_values(table)
    planted = grouping_cost(table, truth, granularity=found.granularity)
    assert found.cost.total <= planted.total + 1e-6


def test_one_table_among_many():
    rng = np.random.default_rng(9)
    tables = [random_table(rng, 30) for _ in range(40)]
    together = group_many(tables, attribute_cost=0.3)
    assert len(together) == 40
    for table, among in zip(tables, together, strict=True):
        alone = group_values(table, attribute_cost=0.3)
        assert alone.cost == among.cost
        assert alone.group.tolist() == among.group.tolist()
        assert alone.exact == among.exact
    assert group_many([]) == []


def test_input_is_not_written_to():
    table = np.array(EXAMPLE, dtype=np.float64)
    before = table.copy()
    found = group_values(table)
    found.group[0] = 7
    assert (table == before).all()


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"'khiops' or 'classical'. Got 'modl'"):
        group_values(EXAMPLE, criterion="modl")
    with pytest.raises(ValueError, match=r"Got -1.0 for value 1 in class 0"):
        group_values([[1.0, 2.0], [-1.0, 3.0]])
    with pytest.raises(ValueError, match=r"Got nan for value 0 in class 1"):
        group_values([[1.0, np.nan], [1.0, 3.0]])
    with pytest.raises(ValueError, match=r"two dimensions.*shape \(3,\)"):
        group_values([1, 2, 3])
    with pytest.raises(ValueError, match=r"exact_budget.*Got -1"):
        group_values(EXAMPLE, exact_budget=-1)
    with pytest.raises(ValueError, match=r"attribute_cost.*Got inf"):
        group_values(EXAMPLE, attribute_cost=math.inf)


def test_cost_of_groups_that_split_a_partile():
    table = np.array([[50, 2], [3, 60]] + [[1, 0]] * 4)
    with pytest.raises(ValueError, match="must share a group"):
        grouping_cost(table, [0, 1, 0, 0, 0, 1], granularity=1)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("values", [60, 600, 5000])
def test_few_telling_values_among_many(values, classes):
    # Without garbage every value is described, some values * ln 3 nats; with it, ten.
    rng = np.random.default_rng(values + classes)
    rest = np.full(classes, 1 / classes)
    table = rng.multinomial(40, rest, size=values)
    truth = np.zeros(values, dtype=int)
    truth[:5], truth[5:10] = 1, 2
    table[:5], table[5:10] = 40 * np.eye(classes)[0], 40 * np.eye(classes)[1]
    table[table.sum(axis=1) == 0, 0] = 1
    found = group_values(table)
    assert found.garbage_group == found.default_group
    planted = grouping_cost(table, truth, granularity=found.granularity)
    assert found.cost.total <= planted.total + 1e-6


def test_counts_that_overflow_are_refused():
    with pytest.raises(ValueError, match="sum of all counts must be finite"):
        group_values([[1e308, 1e308], [1.0, 2.0]])
