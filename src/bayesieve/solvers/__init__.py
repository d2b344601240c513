"""Pure functions from counts to supports: no estimators, no data, no printing."""

from __future__ import annotations

from bayesieve.solvers._alternatives import Alternatives, near_optimal_supports
from bayesieve.solvers._bernoulli import solve_bernoulli
from bayesieve.solvers._certificate import Certificate, Solution
from bayesieve.solvers._multinomial import solve_multinomial
from bayesieve.solvers._path import SparsityPath, sparsity_path
from bayesieve.solvers._reconstruction import Reconstruction, reconstruct_published
from bayesieve.solvers._strata import stratified_gains

__all__ = [
    "Alternatives",
    "Certificate",
    "Reconstruction",
    "Solution",
    "SparsityPath",
    "near_optimal_supports",
    "reconstruct_published",
    "solve_bernoulli",
    "solve_multinomial",
    "sparsity_path",
    "stratified_gains",
]
