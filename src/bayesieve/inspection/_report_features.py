"""The features of a report: what each weighs, where it stands, how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesieve._description import Description
from bayesieve.counts._selection import documents_with
from bayesieve.inspection._report_checks import clean_text
from bayesieve.inspection._report_paths import NameTable, rounded
from bayesieve.inspection._report_schema import LIMITS

__all__ = ["features_section", "log_odds", "mean_differences", "most_features"]

#: Of all features and classes together: what keeps a page of many classes small.
_MOST_VALUES = 16_000
#: Half the width of a 95 % interval in standard errors.
_STANDARD_ERRORS = 1.959963984540054


def most_features(n_classes: int) -> int:
    """How many features are shown, each with numbers for every class."""
    shown = min(n_classes, LIMITS["classes"])
    return max(min(LIMITS["features"], _MOST_VALUES // max(shown, 1)), 60)


def features_section(
    view: Description,
    names: NameTable,
    counts: Any,
    contexts: Mapping[str, Sequence[Sequence[str]]] | None = None,
) -> dict[str, Any]:
    """The strongest features with their weights and what the counts know of them."""
    table = documents = counted = None
    if counts is not None and counts.kind in ("count", "binary"):
        table = _part(counts.feature_count, view.indices)
        counted = "occurrences" if counts.kind == "count" else "rows"
        if counts.kind == "count" and counts.document_count is not None:
            documents = _part(documents_with(counts), view.indices)
    texts = view.names
    named = [_contexts(contexts, text) for text in texts]
    if view.towards is not None:
        texts = [
            name if label is None else f"{name}, for {label}"
            for name, label in zip(texts, view.towards, strict=True)
        ]
    odds = _odds(view, counts, table)
    rows = [
        {
            "name": names.place(column, texts[j]),
            "score": rounded(view.score[j]),
            "weights": _column(view.weights, j),
            "discount": None
            if view.discounts is None
            else rounded(min(max(view.discounts[j], 0.0), 1.0)),
            "counts": _column(table, j),
            "documents": _column(documents, j),
            "odds": odds[j],
            "means": _column(view.means, j),
            "deviations": _column(view.deviations, j),
            "contexts": named[j],
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


def _part(table: Any, columns: np.ndarray) -> np.ndarray:
    part = table[:, columns]
    return np.asarray(part if isinstance(part, np.ndarray) else part.toarray())


def _column(table: np.ndarray | None, j: int) -> list[float] | None:
    if table is None:
        return None
    return [rounded(value) for value in table[: LIMITS["classes"], j]]


def _contexts(
    given: Mapping[str, Sequence[Sequence[str]]] | None, name: str
) -> list[list[str]] | None:
    """Examples of a feature's use: the end of what comes before, the start after."""
    longest = LIMITS["context"]
    found = [] if given is None else list(given.get(name, ()))[: LIMITS["contexts"]]
    cut = []
    for own in found:
        # A line that ends is no more than a space here.
        before, match, after = (" ".join(text.splitlines()) for text in own)
        tail = before if len(before) <= longest else "…" + before[1 - longest :]
        cut.append([clean_text(text, longest) for text in (tail, match, after)])
    return cut or None


# ---------------------------------------------------------------------------- intervals


def _odds(
    view: Description, counts: Any, table: np.ndarray | None
) -> list[dict[str, Any] | None]:
    """For each feature the log-odds of the class it speaks for, with 95 % interval."""
    nothing: list[dict[str, Any] | None] = [None] * view.indices.shape[0]
    if view.weights is None or not view.signed or not nothing:
        return nothing
    two = view.labels.shape[0] == 2
    if view.means is not None:
        if not two or view.deviations is None or view.class_count is None:
            return nothing
        value, error = mean_differences(view.means, view.deviations, view.class_count)
    elif table is None or view.problem is None:
        return nothing
    else:
        alpha = np.broadcast_to(
            view.problem.options.get("alpha", 1.0), counts.n_features
        )
        towards = np.argmax(view.weights, axis=0) if not two else None
        value, error = log_odds(
            table,
            alpha[view.indices],
            towards,
            rows=counts.class_count if view.problem.model == "bernoulli" else None,
        )
    if two:
        # What is shown is the model's own weight: its shares are of its support, and a
        # discount, taken as given, narrows the interval as it does the weight.
        value = view.weights[0]
        error = error if view.discounts is None else error * view.discounts
        classes = np.ones(value.shape[0], dtype=np.int64)
    else:
        classes = np.argmax(view.weights, axis=0)
    return [
        {
            "of": int(of),
            "value": rounded(centre),
            "low": rounded(centre - _STANDARD_ERRORS * width),
            "high": rounded(centre + _STANDARD_ERRORS * width),
        }
        if np.isfinite(centre) and np.isfinite(width) and of < LIMITS["classes"]
        else None
        for of, centre, width in zip(classes, value, error, strict=True)
    ]


def log_odds(
    table: np.ndarray,
    alpha: np.ndarray,
    towards: np.ndarray | None = None,
    *,
    rows: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Log-odds of one class against the rest, and standard errors.

    Differences of the logarithms of smoothed counts; the variance of each logarithm is
    one over its count, as of a Poisson variable (the delta method). It takes
    occurrences as independent, which words that come in clusters are not.

    Parameters
    ----------
    table : ndarray of shape (n_classes, n_features)
    alpha : ndarray of shape (n_features,)
    towards : ndarray of int of shape (n_features,), optional
        The class of each feature; by default the second.
    rows : ndarray of shape (n_classes,), optional
        Where presences are counted: the rows of each class. Then absences, too, have a
        say, and without it shares are of all counts here.
    """
    n_features = table.shape[1]
    towards = np.ones(n_features, dtype=np.int64) if towards is None else towards
    smoothed = table + alpha
    at = towards, np.arange(n_features)
    with np.errstate(divide="ignore", invalid="ignore"):
        own, rest = smoothed[at], smoothed.sum(axis=0) - smoothed[at]
        variance = 1.0 / own + 1.0 / rest
        if rows is None:
            totals = smoothed.sum(axis=1)
            own_all, rest_all = totals[towards], totals.sum() - totals[towards]
            value = np.log(own / own_all) - np.log(rest / rest_all)
        else:
            absent = np.maximum(rows[:, None] - table, 0.0) + alpha
            own_not, rest_not = absent[at], absent.sum(axis=0) - absent[at]
            value = np.log(own / own_not) - np.log(rest / rest_not)
            variance += 1.0 / own_not + 1.0 / rest_not
        return value, np.sqrt(variance)


def mean_differences(
    means: np.ndarray, deviations: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Differences of two class means in standard deviations, and standard errors."""
    spread = np.sqrt((deviations**2).mean(axis=0))
    spread = np.where(spread > 0, spread, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt((deviations**2 / rows[:, None]).sum(axis=0))
    return (means[1] - means[0]) / spread, error / spread
