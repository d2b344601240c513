"""Supports of weighted columns by brute force, with SciPy's optimiser."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits


def likelihood(X, y, slope, offset=None, weight=None, log_prior=None):
    """NLL and gradient as a function of (weights of a support, intercepts)."""
    n_classes = slope.shape[1]
    weight = np.ones(len(y)) if weight is None else weight
    own = np.eye(n_classes)[y]

    def of(support):
        terms = X[:, support, None] * slope[support]
        if offset is not None:
            terms = terms + offset[support]
        k = len(support)
        flat = np.ascontiguousarray(terms.transpose(0, 2, 1)).reshape(-1, k)

        def value(v):
            free = np.concatenate([[0.0], v[k:]]) if log_prior is None else log_prior
            s = (flat @ v[:k]).reshape(-1, n_classes) + free
            top = s.max(axis=1, keepdims=True)
            p = np.exp(s - top)
            total = p.sum(axis=1, keepdims=True)
            nll = weight @ (np.log(total) + top - (s * own).sum(axis=1, keepdims=True))
            nll = float(nll[0])
            r = (p / total - own) * weight[:, None]
            g = flat.T @ r.ravel()
            if log_prior is None:
                g = np.concatenate([g, r.sum(axis=0)[1:]])
            return nll, g

        return value

    return of


def best_nll(of, support, n_classes, refit=True, penalty=0.0):
    """The least NLL, or criterion, of one support with weights in [0, 1]."""
    k, free = len(support), n_classes - 1 if refit else 0
    value = of(list(support))

    def penalised(v):
        nll, g = value(v)
        g = g.copy()
        g[:k] += penalty
        return nll + penalty * v[:k].sum(), g

    found = minimize(
        penalised,
        np.concatenate([np.full(k, 0.5), np.zeros(free)]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * k + [(None, None)] * free,
        options={"ftol": 1e-15, "gtol": 1e-7, "maxiter": 500, "maxcor": 20},
    )
    return float(found.fun)


def all_supports(of, n_columns, k, n_classes, refit=True):
    """Least NLL of every support of exactly k columns."""
    with threadpool_limits(1):  # products this small wait for threads, mostly
        return {
            support: best_nll(of, support, n_classes, refit)
            for support in itertools.combinations(range(n_columns), k)
        }
