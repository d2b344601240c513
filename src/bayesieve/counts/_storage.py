"""Saving and loading: one .npz file of plain arrays, never a pickle.

The file is an uncompressed zip of .npy members. `metadata` is JSON as bytes; text is
stored as UTF-8 bytes with offsets. A file is written beside its final place and moved
there once it is complete, and nothing read from a file is trusted.
"""

from __future__ import annotations

import json
import math
import os
import re
import zipfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from bayesieve import _core
from bayesieve.counts._checks import checked
from bayesieve.counts._copies import Copies, NamesWithCopies
from bayesieve.counts._layout import is_dense_layout
from bayesieve.exceptions import NewerVersionWarning
from bayesieve.sequences._key_names import KeyNames
from bayesieve.sequences._spelling import Spelling
from bayesieve.text._term_names import TermNames
from bayesieve.utils._arrays import Array
from bayesieve.utils._resources import check_memory_budget
from bayesieve.utils._strict_json import read_json
from bayesieve.utils._warnings import warn_user
from bayesieve.utils._whole_files import open_regular, whole_file

if TYPE_CHECKING:
    from bayesieve.counts._table import ClassCounts

FORMAT = "bayesieve.ClassCounts"
VERSION = 1
_TABLES = ("feature_count", "document_count", "mean", "centred_squares")


# --------------------------------------------------------------------------- writing


def save_counts(counts: ClassCounts, path: Any) -> None:
    """Write the counts to one file, atomically."""
    write_archive({f"{n}.npy": array for n, array in pack_counts(counts).items()}, path)


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


def pack_counts(counts: ClassCounts) -> dict[str, Array]:
    """Return the counts as named arrays, `metadata` among them."""
    arrays: dict[str, Array] = {"class_count": counts.class_count}
    names = counts.feature_names
    metadata: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "bayesieve": version("bayesieve"),
        "kind": counts.kind,
        "classes": _class_type(counts.classes),
        "named": names is not None,
        # A reader that does not know this makes an ordinary array of the names.
        "packed": isinstance(names, TermNames),
        "tables": {},
    }
    if metadata["classes"] in ("str", "object"):
        pack_text(arrays, "classes", counts.classes)
    else:
        arrays["classes"] = counts.classes
    if isinstance(names, KeyNames):
        metadata["spelling"] = list(names.spelling.settings)
        arrays["names_keys"] = names.keys
    elif isinstance(names, TermNames):
        first, last = names.offsets[0], names.offsets[-1]
        arrays["names_bytes"] = names.data[first:last]
        arrays["names_offsets"] = names.offsets - first
    elif names is not None:
        pack_text(arrays, "names", np.asarray(names))
    if counts.copies is not None:
        metadata["copies"] = True
        arrays["copies_keys"] = counts.copies.names.keys
        arrays["copies_group"] = counts.copies.group
        arrays["copies_columns"] = counts.copies.columns
    if counts.least_rows > 1:
        metadata["least_rows"] = counts.least_rows
    if counts.n_categories is not None:
        arrays["n_categories"] = counts.n_categories
    for name, table in counts._tables().items():
        if sparse.issparse(table):
            metadata["tables"][name] = list(table.shape)
            arrays[f"{name}_data"] = table.data
            arrays[f"{name}_indices"] = table.indices
            arrays[f"{name}_indptr"] = table.indptr
        else:
            metadata["tables"][name] = "dense"
            arrays[name] = table
    text = json.dumps(metadata, sort_keys=True).encode()
    arrays["metadata"] = np.frombuffer(text, dtype=np.uint8)
    return arrays


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

#: dtypes that the positions of a sparse table have, and those of labels and parameters.
INDICES = "int32 int64"
NUMBERS = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "float16 float32 float64 float96 float128"
)
_MOST_MEMBERS = 10_000
_MEMBER = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*\.(npy|json|txt)")
#: What `numpy.save` writes before plain numbers, and nothing else that could be there.
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '([<>|][biuf][0-9]{1,2})', 'fortran_order': (False|True), "
    rb"'shape': \(([0-9, ]{0,99})\), \} *\n"
)
#: Memory that may be asked for by default: JSON and strings take up to 25 times their
#: size in a file, and small files may hold labels of very different lengths.
_LEAST_BUDGET, _BUDGET_SHARE = 1 << 24, 32
OF_JSON, _OF_STRING, _OF_CHARACTER = 25, 100, 4


def load_counts(
    cls: type[ClassCounts], path: Any, memory_budget: int | None = None
) -> ClassCounts:
    """Read a file written by `save_counts`; anything else is a ValueError."""
    with open_regular(path) as file:
        budget = Budget(os.fstat(file.fileno()).st_size, memory_budget)
        try:
            with zipfile.ZipFile(file) as archive:
                reader = MemberReader(archive, budget)
                metadata = _metadata(reader)
                counts = unpack_counts(cls, reader, metadata)
        except RefusedError as error:
            raise ValueError(f"{os.fspath(path)} {error}") from None
        except MemoryError:  # the machine's: the budget bounds what a file may ask for
            raise
        # Damaged archives raise whatever their damage leads to: BadZipFile, EOFError,
        # KeyError, struct.error, UnicodeError, RuntimeError, ...
        except Exception as error:
            raise ValueError(
                f"{os.fspath(path)} is not a readable file of class counts; it must be "
                f"one written by ClassCounts.save. Got: {one_line(error)}"
            ) from error
    warn_if_newer(path, metadata)
    return counts


def one_line(error: Exception) -> str:
    """Return what an error says as a short line."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def warn_if_newer(path: Any, header: dict[str, Any]) -> None:
    """Tell that a newer package of the same format has written a file."""
    written = header.get("bayesieve", "")
    if _release(written) > _release(version("bayesieve")):
        warn_user(
            f"{os.fspath(path)} was written by bayesieve {written}, which is newer "
            f"than this one ({version('bayesieve')}): what that added is not used. "
            "Hint: update bayesieve.",
            NewerVersionWarning,
        )


def _release(written: Any) -> list[int]:
    """Return the numbers at the start of a version; none for what is no version."""
    if not isinstance(written, str) or len(written) > 40:
        return []
    found = re.match(r"\d{1,9}(\.\d{1,9})*", written)
    numbers = [int(part) for part in found[0].split(".")] if found else []
    while numbers and not numbers[-1]:
        numbers.pop()  # 1.0 is 1
    return numbers


class RefusedError(Exception):
    """A file that is readable but not to be used; the message follows its path."""


class Budget:
    """Memory that reading a file may take, asked for before it is taken."""

    def __init__(self, size: int, allowed: int | None) -> None:
        check_memory_budget(allowed)
        if allowed is None:
            allowed = _LEAST_BUDGET + _BUDGET_SHARE * size
        self.size = size
        self._allowed = self._left = int(allowed)

    def claim(self, n_bytes: int) -> None:
        """Take some, or refuse the file."""
        self._left -= n_bytes
        if self._left < 0:
            raise RefusedError(
                f"asks for more than {self._allowed:,} bytes of memory, which is far "
                "more than such a file needs. Hint: if you trust it, give a larger "
                "memory_budget."
            )


def rises(values: Array, *, strictly: bool = False) -> bool:
    """Tell whether no value (or, strictly, none but the first) is below the last one.

    Neighbours are compared and not subtracted: differences of integers wrap, and those
    of infinities are not numbers.
    """
    before, after = values[:-1], values[1:]
    return bool((before < after if strictly else before <= after).all())


class MemberReader:
    """Reads members of the archive as arrays, with every kind and size checked.

    Nothing in a file is compressed and no two members share bytes, so what is read is
    no larger than the file; what is made of it goes through the budget.
    """

    what = "a file of counts"

    def __init__(self, archive: zipfile.ZipFile, budget: Budget) -> None:
        self._archive = archive
        self._prefix = ""
        self.names = self._checked(archive.infolist(), budget.size)
        self.budget = budget

    def _checked(self, members: list[zipfile.ZipInfo], size: int) -> set[str]:
        if len(members) > _MOST_MEMBERS:
            raise RefusedError(
                f"has {len(members):,} members; {self.what} has at most "
                f"{_MOST_MEMBERS:,}."
            )
        names: set[str] = set()
        for info in members:
            name = info.filename
            if _MEMBER.fullmatch(name) is None or len(name) > 200:
                raise RefusedError(
                    f"has a member {name[:80]!r}, which is no name that {self.what} "
                    "uses."
                )
            if name in names:
                raise RefusedError(f"has two members {name!r}.")
            names.add(name)
            if info.flag_bits & 0x1:
                raise RefusedError(f"has an encrypted member {name!r}.")
            if info.compress_type != zipfile.ZIP_STORED:
                raise RefusedError(
                    f"has a compressed member {name!r}; members of {self.what} are "
                    "stored as they are."
                )
            if info.file_size != info.compress_size:
                raise RefusedError(f"has a member {name!r} of two sizes.")
        total = sum(info.file_size for info in members)
        if total > size:
            raise RefusedError(
                f"claims to hold {total:,} bytes, which is more than the file has "
                f"({size:,})."
            )
        places = sorted((info.header_offset, info.file_size) for info in members)
        for (first, length), (second, _) in pairwise([*places, (size, 0)]):
            # 30 bytes and the name come before the content of every member.
            if first + 30 + length > second:
                raise RefusedError("has members that lie on the same bytes.")
        return names

    def array(self, name: str, dtypes: str, ndim: int = 1) -> Array:
        """Read an array of one of some dtypes, with a known number of dimensions."""
        info = self._archive.getinfo(f"{self._prefix}{name}.npy")
        with self._archive.open(info) as member:
            start = member.read(len(_MAGIC) + 2)
            length = int.from_bytes(start[len(_MAGIC) :], "little")
            header = member.read(length) if length <= 1000 else b""
            found = _HEADER.fullmatch(header)
            if not start.startswith(_MAGIC) or found is None:
                raise ValueError(f"member {name!r} is not the array it should be")
            dtype = np.dtype(found[1].decode())
            shape = tuple(int(n) for n in found[3].decode().split(",") if n.strip())
            if dtype.name not in dtypes.split() or len(shape) != ndim:
                raise ValueError(f"member {name!r} is not the array it should be")
            n_bytes = math.prod(shape) * dtype.itemsize
            # An extent beyond the bytes of the file belongs to an empty array, whose
            # other extents are zero; nothing is that wide.
            if (
                n_bytes != info.file_size - len(start) - length
                or max(shape, default=0) > self.budget.size
            ):
                raise ValueError(f"member {name!r} has a wrong shape")
            self.budget.claim(n_bytes)
            flat = np.empty(math.prod(shape), dtype=dtype)
            _fill(member, flat)
            # Reading to the end is what makes zipfile compare the checksum.
            if member.read(1):
                raise ValueError(f"member {name!r} is longer than its shape")
        if dtype.kind == "b" and (flat.view(np.uint8) > 1).any():
            raise ValueError(f"member {name!r} does not hold truth values")
        if not dtype.isnative:
            flat = flat.astype(dtype.newbyteorder("="))
        fortran = found[2] == b"True"
        return flat.reshape(shape, order="F" if fortran else "C")

    def floats(self, name: str, ndim: int = 1) -> Array:
        """Read float64 numbers."""
        return np.ascontiguousarray(self.array(name, "float64", ndim))

    def integers(self, name: str) -> Array:
        """Read int64 numbers."""
        return self.array(name, "int64")

    def offsets(self, name: str, total: int, dtypes: str = "int64") -> Array:
        """Read integers that rise from 0 to `total`."""
        values = self.array(name, dtypes)
        ends = values.size > 0 and values[0] == 0 and values[-1] == total
        if not ends or not rises(values):
            raise ValueError(f"member {name!r} does not rise from 0 to {total}")
        return values

    def texts(self, name: str) -> list[str]:
        """Read strings."""
        blob = self.array(f"{name}_bytes", "uint8").tobytes()
        ends = self.offsets(f"{name}_offsets", len(blob))
        self.budget.claim(_OF_STRING * ends.size + _OF_CHARACTER * len(blob))
        return [
            blob[first:last].decode("utf-8", "surrogatepass")
            for first, last in pairwise(ends.tolist())
        ]

    def string_array(self, texts: Sequence[Any], name: str) -> Array:
        """Return strings as NumPy's own, each of which takes as much as the longest."""
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(f"{name!r} does not hold strings")
        longest = max(map(len, texts), default=0)
        self.budget.claim(_OF_CHARACTER * len(texts) * longest)
        return np.array(texts, dtype=np.str_)

    def packed(self, name: str) -> TermNames:
        """Read texts without making a Python string of each."""
        blob = self.array(f"{name}_bytes", "uint8")
        ends = self.offsets(f"{name}_offsets", blob.size)
        for row in _core.invalid_utf8_rows(blob, ends).tolist():
            # Lone surrogates of a Python string are let pass, other bytes are not.
            blob[ends[row] : ends[row + 1]].tobytes().decode("utf-8", "surrogatepass")
        return TermNames(blob, ends)

    def json(self, name: str) -> Any:
        """Read an array of bytes as JSON."""
        data = self.array(name, "uint8").tobytes()
        self.budget.claim(OF_JSON * len(data))
        return read_json(data)

    def table(self, name: str, layout: Any) -> Any:
        """Read a table, dense or sparse."""
        if layout == "dense":
            return self.floats(name, 2)
        rows, columns = layout
        if type(rows) is not int or type(columns) is not int or not 0 <= rows < 2**53:
            raise ValueError(f"the shape of {name!r} is not two sizes")
        data = self.floats(f"{name}_data")
        indices = self.array(f"{name}_indices", INDICES)
        indptr = self.offsets(f"{name}_indptr", data.size, INDICES)
        if indices.size != data.size or indptr.size != columns + 1:
            raise ValueError(f"the arrays of {name!r} have different lengths")
        if indices.size:
            if indices.min() < 0 or indices.max() >= rows:
                raise ValueError(f"member {name}_indices is out of range")
            starts = np.zeros(indices.size, dtype=bool)
            starts[indptr[:-1][indptr[1:] > indptr[:-1]]] = True
            if not (starts[1:] | (indices[1:] > indices[:-1])).all():
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


