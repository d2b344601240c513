"""Rules as a user writes them, with names, masks or labels: checked and numbered."""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.sequences._key_names import KeyNames
from bayesieve.solvers._logs import Floats
from bayesieve.solvers._rules import Indices, Rules, told_column
from bayesieve.utils._packed_names import PackedNames
from bayesieve.utils._warnings import warn_user

__all__ = ["RULE_PARAMETERS", "rules_of"]

#: What a user may say of the supports that are allowed.
RULE_PARAMETERS = (
    "include",
    "exclude",
    "groups",
    "max_per_group",
    "feature_cost",
    "budget",
)

#: Names among which a misspelt one is looked for.
_NAMES_LOOKED_AT = 20_000
_NONE: Indices = np.empty(0, dtype=np.int64)


def rules_of(
    n_features: int,
    names: Any = None,
    *,
    include: Any = None,
    exclude: Any = None,
    groups: Any = None,
    max_per_group: Any = None,
    feature_cost: Any = None,
    budget: Any = None,
    is_open: bool = False,
    owner: str,
) -> Rules | None:
    """Checked rules; None where nothing is asked for.

    Parameters
    ----------
    n_features : int
    names : sequence of str or None
        Of the columns.
    include, exclude, groups, max_per_group, feature_cost, budget
        As the user wrote them.
    is_open : bool
        Whether names are those of a vocabulary that need not have every word: one that
        is not there can be left out, cost something or be in a group, with a warning.
    owner : str
        Solver or estimator, for messages.
    """
    given = (include, exclude, groups, max_per_group, feature_cost, budget)
    if all(one is None for one in given):
        return None
    look_up = _Names(n_features, names, owner, is_open=is_open)
    group, n_groups = None, 0
    if groups is not None:
        group, n_groups = _groups(groups, look_up)
    elif max_per_group is not None:
        raise ValueError(
            f"The 'max_per_group' parameter of {owner} needs 'groups'. "
            f"Got max_per_group={max_per_group!r} without."
        )
    if max_per_group is not None and not _is_whole(max_per_group, 1):
        raise ValueError(
            f"The 'max_per_group' parameter of {owner} must be an int >= 1, or None "
            f"for groups that are taken whole. Got {max_per_group!r}."
        )
    if (feature_cost is None) != (budget is None):
        missing, other = (
            ("budget", "feature_cost") if budget is None else ("feature_cost", "budget")
        )
        raise ValueError(
            f"The '{other}' parameter of {owner} needs '{missing}': together they "
            f"bound what a support may cost. Got {missing}=None."
        )
    rules = Rules(
        n_features,
        look_up.columns(include, "include"),
        look_up.columns(exclude, "exclude"),
        group,
        n_groups,
        None if max_per_group is None else int(max_per_group),
        None if feature_cost is None else _costs(feature_cost, look_up),
        np.inf if budget is None else _budget(budget, owner),
    )
    rules.check(owner, names)
    if not (rules.include.size or rules.exclude.size or group is not None):
        return rules if rules.cost is not None else None
    return rules


