"""Input normalisation: matrices, labels, weights and names from whatever users hold.

Every function returns arrays the compiled kernels accept, never writes to its input,
and never turns a sparse matrix into a dense one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.utils._sparse_structure import native_indices, refuse_malformed

NUMERIC_KINDS = "biuf"
#: Integer labels that span less than this are encoded by counting, not by sorting.
_NARROW_RANGE = 1 << 20
_WIDE_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def describe_column(column: int, names: Any = None) -> str:
    """Name a column for an error message: its feature name if there is one."""
    if names is None:
        return f"column {column}"
    return f"feature {str(names[column])!r} (column {column})"


def native_values(values: np.ndarray) -> np.ndarray:
    """Return numeric values in a dtype the kernels read, copying only if they must."""
    dtype = values.dtype
    if dtype.kind == "f" and dtype.newbyteorder("=") not in _WIDE_FLOATS:
        return values.astype(np.float64)  # float16 and long double
    if not dtype.isnative or not values.flags.aligned:
        return values.astype(dtype.newbyteorder("="))
    return values


def check_names(names: Any, n_features: int) -> np.ndarray | None:
    """Return feature names as an object array of str, or None."""
    if names is None:
        return None
    items = list(names)
    for position, name in enumerate(items):
        if not isinstance(name, str):
            raise ValueError(
                "feature_names must be a sequence of str. Got "
                f"{type(name).__name__} {name!r} at position {position}."
            )
    if len(items) != n_features:
        raise ValueError(
            f"feature_names must have one name per column, {n_features} in all. "
            f"Got {len(items)}."
        )
    array = np.empty(len(items), dtype=object)
    array[:] = [str(name) for name in items]
    return array


# --------------------------------------------------------------------------- matrices


def as_matrix(X: Any) -> tuple[Any, np.ndarray | None]:
    """Return `X` as a dense array, CSR or CSC, with its feature names if it has any.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        Dense array-like, any SciPy sparse matrix or array, pandas or polars DataFrame.

    Returns
    -------
    matrix : ndarray, csr or csc of shape (n_samples, n_features)
        Shares memory with `X` where it can; numeric, in native byte order.
    names : ndarray of str or None
        Column names, when every one of them is a string.
    """
    names: np.ndarray | None = None
    if sparse.issparse(X):
        matrix = _sparse_matrix(X)
    elif _is_frame(X, "pandas"):
        matrix, names = _pandas_matrix(X), _string_names(X.columns)
    elif _is_frame(X, "polars"):
        matrix, names = _polars_matrix(X), _string_names(X.columns)
    else:
        matrix = _dense_matrix(X)
    if matrix.shape[1] == 0:
        raise ValueError(
            "X must have at least one column. Got 0 feature(s) "
            f"(shape={tuple(matrix.shape)})."
        )
    return matrix, names


def _is_frame(X: Any, library: str) -> bool:
    """Tell whether X is a DataFrame of a library, without importing the library."""
    module = sys.modules.get(library)
    frame = getattr(module, "DataFrame", None)
    return frame is not None and isinstance(X, frame)


def _string_names(columns: Iterable[Any]) -> np.ndarray | None:
    names = list(columns)
    if not all(isinstance(name, str) for name in names):
        return None
    return check_names(names, len(names))


def _two_dimensional(shape: Sequence[int]) -> None:
    if len(shape) != 2:
        raise ValueError(
            f"X must have two dimensions, rows and columns. Got shape {tuple(shape)}. "
            "Hint: X.reshape(-1, 1) makes a single feature, X.reshape(1, -1) a single "
            "row."
        )


def _numeric(dtype: Any) -> None:
    if np.dtype(dtype).kind not in NUMERIC_KINDS:
        raise ValueError(
            "X must hold real numbers (bool, integer or float). "
            f"Got dtype {np.dtype(dtype)}."
        )


def _sparse_matrix(X: Any) -> Any:
    _two_dimensional(X.shape)
    _numeric(X.dtype)
    refuse_malformed(X, counted=True)
    matrix = X if X.format in ("csr", "csc") else X.tocsr()
    values = native_values(matrix.data)
    indices, pointers = native_indices(matrix)
    if values is not matrix.data or indices is not matrix.indices:
        matrix = type(matrix)((values, indices, pointers), shape=matrix.shape)
    return matrix


def _dense_matrix(X: Any) -> np.ndarray:
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(
            "X is a masked array with masked entries, which have no count. "
            "Hint: fill them first, for instance X.filled(0)."
        )
    array = np.asarray(X)
    _two_dimensional(array.shape)
    if array.dtype == object:
        array = _object_values(array)
    _numeric(array.dtype)
    return native_values(array)


def _object_values(array: np.ndarray) -> np.ndarray:
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        for column in range(array.shape[1]):
            for value in array[:, column]:
                try:
                    float(value)
                except (TypeError, ValueError):
                    raise ValueError(
                        "X must hold real numbers (bool, integer or float). Got "
                        f"{value!r} in {describe_column(column)}."
                    ) from error
        raise


def _pandas_matrix(X: Any) -> Any:
    """Read a pandas frame; as CSC if any column is stored sparsely."""
    kinds = []
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        inner = getattr(dtype, "subtype", dtype)
        kind = getattr(inner, "kind", "O")
        if kind not in NUMERIC_KINDS + "O" or isinstance(kind, type(None)):
            raise ValueError(
                "X must hold real numbers (bool, integer or float). "
                f"Got column {name!r} of dtype {dtype}."
            )
        kinds.append(kind)
    if any(hasattr(dtype, "fill_value") for dtype in X.dtypes):
        return _pandas_sparse(X)
    if all(isinstance(dtype, np.dtype) and dtype.kind != "O" for dtype in X.dtypes):
        common = np.result_type(*X.dtypes) if len(X.dtypes) else np.dtype(np.float64)
        return native_values(X.to_numpy(dtype=common))
    if "O" in kinds:
        for name, kind in zip(X.columns, kinds, strict=True):
            if kind == "O":
                try:
                    X[name].to_numpy().astype(np.float64)
                except (TypeError, ValueError) as error:
                    raise ValueError(
                        "X must hold real numbers (bool, integer or float). "
                        f"Got column {name!r} of dtype {X[name].dtype}. "
                        "Hint: encode the column first."
                    ) from error
    return native_values(X.to_numpy(dtype=np.float64, na_value=np.nan))


def _pandas_sparse(X: Any) -> Any:
    """Build a CSC matrix column by column, so that nothing is made dense."""
    values: list[np.ndarray] = []
    rows: list[np.ndarray] = []
    for position, dtype in enumerate(X.dtypes):
        column = X.iloc[:, position]
        if hasattr(dtype, "fill_value"):
            if dtype.fill_value != 0:
                raise ValueError(
                    "Sparse columns must have the fill value 0. Got "
                    f"{dtype.fill_value!r} in column {X.columns[position]!r}."
                )
            values.append(np.asarray(column.array.sp_values))
            rows.append(np.asarray(column.array.sp_index.indices, dtype=np.int64))
        else:
            dense = column.to_numpy(dtype=np.float64, na_value=np.nan)
            stored = np.flatnonzero(dense)
            values.append(dense[stored])
            rows.append(stored.astype(np.int64))
    indptr = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum([part.size for part in values], out=indptr[1:])
    data = native_values(np.concatenate(values))
    matrix = sparse.csc_array((data, np.concatenate(rows), indptr), shape=X.shape)
    return matrix


def _polars_matrix(X: Any) -> np.ndarray:
    polars = sys.modules["polars"]
    for name, dtype in X.schema.items():
        if not (dtype.is_numeric() or dtype == polars.Boolean):
            raise ValueError(
                "X must hold real numbers (bool, integer or float). "
                f"Got column {name!r} of dtype {dtype}. Hint: encode the column first."
            )
    if len(set(X.dtypes)) == 1 and not X.dtypes[0].is_decimal():
        array = X.to_numpy()
        if array.dtype.kind in NUMERIC_KINDS:
            return native_values(array)
    frame = X.select(polars.all().cast(polars.Float64))
    return native_values(np.asarray(frame.to_numpy(), dtype=np.float64))


def refuse_texts(X: Any, owner: str) -> None:
    """Refuse texts where a matrix is needed, without telling the whole document."""
    if isinstance(X, str | bytes):
        told = f"a single {type(X).__name__}"
    elif sparse.issparse(X) or isinstance(X, dict) or not hasattr(X, "__len__"):
        return
    else:
        text = _first_text(X)
        if text is None:
            return
        told = f"texts, the first of them {shortened(text)!r}"
    raise ValueError(
        f"{owner} needs a matrix of numbers, rows and columns. Got {told}. Hint: count "
        "their words first: make_pipeline(CountVectorizer(), model), or, where both "
        "are fitted, (vectorizer, model) in place of the model."
    )


def _first_text(X: Any) -> str | None:
    """The first of texts in one dimension, or in a table of one column; else None."""
    if (
        getattr(X, "dtype", None) is not None
        and getattr(X.dtype, "kind", "O") in "biufc"
    ):
        return None
    known = isinstance(X, list | tuple | np.ndarray) or hasattr(X, "iloc")
    if not known or not len(X) or getattr(X, "shape", (0,))[1:] > (1,):
        return None
    first = X.iloc[0] if hasattr(X, "iloc") else X[0]
    if np.ndim(first) == 1 and len(first) == 1 and not isinstance(first, str | bytes):
        first = first.iloc[0] if hasattr(first, "iloc") else next(iter(first))
    return first if isinstance(first, str) and not _is_number(first) else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def shortened(text: str, longest: int = 40) -> str:
    """The beginning of a text, for a message."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


