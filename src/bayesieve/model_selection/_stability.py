"""What many selections on resampled rows say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from bayesieve.model_selection._stability_bounds import ASSUMPTIONS, error_bound

__all__ = ["GainSample", "StabilitySelection"]


@dataclass(frozen=True, eq=False)
class GainSample:
    """Gains of the features selected on all rows, there and in every resample.

    Attributes
    ----------
    estimate : ndarray of shape (k,)
        In nats, on all rows.
    resampled : ndarray of shape (n_resamples, k)
        In nats for as much weight as all rows have.
    """

    estimate: np.ndarray
    resampled: np.ndarray

    def intervals(self, confidence: float) -> np.ndarray:
        """Intervals (k, 2), less what resampling adds on average."""
        bias = self.resampled.mean(axis=0) - self.estimate
        spread = self.resampled.std(axis=0, ddof=1)
        middle, width = self.estimate - bias, _normal_quantile(confidence) * spread
        ends = np.column_stack([middle - width, middle + width])
        return np.asarray(np.maximum(ends, 0.0))


@dataclass(frozen=True, eq=False)
class StabilitySelection:
    """How often each feature is selected when rows are resampled.

    Made by :func:`~bayesieve.stability_selection`. Frequencies are **estimates** with
    intervals; the error bound is a **theorem** for complementary pairs of independent
    rows (or groups).

    Parameters
    ----------
    frequencies_ : ndarray of shape (n_features,)
        Share of the resamples that select each feature.
    supports_ : csr_array of bool of shape (n_resamples, n_features)
        What each resample selects; of pairs, two lines after one another are halves.
    support_indices_ : ndarray of int64
        Features selected on all rows.
    method : {"pairs", "bootstrap"}
        How rows were resampled.
    cutoff : float
        Frequency from which a feature counts as stable.
    gains_ : GainSample or None
        Gains of the features selected on all rows, where the estimator has gains.
    feature_names_ : ndarray of str of shape (n_features,) or None

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        Whether a feature is stable.
    error_bound_ : float or None
        :meth:`error_bound` at `cutoff`; None for the bootstrap.
    n_selected_ : float
        Mean number of features that a resample selects.
    n_resamples, n_features : int

    See Also
    --------
    StabilityDisplay : The picture.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveFeatureSelector, stability_selection
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=400)
    >>> X = rng.poisson(1.0, size=(400, 10))
    >>> X[:, 0] += 2 * y
    >>> X[:, 1] += 1 - y
    >>> found = stability_selection(NaiveFeatureSelector(k=2), X, y, random_state=0)
    >>> found.selected()
    array([0, 1])
    >>> round(found.error_bound_, 3)
    0.5
    """

    frequencies_: np.ndarray
    supports_: sparse.csr_array
    support_indices_: np.ndarray
    method: str
    cutoff: float
    gains_: GainSample | None = None
    feature_names_: Any = None

    @classmethod
    def of_supports(
        cls, supports: Sequence[np.ndarray], n_features: int, **fields: Any
    ) -> StabilitySelection:
        """Gather what each resample has selected."""
        indices = np.concatenate(supports).astype(np.int64)
        starts = np.cumsum([0, *(len(support) for support in supports)])
        shape = (len(supports), n_features)
        table = sparse.csr_array(
            (np.ones(indices.size, dtype=bool), indices, starts), shape=shape
        )
        frequencies = np.bincount(indices, minlength=n_features) / len(supports)
        return cls(frequencies, table, **fields)

    @property
    def n_resamples(self) -> int:
        """Number of resamples."""
        return int(self.supports_.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features that could be selected."""
        return int(self.supports_.shape[1])

    @property
    def n_selected_(self) -> float:
        """Mean number of features that a resample selects."""
        return float(self.supports_.nnz / self.n_resamples)

    @property
    def support_(self) -> np.ndarray:
        """Mask of the stable features, shape (n_features,)."""
        return np.asarray(self.frequencies_ >= self.cutoff)

    @property
    def error_bound_(self) -> float | None:
        """Bound at `cutoff` without further assumptions; None for the bootstrap."""
        return None if self.method != "pairs" else self.error_bound()

    def selected(self, cutoff: float | None = None) -> np.ndarray:
        """Indices of the stable features, the most frequent first.

        Parameters
        ----------
        cutoff : float in (0, 1], optional
            Another frequency than the one that was asked for.
        """
        level = self.cutoff if cutoff is None else check_cutoff(cutoff, 0)
        order = np.argsort(-self.frequencies_, kind="stable")
        return order[: int(np.count_nonzero(self.frequencies_ >= level))]

    def names(self, indices: Any) -> list[str]:
        """Names of some features; "x3" where there are none.

        Parameters
        ----------
        indices : array-like of int
        """
        if self.feature_names_ is None:
            return [f"x{i}" for i in np.asarray(indices).tolist()]
        return [str(self.feature_names_[i]) for i in np.asarray(indices).tolist()]

    def error_bound(
        self, cutoff: float | None = None, assumption: str = "none"
    ) -> float:
        """Bound the expected number of features that are stable by chance.

        Those are features of low selection probability: half of the rows select them
        with a chance of at most q / m, as drawing q = `n_selected_` of the m features
        at random would.

        Parameters
        ----------
        cutoff : float in (1/2, 1], optional
            Another frequency than the one that was asked for.
        assumption : {"none", "unimodal", "r-concave"}, default="none"
            What is believed of the distribution of the frequency of such a feature:
            nothing (``q**2 / ((2 cutoff - 1) m)``), that its share of pairs in which
            both halves select it is unimodal, or that it is r-concave (r = -1/2, and
            -1/4 for the frequency itself): tails as light as those that simulations
            show.

        Returns
        -------
        bound : float

        Notes
        -----
        Rows (or groups) must be independent and alike. Nothing is asked of the
        estimator. The first bound is also the one of Meinshausen and Bühlmann (2010) on
        the number of *noise* features, if the noise features are exchangeable and the
        estimator is not worse than chance.

        References
        ----------
        R. D. Shah, R. J. Samworth, "Variable selection with error control: another look
        at stability selection", JRSS B 75 (2013).
        """
        if self.method != "pairs":
            raise ValueError(
                "An error bound exists for method='pairs', complementary halves of the "
                f"rows. Got method={self.method!r}."
            )
        if assumption not in ASSUMPTIONS:
            allowed = ", ".join(map(repr, ASSUMPTIONS))
            raise ValueError(
                f"The 'assumption' parameter must be one of {allowed}. "
                f"Got {assumption!r}."
            )
        tau = check_cutoff(self.cutoff if cutoff is None else cutoff, 0.5)
        return error_bound(
            self.n_selected_, self.n_features, tau, self.n_resamples // 2, assumption
        )

    def frequency_intervals(self, confidence: float = 0.95) -> np.ndarray:
        """Intervals for the chance that a resample of these rows selects a feature.

        Wilson's, for a share of `n_resamples` draws: what more resamples could still
        change.

        Parameters
        ----------
        confidence : float in (0, 1), default=0.95

        Returns
        -------
        intervals : ndarray of shape (n_features, 2)
        """
        z, n, share = _normal_quantile(confidence), self.n_resamples, self.frequencies_
        middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
        width = z / (1 + z**2 / n)
        width = width * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
        ends = np.column_stack([middle - width, middle + width])
        return np.asarray(np.clip(ends, 0.0, 1.0))

    def gain_intervals(self, confidence: float = 0.95) -> np.ndarray:
        """Intervals for the gains of the features in `support_indices_`, in nats.

        For the gain that rows like these have in truth: the estimate less the bias that
        the resamples show, and so many of their standard deviations to both sides. Of a
        classifier a feature has no gain in a resample that leaves it out.

        Parameters
        ----------
        confidence : float in (0, 1), default=0.95

        Returns
        -------
        intervals : ndarray of shape (len(support_indices_), 2)
        """
        if self.gains_ is None:
            raise ValueError(
                "gain_intervals needs an estimator with gains in nats, such as "
                "NaiveFeatureSelector or SparseMultinomialNB. Got one without."
            )
        return self.gains_.intervals(confidence)

    def __repr__(self) -> str:
        bound = "" if self.error_bound_ is None else f", bound {self.error_bound_:.3g}"
        return (
            f"StabilitySelection({int(self.support_.sum())} of {self.n_features} "
            f"features in at least {self.cutoff:.0%} of {self.n_resamples} "
            f"resamples, method={self.method!r}{bound})"
        )


def check_cutoff(cutoff: Any, above: float) -> float:
    """Refuse what is not a share above some level."""
    if not (isinstance(cutoff, int | float | np.number) and above < cutoff <= 1):
        raise ValueError(
            f"The 'cutoff' parameter must be a number in ({above}, 1]. Got {cutoff!r}."
        )
    return float(cutoff)


def _normal_quantile(confidence: Any) -> float:
    if not (isinstance(confidence, float) and 0 < confidence < 1):
        raise ValueError(
            f"The 'confidence' parameter must be a float in (0, 1). Got {confidence!r}."
        )
    return float(ndtri(0.5 + confidence / 2))
