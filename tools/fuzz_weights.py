"""Fit the weights of thousands of hostile tables, and judge each fit.

    python tools/fuzz_weights.py --fits 3000

Run from the root of the checkout. Every fit must be no worse than the model without any
feature, and its gap no smaller than the distance to what L-BFGS-B finds.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.weights.hostile_fits import fit_hostile


def main() -> int:
    """Fit, judge, tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=10_000, help="seed of the first")
    parser.add_argument("--fits", type=int, default=3_000, help="how many")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    ends: Counter[str] = Counter()
    wrong = 0
    for seed in range(arguments.first, arguments.first + arguments.fits):
        result = fit_hostile(seed)
        ends[result.found.stopped] += 1
        for problem, bad in (
            ("worse than none", result.nll > result.null_nll + result.rounding),
            ("gap too small", result.distance > result.gap + result.rounding),
        ):
            if bad:
                wrong += 1
                print(f"seed {seed}: {problem}: {result}")
    shown = ", ".join(f"{number} {end}" for end, number in sorted(ends.items()))
    print(f"{arguments.fits} fits: {shown}; {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
