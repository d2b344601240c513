"""From a fitted model to the data of its report."""

from __future__ import annotations

import inspect
import platform
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesieve.inspection._discount_display import naive_strength
from bayesieve.inspection._model_path import (
    CrossValidation,
    ModelPath,
    cross_validation_of,
    matching_counts,
    path_of_model,
)
from bayesieve.inspection._report_data import ReportData
from bayesieve.inspection._report_paths import NameTable, k_path, rounded, weight_path
from bayesieve.inspection._report_schema import LIMITS, clean_text
from bayesieve.utils._feature_view import (
    FeatureView,
    feature_view,
    model_sentence,
    support_weights,
)

__all__ = ["collect_report"]


def collect_report(
    model: Any,
    *,
    data_name: str,
    counts: Any = None,
    evaluation: dict[str, Any] | None = None,
    seconds: dict[str, float] | None = None,
    parameters: dict[str, Any] | None = None,
    command: str | None = None,
    cv: list[dict[str, Any]] | None = None,
) -> ReportData:
    """Gather what a report shows of a fitted model.

    Parameters
    ----------
    model : fitted classifier, selector or encoder of this package
    data_name : str
        What to call the data.
    counts : ClassCounts, optional
        What the model was fitted on, for the path over k and the counts of each
        feature; by default its ``counts_``.
    evaluation : dict, optional
        How it did on other rows: ``rows``, ``accuracy``, ``balanced_accuracy``,
        ``log_loss``, ``all_features_accuracy``, ``all_features_log_loss``,
        ``majority_accuracy``, ``calibration`` (`Calibration.as_dict`); all optional.
    seconds : dict of str to float, optional
        How long each step took.
    parameters : dict, optional
        What else is needed to do it again, beside the parameters of the model.
    command : str, optional
        The command that did it.
    cv : list of dict, optional
        ``k``, ``mean`` and ``se`` of a score over sizes; by default the model's own.

    Returns
    -------
    ReportData

    Notes
    -----
    The path takes about fifty solves on the counts, each from where the last one ended,
    and at most a second each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import SelectiveNB
    >>> from bayesieve.inspection import collect_report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> report = collect_report(SelectiveNB().fit(X, y), data_name="iris")
    >>> report.columns["items"][0]["name"]
    'petal width (cm)'
    """
    check_is_fitted(model)
    view = feature_view(model, LIMITS["features"])
    if counts is None:
        counts = getattr(model, "counts_", None)
    scores = cross_validation_of(model) if cv is None else _scores_given(cv)
    solved = None
    if counts is not None:
        counts = matching_counts(model, counts)
        sizes = () if scores is None else scores.k.tolist()
        solved = path_of_model(model, counts, sizes=sizes)
    names = NameTable(model, counts)
    if view.weights is None and solved is not None:
        view = _with_weights(view, solved, model.support_indices_)
    table = hasattr(model, "partitions_")
    texts = hasattr(model, "support_terms_")
    noun = "columns" if table else "terms" if texts else "features"
    return ReportData(
        data_name=str(data_name),
        model=type(model).__name__,
        sentence=model_sentence(model),
        detail=_detail(model, noun),
        noun=noun,
        versions=_versions(),
        certificate=_certificate(model),
        data=_data(model, view, counts),
        features=_features(view, names, counts),
        path=k_path(model, view, solved, scores, names),
        weight_path=weight_path(model, names) if hasattr(model, "path_") else None,
        discounts=_discounts(model, names),
        columns=_columns(model) if table or hasattr(model, "costs_") else None,
        evaluation=_plain_evaluation(evaluation),
        seconds=[
            {"step": str(step), "seconds": float(value)}
            for step, value in (seconds or {}).items()
        ],
        parameters=_parameters(model, parameters or {}),
        command=command,
        python=_python(model),
        names=names.texts,
    )


def _scores_given(cv: list[dict[str, Any]]) -> CrossValidation | None:
    if not cv:
        return None
    try:
        rows = [(int(row["k"]), float(row["mean"]), float(row["se"])) for row in cv]
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(
            "cv must be a list of dicts with the numbers 'k', 'mean' and 'se'. "
            f"Got {str(cv)[:80]}."
        ) from error
    k, mean, error = (np.array(column) for column in zip(*rows, strict=True))
    return CrossValidation.from_scores(k, mean, error)


