"""Tables of two_stage.py, made from its results alone.

A cell is the mean over splits. Its error is the standard error over splits or, where
that is larger or there are fewer than three splits, that of a share of the test rows;
always both where the test rows are the same in every split (SST2). A peer is ahead of
ours when it is better in the mean over the splits that both have, by more than the
error of that difference: its standard error over three or more splits with other test
rows, else that of a share of the test rows. A selector that kept less than 95 % of k,
as an l1 search that the limit cut short, is neither ahead nor ranked there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ledger import markdown, read_parts
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
ENOUGH = 3  # splits for an error over splits
WHOLE = 0.95
SHOWN = 5.0  # the sparsity that the paper speaks of


@dataclass(frozen=True)
class Cell:
    """Mean accuracy over splits, its error, and how many splits there are."""

    mean: float
    error: float
    splits: int
    kept: float = 1.0  # mean of the columns kept, over k

    @property
    def is_whole(self) -> bool:
        """Whether about k columns were kept."""
        return self.kept >= WHOLE


class Results:
    """The rows of every set, vector, selector and share."""

    def __init__(self, folder: Path) -> None:
        self.headers: list[dict[str, Any]] = []
        self._rows: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
        for _, stored in sorted(read_parts(folder).items()):
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
        kept = np.mean([row["features"] / row["k"] for row in rows if row["features"]])
        error = error_of(scores, data, mean, rows[0]["tests"])
        return Cell(mean, error, len(scores), float(kept))

    def is_ahead(
        self,
        peer: str,
        ours: str,
        where: tuple[str, str, float],
        stage_2: str,
    ) -> bool:
        """Tell whether a peer is ahead of one of ours on the splits of both."""
        data, vector, percent = where
        theirs = self.rows(data, vector, peer, percent)
        mine = self.rows(data, vector, ours, percent)
        cell = self.cell(data, vector, peer, percent, stage_2)
        if cell is None or not cell.is_whole:
            return False
        pairs = [
            (a[stage_2], b[stage_2])
            for a, b in zip(theirs, mine, strict=False)
            if a[stage_2] is not None and b[stage_2] is not None
        ]
        if not pairs:
            return False
        lead = [a - b for a, b in pairs]
        level = float(np.mean([b for _, b in pairs]))
        if len(lead) >= ENOUGH and data not in SAME_TESTS:
            error = float(np.std(lead, ddof=1) / np.sqrt(len(lead)))
        else:
            error = float(np.sqrt(level * (1 - level) / mine[0]["tests"]))
        return float(np.mean(lead)) > error

    def seconds(
        self, data: str, vector: str, selector: str, percent: float
    ) -> float | None:
        """Return the least seconds of a fit over splits, which are of one size."""
        rows = self.rows(data, vector, selector, percent)
        values = [row["fit seconds"] for row in rows]
        return min((value for value in values if value is not None), default=None)


def error_of(scores: Sequence[float], data: str, mean: float, tests: int) -> float:
    """Return the standard error of a mean accuracy, as the head of this file says."""
    rows = float(np.sqrt(mean * (1 - mean) / tests))
    over = np.std(scores, ddof=1) / np.sqrt(len(scores)) if scores[1:] else 0.0
    if data in SAME_TESTS or len(scores) < ENOUGH:
        over = max(over, rows)
    return float(over)


def percent_text(cell: Cell | None, *, mark: bool = False) -> str:
    """Return accuracy and error in percent; a star for a peer that is ahead."""
    if cell is None:
        return "—"
    text = f"{100 * cell.mean:.1f} ± {100 * cell.error:.1f}"
    if not cell.is_whole:
        return f"{text} ({100 * cell.kept:.0f} % of k)"
    return f"**{text}** ▲" if mark else text


# ------------------------------------------------------------------------------ tables


def accuracy_table(results: Results, vector: str, percent: float, stage_2: str) -> str:
    """Return selectors down, sets across; ▲ marks peers ahead of all of ours."""
    sets = results.sets()
    body = []
    for selector in SELECTORS:
        line = [selector.label]
        for data in sets:
            cell = results.cell(data, vector, selector.name, percent, stage_2)
            where = (data, vector, percent)
            mark = selector.side == "peers" and all(
                results.is_ahead(selector.name, name, where, stage_2) for name in OURS
            )
            line.append(percent_text(cell, mark=mark))
        body.append(line)
    return markdown(["", *(TITLES[name] for name in sets)], body)


def ahead_lines(
    results: Results, vector: str, percent: float, names: Sequence[str]
) -> list[str]:
    """Return a line for each set and stage 2 with peers ahead of all these of ours."""
    lines = []
    for data in results.sets():
        for stage_2, label in STAGE_2.items():
            where = (data, vector, percent)
            found = [
                f"{s.label} "
                f"{percent_text(results.cell(data, vector, s.name, percent, stage_2))}"
                for s in SELECTORS
                if s.side == "peers"
                and all(results.is_ahead(s.name, n, where, stage_2) for n in names)
            ]
            best = best_of(
                [results.cell(data, vector, n, percent, stage_2) for n in names]
            )
            if found:
                lines.append(
                    f"- {TITLES[data]}, {label} (ours {percent_text(best)}): "
                    f"{', '.join(found)}."
                )
    return lines


def best_of(cells: Sequence[Cell | None]) -> Cell | None:
    """Return the cell of the largest mean."""
    found = [cell for cell in cells if cell is not None]
    return max(found, key=lambda cell: cell.mean) if found else None


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
            where = (data, vector, percent)
            if results.cell(data, vector, names[0], percent, stage_2) is None:
                continue
            cells += 1
            clear += not any(
                all(results.is_ahead(s.name, n, where, stage_2) for n in names)
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
                        if mine is None or not mine.is_whole:
                            continue
                        others = [
                            c.mean
                            for c in cells.values()
                            if c is not None and c.is_whole
                        ]
                        above = sum(mean > mine.mean for mean in others)
                        same = sum(mean == mine.mean for mean in others)
                        ranks.append(above + (same + 1) / 2)
            enough = 2 * len(ranks) > asked
            text = f"{np.mean(ranks):.1f} ({len(ranks)})" if enough else "—"
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


def document(folder: Path) -> str:
    """Return tables.md."""
    results = Results(folder)
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
        f"{splits}; saga, SVM + RFE, abess and mRMR one). ▲ marks a peer ahead of all "
        "four of ours on common splits by more than the error of the difference; "
        '"% of k": the search for the penalty was cut by the limit of '
        f"{header['limit']:g} s and kept fewer; — gave no answer (reasons below).\n",
        f"Python {header['python']}, {versions}; {header['processor']}, "
        f"{header['processors']} processors.\n",
    ]
    for stage_2, label in STAGE_2.items():
        parts += [
            f"## Count vectors, {SHOWN:g} % of the words, {label} in stage 2\n",
            accuracy_table(results, "count", SHOWN, stage_2),
        ]
    parts.append(f"## Where a peer is ahead at {SHOWN:g} %, count vectors\n")
    for told, names in (
        ("Of the likelihood alone:\n", OURS[:1]),
        ("Of the selection refined by weights:\n", OURS[1:2]),
        ("Of both:\n", OURS[:2]),
        ("Of all four of ours:\n", OURS),
    ):
        lines = ahead_lines(results, "count", SHOWN, names)
        parts += [told, "\n".join(lines) + "\n" if lines else "Nobody.\n"]
    parts += [
        "## All cells\n",
        "Cells (sets x shares) in which no peer is ahead of ours, of all cells. The "
        "two selections by presence were added when the first results of the tf-idf "
        "vectors were known, and the best of four is known only after the test: the "
        "last column is optimistic.\n",
        standing_table(results),
        "Mean rank of each selector over the cells where it ended with at least 95 % "
        "of k (how many); none for fewer than half of the cells.\n",
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
