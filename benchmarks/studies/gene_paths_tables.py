"""Page and figure of gene_paths.py, made from its results alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from figure_style import BLUE, GREEN, GREY, ORANGE, RED, new_figure, save
from gene_sets import SETS, VALUES
from ledger import markdown, read_parts
from study_run import surroundings_line

STUDY = "gene_paths"
SHARES = (1.0, 5.0, 10.0, 50.0)  # percent of the columns
FLAT, SIMILAR = 0.99, 0.9  # shares of the gain that stand for the paper's words
GAINS = (90.0, 95.0, 99.0, 99.9)  # percent of the full gain
COLOURS = {
    "multinomial, as they are": BLUE,
    "multinomial, shifted": BLUE,
    "multinomial, powers": ORANGE,
    "Gaussian, class variance": GREEN,
    "Gaussian, pooled variance": RED,
}
LABELS = {
    "multinomial, as they are": "multinomial (values, or shifted)",
    "multinomial, shifted": "multinomial (values, or shifted)",
    "multinomial, powers": "multinomial (powers of logarithms)",
    "Gaussian, class variance": "Gaussian, variance by class",
    "Gaussian, pooled variance": "Gaussian, pooled variance",
}

HEAD = """# Experiment 5: objective and accuracy against k on gene expressions

Written by `gene_paths_tables.py` from the results beside it. A support's gain is its
training log-likelihood over that of the model without features; "share" is the share of
the gain of all features. Multinomial with alpha = 1, every size solved to its proven
gap; the Gaussian model is exact. Accuracy: {folds} stratified folds, {repeats} times,
features chosen inside each fold; behind ± the standard error over rows (each with its
mean over the repetitions). "All": plain naive Bayes with every gene. How counts are
made:

{values}

{around}
"""


def models(units: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the models of one set that are stored."""
    start = f"{name}: "
    return {
        key.removeprefix(start): unit
        for key, unit in units.items()
        if key.startswith(start) and key != f"{name}: set"
    }


def names_of(units: dict[str, Any]) -> list[str]:
    """Return the sets that have a path, in the order of `SETS`."""
    return [name for name in SETS if models(units, name)]


def at(folds: dict[str, Any], k: int) -> int:
    """Return the place of a size among those of the folds."""
    return folds["sizes"].index(k)


def with_error(folds: dict[str, Any], place: int) -> str:
    """Return an accuracy in percent with its standard error."""
    mean, error = folds["accuracy"][place], folds["error"][place]
    return f"{100 * mean:.1f} ± {100 * error:.1f}"


def set_table(units: dict[str, Any]) -> str:
    """Return what the sets are."""
    body = []
    for name in names_of(units):
        unit = units[f"{name}: set"]
        kinds = [t.split(", ")[1] for t in models(units, name) if "multinomial" in t]
        body.append(
            [
                SETS[name].title,
                str(unit["rows"]),
                f"{unit['columns']:,}",
                str(unit["classes"]),
                f"{100 * unit['largest'] / unit['rows']:.1f} %",
                " and ".join(kinds),
            ]
        )
    head = ["", "rows", "genes", "classes", "largest class", "counts"]
    return markdown(head, body)


def path_table(units: dict[str, Any]) -> str:
    """Return where the objective flattens."""
    body = []
    for name in names_of(units):
        m = units[f"{name}: set"]["columns"]
        for title, unit in models(units, name).items():
            path = unit["path"]
            body.append(
                [
                    SETS[name].title,
                    title,
                    *(f"{100 * path['at_share'][f'{s:g}']:.1f} %" for s in SHARES),
                    *(
                        f"{path['least_k'][f'{g:g}']:,} "
                        f"({100 * path['least_k'][f'{g:g}'] / m:.0f} %)"
                        for g in GAINS
                    ),
                    f"{max(path['gap']):.0e}" if max(path["gap"]) > 0 else "0",
                ]
            )
    head = [
        "",
        "model",
        *(f"share at {s:g} % of the genes" for s in SHARES),
        *(f"k for {g:g} % of the gain" for g in GAINS),
        "largest proven gap",
    ]
    return markdown(head, body)


