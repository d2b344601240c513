"""What the solvers of wide problems ask of terms beyond `Terms`.

There are too many weights for a matrix of second derivatives: solvers work with
gradients and scores of chosen terms, and with steps on a working set.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np
from scipy.special import log_softmax

from bayesieve.weights._terms import (
    Array,
    ScoredTerms,
    as_weights,
    relative_prior,
)

__all__ = ["WideTerms"]

_PANEL_CELLS = 4_000_000  # of a dense panel, for second derivatives of few terms


class WideTerms(ScoredTerms):
    """Terms of which a few at a time are chosen."""

    @abstractmethod
    def select(self, chosen: Array) -> Self:
        """Some of the terms, for all rows."""

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """The same terms times a number; the rows are shared."""

    @abstractmethod
    def entries(self, chosen: Array) -> int:
        """Cells of the chosen terms that are not zero."""

    @abstractmethod
    def sizes(self, chosen: Array) -> Array:
        """Sum over the rows of how far each chosen term sets two classes apart."""

    @abstractmethod
    def spread(self) -> Array:
        """For each row, how far its terms together can set two classes apart."""

    @abstractmethod
    def gradient(self, residual: Array, chosen: Array | None = None) -> Array:
        """Derivatives from the residuals (posterior less class), of chosen terms."""

    @abstractmethod
    def add_scores(self, out: Array, step: Array, chosen: Array) -> None:
        """Add the chosen terms, times a step, to relative scores."""

    @abstractmethod
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

        Within ``low <= step <= high``, until a round gains less than `tol` of what the
        first one did. The intercepts move with them, without bounds, where their
        gradient is given. Returns both steps.
        """

    @abstractmethod
    def diagonal(
        self, scores: Array, chosen: Array, row_weight: Array | None = None
    ) -> Array:
        """Second derivative for each chosen weight alone, at relative scores."""

    @abstractmethod
    def panel(self, rows: slice) -> Array:
        """Terms of some rows, dense: (rows, n_terms, n_classes)."""

    def curvature(
        self, w: Array, log_prior: Array, chosen: Array, row_weight: Array | None = None
    ) -> Array:
        """Second derivatives for a few chosen weights, in dense panels of rows."""
        chosen = np.asarray(chosen, dtype=np.int64)
        scores = self.scores(w, log_prior)
        log_posterior = log_softmax(scores, axis=1)
        return self.dense_curvature(log_posterior, row_weight, chosen, False)

    def dense_curvature(
        self,
        log_posterior: Array,
        row_weight: Array | None,
        chosen: Array,
        with_intercepts: bool,
    ) -> Array:
        """Second derivatives for chosen weights, then for the intercepts.

        From posteriors of all classes, as sums of squares: positive semidefinite
        whatever the rounding. O(n_rows n_classes size^2), in dense panels of rows.
        """
        few = self.select(chosen)
        n_free = self.n_classes - 1 if with_intercepts else 0
        size = chosen.size + n_free
        out = np.zeros((size, size))
        unit = np.eye(self.n_classes)[1:] if n_free else np.zeros((0, self.n_classes))
        panel = max(1, _PANEL_CELLS // (max(size, 1) * self.n_classes))
        for first in range(0, self.n_rows, panel):
            rows = slice(first, min(first + panel, self.n_rows))
            p = np.exp(log_posterior[rows])
            free = np.broadcast_to(unit, (p.shape[0], *unit.shape))
            terms = np.concatenate([few.panel(rows), free], axis=1)
            mean = np.einsum("nkc,nc->nk", terms, p)
            weight = 1.0 if row_weight is None else row_weight[rows, None]
            root = np.sqrt(p * weight)[:, None, :]
            centred = (root * (terms - mean[:, :, None])).transpose(1, 0, 2)
            flat = centred.reshape(size, -1)
            out += flat @ flat.T
        return out

    def relative_scores(self, w: Array, log_prior: Array) -> Array:
        """Scores less that of class 0, of shape (n_rows, n_classes - 1)."""
        w = as_weights(w, self.n_terms)
        out = np.tile(relative_prior(log_prior), (self.n_rows, 1))
        used = np.flatnonzero(w)
        if self.n_classes > 1:
            self.add_scores(out, w[used], used)
        return out

    def shift(self, scores: Array, k: int, delta: float) -> None:
        """Add delta to weight k, in relative scores."""
        if self.n_classes > 1:
            self.add_scores(scores, np.array([delta]), np.array([k], dtype=np.int64))
