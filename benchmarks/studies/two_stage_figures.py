"""Figures of two_stage.py: accuracy against the seconds of the selection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from figure_style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    YELLOW,
    new_figure,
    save,
)
from text_vectors import TITLES, VECTORS
from two_stage_models import STAGE_2
from two_stage_selectors import SELECTORS
from two_stage_tables import PERCENTS, SHOWN, Results

LOOKS = {
    "likelihood": (BLUE, "*"),
    "refined": (RED, "*"),
    "presence": (SKY, "*"),
    "presence_refined": (ORANGE, "*"),
    "published": (SKY, "s"),
    "tmnb": (GREY, "v"),
    "odds_ratio": (GREY, "^"),
    "chi2": (GREEN, "o"),
    "mutual_information": (GREEN, "D"),
    "l1_logistic": (ORANGE, "o"),
    "l1_saga": (ORANGE, "s"),
    "l1_svm": (PURPLE, "o"),
    "lasso": (YELLOW, "o"),
    "rfe_logistic": (ORANGE, "P"),
    "rfe_svm": (PURPLE, "P"),
    "abess": (BLACK, "x"),
    "mrmr": (BLACK, "+"),
}


def panel(
    axes: Any, results: Results, data: str, vector: str, percent: float, stage_2: str
) -> dict[str, Any]:
    """Draw one panel and return its handles by label."""
    handles = {}
    for selector in SELECTORS:
        cell = results.cell(data, vector, selector.name, percent, stage_2)
        seconds = results.seconds(data, vector, selector.name, percent)
        if cell is None or seconds is None:
            continue
        colour, marker = LOOKS[selector.name]
        star = selector.side == "ours"
        handles[selector.label] = axes.errorbar(
            [seconds],
            [100 * cell.mean],
            yerr=[100 * cell.error],
            color=colour,
            marker=marker,
            markersize=12 if star else 6,
            markeredgecolor=BLACK if marker not in "x+" else colour,
            markeredgewidth=0.5 if marker not in "x+" else 1.6,
            linestyle="none",
            elinewidth=1,
            zorder=4 if star else 3,
        )
    axes.set_xscale("log")
    return handles


def grid(
    results: Results, rows: list[tuple[str, str, float]], stage_2: str, title: str
) -> Any:
    """Return a figure: a row for each (label, vector, share), a column for each set."""
    sets = results.sets()
    figure, axes = new_figure(
        len(rows), len(sets), width=2.9 * len(sets), height=1.2 + 2.3 * len(rows)
    )
    shaped = [[axes]] if len(figure.axes) == 1 else axes.reshape(len(rows), len(sets))
    handles: dict[str, Any] = {}
    for line, (label, vector, percent) in zip(shaped, rows, strict=True):
        for one, data in zip(line, sets, strict=True):
            handles |= panel(one, results, data, vector, percent, stage_2)
        line[0].set_ylabel(f"{label}\naccuracy, %")
    for one, data in zip(shaped[0], sets, strict=True):
        one.set_title(TITLES[data])
    for one in shaped[-1]:
        one.set_xlabel("seconds to select")
    order = [s.label for s in SELECTORS if s.label in handles]
    figure.legend(
        [handles[name] for name in order],
        order,
        loc="outside lower center",
        ncols=5,
        frameon=False,
    )
    figure.suptitle(title)
    return figure


def draw(folder: Path) -> None:
    """Write the figures of every stage 2."""
    results = Results(folder)
    for stage_2, label in STAGE_2.items():
        shares = [(f"{p:g} % of the words", "count", p) for p in PERCENTS]
        title = (
            f"Accuracy of {label} on the selected words against the time to select\n"
            "them (count vectors; of l1 methods one fit, no search for the penalty)"
        )
        save(grid(results, shares, stage_2, title), folder / f"figure_{stage_2}.png")
        kinds = [(VECTORS[v], v, SHOWN) for v in results.vectors()]
        title = (
            f"Accuracy of {label} on {SHOWN:g} % of the features against the time to "
            "select them,\nfour feature vectors"
        )
        path = folder / f"figure_{stage_2}_vectors.png"
        save(grid(results, kinds, stage_2, title), path)
