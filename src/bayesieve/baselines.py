"""Simple scores that the papers compare with, usable in ``SelectKBest``.

Both are functions ``(X, y) -> scores`` for two classes: multinomial naive Bayes is
estimated on all features and each feature is judged by its own weight. They ignore how
often a feature occurs, which is what the likelihood selection repairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.counts import ClassCounts

__all__ = ["odds_ratio", "thresholded_nb"]


def _log_theta(X: Any, y: Any, alpha: float, name: str) -> np.ndarray:
    counts = ClassCounts.from_matrix(X, y)
    if counts.n_classes != 2:
        raise ValueError(
            f"{name} needs exactly two classes in y. Got {counts.n_classes}."
        )
    if not alpha > 0:
        raise ValueError(f"The 'alpha' parameter of {name} must be > 0. Got {alpha!r}.")
    smoothed = counts.feature_count + alpha
    return np.asarray(np.log(smoothed) - np.log(smoothed.sum(axis=1, keepdims=True)))


def thresholded_nb(X: Any, y: Any, *, alpha: float = 1.0) -> np.ndarray:
    """Absolute weight of each feature in multinomial naive Bayes.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Counts.
    y : array-like of shape (n_samples,)
        Two classes.
    alpha : float, default=1.0
        Smoothing.

    Returns
    -------
    scores : ndarray of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from bayesieve.baselines import thresholded_nb
    >>> X = np.array([[3, 0, 1], [4, 1, 1], [0, 3, 1], [0, 5, 1]])
    >>> SelectKBest(thresholded_nb, k=2).fit(X, [0, 0, 1, 1]).get_support()
    array([ True,  True, False])
    """
    log_theta = _log_theta(X, y, alpha, "thresholded_nb")
    return np.asarray(np.abs(log_theta[1] - log_theta[0]))


def odds_ratio(X: Any, y: Any, *, alpha: float = 1.0) -> np.ndarray:
    """Log of the odds ratio of each feature, of the second class over the first.

    The score of Mladenic and Grobelnik (1999): ``log[p (1 - q) / ((1 - p) q)]`` with p
    and q the probability of the feature in the second and the first class of
    ``np.unique(y)``. It is signed: features of the second class come first.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Counts.
    y : array-like of shape (n_samples,)
        Two classes.
    alpha : float, default=1.0
        Smoothing.

    Returns
    -------
    scores : ndarray of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.baselines import odds_ratio
    >>> X = np.array([[3, 0, 1], [4, 1, 1], [0, 3, 1], [0, 5, 1]])
    >>> odds_ratio(X, [0, 0, 1, 1]).argmax()
    np.int64(1)
    """
    log_theta = _log_theta(X, y, alpha, "odds_ratio")
    log_odds = log_theta - np.log1p(-np.exp(log_theta))
    return np.asarray(log_odds[1] - log_odds[0])
