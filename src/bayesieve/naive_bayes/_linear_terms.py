"""Terms of counts and presences, beside a row that has none of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesieve._scorecard import Slopes
from bayesieve.naive_bayes._term_values import LinearTerms, finite_mean

__all__ = ["linear_terms"]


def linear_terms(
    part: Any,
    rows: Any,
    present: np.ndarray,
    absent: np.ndarray,
    start: np.ndarray,
) -> tuple[LinearTerms, np.ndarray]:
    """Terms of counts or presences beside an empty row, and the score of that row.

    Slopes are centred over the classes: what a term adds to all of them alike says
    nothing. Where ``alpha=0`` made log-probabilities of minus infinity, a term that a
    class always has is minus infinity in rows without it; and in rows that no class can
    produce, which are predicted from `start` alone, terms take back what the score of
    the empty row holds of them.

    Parameters
    ----------
    part : ndarray or csr_array of shape (n_rows, n_terms)
        What the rows hold.
    rows : ndarray or sparse matrix of the same shape
        The same as the model reads it: counts, or 0 and 1.
    present, absent : ndarray of shape (n_terms, n_classes)
        What one of a term adds to the scores, and what having none of it does.
    start : ndarray of shape (n_classes,)
        Scores before any term.
    """
    rows = sparse.csr_array(rows, dtype=np.float64, copy=True)
    rows.eliminate_zeros()
    rows.sort_indices()
    own = Slopes.from_logs(present, absent)
    never, always, offset = own.never, own.always, own.offset
    slopes = np.where(never, -np.inf, own.slope)
    slopes = slopes - finite_mean(slopes, axis=1)[:, None]
    terms = np.arange(rows.shape[1])
    held = sparse.csr_array(part) if sparse.issparse(part) else part
    base = start + offset.sum(axis=0)
    if never.any() or always.any():
        rows, slopes, terms = _with_the_impossible(
            rows, slopes, offset, never, always, np.isneginf(start)
        )
    removed = np.where(always, -np.inf, 0.0)
    return LinearTerms(rows, slopes, terms, removed, held), base


def _with_the_impossible(
    rows: Any,
    slopes: np.ndarray,
    offset: np.ndarray,
    never: np.ndarray,
    always: np.ndarray,
    barred: np.ndarray,
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Columns for terms that are missed, and for rows that no class can produce."""
    n_terms = rows.shape[1]
    needed = np.flatnonzero(always.any(axis=1))
    missed = sparse.csr_array(rows[:, needed].toarray() == 0, dtype=np.float64)
    met = np.asarray(rows @ never.astype(np.float64)) > 0
    lacking = np.asarray(missed @ always[needed].astype(np.float64)) > 0
    nobodys = (met | lacking | barred).all(axis=1)
    for own in (rows, missed):
        own.data[np.repeat(nobodys, np.diff(own.indptr))] = 0.0
    found = sparse.csr_array(
        sparse.hstack([rows, missed, _full_rows(nobodys, n_terms)])
    )
    found.eliminate_zeros()
    slopes = np.vstack([slopes, np.where(always[needed], -np.inf, 0.0), -offset])
    terms = np.arange(n_terms)
    return found, slopes, np.concatenate([terms, needed, terms])


def _full_rows(chosen: np.ndarray, n_columns: int) -> Any:
    """Ones in the chosen rows, nothing in the others."""
    ends = np.concatenate([[0], np.cumsum(chosen * n_columns)])
    columns = np.tile(np.arange(n_columns), int(chosen.sum()))
    return sparse.csr_array(
        (np.ones(columns.size), columns, ends), shape=(chosen.size, n_columns)
    )
