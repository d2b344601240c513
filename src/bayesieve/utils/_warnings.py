"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

__all__ = ["warn_user"]

_OURS = ("bayesieve", "sklearn", "joblib")


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn with the first caller outside this package and scikit-learn as the place."""
    level = 2
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _OURS:
            break
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
