"""Weighted wide classifiers whose penalty is chosen by cross-validation."""

from __future__ import annotations

import time
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import get_scorer

from bayesieve._compat import Interval, StrOptions, fit_context
from bayesieve._description import CrossValidation, Description, Saved, saved
from bayesieve.naive_bayes._known import KnownPredictions
from bayesieve.naive_bayes._selective_bernoulli import SelectiveBernoulliNB
from bayesieve.naive_bayes._selective_multinomial import SelectiveMultinomialNB
from bayesieve.naive_bayes._selective_wide import (
    SelectiveWideNB,
    information_penalty,
)
from bayesieve.weights import geometric_grid
from bayesieve.wide._choice import SHARES, cv_scores, mean_log_loss
from bayesieve.wide._fit import WideData, WideModel, WideSettings

__all__ = ["SelectiveBernoulliNBCV", "SelectiveMultinomialNBCV"]

_NOT_HERE = ("k", "regularization", "warm_start", "callback")


class SelectiveWideNBCV(SelectiveWideNB):
    """A path of penalties scored on every fold, then one fit of all rows."""

    k = regularization = callback = None
    warm_start = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: allowed
            for name, allowed in SelectiveWideNB._parameter_constraints.items()
            if name not in _NOT_HERE
        },
        "n_lambdas": [Interval(Integral, 1, None, closed="left")],
        "lambdas": ["array-like", None],
        "scoring": [str, callable],
        "choice": [StrOptions({"best", "1se"})],
    }
    _saved: ClassVar[dict[str, Saved]] = {
        "lambda_best_": saved("float"),
        "lambda_1se_": saved("float"),
        "best_score_": saved("float"),
        "cv_results_": saved("table"),
        "cv_stopped_": saved("text"),
    }

    def _describe(self) -> Description:
        """Beside the model, the scores of all penalties."""
        found = CrossValidation.from_results(
            self.cv_results_, "lambda", self.lambda_best_, self.lambda_1se_
        )
        return replace(super()._describe(), penalties=found)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SelectiveWideNBCV:
        """Choose the penalty by cross-validation, then fit on all rows.

        Ctrl-C, or the end of `max_seconds`, ends the cross-validation: the penalty is
        chosen by what was scored so far, and the fit of all rows follows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Weights for fitting; scores weigh every test row alike.

        Returns
        -------
        self
        """
        data = self._data(X, y, sample_weight)
        settings = self._settings_for(data.counts)
        whole = WideModel.of(data, settings)
        penalties = self._penalties(whole)
        shares = SHARES if self.relaxed == "auto" else (settings.share,)
        splits = self._splits(data)
        scores, sizes = self._scored(data, settings, splits, penalties, shares)
        chosen, share = self._choose(data, penalties, shares, scores, sizes)
        found = self._final(whole, penalties, chosen, share)
        self._keep(found, data.counts)
        if self.cv_stopped_ != "converged":
            self.stopped_ = self.cv_stopped_
        return self

    def _penalties(self, model: WideModel) -> np.ndarray:
        if self.lambdas is None:
            largest = model.solver.largest
            ratio = model.least_penalty / largest if largest > 0.0 else 1.0
            return geometric_grid(largest, self.n_lambdas, ratio)
        given = np.asarray(self.lambdas, dtype=np.float64).ravel()
        if not given.size or not np.isfinite(given).all() or not (given >= 0).all():
            raise ValueError(
                f"The 'lambdas' parameter of {type(self).__name__} must hold finite "
                f"numbers >= 0. Got {self.lambdas!r}."
            )
        return np.unique(given)[::-1]

    def _scored(
        self,
        data: WideData,
        settings: WideSettings,
        splits: list[tuple[np.ndarray, np.ndarray]],
        penalties: np.ndarray,
        shares: tuple[float, ...],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Scores (shares, penalties, folds) and sizes (penalties, folds)."""
        scorer = (
            get_scorer(self.scoring)
            if isinstance(self.scoring, str)
            else (self.scoring)
        )
        classes = data.counts.classes
        labels = classes[data.codes]

        def score(joint: np.ndarray, test: np.ndarray) -> float:
            if self.scoring == "neg_log_loss":  # a class may be missing in a fold
                return -mean_log_loss(joint, data.codes[test], None)
            return float(scorer(KnownPredictions(classes, joint), test, labels[test]))

        begin = time.monotonic()
        with self._bar() as bar:
            bar.total = len(splits) * penalties.size

            def tell(fold: int, penalty: int) -> None:
                bar.update(
                    fold * penalties.size + penalty, f"fold {fold + 1}/{len(splits)}"
                )
                used = time.monotonic() - begin
                if self.max_seconds is not None and used >= self.max_seconds:
                    raise StopIteration

            found = cv_scores(
                data, settings, splits, self._counting(), penalties, shares, score, tell
            )
        if not np.isnan(found[0]).any():
            self.cv_stopped_ = "converged"
        elif self.max_seconds is not None and (
            time.monotonic() - begin >= self.max_seconds
        ):
            self.cv_stopped_ = "time"
        else:
            self.cv_stopped_ = "interrupted"
        return found

    def _choose(
        self,
        data: WideData,
        penalties: np.ndarray,
        shares: tuple[float, ...],
        scores: np.ndarray,
        sizes: np.ndarray,
    ) -> tuple[float, float]:
        """Best pair, and the largest penalty within one standard error of it."""
        whole = ~np.isnan(scores).any(axis=(0, 1))
        if whole.any():
            scores, sizes = scores[:, :, whole], sizes[:, whole]
        else:  # stopped within the first fold: what it has
            scores, sizes = scores[:, :, :1], sizes[:, :1]
        mean = scores.mean(axis=2)
        if np.isnan(mean).all():
            self.lambda_best_ = self.lambda_1se_ = information_penalty(data)
            self.best_score_, share = np.nan, shares[0]
        else:
            s, p = np.unravel_index(int(np.nanargmax(mean)), mean.shape)
            error = scores[s, p].std(ddof=0) / np.sqrt(scores.shape[2])
            within = np.flatnonzero(mean[s] >= mean[s, p] - error)
            self.lambda_best_ = float(penalties[p])
            self.lambda_1se_ = float(penalties[within[0]])
            self.best_score_, share = float(mean[s, p]), shares[s]
        pairs = [(i, j) for i in range(len(shares)) for j in range(penalties.size)]
        flat = scores.reshape(len(pairs), scores.shape[2])
        self.cv_results_ = {
            "lambda": np.array([penalties[j] for _, j in pairs]),
            "relaxation": np.array([1.0 - shares[i] for i, _ in pairs]),
            **{f"split{f}_test_score": flat[:, f] for f in range(flat.shape[1])},
            "mean_test_score": flat.mean(axis=1),
            "std_test_score": flat.std(axis=1),
            "n_features": np.array([sizes[j].mean() for _, j in pairs]),
        }
        return (self.lambda_1se_ if self.choice == "1se" else self.lambda_best_), share

    def _final(
        self, model: WideModel, penalties: np.ndarray, chosen: float, share: float
    ) -> Any:
        """Fit of all rows along the penalties down to the chosen one."""
        last = min(self.lambda_best_, self.lambda_1se_, chosen)
        solver = model.solver
        points = {}
        for penalty in penalties[penalties > last]:
            points[float(penalty)] = solver.solve(float(penalty))
        points[last] = solver.solve(last)
        point = points[chosen]
        support = model.support(point, None)
        model.settings = replace(model.settings, share=share)
        return model.fit_of(point, support, model.refitted(point, support, share))


class SelectiveMultinomialNBCV(SelectiveWideNBCV, SelectiveMultinomialNB):
    """`SelectiveMultinomialNB` with its penalty chosen by cross-validation.

    In each fold the counts are those of the other folds and the candidates are screened
    again; one path of penalties is followed and every point scored on the test rows.
    Weights are **exact** up to `dual_gap_` for ``exponent=1``.

    Parameters
    ----------
    n_lambdas : int, default=50
        Penalties to try, geometric from the one that keeps every weight at zero down to
        a tenth of a nat.
    lambdas : array-like of float, optional
        The penalties themselves.
    cv : int, splitter or iterable of splits, default=5
        As in scikit-learn; an int means shuffled stratified folds.
    scoring : str or callable, default="neg_log_loss"
        As in scikit-learn.
    choice : {"best", "1se"}, default="best"
        Which penalty to fit: the best one, or the largest within one standard error of
        it, which has fewer features.
    relaxed : bool or "auto", default=True
        As in `SelectiveMultinomialNB`; "auto" is chosen together with the penalty.
    alpha, exponent, candidates, feature_cost, refit_intercept, fit_prior
        As in `SelectiveMultinomialNB`.
    class_prior, tol
        As in `SelectiveMultinomialNB`.
    max_seconds : float, optional
        Time for the cross-validation; then, or after Ctrl-C, the penalty is chosen by
        what was scored so far. The fit of all rows comes after.
    verbose : bool, default=False
        Whether to show a progress bar on a terminal.

    Attributes
    ----------
    lambda_best_, lambda_1se_ : float
        Best penalty, and the largest within one standard error of it.
    best_score_ : float
        Mean score of the best penalty.
    cv_results_ : dict
        ``lambda``, ``relaxation``, ``mean_test_score``, ``std_test_score``, scores of
        each split, and ``n_features``, the mean number of features.
    cv_stopped_ : str
        "converged", or why the cross-validation ended early.
    lambda_, weights_, support_, path_
        And all others: those of `SelectiveMultinomialNB`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SelectiveMultinomialNBCV
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=200)
    >>> X = rng.poisson(1.0, size=(200, 30))
    >>> X[:, :3] += rng.poisson(2.0 * y[:, None], size=(200, 3))
    >>> model = SelectiveMultinomialNBCV(n_lambdas=20, choice="1se").fit(X, y)
    >>> model.support_indices_
    array([0, 1, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SelectiveWideNBCV._parameter_constraints
    }

    def __init__(
        self,
        *,
        n_lambdas: int = 50,
        lambdas: Any = None,
        cv: Any = 5,
        scoring: Any = "neg_log_loss",
        choice: str = "best",
        relaxed: bool | str = True,
        alpha: Any = 1.0,
        exponent: float = 1.0,
        candidates: int | str = "auto",
        feature_cost: Any = None,
        refit_intercept: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        tol: float = 3e-4,
        max_seconds: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_lambdas = n_lambdas
        self.lambdas = lambdas
        self.cv = cv
        self.scoring = scoring
        self.choice = choice
        self.relaxed = relaxed
        self.alpha = alpha
        self.exponent = exponent
        self.candidates = candidates
        self.feature_cost = feature_cost
        self.refit_intercept = refit_intercept
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.tol = tol
        self.max_seconds = max_seconds
        self.verbose = verbose


class SelectiveBernoulliNBCV(SelectiveWideNBCV, SelectiveBernoulliNB):
    """`SelectiveBernoulliNB` with its penalty chosen by cross-validation.

    In each fold the counts are those of the other folds and the candidates are screened
    again; one path of penalties is followed and every point scored on the test rows.
    Weights are **exact** up to `dual_gap_` for ``exponent=1``.

    Parameters
    ----------
    n_lambdas : int, default=50
        Penalties to try, geometric from the one that keeps every weight at zero down to
        a tenth of a nat.
    lambdas : array-like of float, optional
        The penalties themselves.
    cv : int, splitter or iterable of splits, default=5
        As in scikit-learn; an int means shuffled stratified folds.
    scoring : str or callable, default="neg_log_loss"
        As in scikit-learn.
    choice : {"best", "1se"}, default="best"
        Which penalty to fit: the best one, or the largest within one standard error of
        it, which has fewer features.
    relaxed : bool or "auto", default=True
        As in `SelectiveBernoulliNB`; "auto" is chosen together with the penalty.
    alpha, binarize, exponent, candidates, feature_cost, refit_intercept
        As in `SelectiveBernoulliNB`.
    fit_prior, class_prior, tol
        As in `SelectiveBernoulliNB`.
    max_seconds : float, optional
        Time for the cross-validation; then, or after Ctrl-C, the penalty is chosen by
        what was scored so far. The fit of all rows comes after.
    verbose : bool, default=False
        Whether to show a progress bar on a terminal.

    Attributes
    ----------
    lambda_best_, lambda_1se_ : float
        Best penalty, and the largest within one standard error of it.
    best_score_ : float
        Mean score of the best penalty.
    cv_results_ : dict
        ``lambda``, ``relaxation``, ``mean_test_score``, ``std_test_score``, scores of
        each split, and ``n_features``, the mean number of features.
    cv_stopped_ : str
        "converged", or why the cross-validation ended early.
    lambda_, weights_, support_, path_
        And all others: those of `SelectiveBernoulliNB`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SelectiveBernoulliNBCV
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=200)
    >>> X = rng.random((200, 30)) < 0.5
    >>> X[:, :3] = rng.random((200, 3)) < 0.2 + 0.6 * y[:, None]
    >>> model = SelectiveBernoulliNBCV(n_lambdas=20, choice="1se").fit(X, y)
    >>> model.support_indices_
    array([0, 1, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SelectiveWideNBCV._parameter_constraints,
        "binarize": [Interval(Real, None, None, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        n_lambdas: int = 50,
        lambdas: Any = None,
        cv: Any = 5,
        scoring: Any = "neg_log_loss",
        choice: str = "best",
        relaxed: bool | str = True,
        alpha: Any = 1.0,
        binarize: float | None = 0.0,
        exponent: float = 1.0,
        candidates: int | str = "auto",
        feature_cost: Any = None,
        refit_intercept: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        tol: float = 3e-4,
        max_seconds: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_lambdas = n_lambdas
        self.lambdas = lambdas
        self.cv = cv
        self.scoring = scoring
        self.choice = choice
        self.relaxed = relaxed
        self.alpha = alpha
        self.binarize = binarize
        self.exponent = exponent
        self.candidates = candidates
        self.feature_cost = feature_cost
        self.refit_intercept = refit_intercept
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.tol = tol
        self.max_seconds = max_seconds
        self.verbose = verbose
