"""Tables of table_classifiers, made from what its runs have stored."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ledger import markdown, read_parts
from probability_scores import BINS, calibration_error
from scipy.stats import rankdata
from uci_generators import GENERATORS
from uci_sets import NAMES, VARIANTS

KHIOPS, WITHOUT_TREES = "khiops", "khiops_no_trees"
LABELS = {
    KHIOPS: "Khiops",
    WITHOUT_TREES: "Khiops without trees",
    "ebm": "EBM",
    "hist_gradient_boosting": "HistGradientBoosting",
    "logistic_regression": "LogisticRegression",
    "random_forest": "RandomForest",
}
SCORES = ["AUC", "macro AUC", "log loss", "accuracy", "compression"]
MEASURES = [*SCORES, "kept", "seconds", "inside seconds", "test rows"]
COLUMNS = [
    *MEASURES,
    *(f"{kind} {at}" for kind in ("rows", "top", "hits") for at in range(BINS)),
]
UNFINISHED = "unfinished"
SECONDS = "seconds"
MORE_IS_BETTER = {"AUC": 1.0, "log loss": -1.0, "accuracy": 1.0}
SUMMARY = ["AUC", "macro AUC", "log loss", "accuracy", "calibration error"]
SUMMARY += ["compression", "kept"]
INTRODUCTION = f"""# Classifiers of tables

Written by `table_classifiers.py`; `table_worker.py` says how each peer is used. The
same ten folds for every side; where a side has fewer, it has the first ones. AUC: one
class against the rest, weighted by frequency; macro AUC: every class counts alike. Log
loss in nats a row (probabilities below 1e-15 raised to it, which a forest's zeros
need). Calibration error: mean difference of hits and probability of the most probable
class over {BINS} bins of equal width, all test rows of a set together; fewer rows make
it larger by chance. Compression: 1 - loss / loss of the training priors. Kept: columns
used, by trees and pairs too, of the sides that leave any out.
"""
FOLD_SECONDS = """Seconds: median of one fit while the machine did other work too, no
more than an order of magnitude; compare those of the table Seconds.
"""


class Stored(NamedTuple):
    """One side on one set: its folds as (folds, COLUMNS), why it ended, its facts."""

    rows: np.ndarray
    unfinished: str | None
    header: dict[str, Any]

    @property
    def folds(self) -> int:
        """Folds that are there."""
        return self.rows.shape[0]

    def column(self, name: str, folds: int | None = None) -> np.ndarray:
        """Return one measure of the first folds."""
        return self.rows[:folds, COLUMNS.index(name)]

    def mean(self, name: str, folds: int | None = None) -> float:
        """Return a mean of folds; NaN where the measure is not defined."""
        if name == "calibration error":
            bins = self.rows[:folds, len(MEASURES) :].sum(axis=0).reshape(3, BINS)
            return calibration_error(bins)
        values = self.column(name, folds)
        values = values[~np.isnan(values)]
        return float(values.mean()) if values.size else float("nan")


Side = dict[str, Stored]


def stored(folder: Path) -> dict[str, Side]:
    """Return side -> set -> its folds; peers first, in the order of LABELS."""
    parts = read_parts(folder)
    others = {key.partition("/")[0] for key in parts if "/" in key}
    found: dict[str, Side] = {}
    for side in (*LABELS, *sorted(others - {*LABELS, SECONDS})):
        for name in (*NAMES, *VARIANTS, *GENERATORS):
            if (part := parts.get(f"{side}/{name}")) is None:
                continue
            rows = np.array(part["rows"].get("folds", []), dtype=np.float64)
            rows = rows.reshape(-1, len(COLUMNS))
            why = part["rows"].get(UNFINISHED)
            found.setdefault(side, {})[name] = Stored(rows, why, part)
    return found


def measured(side: Side) -> Side:
    """Return the sets of a side that came to their end."""
    return {n: one for n, one in side.items() if one.folds and not one.unfinished}


def label_of(side: str) -> str:
    """Return a side's name in the tables; ours are called by their options."""
    return LABELS.get(side, side)


def number(value: float, form: str = ".4f") -> str:
    """Return a number, nothing for NaN."""
    return "" if np.isnan(value) else f"{value:{form}}"


def _summary_cells(mean: Callable[[str], float]) -> list[str]:
    return [number(mean(n), ".1f" if n == "kept" else ".4f") for n in SUMMARY]


# -------------------------------------------------------------------------- overviews


def _over_sets(
    side: Side, names: Iterable[str], folds: dict[str, int] | None = None
) -> list[str]:
    limits = folds or {}
    values = {
        column: [side[name].mean(column, limits.get(name)) for name in names]
        for column in SUMMARY
    }
    return _summary_cells(lambda column: statistics.fmean(values[column]))