# --------------------------------------------------------------------------- labels


def _missing_label(row: int, value: Any) -> ValueError:
    return ValueError(
        f"Labels must not be missing. Got {value!r} at row {row} of y. "
        "Hint: drop the row, or give it a label of its own."
    )


def label_array(y: Any) -> np.ndarray:
    """Return labels as a 1-D array of strings, objects or numbers; NaN is refused."""
    array = np.asarray(y)
    if array.ndim != 1:
        raise ValueError(
            f"y must have one dimension, one label per row. Got shape {array.shape}."
        )
    if array.dtype.kind == "T":  # NumPy's variable-width strings
        array = array.astype(object)
    if array.dtype == object:
        for row, value in enumerate(array):
            if is_missing(value):
                raise _missing_label(row, value)
        if array.size and not any(isinstance(value, (str, bytes)) for value in array):
            inferred = np.array(array.tolist())
            if inferred.shape == array.shape and inferred.dtype.kind in NUMERIC_KINDS:
                array = inferred
    elif array.dtype.kind == "f":
        missing = np.isnan(array)
        if missing.any():
            raise _missing_label(int(np.argmax(missing)), float("nan"))
    elif array.dtype.kind not in NUMERIC_KINDS + "US":
        raise ValueError(
            "Labels must be strings, integers, booleans or floats. "
            f"Got dtype {array.dtype}."
        )
    return array


