"""Projected Newton steps on a working set of the columns of a wide matrix.

Minimises ``NLL(w, b) + sum_j slope_j w_j`` over weights in [0, 1] and, where asked,
free class intercepts b. Columns whose optimality conditions are violated join the
weights in use; on these few columns the second-order model is minimised in the compiled
core. The gap to the optimum is known at every full gradient.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesieve import _core
from bayesieve.weights._criterion import WeightProblem
from bayesieve.weights._linear_terms import LinearTerms
from bayesieve.weights._result import Progress
from bayesieve.weights._terms import Array, relative_prior

__all__ = ["SparseNewton", "WeightState", "box_gap", "thin_product"]

_MAX_ROUNDS = 100  # full gradients for one penalty
_INNER_STEPS = 20  # Newton steps on one working set
#: Rounds of sweeps and conjugate gradients in one step, and steps of the latter. With
#: several classes a model holds for short steps only, and is not worth more.
_ROUNDS, _ROUNDS_OF_MANY = 2, 1
_CONJUGATE_STEPS = 5
_ROUND_TOL = 0.1
_HALVINGS = 40
_BALANCE_STEPS = 50
_BLIND = 1e-11  # gains below this share of the value are lost in its rounding
_PATIENCE = 4  # rounds without a smaller gap before rounding is taken for the cause


@dataclass(frozen=True, eq=False)
class WeightState:
    """A point, and what was computed there.

    Attributes
    ----------
    weights : ndarray of shape (n_terms,)
    intercept : ndarray of shape (n_classes - 1,)
        Relative to class 0.
    scores, residual : ndarray of shape (n_rows, n_classes - 1)
        Relative scores; posterior less class, times the weight of the row.
    nll : float
    """

    weights: Array
    intercept: Array
    scores: Array
    residual: Array
    nll: float


def box_gap(weights: Array, gradient: Array) -> float:
    """Bound on what can still be gained over the box [0, 1], from the gradient there.

    The criterion f is convex: ``f(v) >= f(w) + gradient (v - w)`` for every v of the
    box, and the right side is least where v is 0 or 1 by the sign of the gradient. This
    is the duality gap: the dual point is the residual at w.
    """
    return float(gradient @ weights + np.maximum(0.0, -gradient).sum())


def thin_product(q: Array, p: Array) -> Array:
    """``q.T @ p`` of tall matrices, with threads only where they pay."""
    if q.shape[1] > 32:
        return np.asarray(q.T @ p)
    return np.asarray(np.einsum("na,nc->ac", q, p))


class SparseNewton:
    """Solver with a state: each call of `minimise` begins where the last one ended.

    Parameters
    ----------
    problem : WeightProblem
        With `LinearTerms`; its regularization and exponent are not looked at.
    refit_intercept : bool
        Whether class intercepts are optimised; else they stay those of the log prior.
    progress : Progress, optional
        Asked after every step whether time is up.
    """

    def __init__(
        self,
        problem: WeightProblem,
        *,
        refit_intercept: bool = True,
        progress: Progress | None = None,
    ) -> None:
        assert isinstance(problem.terms, LinearTerms)
        self.problem = problem
        self.terms: LinearTerms = problem.terms
        self.refit_intercept = refit_intercept
        self.progress = progress
        self.state = self.at(np.zeros(problem.n_terms))
        if refit_intercept:
            self.balance()
        #: NLL without any column, the scale of tolerances.
        self.null_nll = self.state.nll

    # ---------------------------------------------------------------------- points

    def at(self, weights: Array, intercept: Array | None = None) -> WeightState:
        """The state at given weights, by default with the intercepts of the prior."""
        if intercept is None:
            intercept = relative_prior(self.problem.log_prior)
        used = np.flatnonzero(weights)
        scores = np.tile(intercept, (self.terms.n_rows, 1))
        self.terms.add_scores(scores, weights[used], used)
        return self._evaluated(weights, intercept, scores)

    def _evaluated(
        self, weights: Array, intercept: Array, scores: Array
    ) -> WeightState:
        residual = scores.copy()
        nll = _core.softmax_nll(
            residual, self.problem.codes, self.problem.row_weight, True
        )
        return WeightState(weights, intercept, scores, residual, nll)

    def _posterior(self) -> Array:
        """Posteriors of classes 1 to J - 1 at the state."""
        codes = self.problem.codes
        if self.problem.row_weight is not None:
            # Those of rows that all have the reference class, without weights.
            posterior = self.state.scores.copy()
            _core.softmax_nll(posterior, np.zeros_like(codes), None, True)
            return posterior
        posterior = self.state.residual.copy()
        rows = np.flatnonzero(codes)
        posterior[rows, codes[rows] - 1] += 1.0
        return posterior

    def balance(self) -> None:
        """Optimise the intercepts for the weights as they are, by Newton steps.

        To the end: the gap of the weights takes it for granted that no intercept could
        gain anything.
        """
        weight = self.problem.row_weight
        for _ in range(_BALANCE_STEPS):
            state = self.state
            gradient = state.residual.sum(axis=0)
            p = self._posterior()
            q = p if weight is None else p * weight[:, None]
            H = np.diag(q.sum(axis=0)) - thin_product(q, p)
            H[np.diag_indices_from(H)] += 1e-14 * (1.0 + H.trace())
            step = -np.linalg.solve(H, gradient)
            if -float(gradient @ step) <= 1e-12 * (1.0 + state.nll):
                return
            share = 1.0
            for _ in range(_HALVINGS):
                trial = self._evaluated(
                    state.weights,
                    state.intercept + share * step,
                    state.scores + share * step,
                )
                if trial.nll <= state.nll + 1e-4 * share * float(gradient @ step):
                    break
                share *= 0.5
            else:
                return  # rounding leaves nothing to gain
            self.state = trial

    # --------------------------------------------------------------------- solving

    def gradient(self, columns: Array | None = None) -> Array:
        """Derivatives of the NLL for all columns, or some."""
        return self.terms.gradient(self.state.residual, columns)

    def gap(self, slope: Array, columns: Array | None = None) -> float:
        """Duality gap at the state for penalties `slope`, in nats."""
        if self.refit_intercept:
            self.balance()
        weights = self.state.weights
        if columns is not None:
            weights, slope = weights[columns], slope[columns]
        return box_gap(weights, self.gradient(columns) + slope)

    def minimise(self, slope: Array, tol: float, columns: Array | None = None) -> float:
        """Minimise ``NLL + slope w`` from the state until the gap is at most `tol`.

        Parameters
        ----------
        slope : ndarray of shape (n_terms,)
            Penalty of a weight of one, >= 0.
        tol : float
            Gap, in nats, at which to stop.
        columns : ndarray of int64, optional
            The weights that may differ from zero; all unless given. The weights of the
            others are zero already.

        Returns
        -------
        gap : float
            Proven distance to the minimum over these columns; above `tol` only if
            rounding leaves nothing to gain.
        """
        gap = best = np.inf
        failures = 0
        for _ in range(_MAX_ROUNDS):
            if self.refit_intercept:
                self.balance()
            rho = self.gradient(columns)
            rho += slope if columns is None else slope[columns]
            weights = self.state.weights
            weights = weights if columns is None else weights[columns]
            gap = box_gap(weights, rho)
            failures = failures + 1 if gap > 0.99 * best else 0
            best = min(best, gap)
            if gap <= tol or failures == _PATIENCE:
                break
            wanted = np.flatnonzero((weights > 0.0) | (rho < 0.0))
            working = wanted if columns is None else columns[wanted]
            if not self._on_working_set(
                working, slope[working], rho[wanted], max(0.3 * tol, 0.02 * gap)
            ):
                break
        return gap

    def _on_working_set(
        self, working: Array, slope: Array, rho: Array, tol: float
    ) -> bool:
        """Newton steps on a few columns until their own gap is small.

        Returns whether any step was made.
        """
        for step in range(_INNER_STEPS):
            if step:
                rho = self.gradient(working) + slope
                if box_gap(self.state.weights[working], rho) <= tol:
                    return True
            if not self._newton_step(working, slope, rho):
                return step > 0
            if self.progress is not None:
                self.progress.evaluations += 1
                self.progress.check()
        return True

    def _newton_step(self, working: Array, slope: Array, rho: Array) -> bool:
        """One step and a line search; False if nothing is gained."""
        state = self.state
        w = state.weights[working]
        force = state.residual.sum(axis=0) if self.refit_intercept else None
        step, shift = self.terms.newton_step(
            self._posterior(),
            self.problem.row_weight,
            working,
            rho,
            -w,
            1.0 - w,
            force,
            rounds=_ROUNDS if self.terms.n_classes == 2 else _ROUNDS_OF_MANY,
            conjugate_steps=_CONJUGATE_STEPS,
            tol=_ROUND_TOL,
        )
        moves = np.tile(shift, (self.terms.n_rows, 1))
        self.terms.add_scores(moves, step, working)
        fall = float(rho @ step) + (0.0 if force is None else float(force @ shift))
        value = state.nll + float(slope @ w)
        # So near the end that values differ by rounding alone, the model is right.
        blind = -fall <= _BLIND * (1.0 + abs(value))
        share = 1.0
        for _ in range(_HALVINGS):
            # At a full step exactly, so that a bound that is reached is reached.
            new = np.clip(w + share * step, 0.0, 1.0)
            if share == 1.0:
                new[step == -w] = 0.0
            weights = state.weights.copy()
            weights[working] = new
            trial = self._evaluated(
                weights,
                state.intercept + share * shift,
                state.scores + share * moves,
            )
            if blind or trial.nll + float(slope @ new) <= value + 1e-4 * share * min(
                fall, 0.0
            ):
                break
            share *= 0.5
        else:
            return False
        self.state = trial
        return bool(step.any())
