"""What errors of each class cost: the `class_weight` of a classifier.

Partitions and tables describe the data and know nothing of it. It scales the class
prior, and how often the rows of a class count when the weights are fitted.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

__all__ = ["check_class_weight", "class_factors", "count_by_class"]


def check_class_weight(given: Any, classes: np.ndarray, owner: str) -> None:
    """Refuse a dict with classes or weights that cannot be."""
    if not isinstance(given, dict):
        return
    must = f"The 'class_weight' parameter of {owner} must"
    labels = classes.tolist()
    for label, weight in given.items():
        if label not in labels:
            raise ValueError(
                f"{must} name classes of y, which are {labels!r:.200}. Got {label!r}."
            )
        if not isinstance(weight, Real) or not 0.0 < float(weight) < np.inf:
            raise ValueError(
                f"{must} hold finite numbers > 0. Got {weight!r} for class {label!r}."
            )


def class_factors(
    given: Any, classes: np.ndarray, class_count: np.ndarray, owner: str
) -> np.ndarray | None:
    """How many times a row of each class counts; None where every row counts once.

    Only the ratios of the weights matter: they are scaled so that all rows together
    count for as many as they are, and the penalty of the weights keeps its meaning.
    """
    if given is None:
        return None
    if isinstance(given, dict):
        check_class_weight(given, classes, owner)
        weight = np.array([float(given.get(c, 1.0)) for c in classes.tolist()])
    else:
        weight = 1.0 / class_count
    if (weight == weight[0]).all():
        return None
    weight = weight / weight.max()
    return np.asarray(weight * (class_count.sum() / (weight @ class_count)))


def count_by_class(
    weights: np.ndarray | None, factors: np.ndarray | None, codes: np.ndarray
) -> np.ndarray | None:
    """Weights of rows in the criterion, from their own and those of their classes."""
    if factors is None:
        return weights
    own = np.asarray(factors[codes])
    return own if weights is None else weights * own
