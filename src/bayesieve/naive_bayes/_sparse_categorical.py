"""Categorical naive Bayes on the k features of largest likelihood."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesieve._compat import Interval
from bayesieve._description import Saved
from bayesieve._scorecard import UNKNOWN, Kind, LookupTerm, Scorecard, Values
from bayesieve.counts import ClassCounts
from bayesieve.naive_bayes._base import SparseNaiveBayes
from bayesieve.naive_bayes._explained_terms import (
    ExplainedTerm,
    explanation_of,
    term_of_parts,
)
from bayesieve.naive_bayes._explanation import Explanation
from bayesieve.preprocessing._category_codes import (
    CategoryCounter,
    code_columns,
    table_columns,
)
from bayesieve.preprocessing._category_codes import (
    Values as KnownValues,
)
from bayesieve.preprocessing._mixed_columns import columns_of
from bayesieve.solvers._selection import Selection
from bayesieve.utils._validation import describe_column

__all__ = ["SparseCategoricalNB"]


class SparseCategoricalNB(CategoryCounter, SparseNaiveBayes):
    """Categorical naive Bayes that uses the k best features. **Exact**, in closed form.

    Data frames and arrays are taken as they are: strings, booleans and categories are
    values, and a missing value is a value of its own. Columns of whole numbers are
    category codes 0, 1, 2, ..., as `sklearn.preprocessing.OrdinalEncoder` makes them;
    where some of them are missing, each number is a value. In sparse input an absent
    entry is category 0 and nothing may be missing. At prediction a category that was
    not seen in training, or a missing value where there was none, says nothing: its
    column is left out for that row.

    Parameters
    ----------
    k : int, float, "all", "elbow" or "bic", default=10
        Number of features, a share of them in (0, 1), all of them (plain naive Bayes),
        or chosen automatically. Features with one category only are not selected.
    alpha : float, default=1.0
        Smoothing; estimates are ``(f + alpha) / (n_c + V_i alpha)`` with V_i
        categories.
    min_categories : int or array-like of shape (n_features,), optional
        Least number of categories of each feature.
    fit_prior : bool, default=True
        Learn class probabilities; otherwise they are uniform.
    class_prior : array-like of shape (n_classes,), optional
        Class probabilities, not learnt.
    exact : bool, default=True
        Always exact; here so that all sparse classifiers take the same parameters.
    time_limit : float or None, default=10.0
        As above; never reached by a closed form.
    include, exclude : names, numbers or a mask of columns, optional
        Features that must be selected, and that must not.
    groups : array-like of shape (n_features,), lists of columns or dict, optional
        A label for each column; those without one (None, NaN) are alone. Groups are
        selected whole and k counts groups; with `max_per_group` at most so many columns
        of each are.
    max_per_group : int, optional
        See `groups`.
    feature_cost : array-like of shape (n_features,) or dict of names, optional
        What each feature costs, >= 0: the selected cost at most `budget`.
    budget : float, optional
        See `feature_cost`; with ``k="all"`` it alone decides how many.
    keep_counts : bool, default=False
        Keep `counts_` after `fit`, so that `partial_fit` can go on from there.
    n_jobs : int or None, default=-1
        Threads of the compiled core, as scikit-learn counts them: -1 is one for each
        processor, None is 1 unless a `joblib.parallel_config` says otherwise. The
        result does not depend on them.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features_in_,)
    support_indices_ : ndarray of int64 of shape (k_,)
    k_ : int
    certificate_ : Certificate
    feature_log_prob_ : list of k_ arrays of shape (n_classes, n_categories)
    n_categories_ : ndarray of int64 of shape (k_,)
        Number of categories of each selected feature.
    categories_ : list of k_ arrays
        The values of each selected feature, in the order of `feature_log_prob_`: codes,
        or the values of a table in the order in which they came, None for missing.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Gain in nats: n times the mutual information with the class.
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    counts_ : ClassCounts
        Only with ``keep_counts=True`` or after `partial_fit`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from bayesieve import SparseCategoricalNB
    >>> X = [[0, 2], [0, 1], [1, 2], [2, 1]]
    >>> model = SparseCategoricalNB(k=1).fit(X, ["no", "no", "yes", "yes"])
    >>> model.support_indices_
    array([0])
    >>> model.predict([[2, 7]])
    array(['yes'], dtype='<U3')

    Values of a table:

    >>> X = [["red", "s"], ["red", "m"], ["blue", None], ["green", "m"]]
    >>> model.fit(X, ["no", "no", "yes", "yes"]).categories_
    [array(['red', 'blue', 'green'], dtype=object)]
    >>> model.predict([["green", "xl"], ["red", None]])
    array(['yes', 'no'], dtype='<U3')
    """

    _model = "categorical"
    _kind = "category"
    _positive_only = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseNaiveBayes._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left")],
        "min_categories": [
            Interval(Integral, 1, None, closed="left"),
            "array-like",
            None,
        ],
    }
    _saved: ClassVar[dict[str, Saved]] = {
        "n_categories_": Saved("integers", "k"),
        "feature_log_prob_": Saved("floats", "C", "categories", domain="logs"),
        "_support_values": Saved("category values", "k", optional=True),
        "_category_rows": Saved("floats", "categories", domain="counts", optional=True),
    }
    #: Values of the selected columns; None where all of them hold codes.
    _support_values: KnownValues | None = None
    #: Training rows with each category of the selected columns, one column after
    #: another; None from files of an earlier version.
    _category_rows: np.ndarray | None = None

    def __init__(
        self,
        k: Any = 10,
        *,
        alpha: float = 1.0,
        min_categories: Any = None,
        fit_prior: bool = True,
        class_prior: Any = None,
        exact: bool = True,
        time_limit: float | None = 10.0,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        max_per_group: int | None = None,
        feature_cost: Any = None,
        budget: float | None = None,
        keep_counts: bool = False,
        n_jobs: int | None = -1,
    ) -> None:
        self.k = k
        self.alpha = alpha
        self.min_categories = min_categories
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.exact = exact
        self.time_limit = time_limit
        self.include = include
        self.exclude = exclude
        self.groups = groups
        self.max_per_group = max_per_group
        self.feature_cost = feature_cost
        self.budget = budget
        self.keep_counts = keep_counts
        self.n_jobs = n_jobs

    def _count_options(self) -> dict[str, Any]:
        return {"min_categories": self.min_categories}

    def _solver_options(self) -> dict[str, Any]:
        return {"alpha": self.alpha}

    def _set_parameters(self, counts: ClassCounts, selection: Selection) -> None:
        assert counts.n_categories is not None
        self.n_categories_ = counts.n_categories[self.support_indices_]
        ends = np.cumsum(self.n_categories_)[:-1]
        self._support_values = None
        if self._column_values is not None:
            chosen = [self._column_values[j] for j in self.support_indices_]
            self._support_values = [
                None if own is None else own[:size]
                for own, size in zip(chosen, self.n_categories_.tolist(), strict=True)
            ]
        chosen_counts = counts.select(self.support_indices_).feature_count
        self._category_rows = np.asarray(chosen_counts.sum(axis=0)).ravel()
        table = np.nan_to_num(selection.solution.log_theta, nan=0.0, neginf=-np.inf)
        self.feature_log_prob_ = np.split(table, ends, axis=1) if self.k_ else []

    def _to_save(self) -> dict[str, Any]:
        empty = np.zeros((self.classes_.shape[0], 0))
        table = np.hstack([empty, *self.feature_log_prob_])
        return super()._to_save() | {"feature_log_prob_": table}

    def _restore(self, values: dict[str, Any]) -> None:
        sizes, table = values["n_categories_"], values["feature_log_prob_"]
        if (sizes < 1).any() or sum(sizes.tolist()) != table.shape[1]:
            raise ValueError("'n_categories_' does not add up to 'feature_log_prob_'")
        names = values.get("_support_values") or []
        if any(own and len(own) > n for own, n in zip(names, sizes, strict=False)):
            raise ValueError("'_support_values' has more values than 'n_categories_'")
        split = np.split(table, np.cumsum(sizes)[:-1], axis=1) if sizes.size else []
        super()._restore(values | {"feature_log_prob_": split})

    @property
    def categories_(self) -> list[np.ndarray]:
        """The values of each selected feature, in the order of `feature_log_prob_`."""
        check_is_fitted(self, "support_indices_")
        found = []
        for own, size in zip(self._known_values(), self.n_categories_, strict=True):
            values = np.arange(size)
            if own is not None:
                values = np.empty(len(own), dtype=object)
                values[:] = own
            found.append(values)
        return found

    def _known_values(self) -> KnownValues:
        if self._support_values is None:
            return [None] * self.k_
        return self._support_values

    def _selected_columns(self, X: Any) -> Any:
        check_is_fitted(self)
        if self._support_values is not None:
            columns = columns_of(X)[0]
        elif (found := table_columns(X)) is not None:
            columns = found
        else:
            return super()._selected_columns(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        names = getattr(self, "feature_names_in_", None)
        part = code_columns(
            [columns[j] for j in self.support_indices_],
            self._known_values(),
            [describe_column(j, names) for j in self.support_indices_.tolist()],
            learn=False,
        )
        self._refuse(part, ~np.isfinite(part), "finite values")
        return part

    def _support_log_likelihood(self, part: Any) -> np.ndarray:
        n_rows, n_classes = part.shape[0], self.classes_.shape[0]
        scores = np.zeros((n_rows, n_classes))
        columns = part.tocsc() if sparse.issparse(part) else part
        for position, log_prob in enumerate(self.feature_log_prob_):
            codes = self._codes_of(columns, position)
            known = codes < log_prob.shape[1]
            scores[known] += log_prob.T[codes[known]]
        return scores

    def _scorecard(self) -> Scorecard:
        check_is_fitted(self)
        kinds: list[Kind] = []
        terms = []
        silent = np.zeros(self.classes_.shape[0])  # a value that was not met
        for place, (own, log_prob) in enumerate(
            zip(self._known_values(), self.feature_log_prob_, strict=True)
        ):
            kinds.append("code" if own is None else "category")
            values = range(log_prob.shape[1]) if own is None else own
            parts = {value: part for part, value in enumerate(values)}
            missing = parts.pop(None, UNKNOWN)
            axis = Values(
                place,
                tuple(parts),
                np.array([*parts.values()], dtype=np.int64),
                missing,
                UNKNOWN,
            )
            terms.append(LookupTerm((axis,), log_prob.T, silent))
        return self._card_of(kinds, terms)

    def _explained(self, X: Any, part: Any, index: Any) -> Explanation:
        names, inputs = self._support_names(), self._given(X, part)
        columns = part.tocsc() if sparse.issparse(part) else part
        terms = []
        for position, rows in enumerate(self._rows_of_categories()):
            log_prob = self.feature_log_prob_[position].T
            # One more part for a category never seen, which says nothing.
            table = np.vstack([log_prob, np.zeros(log_prob.shape[1])])
            codes = np.minimum(self._codes_of(columns, position), rows.size)
            mean, shared = term_of_parts(table, np.append(rows, 0.0)[:, None], codes)
            given = (inputs[position],)
            terms.append(
                ExplainedTerm(names[position], (position,), mean, shared, given)
            )
        return explanation_of(
            terms,
            self._start_scores(),
            self.classes_,
            self._proba_of(part),
            names,
            {},
            index,
        )

    def _rows_of_categories(self) -> list[np.ndarray]:
        """Training rows with each category of each selected column."""
        if not self.k_:
            return []
        rows = self._category_rows
        if rows is None:  # from a file of an earlier version: as it was estimated
            rows = np.hstack(
                [self.class_count_ @ np.exp(own) for own in self.feature_log_prob_]
            )
        return np.split(rows, np.cumsum(self.n_categories_)[:-1])

    def _given(self, X: Any, part: Any) -> list[np.ndarray]:
        """What rows hold in the selected columns, as it was given."""
        if sparse.issparse(part):
            return list(part.toarray().T)
        if self._support_values is None and table_columns(X) is None:
            return list(part.T)
        columns = columns_of(X)[0]
        return [np.asarray(columns[j]) for j in self.support_indices_]

    def _codes_of(self, columns: Any, position: int) -> np.ndarray:
        if sparse.issparse(columns):
            codes = np.zeros(columns.shape[0], dtype=np.int64)
            entries = slice(columns.indptr[position], columns.indptr[position + 1])
            values = columns.data[entries]
            codes[columns.indices[entries]] = values
        else:
            values = columns[:, position]
            codes = values.astype(np.int64)
        if values.size and ((values < 0) | (values != np.floor(values))).any():
            bad = values[(values < 0) | (values != np.floor(values))][0]
            raise ValueError(
                "SparseCategoricalNB needs category codes 0, 1, 2, .... Got "
                f"{bad.item()!r} in column {self.support_indices_[position]}."
            )
        return codes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
