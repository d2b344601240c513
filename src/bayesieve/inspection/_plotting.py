"""What the displays share: matplotlib on demand, and shades that print well."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.utils._optional import optional_module

__all__ = [
    "ACCENT",
    "SECOND",
    "axes_of",
    "bar_styles",
    "class_shades",
    "clipped",
    "count_axis",
    "grid_of_panels",
    "line_styles",
    "mark",
    "no_formulas",
    "panels",
    "short_name",
    "spread_labels",
]

_HATCHES = ("", "//", "..", "\\\\", "xx", "oo", "--", "++")
_LONGEST_NAME = 32
_DASHES = ("-", "--", "-.")

#: Dark and middle: told apart by lightness alone, and by people who see no red.
ACCENT, SECOND = "#1b3a6b", "#c2571a"


def _pyplot() -> Any:
    """Matplotlib, which is optional and loaded by the first picture."""
    return optional_module("matplotlib.pyplot", purpose="Drawing", extra="plot")


def axes_of(ax: Any, *, width: float, height: float) -> Any:
    """The given axes, or new ones of a size in inches."""
    plt = _pyplot()
    if ax is not None:
        return ax
    figure, ax = plt.subplots(figsize=(width, height), layout="constrained")
    _give_room(figure)
    return ax


def _give_room(figure: Any) -> None:
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


def bar_styles(positive: np.ndarray) -> list[dict[str, Any]]:
    """Dark bars for one sign, light hatched ones for the other."""
    dark = {"facecolor": ACCENT, "edgecolor": ACCENT}
    light = {"facecolor": "#f2d5c4", "edgecolor": SECOND, "hatch": "////"}
    return [dark if sign else light for sign in positive.tolist()]


def line_styles(n_lines: int) -> list[dict[str, Any]]:
    """A lightness and a dash for each line, so that neighbours differ in both."""
    from matplotlib import colormaps

    shades = colormaps["viridis"](np.linspace(0.0, 0.85, max(n_lines, 2)))
    return [
        {"color": shades[i], "linestyle": _DASHES[i % len(_DASHES)]}
        for i in range(n_lines)
    ]


def panels(heights: list[float], *, width: float) -> list[Any]:
    """Axes of one figure below each other, with a common x."""
    plt = _pyplot()
    figure, axes = plt.subplots(
        len(heights),
        1,
        sharex=True,
        figsize=(width, sum(heights)),
        height_ratios=heights,
        layout="constrained",
        squeeze=False,
    )
    _give_room(figure)
    return list(axes[:, 0])


def grid_of_panels(number: int, *, across: int, side: float) -> list[Any]:
    """So many axes of one figure in rows, each about square."""
    plt = _pyplot()
    columns = min(number, across)
    lines = -(-number // columns)
    figure, axes = plt.subplots(
        lines,
        columns,
        figsize=(side * columns + 1.2, side * lines + 0.5),
        layout="constrained",
        squeeze=False,
    )
    _give_room(figure)
    found = list(axes.reshape(-1))
    for spare in found[number:]:
        spare.remove()
    return found[:number]


def short_name(name: str) -> str:
    """A feature's name in one short line."""
    name = " ".join(name.split()) or repr(name)
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def no_formulas(texts: Any) -> None:
    """Names are text: a dollar sign in one must not begin a formula."""
    for text in texts:
        text.set_parse_math(False)


def clipped(values: np.ndarray) -> np.ndarray:
    """Infinite weights drawn a little longer than the longest finite one."""
    finite = np.isfinite(values)
    if finite.all():
        return values
    longest = float(np.abs(values[finite]).max(initial=0.0)) or 1.0
    return np.where(finite, values, np.sign(values) * 1.25 * longest)


def spread_labels(wanted: np.ndarray, gap: float, low: float, high: float) -> Any:
    """Places for labels near the wanted ones, at least a gap apart, within limits.

    Groups of labels that would touch are spread around their common middle.
    """
    order = np.argsort(wanted, kind="stable")
    groups: list[list[float]] = []  # sum of wanted - offset, size
    for value in wanted[order]:
        groups.append([float(value), 1.0])
        while len(groups) > 1 and _start(groups[-1], gap) < _end(groups[-2], gap) + gap:
            total, size = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += size
    placed = np.concatenate(
        [_start(g, gap) + gap * np.arange(int(g[1])) for g in groups] or [np.empty(0)]
    )
    # Whatever is left over at the top is pushed down, and at the bottom up again.
    steps = gap * np.arange(placed.shape[0])
    placed = np.minimum(placed, high - steps[::-1])
    placed = np.maximum(placed, low + steps)
    result = np.empty_like(placed)
    result[order] = placed
    return result


def _start(group: list[float], gap: float) -> float:
    return group[0] / group[1] - gap * (group[1] - 1) / 2


def _end(group: list[float], gap: float) -> float:
    return group[0] / group[1] + gap * (group[1] - 1) / 2
