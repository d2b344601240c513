"""Adding and subtracting tables of class counts.

Tables are aligned by class and by feature name first; the arithmetic is then the plain
sum or difference, and for moments the formula of Chan, Golub and LeVeque.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bayesieve import _core
from bayesieve.counts._layout import (
    category_offsets,
    is_dense_layout,
    laid_out,
    same_labels,
)
from bayesieve.counts._rounding import RELATIVE_RESIDUE, flush_rounding, rest_of
from bayesieve.sequences._key_names import KeyNames
from bayesieve.text._term_names import TermNames
from bayesieve.utils._arrays import Array
from bayesieve.utils._packed_names import PackedNames
from bayesieve.utils._validation import describe_column

if TYPE_CHECKING:
    from bayesieve.counts._table import ClassCounts

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
    names: Array | PackedNames | None
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


def _union(a: ClassCounts, b: ClassCounts) -> Alignment:
    """Align two tables in one that has the classes and features of both."""
    _check_combinable(a, b)
    classes = union_classes(a.classes, b.classes)
    names, columns_a, columns_b = _union_names(a, b)
    return Alignment(
        classes,
        names,
        a.n_features if names is None else len(names),
        class_rows(a.classes, classes),
        class_rows(b.classes, classes),
        columns_b,
        columns_a,
    )


def _within(a: ClassCounts, b: ClassCounts) -> Alignment:
    """Align b inside a, whose classes and features must include b's."""
    _check_combinable(a, b)
    rows = class_rows(b.classes, a.classes)
    if (rows < 0).any():
        label = b.classes.tolist()[int(np.argmax(rows < 0))]
        raise ValueError(
            "Counts can only be subtracted from counts that include their classes. "
            f"Got the class {label!r} on the right only."
        )
    own = np.arange(a.classes.size)
    columns = _columns_within(a, b)
    return Alignment(a.classes, a.feature_names, a.n_features, own, rows, columns)


def _check_combinable(a: ClassCounts, b: ClassCounts) -> None:
    if a.kind != b.kind:
        raise ValueError(
            "Class counts can only be combined when they are of the same kind. "
            f"Got {a.kind!r} and {b.kind!r}."
        )
    if a.copies is not b.copies and not (a.copies and a.copies.is_same(b.copies)):
        raise ValueError(
            "Class counts whose copies were merged can only be combined with counts of "
            "the same columns: features that are copies in one part may not be in "
            "another. Hint: count all files in one call, or without merge_copies."
        )
    least = max(a.least_rows, b.least_rows)
    if least > 1:
        raise ValueError(
            "Class counts that lack rare features cannot be added or subtracted: what "
            "is rare in one part may not be in all. Got counts without features in "
            f"fewer than {least} rows. Hint: count with min_df=1, and leave rare "
            "features out afterwards, or count all files in one call."
        )
    windows = [own.feature_names for own in (a, b)]
    told = [own.spelling for own in windows if isinstance(own, KeyNames)]
    if len(told) == 2 and told[0] != told[1]:
        raise ValueError(
            "Class counts can only be combined when their windows are the same. Got "
            f"{told[0]} and {told[1]}."
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


def _packed_pair(
    a: ClassCounts, b: ClassCounts
) -> tuple[PackedNames, PackedNames] | None:
    """Return the names of both as sorted ones, packed alike, if one is packed."""
    pair: list[Any] = [a.feature_names, b.feature_names]
    if a.kind not in ("count", "binary"):
        return None
    if not any(isinstance(names, PackedNames) for names in pair):
        return None
    first, second = pair
    if not (isinstance(first, PackedNames) and isinstance(second, PackedNames)):
        alike = False
    else:
        alike = first.is_like(second)
    if not alike:
        first, second = (
            names
            if isinstance(names, TermNames)
            else TermNames.from_strings(names.tolist())
            for names in pair
        )
    return (first, second) if first.is_sorted and second.is_sorted else None


def _name_ranks(names: Any) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for column, name in enumerate(names.tolist()):
        if ranks.setdefault(name, column) != column:
            raise ValueError(
                "Feature names must be distinct to be matched by name. "
                f"Got {name!r} twice."
            )
    return ranks


def _union_names(
    a: ClassCounts, b: ClassCounts
) -> tuple[Array | PackedNames | None, Array | None, Array | None]:
    """Return the names of both, and where the columns of both are among them."""
    if same_labels(a.feature_names, b.feature_names):
        return a.feature_names, None, None
    pair = _packed_pair(a, b)
    if pair is not None:
        return pair[0].merged(pair[1])
    ranks, others = _name_ranks(a.feature_names), _name_ranks(b.feature_names)
    if a.kind in ("moments", "category") and ranks.keys() != others.keys():
        example = next(
            (name for name in others if name not in ranks),
            next((name for name in ranks if name not in others), None),
        )
        raise ValueError(
            f"Counts of kind {a.kind!r} can only be combined when both have the "
            "same features, because an absent column is not a zero. "
            f"Got {example!r} on one side only."
        )
    columns = [ranks.setdefault(name, len(ranks)) for name in others]
    names = np.empty(len(ranks), dtype=object)
    names[:] = list(ranks)
    return names, None, np.array(columns, dtype=np.int64)


def _columns_within(a: ClassCounts, b: ClassCounts) -> Array | None:
    """Return where the features of b are among those of a; None at the same places."""
    if same_labels(a.feature_names, b.feature_names):
        return None
    pair = _packed_pair(a, b)
    if pair is not None:
        union, own, columns = pair[0].merged(pair[1])
        if len(union) != a.n_features:
            known = np.zeros(len(union), dtype=bool)
            known[own] = True
            _refuse_name(pair[1][int(np.argmin(known[columns]))])
        return columns
    ranks, others = _name_ranks(a.feature_names), _name_ranks(b.feature_names)
    for name in others:
        if name not in ranks:
            _refuse_name(name)
    if a.kind in ("moments", "category") and len(others) != len(ranks):
        missing = next(name for name in ranks if name not in others)
        raise ValueError(
            f"Counts of kind {a.kind!r} can only be subtracted when both have the "
            f"same features. Got {missing!r} on the left only."
        )
    return np.array([ranks[name] for name in others], dtype=np.int64)


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
    columns: tuple[Array | None, Array | None],
    width: int,
) -> Any:
    shape = (align.classes.size, width)
    columns_a, columns_b = columns
    if columns_a is not None and columns_b is not None and align.columns_a is columns_a:
        # Packed names: the native merge of columns.
        a, b = (
            place(table, rows, None, (shape[0], table.shape[1]))
            if table.shape[0] != shape[0]
            else table
            for table, rows in ((a, align.rows_a), (b, align.rows_b))
        )
        return _merged_columns(a, columns_a, b, columns_b, width)
    if is_dense_layout(*shape):
        out = place(a, align.rows_a, columns_a, shape)
        _add_into(out, b, align.rows_b, columns_b)
        return out
    return laid_out(
        place(a, align.rows_a, columns_a, shape)
        + place(b, align.rows_b, columns_b, shape)
    )


