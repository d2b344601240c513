"""From a fitted model to the data of its report."""

from __future__ import annotations

import inspect
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np

from bayesieve._description import (
    CrossValidation,
    Description,
    TableColumns,
    describe,
    mean_weights,
    odds_name,
)
from bayesieve._pipeline import open_model
from bayesieve.inspection._model_path import ModelPath, matching_counts, path_of_model
from bayesieve.inspection._report_alternatives import alternatives_section
from bayesieve.inspection._report_checks import clean_text
from bayesieve.inspection._report_data import ReportData
from bayesieve.inspection._report_features import features_section, most_features
from bayesieve.inspection._report_paths import NameTable, k_path, rounded, weight_path
from bayesieve.inspection._report_schema import LIMITS
from bayesieve.inspection._report_shapes import shapes_section
from bayesieve.io import Inspection

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
    inspected: Inspection | None = None,
    within: float | None = None,
    verdict: dict[str, Any] | None = None,
    documents: list[dict[str, Any]] | None = None,
    contexts: Mapping[str, Sequence[Sequence[str]]] | None = None,
    feature_names: Any = None,
) -> ReportData:
    """Gather what a report shows of a fitted model.

    Parameters
    ----------
    model : estimator, Pipeline or tuple of fitted steps
        A fitted classifier, selector or encoder of this package, alone or behind other
        steps, such as ``make_pipeline(CountVectorizer(), model)`` or ``(vectorizer,
        model)``.
    data_name : str
        What to call the data.
    counts : ClassCounts, optional
        What the model was fitted on, for the path over k and the counts of each
        feature; by default its ``counts_``.
    evaluation : dict, optional
        How it did on other rows, all optional: ``rows`` and ``splits`` (1: one part
        held out; more: repeated at random, ``scored_rows`` in all), ``accuracy`` with
        its 95 % interval ``accuracy_low`` and ``accuracy_high``,
        ``balanced_accuracy``, ``log_loss``,
        ``all_features_accuracy``, ``all_features_log_loss``, ``majority_accuracy``,
        ``majority`` (the largest class), ``prior_log_loss``, ``calibration``
        (`Calibration.as_dict`), ``contenders``, ``confusion``, ``per_class`` and
        ``two_classes``.
    seconds : dict of str to float, optional
        How long each step took.
    parameters : dict, optional
        What else is needed to do it again, beside the parameters of the model.
    command : str, optional
        The command that did it.
    cv : list of dict, optional
        ``k``, ``mean`` and ``se`` of a score over sizes; by default the model's own.
    inspected : Inspection, optional
        How the data was read, from `bayesieve.io.inspect`.
    within : float, optional
        Share of the gain that other choices of features may fall short by to be
        counted as nearly as good; by default 0.01.
    verdict : dict, optional
        What the result is worth: 1 to 4 sentences ``lines``, ``remarks`` with ``code``
        and ``text``, and ``next`` with ``command`` and ``meaning``.
    documents : list of dict, optional
        Example rows, at most 30: ``kind`` ("certain", "wrong" or "edge"), ``row``, its
        ``name`` if it has one, ``label``, ``predicted``, ``probability``, the text cut
        into ``pieces`` with ``text``, ``nats`` and the feature's column as ``name``,
        the strongest ``terms``
        with ``name``, ``value`` and ``nats``, and ``flip``, what would change the
        answer; and a ``note`` beside it. Nats above zero speak for the predicted class.
    contexts : dict of str to list, optional
        For names of features up to three examples of their use, each of three texts:
        before, match, after.
    feature_names : array-like of str of shape (n_features_in_,), optional
        Names of the columns that reach the estimator, where nothing knows them.

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
    opened = open_model(model, feature_names)
    found, model = describe(opened), opened.model
    if cv is not None:
        found = replace(found, sizes=_scores_given(cv))
    counts = found.counts if counts is None else counts
    solved = None
    if counts is not None:
        counts = matching_counts(found, counts)
        solved = path_of_model(found, counts)
    if found.weights is None and solved is not None:
        found = _with_weights(found, solved)
    names = NameTable(found, counts if feature_names is None else None)
    shown = found.strongest(most_features(found.labels.shape[0]))
    return ReportData(
        data_name=str(data_name),
        model=found.owner,
        verdict=_plain(verdict),
        sentence=found.sentence,
        detail=found.detail,
        noun=found.noun,
        versions=_versions(),
        certificate=_certificate(found),
        data=_data(found, counts),
        features=features_section(shown, names, counts, contexts),
        path=k_path(found, solved, names),
        weight_path=weight_path(found, names),
        alternatives=alternatives_section(found, counts, names, within),
        discounts=_discounts(found, names),
        columns=None if found.table is None else _columns(found.table),
        shapes=None if found.table is None else shapes_section(found.table),
        evaluation=_plain(evaluation),
        documents=_documents(documents, found, names),
        reading=None if inspected is None else _reading(inspected),
        seconds=[
            {"step": str(step), "seconds": float(value)}
            for step, value in (seconds or {}).items()
        ],
        parameters=_parameters([*opened.steps, model], parameters or {}),
        command=command,
        python=_python(model, opened.steps),
        names=names.texts,
    )


def _reading(inspected: Inspection) -> dict[str, Any]:
    columns = inspected.columns[: LIMITS["columns"]]
    told = [f"{own.name!r}: {note}." for own in columns for note in own.notes]
    return {
        "notes": [note[:1000] for note in [*inspected.notes, *told][:100]],
        "columns": [
            {
                "column": own.name,
                "role": own.role,
                "type": own.type,
                "missing": own.missing,
                "distinct": own.distinct,
                "examples": ", ".join(own.examples),
            }
            for own in columns
        ],
    }


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
    columns = (np.array(column) for column in zip(*rows, strict=True))
    return replace(CrossValidation.from_scores(*columns), name="accuracy on other rows")


def _with_weights(found: Description, solved: ModelPath) -> Description:
    """A selector's features with the weights that its counts give them."""
    weights = solved.weights(found.indices)
    if weights is None:
        return found
    if solved.kind == "gaussian":
        mean, squares = solved.counts.mean, solved.counts.centred_squares
        assert mean is not None
        assert squares is not None
        rows = np.maximum(solved.counts.class_count, 1e-300)[:, None]
        own = found.indices
        return replace(
            found, **mean_weights(found.labels, mean[:, own], squares[:, own] / rows)
        )
    name = odds_name(found.labels)
    return replace(found, weights=weights, weight_name=name, signed=True)