def accuracy_table(units: dict[str, Any]) -> str:
    """Return the accuracy at the points of the path."""
    body = []
    for name in names_of(units):
        m = units[f"{name}: set"]["columns"]
        for title, unit in models(units, name).items():
            path, folds = unit["path"], unit["folds"]
            points = [max(2, round(m * s / 100)) for s in SHARES[:3]]
            best = int(np.argmax(folds["accuracy"][:-1]))
            body.append(
                [
                    SETS[name].title,
                    title,
                    *(with_error(folds, at(folds, k)) for k in points),
                    with_error(folds, at(folds, path["least_k"]["90"])),
                    f"{path['elbow']:,}: {with_error(folds, at(folds, path['elbow']))}",
                    bic_cell(path, folds),
                    f"{folds['sizes'][best]:,}: {with_error(folds, best)}",
                    with_error(folds, -1),
                ]
            )
    head = [
        "",
        "model",
        *(f"{s:g} %" for s in SHARES[:3]),
        "at 90 % of the gain",
        "elbow",
        "BIC",
        "best of the grid",
        "all",
    ]
    return markdown(head, body)


def bic_cell(path: dict[str, Any], folds: dict[str, Any]) -> str:
    """Return the k of BIC and the accuracy there, if it is in the folds' grid."""
    k = path["bic"]
    told = with_error(folds, at(folds, k)) if k in folds["sizes"] else "-"
    return f"{k:,}: {told}"


def verdict_table(units: dict[str, Any]) -> str:
    """Return for every set and model what becomes of the paper's two sentences."""
    body = []
    for name in names_of(units):
        m = units[f"{name}: set"]["columns"]
        for title, unit in models(units, name).items():
            path, folds = unit["path"], unit["folds"]
            ten, half = path["at_share"]["10"], path["at_share"]["50"]
            less, error = less_than_all(folds, m)
            body.append(
                [
                    SETS[name].title,
                    title,
                    f"{'yes' if half >= FLAT else 'no'}, {100 * half:.1f} %",
                    f"{'yes' if ten >= SIMILAR else 'no'}, {100 * ten:.0f} %",
                    of_objective(path, 0.0),
                    of_objective(path, ten),
                    f"{100 * less:+.1f} ± {100 * error:.1f}",
                ]
            )
    head = [
        "",
        "model",
        "flat from half of the genes on",
        "similar at 10 %",
        "no gene, of the objective",
        "10 % of the genes, of it",
        "accuracy at 10 % less that of all, points",
    ]
    return markdown(head, body)


def of_objective(path: dict[str, Any], share: float) -> str:
    """Return how far a share of the gain leaves the objective below the full one."""
    if path["null"] is None:
        return ""
    objective = abs(path["null"] + path["full_gain"])
    return f"-{100 * (1 - share) * path['full_gain'] / objective:.2g} %"


def less_than_all(folds: dict[str, Any], m: int) -> tuple[float, float]:
    """Return the accuracy of 10 % of the genes less that of all, and its error."""
    place = at(folds, max(2, round(m / 10)))
    return folds["less_all"][place], folds["less_all_error"][place]


def counted(units: dict[str, Any], family: str) -> str:
    """Say how many paths of one family keep the paper's sentences."""
    chosen = [
        (units[f"{name}: set"]["columns"], unit)
        for name in names_of(units)
        for title, unit in models(units, name).items()
        if title.startswith(family)
    ]
    shares = [unit["path"]["at_share"] for _, unit in chosen]
    ten, half = ([s[key] for s in shares] for key in ("10", "50"))
    less = [less_than_all(unit["folds"], m) for m, unit in chosen]
    return (
        f"{family}, {len(chosen)} paths. Flat: {sum(x >= FLAT for x in half)} (half of "
        "the genes have "
        f"{100 * min(half):.1f} to {100 * max(half):.1f} % of the gain). "
        f"Similar: {sum(x >= SIMILAR for x in ten)} (10 % of the genes have "
        f"{100 * min(ten):.0f} to {100 * max(ten):.0f} %). Accuracy with 10 % of the "
        "genes is lower than with all by more than two standard errors in "
        f"{sum(d < -2 * e for d, e in less)}, higher in "
        f"{sum(d > 2 * e for d, e in less)}."
    )


