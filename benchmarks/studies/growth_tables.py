"""Tables and figure of run_time_growth.py, made from its results alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from figure_style import BLUE, GREEN, GREY, ORANGE, RED, new_figure, save
from ledger import markdown, read_parts
from unlimited_tables import fill, seconds

SHARE = 0.05
MILLION = 1_000_000
IMDB = (
    "m",
    "k",
    "entries",
    "fit",
    "solve",
    "mnb",
    "published",
    "fit_processor",  # seconds of all processors together
    "solve_processor",
    "mnb_processor",
    "optimal",
)
GENERATED = (
    "m",
    "k",
    "solve",
    "bisection",
    "published",
    "solve_processor",
    "bisection_processor",
    "steps",
    "gain",
    "below",  # how far the gain of the bisection is below ours
    "rounding",
    "optimal",
    "nodes",
    "table_bytes",
    "process_bytes",  # peak of the process after our solve
    "solve_bytes",  # the same over the process with the table loaded
    "bisection_bytes",
)
CURVES = {
    "imdb": {
        "fit": ("`NaiveFeatureSelector.fit`", "NaiveFeatureSelector.fit", BLUE, "o"),
        "solve": ("solve from counts", "solve from counts", GREEN, "s"),
        "mnb": ("`MultinomialNB.fit`", "MultinomialNB.fit", GREY, "^"),
        "published": ("published code", "published code", RED, "D"),
    },
    "generated": {
        "solve": ("certified solve", "certified solve", GREEN, "s"),
        "bisection": ("published bisection", "published bisection", ORANGE, "v"),
        "published": ("published class", "published class", RED, "D"),
    },
}


@dataclass(frozen=True)
class Slope:
    """The exponent of a curve, its standard error and its number of points."""

    value: float
    error: float
    points: int

    def __str__(self) -> str:
        """Write the exponent with its error."""
        return f"{self.value:.2f} ±{self.error:.2f}"

    @property
    def verdict(self) -> str:
        """Say whether the growth is below, at or above linear."""
        if self.value + 2 * self.error < 1:
            return "sub-linear"
        if self.value - 2 * self.error > 1:
            return "more than linear"
        return "linear within two standard errors"


def slope_of(m: np.ndarray, values: np.ndarray) -> Slope:
    """Return the least-squares slope of log values on log m; three points at least."""
    if m.size < 3:
        return Slope(math.nan, math.nan, m.size)
    x, y = np.log(m), np.log(values)
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    rest = y - y.mean() - slope * x
    error = math.sqrt(float(rest @ rest) / (m.size - 2) / float(x @ x))
    return Slope(slope, error, m.size)


@dataclass(frozen=True)
class Part:
    """The best round of every size, as columns over m."""

    name: str
    content: dict[str, Any]
    columns: dict[str, np.ndarray]

    def curve(self, side: str, least: float = 0.0, most: float = math.inf) -> Slope:
        """Return the exponent of a side over a range of m."""
        m, values = self.columns["m"], self.columns[side]
        known = np.isfinite(values) & (m >= least) & (m <= most)
        return slope_of(m[known], values[known])

    @property
    def rounds(self) -> int:
        """Return the rounds that every size has."""
        return min(len(rows) for rows in self.content["rows"].values())


def part_of(folder: Path, name: str) -> Part | None:
    """Return one part, or nothing when it is not stored."""
    content = read_parts(folder).get(name)
    if content is None or not content["rows"]:
        return None
    sizes = sorted(content["rows"], key=int)
    columns = {}
    for at, column in enumerate(content["columns"]):
        values = [np.array(content["rows"][m], dtype=float)[:, at] for m in sizes]
        # Seconds and memory: the best round. The rest is the same in every round.
        columns[column] = np.array([np.min(value) for value in values])
    return Part(name, content, columns)


# ------------------------------------------------------------------------------ tables


def megabytes(value: float) -> str:
    """Write bytes as MB."""
    return f"{value / 1e6:,.0f}"


def imdb_table(part: Part) -> str:
    """Seconds against the words of IMDB."""
    head = ["words", "k", "entries of X", "ours, fit", "ours, solve alone"]
    head += ["`MultinomialNB.fit`", "published code", "published / ours", "ours / MNB"]
    c = part.columns
    body = [
        [
            f"{c['m'][i]:,.0f}",
            f"{c['k'][i]:,.0f}",
            f"{c['entries'][i]:,.0f}",
            *(seconds(c[name][i]) for name in ("fit", "solve", "mnb", "published")),
            f"{c['published'][i] / c['fit'][i]:.1f}",
            f"{c['fit'][i] / c['mnb'][i]:.1f}",
        ]
        for i in range(c["m"].size)
    ]
    return markdown(head, body)


def generated_table(part: Part) -> str:
    """Seconds, processor seconds and memory against m."""
    head = ["columns", "k", "ours, solve", "processor", "published bisection"]
    head += [
        "processor",
        "published class",
        "bisection / ours",
        "bisection's gain below ours, nats",
    ]
    head += ["table, MB", "extra memory, ours, MB", "bisection, MB"]
    c = part.columns
    body = []
    for i, m in enumerate(c["m"]):
        below = c["below"][i]
        body.append(
            [
                f"{m:,.0f}",
                f"{c['k'][i]:,.0f}",
                seconds(c["solve"][i]),
                seconds(c["solve_processor"][i]),
                seconds(c["bisection"][i]),
                seconds(c["bisection_processor"][i]),
                seconds(c["published"][i]),
                f"{c['bisection'][i] / c['solve'][i]:.0f}",
                "equal" if abs(below) <= c["rounding"][i] else f"{below:.2g}",
                *(
                    megabytes(c[f"{name}_bytes"][i])
                    for name in ("table", "solve", "bisection")
                ),
            ]
        )
    return markdown(head, body)


def exponent_table(parts: list[Part]) -> str:
    """Exponents of every curve, over the whole range and over its ends."""
    head = ["", "from", "to", "points", "exponent", "", "of processor seconds"]
    body: list[list[str]] = []
    for part in parts:
        m = part.columns["m"]
        ranges = [(m.min(), m.max())]
        if part.name == "generated" and m.max() > MILLION:
            ranges += [(m.min(), MILLION), (MILLION, m.max())]
        curves = {side: title for side, (title, *_) in CURVES[part.name].items()}
        if part.name == "imdb":
            curves["entries"] = "(entries of X)"
        for side, title in curves.items():
            for low, high in ranges:
                slope = part.curve(side, low, high)
                known = m[np.isfinite(part.columns[side]) & (m >= low) & (m <= high)]
                if slope.points < 3:
                    continue
                label = "IMDB" if part.name == "imdb" else "generated"
                place = [f"{label}, {title}"]
                place += [f"{end:,.0f}" for end in (known.min(), known.max())]
                if any(line[:3] == place for line in body):
                    continue
                second = f"{side}_processor"
                processor = (
                    str(part.curve(second, low, high))
                    if second in part.columns
                    else "-"
                )
                body.append(
                    [*place, str(slope.points), str(slope), slope.verdict, processor]
                )
    return markdown(head, body)


# ------------------------------------------------------------------------------- words


def intro(parts: list[Part]) -> str:
    """Say what was done, with which versions, where and when."""
    first = parts[0].content
    packages = ", ".join(f"{n} {v}" for n, v in first["packages"].items())
    rounds = ", ".join(f"{part.rounds} of {part.name}" for part in parts)
    around = fill(
        f"{packages}, Python {first['python']}; published code: "
        f"naive-feature-selection {first['published']} in an environment of its own. "
        f"{first['processor']}, {first['processors']} processors, shared with other "
        f"work. {first['date']}. Rounds: {rounds}."
    )
    return f"""# Run time against the number of columns: Experiment 3

