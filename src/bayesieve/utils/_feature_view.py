"""One view of what any fitted model says of its features: names, scores, weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "FeatureView",
    "class_contrast",
    "feature_names",
    "feature_view",
    "is_bernoulli",
    "logit",
    "model_sentence",
    "share_in_percent",
    "standardised_means",
]

#: Estimates of a screener are made for a picture only up to this many numbers.
_CHEAP_CELLS = 1_000_000


@dataclass(frozen=True)
class FeatureView:
    """The features a model uses, the strongest first.

    Attributes
    ----------
    indices : ndarray of int64 of shape (k,)
        Columns.
    names : list of str
    score : ndarray of shape (k,)
        What the order goes by.
    score_name : str
    weights : ndarray of shape (1, k) or (n_classes, k), or None
        One row of signed weights for two classes (towards the second), or of weights
        without a sign; a row for each class where there are more. May be infinite.
    weight_name : str
    signed : bool
        Whether a weight speaks for a class by its sign.
    discounts : ndarray of shape (k,) or None
        Factor in [0, 1] that is already part of `weights`.
    classes : list of str
    total : int
        How many features the model uses; those here may be the first of them.
    """

    indices: np.ndarray
    names: list[str]
    score: np.ndarray
    score_name: str
    weights: np.ndarray | None
    weight_name: str
    signed: bool
    discounts: np.ndarray | None
    classes: list[str]
    total: int

    def first(self, limit: int) -> FeatureView:
        """The ``limit`` strongest features by score."""
        cut = slice(0, limit)
        return FeatureView(
            self.indices[cut],
            self.names[cut],
            self.score[cut],
            self.score_name,
            None if self.weights is None else self.weights[:, cut],
            self.weight_name,
            self.signed,
            None if self.discounts is None else self.discounts[cut],
            self.classes,
            self.total,
        )


def class_contrast(logs: np.ndarray) -> np.ndarray:
    """Log-parameters (n_classes, k) as weights: second less first class, or centred.

    A class for which a feature is impossible has weight minus infinity, and then the
    others are compared among themselves.
    """
    if logs.shape[0] == 2:
        with np.errstate(invalid="ignore"):
            difference = logs[1:] - logs[:1]
        return np.where(np.isnan(difference), 0.0, difference)
    finite = np.isfinite(logs)
    total = np.where(finite, logs, 0.0).sum(axis=0)
    return logs - total / np.maximum(finite.sum(axis=0), 1)


def logit(log_probability: np.ndarray) -> np.ndarray:
    """Log-odds of presence from its log-probability."""
    with np.errstate(divide="ignore"):
        return log_probability - np.log(-np.expm1(log_probability))


def standardised_means(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Differences of class means in standard deviations, as `class_contrast`."""
    spread = np.sqrt(variance.mean(axis=0))
    return class_contrast(mean / np.where(spread > 0, spread, 1.0))


def is_bernoulli(model: Any) -> bool:
    """Whether features are present or absent, so that absence speaks too."""
    return (
        getattr(model, "model", None) == "bernoulli"
        or getattr(model, "_kind", None) == "binary"
        or "Bernoulli" in type(model).__name__
    )


def feature_names(model: Any, indices: np.ndarray) -> list[str]:
    """Names of some columns of a fitted model, ``x7`` where there are none."""
    terms = getattr(model, "support_terms_", None)
    if terms is not None:  # only the selected terms are kept, in their order
        kept = model.support_indices_
        places = np.minimum(np.searchsorted(kept, indices), kept.shape[0] - 1)
        return [
            str(terms[place]) if kept[place] == i else f"x{i}"
            for place, i in zip(places.tolist(), indices.tolist(), strict=True)
        ]
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"x{i}" for i in indices.tolist()]
    return [str(names[i]) for i in indices.tolist()]


def feature_view(model: Any, limit: int | None = None) -> FeatureView:
    """What a fitted classifier, selector or encoder says of its strongest features.

    With a limit, only so many are looked up by name: a model may use millions.
    """
    if hasattr(model, "support_indices_"):
        indices = np.asarray(model.support_indices_, dtype=np.int64)
    elif hasattr(model, "levels_"):
        indices = np.flatnonzero(np.asarray(model.levels_) > 0)
    else:
        raise TypeError(
            "A fitted classifier, selector or encoder of bayesieve is needed. "
            f"Got {type(model).__name__}."
        )
    classes = [str(c) for c in np.asarray(model.classes_).tolist()]
    weights, weight_name, signed = _weights(model, indices, classes)
    discounts = _discounts(model, indices)
    if discounts is not None and weights is not None and signed:
        # A feature without weight has no say, however certain it would be.
        with np.errstate(invalid="ignore"):
            weights = np.where(discounts > 0, discounts * weights, 0.0)
    score, score_name = _score(model, indices, weights)
    order = np.lexsort((indices, -np.nan_to_num(score, nan=-np.inf)))[:limit]
    return FeatureView(
        indices=indices[order],
        names=feature_names(model, indices[order]),
        score=score[order],
        score_name=score_name,
        weights=None if weights is None else weights[:, order],
        weight_name=weight_name,
        signed=signed,
        discounts=None if discounts is None else discounts[order],
        classes=classes,
        total=int(indices.shape[0]),
    )


