"""Page and figure of nine_words.py, made from its results alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from figure_style import BLUE, GREEN, GREY, ORANGE, new_figure, save
from ledger import markdown, read_parts
from study_run import surroundings_line

STUDY = "nine_words"
K = 9
TABLE_4 = {
    "love": 0.69,
    "best": 0.72,
    "waste": -2.63,
    "excellent": 1.46,
    "bad": -1.36,
    "great": 0.88,
    "wonderful": 1.56,
    "worst": -2.29,
    "awful": -2.23,
}
PRINTED_ACCURACY = 0.702
PLACES = (
    "one letter, all words",
    "one letter, no stop words",
    "default, all words",
    "default, no stop words",
)
TITLES = {
    "one letter, all words": "one-letter words too, nothing left out",
    "one letter, no stop words": "one-letter words too, stop words left out",
    "default, all words": "words of two letters or more, nothing left out",
    "default, no stop words": "words of two letters or more, stop words left out",
}

HEAD = """# Experiment 4: the nine words of IMDB

Written by `nine_words_tables.py` from the results beside it. Official split, {n_test:,}
test reviews: the standard error of an accuracy is {error:.2f} points. k = 9; counts and
alpha = 1 unless it is said otherwise. "Gain": what the list adds to the training
log-likelihood of the model without words, as a share of what the certified optimum
adds. "NB": sparse naive Bayes with the weights log theta+ - log theta- shown; a review
without any of the nine words counts as negative, as scikit-learn breaks ties.
"Logistic": logistic regression on the nine counts, the paper's stage 2. "None": share
of test reviews without any of the words.

