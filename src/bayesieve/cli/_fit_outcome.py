"""What fitting gives, whatever the data was: the model, its rivals, rows to judge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.cli._progress import Step
from bayesieve.inspection._rows import take_rows
from bayesieve.model_selection import choose

__all__ = ["Clock", "CrossValidation", "Fitted", "Refits", "default_size"]

Codes = NDArray[np.int64]


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


@dataclass(frozen=True, eq=False)
class Refits:
    """All rows in memory, and how the model and its rivals are fitted to some of them.

    Attributes
    ----------
    X : object
        Texts of Arrow, a sparse matrix or a data frame.
    codes : ndarray of shape (n_rows,)
    classes : ndarray
    is_test : ndarray of bool of shape (n_rows,)
    makers : mapping of str to callable
        By name ("chosen" and those of the rivals): given the share of the training
        rows that there will be, an estimator to fit to them.
    """

    X: Any
    codes: Codes
    classes: NDArray[Any]
    is_test: NDArray[np.bool_]
    makers: Mapping[str, Callable[[float], Any]]

    def fit(self, name: str, places: Codes, share: float = 1.0) -> Any:
        """Fit one of them to some rows."""
        y = self.classes[self.codes[places]]
        return self.makers[name](share).fit(take_rows(self.X, places), y)


@dataclass
class Fitted:
    """A fitted model and what it was made from.

    Attributes
    ----------
    model : estimator
    unit : str
        What features are called: "terms", "columns", "features", "k-mers" or "n-grams".
    n_features : int
        Features to choose among.
    train_rows : int
    counts : ClassCounts or None
        Of the training rows, for the path over k.
    rivals : dict of str to estimator
        Others of the same rows, to compare with: "all" features without weights, the
        "proven" selection, the "weighted" model, "l1" logistic regression.
    held_out : callable or None
        Gives (rows for predict, class numbers) in batches.
    held_out_names : list of str or None
        What these rows are called, where they have names.
    refits : Refits or None
        Where rows are in memory and few enough to fit them again.
    of_size : callable or None
        Gives the proven selection of so many features, for the score over k.
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
    rivals: dict[str, Any] = field(default_factory=dict)
    held_out: Callable[[], Iterable[tuple[Any, Codes]]] | None = None
    held_out_names: list[str] | None = None
    refits: Refits | None = None
    of_size: Callable[[int], Any] | None = None
    cv: CrossValidation | None = None
    interrupted: bool = False
    settings: dict[str, Any] = field(default_factory=dict)


class Clock:
    """Seconds that parts of a command took, by name; what takes long is shown."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Add the time of a block."""
        start = time.perf_counter()
        try:
            with Step(name.capitalize()):
                yield
        finally:
            spent = time.perf_counter() - start
            self.seconds[name] = self.seconds.get(name, 0.0) + spent


def default_size(n_features: int) -> int:
    """Return the number of features to prove when none is asked for."""
    return max(2, min(20, n_features))
