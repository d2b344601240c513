"""How good a classifier is on rows that it was not fitted on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, t

from bayesieve.inspection._calibration import calibration

__all__ = [
    "Evaluation",
    "RowScores",
    "costs_told",
    "evaluation_of",
    "wilson_interval",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: A class that cannot be (alpha = 0) would cost infinitely much.
WORST_LOG = -700.0
_MOST_NAMES = 40  # classes of a confusion matrix; the others are one
_MOST_CLASSES = 200
_POINTS = 201  # of a curve
_THRESHOLDS = 101
_DETAILS = 1_000_000  # rows of which probabilities are kept
_FEW_ROWS = 200  # that can leave open whether a model is better than guessing
_RARE = 0.4  # share below which the rarer of two classes is the one to find


@dataclass(frozen=True, eq=False)
class RowScores:
    """What one classifier said of rows: one number of each kind a row.

    Attributes
    ----------
    codes, predicted : ndarray of shape (n_rows,)
        Class of each row, and the one that was predicted.
    loss : ndarray of shape (n_rows,)
        Negative log-probability of the class.
    proba : ndarray of shape (n_kept, n_classes)
        Probabilities of `kept` rows: all, or evenly spread ones of very many.
    kept : ndarray of shape (n_kept,)
    repeats : float
        How often a row is there: rows of repeated splits are not independent.
    """

    codes: Codes
    predicted: Codes
    loss: Floats
    proba: Floats
    kept: Codes
    repeats: float = 1.0

    @classmethod
    def of(cls, logs: Floats, codes: Codes) -> RowScores:
        """Take log-probabilities of shape (n_rows, n_classes)."""
        n_rows = codes.shape[0]
        step = max(1, -(-logs.size // (2 * _DETAILS)))
        kept = np.arange(0, n_rows, step)
        own = logs[np.arange(n_rows), codes]
        return cls(
            codes,
            np.argmax(logs, axis=1),
            -np.maximum(own, WORST_LOG),
            np.exp(logs[kept]),
            kept,
        )

    @classmethod
    def joined(cls, parts: Sequence[RowScores], repeats: float = 1.0) -> RowScores:
        """Those of several batches, one after the other."""
        ends = np.cumsum([0, *(own.codes.shape[0] for own in parts)])
        kept = [own.kept + end for own, end in zip(parts, ends, strict=False)]
        proba = np.concatenate([own.proba for own in parts])
        places = np.concatenate(kept)
        step = max(1, -(-proba.size // (2 * _DETAILS)))
        return cls(
            np.concatenate([own.codes for own in parts]),
            np.concatenate([own.predicted for own in parts]),
            np.concatenate([own.loss for own in parts]),
            proba[::step],
            places[::step],
            repeats,
        )

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether each row was predicted right."""
        return np.asarray(self.codes == self.predicted)

    @property
    def accuracy(self) -> float:
        """Share of rows that are right."""
        return float(self.right.mean())

    @property
    def log_loss(self) -> float:
        """Mean loss of a row in nats."""
        return float(self.loss.mean())

    def rows_ahead(self, other: RowScores) -> tuple[float, float]:
        """How much more often it is right than another, and the standard error."""
        return self._mean_and_error(self.right.astype(np.float64) - other.right)

    def nats_ahead(self, other: RowScores) -> tuple[float, float]:
        """How much less a row loses than with another, and the standard error."""
        return self._mean_and_error(other.loss - self.loss)

    def _mean_and_error(self, ahead: Floats) -> tuple[float, float]:
        rows = ahead.size / self.repeats
        return float(ahead.mean()), float(ahead.std() / np.sqrt(max(rows, 1.0)))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How a classifier does on rows that it was not fitted on.

    Made by `evaluation_of`. Counts and curves are **exact** for the rows given; of more
    than a million probabilities an even part makes the curves.

    Attributes
    ----------
    classes : list of str
    confusion : ndarray of int of shape (n_classes, n_classes)
        Rows by class (down) and prediction (across).
    splits, split_rows : int
        Random splits that the rows come from, and rows of the first: 1 is one held-out
        part.
    accuracy : float
    interval : tuple of two float
        95 % interval of the accuracy: Wilson's for one part; of repeated splits by
        their spread, corrected for training rows that they share (Nadeau and Bengio,
        2003).
    log_loss : float
        Mean of a row, in nats.
    prior_log_loss : float
        The same for answers that are always the shares of the classes.
    scores : RowScores
    positive : int
        Place of the class that curves of two classes are about.
    costs : tuple of float or None
        What missing a row of each class costs.
    """

    classes: list[str]
    confusion: NDArray[np.int64]
    splits: int
    split_rows: int
    accuracy: float
    interval: tuple[float, float]
    log_loss: float
    prior_log_loss: float
    scores: RowScores
    positive: int = 1
    costs: tuple[float, ...] | None = None

    @property
    def n_rows(self) -> int:
        """Rows that were predicted, those of every split."""
        return int(self.confusion.sum())

    @property
    def majority(self) -> int:
        """Place of the class with most rows."""
        return int(np.argmax(self.confusion.sum(axis=1)))

    @property
    def majority_accuracy(self) -> float:
        """Share of rows that are right when the answer is always the largest class."""
        return float(self.confusion.sum(axis=1).max() / max(self.n_rows, 1))

    @property
    def recall(self) -> Floats:
        """Share of each class that is found, NaN of a class without rows."""
        rows = self.confusion.sum(axis=1)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.diag(self.confusion) / rows)

    @property
    def precision(self) -> Floats:
        """Share of the predictions of each class that is right, NaN without any."""
        predicted = self.confusion.sum(axis=0)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.diag(self.confusion) / predicted)

    @property
    def balanced_accuracy(self) -> float:
        """Mean recall of the classes that have rows."""
        return float(np.nanmean(self.recall))

    @property
    def one_class(self) -> bool:
        """Whether all rows are of one class, so that accuracy says nothing."""
        return bool(np.count_nonzero(self.confusion.sum(axis=1)) == 1)

    @property
    def beats_guessing(self) -> bool:
        """Whether it is right, or knows the chances, more than always one answer.

        By a one-sided exact test of the rows that only one of the two has right, by an
        interval that lies above guessing, with probabilities that know more as well, or
        by a log loss two standard errors below that of the shares of the classes.
        """
        knows = self.log_loss < self.prior_log_loss or self.splits > 1
        if self.interval[0] > self.majority_accuracy and knows:
            return True
        # Rows of repeated splits are there several times: no test of rows holds.
        if self.splits == 1 and self._more_right():
            return True
        ahead = self._prior_losses() - self.scores.loss
        rows = ahead.size / self.scores.repeats
        return bool(ahead.mean() > 2.0 * ahead.std() / np.sqrt(max(rows, 1.0)))

    @property
    def may_beat_guessing(self) -> bool:
        """Whether it looks better than guessing, but rows are too few to be sure."""
        rows = self.scores.codes.size / self.scores.repeats
        better = self.accuracy > self.majority_accuracy
        better = better and self.log_loss < self.prior_log_loss
        return better and rows < _FEW_ROWS and not self.beats_guessing

    def _more_right(self) -> bool:
        codes, right = self.scores.codes, self.scores.right
        guessed = codes == self.majority
        only, other = int((right & ~guessed).sum()), int((guessed & ~right).sum())
        if not only + other:
            return False
        test = binomtest(only, only + other, alternative="greater")
        return bool(test.pvalue < 0.01)

    def _prior_losses(self) -> Floats:
        rows = self.confusion.sum(axis=1)
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(rows / rows.sum())[self.scores.codes])

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as a report takes them."""
        two = len(self.classes) == 2
        return {
            "rows": self.split_rows,
            "splits": self.splits,
            "scored_rows": self.n_rows,
            "accuracy": self.accuracy,
            "accuracy_low": self.interval[0],
            "accuracy_high": self.interval[1],
            "balanced_accuracy": self.balanced_accuracy,
            "log_loss": self.log_loss,
            "prior_log_loss": self.prior_log_loss,
            "majority_accuracy": self.majority_accuracy,
            "majority": self.classes[self.majority],
            "confusion": self._confusion(),
            "per_class": self._per_class(),
            "two_classes": self._two_classes() if two else None,
            "calibration": self._calibration(),
            "costs": self._weighed(),
        }

    def _confusion(self) -> dict[str, Any]:
        """The matrix; of very many classes the largest, and the others as one."""
        names, table = list(self.classes), self.confusion
        if len(names) > _MOST_NAMES:
            order = np.argsort(-table.sum(axis=1), kind="stable")
            kept = np.sort(order[: _MOST_NAMES - 1])
            place = np.full(len(names), _MOST_NAMES - 1)
            place[kept] = np.arange(_MOST_NAMES - 1)
            small = np.zeros((_MOST_NAMES, _MOST_NAMES), dtype=np.int64)
            np.add.at(small, (place[:, None], place[None, :]), table)
            names, table = [*(names[c] for c in kept.tolist()), "others"], small
        return {"names": names, "counts": table.tolist()}

    def _per_class(self) -> list[dict[str, Any]]:
        rows, predicted = self.confusion.sum(axis=1), self.confusion.sum(axis=0)
        precision, recall = self.precision, self.recall
        with np.errstate(invalid="ignore"):
            f1 = 2.0 * np.diag(self.confusion) / (rows + predicted)
        return [
            {
                "name": name,
                "rows": int(rows[c]),
                "predicted": int(predicted[c]),
                "precision": _known(precision[c]),
                "recall": _known(recall[c]),
                "f1": _known(f1[c]),
            }
            for c, name in enumerate(self.classes[:_MOST_CLASSES])
        ]

    def _weighed(self) -> dict[str, Any] | None:
        """What errors cost a row, and where classes are weighed by their costs."""
        if self.costs is None:
            return None
        proba, costs = self.scores.proba, np.array(self.costs)
        codes = self.scores.codes[self.scores.kept]
        rows = np.bincount(codes, minlength=costs.size)
        usual, weighed = np.argmax(proba, axis=1), np.argmax(proba * costs, axis=1)
        hits = np.bincount(codes[weighed == codes], minlength=costs.size)
        with np.errstate(invalid="ignore"):
            recall = hits / rows
        dearest = int(np.argmax(costs))
        return {
            "usual": float((costs[codes] * (usual != codes)).mean()),
            "weighed": float((costs[codes] * (weighed != codes)).mean()),
            "dearest": self.classes[dearest],
            "recall": _known(recall[dearest]),
        }

    def _calibration(self) -> dict[str, Any] | None:
        scores = self.scores
        if not scores.kept.size:
            return None
        classes = np.arange(len(self.classes))
        label = self.positive if len(self.classes) == 2 else None
        found = calibration(
            scores.proba, scores.codes[scores.kept], classes, pos_label=label
        )
        name = None if label is None else self.classes[label]
        return found.as_dict() | {"label": name}

    def _two_classes(self) -> dict[str, Any] | None:
        """Curves of the positive class over its threshold."""
        scores = self.scores
        truth = scores.codes[scores.kept] == self.positive
        if truth.all() or not truth.any():
            return None
        chance = scores.proba[:, self.positive]
        order = np.argsort(-chance, kind="stable")
        chance, truth = chance[order], truth[order]
        # Rows of equal chance are taken together: a threshold is between values.
        last = np.append(np.diff(chance) != 0, True)
        hits, taken = np.cumsum(truth)[last], np.flatnonzero(last) + 1
        n, n_true = truth.size, int(truth.sum())
        found = np.append(0.0, hits / n_true)
        alarms = np.append(0.0, (taken - hits) / (n - n_true))
        precision = hits / taken
        area = float(np.sum(np.diff(alarms) * (found[1:] + found[:-1]) / 2.0))
        average = float(np.sum(np.diff(found) * precision))
        lift = np.column_stack([np.append(0.0, taken / n), found])
        return {
            "label": self.classes[self.positive],
            "auc": min(max(area, 0.0), 1.0),
            "average_precision": min(max(average, 0.0), 1.0),
            "roc": _thinned(np.column_stack([alarms, found])),
            "precision_recall": _thinned(np.column_stack([found[1:], precision])),
            "lift": _thinned(lift),
            **self._thresholds(chance, truth),
        }

    def _thresholds(self, chance: Floats, truth: NDArray[np.bool_]) -> dict[str, Any]:
        """What each threshold flags, finds and costs; chances fall."""
        n, n_true = truth.size, int(truth.sum())
        steps = np.linspace(0.0, 1.0, _THRESHOLDS)
        taken = np.searchsorted(-chance, -steps, side="right")
        hits = np.append(0, np.cumsum(truth))[taken]
        costs, cost = None, np.full(steps.size, np.nan)
        if self.costs is not None:
            alarm, miss = self.costs[1 - self.positive], self.costs[self.positive]
            costs = [alarm, miss]
            cost = (alarm * (taken - hits) + miss * (n_true - hits)) / n
        chosen = None if costs is None else costs[0] / max(sum(costs), 1e-300)
        return {
            "thresholds": [
                {
                    "threshold": float(at),
                    "precision": float(hits[i] / taken[i]) if taken[i] else None,
                    "recall": float(hits[i] / n_true),
                    "flagged": float(taken[i] / n),
                    "cost": _known(cost[i]),
                }
                for i, at in enumerate(steps)
            ],
            "chosen_threshold": chosen,
            "costs": costs,
        }


