"""Adding and subtracting tables of class counts.

Tables are aligned by class and by feature name first; the arithmetic is then the plain
sum or difference, and for moments the formula of Chan, Golub and LeVeque.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.counts._parts import (
    RELATIVE_RESIDUE,
    Array,
    Parts,
    category_offsets,
    flush_rounding,
    is_dense_layout,
    laid_out,
    rest_of,
    same_labels,
)
from bayesieve.counts._term_names import TermNames
from bayesieve.text._counts import merged_tables
from bayesieve.utils._validation import describe_column

# Rounding of a class mean, as a share of it: half a unit in the last place for each
# merge, of either sign, adds up to this after some five thousand. And of centred
# squares, as a share of the terms they are the difference of: sums of rows, whose
# roundings add up to this at some ten million rows.
MEAN_ROUNDING = 32 * np.finfo(np.float64).eps
SQUARES_ROUNDING = 256 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Alignment:
    """Where the classes and columns of two tables go in a common one.

    `columns_a` and `columns_b` are None when the columns are the first ones of the
    common table.
    """

    classes: Array
    names: Array | TermNames | None
    n_features: int
    rows_a: Array
    rows_b: Array
    columns_b: Array | None
    columns_a: Array | None = None


# --------------------------------------------------------------------------- alignment


def _label_family(classes: Array) -> str:
    """Say what kind of labels these are: text, numbers or truth values."""
    return {"b": "bool", "i": "number", "u": "number", "f": "number"}.get(
        classes.dtype.kind, "text"
    )


def union_classes(a: Array, b: Array) -> Array:
    """Return the sorted union of two sets of classes."""
    if same_labels(a, b) and a.dtype.kind == b.dtype.kind:
        return a
    if a.size == 0 or b.size == 0:
        return b if a.size == 0 else a
    if _label_family(a) != _label_family(b):
        raise ValueError(
            "Class counts can only be combined when their classes are of one kind. "
            f"Got {_label_family(a)} ({a.tolist()[0]!r}) and "
            f"{_label_family(b)} ({b.tolist()[0]!r})."
        )
    if object in (a.dtype, b.dtype):
        merged = sorted(set(a.tolist()) | set(b.tolist()))
        result = np.empty(len(merged), dtype=object)
        result[:] = merged
        return result
    return np.asarray(np.union1d(a, b))


def class_rows(part: Array, whole: Array) -> Array:
    """Return the position of each class of `part` in `whole`; -1 if missing."""
    rank = {label: row for row, label in enumerate(whole.tolist())}
    return np.array([rank.get(label, -1) for label in part.tolist()], dtype=np.int64)


def _name_ranks(names: Array) -> dict[str, int]:
    ranks = {name: column for column, name in enumerate(names.tolist())}
    if len(ranks) != names.size:
        seen: set[str] = set()
        for name in names.tolist():
            if name in seen:
                raise ValueError(
                    "Feature names must be distinct to be matched by name. "
                    f"Got {name!r} twice."
                )
            seen.add(name)
    return ranks


def _check_combinable(a: Parts, b: Parts) -> None:
    if a.kind != b.kind:
        raise ValueError(
            "Class counts can only be combined when they are of the same kind. "
            f"Got {a.kind!r} and {b.kind!r}."
        )
    if (a.feature_names is None) != (b.feature_names is None):
        named, other = (
            ("left", "right") if b.feature_names is None else ("right", "left")
        )
        raise ValueError(
            "Class counts can only be combined when both have feature names or "
            f"neither has. Got names on the {named} and none on the {other}. "
            "Hint: pass feature_names when counting."
        )
    if a.feature_names is None and a.n_features != b.n_features:
        raise ValueError(
            "Class counts without feature names must have the same number of "
            f"features. Got {a.n_features} and {b.n_features}."
        )


def _packed_pair(a: Parts, b: Parts) -> tuple[TermNames, TermNames] | None:
    """Return the names of both as sorted packed ones, if one of them is packed."""
    if not any(isinstance(part.feature_names, TermNames) for part in (a, b)):
        return None
    if a.kind not in ("count", "binary"):
        return None
    pair = []
    for part in (a, b):
        names: Any = part.feature_names
        if not isinstance(names, TermNames):
            names = TermNames.from_strings(names.tolist())
        if not names.is_sorted:
            return None
        pair.append(names)
    return pair[0], pair[1]


def _unpacked(parts: Parts) -> Parts:
    """Return the parts with names that are an ordinary array."""
    if isinstance(parts.feature_names, TermNames):
        return replace(parts, feature_names=parts.feature_names.to_numpy())
    return parts


def _packed_union(a: Parts, b: Parts, names: tuple[TermNames, TermNames]) -> Alignment:
    union, columns_a, columns_b = TermNames.merge(*names)
    classes = union_classes(a.classes, b.classes)
    return Alignment(
        classes,
        union,
        len(union),
        class_rows(a.classes, classes),
        class_rows(b.classes, classes),
        columns_b,
        columns_a,
    )


def _union(a: Parts, b: Parts) -> Alignment:
    _check_combinable(a, b)
    if not same_labels(a.feature_names, b.feature_names):
        pair = _packed_pair(a, b)
        if pair is not None:
            return _packed_union(a, b, pair)
        a, b = _unpacked(a), _unpacked(b)
    classes = union_classes(a.classes, b.classes)
    names, columns = a.feature_names, None
    if names is not None and not same_labels(names, b.feature_names):
        assert isinstance(names, np.ndarray)
        assert isinstance(b.feature_names, np.ndarray)  # checked above
        ranks = _name_ranks(names)
        _name_ranks(b.feature_names)
        extra = [name for name in b.feature_names.tolist() if name not in ranks]
        missing = b.n_features - len(extra) < a.n_features
        if a.kind in ("moments", "category") and (extra or missing):
            example = extra[0] if extra else _first_missing(names, b.feature_names)
            raise ValueError(
                f"Counts of kind {a.kind!r} can only be combined when both have the "
                "same features, because an absent column is not a zero. "
                f"Got {example!r} on one side only."
            )
        for name in extra:
            ranks[name] = len(ranks)
        columns = np.array(
            [ranks[name] for name in b.feature_names.tolist()], dtype=np.int64
        )
        if extra:
            names = np.empty(len(ranks), dtype=object)
            names[:] = list(ranks)
    return Alignment(
        classes,
        names,
        a.n_features if names is None else len(names),
        class_rows(a.classes, classes),
        class_rows(b.classes, classes),
        columns,
    )


def _first_missing(names: Array, others: Array) -> str:
    present = set(others.tolist())
    return next(str(name) for name in names.tolist() if name not in present)


def _within(a: Parts, b: Parts) -> Alignment:
    """Align b inside a, whose classes and features must include b's."""
    _check_combinable(a, b)
    rows = class_rows(b.classes, a.classes)
    if (rows < 0).any():
        label = b.classes.tolist()[int(np.argmax(rows < 0))]
        raise ValueError(
            "Counts can only be subtracted from counts that include their classes. "
            f"Got the class {label!r} on the right only."
        )
    columns = None
    same = a.feature_names is None or same_labels(a.feature_names, b.feature_names)
    pair = None if same else _packed_pair(a, b)
    if pair is not None:
        columns = _packed_columns(*pair)
    elif not same:
        a, b = _unpacked(a), _unpacked(b)
        assert isinstance(a.feature_names, np.ndarray)
        assert isinstance(b.feature_names, np.ndarray)  # checked above
        ranks = _name_ranks(a.feature_names)
        _name_ranks(b.feature_names)
        for name in b.feature_names.tolist():
            if name not in ranks:
                _refuse_name(name)
        columns = np.array(
            [ranks[name] for name in b.feature_names.tolist()], dtype=np.int64
        )
        if a.kind in ("moments", "category") and columns.size != a.n_features:
            missing = _first_missing(a.feature_names, b.feature_names)
            raise ValueError(
                f"Counts of kind {a.kind!r} can only be subtracted when both have the "
                f"same features. Got {missing!r} on the left only."
            )
    own = np.arange(a.classes.size)
    return Alignment(a.classes, a.feature_names, a.n_features, own, rows, columns)


