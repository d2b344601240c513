"""How the certified solve grows from a million to half a billion columns.

    python benchmarks/column_scaling.py [--quick] [--most M]

Two classes of counts in float64, Zipf-like, as in `solve_wide.py` but drawn column by
column, so that half a billion of them are made without a second table; 8 GB for the
largest. In turns for each size: the best 1,200 with their certificate, the same of
presences, and one addition of the two rows, the least that touching every count costs.
The power is that of seconds against columns, between the smallest and the largest.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np

from bayesieve import ClassCounts, solve_bernoulli, solve_multinomial
from measurement import interleaved, option_parser, peak_bytes, report, target

SEED = 20261119
SIZES = [1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000, 500_000_000]
K = 1_200
_BLOCK = 5_000_000


def fill(table: np.ndarray, rng: np.random.Generator) -> None:
    """Counts whose totals fall as 1 over a rank that is drawn for each column."""
    columns = table.shape[1]
    for first in range(0, columns, _BLOCK):
        part = table[:, first : first + _BLOCK]
        rate = 1.5 / (rng.random(part.shape[1]) + 10 / columns)
        ratio = np.exp(0.3 * rng.standard_normal(part.shape[1]))
        part[0] = rng.poisson(rate * ratio)
        part[1] = rng.poisson(rate / ratio)


def measured(columns: int, repeats: int) -> dict[str, Any]:
    table = np.empty((2, columns))
    fill(table, np.random.default_rng(SEED))
    before = peak_bytes()
    rows = np.full(2, table.max())
    counts, presences = (
        ClassCounts._of(np.arange(2), own, kind, feature_count=table)
        for kind, own in (("count", np.ones(2)), ("binary", rows))
    )
    proven: dict[str, bool] = {}

    def solve(name: str, solution: Any) -> None:
        proven[name] = bool(solution.certificate.is_optimal)

    total = np.empty(min(columns, 10_000_000))
    parts = range(0, columns, total.size)
    sides = {
        "multinomial": lambda: solve("multinomial", solve_multinomial(counts, K)),
        "bernoulli": lambda: solve("bernoulli", solve_bernoulli(presences, K)),
        "addition": lambda: [
            np.add(*table[:, i : i + total.size], out=total[: columns - i])
            for i in parts
        ],
    }
    seconds = {name: min(own) for name, own in interleaved(sides, repeats).items()}
    found = {"columns": columns, "seconds": seconds, "proven": proven}
    found["bytes_beside_the_table"] = peak_bytes() - before
    told = ", ".join(f"{name} {own:.4f} s" for name, own in seconds.items())
    print(f"{columns:>12,}: {told}; proven {proven}", flush=True)
    return found


def main() -> None:
    parser = option_parser("column_scaling", __doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--most", type=float, default=SIZES[-1], help="largest size")
    options = parser.parse_args()
    most = 10_000_000 if options.quick else options.most
    sizes = [size for size in SIZES if size <= most]
    runs = [measured(size, 5 if size <= 100_000_000 else 3) for size in sizes]
    small, large = runs[0], runs[-1]
    targets = []
    for name in ("multinomial", "bernoulli"):
        ratio = large["seconds"][name] / small["seconds"][name]
        power = math.log(ratio) / math.log(large["columns"] / small["columns"])
        targets.append(target(f"power, {name}", power, most=1.05))
        # Where what a solve costs in any case no longer flatters.
        middle = runs[len(runs) // 2 - 1]
        ratio = large["seconds"][name] / middle["seconds"][name]
        power = math.log(ratio) / math.log(large["columns"] / middle["columns"])
        told = f"power from {middle['columns']:,} columns on, {name}"
        targets.append(target(told, power, most=1.05))
    every = all(all(run["proven"].values()) for run in runs)
    targets.append(target("all proven", float(every), least=1))
    report("column_scaling", options, SEED, {"runs": runs, "targets": targets})


if __name__ == "__main__":
    main()
