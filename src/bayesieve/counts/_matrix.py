"""From a matrix and class codes to a table of class counts, one function per kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np
from scipy import sparse

from bayesieve.counts import _kernels as kernels
from bayesieve.counts._layout import KINDS, Kind, category_offsets, is_dense_layout
from bayesieve.counts._rounding import flush_rounding, rest_of
from bayesieve.utils._arrays import Array
from bayesieve.utils._sparse_structure import refuse_malformed
from bayesieve.utils._validation import (
    as_matrix,
    check_names,
    check_weights,
    describe_column,
    encode_labels,
)

if TYPE_CHECKING:
    from bayesieve.counts._table import ClassCounts

#: A table of categories may have this many columns: 2 GB for each class.
MOST_CATEGORIES = 1 << 28


@dataclass(frozen=True)
class CountRule:
    """What is counted of a matrix; the parameters of `ClassCounts.from_matrix`."""

    kind: Kind = "count"
    binarize: float | None = 0.0
    min_categories: Any = None

    @classmethod
    def checked(
        cls,
        kind: str | None,
        binary: bool,
        binarize: float | None = 0.0,
        min_categories: Any = None,
    ) -> CountRule:
        """Return the rule asked for; options of another kind are refused."""
        if kind is None:
            kind = "binary" if binary else "count"
        if kind not in KINDS:
            allowed = ", ".join(repr(name) for name in KINDS)
            raise ValueError(
                f"The 'kind' parameter must be one of {allowed}. Got {kind!r}."
            )
        if binary and kind != "binary":
            raise ValueError(
                f"binary=True means kind='binary'. Got kind={kind!r} as well."
            )
        for name, value, given, owner in (
            ("binarize", binarize, binarize != 0.0, "binary"),
            ("min_categories", min_categories, min_categories is not None, "category"),
        ):
            if given and owner != kind:
                raise ValueError(
                    f"The {name!r} parameter is for kind={owner!r} only. "
                    f"Got {name}={value!r} with kind={kind!r}."
                )
        return cls(cast(Kind, kind), binarize, min_categories)

    @property
    def value_check(self) -> tuple[int, float]:
        """The kernels' check of counts or presences, and the threshold."""
        if self.kind == "count":
            return kernels.NON_NEGATIVE, 0.0
        if self.binarize is None:
            return kernels.ZERO_ONE, 0.0
        if np.isnan(self.binarize):
            raise ValueError("The 'binarize' parameter must be a number. Got NaN.")
        return kernels.PRESENCE, float(self.binarize)


def count_labelled(
    cls: type[ClassCounts],
    X: Any,
    y: Any,
    sample_weight: Any,
    rule: CountRule,
    classes: Any,
    feature_names: Any,
) -> ClassCounts:
    """Validate a matrix with its labels and weights, and count it."""
    matrix, names = as_matrix(X)
    if feature_names is not None:
        names = check_names(feature_names, matrix.shape[1])
    if matrix.shape[0] == 0:
        raise ValueError(
            f"X must have at least one row. Got 0 sample(s) (shape={matrix.shape})."
        )
    found, codes = encode_labels(y, classes)
    check_length(codes, matrix)
    weights = check_weights(sample_weight, matrix.shape[0])
    return count_coded(cls, matrix, codes, found, weights, rule, names)


def check_length(codes: Any, matrix: Any) -> None:
    """Refuse labels that do not match the rows one to one."""
    if codes.shape[0] != matrix.shape[0]:
        raise ValueError(
            f"y must have one label per row of X, {matrix.shape[0]} in all. "
            f"Got {codes.shape[0]}."
        )


