"""Averaged shapes of a stream: tables from all counts, weights from the window."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bayesieve.naive_bayes._pair_search import beside_pairs
from bayesieve.naive_bayes._shape_fit import (
    ShapedRows,
    ShapeFittedNB,
    leave_rows_out,
    worth_a_term,
)
from bayesieve.naive_bayes._stream import StreamMemory
from bayesieve.naive_bayes._stream_pairs import CountedPairs
from bayesieve.naive_bayes._stream_parts import StreamShapes
from bayesieve.partition._averaged import Shape, average_columns, class_shares
from bayesieve.partition._pairs import PairShape
from bayesieve.weights import (
    PartTerms,
    WeightResult,
    follow,
    optimizer_of,
    search,
)

__all__ = ["ShapeStreamNB"]

#: Shapes are averaged again when the rows have grown by this share: that takes longer
#: than to count a thousand rows.
_GROWTH = 0.05


@dataclass(frozen=True, eq=False)
class _Learnt:
    """Shapes with weights, and how they were found (None: as before)."""

    shapes: list[Shape]
    columns: np.ndarray
    weights: np.ndarray
    pairs: list[PairShape]
    pair_weights: np.ndarray
    counted: CountedPairs
    result: WeightResult | None


class ShapeStreamNB(ShapeFittedNB):
    """Base: a model with averaged shapes that goes on learning from a stream."""

    def _learn_shapes(self, stream: StreamMemory) -> None:
        """Average shapes from the counts, then find weights by the window."""
        class_count = stream.class_count.copy()
        factors = self._class_factors(class_count)
        found, renewed = stream.next_parts()
        assert isinstance(found, StreamShapes)
        how = self._next_search(stream, renewed)
        due = stream.rows_since_average >= _GROWTH * class_count.sum()
        if how is not None:
            learnt = self._weigh_stream(how, stream, found, renewed)
        elif due:
            learnt = self._average_stream(stream, found)
        else:
            learnt = self._as_before(stream, found)
        stream.in_use, stream.pairs = found, learnt.counted
        if how is not None or due:
            stream.rows_since_average = 0
        self.levels_ = np.array([own.level for own in found.partitions])
        self._set_prior(class_count, factors)
        shares = class_shares(class_count)
        lifts = [learnt.shapes[j].lifts(shares) for j in learnt.columns]
        self._set_weights(learnt.columns, learnt.weights, lifts)
        self._set_shapes(learnt.shapes, learnt.pairs, learnt.pair_weights)
        self._set_no_texts()
        if learnt.result is not None:
            self._tell(learnt.result)

    def _next_search(
        self, stream: StreamMemory, renewed: bool
    ) -> Callable[..., WeightResult] | None:
        """How the weights are found next: searched, a few steps on, or kept."""
        how: Callable[..., WeightResult] = search
        if not renewed:
            optimizer = optimizer_of(self.optimizer)
            quick = optimizer.is_quick_from_near(self._penalty_exponent())
            stream.rows_since_search += stream.last_places.shape[0]
            if quick and stream.rows_since_search < stream.window // 2:
                return None
            how = search if quick else follow
        stream.rows_since_search = 0
        return how

    # ------------------------------------------------------------- weights as before

    def _as_before(self, stream: StreamMemory, found: StreamShapes) -> _Learnt:
        """Shapes and weights of the model, with the counts of all rows so far."""
        used = self._used_columns()
        bins = found.counted(stream)
        counts = stream.pairs.counts
        return _Learnt(
            [
                replace(own, bins=new.column)
                for own, new in zip(self.shapes_, bins, strict=True)
            ],
            used,
            self.weights_[used],
            [
                replace(own, counts=counts[own.columns].copy())
                for own in self.pair_shapes_
            ],
            self.pair_weights_,
            stream.pairs,
            None,
        )

    def _average_stream(self, stream: StreamMemory, found: StreamShapes) -> _Learnt:
        """The weights of the model, with shapes from the counts of all rows so far."""
        used = self._used_columns()
        averaged = average_columns(
            found.counted(stream), stream.class_count, leave_one_out=False
        )
        pairs, _ = stream.pairs.average(
            found.axes(stream.pairs), stream.class_count, leave_one_out=False
        )
        return _Learnt(
            averaged.shapes,
            used,
            self.weights_[used],
            pairs,
            self._weights_of_pairs(stream.pairs),
            stream.pairs,
            None,
        )

    def _weights_of_pairs(self, pairs: CountedPairs) -> np.ndarray:
        """Weights that counted pairs have in the model now."""
        known = dict(zip(self.pairs_, self.pair_weights_.tolist(), strict=True))
        return np.array([known.get(own, 0.0) for own in pairs.counts])

    # ----------------------------------------------------------- weights by the window

    def _weigh_stream(
        self,
        how: Callable[..., WeightResult],
        stream: StreamMemory,
        found: StreamShapes,
        renewed: bool,
    ) -> _Learnt:
        """Shapes from all counts and weights by the window; pairs of new parts."""
        end = math.inf
        if self.time_limit is not None:
            end = time.monotonic() + self.time_limit
        rows = self._window_rows(stream, found, renewed)
        terms = rows.terms()
        pairs, kept = stream.pairs, np.arange(rows.columns.size)
        start = None if renewed else self.weights_[rows.columns]
        if renewed or not pairs.counts:
            problem = self._shape_problem(rows, terms, kept)
            result = self._searched(how, problem, start, k=self.k, end=end)
        if renewed:
            if self.k is not None:
                kept = np.flatnonzero(result.weights)
            result, chosen = self._pairs_beside(rows, terms, result, kept, end)
            pairs = CountedPairs()
            if chosen is not None:
                levels = {own.columns: own.levels for own in chosen.shapes}
                pairs = self._count_pairs(stream, found, rows, levels)
                pairs.n_candidates = chosen.n_candidates
                start = chosen.weights
        elif pairs.counts:
            assert start is not None
            if self.k is not None:  # pairs are of columns that were kept
                kept = np.flatnonzero(self.support_[rows.columns])
            start = np.concatenate([start[kept], self._weights_of_pairs(pairs)])
        shapes: list[PairShape] = []
        if pairs.counts:
            shapes, left_out = pairs.average(
                found.axes(pairs), rows.class_count, leave_one_out=True
            )
            beside = _beside(terms.select(kept), rows, found, shapes, left_out)
            assert start is not None
            result = self._weigh_with_pairs(
                how, rows, kept, beside, [*pairs.counts], pairs.n_candidates, start, end
            )
        weights = np.asarray(result.weights)
        n_columns = rows.columns.size
        return _Learnt(
            rows.shapes,
            rows.columns,
            weights[:n_columns],
            shapes,
            weights[n_columns:],
            pairs,
            result,
        )

    def _window_rows(
        self, stream: StreamMemory, found: StreamShapes, renewed: bool
    ) -> ShapedRows:
        """The rows of the window, with tables from the counts of all rows."""
        fine, class_count = found.counted(stream), stream.class_count.copy()
        shapes = average_columns(fine, class_count, leave_one_out=False).shapes
        columns = worth_a_term(shapes)
        filled = stream.filled
        weights = stream.weights[:filled]
        return ShapedRows(
            fine,
            shapes,
            columns,
            leave_rows_out([fine[j] for j in columns], class_count),
            found.placed.parts[:filled, columns],
            stream.codes[:filled],
            None if (weights == 1.0).all() else weights,
            class_count,
            self._class_factors(class_count),
            stream.window_share(class_count.sum()),
            1.0 if renewed else stream.window_share(stream.pairs.most_rows),
            found.axes(stream.pairs),
        )

    @staticmethod
    def _count_pairs(
        stream: StreamMemory,
        found: StreamShapes,
        rows: ShapedRows,
        levels: dict[tuple[int, ...], tuple[int, ...]],
    ) -> CountedPairs:
        """Pairs to be counted from now on, and already by the rows of the window."""
        axes = {}
        for j in {j for own in levels for j in own}:
            axis = rows.axis(j)
            axes[j] = replace(axis, cells=axis.cells[found.placed.maps[j]])
        return stream.pairs.chosen_again(
            levels, axes, *stream.window_counts(), stream.n_classes
        )


def _beside(
    terms: PartTerms,
    rows: ShapedRows,
    found: StreamShapes,
    pairs: list[PairShape],
    left_out: list[np.ndarray],
) -> PartTerms:
    """Terms of columns and then of pairs, each row left out of its own tables."""
    bins = found.placed.parts[: rows.codes.shape[0]]
    places = [own.place([bins[:, j] for j in own.columns]) for own in pairs]
    return beside_pairs(
        terms, places, left_out, rows.codes, class_shares(rows.class_count)
    )