Written by `growth_tables.py` from the results beside it. k is 5 % of the m columns,
alpha = 1. Seconds are the best round of each side; a round goes through all sizes,
sides in turns. Processor seconds add up all threads; on a busy machine they are the
steadier measure. Exponents: slope of log seconds on log m by least squares, ± one
standard error.

{around}
"""


def summary(parts: list[Part]) -> str:
    """Say in words what the numbers say."""
    lines = ["## What it says\n"]
    for part in parts:
        lines += imdb_words(part) if part.name == "imdb" else generated_words(part)
    return "\n".join(fill(line) for line in lines) + "\n"


def imdb_words(part: Part) -> list[str]:
    """Say what the paper's range shows."""
    c = part.columns
    low, high = c["m"].min(), c["m"].max()
    fit, solve = part.curve("fit"), part.curve("solve")
    mnb, published = part.curve("mnb"), part.curve("published")
    growth = c["entries"][-1] / c["entries"][0]
    return [
        f'- The paper\'s "sub-linear" on IMDB, {low:,.0f} to {high:,.0f} words: '
        f"`NaiveFeatureSelector.fit` grows with exponent {fit} ({fit.verdict}), the "
        f"published code with {published} ({published.verdict}), `MultinomialNB.fit` "
        f"with {mnb}. {high / low:.0f} times the words are only {growth:.2f} times the "
        f"entries of X, because the added words are rare: a pass over the rows hardly "
        f"grows, whoever makes it. The solve alone, which sees the counts only, grows "
        f"with {solve} ({solve.verdict}; of processor seconds "
        f"{part.curve('solve_processor')}).",
        f"- At {high:,.0f} words our fit takes {seconds(c['fit'][-1])} s, "
        f"`MultinomialNB.fit` {seconds(c['mnb'][-1])} s, the published code "
        f"{seconds(c['published'][-1])} s.",
    ]


