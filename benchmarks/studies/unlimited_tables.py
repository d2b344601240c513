"""Tables and figure of unlimited_features.py, made from its results alone."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from figure_style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, new_figure, save
from ledger import markdown, read_parts
from text_vectors import NAMES, TITLES, VECTORS

WIDTH = 88
PERCENTS = (0.01, 0.05, 0.1, 1.0)
FIXED = ("sst2", "imdb")  # their tests are (nearly) the same rows in every split
FIT_SPARSE = Path(__file__).resolve().parents[1] / "results" / "fit_sparse.json"

#: Tables 2 and 3 of the paper: columns, and mean seconds of a selection.
PAPER = {
    "mpqa": {
        "count": (6_208, 0.0082),
        "tfidf": (6_208, 0.0080),
        "word_bigram": (27_603, 0.024),
        "char_bigram": (4_838, 0.0084),
    },
    "amazon": {
        "count": (31_666, 0.043),
        "tfidf": (31_666, 0.033),
        "word_bigram": (870_536, 0.68),
        "char_bigram": (25_019, 0.076),
    },
    "sst2": {
        "count": (16_599, 0.037),
        "tfidf": (16_599, 0.027),
        "word_bigram": (227_012, 0.21),
        "char_bigram": (7_762, 0.082),
    },
    "twitter": {
        "count": (273_779, 1.15),
        "tfidf": (273_779, 0.89),
        "word_bigram": (12_082_555, 13.25),
        "char_bigram": (17_812, 4.07),
    },
    "imdb": {
        "count": (103_124, 0.22),
        "tfidf": (103_124, 0.16),
        "word_bigram": (8_950_169, 9.38),
        "char_bigram": (48_420, 0.47),
    },
}


@dataclass(frozen=True)
class Case:
    """The rows of one set and vector: percents x splits x columns."""

    data: str
    vector: str
    rows: np.ndarray
    columns: tuple[str, ...]

    def __getitem__(self, column: str) -> np.ndarray:
        """Return one column, shape (percents, splits)."""
        return self.rows[:, :, self.columns.index(column)]

    @property
    def n_splits(self) -> int:
        """Return how many splits there are."""
        return self.rows.shape[1]

    @property
    def title(self) -> str:
        """Return the name of set and vector."""
        return f"{TITLES[self.data]}, {VECTORS[self.vector]}"

    def difference(self, a: str, b: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean difference of accuracies for each share, and its error.

        Over splits; over the test rows where these are the same in every split, or
        where there are fewer than three splits.
        """
        values = self[f"{a}_accuracy"] - self[f"{b}_accuracy"]
        if self.data in FIXED or self.n_splits < 3:
            return values.mean(axis=1), self[f"{a}_{b}_error"].mean(axis=1)
        spread = values.std(axis=1, ddof=1) / math.sqrt(self.n_splits)
        return values.mean(axis=1), spread

    def slower(self, side: str) -> np.ndarray:
        """Return how many times slower than a plain fit, for each share and split."""
        return self[f"{side}_seconds"] / self["mnb_seconds"]


def contents_of(folder: Path) -> list[dict[str, Any]]:
    """Return what is stored, in the order of the study."""
    parts = read_parts(folder)
    names = [f"{name}_{vector}" for name in NAMES for vector in VECTORS]
    return [parts[name] for name in names if name in parts]


def case_of(content: dict[str, Any]) -> Case | None:
    """Return the splits that have every share, or nothing."""
    found = [content["rows"].get(f"{percent:g}", []) for percent in PERCENTS]
    whole = min(len(rows) for rows in found)
    if not whole:
        return None
    rows = np.array([rows[:whole] for rows in found], dtype=float)  # None: nan
    return Case(content["data"], content["vector"], rows, tuple(content["columns"]))


# ------------------------------------------------------------------------------- words


def fill(text: str) -> str:
    """Break one long line of prose; tables and text of several lines stay."""
    if "\n" in text.rstrip("\n") or len(text) <= WIDTH:
        return text
    indent = "  " if text.startswith("- ") else ""
    end = "\n" if text.endswith("\n") else ""
    return (
        "\n".join(wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False))
        + end
    )


def seconds(value: float) -> str:
    """Write seconds with three digits."""
    if not math.isfinite(value):
        return "-"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def points(value: float, error: float) -> str:
    """Write a difference of accuracies in points with its error."""
    mark = "" if abs(value) > error else " ~"
    return f"{100 * value:+.1f} ±{100 * error:.1f}{mark}"


def span(values: Sequence[float]) -> str:
    """Write the least, the median and the largest."""
    low, middle, high = np.min(values), np.median(values), np.max(values)
    return f"{middle:.2g} ({low:.2g} to {high:.2g})"


def intro(contents: list[dict[str, Any]]) -> str:
    """Say what was done, with which versions, where and when."""
    first = contents[0]
    packages = ", ".join(f"{n} {v}" for n, v in first["packages"].items())
    grid = ", ".join(f"{a:g}" for a in first["alphas"])
    at = first["columns"].index("run")
    runs = {row[at] for c in contents for rows in c["rows"].values() for row in rows}
    begun = ", ".join(
        f"{datetime.fromtimestamp(r, UTC):%Y-%m-%d %H:%M}" for r in sorted(runs)
    )
    around = fill(
        f"{packages}, Python {first['python']}; published code: "
        f"naive-feature-selection {first['published']} in an environment of its own. "
        f"{first['processor']}, {first['processors']} processors, shared with other "
        f"work. Runs begun (UTC): {begun}."
    )
    return f"""# Unlimited features: Experiment 2

Written by `unlimited_tables.py` from the results beside it. Five texts, four
vectors, every term of the training rows; 0.01, 0.05, 0.1 and 1 % of them are kept (at
least 2). Stage 1 selects, stage 2 is `MultinomialNB` on the chosen columns. One alpha
for all selectors and for stage 2: the best in {first["folds"]}-fold cross-validation of
`MultinomialNB` on the training rows of the split, out of
{grid} (the paper does not print its grid).
"Word bigram" is words in twos and threes, "char bigram" letters in twos and threes, as
in the paper. Seconds are the best of three in turns, of one where a run takes more than
a second.

{around}
"""


def summary(cases: list[Case]) -> str:
    """Say in words what the numbers say."""
    lines = ["## What it says\n"]
    ours = np.concatenate([case.slower("ours").ravel() for case in cases])
    theirs = np.concatenate([case.slower("published").ravel() for case in cases])
    ratio = np.concatenate(
        [(case["published_seconds"] / case["ours_seconds"]).ravel() for case in cases]
    )
    theirs, ratio = theirs[np.isfinite(theirs)], ratio[np.isfinite(ratio)]
    lines.append(
        f"- Our selection takes {span(ours)} times a plain `MultinomialNB.fit` on the "
        f"same matrix (median, least and largest of {ours.size} cells), the published "
        f"code {span(theirs)} times; it is {span(ratio)} times as slow as ours, and "
        f"faster than ours in {int((ratio < 1).sum())} of {ratio.size} cells."
    )
    for side, title in (("ours", "the likelihood"), ("refined", "`refine=True`")):
        for other, name in (
            ("thresholded", "thresholded naive Bayes"),
            ("odds", "odds ratio"),
        ):
            counts, mean = verdict(cases, side, other)
            lines.append(
                f"- Accuracy of {title} against {name}, {sum(counts)} cells: ahead by "
                f"more than one standard error in {counts[0]}, within one in "
                f"{counts[1]}, behind in {counts[2]}; {100 * mean:+.1f} points in the "
                "mean."
            )
    counts, mean = verdict_of_refining(cases)
    lines.append(
        f"- Refining changes the mean accuracy of a cell by {100 * mean:+.1f} points: "
        f"up in {counts[0]} cells, down in {counts[1]}."
    )
    for at, words in (("0", "without smoothing"), ("a", "with the chosen alpha")):
        below, rounding = (
            np.concatenate([case[f"{what}_{at}"].ravel() for case in cases])
            for what in ("below", "rounding")
        )
        known = np.isfinite(below)
        below, rounding = below[known], rounding[known]
        lines.append(
            f"- Training objective {words}, {below.size} comparisons at the same k: "
            f"ours is below the published code's beyond rounding in "
            f"{int((below < -rounding).sum())}, strictly above in "
            f"{int((below > rounding).sum())}, equal in the rest."
        )
    return "\n".join(fill(line) for line in lines) + "\n"


