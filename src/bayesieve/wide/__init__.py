"""Screening, then weights: what the wide classifiers and the refined selector share.

Counts say which columns may matter (`screen`), rows say how far each is to be believed
(`fit_wide`). Everything works on matrices and arrays; the estimators are above.
"""

from __future__ import annotations

from bayesieve.wide._candidates import Candidates, screen
from bayesieve.wide._chunked import RowChunks, fit_chunks
from bayesieve.wide._fit import (
    WideData,
    WideFit,
    WideSettings,
    fit_wide,
    screened,
    warn_if_unfinished,
)
from bayesieve.wide._refine import refined_support, weights_win

__all__ = [
    "Candidates",
    "RowChunks",
    "WideData",
    "WideFit",
    "WideSettings",
    "fit_chunks",
    "fit_wide",
    "refined_support",
    "screen",
    "screened",
    "warn_if_unfinished",
    "weights_win",
]
