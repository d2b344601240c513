"""Keep features at a given false discovery rate."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from bayesieve._compat import Interval
from bayesieve._description import Saved
from bayesieve.counts import ClassCounts
from bayesieve.exceptions import LowCountWarning
from bayesieve.feature_selection._screening_base import BinaryScreener
from bayesieve.solvers._screening import (
    benjamini_hochberg,
    likelihood_ratio_screening,
    unsmoothed_estimates,
)
from bayesieve.utils._warnings import warn_user

__all__ = ["FDRScreener"]


class FDRScreener(BinaryScreener):
    """Keep binary features with a bound on the expected share of false ones.

    Tests each feature for independence of the class by the likelihood ratio ``2 n I_j``
    (I_j without smoothing), and takes those that Benjamini and Hochberg's procedure
    rejects at level q. P-values are **exact** or upper bounds at low counts, and the
    usual approximation, corrected, at large ones (see the notes), so the bound on the
    false discovery rate holds for rare features too, where features are independent or
    positively dependent.

    Parameters
    ----------
    q : float in (0, 1), default=0.05
        Bound on the expected share of irrelevant features among the kept ones. None may
        be kept.
    k : int, optional
        Keep exactly so many features, those of largest statistic, instead.
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
        Likelihood-ratio statistic ``2 n I_j``.
    pvalues_ : ndarray of shape (n_features_in_,)
        1 for a feature that is present in no row or in every row. All features count as
        tests.
    low_count_ : ndarray of bool of shape (n_features_in_,)
        Features whose p-value is not to be trusted: their counts are no whole numbers,
        by weights, and some class is expected to have, or to lack, them in fewer than 5
        rows. A `LowCountWarning` says how many of the kept ones are among them.
    support_ : ndarray of bool of shape (n_features_in_,)
    support_indices_ : ndarray of int64 of shape (k_,)
    k_ : int
        Number of kept features.
    theta_ : ndarray of shape (n_classes, n_features_in_)
        Share of the rows of each class with the feature, not smoothed.
        Computed on demand; above 10 million numbers only with ``keep_counts=True``.
    classes_ : ndarray of shape (n_classes,)
    counts_ : ClassCounts
        Only with ``keep_counts=True`` or after `partial_fit`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    L0Screener : Mutual information with BIC.
    sklearn.feature_selection.SelectFdr : The same procedure for any score function.

    Notes
    -----
    One pass over X and one over the table of counts; beside it, a few arrays of length
    n_features, and for each split of the classes and each number of rows that a feature
    has, a list of the outcomes, in all O(K d sqrt(n)) for d such numbers.

    Given the rows of each class and those with the feature, counts are hypergeometric.
    For two classes the p-value adds up the outcomes whose likelihood ratio is at least
    the one found; where the count in a class has a variance above 900 it is the
    chi-square tail with a correction for continuity. For K > 2 classes it is K times
    the least p-value of one class against the others where the feature (or its absence)
    has fewer than 5 K rows. With more, classes are split off one by one, the largest
    first, each against those left; the chi-square quantiles of the p-values of the
    splits add up to a statistic that is at most chi-square with K-1 degrees of freedom.
    Chi-square on the likelihood ratio itself, which is right for large counts only, is
    left for counts that are no whole numbers.

    Sample weights count as repetitions of rows: weights that sum to something else than
    the number of rows change the p-values. A class without rows takes no part. Classes
    of equal size are split off in the order of their labels.

    References
    ----------
    Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate: a practical and
    powerful approach to multiple testing".

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import FDRScreener
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=300)
    >>> X = rng.random((300, 50)) < 0.5
    >>> X[:, [3, 8]] = rng.random((300, 2)) < 0.3 + 0.4 * y[:, None]
    >>> FDRScreener(q=0.01).fit(X, y).support_indices_
    array([3, 8])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "q": [Interval(Real, 0, 1, closed="neither")],
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "binarize": BinaryScreener._parameter_constraints["binarize"],
        "keep_counts": ["boolean"],
        "n_jobs": [Integral, None],
    }
    _saved: ClassVar[dict[str, Saved]] = {
        "pvalues_": Saved("floats", "m", domain="counts"),
        "low_count_": Saved("booleans", "m"),
    }

    def __init__(
        self,
        q: float = 0.05,
        *,
        k: int | None = None,
        binarize: float | None = 0.0,
        keep_counts: bool = False,
        n_jobs: int | None = -1,
    ) -> None:
        self.q = q
        self.k = k
        self.binarize = binarize
        self.keep_counts = keep_counts
        self.n_jobs = n_jobs

    def _screen(self, counts: ClassCounts) -> np.ndarray:
        screening, pvalues, few = likelihood_ratio_screening(
            counts, solver=type(self).__name__
        )
        self.scores_, self.pvalues_, self.low_count_ = screening.scores, pvalues, few
        if self.k is not None:
            columns = screening.best(self.k)
        else:
            columns = benjamini_hochberg(pvalues, self.q)
        doubtful = int(few[columns].sum())
        if doubtful:
            warn_user(
                f"{doubtful} of the {columns.shape[0]} features kept by FDRScreener "
                "have an expected count under 5 in some class, where chi-square "
                "p-values are not to be trusted. Hint: see low_count_.",
                LowCountWarning,  # the caller of fit, partial_fit or fit_counts
            )
        return columns

    def _estimates(self, counts: ClassCounts) -> np.ndarray:
        return unsmoothed_estimates(counts, solver=type(self).__name__)
