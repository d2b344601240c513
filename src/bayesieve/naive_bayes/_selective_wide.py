"""What the weighted classifiers of wide matrices share."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bayesieve._compat import Interval, StrOptions, fit_context
from bayesieve._estimator import RowCounter
from bayesieve.naive_bayes._base import SupportClassifier
from bayesieve.utils._progress import ProgressBar
from bayesieve.weights._result import OptimizerState, Progress
from bayesieve.wide._choice import SHARES, choose_penalty, choose_share
from bayesieve.wide._fit import WideData, WideFit, WideSettings, fit_wide

__all__ = ["SelectiveWideNB", "information_penalty"]

_HELD_OUT = 0.2  # of the rows, when the penalty is to be chosen
_SEED = 0  # of the held-out rows, so that a fit is a function of its data


class SelectiveWideNB(SupportClassifier, RowCounter):
    """Base: counts, candidates, weights, prediction; holds no mathematics."""

    _model: ClassVar[str]
    _kind: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            None,
        ],
        "regularization": [Interval(Real, 0, None, closed="left"), None],
        "alpha": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "exponent": [Interval(Real, 0, 1, closed="right")],
        "relaxed": ["boolean", StrOptions({"auto"})],
        "candidates": [
            Interval(Integral, 2, None, closed="left"),
            StrOptions({"auto", "all"}),
        ],
        "feature_cost": ["array-like", None],
        "refit_intercept": ["boolean"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "cv": ["cv_object"],
        "max_seconds": [Interval(Real, 0, None, closed="left"), None],
        "warm_start": ["boolean"],
        "callback": [callable, None],
        "verbose": ["verbose"],
    }

    def _count_kind(self) -> str:
        return self._kind

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SelectiveWideNB:
        """Count, screen, and optimise the weights.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is the same row twice.

        Returns
        -------
        self
        """
        if self.k is not None and self.regularization is not None:
            raise ValueError(
                f"{type(self).__name__} takes k or regularization, not both: a number "
                f"of features sets the penalty. Got k={self.k!r} and "
                f"regularization={self.regularization!r}."
            )
        data, classes = self._data(X, y, sample_weight)
        settings = self._settings(data)
        start = self._start() if self.warm_start else None
        settings = self._decided(data, settings)
        with self._bar() as bar:
            progress = Progress(self.max_seconds, self._callback(bar))
            found = fit_wide(data, settings, progress, start)
        self._keep(found, data, classes)
        return self

    # -------------------------------------------------------------------- preparing

    def _data(self, X: Any, y: Any, sample_weight: Any) -> tuple[WideData, np.ndarray]:
        X, codes, classes, weights = self._validated(
            X, y, None, sample_weight, first=True
        )
        counts = self._counted(X, codes, classes, weights)
        if sparse.issparse(X) and X.format == "csc":
            X = X.tocsr()  # rows are taken for folds; columns once, for the candidates
        return WideData(X, codes, weights, counts), classes

    def _settings(self, data: WideData) -> WideSettings:
        n_features = data.counts.n_features
        wanted = self._log_prior(data.counts.class_count)
        with np.errstate(divide="ignore"):
            learnt = np.log(data.counts.class_count / data.total_weight)
        return WideSettings(
            model=self._model,
            k=self._wanted_size(n_features),
            penalty=self.regularization,
            share=0.0 if self.relaxed is True else 1.0,
            alpha=self._smoothing(n_features),
            binarize=getattr(self, "binarize", None),
            exponent=float(self.exponent),
            candidates=self.candidates,
            feature_cost=self._costs(n_features),
            refit_intercept=self.refit_intercept,
            # An intercept that is refitted is that of the rows; a wish comes after.
            log_prior=learnt if self.refit_intercept else wanted,
            tol=float(self.tol),
            owner=type(self).__name__,
        )

    def _wanted_size(self, n_features: int) -> int | None:
        if self.k is None or isinstance(self.k, Integral):
            return None if self.k is None else int(self.k)
        return max(1, round(float(self.k) * n_features))

    def _smoothing(self, n_features: int) -> Any:
        if isinstance(self.alpha, Real):
            return float(self.alpha)
        return self._one_a_feature(
            "alpha", self.alpha, n_features, "numbers above 0", strict=True
        )

    def _costs(self, n_features: int) -> np.ndarray | None:
        if self.feature_cost is None:
            return None
        return self._one_a_feature(
            "feature_cost", self.feature_cost, n_features, "finite numbers >= 0"
        )

    def _one_a_feature(
        self, name: str, given: Any, n_features: int, what: str, strict: bool = False
    ) -> np.ndarray:
        values = np.asarray(given, dtype=np.float64)
        valid = values.shape == (n_features,) and bool(np.isfinite(values).all())
        if not valid or not bool((values > 0 if strict else values >= 0).all()):
            raise ValueError(
                f"The {name!r} parameter of {type(self).__name__} must hold "
                f"{n_features} {what}, one for each feature. Got {given!r}."
            )
        return values

    def _decided(self, data: WideData, settings: WideSettings) -> WideSettings:
        """Settings with everything chosen that was left to choose."""
        options = self._counting()
        shares = SHARES if self.relaxed == "auto" else (settings.share,)
        if settings.k is None and settings.penalty is None:
            split = self._held_out(data)
            if split is None:
                return replace(settings, penalty=information_penalty(data))
            penalty, share = choose_penalty(data, settings, split, options, shares)
            return replace(settings, penalty=penalty, share=share)
        if self.relaxed == "auto":
            splits = list(self._splitter(data).split(data.codes, data.codes))
            share = choose_share(data, settings, splits, options)
            return replace(settings, share=share)
        return settings

    def _splitter(self, data: WideData) -> Any:
        if isinstance(self.cv, Integral):
            rows = np.bincount(data.codes)
            folds = max(2, min(int(self.cv), int(rows.min(initial=2))))
            return StratifiedKFold(folds, shuffle=True, random_state=_SEED)
        return check_cv(self.cv, data.codes, classifier=True)

    def _held_out(self, data: WideData) -> tuple[np.ndarray, np.ndarray] | None:
        """Training and test rows; None where a class has a single row."""
        rows = np.bincount(data.codes, minlength=data.counts.n_classes)
        if rows[rows > 0].min() < 2 or _HELD_OUT * data.codes.size < rows.size:
            return None
        splitter = StratifiedShuffleSplit(
            1, test_size=_HELD_OUT, random_state=check_random_state(_SEED)
        )
        return next(splitter.split(data.codes, data.codes))

    def _start(self) -> tuple[np.ndarray, np.ndarray] | None:
        if not hasattr(self, "support_indices_"):
            return None
        return self.support_indices_, self.weights_[self.support_indices_]

    def _bar(self) -> ProgressBar:
        bar = ProgressBar(type(self).__name__)
        bar.shown = bar.shown and bool(self.verbose)
        return bar

    def _callback(self, bar: ProgressBar) -> Any:
        def tell(state: OptimizerState) -> bool | None:
            bar.update(
                state.iteration + 1, f"{np.count_nonzero(state.weights)} features"
            )
            return None if self.callback is None else self.callback(state)

        return tell if bar.shown or self.callback is not None else None

    # ---------------------------------------------------------------------- keeping

    def _keep(self, found: WideFit, data: WideData, classes: np.ndarray) -> None:
        """Store the model, and what prediction needs of the features in use."""
        class_count = data.counts.class_count
        self.classes_ = classes
        self.class_count_ = class_count
        self.class_log_prior_ = self._log_prior(class_count)
        self.class_intercept_ = found.intercept
        if self.refit_intercept:
            with np.errstate(invalid="ignore", divide="ignore"):
                learnt = np.log(class_count / class_count.sum())
                self.class_intercept_ = np.where(
                    np.isneginf(learnt),
                    -np.inf,
                    found.intercept + self.class_log_prior_ - learnt,
                )
        self.support_indices_ = found.columns
        self.k_ = int(found.columns.size)
        self.weights_ = np.zeros(data.counts.n_features)
        self.weights_[found.columns] = found.weights
        self.lambda_ = float(found.penalty)
        self.relaxation_ = 1.0 - float(found.share)
        self.dual_gap_ = float(found.gap)
        self.path_ = found.path
        self.certificate_ = found.certificate
        self.n_candidates_ = found.n_candidates
        self.stopped_ = found.stopped
        self.n_iter_ = found.steps
        self._weighted_slope = found.weights[:, None] * found.slope
        self._weighted_offset = (
            None if found.offset is None else found.weights[:, None] * found.offset
        )
        self._set_log_prob(found)
        self._importances = self._sizes(found, data)

    def _set_log_prob(self, found: WideFit) -> None:
        self.feature_log_prob_ = np.ascontiguousarray(found.slope.T)

    def _sizes(self, found: WideFit, data: WideData) -> np.ndarray:
        """Mean size of each feature's term over the rows, in nats."""
        prior = data.counts.class_count / data.total_weight
        table = data.counts.feature_count[:, found.columns]
        table = table if isinstance(table, np.ndarray) else table.toarray()
        lift = found.slope - (found.slope @ prior)[:, None]
        return found.weights * (table.T * np.abs(lift)).sum(axis=1) / data.total_weight

    # ------------------------------------------------------------------- prediction

    def _start_scores(self) -> np.ndarray:
        return self.class_intercept_

    def _support_log_likelihood(self, part: Any) -> np.ndarray:
        scores = np.asarray(self._values(part) @ self._weighted_slope)
        if self._weighted_offset is not None:
            scores = scores + self._weighted_offset.sum(axis=0)
        return scores

    def _values(self, part: Any) -> Any:
        """The columns in use as the model reads them."""
        values = part.data if sparse.issparse(part) else part
        self._refuse(part, values < 0, "counts >= 0")
        return part

    # ----------------------------------------------------------------- fitted views

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean size of each feature's term in nats a row, shape (n_features_in_,)."""
        check_is_fitted(self, "support_indices_")
        importances = np.zeros(self.n_features_in_)
        importances[self.support_indices_] = self._importances
        return importances

    @property
    def coef_(self) -> np.ndarray:
        """Weighted log-odds of each feature, shape (1, n_features_in_)."""
        self._need_two_classes("coef_")
        return self._spread(self._weighted_slope[:, 1] - self._weighted_slope[:, 0])

    @property
    def intercept_(self) -> np.ndarray:
        """Log-odds of a row without any feature, shape (1,)."""
        self._need_two_classes("intercept_")
        start = self.class_intercept_
        if self._weighted_offset is not None:
            start = start + self._weighted_offset.sum(axis=0)
        return np.diff(start)


def information_penalty(data: WideData) -> float:
    """Half the logarithm of the rows for each weight: what BIC asks of a parameter."""
    return 0.5 * float(np.log(max(data.total_weight, 2.0)))