{around}
"""


def of_words(unit: dict[str, Any]) -> dict[str, float]:
    """Return the weights of a list by word."""
    return dict(zip(unit["words"], unit["weights"], strict=True))


def agreement(unit: dict[str, Any]) -> tuple[int, int, float]:
    """Return how many words of Table 4 are met, how many weights, and the worst one.

    A weight is met when it is the printed one after rounding to two digits.
    """
    weights = of_words(unit)
    shared = [word for word in TABLE_4 if word in weights]
    off = [abs(weights[word] - TABLE_4[word]) for word in shared]
    met = sum(difference <= 0.005 + 1e-9 for difference in off)
    return len(shared), met, max(off, default=float("nan"))


def percent(share: float, digits: int = 2) -> str:
    return f"{100 * share:.{digits}f} %"


def spoken(unit: dict[str, Any]) -> str:
    """Return words with weights, from positive to negative."""
    pairs = sorted(of_words(unit).items(), key=lambda pair: -pair[1])
    return ", ".join(f"{word} {weight:+.2f}" for word, weight in pairs)


def list_table(unit: dict[str, Any]) -> str:
    """Return every list of nine of one choice of words."""
    best = unit["lists"]["certified optimum"]["gain"]
    body = []
    for name, one in unit["lists"].items():
        own = (
            f" (own model {percent(one['own_accuracy'])})"
            if "own_accuracy" in one
            else ""
        )
        share = f"{100 * one['gain'] / best:.2f} %"
        if "alpha = 0" in name:
            share += "*"
        body.append(
            [
                name,
                spoken(one),
                f"{one['gain']:,.0f}",
                share,
                percent(one["accuracy"]) + own,
                percent(one["logistic"]),
                percent(one["without"], 1),
            ]
        )
    head = [
        "",
        "words and weights",
        "gain, nats",
        "of the optimum",
        "NB",
        "logistic",
        "none",
    ]
    return markdown(head, body)


def search_table(units: dict[str, Any]) -> str:
    """Return for every setting how near its nine are to Table 4."""
    body = []
    for key, unit in units.items():
        if not key.startswith("search: "):
            continue
        tokens, stop, values, alpha = key.removeprefix("search: ").split(", ")
        for name, one in unit.items():
            shared, met, worst = agreement(one)
            extra = sorted(set(one["words"]) - set(TABLE_4))
            missing = sorted(set(TABLE_4) - set(one["words"]))
            best = unit["certified optimum"]["gain"]
            line = [
                name,
                "yes" if tokens == "one letter" else "no",
                "kept" if stop == "all words" else "left out",
                values,
                alpha,
                str(shared),
                str(met),
                f"{worst:.3f}",
                ", ".join(missing) or "-",
                ", ".join(extra) or "-",
                f"{100 * one['gain'] / best:.2f} %",
                percent(one["accuracy"]),
            ]
            if shared == K:
                line = [f"**{cell}**" for cell in line]
            body.append(line)
    head = [
        "",
        "one-letter words",
        "stop words",
        "values",
        "alpha",
        "words met",
        "weights met",
        "worst difference",
        "missing",
        "in their place",
        "gain, of the optimum",
        "NB",
    ]
    return markdown(head, body)


def ranges(sizes: list[int]) -> str:
    """Return increasing numbers, those without a hole between them as a range."""
    runs: list[list[int]] = []
    for k in sizes:
        if runs and runs[-1][-1] == k - 1:
            runs[-1].append(k)
        else:
            runs.append([k])
    told = [f"{r[0]} to {r[-1]}" if len(r) > 1 else str(r[0]) for r in runs]
    return ", ".join(told)


def larger_text(units: dict[str, Any]) -> str:
    """Say at which larger k the optimum holds all of Table 4."""
    lines = []
    for place in PLACES:
        unit = units.get(f"larger: {place}")
        if unit is None:
            continue
        if unit["first_k"] is None:
            first = "the optimum has not all nine up to k = 40"
        else:
            first = (
                f"the optimum has all nine from k = {unit['first_k']} on, with weights "
                f"within {unit['largest_difference']:.3f} of Table 4"
            )
        rules = [
            f"the nine largest {rule}s are Table 4 at k = {ranges(at)}"
            for rule, at in (("weight", unit["by_weight"]), ("gain", unit["by_gain"]))
            if at
        ]
        if not rules:
            rules = ["its nine largest weights or gains are never Table 4"]
        lines.append(f"- {TITLES[place]}: {'; '.join([first, *rules])}.")
    return "\n".join(lines) + "\n"


def finding(units: dict[str, Any]) -> str:
    """Say which settings give exactly Table 4, and what the optimum is there."""
    lines = []
    for key, unit in units.items():
        if not key.startswith("search: "):
            continue
        tokens, stop, values, alpha = key.removeprefix("search: ").split(", ")
        for name, one in unit.items():
            shared, met, worst = agreement(one)
            if shared < K:
                continue
            best = unit["certified optimum"]
            where = TITLES[f"{tokens}, {stop}"]
            text = (
                f"- {name}, {where}, {values}, alpha = {alpha}: all nine words, {met} "
                f"of 9 weights to the printed digit (worst difference {worst:.3f}), "
                f"accuracy {percent(one['accuracy'])}."
            )
            if name == "published code":
                lost = sorted(set(one["words"]) - set(best["words"]))
                won = sorted(set(best["words"]) - set(one["words"]))
                more = f"{best['gain'] - one['gain']:.1f} nats (of {best['gain']:,.0f})"
                text += (
                    f" The optimum has {', '.join(won)} in place of {', '.join(lost)} "
                    f"and gains {more} more; its accuracy is "
                    f"{percent(best['accuracy'])}."
                    if won
                    else " It is the optimum."
                )
            lines.append(text)
    return "\n".join(lines or ["No setting gives all nine words."]) + "\n"


def document(folder: Path) -> str:
    """Return the page."""
    content = read_parts(folder)[STUDY]
    units = content["rows"]
    places = [place for place in PLACES if f"lists: {place}" in units]
    n_test = units[f"lists: {places[0]}"]["n_test"]
    error = 100 * np.sqrt(0.7 * 0.3 / n_test)
    text = [
        HEAD.format(n_test=n_test, error=error, around=surroundings_line(content)),
        "## Table 4 of the paper\n",
        ", ".join(f"{word} {w:+.2f}" for word, w in TABLE_4.items())
        + f"; test accuracy {percent(PRINTED_ACCURACY, 1)}.\n",
        "Settings that give exactly these nine words:\n",
        finding(units),
    ]
    for place in places:
        unit = units[f"lists: {place}"]
        best = unit["lists"]["certified optimum"]["gain"]
        gap = unit["relaxation_gap"]
        text += [
            f"## Nine words: {TITLES[place]}\n",
            f"{unit['n_words']:,} words. The relaxation exceeds the optimum by "
            f"{gap:.1f} nats ({100 * gap / best:.3f} % of the gain); "
            f"{'proven optimal' if unit['is_optimal'] else 'not proven optimal'} "
            f"after {unit['nodes']} nodes. Naive Bayes with all words: "
            f"{percent(unit['all_words'])}.\n",
            list_table(unit),
        ]
        if any("alpha = 0" in name for name in unit["lists"]):
            text.append("\\* Chosen without smoothing, evaluated with alpha = 1.\n")
    text += [
        "## Which setting gives Table 4\n",
        "The optimum and the published code in each setting, all of Table 4 in bold. "
        '"Weights met": those equal to Table 4 after rounding. HTML tags only add the '
        "word `br`, and rare words (min_df) gain too little to be chosen: neither "
        "matters here.\n",
        search_table(units),
        "As a part of a larger support (counts, alpha = 0):\n",
        larger_text(units),
    ]
    return "\n".join(text)


# ------------------------------------------------------------------------------ figure


def draw(folder: Path) -> None:
    """Draw the weights: Table 4 beside the published code and the optimum."""
    units = read_parts(folder)[STUDY]["rows"]
    figure, (left, right) = new_figure(1, 2, width=10.0, height=5.0)
    setting = units["search: one letter, no stop words, count, 0"]
    bars = {"Table 4, as printed": TABLE_4}
    if "published code" in setting:
        bars["published code, rerun"] = of_words(setting["published code"])
    bars["certified optimum"] = of_words(setting["certified optimum"])
    draw_bars(left, bars, (GREY, ORANGE, BLUE) if len(bars) == 3 else (GREY, BLUE))
    left.set_title("Stop words left out, no smoothing", fontsize=11)
    left.legend(loc="upper left", frameon=False, fontsize=9)
    lists = units["lists: one letter, all words"]["lists"]
    bars = {
        f"certified optimum, NB {percent(lists['certified optimum']['accuracy'], 1)}": (
            of_words(lists["certified optimum"])
        ),
        f"refine=True, NB {percent(lists['refine=True']['accuracy'], 1)}": of_words(
            lists["refine=True"]
        ),
    }
    draw_bars(right, bars, (BLUE, GREEN))
    right.set_title("All words, alpha = 1", fontsize=11)
    right.legend(loc="upper left", frameon=False, fontsize=9)
    title = "Nine words of IMDB"
    published = setting.get("published code", {"words": [], "weights": []})
    if agreement(published)[:2] == (K, K):
        title += ": Table 4 is the published code without stop words"
    figure.suptitle(title, fontsize=12)
    path = folder / "figure_weights.png"
    save(figure, path)


def draw_bars(axes: Any, bars: dict[str, dict[str, float]], colours: Any) -> None:
    """Draw one group of bars a word, the most negative at the foot."""
    mean: dict[str, list[float]] = {}
    for weights in bars.values():
        for word, weight in weights.items():
            mean.setdefault(word, []).append(weight)
    words = sorted(mean, key=lambda word: float(np.mean(mean[word])))
    height = 0.8 / len(bars)
    for at, (name, weights) in enumerate(bars.items()):
        offset = 0.4 - (at + 0.5) * height
        places = [i + offset for i, word in enumerate(words) if word in weights]
        values = [weights[word] for word in words if word in weights]
        axes.barh(places, values, height=height, color=colours[at], label=name)
    axes.set_yticks(range(len(words)), words)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("weight, log theta+ - log theta- (nats)")
