"""What the sparse classifiers share: counting, choosing, predicting."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesieve._compat import Interval
from bayesieve._description import (
    Description,
    Saved,
    SupportProblem,
    gain_detail,
    proof_sentence,
)
from bayesieve._estimator import CountingEstimator, ListsAlternatives
from bayesieve._scorecard import CountTerms, InputColumn, Kind, Scorecard, Slopes, Term
from bayesieve.counts import ClassCounts
from bayesieve.counts._matrix import canonical
from bayesieve.counts._selection import documents_with
from bayesieve.naive_bayes._explanation import Explanation
from bayesieve.naive_bayes._linear_terms import linear_terms
from bayesieve.solvers._selection import Selection, select_features
from bayesieve.utils._columns import some_rows, take_columns
from bayesieve.utils._sparse_structure import refuse_malformed
from bayesieve.utils._validation import as_matrix, describe_column, refuse_texts

__all__ = ["SparseNaiveBayes", "SupportClassifier"]


#: Values that fitting looks at to see which rows have the selected features; of larger
#: data some rows, so that a fit takes hardly longer.
_MOST_LOOKED_AT = 500_000


class SupportClassifier(ClassifierMixin):
    """Prediction from the selected columns alone.

    A subclass sets ``support_indices_``, ``classes_`` and ``class_log_prior_``. One
    whose scores are linear in counts or presences gives `_term_logs` and `_values`;
    another gives `_support_log_likelihood`, `_explained` and `_scorecard`.
    """

    _positive_only: ClassVar[bool] = False
    _saved: ClassVar[dict[str, Saved]] = {
        "_frequency": Saved("floats", "k", domain="counts", optional=True),
        "_frequency_rows": Saved("float", domain="counts", optional=True),
    }
    #: Training rows with each selected feature, among how many; None if not known.
    _frequency: np.ndarray | None = None
    _frequency_rows: float | None = None

    def _keep_frequency(self, counts: ClassCounts) -> None:
        """Keep how many training rows have each selected feature, if counts know it."""
        known = documents_with(counts)
        self._frequency = self._frequency_rows = None
        if known is not None:
            chosen = known[:, self.support_indices_]
            self._frequency = np.asarray(chosen.sum(axis=0)).ravel()
            self._frequency_rows = float(counts.class_count.sum())

    def _keep_of_rows(self, X: Any, sample_weight: Any) -> None:
        """Count the rows with each selected feature where sums do not tell."""
        if self._frequency is not None or self._count_kind() != "count":
            return
        chosen = some_rows(X, _MOST_LOOKED_AT)
        part = self._selected_columns(X if chosen is None else X[chosen])
        rows = np.ones(part.shape[0])
        if sample_weight is not None:
            rows = np.asarray(sample_weight, dtype=np.float64)
            rows = rows if chosen is None else rows[chosen]
        self._frequency = np.asarray(rows @ (part != 0)).ravel()
        self._frequency_rows = float(rows.sum())

    def _log_prior(self, class_count: np.ndarray) -> np.ndarray:
        n_classes = class_count.shape[0]
        if self.class_prior is not None:
            prior = np.asarray(self.class_prior, dtype=np.float64)
            if prior.shape != (n_classes,) or not (prior >= 0).all():
                raise ValueError(
                    f"The 'class_prior' parameter of {type(self).__name__} must hold "
                    f"{n_classes} numbers >= 0, one for each class. "
                    f"Got {self.class_prior!r}."
                )
            with np.errstate(divide="ignore"):
                return np.log(prior)
        if not self.fit_prior:
            return np.full(n_classes, -np.log(n_classes))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(class_count) - np.log(class_count.sum()))

    # --------------------------------------------------------------- prediction

    def _selected_columns(self, X: Any) -> Any:
        check_is_fitted(self)
        refuse_texts(X, type(self).__name__)
        refuse_malformed(X, counted=True)
        X = validate_data(
            self,
            X,
            reset=False,
            accept_sparse=("csr", "csc"),
            dtype="numeric",
            ensure_all_finite=False,
        )
        X = as_matrix(X)[0]
        part = take_columns(X, self.support_indices_)
        if sparse.issparse(part):
            part = canonical(part)  # a cell stored twice is one value
        values = part.data if sparse.issparse(part) else part
        if values.dtype.kind == "f":
            self._refuse(part, ~np.isfinite(values), "finite values")
        return part

    def _refuse(self, part: Any, wrong: np.ndarray, needs: str) -> None:
        """Name the first selected column with a value that prediction cannot take."""
        if not wrong.any():
            return
        if sparse.issparse(part):
            columns, values = part.tocoo().col[wrong], part.data[wrong]
        else:
            columns, values = np.nonzero(wrong)[1], part[wrong]
        first = int(np.argmin(columns))
        where = describe_column(
            int(self.support_indices_[columns[first]]),
            getattr(self, "feature_names_in_", None),
        )
        value = values[first].item()
        found = "NaN" if value != value else f"Value {value!r}"
        if value < 0:
            found = f"Negative value {value!r}"
        raise ValueError(
            f"{found} found in {where}; {type(self).__name__} needs {needs}."
        )

    def _start_scores(self) -> np.ndarray:
        """Score of each class before any feature is looked at."""
        return np.asarray(self.class_log_prior_)

    def _support_log_likelihood(self, part: Any) -> np.ndarray:
        """Log-likelihood of the selected columns, shape (n_samples, n_classes)."""
        return Slopes.from_logs(*self._term_logs()).scores(self._values(part))

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """Log of the joint probability of class and selected features.

        Features that were not selected have the same probability in every class; their
        terms are left out. With ``k="all"`` nothing is left out.
        """
        return self._joint(self._selected_columns(X))

    def _joint(self, part: Any) -> np.ndarray:
        """The same from rows of the selected columns."""
        start = self._start_scores()
        joint: np.ndarray = self._support_log_likelihood(part) + start
        impossible = np.isneginf(joint).all(axis=1)
        if impossible.any():  # no class can produce the row (alpha = 0): only the prior
            joint[impossible] = start
        return joint

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log of the class probabilities, shape (n_samples, n_classes)."""
        return np.asarray(log_softmax(self.predict_joint_log_proba(X), axis=1))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, shape (n_samples, n_classes)."""
        return np.asarray(softmax(self.predict_joint_log_proba(X), axis=1))

    def _proba_of(self, part: Any) -> np.ndarray:
        """Class probabilities from rows of the selected columns."""
        return np.asarray(softmax(self._joint(part), axis=1))

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class of each row; ties go to the first class."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(self.classes_[np.argmax(joint, axis=1)])

    # -------------------------------------------------------------- explanation

    def explain(self, X: Any) -> Explanation:
        """What each selected feature adds to the score of each class, row by row.

        **Exact**: the Shapley values of the features, beside a row without any of them,
        or for tables beside the mean of the training rows.

        Parameters
        ----------
        X : as for `predict`

        Returns
        -------
        Explanation

        Notes
        -----
        Of counts, presences and texts memory is that of the selected columns of X,
        sparse; of tables it is O(n_samples k n_classes).
        """
        part = self._selected_columns(X)
        return self._explained(X, part, X.index if hasattr(X, "iloc") else None)

    def _explained(self, X: Any, part: Any, index: Any) -> Explanation:
        """Explain rows, given as they are and by their selected columns."""
        start = self._start_scores()
        terms, base = linear_terms(part, self._values(part), *self._term_logs(), start)
        return Explanation(
            terms,
            base,
            self._support_names(),
            self.classes_,
            self._proba_of(part),
            index,
        )

    def _values(self, part: Any) -> Any:
        """The selected columns as the model reads them: counts, or 0 and 1."""
        raise NotImplementedError

    def _term_logs(self) -> tuple[np.ndarray, np.ndarray]:
        """What one of each feature adds, and none of it, each of shape (k, C)."""
        raise NotImplementedError

    def _support_names(self) -> list[str]:
        named, chosen = self._named(), self.support_indices_
        return [f"x{j}" for j in chosen.tolist()] if named is None else [*named(chosen)]

    # ---------------------------------------------------------------- scorecard

    def _scorecard(self) -> Scorecard:
        check_is_fitted(self)
        kind, binarize = self._score_input()
        places = tuple(range(len(self.support_indices_)))
        slopes = Slopes.from_logs(*self._term_logs())
        return self._card_of(
            [kind] * len(places), [CountTerms(places, slopes, binarize)]
        )

    def _score_input(self) -> tuple[Kind, float | None]:
        """What counts must be, and the threshold of those that are present."""
        if self._count_kind() == "count":
            return "count", None
        if self.binarize is None:
            return "binary", None
        return "finite", float(self.binarize)

    def _card_of(self, kinds: Sequence[Kind], terms: Sequence[Term]) -> Scorecard:
        """The scorecard of terms that read the selected columns."""
        columns = zip(
            self._support_names(), self.support_indices_.tolist(), kinds, strict=True
        )
        return Scorecard(
            self.classes_,
            self._start_scores(),
            tuple(InputColumn(*own) for own in columns),
            tuple(terms),
            self.n_features_in_,
            owner=type(self).__name__,
        )

    # ------------------------------------------------------------- fitted views

    @property
    def support_(self) -> np.ndarray:
        """Boolean mask of the selected features, shape (n_features_in_,)."""
        check_is_fitted(self, "support_indices_")
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_indices_] = True
        return mask

    def _spread(self, values: np.ndarray) -> np.ndarray:
        """Values of the selected features as one row over all features."""
        row = np.zeros((1, self.n_features_in_))
        row[0, self.support_indices_] = values
        return row

    def _need_two_classes(self, attribute: str) -> None:
        check_is_fitted(self, "support_indices_")
        if self.classes_.shape[0] != 2:
            raise AttributeError(
                f"{attribute} exists for two classes only. "
                f"This {type(self).__name__} was fitted on {self.classes_.shape[0]}; "
                "use feature_log_prob_."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._positive_only
        tags.classifier_tags.poor_score = True
        return tags


class SparseNaiveBayes(SupportClassifier, ListsAlternatives, CountingEstimator):
    """Base of the sparse classifiers; holds no mathematics.

    A subclass names its model, says how rows are counted (`_count_options`), and turns
    a solved selection into prediction parameters (`_set_parameters`) and scores
    (`_support_log_likelihood`).
    """

    _model: ClassVar[str]
    _kind: ClassVar[str]
    _noun: ClassVar[str] = "features"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CountingEstimator._parameter_constraints,
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
    }
    _saved: ClassVar[dict[str, Saved]] = {
        "class_count_": Saved("floats", "C", domain="counts"),
        "class_log_prior_": Saved("floats", "C", domain="logs"),
        "certificate_": Saved("certificate"),
        "support_gains_": Saved("floats", "k", domain="known"),
    }

    def _describe(self) -> Description:
        proof, k, noun = self.certificate_, self.k_, self._noun
        return self._description(
            score=self.support_gains_,
            score_name="gain (nats)",
            sentence=proof_sentence(proof, k, self.n_features_in_, noun),
            detail=gain_detail(proof, k, noun),
            noun=noun,
            problem=SupportProblem(
                self._model,
                self._solver_options(),
                self.exact,
                self.time_limit,
                self._rules(),
            ),
            **self._class_weights(),
        )

    def _class_weights(self) -> dict[str, Any]:
        """What the features weigh, as fields of a `Description`."""
        return {}

    def _count_kind(self) -> str:
        return self._kind

    def _solve(self, counts: ClassCounts) -> None:
        selection = select_features(
            counts,
            self._wanted_size(),
            model=self._model,
            owner=type(self).__name__,
            exact=self.exact,
            time_limit=self.time_limit,
            rules=self._rules(),
            **self._solver_options(),
        )
        solution = selection.solution
        self.classes_ = counts.classes
        self.class_count_ = counts.class_count
        self.class_log_prior_ = self._log_prior(counts.class_count)
        self.support_indices_ = solution.support
        self.k_ = int(solution.support.shape[0])
        self.certificate_ = solution.certificate
        self.support_gains_ = solution.gains
        self._keep_frequency(counts)
        self._set_parameters(counts, selection)

    def _wanted_size(self) -> Any:
        return self.k

    def _solver_options(self) -> dict[str, Any]:
        return {}

    @abstractmethod
    def _set_parameters(self, counts: ClassCounts, selection: Selection) -> None:
        """Keep what prediction needs of the selected features."""

    @property
    def feature_importances_(self) -> np.ndarray:
        """Gain of each feature in nats, 0 if not selected, shape (n_features_in_,)."""
        check_is_fitted(self, "support_indices_")
        importances = np.zeros(self.n_features_in_)
        importances[self.support_indices_] = self.support_gains_
        return importances


def alpha_constraint() -> list[Any]:
    """Smoothing: a number >= 0, or one for each feature."""
    return [Interval(Real, 0, None, closed="left"), "array-like"]