def _weights(
    model: Any, indices: np.ndarray, classes: list[str]
) -> tuple[np.ndarray | None, str, bool]:
    if len(classes) == 2:
        odds, distance = f"log-odds of {classes[1]}", "difference of means"
    else:
        odds, distance = "log-probability less its mean", "mean less overall mean"
    logs = getattr(model, "feature_log_prob_", None)
    if isinstance(logs, np.ndarray):
        return class_contrast(logit(logs) if is_bernoulli(model) else logs), odds, True
    if hasattr(model, "var_"):
        weights = standardised_means(model.theta_, model.var_)
        return weights, f"{distance} (standard deviations)", True
    if hasattr(model, "weights_"):
        return np.asarray(model.weights_)[None, indices], "weight", False
    if hasattr(model, "binarize") and hasattr(model, "scores_") and is_screener(model):
        if len(classes) * model.n_features_in_ > _CHEAP_CELLS:
            return None, "", False
        with np.errstate(divide="ignore"):
            logs = np.log(np.clip(model.theta_[:, indices], 0.0, 1.0))
        return class_contrast(logit(logs)), odds, True
    return None, "", False


def is_screener(model: Any) -> bool:
    """Whether a selector estimates presences (`theta_`), without asking for them."""
    return hasattr(type(model), "theta_")


def _discounts(model: Any, indices: np.ndarray) -> np.ndarray | None:
    """Weights in [0, 1] beside log-probabilities; None where there is one of both."""
    if not hasattr(model, "weights_") or not hasattr(model, "feature_log_prob_"):
        return None
    return support_weights(model)


def support_weights(model: Any) -> np.ndarray:
    """Weights of the selected features; a model of texts holds no others."""
    weights = np.asarray(model.weights_, dtype=np.float64)
    if hasattr(model, "support_terms_"):
        return weights
    return np.asarray(weights[np.asarray(model.support_indices_)])


def _score(
    model: Any, indices: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, str]:
    if hasattr(model, "support_gains_"):
        return np.asarray(model.support_gains_), "gain (nats)"
    if hasattr(model, "scores_"):
        certified = hasattr(model, "certificate_")
        name = "gain (nats)" if certified else "score"
        if hasattr(model, "degrees_of_freedom_"):
            name = "BIC saved"
        return np.asarray(model.scores_)[indices], name
    if hasattr(model, "feature_importances_"):
        importances = np.asarray(model.feature_importances_)
        name = "importance (nats)"
        if importances.shape[0] == indices.shape[0]:
            return importances, name
        return importances[indices], name
    if hasattr(model, "levels_"):
        return np.asarray(model.levels_)[indices], "level"
    if weights is None:
        return np.zeros(indices.shape[0]), "score"
    return np.abs(weights).max(axis=0, initial=0.0), "strength"


def share_in_percent(share: float) -> str:
    """A small share in plain words."""
    return f"{100 * share:.2g} %" if share < 0.0995 else f"{100 * share:.0f} %"


def model_sentence(model: Any) -> str:
    """What is proven of a fitted model, in one plain sentence."""
    noun = "terms" if hasattr(model, "support_terms_") else "features"
    n_in = int(np.shape(getattr(model, "weights_", ()))[0]) if _is_table(model) else 0
    n_in = n_in or int(model.n_features_in_)
    if not hasattr(model, "support_indices_"):
        informative = int((np.asarray(model.levels_) > 0).sum())
        return f"{informative:,} of {n_in:,} columns say something about the label."
    k = int(np.shape(model.support_indices_)[0])
    if k == 0:
        return f"No {noun[:-1]} says anything about the label."
    one = k == 1
    ones = noun[:-1] if one else noun
    certificate = getattr(model, "certificate_", None)
    if hasattr(model, "dual_gap_"):
        return _weighted_sentence(model, k, ones)
    if certificate is None:
        if hasattr(model, "weights_"):
            rest = "; the others have no weight" if k < n_in else ""
            return f"{k:,} of {n_in:,} columns used{rest}."
        rest = ", the others screened out" if k < n_in else ""
        return f"{k:,} of {n_in:,} {noun} kept{rest}."
    if certificate.is_optimal:
        if k == n_in:
            return f"All {k:,} {ones} are used, so there is nothing to prove."
        others = f"{ones} explains" if one else f"{k:,} {ones} explain"
        return f"Proven: no other {others} the labels better."
    these = f"this {ones} is" if one else f"these {k:,} {ones} are"
    if not np.isfinite(certificate.relative_gap):
        return f"Not proven: it is open how far {these} from the best possible."
    remark = f"; {certificate.remark}" if certificate.remark else ""
    return (
        f"Proven: {these} at most {share_in_percent(certificate.relative_gap)} short "
        f"of the best possible{remark}."
    )


def _weighted_sentence(model: Any, k: int, ones: str) -> str:
    gap = max(float(model.dual_gap_), 0.0)
    return (
        f"Proven: for these {k:,} {ones} and this penalty, no other weights fit more "
        f"than {gap:.1g} nats better."
    )


def _is_table(model: Any) -> bool:
    return hasattr(model, "partitions_")
