"""Bernoulli naive Bayes on the k features of largest likelihood."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from bayesieve._compat import Interval, StrOptions
from bayesieve._description import Saved, class_weights, logit
from bayesieve.counts import ClassCounts
from bayesieve.naive_bayes._base import (
    SparseNaiveBayes,
    alpha_constraint,
)
from bayesieve.naive_bayes._presence import presence
from bayesieve.solvers._selection import Selection

__all__ = ["SparseBernoulliNB"]


class SparseBernoulliNB(SparseNaiveBayes):
    """Bernoulli naive Bayes that uses the k best features. **Exact**, in closed form.

    Parameters
    ----------
    k : int, float, "all", "elbow" or "bic", default=10
        Number of features, a share of them in (0, 1), all of them (plain naive Bayes),
        or chosen automatically. Features that never vary are not selected.
    alpha : float or array of shape (n_features,), default=1.0
        Smoothing; estimates are ``(f + alpha) / (n_c + 2 alpha)``.
    smoothing : {"laplace", "truncated"}, default="laplace"
        How estimates are kept off 0 and 1: by alpha, or by holding counts at least one
        row away from none and from all, as the screening paper does (alpha is not
        used).
    binarize : float or None, default=0.0
        Values above it count as present. None: the data must be 0 and 1 already.
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
    feature_log_prob_ : ndarray of shape (n_classes, k_)
        Log-probability that each selected feature is present given the class.
    coef_ : ndarray of shape (1, n_features_in_)
        Two classes only.
    intercept_ : ndarray of shape (1,)
        Two classes only.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Gain in nats: n times the mutual information with the class.
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    counts_ : ClassCounts
        Only with ``keep_counts=True`` or after `partial_fit`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    SparseMultinomialNB : For counts.

    Notes
    -----
    One pass over X and one over the table of counts; supports for different k are
    nested.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseBernoulliNB
    >>> X = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0]])
    >>> SparseBernoulliNB(k=1).fit(X, [1, 1, 0, 0]).support_
    array([ True, False, False])
    """

    _model = "bernoulli"
    _kind = "binary"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseNaiveBayes._parameter_constraints,
        "alpha": alpha_constraint(),
        "smoothing": [StrOptions({"laplace", "truncated"})],
        "binarize": [Interval(Real, None, None, closed="neither"), None],
    }
    _saved: ClassVar[dict[str, Saved]] = {
        "feature_log_prob_": Saved("floats", "C", "k", domain="logs"),
        "_absent_log_prob": Saved("floats", "C", "k", domain="logs"),
    }

    def __init__(
        self,
        k: Any = 10,
        *,
        alpha: Any = 1.0,
        smoothing: str = "laplace",
        binarize: float | None = 0.0,
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
        self.smoothing = smoothing
        self.binarize = binarize
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
        return {"binarize": self.binarize}

    def _solver_options(self) -> dict[str, Any]:
        return {"alpha": self.alpha, "smoothing": self.smoothing}

    def _set_parameters(self, counts: ClassCounts, selection: Selection) -> None:
        self.feature_log_prob_ = selection.solution.log_theta
        with np.errstate(divide="ignore"):
            self._absent_log_prob = np.log1p(-selection.solution.estimates)

    def _class_weights(self) -> dict[str, Any]:
        return class_weights(self.classes_, logit(self.feature_log_prob_))

    def _values(self, part: Any) -> Any:
        return presence(part, self.binarize, self._refuse, type(self).__name__)

    def _term_logs(self) -> tuple[np.ndarray, np.ndarray]:
        return self.feature_log_prob_.T, self._absent_log_prob.T

    @property
    def coef_(self) -> np.ndarray:
        """Log-odds weight of each feature, shape (1, n_features_in_)."""
        self._need_two_classes("coef_")
        logit = self.feature_log_prob_ - self._absent_log_prob
        return self._spread(logit[1] - logit[0])

    @property
    def intercept_(self) -> np.ndarray:
        """Log-odds of a row without any selected feature, shape (1,)."""
        self._need_two_classes("intercept_")
        return np.diff(self.class_log_prior_ + self._absent_log_prob.sum(axis=1))
