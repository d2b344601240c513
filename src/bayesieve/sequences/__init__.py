"""Sequences and bytes to keys: how windows are spelled, read, named and found."""

from __future__ import annotations

from bayesieve.sequences._reading import read_records

__all__ = ["read_records"]
