"""The path over k of a fitted model's own problem, and its cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.counts import ClassCounts
from bayesieve.exceptions import GapWarning
from bayesieve.solvers import SparsityPath
from bayesieve.solvers._additive import AdditiveProblem
from bayesieve.solvers._criteria import default_sizes
from bayesieve.solvers._path import MODELS, additive_path, multinomial_path
from bayesieve.solvers._problem import MultinomialProblem
from bayesieve.solvers._selection import build_problem
from bayesieve.utils._feature_view import (
    class_contrast,
    is_bernoulli,
    logit,
    standardised_means,
)

__all__ = [
    "CrossValidation",
    "ModelPath",
    "cross_validation_of",
    "matching_counts",
    "model_kind",
    "path_of_model",
]

#: Seconds that one size of a path may take; a size that hits it keeps its true gap.
_SECONDS_A_SIZE = 1.0
_MOST_SIZES = 90


@dataclass(frozen=True)
class CrossValidation:
    """Scores over sizes: mean, standard error, and the two choices made from them."""

    k: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    best: int
    one_se: int

    @classmethod
    def from_scores(
        cls, k: np.ndarray, mean: np.ndarray, error: np.ndarray
    ) -> CrossValidation:
        """Best size, the smaller on ties, and the smallest within one error of it."""
        order = np.argsort(k, kind="stable")
        k, mean, error = k[order].astype(np.int64), mean[order], error[order]
        best = int(np.argmax(mean))
        within = np.flatnonzero(mean >= mean[best] - error[best])
        return cls(k, mean, error, int(k[best]), int(k[within[0]]))


def cross_validation_of(model: Any) -> CrossValidation | None:
    """The scores of a fitted CV classifier at the smoothing it chose."""
    results = getattr(model, "cv_results_", None)
    if results is None or "param_k" not in results:
        return None
    sizes = np.asarray(results["param_k"])
    rows = np.ones(sizes.shape[0], dtype=bool)
    if "param_alpha" in results:
        rows = np.asarray(results["param_alpha"]) == model.alpha_
    folds = sum(name.startswith("split") for name in results)
    error = np.asarray(results["std_test_score"])[rows] / np.sqrt(max(folds, 1))
    mean = np.asarray(results["mean_test_score"])[rows]
    found = CrossValidation.from_scores(sizes[rows], mean, error)
    if not hasattr(model, "k_best_"):
        return found
    return CrossValidation(
        found.k, found.mean, found.error, int(model.k_best_), int(model.k_1se_)
    )


def model_kind(model: Any) -> str | None:
    """Which of the four models a certificate speaks of; None without one."""
    if not hasattr(model, "certificate_"):
        return None
    for attribute in ("_model", "model"):
        kind = getattr(model, attribute, None)
        if isinstance(kind, str) and kind in MODELS:
            return kind
    return "bernoulli" if is_bernoulli(model) else "multinomial"


def matching_counts(model: Any, counts: Any) -> ClassCounts:
    """Counts of the features the model was fitted on, or an error that says why not."""
    name = type(model).__name__
    if not isinstance(counts, ClassCounts):
        raise TypeError(
            f"counts must be the ClassCounts that {name} was fitted on. "
            f"Got {type(counts).__name__}."
        )
    if counts.n_features != model.n_features_in_ and hasattr(
        model, "_without_rare_terms"
    ):
        counts = model._without_rare_terms(counts)  # min_df and max_df of texts
    if (
        counts.n_features != model.n_features_in_
        or counts.n_classes != model.classes_.shape[0]
    ):
        raise ValueError(
            f"counts must be those that {name} was fitted on: "
            f"{model.classes_.shape[0]} classes and {model.n_features_in_:,} features. "
            f"Got {counts.n_classes} classes and {counts.n_features:,} features."
        )
    return counts


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
            return self.problem.gains[columns]
        smoothed = self.problem.smoothed(columns)
        total = smoothed.sum(axis=0)
        shares = smoothed.sum(axis=1) / max(float(smoothed.sum()), 1e-300)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(smoothed / total) - np.log(shares)[:, None]
            return np.where(smoothed > 0, smoothed * ratio, 0.0).sum(axis=0)

    def weights(self, columns: np.ndarray) -> np.ndarray | None:
        """Weights of a support as in `FeatureView`; None for categories."""
        if self.kind == "categorical":
            return None
        if self.kind == "gaussian":
            rows = np.maximum(self.counts.class_count, 1e-300)[:, None]
            variance = self.counts.centred_squares[:, columns] / rows
            return standardised_means(self.counts.mean[:, columns], variance)
        with np.errstate(divide="ignore"):
            if isinstance(self.problem, AdditiveProblem):
                return class_contrast(logit(np.log(self.problem.estimate(columns))))
            smoothed = self.problem.smoothed(columns)
            shares = smoothed / smoothed.sum(axis=1, keepdims=True)
            return class_contrast(np.log(shares))


def path_of_model(
    model: Any, counts: Any, *, sizes: Sequence[int] = ()
) -> ModelPath | None:
    """Solve the path of the problem that a model solved for one k.

    None where the model is not about the k best features. The grid holds the model's
    own k and ``sizes`` beside the usual fifty.
    """
    kind = model_kind(model)
    if kind is None:
        return None
    counts = matching_counts(model, counts)
    if hasattr(model, "_solver_options"):
        options = model._solver_options()
    else:
        options = {"alpha": model.alpha} if hasattr(model, "alpha") else {}
    problem = build_problem(counts, model=kind, owner=type(model).__name__, **options)
    additive = isinstance(problem, AdditiveProblem)
    available = problem.n_eligible if additive else problem.n_nonempty
    if available < 2:
        return None
    smallest = 1 if additive else 2
    own = [int(np.shape(model.support_indices_)[0]), *map(int, sizes)]
    grid = np.union1d(default_sizes(available, smallest=2), own)
    grid = grid[(grid >= smallest) & (grid <= available)]
    if grid.shape[0] > _MOST_SIZES:
        grid = default_sizes(available, smallest=2)
    with warnings.catch_warnings():
        # Whoever sees the path sees its gaps.
        warnings.simplefilter("ignore", GapWarning)
        if additive:
            path = additive_path(problem, grid)
        else:
            limit = getattr(model, "time_limit", None)
            path = multinomial_path(
                problem,
                grid,
                n_rows=float(counts.class_count.sum()),
                exact=bool(getattr(model, "exact", True)),
                time_limit=_SECONDS_A_SIZE
                if limit is None
                else min(float(limit), _SECONDS_A_SIZE),
            )
    return ModelPath(_with_own_answer(path, model), problem, counts, kind)


def _with_own_answer(path: SparsityPath, model: Any) -> SparsityPath:
    """The path, with the model's own support and certificate at its own size.

    A search that was not exact, or was stopped, may end elsewhere when it comes from
    other sizes; one model shows one number.
    """
    support = np.asarray(model.support_indices_)
    certificate = model.certificate_
    at = np.flatnonzero(path.k == certificate.k)
    if not at.size or support.shape[0] != certificate.k:
        return path  # the certificate of the weighted models is about their candidates
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
