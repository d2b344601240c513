"""Bernoulli naive Bayes with one optimised discount a feature, on wide binary data."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from bayesieve._compat import Interval
from bayesieve._description import logit
from bayesieve.naive_bayes._presence import presence
from bayesieve.naive_bayes._selective_wide import SelectiveWideNB, WideWeightedNB
from bayesieve.weights._wide_solver import WideFit

__all__ = ["SelectiveBernoulliNB", "WeightedPresence"]


class WeightedPresence(WideWeightedNB):
    """Models of presence and absence."""

    _model = "bernoulli"
    _kind = "binary"
    binarize: float | None

    def _threshold(self) -> float | None:
        return self.binarize

    def _count_options(self) -> dict[str, Any]:
        return {"binarize": self.binarize}

    def _log_parameters(self) -> np.ndarray:
        return logit(self.feature_log_prob_)

    def _set_log_prob(self, found: WideFit) -> None:
        assert found.offset is not None
        self.feature_log_prob_ = np.ascontiguousarray((found.slope + found.offset).T)

    def _values(self, part: Any) -> Any:
        return presence(part, self.binarize, self._refuse, type(self).__name__)


class SelectiveBernoulliNB(WeightedPresence, SelectiveWideNB):
    """Bernoulli naive Bayes with few features and a weight in [0, 1] for each.

    As `SelectiveMultinomialNB`, for presence and absence: the term of a feature is
    ``log theta`` where it is present and ``log(1 - theta)`` where it is not. At
    ``exponent=1`` the weights are **exact** over all features up to `dual_gap_`; below
    they are **heuristic**. Which k features to weigh is **bounded** by `certificate_`.

    Parameters
    ----------
    k : int, float, "cv" or "1se", optional
        Wanted number of features, or a share of them in (0, 1): the penalty is searched
        that gives so many. "cv" takes the penalty of least log loss in the folds of
        `cv`, "1se" the largest whose rows lose, against the best, no more than one
        standard error of that difference: both predict best with ``relaxed=False``.
    regularization : float, optional
        The penalty lambda itself. With neither `k` nor `regularization` it is chosen on
        held-out rows.
    alpha : float or array of shape (n_features,), default=1.0
        Smoothing added to every count, above 0.
    binarize : float or None, default=0.0
        Values above it count as present. None: the data must be 0 and 1 already.
    exponent, relaxed, candidates, feature_cost, refit_intercept, fit_prior
        As in `SelectiveMultinomialNB`.
    class_prior, tol, exact, cv, time_limit, random_state, warm_start, callback
        As in `SelectiveMultinomialNB`.
    verbose : bool, default=False
        Whether to show a progress line on a terminal.
    n_jobs : int or None, default=-1
        Threads of the compiled core, as scikit-learn counts them: -1 is one for each
        processor, None is 1 unless a `joblib.parallel_config` says otherwise. The
        result does not depend on them.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_,)
        In [0, 1]: how much of its naive Bayes weight each feature keeps; 0 if not used.
    support_, support_indices_, k_, lambda_, relaxation_, path_, dual_gap_
        As in `SelectiveMultinomialNB`.
    certificate_, n_candidates_, feature_importances_, feature_log_prob_
        As in `SelectiveMultinomialNB`.
    coef_, intercept_, class_intercept_, stopped_, n_iter_
        As in `SelectiveMultinomialNB`.
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    SelectiveMultinomialNB : For counts.
    SelectiveBernoulliNBCV : Penalty by cross-validation.
    SparseBernoulliNB : Likeliest features, each with weight one.

    Notes
    -----
    With ``refit_intercept=True`` absence costs nothing: what it adds is the same for
    every row and joins the intercept. Without, each step of a weight is O(n_samples).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SelectiveBernoulliNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=400)
    >>> X = rng.random((400, 30)) < 0.5
    >>> X[:, 0] = rng.random(400) < 0.2 + 0.6 * y
    >>> X[:, 1] = X[:, 0]  # says the same once more
    >>> model = SelectiveBernoulliNB(k=3).fit(X, y)
    >>> model.support_[:2]
    array([ True, False])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SelectiveWideNB._parameter_constraints,
        "binarize": [Interval(Real, None, None, closed="neither"), None],
    }

    def __init__(
        self,
        k: Any = None,
        *,
        regularization: float | None = None,
        alpha: Any = 1.0,
        binarize: float | None = 0.0,
        exponent: float = 1.0,
        relaxed: bool | str = True,
        candidates: int | str = "auto",
        feature_cost: Any = None,
        refit_intercept: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        tol: float = 3e-4,
        exact: bool = False,
        cv: Any = 5,
        time_limit: float | None = None,
        random_state: Any = 0,
        warm_start: bool = False,
        callback: Any = None,
        verbose: bool = False,
        n_jobs: int | None = -1,
    ) -> None:
        self.k = k
        self.regularization = regularization
        self.alpha = alpha
        self.binarize = binarize
        self.exponent = exponent
        self.relaxed = relaxed
        self.candidates = candidates
        self.feature_cost = feature_cost
        self.refit_intercept = refit_intercept
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.tol = tol
        self.exact = exact
        self.cv = cv
        self.time_limit = time_limit
        self.random_state = random_state
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs
