"""The weighted naive Bayes classifier: its criterion and its optimisers."""

from __future__ import annotations

__all__: list[str] = []
