"""Weighted wide classifiers whose penalty is chosen by cross-validation."""

from __future__ import annotations

import time
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from bayesieve._compat import Interval, StrOptions, fit_context
from bayesieve._description import CrossValidation, Description, Saved
from bayesieve.model_selection import HeldOutScorer, Split, choose, cv_results
from bayesieve.model_selection._choice import finished_folds
from bayesieve.model_selection._weight_choice import SHARES, path_scores
from bayesieve.naive_bayes._selective_bernoulli import WeightedPresence
from bayesieve.naive_bayes._selective_multinomial import WeightedCounts
from bayesieve.naive_bayes._selective_wide import WideWeightedNB, information_penalty
from bayesieve.utils._warnings import warn_if_interrupted
from bayesieve.weights import geometric_grid
from bayesieve.weights._wide_solver import (
    CountedRows,
    WideFit,
    WideSettings,
    WideSolver,
)

__all__ = ["SelectiveBernoulliNBCV", "SelectiveMultinomialNBCV"]


class SelectiveWideNBCV(WideWeightedNB):
    """A path of penalties scored on every fold, then one fit of all rows."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "regularization": [Interval(Integral, 1, None, closed="left"), "array-like"],
        **WideWeightedNB._parameter_constraints,
        "scoring": [str, callable, None],
        "choice": [StrOptions({"best", "1se"})],
    }
    _saved: ClassVar[dict[str, Saved]] = {
        "lambda_best_": Saved("float"),
        "lambda_1se_": Saved("float"),
        "best_score_": Saved("float"),
        "cv_results_": Saved("table"),
        "cv_stopped_": Saved("text"),
    }

    def _describe(self) -> Description:
        """Beside the model, the scores of all penalties."""
        found = CrossValidation.from_results(
            self.cv_results_,
            "param_regularization",
            self.lambda_best_,
            self.lambda_1se_,
        )
        return replace(super()._describe(), penalties=found)

    def _restore(self, values: dict[str, Any]) -> None:
        former = {"lambda": "param_regularization", "relaxation": "param_relaxation"}
        results = values["cv_results_"]  # that of version 0.1 has names of its own
        results = {former.get(name, name): own for name, own in results.items()}
        super()._restore(values | {"cv_results_": results})

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SelectiveWideNBCV:
        """Choose the penalty by cross-validation, then fit on all rows.

        Ctrl-C, or the end of `time_limit`, ends the cross-validation: the penalty is
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
        rows = self._counted_rows(X, y, sample_weight)
        settings = self._settings_for(rows.counts)
        solver = WideSolver.of(rows, settings)
        penalties = self._penalties(solver)
        shares = SHARES if self.relaxed == "auto" else (settings.share,)
        splits = self._splits(rows)
        scores, sizes = self._scored(rows, settings, splits, penalties, shares)
        chosen, share = self._choose(rows, penalties, shares, scores, sizes)
        self._keep(self._final(solver, penalties, chosen, share), rows.counts)
        self._keep_of_rows(X, sample_weight)
        if self.cv_stopped_ != "converged":
            self.stopped_ = self.cv_stopped_
            warn_if_interrupted(type(self).__name__, self.cv_stopped_)
        return self

    def _penalties(self, solver: WideSolver) -> np.ndarray:
        """Penalties to try, decreasing."""
        if isinstance(self.regularization, Integral):
            largest = solver.path.largest
            ratio = solver.least_penalty / largest if largest > 0.0 else 1.0
            return geometric_grid(largest, int(self.regularization), ratio)
        given = np.asarray(self.regularization, dtype=np.float64).ravel()
        if not given.size or not np.isfinite(given).all() or not (given >= 0).all():
            raise ValueError(
                f"The 'regularization' parameter of {type(self).__name__} must be an "
                "int >= 1, the number of penalties, or hold finite numbers >= 0. Got "
                f"{self.regularization!r}."
            )
        return np.unique(given)[::-1]

    def _scored(
        self,
        rows: CountedRows,
        settings: WideSettings,
        splits: list[Split],
        penalties: np.ndarray,
        shares: tuple[float, ...],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Scores (shares, penalties, folds) and sizes (penalties, folds)."""
        scorer = HeldOutScorer(self.scoring, rows.counts.classes)

        def score(joint: np.ndarray, test: np.ndarray) -> float:
            return scorer(joint, rows.codes[test], test)

        begin = time.monotonic()

        def time_is_up() -> bool:
            limit = self.time_limit
            return limit is not None and time.monotonic() - begin >= limit

        with self._bar() as bar:
            bar.total = len(splits) * penalties.size

            def tell(fold: int, penalty: int) -> None:
                bar.update(
                    fold * penalties.size + penalty, f"fold {fold + 1}/{len(splits)}"
                )
                if time_is_up():
                    raise StopIteration

            found = path_scores(
                rows, settings, splits, self._counting(), penalties, shares, score, tell
            )
        if not np.isnan(found[0]).any():
            self.cv_stopped_ = "converged"
        else:
            self.cv_stopped_ = "time" if time_is_up() else "interrupted"
        return found

    def _choose(
        self,
        rows: CountedRows,
        penalties: np.ndarray,
        shares: tuple[float, ...],
        scores: np.ndarray,
        sizes: np.ndarray,
    ) -> tuple[float, float]:
        """Penalty and share to fit: the best, or the largest within one error of it."""
        choice = choose(scores)
        if choice is None:
            self.lambda_best_ = self.lambda_1se_ = information_penalty(
                rows.total_weight
            )
            self.best_score_, share = np.nan, shares[0]
        else:
            self.lambda_best_ = float(penalties[choice.best])
            self.lambda_1se_ = float(penalties[choice.within_error])
            self.best_score_, share = choice.score, shares[choice.setting]
        sizes = finished_folds(np.where(np.isnan(scores[0]), np.nan, sizes)[None])[0]
        scores = finished_folds(scores)
        self.cv_results_ = {
            **cv_results(
                [
                    {"regularization": float(penalty), "relaxation": 1.0 - share}
                    for share in shares
                    for penalty in penalties
                ],
                scores.reshape(-1, scores.shape[2]),
            ),
            "n_features": np.tile(sizes.mean(axis=1), len(shares)),
        }
        return (self.lambda_1se_ if self.choice == "1se" else self.lambda_best_), share

    def _final(
        self, solver: WideSolver, penalties: np.ndarray, chosen: float, share: float
    ) -> WideFit:
        """Fit of all rows along the penalties down to the chosen one."""
        last = min(self.lambda_best_, self.lambda_1se_, chosen)
        points = {}
        for penalty in [*penalties[penalties > last].tolist(), last]:
            points[penalty] = solver.path.solve(penalty)
        point = solver.proof.joined(points[chosen], None)
        state = solver.refit(point, np.flatnonzero(point.weights), share)
        return solver.fit_of(point, state, share)


class SelectiveMultinomialNBCV(WeightedCounts, SelectiveWideNBCV):
    """`SelectiveMultinomialNB` with its penalty chosen by cross-validation.

    In each fold the counts are those of the other folds and the candidates are screened
    again; one path of penalties is followed and every point scored on the test rows. In
    the fit of all rows at the end, features that were not screened in join where they
    would be missed: weights are **exact** over all features up to `dual_gap_` for
    ``exponent=1``.

    Parameters
    ----------
    regularization : int or array-like of float, default=50
        Penalties to try: how many, geometric from the one that keeps every weight at
        zero down to a tenth of a nat, or the penalties themselves.
    cv : int, splitter or iterable of splits, default=5
        As in scikit-learn; an int means stratified folds.
    scoring : str, callable or None, default=None
        As in scikit-learn; None is accuracy.
    choice : {"best", "1se"}, default="best"
        Which penalty to fit: the best one, or the largest within one standard error of
        it, which has fewer features.
    relaxed : bool or "auto", default=True
        As in `SelectiveMultinomialNB`; "auto" is chosen together with the penalty.
    alpha, exponent, candidates, feature_cost, refit_intercept, fit_prior
        As in `SelectiveMultinomialNB`.
    class_prior, tol
        As in `SelectiveMultinomialNB`.
    time_limit : float, optional
        Time for the cross-validation; then, or after Ctrl-C, the penalty is chosen by
        what was scored so far. The fit of all rows comes after.
    verbose : bool, default=False
        Whether to show a progress bar on a terminal.
    n_jobs : int or None, default=-1
        Threads of the compiled core, as scikit-learn counts them: -1 is one for each
        processor, None is 1 unless a `joblib.parallel_config` says otherwise. The
        result does not depend on them.

    Attributes
    ----------
    lambda_best_, lambda_1se_ : float
        Best penalty, and the largest within one standard error of it.
    best_score_ : float
        Mean score of the best penalty.
    cv_results_ : dict
        As in ``GridSearchCV``, for ``regularization`` and ``relaxation``; with
        ``n_features``, the mean number of features.
    cv_stopped_ : str
        "converged", or why the cross-validation ended early: "time", "interrupted"
        (with an `InterruptedFitWarning`).
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
    >>> model = SelectiveMultinomialNBCV(regularization=20).fit(X, y)
    >>> model.support_indices_
    array([0, 1, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SelectiveWideNBCV._parameter_constraints
    }

    def __init__(
        self,
        *,
        regularization: Any = 50,
        cv: Any = 5,
        scoring: Any = None,
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
        time_limit: float | None = None,
        verbose: bool = False,
        n_jobs: int | None = -1,
    ) -> None:
        self.regularization = regularization
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
        self.time_limit = time_limit
        self.verbose = verbose
        self.n_jobs = n_jobs


class SelectiveBernoulliNBCV(WeightedPresence, SelectiveWideNBCV):
    """`SelectiveBernoulliNB` with its penalty chosen by cross-validation.

    In each fold the counts are those of the other folds and the candidates are screened
    again; one path of penalties is followed and every point scored on the test rows. In
    the fit of all rows at the end, features that were not screened in join where they
    would be missed: weights are **exact** over all features up to `dual_gap_` for
    ``exponent=1``.

    Parameters
    ----------
    regularization : int or array-like of float, default=50
        Penalties to try: how many, geometric from the one that keeps every weight at
        zero down to a tenth of a nat, or the penalties themselves.
    cv : int, splitter or iterable of splits, default=5
        As in scikit-learn; an int means stratified folds.
    scoring : str, callable or None, default=None
        As in scikit-learn; None is accuracy.
    choice : {"best", "1se"}, default="best"
        Which penalty to fit: the best one, or the largest within one standard error of
        it, which has fewer features.
    relaxed : bool or "auto", default=True
        As in `SelectiveBernoulliNB`; "auto" is chosen together with the penalty.
    alpha, binarize, exponent, candidates, feature_cost, refit_intercept
        As in `SelectiveBernoulliNB`.
    fit_prior, class_prior, tol
        As in `SelectiveBernoulliNB`.
    time_limit : float, optional
        Time for the cross-validation; then, or after Ctrl-C, the penalty is chosen by
        what was scored so far. The fit of all rows comes after.
    verbose : bool, default=False
        Whether to show a progress bar on a terminal.
    n_jobs : int or None, default=-1
        Threads of the compiled core, as scikit-learn counts them: -1 is one for each
        processor, None is 1 unless a `joblib.parallel_config` says otherwise. The
        result does not depend on them.

    Attributes
    ----------
    lambda_best_, lambda_1se_ : float
        Best penalty, and the largest within one standard error of it.
    best_score_ : float
        Mean score of the best penalty.
    cv_results_ : dict
        As in ``GridSearchCV``, for ``regularization`` and ``relaxation``; with
        ``n_features``, the mean number of features.
    cv_stopped_ : str
        "converged", or why the cross-validation ended early: "time", "interrupted"
        (with an `InterruptedFitWarning`).
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
    >>> model = SelectiveBernoulliNBCV(regularization=20, choice="1se").fit(X, y)
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
        regularization: Any = 50,
        cv: Any = 5,
        scoring: Any = None,
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
        time_limit: float | None = None,
        verbose: bool = False,
        n_jobs: int | None = -1,
    ) -> None:
        self.regularization = regularization
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
        self.time_limit = time_limit
        self.verbose = verbose
        self.n_jobs = n_jobs
