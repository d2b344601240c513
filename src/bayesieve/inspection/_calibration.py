"""Whether probabilities mean what they say: predicted against observed shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Calibration", "calibration"]


@dataclass(frozen=True)
class Calibration:
    """Rows in bins of predicted probability; bins without rows are left out.

    Attributes
    ----------
    label : str or None
        Class the probability is of; None for that of the predicted class, whichever it
        is.
    predicted, observed : ndarray of shape (n_bins,)
        Mean probability, and the share of rows where it came true.
    rows : ndarray of int64 of shape (n_bins,)
    edges : ndarray of shape (n_bins, 2)
    log_loss : float
        Over all classes, in nats a row.
    """

    label: str | None
    predicted: np.ndarray
    observed: np.ndarray
    rows: np.ndarray
    edges: np.ndarray
    log_loss: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values; the report takes them as ``evaluation["calibration"]``."""
        return {
            "label": self.label,
            "bins": [
                {"predicted": float(p), "observed": float(o), "rows": int(n)}
                for p, o, n in zip(
                    self.predicted, self.observed, self.rows, strict=True
                )
            ],
            "log_loss": self.log_loss,
        }


def calibration(
    proba: Any, y: Any, classes: Any, *, pos_label: Any = None, n_bins: int = 10
) -> Calibration:
    """Calibration of predicted probabilities.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
    y : array-like of shape (n_samples,)
    classes : array-like of shape (n_classes,)
        In the order of the columns of proba.
    pos_label : class label, optional
        By default the second of two classes, and of more the predicted one.
    n_bins : int, default=10
        Bins of equal width in [0, 1].
    """
    if n_bins < 1:
        raise ValueError(f"n_bins must be an int >= 1. Got {n_bins!r}.")
    proba, y, classes = np.asarray(proba), np.asarray(y), np.asarray(classes)
    if proba.shape != (y.shape[0], classes.shape[0]) or not y.shape[0]:
        raise ValueError(
            "proba must have a row for each label and a column for each class. "
            f"Got shape {proba.shape} for {y.shape[0]} labels and "
            f"{classes.shape[0]} classes."
        )
    if pos_label is None and classes.shape[0] == 2:
        pos_label = classes[1]
    if pos_label is None:
        best = np.argmax(proba, axis=1)
        predicted, came_true = proba[np.arange(y.shape[0]), best], classes[best] == y
    else:
        found = np.flatnonzero(classes == pos_label)
        if found.shape[0] != 1:
            raise ValueError(
                f"pos_label must be one of the classes {classes.tolist()}. "
                f"Got {pos_label!r}."
            )
        predicted, came_true = proba[:, found[0]], y == pos_label
    place = np.minimum((predicted * n_bins).astype(np.int64), n_bins - 1)
    rows = np.bincount(place, minlength=n_bins)
    filled = np.flatnonzero(rows)
    sums = np.bincount(place, predicted, n_bins)[filled]
    hits = np.bincount(place, came_true.astype(np.float64), n_bins)[filled]
    borders = np.linspace(0, 1, n_bins + 1)
    return Calibration(
        label=None if pos_label is None else str(pos_label),
        predicted=sums / rows[filled],
        observed=hits / rows[filled],
        rows=rows[filled].astype(np.int64),
        edges=np.column_stack([borders[filled], borders[filled + 1]]),
        log_loss=_log_loss(proba, y, classes),
    )


def _log_loss(proba: Any, y: Any, classes: Any) -> float:
    """As scikit-learn's log_loss, which warns of many classes in some versions."""
    order = np.argsort(classes, kind="stable")
    place = np.searchsorted(classes, y, sorter=order)
    codes = order[np.minimum(place, order.size - 1)]
    if (classes[codes] != y).any():
        other = y[classes[codes] != y][0]
        raise ValueError(f"y must be of the classes {classes.tolist()}. Got {other!r}.")
    told = np.asarray(proba[np.arange(y.size), codes], dtype=np.float64)
    least = np.finfo(np.float64).eps  # certain and wrong is bad, but not infinite here
    return float(-np.log(np.clip(told, least, 1 - least)).mean())
