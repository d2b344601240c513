"""MODL: Bayes-optimal intervals and groups of values, from class counts alone."""

from __future__ import annotations

__all__: list[str] = []
