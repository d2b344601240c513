"""What solvers accept: a ClassCounts or a plain table, a size, a smoothing."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesieve.counts import ClassCounts
from bayesieve.exceptions import FewFeaturesWarning, GapWarning
from bayesieve.solvers._branch import Limits
from bayesieve.solvers._certificate import Certificate
from bayesieve.solvers._device_table import DeviceTable, device_table
from bayesieve.solvers._logs import Floats
from bayesieve.utils._device_arrays import in_host_memory, is_on_device, to_host
from bayesieve.utils._sparse_structure import refuse_malformed
from bayesieve.utils._warnings import warn_user

__all__ = [
    "check_alpha",
    "check_limits",
    "check_range",
    "check_size",
    "count_table",
    "row_counts",
    "warn_of_few_features",
    "warn_of_limit",
]


def count_table(
    counts: Any, *, kinds: tuple[str, ...], solver: str, on_device: bool = False
) -> Any:
    """The (K, m) table of a ClassCounts or an array, float64, dense or CSC.

    With ``on_device`` counts that lie on a device stay there, as a `DeviceTable`.
    """
    if isinstance(counts, ClassCounts):
        if counts.kind not in kinds:
            allowed = " or ".join(repr(kind) for kind in kinds)
            raise ValueError(
                f"{solver} needs counts of kind {allowed}. Got kind {counts.kind!r}."
            )
        if counts.n_classes < 2:
            raise ValueError(
                f"{solver} needs counts of at least two classes. "
                f"Got one class: {counts.classes.tolist()[0]!r}."
            )
        return counts.feature_count
    counts = in_host_memory(counts)
    if on_device:
        there = device_table(counts, solver=solver)
        if isinstance(there, DeviceTable):
            return there
        counts = counts if there is None else there
    if sp.issparse(counts):
        refuse_malformed(counts)
        table = sp.csc_array(counts, dtype=np.float64)
        if not table.has_canonical_format:
            table = table.copy()  # the caller's arrays are never written to
            table.sum_duplicates()
        values = table.data
    else:
        try:
            table = np.ascontiguousarray(counts, dtype=np.float64)
        except (TypeError, ValueError, RuntimeError) as error:  # the last is PyTorch's
            raise ValueError(
                f"{solver} needs a ClassCounts or a table of numbers, one row for each "
                f"class. Got {type(counts).__name__} that is none: {error}."
            ) from error
        values = table
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 1:
        raise ValueError(
            f"{solver} needs a ClassCounts or a table of shape (n_classes >= 2, "
            f"n_features >= 1). Got shape {table.shape}."
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{solver} needs finite counts. Got NaN or infinity.")
    if values.size and values.min() < 0:
        if sp.issparse(table):
            entry = int(np.argmin(values))
            column = int(np.searchsorted(table.indptr, entry, side="right")) - 1
        else:
            column = int(np.argmin(values.min(axis=0)))
        raise ValueError(
            f"{solver} needs counts >= 0. Got {values.min():g} in column {column}."
        )
    return table


def row_counts(counts: Any, class_count: Any = None, *, solver: str) -> Floats:
    """Rows of each class: of a ClassCounts, or as they are given beside a table."""
    if isinstance(counts, ClassCounts):
        if class_count is not None:
            raise ValueError(
                f"The 'class_count' parameter of {solver} is for plain tables; a "
                f"ClassCounts knows its own. Got {class_count!r}."
            )
        known: Floats = counts.class_count
        return known
    if class_count is None:
        raise TypeError(
            f"{solver} needs a ClassCounts, which knows the number of rows of each "
            "class, or a table of presences beside class_count. Got "
            f"{type(counts).__name__} without it. Hint: class_count=[...] has the rows "
            "of each class of a table, and ClassCounts.from_matrix(X, y) counts rows."
        )
    class_count = in_host_memory(class_count)
    if is_on_device(class_count):
        class_count = to_host(class_count)
    rows = np.array(class_count, dtype=np.float64)
    n_classes = (getattr(counts, "shape", None) or np.shape(counts))[0]
    if rows.shape != (n_classes,) or not (np.isfinite(rows) & (rows >= 0)).all():
        raise ValueError(
            f"The 'class_count' parameter of {solver} must have a finite number of "
            f"rows >= 0 for each of the {n_classes} classes. Got {class_count!r}."
        )
    return rows


def check_size(k: Any, *, solver: str) -> int:
    """A whole number of features, at least one."""
    if isinstance(k, bool) or not isinstance(k, numbers.Integral) or k < 1:
        raise ValueError(
            f"The 'k' parameter of {solver} must be an int >= 1. Got {k!r}."
        )
    return int(k)


def check_range(total: float, *, power: int = 2, solver: str) -> None:
    """Refuse counts or weights whose products leave the range of floating point."""
    largest = 10.0 ** (300 // power)
    if not total <= largest:
        raise ValueError(
            f"The counts of {solver} are too large: they and their smoothing must sum "
            f"to {largest:g} at most, because products of larger ones leave the range "
            f"of floating point. Got a sum of {total:g}. Hint: divide counts (or "
            "sample weights) and alpha by one number; the support stays."
        )


def check_limits(time_limit: Any, node_limit: Any, *, solver: str) -> None:
    """Seconds and nodes, or None for no limit."""
    if time_limit is not None and (
        isinstance(time_limit, bool)
        or not isinstance(time_limit, numbers.Real)
        or not float(time_limit) >= 0
    ):
        raise ValueError(
            f"The 'time_limit' parameter of {solver} must be a number of seconds >= 0, "
            f"or None. Got {time_limit!r}."
        )
    if node_limit is not None and (
        isinstance(node_limit, bool)
        or not isinstance(node_limit, numbers.Integral)
        or not int(node_limit) >= 1
    ):
        raise ValueError(
            f"The 'node_limit' parameter of {solver} must be an int >= 1, or None. "
            f"Got {node_limit!r}."
        )


def check_alpha(alpha: Any, n_features: int, *, solver: str) -> Floats:
    """Smoothing as an array of one value, or one for each feature."""
    alpha = in_host_memory(alpha)
    if is_on_device(alpha):
        alpha = to_host(alpha)
    values = np.atleast_1d(np.asarray(alpha, dtype=np.float64))
    if values.ndim != 1 or values.shape[0] not in (1, n_features):
        raise ValueError(
            f"The 'alpha' parameter of {solver} must be a number >= 0 or an array with "
            f"one value for each of the {n_features} features. "
            f"Got shape {values.shape}."
        )
    if not np.isfinite(values).all() or values.min() < 0:
        bad = values[~(np.isfinite(values) & (values >= 0))][0]
        raise ValueError(
            f"The 'alpha' parameter of {solver} must be >= 0 and finite. Got {bad:g}."
        )
    return values


def warn_of_limit(certificate: Certificate, nodes: int, limits: Limits) -> None:
    """Say that a search stopped before it had proven its answer."""
    warn_user(
        f"The search for k={certificate.k} stopped at its limit after {nodes} nodes; "
        f"the support is at most {100 * certificate.relative_gap:.3g} % short of the "
        f"optimum. Hint: raise {limits.name_of_reached(nodes)} to close the gap.",
        GapWarning,
    )


def warn_of_few_features(k: int, available: int, *, what: str) -> None:
    """Say that fewer features than asked for can be selected."""
    warn_user(
        f"k={k} features were asked for, but only {available} {what}; "
        f"{available} were selected.",
        FewFeaturesWarning,
    )
