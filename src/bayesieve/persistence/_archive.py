"""The members of a model file: those of counts, and a header in JSON."""

from __future__ import annotations

import json
import zipfile
from typing import Any

import numpy as np

from bayesieve.counts._storage import OF_JSON, Budget, MemberReader, RefusedError
from bayesieve.utils._strict_json import read_json

__all__ = ["ModelArchive", "encoded"]

#: Numbers and names only; tables are arrays. JSON takes some 25 times its size in
#: memory, so this bounds what a file made to do harm can cost.
_LONGEST_JSON = 1 << 23


def encoded(value: Any) -> bytes:
    """Return strict JSON; the same value gives the same bytes."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, indent=1).encode(
        "utf-8", "surrogatepass"
    )


class ModelArchive(MemberReader):
    """Reads the members of a model file and remembers which were read."""

    what = "a model file"

    def __init__(self, archive: zipfile.ZipFile, budget: Budget) -> None:
        super().__init__(archive, budget)
        self._read: set[str] = set()

    def array(self, name: str, dtypes: str, ndim: int = 1) -> np.ndarray:
        """Read an array; see `MemberReader.array`."""
        self._read.add(f"{self._prefix}{name}.npy")
        return super().array(name, dtypes, ndim)

    def content(self, name: str) -> bytes:
        """Read a member as bytes; its checksum is compared."""
        self._read.add(name)
        with self._archive.open(name) as member:
            return member.read()

    def header(self, name: str) -> Any:
        """Read a member that is JSON itself."""
        if name not in self.names:
            raise RefusedError("is not a model written by bayesieve.save_model.")
        if self._archive.getinfo(name).file_size > _LONGEST_JSON:
            raise RefusedError(
                f"has a {name!r} of more than {_LONGEST_JSON >> 20} MB, which no model "
                "needs."
            )
        data = self.content(name)
        self.budget.claim(OF_JSON * len(data))
        return read_json(data)

    def below(self, prefix: str) -> ModelArchive:
        """Return a reader of the members whose names begin so."""
        part = object.__new__(ModelArchive)
        part.__dict__.update(self.__dict__)
        part._prefix = self._prefix + prefix
        return part

    def holds(self, name: str) -> bool:
        """Whether there is an array of this name."""
        return f"{self._prefix}{name}.npy" in self.names

    def check_all_read(self) -> None:
        """Refuse a file with members that no part of the model names."""
        extra = sorted(self.names - self._read)
        if extra:
            raise RefusedError(
                f"has a member {extra[0]!r} that does not belong to its model."
            )
