"""From texts with class codes, or with labels that turn up on the way, to class counts.

The compiled counter needs to know the number of classes. When a batch brings a new
class, the counter so far is finished and a larger one begun; their counts are added in
the end, so the result does not depend on the order of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.counts import _layout
from bayesieve.counts._merge import add, place
from bayesieve.io._bad_rows import BadRows
from bayesieve.io._labels import LabelCodes, sort_order
from bayesieve.text._counter import TermTables, TextCounter
from bayesieve.text._labelled import text_codes
from bayesieve.text._options import TextOptions
from bayesieve.text._packing import sized
from bayesieve.utils._arrays import Array

if TYPE_CHECKING:
    from bayesieve.counts._table import ClassCounts


def count_texts(
    cls: type[ClassCounts],
    texts: Any,
    codes: Array,
    classes: Array,
    options: TextOptions,
    **resources: Any,
) -> ClassCounts:
    """Count texts whose class codes are known; `resources` are those of TextCounter."""
    counter = TextCounter(options, len(classes), **resources)
    counter.add(texts, codes)
    return _class_counts(cls, counter.finish(_layout.DENSE_CELLS), classes, options)


def _class_counts(
    cls: type[ClassCounts], tables: TermTables, classes: Array, options: TextOptions
) -> ClassCounts:
    return cls._of(
        classes,
        tables.class_count,
        "binary" if options.binary else "count",
        feature_count=tables.feature_count,
        feature_names=tables.names,
        document_count=tables.document_count,
    )


class LabelledTextCounter:
    """Counts batches of texts with labels, where any batch may bring a new label.

    With `classes`, another label is an error. `value_of` makes the label of what is
    read, once for each distinct value; None is missing. `resources` are `n_jobs`,
    `memory_budget` and `spill_folder` of TextCounter.
    """

    def __init__(
        self,
        cls: type[ClassCounts],
        options: TextOptions,
        *,
        classes: Any = None,
        skip_bad_rows: bool = False,
        value_of: Callable[[Any], Any] | None = None,
        **resources: Any,
    ) -> None:
        self._cls = cls
        self.options = options
        self.bad_rows = BadRows(skip_bad_rows)
        self._codes = LabelCodes(classes, value_of)
        self._resources = resources
        self._finished: list[TermTables] = []
        self._counter: TextCounter | None = None
        TextCounter(options, 1, **resources)  # checked before the first row is read

    def add(self, texts: Any, labels: Any, place: Callable[[int], str]) -> None:
        """Count a batch; `place` names a row of it in messages."""
        texts = sized(texts)
        codes = text_codes(texts, labels, self._codes, self.bad_rows, place)
        self._counter_for(len(self._codes.labels)).add(texts, codes)

    def _counter_for(self, n_classes: int) -> TextCounter:
        room = 0 if self._counter is None else self._counter.n_classes
        if n_classes > room or self._counter is None:
            self._close()
            # Twice as many each time: few counters, however many classes turn up.
            room = max(n_classes, 2 * room, 1)
            self._counter = TextCounter(self.options, room, **self._resources)
        return self._counter

    def _close(self) -> None:
        if self._counter is not None:
            self._finished.append(self._counter.finish(_layout.DENSE_CELLS))
            self._counter = None

    def finish(self) -> ClassCounts:
        """Return the counts, classes and terms sorted, and begin anew."""
        if not self._finished:
            self._counter_for(1)
        self._close()
        classes, order = sort_order(self._codes.labels)
        # The smallest first: a term is then moved as seldom as can be.
        finished = sorted(self._finished, key=lambda tables: len(tables.names))
        self._finished = []
        return reduce(
            add,
            (
                _class_counts(self._cls, _by_class(one, order), classes, self.options)
                for one in finished
            ),
        )


def _by_class(tables: TermTables, order: Array) -> TermTables:
    """Return tables whose row i is the class with the code order[i]."""
    room = tables.class_count.size
    if np.array_equal(order, np.arange(room)):
        return tables
    # A counter may have room for classes that never came, and none for later ones.
    known = min(room, order.size)
    rows = np.argsort(order)[:known]
    class_count = np.zeros(order.size)
    class_count[rows] = tables.class_count[:known]

    def moved(table: Any) -> Any:
        return place(table[:known], rows, None, (order.size, table.shape[1]))

    count = moved(tables.feature_count)
    same = tables.document_count is tables.feature_count
    documents = count if same else moved(tables.document_count)
    return TermTables(tables.names, class_count, count, documents)
