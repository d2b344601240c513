"""Projected Newton steps on a working set of the columns of a wide matrix.

Minimises ``NLL(w, b) + sum_j slope_j w_j`` over weights in [0, 1] and, where asked,
free class intercepts b. Columns whose optimality conditions are violated join the
weights in use; on these few columns the second-order model is minimised in the compiled
core. The gap to the optimum is known at every full gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bayesieve.weights._criterion import WeightProblem
from bayesieve.weights._dual_point import DualPoint
from bayesieve.weights._intercepts import InterceptFit, ScoredRows, log_posteriors
from bayesieve.weights._newton import backtrack, box_minimum, projected_gradient
from bayesieve.weights._result import Progress
from bayesieve.weights._terms import Array, relative_prior
from bayesieve.weights._wide_terms import WideTerms

__all__ = ["SparseNewton", "WeightState", "box_gap", "spread"]

_MAX_ROUNDS = 40  # full gradients for one penalty, and one temperature
_INNER_STEPS = 20  # Newton steps on one working set
#: Rounds of sweeps and conjugate gradients in one step, and steps of the latter. With
#: several classes a model holds for short steps only, and is not worth more.
_ROUNDS, _ROUNDS_OF_MANY = 2, 1
_CONJUGATE_STEPS = 5
_ROUND_TOL = 0.1
_BLIND = 1e-11  # gains below this share of the value are lost in its rounding
_NOISE = 1e-13  # share of a value that is rounding
_PATIENCE = 4  # rounds without a smaller gap before rounding is taken for the cause
#: Most columns of a dense second-order model, and most products for one.
_EXACT_WIDTH, _EXACT_PRODUCTS = 400, 1e9
#: Products of a dense model for each entry of its columns that fewer steps are worth.
_WORTH = 64.0
_FAR = 100.0  # most that one step moves an intercept, by a dense model
#: Scores are cooled by this factor from stage to stage, down from this spread.
_COOLING, _WARM_SPREAD = 4.0, 8.0


@dataclass(frozen=True, eq=False)
class WeightState:
    """A point, and what was computed there.

    Intercepts are relative to class 0; the rows have scores, residuals and the NLL.
    """

    weights: Array
    intercept: Array
    rows: ScoredRows

    @property
    def scores(self) -> Array:
        """Relative scores, of shape (n_rows, n_classes - 1)."""
        return self.rows.scores

    @property
    def residual(self) -> Array:
        """Posterior less class, times the weight of the row."""
        return self.rows.residual

    @property
    def nll(self) -> float:
        """Negative log-likelihood."""
        return self.rows.nll

    def widened(self, size: int, places: Array) -> WeightState:
        """The same among more columns, of which these had their places before."""
        return replace(self, weights=spread(self.weights, size, places))


def spread(weights: Array, size: int, places: Array) -> Array:
    """Weights at their places among so many, the others zero."""
    out = np.zeros(size)
    out[places] = weights
    return out


def box_gap(weights: Array, gradient: Array) -> float:
    """Bound on what can still be gained over the box [0, 1], from the gradient there.

    The criterion f is convex: ``f(v) >= f(w) + gradient (v - w)`` for every v of the
    box, and the right side is least where v is 0 or 1 by the sign of the gradient. This
    is the duality gap: the dual point is the residual at w.
    """
    # Without BLAS: its threads wait for each other longer than a sum takes.
    return float((gradient * weights).sum() + np.maximum(0.0, -gradient).sum())


class SparseNewton:
    """Solver with a state: each call of `minimise` begins where the last one ended.

    Parameters
    ----------
    problem : WeightProblem
        With `WideTerms`; its regularization and exponent are not looked at.
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
        assert isinstance(problem.terms, WideTerms)
        self.problem = problem
        self.terms: WideTerms = problem.terms
        self.refit_intercept = refit_intercept
        self.progress = progress
        self._intercepts = InterceptFit(
            problem.codes, problem.row_weight, problem.terms.n_classes
        )
        self.state = self.at(np.zeros(problem.n_terms))
        if refit_intercept:
            self.fit_intercepts()
        #: The state without any column.
        self.null = self.state

    def widen(self, problem: WeightProblem, places: Array) -> None:
        """Go on with more columns, without weights; `places` are those of the old."""
        assert isinstance(problem.terms, WideTerms)
        self.problem, self.terms = problem, problem.terms
        self.state = self.state.widened(problem.n_terms, places)
        self.null = self.null.widened(problem.n_terms, places)

    # ---------------------------------------------------------------------- points

    @property
    def null_nll(self) -> float:
        """NLL without any column, the scale of tolerances."""
        return self.null.nll

    def no_worse_than_nothing(self, slope: Array | None = None) -> WeightState:
        """The state, or the one without any column if that is better.

        `slope` are the penalties of weights of one; none unless given.
        """
        value = self.state.nll if slope is None else self._value(slope)
        if not value <= self.null.nll:
            self.state = self.null
        return self.state

    def at(self, weights: Array, intercept: Array | None = None) -> WeightState:
        """The state at given weights, by default with the intercepts of the prior."""
        if intercept is None:
            intercept = relative_prior(self.problem.log_prior)
        used = np.flatnonzero(weights)
        scores = np.tile(intercept, (self.terms.n_rows, 1))
        self.terms.add_scores(scores, weights[used], used)
        return WeightState(weights, intercept, self._intercepts.scored(scores))

    def fit_intercepts(self) -> None:
        """Optimise the intercepts for the weights as they are.

        To the end: the gap of the weights is smallest where no intercept could gain
        anything.
        """
        if not self._intercepts.settled(self.state.rows):
            shift, rows = self._intercepts.fit(self.state.rows)
            state = self.state
            self.state = WeightState(state.weights, state.intercept + shift, rows)

    # --------------------------------------------------------------------- solving

    def gradient(self, columns: Array | None = None) -> Array:
        """Derivatives of the NLL for all columns, or some."""
        return self.terms.gradient(self.state.residual, columns)

    def gap(self, slope: Array, columns: Array | None = None) -> float:
        """Duality gap at the state for penalties `slope`, in nats."""
        if self.refit_intercept:
            self.fit_intercepts()
        return self._gap_and_gradient(slope, columns)[0]

    def _gap_and_gradient(
        self, slope: Array, columns: Array | None
    ) -> tuple[float, Array]:
        """Duality gap at the state, and the gradient of the criterion.

        The gap is that of a dual point: posteriors whose sums are the rows of each
        class. With intercepts at their optimum these are the posteriors of the state.
        It never exceeds the criterion itself, which nothing brings below zero.
        """
        value = self._value(slope)
        weights = self.state.weights
        if columns is not None:
            weights, slope = weights[columns], slope[columns]
        rho = matched = self.gradient(columns) + slope
        residual, lost = self.dual_residual()
        if residual is not self.state.residual:
            matched = self.terms.gradient(residual, columns) + slope
        return min(value, lost + box_gap(weights, matched)), rho

    def dual_residual(self) -> tuple[Array, float]:
        """A residual whose sums match the classes, and what its bound loses by that.

        That of the state itself, where the intercepts are at their optimum or given.
        """
        rows = self.state.rows
        if self.refit_intercept and not self._intercepts.settled(rows):
            return self._intercepts.matched(rows)
        return rows.residual, 0.0

    def dual_point(self, columns: Array) -> DualPoint:
        """What the state proves of some columns, if no others have a weight."""
        residual, lost = self.dual_residual()
        gradient = self.terms.gradient(residual, columns)
        used = np.flatnonzero(self.state.weights[columns])
        weights = self.state.weights[columns[used]]
        return DualPoint.at(self.state.nll, lost, gradient, used, weights)

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
            Proven distance to the minimum over these columns; above `tol` if nothing
            that was tried gains any more.
        """
        self.no_worse_than_nothing(slope)
        gap = self._descend(slope, tol, columns)
        if gap > tol:
            gap = self._descend(slope, tol, columns, exact=True)
        if gap > tol:
            gap = self._cool(slope, tol, columns)
        if self.no_worse_than_nothing(slope) is self.null:
            gap = self._gap_and_gradient(slope, columns)[0]
        return gap

    def _descend(
        self, slope: Array, tol: float, columns: Array | None, exact: bool = False
    ) -> float:
        """Rounds of Newton steps on working sets, until nothing is gained."""
        gap = best = np.inf
        failures = 0
        for number in range(_MAX_ROUNDS):
            if self.refit_intercept:
                self.fit_intercepts()
            gap, rho = self._gap_and_gradient(slope, columns)
            failures = failures + 1 if gap > 0.99 * best else 0
            best = min(best, gap)
            if gap <= tol or failures == _PATIENCE:
                break
            weights = self.state.weights
            weights = weights if columns is None else weights[columns]
            wanted = np.flatnonzero((weights > 0.0) | (rho < 0.0))
            if exact and wanted.size > self._exact_width():
                push = projected_gradient(weights, rho, np.ones(weights.size))[wanted]
                largest = np.argsort(-np.abs(push), kind="stable")
                wanted = np.sort(wanted[largest[: self._exact_width()]])
            working = wanted if columns is None else columns[wanted]
            if not exact and number and self._exact_pays(working):
                break
            enough = max(0.3 * tol, 0.02 * gap)
            if not self._on_working_set(
                working, slope[working], rho[wanted], enough, exact
            ):
                break
        return gap

    def _spread(self) -> float:
        """How far apart two classes can be in a row with weights of one."""
        return float(self.terms.spread().max(initial=0.0))

    def _cool(self, slope: Array, tol: float, columns: Array | None) -> float:
        """Solve with scores divided by a temperature that falls to one.

        Counts in the thousands make scores so large that the criterion is nearly
        piecewise linear, and its curvature at one point says nothing of the kinks
        around. Divided by a temperature it is smooth; each solution is a good start for
        a lower temperature, as in an interior point method.
        """
        temperature = self._spread() / _WARM_SPREAD
        weights, intercept = self.state.weights, self.state.intercept
        while temperature > 1.0:
            problem = replace(self.problem, terms=self.terms.scaled(1.0 / temperature))
            warm = SparseNewton(
                problem, refit_intercept=self.refit_intercept, progress=self.progress
            )
            warm.state = warm.at(weights, intercept / temperature)
            enough = max(tol / temperature, 1e-3 * warm.null_nll)
            warm._descend(slope / temperature, enough, columns, exact=True)
            weights = warm.state.weights
            intercept = warm.state.intercept * temperature
            temperature /= _COOLING
        before = self.state
        self.state = self.at(weights, intercept)
        gap = self._descend(slope, tol, columns, exact=True)
        if self._value(slope) > before.nll + float(slope @ before.weights):
            self.state = before
            gap = self.gap(slope, columns)
        return gap

    def _value(self, slope: Array) -> float:
        return self.state.nll + float((slope * self.state.weights).sum())

    def _on_working_set(
        self, working: Array, slope: Array, rho: Array, tol: float, exact: bool
    ) -> bool:
        """Newton steps on a few columns until their own gap is small.

        Returns whether any step was made.
        """
        for step in range(_INNER_STEPS):
            if step:
                rho = self.gradient(working) + slope
                if box_gap(self.state.weights[working], rho) <= tol:
                    return True
            if not self._newton_step(working, slope, rho, exact):
                return step > 0
            if self.progress is not None:
                self.progress.evaluations += 1
                self.progress.check()
        return True

    def _newton_step(
        self, working: Array, slope: Array, rho: Array, exact: bool
    ) -> bool:
        """One step and a line search; False if nothing is gained."""
        state = self.state
        w = state.weights[working]
        force = state.residual.sum(axis=0) if self.refit_intercept else None
        if exact:
            step, shift = self._exact_step(working, rho, w, force)
        else:
            step, shift = self.terms.newton_step(
                self._intercepts.posterior(state.rows),
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
        if not fall < 0.0:
            return False  # the model was wrong, by rounding
        # So near the end that values differ by rounding alone, the model is right.
        blind = -fall <= _BLIND * (1.0 + abs(value))
        noise = _NOISE * (1.0 + abs(value))

        def trial(share: float) -> WeightState:
            # At a full step exactly, so that a bound that is reached is reached.
            new = np.clip(w + share * step, 0.0, 1.0)
            if share == 1.0:
                new[step == -w] = 0.0
            weights = state.weights.copy()
            weights[working] = new
            return WeightState(
                weights,
                state.intercept + share * shift,
                self._intercepts.scored(state.scores + share * moves),
            )

        def accepted(found: WeightState, share: float) -> bool:
            reached = found.nll + float(slope @ found.weights[working])
            return reached <= value + (noise if blind else 1e-4 * share * fall)

        found = backtrack(trial, accepted)
        if found is None:
            return False
        self.state = found
        return bool(step.any())

    def _exact_width(self) -> int:
        """Columns of a dense model that one step may cost."""
        cells = max(self.terms.n_rows * self.terms.n_classes, 1)
        return min(_EXACT_WIDTH, max(32, int((_EXACT_PRODUCTS / cells) ** 0.5)))

    def _exact_pays(self, working: Array) -> bool:
        """Whether the columns are so few and full that dense models are cheap."""
        return working.size <= _EXACT_WIDTH and self.terms.n_rows * float(
            working.size
        ) ** 2 <= _WORTH * self.terms.entries(working)

    def _exact_step(
        self, working: Array, rho: Array, w: Array, force: Array | None
    ) -> tuple[Array, Array]:
        """Minimum of the second-order model itself, by a dense matrix."""
        n_free = 0 if force is None else force.size
        H = self.terms.dense_curvature(
            log_posteriors(self.state.scores),
            self.problem.row_weight,
            working,
            n_free > 0,
        )
        H[np.diag_indices_from(H)] += 1e-13 * (1.0 + H.trace() / max(len(H), 1))
        gradient = rho if force is None else np.concatenate([rho, force])
        far = np.full(n_free, _FAR)
        step = box_minimum(
            H,
            gradient,
            np.concatenate([-w, -far]),
            np.concatenate([1.0 - w, far]),
            1e-10 * np.abs(gradient).max(initial=0.0),
        )
        shift = step[w.size :] if n_free else np.zeros(self.terms.n_classes - 1)
        return step[: w.size], shift
