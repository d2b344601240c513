"""The small smooth problem inside the relaxation for three classes and more.

Atoms are pairs (V_t, B_t), a number and a vector over classes. Over weights w on the
simplex, maximise the concave, positively homogeneous

    g(w) = sum_t w_t V_t - sum_c b_c log(b_c / (b a_c))

with ``b_c = sum_t w_t B_tc``, ``b = sum_c b_c`` and a, the anchor of the values V_t,

by Newton's method on the weights that are not zero, with a Frank-Wolfe step where
Newton does not help. Since g is homogeneous, ``g(w) = w . grad g(w)``, and ``max(grad)
- g(w)`` bounds what is missing.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from bayesieve.solvers._logs import UNIT, Floats, log_ratio

__all__ = ["maximise_on_hull"]

_MAX_STEPS = 200


def maximise_on_hull(
    values: Floats,
    sums: Floats,
    weights: Floats,
    *,
    anchor: Floats,
    tolerance: float,
    deadline: float = math.inf,
) -> tuple[Floats, float, Floats]:
    """Weights, value and class shares at the maximum over the hull of the atoms.

    Parameters
    ----------
    values : ndarray of shape (n_atoms,)
    sums : ndarray of shape (n_atoms, n_classes)
    weights : ndarray of shape (n_atoms,)
        Start, strictly positive on every class that any atom covers.
    anchor : ndarray of shape (n_classes,)
        Class shares at which the values are taken.
    tolerance : float
        Stop when at most this much is missing.
    deadline : float
        ``time.monotonic()`` at which to stop where it stands; every weight is a bound.
    """
    w = weights / weights.sum()
    value, gradient, mixture = _evaluate(values, sums, anchor, w)
    # Slopes are no better than the rounding of what they are differences of.
    rounding = float(np.abs(gradient).max() + np.abs(values - gradient).max())
    tolerance = max(tolerance, 16 * UNIT * rounding)
    for _ in range(_MAX_STEPS):
        if gradient.max() - value <= tolerance:
            break
        if deadline < math.inf and time.monotonic() > deadline:
            break
        step = _newton_step(sums, w, gradient, mixture)
        moved = _search(values, sums, anchor, w, step, value, gradient)
        if moved is None:  # towards the best atom, which is always a way up
            step = -w
            step[np.argmax(gradient)] += 1.0
            moved = _search(values, sums, anchor, w, step, value, gradient)
        if moved is None:
            break
        w, value, gradient, mixture = moved
    total = mixture.sum()
    return w, value, mixture / total if total > 0 else anchor


def _evaluate(
    values: Floats, sums: Floats, anchor: Floats, w: Floats
) -> tuple[float, Floats, Floats]:
    mixture = w @ sums
    total = mixture.sum()
    # Atoms without any count, as those of columns that cost too much, have no shares.
    shares = mixture / total if total > 0 else anchor
    gradient = values - sums @ log_ratio(shares, anchor)
    return float(w @ gradient), gradient, mixture


def _newton_step(sums: Floats, w: Floats, gradient: Floats, mixture: Floats) -> Floats:
    """Newton direction among the active weights, summing to zero."""
    active = w > 0
    active[np.argmax(gradient)] = True
    step = _newton_among(active, sums, gradient, mixture)
    if (step[w <= 0] < 0).any():  # the newcomer cannot fall below zero: leave it out
        step = _newton_among(w > 0, sums, gradient, mixture)
    return step


def _newton_among(
    active: NDArray[np.bool_], sums: Floats, gradient: Floats, mixture: Floats
) -> Floats:
    rows = sums[active]
    positive = mixture > 0
    # B_tc - p_c B_t: what an atom has beyond its share of the mixture.
    totals = rows.sum(axis=1)
    shares = mixture[positive] / mixture.sum()
    beyond = rows[:, positive] - np.outer(totals, shares)
    scaled = beyond / np.sqrt(mixture[positive])
    hessian = scaled @ scaled.T
    n = rows.shape[0]
    # The hessian is singular along atoms with equal sums; a touch of the identity keeps
    # the step finite and leaves its direction upward.
    ridge = 1e-12 * max(float(np.trace(hessian)), np.finfo(np.float64).tiny)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = hessian + ridge * np.eye(n)
    scale = max(float(np.abs(hessian).max()), np.finfo(np.float64).tiny)
    system[:n, n] = system[n, :n] = scale
    right = np.append(gradient[active], 0.0)
    step = np.zeros(active.shape[0])
    try:
        inner = np.linalg.solve(system, right)[:n]
    except np.linalg.LinAlgError:
        inner = np.linalg.lstsq(system, right, rcond=None)[0][:n]
    if np.isfinite(inner).all():  # else no step: Frank-Wolfe takes over
        step[active] = inner - inner.mean()
    return step


def _search(
    values: Floats,
    sums: Floats,
    anchor: Floats,
    w: Floats,
    step: Floats,
    value: float,
    gradient: Floats,
) -> tuple[Floats, float, Floats, Floats] | None:
    """First of ever shorter steps that climbs, weights kept at zero or above."""
    falling = step < 0
    missing = float(gradient.max()) - value
    if gradient @ step <= 0 or not falling.any():
        return None
    covered = w @ sums > 0
    longest = float((w[falling] / -step[falling]).min())
    length = min(1.0, longest)
    for _ in range(50):
        moved = w + length * step
        if length == longest:
            moved[falling & (moved <= 1e-15)] = 0.0
        np.maximum(moved, 0.0, out=moved)
        moved /= moved.sum()
        new_value, gradient, mixture = _evaluate(values, sums, anchor, moved)
        # At a share of zero the slope back is infinite: never step onto it.
        climbs = new_value > value or (
            # Near the top the value is flat to rounding; the slopes still tell.
            new_value >= value - 1e-14 * float(np.abs(gradient).max())
            and gradient.max() - new_value <= 0.5 * missing
        )
        if climbs and not (covered & (mixture <= 0)).any():
            return moved, new_value, gradient, mixture
        length *= 0.5
    return None
