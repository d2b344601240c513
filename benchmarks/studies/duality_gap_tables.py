"""Page and figures of duality_gap.py, made from its results alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from figure_style import BLACK, BLUE, GREEN, GREY, ORANGE, RED, new_figure, save
from ledger import markdown, read_parts
from study_run import surroundings_line

STUDY = "duality_gap"
TIGHT = 2e-11  # of the gain: what the solver proves, and rounding
INVISIBLE = 1e-3  # of the gain: less than the line of a figure is wide

ADDED = (
    "sizes",
    "proven",
    "tight",
    "tight_theorem",
    "invisible",
    "invisible_theorem",
    "gap_sum",
    "absolute_sum",
    "theorem_sum",
    "optimal_worse",
    "optimal_better",
    "width_sharp",
    "width_published",
    "broken_upper",
    "broken_sharp",
    "broken_published",
)
LARGEST = (
    "nodes",
    "gap_largest",
    "theorem_largest",
    "loss_largest",
    "absolute_largest",
)

HEAD = """# Experiment 6: how far the relaxation is from the optimum

Written by `duality_gap_tables.py` from the results beside it. Two classes, f+ and f-
uniform on [0, 1]^m and divided by their sums, no smoothing, every k from 2 to m. psi(k)
is the relaxation, phi(k) the optimum by branch and bound, "Theorem 3.2" the k features
of largest h at the optimal class shares. Where two features tie for the last place
there are two such sets, and which one a program returns is chance: its gaps are those
of the worse one. All values are gains over the model without features. Gaps are shares
of the gain of the optimum, which do not depend on the scale of f; in nats they are
those of f with sum one. "Tight": a gap below {tight:g}, what the solver proves. "Below
0.1 %": not to be seen in a figure of the curves.

{around}
"""


def together(parts: Iterable[dict[str, float]]) -> dict[str, float]:
    """Return the sums and the largest values over draws and ranges of k."""
    parts = list(parts)
    return {
        **{name: sum(part[name] for part in parts) for name in ADDED},
        **{name: max(part[name] for part in parts) for name in LARGEST},
    }


def widths(units: dict[str, Any]) -> list[int]:
    """Return the values of m that are stored."""
    return sorted({int(key.split()[0]) for key in units})


def draws_of(units: dict[str, Any], m: int) -> list[dict[str, Any]]:
    """Return the draws of one m."""
    return [unit for key, unit in units.items() if int(key.split()[0]) == m]


def ranges(units: dict[str, Any], m: int) -> dict[str, dict[str, float]]:
    """Return each range of k over all draws, and all k from 4 on as in the paper."""
    found = draws_of(units, m)
    names = list(found[0]["bands"])
    table = {name: together(unit["bands"][name] for unit in found) for name in names}
    table[f"4-{m}"] = together(table[name] for name in names if name != "2-3")
    return table


def percent(share: float) -> str:
    """Return a share in percent with three digits."""
    return "0" if share == 0 else f"{100 * share:.3g} %"


def label(name: str) -> str:
    first, last = (int(end) for end in name.split("-"))
    return f"{first:,} to {last:,}"


def gap_table(table: dict[str, dict[str, float]]) -> str:
    """Return how often and how far the relaxation is from the optimum."""
    body = []
    for name, r in table.items():
        n = r["sizes"]
        body.append(
            [
                label(name),
                f"{n:,}",
                percent(r["tight"] / n),
                percent(r["invisible"] / n),
                percent(r["gap_sum"] / n),
                percent(r["gap_largest"]),
                f"{r['absolute_sum'] / n:.1e}",
                f"{r['absolute_largest']:.1e}",
                percent(r["theorem_sum"] / n),
                percent(r["theorem_largest"]),
            ]
        )
    head = [
        "",
        "problems",
        "tight",
        "gap below 0.1 %",
        "mean gap",
        "largest gap",
        "mean, nats",
        "largest, nats",
        "mean gap of Theorem 3.2",
        "largest",
    ]
    return markdown(head, body)


def theorem_table(table: dict[str, dict[str, float]]) -> str:
    """Return how often the theorem gives the optimum, and the a priori bounds."""
    body = []
    for name, r in table.items():
        n = r["sizes"]
        body.append(
            [
                label(name),
                percent(r["optimal_worse"] / n),
                percent(r["optimal_better"] / n),
                percent(r["loss_largest"]),
                percent(r["width_sharp"] / n),
                percent(r["width_published"] / n),
                f"{r['nodes']:,}",
            ]
        )
    head = [
        "",
        "theorem optimal, worse of a tie",
        "better of a tie",
        "largest loss to the optimum",
        "mean psi(k) - psi(k-1)",
        "mean psi(k) - psi(k-4)",
        "most nodes",
    ]
    return markdown(head, body)


def checks(units: dict[str, Any], m: int, table: dict[str, dict[str, float]]) -> str:
    """Say what was proven and whether the inequalities held."""
    every = together(table[name] for name in table if name != f"4-{m}")
    found = draws_of(units, m)
    n = int(every["sizes"])
    tried = sum(unit["all_supports"]["sizes"] for unit in found)
    off = max(unit["all_supports"]["largest_difference"] for unit in found)
    lines = [
        f"{len(found)} draws, {n:,} problems with k from 2 on, "
        f"{int(every['proven']):,} of them solved to proven optimality.",
        f"phi(k) <= psi(k) was broken {int(every['broken_upper'])} times, "
        f"psi(k-1) <= phi(k) {int(every['broken_sharp'])} times, the paper's "
        f"psi(k-4) <= phi(k) {int(every['broken_published'])} times.",
    ]
    if tried:
        lines.append(
            f"In {tried} problems all supports of the size were tried: the optimum is "
            f"that of branch and bound (largest relative difference {off:.0e})."
        )
    return " ".join(lines)


def verdict(table: dict[str, dict[str, float]], m: int) -> str:
    """Say what the numbers mean for the paper's sentence."""
    r = table[f"4-{m}"]
    n = r["sizes"]
    share = r["tight"] / n
    seen, seen_optimum = r["invisible_theorem"] / n, r["invisible"] / n
    worse, better = 1 - r["optimal_worse"] / n, 1 - r["optimal_better"] / n
    return (
        'The paper, from its figure: "the a posteriori gap is almost always zero, '
        f'implying strong duality". For 4 <= k <= {m:,} it is zero in {percent(share)} '
        f"of the problems; it is below 0.1 % of the gain in {percent(seen)} for "
        f"Theorem 3.2's point and in {percent(seen_optimum)} for the optimum. The "
        f"point is not the optimum in {percent(worse)} of the problems when the worse "
        f"of two tied sets is taken and in {percent(better)} when the better one is."
    )


