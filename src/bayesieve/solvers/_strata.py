"""What features tell within strata, and what they tell of one class.

Let stratum s have ``f_sci`` counts of feature i in class c, ``G_si`` in all classes,
and let the class hold the share ``p_sc`` of all counts of the stratum (of its rows,
where presence is counted). Given the stratum, the log-likelihood ratio of "each class
has a rate of its own" against "all classes have the rate of the stratum" is

    sum_s sum_c f_sci log(f_sci / (G_si p_sc))

and, for presence, the same of the absent rows besides. Rates of strata may be anything:
a feature that differs between strata only, which a batch effect does, has no gain.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesieve.counts import ClassCounts, StratifiedCounts
from bayesieve.solvers._bernoulli import bernoulli_problem
from bayesieve.solvers._exact_tests import IndependenceTest
from bayesieve.solvers._inputs import count_table
from bayesieve.solvers._logs import Floats, divergence
from bayesieve.solvers._problem import MultinomialProblem
from bayesieve.utils._resources import keeps_to_jobs

__all__ = ["ClassContrasts", "class_contrasts", "class_pvalues", "stratified_gains"]

Indices = NDArray[np.int64]


@keeps_to_jobs
def stratified_gains(counts: StratifiedCounts, *, n_jobs: int | None = -1) -> Floats:
    """Gain of every feature within strata, in nats: conditional on the stratum.

    A feature that tells the strata apart but not the classes within them has no gain,
    up to noise: of data without signal, half a nat for each class but one that a
    stratum has, on average. **Exact**.

    Parameters
    ----------
    counts : StratifiedCounts
        Of kind "count" or "binary".
    n_jobs : int or None, default=-1
        Threads, as scikit-learn counts them: -1 is one for each processor.

    Returns
    -------
    gains : ndarray of shape (n_features,)
        Likelihood without smoothing, at the class shares of each stratum. A class that
        a stratum lacks takes no part in it.

    See Also
    --------
    bayesieve.ClassCounts.from_anndata : Counts by batch or donor.

    Notes
    -----
    Time O(S K m) for S strata. The sum of the gains of a support is its gain in a model
    in which each stratum has rates of its own, so the k largest are its best features.

    Examples
    --------
    The second feature tells the batches apart, and seems to tell the classes apart as
    the batches have them in different shares.

    >>> from bayesieve import ClassCounts, StratifiedCounts, stratified_gains
    >>> batch = {
    ...     "old": ClassCounts(["a", "b"], [80, 20], [[40, 80, 720], [0, 20, 190]]),
    ...     "new": ClassCounts(["a", "b"], [20, 80], [[10, 2, 198], [0, 8, 832]]),
    ... }
    >>> stratified_gains(StratifiedCounts(batch)).round(1)
    array([25. ,  0. ,  0.4])
    >>> pooled = StratifiedCounts({"all": StratifiedCounts(batch).total})
    >>> stratified_gains(pooled).round(1)
    array([34.7, 13.8,  2.8])
    """
    name = "stratified_gains"
    if not isinstance(counts, StratifiedCounts):
        raise TypeError(
            f"{name} needs a StratifiedCounts. Got {type(counts).__name__}. Hint: "
            "ClassCounts.from_anndata(..., batch=...), or StratifiedCounts({...})."
        )
    total: Floats = np.zeros(counts.n_features)
    for part in counts.values():
        if not part.class_count.any():
            continue
        if part.kind == "binary":
            total = total + bernoulli_problem(part, 0.0, solver=name).gains
        else:
            table = count_table(part, kinds=("count", "binary"), solver=name)
            problem = MultinomialProblem(table, np.zeros(1))
            total = total + problem.gains(problem.overall_shares)
    return total


class ClassContrasts:
    """Some features, each class against all others, in all strata together.

    Attributes
    ----------
    gains : ndarray of shape (n_classes, n_selected)
        Gain in nats of telling the class from the others, negative where the class has
        less than the others; summed over strata.
    log2_ratios : ndarray of shape (n_classes, n_selected)
        log2 of the rate in the class over that of the others, common to the strata.
    """

    def __init__(self, gains: Floats, log2_ratios: Floats) -> None:
        self.gains, self.log2_ratios = gains, log2_ratios


def class_contrasts(
    parts: Iterable[ClassCounts], columns: Indices, alpha: float
) -> ClassContrasts:
    """Contrast each class with the others, within strata.

    The common ratio is that of Mantel and Haenszel, with ``alpha`` counts more in each
    stratum, shared as if there was no difference. With one stratum it is
    ``(f_c / p_c + alpha) / (f_rest / (1 - p_c) + alpha)``.
    """
    gains: Any = 0.0
    above: Any = 0.0
    below: Any = 0.0
    for part in parts:
        sizes = class_sizes(part)
        own = _dense(part.feature_count, columns)
        if sizes.sum() <= 0:
            continue
        share = (sizes / sizes.sum())[:, None]
        rest = 1.0 - share
        totals = own.sum(axis=0)
        others = totals - own
        gain = divergence(own, totals * share) + divergence(others, totals * rest)
        if part.kind == "binary":
            n = sizes.sum()
            absent, all_absent = sizes[:, None] - own, n - totals
            gain += divergence(absent, all_absent * share)
            gain += divergence(all_absent - absent, all_absent * rest)
        gains = gains + np.where(own >= totals * share, gain, -gain)
        above = above + own * rest + alpha * share * rest
        below = below + others * share + alpha * share * rest
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log2(above) - np.log2(below)
    # A class that is alone, or not there, in every stratum differs from nothing.
    ratios = np.where((above == 0) & (below == 0), 0.0, ratios)
    return ClassContrasts(gains, ratios)


def class_sizes(counts: ClassCounts) -> Floats:
    """What the rates of a class are of: its counts, or its rows for presence."""
    if counts.kind == "binary":
        return np.asarray(counts.class_count, dtype=np.float64)
    return np.asarray(counts.feature_count.sum(axis=1), dtype=np.float64).ravel()


def class_pvalues(counts: ClassCounts) -> Floats | None:
    """P-values of presence, each class against the others; None for anything else.

    Exact at every count, given how many rows have the feature and how many are of the
    class, if rows are independent: see `IndependenceTest`.
    """
    rows = counts.class_count
    if counts.kind != "binary" or (rows != np.floor(rows)).any():
        return None
    result = np.ones((counts.n_classes, counts.n_features))
    for c in np.flatnonzero((rows > 0) & (rows < rows.sum())):
        own = _dense(counts.feature_count, slice(None), [c])
        if (own != np.floor(own)).any():
            return None
        totals = np.asarray(counts.feature_count.sum(axis=0), dtype=np.float64).ravel()
        sizes = np.array([rows[c], rows.sum() - rows[c]], dtype=np.int64)
        table = np.vstack([own, totals - own])
        result[c] = IndependenceTest(sizes).pvalues(table)
    return result


def _dense(table: Any, columns: Any, rows: Any = None) -> Floats:
    """Some cells of a table, as an array."""
    part = table if rows is None else table[rows]
    part = part[:, columns]
    if sparse.issparse(part):
        part = part.toarray()
    return np.asarray(part, dtype=np.float64)
