"""Terms of the columns of a table and terms of the n-grams of its texts, side by side.

A column has one weight for all of its parts, an n-gram one for its count. To the
kernels a column is one indicator for each part, whose weights are tied together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse

from bayesieve.utils._computed_once import computed_once
from bayesieve.weights._linear_terms import LinearTerms
from bayesieve.weights._newton import box_minimum
from bayesieve.weights._terms import Array, Rows, as_weights
from bayesieve.weights._wide_terms import WideTerms

__all__ = ["JointTerms"]

#: Columns whose second derivatives are held as one dense matrix.
_BLOCK = 256
_ROUNDS = 2  # over columns and n-grams, in one Newton step


class JointTerms(WideTerms):
    """Parts of columns first, then counts of n-grams; one weight for each of them.

    Parameters
    ----------
    parts : ndarray of shape (n_rows, n_columns)
        Part of each row and column, unsigned integers.
    tables : sequence of n_columns arrays of shape (n_parts, n_classes)
        ``ln p_k(i | C_j)``; every value finite.
    block : sparse array of shape (n_rows, n_ngrams)
        Counts of the n-grams.
    slope : ndarray of shape (n_ngrams, n_classes)
        What one occurrence adds to the score of each class; finite.

    Notes
    -----
    A gradient takes O((n_rows n_columns + nnz) (n_classes - 1)). Memory: four bytes for
    each row and column, and the counts as `LinearTerms` keeps them.
    """

    def __init__(
        self, parts: Array, tables: Sequence[Array], block: Any, slope: Array
    ) -> None:
        logs = np.concatenate([np.empty((0, slope.shape[1])), *tables])
        sizes = np.array([len(table) for table in tables], dtype=np.int64)
        self._set(parts, sizes, logs, LinearTerms(block, slope))

    def _set(
        self, parts: Array, sizes: Array, logs: Array, counts: LinearTerms
    ) -> None:
        self._part, self._sizes, self._logs, self._counts = parts, sizes, logs, counts
        self._start = np.concatenate([[0], np.cumsum(sizes)])
        self.n_rows, self.n_columns = parts.shape
        self.n_classes = counts.n_classes
        self.n_terms = self.n_columns + counts.n_terms

    @computed_once
    def _parts(self) -> LinearTerms:
        """One indicator for each part of each column."""
        indicators = sparse.csr_array(
            (
                np.ones(self._part.size),
                (self._part + self._start[:-1]).reshape(-1),
                np.arange(self.n_rows + 1) * self.n_columns,
            ),
            shape=(self.n_rows, int(self._start[-1])),
        )
        return LinearTerms(indicators, self._logs)

    def _with(
        self, parts: Array, sizes: Array, logs: Array, counts: LinearTerms
    ) -> Self:
        terms = type(self).__new__(type(self))
        terms._set(parts, sizes, logs, counts)
        return terms

    def _split(self, chosen: Array) -> tuple[Array, Array, Array, Array]:
        """Places of columns and of n-grams among the chosen terms, and their own."""
        chosen = np.asarray(chosen, dtype=np.int64)
        is_column = chosen < self.n_columns
        at, rest = np.flatnonzero(is_column), np.flatnonzero(~is_column)
        return at, rest, chosen[at], chosen[rest] - self.n_columns

    def _indicators(self, columns: Array) -> tuple[Array, Array]:
        """The indicators of some columns, and how many each of them has."""
        sizes = self._sizes[columns]
        ends = np.cumsum(sizes)
        first = np.repeat(self._start[columns] - (ends - sizes), sizes)
        return first + np.arange(int(sizes.sum())), sizes

    # ------------------------------------------------------------------ the rows

    def take(self, rows: Rows) -> Self:
        """Return the terms of some rows."""
        counts = self._counts.take(rows)
        return self._with(self._part[rows], self._sizes, self._logs, counts)

    def select(self, chosen: Array) -> Self:
        """Return some of the terms, for all rows; `chosen` must rise."""
        _, _, columns, ngrams = self._split(chosen)
        indicators, sizes = self._indicators(columns)
        return self._with(
            self._part[:, columns],
            sizes,
            self._logs[indicators],
            self._counts.select(ngrams),
        )

    def scaled(self, factor: float) -> Self:
        """Return the same terms times a number; the rows are shared."""
        logs, counts = factor * self._logs, self._counts.scaled(factor)
        return self._with(self._part, self._sizes, logs, counts)

    def entries(self, chosen: Array) -> int:
        """Cells of the chosen terms that are not zero."""
        _, _, columns, ngrams = self._split(chosen)
        return columns.size * self.n_rows + self._counts.entries(ngrams)

    def sizes(self, chosen: Array) -> Array:
        """Sum over the rows of how far each chosen term sets two classes apart."""
        at, rest, columns, ngrams = self._split(chosen)
        out = np.empty(np.size(chosen))
        indicators, sizes = self._indicators(columns)
        out[at] = _sums(self._parts.sizes(indicators), sizes)
        out[rest] = self._counts.sizes(ngrams)
        return out

    def spread(self) -> Array:
        """For each row, how far its terms together can set two classes apart."""
        return self._parts.spread() + self._counts.spread()

    # ------------------------------------------------------------ what solvers need

    def gradient(self, residual: Array, chosen: Array | None = None) -> Array:
        """Derivatives from the residuals (posterior less class), of chosen terms."""
        if chosen is None:
            chosen = np.arange(self.n_terms)
        at, rest, columns, ngrams = self._split(chosen)
        out = np.empty(chosen.size)
        indicators, sizes = self._indicators(columns)
        out[at] = _sums(self._parts.gradient(residual, indicators), sizes)
        out[rest] = self._counts.gradient(residual, ngrams)
        return out

    def add_scores(self, out: Array, step: Array, chosen: Array) -> None:
        """Add the chosen terms, times a step, to relative scores."""
        at, rest, columns, ngrams = self._split(chosen)
        indicators, sizes = self._indicators(columns)
        self._parts.add_scores(out, np.repeat(step[at], sizes), indicators)
        self._counts.add_scores(out, np.ascontiguousarray(step[rest]), ngrams)

    def newton_step(
        self,
        posterior: Array,
        row_weight: Array | None,
        chosen: Array,
        gradient: Array,
        low: Array,
        high: Array,
        intercept_gradient: Array | None,
        *,
        rounds: int,
        conjugate_steps: int,
        tol: float,
    ) -> tuple[Array, Array]:
        """Step of the chosen weights that nearly minimises the second-order model.

        Columns, by their dense second derivatives, and n-grams with the intercepts take
        turns, each with what the other has moved. See `LinearTerms.newton_step`.
        """
        at, rest, _, ngrams = self._split(chosen)
        shift = np.zeros(self.n_classes - 1)
        step = np.zeros(chosen.size)
        moves = np.zeros((self.n_rows, self.n_classes - 1))
        blocks = [
            (block, self._block_curvature(posterior, row_weight, chosen[block]))
            for block in np.split(at, np.arange(_BLOCK, at.size, _BLOCK))
            if block.size
        ]
        for _ in range(_ROUNDS if blocks else 1):
            for block, H in blocks:
                pull = _curved(moves, posterior, row_weight)
                slope = gradient[block] + self.gradient(pull, chosen[block])
                own = box_minimum(
                    H,
                    slope,
                    low[block] - step[block],
                    high[block] - step[block],
                    1e-10 * np.abs(slope).max(initial=0.0),
                )
                step[block] = np.clip(step[block] + own, low[block], high[block])
                self.add_scores(moves, own, chosen[block])
            pull = _curved(moves, posterior, row_weight)
            force = intercept_gradient
            own, more = self._counts.newton_step(
                posterior,
                row_weight,
                ngrams,
                gradient[rest] + self._counts.gradient(pull, ngrams),
                low[rest] - step[rest],
                high[rest] - step[rest],
                None if force is None else force + pull.sum(axis=0),
                rounds=rounds,
                conjugate_steps=conjugate_steps,
                tol=tol,
            )
            # At a bound exactly, where one is reached.
            new = np.clip(step[rest] + own, low[rest], high[rest])
            step[rest] = np.where(own == low[rest] - step[rest], low[rest], new)
            shift += more
            moves += more
            self._counts.add_scores(moves, own, ngrams)
        return step, shift

    def _block_curvature(
        self, posterior: Array, row_weight: Array | None, chosen: Array
    ) -> Array:
        rest = np.maximum(1.0 - posterior.sum(axis=1), 0.0)
        with np.errstate(divide="ignore"):
            logs = np.log(np.column_stack([rest, posterior]))
        H = self.dense_curvature(logs, row_weight, chosen, False)
        H[np.diag_indices_from(H)] += 1e-13 * (1.0 + H.trace() / max(len(H), 1))
        return H

    def diagonal(
        self, scores: Array, chosen: Array, row_weight: Array | None = None
    ) -> Array:
        """Second derivative for each chosen weight alone, at relative scores."""
        at, rest, columns, ngrams = self._split(chosen)
        out = np.empty(np.size(chosen))
        # One part of a column a row: no cell has more than one of its indicators.
        indicators, sizes = self._indicators(columns)
        out[at] = _sums(self._parts.diagonal(scores, indicators, row_weight), sizes)
        out[rest] = self._counts.diagonal(scores, ngrams, row_weight)
        return out

    def panel(self, rows: slice) -> Array:
        """Terms of some rows, dense: (rows, n_terms, n_classes)."""
        columns = self._logs[self._part[rows] + self._start[:-1]]
        return np.concatenate([columns, self._counts.panel(rows)], axis=1)

    # --------------------------------------------------------------------- scores

    def scores(self, w: Array, log_prior: Array) -> Array:
        """Scores s_j, of shape (n_rows, n_classes)."""
        w = as_weights(w, self.n_terms)
        tied = np.repeat(w[: self.n_columns], self._sizes)
        own = self._parts.scores(tied, log_prior)
        return own + self._counts.scores(w[self.n_columns :], np.zeros(self.n_classes))

    def term(self, k: int) -> Array:
        """Log-likelihoods of one term, of shape (n_rows, n_classes)."""
        if k >= self.n_columns:
            return self._counts.term(k - self.n_columns)
        one = np.zeros(self.n_columns)
        one[k] = 1.0
        tied = np.repeat(one, self._sizes)
        return self._parts.scores(tied, np.zeros(self.n_classes))


def _sums(values: Array, sizes: Array) -> Array:
    """Sums of successive values, so many each."""
    if not sizes.size:
        return np.empty(0)
    return np.asarray(np.add.reduceat(values, np.cumsum(sizes) - sizes))


def _curved(moves: Array, posterior: Array, row_weight: Array | None) -> Array:
    """How residuals change with scores that move, to first order."""
    mean = np.einsum("nc,nc->n", posterior, moves)
    change = posterior * (moves - mean[:, None])
    return np.asarray(change if row_weight is None else change * row_weight[:, None])
