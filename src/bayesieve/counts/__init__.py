"""Sufficient statistics: build, merge, weight, scale and save class counts."""

from __future__ import annotations

from bayesieve.counts._class_sums import class_sums
from bayesieve.counts._device_sums import ClassSums
from bayesieve.counts._replicates import ReplicateCounts, replicate_counts
from bayesieve.counts._strata import StratifiedCounts
from bayesieve.counts._table import ClassCounts, count_matrix, merge_saved

__all__ = [
    "ClassCounts",
    "ClassSums",
    "ReplicateCounts",
    "StratifiedCounts",
    "class_sums",
    "count_matrix",
    "merge_saved",
    "replicate_counts",
]