def overview(found: dict[str, Side]) -> str:
    """Return a line for each side: means over the sets it has, all its folds."""
    body = []
    for side, sets in found.items():
        ended = measured(sets)
        if ended:
            folds = sorted({one.folds for one in ended.values()})
            told = f"{folds[0]}" if len(folds) == 1 else f"{folds[0]} to {folds[-1]}"
            cells = _over_sets(ended, list(ended))
            body.append([label_of(side), str(len(ended)), told, *cells])
    return markdown(["", "sets", "folds", *SUMMARY], body)


def common(found: dict[str, Side]) -> dict[str, int]:
    """Return the sets that every side has, each with the folds that every side has."""
    sides = [measured(sets) for sets in found.values()]
    names = [name for name in sides[0] if all(name in side for side in sides)]
    return {name: min(side[name].folds for side in sides) for name in names}


def mean_ranks(
    found: dict[str, Side], folds: dict[str, int], column: str
) -> dict[str, float]:
    """Return each side's mean place over these sets, 1 the best; ties share theirs."""
    sign = -MORE_IS_BETTER[column]
    places = [
        rankdata([sign * sets[name].mean(column, n) for sets in found.values()])
        for name, n in folds.items()
    ]
    return dict(zip(found, np.mean(places, axis=0).tolist(), strict=True))


def common_overview(found: dict[str, Side]) -> str:
    """Return the same lines over the sets and folds that every side has, and places."""
    folds = common(found)
    if not folds:
        return "There is no set that every side has.\n"
    ranks = [mean_ranks(found, folds, column) for column in ("AUC", "log loss")]
    body = [
        [
            label_of(side),
            *_over_sets(sets, list(folds), folds),
            *(f"{places[side]:.2f}" for places in ranks),
        ]
        for side, sets in found.items()
    ]
    missing = sorted({name for sets in found.values() for name in sets} - set(folds))
    text = f"{len(folds)} sets, {min(folds.values())} to {max(folds.values())} folds."
    if missing:
        text += f" Not every side has {', '.join(missing)}."
    text += " Places: mean over the sets of 1 for the best side, 2 for the next, ..."
    head = ["", *SUMMARY, "place by AUC", "place by log loss"]
    return text + "\n\n" + markdown(head, body)


# ------------------------------------------------------------------------ two sides


class Difference(NamedTuple):
    """Ours less the peer's over the folds that both have, so that more is better."""

    mean: float
    error: float

    @property
    def mark(self) -> str:
        """Say who is ahead by more than a standard error."""
        if not abs(self.mean) > self.error:
            return ""
        return "ahead" if self.mean > 0 else "behind"


def difference(ours: Stored, peer: Stored, name: str) -> Difference:
    """Return the mean of one measure's differences over folds and its standard error.

    A fold without an AUC is left out. One fold has no standard error: NaN.
    """
    folds = min(ours.folds, peer.folds)
    values = ours.column(name, folds) - peer.column(name, folds)
    values = MORE_IS_BETTER[name] * values[~np.isnan(values)]
    if values.size < 2:
        return Difference(float(values.mean()), float("nan"))
    error = values.std(ddof=1) / np.sqrt(values.size)
    return Difference(float(values.mean()), float(error))


def compared(found: dict[str, Side], ours: str, peer: str) -> dict[str, Any]:
    """Return means over the sets and folds that both have, and who is ahead where."""
    a, b = measured(found.get(ours, {})), measured(found.get(peer, {}))
    names = [name for name in b if name in a]
    summary: dict[str, Any] = {"sets": len(names)}
    if not names:
        return summary
    folds = {name: min(a[name].folds, b[name].folds) for name in names}
    for column in MORE_IS_BETTER:
        summary[column] = {
            told: statistics.fmean(side[n].mean(column, folds[n]) for n in names)
            for told, side in (("ours", a), ("peer", b))
        }
        apart = {name: difference(a[name], b[name], column) for name in names}
        for mark in ("ahead", "behind"):
            summary[column][mark] = [n for n, one in apart.items() if one.mark == mark]
    return summary