def document(folder: Path) -> str:
    """Return the page."""
    content = read_parts(folder)[STUDY]
    units = content["rows"]
    head = HEAD.format(
        values="\n".join(f"- {name}: {text}" for name, text in VALUES.items()),
        folds=content["folds"],
        repeats=content["repeats"],
        around=surroundings_line(content),
    )
    return "\n".join(
        [
            head,
            set_table(units),
            "## Where the objective flattens\n",
            path_table(units),
            "## Accuracy there, in percent\n",
            "Elbow and BIC are the k that the classifiers choose by these names; both "
            "look at k up to 10,000, but for the BIC of the Gaussian models.\n",
            accuracy_table(units),
            "## The paper's sentences\n",
            '"As the number of features increases beyond 10,000 (of 20,531), the '
            'objective value does not change": taken as 99 % of the gain with half of '
            'the genes, "flat". "We can achieve a similar objective value using just '
            '10 % of the features": taken as 90 % of the gain, "similar". The '
            "objective itself hardly moves at all, with or without genes, as two "
            "columns show: most of it is the same for every model. The last column is "
            "paired by rows.\n",
            counted(units, "multinomial") + "\n",
            counted(units, "Gaussian") + "\n",
            verdict_table(units),
        ]
    )


# ------------------------------------------------------------------------------ figure


def draw(folder: Path) -> None:
    """Draw shares of the gain above accuracies, a column of panels for each set."""
    units = read_parts(folder)[STUDY]["rows"]
    names = names_of(units)
    columns = min(4, len(names))
    lines = -(-len(names) // columns)
    figure, axes = new_figure(
        2 * lines, columns, width=3.3 * columns, height=4.9 * lines + 0.8
    )
    axes = np.array(axes).reshape(2 * lines, columns)
    shown: dict[str, Any] = {}
    for place, name in enumerate(names):
        line, column = divmod(place, columns)
        pair = axes[2 * line, column], axes[2 * line + 1, column]
        shown.update(draw_set(pair, units, name))
    for place in range(len(names), lines * columns):
        line, column = divmod(place, columns)
        for one in axes[2 * line : 2 * line + 2, column]:
            one.set_visible(False)
    figure.legend(
        shown.values(),
        shown.keys(),
        loc="outside lower center",
        ncols=max(1, columns - 1),
        frameon=False,
    )
    break_line = " " if columns > 3 else "\n"
    figure.suptitle(
        f"Gene sets: the objective grows until most genes are in,{break_line}"
        "accuracy seldom needs them",
        fontsize=13,
    )
    path = folder / "figure_paths.png"
    save(figure, path)


def draw_set(pair: Any, units: dict[str, Any], name: str) -> dict[str, Any]:
    """Draw one set; return the lines by their names for the common legend."""
    top, low = pair
    shape = units[f"{name}: set"]
    m = shape["columns"]
    shown = {}
    for title, unit in models(units, name).items():
        path, folds = unit["path"], unit["folds"]
        colour = COLOURS[title]
        percent = 100 * np.array(path["k"]) / m
        line = top.plot(percent, 100 * np.array(path["share"]), color=colour)[0]
        shown[LABELS[title]] = line
        low.errorbar(
            100 * np.array(folds["sizes"]) / m,
            100 * np.array(folds["accuracy"][:-1]),
            yerr=100 * np.array(folds["error"][:-1]),
            color=colour,
            linewidth=1.2,
            elinewidth=0.5,
            marker=".",
            markersize=4,
        )
    low.axhline(100 * shape["largest"] / shape["rows"], color=GREY, linestyle=":")
    for one in (top, low):
        one.set_xscale("log")
        one.axvline(10, color=GREY, linewidth=0.9, linestyle="--")
        one.set_xticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
        one.set_xlim(180 / m, 115)
        one.minorticks_off()
    top.set_ylim(0, 103)
    top.set_ylabel("share of the full gain (%)")
    low.set_ylabel("accuracy (%)")
    low.set_xlabel("genes kept (%)")
    top.set_title(
        f"{SETS[name].title}\n{shape['rows']} rows, {m:,} genes, "
        f"{shape['classes']} classes",
        fontsize=9.5,
    )
    return shown
