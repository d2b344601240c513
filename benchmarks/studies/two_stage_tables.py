"""Tables of two_stage.py, made from its JSON alone.

A cell is the mean over splits. Its error is the standard error over splits; where the
test rows are always the same (SST2) or there is one split, that of a share of the test
rows if it is larger. A peer is ahead when its mean exceeds that of ours by more than
the larger of the two errors.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ledger import markdown
from text_vectors import NAMES, TITLES, VECTORS
from two_stage_models import STAGE_2
from two_stage_selectors import BY_NAME, OURS, SELECTORS

PERCENTS = (0.1, 1.0, 5.0, 10.0)
COLUMNS = [
    "k",
    "columns",
    "tests",
    "alpha",
    "features",
    *STAGE_2,
    "gain",
    "seconds",
    "fit seconds",
    "converged",
    "why",
]
SAME_TESTS = ("sst2",)
SHOWN = 5.0  # the sparsity that the paper speaks of


@dataclass(frozen=True)
class Cell:
    """Mean accuracy over splits, its error, and how many splits there are."""

    mean: float
    error: float
    splits: int


class Results:
    """The rows of every set, vector, selector and share."""

    def __init__(self, folder: Path) -> None:
        self.headers: list[dict[str, Any]] = []
        self._rows: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
        for path in sorted(folder.glob("*_*.json")):
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored.get("study") != "two_stage":
                continue
            rows = stored.pop("rows")
            self.headers.append(stored)
            self._rows[stored["data"], stored["vector"]] = {
                key: [dict(zip(COLUMNS, row, strict=True)) for row in some]
                for key, some in rows.items()
            }

    def sets(self) -> list[str]:
        """Return the sets with any row, in the usual order."""
        return [name for name in NAMES if any(name == d for d, _ in self._rows)]

    def vectors(self) -> list[str]:
        """Return the vectors with any row, in the usual order."""
        return [name for name in VECTORS if any(name == v for _, v in self._rows)]

    def rows(self, data: str, vector: str, selector: str, percent: float) -> list[Any]:
        """Return the rows of a cell, one for each split."""
        return self._rows.get((data, vector), {}).get(f"{selector} {percent:g}", [])

    def why(self, data: str, vector: str, selector: str, percent: float) -> str:
        """Return what was in the way of a cell, or nothing."""
        return next(
            (r["why"] for r in self.rows(data, vector, selector, percent) if r["why"]),
            "",
        )

    def cell(
        self, data: str, vector: str, selector: str, percent: float, stage_2: str
    ) -> Cell | None:
        """Return mean and error of the accuracy, None where there is none."""
        rows = self.rows(data, vector, selector, percent)
        scores = [row[stage_2] for row in rows if row[stage_2] is not None]
        if not scores:
            return None
        mean = float(np.mean(scores))
        tests = np.sqrt(mean * (1 - mean) / rows[0]["tests"])
        over = np.std(scores, ddof=1) / np.sqrt(len(scores)) if scores[1:] else 0.0
        if data in SAME_TESTS or len(scores) == 1:
            over = max(over, tests)
        return Cell(mean, float(over), len(scores))

    def seconds(
        self, data: str, vector: str, selector: str, percent: float
    ) -> float | None:
        """Return the least seconds of a fit over splits, which are of one size."""
        rows = self.rows(data, vector, selector, percent)
        values = [row["fit seconds"] for row in rows]
        return min((value for value in values if value is not None), default=None)


def is_ahead(peer: Cell | None, ours: Cell | None) -> bool:
    """Tell whether a peer is ahead of ours by more than the larger error."""
    if peer is None or ours is None:
        return False
    return peer.mean - ours.mean > max(peer.error, ours.error)


def best_of(cells: Sequence[Cell | None]) -> Cell | None:
    """Return the cell of the largest mean."""
    found = [cell for cell in cells if cell is not None]
    return max(found, key=lambda cell: cell.mean) if found else None


def percent_text(cell: Cell | None, *, mark: bool = False) -> str:
    """Return accuracy and error in percent; a star for a peer that is ahead."""
    if cell is None:
        return "—"
    text = f"{100 * cell.mean:.1f} ± {100 * cell.error:.1f}"
    return f"**{text}** ▲" if mark else text


# ------------------------------------------------------------------------------ tables


def accuracy_table(results: Results, vector: str, percent: float, stage_2: str) -> str:
    """Return selectors down, sets across; ▲ marks peers ahead of all of ours."""
    sets = results.sets()
    body = []
    for selector in SELECTORS:
        line = [selector.label]
        for data in sets:
            cells = [
                results.cell(data, vector, name, percent, stage_2) for name in OURS
            ]
            cell = results.cell(data, vector, selector.name, percent, stage_2)
            peer = selector.side == "peers"
            line.append(
                percent_text(cell, mark=peer and is_ahead(cell, best_of(cells)))
            )
        body.append(line)
    return markdown(["", *(TITLES[name] for name in sets)], body)


def ahead_lines(
    results: Results, vector: str, percent: float, stage_2: str
) -> list[str]:
    """Return one line for each peer that is ahead of the best of ours."""
    lines = []
    for data in results.sets():
        cells = {n: results.cell(data, vector, n, percent, stage_2) for n in OURS}
        best = best_of(list(cells.values()))
        for selector in SELECTORS:
            cell = results.cell(data, vector, selector.name, percent, stage_2)
            if selector.side == "peers" and is_ahead(cell, best):
                lines.append(
                    f"- {TITLES[data]}, {STAGE_2[stage_2]}: {selector.label} "
                    f"{percent_text(cell)} against {percent_text(best)}."
                )
    return lines


def standing_table(results: Results) -> str:
    """Return, for each vector and stage 2, how the best of ours stands in the cells."""
    body = []
    for vector in results.vectors():
        for stage_2, label in STAGE_2.items():
            line = [f"{VECTORS[vector]}, {label}"]
            for name in OURS:
                line.append(standing(results, vector, stage_2, (name,)))
            line.append(standing(results, vector, stage_2, OURS))
            body.append(line)
    labels = [BY_NAME[name].label for name in OURS]
    return markdown(["", *labels, "the best of ours"], body)


def standing(results: Results, vector: str, stage_2: str, names: Sequence[str]) -> str:
    """Return "cells where no peer is ahead / cells" over sets and shares."""
    clear = cells = 0
    for data in results.sets():
        for percent in PERCENTS:
            best = best_of(
                [results.cell(data, vector, n, percent, stage_2) for n in names]
            )
            if best is None:
                continue
            cells += 1
            clear += not any(
                is_ahead(results.cell(data, vector, s.name, percent, stage_2), best)
                for s in SELECTORS
                if s.side == "peers"
            )
    return f"{clear} / {cells}"


def rank_table(results: Results) -> str:
    """Return the mean rank of every selector over all cells with a value."""
    body = []
    for selector in SELECTORS:
        line = [selector.label]
        for stage_2 in STAGE_2:
            ranks, asked = [], 0
            for data in results.sets():
                for vector in results.vectors():
                    for percent in PERCENTS:
                        cells = {
                            s.name: results.cell(data, vector, s.name, percent, stage_2)
                            for s in SELECTORS
                        }
                        asked += 1
                        mine = cells[selector.name]
                        if mine is None:
                            continue
                        others = [c.mean for c in cells.values() if c is not None]
                        above = sum(mean > mine.mean for mean in others)
                        same = sum(mean == mine.mean for mean in others)
                        ranks.append(above + (same + 1) / 2)
            text = f"{np.mean(ranks):.1f} ({len(ranks)})" if ranks else "—"
            line.append(text)
        body.append(line)
    return markdown(["", *STAGE_2.values()], body)


def objective_table(results: Results) -> str:
    """Return ours minus the published code's objective, over all splits and shares."""
    body = []
    for vector in results.vectors():
        for data in results.sets():
            differences, sizes = [], []
            for percent in PERCENTS:
                pairs = zip(
                    results.rows(data, vector, "likelihood", percent),
                    results.rows(data, vector, "published", percent),
                    strict=False,
                )
                for ours, theirs in pairs:
                    if ours["gain"] is not None and theirs["gain"] is not None:
                        differences.append(ours["gain"] - theirs["gain"])
                        sizes.append(ours["gain"])
            if not differences:
                continue
            # Gains are rounded to 1e-6, and sums of millions to about 1e-9 of them.
            tolerance = 2e-6 + 1e-9 * np.array(sizes)
            difference = np.array(differences)
            body.append(
                [
                    f"{TITLES[data]}, {VECTORS[vector]}",
                    f"{len(differences)}",
                    f"{np.sum(difference < -tolerance)}",
                    f"{np.sum(difference > tolerance)}",
                    f"{difference.max():.3g}",
                    f"{100 * (difference / np.array(sizes)).max():.2g} %",
                ]
            )
    head = ["", "cells", "below", "above", "largest lead, nats", "of the gain"]
    return markdown(head, body)


