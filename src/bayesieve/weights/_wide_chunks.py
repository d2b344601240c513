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

from bayesieve.solvers import Certificate
from bayesieve.utils._resources import with_one_blas_thread
from bayesieve.weights._all_columns import AllColumns
from bayesieve.weights._candidates import Candidates
from bayesieve.weights._chunk_descent import (
    Batch,
    descend_chunks,
    fit_chunk_intercepts,
)
from bayesieve.weights._linear_terms import LinearTerms
from bayesieve.weights._optimizer import generator_of
from bayesieve.weights._result import Progress
from bayesieve.weights._terms import Array
from bayesieve.weights._wide_proof import unproven
from bayesieve.weights._wide_solver import WideFit, WideSettings, WideSolver

__all__ = ["RowChunks", "fit_chunks"]

#: Columns of the candidates, class codes and weights of some rows; again at each call.
RowChunks = Callable[[], Iterator[tuple[Any, Array, Array | None]]]
_BATCH_ROWS = 10_000
_BYTES_PER_ENTRY = 24  # of the sample: the block, its copy by columns, some slack
_LEAST_ROWS = 2_000  # of a sample, whatever the memory: fewer would choose by chance
_RARE_ROWS = 500  # classes below this are kept whole


class _Sample:
    """A random sample of rows that stays near a number of entries.

    When the sample is full, half of the rows of frequent classes go, and those to come
    are taken with half the chance; each row that stays weighs for those that went. Rows
    of rare classes stay, and so do a few thousand of all.
    """

    def __init__(
        self, most_entries: float, rare: Array, generator: np.random.Generator
    ) -> None:
        self._most, self._rare = most_entries, rare
        self._rng = generator
        self.chance = 1.0
        self._parts: list[tuple[Any, Array, Array | None]] = []
        self._entries = 0

    def add(self, block: Any, codes: Array, weight: Array | None) -> None:
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
        self, block: Any, codes: Array, weight: Array | None, chance: float
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

    def rows(self) -> tuple[Any, Array, Array | None]:
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
        return block, np.concatenate(codes), weight


@with_one_blas_thread
def fit_chunks(
    candidates: Candidates,
    chunks: RowChunks,
    settings: WideSettings,
    *,
    n_features: int,
    class_weight: Array,
    memory_budget: int | None = None,
    passes: int = 10,
    progress: Progress | None = None,
    random_state: Any = 0,
    everything: AllColumns | None = None,
) -> WideFit:
    """Weights of candidates from chunks of rows.

    `chunks` gives all of them from the beginning each time; `class_weight` is the rows
    of each class in all, `memory_budget` the bytes for the columns of the candidates,
    `passes` the most passes of the descent where they do not fit, and `random_state`
    draws the rows that then stand for all. With all columns, in `everything`, the fit
    of all rows is proven over them; a sample proves nothing.
    """
    most = np.inf if memory_budget is None else memory_budget / _BYTES_PER_ENTRY
    rare = class_weight < _RARE_ROWS
    sample = _Sample(most, rare, generator_of(random_state))
    for block, codes, weight in chunks():
        sample.add(block, codes, weight)
    known: dict[str, Any] = {"n_features": n_features, "progress": progress}
    if sample.chance == 1.0:
        rows = sample.rows()
        return WideSolver(
            settings, candidates, *rows, **known, distinct=True, everything=everything
        ).fit()
    # What was read does not fit: the sample chooses, all rows settle.
    settings = replace(settings, exact=False)
    solver = WideSolver(settings, candidates, *sample.rows(), **known)
    found = solver.fit()
    null, nll = found.certificate.null_objective, found.certificate.objective
    # The sample's gap and bound would prove nothing.
    found = replace(found, gap=np.nan, certificate=_certified(found, -null, -nll))
    if not found.columns.size:
        none = np.zeros(candidates.columns.size)
        start = settings.log_prior[solver.present]
        return replace(
            found, intercept=solver.whole_intercept(start[1:] - start[0], none)
        )
    if found.stopped not in ("converged", "budget"):
        return found
    kept = _Sample(most, rare, generator_of(random_state))
    used = np.searchsorted(candidates.columns, found.columns)
    few = candidates.take(used)
    for block, codes, weight in chunks():
        kept.add(sparse.csr_array(block)[:, used], codes, weight)
        if kept.chance < 1.0:
            return _settled(solver, found, few, chunks, class_weight, passes)
    return _refitted(solver, found, few, kept.rows())


