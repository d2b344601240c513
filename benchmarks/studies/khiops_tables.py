"""Tables of khiops_comparison, made from what its runs have stored."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import numpy as np
from ledger import markdown, read_parts
from uci_generators import GENERATORS
from uci_sets import NAMES, VARIANTS

KHIOPS = "khiops"
COLUMNS = [
    "auc",
    "log loss",
    "compression",
    "kept",
    "seconds",
    "inside seconds",
    "with other side",
    "test rows",
]
AUC, LOSS, RATE, KEPT, SECONDS, INSIDE, TOGETHER, TEST_ROWS = range(len(COLUMNS))
SAME = 0.0005
INTRODUCTION = """# SelectiveNB and Khiops

Written by `khiops_comparison.py`. Means over the folds (seconds of one fit: medians).
AUC: one class against the rest, weighted by frequency. Log loss in nats a row.
Compression: 1 - loss / loss of the training priors. Kept: variables with a weight.
Inside: the Khiops program without the files written for it. Times faster: median over
the folds of Khiops' seconds / ours. ±: + ours better, - worse, = within 0.0005 in the
mean; twice when the difference is beyond two standard errors over folds.
"""


def stored(folder: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Return side -> set -> its part, of the sets with all their folds only."""
    parts = read_parts(folder)
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for side in sorted({key.partition("/")[0] for key in parts if "/" in key}):
        for name in (*NAMES, *VARIANTS, *GENERATORS):
            part = parts.get(f"{side}/{name}")
            if part and len(part["rows"].get("folds", [])) == part["folds"]:
                found.setdefault(side, {})[name] = part
    return found


def fold_rows(content: dict[str, Any]) -> np.ndarray:
    """Return (folds, COLUMNS); an AUC that is not defined is NaN."""
    return np.array(content["rows"]["folds"], dtype=np.float64)


def mark(ours: np.ndarray, khiops: np.ndarray, *, more: bool) -> str:
    """Return + (ours better), - or =; twice beyond two standard errors of the folds."""
    difference = (ours - khiops) * (1 if more else -1)
    difference = difference[~np.isnan(difference)]
    mean = difference.mean()
    if abs(mean) < SAME:
        return "="
    sign = "+" if mean > 0 else "-"
    if difference.shape[0] < 2:
        return sign
    error = difference.std(ddof=1) / np.sqrt(difference.shape[0])
    return sign * (2 if abs(mean) > 2 * error else 1)


def _cells(mean: np.ndarray) -> list[str]:
    formats = {AUC: ".4f", LOSS: ".4f", RATE: ".4f", KEPT: ".1f"}
    return [f"{mean[column]:{form}}" for column, form in formats.items()]


def one_side(sets: dict[str, dict[str, Any]]) -> str:
    """Return the table of one side alone."""
    head = ["", "rows", "variables", "classes", "AUC", "log loss", "compression"]
    head += ["kept", "seconds", "inside"]
    body, means = [], []
    for name, content in sets.items():
        rows = fold_rows(content)
        means.append(np.nanmean(rows, axis=0))
        n, d = content["shape"]
        body.append(
            [
                *(name, f"{n:,}", str(d), str(content["classes"])),
                *_cells(means[-1]),
                *(f"{np.median(rows[:, at]):.3f}" for at in (SECONDS, INSIDE)),
            ]
        )
    body.append(["mean", "", "", "", *_cells(np.mean(means, axis=0)), "", ""])
    return markdown(head, body)


