"""Stability: how often features are selected when the rows are resampled."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags

from bayesieve._compat import safe_indexing
from bayesieve._estimator import CountingEstimator
from bayesieve.counts import ClassCounts, ReplicateCounts
from bayesieve.counts._replicates import Resampling, replicates_of, unit_numbers
from bayesieve.exceptions import InterruptedFitWarning
from bayesieve.model_selection._stability import (
    GainSample,
    StabilitySelection,
    check_cutoff,
)
from bayesieve.utils._resources import keeps_to_jobs
from bayesieve.utils._warnings import warn_user

__all__ = ["stability_from_counts", "stability_selection"]


@keeps_to_jobs
def stability_selection(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 100,
    method: str = "pairs",
    groups: Any = None,
    cutoff: float = 0.9,
    random_state: Any = None,
    n_jobs: int | None = -1,
) -> StabilitySelection:
    """Select on many resamples of the rows, and tell how often each feature is taken.

    With ``method="pairs"`` the rows are split at random into two halves, n_resamples/2
    times, and both are selected on: complementary pairs stability selection, which
    bounds the expected number of features that are stable by chance. With
    ``method="bootstrap"`` every row counts as often as a Poisson variable of mean 1
    says, which is the bootstrap for streams.

    Estimators that are functions of class counts (`NaiveFeatureSelector`, the
    screeners, `SparseMultinomialNB` and its siblings) are not fitted to rows again: one
    pass adds up the counts of all resamples. Any other selector of scikit-learn's kind
    is cloned and fitted on the rows of each resample.

    Parameters
    ----------
    estimator : estimator with `support_indices_` or `get_support`
        Not changed. Its number of features is the q of the error bound.
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    n_resamples : int, default=100
        Number of resamples; even for pairs.
    method : {"pairs", "bootstrap"}, default="pairs"
        Halves of the rows and their complements, or Poisson weights.
    groups : array-like of shape (n_samples,), optional
        Rows of one person, donor or day, which are drawn or left out together. Without,
        rows must be independent.
    cutoff : float, default=0.9
        Frequency from which a feature counts as stable; above 1/2 for pairs.
    random_state : int, RandomState instance or None, default=None
        Where the resamples come from; the same int gives the same ones.
    n_jobs : int or None, default=-1
        Threads, as scikit-learn counts them: -1 is one for each processor.

    Returns
    -------
    found : StabilitySelection
        With `frequencies_`, `support_`, `error_bound_` and intervals.

    See Also
    --------
    stability_from_counts : The same from counts of a stream of chunks, or of a cluster.
    StabilityDisplay : The picture.

    Notes
    -----
    From counts: O(nnz n_resamples) additions in one pass, then n_resamples solves; the
    tables of as many resamples as fit in 64 MB are held at a time. Neighbouring rows go
    into different halves, so that both have n/2 rows, to within one.

    References
    ----------
    N. Meinshausen, P. Bühlmann, "Stability selection", JRSS B 72 (2010).
    R. D. Shah, R. J. Samworth, "Variable selection with error control: another look at
    stability selection", JRSS B 75 (2013).

    Examples
    --------
    >>> from bayesieve import NaiveFeatureSelector, stability_selection
    >>> from bayesieve.datasets import load_sms_spam
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> texts, labels = load_sms_spam(return_X_y=True)
    >>> vectorizer = CountVectorizer()
    >>> X = vectorizer.fit_transform(texts)
    >>> found = stability_selection(NaiveFeatureSelector(k=10), X, labels,
    ...                             random_state=0)
    >>> vectorizer.get_feature_names_out()[found.selected()[:3]].tolist()
    ['call', 'claim', 'free']
    >>> found.error_bound_ < 0.02
    True
    """
    seed = int(check_random_state(random_state).randint(2**63 - 1, dtype=np.int64))
    resampling = Resampling.checked(n_resamples, method, seed)
    level = check_cutoff(cutoff, 0.5 if method == "pairs" else 0)
    reference = _checked(estimator).fit(X, y)
    units = unit_numbers(groups, len(y))
    runs = _Runs(reference, resampling.n_resamples)
    if _is_counted(estimator):
        probe = clone(estimator)
        matrix, codes, classes, _ = probe._validated(X, y, None, None, first=True)
        every = replicates_of(
            matrix, codes, classes, resampling, units, **probe._counting()
        )
        model = clone(estimator).set_params(**reference._numbered_rules())
        runs.fit_counts(model, every, float(codes.size))
    else:
        runs.fit_rows(estimator, X, y, resampling, units)
    return runs.result(method, level)


@keeps_to_jobs
def stability_from_counts(
    estimator: Any,
    counts: ReplicateCounts,
    *,
    cutoff: float = 0.9,
    n_jobs: int | None = -1,
) -> StabilitySelection:
    """Stability selection from counts of all resamples, where rows are out of reach.

    Parameters
    ----------
    estimator : estimator that is a function of class counts
        As `stability_selection` takes it. Not changed.
    counts : ReplicateCounts
        Of chunks, or added up from the pieces of a cluster.
    cutoff : float, default=0.9
        Frequency from which a feature counts as stable; above 1/2 for pairs.
    n_jobs : int or None, default=-1
        Threads, as scikit-learn counts them: -1 is one for each processor.

    Returns
    -------
    found : StabilitySelection

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseMultinomialNB, stability_from_counts
    >>> from bayesieve.counts import replicate_counts
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=400)
    >>> X = rng.poisson(1.0, size=(400, 10))
    >>> X[:, 0] += 2 * y
    >>> X[:, 1] += 1 - y
    >>> chunks = ((X[i : i + 100], y[i : i + 100]) for i in range(0, 400, 100))
    >>> counts = replicate_counts(chunks, random_state=0)
    >>> stability_from_counts(SparseMultinomialNB(k=2), counts).selected()
    array([0, 1])
    """
    name = type(estimator).__name__
    if not _is_counted(estimator):
        raise TypeError(
            "stability_from_counts needs an estimator that is a function of class "
            f"counts alone. Got {name}. Hint: use stability_selection(estimator, X, y)."
        )
    if not isinstance(counts, ReplicateCounts):
        raise TypeError(
            "stability_from_counts needs the ReplicateCounts that replicate_counts "
            f"makes. Got {type(counts).__name__}."
        )
    method = counts.resampling.method
    level = check_cutoff(cutoff, 0.5 if method == "pairs" else 0)
    runs = _Runs(clone(estimator).fit_counts(counts.total), len(counts))
    weight = float(counts.total.class_count.sum())
    runs.fit_counts(clone(estimator), counts, weight)
    return runs.result(method, level)


def _checked(estimator: Any) -> Any:
    """A clone that can be fitted and then asked for its features."""
    if not hasattr(estimator, "fit") or isinstance(estimator, type):
        raise TypeError(
            "stability_selection needs a selector or a sparse classifier. Got "
            f"{estimator!r}."
        )
    if not get_tags(estimator).input_tags.two_d_array:
        raise TypeError(
            f"stability_selection needs an estimator of matrices. Got "
            f"{type(estimator).__name__}, whose terms are those of the texts that it "
            "is given. Hint: count the texts with CountVectorizer first."
        )
    return clone(estimator)


def _is_counted(estimator: Any) -> bool:
    """Whether counts are all that the estimator needs of the rows."""
    return isinstance(estimator, CountingEstimator) and not estimator._needs_rows()


def _features(estimator: Any) -> np.ndarray:
    """Indices of the features that a fitted estimator has selected."""
    if hasattr(estimator, "support_indices_"):
        return np.asarray(estimator.support_indices_)
    if hasattr(estimator, "get_support"):
        return np.asarray(estimator.get_support(indices=True))
    raise TypeError(
        "stability_selection needs an estimator with support_indices_ or get_support "
        f"once fitted. Got {type(estimator).__name__}. Hint: SelectFromModel makes one "
        "of an estimator with coef_ or feature_importances_."
    )


def _gains(estimator: Any) -> np.ndarray | None:
    """Gain of every feature in nats, where the estimator has a certificate for it."""
    if not hasattr(estimator, "certificate_"):
        return None
    scores = getattr(estimator, "scores_", None)
    return np.asarray(estimator.feature_importances_ if scores is None else scores)


@dataclass
class _Runs:
    """The selections so far, one for each resample."""

    reference: Any
    n_resamples: int
    supports: list[np.ndarray] = field(default_factory=list)
    gains: list[np.ndarray] = field(default_factory=list)
    told: dict[type[Warning], list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.columns = _features(self.reference)
        self.n_features = int(self.reference.n_features_in_)
        found = _gains(self.reference) if _is_counted(self.reference) else None
        self.estimate = None if found is None else found[self.columns]

    def fit_counts(
        self, model: Any, replicates: Iterable[ClassCounts], weight: float
    ) -> None:
        """Fit the counts of every resample; all rows together weigh `weight`."""
        for counts in replicates:
            self._fit(model, partial(model.fit_counts, counts))
            if self.estimate is not None:
                found = _gains(model)
                assert found is not None
                scale = weight / float(counts.class_count.sum())
                self.gains.append(found[self.columns] * scale)

    def fit_rows(
        self, estimator: Any, X: Any, y: Any, resampling: Resampling, units: np.ndarray
    ) -> None:
        """Fit the rows of every resample, each as often as its weight says."""
        if hasattr(X, "tocsr"):
            X = X.tocsr()
        labels = np.asarray(y)
        for number in range(resampling.n_resamples):
            weights = resampling.weights(units, number, 1)[:, 0]
            rows = np.repeat(np.arange(units.size), weights)
            model = clone(estimator)
            self._fit(model, partial(model.fit, safe_indexing(X, rows), labels[rows]))

    def _fit(self, model: Any, fit: Callable[[], Any]) -> None:
        number = len(self.supports) + 1
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                fit()
            except ValueError as error:
                raise ValueError(
                    f"Resample {number} of {self.n_resamples} cannot be fitted: {error}"
                ) from error
        kinds = dict.fromkeys(warning.category for warning in caught)
        if InterruptedFitWarning in kinds:  # the fit took Ctrl-C; it was meant for all
            raise KeyboardInterrupt
        for category in kinds:
            first = next(w for w in caught if w.category is category)
            self.told.setdefault(category, []).append(str(first.message))
        if model.n_features_in_ != self.n_features:
            raise ValueError(
                f"All resamples must have the same features, {self.n_features} in all. "
                f"Got {model.n_features_in_} in resample {number}."
            )
        self.supports.append(_features(model).copy())

    def result(self, method: str, cutoff: float) -> StabilitySelection:
        """Gather, and say once what several resamples have warned of."""
        for category, messages in self.told.items():
            share = f"{len(messages)} of {self.n_resamples} resamples"
            warn_user(f"In {share}: {messages[0]}", category)
        gains = None
        if self.estimate is not None:
            gains = GainSample(self.estimate, np.array(self.gains))
        return StabilitySelection.of_supports(
            self.supports,
            self.n_features,
            support_indices_=self.columns,
            method=method,
            cutoff=cutoff,
            gains_=gains,
            feature_names_=getattr(self.reference, "feature_names_in_", None),
        )
