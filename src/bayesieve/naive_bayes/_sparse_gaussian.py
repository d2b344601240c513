"""Gaussian naive Bayes on the k features of largest likelihood."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from bayesieve._compat import Interval, StrOptions
from bayesieve._description import Saved, mean_weights
from bayesieve._scorecard import NormalTerms, Scorecard
from bayesieve.counts import ClassCounts
from bayesieve.naive_bayes._base import SparseNaiveBayes
from bayesieve.naive_bayes._explained_terms import (
    ExplainedTerm,
    explanation_of,
    term_of_density,
)
from bayesieve.naive_bayes._explanation import Explanation
from bayesieve.solvers._gaussian import pooled_moments
from bayesieve.solvers._selection import Selection

__all__ = ["SparseGaussianNB"]


class SparseGaussianNB(SparseNaiveBayes):
    """Gaussian naive Bayes that uses the k best features. **Exact**, in closed form.

    Parameters
    ----------
    k : int, float, "all", "elbow" or "bic", default=10
        Number of features, a share of them in (0, 1), all of them (plain naive Bayes),
        or chosen automatically. Constant features are not selected.
    variance : {"class", "pooled"}, default="class"
        Whether variances differ over classes, or means only.
    var_smoothing : float, default=1e-9
        Share of the largest column variance added to every variance at prediction, as
        in scikit-learn. Selection does not depend on it, nor on other columns' units.
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
    theta_, var_ : ndarray of shape (n_classes, k_)
        Mean and variance of each selected feature in each class.
    epsilon_ : float
        What was added to the variances.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Gain in nats.
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    counts_ : ClassCounts
        Only with ``keep_counts=True`` or after `partial_fit`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    With ``variance="class"`` a column that hardly varies in one class has a large gain,
    which is what the likelihood says but seldom what classifies: for counts, shares and
    other columns that are mostly zero, ``variance="pooled"`` usually chooses better.

    `partial_fit` equals `fit` on all rows: means and squares are merged stably, and the
    smoothing is taken from the merged data.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import SparseGaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> SparseGaussianNB(k=2).fit(X, y).support_indices_
    array([2, 3])
    """

    _model = "gaussian"
    _kind = "moments"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseNaiveBayes._parameter_constraints,
        "variance": [StrOptions({"class", "pooled"})],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
    }
    _saved: ClassVar[dict[str, Saved]] = {
        "theta_": Saved("floats", "C", "k"),
        "var_": Saved("floats", "C", "k", domain="counts"),
        "epsilon_": Saved("float", domain="counts"),
    }

    def __init__(
        self,
        k: Any = 10,
        *,
        variance: str = "class",
        var_smoothing: float = 1e-9,
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
        self.variance = variance
        self.var_smoothing = var_smoothing
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

    def _solver_options(self) -> dict[str, Any]:
        return {"variance": self.variance}

    def _set_parameters(self, counts: ClassCounts, selection: Selection) -> None:
        mean, total, within = pooled_moments(counts)
        support = self.support_indices_
        rows = counts.class_count[:, None]
        seen = rows > 0
        assert counts.mean is not None
        assert counts.centred_squares is not None
        self.epsilon_ = self.var_smoothing * float(total.max())
        # A class that has not been seen yet keeps the overall moments.
        self.theta_ = np.where(seen, counts.mean[:, support], mean[support])
        if self.variance == "class":
            squares = counts.centred_squares[:, support]
            variances = squares / np.where(seen, rows, 1.0)
            variances = np.where(seen, variances, total[support])
        else:
            variances = np.repeat(within[None, support], rows.shape[0], axis=0)
        self.var_ = variances + self.epsilon_

    def _class_weights(self) -> dict[str, Any]:
        return mean_weights(self.classes_, self.theta_, self.var_)

    def _support_log_likelihood(self, part: Any) -> np.ndarray:
        scores = np.empty((part.shape[0], self.classes_.shape[0]))
        for c in range(self.classes_.shape[0]):
            mean, var = self.theta_[c], self.var_[c]
            # A variance of zero happens only without smoothing, on a column without any
            # spread in a class: its value is certain there, any other impossible.
            certain = var <= 0
            spread = np.where(certain, 1.0, var)
            inverse = np.where(certain, 0.0, 1.0 / spread)
            constant = -0.5 * np.log(2.0 * np.pi * spread[~certain]).sum()
            if sparse.issparse(part):
                distance = _sparse_distance(part, mean, inverse)
            else:
                distance = ((part - mean) ** 2 * inverse).sum(axis=1)
            scores[:, c] = constant - 0.5 * distance
            if certain.any():
                scores[_misses(part, mean, certain), c] = -np.inf
        return scores

    def _scorecard(self) -> Scorecard:
        check_is_fitted(self)
        places = tuple(range(self.k_))
        terms = NormalTerms(places, self.theta_.T, self.var_.T)
        return self._card_of(["finite"] * self.k_, [terms])

    def _explained(self, X: Any, part: Any, index: Any) -> Explanation:
        names, counts = self._support_names(), self.class_count_
        table = part.toarray() if sparse.issparse(part) else np.asarray(part)
        # The variances of the training rows; where they are pooled, their mean.
        spread = np.maximum(self.var_ - self.epsilon_, 0.0)
        terms = []
        for j, name in enumerate(names):
            mean, shared = term_of_density(
                table[:, j].astype(np.float64),
                self.theta_[:, j],
                self.var_[:, j],
                spread[:, j],
                counts,
            )
            terms.append(ExplainedTerm(name, (j,), mean, shared, (table[:, j],)))
        return explanation_of(
            terms,
            self._start_scores(),
            self.classes_,
            self._proba_of(part),
            names,
            {},
            index,
        )


def _sparse_distance(part: Any, mean: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """Sum of ``(x - mean)^2 / var`` over columns without visiting the zeros.

    A zero contributes ``mean^2 / var``; a stored value changes that by
    ``x (x - 2 mean) / var``.
    """
    entries = part.tocoo()
    values = entries.data.astype(np.float64)
    change = values * (values - 2.0 * mean[entries.col]) * inverse[entries.col]
    by_row = np.bincount(entries.row, weights=change, minlength=part.shape[0])
    return np.asarray((mean**2 * inverse).sum() + by_row)


def _misses(part: Any, mean: np.ndarray, certain: np.ndarray) -> np.ndarray:
    """Rows with a value other than the only one a certain column has in a class."""
    if not sparse.issparse(part):
        return np.asarray((part[:, certain] != mean[certain]).any(axis=1))
    entries = part.tocoo()
    stored = certain[entries.col] & (entries.data != 0)
    right = entries.data == mean[entries.col]
    n_rows = part.shape[0]
    met = np.bincount(entries.row[stored & right], minlength=n_rows)
    wrong = np.bincount(entries.row[stored & ~right], minlength=n_rows)
    return np.asarray((met < (certain & (mean != 0)).sum()) | (wrong > 0))
