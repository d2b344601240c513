"""Naive Bayes on raw rows, texts or sequences, without a matrix of features."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from bayesieve._compat import Interval, RealNotInt, StrOptions
from bayesieve._description import (
    Description,
    Saved,
    class_weights,
    logit,
)
from bayesieve.counts import ClassCounts
from bayesieve.counts._selection import documents_with, keep_all, prune
from bayesieve.naive_bayes._base import SparseNaiveBayes, alpha_constraint
from bayesieve.naive_bayes._penalty_choice import (
    CHOICE_SAVED,
    choice_described,
    drop_choice,
)
from bayesieve.naive_bayes._text_weighting import WeighsTerms
from bayesieve.solvers._selection import Selection
from bayesieve.text._term_names import TermNames
from bayesieve.utils._validation import encode_labels, label_array, refuse_one_class

__all__ = ["RawNaiveBayes"]

#: A number of rows, or a share of them.
_DOCUMENTS = [
    Interval(RealNotInt, 0, 1, closed="both"),
    Interval(Integral, 1, None, closed="left"),
]
#: Counts that each model needs.
_KINDS = {"multinomial": "count", "bernoulli": "binary"}
_ROWS_AT_ONCE = 100_000  # whose rows of terms are made in one go

#: With ``weights=True`` all of these are there, else none.
_OF_WEIGHTS = {
    "weights_": Saved("floats", "k", domain="counts", optional=True),
    "_start": Saved("floats", "C", domain="logs", optional=True),
    "lambda_": Saved("float", domain="known", optional=True),
    "dual_gap_": Saved("float", optional=True),
    "path_": Saved("weight path", optional=True),
}


class RawNaiveBayes(WeighsTerms):
    """Base: naive Bayes on few terms of raw rows, weighted to predict or proven best.

    A subclass says what raw rows are (`_checked_raw`), how they are cut into terms
    (`_cutting`), counted (`_counts_of`) and matched (`_new_matcher`).
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseNaiveBayes._parameter_constraints,
        "model": [StrOptions(set(_KINDS))],
        "k": [
            *SparseNaiveBayes._parameter_constraints["k"],
            StrOptions({"cv", "1se"}),
            None,  # beside `regularization`
        ],
        "weights": ["boolean"],
        "regularization": [Interval(Real, 0, None, closed="left"), None],
        "alpha": alpha_constraint(),
        "min_df": _DOCUMENTS,
        "max_df": _DOCUMENTS,
        "memory_budget": [Interval(Integral, 1, None, closed="left"), None],
        "verbose": ["verbose"],
    }
    _noun = "terms"
    _rows_noun: ClassVar[str]  # what rows are called, without its last letter one
    _weighted_hint: ClassVar[str]  # for who has rows with weights
    _no_terms: ClassVar[str]  # how rows can be that have no terms
    _saved: ClassVar[dict[str, Saved]] = {
        "feature_log_prob_": Saved("floats", "C", "k", domain="logs"),
        "_absent_log_prob": Saved("floats", "C", "k", domain="logs"),
        "_names": Saved("names", "k"),
        "_options": Saved("plain"),
        "document_frequency_": Saved("floats", "k", domain="counts", optional=True),
        "counts_": Saved("counts", optional=True),  # rare terms are among them
        **_OF_WEIGHTS,
        "_n_proven": Saved("int", optional=True),
        **CHOICE_SAVED,
    }

    _matcher: Any

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the terms of raw rows, select and estimate.

        Parameters
        ----------
        X : sequence of shape (n_samples,)
            Raw rows: a list or an array; of texts also a pandas or polars Series or
            an Arrow array.
        y : array-like of shape (n_samples,)
            Class labels, at least two classes.
        sample_weight : None
            Rows have no weights; anything else is an error.

        Returns
        -------
        self
        """
        if not self.weights:
            return super().fit(X, y, sample_weight)
        self._validate_params()
        rows, codes, classes = self._checked(X, y, None, sample_weight)
        counts = self._count_coded(rows, codes, classes)

        def batches() -> Iterator[tuple[Any, np.ndarray]]:
            for first in range(0, len(rows), _ROWS_AT_ONCE):
                part = slice(first, first + _ROWS_AT_ONCE)
                yield rows[part], codes[part]

        return self._fit_weights(counts, batches)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add a chunk of rows to the counts, then select and estimate anew.

        The result is that of `fit` on all rows so far. Each call solves again.

        Parameters
        ----------
        X : sequence of shape (n_samples,)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All classes that will ever come; required on the first call.
        sample_weight : None
            Rows have no weights; anything else is an error.

        Returns
        -------
        self
        """
        return super().partial_fit(X, y, classes, sample_weight)

    # ----------------------------------------------------------------- counting

    @property
    def _model(self) -> str:  # type: ignore[override]
        return str(self.model)

    def _count_kind(self) -> str:
        return _KINDS[self.model]

    def _needs_rows(self) -> bool:
        return bool(self.weights)

    def _count_options(self) -> dict[str, Any]:
        return {"model": self.model, **asdict(self._cutting())}

    def _count(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, first: bool
    ) -> ClassCounts:
        rows, codes, classes = self._checked(X, y, classes, sample_weight)
        if self.weights:
            raise ValueError(
                f"{type(self).__name__}.partial_fit cannot optimise weights, which "
                f"need all {self._rows_noun}. Got weights=True. Hint: use fit, or "
                f"fit_files for {self._rows_noun} in files."
            )
        return self._count_coded(rows, codes, classes)

    def _count_coded(
        self, rows: Any, codes: np.ndarray, classes: np.ndarray
    ) -> ClassCounts:
        return self._of_model(self._counts_of(rows, codes, classes))

    def _of_model(self, counts: ClassCounts) -> ClassCounts:
        """Counts of rows as the model takes them: presences are documents already."""
        if self.model == "bernoulli":
            return counts._with(document_count=None)
        return counts._with(kind="count")

    def _checked(
        self, X: Any, y: Any, classes: Any, sample_weight: Any
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """The rows, the class code of each, and the classes."""
        name = type(self).__name__
        if sample_weight is not None:
            raise ValueError(
                f"{name} cannot weight {self._rows_noun}; sample_weight must be None. "
                f"Hint: {self._weighted_hint}"
            )
        rows = self._checked_raw(X)
        if y is None:
            raise ValueError(
                f"{name} requires y to be passed, but the target y is None."
            )
        y = label_array(column_or_1d(y, warn=True))
        if y.shape[0] != len(rows):
            raise ValueError(
                f"{name} needs one label for each {self._rows_noun[:-1]}. "
                f"Got {len(rows)} {self._rows_noun} and {y.shape[0]} labels."
            )
        if classes is not None:
            codes = self._codes_among(y, classes)
        else:
            if y.dtype.kind == "f":
                check_classification_targets(y)
            classes, codes = encode_labels(y)
        refuse_one_class(name, classes)
        return rows, codes, classes

    @abstractmethod
    def _checked_raw(self, X: Any) -> Any:
        """Raw rows that have a length, or an error that says what is wrong."""

    @abstractmethod
    def _counts_of(
        self, rows: Any, codes: np.ndarray, classes: np.ndarray
    ) -> ClassCounts:
        """Counts of the terms of rows."""

    # ------------------------------------------------------------------ solving

    def _rules(self) -> dict[str, Any]:
        rules = super()._rules()
        return rules | {"is_open": True} if rules else rules

    def _wanted_size(self) -> Any:
        if self.regularization is not None:
            raise ValueError(
                f"The 'regularization' parameter of {type(self).__name__} must be None "
                f"with weights=False. Got {self.regularization!r}."
            )
        if self.k in ("cv", "1se", None):
            raise ValueError(
                f"The 'k' parameter of {type(self).__name__} must be an int, a share, "
                f"'all', 'elbow' or 'bic' with weights=False. Got {self.k!r}. Hint: "
                "weights=True chooses the number of terms for prediction."
            )
        return self.k

    def _solve(self, counts: ClassCounts) -> None:
        counts = self._without_rare_terms(counts)
        self.n_features_in_ = counts.n_features
        super()._solve(counts)
        self._keep_terms(counts)

    def _without_rare_terms(self, counts: ClassCounts) -> ClassCounts:
        """The terms within `min_df` and `max_df`, as CountVectorizer keeps them."""
        if counts.n_features == 0:
            raise ValueError(
                f"The {self._rows_noun} have no {self._noun}: {self._no_terms}."
            )
        if keep_all(self.min_df, self.max_df):
            return counts
        if documents_with(counts) is None:
            raise ValueError(
                f"min_df and max_df of {type(self).__name__} need counts of documents. "
                "Got counts without document_count."
            )
        kept = prune(counts, self.min_df, self.max_df)
        if not kept.n_features:
            raise ValueError(
                f"No {self._noun[:-1]} is in at least min_df={self.min_df!r} and at "
                f"most max_df={self.max_df!r} of the {self._rows_noun}. "
                "Hint: a lower min_df or a higher max_df."
            )
        return kept

    def _solver_options(self) -> dict[str, Any]:
        return {"alpha": self.alpha}

    def _set_parameters(self, counts: ClassCounts, selection: Selection) -> None:
        self.feature_log_prob_ = selection.solution.log_theta
        if self.model == "bernoulli":
            with np.errstate(divide="ignore"):
                self._absent_log_prob = np.log1p(-selection.solution.estimates)
        else:  # what a multinomial text does not hold says nothing
            self._absent_log_prob = np.zeros_like(self.feature_log_prob_)
        for name in (
            "weights_",
            "lambda_",
            "dual_gap_",
            "path_",
            "_start",
            "_n_proven",
        ):
            self.__dict__.pop(name, None)  # of an earlier fit with weights
        drop_choice(self)

    def _keep_terms(self, counts: ClassCounts) -> None:
        """Keep the selected terms, and nothing of the size of the vocabulary."""
        chosen = counts.select(self.support_indices_)
        names = chosen.feature_names
        assert names is not None
        self._names = (
            names if isinstance(names, TermNames) else TermNames.from_strings(names)
        )
        self._options = self._cutting()
        self.__dict__.update(self._derived(self._names, self._options))
        self._keep_frequency(counts)
        self.document_frequency_ = self._frequency
        # `fit_counts` of the base names all terms; here the selected ones are kept.
        self.__dict__.pop("feature_names_in_", None)

    def _derived(self, names: TermNames, options: Any) -> dict[str, Any]:
        """Attributes that the terms and how they are cut make."""
        return {"_matcher": None, "support_terms_": names.tolist()}

    # --------------------------------------------------------------- prediction

    def _selected_columns(self, X: Any) -> Any:
        check_is_fitted(self)
        rows = self._checked_raw(X)
        if self._matcher is None:
            self._matcher = self._new_matcher(self._names, self._options)
        return self._matched(self._matcher, rows)

    def _start_scores(self) -> np.ndarray:
        return self._start if hasattr(self, "weights_") else self.class_log_prior_

    def _values(self, part: Any) -> Any:
        return part  # the matcher gives presences where the model looks at them

    def _term_logs(self) -> tuple[np.ndarray, np.ndarray]:
        weights = np.reshape(getattr(self, "weights_", 1.0), (-1, 1))
        return weights * self.feature_log_prob_.T, weights * self._absent_log_prob.T

    # ------------------------------------------------------- description and files

    def _describe(self) -> Description:
        found = replace(super()._describe(), pruned=self._without_rare_terms)
        if not hasattr(self, "weights_"):
            return found
        return replace(
            found,
            score_name="importance (nats)",
            **self._weights_proof(),
            dual_gap=self.dual_gap_,
            weight_path=self.path_,
            penalty=self.lambda_,
            **choice_described(self),
        )

    def _class_weights(self) -> dict[str, Any]:
        logs = self.feature_log_prob_
        logs = logit(logs) if self.model == "bernoulli" else logs
        return class_weights(self.classes_, logs, getattr(self, "weights_", None))

    @property
    def _n_named(self) -> None:
        return None

    def _named(self) -> Callable[[np.ndarray], list[str]]:
        """Only the selected terms have kept their names."""
        terms = dict(
            zip(self.support_indices_.tolist(), self.support_terms_, strict=True)
        )
        return lambda columns: [terms.get(j, f"x{j}") for j in columns.tolist()]

    def _to_save(self) -> dict[str, Any]:
        # Frequencies stand in a file once, under their public name.
        once = {"_frequency": None, "_frequency_rows": None}
        return super()._to_save() | {"_options": asdict(self._options)} | once

    def _restore(self, values: dict[str, Any]) -> None:
        options = self._read_cutting(values["_options"])
        names = values["_names"]
        if not isinstance(names, TermNames) or not names.is_sorted:
            raise ValueError("'_names' must be packed, distinct and sorted")
        if 0 < len(_OF_WEIGHTS.keys() & values.keys()) < len(_OF_WEIGHTS):
            raise ValueError("'weights_' lacks what belongs to it")
        derived = {
            "_options": options,
            "_frequency": values.get("document_frequency_"),
            "_frequency_rows": float(values["class_count_"].sum()),
            **self._derived(names, options),
        }
        super()._restore(values | derived)

    @abstractmethod
    def _read_cutting(self, given: dict[str, Any]) -> Any:
        """How rows are cut, as a file says it."""

    # ------------------------------------------------------------- fitted views

    @property
    def feature_importances_(self) -> np.ndarray:
        """Gain of each selected term in nats, shape (k_,)."""
        check_is_fitted(self, "support_indices_")
        return self.support_gains_

    @property
    def coef_(self) -> np.ndarray:
        """Log-odds weight of each selected term, shape (1, k_)."""
        self._need_two_classes("coef_")
        logit = self.feature_log_prob_ - self._absent_log_prob
        return np.asarray((logit[1:] - logit[:1]) * getattr(self, "weights_", 1.0))

    @property
    def intercept_(self) -> np.ndarray:
        """Log-odds of a row without any selected term, shape (1,)."""
        self._need_two_classes("intercept_")
        absent = self._absent_log_prob * getattr(self, "weights_", 1.0)
        return np.diff(self._start_scores() + absent.sum(axis=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = False
        return tags
