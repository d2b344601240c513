"""The peers of wide_weights.py: selectors of scikit-learn at a wanted number of words.

Each is used as its documentation shows it. The l1 models are fitted by liblinear, one
class against the rest where there are more than two; what they keep is the union of
their columns, and C is searched so that it is as near to k as possible and not above.
Recursive feature elimination drops a tenth of the columns at each step (`step=0.1`);
a second one, with more fits, drops a tenth of those that are left.
Mutual information is that of the presence of a word, chi2 that of its counts.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import rel_entr
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC, l1_min_c

LARGEST_C = 1e3  # practically no penalty for word counts
MOST_FITS = 30
SLACK = 0.005  # so k itself is wanted below 200
RFE_STEP = 0.1


@dataclass(frozen=True)
class Found:
    """Columns, the fitted model (l1: over all columns), and what it took."""

    support: np.ndarray
    model: Any
    seconds: float
    fit_seconds: float  # of the fit that is returned, without the search for C
    fits: int = 1
    C: float | None = None
    converged: bool = True


def several(model: Any, n_classes: int) -> Any:
    """Return a two-class model as it is, else one for each class."""
    return model if n_classes == 2 else OneVsRestClassifier(model)


def l1_logistic(C: float, n_classes: int) -> Any:
    """Return l1 logistic regression by liblinear."""
    model = LogisticRegression(l1_ratio=1, solver="liblinear", C=C, random_state=0)
    return several(model, n_classes)


def l1_svm(C: float, n_classes: int) -> Any:
    """Return the l1 linear SVM by liblinear."""
    # LinearSVC is one against the rest by itself.
    return LinearSVC(penalty="l1", dual=False, C=C, random_state=0)


def coefficients(model: Any) -> np.ndarray:
    """Return (rows, columns): one row, or one for each class."""
    if isinstance(model, OneVsRestClassifier):
        return np.vstack([one.coef_ for one in model.estimators_])
    return np.atleast_2d(model.coef_)


def used_columns(model: Any) -> np.ndarray:
    """Return the columns with a coefficient other than zero in any row."""
    return np.flatnonzero(np.any(coefficients(model) != 0, axis=0))


def fitted(model: Any, X: Any, y: np.ndarray) -> tuple[float, bool]:
    """Fit; return seconds and whether liblinear came to its end."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        begin = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - begin
    return seconds, not any(issubclass(w.category, ConvergenceWarning) for w in heard)


def search_penalty(
    make: Callable[[float, int], Any],
    X: Any,
    y: np.ndarray,
    k: int,
    *,
    loss: str | None = None,
    smallest: float | None = None,
    largest: float = LARGEST_C,
    seconds: float = np.inf,
    most_fits: int = MOST_FITS,
) -> Found:
    """Return the l1 model with at most k columns and as near to k as can be found.

    From the smallest C with a column (that of `loss`, else `smallest`) upwards until
    there are too many, then bisection on ln C, every other time at the point where the
    logarithms of the sizes would meet that of k on a straight line. Ends at k (within
    SLACK), after `most_fits`, when both ends agree to 1e-6, or when `seconds` are over;
    at `largest` there may be too few.
    """
    n_classes = int(y.max()) + 1
    begin = time.perf_counter()
    if smallest is None:
        smallest = l1_min_c(X, y, loss=loss)
    low, high = float(np.log(smallest)), None
    size_low, size_high = 0, 0
    best: Found | None = None
    at, fits = low + np.log(2.0), 0
    while fits < most_fits:
        C = float(np.exp(at))
        model = make(C, n_classes)
        took, converged = fitted(model, X, y)
        fits += 1
        columns = used_columns(model)
        size = columns.shape[0]
        if size <= k:
            if best is None or size >= best.support.shape[0]:
                best = Found(columns, model, 0.0, took, 0, C, converged)
            low, size_low = at, size
        else:
            high, size_high = at, size
        late = best is not None and time.perf_counter() - begin > seconds
        if k * (1 - SLACK) <= size <= k or late:
            break
        if high is None:
            if largest * (1 - 1e-9) <= C:
                break
            at = min(at + np.log(4.0), np.log(largest))
        elif high - low < 1e-6:
            break
        elif fits % 2:
            at = (low + high) / 2
        else:
            ends = np.log([size_low + 0.5, k, size_high + 0.5])
            share = (ends[1] - ends[0]) / (ends[2] - ends[0])
            at = low + float(np.clip(share, 0.02, 0.98)) * (high - low)
    if best is None:  # the very first C had too many, and so had all below it
        best = Found(np.empty(0, dtype=np.int64), model, 0.0, took, 0, C, converged)
    whole = time.perf_counter() - begin
    return Found(
        best.support,
        best.model,
        whole,
        best.fit_seconds,
        fits,
        best.C,
        best.converged,
    )


