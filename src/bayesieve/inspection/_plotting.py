"""What the displays share: matplotlib on demand, and greys that print well."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["axes_of", "class_shades"]

_HATCHES = ("", "//", "..", "\\\\", "xx", "oo", "--", "++")


def axes_of(ax: Any, *, width: float, height: float) -> Any:
    """The given axes, or new ones of a size in inches."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Displays need matplotlib. Hint: pip install 'bayesieve[plot]'."
        ) from error
    if ax is not None:
        return ax
    _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def class_shades(n_classes: int) -> list[dict[str, Any]]:
    """Fill of each class: a colour of its own lightness, and a hatch after eight."""
    from matplotlib import colormaps

    shades = colormaps["viridis"](np.linspace(0.12, 0.92, max(n_classes, 2)))
    return [
        {
            "facecolor": shades[c],
            "hatch": _HATCHES[(c // 8) % len(_HATCHES)],
            "edgecolor": "white",
            "linewidth": 0.8,
        }
        for c in range(n_classes)
    ]
