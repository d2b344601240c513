"""Scores of predicted probabilities and the folds they are taken on; one definition.

Every side of a study goes through these functions, so that no difference comes from two
readings of the same word. Labels are class codes 0, 1, ..., probabilities have a column
for every class of the whole set; a class without training rows has probability zero.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import StratifiedKFold

CLIP = 1e-15
BINS = 15


def stratified_folds(
    y: np.ndarray, folds: int, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (train, test) rows of each fold, sorted.

    The rows of a class are shuffled and dealt to the folds in turn; the next class goes
    on where the last one ended. So a class with fewer rows than folds is in some test
    parts only, and the folds differ by one row at most.
    """
    rng = np.random.default_rng(seed)
    fold = np.empty(y.shape[0], dtype=np.int64)
    dealt = 0
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        fold[rows] = (dealt + np.arange(rows.shape[0])) % folds
        dealt += rows.shape[0]
    return [
        (np.flatnonzero(fold != at), np.flatnonzero(fold == at)) for at in range(folds)
    ]


def usual_folds(y: np.ndarray, folds: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the folds that most readers would draw: scikit-learn's, seed 0."""
    splitter = StratifiedKFold(folds, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        # A class with fewer rows than folds is in some test parts only.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(splitter.split(np.zeros((y.shape[0], 1)), y))


def all_classes(proba: np.ndarray, classes: np.ndarray, count: int) -> np.ndarray:
    """Return probabilities over classes 0 to count - 1 from those of a fitted model."""
    result = np.zeros((proba.shape[0], count))
    result[:, np.asarray(classes, dtype=np.int64)] = proba
    return result


def class_areas(y: np.ndarray, proba: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the area of each class against the rest and its rows; ties count one half.

    Of the classes that the rows have; none for a single class.
    """
    n = y.shape[0]
    labels, counts = np.unique(y, return_counts=True)
    if labels.shape[0] < 2:
        return np.empty(0), np.empty(0)
    areas = np.empty(labels.shape[0])
    for at, (label, count) in enumerate(zip(labels, counts, strict=True)):
        ranks = rankdata(proba[:, label])
        above = ranks[y == label].sum() - count * (count + 1) / 2
        areas[at] = above / (count * (n - count))
    return areas, counts


def weighted_auc(y: np.ndarray, proba: np.ndarray) -> float:
    """Return the mean area of one class against the rest, weighted by frequency.

    NaN for a single class.
    """
    areas, counts = class_areas(y, proba)
    return float(np.average(areas, weights=counts)) if areas.size else float("nan")


def macro_auc(y: np.ndarray, proba: np.ndarray) -> float:
    """Return the mean area of one class against the rest, every class counting alike.

    NaN for a single class.
    """
    areas, _ = class_areas(y, proba)
    return float(areas.mean()) if areas.size else float("nan")


def row_losses(y: np.ndarray, proba: np.ndarray, clip: float = CLIP) -> np.ndarray:
    """Return -ln of the probability of each row's class, nats; clipped below."""
    found = proba[np.arange(y.shape[0]), y]
    return -np.log(np.clip(found, clip, 1.0))


def compression(y: np.ndarray, proba: np.ndarray, prior: np.ndarray) -> float:
    """Return 1 - loss / loss of the training priors on the same rows.

    1 is a perfect model, 0 one that answers the priors, less than 0 a worse one.
    """
    null = np.broadcast_to(prior, proba.shape)
    return float(1.0 - row_losses(y, proba).sum() / row_losses(y, null).sum())


def accuracy(y: np.ndarray, proba: np.ndarray) -> float:
    """Return the share of rows whose most probable class is theirs."""
    return float(np.mean(proba.argmax(axis=1) == y))


def calibration_bins(y: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """Return rows, summed top probability and hits of each bin: an array (3, BINS).

    The bins part [0, 1] in equal widths by the probability of the most probable class.
    Equal widths, because then the bins of folds can be added: the few test rows of one
    fold of a small set say nothing about calibration.
    """
    top, hit = proba.max(axis=1), proba.argmax(axis=1) == y
    at = np.clip(np.ceil(top * BINS).astype(np.int64) - 1, 0, BINS - 1)
    columns = (None, top, hit.astype(np.float64))
    return np.array([np.bincount(at, column, minlength=BINS) for column in columns])


def calibration_error(bins: np.ndarray) -> float:
    """Return the expected calibration error: mean |hits - probability| over the bins.

    Each bin counts by its rows. Over few rows chance alone makes it more than zero.
    """
    rows, top, hits = bins
    return float(np.abs(hits - top).sum() / rows.sum())


def scored(
    y: np.ndarray, train: np.ndarray, test: np.ndarray, proba: np.ndarray
) -> dict[str, float]:
    """Return the scores of the probabilities of one fold's test rows."""
    prior = np.bincount(y[train], minlength=proba.shape[1]) / train.shape[0]
    return {
        "AUC": weighted_auc(y[test], proba),
        "macro AUC": macro_auc(y[test], proba),
        "log loss": float(row_losses(y[test], proba).mean()),
        "accuracy": accuracy(y[test], proba),
        "compression": compression(y[test], proba, prior),
    }
