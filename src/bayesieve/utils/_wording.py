"""Words that depend on a number."""

from __future__ import annotations

__all__ = ["counted"]


def counted(n: int, what: str) -> str:
    """A number with its noun, given in the plural: ``1 k-mer``, ``1,200 k-mers``."""
    return f"{n:,} {what.removesuffix('s') if n == 1 else what}"
