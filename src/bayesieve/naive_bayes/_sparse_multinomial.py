"""Multinomial naive Bayes on the k features of largest likelihood."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from bayesieve._description import Saved, class_weights
from bayesieve.counts import ClassCounts
from bayesieve.naive_bayes._base import (
    SparseNaiveBayes,
    alpha_constraint,
)
from bayesieve.solvers._selection import Selection

__all__ = ["SparseMultinomialNB"]


class SparseMultinomialNB(SparseNaiveBayes):
    """Multinomial naive Bayes that uses the k best features, with a certificate.

    The support is **exact** (branch and bound) unless the time limit is hit; then it is
    **bounded**, with a `GapWarning` and the true gap in `certificate_`.

    Parameters
    ----------
    k : int, float, "all", "elbow" or "bic", default=10
        Number of features (at least 2), a share of them in (0, 1), all of them (plain
        naive Bayes), or chosen from the path over k. Above the number of features with
        any count, all of those are used, with a warning.
    alpha : float or array of shape (n_features,), default=1.0
        Smoothing added to every count.
    fit_prior : bool, default=True
        Learn class probabilities; otherwise they are uniform.
    class_prior : array-like of shape (n_classes,), optional
        Class probabilities, not learnt.
    exact : bool, default=True
        Close the gap of the relaxation by branch and bound.
    time_limit : float or None, default=10.0
        Seconds the search may take.
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
        Mask of the selected features.
    support_indices_ : ndarray of int64 of shape (k_,)
        Their indices, sorted.
    k_ : int
        Number of selected features.
    certificate_ : Certificate
        Objective, proven bound and gap.
    feature_log_prob_ : ndarray of shape (n_classes, k_)
        Log-probability of each selected feature given the class.
    coef_ : ndarray of shape (1, n_features_in_)
        Two classes only: log-odds weight of each feature, 0 if not selected.
    intercept_ : ndarray of shape (1,)
        Two classes only: log-odds of the classes.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Gain of each feature in nats.
    classes_ : ndarray of shape (n_classes,)
    class_count_ : ndarray of shape (n_classes,)
        Rows of each class, or the sum of their weights.
    class_log_prior_ : ndarray of shape (n_classes,)
    counts_ : ClassCounts
        Only with ``keep_counts=True`` or after `partial_fit`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    SparseBernoulliNB : For binary features.
    NaiveFeatureSelector : The same selection as a transformer.

    Notes
    -----
    One pass over X, about four over the table of counts (n_classes x n_features).
    Prediction touches the selected columns only.

    References
    ----------
    A. Askari, A. d'Aspremont, L. El Ghaoui, "Naive feature selection: a nearly tight
    convex relaxation for sparse naive Bayes".

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseMultinomialNB
    >>> X = np.array([[3, 0, 1, 0], [4, 1, 0, 0], [0, 3, 1, 1], [0, 5, 0, 1]])
    >>> model = SparseMultinomialNB(k=2).fit(X, ["a", "a", "b", "b"])
    >>> model.support_indices_
    array([0, 1])
    >>> model.certificate_.is_optimal
    True
    >>> model.predict([[2, 0, 0, 0]])
    array(['a'], dtype='<U1')
    """

    _model = "multinomial"
    _kind = "count"
    _positive_only = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseNaiveBayes._parameter_constraints,
        "alpha": alpha_constraint(),
    }
    _saved: ClassVar[dict[str, Saved]] = {
        "feature_log_prob_": Saved("floats", "C", "k", domain="logs")
    }

    def __init__(
        self,
        k: Any = 10,
        *,
        alpha: Any = 1.0,
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
        return {"alpha": self.alpha}

    def _set_parameters(self, counts: ClassCounts, selection: Selection) -> None:
        self.feature_log_prob_ = selection.solution.log_theta

    def _class_weights(self) -> dict[str, Any]:
        return class_weights(self.classes_, self.feature_log_prob_)

    def _values(self, part: Any) -> Any:
        values = part.data if sparse.issparse(part) else part
        self._refuse(part, values < 0, "counts >= 0")
        return part

    def _term_logs(self) -> tuple[np.ndarray, np.ndarray]:
        present = self.feature_log_prob_.T
        return present, np.zeros_like(present)

    @property
    def coef_(self) -> np.ndarray:
        """Log-odds weight of each feature, shape (1, n_features_in_)."""
        self._need_two_classes("coef_")
        return self._spread(self.feature_log_prob_[1] - self.feature_log_prob_[0])

    @property
    def intercept_(self) -> np.ndarray:
        """Log-odds of the two classes, shape (1,)."""
        self._need_two_classes("intercept_")
        return np.diff(self.class_log_prior_)