def missing_lines(results: Results) -> list[str]:
    """Return who did not end where, each reason once."""
    lines = []
    for selector in SELECTORS:
        reasons: dict[str, list[str]] = {}
        for vector in results.vectors():
            for data in results.sets():
                lost = [
                    f"{percent:g}"
                    for percent in PERCENTS
                    if results.why(data, vector, selector.name, percent)
                ]
                if lost:
                    first = next(p for p in PERCENTS if f"{p:g}" == lost[0])
                    why = results.why(data, vector, selector.name, first)
                    where = f"{TITLES[data]} {VECTORS[vector]} {'/'.join(lost)} %"
                    reasons.setdefault(why, []).append(where)
        for why, places in reasons.items():
            lines.append(f"- {selector.label} ({why}): {'; '.join(places)}.")
    return lines


def document(results: Results) -> str:
    """Return tables.md."""
    header = results.headers[0]
    versions = ", ".join(f"{n} {v}" for n, v in header["packages"].items())
    splits = ", ".join(
        f"{TITLES[data]} {len(results.rows(data, 'count', 'likelihood', SHOWN))}"
        for data in results.sets()
    )
    parts = [
        "# Two stages: select, then train\n",
        "Experiment 1 of Askari, d'Aspremont and El Ghaoui. Test accuracy in percent, "
        "mean and standard error over splits (count vectors: "
        f"{splits}). ▲ marks a peer ahead of the best of ours by more than the "
        "larger of the two errors; — did not end (below).\n",
        f"Python {header['python']}, {versions}; {header['processor']}, "
        f"{header['processors']} processors.\n",
    ]
    for stage_2, label in STAGE_2.items():
        parts += [
            f"## Count vectors, {SHOWN:g} % of the words, {label} in stage 2\n",
            accuracy_table(results, "count", SHOWN, stage_2),
        ]
    lines = [line for s in STAGE_2 for line in ahead_lines(results, "count", SHOWN, s)]
    parts += [
        f"## Where a peer is ahead at {SHOWN:g} %, count vectors\n",
        "\n".join(lines) + "\n" if lines else "Nowhere.\n",
        "## All cells\n",
        "Cells (sets x shares) in which no peer is ahead of ours, of all cells.\n",
        standing_table(results),
        "Mean rank of each selector over all cells where it ended (how many).\n",
        rank_table(results),
        "## Training objective, ours and the published code's\n",
        "At the same k and smoothing, every split and share; below and above beyond "
        "rounding.\n",
        objective_table(results),
        "## Other vectors and shares\n",
    ]
    for vector in results.vectors():
        for percent in PERCENTS:
            if vector == "count" and percent == SHOWN:
                continue
            for stage_2, label in STAGE_2.items():
                parts += [
                    f"### {VECTORS[vector]}, {percent:g} %, {label}\n",
                    accuracy_table(results, vector, percent, stage_2),
                ]
    lost = missing_lines(results)
    if lost:
        parts += ["## Who did not end\n", "\n".join(lost) + "\n"]
    return "\n".join(parts)


def write_tables(folder: Path) -> None:
    """Write tables.md and the figures."""
    results = Results(folder)
    if not results.headers:
        print(f"no results in {folder}")
        return
    (folder / "tables.md").write_text(document(results), encoding="utf-8")
    from two_stage_figures import draw

    draw(results, folder)
    print(f"written: {folder / 'tables.md'}")
