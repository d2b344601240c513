"""How the pictures of the gallery look: nothing cut off, no frame."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl


def reset(gallery_conf: Any, script: str) -> None:
    """Called before each script, after matplotlib's own settings are restored."""
    mpl.rcParams.update(
        {
            "savefig.bbox": "tight",
            "figure.dpi": 110,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )
