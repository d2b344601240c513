"""Saving and loading: one .npz file of plain arrays, never a pickle.

The file is an uncompressed zip of .npy members. `metadata` is JSON as bytes; text is
stored as UTF-8 bytes with offsets. A file is written beside its final place and moved
there once it is complete, and nothing read from a file is trusted.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from bayesieve import _core
from bayesieve.counts._parts import Array, Parts, checked_parts
from bayesieve.counts._term_names import TermNames
from bayesieve.utils._whole_files import whole_file

FORMAT = "bayesieve.ClassCounts"
VERSION = 1
_TABLES = ("feature_count", "document_count", "mean", "centred_squares")


# --------------------------------------------------------------------------- writing


def save_parts(parts: Parts, path: Any) -> None:
    """Write the parts to one file, atomically."""
    write_archive({f"{n}.npy": array for n, array in pack_parts(parts).items()}, path)


def write_archive(members: Mapping[str, Array | bytes], path: Any) -> None:
    """Write arrays and bytes as the members of one zip file, atomically."""
    with (
        whole_file(path) as beside,
        open(beside, "wb") as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
    ):
        for name, content in members.items():
            # A fixed date: equal counts give equal files.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            with archive.open(entry, "w", force_zip64=True) as member:
                if isinstance(content, bytes):
                    member.write(content)
                else:
                    npy.write_array(member, content, allow_pickle=False)


def pack_parts(parts: Parts) -> dict[str, Array]:
    """Return the parts as named arrays, `metadata` among them."""
    arrays, metadata = _pack(parts)
    text = json.dumps(metadata, sort_keys=True).encode()
    arrays["metadata"] = np.frombuffer(text, dtype=np.uint8)
    return arrays


def _pack(parts: Parts) -> tuple[dict[str, Array], dict[str, Any]]:
    arrays: dict[str, Array] = {"class_count": parts.class_count}
    metadata: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "kind": parts.kind,
        "classes": _class_type(parts.classes),
        "named": parts.feature_names is not None,
        # A reader that does not know this makes an ordinary array of the names.
        "packed": isinstance(parts.feature_names, TermNames),
        "tables": {},
    }
    if metadata["classes"] in ("str", "object"):
        pack_text(arrays, "classes", parts.classes)
    else:
        arrays["classes"] = parts.classes
    names = parts.feature_names
    if isinstance(names, TermNames):
        first, last = names.offsets[0], names.offsets[-1]
        arrays["names_bytes"] = names.data[first:last]
        arrays["names_offsets"] = names.offsets - first
    elif names is not None:
        pack_text(arrays, "names", names)
    if parts.n_categories is not None:
        arrays["n_categories"] = parts.n_categories
    for name in _TABLES:
        table = getattr(parts, name)
        if table is None:
            continue
        if sparse.issparse(table):
            metadata["tables"][name] = list(table.shape)
            arrays[f"{name}_data"] = table.data
            arrays[f"{name}_indices"] = table.indices
            arrays[f"{name}_indptr"] = table.indptr
        else:
            metadata["tables"][name] = "dense"
            arrays[name] = table
    return arrays, metadata


def _class_type(classes: Array) -> str:
    kinds = {"U": "str", "i": "int", "u": "int", "f": "float", "b": "bool"}
    kind = kinds.get(classes.dtype.kind)
    if kind is None and all(isinstance(label, str) for label in classes):
        kind = "object"
    if kind is None:
        raise ValueError(
            "Classes can be saved when they are strings, integers, floats or booleans. "
            f"Got dtype {classes.dtype}."
        )
    return kind


def pack_text(arrays: dict[str, Array], name: str, texts: Array) -> None:
    """Add strings as UTF-8 bytes with offsets."""
    encoded = [str(text).encode("utf-8", "surrogatepass") for text in texts.tolist()]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    arrays[f"{name}_bytes"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    arrays[f"{name}_offsets"] = offsets


# --------------------------------------------------------------------------- reading


def load_parts(path: Any) -> Parts:
    """Read a file written by `save_parts`; anything else is a ValueError."""
    with open(os.fspath(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            with zipfile.ZipFile(file) as archive:
                return unpack_parts(MemberReader(archive, size))
        except RefusedError as error:
            raise ValueError(f"{os.fspath(path)} {error}") from None
        # Damaged archives raise whatever their damage leads to: BadZipFile, EOFError,
        # KeyError, struct.error, UnicodeError, MemoryError, RuntimeError, ...
        except Exception as error:
            raise ValueError(
                f"{os.fspath(path)} is not a readable file of class counts; it must be "
                f"one written by ClassCounts.save. Got: {error or type(error).__name__}"
            ) from error


class RefusedError(Exception):
    """A file that is readable but not to be used; the message follows its path."""


class MemberReader:
    """Reads members of the archive as arrays, with every kind and size checked."""

    def __init__(self, archive: zipfile.ZipFile, size: int, prefix: str = "") -> None:
        self._archive = archive
        self._size = size
        self._prefix = prefix

    def array(self, name: str, kinds: str, ndim: int = 1) -> Array:
        """Read an array whose kind of dtype and number of dimensions are known."""
        info = self._archive.getinfo(f"{self._prefix}{name}.npy")
        plain = info.compress_type == zipfile.ZIP_STORED
        if not plain or info.file_size > self._size:
            raise ValueError(f"member {name!r} has a wrong size")
        with self._archive.open(info) as member:
            version = npy.read_magic(member)
            read: Callable[..., Any] = (
                npy.read_array_header_1_0
                if version == (1, 0)
                else npy.read_array_header_2_0
            )
            shape, fortran, dtype = read(member)
            if dtype.kind not in kinds or len(shape) != ndim:
                raise ValueError(f"member {name!r} is not the array it should be")
            count = 1
            for extent in shape:
                count *= int(extent)
            if min(shape, default=0) < 0 or count * dtype.itemsize > self._size:
                raise ValueError(f"member {name!r} has a wrong shape")
            flat = np.empty(count, dtype=dtype)
            _fill(member, flat)
            # Reading to the end is what makes zipfile compare the checksum.
            if member.read(1):
                raise ValueError(f"member {name!r} is longer than its shape")
        if not dtype.isnative:
            flat = flat.astype(dtype.newbyteorder("="))
        return flat.reshape(shape, order="F" if fortran else "C")

    def floats(self, name: str, ndim: int = 1) -> Array:
        """Read float64 numbers."""
        return np.ascontiguousarray(self.array(name, "f", ndim), dtype=np.float64)

    def offsets(self, name: str, total: int) -> Array:
        """Read integers that rise from 0 to `total`."""
        values = self.array(name, "i")
        rising = values.size > 0 and values[0] == 0 and values[-1] == total
        if not rising or (np.diff(values) < 0).any():
            raise ValueError(f"member {name!r} does not rise from 0 to {total}")
        return values

    def texts(self, name: str) -> list[str]:
        """Read strings."""
        blob = self.array(f"{name}_bytes", "u").astype(np.uint8).tobytes()
        ends = self.offsets(f"{name}_offsets", len(blob)).tolist()
        return [
            blob[first:last].decode("utf-8", "surrogatepass")
            for first, last in pairwise(ends)
        ]

    def packed(self, name: str) -> TermNames:
        """Read texts without making a Python string of each."""
        blob = self.array(f"{name}_bytes", "u").astype(np.uint8, copy=False)
        ends = self.offsets(f"{name}_offsets", blob.size).astype(np.int64, copy=False)
        for row in _core.invalid_utf8_rows(blob, ends).tolist():
            # Lone surrogates of a Python string are let pass, other bytes are not.
            blob[ends[row] : ends[row + 1]].tobytes().decode("utf-8", "surrogatepass")
        return TermNames(blob, ends)

    def table(self, name: str, layout: Any) -> Any:
        """Read a table, dense or sparse."""
        if layout == "dense":
            return self.floats(name, 2)
        rows, columns = (int(extent) for extent in layout)
        data = self.floats(f"{name}_data")
        indices = self.array(f"{name}_indices", "i")
        indptr = self.offsets(f"{name}_indptr", data.size)
        if indices.size != data.size or indptr.size != columns + 1:
            raise ValueError(f"the arrays of {name!r} have different lengths")
        if indices.size:
            if indices.min() < 0 or indices.max() >= rows:
                raise ValueError(f"member {name}_indices is out of range")
            starts = np.zeros(indices.size, dtype=bool)
            starts[indptr[:-1][np.diff(indptr) > 0]] = True
            if (np.diff(indices)[~starts[1:]] <= 0).any():
                raise ValueError(f"member {name}_indices is not sorted")
        return sparse.csc_array((data, indices, indptr), shape=(rows, columns))


def _fill(member: Any, flat: Array) -> None:
    view = memoryview(flat.view(np.uint8).data)
    done = 0
    while done < len(view):
        got = member.readinto(view[done : done + (1 << 24)])
        if not got:
            raise EOFError("the file ends too early")
        done += got


def unpack_parts(reader: MemberReader) -> Parts:
    """Read what `pack_parts` has made; nothing in it is trusted."""
    metadata = json.loads(reader.array("metadata", "u").tobytes())
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise RefusedError("is not a file of class counts written by ClassCounts.save.")
    version = metadata.get("version")
    if version != VERSION:
        if isinstance(version, int) and version > VERSION:
            raise RefusedError(
                f"was written by a newer bayesieve (format {version}); this version "
                f"reads format {VERSION}."
            )
        raise RefusedError(
            f"has format {version!r}; this version reads format {VERSION}."
        )
    tables = {
        name: reader.table(name, layout) for name, layout in metadata["tables"].items()
    }
    if not set(tables) <= set(_TABLES):
        raise ValueError("unknown tables")
    names: Any = None
    if metadata["named"] and metadata.get("packed") is True:
        names = reader.packed("names")
    elif metadata["named"]:
        texts = reader.texts("names")
        names = np.empty(len(texts), dtype=object)
        names[:] = texts
    sizes = None
    if metadata["kind"] == "category":
        sizes = reader.array("n_categories", "i").astype(np.int64)
    return checked_parts(
        Parts(
            _unpack_classes(reader, metadata["classes"]),
            reader.floats("class_count"),
            metadata["kind"],
            feature_names=names,
            n_categories=sizes,
            **tables,
        )
    )


def _unpack_classes(reader: MemberReader, kind: str) -> Array:
    if kind in ("str", "object"):
        texts = reader.texts("classes")
        if kind == "str":
            return np.array(texts, dtype=np.str_)
        classes = np.empty(len(texts), dtype=object)
        classes[:] = texts
        return classes
    return reader.array("classes", {"int": "iu", "float": "f", "bool": "b"}[kind])
