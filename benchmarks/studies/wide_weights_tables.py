"""The tables of wide_weights.py, made from what its ledger holds.

Accuracy and log loss for every share and set, mean ranks over all cells, every cell in
which ours is behind, log loss beside l1 logistic regression and naive Bayes, seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from ledger import markdown, read_parts
from scipy.stats import rankdata
from wide_methods import BY_NAME, COLUMNS, JOB_OF, LABELS, NAIVE, SIDES, WEIGHTED
from wide_peers import SLACK
from wide_sets import NAMES, TITLES

PAGE = """# Screening, then weights, beside other selectors at equal numbers of words

Written by `wide_weights_tables.py` from the results beside it. Every method has the
same k, a share of the words of the training rows. "MNB": `MultinomialNB` fitted on the
chosen words; the others answer by their own model. Behind ± the standard error: over
resplits, or over the test rows of a fixed test part (IMDB, 20 newsgroups, SST2, TREC,
Twitter). The best of a column is bold, "all features" apart. "-": did not end in time
or has no probabilities; empty: not run.
"""
MEASURES = ("accuracy", "log loss")
SIDE_TITLES = {
    "ours": "ours, weighted",
    "alone": "ours, without weights",
    "peers": "peer",
    "all": "reference",
}


@dataclass(frozen=True)
class Cell:
    """One method on one set at one share, over its splits."""

    scores: dict[str, float]  # absent: did not end, or no probabilities
    errors: dict[str, float]
    k: float
    features: float
    seconds: float
    fit_seconds: float
    converged: bool
    runs: tuple[int, ...]


Place = tuple[str, float]  # set, share in percent
Cells = dict[Place, dict[str, Cell]]


# --------------------------------------------------------------------------- reading


def stored(folder: Path) -> list[dict[str, Any]]:
    """Return the parts in the order of jobs and sets."""
    parts = read_parts(folder)
    names = [f"{job}/{name}" for job in BY_NAME for name in NAMES]
    return [parts[name] for name in names if name in parts]


def cell_of(rows: Sequence[Sequence[float | None]], fixed: bool) -> Cell:
    """Return means over splits, and the standard errors that belong to them."""
    table = {name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)}
    scores, errors = {}, {}
    for name in MEASURES:
        values = table[name]
        if any(value is None for value in values):
            continue
        scores[name] = float(np.mean(values))
        if fixed or len(values) == 1:
            errors[name] = float(table[f"{name} error"][0])
        else:
            errors[name] = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    mean = {
        name: float(np.mean([np.nan if v is None else v for v in table[name]]))
        for name in ("k", "features", "seconds", "fit seconds")
    }
    return Cell(
        scores,
        errors,
        mean["k"],
        mean["features"],
        mean["seconds"],
        mean["fit seconds"],
        all(value in (None, 1) for value in table["converged"]),
        tuple(sorted({int(value) for value in table["run"]})),
    )


def cells_of(contents: Sequence[dict[str, Any]]) -> Cells:
    """Return place -> method -> cell, of the cells that have all their splits."""
    rows: dict[tuple[Place, str], Any] = {}
    fixed: dict[str, bool] = {}
    for content in contents:
        fixed[content["data"]] = content["fixed"]
        for key, values in content["rows"].items():
            method, share = key.rsplit(" ", 1)
            if method in LABELS:
                rows[(content["data"], float(share)), method] = values
    splits: dict[Place, int] = {}
    for (place, _), values in rows.items():
        splits[place] = max(splits.get(place, 0), len(values))
    order = sorted(splits, key=lambda place: (place[1], NAMES.index(place[0])))
    result: Cells = {place: {} for place in order}
    for place in order:
        for method in LABELS:
            values = rows.get((place, method), [])
            if len(values) == splits[place]:
                result[place][method] = cell_of(values, fixed[place[0]])
    return result


def methods_in(cells: Cells, sides: Sequence[str]) -> list[str]:
    """Return the methods of some sides that have a cell anywhere, in their order."""
    here = {method for row in cells.values() for method in row}
    return [m for m in LABELS if m in here and SIDES[m] in sides]


# ---------------------------------------------------------------------------- scores


def written(value: float, measure: str) -> str:
    """Return a score as the tables write it: percent, or nats."""
    return f"{100 * value:.1f}" if measure == "accuracy" else f"{value:.3f}"


def is_better(value: float, other: float, measure: str) -> bool:
    """Say whether a score beats another one."""
    return value > other if measure == "accuracy" else value < other


def best_of(
    row: dict[str, Cell], methods: Sequence[str], measure: str
) -> tuple[str, float] | None:
    """Return the best method and its score; the first of equals."""
    best: tuple[str, float] | None = None
    for method in methods:
        if method in row and measure in row[method].scores:
            value = row[method].scores[measure]
            if best is None or is_better(value, best[1], measure):
                best = method, value
    return best


def place_name(place: Place) -> str:
    """Return a place as the lists write it."""
    return f"{TITLES[place[0]]} {place[1]:g} %"


def score_tables(cells: Cells, measure: str) -> list[str]:
    """Return one table a share: methods down, sets across."""
    methods = methods_in(cells, ("ours", "alone", "peers", "all"))
    if measure == "log loss":
        with_scores = {
            m for row in cells.values() for m, c in row.items() if measure in c.scores
        }
        methods = [m for m in methods if m in with_scores]
    ranked = [m for m in methods if SIDES[m] != "all"]
    parts = []
    for share in sorted({share for _, share in cells}):
        places = [place for place in cells if place[1] == share]
        body = []
        sizes = [
            f"{next(iter(cells[p].values())).k:,.0f}" if cells[p] else ""
            for p in places
        ]
        body.append(["k", *sizes])
        for method in methods:
            line = [LABELS[method]]
            for place in places:
                cell = cells[place].get(method)
                if cell is None:
                    line.append("")
                    continue
                if measure not in cell.scores:
                    line.append("-")
                    continue
                value = cell.scores[measure]
                text = written(value, measure)
                best = best_of(cells[place], ranked, measure)
                if best is not None and text == written(best[1], measure):
                    text = f"**{text}**" if SIDES[method] != "all" else text
                line.append(f"{text} ±{written(cell.errors[measure], measure)}")
            body.append(line)
        head = ["", *(TITLES[name] for name, _ in places)]
        parts += [f"### {share:g} % of the words\n", markdown(head, body)]
    return parts


# ----------------------------------------------------------------------------- ranks


def ranks(
    cells: Cells, methods: Sequence[str], measure: str
) -> tuple[np.ndarray, list[Place]]:
    """Return (places, methods) ranks, 1 the best, and the places they are of.

    Only of places that every method has been run on; one that did not end is last.
    """
    sign = -1.0 if measure == "accuracy" else 1.0
    rows, places = [], []
    for place, row in cells.items():
        if all(method in row for method in methods):
            values = [sign * row[m].scores.get(measure, sign * np.inf) for m in methods]
            values = [np.inf if not np.isfinite(v) else v for v in values]
            rows.append(rankdata(values))
            places.append(place)
    return np.array(rows).reshape(len(rows), len(methods)), places


def rank_table(cells: Cells, measure: str) -> str:
    """Return mean ranks: over all cells, for each share, and with one of ours alone."""
    methods = methods_in(cells, ("ours", "alone", "peers"))
    if measure == "log loss":  # an SVM is not last, it does not take part
        methods = [
            m
            for m in methods
            if any(measure in r[m].scores for r in cells.values() if m in r)
        ]
    others = [m for m in methods if SIDES[m] != "ours"]
    found, places = ranks(cells, methods, measure)
    if not places:
        return "No cell has all methods yet.\n"
    shares = sorted({share for _, share in places})
    of_share = np.array([share for _, share in places])
    order = np.argsort(found.mean(axis=0), kind="stable")
    body = []
    for at in order:
        method = methods[at]
        single = ""
        if SIDES[method] == "ours":
            alone, _ = ranks(cells, [method, *others], measure)
            single = f"{alone[:, 0].mean():.2f}"
        body.append(
            [
                LABELS[method],
                SIDE_TITLES[SIDES[method]],
                f"{found[:, at].mean():.2f}",
                *(f"{found[of_share == s, at].mean():.2f}" for s in shares),
                f"{int((found[:, at] == 1).sum())}",
                single,
            ]
        )
    head = ["", "side", "all cells", *(f"{s:g} %" for s in shares)]
    head += ["times first", "alone among the others"]
    leader = ""
    if others:
        theirs, _ = ranks(cells, others, measure)
        at = int(theirs.mean(axis=0).argmin())
        leader = (
            f"Without any of ours, {LABELS[others[at]]} leads with "
            f"{theirs[:, at].mean():.2f}.\n"
        )
    return (
        f"{len(places)} cells, {len(methods)} methods.\n\n"
        + markdown(head, body)
        + "\n"
        + leader
    )


# ---------------------------------------------------------------------------- losses


def behind(cell: Cell | None, other: float, measure: str) -> tuple[float, float] | None:
    """Return how far a cell is behind a score, and in standard errors of its own.

    None when it is not behind, or cannot be compared.
    """
    if cell is None or measure not in cell.scores:
        return None
    gap = other - cell.scores[measure]
    gap = gap if measure == "accuracy" else -gap
    if gap <= 0:
        return None
    error = cell.errors[measure]
    return gap, gap / error if error > 0 else np.inf


def behind_table(cells: Cells, measure: str) -> str:
    """Return every cell where one of ours is more than one standard error behind."""
    ours = methods_in(cells, ("ours",))
    ours = [
        m for m in ours if any(measure in r[m].scores for r in cells.values() if m in r)
    ]
    others = methods_in(cells, ("alone", "peers"))
    if not ours:
        return "None of ours has been run.\n"
    body, compared, lost = [], 0, dict.fromkeys(["best of ours", *ours], 0)
    for place, row in cells.items():
        best, own = best_of(row, others, measure), best_of(row, ours, measure)
        if best is None or own is None:
            continue
        compared += 1
        line = [place_name(place), f"{LABELS[best[0]]}: {written(best[1], measure)}"]
        entries = {"best of ours": row[own[0]], **{m: row.get(m) for m in ours}}
        for name, cell in entries.items():
            gap = behind(cell, best[1], measure)
            if gap is None or gap[1] <= 1:
                line.append("")
                continue
            lost[name] += 1
            who = f"{LABELS[own[0]]}: " if name == "best of ours" else ""
            line.append(f"{who}{written(gap[0], measure)} ({gap[1]:.1f})")
        if any(line[2:]):
            body.append(line)
    summary = [f"{LABELS.get(name, name)} {count}" for name, count in lost.items()]
    head = ["", "best of the others", "best of ours", *(LABELS[m] for m in ours)]
    text = f"Of {compared} cells behind by more than one standard error: "
    return text + f"{'; '.join(summary)}.\n\n" + (markdown(head, body) if body else "")


def loss_ratios(cells: Cells) -> str:
    """Return the log loss of ours over l1 logistic regression's and naive Bayes'."""
    ours = [m for m in methods_in(cells, ("ours",)) if m in WEIGHTED]
    naive = [m for m in methods_in(cells, ("ours", "alone", "peers")) if m in NAIVE]
    if not ours:
        return "None of ours has been run.\n"
    without = [m for m in naive if SIDES[m] != "ours"]
    body, within = [], {m: [0, 0, 0, 0] for m in ours}
    for place, row in cells.items():
        best = best_of(row, naive, "log loss")
        l1 = best_of(row, ["l1_logistic"], "log loss")
        if best is None or l1 is None:
            continue
        line = [place_name(place), f"{l1[1]:.3f}", f"{LABELS[best[0]]}: {best[1]:.3f}"]
        for method in ours:
            value = best_of(row, [method], "log loss")
            if value is None:
                line += ["", ""]
                continue
            to_l1, to_naive = value[1] / l1[1], value[1] / best[1]
            within[method][0] += to_l1 <= 1.05
            within[method][1] += to_naive < 1
            other = best_of(row, without, "log loss")
            within[method][2] += other is None or value[1] < other[1]
            within[method][3] += 1
            line.append(f"{to_l1:.3f}{'' if to_l1 <= 1.05 else ' !'}")
            line.append(f"{to_naive:.3f}{'' if to_naive < 1 else ' !'}")
        body.append(line)
    head = ["", "l1 logistic regression", "best naive Bayes"]
    for method in ours:
        head += [f"{LABELS[method]} / l1", "/ naive Bayes"]
    told = [
        f"{LABELS[m]}: at most 1.05 of l1 logistic regression's in {a} of {n} cells, "
        f"below every naive Bayes in {b}, in {c} when those on our own features are "
        "left out."
        for m, (a, b, c, n) in within.items()
    ]
    return "\n\n".join(told) + "\n\n" + markdown(head, body)


# ------------------------------------------------------------------- seconds, caveats


def seconds_table(cells: Cells) -> str:
    """Return the seconds of each job; for the l1 models, of one fit and of the search.

    In brackets behind the others' seconds: not of the same run as ours.
    """
    methods, seen = [], set()
    for method in methods_in(cells, ("ours", "alone", "peers")):
        if JOB_OF[method] not in seen:  # the first method of a job; MNB adds nothing
            seen.add(JOB_OF[method])
            methods.append(method)
    head = [""]
    for method in methods:
        head.append(LABELS[method])
        if method in ("l1_logistic", "l1_svm"):
            head.append("with the search")
    body = []
    for place, row in cells.items():
        runs = {
            run
            for m in methods
            if SIDES[m] == "ours" and m in row
            for run in row[m].runs
        }
        line = [place_name(place)]
        for method in methods:
            cell = row.get(method)
            values = [] if cell is None else [cell.fit_seconds]
            if method in ("l1_logistic", "l1_svm"):
                values = [None, None] if cell is None else [*values, cell.seconds]
            elif cell is None:
                values = [None]
            for value in values:
                text = (
                    "" if value is None else "-" if np.isnan(value) else f"{value:.3g}"
                )
                if text and runs and not runs & set(cell.runs):
                    text = f"({text})"
                line.append(text)
        body.append(line)
    return markdown(head, body)


def caveats(cells: Cells) -> str:
    """Return the cells that did not end, did not converge, or fell short of k."""
    lines = []
    for place, row in cells.items():
        for method, cell in row.items():
            if SIDES[method] == "all":
                continue
            words = []
            if "accuracy" not in cell.scores:
                words.append("did not end")
            elif cell.features < cell.k * (1 - SLACK):
                words.append(f"{cell.features:,.0f} of {cell.k:,.0f} words")
            elif cell.features > cell.k:
                words.append(f"{cell.features:,.1f} words, more than {cell.k:,.1f}")
            if not cell.converged:
                words.append("stopped by liblinear at its limit of iterations")
            if words:
                what = f"{place_name(place)}, {LABELS[method]}: {', '.join(words)}"
                lines.append(f"- {what}")
    return "\n".join(lines) + "\n" if lines else "None.\n"


def surroundings_of(contents: Sequence[dict[str, Any]]) -> str:
    """Return versions, machine and runs of the rows."""
    packages = {
        ", ".join(f"{n} {v}" for n, v in content["packages"].items())
        + f", Python {content['python']}"
        for content in contents
    }
    machines = {f"{c['processor']}, {c['processors']} processors" for c in contents}
    at = COLUMNS.index("run")
    runs = sorted(
        {int(row[at]) for c in contents for rows in c["rows"].values() for row in rows}
    )
    begun = ", ".join(
        datetime.fromtimestamp(run, UTC).strftime("%Y-%m-%d %H:%M") for run in runs
    )
    return (
        f"{'; '.join(sorted(packages))}. {'; '.join(sorted(machines))}. "
        f"Runs begun (UTC): {begun}.\n"
    )


def document(folder: Path) -> str:
    """Return the Markdown page of what is in a folder."""
    contents = stored(folder)
    cells = cells_of(contents)
    if not cells:
        return f"{PAGE}\nNothing is stored yet.\n"
    parts = [PAGE, surroundings_of(contents)]
    parts += ["## Mean ranks\n"]
    for measure in MEASURES:
        parts += [f"### By {measure}\n", rank_table(cells, measure)]
    parts += ["## Where ours is behind\n"]
    parts += [
        "More than one standard error of its own behind the best method without",
        "weights, peers and our sparse models alike: the distance, in brackets in",
        "standard errors.\n",
    ]
    for measure in MEASURES:
        parts += [f"### By {measure}\n", behind_table(cells, measure)]
    parts += ["## Log loss of the weighted posterior\n"]
    parts += [
        'Ratios; "!" where the goal (1.05 of l1 logistic regression\'s, below every',
        "naive Bayes at the same k) is missed.\n",
        loss_ratios(cells),
    ]
    parts += ["## Accuracy, percent\n", *score_tables(cells, "accuracy")]
    parts += ["## Log loss, nats a row\n", *score_tables(cells, "log loss")]
    parts += ["## Seconds of a fit\n"]
    parts += [
        "Mean over splits. l1 models: the one fit at the C that was found, then the",
        "whole search for it. In brackets: not of the same run as ours. Other work",
        "may have shared the machine; `benchmarks/wide_weights_speed.py` measures in",
        "turns.\n",
        seconds_table(cells),
    ]
    parts += ["## Cells with a remark\n", caveats(cells)]
    return "\n".join(parts)
