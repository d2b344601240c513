"""What the binary screeners share: counting, the kept columns, the estimates."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from bayesieve._compat import Interval
from bayesieve._description import Description, Saved, class_weights, logit
from bayesieve._estimator import CountingEstimator
from bayesieve.counts import ClassCounts
from bayesieve.counts._matrix import canonical
from bayesieve.feature_selection._checked import CheckedSelector

__all__ = ["BinaryScreener"]

#: Tables up to this many numbers are kept for `theta_` without being asked: 80 MB.
_KEPT_CELLS = 10_000_000
#: Estimates are made for a description only up to this many numbers.
_SHOWN_CELLS = 1_000_000


class BinaryScreener(CheckedSelector, CountingEstimator):
    """Base of the screeners of 0/1 columns; holds no mathematics.

    A subclass scores and chooses (`_screen`) and says which estimates belong to that
    (`_estimates`).
    """

    # As for any selector; without the list, the first chunk must show every class.
    _classes_required = False
    _counts_rows = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "regularization": [Interval(Real, 0, None, closed="left"), None],
        "binarize": [Interval(Real, None, None, closed="neither"), None],
        "keep_counts": ["boolean"],
        "n_jobs": [Integral, None],
    }
    _saved: ClassVar[dict[str, Saved]] = {
        "scores_": Saved("floats", "m", domain="known"),
        "_small_counts": Saved("counts", "m", optional=True),
    }

    def _describe(self) -> Description:
        found = super()._describe()
        if self.classes_.shape[0] * self.n_features_in_ > _SHOWN_CELLS:
            return found
        with np.errstate(divide="ignore"):
            logs = np.log(np.clip(self.theta_[:, self.support_indices_], 0.0, 1.0))
        return replace(found, **class_weights(self.classes_, logit(logs)))

    def _to_save(self) -> dict[str, Any]:
        found = super()._to_save()
        if found["counts_"] is not None:  # the same counts are not written twice
            del found["_small_counts"]
        return found

    def _restore(self, values: dict[str, Any]) -> None:
        small = values.get("_small_counts", values.get("counts_"))
        if small is not None and small.kind != "binary":
            raise ValueError(f"'_small_counts' is of kind {small.kind!r}")
        super()._restore(values | {"_small_counts": small})

    @abstractmethod
    def _screen(self, counts: ClassCounts) -> np.ndarray:
        """Set ``scores_`` and return the kept columns, sorted."""

    @abstractmethod
    def _estimates(self, counts: ClassCounts) -> np.ndarray:
        """Probability of presence by class, shape (n_classes, n_features)."""

    def _count_kind(self) -> str:
        return "binary"

    def _count_options(self) -> dict[str, Any]:
        return {"binarize": self.binarize}

    def _check_one_way(self, *ways: str) -> None:
        """Refuse two ways of choosing the columns at once."""
        given = [f"{way}={getattr(self, way)!r}" for way in ways if self._has(way)]
        if len(given) > 1:
            raise ValueError(
                f"At most one of the parameters {' and '.join(map(repr, ways))} of "
                f"{type(self).__name__} may be set. Got {' and '.join(given)}."
            )

    def _has(self, parameter: str) -> bool:
        return getattr(self, parameter) is not None

    def _solve(self, counts: ClassCounts) -> None:
        columns = self._screen(counts)
        self.classes_ = counts.classes
        self._set_support(columns)
        small = counts.n_classes * counts.n_features <= _KEPT_CELLS
        self._small_counts = counts if small else None

    @property
    def theta_(self) -> np.ndarray:
        """Probability of presence by class, shape (n_classes, n_features_in_).

        Computed when asked for, from the counts: these are kept up to 10 million
        numbers, above that only with ``keep_counts=True`` or after `partial_fit`.
        """
        check_is_fitted(self, "support_")
        counts = getattr(self, "counts_", self._small_counts)
        if counts is None:
            raise AttributeError(
                f"theta_ of {type(self).__name__} needs the counts, and those of "
                f"{self.classes_.shape[0]} classes x {self.n_features_in_} features "
                f"(more than {_KEPT_CELLS:,} numbers) are not kept. "
                "Hint: fit with keep_counts=True."
            )
        return self._estimates(counts)

    def _presence(self, X: Any) -> Any:
        """The data as 0 and 1."""
        if self.binarize is None:
            return X  # counting has refused everything else
        if not sparse.issparse(X):
            return np.greater(X, self.binarize).astype(np.float64)
        X = canonical(X)  # a cell stored twice is one value
        present = (X.data > self.binarize).astype(np.float64)
        return type(X)((present, X.indices, X.indptr), shape=X.shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
