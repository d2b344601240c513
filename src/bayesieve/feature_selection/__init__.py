"""Selectors: which features matter, and how sure that is."""

from __future__ import annotations

from bayesieve.feature_selection._naive import NaiveFeatureSelector

__all__ = ["NaiveFeatureSelector"]
