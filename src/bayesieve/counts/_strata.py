"""Class counts apart for each stratum: a batch, a donor, a site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.counts._layout import same_labels
from bayesieve.utils._arrays import Array

if TYPE_CHECKING:
    from bayesieve.counts._table import ClassCounts

__all__ = ["StratifiedCounts"]


class StratifiedCounts(Mapping[Any, "ClassCounts"]):
    """The class counts of each stratum, which add up to those of all rows.

    A mapping from the labels of the strata to `ClassCounts`, all of one kind, with the
    same classes and the same features. Sums are **exact**, as those of `ClassCounts`.

    Usually made by ``ClassCounts.from_anndata(..., batch=...)``.

    Parameters
    ----------
    counts : mapping of label to ClassCounts
        At least one.

    Attributes
    ----------
    strata : list
        Labels of the strata, in order.
    total : ClassCounts
        The counts without strata.
    kind : str
    classes : ndarray of shape (n_classes,)
    feature_names : ndarray of shape (n_features,) or None
    n_features : int

    See Also
    --------
    bayesieve.stratified_gains : What features tell within strata.

    Notes
    -----
    Memory O(S K m) for S strata.

    Examples
    --------
    >>> from bayesieve import ClassCounts
    >>> from bayesieve.counts import StratifiedCounts
    >>> a = ClassCounts.from_matrix([[1, 0], [2, 3]], ["B cell", "T cell"])
    >>> b = ClassCounts.from_matrix([[0, 5], [1, 1]], ["T cell", "B cell"])
    >>> counts = StratifiedCounts({"donor 1": a, "donor 2": b})
    >>> counts["donor 2"].feature_count
    array([[1., 1.],
           [0., 5.]])
    >>> counts.total.feature_count
    array([[2., 1.],
           [2., 8.]])
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, counts: Mapping[Any, ClassCounts]) -> None:
        if not counts:
            raise ValueError("StratifiedCounts needs at least one stratum. Got none.")
        self._counts: dict[Any, ClassCounts] = dict(counts)
        first = self._any
        for label, part in self._counts.items():
            if not (
                part.kind == first.kind
                and part.n_features == first.n_features
                and same_labels(part.classes, first.classes)
                and same_labels(part.feature_names, first.feature_names)
            ):
                raise ValueError(
                    "Strata must be of one kind, with the same classes and the same "
                    f"features. Got {part!r} as {label!r} beside {first!r}. Hint: "
                    "count each with the same classes=[...]."
                )

    @property
    def _any(self) -> ClassCounts:
        return next(iter(self._counts.values()))

    @property
    def strata(self) -> list[Any]:
        """Labels of the strata, in order."""
        return list(self._counts)

    @property
    def total(self) -> ClassCounts:
        """The counts without strata: the sum."""
        first, *others = self._counts.values()
        total: ClassCounts = sum(others, start=first)
        return total

    @property
    def kind(self) -> str:
        """What was counted."""
        return self._any.kind

    @property
    def classes(self) -> Array:
        """Class labels."""
        return self._any.classes

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._any.n_features

    @property
    def feature_names(self) -> Any:
        """Names of the features, or None."""
        return self._any.feature_names

    def __getitem__(self, stratum: Any) -> ClassCounts:
        return self._counts[stratum]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StratifiedCounts):
            return NotImplemented
        return self._counts == other._counts

    def __repr__(self) -> str:
        rows = float(np.sum([part.class_count.sum() for part in self.values()]))
        return (
            f"StratifiedCounts({len(self)} strata, kind={self.kind!r}, "
            f"{self.classes.size} classes, {self.n_features} features, "
            f"total weight {rows:.6g})"
        )
