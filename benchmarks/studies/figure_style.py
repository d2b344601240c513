"""The look of the studies' figures: one palette, plain axes, one way to save."""

from __future__ import annotations

from pathlib import Path
from typing import Any

# Okabe and Ito: told apart by everybody, in print as well.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, YELLOW, BLACK = "#CC79A7", "#56B4E9", "#F0E442", "#000000"
GREY = "#8A8A8A"


def new_figure(
    rows: int = 1, columns: int = 1, *, width: float = 7.0, height: float = 4.2
) -> tuple[Any, Any]:
    """Return a figure without a window and its axes, as `plt.subplots` does."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        rows, columns, figsize=(width, height), layout="constrained"
    )
    for one in figure.axes:
        one.spines[["top", "right"]].set_visible(False)
        one.grid(True, linewidth=0.5, alpha=0.35)
        one.set_axisbelow(True)
    return figure, axes


def save(figure: Any, path: Path) -> None:
    """Write a figure as PNG, the same bytes for the same content, and close it."""
    import matplotlib.pyplot as plt

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)
