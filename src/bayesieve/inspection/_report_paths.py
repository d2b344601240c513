"""The two paths of a report, over k and over the penalty, as steps of a slider."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesieve._description import CrossValidation, Description
from bayesieve.inspection._model_path import ModelPath
from bayesieve.inspection._report_checks import clean_text
from bayesieve.inspection._report_schema import LIMITS
from bayesieve.inspection._weight_path_display import earliest_features
from bayesieve.solvers import SparsityPath
from bayesieve.solvers._criteria import largest_advised_size

__all__ = ["NameTable", "k_path", "rounded", "weight_path"]


def rounded(value: Any) -> float:
    """Five digits are enough to look at, and keep a page small."""
    return float(f"{float(value):.5g}")


class NameTable:
    """Each feature that a report speaks of, once."""

    def __init__(self, found: Description, counts: Any) -> None:
        self._found = found
        self._counted = None if counts is None else counts.feature_names
        self._places: dict[int, int] = {}
        self.texts: list[str] = []

    def place(self, column: int, name: str | None = None) -> int:
        """The place of a column's name."""
        if column not in self._places:
            if name is None:
                name = self._name(column)
            self._places[column] = len(self.texts)
            self.texts.append(clean_text(name))
        return self._places[column]

    def _name(self, column: int) -> str:
        if self._counted is not None:
            return str(self._counted[column])
        return self._found.names_of(np.array([column]))[0]


def _moves(
    names: NameTable, columns: np.ndarray, worth: np.ndarray
) -> tuple[list[int], int]:
    """The places of the most important of some features, and how many there are."""
    order = np.argsort(-worth, kind="stable")[: LIMITS["moves"]]
    return [names.place(int(j)) for j in columns[order].tolist()], columns.shape[0]


def k_path(
    found: Description, solved: ModelPath | None, names: NameTable
) -> dict[str, Any] | None:
    """Steps over k: what is gained and proven, who enters and leaves, who weighs."""
    scores = found.sizes
    if solved is None and scores is None:
        return None
    by_size: dict[int, dict[str, Any]] = {}
    elbow = bic = largest = None
    if solved is not None:
        path = solved.path
        largest = largest_advised_size(solved.counts.class_count.sum())
        elbow = path.elbow if path.elbow <= largest else None
        if not np.isnan(path.bic_values).all():
            bic = path.bic if path.bic <= largest else None
        previous, previous_gains = np.empty(0, dtype=np.int64), np.empty(0)
        for position, k in enumerate(path.k.tolist()):
            columns = path.support(k)
            gains = solved.gains(columns)
            step = _step(k)
            step |= _numbers(solved.path, position)
            new = ~np.isin(columns, previous)
            gone = ~np.isin(previous, columns)
            step["entered"], step["n_entered"] = _moves(names, columns[new], gains[new])
            step["left"], step["n_left"] = _moves(
                names, previous[gone], previous_gains[gone]
            )
            step["top"] = _top(solved, columns, gains, names)
            by_size[k] = step
            previous, previous_gains = columns, gains
    if scores is not None:
        for k, mean, error in zip(
            scores.values, scores.mean, scores.error, strict=True
        ):
            # No features at all are no step; nor are more than can be selected.
            if k < 1 or (solved is not None and int(k) not in by_size):
                continue
            step = by_size.setdefault(int(k), _step(int(k)))
            step["score"] = {"mean": rounded(mean), "error": rounded(error)}
    sizes = sorted(by_size)
    if not sizes:
        return None
    if len(sizes) > LIMITS["steps"]:
        kept = np.linspace(0, len(sizes) - 1, LIMITS["steps"]).round().astype(int)
        sizes = [sizes[i] for i in kept]
    return {
        "score_name": "" if scores is None else scores.name,
        "weight_name": found.weight_name,
        "signed": found.signed,
        "note": _note(found) if solved is not None else None,
        "largest_advised": largest,
        "chosen": None if _has_weights(found) else found.total,
        "elbow": elbow,
        "bic": bic,
        "best": None if scores is None else int(scores.best),
        "one_se": None if scores is None else int(scores.one_se),
        "steps": [by_size[k] for k in sizes],
    }


def _has_weights(found: Description) -> bool:
    """Whether the model chose its features with weights, which the path does not."""
    return found.dual_gap is not None or found.is_weighted


