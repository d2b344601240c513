"""From selected features back to text."""

from __future__ import annotations

from bayesieve.feature_extraction._vectorizer import to_vectorizer

__all__ = ["to_vectorizer"]
