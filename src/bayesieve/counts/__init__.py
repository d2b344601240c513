"""Sufficient statistics: build, merge, weight, scale and save class counts."""

from __future__ import annotations

from bayesieve.counts._table import ClassCounts, count_matrix, merge_saved

__all__ = ["ClassCounts", "count_matrix", "merge_saved"]
