"""Certified solves under rules on 12 million count columns, against a free solve.

The table is that of ``solve_wide.py``. Timed in turns on the same counts, k = 1,200:

- free: no rules;
- in and out: 20 columns included, 1,000 excluded (200 of them from the free support);
- one of each group, three of each group: the same with 100,000 groups of columns;
- groups whole: k counts groups of about 120 columns, some included and excluded;
- budget: the same columns in and out, random costs, and a budget that binds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve import ClassCounts, solve_multinomial
from measurement import interleaved, option_parser, report, timed
from solve_wide import SEED, zipf_table

K = 1200
N_GROUPS = 100_000


def main() -> None:
    """Time each rule in turns with the free solve."""
    parser = option_parser(__doc__, "solve_rules")
    parser.add_argument("--features", type=int, default=12_000_000)
    options = parser.parse_args()
    rng = np.random.default_rng(SEED)
    table = zipf_table(options.features, rng)
    counts = ClassCounts(["a", "b"], [1.0, 1.0], table)
    free = solve_multinomial(counts, K)
    exclude = np.union1d(free.support[:200], rng.choice(options.features, 800))
    others = np.setdiff1d(rng.choice(options.features, 40), exclude)
    fixed: dict[str, Any] = {"include": others[:20], "exclude": exclude}
    groups = rng.integers(0, N_GROUPS, options.features)
    some = {"include": others[:5], "exclude": exclude[:50]}
    cost = rng.random(options.features)
    rules: dict[str, dict[str, Any]] = {
        "free": {},
        "in and out": fixed,
        "one of each group": fixed | {"groups": groups, "max_per_group": 1},
        "three of each group": fixed | {"groups": groups, "max_per_group": 3},
        "groups whole": some | {"groups": groups},
        "budget": fixed | {"feature_cost": cost, "budget": 400.0},
    }
    outcome: dict[str, Any] = {}

    def run(name: str) -> None:
        solution = solve_multinomial(counts, K, **rules[name])
        proof = solution.certificate
        outcome[name] = {
            "columns": int(solution.support.shape[0]),
            "nodes": proof.nodes,
            "relative_gap": proof.relative_gap,
            "is_optimal": proof.is_optimal,
        }

    seconds = interleaved(
        {name: timed(lambda name=name: run(name)) for name in rules}, options.repeat
    )
    base = float(np.median(seconds["free"]))
    lines = []
    for name, own in seconds.items():
        ratio = float(np.median(own)) / base
        outcome[name]["ratio"] = ratio
        proof = "proven" if outcome[name]["is_optimal"] else "gap"
        lines.append(
            f"{name:20s} {np.median(own):7.3f} s  {ratio:5.2f} x free  {proof}, "
            f"{outcome[name]['nodes']:,} nodes, {outcome[name]['columns']:,} columns"
        )
    print("\n".join(lines))
    report(options, {"seconds": seconds, "outcome": outcome})


if __name__ == "__main__":
    main()
