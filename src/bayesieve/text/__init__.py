"""Texts to terms: options, analysis, counting, matching."""

from __future__ import annotations
