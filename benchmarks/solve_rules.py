"""Certified solves under rules on 12 million count columns, against a free solve.

The table is that of ``solve_wide.py``. Timed in turns on the same counts, k = 1,200:

- free: no rules;
- in and out: 20 columns included, 1,000 excluded (200 of them from the free support);
- one of each group, three of each group: the same with 100,000 groups of columns;
- groups whole: k counts groups of about 120 columns, in and out with their columns;
- budget: the same columns in and out, random costs, and a budget that binds.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bayesieve import ClassCounts, solve_multinomial
from measurement import interleaved, option_parser, report, target
from solve_wide import SEED, zipf_table

K = 1200


def rules_for(
    counts: ClassCounts, n_groups: int, rng: np.random.Generator
) -> dict[str, dict[str, Any]]:
    """The rules that are timed, by name."""
    m = counts.n_features
    free = solve_multinomial(counts, K)
    exclude = np.union1d(free.support[:200], rng.choice(m, 800))
    others = np.setdiff1d(rng.choice(m, 40), exclude)
    fixed: dict[str, Any] = {"include": others[:20], "exclude": exclude}
    groups = rng.integers(0, n_groups, m)
    # A group cannot be taken whole with one column in and another one out.
    apart = exclude[~np.isin(groups[exclude], groups[others[:20]])]
    return {
        "free": {},
        "in and out": fixed,
        "one of each group": fixed | {"groups": groups, "max_per_group": 1},
        "three of each group": fixed | {"groups": groups, "max_per_group": 3},
        "groups whole": fixed | {"exclude": apart, "groups": groups},
        "budget": fixed | {"feature_cost": rng.random(m), "budget": K / 3},
    }


def main() -> None:
    """Time each rule in turns with the free solve."""
    options = option_parser("solve_rules", __doc__).parse_args()
    n_features = 200_000 if options.quick else 12_000_000
    n_groups = 10_000 if options.quick else 100_000
    rng = np.random.default_rng(SEED)
    table = zipf_table(n_features, rng)
    counts = ClassCounts(["a", "b"], [1.0, 1.0], table)
    rules = rules_for(counts, n_groups, rng)
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

    sides = {name: partial(run, name) for name in rules}
    seconds = interleaved(sides, 2 if options.quick else 7)
    best = {name: min(own) for name, own in seconds.items()}
    for name, own in outcome.items():
        own["over_free"] = best[name] / best["free"]
        print(
            f"{name:20s} {best[name]:7.3f} s, {own['over_free']:5.2f} times free, "
            f"relative gap {own['relative_gap']:.1e}, {own['nodes']:,} nodes, "
            f"{own['columns']:,} columns"
        )
    targets = [
        target(f"{name} / free", own["over_free"], most=3)
        for name, own in outcome.items()
        if name not in ("free", "budget")
    ]
    found = {"seconds": seconds, "outcome": outcome, "targets": targets}
    report("solve_rules", options, SEED, {"n_features": n_features, **found})


if __name__ == "__main__":
    main()
