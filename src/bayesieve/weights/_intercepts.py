"""Class intercepts for given scores, and dual points that match the classes.

The negative log-likelihood of scores plus one intercept a class is convex in the
intercepts, and at their optimum each class expects as many rows as it has. A duality
gap needs posteriors with just these sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, logsumexp, xlogy

from bayesieve import _core
from bayesieve.weights._terms import Array

__all__ = ["InterceptFit", "ScoredRows", "log_posteriors", "thin_product"]

_STEPS = 50  # for one temperature
_ENOUGH = 1e-13  # share of the rows in wrong classes that is rounding
_BLIND = 1e-11  # gains below this share of the value are lost in its rounding
#: Where steps do not settle: temperatures that make the spread of the scores so large,
#: and then fall by this factor.
_WARM_SPREAD, _COOLING = 8.0, 4.0


def thin_product(q: Array, p: Array) -> Array:
    """``q.T @ p`` of tall matrices, with threads only where they pay."""
    if q.shape[1] > 32:
        return np.asarray(q.T @ p)
    return np.asarray(np.einsum("na,nc->ac", q, p))


def log_posteriors(scores: Array) -> Array:
    """Logarithms of the posteriors of all classes, however small."""
    whole = np.column_stack([np.zeros(scores.shape[0]), scores])
    return np.asarray(log_softmax(whole, axis=1))


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Scores of the rows, and what follows from them.

    Scores are relative to class 0; the residual is posterior less class, times the
    weight of the row. Both are of shape (n_rows, n_classes - 1).
    """

    scores: Array
    residual: Array
    nll: float

    @property
    def excess(self) -> float:
        """Rows expected in the wrong classes."""
        gradient = self.residual.sum(axis=0)
        return float(np.maximum(gradient, 0.0).sum() + max(-gradient.sum(), 0.0))


class InterceptFit:
    """Rows and their classes, for which intercepts are fitted; weights above zero."""

    def __init__(self, codes: Array, row_weight: Array | None, n_classes: int) -> None:
        self.codes, self.row_weight = codes, row_weight
        self._rows = np.bincount(codes, row_weight, minlength=n_classes)
        self._total = float(self._rows.sum())

    def scored(self, scores: Array) -> ScoredRows:
        """Residuals and negative log-likelihood of scores."""
        residual = scores.copy()
        nll = _core.softmax_nll(residual, self.codes, self.row_weight, True)
        return ScoredRows(scores, residual, nll)

    def settled(self, rows: ScoredRows) -> bool:
        """Whether no intercept could gain anything but rounding."""
        return rows.excess <= _ENOUGH * self._total

    def posterior(self, rows: ScoredRows) -> Array:
        """Posteriors of classes 1 to J - 1."""
        if self.row_weight is not None:
            # Those of rows that all have the reference class, without weights.
            posterior = rows.scores.copy()
            _core.softmax_nll(posterior, np.zeros_like(self.codes), None, True)
            return posterior
        posterior = rows.residual.copy()
        own = np.flatnonzero(self.codes)
        posterior[own, self.codes[own] - 1] += 1.0
        return posterior

    def fit(self, rows: ScoredRows) -> tuple[Array, ScoredRows]:
        """Intercepts to add to the scores, and the rows with them.

        Scores in the thousands make the criterion nearly piecewise linear, where steps
        may end before the optimum. Divided by a temperature it is smooth, and each
        optimum is a good start for a lower temperature.
        """
        shift, found = self._descend(rows)
        spread = float(np.ptp(rows.scores)) if rows.scores.size else 0.0
        if self.settled(found) or not spread > _WARM_SPREAD:
            return shift, found
        temperature = spread / _WARM_SPREAD
        warm = shift
        while temperature > 1.0:
            own, _ = self._descend(self.scored((rows.scores + warm) / temperature))
            warm = warm + temperature * own
            temperature /= _COOLING
        own, again = self._descend(self.scored(rows.scores + warm))
        if again.nll < found.nll:
            return warm + own, again
        return shift, found

    def _descend(self, rows: ScoredRows) -> tuple[Array, ScoredRows]:
        """Newton steps where the second-order model holds, else iterative scaling."""
        shift = np.zeros(rows.scores.shape[1])
        for _ in range(_STEPS):
            excess = rows.excess
            if excess <= _ENOUGH * self._total:
                break
            gradient = rows.residual.sum(axis=0)
            step = self._newton_step(rows, gradient)
            fall = float(gradient @ step)
            spread = float(step.max(initial=0.0) - step.min(initial=0.0))
            trial = self.scored(rows.scores + step)
            if spread <= 1.0 and -fall <= _BLIND * (1.0 + rows.nll):
                # Values no longer tell which point is better, sums of posteriors do.
                better = trial.excess < excess
            else:
                better = fall < 0.0 and trial.nll <= rows.nll + 0.1 * fall
                if not better:
                    step, trial = self._cautious(rows, step / max(spread, 1e-300))
                    better = trial.nll < rows.nll
            if not better:
                break
            shift, rows = shift + step, trial
        return shift, rows

    def _newton_step(self, rows: ScoredRows, gradient: Array) -> Array:
        p = self.posterior(rows)
        q = p if self.row_weight is None else p * self.row_weight[:, None]
        H = np.diag(q.sum(axis=0)) - thin_product(q, p)
        H[np.diag_indices_from(H)] += 1e-14 * (1.0 + H.trace())
        return np.asarray(-np.linalg.solve(H, gradient))

    def _cautious(self, rows: ScoredRows, direction: Array) -> tuple[Array, ScoredRows]:
        """The best of iterative scaling and two short steps in a direction.

        Iterative scaling moves every intercept by the logarithm of wanted over expected
        rows. It never raises the value: each row has one class, so this is generalised
        iterative scaling with constant one.
        """
        log_posterior = log_posteriors(rows.scores)
        if self.row_weight is not None:
            log_posterior += np.log(self.row_weight)[:, None]
        with np.errstate(divide="ignore"):
            moves = np.log(self._rows) - logsumexp(log_posterior, axis=0)
        steps = [direction, 30.0 * direction]
        if np.isfinite(moves).all():
            steps.append(moves[1:] - moves[0])
        tried = [(step, self.scored(rows.scores + step)) for step in steps]
        return min(tried, key=lambda pair: pair[1].nll)

    def matched(self, rows: ScoredRows) -> tuple[Array, float]:
        """Residual of posteriors that add up to the rows of each class.

        Classes with too much give a share of it; what the rows then lack goes to the
        classes with too little. Returns also the divergence from the posteriors of the
        rows, which a dual value loses by it.
        """
        log_p = log_posteriors(rows.scores)
        p = np.exp(log_p)
        weight = np.ones(p.shape[0]) if self.row_weight is None else self.row_weight
        expected = weight @ p
        with np.errstate(divide="ignore", invalid="ignore"):
            kept = np.where(expected > self._rows, self._rows / expected, 1.0)
        matched = p * kept
        lacking = np.maximum(1.0 - matched.sum(axis=1), 0.0)
        short = np.maximum(self._rows - weight @ matched, 0.0)
        if short.any():
            matched += lacking[:, None] * (short / short.sum())
        divergence = float(weight @ (xlogy(matched, matched) - matched * log_p).sum(1))
        residual = matched[:, 1:].copy()
        own = np.flatnonzero(self.codes)
        residual[own, self.codes[own] - 1] -= 1.0
        residual *= weight[:, None]
        return residual, max(divergence, 0.0)
