"""Parts of columns in ONNX: a tree of comparisons for numbers, a table for strings.

One ensemble of trees places the numbers of all columns; a balanced tree takes as many
comparisons as the logarithm of its bounds and no memory, where comparing with every
bound would take a byte for each of them and each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve._scorecard import (
    UNKNOWN,
    Axis,
    Intervals,
    LookupTerm,
    Scorecard,
    Values,
)
from bayesieve.export._onnx_graph import ML, Graph, check_text

__all__ = [
    "StepAxis",
    "WordAxis",
    "place_numbers",
    "place_words",
    "split",
    "word_columns",
]

_LARGEST = np.finfo(np.float64).max
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


@dataclass(frozen=True, eq=False)
class StepAxis:
    """Slots of a column of doubles: slot i is ``]bounds[i - 1], bounds[i]]``.

    Bounds may be infinite.
    """

    column: int
    bounds: np.ndarray
    slots: np.ndarray
    missing: int


@dataclass(frozen=True, eq=False)
class WordAxis:
    """Slots of a column of strings."""

    column: int
    words: tuple[str, ...]
    slots: np.ndarray
    missing: int
    others: int


def word_columns(card: Scorecard) -> set[int]:
    """Columns of categories that are strings; those of all others are numbers."""
    found: set[int] = set()
    for term in card.terms:
        for axis in term.axes if isinstance(term, LookupTerm) else ():
            if isinstance(axis, Values) and _holds_words(axis, card):
                found.add(axis.column)
    return found


def _holds_words(axis: Values, card: Scorecard) -> bool:
    name = card.columns[axis.column].name
    words = [value for value in axis.values if isinstance(value, str)]
    if len(words) == len(axis.values):
        for word in words:
            check_text(word, "A category", f" in column {name!r}")
        return True
    if not all(isinstance(value, _NUMBERS) for value in axis.values):
        kinds = sorted({type(value).__name__ for value in axis.values})
        raise ValueError(
            "Categories of a column must be all strings or all numbers in ONNX. "
            f"Got {', '.join(kinds)} in column {name!r}. "
            "Hint: fit the model on strings there."
        )
    for value in axis.values:
        if float(value) != value:  # type: ignore[arg-type]
            raise ValueError(
                "Numbers that are categories must be doubles in ONNX. "
                f"Got {value!r} in column {name!r}. "
                "Hint: fit the model on strings there."
            )
    return False


def split(
    axis: Axis, kind: str, words: bool, n_parts: int, stride: int
) -> StepAxis | WordAxis:
    """An axis with slots ``part * stride`` and two parts more.

    Part `n_parts` is one of which nothing is known, and part ``n_parts + 1`` what the
    model refuses: infinities, and numbers that are no codes where codes are needed.
    """
    refused = stride * (n_parts + 1)

    def slot(part: Any) -> Any:
        return np.where(np.equal(part, UNKNOWN), n_parts, part) * stride

    missing = int(slot(axis.missing))
    if isinstance(axis, Intervals):
        inner = axis.bounds < _LARGEST
        bounds = np.concatenate([[-np.inf], axis.bounds[inner], [_LARGEST]])
        own = slot(axis.parts)[: inner.sum() + 1]
        return _merged(axis.column, bounds, [refused, *own, refused], missing)
    others = int(slot(axis.others))
    slots = slot(axis.parts)
    if words:
        known = tuple(str(value) for value in axis.values)
        return WordAxis(axis.column, known, slots, missing, others)
    values = np.array(axis.values, dtype=np.float64)
    order = np.argsort(values)
    between = np.full(values.size + 1, others)
    if kind == "code":
        between[:-1] = refused
    bounds = np.stack([np.nextafter(values, -np.inf), values], axis=1)[order]
    steps = np.stack([between[:-1], slots[order]], axis=1)
    ends = [*steps.ravel(), between[-1]]
    return _merged(axis.column, bounds.ravel(), ends, missing)


def _merged(column: int, bounds: Any, slots: Any, missing: int) -> StepAxis:
    """Without bounds between equal slots."""
    bounds, slots = np.asarray(bounds, np.float64), np.asarray(slots, np.int64)
    # An interval without a number, between neighbours that are both values.
    empty = bounds[1:] == bounds[:-1]
    bounds = bounds[np.append(True, ~empty)]
    slots = slots[np.concatenate([[True], ~empty, [True]])]
    differ = np.diff(slots) != 0
    return StepAxis(column, bounds[differ], slots[np.append(True, differ)], missing)


def place_words(graph: Graph, axis: WordAxis, value: str, missing: str) -> str:
    """Slots, of shape (n_rows, 1), of strings; one string stands for missing."""
    return graph.add(
        "LabelEncoder",
        value,
        domain=ML,
        keys_strings=[missing, *axis.words],
        values_int64s=[axis.missing, *axis.slots.tolist()],
        default_int64=axis.others,
    )


def place_numbers(graph: Graph, axes: list[StepAxis], numbers: str) -> str:
    """Slots, of shape (n_rows, n_axes), of doubles of shape (n_rows, n_columns)."""
    nodes = _Nodes()
    for axis in axes:
        nodes.add_tree(axis)
    found = graph.add(
        "TreeEnsembleRegressor",
        numbers,
        domain=ML,
        n_targets=len(axes),
        nodes_treeids=nodes.tree,
        nodes_nodeids=nodes.number,
        nodes_featureids=nodes.column,
        nodes_modes=nodes.mode,
        nodes_values_as_tensor=graph.attribute(
            np.array(nodes.bound, np.float64), "bounds"
        ),
        nodes_truenodeids=nodes.below,
        nodes_falsenodeids=nodes.above,
        target_treeids=nodes.leaf_tree,
        target_nodeids=nodes.leaf,
        target_ids=nodes.leaf_tree,
        target_weights_as_tensor=graph.attribute(
            np.array(nodes.slot, np.float64), "slots"
        ),
    )
    return graph.cast(found, np.int64)  # slots are floats up to here: exact to 2**24


class _Nodes:
    """Nodes of all trees, as the operator takes them."""

    def __init__(self) -> None:
        self.tree: list[int] = []
        self.number: list[int] = []
        self.column: list[int] = []
        self.mode: list[str] = []
        self.bound: list[float] = []
        self.below: list[int] = []
        self.above: list[int] = []
        self.leaf_tree: list[int] = []
        self.leaf: list[int] = []
        self.slot: list[int] = []
        self._trees = 0

    def add_tree(self, axis: StepAxis) -> None:
        """One tree; its root sends NaN to the right, as it is not <= infinity."""
        first = len(self.tree)
        self._node(axis, first, np.inf)
        self._side(axis, first, 0, axis.bounds.size)
        self.above[first] = self._leaf(axis, first, axis.missing)
        self.below[first] = 1
        self._trees += 1

    def _node(self, axis: StepAxis, first: int, bound: float | None) -> int:
        number = len(self.tree) - first
        self.tree.append(self._trees)
        self.number.append(number)
        self.column.append(axis.column if bound is not None else 0)
        self.mode.append("LEAF" if bound is None else "BRANCH_LEQ")
        self.bound.append(0.0 if bound is None else bound)
        self.below.append(0)
        self.above.append(0)
        return number

    def _leaf(self, axis: StepAxis, first: int, slot: int) -> int:
        number = self._node(axis, first, None)
        self.leaf_tree.append(self._trees)
        self.leaf.append(number)
        self.slot.append(int(slot))
        return number

    def _side(self, axis: StepAxis, first: int, start: int, stop: int) -> int:
        """The subtree of bounds start to stop, which part slots start to stop + 1."""
        if start == stop:
            return self._leaf(axis, first, axis.slots[start])
        middle = (start + stop) // 2
        number = self._node(axis, first, float(axis.bounds[middle]))
        self.below[first + number] = self._side(axis, first, start, middle)
        self.above[first + number] = self._side(axis, first, middle + 1, stop)
        return number
