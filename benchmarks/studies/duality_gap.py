"""Experiment 6 of Askari et al.: how far the relaxation is from the optimum.

Two classes, f+ and f- uniform on [0, 1]^m, each divided by its sum, no smoothing;
m = 30 (20 draws) and m = 3,000 (5 draws), every k from 2 to m. For each k:

    psi(k)     the relaxation, an upper bound on every support of size k
    theorem    the point of Theorem 3.2: the k largest h at the optimal class shares.
               At a kink two features tie for the last place; both sets are evaluated,
               since the theorem does not say which to take
    phi(k)     the optimum, by branch and bound; for m = 30 and k <= 5 or k >= 25 it is
               compared with all supports of that size as well

All values are gains over the model without features. A gap is a share of the gain of
the optimum, which does not depend on the scale of f. The solver proves its answer to
1e-11 of the gain; a smaller gap cannot be told from none: "tight" means below TIGHT.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from duality_gap_tables import INVISIBLE, TIGHT, document, draw
from ledger import Ledger, progress, run_script
from study_run import run_study, significant, study_parser
from support_gains import gain_of, gain_of_sums, own_values

from bayesieve import solve_multinomial
from bayesieve.exceptions import DegenerateSupportWarning

STUDY = "duality_gap"
SEED = 20200606
DRAWS = {30: 20, 3000: 5}
QUICK_DRAWS = {30: 3, 300: 2}
BRUTE_WIDTH, BRUTE_SIZE = 30, 5  # all supports of a size, or of its complement
ROUNDING = 1e-10  # of the gain: what the comparison of two bounds allows


def drawn_counts(m: int, draw_number: int) -> np.ndarray:
    """Return f+ and f- of one draw, each with sum one."""
    rng = np.random.default_rng([SEED, m, draw_number])
    f = rng.uniform(size=(2, m))
    return f / f.sum(axis=1, keepdims=True)


def theorem_gains(f: np.ndarray, k: int, shares: np.ndarray) -> tuple[float, float]:
    """Return the gains of the k largest h at some shares: the worse, the better set.

    The two differ where the last place is shared: there the feature just outside may
    take the place of the one just inside.
    """
    h = own_values(f) - np.log(shares) @ f
    order = np.argsort(-h, kind="stable")
    first = gain_of(f, order[:k])
    if k == f.shape[1] or h[order[k - 1]] - h[order[k]] > 1e-9 * h[order[k - 1]]:
        return first, first
    other = gain_of(f, np.append(order[: k - 1], order[k]))
    return min(first, other), max(first, other)


def brute_force_gain(f: np.ndarray, k: int) -> float:
    """Return the best gain among all supports of size k."""
    m = f.shape[1]
    inside = k <= m - k
    picked = np.array(list(combinations(range(m), min(k, m - k))), dtype=np.intp)
    values = own_values(f)
    value, sums = values[picked].sum(axis=1), f[:, picked].sum(axis=2)
    if not inside:
        value, sums = values.sum() - value, f.sum(axis=1)[:, None] - sums
    return float(gain_of_sums(value, sums).max())


@dataclass(frozen=True)
class Values:
    """Gains of every k from 0 to m in one draw; psi(0) = phi(0) = phi(1) = 0."""

    psi: np.ndarray
    phi: np.ndarray
    worse: np.ndarray  # Theorem 3.2, the worse of two tied sets
    better: np.ndarray
    nodes: np.ndarray
    proven: np.ndarray

    @property
    def m(self) -> int:
        return self.psi.shape[0] - 1

    def shares(self, difference: np.ndarray) -> np.ndarray:
        """Return differences as shares of the optimum; NaN for k < 2.

        What the solver cannot tell from nothing is nothing.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(self.phi > 0, difference / self.phi, np.nan)
        return np.where(shares < TIGHT, 0.0, shares)


def solved(f: np.ndarray) -> Values:
    """Return all gains of one draw."""
    m = f.shape[1]
    psi, phi, worse, better = (np.zeros(m + 1) for _ in range(4))
    nodes, proven = np.ones(m + 1, dtype=int), np.ones(m + 1, dtype=bool)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateSupportWarning)  # phi(1) = 0
        one = solve_multinomial(f, 1, alpha=0.0).certificate
    psi[1] = one.relaxation_bound - one.null_objective
    for k in range(2, m + 1):
        certificate = solve_multinomial(f, k, alpha=0.0).certificate
        psi[k] = certificate.relaxation_bound - certificate.null_objective
        phi[k] = certificate.objective - certificate.null_objective
        worse[k], better[k] = theorem_gains(f, k, certificate.class_shares)
        nodes[k], proven[k] = certificate.nodes, certificate.is_optimal
    return Values(psi, phi, worse, better, nodes, proven)


