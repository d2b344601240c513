"""The weighted naive Bayes classifier: its criterion and its optimisers.

Everything works on arrays. `WeightProblem` is the regularised criterion CR(w), for the
optimisers `Auto`, `Convex`, `Gradient`, `MultiStart` and `VNS`; `SubsetProblem` is the
criterion F(w) of variable selection, for `Coordinate` and `Averaging`. `LinearTerms`
with `PathSolver` carry the first one to wide sparse matrices, along a path of
penalties.
"""

from __future__ import annotations

from bayesieve.weights._auto import Auto
from bayesieve.weights._averaged import AveragedResult, Averaging
from bayesieve.weights._convex import Convex
from bayesieve.weights._coordinate import Coordinate
from bayesieve.weights._criterion import (
    ColumnPrior,
    WeightProblem,
    compression_rate_of,
    feature_costs,
)
from bayesieve.weights._descent import Gradient
from bayesieve.weights._joint_terms import JointTerms
from bayesieve.weights._linear_terms import LinearTerms
from bayesieve.weights._optimizer import Optimizer
from bayesieve.weights._restarts import VNS, MultiStart, iteration_budget
from bayesieve.weights._result import OptimizerState, WeightResult
from bayesieve.weights._search import OPTIMIZERS, follow, optimizer_of, search
from bayesieve.weights._subset_criterion import SubsetProblem
from bayesieve.weights._terms import DenseTerms, PartTerms
from bayesieve.weights._weight_path import PathSolver, WeightPath, geometric_grid

__all__ = [
    "OPTIMIZERS",
    "VNS",
    "Auto",
    "AveragedResult",
    "Averaging",
    "ColumnPrior",
    "Convex",
    "Coordinate",
    "DenseTerms",
    "Gradient",
    "JointTerms",
    "LinearTerms",
    "MultiStart",
    "Optimizer",
    "OptimizerState",
    "PartTerms",
    "PathSolver",
    "SubsetProblem",
    "WeightPath",
    "WeightProblem",
    "WeightResult",
    "compression_rate_of",
    "feature_costs",
    "follow",
    "geometric_grid",
    "iteration_budget",
    "optimizer_of",
    "search",
]