def evaluation_of(
    parts: Sequence[RowScores],
    classes: Sequence[Any],
    *,
    train_rows: int | None = None,
    repeats: float = 1.0,
    error_cost: Mapping[Any, float] | None = None,
) -> Evaluation:
    """Put the predictions of one held-out part, or of several splits, together.

    Parameters
    ----------
    parts : sequence of RowScores
        One for each split.
    classes : sequence
        Labels in the order of the codes.
    train_rows : int, optional
        Rows that each split was fitted on, for the interval of several.
    repeats : float, default=1.0
        How often each row is among the parts.
    error_cost : mapping of label to float, optional
        What missing a row of a class costs; 1 for classes that are not named.
    """
    if not sum(own.codes.size for own in parts):
        raise ValueError("An evaluation needs at least one row. Got none.")
    names, n_classes = [str(label) for label in classes], len(classes)
    scores = RowScores.joined(parts, repeats)
    cells = scores.codes * n_classes + scores.predicted
    confusion = np.bincount(cells, minlength=n_classes**2)
    shares = np.bincount(scores.codes, minlength=n_classes) / scores.codes.size
    known = shares[shares > 0]
    accuracy = scores.accuracy
    return Evaluation(
        names,
        confusion.reshape(n_classes, n_classes),
        len(parts),
        parts[0].codes.size,
        accuracy,
        wilson_interval(int(scores.right.sum()), scores.codes.size)
        if len(parts) == 1
        else _interval_of_splits(parts, train_rows),
        scores.log_loss,
        float(-(known * np.log(known)).sum()),
        scores,
        positive=0 if n_classes == 2 and 0 < shares[0] < _RARE else 1,
        costs=_costs(classes, error_cost),
    )


