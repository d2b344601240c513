"""Stage 1 of two_stage.py: who selects, and what each answers for the wanted sizes.

Ours and the cheap scores run here; whatever needs a penalty search, an elimination or
another package is asked in the peers' environment, under a limit. Sizes are asked in
rising order, and who does not end at one is not asked for a larger one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import wide_peers as peers
from peer_environment import PeerWorker
from text_vectors import Vectors

import bayesieve
from bayesieve.baselines import odds_ratio, thresholded_nb

SHORT = 0.2  # the share of the limit for packages that rarely end on wide tables


@dataclass(frozen=True)
class Selection:
    """The columns of one selector at one size, or why there are none."""

    support: np.ndarray | None
    seconds: float | None = None
    fit_seconds: float | None = None  # of one fit, the search for a penalty left out
    why: str = ""
    C: float | None = None
    converged: bool = True


@dataclass(frozen=True)
class Question:
    """What every selector gets: rows, sizes, smoothing, and the peers' process."""

    data: Vectors
    sizes: Sequence[int]  # rising
    alpha: float
    worker: PeerWorker
    limit: float
    penalties: dict[int, float] = field(default_factory=dict)  # C of liblinear by size


@dataclass(frozen=True)
class Selector:
    """A name for the files, a label for the tables, a side, and how it is done."""

    name: str
    label: str
    side: str  # "ours" or "peers"
    select: Callable[[Question], Iterator[Selection]]


# -------------------------------------------------------------------------- in process


def ours(asked: Question, *, presence: bool, refine: bool) -> Iterator[Selection]:
    """Select by likelihood, with `refine` by the weights; of counts or of presence.

    The smoothing was chosen for a multinomial model of the counts, so presence has its
    default.
    """
    for k in asked.sizes:
        if presence:
            model = bayesieve.NaiveFeatureSelector(
                k=k, model="bernoulli", refine=refine
            )
        else:
            model = bayesieve.NaiveFeatureSelector(
                k=k, alpha=asked.alpha, refine=refine
            )
        begin = time.perf_counter()
        model.fit(asked.data.X_train, asked.data.y_train)
        seconds = time.perf_counter() - begin
        yield Selection(np.sort(model.support_indices_), seconds, seconds)


def scored(
    asked: Question, *, score: Callable[[Question], np.ndarray]
) -> Iterator[Selection]:
    """Select by a score for each column, computed once; its seconds count each time."""
    begin = time.perf_counter()
    scores = score(asked)
    seconds = time.perf_counter() - begin
    for k in asked.sizes:
        yield Selection(peers.best_columns(scores, k), seconds, seconds)


def thresholded(asked: Question) -> np.ndarray:
    """Return the absolute weights of multinomial naive Bayes."""
    return thresholded_nb(asked.data.X_train, asked.data.y_train, alpha=asked.alpha)


def odds(asked: Question) -> np.ndarray:
    """Return the log odds ratio, signed as its authors have it."""
    return odds_ratio(asked.data.X_train, asked.data.y_train, alpha=asked.alpha)


def chi2(asked: Question) -> np.ndarray:
    """Return scikit-learn's chi2."""
    return peers.chi2_scores(asked.data.X_train, asked.data.y_train)


def mutual_information(asked: Question) -> np.ndarray:
    """Return the mutual information of class and presence."""
    return peers.mutual_information(asked.data.X_train, asked.data.y_train)


# ------------------------------------------------------------ in the peers' environment


def one_by_one(
    asked: Question, *, selector: str, share: float = 1.0, smoothed: bool = False
) -> Iterator[Selection]:
    """Ask for one size after the other until one does not end."""
    more = {"alpha": asked.alpha} if smoothed else {}
    why = ""
    for k in asked.sizes:
        if why:
            yield Selection(None, why=why)
            continue
        limit = share * asked.limit
        answer = asked.worker.ask(selector, limit=limit, k=k, **more)
        if not answer["ended"]:
            why = answer["why"]
            yield Selection(None, why=why)
            continue
        yield Selection(
            np.sort(np.array(answer["support"], dtype=np.int64)),
            answer["seconds"],
            answer.get("fit_seconds", answer["seconds"]),
            C=answer.get("C"),
            converged=answer.get("converged", True),
        )


