"""Fitted models where data are: in SQL, and in whatever else reads a scorecard."""

from __future__ import annotations

from bayesieve.export._scorecard import read_columns, scorecard_of
from bayesieve.export._sql import to_sql

__all__ = ["read_columns", "scorecard_of", "to_sql"]