def count_coded(
    cls: type[ClassCounts],
    X: Any,
    codes: Array,
    classes: Array,
    weights: Array | None,
    rule: CountRule,
    names: Array | None,
) -> ClassCounts:
    """Count a matrix whose shapes and labels are known to be right."""
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    counted = class_weights(codes, weights, len(classes))
    tables: dict[str, Any]
    if rule.kind == "moments":
        tables = _moments(X, codes, weights, counted, names)
    elif rule.kind == "category":
        tables = _categories(X, codes, weights, counted, names, rule.min_categories)
    else:
        tables = {"feature_count": _sums(X, codes, weights, len(classes), rule, names)}
    return cls._of(classes, counted, rule.kind, feature_names=names, **tables)


def class_weights(
    codes: Array, weights: Array | None, n_classes: int, out: Array | None = None
) -> Array:
    """Return the total weight of each class, added to `out` in row order."""
    total = np.zeros(n_classes) if out is None else out
    if weights is None:
        total += np.bincount(codes, minlength=n_classes)
    else:
        np.add.at(total, codes, weights)
    return total


# --------------------------------------------------------------------------- sums


def canonical(X: Any) -> Any:
    """Return a sparse matrix without duplicate entries, as a copy if there are any."""
    if not sparse.issparse(X):
        return X
    refuse_malformed(X, counted=True)
    if not kernels.has_duplicates(X):
        return X
    # Summed in a type that holds the sums: 100 + 100 is no byte.
    kind = np.float64 if X.dtype.kind == "f" else np.int64
    result = X.copy() if X.dtype == np.uint64 else X.astype(kind, copy=True)
    refuse_malformed(result)  # a copy that nobody else can change
    result.sum_duplicates()
    return result


def add_sums(
    X: Any,
    codes: Array,
    weights: Array | None,
    rule: CountRule,
    names: Array | None,
    out: Array,
) -> None:
    """Add class sums to a dense table; after an error its content is undefined."""
    check, level = rule.value_check
    X = canonical(_prepared(X, check, level))  # no second look once `out` has changed
    position = kernels.class_sums(X, codes, weights, out, check, level)
    if position is not None:
        refuse_value(X, position, check, names)
    _refuse_overflow(out)


def _prepared(X: Any, check: int, level: float) -> Any:
    """Sum duplicates where a single stored entry is not yet the value of its cell."""
    if check == kernels.NON_NEGATIVE or not sparse.issparse(X):
        return X
    if check == kernels.PRESENCE and level < 0:
        raise ValueError(
            "The 'binarize' parameter must be >= 0 for sparse input, because every "
            f"absent entry would count. Got {level!r}."
        )
    return canonical(X)


def _sums(
    X: Any,
    codes: Array,
    weights: Array | None,
    n_classes: int,
    rule: CountRule,
    names: Array | None,
) -> Any:
    check, level = rule.value_check
    X = _prepared(X, check, level)
    table, position = _sums_once(X, codes, weights, n_classes, check, level)
    if position is not None:
        clean = canonical(X)
        if clean is X:
            refuse_value(X, position, check, names)
        # A negative duplicate may belong to a cell whose total is not negative.
        table, position = _sums_once(clean, codes, weights, n_classes, check, level)
        if position is not None:
            refuse_value(clean, position, check, names)
    _refuse_overflow(table)
    return table


def _sums_once(
    X: Any,
    codes: Array,
    weights: Array | None,
    n_classes: int,
    check: int,
    level: float,
) -> tuple[Any, int | None]:
    if is_dense_layout(n_classes, X.shape[1]):
        out = np.zeros((n_classes, X.shape[1]))  # at most 800 MB unless K = 2
        return out, kernels.class_sums(X, codes, weights, out, check, level)
    make = (
        kernels.sparse_class_sums
        if sparse.issparse(X)
        else kernels.dense_class_sums_as_sparse
    )
    return make(X, codes, weights, n_classes, check, level)


def _refuse_overflow(table: Any) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(table.sum())
    if not np.isfinite(total):
        raise ValueError(
            "The class sums overflow: their total must be a finite float64. "
            f"Got {total}. Hint: scale the values or the sample weights down."
        )