def is_missing(value: Any) -> bool:
    """Tell None, NaN, NaT and pandas' NA, which has no truth value, from others."""
    if value is None:
        return True
    try:
        return not bool(value == value)
    except (TypeError, ValueError):
        return True


def check_name(
    value: Any, parameter: str, owner: str, what: str, *, optional: bool = False
) -> None:
    """Refuse what is no name: lists, numbers, bytes; None unless it is optional."""
    if isinstance(value, str) or (optional and value is None):
        return
    allowed = "a str, or None" if optional else "a str"
    raise TypeError(
        f"The {parameter!r} parameter of {owner} must be the name of {what}, {allowed}."
        f" Got {value!r}."
    )


def sorted_classes(labels: np.ndarray) -> np.ndarray:
    """Return the distinct labels in the order of `np.unique`."""
    try:
        return np.asarray(np.unique(labels))
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in labels})
        raise ValueError(
            "Labels must all be of one kind, strings or numbers. "
            f"Got a mix of {' and '.join(kinds)}."
        ) from error


def refuse_one_class(owner: str, classes: np.ndarray, where: str = " in y") -> None:
    """Refuse labels that are all the same."""
    if classes.shape[0] < 2:
        raise ValueError(
            f"{owner} needs at least two classes{where}. "
            f"Got one class: {classes.tolist()[0]!r}."
        )


