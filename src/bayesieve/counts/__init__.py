"""Sufficient statistics: build, merge, weight, scale and save class counts."""

from __future__ import annotations

from bayesieve.counts._replicates import ReplicateCounts, replicate_counts
from bayesieve.counts._strata import StratifiedCounts
from bayesieve.counts._table import ClassCounts, count_matrix, merge_saved

__all__ = [
    "ClassCounts",
    "ReplicateCounts",
    "StratifiedCounts",
    "count_matrix",
    "merge_saved",
    "replicate_counts",
]