class _Names:
    """Columns by name, number or mask."""

    def __init__(
        self, n_features: int, names: Any, owner: str, *, is_open: bool
    ) -> None:
        self.n_features, self.names, self.owner = n_features, names, owner
        self._is_open = is_open
        self._place: dict[str, int] | None = None

    def columns(self, given: Any, parameter: str) -> Indices:
        """Numbers of columns, sorted, each once."""
        if given is None:
            return _NONE
        must = f"The '{parameter}' parameter of {self.owner} must"
        if isinstance(given, str) or _is_whole(given, None):
            given = [given]
        if _goes_by_label(given) and given.dtype == bool:
            given = [name for name, own in given.to_dict().items() if own]
        if not isinstance(given, np.ndarray):
            if not isinstance(given, Iterable):
                raise ValueError(
                    f"{must} hold names or numbers of columns, or a mask of "
                    f"{self.n_features} booleans. Got {given!r}."
                )
            given = list(given)
        if len(given) and all(isinstance(one, (bool, np.bool_)) for one in given):
            mask = np.asarray(given, dtype=bool)
            if mask.shape != (self.n_features,):
                raise ValueError(
                    f"{must} be a mask of one boolean for each of the "
                    f"{self.n_features} columns. Got shape {mask.shape}."
                )
            return np.flatnonzero(mask)
        found = self._places(given, must)
        if len(found) == self.n_features > 2 and set(found) <= {0, 1}:
            raise ValueError(
                f"{must} be a mask of booleans or numbers of columns. Got "
                f"{self.n_features} numbers that are 0 or 1. Hint: .astype(bool)."
            )
        absent = [one for one, i in zip(given, found, strict=True) if i is None]
        if absent and not (self._is_open and parameter != "include"):
            raise ValueError(self._unknown(absent[0], must))
        if absent:
            warn_user(
                f"{self._unknown(absent[0], must)} It is left aside, as {len(absent)} "
                f"in all.",
                UserWarning,
            )
        return np.unique(np.array([i for i in found if i is not None], dtype=np.int64))

    def _places(self, given: Any, must: str) -> list[int | None]:
        """The column of each name or number, None for a name that is not there."""
        names = []
        for one in given:
            if isinstance(one, str):
                names.append(one)
            elif not _is_whole(one, None):
                raise ValueError(
                    f"{must} hold names or numbers of columns, or a mask. Got {one!r}."
                )
            elif not 0 <= one < self.n_features:
                raise ValueError(
                    f"{must} hold numbers of columns from 0 to {self.n_features - 1}. "
                    f"Got {one!r}."
                )
        if names and self.names is None:
            raise ValueError(
                f"{must} hold numbers of columns: these have no names. Got "
                f"{names[0]!r}."
            )
        place_of = self._places_of_names(names)
        return [place_of[one] if isinstance(one, str) else int(one) for one in given]

    def _places_of_names(self, names: list[str]) -> dict[str, int | None]:
        if isinstance(self.names, PackedNames):  # no strings of all of them
            places = self.names.index_of(names).tolist() if names else []
            return {
                name: None if place < 0 else place
                for name, place in zip(names, places, strict=True)
            }
        if self._place is None and names:
            self._place = {str(n): i for i, n in enumerate(self.names)}
        return {name: (self._place or {}).get(name) for name in names}

    def _unknown(self, one: str, must: str) -> str:
        if isinstance(self.names, KeyNames):  # another one is as near as the next
            is_window = self.names.spelling.is_name(one)
            told = f"{must} hold names of columns. Got {one!r}."
            return (
                told if is_window else f"{told} Hint: they are {self.names.spelling}."
            )
        known = list(islice(map(str, self.names), _NAMES_LOOKED_AT))
        near = difflib.get_close_matches(one, known, n=3)
        told = f"{must} hold names of columns. Got {one!r}."
        if near:
            told += f" Hint: did you mean {' or '.join(map(repr, near))}?"
        return told


def _groups(given: Any, look_up: _Names) -> tuple[Indices, int]:
    """A number for each column's group, and how many there are."""
    n = look_up.n_features
    must = f"The 'groups' parameter of {look_up.owner} must"
    if isinstance(given, Mapping):
        return _listed([*given.values()], look_up, must)
    if _goes_by_label(given) and look_up.names is not None:
        labelled, given = given.to_dict(), [None] * n
        for name, own in labelled.items():
            for column in look_up.columns([name], "groups"):  # refuses what is none
                before = given[column]
                if not _is_missing(before) and before != own:
                    told = told_column(column, look_up.names)
                    raise ValueError(
                        f"{must} have each column in one group. Got {told} in two, "
                        f"{before!r} and, as {name!r}, {own!r}."
                    )
                given[column] = own
    elif hasattr(given, "to_numpy"):
        given = given.to_numpy()
    if not isinstance(given, np.ndarray):
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise ValueError(
                f"{must} hold one label for each of the {n} columns, or lists of "
                f"columns. Got {given!r}."
            )
        given = list(given)
        if given and all(isinstance(o, (list, tuple, set, frozenset)) for o in given):
            return _listed(given, look_up, must)
    if len(given) != n or (isinstance(given, np.ndarray) and given.ndim != 1):
        got = given.shape if isinstance(given, np.ndarray) else f"{len(given)} labels"
        raise ValueError(
            f"{must} hold one label for each of the {n} columns. Got {got}."
        )
    labels = given if isinstance(given, np.ndarray) else _labels(given)
    if labels.dtype.kind in "iu":
        low, high = int(labels.min()), int(labels.max())
        if high - low < 4 * n + 1024:  # a table of all labels is no larger than needed
            codes: Indices = labels.astype(np.int64, copy=low != 0)
            if low:
                codes -= low
            used = np.bincount(codes) > 0
            if not used.all():
                codes = (np.cumsum(used) - 1)[codes]
            return codes, int(used.sum())
    if labels.dtype == object or labels.dtype.kind == "f":
        alone = np.array([_is_missing(one) for one in labels.tolist()])
    else:
        alone = np.zeros(n, dtype=bool)
    numbers_of: dict[Any, int] = {}
    codes = np.empty(n, dtype=np.int64)
    for place, one in enumerate(labels.tolist()):
        key = ("alone", place) if alone[place] else ("group", one)
        codes[place] = numbers_of.setdefault(key, len(numbers_of))
    return codes, len(numbers_of)


