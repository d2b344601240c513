"""One cell of unlimited_features.py: the selectors at one size, scored and timed.

Also the gain of a support with its rounding, computed from its definition so that both
sides are judged by the same formula.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from ledger import progress
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import MultinomialNB
from smoothing_choice import chosen_alpha, class_sums
from text_vectors import SEED, Vectors

from bayesieve import NaiveFeatureSelector
from bayesieve.baselines import odds_ratio, thresholded_nb
from measurement import timed

ALPHAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
SELECTORS = ("ours", "refined", "thresholded", "odds")
BASELINES = ("thresholded", "odds")
REPEATS = 3
SLOW = 1.0  # seconds beyond which a side is measured once
COLUMNS = (
    "m",
    "k",
    "alpha",
    "all_accuracy",
    *(f"{name}_accuracy" for name in SELECTORS),
    # Of the difference of accuracies: standard error over the rows of the test part.
    *(f"{a}_{b}_error" for a in ("ours", "refined") for b in BASELINES),
    "mnb_seconds",
    *(f"{name}_seconds" for name in SELECTORS),
    "published_seconds",
    # Gain of our support over the null model in nats, how far the published code's is
    # below it, and the rounding of both: without smoothing, then with the chosen one.
    *(f"{what}_{at}" for at in ("0", "a") for what in ("gain", "below", "rounding")),
    "optimal_0",
    "optimal_a",
    "nodes_a",
    "run",
)


# ------------------------------------------------------------------------- mathematics


def gain_of(sums: np.ndarray, support: np.ndarray, alpha: float) -> tuple[float, float]:
    """Return the gain of a support over the null model, and the rounding of it.

    The gain is the sum of G_i KL(q_i || p) over the support: f log(q / p), where q are
    the class shares of a column and p those of all columns of the support together.
    """
    f = sums[:, support] + alpha
    inside = np.array([math.fsum(row) for row in f])
    shares = inside / inside.sum()
    terms = np.zeros_like(f)
    ratio = f / f.sum(axis=0) / np.where(shares > 0, shares, 1.0)[:, None]
    np.log(ratio, out=terms, where=f > 0)
    terms *= f
    # Four roundings in a term, each relative to f: the logarithm may be small.
    rounding = 8 * np.finfo(float).eps * (np.abs(terms).sum() + f.sum())
    return math.fsum(terms.ravel()), float(rounding)


def paired_error(right: np.ndarray, other: np.ndarray) -> float:
    """Return the standard error of a difference of accuracies on the same rows."""
    return float(np.std(right.astype(float) - other) / math.sqrt(right.shape[0]))


# --------------------------------------------------------------------------- selection


@dataclass(frozen=True)
class Job:
    """One set, vector and split: rows, class sums and the chosen smoothing."""

    data: Vectors
    sums: np.ndarray
    alpha: float
    all_accuracy: float


def prepared(data: Vectors) -> Job:
    """Choose alpha and score naive Bayes on all columns."""
    alpha = chosen_alpha(data.X_train, data.y_train, ALPHAS, seed=SEED)
    model = MultinomialNB(alpha=alpha).fit(data.X_train, data.y_train)
    every = float(model.score(data.X_test, data.y_test))
    return Job(data, class_sums(data.X_train, data.y_train), alpha, every)


def selectors(job: Job, k: int) -> dict[str, Any]:
    """Return the selectors at one size, all with the same smoothing."""
    return {
        "ours": NaiveFeatureSelector(k=k, alpha=job.alpha),
        "refined": NaiveFeatureSelector(k=k, alpha=job.alpha, refine=True),
        "thresholded": SelectKBest(partial(thresholded_nb, alpha=job.alpha), k=k),
        "odds": SelectKBest(partial(odds_ratio, alpha=job.alpha), k=k),
    }


def hits(job: Job, support: np.ndarray) -> np.ndarray:
    """Return which test rows stage 2, `MultinomialNB` on the columns, gets right."""
    data = job.data
    model = MultinomialNB(alpha=job.alpha)
    model.fit(data.X_train[:, support], data.y_train)
    return model.predict(data.X_test[:, support]) == data.y_test


def best_seconds(
    sides: dict[str, Callable[[], float]], repeats: int = REPEATS
) -> dict[str, float]:
    """Best of some repetitions in turns; a slow side has the first one alone.

    A side returns its own seconds, nan when it did not end.
    """
    first = {name: run() for name, run in sides.items()}
    best = dict(first)
    for _ in range(repeats - 1):
        for name, run in sides.items():
            if first[name] < SLOW:
                best[name] = min(best[name], run())
    return best


class Published:
    """The published code at one size: the last support, and seconds when called."""

    def __init__(self, worker: Any, k: int, alpha: float, limit: float) -> None:
        self._worker = worker
        self._question = {"k": k, "alpha": alpha, "limit": limit}
        self.support: np.ndarray | None = None

    def __call__(self) -> float:
        """Ask once; nan when there is no answer."""
        answer = self._worker.ask("published", **self._question)
        if not answer["ended"]:
            progress(f"  published code: {answer['why']}")
            return math.nan
        self.support = np.array(answer["support"], dtype=np.int64)
        return float(answer["seconds"])


def seconds_of(run: Callable[[], object]) -> float:
    """Return the seconds of one call."""
    return timed(run)[0]


def compared(
    sums: np.ndarray, ours: np.ndarray, theirs: np.ndarray | None, alpha: float
) -> tuple[float, float | None, float | None]:
    """Return our gain, how far theirs is below it, and the rounding of both."""
    gain, rounding = gain_of(sums, ours, alpha)
    if theirs is None:
        return gain, None, None
    other, more = gain_of(sums, theirs, alpha)
    return gain, gain - other, rounding + more


def cell(job: Job, k: int, worker: Any, *, limit: float, run: int) -> list[Any]:
    """Return the row of one size, in the order of `COLUMNS`."""
    X, y = job.data.X_train, job.data.y_train
    models = selectors(job, k)
    theirs_0 = Published(worker, k, 0.0, limit)
    theirs_a = Published(worker, k, job.alpha, limit)
    fits = {"mnb": MultinomialNB(alpha=job.alpha), **models}
    sides: dict[str, Callable[[], float]] = {
        name: partial(seconds_of, partial(model.fit, X, y))
        for name, model in fits.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ties and gaps are in the row
        seconds = best_seconds({**sides, "published": theirs_0})
        plain = NaiveFeatureSelector(k=k, alpha=0.0).fit(X, y)
    theirs_a()
    found = {n: np.flatnonzero(model.get_support()) for n, model in models.items()}
    right = {name: hits(job, support) for name, support in found.items()}
    gain_0 = compared(job.sums, plain.support_indices_, theirs_0.support, 0.0)
    gain_a = compared(job.sums, found["ours"], theirs_a.support, job.alpha)
    return [
        X.shape[1],
        k,
        job.alpha,
        short(job.all_accuracy, 6),
        *(short(right[name].mean(), 6) for name in SELECTORS),
        *(
            short(paired_error(right[a], right[b]), 3)
            for a in ("ours", "refined")
            for b in BASELINES
        ),
        *(short(seconds[name], 4) for name in ("mnb", *SELECTORS, "published")),
        *(short(value, 4 if at else 10) for at, value in enumerate(gain_0)),
        *(short(value, 4 if at else 10) for at, value in enumerate(gain_a)),
        int(plain.certificate_.is_optimal),
        int(models["ours"].certificate_.is_optimal),
        int(models["ours"].certificate_.nodes),
        run,
    ]


def short(value: float | None, digits: int) -> float | None:
    """Return a number with that many digits: the files are read by people too."""
    if value is None or math.isnan(value):
        return None
    return float(f"{value:.{digits}g}")
