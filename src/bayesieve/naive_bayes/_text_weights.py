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

    `counts` are those of all terms, named; `memory` is for the rows of the candidates,
    in bytes.
    """
    if np.min(alpha) <= 0:
        raise ValueError(
            f"The 'alpha' parameter of {owner} must be above 0 with weights=True. "
            f"Got {alpha!r}."
        )
    settings = WideSettings(
        model, log_prior, owner, k=k, alpha=np.asarray(alpha, dtype=np.float64)
    )
    candidates = settings.screened(counts)
    assert counts.feature_names is not None
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
        memory_budget=memory,
        progress=Progress(),
    )
    found.warn(owner)
    return found