def verdict(cases: list[Case], side: str, other: str) -> tuple[list[int], float]:
    """Count cells ahead, within one standard error and behind, and the mean gain."""
    counts, gains = [0, 0, 0], []
    for case in cases:
        for gain, error in zip(*case.difference(side, other), strict=True):
            counts[0 if gain > error else 2 if gain < -error else 1] += 1
            gains.append(gain)
    return counts, float(np.mean(gains))


def verdict_of_refining(cases: list[Case]) -> tuple[list[int], float]:
    """Count cells that refining betters and worsens, and the mean change."""
    change = np.concatenate(
        [(c["refined_accuracy"] - c["ours_accuracy"]).mean(axis=1) for c in cases]
    )
    return [int((change > 0).sum()), int((change < 0).sum())], float(change.mean())


# ------------------------------------------------------------------------------ tables


def time_table(cases: list[Case]) -> str:
    """Table 3: seconds beside the paper's."""
    head = [
        "",
        "columns, paper",
        "columns, here",
        "splits",
        "paper",
        "published code, here",
        "ours",
        "ours, refined",
        "`MultinomialNB.fit`",
        "published / ours",
        "ours / `MultinomialNB`",
    ]
    body = []
    for case in cases:
        columns, printed = PAPER[case.data][case.vector]
        published = case["published_seconds"]
        body.append(
            [
                case.title,
                f"{columns:,}",
                f"{case['m'].mean():,.0f}",
                str(case.n_splits),
                seconds(printed),
                seconds(published.mean()),
                seconds(case["ours_seconds"].mean()),
                seconds(case["refined_seconds"].mean()),
                seconds(case["mnb_seconds"].mean()),
                f"{np.mean(published / case['ours_seconds']):.1f}",
                f"{np.mean(case.slower('ours')):.1f}",
            ]
        )
    return markdown(head, body)


def twitter_note() -> str:
    """Say what stands in for the paper's largest set."""
    stored = json.loads(FIT_SPARSE.read_text(encoding="utf-8"))
    best, (rows, columns) = stored["best"], stored["data"]["shape"]
    return (
        "The tweets here are a sample of 37,472; the paper's 1.6 million with 12 "
        "million word bigrams (13.25 s there) are not at hand. A generated matrix of "
        f"that size ({rows:,} x {columns:,}, {stored['data']['entries']:,} entries, k "
        f"= {stored['k']:,}; `benchmarks/results/fit_sparse.json`) takes "
        f"{best['SparseMultinomialNB']['seconds']:.2f} s with `SparseMultinomialNB`, "
        f"whose selection is the same, and {best['MultinomialNB']['seconds']:.2f} s "
        "with `MultinomialNB`.\n"
    )


def slower_table(cases: list[Case]) -> str:
    """Bottom left of Figure 2: ours and, in brackets, the published code."""
    body = [
        [
            case.title,
            *(
                f"{a:.1f} ({b:.1f})"
                for a, b in zip(
                    case.slower("ours").mean(axis=1),
                    case.slower("published").mean(axis=1),
                    strict=True,
                )
            ),
        ]
        for case in cases
    ]
    return markdown(["", *(f"{p:g} %" for p in PERCENTS)], body)


def gain_table(cases: list[Case], side: str, other: str) -> str:
    """Top left of Figure 2: accuracy gained, in points."""
    body = [
        [
            case.title,
            *(
                points(*pair)
                for pair in zip(*case.difference(side, other), strict=True)
            ),
        ]
        for case in cases
    ]
    return markdown(["", *(f"{p:g} %" for p in PERCENTS)], body)


