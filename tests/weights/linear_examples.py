"""Small sparse problems, and their plain dense twins."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from bayesieve.weights import DenseTerms, LinearTerms, WeightProblem


def linear_problem(
    seed,
    *,
    n_rows=200,
    n_terms=12,
    n_classes=2,
    offset=False,
    weights=False,
    binary=False,
    cost=None,
    exponent=1.0,
):
    """A sparse problem with informative, redundant and noise columns."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n_rows) % n_classes)
    rates = rng.gamma(0.7, 0.6, size=(n_classes, n_terms))
    X = rng.poisson(rates[codes])
    X[:, -1] = X[:, 0]
    if binary:
        X = np.minimum(X, 1)
    counts = np.array([X[codes == c].sum(axis=0) for c in range(n_classes)]) + 1.0
    slope = np.log(counts / counts.sum(axis=1, keepdims=True)).T
    a = 0.1 * rng.normal(size=slope.shape) if offset else None
    row_weight = rng.integers(1, 4, size=n_rows).astype(float) if weights else None
    prior = np.bincount(codes, row_weight, n_classes)
    return WeightProblem(
        LinearTerms(sparse.csr_array(X), slope, a),
        codes=codes,
        log_prior=np.log(prior / prior.sum()),
        cost=np.ones(n_terms) if cost is None else cost,
        exponent=exponent,
        row_weight=row_weight,
    )


def dense_twin(problem):
    """The same terms, ready-made."""
    terms = problem.terms
    likelihoods = np.stack([terms.term(k) for k in range(terms.n_terms)], axis=1)
    return WeightProblem(
        DenseTerms(likelihoods),
        codes=problem.codes,
        log_prior=problem.log_prior,
        cost=problem.cost,
        exponent=problem.exponent,
        row_weight=problem.row_weight,
    )
