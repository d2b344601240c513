"""Screening of tables with numbers, categories and missing values side by side."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from bayesieve._compat import (
    Interval,
    StrOptions,
    fit_context,
)
from bayesieve._description import Saved
from bayesieve.counts._mixed import MISSING, LevelCounts, ValueMoments
from bayesieve.feature_selection._checked import CheckedSelector
from bayesieve.preprocessing._mixed_columns import (
    columns_of,
    is_continuous,
    levels_of,
    values_of,
)
from bayesieve.preprocessing._table_input import read_labels
from bayesieve.solvers._inputs import warn_of_few_features
from bayesieve.solvers._mixed import column_gain
from bayesieve.utils._exact_numbers import choose_origin, whole_column
from bayesieve.utils._validation import describe_column, refuse_one_class

__all__ = ["MixedScreener"]


class MixedScreener(CheckedSelector, BaseEstimator):
    """Keep the columns of a mixed table that lower BIC. **Exact**, in closed form.

    Each column has its own gain in log-likelihood and its own number of parameters: n
    times the mutual information and (V - 1)(K - 1) for a categorical column with V
    levels, which is kept or dropped as a whole; the Gaussian gain and 2 (K - 1) for a
    continuous one. Missing values are a level of their own; in a continuous column they
    add the gain of being missing, with K - 1 parameters. A column is kept when
    ``2 gain > parameters * log n``, and at least one that varies is.

    A class that has one value only in a continuous column (a single row, or all zeros)
    tells nothing of its variance: it shares that of the other classes.

    Parameters
    ----------
    k : int, optional
        Keep this many columns, those that lower BIC most, instead of all that lower it.
    kinds : "auto" or sequence of {"categorical", "continuous"}, default="auto"
        What each column is. "auto": numbers other than 0 and 1 are continuous,
        everything else is categorical; settled by the first rows that are seen.
    n_jobs : int or None, default=-1
        Threads of the compiled core, as scikit-learn counts them: -1 is one for each
        processor, None is 1 unless a `joblib.parallel_config` says otherwise. The
        result does not depend on them.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features_in_,)
    support_indices_ : ndarray of int64 of shape (k_,)
    k_ : int
    scores_ : ndarray of shape (n_features_in_,)
        By how much each column lowers BIC: ``2 gain - parameters * log n``.
    gains_ : ndarray of shape (n_features_in_,)
        Gain of each column in nats.
    degrees_of_freedom_ : ndarray of shape (n_features_in_,)
        Parameters that each column adds.
    kinds_ : ndarray of str of shape (n_features_in_,)
    levels_ : list
        Levels of each categorical column in order of appearance, None for others.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    L0Screener : The same criterion for wide binary data, sparse input included.

    Notes
    -----
    One pass over each column; memory for the levels only. Interactions without any
    marginal signal (such as XOR) are out of reach of every marginal screening; see
    `screen_interactions`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import MixedScreener
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=300)
    >>> X = np.empty((300, 3), dtype=object)
    >>> X[:, 0] = rng.normal(size=300) + y
    >>> X[:, 1] = np.where(rng.random(300) < 0.8, y, 1 - y).astype(str)
    >>> X[:, 2] = rng.choice(["red", "green", "blue"], size=300)
    >>> MixedScreener().fit(X, y).support_
    array([ True,  True, False])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "kinds": [StrOptions({"auto"}), "array-like"],
        "n_jobs": [Integral, None],
    }
    _score_name = "BIC saved"
    classes_: np.ndarray
    kinds_: np.ndarray
    _columns: list[LevelCounts | ValueMoments]
    _class_count: np.ndarray
    _saved: ClassVar[dict[str, Saved]] = {
        "_columns": Saved("mixed columns"),
        "_class_count": Saved("floats", "C", domain="counts"),
        "support_indices_": Saved("indices", "k", "m"),
        "k_": Saved("int", "k"),
        "scores_": Saved("floats", "m", domain="known"),
        "gains_": Saved("floats", "m", domain="known"),
        "degrees_of_freedom_": Saved("floats", "m", domain="counts"),
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        kinds: Any = "auto",
        n_jobs: int | None = -1,
    ) -> None:
        self.k = k
        self.kinds = kinds
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MixedScreener:
        """Count every column and choose.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Numbers, strings, categories, booleans; missing values allowed.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self.__dict__.pop("_columns", None)  # of an earlier fit
        return self._add(X, y, None, sample_weight, first=True)

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> MixedScreener:
        """Add rows and choose anew; the result is that of `fit` on all rows so far.

        ``classes`` lists all classes that will ever come; without it the first rows
        must show them all.
        """
        first = not hasattr(self, "_columns")
        return self._add(X, y, classes, sample_weight, first=first)

    def _add(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, first: bool
    ) -> MixedScreener:
        columns, _ = columns_of(X)
        validate_data(self, X, reset=first, skip_check_array=True)
        known = classes if first else self.classes_
        codes, weights, found = read_labels(
            self, y, len(columns[0]), sample_weight, known
        )
        refuse_one_class(type(self).__name__, found)
        kinds = self._settle_kinds(columns) if first else self.kinds_
        counted = self._count(columns, kinds, codes, weights, found.shape[0])
        if not first:
            counted = [
                old + new  # type: ignore[operator]  # a column keeps its kind
                for old, new in zip(self._columns, counted, strict=True)
            ]
        self.classes_, self.kinds_, self._columns = found, kinds, counted
        self._class_count = np.bincount(codes, weights, found.shape[0]) + (
            0.0 if first else self._class_count
        )
        self._choose()
        return self

    def _settle_kinds(self, columns: list[Any]) -> np.ndarray:
        if isinstance(self.kinds, str):
            return np.array(
                ["continuous" if is_continuous(c) else "categorical" for c in columns]
            )
        kinds = np.asarray(self.kinds)
        allowed = ("categorical", "continuous")
        if kinds.shape != (len(columns),) or not np.isin(kinds, allowed).all():
            raise ValueError(
                "The 'kinds' parameter of MixedScreener must be 'auto', or "
                "'categorical' or 'continuous' for each of the "
                f"{len(columns)} columns. Got {self.kinds!r}."
            )
        return kinds

    def _count(
        self,
        columns: list[Any],
        kinds: np.ndarray,
        codes: np.ndarray,
        weights: np.ndarray | None,
        n_classes: int,
    ) -> list[LevelCounts | ValueMoments]:
        counted: list[LevelCounts | ValueMoments] = []
        for j, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
            try:
                if kind == "continuous":
                    values, origin = self._values(column, j)
                    part: LevelCounts | ValueMoments = ValueMoments.count(
                        values, codes, weights, n_classes, origin
                    )
                else:
                    levels = levels_of(column, MISSING)
                    part = LevelCounts.count(levels, codes, weights, n_classes)
            except (TypeError, ValueError) as error:
                where = describe_column(j, getattr(self, "feature_names_in_", None))
                raise type(error)(f"{where}: {error}") from error
            counted.append(part)
        return counted

    def _values(self, column: Any, j: int) -> tuple[np.ndarray, int]:
        """A continuous column, and the integer that its numbers are counted from."""
        whole = whole_column(column)
        if whole is None or whole.ticks is not None:
            return values_of(column), 0
        origin = choose_origin(whole)
        values = whole.numbers(origin)
        where = describe_column(j, getattr(self, "feature_names_in_", None))
        whole.warn_if_merged(values, where)
        return values, 0 if origin is None else origin.whole

    def _choose(self) -> None:
        pairs = [column_gain(column) for column in self._columns]
        self.gains_ = np.array([gain for gain, _ in pairs])
        self.degrees_of_freedom_ = np.array([freedom for _, freedom in pairs])
        n = max(float(self._class_count.sum()), 1.0)
        self.scores_ = 2.0 * self.gains_ - self.degrees_of_freedom_ * np.log(n)
        # A column that never varies adds no parameter and lowers nothing.
        varies = self.degrees_of_freedom_ > 0
        ranked = np.where(varies, self.scores_, -np.inf)
        if self.k is None:
            kept = np.flatnonzero(ranked > 0)
            if not kept.shape[0] and varies.any():
                kept = np.array([int(np.argmax(ranked))])
        else:
            order = np.argsort(-ranked, kind="stable")[: int(varies.sum())]
            if self.k > order.shape[0]:
                warn_of_few_features(self.k, order.shape[0], what="vary over the rows")
            kept = np.sort(order[: self.k])
        self._set_support(kept.astype(np.int64))
        self._set_levels()

    def _set_levels(self) -> None:
        self.levels_ = [
            list(column.levels) if isinstance(column, LevelCounts) else None
            for column in self._columns
        ]

    def _restore(self, values: dict[str, Any]) -> None:
        super()._restore(values)
        self._set_levels()
        self.kinds_ = np.array(
            [
                "continuous" if isinstance(column, ValueMoments) else "categorical"
                for column in self._columns
            ]
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = False
        return tags
