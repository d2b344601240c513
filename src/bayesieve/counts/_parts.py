"""The plain data of a table of class counts, and how its big arrays are laid out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from bayesieve.counts._term_names import TermNames

Array = np.ndarray[Any, np.dtype[Any]]
Kind = Literal["count", "binary", "moments", "category"]
KINDS: tuple[str, ...] = get_args(Kind)

# Above this many cells a table of three or more classes is kept as a csc_array.
DENSE_CELLS = 100_000_000

# What is left of a sum of fractions after most of it is taken away is rounding below
# this share of the sum. A sum of n weighted rows is off by n u of itself at most, with
# u = 1.1e-16: for both operands this share is reached at four million rows in one cell.
# A row that is truly left is a share of about 1/n, 250 times as much even then.
RELATIVE_RESIDUE = 1e-9


@dataclass(frozen=True, eq=False)
class Parts:
    """Everything a table of class counts holds; `ClassCounts` is its public face.

    `feature_names` is an object array of str or, for the terms of texts, a `TermNames`.
    `feature_count` is None for moments, which keep `mean` and `centred_squares`. For
    categories it has one column per (feature, code), features in order.
    """

    classes: Array
    class_count: Array
    kind: Kind
    feature_count: Any = None
    feature_names: Array | TermNames | None = None
    document_count: Any = None
    mean: Array | None = None
    centred_squares: Array | None = None
    n_categories: Array | None = None

    @property
    def n_features(self) -> int:
        """Number of features (not of categories)."""
        if self.n_categories is not None:
            return int(self.n_categories.size)
        table = self.mean if self.feature_count is None else self.feature_count
        assert table is not None  # guaranteed by the constructors of this package
        return int(table.shape[1])


def is_dense_layout(n_classes: int, width: int) -> bool:
    """Tell whether a (K, width) table is kept as a NumPy array."""
    return n_classes == 2 or n_classes * width <= DENSE_CELLS


def laid_out(table: Any) -> Any:
    """Return a table as NumPy array or canonical csc_array, as its size asks."""
    if is_dense_layout(*table.shape):
        if sparse.issparse(table):
            return np.asarray(table.toarray(), dtype=np.float64)
        return np.ascontiguousarray(table, dtype=np.float64)
    result = sparse.csc_array(table, dtype=np.float64)
    if not result.has_canonical_format:
        result = result.copy() if result is table else result
        result.sum_duplicates()
    if result.data.size and not result.data.all():
        result = result.copy() if result is table else result
        result.eliminate_zeros()
    return result


def category_offsets(n_categories: Array) -> Array:
    """Return where the codes of each feature start in the flat table, and its width."""
    offsets = np.zeros(n_categories.size + 1, dtype=np.int64)
    np.cumsum(n_categories, out=offsets[1:])
    return offsets


def flush_rounding(squares: Array, class_count: Array, mean: Array) -> Array:
    """Set centred squares at the level of rounding to zero, in place.

    A column constant within a class has variance exactly 0 then, however its mean was
    rounded: `S <= 4 n (eps * mean)^2` is less than one unit in the last place per row.
    """
    eps = np.finfo(np.float64).eps
    np.maximum(squares, 0.0, out=squares)
    with np.errstate(over="ignore"):  # an infinite level: means above 1e170
        level = np.square(eps * mean)  # K * m * 8 bytes
        level *= 4.0 * class_count[:, None]
    squares[squares <= level] = 0.0
    return squares


def rest_of(whole: Array, part: Array) -> Array:
    """Return `whole - part`, without what rounding leaves of sums of fractions.

    A rest above zero is zero when it is at the level of rounding (`RELATIVE_RESIDUE`)
    and one of the two is a fraction: integers are summed and subtracted exactly. Rests
    below zero are left to the caller, who knows whether they can be.
    """
    rest = np.asarray(whole - part)
    if not rest.size:
        return rest
    largest = RELATIVE_RESIDUE * float(np.max(whole))  # few cells are looked at twice
    near = np.nonzero((rest > 0) & (rest <= largest))
    if near[0].size:
        one, other = (np.broadcast_to(of, rest.shape)[near] for of in (whole, part))
        residue = (rest[near] <= RELATIVE_RESIDUE * one) & ~(
            (one == np.rint(one)) & (other == np.rint(other))
        )
        rest[tuple(axis[residue] for axis in near)] = 0.0
    return rest


def same_table(a: Any, b: Any) -> bool:
    """Compare two tables exactly, both dense, both sparse or both None."""
    if a is None or b is None:
        return a is b
    if sparse.issparse(a) != sparse.issparse(b) or a.shape != b.shape:
        return False
    if not sparse.issparse(a):
        return bool(np.array_equal(a, b))
    return (
        np.array_equal(a.indptr, b.indptr)
        and np.array_equal(a.indices, b.indices)
        and np.array_equal(a.data, b.data)
    )


def same_labels(a: Array | TermNames | None, b: Array | TermNames | None) -> bool:
    """Compare two arrays of names or classes; 1 and '1' differ."""
    if a is None or b is None:
        return a is b
    if a is b:
        return True
    if len(a) != len(b):
        return False
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):  # one is packed
            return all(x == y for x, y in zip(a, b, strict=True))
        return a == b
    numeric = [array.dtype.kind in "biuf" for array in (a, b)]
    return numeric[0] == numeric[1] and bool(np.array_equal(a, b))


def checked_parts(parts: Parts) -> Parts:
    """Check that the parts fit together; return them with tables laid out."""
    n_classes = parts.classes.size
    if parts.kind not in KINDS:
        allowed = ", ".join(repr(name) for name in KINDS)
        raise ValueError(f"kind must be one of {allowed}. Got {parts.kind!r}.")
    if parts.classes.ndim != 1 or not _rising(parts.classes):
        raise ValueError("classes must be a sorted 1-D array of distinct labels.")
    _check_counts("class_count", parts.class_count, (n_classes,))
    tables: dict[str, Any] = {}
    if parts.kind == "moments":
        if parts.mean is None or parts.centred_squares is None:
            raise ValueError("kind='moments' needs mean and centred_squares.")
        width = parts.mean.shape[-1]
        _check_shape("mean", parts.mean, (n_classes, width))
        if not np.isfinite(parts.mean).all():
            raise ValueError("mean must hold finite numbers.")
        _check_counts("centred_squares", parts.centred_squares, (n_classes, width))
    else:
        if parts.feature_count is None or len(parts.feature_count.shape) != 2:
            raise ValueError(f"kind={parts.kind!r} needs feature_count (K, m).")
        width = parts.feature_count.shape[1]
        if parts.kind == "category":
            _check_categories(parts.n_categories, width)
        _check_counts("feature_count", parts.feature_count, (n_classes, width))
        tables["feature_count"] = laid_out(parts.feature_count)
    if parts.document_count is not None:
        shape = (n_classes, parts.n_features)
        _check_counts("document_count", parts.document_count, shape)
        tables["document_count"] = laid_out(parts.document_count)
    names = parts.feature_names
    if names is not None and len(names) != parts.n_features:
        raise ValueError(
            f"feature_names must have one name per feature, {parts.n_features} in "
            f"all. Got {len(names)}."
        )
    return replace(parts, **tables)


def _rising(classes: Array) -> bool:
    try:
        return all(a < b for a, b in pairwise(classes.tolist()))
    except TypeError:
        return False


def _check_shape(name: str, table: Any, shape: tuple[int, ...]) -> None:
    if table.shape != shape:
        raise ValueError(f"{name} must have shape {shape}. Got {table.shape}.")


def _check_counts(name: str, table: Any, shape: tuple[int, ...]) -> None:
    _check_shape(name, table, shape)
    values = table.data if sparse.issparse(table) else table
    # NaN fails both comparisons; reductions need no temporary of K * m bytes.
    if values.size and not (values.min() >= 0 and values.max() < np.inf):
        raise ValueError(f"{name} must hold finite numbers >= 0.")


def _check_categories(n_categories: Array | None, width: int) -> None:
    if n_categories is None or n_categories.ndim != 1:
        raise ValueError("kind='category' needs n_categories (m,).")
    exact = [int(size) for size in n_categories.tolist()]
    if any(size < 1 for size in exact) or sum(exact) != width:
        raise ValueError(
            "n_categories must be integers >= 1 that add up to the columns of "
            f"feature_count, {width} in all."
        )