def _packed_columns(names: TermNames, part: TermNames) -> Array:
    """Return where the names of a part are among the names."""
    union, own, columns = TermNames.merge(names, part)
    if len(union) != len(names):
        known = np.zeros(len(union), dtype=bool)
        known[own] = True
        _refuse_name(part[int(np.argmin(known[columns]))])
    return columns


def _refuse_name(name: str) -> None:
    raise ValueError(
        "Counts can only be subtracted from counts that include their features. Got "
        f"the feature {name!r} on the right only."
    )


def _flat_columns(sizes: Array, columns: Array | None, common: Array) -> Array:
    """Return where the flat (feature, code) columns go in a table of `common` sizes."""
    target = category_offsets(common)[:-1]
    if columns is not None:
        target = target[columns]
    shift = target - category_offsets(sizes)[:-1]
    return np.repeat(shift, sizes) + np.arange(int(sizes.sum()))


# --------------------------------------------------------------------------- arithmetic


def place(
    table: Any, rows: Array, columns: Array | None, shape: tuple[int, int]
) -> Any:
    """Return a table with its rows and columns moved into a larger table of zeros."""
    if is_dense_layout(*shape):
        out = np.zeros(shape)  # K * m * 8 bytes: the result itself
        _add_into(out, table, rows, columns)
        return out
    coo = sparse.coo_array(table)
    moved = coo.col if columns is None else columns[coo.col]
    return laid_out(sparse.coo_array((coo.data, (rows[coo.row], moved)), shape=shape))


