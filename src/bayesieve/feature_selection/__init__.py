"""Selectors: which features matter, and how sure that is."""

from __future__ import annotations

from bayesieve.feature_selection._fdr_screener import FDRScreener
from bayesieve.feature_selection._interactions import (
    Interactions,
    screen_interactions,
)
from bayesieve.feature_selection._l0_screener import L0Screener
from bayesieve.feature_selection._l1_screener import L1Screener
from bayesieve.feature_selection._mixed import MixedScreener
from bayesieve.feature_selection._naive import NaiveFeatureSelector
from bayesieve.feature_selection._pearson_screener import PearsonScreener
from bayesieve.feature_selection._rank_genes_groups import to_rank_genes_groups
from bayesieve.feature_selection._stability import (
    stability_from_counts,
    stability_selection,
)

__all__ = [
    "FDRScreener",
    "Interactions",
    "L0Screener",
    "L1Screener",
    "MixedScreener",
    "NaiveFeatureSelector",
    "PearsonScreener",
    "screen_interactions",
    "stability_from_counts",
    "stability_selection",
    "to_rank_genes_groups",
]
