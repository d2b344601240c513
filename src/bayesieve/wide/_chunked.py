"""Counts first, weights second: fits of rows that come in chunks, read several times.

While the columns of the candidates fit in memory, the fit is that of all rows at once.
Beyond, a random sample of the rows chooses features and first weights. Then all rows
settle the weights of the chosen features: at once if their few columns fit, else by a
descent of mini-batches over the chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.weights import LinearTerms
from bayesieve.weights._chunk_descent import (
    Batch,
    descend_chunks,
    fit_chunk_intercepts,
)
from bayesieve.weights._result import Progress
from bayesieve.wide._candidates import Candidates
from bayesieve.wide._fit import (
    WideFit,
    WideModel,
    WideRows,
    WideSettings,
    distinct,
    fitted,
)

__all__ = ["RowChunks", "fit_chunks"]

#: Columns of the candidates, class codes and weights of some rows; again at each call.
RowChunks = Callable[[], Iterator[tuple[Any, np.ndarray, np.ndarray | None]]]
_BATCH_ROWS = 10_000
_BYTES_PER_ENTRY = 24  # of the sample: the block, its copy by columns, some slack
_SEED = 0
_LEAST_ROWS = 2_000  # of a sample, whatever the memory: fewer would choose by chance
_RARE_ROWS = 500  # classes below this are kept whole


class _Sample:
    """A random sample of rows that stays near a number of entries.

    When the sample is full, half of the rows of frequent classes go, and those to come
    are taken with half the chance; each row that stays weighs for those that went. Rows
    of rare classes stay, and so do a few thousand of all.
    """

    def __init__(self, most_entries: float, rare: np.ndarray) -> None:
        self._most, self._rare = most_entries, rare
        self._rng = np.random.default_rng(_SEED)
        self.chance = 1.0
        self._parts: list[tuple[Any, np.ndarray, np.ndarray | None]] = []
        self._entries = 0

    def add(self, block: Any, codes: np.ndarray, weight: np.ndarray | None) -> None:
        block = sparse.csr_array(block)
        if weight is not None and not weight.all():
            rows = np.flatnonzero(weight)
            block, codes, weight = block[rows], codes[rows], weight[rows]
        self._keep(block, codes, weight, self.chance)
        while self._entries > self._most and self._frequent_rows() > _LEAST_ROWS:
            self.chance *= 0.5
            parts, self._parts, self._entries = self._parts, [], 0
            for part in parts:
                self._keep(*part, 0.5)

    def _keep(
        self, block: Any, codes: np.ndarray, weight: np.ndarray | None, chance: float
    ) -> None:
        if chance < 1.0:
            rare = self._rare[codes]
            rows = np.flatnonzero(rare | (self._rng.random(codes.size) < chance))
            weight = np.ones(codes.size) if weight is None else weight
            weight = (weight / np.where(rare, 1.0, chance))[rows]
            block, codes = block[rows], codes[rows]
        self._parts.append((block, codes, weight))
        self._entries += int(block.nnz)

    def _frequent_rows(self) -> int:
        return sum(int((~self._rare[codes]).sum()) for _, codes, _ in self._parts)

    def rows(self) -> WideRows:
        blocks, codes, weights = zip(*self._parts, strict=True)
        weight = None
        if any(part is not None for part in weights):
            whole = [
                np.ones(own.size) if part is None else part
                for part, own in zip(weights, codes, strict=True)
            ]
            weight = np.concatenate(whole)
        block = sparse.vstack(blocks, format="csc")
        block.eliminate_zeros()
        return WideRows(block, np.concatenate(codes), weight)


def fit_chunks(
    candidates: Candidates,
    chunks: RowChunks,
    settings: WideSettings,
    *,
    n_features: int,
    class_weight: np.ndarray,
    memory: int | None = None,
    passes: int = 10,
    progress: Progress | None = None,
) -> WideFit:
    """Weights of candidates from chunks of rows.

    Parameters
    ----------
    candidates : Candidates
    chunks : callable
        Gives all chunks from the beginning.
    settings : WideSettings
        With k or a penalty.
    n_features : int
        Columns there are in all.
    class_weight : ndarray of shape (n_classes,)
        Rows of each class in all, or the sum of their weights.
    memory : int, optional
        Bytes for the columns of the candidates; None takes all rows.
    passes : int
        Most passes of the descent where they do not fit.
    progress : Progress, optional
    """
    most = np.inf if memory is None else memory / _BYTES_PER_ENTRY
    rare = class_weight < _RARE_ROWS
    sample = _Sample(most, rare)
    for block, codes, weight in chunks():
        sample.add(block, codes, weight)
    rows = sample.rows()
    if sample.chance == 1.0:
        candidates, rows = distinct(candidates, rows, settings)
        return fitted(WideModel(candidates, rows, settings, n_features, progress))
    # What was read does not fit: the sample chooses, all rows settle.
    model = WideModel(candidates, rows, settings, n_features, progress)
    found = replace(fitted(model), gap=np.nan)  # that of the sample would prove nothing
    if not found.columns.size:
        none = np.zeros(candidates.columns.size)
        start = settings.log_prior[model.present]
        return replace(
            found, intercept=model.whole_intercept(start[1:] - start[0], none)
        )
    if found.stopped not in ("converged", "budget"):
        return found
    kept = _Sample(most, rare)
    used = np.searchsorted(candidates.columns, found.columns)
    few = candidates.take(used)
    for block, codes, weight in chunks():
        kept.add(sparse.csr_array(block)[:, used], codes, weight)
        if kept.chance < 1.0:
            return _settled(model, found, few, chunks, settings, class_weight, passes)
    return _refitted(model, found, few, kept.rows(), settings)


def _with_weights(
    model: WideModel,
    found: WideFit,
    few: Candidates,
    weights: np.ndarray,
    intercept: np.ndarray,
    own_model: WideModel,
) -> WideFit:
    """What the sample found, with the weights that all rows settled."""
    kept = np.flatnonzero(weights)
    return replace(
        found,
        columns=few.columns[kept],
        weights=weights[kept],
        slope=few.slope[kept],
        offset=None if few.offset is None else few.offset[kept],
        intercept=own_model.whole_intercept(intercept, weights),
        stopped=model.progress.stopped,
    )


def _refitted(
    model: WideModel,
    found: WideFit,
    few: Candidates,
    rows: WideRows,
    settings: WideSettings,
) -> WideFit:
    """All rows at once, on the columns of the chosen features."""
    own = WideModel(few, rows, settings, model.n_features, model.progress)
    newton = own.solver.newton
    weights, intercept = found.weights, newton.state.intercept
    with model.progress:
        newton.state = newton.at(found.weights, intercept)
        penalty = settings.share * found.penalty
        gap = newton.minimise(penalty * own.solver.problem.cost, own.solver.tol)
        if gap > own.solver.tol:
            model.progress.stopped = "budget"
    weights, intercept = newton.state.weights, newton.state.intercept
    return _with_weights(model, found, few, weights, intercept, own)


def _settled(
    model: WideModel,
    found: WideFit,
    few: Candidates,
    chunks: RowChunks,
    settings: WideSettings,
    class_weight: np.ndarray,
    passes: int,
) -> WideFit:
    """The weights of the features that the sample chose, by a descent over all rows."""
    candidates = model.candidates
    used = np.searchsorted(candidates.columns, few.columns)
    terms = model.solver.problem.terms
    assert isinstance(terms, LinearTerms)
    newton = model.solver.newton
    whole = np.zeros(candidates.columns.size)
    whole[used] = found.weights
    state = newton.at(whole, newton.state.intercept)
    small = replace(state, weights=found.weights)
    slope, offset = model.tables(few)

    def batches() -> Iterator[Batch]:
        for block, codes, weight in chunks():
            part = sparse.csr_array(block)[:, used]
            for first in range(0, codes.size, _BATCH_ROWS):
                end = slice(first, first + _BATCH_ROWS)
                kept = WideRows(
                    part[end].tocsc(),
                    codes[end],
                    None if weight is None else weight[end],
                ).counted(model.present, settings.log_prior.size)
                if kept.codes.size:
                    yield (
                        LinearTerms(kept.block, slope, offset),
                        kept.codes,
                        kept.weight,
                    )

    progress = model.progress
    penalty = settings.share * found.penalty / float(class_weight.sum())
    cost = model.solver.problem.cost[used]
    result = found.weights, state.intercept
    with progress:
        progress.note(found.weights, found.path.nll.min(initial=np.inf))
        result = descend_chunks(
            batches,
            small,
            terms.diagonal(state.scores, used, model.solver.problem.row_weight)
            / model.solver.problem.n_rows,
            penalty * cost,
            refit_intercept=settings.refit_intercept,
            passes=passes,
            tell=progress.check,
        )
        steps = 2 if settings.refit_intercept else 0
        intercept, nll = fit_chunk_intercepts(batches, *result, steps=steps)
        result = result[0], intercept
        # Mini-batches may end anywhere; without a single feature there is this much.
        prior = settings.log_prior[model.present]
        if not nll <= -float(class_weight[model.present] @ prior):
            result = np.zeros_like(result[0]), prior[1:] - prior[0]
    small_model = WideModel(
        few,
        WideRows(sparse.csc_array((0, used.size)), np.empty(0, np.int32), None),
        settings,
        model.n_features,
    )
    return _with_weights(model, found, few, *result, small_model)
