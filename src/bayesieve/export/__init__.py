"""Fitted models where data are: in SQL, and in whatever else reads a scorecard."""

from __future__ import annotations

from bayesieve.export._scorecard import read_columns, scorecard_of

__all__ = ["read_columns", "scorecard_of"]
