"""Texts of any kind as UTF-8 bytes with offsets, a few megabytes at a time."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from bayesieve import _core
from bayesieve.utils._arrays import Array

_ROWS = 1 << 16  # of Python strings: what one step packs


def _pyarrow() -> Any:
    return import_module("pyarrow")


def check_codes(codes: Any, n_texts: int, n_classes: int) -> Array:
    """Return class codes as int32, one for each text, -1 to n_classes - 1."""
    array = np.asarray(codes)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iub"):
        raise ValueError(
            "Codes must be integers in one dimension. Got an array of dtype "
            f"{array.dtype} and shape {array.shape}."
        )
    if array.size != n_texts:
        raise ValueError(
            f"There must be one code for each text. Got {array.size} codes for "
            f"{n_texts} texts."
        )
    wrong = np.flatnonzero((array < -1) | (array >= n_classes))
    if wrong.size:
        raise ValueError(
            f"Codes must be between -1 and {n_classes - 1}. Got {array[wrong[0]]} in "
            f"row {wrong[0]}."
        )
    return np.ascontiguousarray(array, dtype=np.int32)


def sized(texts: Any) -> Any:
    """Return texts that have a length, and can be cut."""
    if isinstance(texts, str | bytes):
        raise TypeError("Texts must be a sequence of strings. Got a single one.")
    if isinstance(texts, list | tuple):
        return texts
    if isinstance(texts, np.ndarray):
        if texts.ndim != 1:
            raise ValueError(f"Texts must be in one dimension. Got {texts.ndim}.")
        return texts
    if hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__"):
        return _as_arrow(texts)
    if hasattr(texts, "__array__"):  # pandas without Arrow
        return np.asarray(texts, dtype=object)
    return list(texts)


def _as_arrow(texts: Any) -> Any:
    try:
        pa = _pyarrow()
    except ModuleNotFoundError:
        return np.asarray(texts, dtype=object)
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        return texts
    if hasattr(texts, "__arrow_c_stream__"):
        return pa.chunked_array(texts)
    return pa.array(texts)


def packed(
    texts: Any, codes: Array | None, errors: str
) -> Iterator[tuple[Array, Array, slice]]:
    """Give (data, offsets, rows) for successive rows of what `sized` returned.

    Rows with a negative code may hold anything, and come out as anything.
    """
    if isinstance(texts, list | tuple | np.ndarray):
        none = np.empty(0, dtype=np.int32)
        for first in range(0, len(texts), _ROWS):
            rows = slice(first, min(first + _ROWS, len(texts)))
            part = texts[rows]
            part = part.tolist() if isinstance(part, np.ndarray) else list(part)
            data, offsets, raw = _core.pack_texts(
                part, none if codes is None else codes[rows]
            )
            if raw:
                data, offsets = _decoded(data, offsets, codes, first, errors)
            yield data, offsets, rows
        return
    first = 0
    for chunk in getattr(texts, "chunks", [texts]):
        if not len(chunk):
            continue
        rows = slice(first, first + len(chunk))
        data, offsets = _arrow_buffers(chunk, codes, first)
        yield *_decoded(data, offsets, codes, first, errors), rows
        first += len(chunk)


def _arrow_buffers(chunk: Any, codes: Array | None, first: int) -> tuple[Array, Array]:
    """Return the bytes and offsets of an Arrow array, without a copy of the bytes."""
    pa = _pyarrow()
    kind = chunk.type
    if isinstance(kind, pa.ExtensionType):
        chunk = chunk.storage
        kind = chunk.type
    plain = (pa.types.is_string, pa.types.is_binary)
    large = (pa.types.is_large_string, pa.types.is_large_binary)
    if not any(test(kind) for test in plain + large):
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        binary = "binary" in str(kind)
        if not (binary or "string" in str(kind) or pa.types.is_null(kind)):
            raise TypeError(f"Texts must be strings or binary. Got Arrow type {kind}.")
        chunk = chunk.cast(pa.large_binary() if binary else pa.large_string())
        kind = chunk.type
    if chunk.null_count:
        missing = np.asarray(chunk.is_null())
        if codes is not None:
            missing &= codes[first : first + len(chunk)] >= 0
        if missing.any():
            row = first + int(np.flatnonzero(missing)[0])
            raise ValueError(
                f"Texts must not be missing. Got a missing one, row {row}."
            )
    _, ends, data = chunk.buffers()
    width = np.int64 if any(test(kind) for test in large) else np.int32
    if ends is None:
        offsets = np.zeros(len(chunk) + 1, dtype=np.int64)
    else:
        offsets = np.frombuffer(ends, dtype=width)
        offsets = offsets[chunk.offset : chunk.offset + len(chunk) + 1]
    blob = b"" if data is None else data
    return np.frombuffer(blob, dtype=np.uint8), offsets.astype(np.int64, copy=False)


def _decoded(
    data: Array, offsets: Array, codes: Array | None, first: int, errors: str
) -> tuple[Array, Array]:
    """Return texts whose bytes are valid: refused or repaired, as bytes.decode does."""
    rows = _core.invalid_utf8_rows(data, offsets)
    if codes is not None and rows.size:
        rows = rows[codes[first + rows] >= 0]
    if not rows.size:
        return data, offsets
    if errors == "strict":
        row = int(rows[0])
        text = data[offsets[row] : offsets[row + 1]].tobytes()
        try:
            text.decode()
        except UnicodeDecodeError as error:
            raise ValueError(
                f"Texts must be valid UTF-8. Got other bytes in row {first + row}: "
                f"{error}. Hint: decode_error='replace' or 'ignore' lets them pass."
            ) from None
    pieces: list[Any] = []
    sizes = np.diff(offsets)
    last = 0
    for row in rows.tolist():
        text = data[offsets[row] : offsets[row + 1]].tobytes()
        repaired = np.frombuffer(text.decode("utf-8", errors).encode(), dtype=np.uint8)
        pieces += [data[offsets[last] : offsets[row]], repaired]
        sizes[row] = repaired.size
        last = row + 1
    pieces.append(data[offsets[last] : offsets[-1]])
    ends = np.zeros_like(offsets)
    np.cumsum(sizes, out=ends[1:])
    return np.concatenate(pieces), ends
