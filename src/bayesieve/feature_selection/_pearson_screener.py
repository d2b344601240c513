"""PC-SIS: keep the features before the largest drop of Pearson's chi-square."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from bayesieve._compat import StrOptions
from bayesieve.counts import ClassCounts
from bayesieve.feature_selection._screening_base import BinaryScreener
from bayesieve.solvers._screening import (
    pearson_screening,
    size_by_ratio,
    truncated_estimates,
)

__all__ = ["PearsonScreener"]


class PearsonScreener(BinaryScreener):
    """Keep the binary features of largest Pearson chi-square (PC-SIS). **Heuristic**.

    Ranks by ``Delta_j = sum_k sum_x (P(x,k) - P(x) P(k))^2 / (P(x) P(k))`` under the
    double truncated estimates and cuts where the ratio of neighbours in that order is
    largest. The cut is unstable, as the paper's Table 1 shows: a ratio of two tiny
    values far down the order often wins and nearly all features stay. It is here as
    published, for comparison; for a choice that holds, take `L0Screener`.

    Parameters
    ----------
    k : int, optional
        Keep exactly so many features, those of largest Delta_j. Fewer, with a warning,
        if fewer vary.
    criterion : {"ratio"}, default="ratio"
        Without `k` and `regularization`, the size d < n_features of largest
        ``Delta_(d) / Delta_(d+1)``; zero denominators are skipped, ties take the
        smallest d.
    regularization : float, optional
        Keep ``Delta_j > regularization``, which may be none.
    binarize : float or None, default=0.0
        Values above it count as present. None: the data must be 0 and 1.
    keep_counts : bool, default=False
        Keep `counts_` after `fit`, so that `partial_fit` can go on from there.
    n_jobs : int or None, default=-1
        Threads of the compiled core, as scikit-learn counts them: -1 is one for each
        processor, None is 1 unless a `joblib.parallel_config` says otherwise. The
        result does not depend on them.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Delta_j; 0 for a feature that is present in no row or in every row. Such a
        feature is kept only when there is no other.
    support_ : ndarray of bool of shape (n_features_in_,)
    support_indices_ : ndarray of int64 of shape (k_,)
    k_ : int
        Number of kept features.
    theta_ : ndarray of shape (n_classes, n_features_in_)
        Double truncated estimates of the probability of presence, never 0 or 1.
        Computed on demand; above 10 million numbers only with ``keep_counts=True``.
    classes_ : ndarray of shape (n_classes,)
    counts_ : ClassCounts
        Only with ``keep_counts=True`` or after `partial_fit`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    L0Screener : Mutual information with BIC.
    sklearn.feature_selection.chi2 : Counts presences only, not absences.

    Notes
    -----
    One pass over X and one over the table of counts; beside it, a few arrays of length
    n_features, and a sort.

    References
    ----------
    D. Huang, R. Li, H. Wang, "Feature screening for ultrahigh dimensional categorical
    data with applications".

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import PearsonScreener
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0]])
    >>> PearsonScreener().fit(X, [1, 1, 1, 0, 0, 0]).support_
    array([ True, False, False])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BinaryScreener._parameter_constraints,
        "criterion": [StrOptions({"ratio"})],
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        criterion: str = "ratio",
        regularization: float | None = None,
        binarize: float | None = 0.0,
        keep_counts: bool = False,
        n_jobs: int | None = -1,
    ) -> None:
        self.k = k
        self.criterion = criterion
        self.regularization = regularization
        self.binarize = binarize
        self.keep_counts = keep_counts
        self.n_jobs = n_jobs

    def _screen(self, counts: ClassCounts) -> np.ndarray:
        self._check_one_way("k", "regularization")
        screening = pearson_screening(counts, solver=type(self).__name__)
        self.scores_ = screening.scores
        if self.k is not None:
            return screening.best(self.k)
        if self.regularization is not None:
            return screening.above(self.regularization)
        return screening.at_least_one(size_by_ratio(screening.scores))

    def _estimates(self, counts: ClassCounts) -> np.ndarray:
        return truncated_estimates(counts, solver=type(self).__name__)
