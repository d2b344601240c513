"""Sparse Bernoulli naive Bayes: closed form, exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve import _core
from bayesieve.solvers._additive import AdditiveProblem
from bayesieve.solvers._certificate import Solution
from bayesieve.solvers._inputs import check_alpha, check_size, count_table, row_counts
from bayesieve.solvers._logs import Floats

__all__ = ["bernoulli_problem", "solve_bernoulli"]


def solve_bernoulli(counts: Any, k: int, *, alpha: float | Floats = 1.0) -> Solution:
    """Find the k features of largest Bernoulli naive Bayes likelihood. **Exact**.

    Parameters
    ----------
    counts : ClassCounts
        Of kind "binary": how many rows of each class have each feature.
    k : int
        Number of features, at least 1.
    alpha : float or array of shape (n_features,), default=1.0
        Smoothing; estimates are ``(f + alpha) / (n_c + 2 alpha)`` as in scikit-learn.

    Returns
    -------
    Solution
        ``log_theta`` holds the log-probability that a selected feature is present.

    Notes
    -----
    The gain of a feature is n times its mutual information with the class; the k
    largest are the optimum, so supports are nested. A feature that is present in no row
    or in every row is never selected.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import ClassCounts, solve_bernoulli
    >>> X = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0]])
    >>> counts = ClassCounts.from_matrix(X, [1, 1, 0, 0], binary=True)
    >>> solve_bernoulli(counts, k=1).support
    array([0])
    """
    k = check_size(k, solver="solve_bernoulli")
    return bernoulli_problem(counts, alpha, solver="solve_bernoulli").solve(k)


def bernoulli_problem(
    counts: Any, alpha: float | Floats, *, solver: str
) -> AdditiveProblem:
    """Gains of all columns, ready for any k."""
    rows = np.ascontiguousarray(row_counts(counts, solver=solver), dtype=np.float64)
    table = count_table(counts, kinds=("binary",), solver=solver)
    n_classes, n_features = table.shape
    alphas = check_alpha(alpha, n_features, solver=solver)
    if isinstance(table, np.ndarray):
        totals = table.sum(axis=0)
        gains, null_value = _core.bernoulli_gains(
            np.ascontiguousarray(table), rows, alphas
        )
    else:
        if alphas.shape[0] != 1:
            raise ValueError(
                f"The 'alpha' parameter of {solver} must be one number for a table "
                f"with this many classes ({n_classes}). Got an array."
            )
        totals = np.asarray(table.sum(axis=0)).ravel()
        gains, null_value = _core.bernoulli_gains_csc(
            table.indptr.astype(np.int64),
            table.indices.astype(np.int32, copy=False),
            table.data,
            rows,
            float(alphas[0]),
        )
    n_rows = float(rows.sum())

    def estimate(columns: NDArray[np.int64]) -> Floats:
        part = table[:, columns]
        dense = part if isinstance(table, np.ndarray) else part.toarray()
        smoothing = alphas if alphas.shape[0] == 1 else alphas[columns]
        denominator = rows[:, None] + 2.0 * smoothing
        result: Floats = np.divide(
            dense + smoothing,
            denominator,
            out=np.full(dense.shape, 0.5),
            where=denominator > 0,
        )
        return result

    return AdditiveProblem(
        gains=gains,
        # Constant columns say nothing; the kernel gives them gain 0 by the same rule.
        eligible=(totals > 0) & (totals < n_rows * (1 - 1e-12)),
        null_value=float(null_value),
        extra_parameters=float(n_classes - 1),
        n_rows=n_rows,
        class_shares=rows / n_rows,
        estimate=estimate,
    )
