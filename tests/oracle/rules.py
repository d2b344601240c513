"""The best allowed support by enumeration of every subset, and rules at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import xlogy
from tests.oracle.brute_force import _subsets, column_values

KINDS = ("include", "exclude", "groups", "at_most", "budget")
COMBINATIONS = (
    ("include", "exclude"),
    ("include", "groups"),
    ("exclude", "groups"),
    ("include", "at_most"),
    ("exclude", "at_most"),
    ("include", "budget"),
    ("exclude", "budget"),
    ("groups", "budget"),
    ("at_most", "budget"),
    ("include", "exclude", "groups", "budget"),
    ("include", "exclude", "at_most", "budget"),
)


def random_rules(
    rng: np.random.Generator, kinds: tuple[str, ...], m: int, k: int
) -> dict[str, Any]:
    """Rules of some kinds that at least one support of k items meets."""
    while True:
        rules = _drawn(rng, kinds, m)
        if _is_feasible(rules, m, k):
            return rules


def _drawn(rng: np.random.Generator, kinds: tuple[str, ...], m: int) -> dict[str, Any]:
    rules: dict[str, Any] = {}
    columns = rng.permutation(m)
    if "include" in kinds:
        rules["include"] = columns[: rng.integers(1, 3)]
    if "exclude" in kinds:
        rules["exclude"] = columns[-rng.integers(1, 3) :]
    if "groups" in kinds or "at_most" in kinds:
        rules["groups"] = rng.integers(0, max(2, m // 2), m)
    if "at_most" in kinds:
        rules["max_per_group"] = int(rng.integers(1, 3))
    if "budget" in kinds:
        costs = rng.integers(0, 6, m) if rng.random() < 0.5 else rng.random(m)
        rules["feature_cost"] = costs
        rules["budget"] = float(np.round(rng.random() * costs.sum(), 3))
    return rules


def _is_feasible(rules: dict[str, Any], m: int, k: int) -> bool:
    everything = np.ones(m, dtype=bool)
    return bool(allowed_supports(rules, m, k, everything).any())


def allowed_supports(
    rules: dict[str, Any], m: int, k: int, filled: np.ndarray
) -> np.ndarray:
    """Which of the 2**m subsets are allowed; k items at most.

    Columns that are not filled come only where they are included, or with their group.
    """
    member = _subsets(m)[0] > 0
    allowed = np.ones(member.shape[0], dtype=bool)
    include, exclude = rules.get("include", []), rules.get("exclude", [])
    allowed &= member[:, include].all(axis=1) & ~member[:, exclude].any(axis=1)
    groups, most = rules.get("groups"), rules.get("max_per_group")
    if groups is not None and most is None:
        size = np.zeros(member.shape[0], dtype=int)
        for label in np.unique(groups):
            own = np.flatnonzero(groups == label)
            some, all_ = member[:, own].any(axis=1), member[:, own].all(axis=1)
            allowed &= some == all_
            size += some
            if not filled[own].any() and not np.isin(own, include).any():
                allowed &= ~some
    else:
        size = member.sum(axis=1)
        free = ~filled
        free[include] = False
        allowed &= ~member[:, free].any(axis=1)
    if most is not None:
        for label in np.unique(groups):
            allowed &= member[:, groups == label].sum(axis=1) <= most
    if "budget" in rules:
        spent = member @ np.asarray(rules["feature_cost"], dtype=float)
        allowed &= spent <= rules["budget"] * (1 + 1e-12)
    return allowed & (size <= k)


def multinomial_gains(counts: np.ndarray) -> np.ndarray:
    """Gain of each of the 2**m subsets of smoothed columns."""
    member = _subsets(counts.shape[1])[0]
    sums = member @ counts.T
    total = sums.sum(axis=1)
    gains = member @ column_values(counts) + xlogy(total, total)
    return gains - xlogy(sums, sums).sum(axis=1)


def additive_gains(gains: np.ndarray) -> np.ndarray:
    """Gain of each of the 2**m subsets of an additive model."""
    return _subsets(gains.shape[0])[0] @ gains


def subset_number(support: np.ndarray) -> int:
    """The row of a support among all subsets."""
    return int(sum(1 << int(i) for i in support))
