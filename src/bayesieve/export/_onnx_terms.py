"""The terms of a scorecard as ONNX operators, added up in the order of the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesieve._scorecard import (
    CountTerms,
    LookupTerm,
    NormalTerms,
    Scorecard,
    Slopes,
    Term,
    TextTerms,
)
from bayesieve.export._onnx_axes import (
    StepAxis,
    WordAxis,
    place_numbers,
    place_words,
    split,
)
from bayesieve.export._onnx_graph import Graph

__all__ = ["ScoreGraph"]


class ScoreGraph:
    """Scores of a scorecard.

    Rows that the model refuses, such as those with a count of -1 or a measurement that
    is missing, get NaN as scores: an ONNX model cannot raise an error.

    Parameters
    ----------
    graph : Graph
    card : Scorecard
    numbers : str or None
        Doubles of shape (n_rows, n_numeric).
    places : mapping of int to int
        Column of `numbers` of each column of the scorecard that is numeric.
    words : mapping of int to str
        Values of shape (n_rows, 1) of each column of the scorecard that holds strings.
    counts : mapping of int to str
        Values of shape (n_rows, n_terms) of each column that holds texts: how often
        each term is met.
    missing : str
        The string that stands for missing.
    """

    def __init__(
        self,
        graph: Graph,
        card: Scorecard,
        numbers: str | None,
        places: Mapping[int, int],
        words: Mapping[int, str],
        counts: Mapping[int, str],
        missing: str,
    ) -> None:
        self._graph, self._card = graph, card
        self._numbers, self._places = numbers, places
        self._words, self._counts, self._missing = words, counts, missing

    def scores(self, rows: str) -> str:
        """Scores of shape (n_rows, n_classes); `rows` is any value with these rows."""
        graph, card = self._graph, self._card
        slots = self._slots()
        found = graph.constant(card.start, "start")
        if not any(_reads(term) for term in card.terms):
            return self._of_no_terms(found, rows)
        infinite = bool(np.isneginf(card.start).any())
        for number, term in enumerate(card.terms):
            if not _reads(term):
                continue
            if isinstance(term, LookupTerm):
                own = self._looked_up(term, slots[number])
                infinite |= bool(np.isneginf(term.table).any())
            elif isinstance(term, NormalTerms):
                own = self._normal(term)
                infinite = True  # far out, where squares overflow, no class can be
            else:
                own = self._linear(term)
                infinite |= bool(term.slopes.never.any() or term.slopes.always.any())
            found = graph.add("Add", found, own)
        return self._unless_impossible(found) if infinite else found

    def _of_no_terms(self, start: str, rows: str) -> str:
        graph = self._graph
        size = graph.add("Shape", rows)
        height = graph.add("Gather", size, graph.constant(np.array([0])), axis=0)
        width = graph.constant(np.array([self._card.n_classes]))
        return graph.add("Expand", start, graph.add("Concat", height, width, axis=0))

    def _unless_impossible(self, scores: str) -> str:
        """Start scores for rows that no class can produce."""
        graph = self._graph
        lost = graph.cast(graph.compared("Equal", scores, -np.inf), np.int32)
        count = graph.add("ReduceSum", lost, graph.constant(np.array([1])), keepdims=1)
        whole = graph.constant(np.int32(self._card.n_classes))
        start = graph.constant(self._card.start, "start")
        return graph.add("Where", graph.add("Equal", count, whole), start, scores)

    # ------------------------------------------------------------------- looked up

    def _slots(self) -> dict[int, list[str]]:
        """Slots, of shape (n_rows,), of the axes of each term that is looked up."""
        graph = self._graph
        found: dict[int, list[str]] = {}
        steps: list[StepAxis] = []
        waiting: list[tuple[int, int]] = []
        one = graph.constant(np.array([-1]), "flat") if self._words else ""
        for number, term in enumerate(self._card.terms):
            if not isinstance(term, LookupTerm):
                continue
            found[number] = [""] * len(term.axes)
            sizes = np.array(term.table.shape[:-1]) + 2
            strides = np.append(np.cumprod(sizes[:0:-1])[::-1], 1)
            for place, axis in enumerate(term.axes):
                column = self._card.columns[axis.column]
                size, stride = term.table.shape[place], int(strides[place])
                is_word = axis.column in self._words
                own = split(axis, column.kind, is_word, size, stride)
                if isinstance(own, WordAxis):
                    word = self._words[axis.column]
                    slot = place_words(graph, own, word, self._missing)
                    found[number][place] = graph.add("Reshape", slot, one)
                    continue
                steps.append(
                    StepAxis(
                        self._places[own.column], own.bounds, own.slots, own.missing
                    )
                )
                waiting.append((number, place))
        if steps:
            assert self._numbers is not None
            slots = place_numbers(graph, steps, self._numbers)
            for position, (number, place) in enumerate(waiting):
                which = graph.constant(np.int64(position))
                found[number][place] = graph.add("Gather", slots, which, axis=1)
        return found

    def _looked_up(self, term: LookupTerm, slots: list[str]) -> str:
        """Rows of the table, which has parts more: unknown, and refused."""
        graph, n_classes = self._graph, self._card.n_classes
        shape = np.array(term.table.shape[:-1])
        table = np.full((*(shape + 2), n_classes), np.nan)
        table[tuple(slice(0, size + 1) for size in shape)] = term.unknown
        table[tuple(slice(0, size) for size in shape)] = term.table
        place = slots[0]
        for other in slots[1:]:
            place = graph.add("Add", place, other)
        rows = graph.constant(table.reshape(-1, n_classes), "table")
        return graph.add("Gather", rows, place)

    # ------------------------------------------------------------- linear and normal

    def _taken(self, columns: tuple[int, ...]) -> str:
        """Numbers of some columns."""
        assert self._numbers is not None
        places = [self._places[j] for j in columns]
        if places == list(range(len(self._places))):
            return self._numbers
        return self._graph.add(
            "Gather", self._numbers, self._graph.constant(np.array(places)), axis=1
        )

    def _linear(self, term: CountTerms | TextTerms) -> str:
        graph = self._graph
        if isinstance(term, TextTerms):
            values = self._checked(self._counts[term.column], "count")
            if term.options.binary:
                there = graph.compared("Greater", values, 0.0)
                values = self._or_nan(graph.cast(there, np.float64), values)
        else:
            kind = self._card.columns[term.columns[0]].kind
            values = self._checked(self._taken(term.columns), kind)
        if term.binarize is not None:
            there = graph.compared("Greater", values, term.binarize)
            values = self._or_nan(graph.cast(there, np.float64), values)
        return self._sloped(term.slopes, values)

    def _or_nan(self, value: str, numbers: str) -> str:
        """A value, NaN where finite numbers are."""
        nothing = self._graph.add("Mul", numbers, self._graph.constant(np.float64(0.0)))
        return self._graph.add("Add", value, nothing)

    def _checked(self, values: str, kind: str) -> str:
        """NaN where numbers are not what the model takes."""
        graph = self._graph
        if kind == "binary":
            there = graph.compared("Equal", values, 1.0)
            valid = graph.add("Or", graph.compared("Equal", values, 0.0), there)
        else:
            valid = graph.compared("Less", graph.add("Abs", values), np.inf)
            if kind == "count":
                positive = graph.compared("GreaterOrEqual", values, 0.0)
                valid = graph.add("And", valid, positive)
        return graph.add("Where", valid, values, graph.constant(np.float64(np.nan)))

    def _sloped(self, slopes: Slopes, values: str) -> str:
        graph = self._graph
        slope = graph.constant(np.ascontiguousarray(slopes.slope), "slope")
        found = graph.add("MatMul", values, slope)
        offset = slopes.offset.sum(axis=0)
        if offset.any():
            found = graph.add("Add", found, graph.constant(offset, "offset"))
        if not slopes.never.any() and not slopes.always.any():
            return found
        there = graph.cast(graph.compared("Greater", values, 0.0), np.float64)
        met = graph.add("MatMul", there, graph.constant(slopes.never.astype(float)))
        barred = graph.compared("Greater", met, 0.0)
        if slopes.always.any():
            always = slopes.always.astype(np.float64)
            met = graph.add("MatMul", there, graph.constant(always))
            whole = graph.constant(always.sum(axis=0))
            barred = graph.add("Or", barred, graph.add("Less", met, whole))
        return self._barred(found, barred, values)

    def _barred(self, scores: str, barred: str, values: str) -> str:
        """Minus infinity where something is impossible; NaN stays NaN."""
        graph = self._graph
        infinity = graph.constant(np.float64(-np.inf))
        scores = graph.add("Where", barred, infinity, scores)
        columns = graph.constant(np.array([1]))
        nothing = graph.add("Mul", values, graph.constant(np.float64(0.0)))
        nothing = graph.add("ReduceSum", nothing, columns, keepdims=1)
        return graph.add("Add", scores, nothing)

    def _normal(self, term: NormalTerms) -> str:
        """One class after the other: memory is that of the columns, not of all."""
        graph = self._graph
        values = self._checked(self._taken(term.columns), "finite")
        found = []
        for mean, variance in zip(term.mean.T, term.variance.T, strict=True):
            certain = variance <= 0
            width = np.where(certain, 1.0, variance)
            away = graph.add("Sub", values, graph.constant(mean, "mean"))
            inverse = np.where(certain, 0.0, -0.5 / width)[:, None]
            squares = graph.add("Mul", away, away)
            own = graph.add("MatMul", squares, graph.constant(inverse, "inverse"))
            size = -0.5 * np.log(2.0 * np.pi * width)[~certain].sum()
            own = graph.add("Add", own, graph.constant(np.array([[size]])))
            if certain.any():
                missed = graph.add("Not", graph.compared("Equal", away, 0.0))
                each = graph.constant(certain[:, None].astype(np.float64))
                count = graph.add("MatMul", graph.cast(missed, np.float64), each)
                own = self._barred(own, graph.compared("Greater", count, 0.0), values)
            found.append(own)
        return found[0] if len(found) == 1 else self._side_by_side(found)

    def _side_by_side(self, columns: list[Any]) -> str:
        return self._graph.add("Concat", *columns, axis=1)


def _reads(term: Term) -> bool:
    """Whether a term reads anything: nothing may have been selected."""
    if isinstance(term, LookupTerm):
        return True
    return bool(term.terms if isinstance(term, TextTerms) else term.columns)
