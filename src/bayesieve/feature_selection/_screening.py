"""Marginal screening of wide 0/1 data: one score for each column, one cut."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.model_selection import check_cv
from sklearn.utils.metaestimators import available_if

from bayesieve._compat import Interval, StrOptions, fit_context
from bayesieve._crossval import bernoulli_scores, training_counts
from bayesieve.counts import ClassCounts
from bayesieve.exceptions import LowCountWarning
from bayesieve.feature_selection._screening_base import BinaryScreener
from bayesieve.solvers._criteria import default_sizes
from bayesieve.solvers._screening import (
    benjamini_hochberg,
    bic_threshold,
    likelihood_ratio_screening,
    mutual_information_screening,
    pearson_screening,
    penalised_estimates,
    penalised_screening,
    size_by_bic,
    size_by_ratio,
    truncated_estimates,
    truncated_parameters,
    unsmoothed_estimates,
)
from bayesieve.utils._warnings import warn_user

__all__ = ["FDRScreener", "L0Screener", "L1Screener", "PearsonScreener"]


class L0Screener(BinaryScreener):
    """Keep the binary features whose information on the class pays for itself.

    Maximises the naive Bayes likelihood less a price for each feature (L0NB), which
    ranks features by their mutual information I_j with the class under the double
    truncated estimates. **Exact**, in closed form: the set is the optimum for its
    price, its size or BIC. Features count one by one: two that tell something only
    together (XOR) are out of reach of any marginal screening.

    Parameters
    ----------
    k : int, optional
        Keep exactly so many features, those of largest I_j. Fewer, with a warning, if
        fewer vary.
    criterion : {"bic"}, default="bic"
        Without `k` and `penalty`, keep ``I_j > (K-1) log(n) / (2n)``, the minimiser of
        BIC, and at least one feature.
    penalty : float, optional
        Price lambda of a feature in nats for each row: keep ``I_j > penalty``, which
        may be none.
    binarize : float or None, default=None
        Values above it count as present. None: the data must be 0 and 1.
    keep_counts : bool, default=False
        Keep `counts_` after `fit`, so that `partial_fit` can go on from there.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Mutual information I_j in nats for each row; 0 for a feature that is present in
        no row or in every row. Such a feature is kept only when BIC has no other.
    bic_threshold_ : float
        ``(K-1) log(n) / (2n)``, whether it was used or not.
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
    SparseBernoulliNB : With ``k="bic", smoothing="truncated"``, the classifier on the
        same features.
    FDRScreener : A bound on the share of false discoveries instead of BIC.

    Notes
    -----
    One pass over X and one over the table of counts (n_classes x n_features); beside
    it, a few arrays of length n_features. With sample weights, n is their sum.

    The estimates hold counts one row away from none and from all rows of a class. The
    paper's own do so from below only. Beside a class of very few rows this lends rare
    features information that they do not have: with 995 rows against 5, a feature in a
    single row of the large class counts as one row of the small class as well and
    passes BIC. There, `FDRScreener` (no smoothing) is the safer choice.

    References
    ----------
    G. Guan, N. Shan, J. Guo, "Feature screening for ultrahigh dimensional binary data".

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import L0Screener
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=300)
    >>> X = rng.random((300, 50)) < 0.5
    >>> X[:, [3, 8]] = rng.random((300, 2)) < 0.3 + 0.4 * y[:, None]
    >>> L0Screener().fit(X, y).support_indices_
    array([3, 8])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BinaryScreener._parameter_constraints,
        "criterion": [StrOptions({"bic"})],
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        criterion: str = "bic",
        penalty: float | None = None,
        binarize: float | None = None,
        keep_counts: bool = False,
    ) -> None:
        self.k = k
        self.criterion = criterion
        self.penalty = penalty
        self.binarize = binarize
        self.keep_counts = keep_counts

    def _screen(self, counts: ClassCounts) -> np.ndarray:
        self._check_one_way("k", "penalty")
        name = type(self).__name__
        screening, problem = mutual_information_screening(counts, solver=name)
        self.scores_ = screening.scores
        self.bic_threshold_ = bic_threshold(counts.n_classes, problem.n_rows)
        if self.k is not None:
            return screening.best(self.k)
        if self.penalty is not None:
            return screening.above(self.penalty)
        columns = problem.best_by_bic()
        return columns if columns.shape[0] else screening.at_least_one(1)

    def _estimates(self, counts: ClassCounts) -> np.ndarray:
        return truncated_estimates(counts, solver=type(self).__name__)


def _size_is_a_function_of_counts(estimator: L1Screener) -> bool:
    if estimator._needs_rows():
        raise AttributeError(
            "L1Screener.partial_fit cannot choose the size by cross-validation, which "
            "needs all rows at once. Hint: use criterion='bic', or k, or penalty."
        )
    return True