def _costs(
    classes: Sequence[Any], given: Mapping[Any, float] | None
) -> tuple[float, ...] | None:
    if not given:
        return None
    named = {str(label): float(cost) for label, cost in given.items()}
    unknown = [label for label in named if label not in map(str, classes)]
    wrong = [cost for cost in named.values() if not 0 < cost < np.inf]
    if unknown or wrong:
        known = ", ".join(map(repr, map(str, list(classes)[:10])))
        got = repr(unknown[0]) if unknown else repr(wrong[0])
        raise ValueError(
            f"error_cost must give finite numbers above 0 for some of the classes "
            f"{known}. Got {got}."
        )
    return tuple(named.get(str(label), 1.0) for label in classes)


def costs_told(costs: Mapping[str, Any]) -> str:
    """What is gained by weighing each class by what missing it costs, in words."""
    told = "With these costs of errors, weighing each class by what missing it costs "
    if costs["weighed"] >= costs["usual"]:
        return f"{told}gains nothing here: {costs['usual']:.3f} a row."
    told += f"leaves {costs['weighed']:.3f} a row in place of {costs['usual']:.3f}"
    if costs["recall"] is not None:
        told += f", and finds {100 * costs['recall']:.0f} % of {costs['dearest']}"
    return f"{told}."


def wilson_interval(right: int, n_rows: int) -> tuple[float, float]:
    """95 % interval of a share, by Wilson's score: sound for few rows, too."""
    found = binomtest(right, n_rows).proportion_ci(0.95, method="wilson")
    return float(found.low), float(found.high)