def _note(found: Description) -> str | None:
    """Why a model with weights has no place on the curve."""
    if not _has_weights(found):
        return None
    return (
        f"The curve is of naive Bayes before any weights: it says how well the best k "
        f"{found.noun} explain the labels when each counts in full. This model fitted "
        f"weights and kept {found.total:,} {found.noun}, so it is not on the curve."
    )


def _step(k: int) -> dict[str, Any]:
    return {
        "k": k,
        "gain": None,
        "bound": None,
        "gap": None,
        "score": None,
        "entered": [],
        "n_entered": 0,
        "left": [],
        "n_left": 0,
        "top": [],
    }


def _numbers(path: SparsityPath, position: int) -> dict[str, float]:
    """Gain, bound and gap of one size."""
    gain = float(path.objective[position] - path.null_objective)
    gap = max(float(path.gap[position]), 0.0)
    return {
        "gain": float(f"{gain:.10g}"),
        "bound": float(f"{gain + gap:.10g}"),
        "gap": rounded(gap),
    }


def _top(
    solved: ModelPath, columns: np.ndarray, gains: np.ndarray, names: NameTable
) -> list[dict[str, Any]]:
    """Weights of the features of largest gain; fewer of them for many classes."""
    n_classes = solved.counts.n_classes
    limit = max(LIMITS["top"] * 10 // max(n_classes, 10), 8)
    order = np.argsort(-gains, kind="stable")[:limit]
    weights = solved.weights(columns)  # a weight depends on the whole support
    if weights is None:
        shown = gains[None, order]
    else:
        shown = weights[: LIMITS["classes"], order]
    return [
        {
            "name": names.place(int(columns[j])),
            "weights": [rounded(w) for w in shown[:, i]],
        }
        for i, j in enumerate(order.tolist())
    ]


def weight_path(found: Description, names: NameTable) -> dict[str, Any] | None:
    """Steps over the penalty, from the largest down, and the lines of the picture."""
    path, chosen = found.weight_path, found.penalties
    if path is None:
        return None
    lambdas = np.asarray(path.lambdas, dtype=np.float64)
    kept = np.arange(lambdas.shape[0])
    if kept.shape[0] > LIMITS["steps"]:
        kept = np.linspace(0, kept[-1], LIMITS["steps"]).round().astype(np.int64)
    table = sparse.csr_array(path.weights)[kept]
    scores = _penalty_scores(chosen, lambdas)
    steps = []
    previous, previous_weights = np.empty(0, dtype=np.int64), np.empty(0)
    for i, at in enumerate(kept.tolist()):
        entries = slice(table.indptr[i], table.indptr[i + 1])
        there = table.data[entries] > 0
        columns, weights = table.indices[entries][there], table.data[entries][there]
        new, gone = ~np.isin(columns, previous), ~np.isin(previous, columns)
        entered, n_entered = _moves(names, columns[new], weights[new])
        left, n_left = _moves(names, previous[gone], previous_weights[gone])
        steps.append(
            {
                "penalty": rounded(lambdas[at]),
                "features": int(columns.shape[0]),
                "loss": rounded(path.nll[at]),
                "dual_gap": rounded(max(float(path.dual_gap[at]), 0.0)),
                "score": scores.get(at),
                "entered": entered,
                "n_entered": n_entered,
                "left": left,
                "n_left": n_left,
            }
        )
        previous, previous_weights = columns, weights
    first = earliest_features(table, LIMITS["lines"])
    drawn = np.clip(table[:, first].toarray(), 0.0, 1.0)
    return {
        "chosen": rounded(found.penalty),
        "best": None if chosen is None else rounded(chosen.best),
        "one_se": None if chosen is None else rounded(chosen.one_se),
        "steps": steps,
        "lines": [
            {
                "name": names.place(int(column)),
                "weights": [rounded(w) for w in drawn[:, j]],
            }
            for j, column in enumerate(first.tolist())
        ],
    }


def _penalty_scores(
    scores: CrossValidation | None, lambdas: np.ndarray
) -> dict[int, dict[str, float]]:
    """Cross-validated score at each position of the path."""
    found: dict[int, dict[str, float]] = {}
    if scores is None:
        return found
    for i, penalty in enumerate(lambdas.tolist()):
        same = np.flatnonzero(np.isclose(scores.values, penalty, rtol=1e-9, atol=0.0))
        if same.shape[0]:
            mean, error = scores.mean[same[0]], scores.error[same[0]]
            found[i] = {"mean": rounded(mean), "error": rounded(error)}
    return found
