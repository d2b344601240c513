"""Multinomial naive Bayes with one optimised discount a feature, on wide counts."""

from __future__ import annotations

from typing import Any, ClassVar

from bayesieve.naive_bayes._selective_wide import SelectiveWideNB, WideWeightedNB

__all__ = ["SelectiveMultinomialNB", "WeightedCounts"]


class WeightedCounts(WideWeightedNB):
    """Models of counts: more of a feature says more."""

    _model = "multinomial"
    _kind = "count"
    _positive_only = True


class SelectiveMultinomialNB(WeightedCounts, SelectiveWideNB):
    """Multinomial naive Bayes with few features and a weight in [0, 1] for each.

    Naive Bayes counts redundant features twice and is too sure of itself. Here the
    features of largest likelihood are screened in, and their weights minimise

        sum_n -log P_w(y_n | x_n) + lambda * sum_j c_j w_j^exponent

    where the score of class c is ``b_c + sum_j w_j x_j log theta_cj``. A weight of one
    is naive Bayes, zero drops the feature, between them is a discount. Features that
    were not screened in but would be missed join, so at ``exponent=1``, where the
    problem is convex, the weights are **exact** over all features up to `dual_gap_`;
    below they are **heuristic**. Which k features to weigh is **bounded**:
    `certificate_` says how much more any other k could gain.

    Parameters
    ----------
    k : int, float, "cv" or "1se", optional
        Wanted number of features, or a share of them in (0, 1): the penalty is searched
        that gives so many. A refit may set some of them to zero, so k is what there
        will be at most. "cv" takes the penalty of least log loss in the folds of `cv`,
        "1se" the largest whose rows lose, against the best, no more than one standard
        error of that difference: both predict best with ``relaxed=False``.
    regularization : float, optional
        The penalty lambda itself, in nats for a weight of one. With neither `k` nor
        `regularization` it is chosen: a fifth of the rows is held out, the penalty of
        least log loss there is taken, and all rows are fitted.
    alpha : float or array of shape (n_features,), default=1.0
        Smoothing added to every count, above 0.
    exponent : float, default=1.0
        Exponent p of the weights in the penalty, in (0, 1]. At 1 the problem is convex.
        Below, the convex solution is followed by a local search: weights that stay are
        shrunk less.
    relaxed : bool or "auto", default=True
        Whether the weights of the chosen features are fitted once more without penalty.
        "auto": cross-validation decides how much of the penalty stays.
    candidates : int, "auto" or "all", default="auto"
        How many features are screened in by their likelihood before weights are
        optimised; others join where they would be missed. "auto": five times k and at
        least 5,000; 20,000 when k is not given. Of features that are the same in every
        row the first is taken, unless "all" are candidates or features have costs; the
        proofs are about distinct features then.
    feature_cost : array-like of shape (n_features,), optional
        c_j >= 0, what a feature costs beside the others; 1 unless given. At 0 it is not
        penalised at all.
    refit_intercept : bool, default=True
        Whether class intercepts are optimised with the weights; else they are the
        logarithms of the class probabilities.
    fit_prior : bool, default=True
        Learn class probabilities; otherwise they are uniform.
    class_prior : array-like of shape (n_classes,), optional
        Class probabilities, not learnt. A refitted intercept is shifted to them.
    tol : float, default=3e-4
        Duality gap at which the optimisation stops, as a share of the log loss without
        features.
    exact : bool, default=False
        Whether to go on from the k features of the penalty to the best k, by exchanges
        and by branch and bound over all features, up to 1,000 nodes or `time_limit`.
        Needs `k`. Five of thousands of words are proven best in seconds; of more the
        gap shrinks. It raises the likelihood of the training rows; on other rows it is
        often not better.
    cv : int, splitter or iterable of splits, default=5
        For ``k="cv"`` and ``"1se"``, and for ``relaxed="auto"``.
    time_limit : float, optional
        Time for the optimisation, half of it for what is to be chosen on held-out rows;
        then, or after Ctrl-C, the best so far is kept.
    random_state : int, RandomState instance or None, default=0
        Draws the rows that are held out to choose the penalty, and those that stand for
        all where chunks exceed `memory_budget`; equal data give equal fits by default.
    warm_start : bool, default=False
        Whether a fit with `regularization` begins at the weights of the last one.
    callback : callable, optional
        Called after each penalty of the path with a state that has ``iteration``,
        ``weights`` (of the candidates) and ``seconds``; a true return value ends the
        search.
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
    support_ : ndarray of bool of shape (n_features_in_,)
        Features with a weight.
    support_indices_ : ndarray of int64 of shape (k_,)
        Their indices, sorted.
    k_ : int
        Number of features with a weight.
    lambda_ : float
        Penalty of the chosen solution.
    relaxation_ : float
        Share of the penalty that was lifted in the refit: 1 for ``relaxed=True``.
    path_ : WeightPath
        Weights for decreasing penalties: ``lambdas``, ``weights`` (sparse),
        ``n_features``, ``nll``, ``dual_gap``.
    lambda_best_, lambda_1se_, cv_results_
        Where the penalty was chosen: the two penalties of "cv" and "1se", and how each
        did (``mean_test_score`` is minus the log loss, ``error_to_best`` the standard
        error of its difference to the best, ``n_features`` the mean size).
    dual_gap_ : float
        Proven distance, in nats, of the penalised solution to the best weights of any
        of the features at this penalty. NaN where nothing is proven: ``exponent < 1``,
        and `fit_chunks` beyond its memory or after its time.
    certificate_ : Certificate
        Of the conditional log-likelihood of the labels: that of `weights_`, and a bound
        on that of any k features with any weights in [0, 1] (``k`` as asked for, or
        `k_`). Fitted or not with a penalty, the bound is without one.
    n_candidates_ : int
        Distinct features whose weights were optimised.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean size of each feature's term in nats a row.
    feature_log_prob_ : ndarray of shape (n_classes, k_)
        Log-probability of each used feature given the class, before weighting.
    coef_, intercept_ : ndarray of shape (1, n_features_in_) and (1,)
        Two classes only: weighted log-odds.
    class_intercept_ : ndarray of shape (n_classes,)
    stopped_ : str
        Why the search ended: "converged", "time", "interrupted", "callback", or
        "budget" if the gap stayed above its tolerance (`NotConvergedWarning`).
    n_iter_ : int
        Newton steps.
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    SelectiveBernoulliNB : For presence and absence.
    SelectiveMultinomialNBCV : Penalty by cross-validation.
    SparseMultinomialNB : Likeliest features, each with weight one.
    SelectiveNB : For mixed tables.

    Notes
    -----
    One pass over X for the counts and one to take the columns of the candidates; then
    O(nnz n_classes) for each gradient over the candidates, and far less for the steps
    on the few features in use. Two passes at the end give the derivatives of all
    columns, for the gap and for the bound; more where columns join. X is never made
    dense.

    The bound is ``max over lambda of min over w of NLL(w) + lambda (sum w - k)``: the
    weights that are not asked to be few, only to add up to k.

    Give it counts, or ``X.log1p()`` of them, which is often better still. Rows scaled
    to length 1 (tf-idf) cost accuracy where few features are asked for, rows scaled to
    a sum of 1 far more: a `NotCountsWarning` says so.

    References
    ----------
    A. Askari, A. d'Aspremont, L. El Ghaoui, "Naive feature selection: a nearly tight
    convex relaxation for sparse naive Bayes".

    C. Hue, M. Boullé, V. Lemaire, "Online learning of a weighted selective naive Bayes
    classifier with non-convex optimization".

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SelectiveMultinomialNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=400)
    >>> X = rng.poisson(1.0, size=(400, 30))
    >>> X[:, 0] += rng.poisson(2.0 * y)
    >>> X[:, 1] = X[:, 0]  # says the same once more
    >>> model = SelectiveMultinomialNB(k=3).fit(X, y)
    >>> model.support_[:2]
    array([ True, False])
    >>> model.certificate_.relative_gap < 0.1
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SelectiveWideNB._parameter_constraints
    }

    def _suffers_from_unit_length(self) -> bool:
        # A free number of features, as by cross-validation, makes up for it.
        return self.k is not None

    def __init__(
        self,
        k: Any = None,
        *,
        regularization: float | None = None,
        alpha: Any = 1.0,
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
