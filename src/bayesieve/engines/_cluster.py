"""What Dask and Spark share: counting one partition, merging, cutting by terms.

All of it are pure functions of their arguments: a scheduler may run them again after a
lost worker, and the counts are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve import _core
from bayesieve.counts._chunks import chunk_parts
from bayesieve.counts._from_text import text_options
from bayesieve.counts._matrix import resolve_kind
from bayesieve.counts._merge import add
from bayesieve.counts._parts import Array, Kind, Parts, laid_out
from bayesieve.counts._term_names import TermNames
from bayesieve.text._batch_counter import BatchCounter
from bayesieve.text._counts import TextCounts
from bayesieve.text._options import TextOptions


@dataclass(frozen=True)
class TextPlan:
    """What a worker needs to count a partition of texts.

    `groups` is the number of groups the terms are cut into: a group is merged on its
    own, so that neither one worker nor the driver handles every partial count.
    """

    options: TextOptions
    classes: Any = None
    groups: int = 1
    threads: int = 1
    memory_budget: int | None = None
    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None

    def count(self, batches: Iterable[tuple[Any, Any]]) -> list[Parts] | None:
        """Count batches of (texts, labels): one table for each group, None if no rows.

        Every group has the whole `class_count`.
        """
        filled = first_filled(batches)
        if filled is None:
            return None
        counter = BatchCounter(
            self.options,
            classes=self.classes,
            threads=self.threads,
            memory_budget=self.memory_budget,
        )
        first = 0
        for texts, labels in filled:
            counter.add(texts, labels, partial(_row_name, first))
            first += len(labels)
        return cut_by_term(counter.finish(), self.groups)

    def prune(self, parts: Parts) -> Parts:
        """Drop the terms of a merged group that are too rare or too frequent."""
        return _pruned(parts, self.min_df, self.max_df, None)

    def finish(self, groups: Sequence[Parts]) -> Parts:
        """Join the groups, and keep the most frequent terms if so asked."""
        joined = join_groups(groups)
        if self.max_features is not None:
            joined = _pruned(joined, 0, 1.0, self.max_features)
        if not joined.n_features:
            raise ValueError(
                "No terms remain. Hint: lower min_df or raise max_df; or the texts "
                "hold nothing but stop words."
            )
        return joined


def _row_name(first: int, row: int) -> str:
    return f"Row {first + row}"


@dataclass(frozen=True)
class MatrixPlan:
    """What a worker needs to count a partition of feature rows."""

    kind: Kind = "count"
    threshold: float | None = None
    classes: Any = None
    feature_names: Any = None

    def count(self, chunks: Iterable[tuple[Any, Any]]) -> list[Parts] | None:
        """Count chunks of (X, y) in row order: a list of one table, None if no rows."""
        filled = first_filled(chunks)
        if filled is None:
            return None
        return [
            chunk_parts(
                filled,
                kind=self.kind,
                threshold=self.threshold,
                classes=self.classes,
                feature_names=self.feature_names,
            )
        ]

    def prune(self, parts: Parts) -> Parts:
        """Keep every feature."""
        return parts

    def finish(self, groups: Sequence[Parts]) -> Parts:
        """Return the one group there is."""
        (parts,) = groups
        return parts


Plan = TextPlan | MatrixPlan


def make_plan(
    texts: bool,
    *,
    kind: str | None = None,
    binary: bool = False,
    threshold: float | None = None,
    classes: Any = None,
    feature_names: Any = None,
    groups: int = 1,
    threads: int = 1,
    memory_budget: int | None = None,
    **text_fields: Any,
) -> Plan:
    """Sort the arguments of `from_dask` and `from_spark` into a plan for the workers.

    Options of texts given for a matrix, and the other way round, are refused.
    """
    if texts:
        if kind is not None or threshold is not None:
            name, value = (
                ("kind", kind) if threshold is None else ("threshold", threshold)
            )
            raise ValueError(
                f"The {name!r} parameter is for features, not for texts. "
                f"Got {name}={value!r}. Hint: binary=True counts documents."
            )
        pruning = {
            name: text_fields.pop(name) for name in ("min_df", "max_df", "max_features")
        }
        plan = TextPlan(
            text_options(binary=binary, **text_fields),
            classes=classes,
            groups=_positive("groups", groups, 1 << 16),
            threads=_positive("threads", threads),
            memory_budget=memory_budget,
            **pruning,
        )
        # Wrong limits are found before the first row is read.
        empty, documents = np.zeros((1, 0)), np.array([10**15])
        TextCounts(TermNames.from_strings([]), empty, empty, documents).pruned(
            plan.min_df, plan.max_df, plan.max_features
        )
        return plan
    usual = {**_text_defaults(), "min_df": 1, "max_df": 1.0, "max_features": None}
    for name, value in text_fields.items():
        if value != usual[name]:
            raise ValueError(
                f"The {name!r} parameter is for texts, and the features are numbers. "
                f"Got {name}={value!r}. Hint: text= names the column of texts."
            )
    resolved = resolve_kind(kind, binary, threshold=threshold)
    return MatrixPlan(resolved, threshold, classes, feature_names)


def _text_defaults() -> dict[str, Any]:
    return {field.name: field.default for field in fields(TextOptions)}


def _positive(name: str, value: Any, most: int | None = None) -> int:
    number = int(value) if isinstance(value, Integral) else 0
    if number < 1 or (most is not None and number > most):
        limit = "" if most is None else f" and <= {most}"
        raise ValueError(f"{name!r} must be an int >= 1{limit}. Got {value!r}.")
    return number


def first_filled(
    batches: Iterable[tuple[Any, Any]],
) -> Iterator[tuple[Any, Any]] | None:
    """Leave out batches without rows; None if there is no other."""
    filled = (batch for batch in batches if len(batch[1]))
    for batch in filled:
        return _chained(batch, filled)
    return None


def _chained(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


# --------------------------------------------------------------------------- merging


class Merger:
    """Adds up tables as they come, small ones with small ones.

    As in a binary counter, slot i holds the sum of 2**i tables: each table takes part
    in O(log n) additions, and only O(log n) tables are in memory. The order of the
    additions depends on the order of the tables alone.
    """

    def __init__(self) -> None:
        self._slots: list[Parts | None] = []

    def add(self, parts: Parts) -> None:
        """Take one more table."""
        for level, held in enumerate(self._slots):
            if held is None:
                self._slots[level] = parts
                return
            self._slots[level] = None
            parts = add(held, parts)
        self._slots.append(parts)

    def total(self) -> Parts | None:
        """Return the sum of all tables, None if there were none."""
        total = None
        for held in self._slots:
            if held is not None:
                total = held if total is None else add(held, total)
        return total


def merged(tables: Iterable[Parts | None]) -> Parts | None:
    """Return the sum of the tables that are there."""
    merger = Merger()
    for parts in tables:
        if parts is not None:
            merger.add(parts)
    return merger.total()


def no_rows() -> ValueError:
    """Make the error for data without a single row."""
    return ValueError("The data must have at least one row. Got none.")


# --------------------------------------------------------------------------- by term


def term_groups(names: TermNames, n_groups: int) -> Array:
    """Return the group of every term, the same for equal terms on every machine.

    A hash of the first and last eight bytes and the length: n-grams spread evenly.
    """
    starts, ends = names.offsets[:-1], names.offsets[1:]
    data = np.zeros(names.data.size + 16, dtype=np.uint8)  # room to read past both ends
    data[8:-8] = names.data
    words = np.ndarray(data.size - 7, dtype="<u8", buffer=data, strides=(1,))
    length = (ends - starts).astype(np.uint64)
    spare = np.uint64(8) * (np.uint64(8) - np.minimum(length, np.uint64(8)))
    # Two shifts, as one by 64 bits is not defined: an empty term has no bytes at all.
    half = spare // np.uint64(2)
    rest = spare - half
    head = words[starts + 8] << half << rest
    tail = words[ends] >> half >> rest
    mixed = head * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= tail * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= length * np.uint64(0x165667B19E3779F9)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    # 16 bits: NumPy sorts them by radix.
    return np.asarray(mixed % np.uint64(n_groups)).astype(np.uint16)


def cut_by_term(parts: Parts, n_groups: int) -> list[Parts]:
    """Cut a table of named terms into groups; each keeps the whole `class_count`."""
    if n_groups == 1:
        return [parts]
    names = parts.feature_names
    assert isinstance(names, TermNames)  # texts are counted with packed names
    group = term_groups(names, n_groups)
    order = np.argsort(group, kind="stable")  # sorted terms stay sorted in their group
    starts = np.searchsorted(group[order], np.arange(n_groups + 1)).tolist()
    return [
        _some_terms(parts, names, order[first:last]) for first, last in pairwise(starts)
    ]


def _some_terms(parts: Parts, names: TermNames, positions: Array) -> Parts:
    """Return the counts of some terms in rising order; `select` without its checks."""
    own = TermNames(*_core.take_names(names.data, names.offsets, positions))
    own.__dict__["is_sorted"] = True
    tables = {
        name: laid_out(table[:, positions])
        if sparse.issparse(table)
        else table.take(positions, axis=1)
        for name in ("feature_count", "document_count")
        for table in (getattr(parts, name),)
    }
    return replace(parts, feature_names=own, **tables)


def join_groups(groups: Sequence[Parts]) -> Parts:
    """Put groups of different terms together; rows are counted once."""
    first, *others = groups
    silent = [
        replace(parts, class_count=np.zeros_like(parts.class_count)) for parts in others
    ]
    joined = merged([first, *silent])
    assert joined is not None  # there is a first
    return joined


def _pruned(
    parts: Parts, min_df: float, max_df: float, max_features: int | None
) -> Parts:
    names = parts.feature_names
    assert isinstance(names, TermNames)  # texts are counted with packed names
    counts = TextCounts(
        names,
        parts.feature_count,
        parts.document_count,
        parts.class_count.astype(np.int64),
    )
    kept = counts.pruned(min_df, max_df, max_features)
    if kept is counts:
        return parts
    return replace(
        parts,
        feature_names=kept.names,
        feature_count=kept.count,
        document_count=kept.document_count,
    )
