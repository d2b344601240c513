"""Is l1 logistic regression 1,000 times slower? Selections at 5 %, timed in turns.

The paper's claim, on the count vectors of its five texts: seconds to select 5 % of the
words by likelihood and refined by weights, against one fit of l1 logistic regression at
a penalty that is known already (with the paper's solver, saga with 100 passes; with
liblinear, the strongest of scikit-learn; with celer), the search for that penalty, the
published code of the paper, and plain MultinomialNB. Peers run in their own environment
with the rows in memory; all sides take turns and the best of each counts.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from ledger import Ledger, markdown, progress, read_parts, run_script
from peer_environment import DEFAULT, PEERS, PeerWorker
from sklearn.naive_bayes import MultinomialNB
from study_run import at_least_one, names_of, run_study, study_parser
from text_vectors import FILES, NAMES, TITLES, available, load, vectors, wanted_size

import bayesieve
from measurement import timed

STUDY = "two_stage_speed"
PERCENT = 5.0
REPEATS = 5
SIDES = {
    "likelihood": "ours, likelihood",
    "refined": "ours, refined by weights",
    "naive_bayes": "MultinomialNB, all words",
    "published": "published code",
    "l1_liblinear": "l1 logistic, liblinear, one fit",
    "l1_celer": "l1 logistic, celer, one fit",
    "l1_saga": "l1 logistic, saga, one fit",
    "search": "l1 logistic, liblinear, with its search",
}
SLOW = ("l1_celer", "l1_saga")  # measured less often
SLOWER = ("naive_bayes", "published", "l1_liblinear", "l1_celer", "l1_saga", "search")


def own_seconds(side: str, X: Any, y: np.ndarray, k: int) -> float:
    """Return the seconds of one of our sides, or of MultinomialNB."""
    if side == "naive_bayes":
        model = MultinomialNB()
    else:
        model = bayesieve.NaiveFeatureSelector(k=k, refine=side == "refined")
    return timed(lambda: model.fit(X, y))[0]


def measure(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds of every side and repetition on one set."""
    data = vectors(load(name), "count", 0)
    X, y = data.X_train, data.y_train
    k = wanted_size(X.shape[1], PERCENT)
    seconds: dict[str, list[float]] = {side: [] for side in SIDES}
    facts: dict[str, Any] = {}
    with PeerWorker(X, y, options.environment) as worker:
        searched = worker.ask("l1_logistic", limit=options.limit, k=k)
        if not searched["ended"]:
            sys.exit(f"liblinear found no penalty on {name}: {searched['why']}")
        seconds["search"].append(searched["seconds"])
        facts["fits of the search"] = searched["fits"]
        facts["C"] = searched["C"]
        for at in range(options.repeats):
            for side in ("likelihood", "refined", "naive_bayes"):
                seconds[side].append(own_seconds(side, X, y, k))
            for side in ("published", "l1_liblinear", "l1_celer", "l1_saga"):
                more = {"alpha": 1.0} if side == "published" else {"C": searched["C"]}
                if side in SLOW and at >= options.slow_repeats:
                    continue
                answer = worker.ask(side, limit=options.limit, k=k, **more)
                if answer["ended"]:
                    seconds[side].append(answer["seconds"])
                facts[f"{side} ended"] = answer["ended"]
                facts[f"{side} columns"] = answer.get("nonzero")
                facts[f"{side} converged"] = answer.get("converged")
            progress(f"{name}: repetition {at + 1} of {options.repeats}")
    rows, columns = X.shape
    return {
        "rows": rows,
        "columns": columns,
        "nonzeros": int(X.nnz),
        "k": k,
        "seconds": {
            side: [round(s, 6) for s in some] for side, some in seconds.items()
        },
        **facts,
    }


# ------------------------------------------------------------------------------ tables


def best(found: dict[str, Any], side: str) -> float | None:
    """Return the best repetition of a side."""
    return min(found["seconds"][side], default=None)


def seconds_text(value: float | None) -> str:
    """Return seconds as milliseconds where that reads better."""
    if value is None:
        return "—"
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def ratio_text(value: float | None, base: float | None) -> str:
    """Return how many times as long it takes."""
    if value is None or base is None:
        return "—"
    ratio = value / base
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2g}"


def verdict(sets: dict[str, Any]) -> str:
    """Return what the ratios say of the paper's "more than 1000 times"."""
    saga, liblinear = [], []
    for found in sets.values():
        base = best(found, "likelihood")
        saga += [s / base for s in [best(found, "l1_saga")] if s]
        liblinear += [s / base for s in [best(found, "l1_liblinear")] if s]
    above = sum(ratio > 1000 for ratio in saga)
    return (
        f'The paper says "more than 1000 times". Against its own solver, saga, one fit '
        f"takes {min(saga):,.0f} to {max(saga):,.0f} times as long as our selection "
        f"(above 1,000 on {above} of {len(saga)} sets); against liblinear "
        f"{min(liblinear):,.1f} to {max(liblinear):,.1f} times. Each of these fits is "
        "at a penalty that leaves k words and has to be searched for first.\n"
    )


