"""Arrays of PyTorch, CuPy and the like: the only file that knows these libraries.

Nothing here imports one of them: whoever passes an array has done so. What lies in the
memory of the host is read there, as NumPy or SciPy sees it; for the rest the package
speaks the array API, by array-api-compat.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.utils._optional import optional_module

__all__ = [
    "CompressedRows",
    "add_at",
    "as_float64",
    "compressed_rows",
    "device_of",
    "in_host_memory",
    "is_on_device",
    "namespace",
    "repeat_each",
    "to_host",
]


#: So much is fetched through memory that PyTorch keeps for that: five times as fast.
_PINNED_BYTES = 1 << 26


def _is_of(array: Any, library: str, name: str) -> bool:
    """Whether an array is of this type, without importing its library."""
    kind = getattr(sys.modules.get(library), name, None)
    return kind is not None and isinstance(array, kind)


def _is_in_host_memory(array: Any) -> bool:
    if _is_of(array, "torch", "Tensor"):
        return bool(array.device.type == "cpu")
    if _is_of(array, "jax", "Array"):
        return {device.platform for device in array.devices()} == {"cpu"}
    return False


def in_host_memory(array: Any) -> Any:
    """An array in the memory of the host as NumPy or SciPy sees it; others unchanged.

    Tensors of PyTorch on its CPU device are not copied, nor are arrays of JAX.
    """
    if not _is_in_host_memory(array):
        return array
    if _is_of(array, "jax", "Array"):
        return np.asarray(array)
    tensor = array.detach()
    if str(tensor.dtype) == "torch.bfloat16":  # NumPy has no such numbers
        tensor = tensor.float()
    layout = str(tensor.layout)
    if layout == "torch.sparse_csr":
        start, minor = tensor.crow_indices(), tensor.col_indices()
        make: Any = sparse.csr_array
    elif layout == "torch.sparse_csc":
        start, minor = tensor.ccol_indices(), tensor.row_indices()
        make = sparse.csc_array
    else:
        return tensor.numpy()  # which says what it cannot do
    parts = (tensor.values().numpy(), minor.numpy(), start.numpy())
    return make(parts, shape=tuple(tensor.shape))


def is_on_device(array: Any) -> bool:
    """Whether this is an array, dense or sparse, that NumPy does not read in place."""
    if isinstance(array, np.ndarray | np.generic) or _is_in_host_memory(array):
        return False
    return (
        _is_of(array, "torch", "Tensor")
        or _is_of(array, "cupy", "ndarray")
        or type(array).__module__.startswith("cupyx.scipy.sparse")
        or hasattr(array, "__array_namespace__")
    )


def namespace(array: Any, *, purpose: str) -> Any:
    """The functions of the array API for this array."""
    compat = optional_module("array_api_compat", purpose=purpose, extra="arrays")
    return compat.array_namespace(array)


def device_of(array: Any) -> Any:
    """Where a dense array lies, as the array API names it."""
    return optional_module(
        "array_api_compat", purpose="an array on a device", extra="arrays"
    ).device(array)


def as_float64(xp: Any, array: Any, *, owner: str) -> Any:
    """The array as float64, copied only if it must be; refused where there is none."""
    try:
        converted = xp.astype(array, xp.float64, copy=False)
    except (TypeError, RuntimeError) as error:
        converted, reason = None, f" ({error})"
    else:
        reason = ""
    if converted is None or converted.dtype != xp.float64:
        raise TypeError(
            f"{owner} adds in float64, which the device must have. Got an array on "
            f"{device_of(array)}, which has none{reason}. "
            "Hint: pass the counts as a NumPy array."
        )
    return converted


def to_host(array: Any) -> np.ndarray:
    """A copy of a dense array as NumPy has it."""
    if _is_of(array, "torch", "Tensor"):
        array = array.detach()
        if array.device.type == "cuda" and array.nbytes <= _PINNED_BYTES:
            fetched = array.to(
                "cpu", non_blocking=True
            )  # into pages that stay in place
            sys.modules["torch"].cuda.current_stream(array.device).synchronize()
            return np.array(fetched.numpy())
        return np.asarray(array.cpu().numpy())
    if _is_of(array, "cupy", "ndarray"):
        return np.asarray(array.get())
    if _is_of(array, "jax", "Array"):
        return np.asarray(array)
    return np.from_dlpack(array, device="cpu")


@dataclass(frozen=True)
class CompressedRows:
    """The three arrays of a CSR matrix on a device, and the functions for them."""

    xp: Any
    device: Any
    values: Any
    columns: Any
    starts: Any
    shape: tuple[int, int]


def compressed_rows(X: Any) -> CompressedRows | None:
    """The arrays of a CSR matrix without duplicate entries; None of a dense one."""
    shape = tuple(int(n) for n in X.shape)
    layout = str(getattr(X, "layout", ""))
    if layout == "torch.sparse_csr":
        parts = X.values(), X.col_indices(), X.crow_indices()
    elif type(X).__module__.startswith("cupyx") and X.format == "csr":
        if not X.has_canonical_format:
            X = X.copy()  # the caller's arrays are never written to
            X.sum_duplicates()
        parts = X.data, X.indices, X.indptr
    elif "sparse" in layout or type(X).__module__.startswith("cupyx"):
        raise TypeError(
            "A sparse matrix on a device must be in CSR format. Got "
            f"{layout or type(X).__name__}. "
            "Hint: convert it, with X.to_sparse_csr() or X.tocsr()."
        )
    else:
        return None
    values = parts[0]
    xp = namespace(values, purpose="a sparse matrix on a device")
    return CompressedRows(xp, device_of(values), *parts, shape=(shape[0], shape[1]))


def add_at(sums: Any, positions: Any, values: Any) -> Any:
    """The sums with each value added at its position, the same array where it can."""
    if _is_of(sums, "torch", "Tensor"):
        return sums.index_add_(0, positions, values)
    sys.modules["cupy"].add.at(sums, positions, values)
    return sums


def repeat_each(xp: Any, values: Any, times: Any) -> Any:
    """Each value as often in a row as is said of it."""
    if not _is_of(values, "cupy", "ndarray"):
        return xp.repeat(values, times)
    ends = xp.cumulative_sum(times)  # CuPy repeats by numbers of the host only
    return values[xp.searchsorted(ends, xp.arange(int(ends[-1])), side="right")]
