"""The best candidate, the sparsest within one standard error, and their table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Choice", "best_and_sparsest", "choose", "cv_results"]


@dataclass(frozen=True)
class Choice:
    """Which candidates of a grid of (settings, sizes) were chosen.

    Attributes
    ----------
    setting : int
        Row of the best candidate.
    best : int
        Column of the best candidate; the sparser one on ties.
    within_error : int
        Column of the sparsest candidate of that row whose mean score is within one
        standard error of the best.
    score : float
        Mean score of the best.
    """

    setting: int
    best: int
    within_error: int
    score: float

    def size(self, rule: str) -> int:
        """Column that the rule "best" or "1se" takes."""
        return self.within_error if rule == "1se" else self.best


def choose(scores: NDArray[np.float64]) -> Choice | None:
    """Choose among candidates scored on every fold.

    Parameters
    ----------
    scores : ndarray of shape (n_settings, n_sizes, n_folds)
        Larger is better; sizes go from the sparsest candidate on. NaN stands for what
        was not scored; folds scored as a whole count, or else what the first has.

    Returns
    -------
    choice : Choice or None
        None if nothing was scored.
    """
    scores = finished_folds(scores)
    mean = scores.mean(axis=2)
    if np.isnan(mean).all():
        return None
    setting = int(np.unravel_index(int(np.nanargmax(mean.T)), mean.T.shape)[1])
    error = scores[setting].std(axis=1) / np.sqrt(scores.shape[2])
    best, sparsest = best_and_sparsest(mean[setting], error)
    return Choice(setting, best, sparsest, float(mean[setting, best]))


def best_and_sparsest(
    mean: NDArray[np.float64], error: NDArray[np.float64]
) -> tuple[int, int]:
    """Best of candidates from the sparsest on, and the first within its error of it."""
    best = int(np.nanargmax(mean))
    return best, int(np.flatnonzero(mean >= mean[best] - error[best])[0])


def finished_folds(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the folds that are scored as a whole, the first one if none is."""
    whole = ~np.isnan(scores).any(axis=(0, 1))
    return scores[:, :, whole] if whole.any() else scores[:, :, :1]


def cv_results(
    params: Sequence[Mapping[str, Any]], scores: NDArray[np.float64]
) -> dict[str, Any]:
    """Return the scores in the layout of ``GridSearchCV.cv_results_``.

    Parameters
    ----------
    params : sequence of dict
        Parameters of each candidate.
    scores : ndarray of shape (n_candidates, n_folds)
    """
    mean = scores.mean(axis=1)
    order = np.where(np.isnan(mean), np.inf, -mean)
    return {
        **{
            f"param_{name}": np.array([own[name] for own in params])
            for name in (params[0] if params else ())
        },
        "params": [dict(own) for own in params],
        **{f"split{i}_test_score": scores[:, i] for i in range(scores.shape[1])},
        "mean_test_score": mean,
        "std_test_score": scores.std(axis=1),
        "rank_test_score": np.searchsorted(np.sort(order), order).astype(np.int32) + 1,
    }