def compare(khiops: dict, ours: dict) -> tuple[str, dict[str, Any]]:
    """Return the table of two sides over the sets both have, and its summary."""
    head = ["", "AUC Khiops", "ours", "±", "log loss Khiops", "ours", "±"]
    head += ["compression Khiops", "ours", "kept Khiops", "ours"]
    head += ["seconds Khiops", "ours", "times faster"]
    body, means, apart = [], [], False
    ratios: dict[str, float] = {}
    marks: dict[str, list[str]] = {"auc": [], "log loss": []}
    for name in (name for name in khiops if name in ours):
        k, o = fold_rows(khiops[name]), fold_rows(ours[name])
        means.append([np.nanmean(k, axis=0), np.nanmean(o, axis=0)])
        marks["auc"].append(mark(o[:, AUC], k[:, AUC], more=True))
        marks["log loss"].append(mark(o[:, LOSS], k[:, LOSS], more=False))
        ratios[name] = float(np.median(k[:, SECONDS] / o[:, SECONDS]))
        together = bool(k[:, TOGETHER].all() and o[:, TOGETHER].all())
        apart |= not together
        body.append(
            [
                name,
                *_pair(*means[-1], marks["auc"][-1], marks["log loss"][-1]),
                *(f"{np.median(side[:, SECONDS]):.3f}" for side in (k, o)),
                f"{ratios[name]:.1f}" + ("" if together else "*"),
            ]
        )
    k_mean, o_mean = np.mean(means, axis=0)
    middle = statistics.median(ratios.values())
    body.append(
        ["mean", *_pair(k_mean, o_mean, "", ""), "", "", f"median {middle:.1f}"]
    )
    summary: dict[str, Any] = {"sets": len(means)}
    for column in marks:
        at, signs = COLUMNS.index(column), marks[column]
        summary[column] = {
            "khiops": float(k_mean[at]),
            "ours": float(o_mean[at]),
            "better": sum("+" in sign for sign in signs),
            "clearly better": signs.count("++"),
            "worse": sum("-" in sign for sign in signs),
            "clearly worse": signs.count("--"),
        }
    for column in ("compression", "kept"):
        at = COLUMNS.index(column)
        summary[column] = {"khiops": float(k_mean[at]), "ours": float(o_mean[at])}
    summary["times faster"] = {"median": middle, **ratios}
    lines = [
        f"{column}: better on {found['better']} sets ({found['clearly better']} "
        f"clearly), worse on {found['worse']} ({found['clearly worse']} clearly)."
        for column, found in ((column, summary[column]) for column in marks)
    ]
    if apart:
        lines.append("\\* the sides were not measured in turns in one run.")
    return "\n".join([markdown(head, body), "\n\n".join(lines), ""]), summary


def _pair(k: np.ndarray, o: np.ndarray, auc_mark: str, loss_mark: str) -> list[str]:
    left, right = _cells(k), _cells(o)
    return [
        *(left[0], right[0], auc_mark),
        *(left[1], right[1], loss_mark),
        *(left[2], right[2]),
        *(left[3], right[3]),
    ]


def overview(summary: dict[str, dict[str, Any]]) -> str:
    """Return one line for each of our candidates against Khiops."""
    head = ["", "sets", "AUC Khiops", "ours", "better / worse"]
    head += ["log loss Khiops", "ours", "better / worse", "kept Khiops", "ours"]
    head += ["times faster"]
    body = []
    for side, found in summary.items():
        cells = [side, str(found["sets"])]
        for column in ("auc", "log loss"):
            part = found[column]
            cells += [f"{part['khiops']:.4f}", f"{part['ours']:.4f}"]
            cells += [f"{part['better']} / {part['worse']}"]
        cells += [f"{found['kept'][one]:.1f}" for one in ("khiops", "ours")]
        body.append([*cells, f"{found['times faster']['median']:.1f}"])
    return markdown(head, body)


def summaries(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the summary of each of our candidates that Khiops was compared with."""
    found = stored(folder)
    khiops = found.pop(KHIOPS, {})
    return {
        side: compare(khiops, sets)[1]
        for side, sets in found.items()
        if set(sets) & set(khiops)
    }


def document(folder: Path) -> str:
    """Return the page of all that is in the folder."""
    found, summary = stored(folder), summaries(folder)
    parts = ["## Overview\n", overview(summary)] if summary else []
    for side, sets in found.items():
        if side in summary:
            parts += [f"## {side}\n", compare(found[KHIOPS], sets)[0]]
        elif side != KHIOPS:
            parts += [f"## {side}, alone\n", one_side(sets)]
    if KHIOPS in found:
        parts += ["## Khiops, alone\n", one_side(found[KHIOPS])]
    return "\n".join([INTRODUCTION, *parts])
