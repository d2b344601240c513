"""What files are packed in, told by their first bytes and not by their names."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bayesieve.io._duckdb import needs

__all__ = [
    "PACKED_ENDINGS",
    "UNPACKING_ERRORS",
    "Packed",
    "content_of",
    "holds_no_data",
    "looked_into",
    "without_packing",
]

#: Endings of packed files, and how they are packed.
PACKED_ENDINGS = {
    **{".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"},
    ".zip": "zip",
}
#: What Python unpacks itself, several packed files in one included.
_BY_PYTHON: dict[str, Callable[..., Any]] = {
    "gzip": gzip.open,
    "bz2": bz2.open,
    "xz": lzma.open,
}
#: What DuckDB unpacks while it reads, in parallel with the rest.
_BY_DUCKDB = ("gzip", "zstd")
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
}
#: What formats begin with, and which they are.
_CONTENT = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "xlsx",
}
#: What other files begin with, that people take for data.
_OTHERS = {
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"%PDF-": "a PDF document",
    b"SQLite format 3": "a database of SQLite",
    b"\x89HDF": "an HDF5 file",
    b"\x80\x04\x95": "a pickle of Python",
    b"\x80\x05\x95": "a pickle of Python",
    b"\x93NUMPY": "an array of NumPy",
    b"RDX3": "a workspace of R",
    b"{\\rtf": "a document of a word processor",
    b"<!doctype html": "a web page, perhaps one that asks to sign in",
    b"<html": "a web page, perhaps one that asks to sign in",
    b"version https://git-lfs": "a pointer of Git LFS: the data was not fetched",
}
_BOOKS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")
UNPACKING_ERRORS = (
    *(OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile),
    NotImplementedError,  # a zip that is packed in a way of its own
)
_HEAD = 4096


@dataclass(frozen=True)
class Packed:
    """A file and what it is packed in; `member` is the file within an archive.

    `kind` is None for a file that is not packed. `content` names the format that its
    first bytes tell, "saved" stands for counts and models, and None for any text.
    """

    path: str
    kind: str | None = None
    member: str | None = None
    content: str | None = None
    head: bytes = b""

    @property
    def is_read_by_duckdb(self) -> bool:
        """Whether DuckDB can read the file as it is."""
        return self.kind is None or self.kind in _BY_DUCKDB

    @property
    def looks_like_text(self) -> bool:
        """Whether there is something, and nothing that no text has."""
        head = self.head.replace(b"\0", b"")  # UTF-16 has many
        odd = sum(byte < 32 and byte not in b"\t\n\r\f\x1a\x1b" for byte in head)
        return bool(head) and odd <= len(head) // 100

    def open(self) -> Any:
        """Open the file, unpacked."""
        if self.kind == "zip":
            archive = zipfile.ZipFile(self.path)
            return archive.open(str(self.member))
        unpack = _BY_PYTHON.get(self.kind or "")
        if unpack is not None:
            return unpack(self.path, "rb")
        if self.kind is None:
            return open(self.path, "rb")
        return needs("pyarrow").input_stream(self.path, compression=self.kind)


def without_packing(name: str) -> str:
    """Return a name in lower case without the ending that says how it is packed."""
    stem, ending = os.path.splitext(name.lower().strip())
    return stem if ending in PACKED_ENDINGS else name.lower().strip()


def looked_into(path: str, told: str) -> Packed:
    """Look at the beginning of a file, unpacked; `told` is its name in messages."""
    with open(path, "rb") as file:
        head = file.read(_HEAD)
    kind = next((own for magic, own in _MAGIC.items() if head.startswith(magic)), None)
    if kind is None:
        return Packed(path, content=content_of(head), head=head)
    member = None
    if kind == "zip":
        content, member = _archive(path, told)
        if content is not None or member is None:
            return Packed(path, content=content, head=head)
    packed = Packed(path, kind, member)
    try:
        with packed.open() as stream:
            head = stream.read(_HEAD)
    except UNPACKING_ERRORS as error:
        raise ValueError(
            f"{told} begins as a {kind} file does, and is cut off or damaged."
        ) from error
    content = content_of(head)
    if content is not None and kind is not None:
        raise ValueError(
            f"{told} is a {content} file within a {kind} file, which cannot be read "
            "in pieces. Hint: unpack it first."
        )
    return Packed(path, kind, member, head=head)


def content_of(head: bytes) -> str | None:
    """Return the format that the first bytes of a file tell, if they do."""
    for magic, own in _CONTENT.items():
        if head.startswith(magic):
            return own
    return None


def holds_no_data(head: bytes) -> str:
    """Say what a file is that begins so, if that can be no table."""
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    for magic, told in _OTHERS.items():
        begins = head[: len(magic)]
        if begins == magic or (magic[:1] == b"<" and begins.lower() == magic):
            return told
    return ""


_SEQUENCES = re.compile(
    rb"\s*(>[^\n]*\n[A-Za-z*.\r-]{8,}|@[^\n]*\n[A-Za-z.\r]{8,}\n\+[^\n]*\n)"
)


def holds_sequences(head: bytes) -> bool:
    """Whether a file begins as FASTA or FASTQ does: a header, then letters alone."""
    return _SEQUENCES.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


def _archive(path: str, told: str) -> tuple[str | None, str | None]:
    """Return what a zip is, a workbook or what this package saved, or its one file."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError):
        return "damaged zip", None
    names = [own.filename for own in members]
    if any(name in _BOOKS for name in names):
        return "xlsx", None
    if any(name.endswith(".npy") for name in names):
        return "saved", None
    files = [
        own
        for own in members
        if not own.is_dir()
        and not own.filename.startswith("__MACOSX/")
        and not os.path.basename(own.filename).startswith(".")
    ]
    if len(files) != 1:
        shown = ", ".join(repr(own.filename) for own in files[:6])
        more = ", ..." if len(files) > 6 else ""
        raise ValueError(
            f"A zip must hold one file of data. Got {len(files)} in {told}"
            f"{f': {shown}{more}' if files else ''}. Hint: unpack it first."
        )
    if files[0].flag_bits & 1:
        raise ValueError(
            f"{told} is locked by a password. Hint: unpack it first, with the password."
        )
    return None, files[0].filename
