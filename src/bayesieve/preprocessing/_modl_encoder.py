"""Columns of numbers and categories turned into Bayes-optimal parts."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bayesieve._compat import StrOptions, fit_context
from bayesieve._description import Description, Saved, TableColumns
from bayesieve.preprocessing._prepare import (
    log_likelihood_tables,
    part_indexes,
    partition_table,
)
from bayesieve.preprocessing._table_input import TableEstimator

__all__ = ["MODLEncoder"]


class MODLEncoder(TransformerMixin, TableEstimator):
    """Cut numbers into intervals and categories into groups, by what they tell of y.

    Each column's partition minimises a code length (MODL): bits for the partition and
    for the class distribution in each part, plus bits for the labels given those. There
    is nothing to tune, and a column without information ends up as a single part. The
    partition is **exact** where the dynamic programme (or, for few categories, the
    enumeration of subsets) is cheap enough, and **heuristic** otherwise: greedy merges
    followed by local improvement; ``partitions_[j].parts.exact`` tells which.

    Integers of any size and times down to nanoseconds are compared exactly. Where
    doubles cannot hold them, the bounds of the column are counted from
    ``partitions_[j].origin``; values that still cannot be told apart (2**53 steps and
    more from the middle one) are named in a `MergedValuesWarning`.

    Missing values are a value of their own: below all numbers in a numerical column, a
    category in a categorical one. Categories never seen in fit fall in the group that
    holds the rarest ones.

    Parameters
    ----------
    criterion : {"khiops", "classical"}, default="khiops"
        Prior on partitions: that of the Khiops tool, with granularities and a garbage
        group, or that of the articles of 2005 and 2006. They differ in the levels of
        weak columns.
    output : {"part", "log_likelihood"}, default="part"
        `transform` gives the part of each value, or the log-probability of that part
        in each class (as many columns as classes for each column of X).
    categorical_features : "from_dtype" or array-like, default="from_dtype"
        Columns to be grouped rather than cut: names, numbers or a mask. "from_dtype":
        strings, categories and booleans are grouped; numbers, dates and durations cut.
    n_jobs : int or None, default=-1
        Threads of the compiled core, as scikit-learn counts them: -1 is one for each
        processor, None is 1 unless a `joblib.parallel_config` says otherwise. The
        result does not depend on them.

    Attributes
    ----------
    partitions_ : list of ColumnPartition
        One for each column; print one, or call its ``table()``.
    levels_ : ndarray of shape (n_features_in_,)
        Share of the null model's cost that each column saves; 0 if it says nothing.
    costs_ : ndarray of shape (n_features_in_, 3)
        Construction, preparation and data cost of each column, in nats.
    null_cost_ : float
        Cost of a column of a single part, in nats.
    classes_ : ndarray of shape (n_classes,)
    class_count_ : ndarray of shape (n_classes,)
        Rows of each class, by weight.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    SelectiveNB : Weighted naive Bayes on these parts.

    Notes
    -----
    Fitting takes O(n log n) a column, columns in parallel. The level of a column falls
    slightly with the number of columns, since choosing one among K costs log K. The
    labels are used: encode inside cross-validation, not before.

    References
    ----------
    M. Boullé, "MODL: a Bayes optimal discretization method for continuous attributes",
    Machine Learning 65, 2006; "A Bayes optimal approach for partitioning the values of
    categorical attributes", JMLR 6, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import MODLEncoder
    >>> rng = np.random.default_rng(0)
    >>> age = rng.integers(18, 80, size=1000).astype(float)
    >>> y = np.where((age > 40) == (rng.random(1000) < 0.9), "yes", "no")
    >>> encoder = MODLEncoder().fit(age[:, None], y)
    >>> print(encoder.partitions_[0].table())
    x0: 2 intervals, level 0.5220
    part          rows   share   P(no)  P(yes)
    ]-inf, 40.5]   347  34.7 %  90.8 %   9.2 %
    ]40.5, inf[    653  65.3 %   8.9 %  91.1 %
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "criterion": [StrOptions({"khiops", "classical"})],
        "output": [StrOptions({"part", "log_likelihood"})],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like"],
        "n_jobs": [Integral, None],
    }
    _saved: ClassVar[dict[str, Saved]] = {
        "costs_": Saved("floats", "m", 3, domain="known"),
        "null_cost_": Saved("float", domain="known"),
    }

    def _describe(self) -> Description:
        informative = np.flatnonzero(self.levels_ > 0)
        k, n_columns = informative.shape[0], self.n_features_in_
        return self._description(
            indices=informative,
            score=self.levels_[informative],
            score_name="level",
            sentence=f"{k:,} of {n_columns:,} columns say something about the label.",
            noun="columns",
            table=TableColumns(self.partitions_),
        )

    def __init__(
        self,
        *,
        criterion: str = "khiops",
        output: str = "part",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = -1,
    ) -> None:
        self.criterion = criterion
        self.output = output
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MODLEncoder:
        """Learn the partition of every column.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Numbers, strings, categories, booleans, dates; missing values allowed.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is the same row twice.

        Returns
        -------
        self
        """
        table = self._read_first(X, self.categorical_features)
        rows = self._with_labels(table, y, sample_weight)
        self.classes_ = rows.classes
        self.class_count_ = np.bincount(
            rows.codes, rows.weights, rows.classes.shape[0]
        ).astype(np.float64)
        self.partitions_ = partition_table(
            self._reader,
            rows.table.numbers,
            rows.table.levels,
            rows.codes,
            rows.classes,
            self._column_names(),
            sample_weight=rows.weights,
            criterion=self.criterion,
        )
        costs = [partition.cost for partition in self.partitions_]
        self.costs_ = np.array([(c.construction, c.preparation, c.data) for c in costs])
        self.null_cost_ = self.partitions_[0].null_cost.total
        self.levels_ = np.array([partition.level for partition in self.partitions_])
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Replace each value by its part, or by the log-likelihood of its part.

        Returns
        -------
        ndarray of shape (n_samples, n_features), int64, or of shape
        (n_samples, n_features * n_classes), float64
        """
        check_is_fitted(self, "partitions_")
        table = self._read_more(X)
        parts = part_indexes(
            self.partitions_,
            range(self.n_features_in_),
            self._reader,
            table.numbers,
            table.levels,
        )
        if self.output == "part":
            return parts.astype(np.int64)
        counts = [partition.counts for partition in self.partitions_]
        tables = log_likelihood_tables(counts, self.class_count_)
        return np.hstack([logs[parts[:, j]] for j, logs in enumerate(tables)])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns, or ``column__class`` for log-likelihoods."""
        check_is_fitted(self, "partitions_")
        names = self._column_names()
        if input_features is not None:
            given = [str(name) for name in input_features]
            if hasattr(self, "feature_names_in_") and given != names:
                raise ValueError(
                    "input_features is not equal to feature_names_in_: must be the "
                    f"{len(names)} column names of fit. Got {given!r}."
                )
            if len(given) != len(names):
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({len(names)}). Got {len(given)}."
                )
            names = given
        if self.output == "log_likelihood":
            names = [f"{n}__{c}" for n in names for c in self.classes_.tolist()]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