def _metadata(reader: MemberReader) -> dict[str, Any]:
    metadata = reader.json("metadata")
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise RefusedError("is not a file of class counts written by ClassCounts.save.")
    found = metadata.get("version")
    if type(found) is not int or found != VERSION:
        if type(found) is int and found > VERSION:
            raise RefusedError(
                f"was written by a newer bayesieve (format {str(found)[:20]}); this "
                f"version reads format {VERSION}."
            )
        raise RefusedError(
            f"has format {found!r:.40}; this version reads format {VERSION}."
        )
    return metadata


def unpack_counts(
    cls: type[ClassCounts],
    reader: MemberReader,
    metadata: dict[str, Any] | None = None,
) -> ClassCounts:
    """Read what `pack_counts` has made; nothing in it is trusted."""
    metadata = _metadata(reader) if metadata is None else metadata
    if not set(metadata["tables"]) <= set(_TABLES):
        raise ValueError("unknown tables")
    tables = {
        name: _table(reader, name, layout)
        for name, layout in metadata["tables"].items()
    }
    names: Any = None
    named, packed = metadata["named"], metadata.get("packed", False)
    if type(named) is not bool or type(packed) is not bool:
        raise ValueError("'named' and 'packed' must be true or false")
    copies = None
    if named and "spelling" in metadata:
        names = KeyNames(reader.array("names_keys", "uint64"), _spelling(metadata))
        if metadata.get("copies", False):
            copies = _copies(reader, names)
            names = NamesWithCopies(names.keys, copies)
    elif named and packed:
        names = reader.packed("names")
    elif named:
        texts = reader.texts("names")
        names = np.empty(len(texts), dtype=object)
        names[:] = texts
    least_rows = metadata.get("least_rows", 1)
    if type(least_rows) is not int or not 1 <= least_rows < 2**63:
        raise ValueError("'least_rows' must be a whole number >= 1")
    sizes = None
    if metadata["kind"] == "category":
        sizes = reader.integers("n_categories")
    return checked(
        cls._of(
            _unpack_classes(reader, metadata["classes"]),
            reader.floats("class_count"),
            metadata["kind"],
            feature_names=names,
            n_categories=sizes,
            copies=copies,
            least_rows=least_rows,
            **tables,
        )
    )


