"""The classifiers of a matrix or a frame of numbers: with weights, or proven."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve import naive_bayes
from bayesieve.cli._command import CommandError
from bayesieve.cli._fit_outcome import (
    Clock,
    CrossValidation,
    Fitted,
    Refits,
    default_size,
)
from bayesieve.cli._options import search_seconds
from bayesieve.cli._plan import Plan, l1_of_matrix
from bayesieve.cli._rules import rules_from
from bayesieve.counts import ClassCounts
from bayesieve.inspection._rows import take_rows
from bayesieve.model_selection._splits import prediction_splits

__all__ = ["MATRIX_KINDS", "cross_validated", "fit_matrix"]

MATRIX_KINDS = {"multinomial": "count", "bernoulli": "binary", "gaussian": "moments"}
_FOLDS = 5


def fit_matrix(
    X: Any,
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    held: NDArray[np.bool_],
    model: str,
    arguments: argparse.Namespace,
    clock: Clock,
) -> Fitted:
    """Count, choose k if asked to, select and estimate."""
    train = np.flatnonzero(~held)
    rows, y = take_rows(X, train), classes[codes[train]]
    n_entries = rows.nnz if hasattr(rows, "nnz") else rows.size
    plan = Plan.of(arguments, model, n_entries * classes.size)
    names = [*X.columns] if hasattr(X, "columns") else None
    rules = rules_from(arguments, names, X.shape[1])
    makers = _makers(plan, model, arguments, rules, _n_used(rows))
    with clock.measure("counting"):
        counts = ClassCounts.from_matrix(rows, y, kind=MATRIX_KINDS[model])
    cv = None
    if plan.chooses_proven:
        with clock.measure("cross-validation"):
            fitted, cv = cross_validated(rows, y, plan.k, model, arguments, rules)
        clock.seconds["selection"] = 0.0
    else:
        with clock.measure("selection"):
            fitted = makers["chosen"](1.0).fit(rows, y)
    if plan.weighted and isinstance(plan.k, str):
        makers["chosen"] = _settled(makers["chosen"], fitted)
    rivals = {}
    with warnings.catch_warnings(), clock.measure("comparison"):
        warnings.simplefilter("ignore")
        for name, make in makers.items():
            if name != "chosen":
                rivals[name] = make(1.0).fit(rows, y)
    return Fitted(
        fitted,
        "features",
        X.shape[1],
        train.size,
        counts=counts,
        rivals=rivals,
        refits=Refits(X, codes, classes, held, makers) if plan.refits else None,
        of_size=_sized(model, arguments, counts, rules) if plan.compares else None,
        cv=cv,
        interrupted=getattr(fitted, "stopped_", None) == "interrupted",
    )


def _makers(
    plan: Plan,
    model: str,
    arguments: argparse.Namespace,
    rules: dict[str, Any],
    n_used: int,
) -> dict[str, Callable[[float], Any]]:
    """The estimators to fit, by name; each takes the share of the rows it will get."""
    plain = getattr(naive_bayes, f"Sparse{model.title()}NB")
    common = {"time_limit": search_seconds(arguments)}
    if model != "gaussian":
        common["alpha"] = arguments.alpha
    size = default_size(n_used)
    allowed = {name: own for name, own in rules.items() if name == "exclude"}

    def proven(_: float) -> Any:
        k = size if plan.k is None or plan.weighted or plan.chooses_proven else plan.k
        return plain(k, **common, **rules)

    def weighted(_: float) -> Any:
        k = plan.k if plan.weighted else "1se"
        return _Weighted(model, k, arguments)

    makers: dict[str, Callable[[float], Any]] = {
        "chosen": weighted if plan.weighted else proven
    }
    if plan.compares:
        makers["all"] = lambda _: plain("all", **common, **allowed)
        if plan.weighted:
            makers["proven"] = proven
        elif plan.rival_weights:
            makers["weighted"] = weighted
    if plan.l1:
        makers["l1"] = lambda _: l1_of_matrix()
    return makers


class _Weighted:
    """A weighted classifier that is fitted on folds of its own rows."""

    def __init__(self, model: str, k: Any, arguments: argparse.Namespace) -> None:
        self._make = getattr(naive_bayes, f"Selective{model.title()}NB")
        self._k, self._chooses = k, isinstance(k, str)
        self._common = {"alpha": arguments.alpha, "time_limit": arguments.time_limit}

    def fit(self, X: Any, y: NDArray[Any]) -> Any:
        """Fit, with rows held out as their number allows."""
        if not self._chooses:
            return self._make(k=self._k, **self._common).fit(X, y)
        n_entries = X.nnz if hasattr(X, "nnz") else X.size
        codes = np.unique(y, return_inverse=True)[1]
        splits = prediction_splits(codes, n_entries)
        if not splits:
            return self._make(relaxed=False, **self._common).fit(X, y)
        return self._make(k=self._k, relaxed=False, cv=splits, **self._common).fit(X, y)


def _sized(
    model: str,
    arguments: argparse.Namespace,
    counts: ClassCounts,
    rules: dict[str, Any],
) -> Callable[[int], Any]:
    plain = getattr(naive_bayes, f"Sparse{model.title()}NB")
    common = {} if model == "gaussian" else {"alpha": arguments.alpha}
    common |= {name: own for name, own in rules.items() if name == "exclude"}
    return lambda k: plain(k, exact=False, **common).fit_counts(counts)


def _settled(make: Callable[[float], Any], fitted: Any) -> Callable[[float], Any]:
    """The same with all rows; with a part of them the penalty is known already."""

    def settled(share: float) -> Any:
        if share == 1.0:
            return make(1.0)
        # What noise can gain by chance grows with the root of the rows.
        return type(fitted)(
            regularization=fitted.lambda_ * share**0.5,
            relaxed=False,
            alpha=fitted.alpha,
            time_limit=fitted.time_limit,
        )

    return settled


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
        time_limit=search_seconds(arguments),
        **rules,
    ).fit(X, y)
    results = fitted.cv_results_
    scores = [results[f"split{i}_test_score"] for i in range(n_folds)]
    return fitted, CrossValidation.of(results["param_k"], np.array(scores).T)
