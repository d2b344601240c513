"""The peers' side of peer_environment.py: runs inside the peers' own environment.

Started with the rows (.npz) and labels (.npy) of one split. Questions come as lines of
JSON on stdin: {"selector": name, "limit": seconds, ...}. One answer line each:

    ended       whether there is an answer; if not, `why` says what was in the way
    support     the chosen columns, or `supports`: one list for each of `sizes`
    seconds     of the selection; for several sizes one number each
    fit_seconds of the one fit that is returned, without the search for a penalty
    fits, C, converged, memory (bytes, the peak of the process so far)

Settings are those of section 7 of Askari et al. where they give any.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from typing import Any

import numpy as np
import sklearn.feature_selection._base
import wide_peers as peers
from scipy import sparse
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.svm import LinearSVC

DENSE_LIMIT = 4e9  # bytes that a peer without sparse rows may take for its table
RFE_SHARE = 0.3


class RefusedError(Exception):
    """A peer that cannot take these rows; the message says why."""


# ------------------------------------------------------------------------- l1 searches


def answer_of(found: peers.Found) -> dict[str, Any]:
    """Return what a search for a penalty found, as it is sent."""
    return {
        "support": found.support.tolist(),
        "seconds": found.seconds,
        "fit_seconds": found.fit_seconds,
        "fits": found.fits,
        "C": found.C,
        "converged": found.converged,
    }


def l1_logistic(X: Any, y: np.ndarray, *, k: int, limit: float) -> dict[str, Any]:
    """Search the C of liblinear that leaves k columns."""
    return answer_of(
        peers.search_penalty(peers.l1_logistic, X, y, k, loss="log", seconds=limit / 2)
    )


def l1_svm(X: Any, y: np.ndarray, *, k: int, limit: float) -> dict[str, Any]:
    """Search the C of the l1 SVM that leaves k columns."""
    return answer_of(
        peers.search_penalty(
            peers.l1_svm, X, y, k, loss="squared_hinge", seconds=limit / 2
        )
    )


def lasso_of(C: float, n_classes: int) -> Any:
    """Return the paper's LASSO on the labels 0 and 1; C is one over its alpha."""
    return Lasso(alpha=1 / C, selection="cyclic", tol=1e-5)


def lasso(X: Any, y: np.ndarray, *, k: int, limit: float) -> dict[str, Any]:
    """Search the alpha of LASSO that leaves k columns; its C is one over alpha."""
    columns, target = sparse.csc_matrix(X), y.astype(np.float64)
    smallest = y.shape[0] / np.abs(columns.T @ (target - target.mean())).max()
    found = peers.search_penalty(
        lasso_of,
        columns,
        target,
        k,
        smallest=smallest,
        largest=1e6 * smallest,
        seconds=limit / 2,
    )
    return answer_of(found)


def strongest(model: Any, k: int) -> np.ndarray:
    """Return at most k columns with a coefficient, the largest first."""
    size = np.abs(peers.coefficients(model)).max(axis=0)
    return peers.best_columns(size, min(k, np.count_nonzero(size)))


def one_fit(model: Any, X: Any, y: np.ndarray, k: int) -> dict[str, Any]:
    """Fit at a penalty that is known, and keep the k largest coefficients."""
    seconds, converged = peers.fitted(model, X, y)
    return {
        "support": strongest(model, k).tolist(),
        "nonzero": int(np.count_nonzero(peers.coefficients(model))),
        "seconds": seconds,
        "fit_seconds": seconds,
        "converged": converged,
    }


def l1_saga(X: Any, y: np.ndarray, *, k: int, C: float, limit: float) -> dict[str, Any]:
    """Fit the paper's l1 logistic regression: saga, at most 100 passes."""
    model = LogisticRegression(
        l1_ratio=1.0, solver="saga", C=C, max_iter=100, random_state=0
    )
    return one_fit(model, X, y, k)


def l1_liblinear(
    X: Any, y: np.ndarray, *, k: int, C: float, limit: float
) -> dict[str, Any]:
    """Fit l1 logistic regression by liblinear."""
    return one_fit(peers.l1_logistic(C, 2), X, y, k)


def l1_celer(
    X: Any, y: np.ndarray, *, k: int, C: float, limit: float
) -> dict[str, Any]:
    """Fit l1 logistic regression by celer, which has no intercept."""
    import celer

    return one_fit(celer.LogisticRegression(C=C), sparse.csc_matrix(X), y, k)


