"""Sparse classifiers that choose k and alpha by cross-validation on counts."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from bayesieve._compat import Interval, StrOptions, available_if, fit_context
from bayesieve._description import CrossValidation, Description, Saved
from bayesieve.counts import ClassCounts
from bayesieve.counts._matrix import canonical
from bayesieve.exceptions import GapWarning
from bayesieve.model_selection import (
    HeldOutScorer,
    Split,
    choose,
    cv_results,
    splits_of,
)
from bayesieve.model_selection._fold_counts import (
    SearchBudget,
    bernoulli_scores,
    bernoulli_scores_of,
    multinomial_scores,
    training_counts,
)
from bayesieve.naive_bayes._base import SparseNaiveBayes
from bayesieve.naive_bayes._sparse_bernoulli import SparseBernoulliNB
from bayesieve.naive_bayes._sparse_multinomial import SparseMultinomialNB
from bayesieve.solvers._bernoulli import bernoulli_problem
from bayesieve.solvers._criteria import default_sizes
from bayesieve.utils._warnings import warn_user

__all__ = ["SparseBernoulliNBCV", "SparseMultinomialNBCV"]


def _has_counts(estimator: SparseNaiveBayesCV) -> bool:
    if not hasattr(estimator, "counts_"):
        raise AttributeError(
            f"{type(estimator).__name__}.partial_fit continues with the k and alpha "
            "that fit has chosen. Hint: fit with keep_counts=True first."
        )
    return True


class SparseNaiveBayesCV(SparseNaiveBayes):
    """Grid over (alpha, k): score every cell on every fold, then fit all rows."""

    _smallest: ClassVar[int]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: allowed
            for name, allowed in SparseNaiveBayes._parameter_constraints.items()
            if name != "k"
        },
        "ks": ["array-like", None],
        "alphas": ["array-like"],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "choice": [StrOptions({"best", "1se"})],
    }
    _saved: ClassVar[dict[str, Saved]] = {
        "alpha_": Saved("float", domain="counts"),
        "k_best_": Saved("int"),
        "k_1se_": Saved("int"),
        "best_score_": Saved("float"),
        "cv_results_": Saved("table"),
    }

    def _describe(self) -> Description:
        """Beside the model, the scores of all sizes at the chosen smoothing."""
        at = np.asarray(self.cv_results_["param_alpha"]) == self.alpha_
        found = CrossValidation.from_results(
            self.cv_results_, "param_k", self.k_best_, self.k_1se_, rows=at
        )
        return replace(super()._describe(), sizes=found)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SparseNaiveBayesCV:
        """Choose k and alpha by cross-validation, then fit on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Weights for counting; scores weigh every test row alike.

        Returns
        -------
        self
        """
        given = X
        X, codes, classes, weights = self._validated(
            X, y, None, sample_weight, first=True
        )
        counts = self._counted(X, codes, classes, weights)
        sizes, alphas = self._grid(counts)
        splits = splits_of(self.cv, codes)
        scores = self._scores(X, codes, classes, weights, splits, sizes, alphas)
        self._choose(sizes, alphas, scores)
        self._learn(counts)
        self._keep_of_rows(given, sample_weight)
        return self

    @available_if(_has_counts)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> SparseNaiveBayesCV:
        """Add rows to the counts of a fit with ``keep_counts=True`` and solve anew.

        The chosen k and alpha stay: choosing them again needs all rows, hence `fit`.
        """
        return super().partial_fit(X, y, classes, sample_weight)

    def _grid(self, counts: ClassCounts) -> tuple[list[int], list[float]]:
        name, n_features, smallest = type(self).__name__, counts.n_features, 1
        rules = self._checked_rules(counts)
        if rules is not None:
            n_features, smallest = rules.n_items, rules.included.shape[0]
        alphas = np.atleast_1d(np.asarray(self.alphas, dtype=np.float64))
        if alphas.ndim != 1 or not alphas.size or not (alphas >= 0).all():
            raise ValueError(
                f"The 'alphas' parameter of {name} must hold numbers >= 0. "
                f"Got {self.alphas!r}."
            )
        if self.ks is None:
            largest = max(n_features, self._smallest)
            sizes = default_sizes(largest, smallest=max(smallest, 2))
            return sizes.tolist(), alphas.tolist()
        sizes = np.unique(np.asarray(self.ks))
        if (
            sizes.ndim != 1
            or not sizes.size
            or sizes.dtype.kind not in "iu"
            or sizes[0] < self._smallest
        ):
            raise ValueError(
                f"The 'ks' parameter of {name} must hold ints >= {self._smallest}. "
                f"Got {self.ks!r}."
            )
        if rules is not None:
            rules.check_size(int(sizes[0]), name)
        return sizes.tolist(), alphas.tolist()

    def _scores(
        self,
        X: Any,
        codes: np.ndarray,
        classes: np.ndarray,
        weights: np.ndarray | None,
        splits: list[Split],
        sizes: list[int],
        alphas: list[float],
    ) -> np.ndarray:
        """Score of every cell on every fold, shape (n_alphas, n_sizes, n_folds)."""
        scores = np.empty((len(alphas), len(sizes), len(splits)))
        budget = SearchBudget(self.exact, self.time_limit)
        score = HeldOutScorer(self.scoring, classes)
        if isinstance(X, sparse.csc_matrix | sparse.csc_array):
            X = X.tocsr()  # folds are rows
        folds = training_counts(X, codes, classes, weights, splits, **self._counting())
        for i, ((_, test), counts) in enumerate(zip(splits, folds, strict=True)):
            X_test, truth = X[test], codes[test]
            if sparse.issparse(X_test):
                # A cell stored twice is one value; every alpha takes columns from it.
                X_test = canonical(X_test).tocsc()
            log_prior = self._log_prior(counts.class_count)
            for a, alpha in enumerate(alphas):
                joint = self._joint_by_size(
                    counts, X_test, sizes, alpha, log_prior, budget
                )
                # No class can produce the row (alpha = 0): only the prior, as predict.
                joint[np.isneginf(joint).all(axis=2)] = log_prior
                scores[a, :, i] = score.by_size(joint, truth, X_test)
        if budget.stopped:
            warn_user(
                f"{budget.stopped} of {scores.size} searches of the cross-validation "
                "stopped at the limit and used the best support found. "
                "Hint: raise time_limit to close their gaps.",
                GapWarning,
            )
        return scores

    @abstractmethod
    def _joint_by_size(
        self,
        counts: ClassCounts,
        X_test: Any,
        sizes: list[int],
        alpha: float,
        log_prior: np.ndarray,
        budget: SearchBudget,
    ) -> np.ndarray:
        """Joint log-probabilities of test rows, shape (rows, sizes, classes)."""

    def _choose(
        self, sizes: list[int], alphas: list[float], scores: np.ndarray
    ) -> None:
        """Best cell, the smaller k on ties; smallest k within one error of it."""
        choice = choose(scores)
        assert choice is not None  # every cell is scored
        self.alpha_ = alphas[choice.setting]
        self.k_best_, self.k_1se_ = sizes[choice.best], sizes[choice.within_error]
        self.best_score_ = choice.score
        self.cv_results_ = cv_results(
            [{"alpha": alpha, "k": k} for alpha in alphas for k in sizes],
            scores.reshape(-1, scores.shape[2]),
        )

    def _wanted_size(self) -> int:
        return self.k_1se_ if self.choice == "1se" else self.k_best_

    def _solver_options(self) -> dict[str, Any]:
        return {"alpha": self.alpha_}


class SparseMultinomialNBCV(SparseNaiveBayesCV, SparseMultinomialNB):
    """`SparseMultinomialNB` with k and alpha chosen by cross-validation on counts.

    All folds are counted in one pass, every (alpha, k) is solved on counts, and test
    rows are scored for all k together: the scores are those of a grid search over the
    same splits, at a small share of its time. Supports are **exact** or **bounded** as
    in `SparseMultinomialNB`.

    Parameters
    ----------
    ks : array-like of int, optional
        Sizes to try, at least 2; by default about 50, geometric from 2 to 10,000.
    alphas : array-like of float, default=(0.01, 0.1, 1.0)
        Smoothings to try.
    cv : int, splitter or iterable of splits, default=5
        As in scikit-learn; an int means stratified folds.
    scoring : str, callable or None, default=None
        As in scikit-learn; None is accuracy.
    choice : {"best", "1se"}, default="best"
        Which k to fit: the best one, or the smallest within one standard error of it.
    fit_prior, class_prior, exact, keep_counts
        As in `SparseMultinomialNB`.
    include, exclude, groups, max_per_group, feature_cost, budget
        Rules for every support, as in `SparseMultinomialNB`.
    time_limit : float or None, default=10.0
        Seconds for each search, and for all searches together that reach a limit.
    n_jobs : int or None, default=-1
        Threads of the compiled core, as scikit-learn counts them: -1 is one for each
        processor, None is 1 unless a `joblib.parallel_config` says otherwise. The
        result does not depend on them.

    Attributes
    ----------
    k_best_, k_1se_ : int
        Best k, and the smallest k within one standard error of it at the same alpha.
    alpha_ : float
    best_score_ : float
        Mean score of the best pair.
    cv_results_ : dict
        As in ``GridSearchCV``.
    k_ : int
        Number of features of the fitted model; the other attributes are those of
        `SparseMultinomialNB`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseMultinomialNBCV
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=200)
    >>> X = rng.poisson(1.0, size=(200, 30))
    >>> X[:, :3] += rng.poisson(3.0 * y[:, None], size=(200, 3))
    >>> SparseMultinomialNBCV(ks=[2, 3, 5, 10, 30], choice="1se").fit(X, y).k_ < 30
    True
    """

    _smallest = 2
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseNaiveBayesCV._parameter_constraints
    }

    def __init__(
        self,
        ks: Any = None,
        *,
        alphas: Any = (0.01, 0.1, 1.0),
        cv: Any = 5,
        scoring: Any = None,
        choice: str = "best",
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
        self.ks = ks
        self.alphas = alphas
        self.cv = cv
        self.scoring = scoring
        self.choice = choice
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

    def _joint_by_size(
        self,
        counts: ClassCounts,
        X_test: Any,
        sizes: list[int],
        alpha: float,
        log_prior: np.ndarray,
        budget: SearchBudget,
    ) -> np.ndarray:
        return multinomial_scores(
            *(counts, X_test, sizes, alpha, log_prior, budget),
            rules=self._checked_rules(counts),
        )


class SparseBernoulliNBCV(SparseNaiveBayesCV, SparseBernoulliNB):
    """`SparseBernoulliNB` with k and alpha chosen by cross-validation on counts.

    Supports are nested, so one ranking for each fold and alpha answers every k.
    **Exact**.

    Parameters
    ----------
    ks : array-like of int, optional
        Sizes to try; by default about 50, geometric from 2 to 10,000.
    alphas : array-like of float, default=(0.01, 0.1, 1.0)
        Smoothings to try.
    binarize : float or None, default=0.0
        Values above it count as present. None: the data must be 0 and 1 already.
    cv : int, splitter or iterable of splits, default=5
        As in scikit-learn; an int means stratified folds.
    scoring : str, callable or None, default=None
        As in scikit-learn; None is accuracy.
    choice : {"best", "1se"}, default="best"
        Which k to fit: the best one, or the smallest within one standard error of it.
    fit_prior, class_prior, exact, time_limit, keep_counts
        As in `SparseBernoulliNB`.
    include, exclude, groups, max_per_group, feature_cost, budget
        Rules for every support, as in `SparseBernoulliNB`.
    n_jobs : int or None, default=-1
        Threads of the compiled core, as scikit-learn counts them: -1 is one for each
        processor, None is 1 unless a `joblib.parallel_config` says otherwise. The
        result does not depend on them.

    Attributes
    ----------
    k_best_, k_1se_ : int
        Best k, and the smallest k within one standard error of it at the same alpha.
    alpha_ : float
    best_score_ : float
        Mean score of the best pair.
    cv_results_ : dict
        As in ``GridSearchCV``.
    k_ : int
        Number of features of the fitted model; the other attributes are those of
        `SparseBernoulliNB`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseBernoulliNBCV
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=200)
    >>> X = rng.random((200, 30)) < 0.5
    >>> X[:, :3] = rng.random((200, 3)) < 0.2 + 0.6 * y[:, None]
    >>> SparseBernoulliNBCV(ks=[1, 2, 3, 5, 10]).fit(X, y).best_score_ > 0.8
    True
    """

    _smallest = 1
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseNaiveBayesCV._parameter_constraints,
        "binarize": [Interval(Real, None, None, closed="neither"), None],
    }

    def __init__(
        self,
        ks: Any = None,
        *,
        alphas: Any = (0.01, 0.1, 1.0),
        binarize: float | None = 0.0,
        cv: Any = 5,
        scoring: Any = None,
        choice: str = "best",
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
        self.ks = ks
        self.alphas = alphas
        self.binarize = binarize
        self.cv = cv
        self.scoring = scoring
        self.choice = choice
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

    def _joint_by_size(
        self,
        counts: ClassCounts,
        X_test: Any,
        sizes: list[int],
        alpha: float,
        log_prior: np.ndarray,
        budget: SearchBudget,
    ) -> np.ndarray:
        problem = bernoulli_problem(counts, alpha, solver=type(self).__name__)
        rules = self._checked_rules(counts)
        if rules is not None:
            supports = [budget.solve_additive(problem, k, rules) for k in sizes]
            return bernoulli_scores_of(
                *(supports, problem.estimate, self._values(X_test), log_prior)
            )
        ranking = problem.ranking[: sizes[-1]]
        estimates = problem.estimate(ranking)
        return bernoulli_scores(
            ranking, estimates, self._values(X_test), sizes, log_prior
        )
