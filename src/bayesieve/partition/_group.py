"""Groups of the values of a categorical variable that say most about the classes.

The MODL criterion weighs what a grouping tells about the classes against the length of
its own description; the groups are those of the shortest total code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve import _core
from bayesieve.partition._partition import Partition, PartitionCost

__all__ = ["DEFAULT_EXACT_BUDGET", "ValueGrouping", "group_many", "group_values"]

# 3^12 steps over the subsets of 12 values, or 1000 values of two classes in order:
# milliseconds a column.
DEFAULT_EXACT_BUDGET = 1_000_000


@dataclass(frozen=True, kw_only=True)
class ValueGrouping(Partition):
    """Groups of the values of one variable.

    Attributes
    ----------
    group : ndarray of shape (n_values,), int64
        Group of each row of the table. Groups are numbered by first appearance when the
        values are sorted by decreasing frequency, ties by row.
    default_group : int
        Group of values that were never seen: the one of the rarest values, or the
        garbage group when no rare values were taken together. A catch-all of a single
        value takes nothing together.
    garbage_group : int
        Group of the many values that are not described one by one; -1 if there is none.
    """

    group: NDArray[np.int64]
    default_group: int
    garbage_group: int


def group_values(
    table: Any,
    *,
    attribute_cost: float = 0.0,
    criterion: str = "khiops",
    exact_budget: int = DEFAULT_EXACT_BUDGET,
) -> ValueGrouping:
    """Group the values of one variable.

    Parameters
    ----------
    table : array-like of shape (n_values, n_classes)
        Rows (or sums of row weights) of each value and class. A missing value is a row
        like any other. A row of zeros is a value that was not seen: it goes to the
        default group and changes nothing.
    attribute_cost : float, default=0.0
        Code length of the choice of this variable, ln K among K candidates. Not part of
        the classical criterion.
    criterion : {'khiops', 'classical'}, default='khiops'
        ``'khiops'`` codes the granularity and allows a garbage group;
        ``'classical'`` is ln V + ln B(V, I) plus the rows.
    exact_budget : int, default=1_000_000
        Steps allowed to the exact searches: 3**V for V values, V**2 for two classes.
        With 0 only tables of up to 3 values are enumerated; two classes stay exact
        without a garbage group up to 256 values. No budget goes beyond 16 values, or
        4096 of two classes.

    Returns
    -------
    ValueGrouping
        **Exact** where its ``exact`` says so, **heuristic** otherwise.

    Notes
    -----
    Up to 12 values are solved by a dynamic programme over their subsets. More values of
    two classes: the optimum without a garbage group is contiguous in the order of the
    share of a class, O(V**2) for each number of groups. More classes: pairs of groups
    are merged, from at most ``sqrt(N)`` groups (not below 100, not above 1024) down to
    one. Single values are then moved until no move gains. A grouping must beat one
    group by 1e-6 nats.

    Examples
    --------
    >>> from bayesieve.partition._group import group_values
    >>> found = group_values([[9, 1], [8, 2], [1, 9], [2, 8], [5, 5]])
    >>> found.group.tolist()
    [0, 0, 1, 1, 1]
    >>> round(found.level, 7), found.exact
    (0.0456705, True)
    """
    (result,) = group_many(
        [table],
        attribute_cost=attribute_cost,
        criterion=criterion,
        exact_budget=exact_budget,
    )
    return result


def group_many(
    tables: Iterable[Any],
    *,
    attribute_cost: float = 0.0,
    criterion: str = "khiops",
    exact_budget: int = DEFAULT_EXACT_BUDGET,
) -> list[ValueGrouping]:
    """Group the values of several variables, in parallel.

    Parameters
    ----------
    tables : iterable of array-like of shape (n_values, n_classes)
        One table for each variable; see :func:`group_values`, also for the rest.
    attribute_cost, criterion, exact_budget
        As there.

    Returns
    -------
    list of ValueGrouping
        In the order of the tables. No result depends on the other tables.
    """
    if criterion not in ("khiops", "classical"):
        raise ValueError(
            "The 'criterion' parameter of group_values must be 'khiops' or 'classical'."
            f" Got {criterion!r}."
        )
    if not exact_budget >= 0:
        raise ValueError(
            "The 'exact_budget' parameter of group_values must be an int >= 0."
            f" Got {exact_budget!r}."
        )
    if not np.isfinite(attribute_cost):
        raise ValueError(
            "The 'attribute_cost' parameter of group_values must be a finite number."
            f" Got {attribute_cost!r}."
        )
    arrays = [_checked(table) for table in tables]
    answers = _core.group_tables(
        arrays, float(attribute_cost), criterion == "classical", float(exact_budget)
    )
    return [
        _result(array, answer) for array, answer in zip(arrays, answers, strict=True)
    ]


def _checked(table: Any) -> NDArray[np.float64]:
    array = np.ascontiguousarray(table, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(
            "A table of values must have two dimensions, (n_values, n_classes)."
            f" Got shape {array.shape}."
        )
    with np.errstate(over="ignore"):
        total = array.sum()
    if np.isinf(total) and np.isfinite(array).all():
        raise ValueError("The sum of all counts must be finite. Got inf.")
    bad = ~(np.isfinite(array) & (array >= 0.0))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            "Counts must be finite and not negative."
            f" Got {array[row, column]} for value {row} in class {column}."
        )
    return array


def _result(table: NDArray[np.float64], answer: tuple[Any, ...]) -> ValueGrouping:
    group, n_groups, default, garbage, granularity, exact, costs = answer
    counts = np.zeros((n_groups, table.shape[1]))
    np.add.at(counts, group, table)
    return ValueGrouping(
        group=group,
        counts=counts,
        default_group=default,
        garbage_group=garbage,
        granularity=granularity,
        cost=PartitionCost(*map(float, costs[:3])),
        null_cost=PartitionCost(*map(float, costs[3:])),
        exact=exact,
    )
