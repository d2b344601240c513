"""Which pairs and triples of columns a weighted model takes up beside its columns."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.special import ndtri, softmax

from bayesieve import _core
from bayesieve.partition._averaged import STRENGTH, Shape, class_shares
from bayesieve.partition._pairs import (
    Axis,
    PairShape,
    average_pairs,
    most_levels,
    pair_levels,
    place_rows,
)
from bayesieve.weights._terms import PartTerms

__all__ = ["ChosenPairs", "PairRows", "beside_pairs", "choose_pairs"]

#: Columns whose pairs are looked at: those that say most.
MOST_COLUMNS = 50
#: Rows that pairs are judged by, evenly spread over all; their tables rest on all rows.
MOST_ROWS = 250_000
#: Chance that the best of all pairs passes when none says anything.
_CHANCE = 0.2
_ROUNDS = 8
#: Pairs that are extended to triples in one round.
_EXTENDED = 20
#: Pairs below this share of the threshold are not looked at again.
_HOPELESS = 0.5
#: Boxes less likely than this do not change a choice.
_LEAST = 1e-4

Set = tuple[int, ...]
#: Finds weights for terms: pairs by their columns in the table, the number of sets
#: that were looked at, and weights to start from.
Optimise = Callable[[PartTerms, list[Set], int, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class PairRows:
    """Rows as pairs are chosen from them.

    Attributes
    ----------
    columns : ndarray of shape (n_columns,)
        Numbers of the columns with a term, in the table.
    axes : list of Axis
        Of these columns.
    bins : ndarray of shape (n_rows, n_columns)
    shapes : list of Shape
        Of these columns.
    codes, weights
        Class of each row and its weight in the counts (None: all one).
    row_weight : ndarray of shape (n_rows,) or None
        Weight of each row in the criterion.
    class_count : ndarray of shape (n_classes,)
    log_prior : ndarray of shape (n_classes,)
        What scores start from.
    costs : ndarray of shape (n_columns,)
        Nats that a weight of one costs each column, as far as the user says so.
    """

    columns: np.ndarray
    axes: list[Axis]
    bins: np.ndarray
    shapes: list[Shape]
    codes: np.ndarray
    weights: np.ndarray | None
    row_weight: np.ndarray | None
    class_count: np.ndarray
    log_prior: np.ndarray
    costs: np.ndarray


@dataclass(frozen=True, eq=False)
class ChosenPairs:
    """Pairs and triples in the order in which they were chosen.

    Attributes
    ----------
    shapes : list of PairShape
    terms : PartTerms
        Of the columns and then of the pairs, each row left out of its own tables.
    weights : ndarray of shape (n_columns + n_pairs,)
        Where the search of the weights stood.
    n_candidates : int
        Sets that were looked at.
    """

    shapes: list[PairShape]
    terms: PartTerms
    weights: np.ndarray
    n_candidates: int


def choose_pairs(
    rows: PairRows,
    mains: PartTerms,
    weights: np.ndarray,
    optimise: Optimise,
    *,
    most: int | None,
    end: float = math.inf,
) -> ChosenPairs:
    """Take up pairs in rounds, as long as some pass a test.

    In each round every pair is judged at the present weights: by the slope of the
    leave-one-out log-likelihood when the pair begins to take the place of its columns.
    It passes when the slope is above zero by more than chance among so many pairs, its
    rows taken as independent, when the nats it promises are more than half the
    logarithm of the number of pairs and what it takes to say how categories were
    arranged, and when it explains the classes better than any of its columns. The best
    are taken up, the weights of all terms are optimised again, and triples that extend
    a strong pair join the candidates. **Heuristic**: a greedy search, and a test that
    knows no exact level.

    Parameters
    ----------
    rows : PairRows
    mains : PartTerms
        Terms of the columns, leave-one-out.
    weights : ndarray of shape (n_columns,)
        Their weights.
    optimise : callable
    most : int or None
        Largest number of pairs; None for as many as pass.
    end : float
        Moment of `time.monotonic` after which no round begins.
    """
    search = _Search(rows, mains, weights, optimise)
    limit = math.inf if most is None else most
    for _ in range(_ROUNDS):
        if len(search.chosen) >= limit or time.monotonic() > end:
            break
        passed = search.judge()[: int(min(search.batch, limit - len(search.chosen)))]
        if not passed:
            break
        search.take(passed)
        search.extend()
    return ChosenPairs(search.shapes, search.terms, search.weights, len(search.judged))


class _Search:
    """State of the choice; columns are counted by their place among the terms."""

    def __init__(
        self,
        rows: PairRows,
        mains: PartTerms,
        weights: np.ndarray,
        optimise: Optimise,
    ) -> None:
        self.rows, self.mains, self.optimise = rows, mains, optimise
        self.terms, self.weights = mains, weights
        self.n_classes = rows.class_count.shape[0]
        self.n_rows = float(rows.class_count.sum())
        self.alpha = STRENGTH * class_shares(rows.class_count)
        self.axes = rows.axes
        # Every so many rows are judged by.
        self.step = step = -(-rows.codes.shape[0] // MOST_ROWS)
        bins = rows.bins[::step]
        self.cells = np.empty((len(rows.axes), bins.shape[0]), np.uint8)
        for k, axis in enumerate(self.axes):
            # Every training value is known, so no cell is -1 here.
            self.cells[k] = axis.cells[bins[:, k]]
        evidence = np.array([own.evidence for own in rows.shapes])
        telling = np.argsort(-evidence * (0.1 + weights), kind="stable")
        judged = np.bincount(
            rows.codes[::step],
            None if rows.weights is None else rows.weights[::step],
            self.n_classes,
        )
        # Shapes may rest on more rows: those of a stream, or all of a sample.
        behind = max(float(own.bins.counts.sum()) for own in rows.shapes)
        self.evidence = evidence * min(1.0, float(judged.sum()) / behind)
        #: Log-likelihood of the classes of these rows as one part.
        self.alone = _core.average_boxes(
            [judged.astype(np.float64)[None]], self.alpha, [[0]], False
        )[0][0]
        self.candidates = np.sort(telling[:MOST_COLUMNS]).tolist()
        self.batch = max(1, len(rows.axes))
        self.chosen: list[Set] = []
        self.of_pairs: dict[Set, float] = {}  # evidence
        self.shapes: list[PairShape] = []
        self.pool: list[Set] = list(combinations(self.candidates, 2))
        self.judged: set[Set] = set(self.pool)

    def judge(self) -> list[Set]:
        """Sets that pass, the one that promises most first."""
        n_sets = max(len(self.judged), 1)
        threshold = -float(ndtri(_CHANCE / n_sets))
        scores = self._scores()
        slope, variance, curvature = scores[:, 0], scores[:, 1], scores[:, 2]
        z = slope / np.sqrt(np.maximum(variance, 1e-300))
        step = np.minimum(1.0, slope / np.maximum(curvature, 1e-300))
        gain = slope * step - 0.5 * curvature * step**2
        price = np.array(
            [sum(self.axes[k].log_orders for k in own) for own in self.pool]
        )
        costs = np.array([self.rows.costs[list(own)].sum() for own in self.pool])
        passes = (z > threshold) & (
            gain > 0.5 * math.log(n_sets) + price + step * costs
        )
        evidence = scores[:, 3] - self.alone
        passes &= evidence > self._best_within()
        self.of_pairs.update(
            (own, float(found))
            for own, found in zip(self.pool, evidence, strict=True)
            if len(own) == 2
        )
        order = np.argsort(-gain, kind="stable")
        passed = [self.pool[i] for i in order if passes[i]]
        hopeful = z > _HOPELESS * threshold
        self.pool = [
            own for own, stays in zip(self.pool, hopeful, strict=True) if stays
        ]
        return passed

    def _best_within(self) -> np.ndarray:
        """Evidence of the best column of every set, or of the best pair of a triple."""
        best = []
        for own in self.pool:
            within = [*self.evidence[list(own)].tolist()]
            if len(own) == 3:
                pairs = combinations(own, 2)
                within += [self.of_pairs[q] for q in pairs if q in self.of_pairs]
            best.append(max(within))
        return np.array(best)

    def _scores(self) -> np.ndarray:
        """Slope, its variance, curvature and evidence of every set of the pool."""
        rows, some = self.rows, slice(None, None, self.step)
        scores = self.terms.take(some).scores(self.weights, rows.log_prior)
        posterior = np.ascontiguousarray(softmax(scores, axis=1)[:, 1:])
        weights, row_weight = (
            None if own is None else np.ascontiguousarray(own[some])
            for own in (rows.weights, rows.row_weight)
        )
        codes = np.ascontiguousarray(rows.codes[some])
        parts, tables, offset = self.mains.take(some).arrays
        found = np.zeros((len(self.pool), 4))
        for size in (2, 3):
            own = [i for i, columns in enumerate(self.pool) if len(columns) == size]
            if own:
                found[own] = _core.score_pairs(
                    self.cells,
                    np.array([axis.level for axis in self.axes]),
                    np.array([self.pool[i] for i in own]),
                    most_levels(size, self.n_rows),
                    codes,
                    weights,
                    row_weight,
                    self.alpha,
                    np.log(self.alpha / STRENGTH),
                    posterior,
                    np.ascontiguousarray(parts),
                    tables,
                    offset,
                    _LEAST,
                )
        return found

    def take(self, passed: list[Set]) -> None:
        """Take sets up and find the weights of all terms."""
        rows = self.rows
        places, tables = [], []
        levels_of = [pair_levels(own, self.axes, self.n_rows) for own in passed]
        for columns, levels in zip(passed, levels_of, strict=True):
            cells = [
                self.axes[k].coarser(level)
                for k, level in zip(columns, levels, strict=True)
            ]
            place = place_rows(cells, levels, [rows.bins[:, k] for k in columns])
            size = ((1 << sum(levels)) + 1) * self.n_classes
            counted = np.bincount(
                place * self.n_classes + rows.codes, rows.weights, size
            )
            tables.append(counted.reshape(-1, self.n_classes).astype(np.float64))
            places.append(place)
        shapes, left_out = average_pairs(
            passed, self.axes, levels_of, tables, rows.class_count
        )
        shares = class_shares(rows.class_count)
        self.terms = beside_pairs(self.terms, places, left_out, rows.codes, shares)
        self.chosen += passed
        self.shapes += [_in_table(own, rows.columns) for own in shapes]
        start = np.concatenate([self.weights, np.zeros(len(passed))])
        pairs = [own.columns for own in self.shapes]
        self.weights = self.optimise(self.terms, pairs, len(self.judged), start)
        taken = set(passed)
        self.pool = [own for own in self.pool if own not in taken]

    def extend(self) -> None:
        """Add the triples that extend the strongest pairs."""
        of_pairs = self.weights[len(self.rows.axes) :]
        strongest = [
            self.chosen[i]
            for i in np.argsort(-of_pairs, kind="stable")
            if of_pairs[i] > 0.0 and len(self.chosen[i]) == 2
        ]
        new = sorted(set(self._extensions(strongest[:_EXTENDED])) - self.judged)
        self.pool += new
        self.judged.update(new)

    def _extensions(self, pairs: Iterable[Set]) -> Iterable[Set]:
        for pair in pairs:
            for k in self.candidates:
                if k not in pair:
                    yield tuple(sorted((*pair, k)))


def beside_pairs(
    terms: PartTerms,
    places: list[np.ndarray],
    left_out: list[np.ndarray],
    codes: np.ndarray,
    shares: np.ndarray,
) -> PartTerms:
    """Terms and then those of pairs, by the cell of each row in each pair.

    Each row is left out of its own tables, whose lines are those of `average_pairs`.
    """
    parts, lifts = [], []
    for place, table in zip(places, left_out, strict=True):
        # Most cells lack most classes: only lines that a row has are kept.
        lines = place * shares.size + codes
        there = np.bincount(lines, minlength=len(table)) > 0
        parts.append((np.cumsum(there) - 1)[lines])
        lifts.append(np.log(table[there]) - np.log(shares))
    return terms.beside(np.column_stack(parts), lifts)


def _in_table(shape: PairShape, columns: np.ndarray) -> PairShape:
    """A shape whose columns are counted in the table and not among the terms."""
    return replace(shape, columns=tuple(int(columns[k]) for k in shape.columns))