def bands(m: int) -> list[tuple[int, int]]:
    """Return ranges of k: 2 and 3 (not in the paper), then by powers of ten."""
    edges = [2, 4, *(10**e for e in range(1, 9) if 10**e < m), m + 1]
    return [(low, high - 1) for low, high in pairwise(edges)]


def before(values: np.ndarray, k: np.ndarray, steps: int) -> np.ndarray:
    """Return values at k - steps, and 0 for k - steps <= 0."""
    return values[np.maximum(k - steps, 0)]


def summary(v: Values, first: int, last: int) -> dict[str, float]:
    """Return what one range of k says: counts, largest and summed shares."""
    k = np.arange(first, last + 1)
    gap = v.shares(v.psi - v.phi)[k]
    worse, better = v.shares(v.psi - v.worse)[k], v.shares(v.psi - v.better)[k]
    loss_worse, loss_better = (
        v.shares(v.phi - v.worse)[k],
        v.shares(v.phi - v.better)[k],
    )
    allowed = ROUNDING * v.phi[k]
    return {
        "sizes": k.shape[0],
        "proven": int(v.proven[k].sum()),
        "nodes": int(v.nodes[k].max()),
        "tight": int((gap <= 0).sum()),
        "tight_theorem": int((better <= 0).sum()),
        "invisible": int((gap < INVISIBLE).sum()),
        "invisible_theorem": int((worse < INVISIBLE).sum()),
        "gap_largest": float(gap.max()),
        "gap_sum": float(gap.sum()),
        "theorem_largest": float(worse.max()),
        "theorem_sum": float(worse.sum()),
        "optimal_worse": int((loss_worse <= 0).sum()),
        "optimal_better": int((loss_better <= 0).sum()),
        "loss_largest": float(loss_worse.max()),
        "absolute_largest": float((gap * v.phi[k]).max()),
        "absolute_sum": float((gap * v.phi[k]).sum()),
        "width_sharp": float(((v.psi[k] - before(v.psi, k, 1)) / v.phi[k]).sum()),
        "width_published": float(((v.psi[k] - before(v.psi, k, 4)) / v.phi[k]).sum()),
        "broken_upper": int((v.phi[k] > v.psi[k] + allowed).sum()),
        "broken_sharp": int((before(v.psi, k, 1) > v.phi[k] + allowed).sum()),
        "broken_published": int((before(v.psi, k, 4) > v.phi[k] + allowed).sum()),
    }


def compared_with_all(f: np.ndarray, v: Values) -> dict[str, float]:
    """Return in how many sizes all supports were tried, and the largest difference."""
    sizes = [
        k
        for k in range(2, v.m + 1)
        if v.m <= BRUTE_WIDTH and min(k, v.m - k) <= BRUTE_SIZE
    ]
    off = [abs(brute_force_gain(f, k) / v.phi[k] - 1) for k in sizes]
    return {"sizes": len(sizes), "largest_difference": max(off, default=0.0)}


def curves(v: Values) -> dict[str, list[float]]:
    """Return what the figure of a draw needs, for k = 0, 1, ..., m."""
    gaps = {
        "gap": v.shares(v.psi - v.phi),
        "theorem": v.shares(v.psi - v.worse),
    }
    return {
        "psi": [significant(x, 13) for x in v.psi.tolist()],
        **{
            name: [significant(x, 3) for x in np.nan_to_num(shares).tolist()]
            for name, shares in gaps.items()
        },
    }


def one_draw(m: int, draw_number: int) -> dict[str, Any]:
    """Return the unit of one draw; the first one is also drawn."""
    f = drawn_counts(m, draw_number)
    v = solved(f)
    unit: dict[str, Any] = {
        "null": float(solve_multinomial(f, 2, alpha=0.0).certificate.null_objective),
        "bands": {f"{a}-{b}": summary(v, a, b) for a, b in bands(m)},
        "all_supports": compared_with_all(f, v),
    }
    if draw_number == 0:
        unit["curves"] = curves(v)
    return unit


def run(options: argparse.Namespace) -> None:
    """Do what is missing, draw by draw."""
    store = Ledger(options.folder, STUDY, study=STUDY, seed=SEED, tight=TIGHT)
    for m, wanted in (QUICK_DRAWS if options.quick else DRAWS).items():
        for number in range(wanted):
            key = f"{m} {number}"
            if key not in store:
                store.put(key, one_draw(m, number))
                progress(f"m = {m}, draw {number}: done")


def main(arguments: list[str] | None = None) -> None:
    parser = study_parser(STUDY, __doc__, "m = 30 and 300, few draws")
    run_study(STUDY, parser.parse_args(arguments), run, document, draw)


if __name__ == "__main__":
    run_script(main)
