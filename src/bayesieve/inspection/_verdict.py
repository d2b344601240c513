"""What a person wants to know first: is it any good, and what would make it better.

The verdict is a sentence about quality and the gravest remarks of the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayesieve.inspection._verdict_facts import (
    Remark,
    VerdictFacts,
    interval_told,
    percent,
)
from bayesieve.inspection._verdict_rules import RULES

__all__ = ["Verdict", "verdict_of"]

_MOST_REMARKS = 2  # that stand above everything; the others come after
#: Good to know, but not what one must know first.
_BEHIND = ("enough rows", "redundant", "copies")


@dataclass(frozen=True)
class Verdict:
    """The answer: one to three lines, and everything that was noticed.

    Attributes
    ----------
    lines : list of str
        How good the model is on new rows, and the gravest remarks.
    remarks : list of Remark
        All of them, the gravest first.
    """

    lines: list[str]
    remarks: list[Remark]

    @property
    def codes(self) -> list[str]:
        """Codes of the remarks."""
        return [remark.code for remark in self.remarks]

    def as_dict(self, steps: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
        """Plain values, with commands to try next and what they do."""
        return {
            "lines": list(self.lines),
            "remarks": [{"code": own.code, "text": own.text} for own in self.remarks],
            "next": [{"command": own, "meaning": told} for own, told in steps],
        }


def verdict_of(facts: VerdictFacts) -> Verdict:
    """Judge a model by what is known of it; the rules are in the order of gravity."""
    remarks = [found for rule in RULES if (found := rule(facts)) is not None]
    shown = [own.text for own in remarks if own.code not in _BEHIND][:_MOST_REMARKS]
    return Verdict([_headline(facts), *shown], remarks)


def _headline(facts: VerdictFacts) -> str:
    found = facts.evaluation
    if facts.k == 0:
        told = f"Nothing tells the label: no {facts.one} says more than it costs."
        if found is None:
            return told
        return (
            f"{told} Always {found.classes[found.majority]} is right on "
            f"{percent(found.majority_accuracy)} of new rows."
        )
    if found is None:
        return "How good it is on new rows was not measured: none were held out."
    share = (
        f"{percent(found.accuracy)} of new rows (95 % interval {interval_told(found)})"
    )
    guess = found.classes[found.majority]
    always = percent(found.majority_accuracy)
    if found.one_class:
        return (
            f"All {found.n_rows:,} held-out rows are {guess}, so right on "
            f"{percent(found.accuracy)} of them says nothing of how well it tells the "
            "classes apart. Hold out rows of every class."
        )
    if found.may_beat_guessing:
        return (
            "Maybe better than guessing, which so few rows cannot tell: right on "
            f"{share}; always {guess} would be right on {always}."
        )
    if not found.beats_guessing:
        return (
            f"No better than guessing: right on {share}; always {guess} would be right "
            f"on {always}."
        )
    told = f"Right on {share}; always {guess} would be right on {always}"
    every = facts.rivals.get("all")
    if every is not None and facts.k < facts.n_features:
        n_all = facts.sizes.get("all") or facts.n_features
        told += f", all {n_all:,} {facts.noun} on {percent(every.accuracy)}"
    return f"{told}."