def _goes_by_label(given: Any) -> bool:
    """Whether this is a pandas Series with names of columns for its labels."""
    labels = getattr(given, "index", None)
    if not hasattr(given, "to_dict") or labels is None:
        return False
    return all(isinstance(one, str) for one in labels)


def _is_missing(label: Any) -> bool:
    """None, NaN and pandas' NA, which is not even unequal to itself."""
    if label is None:
        return True
    try:
        return bool(label != label)
    except TypeError:
        return True


def _labels(given: list[Any]) -> NDArray[Any]:
    """A list of labels as an array that keeps them as they are."""
    if all(_is_whole(one, None) for one in given):
        return np.array(given, dtype=np.int64)
    labels = np.empty(len(given), dtype=object)
    labels[:] = given
    return labels


def _listed(lists: list[Any], look_up: _Names, must: str) -> tuple[Indices, int]:
    """Groups given as lists of their columns; a column in none is alone."""
    codes = np.full(look_up.n_features, -1, dtype=np.int64)
    for number, columns in enumerate(lists):
        members = look_up.columns(columns, "groups")
        twice = members[codes[members] >= 0]
        if twice.shape[0]:
            name = told_column(twice[0], look_up.names)
            raise ValueError(
                f"{must} have each column in one group. Got {name} in two."
            )
        codes[members] = number
    alone = np.flatnonzero(codes < 0)
    codes[alone] = np.arange(len(lists), len(lists) + alone.shape[0])
    return codes, len(lists) + alone.shape[0]


def _costs(given: Any, look_up: _Names) -> Floats:
    n = look_up.n_features
    must = f"The 'feature_cost' parameter of {look_up.owner} must"
    if _goes_by_label(given):
        given = given.to_dict()
    if isinstance(given, Mapping):
        costs = np.zeros(n)
        values = _numbers([*given.values()], must)
        named: dict[int, Any] = {}
        for one, value in zip(given, values, strict=True):
            for column in look_up.columns([one], "feature_cost").tolist():
                before = named.setdefault(column, one)
                if before != one and costs[column] != value:
                    raise ValueError(
                        f"{must} hold one cost for each column. Got "
                        f"{costs[column]:g} for {before!r} and {value:g} for {one!r}, "
                        "which are one column."
                    )
                costs[column] = value
    else:
        costs = _numbers(given, must)
    if costs.shape != (n,):
        raise ValueError(
            f"{must} hold one number for each of the {n} columns. "
            f"Got shape {costs.shape}."
        )
    wrong = ~(np.isfinite(costs) & (costs >= 0))
    if wrong.any():
        raise ValueError(f"{must} hold finite numbers >= 0. Got {costs[wrong][0]:g}.")
    return costs


def _numbers(given: Any, must: str) -> Floats:
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{must} hold finite numbers >= 0. Got {given!r}.") from error


def _budget(given: Any, owner: str) -> float:
    valid = isinstance(given, numbers.Real) and not isinstance(given, bool)
    if not valid or not 0 <= float(given) < np.inf:
        raise ValueError(
            f"The 'budget' parameter of {owner} must be a finite number >= 0. "
            f"Got {given!r}."
        )
    return float(given)


def _is_whole(value: Any, least: int | None) -> bool:
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return whole and (least is None or int(value) >= least)