def _spelling(metadata: dict[str, Any]) -> Spelling:
    settings = metadata["spelling"]
    if not isinstance(settings, list) or len(settings) != 3:
        raise ValueError("'spelling' must be three values")
    is_dna, length, canonical = settings
    if type(is_dna) is not bool or type(canonical) is not bool:
        raise ValueError("'spelling' must say what keys are")
    if is_dna:
        return Spelling.of_kmers(length, canonical, owner="the file")
    return Spelling.of_bytes(length, owner="the file")


def _copies(reader: MemberReader, names: KeyNames) -> Copies:
    """Read the members of columns; every column must be named by its first member."""
    keys = KeyNames(reader.array("copies_keys", "uint64"), names.spelling)
    group = reader.array("copies_group", "uint32")
    columns = reader.array("copies_columns", "int64")
    if group.size != len(keys) or columns.size != len(names) or not keys.is_sorted:
        raise ValueError("the copies have different lengths, or are not sorted")
    n_groups = int(group.max()) + 1 if group.size else 0
    # A group is numbered when its first member is met: no number is left out.
    reader.budget.claim(8 * n_groups)
    if n_groups > group.size or (
        columns.size and not 0 <= columns.min() <= columns.max() < n_groups
    ):
        raise ValueError("the copies have groups that are out of range")
    first = np.full(n_groups, group.size)
    np.minimum.at(first, group, np.arange(group.size))
    if n_groups and first.max() == group.size:
        raise ValueError("the copies have a group without members")
    if not np.array_equal(keys.keys[first[columns]], names.keys):
        raise ValueError("the columns are not named by their first members")
    return Copies(keys, group, columns)


def _table(reader: MemberReader, name: str, layout: Any) -> Any:
    """Read a table; one that will be dense must fit the budget."""
    table = reader.table(name, layout)
    if sparse.issparse(table) and is_dense_layout(*table.shape):
        reader.budget.claim(8 * math.prod(table.shape))
    return table


def _unpack_classes(reader: MemberReader, kind: Any) -> Array:
    if kind in ("str", "object"):
        texts = reader.texts("classes")
        if kind == "str":
            return reader.string_array(texts, "classes")
        classes = np.empty(len(texts), dtype=object)
        classes[:] = texts
        return classes
    classes = reader.array("classes", NUMBERS)
    if classes.dtype.kind not in {"int": "iu", "float": "f", "bool": "b"}[kind]:
        raise ValueError("member 'classes' is not the array it should be")
    return classes