def _add_into(
    out: Array, table: Any, rows: Array, columns: Array | None, sign: float = 1.0
) -> None:
    """Add (or take away) a table whose rows and columns are distinct in `out`."""
    if sparse.issparse(table):
        coo = table.tocoo()
        moved = coo.col if columns is None else columns[coo.col]
        out[rows[coo.row], moved] += sign * coo.data
        return
    for source, row in zip(table, rows, strict=True):
        target = out[row]
        where: Any = slice(0, source.size) if columns is None else columns
        if sign > 0:
            target[where] += source
        else:
            target[where] -= source


def _added(
    a: Any,
    b: Any,
    align: Alignment,
    columns_a: Array | None,
    columns_b: Array | None,
    width: int,
) -> Any:
    shape = (align.classes.size, width)
    if (
        columns_a is not None and align.columns_a is columns_a
    ):  # packed names: the native merge of columns
        a, b = (
            place(table, rows, None, (shape[0], table.shape[1]))
            if table.shape[0] != shape[0]
            else table
            for table, rows in ((a, align.rows_a), (b, align.rows_b))
        )
        assert columns_b is not None  # packed names have columns on both sides
        return merged_tables(a, columns_a, b, columns_b, width)
    if is_dense_layout(*shape):
        out = place(a, align.rows_a, columns_a, shape)
        _add_into(out, b, align.rows_b, columns_b)
        return out
    return laid_out(
        place(a, align.rows_a, columns_a, shape)
        + place(b, align.rows_b, columns_b, shape)
    )


def _spread(values: Array, rows: Array, size: int) -> Array:
    out = np.zeros(size)
    out[rows] = values
    return out


def add(a: Parts, b: Parts) -> Parts:
    """Return the counts of both sets of rows together."""
    align = _union(a, b)
    n_classes = align.classes.size
    n_a = _spread(a.class_count, align.rows_a, n_classes)
    n_b = _spread(b.class_count, align.rows_b, n_classes)
    result = Parts(align.classes, n_a + n_b, a.kind, feature_names=align.names)
    width = align.n_features
    if a.document_count is not None and b.document_count is not None:
        documents = _added(
            a.document_count,
            b.document_count,
            align,
            align.columns_a,
            align.columns_b,
            width,
        )
        result = replace(result, document_count=documents)
    if a.kind == "moments":
        mean, squares = _chan(*_moment_tables(a, b, align), n_a, n_b)
        return replace(result, mean=mean, centred_squares=squares)
    columns_a, columns_b = align.columns_a, align.columns_b
    if a.kind == "category":
        assert a.n_categories is not None  # by kind
        assert b.n_categories is not None
        sizes = a.n_categories.copy()
        into: Any = slice(None) if columns_b is None else columns_b
        sizes[into] = np.maximum(sizes[into], b.n_categories)
        columns_a = _flat_columns(a.n_categories, None, sizes)
        columns_b = _flat_columns(b.n_categories, align.columns_b, sizes)
        result = replace(result, n_categories=sizes)
        width = int(sizes.sum())
    table = _added(a.feature_count, b.feature_count, align, columns_a, columns_b, width)
    return replace(result, feature_count=table)