def accuracy_table(cases: list[Case]) -> str:
    """Every mean accuracy in percent; the best selector of a line in bold."""
    head = [
        "",
        "k",
        "likelihood",
        "refined",
        "thresholded",
        "odds ratio",
        "all columns",
    ]
    body = []
    for case in cases:
        for at, percent in enumerate(PERCENTS):
            means = [
                case[f"{name}_accuracy"][at].mean()
                for name in ("ours", "refined", "thresholded", "odds")
            ]
            shown = [f"{100 * mean:.1f}" for mean in means]
            best = f"{100 * max(means):.1f}"
            body.append(
                [
                    f"{case.title}, {percent:g} %",
                    f"{case['k'][at].mean():,.0f}",
                    *(f"**{text}**" if text == best else text for text in shown),
                    f"{100 * case['all_accuracy'][at].mean():.1f}",
                ]
            )
    return markdown(head, body)


def objective_table(cases: list[Case]) -> str:
    """Our objective less the published code's: counts and sizes."""
    head = ["", "alpha"]
    for _ in range(2):
        head += ["compared", "below", "strictly above", "largest difference, nats"]
        head += ["of the gain"]
    head.append("proven optimal")
    body = []
    for case in cases:
        low, high = case["alpha"].min(), case["alpha"].max()
        line = [case.title, f"{low:g}" if low == high else f"{low:g} to {high:g}"]
        for at in ("0", "a"):
            below = case[f"below_{at}"]
            known = np.isfinite(below)
            below, gain = below[known], case[f"gain_{at}"][known]
            rounding = case[f"rounding_{at}"][known]
            line += [
                str(below.size),
                str(int((below < -rounding).sum())),
                str(int((below > rounding).sum())),
                f"{below.max():.2g}" if below.size else "-",
                f"{(below / gain).max():.1e}" if below.size else "-",
            ]
        both = case["optimal_0"].sum() + case["optimal_a"].sum()
        line.append(f"{both:.0f} of {2 * case['optimal_a'].size}")
        body.append(line)
    return markdown(head, body)


def document(folder: Path) -> str:
    """Return tables.md."""
    contents = contents_of(folder)
    cases = [case for case in map(case_of, contents) if case is not None]
    if not cases:
        return "# Unlimited features: Experiment 2\n\nNothing is stored yet.\n"
    parts = [
        intro(contents),
        summary(cases),
        "## Run times in seconds, beside Table 3\n",
        "Means over the four shares and all splits, of the selection from the matrix. "
        "The paper's are of another machine; the ratios are of this one.\n",
        time_table(cases),
        twitter_note(),
        "## How many times slower than `MultinomialNB.fit`\n",
        "On the same matrix, in turns; the published code in brackets.\n",
        slower_table(cases),
        "## Accuracy gained by selecting for likelihood\n",
        "In points, ± one standard error: over splits, or over the test rows for SST2 "
        "and IMDB, whose tests are fixed or nearly so, and for fewer than "
        'three splits. "~": within one '
        "standard error.\n",
        "### Over thresholded naive Bayes\n",
        gain_table(cases, "ours", "thresholded"),
        "### Over odds ratio\n",
        gain_table(cases, "ours", "odds"),
        "### Refined by weights, over thresholded naive Bayes\n",
        gain_table(cases, "refined", "thresholded"),
        "## The objective, ours less the published code's\n",
        "Both supports judged by one formula at the same k; first without smoothing, "
        "then with the chosen alpha (the published code, which has none, is given a "
        "row of alphas for each class). A difference counts when it exceeds "
        "rounding.\n",
        objective_table(cases),
        "## Mean accuracies in percent\n",
        accuracy_table(cases),
    ]
    return "\n".join(fill(part) for part in parts)


# ------------------------------------------------------------------------------ figure

SET_COLOURS = dict(zip(NAMES, (BLUE, ORANGE, GREEN, SKY, PURPLE), strict=True))
MARKERS = dict(zip(VECTORS, "osD^", strict=True))


