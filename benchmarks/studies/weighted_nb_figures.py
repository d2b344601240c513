"""Figures of the weighted naive Bayes studies; readable without colour."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

# Okabe and Ito's colours, of different lightness; dashes and markers say the same.
INK = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v")


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update(
        {
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "#dddddd",
            "grid.linewidth": 0.6,
            "axes.axisbelow": True,
            "legend.frameon": False,
        }
    )
    return pyplot


def _save(figure: Any, path: Path) -> None:
    from PIL import Image  # matplotlib needs it as well

    figure.savefig(path, dpi=120)
    _pyplot().close(figure)
    with Image.open(path) as drawn:
        few = drawn.convert("RGB").quantize(32)  # a third of the bytes
    few.save(path, optimize=True)


def train_and_test(
    labels: Sequence[str],
    train: Sequence[float],
    test: Sequence[float],
    title: str,
    path: Path,
) -> None:
    """Draw Figure 1.1: two marks a method, on one line each."""
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(figsize=(7, 3.4), layout="constrained")
    at = np.arange(len(labels))[::-1]
    axes.hlines(at, test, train, color="#999999", lw=1.5, zorder=1)
    marks = {"s": 70, "zorder": 2, "edgecolor": INK[0], "linewidth": 1.2}
    axes.scatter(train, at, marker="o", color=INK[2], label="train", **marks)
    axes.scatter(test, at, marker="D", color="white", label="test", **marks)
    for values, side, shift in ((train, "left", 8), (test, "right", -8)):
        for value, height in zip(values, at, strict=True):
            axes.annotate(
                f"{value:.4f}",
                (value, height),
                (shift, 0),
                textcoords="offset points",
                va="center",
                ha=side,
                fontsize=9,
            )
    axes.set_yticks(at, labels)
    axes.set(xlabel="mean compression rate", title=title)
    axes.margins(x=0.22, y=0.12)
    axes.grid(axis="y", visible=False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    _save(figure, path)


class Path2D(NamedTuple):
    """One convergence path: values by iteration, and the best value so far."""

    label: str
    value: np.ndarray
    best: np.ndarray


def convergence(
    paths: Sequence[Path2D], optimum: float, title: str, path: Path, *, best: bool
) -> None:
    """Draw Figures 1.2 and 1.3: distance to the optimum on a logarithmic axis.

    With `best`, a second panel shows the best value so far.
    """
    pyplot = _pyplot()
    panels = 2 if best else 1
    figure, many = pyplot.subplots(
        1,
        panels,
        figsize=(4.8 * panels + (1.6 if panels == 1 else 0), 3.8),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for panel, axes in enumerate(many[0]):
        for at, one in enumerate(paths):
            values = np.maximum((one.best if panel else one.value) - optimum, 1e-6)
            # Restarts begin with the single descent: it lies broad below them.
            below = best and at == 0
            axes.plot(
                np.arange(1, values.shape[0] + 1),
                values,
                color="#aaaaaa" if below else INK[at],
                ls=DASHES[at],
                lw=5.0 if below else 2.0 if panel or not best else 1.2,
                label=one.label,
            )
        axes.set(yscale="log", xlabel="iteration")
        if best:
            axes.set_title("best so far" if panel else "this iteration", fontsize=10)
    many[0, 0].set_ylabel("criterion above its minimum\n(nats per row)")
    many[0, -1].legend()
    figure.suptitle(title, fontsize=11)
    _save(figure, path)


class Panel(NamedTuple):
    """One measure over exponents: a line for each regularisation, and levels."""

    label: str
    lines: dict[str, Sequence[float]]
    levels: dict[str, float]


def by_exponent(
    panels: Sequence[Panel], exponents: Sequence[float], title: str, path: Path
) -> None:
    """Draw Figures 1.4 and 1.5: exponents across, a line for each lambda."""
    pyplot = _pyplot()
    figure, many = pyplot.subplots(
        1, len(panels), figsize=(4.6 * len(panels), 4.2), layout="constrained"
    )
    at = np.arange(len(exponents))
    for axes, panel in zip(many, panels, strict=True):
        for number, (label, values) in enumerate(panel.lines.items()):
            axes.plot(
                at,
                values,
                color=INK[1 + number],
                ls=DASHES[number],
                marker=MARKERS[number],
                ms=8,
                mec="black",
                label=label,
            )
        for number, (label, value) in enumerate(panel.levels.items()):
            style = ("-", (0, (1, 2)))[number]
            axes.axhline(value, color="black", lw=1.4, ls=style, label=label)
        axes.set_xticks(at, [f"{p:g}" for p in exponents])
        axes.set(xlabel="exponent p", title=panel.label)
        axes.margins(x=0.12, y=0.1)
    handles, labels = many[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    figure.suptitle(title, fontsize=11)
    _save(figure, path)
