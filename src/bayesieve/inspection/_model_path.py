"""The path over k of a fitted model's own problem."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve._description import (
    Description,
    class_contrast,
    logit,
    standardised_means,
)
from bayesieve.counts import ClassCounts
from bayesieve.exceptions import GapWarning
from bayesieve.solvers import SparsityPath
from bayesieve.solvers._additive import AdditiveProblem
from bayesieve.solvers._criteria import default_sizes
from bayesieve.solvers._path import additive_path, multinomial_path
from bayesieve.solvers._problem import MultinomialProblem

__all__ = ["ModelPath", "matching_counts", "path_of_model"]

#: Seconds that one size of a path may take; a size that hits it keeps its true gap.
_SECONDS_A_SIZE = 1.0
_MOST_SIZES = 90


def matching_counts(found: Description, counts: Any) -> ClassCounts:
    """Counts of the features the model was fitted on, or an error that says why not."""
    if not isinstance(counts, ClassCounts):
        raise TypeError(
            f"counts must be the ClassCounts that {found.owner} was fitted on. "
            f"Got {type(counts).__name__}."
        )
    own, (n_classes, n_features) = counts, (found.labels.shape[0], found.n_features)
    if own.n_features != n_features and found.pruned is not None:
        own = found.pruned(own)
    if own.n_features != n_features or own.n_classes != n_classes:
        raise ValueError(
            f"counts must be those that {found.owner} was fitted on: {n_classes} "
            f"classes and {n_features:,} features. "
            f"Got {own.n_classes} classes and {own.n_features:,} features."
        )
    return own


@dataclass(frozen=True)
class ModelPath:
    """A path with what the features weigh at each of its sizes."""

    path: SparsityPath
    problem: MultinomialProblem | AdditiveProblem
    counts: ClassCounts
    kind: str

    def gains(self, columns: np.ndarray) -> np.ndarray:
        """Gain of each feature of a support, in nats; they add up to its gain."""
        if isinstance(self.problem, AdditiveProblem):
            return np.asarray(self.problem.gains[columns])
        smoothed = self.problem.smoothed(columns)
        total = smoothed.sum(axis=0)
        shares = smoothed.sum(axis=1) / max(float(smoothed.sum()), 1e-300)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(smoothed / total) - np.log(shares)[:, None]
            gains = np.where(smoothed > 0, smoothed * ratio, 0.0).sum(axis=0)
        return np.asarray(gains)

    def weights(self, columns: np.ndarray) -> np.ndarray | None:
        """Weights of a support as in `Description`; None for categories."""
        if self.kind == "categorical":
            return None
        if self.counts.mean is not None and self.counts.centred_squares is not None:
            rows = np.maximum(self.counts.class_count, 1e-300)[:, None]
            variance = self.counts.centred_squares[:, columns] / rows
            return standardised_means(self.counts.mean[:, columns], variance)
        with np.errstate(divide="ignore"):
            if isinstance(self.problem, AdditiveProblem):
                return class_contrast(logit(np.log(self.problem.estimate(columns))))
            smoothed = self.problem.smoothed(columns)
            shares = smoothed / smoothed.sum(axis=1, keepdims=True)
            return class_contrast(np.log(shares))


def path_of_model(found: Description, counts: Any) -> ModelPath | None:
    """Solve the path of the problem that a model solved for one k.

    None where the model is not about the k best features. The grid holds the model's
    own k and those of its cross-validation beside the usual fifty.
    """
    own = found.problem
    if own is None:
        return None
    counts = matching_counts(found, counts)
    problem, rules = own.build(counts, found.owner)
    if isinstance(problem, AdditiveProblem):
        available, smallest = problem.n_eligible, 1
    else:
        available, smallest = problem.n_nonempty, 2
    if rules is not None:
        available = min(available, rules.n_items - rules.excluded.shape[0])
        smallest = max(smallest, rules.included.shape[0])
    if available < 2:
        return None
    scored = () if found.sizes is None else found.sizes.values
    usual = default_sizes(available, smallest=2)
    grid = np.union1d(usual, [found.total, *map(int, scored)]).astype(np.int64)
    grid = grid[(grid >= smallest) & (grid <= available)]
    if grid.shape[0] > _MOST_SIZES:
        grid = usual
    with warnings.catch_warnings():
        # Whoever sees the path sees its gaps.
        warnings.simplefilter("ignore", GapWarning)
        if isinstance(problem, AdditiveProblem):
            path = additive_path(problem, grid, rules=rules)
        else:
            path = multinomial_path(
                problem,
                grid,
                n_rows=float(counts.class_count.sum()),
                exact=own.exact,
                time_limit=min(own.time_limit or _SECONDS_A_SIZE, _SECONDS_A_SIZE),
            )
    return ModelPath(_with_own_answer(path, found), problem, counts, own.model)


def _with_own_answer(path: SparsityPath, found: Description) -> SparsityPath:
    """The path, with the model's own support and certificate at its own size.

    A search that was not exact, or was stopped, may end elsewhere when it comes from
    other sizes; one model shows one number.
    """
    support, certificate = found.indices, found.certificate
    assert certificate is not None
    at = np.flatnonzero(path.k == certificate.k)
    if found.is_weighted or not at.size or support.shape[0] != certificate.k:
        return path  # the path is that of the likelihood, whatever weights gain
    objective, bound, gap = (
        np.array(values) for values in (path.objective, path.upper_bound, path.gap)
    )
    objective[at], bound[at] = certificate.objective, certificate.upper_bound
    gap[at] = certificate.gap
    return replace(
        path,
        objective=objective,
        upper_bound=bound,
        gap=gap,
        _support=lambda k: support if k == certificate.k else path.support(k),
    )