def _with_weights(
    view: FeatureView, solved: ModelPath, support: np.ndarray
) -> FeatureView:
    """A selector's features with the weights that its counts give them."""
    weights = solved.weights(support)  # each depends on the whole support
    if weights is None:
        return view
    weights = weights[:, np.searchsorted(support, view.indices)]
    name = "log-probability less its mean"
    if len(view.classes) == 2:
        name = f"log-odds of {view.classes[1]}"
    if solved.kind == "gaussian":
        name = "difference of means (standard deviations)"
    changed = {"weights": weights, "weight_name": name, "signed": True}
    return FeatureView(**{**vars(view), **changed})


def _detail(model: Any, noun: str) -> str:
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        gain = certificate.objective - certificate.null_objective
        best = certificate.upper_bound - certificate.null_objective
        k = int(np.shape(model.support_indices_)[0])
        if hasattr(model, "dual_gap_"):  # the proof is about the candidates
            k = int(certificate.k)
        nodes = f"{certificate.nodes:,} node{'' if certificate.nodes == 1 else 's'}"
        more = f"no other {k:,} can gain more than {best:,.1f}"
        if certificate.is_optimal:
            more = "no others gain more" if k == 1 else f"no other {k:,} gain more"
        return (
            f"{'It gains' if k == 1 else 'They gain'} {gain:,.1f} nats of "
            f"log-likelihood over no {noun} at all; {more}. The search took {nodes}."
        )
    if hasattr(model, "criterion_"):
        stopped = getattr(model, "stopped_", None)
        how = f" The search of the weights ended: {stopped}." if stopped else ""
        return f"The criterion of the weights is {model.criterion_:,.1f} nats.{how}"
    return ""


def _versions() -> list[dict[str, str]]:
    found = [{"name": "Python", "version": platform.python_version()}]
    for name in ("bayesieve", "numpy", "scipy", "scikit-learn"):
        found.append({"name": name, "version": version(name)})
    return found


def _certificate(model: Any) -> dict[str, Any] | None:
    found = getattr(model, "certificate_", None)
    if found is None:
        return None
    return {
        "k": int(found.k),
        "gain": float(found.objective - found.null_objective),
        "bound": float(found.upper_bound - found.null_objective),
        "gap": float(found.gap),
        "relative_gap": float(found.relative_gap),
        "is_optimal": bool(found.is_optimal),
        "nodes": int(found.nodes),
    }


def _data(model: Any, view: FeatureView, counts: Any) -> dict[str, Any]:
    rows = getattr(model, "class_count_", None)
    if rows is None and counts is not None:
        rows = counts.class_count
    known = [None] * len(view.classes) if rows is None else np.asarray(rows).tolist()
    classes = [
        {"name": name, "rows": n} for name, n in zip(view.classes, known, strict=True)
    ]
    # Ready-made log-likelihoods have a column of X for each class.
    n_features = model.n_features_in_
    if hasattr(model, "weights_") and not hasattr(model, "support_terms_"):
        n_features = np.shape(model.weights_)[0]
    return {
        "rows": None if rows is None else float(np.sum(rows)),
        "features": int(n_features),
        "selected": view.total,
        "classes": classes[: LIMITS["classes"]],
        "n_classes": len(classes),
    }


def _features(view: FeatureView, names: NameTable, counts: Any) -> dict[str, Any]:
    n_classes = LIMITS["classes"]
    table, counted = None, None
    if counts is not None and counts.kind in ("count", "binary"):
        part = counts.feature_count[:, view.indices]
        table = part if isinstance(part, np.ndarray) else part.toarray()
        counted = "occurrences" if counts.kind == "count" else "rows"
    rows = [
        {
            "name": names.place(int(column), view.names[j]),
            "score": rounded(view.score[j]),
            "weights": None
            if view.weights is None
            else [rounded(w) for w in view.weights[:n_classes, j]],
            "discount": None
            if view.discounts is None
            else rounded(min(max(view.discounts[j], 0.0), 1.0)),
            "counts": None
            if table is None
            else [rounded(n) for n in table[:n_classes, j]],
        }
        for j, column in enumerate(view.indices.tolist())
    ]
    return {
        "total": view.total,
        "score_name": view.score_name,
        "weight_name": view.weight_name,
        "signed": view.signed,
        "counted": counted,
        "rows": rows,
    }


