"""Sparse categorical naive Bayes: closed form, exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from bayesieve.counts import ClassCounts
from bayesieve.solvers._additive import AdditiveProblem
from bayesieve.solvers._inputs import check_alpha, check_range
from bayesieve.solvers._logs import Floats, divergence

__all__ = ["categorical_problem"]


def categorical_problem(counts: Any, alpha: Any, *, solver: str) -> AdditiveProblem:
    """Gains of all columns, ready for any k: n times the mutual information.

    With V_i values, ``F = f + alpha`` and ``N_ci = n_c + V_i alpha`` the gain is
    ``sum_c,v F log(F N_i / (N_ci G_iv))``, a sum of divergences of F from
    ``N_ci G_iv / N_i``. A column with a single value is not eligible.
    """
    if not isinstance(counts, ClassCounts) or counts.kind != "category":
        kind = counts.kind if isinstance(counts, ClassCounts) else type(counts).__name__
        raise ValueError(f"{solver} needs counts of kind 'category'. Got {kind!r}.")
    if np.ndim(alpha) > 0:
        raise ValueError(
            f"The 'alpha' parameter of {solver} must be one number >= 0 under the "
            f"categorical model. Got an array of shape {np.shape(alpha)}."
        )
    smoothing = float(check_alpha(alpha, 1, solver=solver)[0])
    rows = counts.class_count
    n = float(rows.sum())
    assert counts.n_categories is not None
    sizes: NDArray[np.int64] = counts.n_categories
    starts = np.cumsum(sizes) - sizes
    table = counts.feature_count
    if not isinstance(table, np.ndarray):
        # K x (values of all columns) bytes x 8; many classes and many values at once
        # are the one case in which the categorical model needs the whole table.
        table = table.toarray()
    raw_totals = table.sum(axis=0)
    totals = raw_totals + rows.shape[0] * smoothing
    all_rows = n + rows.shape[0] * smoothing * sizes
    weight = float(all_rows.max(initial=n))
    check_range(weight, solver=solver)
    pooled = totals / np.repeat(all_rows, sizes)
    cell_gains = np.zeros(table.shape[1])
    for c in range(rows.shape[0]):
        cells = table[c] + smoothing
        class_rows = np.repeat(rows[c] + smoothing * sizes, sizes)
        cell_gains += divergence(cells, class_rows * pooled)
    gains = np.add.reduceat(cell_gains, starts)
    eligible = np.add.reduceat((raw_totals > 0).astype(np.int64), starts) >= 2
    gains = np.where(eligible, gains, 0.0)
    present = int((rows > 0).sum())

    def estimate(columns: NDArray[np.int64]) -> Floats:
        # One block of V_i estimates for each selected column, side by side.
        part = sizes[columns]
        flat = np.repeat(starts[columns] - np.cumsum(part) + part, part) + np.arange(
            int(part.sum())
        )
        denominator = rows[:, None] + smoothing * np.repeat(part, part)
        result: Floats = np.divide(
            table[:, flat] + smoothing,
            denominator,
            out=np.full((rows.shape[0], flat.shape[0]), np.nan),
            where=denominator > 0,
        )
        return result

    return AdditiveProblem(
        gains=gains,
        eligible=eligible,
        null_value=float(xlogy(totals, pooled).sum()),
        extra_parameters=((sizes - 1) * (present - 1)).astype(np.float64),
        n_rows=n,
        class_shares=rows / n,
        weight=weight,
        estimate=estimate,
    )