def _moment_tables(
    a: Parts, b: Parts, align: Alignment
) -> tuple[Array, Array, Array, Array]:
    shape = (align.classes.size, align.n_features)
    tables = []
    for part, rows, columns in (
        (a, align.rows_a, None),
        (b, align.rows_b, align.columns_b),
    ):
        for table in (part.mean, part.centred_squares):
            assert table is not None  # by kind
            out = np.zeros(shape)
            _add_into(out, table, rows, columns)
            tables.append(out)
    return tables[0], tables[1], tables[2], tables[3]


def _chan(
    mean_a: Array,
    squares_a: Array,
    mean_b: Array,
    squares_b: Array,
    n_a: Array,
    n_b: Array,
) -> tuple[Array, Array]:
    """Merge: S = S_a + S_b + (mean_b - mean_a)^2 n_a n_b / n."""
    n = n_a + n_b
    share = (n_b / np.where(n > 0, n, 1.0))[:, None]
    difference = mean_b - mean_a
    mean = mean_a + difference * share
    squares = squares_a + squares_b + difference**2 * (n_a[:, None] * share)
    return mean, flush_rounding(squares, n, mean)


def _unchan(
    mean_a: Array,
    squares_a: Array,
    mean_b: Array,
    squares_b: Array,
    n_a: Array,
    n_b: Array,
    n: Array,
) -> tuple[Array, Array]:
    """Undo a merge: the rest r, of weight n, of a without b.

    From S_a = S_r + S_b + (mean_r - mean_b)^2 n_r n_b / n_a. The squares are known to
    the rounding of the terms: a few units of their own size, and what the rounding of
    the means makes of the last. With d = mean_a - mean_b known to e, that is
    (2 |d| e + e^2) n_a n_b / n_r, which does not grow with the square of the mean.
    """
    left = (n > 0)[:, None]
    safe = np.where(left[:, 0], n, 1.0)[:, None]
    difference = mean_a - mean_b  # equals (mean_r - mean_b) n_r / n_a
    mean = np.where(left, mean_a + difference * n_b[:, None] / safe, 0.0)
    lever = (n_a * n_b)[:, None] / safe
    between = difference**2 * lever
    squares = np.where(left, squares_a - squares_b - between, 0.0)
    terms = squares_a + squares_b + between
    error = MEAN_ROUNDING * (np.abs(mean_a) + np.abs(mean_b))
    shaken = (2.0 * np.abs(difference) + error) * error * lever
    wrong = left & (squares < -RELATIVE_RESIDUE * terms - shaken)
    if wrong.any():
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            "Counts can only be subtracted from counts they are part of. Got centred "
            f"squares {float(squares_b[row, column])!r} to take from "
            f"{float(squares_a[row, column])!r} in column {column}."
        )
    squares[squares <= SQUARES_ROUNDING * terms + shaken] = 0.0
    flush_rounding(squares, n, mean)
    _level_means(mean, squares, error * n_a[:, None] / safe, n)
    return mean, squares


def _level_means(mean: Array, squares: Array, error: Array, n: Array) -> None:
    """Give classes without spread whose means agree to their rounding one mean.

    A column that is constant over all rows left must have no variance between classes.
    """
    rows = np.flatnonzero(n > 0)
    columns = np.flatnonzero(~squares.any(axis=0))
    if not rows.size or not columns.size:
        return
    own = mean[np.ix_(rows, columns)]
    apart = own.max(axis=0) - own.min(axis=0)
    same = columns[apart <= 2.0 * error[np.ix_(rows, columns)].max(axis=0)]
    mean[np.ix_(rows, same)] = mean[np.argmax(n), same]


