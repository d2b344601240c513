"""Terms of an additive model on some rows: centred, and shared among their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np

from bayesieve.naive_bayes._explanation import Explanation
from bayesieve.naive_bayes._term_values import TableTerms, finite_mean
from bayesieve.partition._pairs import PairShape

__all__ = [
    "ExplainedTerm",
    "explanation_of",
    "term_of_density",
    "term_of_grid",
    "term_of_parts",
]


@dataclass(frozen=True, eq=False)
class ExplainedTerm:
    """What one weighted term adds to the scores of some rows.

    Attributes
    ----------
    name : str
    columns : tuple of int
        Numbers of its columns in the table.
    mean : ndarray of shape (n_classes,)
        Over the training rows.
    shared : tuple of ndarray of shape (n_rows, n_classes)
        What each of its columns adds; their sum is the term less its mean.
    inputs : tuple of ndarray of shape (n_rows,) or None
        What the rows hold, where that is not what they hold in these columns.
    absent : ndarray of shape (n_classes,) or None
        Of an n-gram: what it adds, less its mean, to a row without it.
    """

    name: str
    columns: tuple[int, ...]
    mean: np.ndarray
    shared: tuple[np.ndarray, ...]
    inputs: tuple[np.ndarray, ...] | None = None
    absent: np.ndarray | None = None

    @property
    def values(self) -> np.ndarray:
        """The term less its mean, of shape (n_rows, n_classes)."""
        return np.asarray(sum(self.shared))


def term_of_parts(
    table: np.ndarray, counts: np.ndarray, parts: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Mean of a column's term over its training rows, and what it adds to each row."""
    rows = counts.sum(axis=1)
    mean = finite_mean(table, axis=0, weight=rows)
    return mean, ((table - mean)[parts],)


def term_of_density(
    values: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    spread: np.ndarray,
    rows: np.ndarray,
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Mean of a normal log-density over the training rows, and what it adds to rows.

    ``E (x - mean_c)^2`` over the training rows is the mean over their classes d of
    ``spread_d + (mean_d - mean_c)^2``.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
    mean, variance : ndarray of shape (n_classes,)
        Of the densities. A variance of 0 makes one value certain and any other
        impossible.
    spread, rows : ndarray of shape (n_classes,)
        Variance of the training rows of each class, and how many they are.
    """
    certain = variance <= 0
    width = np.where(certain, 1.0, variance)
    constant = -0.5 * np.log(2.0 * np.pi * width)
    away = spread + (mean[None, :] - mean[:, None]) ** 2
    expected = constant - 0.5 * (away @ (rows / rows.sum())) / width
    distance = values[:, None] - mean
    added = constant - 0.5 * distance**2 / width
    added = np.where(certain, np.where(distance == 0, 0.0, -np.inf), added)
    expected = np.where(certain, 0.0, expected)
    return expected, (added - expected,)


def term_of_grid(
    shape: PairShape, table: np.ndarray, cells: Sequence[np.ndarray]
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Mean of the term of a pair or triple, and the Shapley value of each column.

    ``v(S)`` is the mean of the term over the training rows whose columns in S were
    replaced: by the distribution of the other columns' cells, whatever those in S are.

    Parameters
    ----------
    shape : PairShape
        Its counts are those of the training rows.
    table : ndarray of shape (n_cells + 1, n_classes)
        What the term adds in each cell, and in that of unknown values.
    cells : sequence of ndarray of shape (n_rows,)
        Cell of each row on each axis, -1 for an unknown value.
    """
    sizes, n_axes = shape.shape, len(cells)
    rows = shape.counts.sum(axis=1)
    share = rows / rows.sum()
    # One more cell at the end of each axis, for unknown values: that of number -1.
    grid = np.tile(table[-1], (*(size + 1 for size in sizes), 1))
    inside = tuple(slice(size) for size in sizes)
    grid[inside] = table[:-1].reshape(*sizes, -1)
    weight = np.zeros(grid.shape[:-1])
    weight[inside] = share[:-1].reshape(sizes)
    # Of training rows with an unknown value it is not known in which column.
    unknown = share[-1] * table[-1]

    def game(known: tuple[int, ...]) -> np.ndarray:
        rest = tuple(axis for axis in range(n_axes) if axis not in known)
        if not rest:
            return np.asarray(grid[tuple(cells)])
        others = weight.sum(axis=known) if known else weight
        mean = np.tensordot(others, grid, axes=(range(len(rest)), rest)) + unknown
        return np.asarray(mean[tuple(cells[axis] for axis in known)])

    of_sets = {
        known: game(known)
        for size in range(n_axes + 1)
        for known in combinations(range(n_axes), size)
    }
    shared = []
    for axis in range(n_axes):
        total = np.zeros((cells[0].shape[0], table.shape[1]))
        for known, value in of_sets.items():
            if axis in known:
                continue
            joined = of_sets[tuple(sorted((*known, axis)))]
            ways = factorial(len(known)) * factorial(n_axes - len(known) - 1)
            total += ways / factorial(n_axes) * (joined - value)
        shared.append(total)
    return of_sets[()], tuple(shared)


def explanation_of(
    terms: Sequence[ExplainedTerm],
    start: np.ndarray,
    classes: np.ndarray,
    probabilities: np.ndarray,
    names: Sequence[str],
    data: Mapping[int, np.ndarray],
    index: Any = None,
) -> Explanation:
    """Put terms together, by themselves and by column.

    Parameters
    ----------
    terms : sequence of ExplainedTerm
    start : ndarray of shape (n_classes,)
        Score of each class before any term.
    classes, probabilities, index
        As in `Explanation`.
    names : sequence of str
        Of the columns.
    data : mapping of int to ndarray of shape (n_rows,)
        What the rows hold in the columns, where that is known.
    """

    def held(columns: Sequence[int]) -> tuple[np.ndarray, ...]:
        return tuple(data[j] for j in columns if j in data)

    n_rows, n_classes = probabilities.shape
    means = np.array([own.mean for own in terms]).reshape(len(terms), n_classes)
    base = start + means.sum(axis=0)
    values = np.zeros((n_rows, len(terms), n_classes))
    for t, own in enumerate(terms):
        values[:, t] = own.values
    impossible = np.isneginf(base + values.sum(axis=1)).all(axis=1)
    values[impossible] = -means  # such rows are predicted from the start alone
    inputs = tuple(
        held(own.columns) if own.inputs is None else own.inputs for own in terms
    )
    absent = {t: own.absent for t, own in enumerate(terms) if own.absent is not None}
    found = Explanation(
        TableTerms(values, inputs, impossible=impossible, absent=absent),
        base,
        [own.name for own in terms],
        classes,
        probabilities,
        index,
    )
    columns = sorted({j for own in terms for j in own.columns})
    if [own.columns for own in terms] == [(j,) for j in columns]:
        return found
    place = {j: k for k, j in enumerate(columns)}
    of_columns = np.zeros((n_rows, len(columns), n_classes))
    for own in terms:
        for j, part in zip(own.columns, own.shared, strict=True):
            of_columns[:, place[j]] += part
    are_shares = any(len(own.columns) > 1 for own in terms)
    by_column = replace(
        found,
        terms=TableTerms(of_columns, tuple(held([j]) for j in columns), are_shares),
        features=[names[j] for j in columns],
    )
    return replace(found, _of_columns=by_column)
