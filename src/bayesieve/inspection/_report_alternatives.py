"""Alternatives of a report: what would be lost without each feature."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from bayesieve._description import Description
from bayesieve.counts import ClassCounts
from bayesieve.inspection._report_paths import NameTable, rounded
from bayesieve.inspection._report_schema import LIMITS
from bayesieve.solvers import Alternatives

__all__ = ["alternatives_section", "count_told", "section_of"]

_WITHIN = 0.01
_LISTED = 1000
_SECONDS = 2.0
#: Supports of more features are not taken apart one by one.
_MOST_FEATURES = 1000
#: Features named as taking the place of another.
_MOST_NAMED = 5
_LARGEST_COUNT = 1e300


def alternatives_section(
    found: Description,
    counts: ClassCounts | None,
    names: NameTable,
    within: float | None = None,
) -> dict[str, Any] | None:
    """How much each feature matters, and how many other choices do as well."""
    own, certificate = found.problem, found.certificate
    if own is None or certificate is None or counts is None:
        return None
    if found.is_weighted or {"max_per_group", "budget"} & set(own.rules):
        return None
    if not 2 <= certificate.k <= _MOST_FEATURES:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a gap is told above
        listed = own.alternatives(
            *(counts, certificate.k),
            within=_WITHIN if within is None else within,
            limit=_LISTED,
            time_limit=_SECONDS,
            owner=found.owner,
        )
    if not np.array_equal(listed.supports[0], found.indices):
        return None  # a search that was stopped ended elsewhere
    return section_of(listed, names, under_rules=certificate.under_rules)


def section_of(
    listed: Alternatives, names: NameTable, *, under_rules: bool
) -> dict[str, Any]:
    """What a page shows of alternatives, what matters most first."""
    support = listed.supports[0]
    lost = listed.margins[support]
    order = np.argsort(-np.nan_to_num(lost, nan=-1.0), kind="stable")
    return {
        "within": listed.within,
        "complete": listed.complete,
        "under_rules": under_rules,
        "n_listed": len(listed),
        "n_at_most": rounded(min(listed.n_at_most, _LARGEST_COUNT)),
        "n_core": int(listed.core.shape[0]),
        "n_possible": int(listed.possible.shape[0]),
        "items": [
            {
                "name": names.place(int(support[i])),
                "lost": None if np.isnan(lost[i]) else rounded(lost[i]),
                "entered": [
                    names.place(int(j)) for j in listed.replacements[i][:_MOST_NAMED]
                ],
            }
            for i in order[: LIMITS["features"]].tolist()
        ],
    }


def count_told(section: dict[str, Any], k: int, noun: str) -> str:
    """How many choices are nearly as good, in one or two sentences."""
    share = f"{100 * section['within']:g} %"
    # Under rules k may count groups.
    of = " that the rules allow" if section["under_rules"] else f" of {k:,} {noun}"
    if section["complete"] and section["n_listed"] == 1:
        return f"No other choice{of} comes within {share} of this one."
    if section["complete"]:
        many = f"{section['n_listed']:,} choices{of} are"
    elif section["n_at_most"] < _LARGEST_COUNT:
        most = section["n_at_most"]
        told = f"{most:,.0f}" if most < 1e6 else f"{most:.1e}"
        many = f"Between {section['n_listed']:,} and {told} choices{of} are"
    else:
        many = f"More than {section['n_listed']:,} choices{of} are"
    some = "" if section["complete"] else "at least "
    any_ = "" if section["complete"] else "at most "
    return (
        f"{many} within {share} of the best gain: {some}{section['n_core']:,} {noun} "
        f"are in all of them, {any_}{section['n_possible']:,} in any."
    )