def _certified(found: WideFit, null: float, nll: float) -> Certificate:
    """What is known of weights that a sample of the rows chose."""
    known = found.certificate
    return unproven(null, nll, known.k, known.class_shares)


def _with_weights(
    solver: WideSolver,
    found: WideFit,
    few: Candidates,
    weights: Array,
    intercept: Array,
    certificate: Certificate,
) -> WideFit:
    """What a sample found, with the weights of its features that all rows settled."""
    kept = np.flatnonzero(weights)
    return replace(
        found,
        columns=few.columns[kept],
        weights=weights[kept],
        slope=few.slope[kept],
        offset=None if few.offset is None else few.offset[kept],
        intercept=solver.whole_intercept(intercept, weights, few),
        stopped=solver.progress.stopped,
        certificate=certificate,
    )


def _refitted(
    solver: WideSolver,
    found: WideFit,
    few: Candidates,
    rows: tuple[Any, Array, Array | None],
) -> WideFit:
    """All rows at once, on the columns of the chosen features."""
    settings, progress = solver.settings, solver.progress
    own = WideSolver(
        settings, few, *rows, n_features=solver.n_features, progress=progress
    )
    with progress:
        gap = own.path.settle(found.weights, settings.share * found.penalty)
        if gap > own.path.tol:
            progress.stopped = "budget"
    state = own.path.state
    proven = _certified(found, own.path.newton.null_nll, state.nll)
    return _with_weights(solver, found, few, state.weights, state.intercept, proven)


def _settled(
    solver: WideSolver,
    found: WideFit,
    few: Candidates,
    chunks: RowChunks,
    class_weight: Array,
    passes: int,
) -> WideFit:
    """The weights of the features that the sample chose, by a descent over all rows."""
    candidates, settings = solver.candidates, solver.settings
    used = np.searchsorted(candidates.columns, few.columns)
    whole = np.zeros(candidates.columns.size)
    whole[used] = found.weights
    state = solver.path.start_at(whole)
    slope, offset = solver.tables(few)

    def batches() -> Iterator[Batch]:
        for block, codes, weight in chunks():
            part = sparse.csr_array(block)[:, used]
            for first in range(0, codes.size, _BATCH_ROWS):
                end = slice(first, first + _BATCH_ROWS)
                own, kept, own_weight = solver.counted(
                    part[end].tocsc(),
                    codes[end],
                    None if weight is None else weight[end],
                )
                if kept.size:
                    yield LinearTerms(own, slope, offset), kept, own_weight

    progress, problem = solver.progress, solver.path.problem
    penalty = settings.share * found.penalty / float(class_weight.sum())
    result = found.weights, state.intercept
    prior = settings.log_prior[solver.present]
    null = -float(class_weight[solver.present] @ prior)
    proven = found.certificate
    with progress:
        progress.note(found.weights, found.path.nll.min(initial=np.inf))
        result = descend_chunks(
            batches,
            replace(state, weights=found.weights),
            solver.curvatures(state, used) / problem.n_rows,
            penalty * problem.cost[used],
            refit_intercept=settings.refit_intercept,
            passes=passes,
            tell=progress.check,
        )
        steps = 2 if settings.refit_intercept else 0
        intercept, nll = fit_chunk_intercepts(batches, *result, steps=steps)
        result = result[0], intercept
        # Mini-batches may end anywhere; without a single feature there is this much.
        if not nll <= null:
            result, nll = (np.zeros_like(result[0]), prior[1:] - prior[0]), null
        proven = _certified(found, null, nll)
    return _with_weights(solver, found, few, *result, proven)
