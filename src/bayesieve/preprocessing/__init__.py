"""Encoders: columns of any kind turned into parts."""

from __future__ import annotations

from bayesieve.preprocessing._modl_encoder import MODLEncoder

__all__ = ["MODLEncoder"]
