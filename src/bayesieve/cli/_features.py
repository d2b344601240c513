"""The selected features of a fitted model, as rows of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Feature", "certificate_fields", "selected_features"]


@dataclass(frozen=True)
class Feature:
    """One selected feature.

    Attributes
    ----------
    name : str
    weight : float
        Two classes: log-odds towards the second one (of a measurement, the difference
        of the means in standard deviations). More classes: how far the class it speaks
        for lies above the others. Mixed table: weight in [0, 1].
    gain : float
        Log-likelihood in nats; of a mixed table, mean size of the term in the scores.
    towards : object
        The class that the feature speaks for; None for a column of a mixed table.
    by_class : list of float or None
        Count, rows or mean in each class.
    parts : str or None
        Of a mixed table: how the column was cut.
    """

    name: str
    weight: float
    gain: float
    towards: Any = None
    by_class: list[float] | None = None
    parts: str | None = None


def certificate_fields(certificate: Any) -> dict[str, Any]:
    """Return the parts of a certificate that are reported, as plain numbers."""
    numbers = ("objective", "null_objective", "upper_bound", "gap", "relative_gap")
    fields: dict[str, Any] = {
        name: float(getattr(certificate, name)) for name in numbers
    }
    fields["is_optimal"] = bool(certificate.is_optimal)
    fields["nodes"] = int(certificate.nodes)
    if certificate.remark:
        fields["remark"] = certificate.remark
    return fields


def selected_features(model: Any, counts: Any = None) -> list[Feature]:
    """Return the selected features, strongest towards the last class first."""
    if hasattr(model, "partitions_"):
        return _weighted_columns(model)
    names = _names(model)
    gains = model.feature_importances_
    if gains.shape[0] != len(names):  # one for every feature there is
        gains = gains[model.support_indices_]
    weights, towards = _weights(model)
    table = _by_class(model, counts)
    rows = [
        Feature(name, weight, gain, side, None if table is None else table[i])
        for i, (name, weight, gain, side) in enumerate(
            zip(names, weights, gains.tolist(), towards, strict=True)
        )
    ]
    if len(model.classes_) == 2:
        return sorted(rows, key=lambda row: (-row.weight, row.name))
    return sorted(rows, key=lambda row: (-row.gain, row.name))


def _names(model: Any) -> list[str]:
    if hasattr(model, "support_terms_"):
        return list(model.support_terms_)
    columns = model.support_indices_
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [str(column) for column in columns.tolist()]
    return [str(names[column]) for column in columns.tolist()]


def _weights(model: Any) -> tuple[list[float], list[Any]]:
    """Return the weight of each feature and the class it speaks for."""
    import numpy as np

    classes = model.classes_.tolist()
    if hasattr(model, "theta_"):  # Gaussian
        logs = model.theta_ / np.sqrt(model.var_.mean(axis=0))
    elif hasattr(model, "_weighted_slope"):
        logs = model._weighted_slope.T
    else:
        logs = np.maximum(model.feature_log_prob_, -700.0)
        if hasattr(model, "_absent_log_prob"):
            logs = logs - np.maximum(model._absent_log_prob, -700.0)
        logs = logs * getattr(model, "weights_", 1.0)
    if len(classes) == 2:
        difference = logs[1] - logs[0]
        return difference.tolist(), [classes[int(d > 0)] for d in difference]
    best = np.argmax(logs, axis=0)
    others = (logs.sum(axis=0) - logs.max(axis=0)) / (len(classes) - 1)
    lift = logs.max(axis=0) - others
    return lift.tolist(), [classes[i] for i in best]


def _by_class(model: Any, counts: Any) -> list[list[float]] | None:
    """Return count, rows or mean of each feature in each class."""
    import numpy as np

    if hasattr(model, "theta_"):
        return model.theta_.T.tolist()
    if counts is None or counts.kind not in ("count", "binary"):
        return None
    # Rare terms may have been left out of a model of texts, so places can differ.
    if counts.n_features != model.n_features_in_:
        return None
    table = counts.feature_count[:, model.support_indices_]
    table = table.toarray() if hasattr(table, "toarray") else table
    return np.asarray(table).T.tolist()


def _weighted_columns(model: Any) -> list[Feature]:
    importances = model.feature_importances_
    rows = []
    for j in model.support_indices_.tolist():
        partition = model.partitions_[j]
        kind = "intervals" if partition.kind == "numerical" else "groups"
        rows.append(
            Feature(
                partition.name,
                float(model.weights_[j]),
                float(importances[j]),
                parts=f"{partition.n_parts} {kind}",
            )
        )
    return sorted(rows, key=lambda row: (-row.gain, row.name))
