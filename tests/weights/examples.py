"""Small problems of the weighted classifier, and plain twins of its formulas."""

from __future__ import annotations

import math

import numpy as np

from bayesieve.weights import PartTerms, SubsetProblem, WeightProblem, feature_costs


def parts_of(seed, n_rows=200, n_terms=5, n_classes=2, n_parts=4, signal=1.0):
    """Part indexes with classes, smoothed tables, codes and log prior.

    Even terms depend on the class, every third one is nearly a copy of its neighbour.
    """
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n_rows) % n_classes).astype(np.int32)
    parts = np.empty((n_rows, n_terms), dtype=np.uint8)
    tables = []
    for k in range(n_terms):
        spread = 2.0 / signal if k % 2 == 0 else 50.0
        chance = rng.dirichlet(np.full(n_parts, spread), size=n_classes).cumsum(axis=1)
        draw = (rng.random(n_rows)[:, None] > chance[codes]).sum(axis=1)
        parts[:, k] = np.minimum(draw, n_parts - 1)
        if k % 3 == 2:
            copied = rng.random(n_rows) < 0.8
            parts[copied, k] = parts[copied, k - 1]
        count = np.zeros((n_parts, n_classes))
        np.add.at(count, (parts[:, k], codes), 1.0)
        eps = 1.0 / (n_rows + 1)
        tables.append(np.log((count + eps) / (count.sum(axis=0) + n_parts * eps)))
    log_prior = np.log(np.bincount(codes, minlength=n_classes) / n_rows)
    return parts, tables, codes, log_prior


def weight_problem(seed=0, *, preparation=3.0, regularization=0.1, exponent=1.0, **kw):
    row_weight = kw.pop("row_weight", None)
    parts, tables, codes, log_prior = parts_of(seed, **kw)
    n_terms = parts.shape[1]
    return WeightProblem(
        PartTerms(parts, tables),
        codes,
        log_prior,
        feature_costs(np.full(n_terms, preparation), n_terms),
        regularization,
        exponent,
        row_weight,
    )


def subset_problem(seed=0, *, preparation=3.0, regularization=0.1, **kw):
    row_weight = kw.pop("row_weight", None)
    parts, tables, codes, log_prior = parts_of(seed, **kw)
    n_terms = parts.shape[1]
    return SubsetProblem(
        PartTerms(parts, tables),
        codes,
        log_prior,
        np.linspace(0.5, 1.5, n_terms) * preparation,
        n_terms + 2,
        regularization,
        row_weight=row_weight,
    )


def likelihoods(parts, tables):
    """The (N, K, J) array of ln p_k(part of the row | C_j)."""
    return np.stack(
        [table[column] for table, column in zip(tables, parts.T, strict=True)], axis=1
    )


def log_posterior(cube, w, log_prior):
    """Twin of section 5: softmax of the scores, in logs."""
    s = log_prior + np.einsum("nkj,k->nj", cube, w)
    return s - np.logaddexp.reduce(s, axis=1, keepdims=True)


def nll_of(cube, w, log_prior, codes, row_weight=None):
    own = -log_posterior(cube, w, log_prior)[np.arange(codes.size), codes]
    return float(np.sum(own if row_weight is None else row_weight * own))


def nll_gradient_of(cube, w, log_prior, codes, row_weight=None):
    post = np.exp(log_posterior(cube, w, log_prior))
    own = cube[np.arange(codes.size), :, codes]
    rows = np.einsum("nj,nkj->nk", post, cube) - own
    return (rows if row_weight is None else row_weight[:, None] * rows).sum(axis=0)


def curvature_of(cube, w, log_prior, row_weight=None):
    post = np.exp(log_posterior(cube, w, log_prior))
    mean = np.einsum("nj,nkj->nk", post, cube)
    centred = cube - mean[:, :, None]
    weight = np.ones(cube.shape[0]) if row_weight is None else row_weight
    return np.einsum("n,nj,nkj,nlj->kl", weight, post, centred, centred)


def smoothed_cost_of(cube, w, log_prior, codes, n=None, row_weight=None):
    n = codes.size if n is None else n
    post = np.exp(log_posterior(cube, w, log_prior))[np.arange(codes.size), codes]
    own = -np.log((n * post + 0.5 / log_prior.size) / (n + 0.5))
    return float(np.sum(own if row_weight is None else row_weight * own))


def universal_code(n):
    total, term = 0.0, math.log2(n)
    while term > 0:
        total, term = total + term, math.log2(term)
    return total * math.log(2) + math.log(2.86511)


def subset_value_of(cube, problem, w):
    """Twin of F(w), section 8, written out."""
    n, j = problem.codes.size, problem.log_prior.size
    if not np.any(w):
        prior = math.log(2) + math.log(math.comb(n + j - 1, j - 1))
    else:
        s = math.ceil(sum(w))
        prior = math.log(2) + universal_code(s) - math.log(math.factorial(s))
        for k, weight in enumerate(w):
            whole = math.log(problem.n_variables) + problem.preparation[k]
            prior += whole * weight**problem.exponent
    data = smoothed_cost_of(cube, np.array(w), problem.log_prior, problem.codes)
    return problem.regularization * prior + data


def run(kind, problem, start=None, **options):
    """Run an optimiser of a class with settings, in one call."""
    names = ("time_limit", "callback", "random_state")
    own = {name: options.pop(name) for name in names if name in options}
    return kind(**options).minimise(problem, start, **own)