def all_at_once(asked: Question, *, selector: str) -> Iterator[Selection]:
    """Ask for all sizes in one elimination."""
    sizes = list(asked.sizes)
    answer = asked.worker.ask(selector, limit=2 * asked.limit, sizes=sizes)
    for at in range(len(sizes)):
        if not answer["ended"]:
            yield Selection(None, why=answer["why"])
            continue
        seconds = answer["seconds"][at]
        yield Selection(
            np.array(answer["supports"][at], dtype=np.int64),
            seconds,
            seconds,
            converged=answer["converged"][at],
        )


def l1_logistic(asked: Question) -> Iterator[Selection]:
    """Search the C of liblinear for each size, and remember it."""
    found = one_by_one(asked, selector="l1_logistic")
    for k, one in zip(asked.sizes, found, strict=True):
        if one.C is not None:
            asked.penalties[k] = one.C
        yield one


def saga(asked: Question) -> Iterator[Selection]:
    """Fit the paper's saga at the C of liblinear for that size; its k largest stay.

    The paper searched for its own C by hand. After 100 passes saga has not converged
    and may have more columns than the optimum at the same C.
    """
    if any(k not in asked.penalties for k in asked.sizes):
        list(l1_logistic(asked))
    for k in asked.sizes:
        if k not in asked.penalties:
            yield Selection(None, why="no C of liblinear")
            continue
        C = asked.penalties[k]
        answer = asked.worker.ask("l1_saga", limit=asked.limit, k=k, C=C)
        if not answer["ended"]:
            yield Selection(None, why=answer["why"])
            continue
        support = np.sort(np.array(answer["support"], dtype=np.int64))
        seconds = answer["seconds"]
        yield Selection(support, seconds, seconds, C=C, converged=answer["converged"])


def asking(name: str, **options: Any) -> Callable[[Question], Iterator[Selection]]:
    """Return the selector that asks the peers' environment size by size."""
    return partial(one_by_one, selector=name, **options)


SELECTORS = (
    Selector(
        "likelihood",
        "ours, likelihood",
        "ours",
        partial(ours, presence=False, refine=False),
    ),
    Selector(
        "refined",
        "ours, refined by weights",
        "ours",
        partial(ours, presence=False, refine=True),
    ),
    Selector(
        "presence",
        "ours, presence",
        "ours",
        partial(ours, presence=True, refine=False),
    ),
    Selector(
        "presence_refined",
        "ours, presence, refined",
        "ours",
        partial(ours, presence=True, refine=True),
    ),
    Selector(
        "published", "published code", "peers", asking("published", smoothed=True)
    ),
    Selector("tmnb", "thresholded MNB", "peers", partial(scored, score=thresholded)),
    Selector("odds_ratio", "odds ratio", "peers", partial(scored, score=odds)),
    Selector("chi2", "chi2", "peers", partial(scored, score=chi2)),
    Selector(
        "mutual_information",
        "mutual information",
        "peers",
        partial(scored, score=mutual_information),
    ),
    Selector("l1_logistic", "l1 logistic, liblinear", "peers", l1_logistic),
    Selector("l1_saga", "l1 logistic, saga", "peers", saga),
    Selector("l1_svm", "l1 SVM", "peers", asking("l1_svm")),
    Selector("lasso", "LASSO", "peers", asking("lasso")),
    Selector(
        "rfe_logistic",
        "logistic + RFE",
        "peers",
        partial(all_at_once, selector="rfe_logistic"),
    ),
    Selector("rfe_svm", "SVM + RFE", "peers", partial(all_at_once, selector="rfe_svm")),
    Selector("abess", "abess", "peers", asking("abess", share=SHORT)),
    Selector("mrmr", "mRMR", "peers", asking("mrmr", share=SHORT)),
)
BY_NAME = {selector.name: selector for selector in SELECTORS}
OURS = tuple(s.name for s in SELECTORS if s.side == "ours")