def generated_words(part: Part) -> list[str]:
    """Say what lies beyond the paper's range."""
    c = part.columns
    m = c["m"]
    whole = part.curve("solve")
    lines = [
        f"- Generated counts, {m.min():,.0f} to {m.max():,.0f} columns: the certified "
        f"solve grows with exponent {whole} ({whole.verdict}; of processor seconds "
        f"{part.curve('solve_processor')}), the published bisection with "
        f"{part.curve('bisection')} ({part.curve('bisection_processor')})."
    ]
    if m.max() > MILLION:
        small, large = part.curve("solve", 0, MILLION), part.curve("solve", MILLION)
        lines[0] += (
            f" Up to a million columns ours has {small} ({small.verdict}; of processor "
            f"seconds {part.curve('solve_processor', 0, MILLION)}), beyond it {large} "
            f"({large.verdict}; {part.curve('solve_processor', MILLION)}); the "
            f"bisection has {part.curve('bisection', 0, MILLION)} and "
            f"{part.curve('bisection', MILLION)}."
        )
    ratio = c["bisection"] / c["solve"]
    processor = c["bisection_processor"] / c["solve_processor"]
    lines.append(
        f"- The bisection takes {ratio.min():.0f} to {ratio.max():.0f} times as long "
        f"as the certified solve ({processor.min():.1f} to {processor.max():.1f} times "
        f"the processor seconds); its gain is never above ours beyond rounding"
        if np.all(c["below"] >= -c["rounding"])
        else "- The bisection's gain is above ours somewhere: see the table"
    )
    lines[-1] += (
        f". At {m.max():,.0f} columns, k = {c['k'][-1]:,.0f}: "
        f"{seconds(c['solve'][-1])} s and {megabytes(c['solve_bytes'][-1])} MB beside "
        f"the table of {megabytes(c['table_bytes'][-1])} MB (peak of the whole process "
        f"{megabytes(c['process_bytes'][-1])} MB), against "
        f"{seconds(c['bisection'][-1])} s and {megabytes(c['bisection_bytes'][-1])} "
        f"MB. {int(c['optimal'].sum())} of {m.size} answers are proven optimal."
    )
    return lines


