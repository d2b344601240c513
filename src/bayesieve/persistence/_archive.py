"""The members of a model file, checked before anything is read.

A model file is an uncompressed zip. Since nothing in it is compressed, what it unpacks
to is no larger than the file itself, and that is checked member by member and in sum.
"""

from __future__ import annotations

import json
import re
import zipfile
from typing import Any

import numpy as np

from bayesieve.counts._storage import MemberReader, RefusedError

__all__ = ["ModelArchive", "decoded", "encoded"]

#: Numbers and names only; tables are arrays. JSON takes some 25 times its size in
#: memory, so this bounds what a file made to do harm can cost.
_LONGEST_JSON = 1 << 23
_MOST_MEMBERS = 10_000
_NAME = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*\.(npy|json|txt)")


def encoded(value: Any) -> bytes:
    """Return strict JSON; the same value gives the same bytes."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, indent=1).encode(
        "utf-8", "surrogatepass"
    )


def decoded(data: bytes) -> Any:
    """Read strict JSON: no NaN, no name twice."""

    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is not JSON")

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a name is there twice")
        return found

    text = data.decode("utf-8", "surrogatepass")
    return json.loads(text, parse_constant=refuse, object_pairs_hook=members)


class ModelArchive(MemberReader):
    """Reads the members of a model file and remembers which were read."""

    def __init__(self, archive: zipfile.ZipFile, size: int) -> None:
        super().__init__(archive, size)
        self._read: set[str] = set()
        self._check(archive.infolist(), size)

    def _check(self, members: list[zipfile.ZipInfo], size: int) -> None:
        if len(members) > _MOST_MEMBERS:
            raise RefusedError(
                f"has {len(members):,} members; a model file has at most "
                f"{_MOST_MEMBERS:,}."
            )
        names: set[str] = set()
        for info in members:
            name = info.filename
            if _NAME.fullmatch(name) is None or len(name) > 200:
                raise RefusedError(
                    f"has a member {name[:80]!r}, which is no name that a model file "
                    "uses."
                )
            if name in names:
                raise RefusedError(f"has two members {name!r}.")
            names.add(name)
            if info.flag_bits & 0x1:
                raise RefusedError(f"has an encrypted member {name!r}.")
            if info.compress_type != zipfile.ZIP_STORED:
                raise RefusedError(
                    f"has a compressed member {name!r}; members of a model file are "
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
        self.names = names

    def array(self, name: str, kinds: str, ndim: int = 1) -> np.ndarray:
        """Read an array; see `MemberReader.array`."""
        self._read.add(f"{self._prefix}{name}.npy")
        return super().array(name, kinds, ndim)

    def content(self, name: str) -> bytes:
        """Read a member as bytes; its checksum is compared."""
        self._read.add(name)
        with self._archive.open(name) as member:
            return member.read()

    def json(self, name: str) -> Any:
        """Read a member as JSON."""
        if name not in self.names:
            raise RefusedError("is not a model written by bayesieve.save_model.")
        if self._archive.getinfo(name).file_size > _LONGEST_JSON:
            raise RefusedError(
                f"has a {name!r} of more than {_LONGEST_JSON >> 20} MB, which no model "
                "needs."
            )
        return decoded(self.content(name))

    def below(self, prefix: str) -> ModelArchive:
        """Return a reader of the members whose names begin so."""
        part = object.__new__(ModelArchive)
        part.__dict__.update(self.__dict__)
        part._prefix = prefix
        return part

    def check_all_read(self) -> None:
        """Refuse a file with members that no part of the model names."""
        extra = sorted(self.names - self._read)
        if extra:
            raise RefusedError(
                f"has a member {extra[0]!r} that does not belong to its model."
            )