def document(folder: Path) -> str:
    """Return the page."""
    content = read_parts(folder)[STUDY]
    units = content["rows"]
    text = [HEAD.format(tight=TIGHT, around=surroundings_line(content))]
    for m in widths(units):
        table = ranges(units, m)
        text += [
            f"## m = {m:,}\n",
            checks(units, m, table) + "\n",
            "By ranges of k, the last row being all that the paper plots:\n",
            gap_table(table),
            theorem_table(table),
            verdict(table, m) + "\n",
        ]
    return "\n".join(text)


# ----------------------------------------------------------------------------- figures


def draw(folder: Path) -> None:
    """Draw the first draw of every m."""
    units = read_parts(folder)[STUDY]["rows"]
    for m in widths(units):
        path = folder / f"figure_m{m}.png"
        draw_one(units[f"{m} 0"], ranges(units, m)[f"4-{m}"], m, path)


def draw_one(unit: dict[str, Any], whole: dict[str, float], m: int, path: Path) -> None:
    """Draw bounds against k above, gaps on a logarithmic axis below."""
    psi = np.array(unit["curves"]["psi"])
    gap = np.array(unit["curves"]["gap"])
    theorem = np.array(unit["curves"]["theorem"])
    k = np.arange(4, m + 1)
    phi = psi[k] / (1 + gap[k])
    figure, (top, low) = new_figure(2, 1, width=7.6, height=7.4)
    scale = 1e3
    dotted = {"marker": "o", "markersize": 3.5} if m <= 100 else {}
    top.plot(k, scale * psi[k], color=RED, label="relaxation psi(k)", **dotted)
    top.plot(k, scale * psi[k - 1], color=GREEN, label="psi(k-1), our lower bound")
    top.plot(k, scale * psi[k - 4], color=GREY, label="psi(k-4), the paper's bound")
    point = scale * phi * (1 + gap[k] - theorem[k])
    top.plot(k, point, color=ORANGE, linestyle="--", label="point of Theorem 3.2")
    top.plot(k, scale * phi, color=BLACK, linestyle=":", label="optimum phi(k)")
    top.set_ylabel("gain over no features (0.001 nats)")
    top.set_xlabel("k, number of features")
    top.legend(loc="lower right" if m <= 100 else "upper left", frameon=False)
    top.set_title(
        f"m = {m:,}: the gap of the relaxation is zero for "
        f"{100 * whole['tight'] / whole['sizes']:.0f} % of all k >= 4,\n"
        f"and below 0.1 % of the gain for "
        f"{100 * whole['invisible'] / whole['sizes']:.1f} % (all draws)",
        fontsize=11,
    )
    size = 22 if m <= 100 else 4
    width = (psi[k] - psi[k - 4]) / phi
    low.plot(k, width, color=GREY, label="psi(k) - psi(k-4), known beforehand")
    low.plot(k, (psi[k] - psi[k - 1]) / phi, color=GREEN, label="psi(k) - psi(k-1)")
    low.scatter(
        k,
        theorem[k],
        s=size,
        color=ORANGE,
        label="psi(k) - Theorem 3.2 (worse of a tie)",
    )
    low.scatter(k, gap[k], s=size, color=BLUE, label="psi(k) - phi(k), the true gap")
    zero = k[gap[k] <= 0]
    floor = 1e-12
    low.scatter(
        zero, np.full(zero.shape, floor), marker="|", s=40, color=BLUE, linewidths=0.8
    )
    low.set_yscale("log")
    low.set_ylim(4e-13, 3e3)  # room for the legend
    if m > 100:
        for axes in (top, low):
            axes.set_xscale("log")
    low.set_ylabel("share of the optimal gain")
    low.set_xlabel(f"k, number of features (bars at the foot: gap below {TIGHT:g})")
    low.legend(loc="upper right", frameon=False, fontsize=8, ncols=2)
    save(figure, path)
