"""Class sums of a matrix that lies on a device, counted there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesieve.counts import _kernels as kernels
from bayesieve.counts._layout import is_dense_layout
from bayesieve.counts._matrix import (
    CountRule,
    check_length,
    class_weights,
    refuse_cell,
)
from bayesieve.utils._arrays import Array
from bayesieve.utils._device_arrays import (
    CompressedRows,
    add_at,
    as_float64,
    compressed_rows,
    device_of,
    in_host_memory,
    is_on_device,
    namespace,
    repeat_each,
    to_host,
)
from bayesieve.utils._validation import check_names, check_weights, encode_labels

if TYPE_CHECKING:
    from bayesieve.counts._table import ClassCounts

__all__ = ["ClassSums", "count_on_device", "sums_on_device"]


class ClassSums(NamedTuple):
    """Class sums where they were counted, as `class_sums` returns them.

    Attributes
    ----------
    feature_count : array of shape (n_classes, n_features)
    class_count : ndarray of shape (n_classes,)
    classes : ndarray of shape (n_classes,)
    """

    feature_count: Any
    class_count: Array
    classes: Array


#: Entries that are added at once: 8 bytes each for where they go.
_CHUNK = 1 << 26


def count_on_device(
    cls: type[ClassCounts],
    X: Any,
    y: Any,
    sample_weight: Any,
    rule: CountRule,
    classes: Any,
    feature_names: Any,
) -> ClassCounts:
    """Count there and fetch the table."""
    names = None
    if feature_names is not None:
        names = check_names(feature_names, X.shape[1])
    table, counted, found = sums_on_device(X, y, sample_weight, rule, classes, names)
    n_classes, n_features = (int(n) for n in table.shape)
    if is_dense_layout(n_classes, n_features):
        fetched: Any = np.array(to_host(table))
    else:  # blocks of 8 MB beside the result
        width = max(1, 1_000_000 // n_classes)
        fetched = sparse.hstack(
            [
                sparse.csc_array(
                    to_host(table[:, first : min(first + width, n_features)])
                )
                for first in range(0, n_features, width)
            ],
            format="csc",
        )
        fetched.sort_indices()
    return cls._of(
        found, counted, rule.kind, feature_count=fetched, feature_names=names
    )


def sums_on_device(
    X: Any, y: Any, sample_weight: Any, rule: CountRule, classes: Any, names: Any
) -> ClassSums:
    """Validate a matrix with its labels and weights, and count it where it lies."""
    if rule.kind not in ("count", "binary"):
        raise ValueError(
            "A matrix on a device is counted for kind 'count' or 'binary'. Got kind "
            f"{rule.kind!r}. Hint: pass X as a NumPy array or a SciPy matrix."
        )
    if len(X.shape) != 2 or 0 in X.shape:
        raise ValueError(
            "X must have two dimensions, at least one row and one column. "
            f"Got shape {tuple(X.shape)}."
        )
    rows = compressed_rows(X)
    xp = namespace(X, purpose="a matrix on a device") if rows is None else rows.xp
    device = device_of(X) if rows is None else rows.device
    y, sample_weight = in_host_memory(y), in_host_memory(sample_weight)
    if is_on_device(sample_weight):
        sample_weight = to_host(sample_weight)
    weights = check_weights(sample_weight, X.shape[0])
    if classes is None and weights is None and _are_numbers_there(y, xp, device):
        # Labels that lie there are encoded there: fetching them takes longer.
        values, codes = xp.unique_inverse(y)
        check_length(y, X)
        found = to_host(values)
        counted = to_host(xp.unique_counts(codes)[1]).astype(np.float64)
    else:
        found, on_host = encode_labels(to_host(y) if is_on_device(y) else y, classes)
        check_length(on_host, X)
        counted = class_weights(on_host, weights, len(found))
        codes = xp.asarray(on_host, device=device)
    weight = None if weights is None else xp.asarray(weights, device=device)
    if rows is None:
        table = _of_dense(xp, X, codes, weight, len(found), rule, names)
    else:
        table = _of_rows(rows, codes, weight, len(found), rule, names)
    return ClassSums(table, counted, found)


def _are_numbers_there(y: Any, xp: Any, device: Any) -> bool:
    """Whether labels are whole numbers on this device."""
    if not is_on_device(y) or len(y.shape) != 1 or not y.shape[0]:
        return False
    return bool(device_of(y) == device and xp.isdtype(y.dtype, "integral"))


def _checked(
    xp: Any, values: Any, rule: CountRule, place: Any, names: Array | None
) -> Any:
    """What the values count as float64, once they are what the rule allows.

    ``place`` gives row and column of a position among them, for messages.
    """
    check, level = rule.value_check
    values = as_float64(xp, values, owner="Counting")
    if 0 not in values.shape:
        fine = bool(xp.isfinite(xp.sum(values)))
        if check == kernels.NON_NEGATIVE:
            fine = fine and bool(xp.min(values) >= 0)
        elif check == kernels.ZERO_ONE:
            fine = fine and bool(xp.all((values == 0) | (values == 1)))
        if not fine:
            flat = xp.reshape(values, (-1,))
            bad = ~xp.isfinite(flat)
            if check == kernels.NON_NEGATIVE:
                bad = bad | (flat < 0)
            elif check == kernels.ZERO_ONE:
                bad = bad | ((flat != 0) & (flat != 1))
            at = int(xp.argmax(xp.astype(bad, xp.uint8)))
            if bool(bad[at]):  # else it is the sum that overflows, not a value
                row, column = place(at)
                refuse_cell(row, column, float(flat[at]), check, names)
    if check == kernels.PRESENCE:
        return xp.astype(values > level, xp.float64)
    return values


def _of_dense(
    xp: Any,
    X: Any,
    codes: Any,
    weight: Any,
    n_classes: int,
    rule: CountRule,
    names: Array | None,
) -> Any:
    """The matrix of who is in which class, times X, some columns at a time."""
    n_rows, n_features = (int(n) for n in X.shape)
    if not xp.isdtype(X.dtype, ("bool", "integral", "real floating")):
        raise ValueError(
            f"X must hold real numbers (bool, integer or float). Got dtype {X.dtype}."
        )
    numbers = xp.asarray(np.arange(n_classes)[:, None], device=device_of(X))
    members = xp.astype(codes[None, :] == numbers, xp.float64)
    if weight is not None:
        members = members * weight[None, :]
    width = max(1, _CHUNK // n_rows)
    parts = []
    for first in range(0, n_features, width):
        part = X[:, first : min(first + width, n_features)]
        own = int(part.shape[1])

        def place(at: int, first: int = first, own: int = own) -> tuple[int, int]:
            return at // own, first + at % own

        parts.append(members @ _checked(xp, part, rule, place, names))
    return xp.concat(parts, axis=1)


def _of_rows(
    X: CompressedRows,
    codes: Any,
    weight: Any,
    n_classes: int,
    rule: CountRule,
    names: Array | None,
) -> Any:
    """Each entry is added where its class and its column meet."""
    xp, (n_rows, n_features), n_entries = X.xp, X.shape, int(X.values.shape[0])
    if rule.kind == "binary" and rule.binarize is not None and rule.binarize < 0:
        raise ValueError(
            "The 'binarize' parameter must be >= 0 for sparse input, because every "
            f"absent entry would count. Got {rule.binarize!r}."
        )
    table = xp.zeros(n_classes * n_features, dtype=xp.float64, device=X.device)
    offsets = codes * n_features
    lengths = X.starts[1:] - X.starts[:-1]
    for rows, entries in _runs(X, n_rows, n_entries):

        def place(at: int, begin: int = entries.start) -> tuple[int, int]:
            starts = to_host(X.starts)
            row = int(np.searchsorted(starts, begin + at, side="right")) - 1
            return row, int(X.columns[begin + at])

        values = _checked(xp, X.values[entries], rule, place, names)
        where = repeat_each(xp, offsets[rows], lengths[rows])
        where += xp.astype(X.columns[entries], xp.int64, copy=False)
        if weight is not None:
            values = values * repeat_each(xp, weight[rows], lengths[rows])
        table = add_at(table, where, values)
    return xp.reshape(table, (n_classes, n_features))


def _runs(
    X: CompressedRows, n_rows: int, n_entries: int
) -> Iterator[tuple[slice, slice]]:
    """Neighbouring rows, one at least, and their entries."""
    if n_entries <= _CHUNK:
        yield slice(0, n_rows), slice(0, n_entries)
        return
    starts, first = to_host(X.starts).astype(np.int64), 0
    while first < n_rows:
        wanted = int(np.searchsorted(starts, starts[first] + _CHUNK, side="right")) - 1
        last = min(max(wanted, first + 1), n_rows)
        yield slice(first, last), slice(int(starts[first]), int(starts[last]))
        first = last
