"""Encoders: columns of any kind turned into parts."""

from __future__ import annotations

__all__: list[str] = []