def refuse_value(
    X: Any, position: int, check: int, names: Array | None = None
) -> NoReturn:
    """Raise the error for the value at a position reported by a kernel."""
    refuse_cell(*kernels.locate(X, position), check, names)


def refuse_cell(
    row: int, column: int, value: Any, check: int, names: Array | None = None
) -> NoReturn:
    """Raise the error for a value at this place."""
    where = f"{describe_column(column, names)}, row {row}"
    needs = {
        kernels.NON_NEGATIVE: "class counts need finite values >= 0",
        kernels.FINITE: "class moments need finite values",
        kernels.PRESENCE: "class counts need finite values",
        kernels.ZERO_ONE: "binary counts without a threshold need values 0 or 1",
        kernels.CATEGORY: "category counts need integer codes 0, 1, 2, ... under 2**31",
    }[check]
    if value != value:
        found, hint = "NaN", "fill or drop missing values first"
    elif value in (np.inf, -np.inf):
        found, hint = "Infinity (inf)", "replace or drop infinite values first"
    elif check == kernels.NON_NEGATIVE:
        found = f"Negative value {value!r}"
        hint = (
            "Negative values in data cannot be counted; use a Bernoulli model "
            "(kind='binary') with a threshold, or bin the column first"
        )
    elif check == kernels.ZERO_ONE:
        found = f"Value {value!r}"
        hint = "give a threshold (binarize); every value above it counts as 1"
    elif value < 0:
        found = f"Negative value {value!r}"
        hint = "Negative values in data are no categories; encode them as 0, 1, 2"
    else:
        found, hint = f"Value {value!r}", "encode the categories as 0, 1, 2"
    raise ValueError(f"{found} found in {where}; {needs}. Hint: {hint}.")


# --------------------------------------------------------------------------- moments


def _moments(
    X: Any,
    codes: Array,
    weights: Array | None,
    counted: Array,
    names: Array | None,
) -> dict[str, Any]:
    """Return class means and centred squares by two passes, the second corrected.

    With m0 the rounded mean of the first pass and d = x - m0, the mean is
    `m0 + sum(w d) / n` and the centred squares `sum(w d^2) - sum(w d)^2 / n`.
    Memory: three (five for sparse X) tables of K * m * 8 bytes.
    """
    X = canonical(X)
    mean = np.zeros((counted.size, X.shape[1]))
    position = kernels.class_sums(X, codes, weights, mean, kernels.FINITE)
    if position is not None:
        refuse_value(X, position, kernels.FINITE, names)
    rows = np.where(counted > 0, counted, 1.0)[:, None]
    mean /= rows
    deviation, squares = np.zeros_like(mean), np.zeros_like(mean)
    with np.errstate(over="ignore", invalid="ignore"):
        if sparse.issparse(X):
            absent = np.zeros_like(mean)
            kernels.centred_sums(X, codes, weights, mean, deviation, squares, absent)
            absent = rest_of(counted[:, None], absent)
            np.maximum(absent, 0.0, out=absent)
            absent *= mean
            deviation -= absent
            absent *= mean
            squares += absent
        else:
            kernels.centred_sums(X, codes, weights, mean, deviation, squares)
        mean += deviation / rows
        squares -= deviation * deviation / rows
    for table in (mean, squares):
        _refuse_overflow(table)
    squares = flush_rounding(squares, counted, mean)
    return {"mean": mean, "centred_squares": squares}


# --------------------------------------------------------------------------- categories


