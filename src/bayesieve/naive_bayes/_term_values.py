"""What terms add to the scores of rows: a number for each cell, or counts and slopes.

Two forms of one idea. `TableTerms` holds what each term adds to each row; `LinearTerms`
holds how much of each term a row has, sparse, and what one of it adds. A class that
cannot produce a row has minus infinity in the term that says so, never NaN.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from bayesieve.utils._validation import is_missing

__all__ = [
    "LinearTerms",
    "Removals",
    "TableTerms",
    "Terms",
    "contrast_for",
    "finite_mean",
    "on_one_line",
    "shown",
    "total_of",
]


def contrast_for(values: np.ndarray, place: Any) -> np.ndarray:
    """What speaks for a class against the mean of the others, over the last axis.

    Parameters
    ----------
    values : ndarray of shape (..., n_classes)
    place : int or ndarray of int
        Number of the class, for all or for each along the other axes.
    """
    n_classes = values.shape[-1]
    place = np.broadcast_to(np.asarray(place), values.shape[:-1])
    own = np.take_along_axis(values, place[..., None], axis=-1)[..., 0]
    with np.errstate(invalid="ignore"):
        found = own - (values.sum(axis=-1) - own) / max(n_classes - 1, 1)
    # What is impossible stays so, whatever else is impossible beside it.
    return np.where(np.isneginf(own), -np.inf, found)


def total_of(nats: np.ndarray) -> float:
    """Sum of contrasts, in which what is impossible has the last word."""
    if np.isneginf(nats).any():
        return -np.inf
    return float(nats.sum())


def finite_mean(
    values: np.ndarray, axis: int, weight: np.ndarray | None = None
) -> np.ndarray:
    """Mean over the entries that are not minus infinity; 0 where there are none."""
    finite = np.isfinite(values)
    share = finite if weight is None else finite * np.expand_dims(weight, 1 - axis)
    total = share.sum(axis=axis)
    sums = (share * np.where(finite, values, 0.0)).sum(axis=axis)
    return np.asarray(sums / np.where(total > 0, total, 1.0))


@dataclass(frozen=True, eq=False)
class Removals:
    """Terms of one row that can be put back to their reference.

    Attributes
    ----------
    terms : ndarray of int of shape (n,)
    kept, removed : ndarray of shape (n, n_classes)
        What they add as they are, and at their reference.
    rest : ndarray of shape (n_classes,)
        Score of the row without them.
    """

    terms: np.ndarray
    kept: np.ndarray
    removed: np.ndarray
    rest: np.ndarray


class Terms(Protocol):
    """What `Explanation` asks of terms, whatever form they have."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def inputs(self) -> Any:
        """What the rows hold."""

    def take(self, rows: Any) -> Terms:
        """The terms of some rows."""

    def values(self) -> np.ndarray:
        """What each term adds, of shape (n_rows, n_terms, n_classes)."""

    def totals(self) -> np.ndarray:
        """Sum over the terms, of shape (n_rows, n_classes)."""

    def contrast(self, place: int) -> Any:
        """What speaks for a class, (n_rows, n_terms): an array or a csr_array."""

    def strongest(self, n: int, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and contrasts of the n largest terms of each row, for its class."""

    def of_row(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the terms that say something of a row, and what they add."""

    def shown_input(self, term: int, row: int) -> str:
        """What a row holds for a term, as text."""

    def removal(self, term: int) -> str:
        """How a term is put back, in words: "without" or "with an average"."""

    def removals(self, row: int, base: np.ndarray) -> Removals | None:
        """What can be put back to its reference; None where that has no meaning."""


@dataclass(frozen=True, eq=False)
class TableTerms:
    """Terms of the columns of a table, each less its mean over the training rows.

    Attributes
    ----------
    array : ndarray of shape (n_rows, n_terms, n_classes)
    inputs : tuple of tuples of ndarray
        What the rows hold in the columns of each term; empty where that is not known.
    are_shares : bool
        Of pairs among their columns: a share cannot be put back by itself.
    impossible : ndarray of bool of shape (n_rows,), optional
        Rows that no class can produce: their terms take back what the base holds.
    absent : mapping of int to ndarray of shape (n_classes,)
        What an n-gram adds to a row without it, by its number: it can be taken out,
        while columns can only be put back to their mean.
    """

    array: np.ndarray
    inputs: tuple[tuple[np.ndarray, ...], ...] = ()
    are_shares: bool = False
    impossible: np.ndarray | None = None
    absent: Mapping[int, np.ndarray] = field(default_factory=dict)

    def removal(self, term: int) -> str:
        return "without" if term in self.absent else "with an average"

    @property
    def n_rows(self) -> int:
        return int(self.array.shape[0])

    def take(self, rows: Any) -> TableTerms:
        return replace(
            self,
            array=self.array[rows],
            inputs=tuple(tuple(own[rows] for own in term) for term in self.inputs),
            impossible=None if self.impossible is None else self.impossible[rows],
        )

    def values(self) -> np.ndarray:
        return self.array

    def totals(self) -> np.ndarray:
        return np.asarray(self.array.sum(axis=1))

    def contrast(self, place: int) -> np.ndarray:
        return contrast_for(self.array, place)

    def strongest(self, n: int, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nats = contrast_for(self.array, places[:, None])
        order = np.argsort(-np.abs(nats), axis=1, kind="stable")[:, :n]
        numbers = np.full((self.n_rows, n), -1, dtype=np.int64)
        found = np.zeros((self.n_rows, n))
        numbers[:, : order.shape[1]] = order
        found[:, : order.shape[1]] = np.take_along_axis(nats, order, axis=1)
        return numbers, found

    def of_row(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(self.array.shape[1]), self.array[row]

    def shown_input(self, term: int, row: int) -> str:
        if not self.inputs:
            return ""
        return ", ".join(shown(own[row]) for own in self.inputs[term])

    def removals(self, row: int, base: np.ndarray) -> Removals | None:
        if self.are_shares or (self.impossible is not None and self.impossible[row]):
            return None
        terms, kept = self.of_row(row)
        removed = np.zeros_like(kept)
        for term, without in self.absent.items():
            removed[term] = without
        return Removals(terms, kept, removed, base)


@dataclass(frozen=True, eq=False)
class LinearTerms:
    """Terms that add so much for each count: nothing where a row has none of them.

    Attributes
    ----------
    rows : csr_array of shape (n_rows, n_columns)
        How much of each column a row has, no zeros stored. The first `n_terms` are the
        terms themselves; more are there only where something is impossible, see
        `linear_terms`.
    slopes : ndarray of shape (n_columns, n_classes)
    term_of : ndarray of int of shape (n_columns,)
        The term that a column speaks of; a row has one column of it at most.
    absent : ndarray of shape (n_terms, n_classes)
        What a term adds to a row without it: 0, or minus infinity.
    held : ndarray or csr_array of shape (n_rows, n_terms)
        What the rows hold, as it was given.
    """

    rows: Any
    slopes: np.ndarray
    term_of: np.ndarray
    absent: np.ndarray
    held: Any

    def removal(self, term: int) -> str:
        return "without"

    @property
    def n_rows(self) -> int:
        return int(self.rows.shape[0])

    @property
    def inputs(self) -> Any:
        return self.held

    def take(self, rows: Any) -> LinearTerms:
        return replace(self, rows=self.rows[rows], held=self.held[rows])

    def values(self) -> np.ndarray:
        n_terms, n_classes = self.absent.shape
        found = np.zeros((self.n_rows, n_terms, n_classes))
        where = self.rows.tocoo()
        found[where.row, self.term_of[where.col]] = (
            where.data[:, None] * self.slopes[where.col]
        )
        return found

    def totals(self) -> np.ndarray:
        impossible = np.isneginf(self.slopes)
        found = np.asarray(self.rows @ np.where(impossible, 0.0, self.slopes))
        if impossible.any():
            met = np.asarray(self.rows @ impossible.astype(np.float64)) > 0
            found[met] = -np.inf
        return found

    def contrast(self, place: int) -> Any:
        slopes = contrast_for(self.slopes, place)
        nats = self.rows.data * slopes[self.rows.indices]
        shape = (self.n_rows, self.absent.shape[0])
        found = sparse.csr_array((nats, self._terms(), self.rows.indptr), shape=shape)
        found.sort_indices()
        return found

    def strongest(self, n: int, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n_classes = self.slopes.shape[1]
        slopes = np.column_stack(
            [contrast_for(self.slopes, c) for c in range(n_classes)]
        )
        starts = self.rows.indptr
        row = np.repeat(np.arange(self.n_rows), np.diff(starts))
        nats = self.rows.data * slopes[self.rows.indices, places[row]]
        order = np.lexsort((-np.abs(nats), row))
        # Ranks within a row: what stands first in it is its largest.
        rank = np.arange(row.shape[0]) - starts[row]
        chosen = rank < n
        taken, rank, row = order[chosen], rank[chosen], row[chosen]
        numbers = np.full((self.n_rows, n), -1, dtype=np.int64)
        found = np.zeros((self.n_rows, n))
        numbers[row, rank] = self._terms()[taken]
        found[row, rank] = nats[taken]
        return numbers, found

    def of_row(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        columns, amounts = self._stored(row)
        return self.term_of[columns], amounts[:, None] * self.slopes[columns]

    def shown_input(self, term: int, row: int) -> str:
        return f"{float(self.held[row, term]):.6g}"

    def removals(self, row: int, base: np.ndarray) -> Removals | None:
        columns, amounts = self._stored(row)
        there = columns < self.absent.shape[0]
        terms = columns[there]
        kept = amounts[there, None] * self.slopes[terms]
        rest = base + self.slopes[columns[~there]].sum(axis=0)
        return Removals(terms, kept, self.absent[terms], rest)

    def _stored(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        own = slice(self.rows.indptr[row], self.rows.indptr[row + 1])
        return self.rows.indices[own], self.rows.data[own]

    def _terms(self) -> np.ndarray:
        return np.asarray(self.term_of[self.rows.indices])


def on_one_line(name: str) -> str:
    """A name with spaces for tabs and ends of lines."""
    return name if name.isprintable() else re.sub(r"\s", " ", name)


def shown(value: Any) -> str:
    """A value of the data in few letters."""
    if is_missing(value):
        return "missing"
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[s]")).removesuffix("T00:00:00")
    return " ".join(str(value).split())