def document(folder: Path) -> str:
    """Return tables.md."""
    content = read_parts(folder)[STUDY]
    sets = content["rows"]
    repeats = max(len(found["seconds"]["likelihood"]) for found in sets.values())
    names = [name for name in NAMES if name in sets]
    versions = {**content["packages"], **content["peers"]}
    sizes = [
        [
            TITLES[name],
            f"{sets[name]['rows']:,}",
            f"{sets[name]['columns']:,}",
            f"{sets[name]['k']:,}",
        ]
        for name in names
    ]
    times = [
        [label, *(seconds_text(best(sets[name], side)) for name in names)]
        for side, label in SIDES.items()
    ]

    def ratios(base: str) -> str:
        body = [
            [
                SIDES[side],
                *(ratio_text(best(sets[n], side), best(sets[n], base)) for n in names),
            ]
            for side in SLOWER
        ]
        return markdown(["", *(TITLES[n] for n in names)], body)

    return "\n".join(
        [
            "# Seconds to select 5 % of the words\n",
            "Count vectors, training rows of the first split, smoothing 1. Best of "
            f"{repeats} repetitions in turns (saga and celer one to "
            f"{repeats}, the search once), load "
            f"{content['load_average'][0]:g} at the beginning. Ours uses all "
            "processors where it pays, the peers one.\n",
            ", ".join(f"{name} {version}" for name, version in versions.items())
            + f"; Python {content['python']}; {content['processor']}, "
            f"{content['processors']} processors.\n",
            verdict(sets),
            markdown(["", "rows", "words", "k"], sizes),
            markdown(["", *(TITLES[n] for n in names)], times),
            "Times as long as our selection by likelihood:\n",
            ratios("likelihood"),
            "Times as long as our selection refined by weights:\n",
            ratios("refined"),
        ]
    )


def draw(folder: Path) -> None:
    """Write the figure: seconds of each side, a group of bars for each set."""
    from figure_style import (
        BLUE,
        GREEN,
        GREY,
        ORANGE,
        PURPLE,
        RED,
        SKY,
        new_figure,
        save,
    )

    sets = read_parts(folder)[STUDY]["rows"]
    names = [name for name in NAMES if name in sets]
    colours = dict(
        zip(
            ("likelihood", "refined", "published", "l1_liblinear", "l1_celer"),
            (BLUE, RED, SKY, GREEN, PURPLE),
            strict=True,
        )
    )
    colours |= {"l1_saga": ORANGE, "search": GREY}
    figure, axes = new_figure(width=9, height=4.4)
    width = 0.8 / len(colours)
    for at, (side, colour) in enumerate(colours.items()):
        heights = [best(sets[name], side) or np.nan for name in names]
        places = np.arange(len(names)) + (at - (len(colours) - 1) / 2) * width
        axes.bar(places, heights, width, color=colour, label=SIDES[side])
    axes.set_yscale("log")
    axes.set_xticks(np.arange(len(names)), [TITLES[name] for name in names])
    axes.set_ylabel("seconds (log scale)")
    axes.set_title("Selecting 5 % of the words: seconds of each method")
    axes.grid(axis="x", visible=False)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    save(figure, folder / "figure_seconds.png")


# -------------------------------------------------------------------------------- runs


def run(options: argparse.Namespace) -> None:
    """Measure the sets that are missing, writing after each."""
    store = Ledger(options.folder, STUDY, study=STUDY, percent=PERCENT, peers=PEERS)
    for name in options.sets:
        if name in available() and name not in store:
            store.put(name, measure(name, options))


def main(arguments: list[str] | None = None) -> None:
    parser = study_parser(STUDY, __doc__, "MPQA, one repetition")
    parser.add_argument("--environment", type=Path, default=DEFAULT)
    parser.add_argument("--sets", type=names_of(FILES), default=NAMES)
    parser.add_argument("--repeats", type=at_least_one, default=REPEATS)
    parser.add_argument("--slow-repeats", type=at_least_one, default=2)
    parser.add_argument("--limit", type=float, default=600.0)
    options = parser.parse_args(arguments)
    if options.quick:
        options.sets, options.repeats, options.slow_repeats = ["mpqa"], 1, 1
    run_study(STUDY, options, run, document, draw)


if __name__ == "__main__":
    run_script(main)
