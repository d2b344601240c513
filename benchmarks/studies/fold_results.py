"""What a study has stored, read back: columns over folds, and paired tests of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ledger import read_parts
from scipy.stats import ttest_rel
from weighted_nb_folds import ALL_SETS

LEVEL = 0.05


class SetResult(NamedTuple):
    """One data set: its facts, and for each key an array (folds, columns)."""

    name: str
    header: dict[str, Any]
    rows: dict[str, np.ndarray]

    @property
    def folds(self) -> int:
        """Folds of every key."""
        return min(rows.shape[0] for rows in self.rows.values())

    def column(self, key: str, column: str) -> np.ndarray:
        """Return one column of a key over the folds."""
        return self.rows[key][:, self.header["columns"].index(column)]

    def mean(self, key: str, column: str) -> float:
        """Return its mean; an AUC that is not defined is left out."""
        return float(np.nanmean(self.column(key, column)))


def read_results(folder: Path, keys: Sequence[str], under: str = "") -> list[SetResult]:
    """Return the sets that have all keys, each with the folds that all keys have."""
    found, parts = [], read_parts(folder)
    for name in ALL_SETS:
        content = parts.get(under + name, {"rows": {}})
        stored = content.pop("rows")
        folds = min((len(stored.get(key, [])) for key in keys), default=0)
        if folds:
            rows = {key: np.array(stored[key][:folds], dtype=float) for key in keys}
            found.append(SetResult(name, content, rows))
    return found


def over_sets(results: Sequence[SetResult], key: str, column: str) -> np.ndarray:
    """Return the mean of every set."""
    return np.array([result.mean(key, column) for result in results])


def significantly_greater(left: np.ndarray, right: np.ndarray) -> bool:
    """Tell whether left is greater by a paired t-test over folds, two-sided at 5 %.

    Without a difference in any fold the answer is no; with the same difference in all
    of them it is its sign. Pairs with an undefined value are left out.
    """
    both = ~(np.isnan(left) | np.isnan(right))
    left, right = left[both], right[both]
    difference = left - right
    if difference.shape[0] < 2 or not difference.mean() > 0.0:
        return False
    if np.ptp(difference) <= 1e-12 * np.abs(difference).max():
        return True
    return bool(ttest_rel(left, right).pvalue < LEVEL)


def better_and_worse(
    results: Sequence[SetResult], key: str, base: str, column: str
) -> tuple[int, int]:
    """Return on how many sets a column of a key is greater, and less, than of base."""
    pairs = [(r.column(key, column), r.column(base, column)) for r in results]
    more = sum(significantly_greater(own, other) for own, other in pairs)
    less = sum(significantly_greater(other, own) for own, other in pairs)
    return more, less


def folds_note(results: Sequence[SetResult]) -> str:
    """Say how many sets and folds a page is about."""
    few = [f"{r.name} ({r.folds})" for r in results if r.folds < 10]
    sets = "set" if len(results) == 1 else "sets"
    text = f"{len(results)} {sets}, ten folds each"
    if few:
        text += f", but fewer of {', '.join(few)}"
    return text + "."
