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


def weighted_auc(y: np.ndarray, proba: np.ndarray) -> float:
    """Return the mean area of one class against the rest, weighted by frequency.

    Over the classes that the rows have; ties count one half. NaN for a single class.
    """
    n = y.shape[0]
    labels, counts = np.unique(y, return_counts=True)
    if labels.shape[0] < 2:
        return float("nan")
    total = 0.0
    for label, count in zip(labels, counts, strict=True):
        ranks = rankdata(proba[:, label])
        above = ranks[y == label].sum() - count * (count + 1) / 2
        total += count * above / (count * (n - count))
    return float(total / n)


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
