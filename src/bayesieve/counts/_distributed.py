"""Plans for Dask and Spark: how a worker counts a partition, and cuts it by terms.

Plans travel to the workers, and an engine (`bayesieve.engines`) runs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bayesieve import _core
from bayesieve.counts._chunks import count_chunks
from bayesieve.counts._layout import laid_out
from bayesieve.counts._matrix import CountRule
from bayesieve.counts._merge import add
from bayesieve.counts._selection import check_limits, prune
from bayesieve.counts._texts import LabelledTextCounter
from bayesieve.engines._adding import merged
from bayesieve.text._options import TextOptions
from bayesieve.text._term_names import TermNames
from bayesieve.utils._arrays import Array
from bayesieve.utils._resources import is_whole, limited_threads, thread_count

if TYPE_CHECKING:
    from bayesieve.counts._table import ClassCounts

_MOST_GROUPS = 1 << 16


@dataclass(frozen=True)
class TextPlan:
    """What a worker needs to count a partition of texts.

    `groups` is the number of groups the terms are cut into; every group has the whole
    `class_count`.
    """

    cls: type[ClassCounts]
    options: TextOptions
    classes: Any = None
    groups: int = 1
    n_jobs: int | None = 1
    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None

    def count(self, batches: Iterable[tuple[Any, Any]]) -> list[ClassCounts] | None:
        """Count batches of (texts, labels): a table for each group, None if no rows."""
        filled = first_filled(batches)
        if filled is None:
            return None
        counter = LabelledTextCounter(
            self.cls, self.options, classes=self.classes, n_jobs=self.n_jobs
        )
        first = 0
        with limited_threads(self.n_jobs):
            for texts, labels in filled:
                counter.add(texts, labels, partial(_row_name, first))
                first += len(labels)
            return cut_by_term(counter.finish(), self.groups)

    def add(self, a: ClassCounts, b: ClassCounts) -> ClassCounts:
        """Add two tables of one group."""
        return add(a, b)

    def reduce(self, total: ClassCounts) -> ClassCounts:
        """Drop the terms of a merged group that are too rare or too frequent."""
        return prune(total, self.min_df, self.max_df)

    def finish(self, groups: Sequence[ClassCounts]) -> ClassCounts:
        """Join the groups, and keep the most frequent terms if so asked."""
        joined = join_groups(groups)
        if self.max_features is not None:
            joined = prune(joined, 0.0, 1.0, self.max_features)
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

    cls: type[ClassCounts]
    rule: CountRule
    classes: Any = None
    feature_names: Any = None
    n_jobs: int | None = 1
    groups: int = 1

    def count(self, chunks: Iterable[tuple[Any, Any]]) -> list[ClassCounts] | None:
        """Count chunks of (X, y) in row order: a list of one table, None if no rows."""
        filled = first_filled(chunks)
        if filled is None:
            return None
        with limited_threads(self.n_jobs):
            own = self.classes, self.feature_names
            return [count_chunks(self.cls, filled, self.rule, *own)]

    def add(self, a: ClassCounts, b: ClassCounts) -> ClassCounts:
        """Add two tables."""
        return add(a, b)

    def reduce(self, total: ClassCounts) -> ClassCounts:
        """Keep every feature."""
        return total

    def finish(self, groups: Sequence[ClassCounts]) -> ClassCounts:
        """Return the one group there is."""
        (counts,) = groups
        return counts


def make_plan(
    cls: type[ClassCounts],
    texts: bool,
    *,
    kind: str | None = None,
    binary: bool = False,
    binarize: float | None = 0.0,
    classes: Any = None,
    feature_names: Any = None,
    n_groups: int = 1,
    n_jobs: int | None = 1,
    min_df: float = 1,
    max_df: float = 1.0,
    max_features: int | None = None,
    **text_options: Any,
) -> TextPlan | MatrixPlan:
    """Sort the arguments of `from_dask` and `from_spark` into a plan for the workers.

    Options of texts given for a matrix, and the other way round, are refused.
    """
    thread_count(n_jobs)
    if texts:
        for name, value, usual in (("binarize", binarize, 0.0), ("kind", kind, None)):
            if value != usual:
                raise ValueError(
                    f"The {name!r} parameter is for features, not for texts. "
                    f"Got {name}={value!r}. Hint: binary=True counts documents."
                )
        if not is_whole(n_groups) or not 1 <= n_groups <= _MOST_GROUPS:
            raise ValueError(
                f"'n_groups' must be an int >= 1 and <= {_MOST_GROUPS}. "
                f"Got {n_groups!r}."
            )
        check_limits(min_df, max_df, max_features)
        return TextPlan(
            cls,
            TextOptions(binary=binary, **text_options),
            classes,
            int(n_groups),
            n_jobs,
            min_df,
            max_df,
            max_features,
        )
    defaults = {field.name: field.default for field in fields(TextOptions)}
    for name, value, default in (
        *((name, value, defaults[name]) for name, value in text_options.items()),
        ("min_df", min_df, 1),
        ("max_df", max_df, 1.0),
        ("max_features", max_features, None),
    ):
        if value != default:
            raise ValueError(
                f"The {name!r} parameter is for texts, and the features are numbers. "
                f"Got {name}={value!r}. Hint: text= names the column of texts."
            )
    rule = CountRule.checked(kind, binary, binarize)
    return MatrixPlan(cls, rule, classes, feature_names, n_jobs)


def first_filled(
    batches: Iterable[tuple[Any, Any]],
) -> Iterator[tuple[Any, Any]] | None:
    """Leave out batches without rows; None if there is no other."""
    filled = (batch for batch in batches if len(batch[1]))
    first = next(filled, None)
    return None if first is None else chain([first], filled)


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


def cut_by_term(counts: ClassCounts, n_groups: int) -> list[ClassCounts]:
    """Cut a table of named terms into groups; each keeps the whole `class_count`."""
    if n_groups == 1:
        return [counts]
    names = counts.feature_names
    assert isinstance(names, TermNames)  # texts are counted with packed names
    group = term_groups(names, n_groups)
    order = np.argsort(group, kind="stable")  # sorted terms stay sorted in their group
    starts = np.searchsorted(group[order], np.arange(n_groups + 1)).tolist()
    return [
        _some_terms(counts, names, order[first:last])
        for first, last in pairwise(starts)
    ]


def _some_terms(counts: ClassCounts, names: TermNames, positions: Array) -> ClassCounts:
    """Return the counts of some terms in rising order; `select` without its checks."""
    own = TermNames(*_core.take_names(names.data, names.offsets, positions))
    own.__dict__["is_sorted"] = True
    tables = {
        name: laid_out(table[:, positions])
        if sparse.issparse(table)
        else table.take(positions, axis=1)
        for name in ("feature_count", "document_count")
        for table in (getattr(counts, name),)
    }
    return counts._with(feature_names=own, **tables)


def join_groups(groups: Sequence[ClassCounts]) -> ClassCounts:
    """Put groups of different terms together; rows are counted once."""
    first, *others = groups
    silent = (
        counts._with(class_count=np.zeros_like(counts.class_count)) for counts in others
    )
    joined = merged(add, [first, *silent])
    assert joined is not None  # there is a first
    return joined
