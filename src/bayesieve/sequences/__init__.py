"""Sequences and bytes to keys: how windows are spelled, read, named and found."""

from __future__ import annotations
