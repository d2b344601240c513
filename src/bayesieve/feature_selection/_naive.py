"""Selection of the k features of largest naive Bayes likelihood."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from bayesieve._compat import Interval, StrOptions, available_if, fit_context
from bayesieve._description import (
    Description,
    Saved,
    SupportProblem,
    gain_detail,
    proof_sentence,
    weighted_detail,
    weighted_support_sentence,
)
from bayesieve._estimator import ListsAlternatives
from bayesieve.counts import ClassCounts
from bayesieve.feature_selection._checked import CheckedSelector
from bayesieve.model_selection._splits import splits_for_few
from bayesieve.model_selection._weight_choice import weights_win
from bayesieve.preprocessing._category_codes import CategoryCounter
from bayesieve.solvers._selection import Selection, select_features
from bayesieve.weights._wide_solver import CountedRows, WideSettings, WideSolver

__all__ = ["NaiveFeatureSelector"]

_FOLDS = 5  # of the choice between likelihood and weights
_KINDS = {
    "multinomial": "count",
    "bernoulli": "binary",
    "gaussian": "moments",
    "categorical": "category",
}


def _adds_up(selector: NaiveFeatureSelector) -> bool:
    if selector.refine:
        raise AttributeError(
            "NaiveFeatureSelector.partial_fit cannot refine: weights are optimised on "
            f"all rows. Got refine={selector.refine!r}. Hint: use fit(X, y)."
        )
    return True


class NaiveFeatureSelector(CheckedSelector, ListsAlternatives, CategoryCounter):
    """Keep the k features that maximise the naive Bayes likelihood, with a certificate.

    Under the multinomial model the support is **exact** (branch and bound) unless the
    time limit is hit; then it is **bounded**, with a `GapWarning` and the true gap in
    `certificate_`. Under the other models it is **exact**, in closed form.

    Parameters
    ----------
    k : int, float, "all", "elbow" or "bic", default=10
        Number of features, a share of them in (0, 1), all of them, or chosen from the
        path over k. The multinomial model needs at least 2. Above the number of
        features that say anything, all of those are kept, with a warning.
    model : {"multinomial", "bernoulli", "gaussian", "categorical"}
        Counts, presence, real values, or categories: codes 0, 1, 2, ... or tables of
        strings, booleans and categories as `SparseCategoricalNB` takes them.
    alpha : float or array of shape (n_features,), default=1.0
        Smoothing; not used by the Gaussian model.
    binarize : float or None, default=0.0
        Bernoulli model: values above it count as present. None: the data must be 0 and
        1.
    exact : bool, default=True
        Close the gap of the relaxation by branch and bound (multinomial).
    time_limit : float or None, default=10.0
        Seconds the search may take.
    refine : bool or "auto", default=False
        True: of several times k features of large likelihood, twice k get a weight as
        in `SelectiveMultinomialNB` (or `SelectiveBernoulliNB`), and those k are kept
        that would be missed most: features that say the same as others are left out.
        "auto": five-fold cross-validation decides between that and the likelihood
        alone. Multinomial and Bernoulli models, `fit` only: it looks at rows.
    include, exclude : names, numbers or a mask of columns, optional
        Features that must be selected, and that must not.
    groups : array-like of shape (n_features,), lists of columns or dict, optional
        A label for each column; those without one (None, NaN) are alone. Groups are
        selected whole and k counts groups; with `max_per_group` at most so many columns
        of each are.
    max_per_group : int, optional
        See `groups`.
    feature_cost : array-like of shape (n_features,) or dict of names, optional
        What each feature costs, >= 0: the selected cost at most `budget`.
    budget : float, optional
        See `feature_cost`; with ``k="all"`` it alone decides how many.
    keep_counts : bool, default=False
        Keep `counts_` after `fit`, so that `partial_fit` can go on from there.
    n_jobs : int or None, default=-1
        Threads of the compiled core, as scikit-learn counts them: -1 is one for each
        processor, None is 1 unless a `joblib.parallel_config` says otherwise. The
        result does not depend on them.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features_in_,)
    support_indices_ : ndarray of int64 of shape (k_,)
    k_ : int
        Number of kept features.
    scores_ : ndarray of shape (n_features_in_,)
        Gain of each feature in nats; h_i(p*) under the multinomial model.
    certificate_ : Certificate
        Of the support. Where weights chose it, of the conditional likelihood of any k
        features with weights in [0, 1], over all columns.
    refined_ : bool
        Whether weights chose the support.
    classes_ : ndarray of shape (n_classes,)
    counts_ : ClassCounts
        Only with ``keep_counts=True`` or after `partial_fit`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    SparseMultinomialNB, SparseBernoulliNB, SparseGaussianNB, SparseCategoricalNB :
        The classifiers on the selected features.

    Notes
    -----
    One pass over X, about five over the table of counts (n_classes x n_features).

    For tf-idf vectors of n-grams ``model="bernoulli"`` selects by presence,
    which serves classifiers better than sums of tf-idf values do. Features that
    ``refine=True`` keeps suit a weighted model; for plain naive Bayes on a handful of
    them take ``refine="auto"``.

    References
    ----------
    A. Askari, A. d'Aspremont, L. El Ghaoui, "Naive feature selection: a nearly tight
    convex relaxation for sparse naive Bayes".

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveFeatureSelector
    >>> X = np.array([[3, 0, 1, 0], [4, 1, 0, 0], [0, 3, 1, 1], [0, 5, 0, 1]])
    >>> selector = NaiveFeatureSelector(k=2).fit(X, [0, 0, 1, 1])
    >>> selector.transform(X)
    array([[3, 0],
           [4, 1],
           [0, 3],
           [0, 5]])
    >>> selector.certificate_.is_optimal
    True
    """

    # As for any selector; without the list, the first chunk must show every class.
    _classes_required = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CategoryCounter._parameter_constraints,
        "model": [StrOptions(set(_KINDS))],
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "binarize": [Interval(Real, None, None, closed="neither"), None],
        "refine": ["boolean", StrOptions({"auto"})],
    }
    _score_name = "gain (nats)"
    _saved: ClassVar[dict[str, Saved]] = {
        "scores_": Saved("floats", "m", domain="known"),
        "certificate_": Saved("certificate"),
        "refined_": Saved("bool"),
    }

    def _describe(self) -> Description:
        certificate, n_features = self.certificate_, self.n_features_in_
        if self.refined_ and certificate.k == self.k_:  # else a file of version 0.1
            sentence = weighted_support_sentence(certificate, "features")
            detail = weighted_detail(certificate, "features")
        else:
            sentence = proof_sentence(certificate, self.k_, n_features, "features")
            detail = gain_detail(certificate, self.k_, "features")
        return replace(
            super()._describe(),
            sentence=sentence,
            detail=detail,
            is_weighted=self.refined_,
            problem=SupportProblem(
                self.model,
                {"alpha": self.alpha},
                self.exact,
                self.time_limit,
                self._rules(),
            ),
        )

    def __init__(
        self,
        k: Any = 10,
        *,
        model: str = "multinomial",
        alpha: Any = 1.0,
        binarize: float | None = 0.0,
        exact: bool = True,
        time_limit: float | None = 10.0,
        refine: bool | str = False,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        max_per_group: int | None = None,
        feature_cost: Any = None,
        budget: float | None = None,
        keep_counts: bool = False,
        n_jobs: int | None = -1,
    ) -> None:
        self.k = k
        self.model = model
        self.alpha = alpha
        self.binarize = binarize
        self.exact = exact
        self.time_limit = time_limit
        self.refine = refine
        self.include = include
        self.exclude = exclude
        self.groups = groups
        self.max_per_group = max_per_group
        self.feature_cost = feature_cost
        self.budget = budget
        self.keep_counts = keep_counts
        self.n_jobs = n_jobs

    def _count_kind(self) -> str:
        if self.binarize not in (None, 0.0) and self.model != "bernoulli":
            raise ValueError(
                "The 'binarize' parameter of NaiveFeatureSelector is for "
                f"model='bernoulli' only. Got binarize={self.binarize!r} with "
                f"model={self.model!r}."
            )
        return _KINDS[self.model]

    def _count_options(self) -> dict[str, Any]:
        return {"binarize": self.binarize} if self.model == "bernoulli" else {}

    def _needs_rows(self) -> bool:
        return bool(self.refine)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NaiveFeatureSelector:
        """Count and select.

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
        if not self.refine:
            return super().fit(X, y, sample_weight)
        self._check_refinable()
        X, codes, classes, weights = self._validated(
            X, y, None, sample_weight, first=True
        )
        counts = self._counted(X, codes, classes, weights)
        self._learn(counts)
        if issparse(X) and X.format == "csc":
            X = X.tocsr()  # rows are taken for folds
        if self.k_ > 0:
            self._refine(CountedRows(X, codes, weights, counts))
        return self

    @available_if(_adds_up)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> NaiveFeatureSelector:
        """Add a chunk of rows to the counts, then select anew.

        The result is that of `fit` on all rows so far.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All classes that will ever come.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        return super().partial_fit(X, y, classes, sample_weight)

    def _check_refinable(self) -> None:
        if self._rules():
            told = ", ".join(self._rules())
            raise ValueError(
                "The 'refine' parameter of NaiveFeatureSelector must be False beside "
                f"rules: weights keep to none. Got {self.refine!r} with {told}."
            )
        if self.model not in ("multinomial", "bernoulli"):
            raise ValueError(
                "The 'refine' parameter of NaiveFeatureSelector must be False for "
                f"model={self.model!r}: weights are for the multinomial and Bernoulli "
                f"models. Got {self.refine!r}."
            )
        if np.min(self.alpha) <= 0:
            raise ValueError(
                "The 'alpha' parameter of NaiveFeatureSelector must be above 0 to "
                f"refine. Got {self.alpha!r}."
            )

    def _refine(self, data: CountedRows) -> None:
        """Replace the likeliest features by those with a weight, where that helps."""
        settings = self._weight_settings(data)
        if self.refine == "auto":
            splits = splits_for_few(_FOLDS, data.codes, type(self).__name__)
            if not weights_win(
                data, settings, splits, self._counting(), self._likeliest
            ):
                return
        solver = WideSolver.of(data, settings)
        self.refined_ = True
        columns = solver.missed_most()
        self.certificate_ = solver.certified(columns)
        self._set_support(columns)

    def _likeliest(self, counts: ClassCounts) -> np.ndarray:
        """The features of largest likelihood of some rows."""
        with warnings.catch_warnings():
            # What a fold lacks was said about all rows, or is not worth saying.
            warnings.simplefilter("ignore")
            return self._selection(counts, self.k_).solution.support

    def _weight_settings(self, data: CountedRows) -> WideSettings:
        with np.errstate(divide="ignore"):
            log_prior = np.log(data.counts.class_count / data.total_weight)
        alpha = self.alpha if isinstance(self.alpha, Real) else np.asarray(self.alpha)
        return WideSettings(
            self.model,
            log_prior,
            type(self).__name__,
            k=self.k_,
            alpha=alpha,
            binarize=self.binarize,
        )

    def _selection(self, counts: ClassCounts, k: Any) -> Selection:
        return select_features(
            counts,
            k,
            model=self.model,
            alpha=self.alpha,
            exact=self.exact,
            time_limit=self.time_limit,
            rules=self._rules(),
            owner=type(self).__name__,
        )

    def _solve(self, counts: ClassCounts) -> None:
        selection = self._selection(counts, self.k)
        self.classes_ = counts.classes
        self.refined_ = False
        self.certificate_ = selection.solution.certificate
        self.scores_ = selection.scores()
        self._set_support(selection.solution.support)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.model in ("multinomial", "categorical")
        tags.input_tags.categorical = self.model == "categorical"
        tags.input_tags.string = self.model == "categorical"
        tags.input_tags.allow_nan = self.model == "categorical"
        return tags
