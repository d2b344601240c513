"""Hard searches for two classes: compiled as a whole, and the same search in Python.

Words that gain alike at equal class shares, half of them for each class, an odd number
of which is to be selected: no support evens the classes out, and the relaxation takes
half a word of each. Each table is solved by both searches in turns, within the default
time and without a limit on nodes; then IMDB reviews, which need a handful of nodes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import search_nodes
from bayesieve.solvers import _branch
from measurement import option_parser, report, target
from search_nodes import print_table, solve, text_counts

SEED = 20240303
#: Words, selected words, how much their gains differ, shares of the class of a word.
TABLES = (
    (40, 5, 0.01, (0.89, 0.91)),
    (40, 9, 0.1, (0.89, 0.91)),
    (100, 15, 0.1, (0.87, 0.93)),
    (100, 15, 0.1, (0.89, 0.91)),
    (400, 31, 0.1, (0.899, 0.901)),
)
SIZES = (20, 50, 100, 200, 500, 1_000)


def balancing(m: int, noise: float, shares: tuple[float, float]) -> np.ndarray:
    """Two classes and m words, each mostly of one class, of nearly equal gains."""
    rng = np.random.default_rng(SEED)
    share = rng.uniform(*shares, m)
    share = np.where(np.arange(m) % 2, share, 1 - share)
    f = np.array([share, 1 - share])
    return f * 1000.0 * (1 + noise * rng.random(m)) / (f * np.log(2 * f)).sum(axis=0)


def solve_in_python(table: Any, k: int, alpha: float) -> dict[str, Any]:
    compiled = _branch._search_two_classes
    _branch._search_two_classes = _branch._search
    try:
        return solve(table, k, alpha)
    finally:
        _branch._search_two_classes = compiled


def study(m: int, k: int, noise: float, shares: tuple[float, float]) -> dict[str, Any]:
    table = balancing(m, noise, shares)
    sides = {"in Python": solve_in_python, "compiled": solve}
    row: dict[str, Any] = {"table": f"{m} words, k = {k}", "noise": noise}
    for side, run in sides.items():
        row[side] = run(table, k, 0.0)
        row[side]["nodes_per_second"] = row[side]["nodes"] / row[side]["seconds"]
    rate = row["compiled"]["nodes_per_second"] / row["in Python"]["nodes_per_second"]
    row["target"] = target(f"nodes per second, {row['table']}", rate, least=5.0)
    return row


def texts(quick: bool) -> list[dict[str, Any]]:
    """Best seconds of both searches, taken in turns."""
    counts = text_counts("imdb", 2_000 if quick else None)
    sides = {"in Python": solve_in_python, "compiled": solve}
    found = []
    for k in SIZES:
        best = dict.fromkeys(sides, math.inf)
        for _ in range(3 if quick else 30):
            for side, run in sides.items():
                best[side] = min(best[side], run(counts, k, 1.0)["seconds"])
        print(f"IMDB, k = {k}: {best['in Python']:.4f} s, {best['compiled']:.4f} s")
        found.append({"k": k, **best})
    return found


def main() -> None:
    options = option_parser("two_class_searches", __doc__).parse_args()
    search_nodes.NODE_LIMIT = None
    if options.quick:
        search_nodes.TIME_LIMIT = 0.5
    rows = [study(*one) for one in TABLES]
    for side in ("in Python", "compiled"):
        shown = [{"table": row["table"], **row[side]} for row in rows]
        print_table(f"Two classes, {side}", shown, "table")
    found = {"seconds": search_nodes.TIME_LIMIT, "hard": rows}
    report("two_class_searches", options, SEED, {**found, "imdb": texts(options.quick)})


if __name__ == "__main__":
    main()
