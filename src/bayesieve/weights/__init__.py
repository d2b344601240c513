"""The weighted naive Bayes classifier: its criterion and its optimisers.

Everything works on arrays. `WeightProblem` is the regularised criterion CR(w), for
`convex`, `descend`, `multistart` and `vns`; `SubsetProblem` is the criterion F(w) of
variable selection, for `coordinate` and `averaged`. `LinearTerms` with `PathSolver`
carry the first one to wide sparse matrices, along a path of penalties.
"""

from __future__ import annotations

from bayesieve.weights._averaged import AveragedResult, averaged
from bayesieve.weights._convex import convex
from bayesieve.weights._coordinate import coordinate
from bayesieve.weights._criterion import (
    WeightProblem,
    compression_rate_of,
    variable_costs,
)
from bayesieve.weights._descent import descend
from bayesieve.weights._linear_terms import LinearTerms
from bayesieve.weights._restarts import iteration_budget, multistart, vns
from bayesieve.weights._result import OptimizerState, WeightResult
from bayesieve.weights._subset_criterion import SubsetProblem
from bayesieve.weights._terms import DenseTerms, PartTerms
from bayesieve.weights._weight_path import PathSolver, WeightPath, geometric_grid

__all__ = [
    "AveragedResult",
    "DenseTerms",
    "LinearTerms",
    "OptimizerState",
    "PartTerms",
    "PathSolver",
    "SubsetProblem",
    "WeightPath",
    "WeightProblem",
    "WeightResult",
    "averaged",
    "compression_rate_of",
    "convex",
    "coordinate",
    "descend",
    "geometric_grid",
    "iteration_budget",
    "multistart",
    "variable_costs",
    "vns",
]
