"""The picture of a path over k, for the path itself and for its display."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.utils._optional import optional_module

__all__ = [
    "ACCENT",
    "SECOND",
    "axes_of",
    "count_axis",
    "draw_path",
    "give_room",
    "mark",
    "pyplot",
]

#: Dark and middle: told apart by lightness alone, and by people who see no red.
ACCENT, SECOND = "#1b3a6b", "#c2571a"


def pyplot() -> Any:
    """Matplotlib, which is optional and loaded by the first picture."""
    return optional_module("matplotlib.pyplot", purpose="Drawing", extra="plot")


def axes_of(ax: Any, *, width: float, height: float) -> Any:
    """The given axes, or new ones of a size in inches."""
    plt = pyplot()
    if ax is not None:
        return ax
    figure, ax = plt.subplots(figsize=(width, height), layout="constrained")
    give_room(figure)
    return ax


def give_room(figure: Any) -> None:
    """A margin around everything, so that a saved picture can stand beside text."""
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1)


def count_axis(ax: Any, largest: float, smallest: float) -> None:
    """A logarithmic x axis of counts, written as people write numbers."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    ax.set_xscale("log")
    steps = (1.0, 2.0, 5.0) if largest < 300 * max(smallest, 1.0) else (1.0,)
    ax.xaxis.set_major_locator(LogLocator(subs=steps))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def draw_path(
    ax: Any,
    k: np.ndarray,
    gain: np.ndarray,
    bound: np.ndarray,
    *,
    elbow: int,
    bic: int | None,
) -> Any:
    """Draw gain and bound against k with elbow and BIC marked; returns the axes.

    The elbow is the point highest above the chord of the path; the chord is bent here
    because k has a logarithmic axis.
    """
    if (bound - gain).max() > 1e-6 * gain.max():  # else there is nothing to see
        ax.fill_between(k, gain, bound, color="0.85", label="what is not proven")
        ax.plot(k, bound, color="0.45", linestyle="--", label="bound")
    ax.plot(k, gain, color=ACCENT, linewidth=2, label="best support found")
    run = max(int(k[-1] - k[0]), 1)
    chord = gain[0] + (gain[-1] - gain[0]) * (k - k[0]) / run
    ax.plot(k, chord, color="0.6", linestyle=":", linewidth=1, label="chord")
    at = int(np.searchsorted(k, elbow))
    ax.vlines(k[at], chord[at], gain[at], color=SECOND, linewidth=1)
    mark(ax, elbow, gain[at], "o", f"elbow, k = {elbow:,}")
    if bic is not None:
        mark(ax, bic, gain[np.searchsorted(k, bic)], "s", f"least BIC, k = {bic:,}")
    count_axis(ax, float(k[-1]), float(k[0]))
    ax.set_ylim(bottom=0)
    if gain.max() >= 10:
        ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel("number of features k")
    ax.set_ylabel("gain in log-likelihood (nats)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper left", fontsize="small")
    return ax


def mark(ax: Any, x: float, y: float, marker: str, label: str) -> None:
    """Mark one point; shapes differ, so that black and white is enough."""
    ax.plot(
        [x],
        [y],
        marker,
        color=SECOND,
        markeredgecolor="white",
        markersize=8,
        linestyle="none",
        label=label,
        zorder=4,
    )
