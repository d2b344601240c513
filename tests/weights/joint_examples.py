"""Small problems with columns and n-grams; `dense_twin` makes them plain."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from bayesieve.weights import JointTerms, WeightProblem


def joint_problem(
    seed, *, n_rows=240, n_columns=3, n_ngrams=9, n_classes=2, weights=False, cost=None
):
    """Columns of a few parts and counts of n-grams; some say the same, some nothing."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n_rows) % n_classes)
    sizes = rng.integers(2, 6, n_columns)
    parts = np.column_stack(
        [(codes + rng.integers(0, 3, n_rows)) % size for size in sizes]
        + [np.empty((n_rows, 0))]
    ).astype(np.uint8)
    tables = []
    for k, size in enumerate(sizes):
        counts = np.zeros((size, n_classes))
        np.add.at(counts, (parts[:, k], codes), 1.0)
        counts += 0.01
        tables.append(np.log(counts / counts.sum(axis=0)))
    rates = rng.gamma(0.7, 0.6, size=(n_classes, n_ngrams))
    X = rng.poisson(rates[codes])
    if n_ngrams and n_columns:
        X[:, -1] = parts[:, 0]
    counts = np.array([X[codes == c].sum(axis=0) for c in range(n_classes)]) + 1.0
    slope = np.log(counts / counts.sum(axis=1, keepdims=True)).T
    row_weight = rng.integers(1, 4, size=n_rows).astype(float) if weights else None
    prior = np.bincount(codes, row_weight, n_classes)
    n_terms = n_columns + n_ngrams
    return WeightProblem(
        JointTerms(parts, tables, sparse.csr_array(X), slope),
        codes=codes,
        log_prior=np.log(prior / prior.sum()),
        cost=np.ones(n_terms) if cost is None else cost,
        row_weight=row_weight,
    )
