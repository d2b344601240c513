"""Sparse Bernoulli naive Bayes: closed form, exact."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve import _core
from bayesieve.counts import ClassCounts
from bayesieve.solvers._additive import AdditiveProblem
from bayesieve.solvers._additive_rules import solve_additive_under
from bayesieve.solvers._branch import Limits
from bayesieve.solvers._certificate import Solution
from bayesieve.solvers._device_bernoulli import leading_columns
from bayesieve.solvers._device_table import DeviceTable, refuse_presences
from bayesieve.solvers._inputs import (
    check_alpha,
    check_limits,
    check_range,
    check_size,
    count_table,
    row_counts,
)
from bayesieve.solvers._logs import Floats
from bayesieve.solvers._rule_input import rules_of
from bayesieve.solvers._rules import allowed_size, refuse_device_rules
from bayesieve.solvers._topk import top_k
from bayesieve.utils._device_arrays import is_on_device
from bayesieve.utils._resources import keeps_to_jobs

__all__ = ["BernoulliEstimator", "bernoulli_problem", "solve_bernoulli"]

#: Tables of fewer columns are looked at whole.
_WIDE = 1 << 21
#: One in so many columns is looked at first, so many for each that is wanted.
_LEAST_STEP, _MOST_STEP, _SAMPLED_FOR_EACH = 16, 64, 32


@keeps_to_jobs
def solve_bernoulli(
    counts: Any,
    k: int | None = None,
    *,
    class_count: Any = None,
    alpha: float | Floats = 1.0,
    include: Any = None,
    exclude: Any = None,
    groups: Any = None,
    max_per_group: int | None = None,
    feature_cost: Any = None,
    budget: float | None = None,
    time_limit: float | None = 10.0,
    n_jobs: int | None = -1,
) -> Solution:
    """Find the k features of largest Bernoulli naive Bayes likelihood. **Exact**.

    Parameters
    ----------
    counts : ClassCounts or array of shape (n_classes, n_features)
        Of kind "binary": how many rows of each class have each feature. An array of
        PyTorch, CuPy or another library of the array API stays on its device, but for
        columns that may be selected.
    k : int, optional
        Number of features, at least 1. None, beside a budget or `max_per_group`: as
        many as they allow.
    class_count : array-like of shape (n_classes,), optional
        Rows of each class, beside a plain array, which does not know them.
    alpha : float or array of shape (n_features,), default=1.0
        Smoothing; estimates are ``(f + alpha) / (n_c + 2 alpha)`` as in scikit-learn.
    include, exclude : names, numbers or a mask of columns, optional
        Features that every support must have, and that none may have.
    groups : array-like of shape (n_features,), lists of columns or dict, optional
        A label for each column; columns without one (None, NaN) are alone. Groups are
        taken whole and k counts groups; with `max_per_group` at most so many columns
        are taken of each.
    max_per_group : int, optional
        See `groups`.
    feature_cost : array-like of shape (n_features,) or dict of names, optional
        What each feature costs, >= 0; together at most `budget`.
    budget : float, optional
        See `feature_cost`.
    time_limit : float or None, default=10.0
        Seconds that a search within a budget may take; it then ends with a `GapWarning`
        and the best found.
    n_jobs : int or None, default=-1
        Threads, as scikit-learn counts them: -1 is one for each processor.

    Returns
    -------
    Solution
        ``log_theta`` holds the log-probability that a selected feature is present.

    Notes
    -----
    The gain of a feature is n times its mutual information with the class; the k
    largest are the optimum, so supports are nested; of equal computed gains the lower
    index is taken. A feature that is present in no row or in every row is never
    selected.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import ClassCounts, solve_bernoulli
    >>> X = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0]])
    >>> counts = ClassCounts.from_matrix(X, [1, 1, 0, 0], binary=True)
    >>> solve_bernoulli(counts, k=1).support
    array([0])
    """
    name = "solve_bernoulli"
    given = (include, exclude, groups, max_per_group, feature_cost, budget)
    if is_on_device(counts):
        refuse_device_rules(counts, given, solver=name)
    leading = None
    if all(one is None for one in given):
        leading = check_size(k, solver=name) + 1  # the next one is for the certificate
    problem = bernoulli_problem(
        counts, alpha, class_count=class_count, leading=leading, solver=name
    )
    rules = rules_of(
        problem.n_features,
        getattr(counts, "feature_names", None),
        include=include,
        exclude=exclude,
        groups=groups,
        max_per_group=max_per_group,
        feature_cost=feature_cost,
        budget=budget,
        owner=name,
    )
    if rules is None:
        return problem.solve(check_size(k, solver=name))
    check_limits(time_limit, None, solver=name)
    limits = Limits.starting_now(time_limit, None)
    size = allowed_size(k, rules, solver=name)
    return solve_additive_under(
        problem, None if k is None else size, rules, limits, name
    )


@dataclass(frozen=True)
class BernoulliEstimator:
    """How counts become probabilities that are neither 0 nor 1.

    Laplace: ``(f + alpha) / (n_c + 2 alpha)``, as scikit-learn. Truncated (the double
    truncated estimator of Guan, Shan and Guo): class shares ``pi_c`` held in
    ``[1/n, 1 - 1/n]``, the largest class taking the remainder, and joint shares
    ``f / n`` held in ``[1/n, pi_c - 1/n]``, with ``pi_c / 2`` as the upper end where
    the class has fewer than two rows. The papers' own upper end, ``1 - 1/n``, lets a
    feature that all rows of a class have reach probability 1.
    """

    rows: Floats  # n_c, or n pi_c under truncation
    alpha: Floats
    upper: Floats | None  # largest count of each class under truncation

    @classmethod
    def laplace(cls, rows: Floats, alpha: Floats) -> BernoulliEstimator:
        """Add alpha to both outcomes."""
        return cls(rows, alpha, None)

    @classmethod
    def truncated(cls, rows: Floats) -> BernoulliEstimator:
        """Hold counts at one row or more away from none and from all."""
        n = float(rows.sum())
        held = np.clip(rows, 1.0, max(n - 1.0, 1.0))
        largest = int(np.argmax(rows))
        held[largest] = n - (held.sum() - held[largest])
        if held[largest] < 1.0:
            # More empty classes, or smaller weights, than the largest class can pay for
            # (the paper overlooks this): lift by less, so that it keeps half its rows.
            held = np.maximum(rows, rows[largest] / (2.0 * rows.shape[0]))
            held[largest] = n - (held.sum() - held[largest])
        upper = np.where(held < 2.0, 0.5 * held, held - 1.0)
        return cls(held, np.zeros(1), upper)

    def theta(self, table: Floats, columns: NDArray[np.int64] | slice) -> Floats:
        """Probability of presence for counts (K, len(columns)) of some columns."""
        if self.upper is not None:
            lifted = np.minimum(np.maximum(table, 1.0), self.upper[:, None])
            truncated: Floats = lifted / self.rows[:, None]
            return truncated
        alpha = self.alpha if self.alpha.shape[0] == 1 else self.alpha[columns]
        denominator = self.rows[:, None] + 2.0 * alpha
        result: Floats = np.divide(
            table + alpha,
            denominator,
            out=np.full(table.shape, 0.5),
            where=denominator > 0,
        )
        return result


def bernoulli_problem(
    counts: Any,
    alpha: float | Floats,
    *,
    smoothing: str = "laplace",
    class_count: Any = None,
    leading: int | None = None,
    solver: str,
) -> AdditiveProblem:
    """Gains of all columns, ready for any k, or of so many leading ones and some more.

    `leading` has to be given for counts on a device, and saves a wide table of the host
    an array as long as it is wide.
    """
    rows = np.array(row_counts(counts, class_count, solver=solver), dtype=np.float64)
    table = count_table(
        counts, kinds=("binary",), solver=solver, on_device=leading is not None
    )
    if not isinstance(counts, ClassCounts):
        _check_presences(table, rows, solver)
    n_classes, n_features = table.shape
    n_rows = float(rows.sum())
    if smoothing == "truncated":
        estimator = BernoulliEstimator.truncated(rows)
    else:
        alphas = check_alpha(alpha, n_features, solver=solver)
        estimator = BernoulliEstimator.laplace(rows, alphas)
    weight = n_rows + 2.0 * n_classes * float(estimator.alpha.max())
    check_range(weight, solver=solver)
    columns = gains = whole_null = None
    if isinstance(table, DeviceTable):
        assert leading is not None
        columns, table, whole_null = leading_columns(
            table, rows, estimator.alpha, leading
        )
    elif isinstance(table, np.ndarray) and leading is not None:
        found = _columns_that_may_lead(table, estimator, leading)
        if found is not None:
            columns, gains, null_value = found
            table = table[:, columns]
    if columns is not None and estimator.alpha.shape[0] > 1:
        estimator = replace(estimator, alpha=estimator.alpha[columns])
    if gains is None:
        gains, null_value = _all_gains(table, estimator, solver)
    totals = np.asarray(table.sum(axis=0)).ravel()

    def estimate(columns: NDArray[np.int64]) -> Floats:
        part = table[:, columns]
        dense = part if isinstance(table, np.ndarray) else part.toarray()
        return estimator.theta(dense, columns)

    return AdditiveProblem(
        gains=gains,
        # Constant columns say nothing; the kernel gives them gain 0 by the same rule.
        eligible=(totals > 0) & (totals < n_rows * (1 - 1e-12)),
        null_value=float(null_value if whole_null is None else whole_null),
        extra_parameters=float(n_classes - 1),
        n_rows=n_rows,
        class_shares=rows / n_rows,
        weight=weight,
        estimate=estimate,
        columns=columns,
    )


def _all_gains(
    table: Any, estimator: BernoulliEstimator, solver: str
) -> tuple[Floats, float]:
    """Gains of all columns, dense or CSC, and the value of the null model."""
    alpha = estimator.alpha
    found: tuple[Floats, float]
    if isinstance(table, np.ndarray):
        found = _core.bernoulli_gains(
            np.ascontiguousarray(table), estimator.rows, alpha, estimator.upper
        )
        return found
    if alpha.shape[0] != 1:
        raise ValueError(
            f"The 'alpha' parameter of {solver} must be one number for a table with "
            f"this many classes ({table.shape[0]}). Got an array."
        )
    found = _core.bernoulli_gains_csc(
        table.indptr.astype(np.int64),
        table.indices.astype(np.int32, copy=False),
        table.data,
        estimator.rows,
        float(alpha[0]),
        estimator.upper,
    )
    return found


def _columns_that_may_lead(
    table: Floats, estimator: BernoulliEstimator, n: int
) -> tuple[NDArray[np.int64], Floats, float] | None:
    """Columns that gain as much as the n-th best of some, theirs, and the null value.

    In order, the n best among them. None where all columns may as well be looked at.
    """
    step = min(_MOST_STEP, table.shape[1] // (n * _SAMPLED_FOR_EACH))
    if table.shape[1] < _WIDE or step < _LEAST_STEP:
        return None
    alpha = estimator.alpha
    gains, _ = _core.bernoulli_gains(
        np.ascontiguousarray(table[:, ::step]),
        estimator.rows,
        alpha if alpha.shape[0] == 1 else np.ascontiguousarray(alpha[::step]),
        estimator.upper,
    )
    least = top_k(gains, n)[1]
    if not least > 0.0:
        return None  # columns that do not vary have gain 0 as well
    found: tuple[NDArray[np.int64], Floats, float] = _core.bernoulli_columns(
        np.ascontiguousarray(table), estimator.rows, alpha, estimator.upper, least
    )
    return found


def _check_presences(table: Any, rows: Floats, solver: str) -> None:
    """Refuse a feature in more rows of a class than it has."""
    if isinstance(table, DeviceTable):
        return  # its values are looked at in the pass over it
    for c, n_c in enumerate(rows.tolist()):
        row = table[[c]]
        most = float(row.max())
        if most > n_c * (1 + 1e-12):
            column = int(np.asarray(row.argmax(axis=1)).ravel()[0])
            refuse_presences(most, c, column, rows, solver)
