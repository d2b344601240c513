"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

from bayesieve.exceptions import SmallWeightsWarning

__all__ = ["warn_of_small_weights", "warn_user"]

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


def warn_of_small_weights(total: float, n_rows: int) -> None:
    """Say that weights count as rows where the number of rows matters."""
    if total < 0.1 * n_rows:
        warn_user(
            f"sample_weight adds up to {total:g} over {n_rows} rows. Weights count as "
            "rows, and size and estimates depend on how many there are. "
            "Hint: scale the weights to add up to the number of rows.",
            SmallWeightsWarning,
        )
