"""Counting a stream of (texts, labels), where classes and bad rows turn up on the way.

The compiled counter needs to know the number of classes. When a batch brings a new
class, the counter so far is finished and a larger one begun; their counts are merged in
the end, so the result does not depend on the order of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.counts._parts import Array, Parts, laid_out
from bayesieve.io._bad_rows import BadRows
from bayesieve.io._labels import LabelCodes, is_missing, sort_order
from bayesieve.text._counter import TextCounter
from bayesieve.text._counts import TextCounts
from bayesieve.text._options import TextOptions
from bayesieve.text._packing import sized

Place = Callable[[int], str]


class BatchCounter:
    """Counts batches of texts with labels; see `count_batches`.

    Parameters
    ----------
    options : TextOptions
        How texts become terms.
    classes, threads, memory_budget, on_bad_rows, spill_folder
        As in `count_batches`.
    value_of : callable, default=None
        Makes the label of what is read, once for each distinct value; None is missing.
    """

    def __init__(
        self,
        options: TextOptions,
        *,
        classes: Any = None,
        threads: int | None = None,
        memory_budget: int | None = None,
        spill_folder: Any = None,
        on_bad_rows: str = "error",
        value_of: Callable[[Any], Any] | None = None,
    ) -> None:
        if on_bad_rows not in ("error", "skip"):
            raise ValueError(
                "The 'on_bad_rows' parameter must be 'error' or 'skip'. Got "
                f"{on_bad_rows!r}."
            )
        self.options = options
        self.codes = LabelCodes(classes, value_of)
        self.bad_rows = BadRows(on_bad_rows == "skip")
        self.n_documents = 0
        self._settings: dict[str, Any] = {
            "threads": threads,
            "memory_budget": memory_budget,
            "spill_folder": spill_folder,
        }
        self._finished: list[TextCounts] = []
        self._counter: TextCounter | None = None
        # Settings are checked before the first row is read.
        TextCounter(options, 1, **self._settings)

    def add(self, texts: Any, labels: Any, place: Place | None = None) -> None:
        """Count a batch; `place` names a row of it in messages."""
        texts = sized(texts)
        codes = coded(self.codes, texts, labels, self.bad_rows, place)
        self._counter_for(len(self.codes.labels)).add(texts, codes)
        self.n_documents += int((codes >= 0).sum())

    def _counter_for(self, n_classes: int) -> TextCounter:
        room = 0 if self._counter is None else self._counter.n_classes
        if n_classes > room or self._counter is None:
            self._close()
            # Twice as many each time: few counters, however many classes turn up.
            room = max(n_classes, 2 * room, 1)
            self._counter = TextCounter(self.options, room, **self._settings)
        return self._counter

    def _close(self) -> None:
        if self._counter is not None:
            self._finished.append(self._counter.finish())
            self._counter = None

    def finish(self) -> Parts:
        """Return the counts, classes and terms sorted, and begin anew."""
        self._close()
        classes, order = sort_order(self.codes.labels)
        if not self._finished:
            self._counter_for(1)
            self._close()
        # The smallest first: a term is then moved as seldom as can be.
        finished = sorted(self._finished, key=lambda counts: len(counts.names))
        self._finished = []
        self.n_documents = 0
        return text_parts(
            reduce(
                TextCounts.merge, (with_classes(counts, order) for counts in finished)
            ),
            classes,
            self.options,
        )


def coded(
    label_codes: LabelCodes,
    texts: Any,
    labels: Any,
    bad_rows: BadRows,
    place: Place | None = None,
) -> Array:
    """Return the class code of every text, -1 for the rows to leave out."""
    where = place or (lambda row: f"Row {row}")
    codes = label_codes.encode(labels)
    if codes.size != len(texts):
        raise ValueError(
            "There must be one label for each text. Got "
            f"{codes.size} labels for {len(texts)} texts."
        )
    unlabelled = codes < 0
    if unlabelled.any():
        first = where(int(np.argmax(unlabelled)))
        bad_rows.found(int(unlabelled.sum()), f"{first} has no label.")
    for rows, problem in _bad_texts(texts, bad_rows.skip):
        rows = rows[codes[rows] >= 0]
        if rows.size:
            bad_rows.found(rows.size, f"{where(int(rows[0]))} {problem}.")
            codes[rows] = -1
    return codes


def _bad_texts(texts: Any, skip: bool) -> list[tuple[Array, str]]:
    """Return the rows whose text is missing or, if they are skipped, not UTF-8."""
    if hasattr(texts, "null_count"):
        missing = np.empty(0, dtype=np.int64)
        if texts.null_count:
            nulls = np.asarray(texts.is_null())
            missing = np.flatnonzero(nulls)
        raw = "binary" in str(texts.type)
    else:
        odd = [i for i, text in enumerate(texts) if type(text) is not str]
        missing = np.array([i for i in odd if is_missing(texts[i])], dtype=np.int64)
        raw = bool(odd)
    found = [(missing, "has no text")]
    if raw and skip:
        values = texts.to_pylist() if hasattr(texts, "to_pylist") else texts
        wrong = [i for i, text in enumerate(values) if not _is_utf8(text)]
        found.append((np.array(wrong, dtype=np.int64), "is not valid UTF-8"))
    return found


def _is_utf8(text: Any) -> bool:
    if not isinstance(text, bytes):
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def with_classes(counts: TextCounts, order: Array) -> TextCounts:
    """Return the counts with rows in an order; classes not yet known count nothing."""
    if np.array_equal(order, np.arange(counts.n_classes)):
        return counts
    known = order < counts.n_classes
    rows = np.flatnonzero(known)
    taken = order[known]
    n_documents = np.zeros(order.size, dtype=np.int64)
    n_documents[rows] = counts.n_documents[taken]

    def moved(table: Any) -> Any:
        shape = (order.size, table.shape[1])
        if sparse.issparse(table):
            pick = sparse.csr_array(
                (np.ones(rows.size), (rows, taken)), shape=(order.size, table.shape[0])
            )
            return laid_out(pick @ table)
        result = np.zeros(shape)  # K * m * 8 bytes: the result itself
        result[rows] = table[taken]
        return laid_out(result)

    count = moved(counts.count)
    documents = count
    if counts.document_count is not counts.count:
        documents = moved(counts.document_count)
    return TextCounts(counts.names, count, documents, n_documents)


def text_parts(counts: TextCounts, classes: Array, options: TextOptions) -> Parts:
    """Return counts of texts as the parts of a `ClassCounts`."""
    return Parts(
        classes,
        counts.n_documents.astype(np.float64),
        "binary" if options.binary else "count",
        feature_count=counts.count,
        feature_names=counts.names,
        document_count=counts.document_count,
    )