def eliminate(X: Any, y: np.ndarray, k: int) -> Found:
    """Return the columns of RFE with l2 logistic regression and its last model."""
    n_classes = int(y.max()) + 1
    start = several(LogisticRegression(solver="liblinear", random_state=0), n_classes)
    search = RFE(
        start,
        n_features_to_select=k,
        step=RFE_STEP,
        importance_getter=coefficients,
    )
    seconds, converged = fitted(search, X, y)
    steps = int(np.unique(search.ranking_).shape[0])
    return Found(
        np.flatnonzero(search.support_),
        search.estimator_,
        seconds,
        seconds,
        steps,
        converged=converged,
    )


def eliminate_to_all(
    X: Any,
    y: np.ndarray,
    sizes: Sequence[int],
    *,
    start: Any = None,
    share: float = RFE_STEP,
) -> dict[int, Found]:
    """Return what `RFE(start, step=share)` gives for each size, shared steps done once.

    Without a start it is that of `eliminate`. Every size has the same steps but its
    last one. The seconds of a size are those that it would need alone: all steps up to
    it.
    """
    n_classes = int(y.max()) + 1
    if start is None:
        start = LogisticRegression(solver="liblinear", random_state=0)
    step = int(max(1, share * X.shape[1]))
    columns, whole, steps = np.arange(X.shape[1]), 0.0, 0
    left, result = set(sizes), {}
    while left:
        model = several(clone(start), n_classes)
        begin = time.perf_counter()
        _, converged = fitted(model, X[:, columns], y)
        # The order of RFE, ties included, so that the answer is RFE's to the column.
        order = np.argsort(np.square(coefficients(model)).sum(axis=0))
        whole, steps = whole + time.perf_counter() - begin, steps + 1
        for size in [size for size in left if columns.shape[0] - step <= size]:
            found = np.sort(columns[order[max(columns.shape[0] - size, 0) :]])
            begin = time.perf_counter()
            last = several(clone(start), n_classes)
            _, ended = fitted(last, X[:, found], y)
            took = whole + time.perf_counter() - begin
            result[size] = Found(
                found, last, took, took, steps + 1, converged=converged and ended
            )
            left.remove(size)
        columns = np.sort(columns[order[step:]])
    return result


def eliminate_finely(X: Any, y: np.ndarray, sizes: Sequence[int]) -> dict[int, Found]:
    """Return RFE that drops a tenth of what is left, not of all columns, at each step.

    More fits than `RFE(step=0.1)`, whose last step goes from a tenth of the columns
    straight to k. All sizes are stops of one elimination.
    """
    n_classes = int(y.max()) + 1
    columns, whole, fits = np.arange(X.shape[1]), 0.0, 0
    result = {}
    for size in sorted(set(sizes), reverse=True):
        while True:
            begin = time.perf_counter()
            start = LogisticRegression(solver="liblinear", random_state=0)
            model = several(start, n_classes)
            took, converged = fitted(model, X[:, columns], y)
            fits += 1
            if columns.shape[0] <= size:
                break
            importance = np.square(coefficients(model)).sum(axis=0)
            left = max(size, int((1 - RFE_STEP) * columns.shape[0]))
            columns = columns[best_columns(importance, left)]
            whole += time.perf_counter() - begin
        whole += time.perf_counter() - begin
        result[size] = Found(columns, model, whole, took, fits, converged=converged)
    return result


def chi2_scores(X: Any, y: np.ndarray) -> np.ndarray:
    """Return the chi2 statistic of every column's counts."""
    return chi2(X, y)[0]


def mutual_information(X: Any, y: np.ndarray) -> np.ndarray:
    """Return the mutual information of class and presence of each word, in nats.

    What `mutual_info_classif(X > 0, y, discrete_features=True)` gives (a test holds the
    two together). That one loops over columns and takes minutes where this takes
    milliseconds, so the seconds are the best that the peer could have.
    """
    present = X.astype(np.float64)
    present.data = (present.data != 0).astype(np.float64)
    n_classes = int(y.max()) + 1
    rows = np.arange(y.shape[0])
    member = sparse.csr_matrix((np.ones(y.shape[0]), (y, rows)), (n_classes, len(y)))
    with_word = (member @ present).toarray()
    in_class = np.bincount(y, minlength=n_classes).astype(np.float64)[:, None]
    n = float(y.shape[0])
    result = np.zeros(X.shape[1])
    for joint in (with_word, in_class - with_word):
        expected = in_class * (joint.sum(axis=0) / n)
        result += rel_entr(joint, expected).sum(axis=0) / n
    return np.maximum(result, 0.0)


def best_columns(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the k columns with the largest scores; the first of equals."""
    order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
    return np.sort(order[:k])


def naive_bayes_on(X: Any, y: np.ndarray, support: np.ndarray) -> tuple[float, Any]:
    """Return seconds and `MultinomialNB()` fitted on some columns, priors on none."""
    if support.shape[0] == 0:
        return 0.0, DummyClassifier(strategy="prior").fit(np.zeros((len(y), 1)), y)
    part = X[:, support]
    begin = time.perf_counter()
    model = MultinomialNB().fit(part, y)
    return time.perf_counter() - begin, model
