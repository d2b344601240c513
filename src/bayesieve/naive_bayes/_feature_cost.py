"""What the user says columns cost, in place of what their partitions cost."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

__all__ = ["preparation_costs"]


def preparation_costs(
    given: Any, found: np.ndarray, names: Sequence[str], owner: str
) -> np.ndarray:
    """B_k of every column: what the user says, else what was found.

    Parameters
    ----------
    given : array-like of shape (n_columns,), dict, pandas Series or None
        The `feature_cost` of a model: a number for each column, or for those it names.
    found : ndarray of shape (n_columns,)
    names : sequence of str
        Of the columns.
    owner : str
        Class of the model, for messages.
    """
    if given is None:
        return found
    must = f"The 'feature_cost' parameter of {owner} must"
    if hasattr(given, "to_dict") and all(isinstance(n, str) for n in given.index):
        given = given.to_dict()  # a pandas Series goes by its labels
    if isinstance(given, dict):
        for name in given:
            if name not in names:
                raise ValueError(f"{must} name columns of X. Got {name!r}.")
        values, places = [*given.values()], [names.index(n) for n in given]
    else:
        values, places = given, [*range(found.shape[0])]
    costs = np.asarray(values, dtype=object)
    if costs.shape != (len(places),):
        raise ValueError(
            f"{must} hold a finite number for each of the {found.shape[0]} "
            f"columns. Got an array of shape {costs.shape}."
        )
    for cost in costs.tolist():
        if not isinstance(cost, Real) or not np.isfinite(float(cost)):
            raise ValueError(f"{must} hold finite numbers. Got {cost!r}.")
    found = found.copy()
    found[places] = costs.astype(np.float64)
    return found
