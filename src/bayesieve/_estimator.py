"""What every estimator on class counts shares: fit, partial_fit and counting."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from bayesieve._compat import Interval, StrOptions, check_sample_weight, fit_context
from bayesieve._description import Saved, SelfDescribing, describe
from bayesieve.counts import ClassCounts, count_matrix
from bayesieve.counts._copies import NamesWithCopies
from bayesieve.solvers import Alternatives
from bayesieve.solvers._rule_input import RULE_PARAMETERS, rules_of
from bayesieve.solvers._rules import Rules
from bayesieve.utils._resources import KeepsToJobs
from bayesieve.utils._sparse_structure import refuse_malformed
from bayesieve.utils._validation import (
    as_matrix,
    encode_labels,
    label_array,
    refuse_one_class,
    refuse_texts,
)
from bayesieve.utils._warnings import warn_of_scaled_rows, warn_of_small_weights

__all__ = ["CountingEstimator", "ListsAlternatives", "RowCounter"]

LEAN_MESSAGE = (
    "{name}.partial_fit cannot go on from fit, which keeps only the selected features. "
    "Hint: fit with keep_counts=True, or use partial_fit from the first chunk on."
)


class RowCounter(KeepsToJobs, SelfDescribing, BaseEstimator, metaclass=ABCMeta):
    """Base of all estimators that count rows by class: validation and counting.

    A subclass says how rows are counted (`_count_kind`, `_count_options`).
    """

    #: Whether the number of rows matters beyond their shares.
    _counts_rows: ClassVar[bool] = False

    @abstractmethod
    def _count_kind(self) -> str:
        """Kind of counts that the model needs."""

    def _count_options(self) -> dict[str, Any]:
        return {}

    def _validated(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, first: bool
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray | None]:
        """The matrix, the class code of each row, the classes, and the row weights."""
        X, y = self._checked_rows(X, y, first=first)
        y = label_array(y)
        if classes is None:
            if (
                y.dtype.kind == "f"
            ):  # whole numbers as floats are labels, others are not
                check_classification_targets(y)
            classes, codes = encode_labels(y)
        else:
            codes = self._codes_among(y, classes)
        refuse_one_class(type(self).__name__, classes)
        weights = None
        if sample_weight is not None:
            weights = check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
            if not weights.any():
                raise ValueError(
                    "sample_weight must have at least one weight above 0. "
                    "Got weights that are all zero, so no row counts."
                )
            if self._counts_rows:
                warn_of_small_weights(float(weights.sum()), X.shape[0])
        return X, codes.ravel(), classes, weights

    def _checked_rows(self, X: Any, y: Any, *, first: bool) -> tuple[Any, Any]:
        """The rows as a matrix that can be counted, and the labels."""
        refuse_texts(X, type(self).__name__)
        refuse_malformed(X, counted=True)  # scikit-learn may change its format
        try:
            matrix, y = validate_data(
                self,
                X,
                y,
                reset=first,
                accept_sparse=("csr", "csc"),
                dtype="numeric",
                # The counting kernels look at every value anyway and name the column.
                ensure_all_finite=False,
            )
        except ValueError as error:
            if "could not convert" in str(error) and hasattr(X, "columns"):
                as_matrix(X)  # says the same and names the column
            raise
        return as_matrix(matrix)[0], y  # float16, long double, foreign byte orders

    def _counted(
        self,
        X: Any,
        codes: np.ndarray,
        classes: np.ndarray,
        weights: np.ndarray | None,
    ) -> ClassCounts:
        options = self._counting()
        if issparse(X) and (options.get("binarize") or 0.0) < 0:
            raise ValueError(
                f"The 'binarize' parameter of {type(self).__name__} must be >= 0 for "
                "sparse input, because every absent entry would count. "
                f"Got {options['binarize']!r}."
            )
        counts = count_matrix(X, codes, classes, weights, **options)
        if options["kind"] == "count":  # once counting has found the indices sound
            name = type(self).__name__
            warn_of_scaled_rows(X, name, lengths=self._suffers_from_unit_length())
        return counts

    def _suffers_from_unit_length(self) -> bool:
        """Whether rows of length 1, as tf-idf has them, cost accuracy."""
        return False

    def _counting(self) -> dict[str, Any]:
        """Everything `count_matrix` needs to know beside the rows."""
        return {
            "kind": self._count_kind(),
            "names": getattr(self, "feature_names_in_", None),
            **self._count_options(),
        }

    def _codes_among(self, y: np.ndarray, classes: np.ndarray) -> np.ndarray:
        if type_of_target(y).startswith("continuous"):
            check_classification_targets(y)
        codes = np.searchsorted(classes, y)
        codes[codes == classes.shape[0]] = 0
        unknown = classes[codes] != y
        if unknown.any():
            label = y[unknown][0].item()
            raise ValueError(
                f"The label {label!r} in y is not among the classes of the first call "
                f"to partial_fit: {classes.tolist()}."
            )
        return codes


class ListsAlternatives:
    """Mixin of estimators whose support is the best of its size."""

    def alternatives(
        self,
        within: float = 0.01,
        limit: int = 1000,
        *,
        time_limit: float | None = 10.0,
    ) -> Alternatives:
        """List the supports that are nearly as good as the selected one.

        Needs the counts: fit with ``keep_counts=True``.

        Parameters
        ----------
        within : float, default=0.01
            Share of the gain that a support may fall short by.
        limit : int, default=1000
            Supports to list at most.
        time_limit : float or None, default=10.0
            Seconds for all of it.

        Returns
        -------
        Alternatives
        """
        check_is_fitted(self, "support_indices_")
        found, name = describe(self), type(self).__name__
        if found.counts is None:
            raise ValueError(
                f"{name}.alternatives needs the counts, which fit does not keep. "
                "Hint: fit with keep_counts=True."
            )
        if found.problem is None or found.is_weighted:
            raise ValueError(
                f"{name}.alternatives lists supports of largest likelihood. "
                "Got a support that weights have chosen."
            )
        counts = found.counts
        if found.pruned is not None and counts.n_features != found.n_features:
            counts = found.pruned(counts)
        assert found.certificate is not None
        return found.problem.alternatives(
            counts,
            found.certificate.k,
            within=within,
            limit=limit,
            time_limit=time_limit,
            owner=f"{name}.alternatives",
        )


class CountingEstimator(RowCounter):
    """Base of all estimators that are functions of class counts.

    A subclass says how rows are counted and what to do with the counts (`_solve`, which
    sets ``support_indices_`` among others).
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            StrOptions({"all", "elbow", "bic"}),
        ],
        "exact": ["boolean"],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "keep_counts": ["boolean"],
        "n_jobs": [Integral, None],
    }

    _counted_with: dict[str, Any]

    #: Whether the first `partial_fit` needs the list of all classes.
    _classes_required: ClassVar[bool] = True
    _saved: ClassVar[dict[str, Saved]] = {
        "support_indices_": Saved("indices", "k", "m"),
        "k_": Saved("int", "k"),
        "counts_": Saved("counts", "m", optional=True),
        "_counted_with": Saved("plain", optional=True),
    }

    @abstractmethod
    def _solve(self, counts: ClassCounts) -> None:
        """Set every fitted attribute from the counts."""

    def _rules(self) -> dict[str, Any]:
        """The rules for supports as the user wrote them."""
        given = {name: getattr(self, name, None) for name in RULE_PARAMETERS}
        return {name: rule for name, rule in given.items() if rule is not None}

    def _numbered_rules(self) -> dict[str, Any]:
        """The rules of a fitted estimator by numbers, for counts without names."""
        rules = rules_of(
            self.n_features_in_,
            getattr(self, "feature_names_in_", None),
            **self._rules(),
            owner=type(self).__name__,
        )
        if rules is None:
            return {}
        found: dict[str, Any] = {"include": rules.include, "exclude": rules.exclude}
        if rules.group is not None:
            found["groups"] = rules.group
        if rules.cost is not None:
            found["feature_cost"] = rules.cost
        return found

    def _checked_rules(self, counts: ClassCounts) -> Rules | None:
        names = counts.feature_names
        if names is None:  # those of folds
            names = getattr(self, "feature_names_in_", None)
        return rules_of(
            counts.n_features, names, **self._rules(), owner=type(self).__name__
        )

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CountingEstimator:
        """Count, select and estimate.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._learn(self._count(X, y, None, sample_weight, first=True))
        self._keep_of_rows(X, sample_weight)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> CountingEstimator:
        """Add a chunk of rows to the counts, then select and estimate anew.

        The result is that of `fit` on all rows so far. Each call solves again: when
        many small chunks come before the first prediction, gather them with
        `ClassCounts.from_chunks` and call `fit_counts` once.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All classes that will ever come; classifiers require it on the first call.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        previous = getattr(self, "counts_", None)
        if previous is None and hasattr(self, "support_indices_"):
            raise ValueError(LEAN_MESSAGE.format(name=type(self).__name__))
        if previous is None and classes is None and self._classes_required:
            raise ValueError(
                f"{type(self).__name__}.partial_fit needs classes, the list of all "
                "classes, on the first call. Got None."
            )
        if previous is not None and classes is not None:
            given = np.unique(column_or_1d(classes))
            if not np.array_equal(given, previous.classes):
                raise ValueError(
                    f"classes={given.tolist()} is not the list of classes given on the "
                    f"first call to partial_fit: {previous.classes.tolist()}."
                )
        if previous is not None:
            known = previous.classes
        else:
            known = None if classes is None else np.unique(column_or_1d(classes))
        options = self._count_options()
        if previous is not None and options != self._counted_with:
            now, before = (
                ", ".join(f"{n}={v!r}" for n, v in o.items())
                for o in (options, self._counted_with)
            )
            raise ValueError(
                f"{type(self).__name__}.partial_fit must count every chunk alike. "
                f"Got {now} after chunks counted with {before}."
            )
        counts = self._count(X, y, known, sample_weight, first=previous is None)
        if previous is not None:
            counts = previous + counts
        self._solve(counts)
        self.counts_, self._counted_with = counts, options
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_counts(self, counts: ClassCounts) -> CountingEstimator:
        """Select and estimate from ready counts, as `fit` does from rows.

        Parameters
        ----------
        counts : ClassCounts
            Of the kind that the model counts; feature names are taken over.

        Returns
        -------
        self
        """
        name = type(self).__name__
        if not isinstance(counts, ClassCounts):
            raise TypeError(
                f"{name}.fit_counts needs a ClassCounts. Got {type(counts).__name__}. "
                "Hint: build one with ClassCounts.from_matrix(X, y), or use fit(X, y)."
            )
        if self._needs_rows():
            raise ValueError(
                f"{name}.fit_counts cannot do what needs rows (cross-validation, "
                "weights): counts no longer know them. Hint: use fit(X, y)."
            )
        if counts.kind != self._count_kind():
            raise ValueError(
                f"{name}.fit_counts needs counts of kind {self._count_kind()!r}. "
                f"Got kind {counts.kind!r}. Hint: count with {self._counting_call()}."
            )
        refuse_one_class(name, counts.classes, where="")
        if not counts.class_count.any():
            raise ValueError(
                f"{name}.fit_counts needs counts of at least one row. Got none."
            )
        self._forget_rows()
        self.n_features_in_ = counts.n_features
        if counts.feature_names is not None:
            names = counts.feature_names
            # Millions of terms stay packed: a sequence that makes strings when asked.
            if isinstance(names, np.ndarray) or len(names) <= 1_000_000:
                names = np.array(names, dtype=object)
            elif isinstance(names, NamesWithCopies):
                names = names.alone()  # copies may be a thousand times as many
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._learn(counts)
        return self

    def _counting_call(self) -> str:
        """What gives counts of the right kind, for messages."""
        return f"ClassCounts.from_matrix(X, y, kind={self._count_kind()!r})"

    def _learn(self, counts: ClassCounts) -> None:
        """Solve, and keep the counts where they are asked for."""
        self._drop_counts()
        self._solve(counts)
        if self.keep_counts:
            self.counts_, self._counted_with = counts, self._count_options()

    def _forget_rows(self) -> None:
        """Forget what an earlier fit learnt of rows beside counts: nothing, mostly."""

    def _keep_of_rows(self, X: Any, sample_weight: Any) -> None:
        """Keep what counts do not tell of the rows: nothing, unless a model says."""

    def _restore(self, values: dict[str, Any]) -> None:
        before = values.get("_counted_with")
        if isinstance(before, dict) and {"threshold", "strict_binary"} & before.keys():
            # As version 0.1 called it.
            values = values | {"_counted_with": {"binarize": before.get("threshold")}}
        super()._restore(values)
        counts = values.get("counts_")
        if counts is not None and counts.kind != self._count_kind():
            raise ValueError(f"'counts_' is of kind {counts.kind!r}")

    def _needs_rows(self) -> bool:
        """Whether fitting looks at rows again after they are counted."""
        return hasattr(self, "cv")

    def _count(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, first: bool
    ) -> ClassCounts:
        return self._counted(
            *self._validated(X, y, classes, sample_weight, first=first)
        )

    def _drop_counts(self) -> None:
        if hasattr(self, "counts_"):
            del self.counts_
