"""Certified solve on 12 million count columns, against the published method.

Three things are timed on the same table, in turns:

- `solve_multinomial`, its certificate with all bounds included, from a ClassCounts,
  from one without smoothing (where candidates may lack a class altogether) and from a
  plain array (which is also checked for negative and infinite values);
- Algorithm 1 of Askari, d'Aspremont and El Ghaoui: bisection on alpha until the bracket
  is shorter than 1e-10, all gains and a full argpartition at every step;
- one elementwise addition of the two count vectors into a preallocated output, the
  least that touching every count once can cost.

NumPy uses one thread; the compiled passes of bayesieve use all processors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import xlogy

from bayesieve import ClassCounts, solve_multinomial
from measurement import interleaved, option_parser, report, target, timed

SEED = 20240229
ALPHA = 1.0
TOLERANCE = 1e-10


def zipf_table(n_features: int, rng: np.random.Generator) -> np.ndarray:
    """Counts of two classes: Zipf-like totals in random order, log-normal ratios."""
    rate = 1.5 * n_features / np.arange(10, n_features + 10)
    rng.shuffle(rate)
    ratio = np.exp(0.3 * rng.standard_normal(n_features))
    table = np.empty((2, n_features))
    table[0] = rng.poisson(rate * ratio)
    table[1] = rng.poisson(rate / ratio)
    return table


def published_bisection(table: np.ndarray, k: int) -> tuple[np.ndarray, int]:
    """Support by bisection on alpha with all features at every step, and its steps."""
    f, g = table[0] + ALPHA, table[1] + ALPHA
    v = xlogy(f, f) + xlogy(g, g) - xlogy(f + g, f + g)
    low, high, steps = 0.0, 1.0, 0
    while high - low > TOLERANCE:
        a = 0.5 * (low + high)
        h = v - f * np.log(a) - g * np.log(1 - a)
        top = np.argpartition(h, -k)[-k:]
        slope = -f[top].sum() / a + g[top].sum() / (1 - a)
        low, high = (low, a) if slope > 0 else (a, high)
        steps += 1
    a = 0.5 * (low + high)
    h = v - f * np.log(a) - g * np.log(1 - a)
    return np.sort(np.argpartition(h, -k)[-k:]), steps


def gain(table: np.ndarray, support: np.ndarray) -> float:
    """Gain of a support over the null model, from its definition."""
    f = table[:, support] + ALPHA
    inside = xlogy(f, f / f.sum(axis=0)).sum()
    b = f.sum(axis=1)
    return float(inside - xlogy(b, b / b.sum()).sum())


def study(table: np.ndarray, k: int, fast: int, slow: int) -> dict[str, Any]:
    counts = ClassCounts(
        classes=np.array([0, 1]),
        class_count=np.array([1.0, 1.0]),
        feature_count=table,
        kind="count",
    )
    total = np.empty(table.shape[1])
    np.add(table[0], table[1], out=total)  # its pages exist before it is timed
    sides = {
        "addition": lambda: np.add(table[0], table[1], out=total),
        "addition, new output": lambda: table[0] + table[1],
        "certified": lambda: solve_multinomial(counts, k, alpha=ALPHA),
        "certified, no smoothing": lambda: solve_multinomial(counts, k, alpha=0),
        "certified, plain array": lambda: solve_multinomial(table, k, alpha=ALPHA),
    }
    seconds = interleaved(sides, 1)
    seconds["bisection"] = []
    for turn in range(slow):  # every side before and after each slow bisection
        spent, (published, steps) = timed(lambda: published_bisection(table, k))
        seconds["bisection"].append(spent)
        for name, more in interleaved(sides, fast).items():
            seconds[name] = (seconds[name] if turn else []) + more  # drop the first
    solution = solve_multinomial(counts, k, alpha=ALPHA)
    ours, theirs = gain(table, solution.support), gain(table, published)
    best = {name: min(values) for name, values in seconds.items()}
    for name, value in best.items():
        print(f"k={k} {name}: {value:.4f} s")
    certificate = solution.certificate
    print(
        f"k={k} gain {ours!r} against {theirs!r}, optimal: {certificate.is_optimal}, "
        f"nodes: {certificate.nodes}, relative gap: {certificate.relative_gap:.1e}"
    )
    if ours < theirs * (1 - 1e-12):
        raise SystemExit(f"k={k}: our support is worse than the published method's.")
    speed, cost = best["bisection"] / best["certified"], best["certified"]
    return {
        "k": k,
        "seconds": seconds,
        "best_seconds": best,
        "bisection_steps": steps,
        "gain": ours,
        "gain_of_bisection": theirs,
        "gain_over_null": certificate.objective - certificate.null_objective,
        "same_support": bool(np.array_equal(published, solution.support)),
        "is_optimal": certificate.is_optimal,
        "relative_gap": certificate.relative_gap,
        "nodes": certificate.nodes,
        "targets": [
            target(f"k={k}, bisection / certified", speed, least=40),
            target(f"k={k}, certified / addition", cost / best["addition"], most=10),
            target(
                f"k={k}, no smoothing / certified",
                best["certified, no smoothing"] / cost,
                most=1.5,
            ),
        ],
        "certified_over_addition_with_new_output": cost / best["addition, new output"],
        "plain_array_over_addition": best["certified, plain array"] / best["addition"],
        "bisection_over_plain_array": best["bisection"]
        / best["certified, plain array"],
    }


def main() -> None:
    options = option_parser("solve_wide", __doc__).parse_args()
    n_features = 200_000 if options.quick else 12_000_000
    sizes = (100, 1_000) if options.quick else (1_200, 12_000)
    table = zipf_table(n_features, np.random.default_rng(SEED))
    data = {
        "n_features": n_features,
        "total": float(table.sum()),
        "empty_columns": int((table.sum(axis=0) == 0).sum()),
    }
    print(data)
    studies = [study(table, k, fast=5, slow=1 if options.quick else 3) for k in sizes]
    report("solve_wide", options, SEED, {"data": data, "studies": studies})


if __name__ == "__main__":
    main()
