"""Projected Newton method for the criterion with a convex penalty.

Each step minimises the second-order model over the box, for the weights that are not
held at a bound, then searches along the step. Near the optimum the set of held weights
is right and convergence is quadratic: five to ten Hessians reach 1e-10.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from bayesieve import _core
from bayesieve.weights._criterion import WeightProblem
from bayesieve.weights._result import Progress
from bayesieve.weights._terms import Array

__all__ = ["backtrack", "box_minimum", "newton", "projected_gradient"]

T = TypeVar("T")
#: Weights, value and gradient.
_Point = tuple[Array, float, Array]

# A Hessian costs as much as a hundred gradients at a few hundred weights. Above the
# first width a gradient method begins, to find which weights stay at a bound; no
# Hessian is wider than the second.
WARM_WIDTH = 64
MAX_WIDTH = 400
_MAX_STEPS = 200
_WARM_STEPS = 20
_HALVINGS = 40


def projected_gradient(w: Array, gradient: Array, high: Array) -> Array:
    """Gradient without what pushes against a bound: zero at an optimum of the box."""
    free = np.where(w <= 0.0, np.minimum(gradient, 0.0), gradient)
    return np.where(w >= high, np.maximum(free, 0.0), free)


def box_minimum(
    H: Array, gradient: Array, low: Array, high: Array, goal: float
) -> Array:
    """Step that minimises ``gradient s + s H s / 2`` within ``low <= s <= high``."""
    step = np.empty(gradient.size)
    _core.box_qp(H, gradient, low, high, goal, 50, step)
    return step


def backtrack(
    trial: Callable[[float], T], accepted: Callable[[T, float], bool]
) -> T | None:
    """The first accepted point at the shares 1, 1/2, 1/4, ... of a step."""
    share = 1.0
    for _ in range(_HALVINGS):
        found = trial(share)
        if accepted(found, share):
            return found
        share *= 0.5
    return None


class _Convex:
    """NLL + sum_k slope_k w_k^p with p >= 1, and how often it was evaluated."""

    def __init__(
        self, problem: WeightProblem, slope: Array, exponent: float, progress: Progress
    ) -> None:
        self.problem, self.slope, self.exponent = problem, slope, exponent
        self.progress = progress

    def __call__(self, w: Array) -> tuple[float, Array]:
        """Value and gradient."""
        problem, p = self.problem, self.exponent
        self.progress.evaluations += 1
        value, gradient = problem.terms.value_gradient(
            w, problem.log_prior, problem.codes, problem.row_weight
        )
        if p == 1.0:
            return value + float(self.slope @ w), gradient + self.slope
        power = self.slope * w ** (p - 1.0)
        return value + float(power @ w), gradient + p * power

    def curvature(self, w: Array, gradient: Array, chosen: Array) -> Array:
        """Second derivatives, chords for the penalty when 1 < p < 2."""
        problem, p = self.problem, self.exponent
        self.progress.evaluations += 1
        H = problem.terms.curvature(w, problem.log_prior, chosen, problem.row_weight)
        diagonal = np.diag_indices_from(H)
        # Redundant variables make H singular: a trace of a ridge picks one solution.
        H[diagonal] += 1e-12 * (1.0 + H.trace() / chosen.size)
        slope = self.slope[chosen] * p
        if p >= 2.0:
            H[diagonal] += slope * (p - 1.0) * w[chosen] ** (p - 2.0)
        elif p > 1.0:
            H[diagonal] += self._chords(w[chosen], gradient[chosen], H[diagonal], slope)
        return H

    def _chords(self, w: Array, gradient: Array, h: Array, slope: Array) -> Array:
        """Slope of the derivative of the penalty between w and where w will go.

        The derivative slope w^(p-1) is vertical at 0 for p < 2, where a tangent says
        nothing. Where each weight would go alone is found by bisection.
        """
        q = self.exponent - 1.0
        here = slope * w**q
        low, high = np.zeros_like(w), np.ones_like(w)
        for _ in range(60):
            middle = 0.5 * (low + high)
            up = gradient - here + h * (middle - w) + slope * middle**q > 0.0
            low, high = np.where(up, low, middle), np.where(up, middle, high)
        there = np.maximum(0.5 * (low + high), 1e-15)
        near = np.abs(there - w) <= 1e-6 * there
        tangent = slope * q * there ** (q - 1.0)
        run = np.where(near, 1.0, there - w)
        return np.where(near, tangent, (slope * there**q - here) / run)


def newton(
    problem: WeightProblem,
    w: Array,
    slope: Array,
    exponent: float,
    *,
    high: Array,
    gtol: float,
    progress: Progress,
    record: bool = True,
) -> tuple[Array, float]:
    """Minimise NLL + sum_k slope_k w_k^exponent over 0 <= w <= high from w.

    Stops when no projected derivative exceeds `gtol` per row, or when
    rounding leaves nothing to gain. Returns the weights and that value.
    """
    objective = _Convex(problem, slope, exponent, progress)
    limit = gtol * problem.n_rows
    w = np.clip(w, 0.0, high)
    value, gradient = objective(w)
    if record:
        progress.record(w, value)
    if np.count_nonzero(projected_gradient(w, gradient, high)) > WARM_WIDTH:
        w = _spectral(objective, w, high, max(gtol, 1e-5), progress, record)
        value, gradient = objective(w)
    for _ in range(_MAX_STEPS):
        push = projected_gradient(w, gradient, high)
        if np.abs(push).max(initial=0.0) <= limit:
            break
        found = _newton_step(objective, (w, value, gradient), push, high, limit)
        if found is None:
            break
        w, value, gradient = found
        if record:
            progress.record(w, value)
        else:
            progress.check()
    else:
        if record:
            progress.stopped = "budget"
    return w, value


def _newton_step(
    objective: _Convex, here: _Point, push: Array, high: Array, limit: float
) -> _Point | None:
    """The minimum of the second-order model over the box, or a point on the way."""
    w, value, gradient = here
    worst = np.abs(push).max(initial=0.0)
    chosen = np.flatnonzero((push != 0.0) | ((w > 0.0) & (w < high)))
    if chosen.size > MAX_WIDTH:
        order = np.argsort(-np.abs(push[chosen]), kind="stable")
        chosen = np.sort(chosen[order[:MAX_WIDTH]])
    H = objective.curvature(w, gradient, chosen)
    low_step, high_step = -w[chosen], high[chosen] - w[chosen]
    goal = max(1e-3 * min(limit, worst), 1e-13 * worst)
    part = box_minimum(H, gradient[chosen], low_step, high_step, goal)
    step = np.zeros_like(w)
    step[chosen] = part
    at_high = chosen[part >= high_step]
    fall = float(gradient @ step)
    if not fall < 0.0:
        return None

    def trial(share: float) -> _Point:
        point = np.clip(w + share * step, 0.0, high)
        if share == 1.0:
            point[at_high] = high[at_high]  # w + (1 - w) may miss 1 by rounding
        return (point, *objective(point))

    def accepted(found: _Point, share: float) -> bool:
        point, new_value, new_gradient = found
        if new_value <= value + 1e-4 * share * fall:
            return True
        # Within rounding the value says nothing: the gradient decides.
        if new_value <= value + 1e-13 * abs(value):
            new_push = projected_gradient(point, new_gradient, high)
            return bool(np.abs(new_push).max() < worst)
        return False

    return backtrack(trial, accepted)


def _spectral(
    objective: _Convex,
    w: Array,
    high: Array,
    gtol: float,
    progress: Progress,
    record: bool,
) -> Array:
    """Spectral projected gradient: a rough solution for the price of gradients alone.

    Steps of Barzilai and Borwein, accepted if they improve on the worst of the last ten
    values (Birgin, Martinez and Raydan, 2000).
    """
    limit = gtol * objective.problem.n_rows
    value, gradient = objective(w)
    best_w, best_value = w, value
    recent = [value]
    push = projected_gradient(w, gradient, high)
    length = 1.0 / max(np.abs(push).max(initial=0.0), 1e-300)
    for _ in range(_WARM_STEPS):
        if np.abs(push).max(initial=0.0) <= limit:
            break
        step = np.clip(w - length * gradient, 0.0, high) - w
        found = _along(objective, w, step, max(recent), float(gradient @ step))
        if found is None:
            break
        trial, new_value, new_gradient = found
        moved, change = trial - w, new_gradient - gradient
        curve = float(moved @ change)
        length = float(moved @ moved) / curve if curve > 0.0 else 1e3 * length
        w, value, gradient = np.clip(trial, 0.0, high), new_value, new_gradient
        push = projected_gradient(w, gradient, high)
        recent = [*recent[-9:], value]
        if value < best_value:
            best_w, best_value = w, value
        if record:
            progress.record(w, value)
        else:
            progress.check()
    return best_w


def _along(
    objective: _Convex, w: Array, step: Array, level: float, fall: float
) -> _Point | None:
    """A point along a step that falls enough below a level."""

    def trial(share: float) -> _Point:
        point = w + share * step
        return (point, *objective(point))

    return backtrack(
        trial, lambda found, share: found[1] <= level + 1e-4 * share * fall
    )
