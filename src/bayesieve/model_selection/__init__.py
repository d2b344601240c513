"""The one place that chooses by held-out rows: splits, scores, best and sparsest."""

from __future__ import annotations

from bayesieve.model_selection._choice import Choice, choose, cv_results
from bayesieve.model_selection._scoring import HeldOutScorer
from bayesieve.model_selection._splits import Split, splits_of
from bayesieve.model_selection._stability import StabilitySelection

__all__ = [
    "Choice",
    "HeldOutScorer",
    "Split",
    "StabilitySelection",
    "choose",
    "cv_results",
    "splits_of",
]
