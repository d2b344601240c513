"""L1NB: keep the features whose class means differ most for their spread."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from bayesieve._compat import StrOptions, available_if, fit_context
from bayesieve._description import CrossValidation, Description, Saved
from bayesieve.counts import ClassCounts
from bayesieve.feature_selection._screening_base import BinaryScreener
from bayesieve.model_selection import HeldOutScorer, choose, cv_results, splits_of
from bayesieve.model_selection._fold_counts import bernoulli_scores, training_counts
from bayesieve.solvers._criteria import default_sizes
from bayesieve.solvers._screening import (
    mutual_information_screening,
    penalised_estimates,
    penalised_screening,
    size_by_bic,
    truncated_estimates,
    truncated_parameters,
)

__all__ = ["L1Screener"]


def _size_is_a_function_of_counts(estimator: L1Screener) -> bool:
    if estimator._needs_rows():
        raise AttributeError(
            "L1Screener.partial_fit cannot choose the size by cross-validation, which "
            "needs all rows at once. Hint: use criterion='bic', k or regularization."
        )
    return True


class L1Screener(BinaryScreener):
    """Keep the binary features that an L1 penalty would let differ between classes.

    Naive Bayes with a penalty on ``|theta_kj - S_j / n|`` (L1NB): a feature is kept as
    long as the penalty is below ``H_j = max_k n pi_k |theta_kj - theta_j| / (theta_j (1
    - theta_j))``. With `regularization` the set and its estimates are **exact**, in
    closed form. BIC is minimised **exactly**, but only over the models nested in the
    order of H, and cross-validation looks at a grid of them: as a choice among all sets
    of features, both are **heuristic**.

    Parameters
    ----------
    k : int, optional
        Keep exactly so many features, those of largest H_j. Fewer, with a warning, if
        fewer vary.
    criterion : {"bic", "cv"}, default="bic"
        How the size is chosen without `k` and `regularization`: least BIC over the
        sizes from 1 on, or fewest misclassifications of Bernoulli naive Bayes
        (truncated estimates) over folds, among about 50 sizes, geometric from 1 to
        10,000; the smaller size on ties.
    regularization : float, optional
        Penalty lambda1: keep ``H_j > regularization``, which may be none, with H_j from
        the counts as they are, without truncation.
    cv : int, splitter or iterable of splits, default=5
        As in scikit-learn, for ``criterion="cv"``; an int means stratified folds.
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
        H_j, with truncated estimates unless `regularization` is given; 0 for a feature
        that is present in no row or in every row. Such a feature is kept only when BIC
        has no other.
    support_ : ndarray of bool of shape (n_features_in_,)
    support_indices_ : ndarray of int64 of shape (k_,)
    k_ : int
        Number of kept features.
    theta_ : ndarray of shape (n_classes, n_features_in_)
        Probability of presence: with `regularization` the maximisers of the penalised
        likelihood, which may be 0 or 1, otherwise the double truncated estimates.
        Computed on demand; above 10 million numbers only with ``keep_counts=True``.
    cv_results_ : dict
        With ``criterion="cv"``: accuracies for each k, as in ``GridSearchCV``.
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
    >>> screener = L1Screener(regularization=1.0).fit(X, [1, 1, 1, 1, 0, 0, 0, 0])
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
    _saved: ClassVar[dict[str, Saved]] = {
        "_penalty": Saved("float", domain="known", optional=True),
        "_size": Saved("int", optional=True),
        "cv_results_": Saved("table", optional=True),
    }

    def _describe(self) -> Description:
        """Beside the features, the scores of all sizes where folds chose one."""
        results = getattr(self, "cv_results_", None)
        if results is None:
            return super()._describe()
        found = CrossValidation.from_results(results, "param_k")
        return replace(super()._describe(), sizes=found)

    def _restore(self, values: dict[str, Any]) -> None:
        super()._restore({"_penalty": None} | values)

    def __init__(
        self,
        k: int | None = None,
        *,
        criterion: str = "bic",
        regularization: float | None = None,
        cv: Any = 5,
        binarize: float | None = 0.0,
        keep_counts: bool = False,
        n_jobs: int | None = -1,
    ) -> None:
        self.k = k
        self.criterion = criterion
        self.regularization = regularization
        self.cv = cv
        self.binarize = binarize
        self.keep_counts = keep_counts
        self.n_jobs = n_jobs

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
        self._size = self._size_by_folds(X, codes, weights, counts)
        self._learn(counts)
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
        return self.k is None and self.regularization is None and self.criterion == "cv"

    def _screen(self, counts: ClassCounts) -> np.ndarray:
        self._check_one_way("k", "regularization")
        name = type(self).__name__
        screening = penalised_screening(
            counts, truncated=self.regularization is None, solver=name
        )
        self.scores_ = screening.scores
        self._penalty = self.regularization  # theta_ is computed later
        if self.k is not None:
            return screening.best(self.k)
        if self.regularization is not None:
            return screening.above(self.regularization)
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
        splits = splits_of(self.cv, codes)
        score = HeldOutScorer(None, counts.classes)
        if sparse.issparse(X):
            # What is constant over all rows is so in every fold; most columns of wide
            # data are. Folds are rows.
            varying = np.flatnonzero(penalised_screening(counts, solver=name).eligible)
            X = X.tocsr()[:, varying]
        options = {"kind": self._count_kind(), **self._count_options()}
        folds = training_counts(X, codes, counts.classes, weights, splits, **options)
        scores = np.empty((1, len(sizes), len(splits)))
        for i, ((_, test), fold) in enumerate(zip(splits, folds, strict=True)):
            ranking = penalised_screening(fold, solver=name).ranking()[: sizes[-1]]
            shares, theta = truncated_parameters(fold, ranking, solver=name)
            joint = bernoulli_scores(
                ranking, theta, self._presence(X[test]), sizes, np.log(shares)
            )
            scores[0, :, i] = score.by_size(joint, codes[test])
        choice = choose(scores)
        assert choice is not None  # every size is scored
        self.cv_results_ = cv_results([{"k": k} for k in sizes], scores[0])
        return int(sizes[choice.best])

    def _estimates(self, counts: ClassCounts) -> np.ndarray:
        name = type(self).__name__
        if self._penalty is None:
            return truncated_estimates(counts, solver=name)
        return penalised_estimates(counts, self._penalty, solver=name)
