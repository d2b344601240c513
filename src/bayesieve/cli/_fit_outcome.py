"""What fitting gives, whatever the data was, and how it does on held-out rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.model_selection import choose

__all__ = ["Clock", "CrossValidation", "Fitted", "default_size", "evaluate"]


@dataclass(frozen=True)
class CrossValidation:
    """Accuracy on held-out folds for each number of features, from the fewest on.

    `sparing` is the smallest number within one standard error of the `best`.
    """

    rows: list[dict[str, Any]]
    best: int
    sparing: int

    @classmethod
    def of(cls, sizes: Sequence[int], scores: NDArray[np.float64]) -> CrossValidation:
        """Choose among sizes by scores of shape (n_sizes, n_folds)."""
        choice = choose(scores[None])
        assert choice is not None  # there is a fold
        spread = scores.std(axis=1) / np.sqrt(scores.shape[1])
        rows = [
            {"k": int(k), "mean": float(mean), "se": float(se)}
            for k, mean, se in zip(sizes, scores.mean(axis=1), spread, strict=True)
        ]
        return cls(rows, int(sizes[choice.best]), int(sizes[choice.within_error]))


@dataclass
class Fitted:
    """A fitted model and what it was made from.

    Attributes
    ----------
    model : estimator
    unit : str
        What features are called: "terms", "columns" or "features".
    n_features : int
        Features to choose among.
    train_rows : int
    counts : ClassCounts or None
        Of the training rows, for the path over k.
    everything : estimator or None
        The same model on all features, for comparison.
    held_out : callable or None
        Gives (rows for predict, class numbers) in batches.
    cv : CrossValidation or None
        How k was chosen.
    interrupted : bool
        Whether Ctrl-C ended the reading, so that the model knows the first rows only.
    settings : dict
        What prediction has to know about the files.
    """

    model: Any
    unit: str
    n_features: int
    train_rows: int
    counts: Any = None
    everything: Any = None
    held_out: Callable[[], Iterable[tuple[Any, NDArray[np.int64]]]] | None = None
    cv: CrossValidation | None = None
    interrupted: bool = False
    settings: dict[str, Any] = field(default_factory=dict)


class Clock:
    """Seconds that parts of a command took, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Add the time of a block."""
        start = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - start
            self.seconds[name] = self.seconds.get(name, 0.0) + spent


def evaluate(fitted: Fitted, majority: int) -> dict[str, Any] | None:
    """Measure the model, all features and the largest class on held-out rows."""
    if fitted.held_out is None:
        return None
    rows = right = right_all = largest = 0
    loss = 0.0
    for X, codes in fitted.held_out():
        logs = fitted.model.predict_log_proba(X)
        rows += codes.size
        right += int((np.argmax(logs, axis=1) == codes).sum())
        # A class that cannot be (alpha = 0) would cost infinitely much.
        loss -= float(np.maximum(logs[np.arange(codes.size), codes], -700.0).sum())
        largest += int((codes == majority).sum())
        if fitted.everything is not None:
            best = np.argmax(fitted.everything.predict_joint_log_proba(X), axis=1)
            right_all += int((best == codes).sum())
    if not rows:
        return None
    found = {
        "rows": rows,
        "accuracy": right / rows,
        "log_loss": loss / rows,
        "majority_accuracy": largest / rows,
    }
    if fitted.everything is not None:
        found["all_features_accuracy"] = right_all / rows
    return found


def default_size(n_features: int) -> int:
    """Return the number of features to select when none is asked for."""
    return max(2, min(20, n_features))