# ------------------------------------------------------------------------- elimination


def eliminated(
    X: Any, y: np.ndarray, sizes: list[int], start: Any
) -> dict[str, list[Any]]:
    """Return the columns of RFE in steps of 30 % for every size."""
    found = peers.eliminate_to_all(X, y, sizes, start=start, share=RFE_SHARE)
    return {
        "supports": [found[k].support.tolist() for k in sizes],
        "seconds": [found[k].seconds for k in sizes],
        "fits": [found[k].fits for k in sizes],
        "converged": [found[k].converged for k in sizes],
    }


def rfe_logistic(
    X: Any, y: np.ndarray, *, sizes: list[int], limit: float
) -> dict[str, Any]:
    """Eliminate by logistic regression."""
    start = LogisticRegression(C=1e4, solver="lbfgs", max_iter=100)
    return eliminated(X, y, sizes, start)


def rfe_svm(X: Any, y: np.ndarray, *, sizes: list[int], limit: float) -> dict[str, Any]:
    """Eliminate by the linear SVM."""
    return eliminated(X, y, sizes, LinearSVC(C=1e4, dual=False, random_state=0))


# ---------------------------------------------------------------------- other packages


def published(
    X: Any, y: np.ndarray, *, k: int, alpha: float = 0.0, limit: float
) -> dict[str, Any]:
    """Run the paper's own code. It has no smoothing: a row of alphas for each class."""
    sys.modules["sklearn.feature_selection.base"] = sklearn.feature_selection._base
    from naive_feature_selection import NaiveFeatureSelection

    if alpha > 0:
        more = sparse.csr_matrix(np.full((2, X.shape[1]), alpha))
        X, y = sparse.vstack([X, more], format="csr"), np.append(y, [0, 1])
    begin = time.perf_counter()
    model = NaiveFeatureSelection(k=k).fit(X, y)
    seconds = time.perf_counter() - begin
    return {"support": np.flatnonzero(model.mask_).tolist(), "seconds": seconds}


def mrmr(X: Any, y: np.ndarray, *, k: int, limit: float) -> dict[str, Any]:
    """Run mRMR (F statistic over mean correlation); its order is that of choice."""
    import pandas as pd
    from mrmr import mrmr_classif

    if 8.0 * X.shape[0] * X.shape[1] > DENSE_LIMIT:
        gigabytes = 8e-9 * X.shape[0] * X.shape[1]
        raise RefusedError(f"needs dense rows, {gigabytes:.0f} GB")
    table = pd.DataFrame(X.toarray())
    begin = time.perf_counter()
    chosen = mrmr_classif(X=table, y=pd.Series(y), K=k, show_progress=False)
    seconds = time.perf_counter() - begin
    return {"support": [int(name) for name in chosen], "seconds": seconds}


def abess(X: Any, y: np.ndarray, *, k: int, limit: float) -> dict[str, Any]:
    """Run best subset selection for logistic regression at one size."""
    from abess import LogisticRegression as BestSubset

    model = BestSubset(support_size=k)
    begin = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - begin
    return {"support": np.flatnonzero(model.coef_).tolist(), "seconds": seconds}


SELECTORS = {
    function.__name__: function
    for function in (
        l1_logistic,
        l1_svm,
        lasso,
        l1_saga,
        l1_liblinear,
        l1_celer,
        rfe_logistic,
        rfe_svm,
        published,
        mrmr,
        abess,
    )
}


def answer(question: dict[str, Any], X: Any, y: np.ndarray) -> dict[str, Any]:
    """Return the answer to one question; a peer's own error is an answer too."""
    selector = SELECTORS[question.pop("selector")]
    try:
        result = selector(X, y, **question)
    except Exception as error:  # whatever a peer may raise: its answer is the reason
        told = str(error).strip().partition("\n")[0]
        kind = "" if isinstance(error, RefusedError) else f"{type(error).__name__}: "
        return {"ended": False, "why": f"{kind}{told}"}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"ended": True, **result, "memory": int(peak) * 1024}


def main() -> None:
    """Answer until there are no more questions."""
    warnings.simplefilter("ignore")
    X = sparse.load_npz(sys.argv[1]).astype(np.float64)
    y = np.load(sys.argv[2])
    channel, sys.stdout = sys.stdout, sys.stderr  # some peers print
    print("ready", file=channel, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), X, y)), file=channel, flush=True)


if __name__ == "__main__":
    main()
