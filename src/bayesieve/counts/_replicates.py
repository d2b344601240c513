"""Class counts of many resamples of the rows, in one pass over them.

A resample is a weight for each row, drawn by a counter-based generator from the seed,
the number of the resample and the number of the row: whoever knows these three knows
the weight. Chunks, threads and machines therefore agree, and nothing is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse

import bayesieve._core as compiled
from bayesieve.counts._kernels import NON_NEGATIVE, compressed
from bayesieve.counts._layout import Kind, is_dense_layout, laid_out, same_labels
from bayesieve.counts._matrix import (
    CountRule,
    canonical,
    check_length,
    count_coded,
    refuse_value,
)
from bayesieve.counts._merge import class_rows, union_classes
from bayesieve.counts._table import ClassCounts
from bayesieve.utils._arrays import Array
from bayesieve.utils._resources import check_memory_budget, is_whole
from bayesieve.utils._validation import (
    as_matrix,
    check_names,
    encode_labels,
    label_array,
    sorted_classes,
)

__all__ = ["ReplicateCounts", "Resampling", "replicate_counts", "replicates_of"]

_core: Any = compiled

Method = Literal["pairs", "bootstrap"]
#: Tables of some resamples are held together up to this many numbers, 64 MB ...
_BLOCK_CELLS = 1 << 23
#: ... and the weights of the rows in them up to this many, one byte each.
_BLOCK_WEIGHTS = 1 << 26
#: Bytes that the tables of all resamples of a stream may take.
_STREAM_BYTES = 1 << 32


@dataclass(frozen=True)
class Resampling:
    """How often each row counts in each resample."""

    n_resamples: int
    method: Method
    seed: int

    @classmethod
    def checked(cls, n_resamples: Any, method: Any, seed: int) -> Resampling:
        """Return the resampling asked for, or say what is allowed."""
        methods = get_args(Method)
        if method not in methods:
            allowed = " or ".join(map(repr, methods))
            raise ValueError(
                f"The 'method' parameter must be {allowed}. Got {method!r}."
            )
        least, what = (2, "an even int") if method == "pairs" else (1, "an int")
        if not is_whole(n_resamples) or n_resamples < least or n_resamples % least:
            raise ValueError(
                f"The 'n_resamples' parameter must be {what} >= {least} for "
                f"method={method!r}. Got {n_resamples!r}."
            )
        return cls(int(n_resamples), method, seed)

    def weights(self, units: Array, first: int, count: int) -> Array:
        """Return the weights (n_rows, count) in the resamples from `first` on.

        `units` are numbers of rows, or of groups of rows that stay together.
        """
        out = np.empty((units.size, count), dtype=np.uint8)
        _core.resample_weights(units, self.seed, first, self.method == "pairs", out)
        return out


def unit_numbers(groups: Any, n_rows: int) -> Array:
    """Number the rows, or the groups in the order of their sorted labels."""
    if groups is None:
        return np.arange(n_rows, dtype=np.int64)
    labels = label_array(groups)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"groups must have one label per row of X, {n_rows} in all. "
            f"Got {labels.size}."
        )
    found, numbers = np.unique(labels, return_inverse=True)
    if found.size < 2:
        raise ValueError(
            f"groups must name at least two groups. Got only {found[0].item()!r}."
        )
    return np.asarray(numbers.reshape(-1), dtype=np.int64)


def replicates_of(
    X: Any,
    codes: Array,
    classes: Array,
    resampling: Resampling,
    units: Array,
    *,
    kind: Kind = "count",
    binarize: float | None = 0.0,
    names: Array | None = None,
    min_categories: Any = None,
) -> Iterator[ClassCounts]:
    """Yield the counts of every resample of rows that are already validated.

    Arguments are those of `count_matrix`. Counts and presences of many resamples are
    added up together, as many as fit in 64 MB; other kinds, and tables of so many
    classes that they are sparse, one after the other.
    """
    rule = CountRule(kind, binarize, min_categories)
    columns = None
    if is_dense_layout(classes.size, X.shape[1]):
        columns = _by_column(X, rule)
    if columns is None:
        for number in range(resampling.n_resamples):
            weights = resampling.weights(units, number, 1)[:, 0].astype(np.float64)
            yield count_coded(ClassCounts, X, codes, classes, weights, rule, None)
        return
    most = (_BLOCK_CELLS // (classes.size * X.shape[1]), _BLOCK_WEIGHTS // units.size)
    width = max(1, min(most))
    for first in range(0, resampling.n_resamples, width):
        count = min(width, resampling.n_resamples - first)
        block = _Tables.empty(count, classes.size, X.shape[1])
        weights = resampling.weights(units, first, count)
        block.add(columns, codes, weights, rule, names)
        yield from block.counts(classes, kind)


def _by_column(X: Any, rule: CountRule) -> Any:
    """The matrix as CSC, for kinds whose zeros add nothing; None for others."""
    if rule.kind not in ("count", "binary"):
        return None
    if rule.kind == "binary" and rule.binarize is not None and rule.binarize < 0:
        return None
    return sparse.csc_array(canonical(X))


@dataclass(frozen=True)
class _Tables:
    """Class sums of some resamples."""

    class_count: Array  # (R, K)
    feature_count: Array  # (R, K, m)

    @classmethod
    def empty(cls, count: int, n_classes: int, width: int) -> _Tables:
        shape = (count, n_classes, width)
        return cls(np.zeros(shape[:2]), np.zeros(shape))

    def add(
        self, X: Any, codes: Array, weights: Array, rule: CountRule, names: Any
    ) -> None:
        """Add rows; after an error the content is undefined."""
        check, level = rule.value_check
        x = compressed(X)
        position = _core.replicate_class_sums(
            x.data,
            x.indices,
            x.indptr,
            codes,
            weights,
            check,
            level,
            self.feature_count,
        )
        if position >= 0:
            refuse_value(X, position, check, names)
        rows = codes.size  # the weights are the sums of a column of ones
        _core.replicate_class_sums(
            np.ones(rows),
            np.arange(rows),
            np.array([0, rows]),
            codes,
            weights,
            NON_NEGATIVE,
            0.0,
            self.class_count[:, :, None],
        )

    def grown(self, rows: Array, n_classes: int) -> _Tables:
        """Return tables of more classes; the present ones become these `rows`."""
        count, _, width = self.feature_count.shape
        larger = _Tables.empty(count, n_classes, width)
        larger.class_count[:, rows] = self.class_count
        larger.feature_count[:, rows] = self.feature_count
        return larger

    def counts(self, classes: Array, kind: Kind) -> Iterator[ClassCounts]:
        """Yield the counts of each resample; names would be copied each time."""
        for table, weights in zip(self.feature_count, self.class_count, strict=True):
            yield ClassCounts._of(classes, weights, kind, feature_count=laid_out(table))


class ReplicateCounts:
    """Counts of all rows, and of every resample of them; made by `replicate_counts`.

    Those of two sets of rows add up to those of both. **Exact**: each resample equals
    `ClassCounts.from_matrix` with its weights as `sample_weight`.

    Attributes
    ----------
    total : ClassCounts
        Of all rows, each counted once.
    resampling : Resampling
        `n_resamples`, `method` and `seed`.
    n_features : int

    See Also
    --------
    bayesieve.stability_from_counts : How often each feature is selected.

    Notes
    -----
    Memory 8 (n_resamples + 1) K m bytes.

    Examples
    --------
    >>> from bayesieve.counts import replicate_counts
    >>> counts = replicate_counts([([[1, 0], [2, 3]], ["a", "b"])], n_resamples=4)
    >>> len(list(counts)), counts.total.n_features
    (4, 2)
    """

    def __init__(
        self,
        classes: Array,
        names: Any,
        kind: Kind,
        tables: _Tables,
        resampling: Resampling,
    ) -> None:
        *_, total = tables.counts(classes, kind)  # every row once, after the resamples
        self.total = total._with(feature_names=names)
        self.resampling = resampling
        self._tables = tables

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.total.n_features

    def __len__(self) -> int:
        return self.resampling.n_resamples

    def __iter__(self) -> Iterator[ClassCounts]:
        every = self._tables.counts(self.total.classes, self.total.kind)
        return islice(every, len(self))

    def __add__(self, other: object) -> ReplicateCounts:
        if not isinstance(other, ReplicateCounts):
            return NotImplemented
        if self.resampling != other.resampling:
            raise ValueError(
                "Only counts of the same resamples can be added. Got "
                f"{self.resampling} and {other.resampling}."
            )
        if self.n_features != other.n_features or not same_labels(
            self.total.feature_names, other.total.feature_names
        ):
            raise ValueError(
                "Only counts of the same columns can be added. Got "
                f"{self.n_features} and {other.n_features} columns, or other names."
            )
        mine, theirs = self.total, other.total
        classes = union_classes(mine.classes, theirs.classes)
        parts = [one._of_classes(classes) for one in (self, other)]
        tables = _Tables(
            parts[0].class_count + parts[1].class_count,
            parts[0].feature_count + parts[1].feature_count,
        )
        return ReplicateCounts(
            classes, mine.feature_names, mine.kind, tables, self.resampling
        )

    def __radd__(self, other: object) -> ReplicateCounts:
        if isinstance(other, int) and other == 0:  # the start of sum()
            return self
        return NotImplemented

    def _of_classes(self, classes: Array) -> _Tables:
        if classes.size == self.total.n_classes:
            return self._tables
        rows = class_rows(self.total.classes, classes)
        return self._tables.grown(rows, classes.size)

    def __repr__(self) -> str:
        return f"ReplicateCounts({self.resampling}, {self.total!r})"


def replicate_counts(
    chunks: Iterable[Any],
    *,
    n_resamples: int = 100,
    method: str = "pairs",
    kind: str = "count",
    binarize: float | None = 0.0,
    classes: Any = None,
    feature_names: Any = None,
    first_row: int = 0,
    random_state: int = 0,
    memory_budget: int | None = None,
) -> ReplicateCounts:
    """Count every resample of a stream of chunks in one pass, exactly.

    The weight of a row depends on `random_state`, the number of the resample and the
    number of the row alone. The same rows in other chunks give the same counts, and
    pieces counted elsewhere, each with its `first_row`, add up to them.

    Parameters
    ----------
    chunks : iterable of (X, y) or (X, y, groups)
        Rows and labels; all with the same columns. `groups` are whole numbers, the same
        for the same person, donor or day in every chunk: numbered 0, 1, 2, ... both
        halves of a pair get equally many.
    n_resamples : int, default=100
        How many; even for pairs.
    method : {"pairs", "bootstrap"}, default="pairs"
        Halves of the rows and their complements, or Poisson weights of mean 1.
    kind : {"count", "binary"}, default="count"
        What is counted, as by :meth:`ClassCounts.from_matrix`.
    binarize : float or None, default=0.0
        For kind "binary": values above it count 1; with None they must be 0 or 1.
    classes : array-like, default=None
        All labels there may be; None for those found.
    feature_names : array-like of str, default=None
        Names of the columns; those of a DataFrame are taken by default.
    first_row : int, default=0
        Number of the first row, where these chunks are a piece of more.
    random_state : int, default=0
        Seed; the same one for all pieces.
    memory_budget : int, default=None
        Bytes that the tables may take, 8 (n_resamples + 1) K m; None for 4 GiB.

    Returns
    -------
    counts : ReplicateCounts

    Examples
    --------
    >>> from bayesieve.counts import replicate_counts
    >>> rows, labels = [[1, 0], [2, 5], [0, 1], [3, 3]], ["a", "b", "b", "a"]
    >>> whole = replicate_counts([(rows, labels)], n_resamples=2)
    >>> parts = [
    ...     replicate_counts([(rows[i : i + 2], labels[i : i + 2])], n_resamples=2,
    ...                      first_row=i)
    ...     for i in (0, 2)
    ... ]
    >>> [a == b for a, b in zip(sum(parts), whole)]
    [True, True]
    """
    if not is_whole(random_state) or not 0 <= random_state < 1 << 64:
        raise ValueError(
            "The 'random_state' parameter of replicate_counts must be an int >= 0, as "
            f"pieces counted elsewhere need the same one. Got {random_state!r}."
        )
    if kind not in ("count", "binary"):
        raise ValueError(
            "The 'kind' parameter of replicate_counts must be 'count' or 'binary'. "
            f"Got {kind!r}."
        )
    if not is_whole(first_row) or first_row < 0:
        raise ValueError(
            f"The 'first_row' parameter must be an int >= 0. Got {first_row!r}."
        )
    check_memory_budget(memory_budget)
    rule = CountRule.checked(kind, False, binarize)
    resampling = Resampling.checked(n_resamples, method, int(random_state))
    stream = _Stream(
        resampling, rule, memory_budget or _STREAM_BYTES, int(first_row), feature_names
    )
    if classes is not None:
        stream.known = sorted_classes(label_array(classes))
    for number, chunk in enumerate(chunks):
        stream.add(chunk, number)
    return stream.finish()


@dataclass
class _Stream:
    """Counts of the chunks so far."""

    resampling: Resampling
    rule: CountRule
    most_bytes: int
    next_row: int
    feature_names: Any
    known: Array | None = None
    classes: Array | None = None
    names: Array | None = None
    tables: _Tables | None = None

    def add(self, chunk: Any, number: int) -> None:
        """Count one chunk."""
        X, y, groups = _unpack(chunk, number)
        matrix, names = as_matrix(X)
        if self.feature_names is not None:
            names = check_names(self.feature_names, matrix.shape[1])
        found, codes = encode_labels(y, self.known)
        check_length(codes, matrix)
        units = self._units(groups, codes.size, number)
        if self.classes is None:
            self.classes, self.names = found, names
        self._refuse_other(matrix.shape[1], names, number)
        tables, codes = self._for_classes(found, codes, matrix.shape[1])
        columns = _by_column(matrix, self.rule)
        if columns is None:
            raise ValueError(
                "The 'binarize' parameter of replicate_counts must be >= 0. Got "
                f"{self.rule.binarize!r}."
            )
        weights = self.resampling.weights(units, 0, self.resampling.n_resamples)
        once = np.ones((codes.size, 1), dtype=np.uint8)
        tables.add(columns, codes, np.hstack([weights, once]), self.rule, names)

    def _refuse_other(self, width: int, names: Array | None, number: int) -> None:
        if self.tables is None:
            return
        before = self.tables.feature_count.shape[2]
        if width != before or not same_labels(self.names, names):
            raise ValueError(
                f"Chunk {number} must have the columns of the chunks before it, "
                f"{before}, in the same order. Got {width}."
            )

    def _for_classes(
        self, found: Array, codes: Array, width: int
    ) -> tuple[_Tables, Array]:
        """Return tables with a row for every class, and the codes among them."""
        assert self.classes is not None
        merged = union_classes(self.classes, found)
        if self.tables is None or merged.size > self.classes.size:
            self._refuse_wide(merged.size, width)
        if self.tables is None:
            held = self.resampling.n_resamples + 1
            self.tables = _Tables.empty(held, merged.size, width)
        elif merged.size > self.classes.size:
            rows = class_rows(self.classes, merged)
            self.tables = self.tables.grown(rows, merged.size)
        self.classes = merged
        return self.tables, class_rows(found, merged)[codes]

    def _units(self, groups: Any, n_rows: int, number: int) -> Array:
        if groups is None:
            units = self.next_row + np.arange(n_rows, dtype=np.int64)
            self.next_row += n_rows
            return units
        numbers = np.asarray(groups)
        if numbers.shape != (n_rows,) or numbers.dtype.kind not in "iu":
            raise ValueError(
                f"The groups of a chunk must be {n_rows} whole numbers, one for each "
                f"row. Got {numbers.dtype} of shape {numbers.shape} in chunk {number}."
            )
        return numbers.astype(np.int64)

    def _refuse_wide(self, n_classes: int, width: int) -> None:
        needed = 8 * (self.resampling.n_resamples + 1) * n_classes * width
        if needed > self.most_bytes:
            raise ValueError(
                f"Tables of {self.resampling.n_resamples} resamples, {n_classes} "
                f"classes and {width} columns take {needed:,} bytes, more than the "
                f"{self.most_bytes:,} allowed. Hint: screen the columns first, take "
                "fewer resamples, or set memory_budget."
            )

    def finish(self) -> ReplicateCounts:
        """Return the counts."""
        if self.classes is None or self.tables is None:
            raise ValueError(
                "replicate_counts needs at least one chunk (X, y) or (X, y, groups). "
                "Got none."
            )
        return ReplicateCounts(
            self.classes, self.names, self.rule.kind, self.tables, self.resampling
        )


def _unpack(chunk: Any, number: int) -> tuple[Any, Any, Any]:
    if not isinstance(chunk, (tuple, list)) or len(chunk) not in (2, 3):
        raise ValueError(
            "A chunk must be a tuple (X, y) or (X, y, groups). "
            f"Got {type(chunk).__name__} as chunk {number}."
        )
    return chunk[0], chunk[1], chunk[2] if len(chunk) == 3 else None