def encode_labels(
    y: Any, classes: Any = None, *, classes_sorted: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes and the code of every label.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Strings, integers, booleans or floats.
    classes : array-like, default=None
        All classes there may be; a label outside them is an error.
    classes_sorted : bool, default=False
        Whether ``classes`` is an array that is sorted already.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        Sorted as `np.unique` sorts.
    codes : ndarray of shape (n_samples,), int64
        `classes[codes]` are the labels.
    """
    labels = label_array(y)
    known = classes
    if classes is not None and not classes_sorted:
        known = sorted_classes(label_array(classes))
    if labels.dtype.kind in NUMERIC_KINDS:
        return _encode_numbers(labels, known)
    return _encode_objects(labels, known)


def _unknown_label(value: Any, row: int, known: np.ndarray) -> ValueError:
    shown = ", ".join(repr(item) for item in known[:10].tolist())
    more = f", and {known.size - 10} more" if known.size > 10 else ""
    return ValueError(
        f"The label {value!r} at row {row} of y is not one of the classes "
        f"[{shown}{more}]. Hint: 'classes' must list every class."
    )


def _encode_numbers(
    labels: np.ndarray, known: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    if known is None:
        found = _encode_by_counting(labels)
        if found is not None:
            return found
        known, codes = np.unique(labels, return_inverse=True)
        return known, codes.reshape(-1).astype(np.int64, copy=False)
    if labels.size == 0:
        return known, np.empty(0, dtype=np.int64)
    if known.size == 0 or known.dtype.kind not in NUMERIC_KINDS:
        raise _unknown_label(labels[0].item(), 0, known)
    codes = np.minimum(np.searchsorted(known, labels), known.size - 1)
    wrong = known[codes] != labels
    if wrong.any():
        row = int(np.argmax(wrong))
        raise _unknown_label(labels[row].item(), row, known)
    return known, codes.astype(np.int64, copy=False)


def _encode_by_counting(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Encode integers of a narrow range without sorting them, else None."""
    if labels.dtype.kind not in "biu" or not labels.size:
        return None
    low, high = int(labels.min()), int(labels.max())
    if high - low >= _NARROW_RANGE or not -(2**62) < low <= high < 2**62:
        return None
    offsets = labels.astype(np.int64) - low
    values = np.flatnonzero(np.bincount(offsets))
    if values.size == high - low + 1:  # no gaps: offsets are codes
        return (values + low).astype(labels.dtype), offsets
    rank = np.zeros(high - low + 1, dtype=np.int64)
    rank[values] = np.arange(values.size)
    return (values + low).astype(labels.dtype), rank[offsets]


def _encode_objects(
    labels: np.ndarray, known: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Encode through a dictionary: sorting a million strings is ten times slower."""
    values = labels.tolist()
    if known is None:
        seen: dict[Any, int] = {}
        first = [seen.setdefault(value, len(seen)) for value in values]
        distinct = np.empty(len(seen), dtype=labels.dtype)
        distinct[:] = list(seen)
        known = sorted_classes(distinct)
        rank = {value: code for code, value in enumerate(known.tolist())}
        order = np.array([rank[value] for value in seen], dtype=np.int64)
        return known, order[np.array(first, dtype=np.int64)]
    rank = {value: code for code, value in enumerate(known.tolist())}
    codes = np.empty(len(values), dtype=np.int64)
    for row, value in enumerate(values):
        code = rank.get(value)
        if code is None:
            raise _unknown_label(value, row, known)
        codes[row] = code
    return known, codes


# --------------------------------------------------------------------------- weights


def check_weights(
    sample_weight: Any, n_samples: int, *, allow_zero: bool = False
) -> np.ndarray | None:
    """Return row weights as contiguous float64, or None if every row weighs one.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), number or None
        Weights >= 0; a number gives every row that weight.
    n_samples : int
        Number of rows.
    allow_zero : bool, default=False
        Whether all weights may be zero, as in one chunk of many.

    Returns
    -------
    weights : ndarray of shape (n_samples,), float64, or None
    """
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "sample_weight must hold real numbers >= 0. "
            f"Got {type(sample_weight).__name__} that does not convert to float."
        ) from error
    if weights.ndim == 0:
        weights = np.full(n_samples, float(weights))
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one weight per row, {n_samples} in all. "
            f"Got shape {weights.shape}."
        )
    for problem, wrong in (
        ("NaN", np.isnan(weights)),
        ("infinity", np.isinf(weights)),
        ("a negative weight", weights < 0),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                "sample_weight must hold finite numbers >= 0. "
                f"Got {problem} ({float(weights[row])!r}) at row {row}."
            )
    if n_samples and not allow_zero and not weights.any():
        raise ValueError(
            "sample_weight must have at least one weight above 0. Got only zeros."
        )
    return np.ascontiguousarray(weights)