def _discounts(model: Any, names: NameTable) -> list[dict[str, Any]] | None:
    if not hasattr(model, "weights_") or not hasattr(model, "feature_log_prob_"):
        return None
    columns = np.asarray(model.support_indices_)
    strength = naive_strength(model)
    weights = np.clip(support_weights(model), 0.0, 1.0)
    order = np.argsort(-strength * weights, kind="stable")[: LIMITS["points"]]
    return [
        {
            "name": names.place(int(columns[j])),
            "strength": rounded(strength[j]),
            "weight": rounded(weights[j]),
        }
        for j in order.tolist()
    ]


def _columns(model: Any) -> dict[str, Any]:
    """Partitions of the columns that say something, the heaviest first."""
    partitions = model.partitions_
    weights = getattr(model, "weights_", None)
    levels = np.array([partition.level for partition in partitions], dtype=np.float64)
    importance = np.zeros(len(partitions))
    if weights is not None and partitions:
        importance = np.asarray(model.feature_importances_)
    order = np.lexsort((-levels, -importance))
    chosen = [j for j in order.tolist() if levels[j] > 0][: LIMITS["columns"]]
    items = []
    for j in chosen:
        partition = partitions[j]
        counts, labels = partition.counts, partition.labels
        largest = np.argsort(-counts.sum(axis=1), kind="stable")[: LIMITS["parts"]]
        items.append(
            {
                "name": partition.name,
                "kind": partition.kind,
                "level": rounded(partition.level),
                "weight": None if weights is None else rounded(weights[j]),
                "n_parts": partition.n_parts,
                "exact": bool(partition.parts.exact),
                "parts": [
                    {
                        "label": clean_text(labels[i], 300),
                        "counts": [rounded(n) for n in counts[i][: LIMITS["classes"]]],
                    }
                    for i in np.sort(largest).tolist()
                ],
            }
        )
    informative = sum(partition.level > 0 for partition in partitions)
    return {"total": len(partitions), "informative": int(informative), "items": items}


def _plain_evaluation(given: dict[str, Any] | None) -> dict[str, Any] | None:
    """Numbers of NumPy as those of Python; a score that is not a number is unknown."""
    if given is None:
        return None
    plain = {}
    for name, value in given.items():
        if isinstance(value, np.generic):
            value = value.item()
        plain[name] = None if value is not value or value == np.inf else value
    return plain


def _parameters(model: Any, more: dict[str, Any]) -> list[dict[str, Any]]:
    defaults = inspect.signature(type(model)).parameters
    rows = [
        {"name": str(name), "value": _shown(value), "changed": True}
        for name, value in more.items()
    ]
    for name, value in model.get_params(deep=False).items():
        default = defaults[name].default if name in defaults else inspect.Parameter
        rows.append(
            {
                "name": f"{type(model).__name__}.{name}",
                "value": _shown(value),
                "changed": _shown(value) != _shown(default),
            }
        )
    return rows[: LIMITS["parameters"]]


def _shown(value: Any) -> str:
    """A value as Python would write it; long arrays are cut, functions named."""
    if callable(value):
        return str(getattr(value, "__qualname__", type(value).__name__))
    with np.printoptions(threshold=20, edgeitems=3):
        return clean_text(" ".join(repr(value).split()), 1000)


def _python(model: Any) -> str:
    """Lines that fit the same model on the same rows."""
    name = type(model).__name__
    defaults = inspect.signature(type(model)).parameters
    changed = [
        f"{key}={_shown(value)}"
        for key, value in model.get_params(deep=False).items()
        if key not in defaults or _shown(value) != _shown(defaults[key].default)
    ]
    arguments = ", ".join(changed)
    if len(arguments) > 60:
        arguments = "\n    " + ",\n    ".join(changed) + ",\n"
    return (
        f"from bayesieve import {name}\n\nmodel = {name}({arguments})\nmodel.fit(X, y)"
    )
