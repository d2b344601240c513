"""Displays of fitted estimators; matplotlib is imported when one is drawn."""

from __future__ import annotations

__all__: list[str] = []