def against(found: dict[str, Side], ours: str, peer: str) -> str:
    """Return the table of differences of two sides, set by set."""
    summary = compared(found, ours, peer)
    a, b = found[ours], found[peer]
    head = [""]
    for column in MORE_IS_BETTER:
        head += [f"{column} {label_of(peer)}", "ours", "better by", "±", "who"]
    body = []
    for name in (name for name in measured(b) if name in measured(a)):
        cells, folds = [name], min(a[name].folds, b[name].folds)
        for column in MORE_IS_BETTER:
            one = difference(a[name], b[name], column)
            cells += [number(side[name].mean(column, folds)) for side in (b, a)]
            cells += [f"{one.mean:+.4f}", number(one.error), one.mark]
        body.append(cells)
    last = ["mean"]
    for column in MORE_IS_BETTER:
        both = summary[column]
        last += [number(both["peer"]), number(both["ours"])]
        last += [f"{MORE_IS_BETTER[column] * (both['ours'] - both['peer']):+.4f}"]
        last += ["", f"{len(both['ahead'])} / {len(both['behind'])}"]
    lines = []
    for column in MORE_IS_BETTER:
        ahead, behind = summary[column]["ahead"], summary[column]["behind"]
        told = f" ({', '.join(behind)})" if behind else ""
        lines.append(
            f"{column}: ahead by more than a standard error on {len(ahead)} sets, "
            f"behind on {len(behind)}{told}."
        )
    return markdown(head, [*body, last]) + "\n" + "\n\n".join(lines) + "\n"


# ---------------------------------------------------------------------------- seconds


def fastest(folder: Path) -> dict[str, dict[str, float | str]]:
    """Return set -> side -> least seconds of the first fold, or why there are none."""
    parts = read_parts(folder)
    return {
        name: {
            side: min(found) if isinstance(found, list) else found
            for side, found in parts[f"{SECONDS}/{name}"]["rows"].items()
        }
        for name in (*NAMES, *VARIANTS, *GENERATORS)
        if f"{SECONDS}/{name}" in parts
    }


def times_faster(
    seconds: dict[str, dict[str, float | str]], ours: str, peer: str
) -> dict[str, float]:
    """Return set -> the peer's seconds over ours, where both have some."""
    return {
        name: sides[peer] / sides[ours]
        for name, sides in seconds.items()
        if all(isinstance(sides.get(side), float) for side in (ours, peer))
    }


def seconds_table(seconds: dict[str, dict[str, float | str]]) -> str:
    """Return the seconds of all sides, in brackets how many times ours they are."""
    known = {side for sides in seconds.values() for side in sides}
    own = sorted(known - set(LABELS))
    sides = [side for side in LABELS if side in known] + own
    base = own[0] if own else None
    body = []
    for name, found in seconds.items():
        cells = [name]
        for side in sides:
            value = found.get(side, "")
            text = f"{value:.3g}" if isinstance(value, float) else value
            if base and side != base and isinstance(value, float):
                text += f" ({value / found[base]:.1f})"
            cells.append(text)
        body.append(cells)
    middle, least = ["times, median"], ["times, least"]
    for side in sides if base else []:
        ratios = list(times_faster(seconds, base, side).values())
        middle.append(f"{statistics.median(ratios):.1f}" if ratios else "")
        least.append(f"{min(ratios):.1f}" if ratios else "")
    text = (
        "One fit of the first fold, the sides in turns in one run, the least of up to "
    )
    text += "five; in brackets: times the seconds of "
    return f"{text}{base}.\n\n" + markdown(
        ["", *map(label_of, sides)], [*body, middle, least]
    )


# --------------------------------------------------------------------------- the page


def set_table(found: dict[str, Side], name: str) -> str:
    """Return the table of one set: a line for each side."""
    here = {side: sets[name] for side, sets in found.items() if name in sets}
    facts = next(iter(here.values())).header
    n, d = facts["shape"]
    body = []
    for side, one in here.items():
        cells = [""] * len(SUMMARY)
        if one.folds:
            cells = _summary_cells(one.mean)
            cells.append(number(float(np.median(one.column(SECONDS))), ".3g"))
        else:
            cells.append("")
        told = str(one.folds) + (f", then {one.unfinished}" if one.unfinished else "")
        body.append([label_of(side), told, *cells])
    text = f"{n:,} rows, {d} columns, {facts['classes']} classes.\n\n"
    return text + markdown(["", "folds", *SUMMARY, SECONDS], body)


def document(folder: Path) -> str:
    """Return the page of all that is in the folder."""
    found = stored(folder)
    parts = [INTRODUCTION]
    if found:
        parts += ["## Overview: each side on the sets it has\n", overview(found)]
        parts += ["## On the sets and folds that every side has\n"]
        parts += [common_overview(found)]
    for ours in (side for side in found if side not in LABELS):
        for peer in (KHIOPS, WITHOUT_TREES):
            if compared(found, ours, peer)["sets"]:
                parts += [f"## {ours} against {label_of(peer)}\n"]
                parts += [against(found, ours, peer)]
    if seconds := fastest(folder):
        parts += ["## Seconds\n", seconds_table(seconds)]
    if found:
        parts += ["## Set by set\n", FOLD_SECONDS]
    for name in (*NAMES, *VARIANTS, *GENERATORS):
        if any(name in sets for sets in found.values()):
            parts += [f"### {name}\n", set_table(found, name)]
    return "\n".join(parts)