def _category_sizes(X: Any, names: Array | None, min_categories: Any) -> Array:
    """Return the number of categories per column: largest code + 1, or more."""
    largest = np.zeros(X.shape[1], dtype=np.int64)
    position = kernels.column_max(X, largest)
    if position is not None:
        refuse_value(X, position, kernels.CATEGORY, names)
    sizes = largest + 1
    if float(sizes.sum()) > MOST_CATEGORIES:
        widest = int(np.argmax(sizes))
        raise ValueError(
            f"The category codes ask for {int(sizes.sum())} counts per class, more "
            f"than {MOST_CATEGORIES}; the largest is {int(largest[widest])} in "
            f"{describe_column(widest, names)}. Hint: encode the categories as 0, 1, 2."
        )
    if min_categories is None:
        return sizes
    minimum = np.asarray(min_categories)
    if minimum.dtype.kind not in "iu" or minimum.ndim > 1 or np.any(minimum < 1):
        raise ValueError(
            "The 'min_categories' parameter must be an int >= 1 or one per column. "
            f"Got {min_categories!r}."
        )
    if minimum.ndim == 1 and minimum.size != sizes.size:
        raise ValueError(
            f"The 'min_categories' parameter must have one entry per column, "
            f"{sizes.size} in all. Got {minimum.size}."
        )
    return np.asarray(np.maximum(sizes, minimum.astype(np.int64)))


def _categories(
    X: Any,
    codes: Array,
    weights: Array | None,
    counted: Array,
    names: Array | None,
    min_categories: Any,
) -> dict[str, Any]:
    """Return the weight per class, column and code, flat, and the codes per column."""
    X = canonical(X)
    sizes = _category_sizes(X, names, min_categories)
    offsets = category_offsets(sizes)
    width = int(offsets[-1])
    if not is_dense_layout(counted.size, width):
        table = _category_slots(X, codes, weights, counted, offsets)
        return {"feature_count": table, "n_categories": sizes}
    out = np.zeros((counted.size, width))
    kernels.category_sums(X, codes, weights, offsets, out)
    if sparse.issparse(X):
        # Code 0 is what no stored entry says: n_c minus the other codes of the column.
        others = np.add.reduceat(out, offsets[:-1], axis=1)
        out[:, offsets[:-1]] = np.maximum(rest_of(counted[:, None], others), 0.0)
    return {"feature_count": out, "n_categories": sizes}


def _category_slots(
    X: Any, codes: Array, weights: Array | None, counted: Array, offsets: Array
) -> Any:
    """Count categories of many classes as the class sums of the one-hot matrix.

    Memory: one index of 8 bytes per stored code, beside the result.
    """
    width = int(offsets[-1])
    if sparse.issparse(X):
        rows = X.tocsr()
        flat = offsets[rows.indices] + rows.data.astype(np.int64)
        pointers, stored = rows.indptr, rows.data != 0
    else:
        flat = (X.astype(np.int64) + offsets[:-1]).reshape(-1)
        pointers = np.arange(X.shape[0] + 1, dtype=np.int64) * X.shape[1]
        stored = np.ones(flat.size, dtype=bool)
    onehot = sparse.csr_array(
        (stored, flat, pointers.astype(np.int64)), shape=(X.shape[0], width)
    )
    table, _ = kernels.sparse_class_sums(onehot, codes, weights, counted.size)
    if not sparse.issparse(X):
        return table
    feature = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    coo = table.tocoo()
    fold = sparse.csr_array(
        (coo.data, (coo.row, feature[coo.col])),
        shape=(counted.size, offsets.size - 1),
    ).tocsc()
    # Code 0 is nearly always present: K * m cells, a block of columns at a time.
    zeros = []
    step = max(1, 1_000_000 // max(counted.size, 1))
    for first in range(0, offsets.size - 1, step):
        part = fold[:, first : first + step].toarray()
        rest = np.maximum(rest_of(counted[:, None], part), 0.0)
        zeros.append(sparse.csc_array(rest))
    zero = sparse.hstack(zeros, format="coo")
    starts = offsets[:-1]
    both = sparse.coo_array(
        (
            np.concatenate([coo.data, zero.data]),
            (
                np.concatenate([coo.row, zero.row]),
                np.concatenate([coo.col, starts[zero.col]]),
            ),
        ),
        shape=(counted.size, width),
    )
    result = both.tocsc()
    result.sum_duplicates()
    return result