def _interval_of_splits(
    parts: Sequence[RowScores], train_rows: int | None
) -> tuple[float, float]:
    """95 % interval of the accuracy from repeated random splits.

    The splits share rows, so their spread alone would be too small: the variance has
    the share of test to training rows added (Nadeau and Bengio, 2003). Where all splits
    agree to the row, the interval of one of them is what is known.
    """
    values = np.array([own.accuracy for own in parts])
    n_test = float(np.mean([own.codes.size for own in parts]))
    ratio = n_test / max(float(train_rows or n_test), 1.0)
    error = np.sqrt((1.0 / values.size + ratio) * values.var(ddof=1))
    reach = float(t.ppf(0.975, values.size - 1)) * error
    mean = float(values.mean())
    low, high = wilson_interval(round(mean * n_test), max(round(n_test), 1))
    low, high = min(mean - reach, low), max(mean + reach, high)
    return max(low, 0.0), min(high, 1.0)


def _known(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def _thinned(points: Floats) -> list[list[float]]:
    """At most so many points of a curve, evenly along its length."""
    if points.shape[0] > _POINTS:
        steps = np.abs(np.diff(points, axis=0)).sum(axis=1)
        length = np.append(0.0, np.cumsum(steps))
        places = np.searchsorted(length, np.linspace(0.0, length[-1], _POINTS))
        points = points[np.unique(np.minimum(places, points.shape[0] - 1))]
    return [[round(float(x), 5), round(float(y), 5)] for x, y in points]
