"""Files of sequences or of anything, as pieces of symbols with the rows that begin."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bayesieve import _core
from bayesieve.io._containers import UNPACKING_ERRORS, Packed, looked_into
from bayesieve.sequences._spelling import Spelling
from bayesieve.utils._arrays import Array

__all__ = [
    *("MOST_OTHERS", "Piece", "letter_counts", "read_headers", "read_pieces"),
    *("read_records", "refuse_missing"),
]

#: Bytes of a piece: long enough that threads share its windows.
PIECE_BYTES = 8 << 20
#: What the numbers of bases are written as.
_LETTERS = np.frombuffer(b"ACGTN", dtype=np.uint8)
#: Share of letters that stand for no base, N apart, above which a file is none of DNA.
MOST_OTHERS = 0.5
#: What a tar archive has in the header of its first file.
_TAR, _TAR_AT = b"ustar", 257


@dataclass(frozen=True)
class Piece:
    """Symbols of a file, and where rows begin in them.

    With `goes_on` the first row began in an earlier piece, and its last symbols, as
    many as windows need, come again.
    """

    symbols: Array
    starts: Array
    goes_on: bool
    names: list[str]  # of the rows that begin here, where rows are records


def read_pieces(
    path: str,
    spelling: Spelling,
    *,
    records: bool = False,
    told: Callable[[int], None] = lambda done: None,
) -> Generator[Piece, None, None]:
    """Read a file, packed or not; `told` hears how many bytes of it were read.

    To be closed by who does not read to the end, an error included.
    """
    shown = repr(path)
    refuse_missing(path)
    packed = _sequence_file(path) if spelling.is_dna else None
    with (
        _damage_told(packed, shown),
        open(path, "rb") if packed is None else packed.open() as stream,
        _read_ahead(stream, os.path.getsize(path), told) as chunks,
    ):
        if spelling.is_dna:
            yield from _sequences(chunks, spelling, records, shown)
        else:
            yield from _bytes(chunks, spelling)


def read_records(path: str | os.PathLike[str]) -> Iterator[tuple[str, str]]:
    r"""Read the records of a FASTA or FASTQ file one by one.

    Parameters
    ----------
    path : path-like
        Packed by gzip, bzip2, xz, zstd or zip, or not.

    Yields
    ------
    header, sequence : str
        What follows the mark of the record, and its bases in capitals: U is T, and a
        letter that is no base is N.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesieve.sequences import read_records
    >>> path = pathlib.Path(tempfile.mkdtemp(), "two.fasta")
    >>> _ = path.write_text(">a first\nACGT\nacgu\n>b\nNNRA\n")
    >>> list(read_records(path))
    [('a first', 'ACGTACGT'), ('b', 'NNNA')]
    """
    path = os.fspath(path)
    refuse_missing(path)
    whole = Spelling(is_dna=True, length=1)  # windows of one base: nothing comes again
    packed = _sequence_file(path)
    header = ""
    bases: list[bytes] | None = None
    with _damage_told(packed, repr(path)), packed.open() as stream:
        # Nobody may read on: no thread reads ahead.
        chunks = iter(lambda: stream.read(PIECE_BYTES), b"")
        for piece in _sequences(chunks, whole, True, repr(path)):
            names, parts = iter(piece.names), np.split(piece.symbols, piece.starts)[1:]
            for number, part in enumerate(parts):
                if number > 0 or not piece.goes_on:
                    if bases is not None:
                        yield header, b"".join(bases).decode("ascii")
                    header, bases = next(names), []
                assert bases is not None
                bases.append(_LETTERS[part].tobytes())
    if bases is not None:
        yield header, b"".join(bases).decode("ascii")


def read_headers(path: str) -> Iterator[str]:
    """Read what follows the mark of each record, without making strings of bases."""
    single = Spelling(is_dna=True, length=1)
    with closing(read_pieces(path, single, records=True)) as pieces:
        for piece in pieces:
            yield from piece.names


def letter_counts(path: str) -> tuple[int, int, int]:
    """Count records, letters, and those of them that stand for no base, N apart."""
    refuse_missing(path)
    reader, shown = _core.SequenceReader(0, False), repr(path)
    packed = _sequence_file(path)
    with (
        _damage_told(packed, shown),
        packed.open() as stream,
        _other_text_told(shown),
    ):
        while chunk := stream.read(PIECE_BYTES):
            reader.read(np.frombuffer(chunk, dtype=np.uint8))
        reader.finish()
    return reader.records, reader.letters, reader.others


def refuse_missing(path: str) -> None:
    """Refuse what is no file, in words that are the same for every reader."""
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path!r} is a folder, and must be a file.")
    if not os.path.exists(path):
        raise FileNotFoundError(f"There is no file {path!r}.")


def _sequence_file(path: str) -> Packed:
    packed = looked_into(path, repr(path))
    if packed.head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        raise ValueError(
            f"{path!r} must hold sequences as FASTA or FASTQ. Got a tar archive of "
            "files. Hint: unpack it first: tar -xf."
        )
    return packed


@contextmanager
def _damage_told(packed: Packed | None, shown: str) -> Iterator[None]:
    """Say of a packed file that it is damaged, whatever its unpacker says."""
    try:
        yield
    except UNPACKING_ERRORS as error:
        if packed is None or packed.kind is None:
            raise
        raise ValueError(
            f"{shown} begins as a {packed.kind} file does, and is cut off or damaged."
        ) from error


@contextmanager
def _other_text_told(shown: str) -> Iterator[None]:
    """Say of which file it is that the reader cannot go on."""
    try:
        yield
    except ValueError as error:
        raise ValueError(
            f"{shown} must hold sequences as FASTA or FASTQ; {error}."
        ) from None


def _sequences(
    chunks: Iterator[bytes], spelling: Spelling, records: bool, shown: str
) -> Iterator[Piece]:
    reader = _core.SequenceReader(spelling.length - 1, records)

    def piece(found: Any) -> Piece:
        bases, starts, blob, ends, goes_on = found
        names = []
        if records:
            text = blob.tobytes()
            names = [
                text[first:last].decode("utf-8", "replace")
                for first, last in pairwise(ends.tolist())
            ]
        return Piece(bases, starts, bool(goes_on), names)

    for chunk in chunks:
        with _other_text_told(shown):
            found = reader.read(np.frombuffer(chunk, dtype=np.uint8))
        yield piece(found)
    with _other_text_told(shown):
        found = reader.finish()
    yield piece(found)
    if not reader.letters:
        raise ValueError(
            f"{shown} must hold sequences as FASTA or FASTQ. Got {reader.records} "
            "records and no base."
        )
    if reader.others > MOST_OTHERS * reader.letters:
        raise ValueError(
            f"{shown} must hold DNA or RNA: the letters A, C, G, T or U, and N. Got "
            f"{reader.others / reader.letters:.0%} other letters, as in proteins or "
            "alignments that are mostly gaps."
        )


def _bytes(chunks: Iterator[bytes], spelling: Spelling) -> Iterator[Piece]:
    kept, goes_on = b"", False
    for chunk in chunks:
        data = kept + chunk
        starts = np.zeros(1, dtype=np.int64)
        yield Piece(np.frombuffer(data, dtype=np.uint8), starts, goes_on, [])
        overlap = spelling.length - 1
        kept, goes_on = data[max(0, len(data) - overlap) :] if overlap else b"", True
    if not goes_on:  # an empty file is a row, too
        empty = np.zeros(0, dtype=np.uint8)
        yield Piece(empty, np.zeros(1, dtype=np.int64), False, [])


@contextmanager
def _read_ahead(
    stream: Any, size: int, told: Callable[[int], None]
) -> Iterator[Iterator[bytes]]:
    """The bytes of a stream in parts, the next one being read and unpacked meanwhile.

    The thread that reads has ended when the context has: one that were left to the
    garbage collector could be waited for by the thread that it waits for.
    """
    pool = ThreadPoolExecutor(1)

    def parts() -> Iterator[bytes]:
        done = 0
        coming = pool.submit(stream.read, PIECE_BYTES)
        while chunk := coming.result():
            coming = pool.submit(stream.read, PIECE_BYTES)
            yield chunk
            done = min(size, done + len(chunk))
            told(done)

    try:
        yield parts()
    finally:
        pool.shutdown()