def draw_gains(axis: Any, cases: list[Case], other: str, title: str) -> None:
    """Draw one dot a set and vector, the mean as a bar, over the shares of columns."""
    shift = np.linspace(-0.28, 0.28, len(cases))
    means = []
    for case, move in zip(cases, shift, strict=True):
        gain, error = case.difference("ours", other)
        means.append(100 * gain)
        axis.errorbar(
            np.arange(len(PERCENTS)) + move,
            100 * gain,
            100 * error,
            fmt=MARKERS[case.vector],
            color=SET_COLOURS[case.data],
            markersize=4.5,
            elinewidth=0.8,
        )
    for at, mean in enumerate(np.mean(means, axis=0)):
        axis.hlines(mean, at - 0.36, at + 0.36, color=RED, linewidth=2)
        axis.text(
            at,
            0.99,
            f"{mean:+.1f}",
            color=RED,
            ha="center",
            va="top",
            fontsize=10,
            transform=axis.get_xaxis_transform(),
        )
    low, high = axis.get_ylim()
    axis.set_ylim(low, high + 0.09 * (high - low))  # room for the means
    axis.axhline(0, color=GREY, linewidth=1)
    axis.set_xticks(range(len(PERCENTS)), [f"{p:g}" for p in PERCENTS])
    axis.set_xlim(-0.5, len(PERCENTS) - 0.5)
    axis.set_xlabel("columns kept (%)")
    axis.set_ylabel("accuracy gained (points)")
    axis.set_title(title, fontsize=10)


def draw_slower(axis: Any, cases: list[Case]) -> None:
    """Draw the factor over a plain fit against the number of columns."""
    sides = (("published", RED, "published code"), ("ours", BLUE, "ours"))
    for side, colour, label in sides:
        for at, case in enumerate(cases):
            axis.plot(
                case["m"].mean(),
                np.nanmean(case.slower(side)),
                MARKERS[case.vector],
                color=colour,
                markersize=6,
                label=label if at == 0 else None,
            )
    axis.axhline(1, color=GREY, linewidth=1)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("columns of the matrix")
    axis.set_ylabel("seconds / seconds of MultinomialNB.fit")
    low, high = axis.get_ylim()
    axis.set_ylim(low, 1.7 * high)  # room for the legend
    axis.legend(frameon=False, fontsize=9, loc="upper left", ncols=2)
    axis.set_title("Run time beside a plain fit", fontsize=10)


def figure(folder: Path) -> None:
    """Draw the left half of Figure 2: accuracy gained, and the factor slower."""
    from matplotlib.lines import Line2D

    cases = [case for case in map(case_of, contents_of(folder)) if case is not None]
    if not cases:
        return
    picture, axes = new_figure(1, 3, width=13.0, height=4.9)
    draw_gains(axes[0], cases, "thresholded", "Gain over thresholded naive Bayes")
    draw_gains(axes[1], cases, "odds", "Gain over odds ratio")
    draw_slower(axes[2], cases)
    handles = [
        *(
            Line2D(
                [], [], color=SET_COLOURS[n], marker="o", linestyle="", label=TITLES[n]
            )
            for n in NAMES
        ),
        *(
            Line2D(
                [], [], color=GREY, marker=MARKERS[v], linestyle="", label=VECTORS[v]
            )
            for v in VECTORS
        ),
        Line2D([], [], color=RED, linewidth=2, label="mean (number on top)"),
    ]
    picture.legend(
        handles=handles, loc="outside lower center", ncols=5, frameon=False, fontsize=9
    )
    _, first = verdict(cases, "ours", "thresholded")
    _, second = verdict(cases, "ours", "odds")
    factor = np.median(np.concatenate([c.slower("ours").ravel() for c in cases]))
    picture.suptitle(
        f"No limit on the terms: selecting for likelihood gains {100 * first:.1f} and "
        f"{100 * second:.1f} points in the mean and takes {factor:.1f} times a plain "
        "fit (median)",
        fontsize=11,
    )
    save(picture, folder / "figure_gain_and_time.png")
