"""Weights of terms: candidates by counts, then rows of these terms alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bayesieve.counts import ClassCounts
from bayesieve.text._term_names import TermNames
from bayesieve.weights._result import Progress
from bayesieve.weights._wide_chunks import fit_chunks
from bayesieve.weights._wide_solver import WideFit, WideSettings

__all__ = ["TermRows", "fit_term_weights"]

#: Given the names of terms, an iterator over (rows, class codes), as often as asked.
TermRows = Callable[[TermNames], Iterator[tuple[Any, np.ndarray]]]


def fit_term_weights(
    counts: ClassCounts,
    rows_of: TermRows,
    k: int,
    *,
    model: str,
    alpha: Any,
    log_prior: np.ndarray,
    memory: int | None,
    owner: str,
) -> WideFit:
    """Weights of k terms, as `SelectiveMultinomialNB` finds them.

    Parameters
    ----------
    counts : ClassCounts
        Of all terms, named.
    rows_of : callable
    k : int
    model, alpha, log_prior, owner
        See `WideSettings`.
    memory : int or None
        Bytes for the rows of the candidates.
    """
    if np.min(alpha) <= 0:
        raise ValueError(
            f"The 'alpha' parameter of {owner} must be above 0 with weights=True. "
            f"Got {alpha!r}."
        )
    settings = WideSettings(
        model=model,
        k=k,
        regularization=None,
        share=0.0,
        alpha=np.asarray(alpha, dtype=np.float64),
        binarize=None,
        exponent=1.0,
        candidates="auto",
        feature_cost=None,
        refit_intercept=True,
        log_prior=log_prior,
        tol=3e-4,
        owner=owner,
    )
    candidates = settings.screened(counts)
    names = counts.feature_names[candidates.columns]
    names = names if isinstance(names, TermNames) else TermNames.from_strings(names)

    def chunks() -> Iterator[tuple[Any, np.ndarray, None]]:
        for rows, codes in rows_of(names):
            yield rows, codes, None

    found = fit_chunks(
        candidates,
        chunks,
        settings,
        n_features=counts.n_features,
        class_weight=counts.class_count,
        memory=memory,
        progress=Progress(),
    )
    found.warn(owner)
    return found