class L1Screener(BinaryScreener):
    """Keep the binary features that an L1 penalty would let differ between classes.

    Naive Bayes with a penalty on ``|theta_kj - S_j / n|`` (L1NB): a feature is kept as
    long as the penalty is below ``H_j = max_k n pi_k |theta_kj - theta_j| / (theta_j (1
    - theta_j))``. With `penalty` the set and its estimates are **exact**, in closed
    form. BIC is minimised **exactly**, but only over the models nested in the order of
    H, and cross-validation looks at a grid of them: as a choice among all sets of
    features, both are **heuristic**.

    Parameters
    ----------
    k : int, optional
        Keep exactly so many features, those of largest H_j. Fewer, with a warning, if
        fewer vary.
    criterion : {"bic", "cv"}, default="bic"
        How the size is chosen without `k` and `penalty`: least BIC over the sizes from
        1 on, or fewest misclassifications of Bernoulli naive Bayes (truncated
        estimates) over folds, among about 50 sizes, geometric from 1 to 10,000; the
        smaller size on ties.
    penalty : float, optional
        Penalty lambda1: keep ``H_j > penalty``, which may be none, with H_j from the
        counts as they are, without truncation.
    cv : int, splitter or iterable of splits, default=5
        As in scikit-learn, for ``criterion="cv"``; an int means stratified folds.
    binarize : float or None, default=None
        Values above it count as present. None: the data must be 0 and 1.
    keep_counts : bool, default=False
        Keep `counts_` after `fit`, so that `partial_fit` can go on from there.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        H_j, with truncated estimates unless `penalty` is given; 0 for a feature that is
        present in no row or in every row. Such a feature is kept only when BIC has no
        other.
    support_ : ndarray of bool of shape (n_features_in_,)
    support_indices_ : ndarray of int64 of shape (k_,)
    k_ : int
        Number of kept features.
    theta_ : ndarray of shape (n_classes, n_features_in_)
        Probability of presence: with `penalty` the maximisers of the penalised
        likelihood, which may be 0 or 1, otherwise the double truncated estimates.
        Computed on demand; above 10 million numbers only with ``keep_counts=True``.
    cv_results_ : dict
        With ``criterion="cv"``: ``param_k`` and the accuracies ``mean_test_score``,
        ``std_test_score`` and ``split0_test_score``, ....
    classes_ : ndarray of shape (n_classes,)
    counts_ : ClassCounts
        Only with ``keep_counts=True`` or after `partial_fit`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    L0Screener : The price is paid for each feature, not for its deviation.

    Notes
    -----
    One pass over X and one over the table of counts; beside it, a few arrays of length
    n_features, and a sort. Cross-validation counts all folds in one pass, then scores
    each fold once for all sizes; weights count in training, every test row alike.
    `partial_fit` and `fit_counts` are not for ``criterion="cv"``.

    References
    ----------
    G. Guan, N. Shan, J. Guo, "Feature screening for ultrahigh dimensional binary data",
    Appendix B.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import L1Screener
    >>> X = np.array([[1, 1], [1, 0], [1, 1], [0, 0], [0, 1], [0, 0], [0, 1], [1, 0]])
    >>> screener = L1Screener(penalty=1.0).fit(X, [1, 1, 1, 1, 0, 0, 0, 0])
    >>> screener.support_indices_
    array([0])
    >>> screener.theta_.round(3)  # 1/4 and 3/4, pulled towards 1/2
    array([[0.303, 0.5  ],
           [0.697, 0.5  ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BinaryScreener._parameter_constraints,
        "criterion": [StrOptions({"bic", "cv"})],
        "cv": ["cv_object"],
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        criterion: str = "bic",
        penalty: float | None = None,
        cv: Any = 5,
        binarize: float | None = None,
        keep_counts: bool = False,
    ) -> None:
        self.k = k
        self.criterion = criterion
        self.penalty = penalty
        self.cv = cv
        self.binarize = binarize
        self.keep_counts = keep_counts

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> L1Screener:
        """Count, choose the size and keep the features.

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
        if hasattr(self, "cv_results_"):
            del self.cv_results_
        if not self._needs_rows():
            super().fit(X, y, sample_weight)
            return self
        X, codes, classes, weights = self._validated(
            X, y, None, sample_weight, first=True
        )
        counts = self._counted(X, codes, classes, weights)
        self._drop_counts()
        self._size = self._size_by_folds(X, codes, weights, counts)
        self._solve(counts)
        if self.keep_counts:
            self.counts_, self._counted_with = counts, self._count_options()
        return self

    @available_if(_size_is_a_function_of_counts)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> L1Screener:
        """Add a chunk of rows to the counts, then choose anew.

        Not for ``criterion="cv"``, which needs all rows at once.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All classes that will ever come; by default those of the first chunk.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        super().partial_fit(X, y, classes, sample_weight)
        return self

    def _needs_rows(self) -> bool:
        return self.k is None and self.penalty is None and self.criterion == "cv"

    def _screen(self, counts: ClassCounts) -> np.ndarray:
        self._check_one_way("k", "penalty")
        name = type(self).__name__
        screening = penalised_screening(
            counts, truncated=self.penalty is None, solver=name
        )
        self.scores_ = screening.scores
        self._penalty = self.penalty  # theta_ is computed later
        if self.k is not None:
            return screening.best(self.k)
        if self.penalty is not None:
            return screening.above(self.penalty)
        if self.criterion == "cv":
            return screening.at_least_one(self._size)
        _, problem = mutual_information_screening(counts, solver=name)
        ordered = problem.gains[screening.ranking()]
        size = size_by_bic(ordered, counts.n_classes - 1.0, problem.n_rows)
        return screening.at_least_one(size)

    def _size_by_folds(
        self,
        X: Any,
        codes: np.ndarray,
        weights: np.ndarray | None,
        counts: ClassCounts,
    ) -> int:
        """Size of best accuracy over the folds, the smallest on ties."""
        name = type(self).__name__
        sizes = default_sizes(X.shape[1], smallest=1).tolist()
        splits = list(check_cv(self.cv, codes, classifier=True).split(X, codes))
        if sparse.issparse(X):
            # What is constant over all rows is so in every fold; most columns of wide
            # data are. Folds are rows.
            varying = np.flatnonzero(penalised_screening(counts, solver=name).eligible)
            X = X.tocsr()[:, varying]
        options = {"kind": self._count_kind(), **self._count_options()}
        folds = training_counts(X, codes, counts.classes, weights, splits, **options)
        scores = np.empty((len(sizes), len(splits)))
        for i, ((_, test), fold) in enumerate(zip(splits, folds, strict=True)):
            ranking = penalised_screening(fold, solver=name).ranking()[: sizes[-1]]
            shares, theta = truncated_parameters(fold, ranking, solver=name)
            joint = bernoulli_scores(
                ranking, theta, self._presence(X[test]), sizes, np.log(shares)
            )
            hits = np.argmax(joint, axis=2) == codes[test][:, None]
            scores[:, i] = hits.mean(axis=0)
        mean = scores.mean(axis=1)
        self.cv_results_ = {
            "param_k": np.array(sizes),
            **{f"split{i}_test_score": scores[:, i] for i in range(len(splits))},
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=1),
        }
        return int(sizes[int(np.argmax(mean))])

    def _estimates(self, counts: ClassCounts) -> np.ndarray:
        name = type(self).__name__
        if self._penalty is None:
            return truncated_estimates(counts, solver=name)
        return penalised_estimates(counts, self._penalty, solver=name)


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
        Without `k` and `penalty`, the size d < n_features of largest ``Delta_(d) /
        Delta_(d+1)``; zero denominators are skipped, ties take the smallest d.
    penalty : float, optional
        Keep ``Delta_j > penalty``, which may be none.
    binarize : float or None, default=None
        Values above it count as present. None: the data must be 0 and 1.
    keep_counts : bool, default=False
        Keep `counts_` after `fit`, so that `partial_fit` can go on from there.

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
        penalty: float | None = None,
        binarize: float | None = None,
        keep_counts: bool = False,
    ) -> None:
        self.k = k
        self.criterion = criterion
        self.penalty = penalty
        self.binarize = binarize
        self.keep_counts = keep_counts

    def _screen(self, counts: ClassCounts) -> np.ndarray:
        self._check_one_way("k", "penalty")
        screening = pearson_screening(counts, solver=type(self).__name__)
        self.scores_ = screening.scores
        if self.k is not None:
            return screening.best(self.k)
        if self.penalty is not None:
            return screening.above(self.penalty)
        return screening.at_least_one(size_by_ratio(screening.scores))

    def _estimates(self, counts: ClassCounts) -> np.ndarray:
        return truncated_estimates(counts, solver=type(self).__name__)


class FDRScreener(BinaryScreener):
    """Keep binary features with a bound on the expected share of false ones.

    Tests each feature for independence of the class by the likelihood ratio ``2 n I_j``
    (I_j without smoothing) against chi-square with K-1 degrees of freedom, and takes
    those that Benjamini and Hochberg's procedure rejects at level q. **Exact** as a
    procedure; the bound on the false discovery rate is asymptotic, hence **heuristic**
    where counts are low: those features are flagged.

    Parameters
    ----------
    q : float in (0, 1), default=0.05
        Bound on the expected share of irrelevant features among the kept ones. None may
        be kept.
    k : int, optional
        Keep exactly so many features, those of largest statistic, instead.
    binarize : float or None, default=None
        Values above it count as present. None: the data must be 0 and 1.
    keep_counts : bool, default=False
        Keep `counts_` after `fit`, so that `partial_fit` can go on from there.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Likelihood-ratio statistic ``2 n I_j``.
    pvalues_ : ndarray of shape (n_features_in_,)
        1 for a feature that is present in no row or in every row. All features count as
        tests.
    low_count_ : ndarray of bool of shape (n_features_in_,)
        Features that some class is expected to have, or to lack, in fewer than 5 rows;
        a `LowCountWarning` says how many of the kept ones are among them.
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
    n_features. Sample weights count as repetitions of rows: weights that sum to
    something else than the number of rows change the p-values. A class without rows
    takes away a degree of freedom.

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
    }

    def __init__(
        self,
        q: float = 0.05,
        *,
        k: int | None = None,
        binarize: float | None = None,
        keep_counts: bool = False,
    ) -> None:
        self.q = q
        self.k = k
        self.binarize = binarize
        self.keep_counts = keep_counts

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
