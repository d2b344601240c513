"""Fits that are hard on the arithmetic, and an optimum computed apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from bayesieve import SelectiveBernoulliNB, SelectiveMultinomialNB
from bayesieve.weights._wide_solver import WideFit, WideSolver


def hostile_case(seed: int) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray | None]:
    """An estimator with random options, and rows, labels and weights for it.

    Counts from below one to millions, classes that one column tells apart or nothing
    does, columns and rows of very different sizes, many classes, classes of one row.
    """
    rng = np.random.default_rng([77, seed])
    n_classes = int(rng.choice([2, 2, 3, 4, 5, 10, 12]))
    n_rows = int(rng.integers(max(n_classes, 6), 220))
    n_features = int(rng.integers(2, 40))
    y = np.arange(n_rows) % n_classes
    if rng.random() < 0.5:
        y[n_classes:] = rng.integers(0, n_classes, n_rows - n_classes)
    shape, scale = rng.choice([0.05, 0.3, 1.0, 5.0]), 10.0 ** rng.uniform(-1, 4.5)
    X = rng.poisson(rng.gamma(shape, scale, size=(n_classes, n_features))[y]) * 1.0
    family = rng.integers(0, 6)
    if family == 1:
        X *= 10.0 ** rng.uniform(-6, 6)
    elif family == 2:
        X *= 10.0 ** rng.uniform(-4, 4, size=n_features)
    elif family == 3:  # nothing to find
        X = rng.poisson(np.tile(rng.gamma(shape, scale, n_features), (n_rows, 1))) * 1.0
    elif family == 4:
        X[rng.random(X.shape) < 0.7] = 0.0
    elif family == 5:
        X *= 10.0 ** rng.uniform(-3, 3, size=(n_rows, 1))
    options: dict[str, Any] = {}
    if rng.random() < 0.5:
        options["k"] = int(rng.integers(1, n_features + 1))
    else:
        options["regularization"] = float(10.0 ** rng.uniform(-3, 3))
    if rng.random() < 0.3:
        options["refit_intercept"] = False
    if rng.random() < 0.2:
        options["exponent"] = float(rng.choice([0.5, 0.9]))
    if rng.random() < 0.3:
        options["relaxed"] = False
    if rng.random() < 0.4:
        options["alpha"] = float(10.0 ** rng.uniform(-6, 4))
    if rng.random() < 0.2:
        options["tol"] = float(10.0 ** rng.uniform(-8, -2))
    if rng.random() < 0.15:
        options["feature_cost"] = rng.choice([0.0, 1.0, 5.0], size=n_features)
        options["feature_cost"][0] += 1.0
    if rng.random() < 0.15:
        options["class_prior"] = rng.dirichlet(np.ones(n_classes))
    weight = 10.0 ** rng.uniform(-3, 3, size=n_rows) if rng.random() < 0.25 else None
    kind = SelectiveMultinomialNB if rng.random() < 0.75 else SelectiveBernoulliNB
    if kind is SelectiveBernoulliNB:
        X = (np.median(X) < X) * 1.0
    if not X.any():
        X[0, 0] = 1.0
    return kind(**options), X, y, weight


class Criterion:
    """NLL + penalty, from the arrays of the problem alone; in long double by default.

    Calls give value and gradient at weights, followed by intercepts if these are free.
    """

    def __init__(
        self,
        problem: Any,
        penalty: float,
        refit_intercept: bool,
        wide: Any = np.longdouble,
    ) -> None:
        terms = problem.terms
        self.x = np.asarray(terms.columns.todense(), dtype=wide)
        self.slope = terms._slopes.astype(wide)
        self.slope = self.slope - self.slope[:, :1]
        offsets = np.zeros_like(terms._slopes)
        offsets = offsets if terms._offsets is None else terms._offsets
        self.offset = offsets.astype(wide) - offsets[:, :1]
        self.codes = problem.codes
        weight = problem.row_weight
        self.weight = np.ones(terms.n_rows) if weight is None else weight
        self.weight = self.weight.astype(wide)
        self.cost = penalty * problem.cost.astype(wide)
        self.prior = (problem.log_prior - problem.log_prior[0])[1:]
        self.refit = refit_intercept
        #: What a value can be off by in double precision: scores are sums of products,
        #: and each row's loss is a difference of scores.
        sizes = np.abs(self.x) @ np.ptp(self.slope, axis=1)
        self.rounding = float(64 * np.finfo(float).eps * self.weight @ (1.0 + sizes))

    def __call__(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        n_terms = self.slope.shape[0]
        w = point[:n_terms].astype(self.x.dtype)
        b = point[n_terms:] if self.refit else self.prior
        z = self.x @ (w[:, None] * self.slope) + w @ self.offset
        z[:, 1:] += b
        rows = np.arange(self.codes.size)
        top = z.max(axis=1, keepdims=True)
        p = np.exp(z - top)
        total = p.sum(axis=1, keepdims=True)
        loss = (top + np.log(total))[:, 0] - z[rows, self.codes]
        p /= total
        p[rows, self.codes] -= 1.0
        residual = p * self.weight[:, None]
        gradient = ((self.x.T @ residual) * self.slope).sum(axis=1) + self.cost
        gradient = gradient + self.offset @ residual.sum(axis=0)
        if self.refit:
            gradient = np.concatenate([gradient, residual.sum(axis=0)[1:]])
        value = self.weight @ loss + self.cost @ w
        return float(value), gradient.astype(np.float64)


def distance_to_optimum(
    problem: Any, penalty: float, refit: bool, weights: np.ndarray, b: np.ndarray
) -> float:
    """How much less than at a point L-BFGS-B finds, from there and from nothing."""
    exact = Criterion(problem, penalty, refit)
    fast = Criterion(problem, penalty, refit, np.float64)
    here = np.concatenate([weights, b]) if refit else weights
    nothing = np.zeros_like(here)
    nothing[weights.size :] = exact.prior[: here.size - weights.size]
    value = exact(here)[0]
    best = min(value, exact(nothing)[0])
    bounds = [(0.0, 1.0)] * weights.size + [(None, None)] * (here.size - weights.size)
    options = {"maxiter": 300, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 20}
    for start in (here, nothing) if weights.size else ():
        found = minimize(
            fast, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options
        )
        best = min(best, exact(found.x)[0])
    return value - best


@dataclass(frozen=True)
class HostileFit:
    """One fit and what is true of it.

    Attributes
    ----------
    nll, null_nll : float
        Of the model that was returned, and without any feature.
    gap, distance : float
        Claimed for the penalised solution, and found by L-BFGS-B.
    rounding : float
    found : WideFit
    """

    nll: float
    null_nll: float
    gap: float
    distance: float
    rounding: float
    found: WideFit


def fit_hostile(seed: int) -> HostileFit:
    """Fit a case as the estimator does, and judge it."""
    estimator, X, y, weight = hostile_case(seed)
    rows = estimator._counted_rows(X, y, weight)
    wanted = estimator._wanted_size(rows.counts.n_features)
    settings = estimator._settings_for(rows.counts, wanted, estimator.regularization)
    model = WideSolver.of(rows, estimator._chosen(rows, settings))
    found = model.fit()
    problem = model.path.problem
    refit = settings.refit_intercept
    weights = np.zeros(problem.n_terms)
    weights[np.searchsorted(model.candidates.columns, found.columns)] = found.weights
    # The intercepts as the solver has them: without what comes after the fit.
    blank = model.whole_intercept(np.zeros(model.present.size - 1), weights)
    intercept = (found.intercept - blank)[model.present]
    intercept = (intercept - intercept[0])[1:]
    plain = Criterion(problem, 0.0, True)
    nll, _ = plain(np.concatenate([weights, intercept]))
    gap = distance = 0.0
    rounding = plain.rounding
    if settings.exponent == 1.0:
        points = [p for p in model.path.points if p.penalty == found.penalty]
        point = points[-1]
        gap = point.gap
        distance = distance_to_optimum(
            problem, point.penalty, refit, point.weights, point.intercept
        )
    null = model.path.newton.null_nll
    return HostileFit(nll, null, gap, distance, rounding, found)
