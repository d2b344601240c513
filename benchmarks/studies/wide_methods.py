"""The methods of wide_weights.py: what each is called, and how one cell is computed.

A job is one selection; it may stand for several methods, such as the posterior of l1
logistic regression and multinomial naive Bayes on the columns that it keeps. Jobs get
the counts of one split and the wanted sizes, and give the rows of one size after the
other, so that scores which do not depend on the size are computed once.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import wide_peers as peers
from probability_scores import all_classes, row_losses
from sklearn.naive_bayes import MultinomialNB
from wide_sets import Part

import bayesieve

COLUMNS = [
    "k",
    "accuracy",
    "accuracy error",
    "log loss",
    "log loss error",
    "features",
    "seconds",
    "fit seconds",
    "fits",
    "C",
    "converged",
    "run",
]
# One row of COLUMNS but for k and run, which the caller knows.
Scores = list[float | None]
Rows = dict[str, Scores]


@dataclass(frozen=True)
class Job:
    """A selection and the methods it stands for: name -> what the tables call it."""

    name: str
    side: str  # "ours", "alone" (sparse models without weights), "peers", "all"
    methods: dict[str, str]
    rows: Callable[[Part, Sequence[int], float], Iterator[Rows]]
    needs: tuple[str, ...] = ()  # public names without which it cannot run

    def missing(self) -> list[str]:
        """Return the names that this version of the library does not have."""
        return [name for name in self.needs if not hasattr(bayesieve, name)]


# ---------------------------------------------------------------------------- scoring


def scored(
    y: np.ndarray, predicted: np.ndarray, proba: np.ndarray | None
) -> list[float | None]:
    """Return accuracy and log loss with their standard errors over the test rows."""
    n = y.shape[0]
    accuracy = float(np.mean(predicted == y))
    result: list[float | None] = [
        accuracy,
        float(np.sqrt(accuracy * (1 - accuracy) / n)),
    ]
    if proba is None:
        return [*result, None, None]
    losses = row_losses(y, proba)
    return [*result, float(losses.mean()), float(losses.std() / np.sqrt(n))]


def row_of(
    model: Any,
    X_test: Any,
    y_test: np.ndarray,
    *,
    features: int,
    seconds: float,
    fit_seconds: float,
    fits: int = 1,
    C: float | None = None,
    converged: bool = True,
) -> Scores:
    """Return the row of a fitted model; without probabilities its loss is None."""
    proba = None
    if hasattr(model, "predict_proba"):
        found = np.asarray(model.predict_proba(X_test))
        count = max(int(y_test.max()), int(model.classes_.max())) + 1
        proba = all_classes(found, model.classes_, count)
        predicted = model.classes_[found.argmax(axis=1)]
    else:
        predicted = model.predict(X_test)
    return [
        *scored(y_test, predicted, proba),
        features,
        round(seconds, 5),
        round(fit_seconds, 5),
        fits,
        C,
        int(converged),
    ]


def naive_bayes_row(
    part: Part,
    support: np.ndarray,
    *,
    seconds: float,
    fit_seconds: float,
    fits: int = 1,
    C: float | None = None,
    converged: bool = True,
) -> Scores:
    """Return the row of MultinomialNB on the columns that something has chosen."""
    more, model = peers.naive_bayes_on(part.X_train, part.y_train, support)
    X_test = part.X_test[:, support]
    if support.shape[0] == 0:
        X_test = np.zeros((part.X_test.shape[0], 1))
    return row_of(
        model,
        X_test,
        part.y_test,
        features=support.shape[0],
        seconds=seconds + more,
        fit_seconds=fit_seconds + more,
        fits=fits,
        C=C,
        converged=converged,
    )


# ------------------------------------------------------------------------------- ours


def own_model(
    make: Callable[[int], Any],
    own: str | None = None,
    refitted: str | None = None,
) -> Callable[[Part, Sequence[int], float], Iterator[Rows]]:
    """Return a job of a model or selector of ours: its posterior, MNB on its columns.

    A selector has no posterior. With own=None or refitted=None that row is left out.
    """

    def rows(part: Part, sizes: Sequence[int], limit: float) -> Iterator[Rows]:
        for k in sizes:
            model = make(k)
            begin = time.perf_counter()
            model.fit(part.X_train, part.y_train)
            seconds = time.perf_counter() - begin
            support = np.flatnonzero(model.support_)
            result: Rows = {}
            if own is not None:
                result[own] = row_of(
                    model,
                    part.X_test,
                    part.y_test,
                    features=support.shape[0],
                    seconds=seconds,
                    fit_seconds=seconds,
                )
            if refitted is not None:
                result[refitted] = naive_bayes_row(
                    part, support, seconds=seconds, fit_seconds=seconds
                )
            yield result

    return rows


def weighted_multinomial(k: int) -> Any:
    """Return screening and weights on counts, the weights refitted."""
    return bayesieve.SelectiveMultinomialNB(k=k, relaxed=True)


def weighted_bernoulli(k: int) -> Any:
    """Return screening and weights on presences, the weights refitted."""
    return bayesieve.SelectiveBernoulliNB(k=k, relaxed=True)


def weighted_auto(k: int) -> Any:
    """Return the same on counts; cross-validation decides on the refit."""
    return bayesieve.SelectiveMultinomialNB(k=k, relaxed="auto")


def refined(k: int) -> Any:
    """Return the selector that takes the columns with the weights."""
    return bayesieve.NaiveFeatureSelector(k=k, refine=True)


def refined_auto(k: int) -> Any:
    """Return the selector that asks cross-validation whether to take the weights."""
    return bayesieve.NaiveFeatureSelector(k=k, refine="auto")


# ------------------------------------------------------------------------------ peers


def searched(make: Any, loss: str, own: str, refitted: str) -> Any:
    """Return the job of an l1 model: its own answer, and MNB on its columns."""

    def rows(part: Part, sizes: Sequence[int], limit: float) -> Iterator[Rows]:
        X = part.X_train.astype(np.float64)
        X_test = part.X_test.astype(np.float64)
        for k in sizes:
            # Half of the limit: the fit under way must end, and the rest be scored.
            found = peers.search_penalty(
                make, X, part.y_train, k, loss=loss, seconds=limit / 2
            )
            facts = {
                "seconds": found.seconds,
                "fit_seconds": found.fit_seconds,
                "fits": found.fits,
                "C": found.C,
                "converged": found.converged,
            }
            yield {
                own: row_of(
                    found.model,
                    X_test,
                    part.y_test,
                    features=found.support.shape[0],
                    **facts,
                ),
                refitted: naive_bayes_row(part, found.support, **facts),
            }

    return rows


def eliminated(part: Part, found: peers.Found, own: str, refitted: str) -> Rows:
    """Return the rows of recursive feature elimination at one size."""
    facts = {
        "seconds": found.seconds,
        "fit_seconds": found.seconds,  # every step is part of the one selection
        "fits": found.fits,
        "converged": found.converged,
    }
    return {
        own: row_of(
            found.model,
            part.X_test[:, found.support].astype(np.float64),
            part.y_test,
            features=found.support.shape[0],
            **facts,
        ),
        refitted: naive_bayes_row(part, found.support, **facts),
    }


def elimination(part: Part, sizes: Sequence[int], limit: float) -> Iterator[Rows]:
    """Give the rows of `RFE(step=0.1)`."""
    X = part.X_train.astype(np.float64)
    found = peers.eliminate_to_all(X, part.y_train, sizes)
    for k in sizes:
        yield eliminated(part, found[k], "rfe", "rfe_mnb")


def fine_elimination(part: Part, sizes: Sequence[int], limit: float) -> Iterator[Rows]:
    """Give the rows of the elimination in steps of a tenth of what is left."""
    X = part.X_train.astype(np.float64)
    found = peers.eliminate_finely(X, part.y_train, sizes)
    for k in sizes:
        yield eliminated(part, found[k], "rfe_fine", "rfe_fine_mnb")


def ranked(score: Callable[[Any, np.ndarray], np.ndarray], method: str) -> Any:
    """Return the job of a filter: scores once, MNB on the k best columns."""

    def rows(part: Part, sizes: Sequence[int], limit: float) -> Iterator[Rows]:
        begin = time.perf_counter()
        scores = score(part.X_train, part.y_train)
        seconds = time.perf_counter() - begin
        for k in sizes:
            support = peers.best_columns(scores, k)
            yield {
                method: naive_bayes_row(
                    part, support, seconds=seconds, fit_seconds=seconds
                )
            }

    return rows


def everything(part: Part, sizes: Sequence[int], limit: float) -> Iterator[Rows]:
    """Give the row of MultinomialNB on all columns, the same for every size."""
    begin = time.perf_counter()
    model = MultinomialNB().fit(part.X_train, part.y_train)
    seconds = time.perf_counter() - begin
    row = row_of(
        model,
        part.X_test,
        part.y_test,
        features=part.X_train.shape[1],
        seconds=seconds,
        fit_seconds=seconds,
    )
    for _ in sizes:
        yield {"all": list(row)}


JOBS = (
    Job(
        "weighted_multinomial",
        "ours",
        {"weighted_multinomial": "weighted multinomial"},
        own_model(weighted_multinomial, own="weighted_multinomial"),
        ("SelectiveMultinomialNB",),
    ),
    Job(
        "weighted_bernoulli",
        "ours",
        {
            "weighted_bernoulli": "weighted Bernoulli",
            "weighted_bernoulli_mnb": "weighted Bernoulli, MNB",
        },
        own_model(
            weighted_bernoulli,
            own="weighted_bernoulli",
            refitted="weighted_bernoulli_mnb",
        ),
        ("SelectiveBernoulliNB",),
    ),
    Job(
        "weighted_auto",
        "ours",
        {"weighted_auto": 'weighted multinomial, relaxed="auto"'},
        own_model(weighted_auto, own="weighted_auto"),
        ("SelectiveMultinomialNB",),
    ),
    Job(
        "refined",
        "ours",
        {"refined": "refine=True, MNB"},
        own_model(refined, refitted="refined"),
        ("SelectiveMultinomialNB",),
    ),
    Job(
        "refined_auto",
        "ours",
        {"refined_auto": 'refine="auto", MNB'},
        own_model(refined_auto, refitted="refined_auto"),
        ("SelectiveMultinomialNB",),
    ),
    Job(
        "sparse_multinomial",
        "alone",
        # MultinomialNB on its columns is the same model: both classes give them the
        # same mass.
        {"sparse_multinomial": "sparse multinomial"},
        own_model(
            lambda k: bayesieve.SparseMultinomialNB(k=k), own="sparse_multinomial"
        ),
    ),
    Job(
        "sparse_bernoulli",
        "alone",
        {
            "sparse_bernoulli": "sparse Bernoulli",
            "sparse_bernoulli_mnb": "sparse Bernoulli, MNB",
        },
        own_model(
            lambda k: bayesieve.SparseBernoulliNB(k=k),
            own="sparse_bernoulli",
            refitted="sparse_bernoulli_mnb",
        ),
    ),
    Job("all", "all", {"all": "MNB, all features"}, everything),
    Job("chi2", "peers", {"chi2": "chi2, MNB"}, ranked(peers.chi2_scores, "chi2")),
    Job(
        "mutual_information",
        "peers",
        {"mutual_information": "mutual information, MNB"},
        ranked(peers.mutual_information, "mutual_information"),
    ),
    Job(
        "l1_logistic",
        "peers",
        {
            "l1_logistic": "l1 logistic regression",
            "l1_logistic_mnb": "l1 logistic regression, MNB",
        },
        searched(peers.l1_logistic, "log", "l1_logistic", "l1_logistic_mnb"),
    ),
    Job(
        "l1_svm",
        "peers",
        {"l1_svm": "l1 SVM", "l1_svm_mnb": "l1 SVM, MNB"},
        searched(peers.l1_svm, "squared_hinge", "l1_svm", "l1_svm_mnb"),
    ),
    Job(
        "rfe",
        "peers",
        {"rfe": "RFE, logistic regression", "rfe_mnb": "RFE, MNB"},
        elimination,
    ),
    Job(
        "rfe_fine",
        "peers",
        {
            "rfe_fine": "RFE in small steps, logistic regression",
            "rfe_fine_mnb": "RFE in small steps, MNB",
        },
        fine_elimination,
    ),
)
BY_NAME = {job.name: job for job in JOBS}
LABELS = {name: label for job in JOBS for name, label in job.methods.items()}
SIDES = {name: job.side for job in JOBS for name in job.methods}
JOB_OF = {name: job.name for job in JOBS for name in job.methods}
# Those that multiply unweighted probabilities: what the weights are there to repair.
NAIVE = tuple(
    name
    for name, label in LABELS.items()
    if SIDES[name] != "all" and (SIDES[name] == "alone" or label.endswith("MNB"))
)
WEIGHTED = tuple(n for n in LABELS if SIDES[n] == "ours" and n not in NAIVE)


def quietly(job: Job, part: Part, sizes: Sequence[int], limit: float) -> Iterator[Rows]:
    """Give the rows of a job without its warnings; the row says what did not end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from job.rows(part, sizes, limit)
