"""Dask and Spark: count a piece, add up."""

from __future__ import annotations