def subtract(a: Parts, b: Parts) -> Parts:
    """Return the counts of a's rows without b's, which must be among them."""
    align = _within(a, b)
    n_b = _spread(b.class_count, align.rows_b, a.classes.size)
    left = _difference("class_count", a.class_count[:, None], n_b[:, None], a)[:, 0]
    result = replace(a, class_count=left, document_count=None)
    if a.document_count is not None and b.document_count is not None:
        documents = _taken("document_count", a, b, align, align.columns_b)
        result = replace(result, document_count=documents)
    if a.kind == "moments":
        mean, squares = _unchan(*_moment_tables(a, b, align), a.class_count, n_b, left)
        return replace(result, mean=mean, centred_squares=squares)
    columns = align.columns_b
    if a.kind == "category":
        assert a.n_categories is not None  # by kind
        assert b.n_categories is not None
        own = a.n_categories if columns is None else a.n_categories[columns]
        if (b.n_categories > own).any():
            column = int(np.argmax(b.n_categories > own))
            raise ValueError(
                "Counts can only be subtracted from counts that include their "
                f"categories. Got {b.n_categories[column]} categories in "
                f"{describe_column(column, b.feature_names)} on the right, "
                f"{own[column]} on the left."
            )
        columns = _flat_columns(b.n_categories, columns, a.n_categories)
    table = _taken("feature_count", a, b, align, columns)
    if a.kind == "binary":  # no more rows have a feature than there are
        if sparse.issparse(table):
            np.minimum(table.data, left[table.indices], out=table.data)
            table.eliminate_zeros()
        else:
            np.minimum(table, left[:, None], out=table)
    return replace(result, feature_count=table)


def _taken(
    field: str, a: Parts, b: Parts, align: Alignment, columns: Array | None
) -> Any:
    table = getattr(a, field)
    moved = place(getattr(b, field), align.rows_b, columns, table.shape)
    return _difference(field, table, moved, a)


def _difference(field: str, a: Any, b: Any, owner: Parts) -> Any:
    """Return a - b without residue of rounding; a clearly larger b is an error."""
    if not sparse.issparse(a):
        result = rest_of(a, b)
        if result.size and result.min() < 0:
            wrong = np.argwhere(-result > RELATIVE_RESIDUE * b)
            if wrong.size:
                row, column = (int(i) for i in wrong[0])
                _refuse_difference(field, a, b, owner, row, column)
            np.maximum(result, 0.0, out=result)
        return result
    difference = sparse.csc_array(a - b)
    largest = RELATIVE_RESIDUE * (float(a.data.max()) if a.nnz else 0.0)
    near = np.flatnonzero(difference.data <= largest)
    if near.size:
        columns = np.searchsorted(difference.indptr, near, side="right") - 1
        where = difference.indices[near], columns
        whole, part = (np.asarray(table.tocsr()[where]).ravel() for table in (a, b))
        rest = rest_of(whole, part)
        above = np.flatnonzero(-rest > RELATIVE_RESIDUE * part)
        if above.size:
            row, column = (int(axis[above[0]]) for axis in where)
            _refuse_difference(field, a, b, owner, row, column)
        difference.data[near] = np.maximum(rest, 0.0)
    return laid_out(difference)


def _refuse_difference(
    field: str, a: Any, b: Any, owner: Parts, row: int, column: int
) -> None:
    where = f"class {owner.classes.tolist()[row]!r}"
    if field != "class_count":
        feature = column
        if owner.n_categories is not None and field == "feature_count":
            offsets = category_offsets(owner.n_categories)
            feature = int(np.searchsorted(offsets, column, side="right")) - 1
        where += f", {describe_column(feature, owner.feature_names)}"
    raise ValueError(
        "Counts can only be subtracted from counts they are part of. Got "
        f"{field} {float(b[row, column])!r} to take from {float(a[row, column])!r} "
        f"({where})."
    )
