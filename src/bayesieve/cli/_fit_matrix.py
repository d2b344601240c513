"""The sparse classifiers on a matrix or a frame of numbers."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve import naive_bayes
from bayesieve.cli._command import CommandError
from bayesieve.cli._fit_outcome import Clock, CrossValidation, Fitted, default_size
from bayesieve.cli._rules import rules_from
from bayesieve.counts import ClassCounts

__all__ = ["MATRIX_KINDS", "cross_validated", "fit_matrix"]

MATRIX_KINDS = {"multinomial": "count", "bernoulli": "binary", "gaussian": "moments"}
_FOLDS = 5


def fit_matrix(
    X: Any,
    y: NDArray[Any],
    k: Any,
    model: str,
    arguments: argparse.Namespace,
    clock: Clock,
) -> Fitted:
    """Count, choose k if asked to, select and estimate."""
    plain = getattr(naive_bayes, f"Sparse{model.title()}NB")
    common = {"time_limit": arguments.time_limit}
    if model != "gaussian":
        common["alpha"] = arguments.alpha
    names = [*X.columns] if hasattr(X, "columns") else None
    rules = rules_from(arguments, names, X.shape[1])
    with clock.measure("counting"):
        counts = ClassCounts.from_matrix(X, y, kind=MATRIX_KINDS[model])
    cv = None
    if arguments.weights:
        if rules:
            raise CommandError(
                "--weights keeps to no rules. Got it beside "
                f"{', '.join('--' + own.replace('_', '-') for own in rules)}."
            )
        with clock.measure("selection"):
            fitted = _weighted(k, model, arguments).fit(X, y)
    elif k in ("cv", "1se"):
        with clock.measure("cross-validation"):
            fitted, cv = cross_validated(X, y, k, model, arguments, rules)
        clock.seconds["selection"] = 0.0
    else:
        k = default_size(_n_used(X)) if k is None else k
        with clock.measure("selection"):
            fitted = plain(k, **common, **rules).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        everything = plain("all", **common).fit(X, y)
    return Fitted(
        fitted,
        "features",
        X.shape[1],
        X.shape[0],
        counts=counts,
        everything=everything,
        cv=cv,
        interrupted=getattr(fitted, "stopped_", None) == "interrupted",
    )


def _weighted(k: Any, model: str, arguments: argparse.Namespace) -> Any:
    """Return a classifier with a weight for each feature, not yet fitted."""
    if model == "gaussian" or k in ("all", "elbow", "bic"):
        raise CommandError(
            "--weights takes --model multinomial or bernoulli, and -k as a number, a "
            f"share, cv or 1se. Got {model!r} and {k!r}."
        )
    common = {"alpha": arguments.alpha, "time_limit": arguments.time_limit}
    name = f"Selective{model.title()}NB"
    if k in ("cv", "1se"):
        choice = "best" if k == "cv" else "1se"
        return getattr(naive_bayes, f"{name}CV")(choice=choice, **common)
    return getattr(naive_bayes, name)(k=k, **common)


def _n_used(X: Any) -> int:
    """How many columns have any value; svmlight files may begin with column 0 or 1."""
    return (
        int(np.count_nonzero(X.getnnz(axis=0))) if hasattr(X, "getnnz") else X.shape[1]
    )


def cross_validated(
    X: Any,
    y: NDArray[Any],
    k: str,
    model: str,
    arguments: argparse.Namespace,
    rules: dict[str, Any],
) -> tuple[Any, CrossValidation]:
    """Return the classifier whose k the held-out folds choose, and how they do."""
    if model == "gaussian":
        raise CommandError(
            f"-k {k} is for --model multinomial or bernoulli. Hint: -k bic."
        )
    rarest = int(np.unique(y, return_counts=True)[1].min())
    if rarest < 2:
        raise CommandError(
            f"-k {k} needs two rows or more of each class to learn from. "
            f"Got {rarest} of the rarest."
        )
    n_folds = min(_FOLDS, rarest)
    fitted = getattr(naive_bayes, f"Sparse{model.title()}NBCV")(
        alphas=[arguments.alpha],
        cv=n_folds,
        choice="best" if k == "cv" else "1se",
        time_limit=arguments.time_limit,
        **rules,
    ).fit(X, y)
    results = fitted.cv_results_
    scores = [results[f"split{i}_test_score"] for i in range(n_folds)]
    return fitted, CrossValidation.of(results["param_k"], np.array(scores).T)