def _versions() -> list[dict[str, str]]:
    found = [{"name": "Python", "version": platform.python_version()}]
    for name in ("bayesieve", "numpy", "scipy", "scikit-learn"):
        found.append({"name": name, "version": version(name)})
    return found


def _certificate(description: Description) -> dict[str, Any] | None:
    found = description.certificate
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


def _data(found: Description, counts: Any) -> dict[str, Any]:
    rows = found.class_count
    if rows is None and counts is not None:
        rows = counts.class_count
    known = [None] * len(found.classes) if rows is None else rows.tolist()
    classes = [
        {"name": name, "rows": n} for name, n in zip(found.classes, known, strict=True)
    ]
    return {
        "rows": None if rows is None else float(np.sum(rows)),
        "features": int(found.n_features),
        "selected": found.n_used,
        "classes": classes[: LIMITS["classes"]],
        "n_classes": len(classes),
    }


def _discounts(found: Description, names: NameTable) -> list[dict[str, Any]] | None:
    if found.discounts is None or found.strength is None:
        return None
    weights = np.clip(found.discounts, 0.0, 1.0)
    order = np.argsort(-found.strength * weights, kind="stable")[: LIMITS["points"]]
    return [
        {
            "name": names.place(int(found.indices[j])),
            "strength": rounded(found.strength[j]),
            "weight": rounded(weights[j]),
        }
        for j in order.tolist()
    ]


def _columns(table: TableColumns) -> dict[str, Any]:
    """Partitions of the columns that say something, the heaviest first."""
    partitions, weights = table.partitions, table.weights
    levels = np.array([partition.level for partition in partitions], dtype=np.float64)
    importances = np.zeros(len(partitions))
    if table.importances is not None and partitions:
        importances = table.importances
    order = np.lexsort((-levels, -importances))
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
    cut = len(partitions) - table.n_texts
    return {"total": cut, "informative": int(informative), "items": items}


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy as those of Python; not a number is unknown."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _documents(
    given: list[dict[str, Any]] | None, found: Description, names: NameTable
) -> list[dict[str, Any]] | None:
    """Examples with the columns of their pieces as places among the names."""
    documents = _plain(given)
    used = set(found.indices.tolist())
    for document in documents or ():
        for piece in document.get("pieces") or ():
            column = piece.get("name")
            piece["name"] = names.place(column) if column in used else None
        document["pieces"] = document.get("pieces") or []
        document["terms"] = document.get("terms") or []
    return documents  # type: ignore[no-any-return]


def _parameters(steps: list[Any], more: dict[str, Any]) -> list[dict[str, Any]]:
    rows = [
        {"name": str(name), "value": _shown(value), "changed": True}
        for name, value in more.items()
    ]
    for step in steps:
        if not hasattr(step, "get_params"):  # a tuple may hold anything that transforms
            continue
        defaults = inspect.signature(type(step)).parameters
        for name, value in step.get_params(deep=False).items():
            default = defaults[name].default if name in defaults else inspect.Parameter
            rows.append(
                {
                    "name": f"{type(step).__name__}.{name}",
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


def _python(model: Any, steps: Sequence[Any]) -> str:
    """Lines that fit the same model on the same rows, as the steps before give them."""
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
    told = ""
    if steps:
        before = ", ".join(type(step).__name__ for step in steps)
        told = f"  # X: the columns that {before} give"
    return (
        f"from bayesieve import {name}\n\nmodel = {name}({arguments})\n"
        f"model.fit(X, y){told}"
    )
