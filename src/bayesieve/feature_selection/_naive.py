"""Selection of the k features of largest naive Bayes likelihood."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from bayesieve._compat import Interval, StrOptions
from bayesieve._estimator import CountingEstimator
from bayesieve.counts import ClassCounts
from bayesieve.solvers._selection import select_features

__all__ = ["NaiveFeatureSelector"]

_KINDS = {
    "multinomial": "count",
    "bernoulli": "binary",
    "gaussian": "moments",
    "categorical": "category",
}


class NaiveFeatureSelector(SelectorMixin, CountingEstimator):
    """Keep the k features that maximise the naive Bayes likelihood, with a certificate.

    Under the multinomial model the support is **exact** (branch and bound) unless the
    time limit is hit; then it is **bounded**, with a `GapWarning` and the true gap in
    `certificate_`. Under the other models it is **exact**, in closed form.

    Parameters
    ----------
    k : int, float, "all", "elbow" or "bic", default=10
        Number of features, a share of them in (0, 1), all of them, or chosen from the
        path over k. The multinomial model needs at least 2. Above the number of
        features that say anything, all of those are kept, with a warning.
    model : {"multinomial", "bernoulli", "gaussian", "categorical"}
        Counts, presence, real values, or category codes 0, 1, 2, ....
    alpha : float or array of shape (n_features,), default=1.0
        Smoothing; not used by the Gaussian model.
    binarize : float or None, default=None
        Bernoulli model: values above it count as present. None: the data must be 0 and
        1.
    exact : bool, default=True
        Close the gap of the relaxation by branch and bound (multinomial).
    time_limit : float or None, default=10.0
        Seconds the search may take.
    keep_counts : bool, default=False
        Keep `counts_` after `fit`, so that `partial_fit` can go on from there.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features_in_,)
    support_indices_ : ndarray of int64 of shape (k_,)
    k_ : int
        Number of kept features.
    scores_ : ndarray of shape (n_features_in_,)
        Gain of each feature in nats; h_i(p*) under the multinomial model.
    certificate_ : Certificate
    classes_ : ndarray of shape (n_classes,)
    counts_ : ClassCounts
        Only with ``keep_counts=True`` or after `partial_fit`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    SparseMultinomialNB, SparseBernoulliNB, SparseGaussianNB, SparseCategoricalNB :
        The classifiers on the selected features.

    Notes
    -----
    One pass over X, about five over the table of counts (n_classes x n_features).

    References
    ----------
    A. Askari, A. d'Aspremont, L. El Ghaoui, "Naive feature selection: a nearly tight
    convex relaxation for sparse naive Bayes".

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveFeatureSelector
    >>> X = np.array([[3, 0, 1, 0], [4, 1, 0, 0], [0, 3, 1, 1], [0, 5, 0, 1]])
    >>> selector = NaiveFeatureSelector(k=2).fit(X, [0, 0, 1, 1])
    >>> selector.transform(X)
    array([[3, 0],
           [4, 1],
           [0, 3],
           [0, 5]])
    >>> selector.certificate_.is_optimal
    True
    """

    # As for any selector; without the list, the first chunk must show every class.
    _classes_required = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CountingEstimator._parameter_constraints,
        "model": [StrOptions(set(_KINDS))],
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "binarize": [Interval(Real, None, None, closed="neither"), None],
    }

    def __init__(
        self,
        k: Any = 10,
        *,
        model: str = "multinomial",
        alpha: Any = 1.0,
        binarize: float | None = None,
        exact: bool = True,
        time_limit: float | None = 10.0,
        keep_counts: bool = False,
    ) -> None:
        self.k = k
        self.model = model
        self.alpha = alpha
        self.binarize = binarize
        self.exact = exact
        self.time_limit = time_limit
        self.keep_counts = keep_counts

    def _count_kind(self) -> str:
        if self.binarize is not None and self.model != "bernoulli":
            raise ValueError(
                "The 'binarize' parameter of NaiveFeatureSelector is for "
                f"model='bernoulli' only. Got binarize={self.binarize!r} with "
                f"model={self.model!r}."
            )
        return _KINDS[self.model]

    def _count_options(self) -> dict[str, Any]:
        if self.model != "bernoulli":
            return {}
        if self.binarize is None:
            return {"strict_binary": True}
        return {"threshold": self.binarize}

    def _solve(self, counts: ClassCounts) -> None:
        selection = select_features(
            counts,
            self.k,
            model=self.model,
            alpha=self.alpha,
            exact=self.exact,
            time_limit=self.time_limit,
            owner=type(self).__name__,
        )
        solution = selection.solution
        self.classes_ = counts.classes
        self.support_indices_ = solution.support
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[solution.support] = True
        self.k_ = int(solution.support.shape[0])
        self.certificate_ = solution.certificate
        self.scores_ = selection.scores()

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.model in ("multinomial", "categorical")
        tags.input_tags.categorical = self.model == "categorical"
        return tags
