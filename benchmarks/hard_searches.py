"""What the class envelope adds to the exact search where the relaxation is loose.

Counts near the identity: 20 classes with two words each of their own, 40 features, k =
8, noise of 0 to 20 over counts of 100. Each table is solved by the relaxation alone and
with the class envelope beside it, in turns, within the default limits. What is left
open must be told by a GapWarning.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.solvers import _class_envelope
from measurement import option_parser, report, target
from search_nodes import NODE_LIMIT, TIME_LIMIT, print_table, solve

SEED = 20240302
SIZE = 8


def near_identity(noise: float) -> np.ndarray:
    """20 classes and 40 features: two words to each class, and a little noise."""
    rng = np.random.default_rng(SEED)
    table = np.kron(np.eye(20), np.ones((1, 2))) * 100.0
    return table + noise * rng.random(table.shape)


def solve_without_envelope(table: Any, k: int, alpha: float) -> dict[str, Any]:
    before = _class_envelope._FIRST_NODES
    _class_envelope._FIRST_NODES = NODE_LIMIT + 1  # never asked
    try:
        return solve(table, k, alpha)
    finally:
        _class_envelope._FIRST_NODES = before


def study(alpha: float, noise: float) -> dict[str, Any]:
    table, name = near_identity(noise), f"alpha {alpha:g}, noise {noise:g}"
    before = solve_without_envelope(table, SIZE, alpha)
    after = solve(table, SIZE, alpha)
    most = before["final_gap"] / 3 if before["final_gap"] > 0 else 1e-9
    return {
        "table": name,
        "alpha": alpha,
        "noise": noise,
        "relaxation alone": before,
        "with envelope": after,
        "target": target(f"gap, {name}", after["final_gap"], most=most),
    }


def main() -> None:
    options = option_parser("hard_searches", __doc__).parse_args()
    noises = (0.0, 20.0) if options.quick else (0.0, 1.0, 5.0, 20.0)
    alphas = (0.01,) if options.quick else (0.01, 1.0)
    hard = [study(alpha, noise) for alpha in alphas for noise in noises]
    for side in ("relaxation alone", "with envelope"):
        rows = [{"table": row["table"], **row[side]} for row in hard]
        print_table(f"20 classes, 40 features, k = {SIZE}, {side}", rows, "table")
    limits = {"seconds": TIME_LIMIT, "nodes": NODE_LIMIT}
    report("hard_searches", options, SEED, {"limits": limits, "hard": hard})


if __name__ == "__main__":
    main()
