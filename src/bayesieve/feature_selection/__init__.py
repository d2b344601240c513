"""Selectors: which features matter, and how sure that is."""

from __future__ import annotations

from bayesieve.feature_selection._naive import NaiveFeatureSelector
from bayesieve.feature_selection._screening import (
    FDRScreener,
    L0Screener,
    L1Screener,
    PearsonScreener,
)

__all__ = [
    "FDRScreener",
    "L0Screener",
    "L1Screener",
    "NaiveFeatureSelector",
    "PearsonScreener",
]
