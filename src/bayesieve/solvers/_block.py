"""A handful of columns taken out of the table, ready for many evaluations.

Everything the relaxation and the search need of a column i is
``v_i = sum_c f_ci log(f_ci / G_i)`` and the counts ``f_ci`` themselves:
``h_i(p) = v_i - sum_c f_ci log p_c``. Both add up over a set of columns, so columns
that are fixed into every support of a subproblem enter as two sums.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from bayesieve.solvers._logs import Floats, entropy_gap

__all__ = ["Block"]


@dataclass(frozen=True)
class Block:
    """Candidate columns, smoothed, and the sums of the columns already chosen.

    ``counts`` is (K, M) dense and smoothed, or a CSC array without smoothing whose
    ``alpha`` (M,) is added in closed form: a class without count contributes alpha
    only.
    """

    columns: NDArray[np.int64]
    counts: Any
    alpha: Floats | None
    value: Floats
    #: Whether every cell is positive (alpha > 0), so that no class can be missing.
    positive: bool = False
    chosen: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    chosen_value: float = 0.0
    chosen_sums: Floats = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def dense(
        cls, columns: NDArray[np.int64], counts: Floats, *, positive: bool = False
    ) -> Block:
        """From smoothed counts (K, M)."""
        totals = counts.sum(axis=0)
        value = xlogy(counts, counts / totals).sum(axis=0)
        none = np.zeros(counts.shape[0])
        return cls(columns, counts, None, value, positive, chosen_sums=none)

    @classmethod
    def sparse(cls, columns: NDArray[np.int64], counts: Any, alpha: Floats) -> Block:
        """From a CSC array (K, M) without smoothing, and alpha (M,)."""
        n_classes = counts.shape[0]
        present = np.diff(counts.indptr)
        column_of = np.repeat(np.arange(columns.shape[0]), present)
        raw = np.bincount(column_of, weights=counts.data, minlength=columns.shape[0])
        totals = raw + n_classes * alpha
        cells = counts.data + alpha[column_of]
        present_part = np.bincount(
            column_of,
            weights=xlogy(cells, cells / totals[column_of]),
            minlength=columns.shape[0],
        )
        absent_part = (n_classes - present) * xlogy(alpha, alpha / totals)
        value: Floats = present_part + absent_part
        positive = bool((alpha > 0).all())
        none = np.zeros(n_classes)
        return cls(columns, counts, alpha, value, positive, chosen_sums=none)

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.counts.shape[0])

    def __len__(self) -> int:
        return int(self.columns.shape[0])

    def gains(self, log_p: Floats) -> Floats:
        """``h_i(p)`` of every candidate."""
        if self.alpha is None:
            # Elementwise, not as a matrix product: equal columns must get equal gains,
            # and BLAS may round them differently by position.
            h: Floats = self.value - self.counts[0] * log_p[0]
            for c in range(1, self.n_classes):
                h -= self.counts[c] * log_p[c]
        else:
            h = self.value - self.counts.T @ log_p - self.alpha * log_p.sum()
        np.maximum(h, 0.0, out=h)
        return h

    def sums(self, positions: NDArray[np.int64]) -> Floats:
        """Class sums over some candidates, those already chosen not included."""
        part = self.counts[:, positions]
        result: Floats = np.asarray(part.sum(axis=1), dtype=np.float64).ravel()
        if self.alpha is not None:
            result = result + self.alpha[positions].sum()
        return result

    def atom(self, positions: NDArray[np.int64]) -> tuple[float, Floats]:
        """Value and class sums of the chosen columns with these candidates."""
        value = self.chosen_value + float(self.value[positions].sum())
        return value, self.chosen_sums + self.sums(positions)

    def gain_of(self, positions: NDArray[np.int64]) -> float:
        """Gain over the null model of the chosen columns with these candidates."""
        value, sums = self.atom(positions)
        return value + entropy_gap(sums)

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
        if choose is not None and choose.shape[0]:
            value, sums = self.atom(choose)
            chosen = np.concatenate([chosen, self.columns[choose]])
        return Block(
            self.columns[keep],
            self.counts[:, keep],
            None if self.alpha is None else self.alpha[keep],
            self.value[keep],
            self.positive,
            chosen,
            value,
            sums,
        )
