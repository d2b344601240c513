"""How good a model is: held-out rows, repeated splits of few, rivals, a verdict."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve._description import Description
from bayesieve.cli._fit_outcome import Fitted, Refits
from bayesieve.cli._held_out import held_out
from bayesieve.inspection._evaluation import Evaluation, RowScores, evaluation_of
from bayesieve.inspection._report import facts_of_model
from bayesieve.inspection._rows import take_rows
from bayesieve.inspection._verdict import Verdict, verdict_of
from bayesieve.inspection._verdict_facts import Drift

__all__ = ["Judgement", "judge"]

Codes = NDArray[np.int64]

#: Held-out rows below which one split says little, and how many there are then.
_FEW_ROWS, _SPLITS, _FEWER_SPLITS = 50, 10, 4
_FEW_CELLS = 50_000  # of a table whose fits take no time
#: Training rows from which it is asked whether more, or later ones, would matter.
_ENOUGH_ROWS = 200
_SIZES = 12  # of the score over k
_MOST_FEATURES = 10_000


@dataclass
class Judgement:
    """What is known of a model from rows that it was not fitted on.

    Attributes
    ----------
    evaluation : Evaluation or None
    rivals : dict of str to RowScores
    sizes : dict of str to int
        Features that rivals use.
    drift : Drift or None
    by_size : list of dict
        ``k``, ``mean`` and ``se`` of the accuracy of the proven selection over k.
    verdict : Verdict
    contenders : list of dict
        The model and its rivals as rows of a table: name, features, accuracy, log loss.
    """

    evaluation: Evaluation | None = None
    rivals: dict[str, RowScores] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    drift: Drift | None = None
    by_size: list[dict[str, Any]] = field(default_factory=list)
    verdict: Verdict = field(default_factory=lambda: Verdict([], []))
    contenders: list[dict[str, Any]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any] | None:
        """The evaluation as plain values, with the contenders beside it."""
        if self.evaluation is None:
            return None
        every = self.rivals.get("all")
        found = self.evaluation.as_dict()
        found["contenders"] = self.contenders
        if every is not None:
            found["all_features_accuracy"] = every.accuracy
            found["all_features_log_loss"] = every.log_loss
        return found


def judge(
    fitted: Fitted, described: Description, classes: Any, arguments: argparse.Namespace
) -> Judgement:
    """Measure the model and its rivals, and say what that means."""
    found = Judgement()
    found.sizes = {name: _n_used(own) for name, own in fitted.rivals.items()}
    if fitted.held_out is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _measure(found, fitted, classes, arguments)
    found.verdict = verdict_of(
        facts_of_model(
            described,
            found.evaluation,
            counts=fitted.counts,
            noun=fitted.unit,
            n_features=fitted.n_features,
            train_rows=fitted.train_rows,
            rivals=found.rivals,
            sizes=found.sizes,
            drift=found.drift,
            by_size=[(own["k"], own["mean"]) for own in found.by_size],
        )
    )
    if found.evaluation is not None:
        found.contenders = _contenders(found, fitted, described)
    return found


def _contenders(
    found: Judgement, fitted: Fitted, described: Description
) -> list[dict[str, Any]]:
    """The model, its rivals and the largest class, as rows of a table."""
    own, unit = found.evaluation, fitted.unit
    assert own is not None
    weighted = described.discounts is not None
    names = {
        "weighted": f"{unit} with weights",
        "proven": f"proven best {unit}",
        "all": f"all {unit}" + (", no weights" if described.table is None else ""),
        "more": f"more {unit}, weights",
        "presence": f"{unit} there or not, weights",
        "counts": f"counts of {unit}, weights",
        "pairs": "words and pairs, weights",
        "l1": "l1 logistic regression",
    }
    this = f"this {unit[:-1]} alone" if described.n_used == 1 else f"these {unit}"
    if weighted:
        this = names["weighted"]
    elif described.certificate is not None and described.certificate.is_optimal:
        this = names["proven"]
    rows: list[tuple[str, int | None, float, float, bool]] = [
        (this, described.n_used, own.accuracy, own.log_loss, True)
    ]
    for name, told in names.items():
        rival = found.rivals.get(name)
        if rival is not None:
            size = found.sizes.get(name)
            rows.append((told, size, rival.accuracy, rival.log_loss, False))
    majority = f"always {own.classes[own.majority]}"
    rows.append((majority, 0, own.majority_accuracy, own.prior_log_loss, False))
    keys = ("name", "features", "accuracy", "log_loss", "chosen")
    return [dict(zip(keys, row, strict=True)) for row in rows]


def _n_used(model: Any) -> int:
    """Features that a rival uses."""
    last = getattr(model, "steps", [(None, model)])[-1][1]
    last = getattr(last, "best_estimator_", last)
    if hasattr(last, "coef_") and not hasattr(last, "k_"):
        return int(np.count_nonzero(np.any(last.coef_, axis=0)))
    return int(getattr(last, "k_", 0))


def _measure(
    found: Judgement, fitted: Fitted, classes: Any, arguments: argparse.Namespace
) -> None:
    models = {"chosen": fitted.model, **fitted.rivals}
    scores = _scored(models, fitted.held_out)
    if not scores["chosen"].codes.size:
        return
    refits = fitted.refits
    parts = {name: [own] for name, own in scores.items()}
    repeats = 1.0
    if refits is not None and scores["chosen"].codes.size < _FEW_ROWS:
        n_splits = _SPLITS if _is_small(refits.X) else _FEWER_SPLITS
        for split in range(1, n_splits):
            held = held_out(refits.codes, arguments.test_share, arguments.seed + split)
            train, test = np.flatnonzero(~held), np.flatnonzero(held)
            for name, own in parts.items():
                if name in refits.makers:
                    model = refits.fit(name, train)
                    own.append(_score(model, refits, test))
        repeats = max(1.0, n_splits * scores["chosen"].codes.size / refits.codes.size)
    n_parts = len(parts["chosen"])
    found.evaluation = evaluation_of(
        parts["chosen"],
        list(classes),
        train_rows=fitted.train_rows,
        repeats=repeats,
        error_cost=dict(arguments.error_cost) or None,
    )
    found.rivals = {
        name: RowScores.joined(own, repeats)
        for name, own in parts.items()
        if name != "chosen" and len(own) == n_parts
    }
    if refits is not None and n_parts == 1 and fitted.train_rows >= _ENOUGH_ROWS:
        _ask_for_rows(found, refits)
    if fitted.of_size is not None and not arguments.quick:
        found.by_size = _scores_over_k(fitted.of_size, fitted)


def _is_small(X: Any) -> bool:
    """Whether a fit of the rows takes a moment."""
    return not hasattr(X, "iloc") or X.size <= _FEW_CELLS


def _scored(
    models: dict[str, Any], batches: Callable[[], Any] | None
) -> dict[str, RowScores]:
    """What each model says of the held-out rows, in one pass over them."""
    assert batches is not None
    parts: dict[str, list[RowScores]] = {name: [] for name in models}
    for X, codes in batches():
        for name, model in models.items():
            parts[name].append(RowScores.of(_logs(model, X), codes))
    empty = RowScores.of(np.zeros((0, 2)), np.zeros(0, dtype=np.int64))
    return {name: RowScores.joined(own or [empty]) for name, own in parts.items()}


def _logs(model: Any, X: Any) -> Any:
    """Log-probabilities; other libraries know no texts of Arrow."""
    if hasattr(model, "steps") and hasattr(X, "to_pylist"):
        X = X.to_pylist()
    with np.errstate(divide="ignore"):
        return np.asarray(model.predict_log_proba(X))


def _score(model: Any, refits: Refits, places: Codes) -> RowScores:
    """Judge a model by rows; a class that it never met has no chance."""
    logs = _logs(model, take_rows(refits.X, places))
    if model.classes_.size < refits.classes.size:
        every = np.full((places.size, refits.classes.size), -np.inf)
        every[:, np.searchsorted(refits.classes, model.classes_)] = logs
        logs = every
    return RowScores.of(logs, refits.codes[places])


def _ask_for_rows(found: Judgement, refits: Refits) -> None:
    """Whether more rows would pay, and whether later rows are like earlier ones.

    Half of the training rows, evenly from all of the file, and its first half.
    """
    train = np.flatnonzero(~refits.is_test)
    test = np.flatnonzero(refits.is_test)
    # Every other row of each class: the same shares, from all of the file.
    rank = np.empty(train.size, dtype=np.int64)
    order = np.argsort(refits.codes[train], kind="stable")
    rank[order] = np.arange(train.size)
    half = train[rank % 2 == 0]
    past = train[: train.size // 2]
    evenly = refits.fit("chosen", half, 0.5)
    found.rivals["half"] = _score(evenly, refits, test)
    later = test[test > past[-1]]
    if not _alike(refits.codes[past], refits.codes[later]):
        return  # sorted by label, or nearly so: the first half cannot know the rest
    early = _score(refits.fit("chosen", past, 0.5), refits, later)
    anytime = _score(evenly, refits, later)
    lost, error = anytime.nats_ahead(early)
    found.drift = Drift(lost, error, early.accuracy, anytime.accuracy)


def _alike(first: Codes, second: Codes) -> bool:
    """Whether two parts have the same classes in roughly the same shares."""
    if first.size < 2 or second.size < 2:
        return False
    size = int(max(first.max(), second.max())) + 1
    shares = [np.bincount(own, minlength=size) / own.size for own in (first, second)]
    return bool(np.abs(shares[0] - shares[1]).sum() < 0.4)


def _scores_over_k(make: Callable[[int], Any], fitted: Fitted) -> list[dict[str, Any]]:
    """Accuracy of the proven selection on the held-out rows, for a range of k."""
    largest = min(fitted.counts.n_features, _MOST_FEATURES)
    if largest < 2:
        return []
    sizes = np.unique(np.geomspace(2, largest, _SIZES).round().astype(int)).tolist()
    models = {str(k): make(k) for k in sizes}
    scores = _scored(models, fitted.held_out)
    return [
        {
            "k": k,
            "mean": (share := scores[str(k)].accuracy),
            "se": float(np.sqrt(share * (1 - share) / scores[str(k)].codes.size)),
        }
        for k in sizes
    ]
