"""What would have to be different for another class: the fewest terms, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.naive_bayes._term_values import Removals, on_one_line

__all__ = ["Counterfactual", "fewest_removals"]

_SHOWN_NAMES = 8
_LONGEST_NAME = 40


@dataclass(frozen=True)
class Counterfactual:
    """The fewest terms of a row without which another class is predicted. **Exact**.

    Made by ``explanation[row].counterfactual()``. No smaller set of the row's terms
    does it. A term of a text or of counts is taken out; a column of a table is set to
    its mean over the training rows.

    Attributes
    ----------
    features : list of str
        Names of the terms, those that matter most first.
    terms : list of int
        Their numbers.
    label : object
        The class that is predicted without them.
    removals : list of str
        How each is put back, in words: "without" or "with an average".

    Examples
    --------
    >>> from bayesieve import SparseTextNB
    >>> texts = ["win a prize now", "win cash", "see you now", "see you at home"]
    >>> model = SparseTextNB(4).fit(texts, ["spam", "spam", "ham", "ham"])
    >>> other = model.explain(["see if you win cash"])[0].counterfactual()
    >>> other.features, other.label
    (['win'], 'ham')
    >>> print(other)
    Without 'win' it would be ham.
    """

    features: list[str]
    terms: list[int]
    label: Any
    removals: list[str]

    def __str__(self) -> str:
        shown = len(self.features)
        if shown > _SHOWN_NAMES:
            shown = _SHOWN_NAMES - 1
        named: dict[str, list[str]] = {}
        for name, how in zip(self.features[:shown], self.removals, strict=False):
            named.setdefault(how, []).append(_quoted(name))
        if shown < len(self.features):
            next(reversed(named.values())).append(f"{len(self.features) - shown} more")
        told = " and ".join(f"{how} {_listed(names)}" for how, names in named.items())
        return f"{told[0].upper()}{told[1:]} it would be {self.label}."


def _listed(names: list[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def _quoted(name: str) -> str:
    """A name on one line, in quotes that it does not hold itself."""
    name = on_one_line(name)
    if len(name) > _LONGEST_NAME:
        name = name[: _LONGEST_NAME - 1] + "\u2026"
    return f'"{name}"' if "'" in name else f"'{name}'"


def fewest_removals(own: int, removals: Removals) -> tuple[np.ndarray, int] | None:
    """The fewest terms to put back so that another class has the largest score.

    Beside one rival it is best to put back the terms with the largest gain of the rival
    over the class, so they are taken in this order; the smallest number over all rivals
    is the smallest there is. O(n_classes n log n) for n terms.

    Parameters
    ----------
    own : int
        The class that is predicted. Of equal scores the first class wins.
    removals : Removals

    Returns
    -------
    chosen : ndarray of int
        Places in `removals`, the largest gain first.
    label : int
        The class that is predicted then.
    None
        If nothing changes the class, or no class can produce the row.
    """
    kept, removed = removals.kept, removals.removed
    score = removals.rest + kept.sum(axis=0)
    if np.isneginf(score[own]):
        return None
    found = [_beside(own, rival, removals) for rival in range(score.shape[0])]
    chosen, _ = min(
        (one for one in found if one is not None),
        key=lambda one: (one[0].size, -one[1]),
        default=(None, 0.0),
    )
    if chosen is None:
        return None
    left = np.delete(kept, chosen, axis=0).sum(axis=0)
    score = removals.rest + left + removed[chosen].sum(axis=0)
    score[own] = -np.inf  # a tie that rounding gives back to the class is none
    return chosen, int(np.argmax(score))


def _beside(
    own: int, rival: int, removals: Removals
) -> tuple[np.ndarray, float] | None:
    """The fewest terms that put a rival above the class, and by how much it is then."""
    kept, removed, rest = removals.kept, removals.removed, removals.rest
    # A rival that terms make impossible needs every one of them put back, and none that
    # it cannot do without.
    barring, needed = np.isneginf(kept[:, rival]), np.isneginf(removed[:, rival])
    if rival == own or np.isneginf(rest[rival]) or (barring & needed).any():
        return None
    free = np.flatnonzero(~barring & ~needed)
    gain = (removed[free, rival] - kept[free, rival]) - (
        removed[free, own] - kept[free, own]
    )
    order = np.argsort(-gain, kind="stable")
    lead = (
        rest[own]
        - rest[rival]
        + (kept[~barring, own] - kept[~barring, rival]).sum()
        + (removed[barring, own] - removed[barring, rival]).sum()
    )
    gained = np.concatenate([[0.0], np.cumsum(gain[order])])
    if not barring.any():
        lead = max(lead, 0.0)  # less is rounding: the class is predicted
    enough = (gained > lead) | ((gained == lead) & (rival < own))
    enough[0] &= barring.any()
    if not enough.any():
        return None
    n = int(np.argmax(enough))
    chosen = np.concatenate([np.flatnonzero(barring), free[order[:n]]])
    return chosen, float(gained[n] - lead)
