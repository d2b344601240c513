"""A handful of columns taken out of the table, ready for many evaluations.

Everything the relaxation and the search need of a column i is its gain at one point,
the *anchor* a, and the smoothed counts ``f_ci``: at class shares p the gain is
``h_i(p) = h_i(a) - sum_c f_ci log(p_c / a_c)``. Both add up over a set of columns, so
columns that are fixed into every support of a subproblem enter as two sums.

The gain at the anchor is computed without cancellation and comes with a bound on its
rounding, the *doubt*. Values here are gains raised by their doubt: a sum of the k
largest of them is a bound from above in exact arithmetic. Away from the anchor rounding
grows with the counts; `Block.margin` says how much, and a new anchor removes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve import _core
from bayesieve.solvers._choice import Choice
from bayesieve.solvers._logs import ROUNDING_UNITS, UNIT, Floats

__all__ = ["Block", "Members"]

#: Sums are added in runs of 64: this and one more for each run, in units.
_SUM_UNITS = 80.0


@dataclass(frozen=True)
class Members:
    """The columns of candidates that are groups, each with the place of its group.

    The gain of a group is the sum of its columns', more than its sums alone would have.
    """

    counts: Any
    alpha: Floats | None
    place: NDArray[np.int64]

    def take(self, keep: NDArray[np.int64], n: int) -> Members:
        """Those of some of n candidates."""
        position = np.full(n, -1, dtype=np.int64)
        position[keep] = np.arange(keep.shape[0])
        kept = np.flatnonzero(position[self.place] >= 0)
        return Members(
            self.counts[:, kept],
            None if self.alpha is None else self.alpha[kept],
            position[self.place[kept]],
        )

    def gains(self, shares: Floats, n: int) -> tuple[Floats, Floats]:
        """Gain of each of n candidates at p, and its doubt."""
        value, doubt = _gains(self.counts, self.alpha, shares)
        total = np.bincount(self.place, value, minlength=n).astype(np.float64)
        doubts = np.bincount(self.place, doubt, minlength=n).astype(np.float64)
        largest = int(np.bincount(self.place, minlength=n).max(initial=1))
        return total, doubts + (2 + largest) * UNIT * total


@dataclass(frozen=True)
class Block:
    """Candidate columns, smoothed, and the sums of the columns already chosen.

    ``counts`` is (K, M) dense and smoothed, or a CSC array without smoothing whose
    ``alpha`` (M,) is added in closed form: a class without count contributes alpha
    only. ``value`` and ``chosen_value`` are raised by their doubt. Where candidates are
    groups, ``members`` are their columns; ``choice`` says which may join together.
    """

    columns: NDArray[np.int64]
    counts: Any
    alpha: Floats | None
    anchor: Floats
    value: Floats
    doubt: Floats
    #: No candidate has a larger total, and all together have no more than this.
    largest: float
    together: float
    #: Whether every cell is positive (alpha > 0), so that no class can be missing.
    positive: bool = False
    chosen: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    chosen_value: float = 0.0
    chosen_doubt: float = 0.0
    chosen_sums: Floats = field(default_factory=lambda: np.zeros(0))
    members: Members | None = None
    choice: Choice | None = None
    chosen_columns: int = 0  # how many the chosen have together

    @classmethod
    def of(
        cls,
        columns: NDArray[np.int64],
        counts: Any,
        alpha: Floats | None,
        anchor: Floats,
        *,
        positive: bool,
        members: Members | None = None,
    ) -> Block:
        """From smoothed counts (K, M), or a CSC array (K, M) and alpha (M,)."""
        if members is None:
            value, doubt = _gains(counts, alpha, anchor)
        else:
            value, doubt = members.gains(anchor, counts.shape[1])
        totals = np.asarray(counts.sum(axis=0), dtype=np.float64).ravel()
        if alpha is not None:
            totals = totals + counts.shape[0] * alpha
        return cls(
            columns,
            counts,
            alpha,
            anchor,
            value + doubt,
            doubt,
            float(totals.max(initial=0.0)),
            float(totals.sum()) * (1.0 + 1e-9),
            positive,
            chosen_sums=np.zeros(counts.shape[0]),
            members=members,
        )

    @classmethod
    def of_constants(
        cls,
        columns: NDArray[np.int64],
        gains: Floats,
        doubt: Floats,
        choice: Choice | None,
    ) -> Block:
        """Candidates whose gains depend on no class shares, as in additive models."""
        n = columns.shape[0]
        return cls(
            columns,
            np.zeros((1, n)),
            None,
            np.ones(1),
            gains + doubt,
            doubt,
            0.0,
            0.0,
            chosen_sums=np.zeros(1),
            choice=choice,
        )

    @property
    def has_constants(self) -> bool:
        """Whether gains depend on no class shares."""
        return self.n_classes == 1

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.counts.shape[0])

    def __len__(self) -> int:
        return int(self.columns.shape[0])

    def anchored(self, anchor: Floats) -> Block:
        """The same with another anchor."""
        if self.members is None:
            value, doubt = _gains(self.counts, self.alpha, anchor)
        else:
            value, doubt = self.members.gains(anchor, len(self))
        total = float(self.chosen_sums.sum())
        before = _divergence_of(self.chosen_sums, self.anchor * total)
        after = _divergence_of(self.chosen_sums, anchor * total)
        size = self.chosen_value + before[0] + after[0]
        more = before[1] + after[1] + 4 * UNIT * size
        return replace(
            self,
            anchor=anchor,
            value=value + doubt,
            doubt=doubt,
            chosen_value=self.chosen_value - before[0] + after[0] + more,
            chosen_doubt=self.chosen_doubt + more,
        )

    def gains(self, ratio: Floats) -> Floats:
        """``h_i(p)`` of every candidate, raised by its doubt; ratio is log(p / a)."""
        if self.alpha is None:
            # Elementwise, not as a matrix product: equal columns must get equal gains,
            # and BLAS may round them differently by position.
            h: Floats = self.value - self.counts[0] * ratio[0]
            for c in range(1, self.n_classes):
                h -= self.counts[c] * ratio[c]
        else:
            h = self.value - self.counts.T @ ratio - self.alpha * ratio.sum()
        np.maximum(h, 0.0, out=h)
        return h

    def margin(self, shares: Floats, ratio: Floats, k: int, value: float) -> float:
        """What rounding may add, away from the anchor, to an atom of this value.

        Each gain is K products less than that at the anchor, one after the other; both
        are of the size of its counts times the largest ratio, or of its own.
        """
        steepest = float(np.abs(ratio).max())
        if steepest == 0.0:
            return 0.0
        shrunk = math.exp(-min(float(ratio.min()), 0.0)) - 1.0  # largest anchor / share
        rough = (8 + 2 * self.n_classes) * steepest + 8 * shrunk
        # Shares need not have the sum of the anchor to the last digit; in one sum, as
        # each sum alone would be rounded.
        missing = abs(math.fsum([*shares.tolist(), *(-self.anchor).tolist()]))
        weight = self.weight(k)
        own = (_SUM_UNITS + k / 64 + self.n_classes) * value
        return UNIT * (weight * rough + own) + weight * missing

    def weight(self, k: int) -> float:
        """At least the sum of all counts of the chosen columns and k candidates."""
        most = min(k * self.largest, self.together)
        return most + float(self.chosen_sums.sum())

    def sums(self, positions: NDArray[np.int64]) -> Floats:
        """Class sums over some candidates, those already chosen not included."""
        part = self.counts[:, positions]
        result: Floats = np.asarray(part.sum(axis=1), dtype=np.float64).ravel()
        if self.alpha is not None:
            result = result + self.alpha[positions].sum()
        return result

    def atom(self, positions: NDArray[np.int64]) -> tuple[float, Floats]:
        """Value at the anchor and class sums of the chosen with these candidates."""
        value = self.chosen_value + float(self.value[positions].sum())
        return value, self.chosen_sums + self.sums(positions)

    def own_gain(self, value: float, sums: Floats) -> float:
        """The least of an atom over all p: the gain of its columns, raised."""
        return value - float(_core.divergence(sums, self.anchor * sums.sum()).sum())

    def gain_of(self, positions: NDArray[np.int64]) -> tuple[float, float]:
        """Gain of the chosen columns with these candidates, and its doubt."""
        if self._is_one_column(positions):
            return 0.0, 0.0
        value, sums = self.atom(positions)
        less, rounding = _divergence_of(sums, self.anchor * sums.sum())
        raised = self.chosen_doubt + float(self.doubt[positions].sum())
        units = _SUM_UNITS + positions.shape[0] / 64
        doubt = raised + rounding + units * UNIT * (value + less)
        return max(value - raised - less, 0.0), doubt

    def _is_one_column(self, positions: NDArray[np.int64]) -> bool:
        """Whether these and the chosen are one column, or none: they gain nothing."""
        if self.has_constants or self.chosen.shape[0] + positions.shape[0] > 1:
            return False
        return self.chosen_columns + self._n_columns(positions) <= 1

    def _n_columns(self, positions: NDArray[np.int64]) -> int:
        if self.members is None:
            return int(positions.shape[0])
        return int(np.isin(self.members.place, positions).sum())

    def living_classes(self) -> NDArray[np.bool_]:
        """Classes with any count among the chosen columns and the candidates."""
        if self.positive and len(self):
            return np.ones(self.n_classes, dtype=np.bool_)
        everything = np.asarray(self.counts.sum(axis=1), dtype=np.float64).ravel()
        if self.alpha is not None:
            everything = everything + self.alpha.sum()
        return (self.chosen_sums + everything) > 0

    def take(
        self,
        keep: NDArray[np.int64],
        choose: NDArray[np.int64] | None = None,
    ) -> Block:
        """Subproblem: these candidates stay, those join the chosen columns."""
        chosen, value, sums = self.chosen, self.chosen_value, self.chosen_sums
        doubt, n_columns = self.chosen_doubt, self.chosen_columns
        if choose is not None and choose.shape[0]:
            n_columns += self._n_columns(choose)
            value, sums = self.atom(choose)
            doubt += float(self.doubt[choose].sum())
            chosen = np.concatenate([chosen, self.columns[choose]])
        choice = self.choice
        if choice is not None:
            choice = choice.take(keep, keep[:0] if choose is None else choose)
        return Block(
            self.columns[keep],
            self.counts[:, keep],
            None if self.alpha is None else self.alpha[keep],
            self.anchor,
            self.value[keep],
            self.doubt[keep],
            self.largest,
            self.together,
            self.positive,
            chosen,
            value,
            doubt,
            sums,
            None if self.members is None else self.members.take(keep, len(self)),
            choice,
            n_columns,
        )

    def is_settled(self, k: int) -> bool:
        """Whether only one choice of k candidates is worth a look: all, or none."""
        if self.choice is None or not len(self):
            return not 0 < k < len(self)
        everything = len(self) <= k and self.choice.fits(np.arange(len(self)))
        return k <= 0 or everything


def _gains(counts: Any, alpha: Floats | None, shares: Floats) -> tuple[Floats, Floats]:
    """Gain of every column at p, and its doubt."""
    if alpha is None:
        dense: tuple[Floats, Floats] = _core.divergence_gains(
            np.ascontiguousarray(counts), shares
        )
        return dense
    sparse: tuple[Floats, Floats] = _core.divergence_gains_csc(
        counts.indptr.astype(np.int64),
        counts.indices.astype(np.int32, copy=False),
        counts.data,
        alpha,
        shares,
    )
    return sparse


def _divergence_of(sums: Floats, expected: Floats) -> tuple[float, float]:
    """Divergence of class sums and how far rounding may have moved it."""
    value = float(_core.divergence(sums, expected).sum())
    units = ROUNDING_UNITS + sums.shape[0]
    return value, units * UNIT * (value + float(np.abs(sums - expected).sum()))
