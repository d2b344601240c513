"""The papers' own way from the relaxation to a support: a linear program.

Proposition 3.10 of Askari et al.: at the optimal class shares, the second dual has a
solution x in [0, 1]^m that a linear program with a random objective finds at a vertex,
so that at most four entries (K + 2 for K classes) are fractional. Proposition 3.8
rounds those up, which gives a support of at most k + 4 features whose value lies
between phi(k) and phi(k + 4). `solve_multinomial` does better; this stands beside it
for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from bayesieve.solvers._inputs import check_size
from bayesieve.solvers._logs import Floats, log_ratio
from bayesieve.solvers._multinomial import multinomial_problem

__all__ = ["Reconstruction", "reconstruct_published"]

#: Entries of the vertex closer than this to 0 or 1 count as binary.
_BINARY_TOLERANCE = 1e-7


@dataclass(frozen=True)
class Reconstruction:
    """Outcome of the linear program.

    Attributes
    ----------
    weights : ndarray
        x of the second dual for each candidate column in `columns`; 0 elsewhere.
    columns : ndarray of int64
        Candidate columns: all that can have a positive weight.
    fractional : ndarray of int64
        Columns whose weight is neither 0 nor 1, at most K + 2.
    support : ndarray of int64
        Columns with weight 1, and the fractional ones rounded up.
    objective : float
        Log-likelihood of that support.
    relaxation_bound : float
        psi(k).
    """

    weights: Floats
    columns: NDArray[np.int64]
    fractional: NDArray[np.int64]
    support: NDArray[np.int64]
    objective: float
    relaxation_bound: float


def reconstruct_published(
    counts: Any,
    k: int,
    *,
    alpha: float | Floats = 1.0,
    random_state: int = 0,
) -> Reconstruction:
    """Round a vertex of the papers' linear program to at most k + K + 2 features.

    Parameters
    ----------
    counts : ClassCounts or array of shape (n_classes, n_features)
    k : int
    alpha : float or array, default=1.0
    random_state : int, default=0
        Seed of the random objective that picks the vertex.
    """
    k = check_size(k, solver="reconstruct_published")
    problem = multinomial_problem(counts, alpha, solver="reconstruct_published")
    k = min(k, problem.n_nonempty)
    block, relaxation = problem.relaxation(k)
    shares = relaxation.shares
    assert shares is not None
    h = block.gains(log_ratio(shares, block.anchor))
    # Second dual, multiplied out at the optimal p: choose x with 1'x <= k and
    # sum_i x_i f_ci proportional to p_c (stationarity), with sum_i x_i h_i = psi(k).
    # In the papers' variables theta this is (34) with mu = S p: the two normalisation
    # rows read sum_i x_i (f_ci / p_c - G_i) <= 0.
    f = block.counts if block.alpha is None else block.counts.toarray() + block.alpha
    totals = f.sum(axis=0)
    living = shares > 0
    normalisation = (f[living] / shares[living, None] - totals) / totals.max()
    value = relaxation.upper
    rng = np.random.default_rng(random_state)
    scale = max(value, np.finfo(np.float64).tiny)
    direction = rng.standard_normal(len(block))
    # psi is flat around its minimum: where its value is known to 1e-11, p is known to
    # the root of that, and no point may be stationary to more digits.
    for slack in (1e-9, 1e-7, 1e-5):
        program = linprog(
            direction,
            A_ub=np.vstack([normalisation, np.ones(len(block)), -h / scale]),
            b_ub=np.concatenate([np.full(int(living.sum()), slack), [k, slack - 1.0]]),
            bounds=(0.0, 1.0),
            method="highs-ds",
            options={"presolve": False},
        )
        if program.x is not None:
            break
    if program.x is None:
        raise ValueError(
            f"The linear program of the reconstruction failed for k={k}: "
            f"{program.message}"
        )
    x = np.clip(program.x, 0.0, 1.0)
    fractional = (x > _BINARY_TOLERANCE) & (x < 1 - _BINARY_TOLERANCE)
    chosen = np.flatnonzero(x > _BINARY_TOLERANCE)
    return Reconstruction(
        weights=x,
        columns=block.columns,
        fractional=block.columns[fractional],
        support=np.sort(block.columns[chosen]),
        objective=problem.null_value + block.gain_of(chosen)[0],
        relaxation_bound=problem.null_value + relaxation.upper,
    )
