"""Displays of fitted estimators; matplotlib is imported when one is drawn."""

from __future__ import annotations

from bayesieve.inspection._partition_display import PartitionDisplay
from bayesieve.inspection._weight_history_display import WeightHistoryDisplay

__all__ = ["PartitionDisplay", "WeightHistoryDisplay"]
