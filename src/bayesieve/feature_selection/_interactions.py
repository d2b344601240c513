"""Pairs that matter together: interactions of screened binary features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import chi2
from sklearn.utils.multiclass import check_classification_targets

from bayesieve.counts import count_matrix
from bayesieve.solvers._interactions import interaction_excess, pair_penalty
from bayesieve.utils._resources import keeps_to_jobs
from bayesieve.utils._sparse_structure import own_structure
from bayesieve.utils._validation import (
    as_matrix,
    check_weights,
    encode_labels,
    label_array,
)

__all__ = ["Interactions", "screen_interactions"]


@dataclass(frozen=True)
class Interactions:
    """Pairs whose joint information exceeds the sum of theirs, strongest first.

    Attributes
    ----------
    pairs : ndarray of int64 of shape (n_pairs, 2)
        Columns of each pair, the smaller index first.
    excess : ndarray of shape (n_pairs,)
        ``n (I(x_i, x_j; y) - I(x_i; y) - I(x_j; y))`` in nats.
    pvalues : ndarray of shape (n_pairs,)
        ``2 excess`` against chi-square with K - 1 degrees of freedom, which holds for a
        second feature that is independent of class and first feature; not corrected for
        the number of pairs looked at.
    regularization : float
        What the excess of a pair had to exceed.
    n_looked_at : int
        Number of pairs looked at.
    """

    pairs: np.ndarray
    excess: np.ndarray
    pvalues: np.ndarray
    regularization: float
    n_looked_at: int

    def __len__(self) -> int:
        return int(self.pairs.shape[0])


@keeps_to_jobs
def screen_interactions(
    X: Any,
    y: Any,
    candidates: Iterable[int],
    *,
    binarize: float | None = 0.0,
    sample_weight: Any = None,
    max_pairs: int = 100,
    n_jobs: int | None = -1,
) -> Interactions:
    """Find partners of screened features that say more together than alone.

    Every candidate is paired with every column. The excess is what the pair says of the
    class beyond the sum of both: it is zero when the two are as dependent within
    classes as overall. That is not the interaction term of a regression; two strong
    additive effects on the log-odds have an excess as well. A pair is reported when its
    excess passes the extended BIC: ``excess > (K - 1)/2 log n + log(pairs looked at)``.
    **Exact** for the pairs looked at; a pair of which neither feature is a candidate
    (XOR of two features without any marginal signal) is out of reach.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        Binary, or numbers to be told apart by `binarize`.
    y : array-like of shape (n_samples,)
    candidates : iterable of int, or mask of shape (n_features,)
        Columns to pair with all others, such as ``L0Screener().fit(X, y)
        .support_indices_``.
    binarize : float or None, default=0.0
        Values above it count as present. None: the data must be 0 and 1.
    sample_weight : array-like of shape (n_samples,), optional
    max_pairs : int, default=100
        Report at most this many pairs, the strongest.
    n_jobs : int or None, default=-1
        Threads, as scikit-learn counts them: -1 is one for each processor.

    Returns
    -------
    Interactions

    Notes
    -----
    For each candidate one pass over the rows that have it and one over the table of
    counts: O(d (n_classes n_features) + entries), never all pairs of features.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import screen_interactions
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(2, size=(500, 6))
    >>> y = X[:, 1] ^ X[:, 4]
    >>> screen_interactions(X, y, candidates=[1]).pairs
    array([[1, 4]])
    """
    matrix, names = as_matrix(X)
    labels = label_array(y)
    if labels.dtype.kind == "f":
        check_classification_targets(labels)
    classes, codes = encode_labels(labels)
    n_rows, n_features = matrix.shape
    if codes.shape[0] != n_rows:
        raise ValueError(
            f"y must have one label per row of X, {n_rows} in all. "
            f"Got {codes.shape[0]}."
        )
    if (
        isinstance(max_pairs, bool)
        or not isinstance(max_pairs, Integral)
        or (max_pairs < 1)
    ):
        raise ValueError(
            "The 'max_pairs' parameter of screen_interactions must be an int >= 1. "
            f"Got {max_pairs!r}."
        )
    if classes.shape[0] < 2:
        raise ValueError(
            "screen_interactions needs at least two classes in y. "
            f"Got one class: {classes.tolist()[0]!r}."
        )
    wanted = np.asarray(list(candidates) if np.iterable(candidates) else [candidates])
    if wanted.dtype == bool and wanted.shape == (n_features,):  # a mask, as support_
        wanted = np.flatnonzero(wanted)
    wanted = np.unique(wanted)
    if wanted.size and (
        wanted.dtype.kind not in "iu" or wanted[0] < 0 or wanted[-1] >= n_features
    ):
        raise ValueError(
            "The 'candidates' parameter of screen_interactions must hold columns "
            f"0 to {n_features - 1}. Got {wanted.tolist()[:5]}."
        )
    weights = check_weights(sample_weight, n_rows)
    if sparse.issparse(matrix):
        # Rows with a feature are taken out again and again.
        matrix = own_structure(matrix).tocsr()
    options = {"kind": "binary", "names": names, "binarize": binarize}
    everything = count_matrix(matrix, codes, classes, weights, **options)
    # Every pair with a candidate, those of two candidates once.
    n_pairs = wanted.size * (n_features - 1) - wanted.size * (wanted.size - 1) // 2
    penalty = pair_penalty(
        float(everything.class_count.sum()), classes.shape[0], max(1, n_pairs)
    )
    found: dict[tuple[int, int], float] = {}
    for i in wanted.tolist():
        rows = _rows_with(matrix, i, binarize)
        part = count_matrix(
            matrix[rows],
            codes[rows],
            classes,
            None if weights is None else weights[rows],
            **options,
        )
        without = everything - part
        excess = interaction_excess(
            _dense(without.feature_count),
            _dense(part.feature_count),
            without.class_count,
            part.class_count,
        )
        excess[i] = -np.inf  # a feature says nothing new about itself
        for j in np.flatnonzero(excess > penalty).tolist():
            found[min(i, j), max(i, j)] = float(excess[j])
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:max_pairs]
    pairs = np.array([pair for pair, _ in ranked], dtype=np.int64).reshape(-1, 2)
    values = np.array([excess for _, excess in ranked])
    return Interactions(
        pairs,
        values,
        chi2.sf(2.0 * values, classes.shape[0] - 1),
        penalty,
        int(n_pairs),
    )


def _dense(table: Any) -> np.ndarray:
    # (K, m) of one candidate at a time; many classes times many columns at once are
    # beyond what pairs can be looked at anyway.
    return table if isinstance(table, np.ndarray) else table.toarray()


def _rows_with(matrix: Any, column: int, binarize: float | None) -> np.ndarray:
    threshold = 0.0 if binarize is None else binarize
    if sparse.issparse(matrix):
        values = matrix[:, [column]].toarray().ravel()
    else:
        values = matrix[:, column]
    return np.flatnonzero(values > threshold)
