"""Measures of a classifier's probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.utils._validation import check_weights, encode_labels

__all__ = ["compression_rate"]


def compression_rate(
    y: Any, proba: Any, prior: Any, *, classes: Any = None, sample_weight: Any = None
) -> float:
    """Share of the labels' code length that a classifier saves over the prior alone.

    ``1 - sum log proba[n, y_n] / sum log prior[y_n]``: 1 for certainty that is right,
    exactly 0 for the prior, negative for a classifier worse than that.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    proba : array-like of shape (n_samples, n_classes)
        Predicted probabilities, columns in the order of the sorted classes.
    prior : array-like of shape (n_classes,)
        Class shares of the training rows.
    classes : array-like of shape (n_classes,), optional
        All classes, where y does not show them all.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float
        Minus infinity if a label that came was given probability zero; not a number if
        there is nothing to save (the prior is sure of every label).

    Examples
    --------
    >>> from bayesieve import compression_rate
    >>> compression_rate([0, 1, 1], [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]], [0.5, 0.5])
    0.0
    >>> round(compression_rate([0, 1], [[0.9, 0.1], [0.2, 0.8]], [0.5, 0.5]), 4)
    0.763
    """
    found, codes = encode_labels(y, classes)
    try:
        proba = np.asarray(proba, dtype=np.float64)
        prior = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "proba and prior must be arrays of numbers. "
            f"Got {type(proba).__name__} and {type(prior).__name__}."
        ) from error
    shape = (codes.shape[0], prior.shape[0] if prior.ndim == 1 else -1)
    if proba.shape != shape or prior.shape != found.shape:
        raise ValueError(
            "proba must have a row for each label and a column for each class, and "
            f"prior one share for each class. Got {codes.shape[0]} labels of "
            f"{found.shape[0]} classes, proba of shape {proba.shape} and prior of "
            f"shape {prior.shape}. Hint: give 'classes' where y does not show them all."
        )
    for name, shares in (("proba", proba), ("prior", prior)):
        good = (shares >= 0.0).all() and np.allclose(shares.sum(axis=-1), 1, atol=1e-6)
        if not good:
            raise ValueError(
                f"{name} must hold probabilities, numbers >= 0 that add up to 1 over "
                f"the classes. Got sums from {shares.sum(axis=-1).min():g} to "
                f"{shares.sum(axis=-1).max():g}, smallest value {shares.min():g}."
            )
    if classes is not None and not np.array_equal(found, np.asarray(classes)):
        raise ValueError(
            "classes must be sorted and distinct, as the columns of proba are. "
            f"Got {np.asarray(classes).tolist()!r}."
        )
    weights = check_weights(sample_weight, codes.shape[0])
    if weights is None:
        weights = np.ones(codes.shape[0])
    used = weights > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        model = np.log(proba[np.arange(codes.shape[0]), codes])[used]
        null = np.log(prior[codes])[used]
        return float(1.0 - (weights[used] @ model) / (weights[used] @ null))