def _merged_columns(a: Any, own: Array, b: Any, others: Array, width: int) -> Any:
    """Add tables with the same rows, whose columns rise in a table of so many."""
    dense = not sparse.issparse(a) and not sparse.issparse(b)
    if dense and is_dense_layout(a.shape[0], width):
        return _core.merge_named_tables(a, own, b, others, width)
    moved = []
    for table, column in ((a, own), (b, others)):
        csc = sparse.csc_array(table)
        entries = np.zeros(width + 1, dtype=csc.indptr.dtype)
        entries[column + 1] = np.diff(csc.indptr)
        wide = (csc.data, csc.indices, np.cumsum(entries, dtype=csc.indptr.dtype))
        moved.append(sparse.csc_array(wide, shape=(table.shape[0], width)))
    return laid_out(moved[0] + moved[1])


def _spread(values: Array, rows: Array, size: int) -> Array:
    out = np.zeros(size)
    out[rows] = values
    return out


def add(a: ClassCounts, b: ClassCounts) -> ClassCounts:
    """Return the counts of both sets of rows together."""
    align = _union(a, b)
    n_classes, width = align.classes.size, align.n_features
    n_a = _spread(a.class_count, align.rows_a, n_classes)
    n_b = _spread(b.class_count, align.rows_b, n_classes)
    columns = align.columns_a, align.columns_b
    documents = None
    if a.document_count is not None and b.document_count is not None:
        documents = _added(a.document_count, b.document_count, align, columns, width)
    tables: dict[str, Any] = {}
    if a.kind == "moments":
        mean, squares = _chan(*_moment_tables(a, b, align), n_a, n_b)
        tables = {"mean": mean, "centred_squares": squares}
    else:
        if a.n_categories is not None and b.n_categories is not None:
            sizes = a.n_categories.copy()
            into: Any = slice(None) if columns[1] is None else columns[1]
            sizes[into] = np.maximum(sizes[into], b.n_categories)
            columns = (
                _flat_columns(a.n_categories, None, sizes),
                _flat_columns(b.n_categories, columns[1], sizes),
            )
            tables["n_categories"], width = sizes, int(sizes.sum())
        tables["feature_count"] = _added(
            a.feature_count, b.feature_count, align, columns, width
        )
    return a._with(
        classes=align.classes,
        class_count=n_a + n_b,
        feature_names=align.names,
        document_count=documents,
        **tables,
    )


def _moment_tables(
    a: ClassCounts, b: ClassCounts, align: Alignment
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


def subtract(a: ClassCounts, b: ClassCounts) -> ClassCounts:
    """Return the counts of a's rows without b's, which must be among them."""
    align = _within(a, b)
    n_b = _spread(b.class_count, align.rows_b, a.classes.size)
    left = _difference("class_count", a.class_count[:, None], n_b[:, None], a)[:, 0]
    tables: dict[str, Any] = {"class_count": left, "document_count": None}
    if a.document_count is not None and b.document_count is not None:
        tables["document_count"] = _taken(
            "document_count", a, b, align, align.columns_b
        )
    if a.kind == "moments":
        mean, squares = _unchan(*_moment_tables(a, b, align), a.class_count, n_b, left)
        return a._with(mean=mean, centred_squares=squares, **tables)
    columns = align.columns_b
    if a.n_categories is not None and b.n_categories is not None:
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
    return a._with(feature_count=table, **tables)


def _taken(
    field: str, a: ClassCounts, b: ClassCounts, align: Alignment, columns: Array | None
) -> Any:
    table = getattr(a, field)
    moved = place(getattr(b, field), align.rows_b, columns, table.shape)
    return _difference(field, table, moved, a)


def _difference(field: str, a: Any, b: Any, owner: ClassCounts) -> Any:
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
    field: str, a: Any, b: Any, owner: ClassCounts, row: int, column: int
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