def document(folder: Path) -> str:
    """Return tables.md."""
    parts = [p for p in (part_of(folder, n) for n in CURVES) if p is not None]
    if not parts:
        return "# Run time against the number of columns\n\nNothing is stored yet.\n"
    pieces = [intro(parts), summary(parts), "## Exponents\n", exponent_table(parts)]
    for part in parts:
        if part.name == "imdb":
            pieces += [
                "## IMDB, tf-idf: seconds\n",
                "The most frequent words of training and test reviews together, as in "
                "the paper (the training reviews alone have 74,893); rows are the "
                "25,000 training reviews. The published code, which has no smoothing, "
                "is given a row of ones for each class, so that all solve the same "
                "problem.\n",
                imdb_table(part),
            ]
        else:
            pieces += [
                "## Generated counts: seconds and memory\n",
                "Zipf-like counts of two classes (the generator of "
                "`benchmarks/solve_wide.py`). The bisection is the published algorithm "
                "on the same table, the published class gets the two rows of counts "
                "(up to a million columns). Extra memory is the peak of the process "
                "over that with the table loaded.\n",
                generated_table(part),
            ]
    return "\n".join(fill(piece) for piece in pieces)


# ------------------------------------------------------------------------------ figure


def draw(axis: Any, part: Part, title: str) -> None:
    """Draw the curves of one part, exponents in the legend."""
    m = part.columns["m"]
    for side, (_, label, colour, marker) in CURVES[part.name].items():
        slope = part.curve(side)
        axis.plot(
            m,
            part.columns[side],
            f"{marker}-",
            color=colour,
            markersize=5,
            linewidth=1.4,
            label=f"{label}: {slope}" if slope.points > 2 else label,
        )
    processor = part.columns["solve_processor"]
    axis.plot(
        m,
        processor,
        ":",
        color=GREEN,
        linewidth=1.6,
        label=f"solve, processor seconds: {part.curve('solve_processor')}",
    )
    start = min(part.columns["solve"][0], processor[0])
    axis.plot(
        m[[0, -1]],
        start * np.array([0.5, 0.5 * m[-1] / m[0]]),
        "--",
        color=GREY,
        linewidth=1,
        label="linear (1.00)",
    )
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("columns m, k = 5 % of them")
    axis.set_ylabel("seconds")
    axis.set_title(title, fontsize=10)
    axis.legend(
        frameon=False,
        fontsize=8.5,
        title="exponent ± standard error",
        title_fontsize=8.5,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=2,
    )


def figure(folder: Path) -> None:
    """Draw both parts side by side."""
    parts = [p for p in (part_of(folder, n) for n in CURVES) if p is not None]
    if not parts:
        return
    picture, axes = new_figure(1, len(parts), width=6.2 * len(parts), height=5.6)
    titles = {"imdb": "IMDB, tf-idf", "generated": "generated Zipf-like counts"}
    for axis, part in zip(np.atleast_1d(axes), parts, strict=True):
        draw(axis, part, titles[part.name])
        if part.name == "imdb":
            from matplotlib.ticker import FuncFormatter, NullFormatter

            axis.set_xticks(
                part.columns["m"][[0, 1, 3, 7]]
                if len(part.columns["m"]) > 7
                else part.columns["m"]
            )
            axis.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}"))
            axis.xaxis.set_minor_formatter(NullFormatter())
    picture.suptitle(headline(parts), fontsize=11)
    save(picture, folder / "figure_growth.png")


def headline(parts: list[Part]) -> str:
    """Return the finding as a title."""
    by_name = {part.name: part for part in parts}
    words = []
    if "imdb" in by_name:
        fit = by_name["imdb"].curve("fit")
        words.append(f"{fit.verdict} in the paper's range (exponent {fit.value:.2f})")
    if "generated" in by_name:
        part = by_name["generated"]
        slope = part.curve("solve_processor")
        words.append(
            f"the solve {slope.value:.2f} of processor seconds up to "
            f"{part.columns['m'].max():,.0f} columns"
        )
    return "Run time of the selection: " + ", ".join(words)
