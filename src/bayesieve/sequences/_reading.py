"""Files of sequences or of anything, as pieces of symbols with the rows that begin."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bayesieve import _core
from bayesieve.io._containers import UNPACKING_ERRORS, looked_into
from bayesieve.sequences._spelling import Spelling
from bayesieve.utils._arrays import Array

__all__ = ["Piece", "read_pieces"]

#: Bytes of a piece: long enough that threads share its windows.
PIECE_BYTES = 8 << 20
#: Share of letters that stand for no base, N apart, above which a file is none of DNA.
_MOST_OTHERS = 0.5


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
) -> Iterator[Piece]:
    """Read a file, packed or not; `told` hears how many bytes of it were read."""
    shown = repr(path)
    packed = looked_into(path, shown) if spelling.is_dna else None
    try:
        with open(path, "rb") if packed is None else packed.open() as stream:
            chunks = _read_ahead(stream, os.path.getsize(path), told)
            if spelling.is_dna:
                yield from _sequences(chunks, spelling, records, shown)
            else:
                yield from _bytes(chunks, spelling)
    except UNPACKING_ERRORS as error:
        if packed is None or packed.kind is None:
            raise
        raise ValueError(
            f"{shown} begins as a {packed.kind} file does, and is cut off or damaged."
        ) from error


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

    try:
        for chunk in chunks:
            yield piece(reader.read(np.frombuffer(chunk, dtype=np.uint8)))
        yield piece(reader.finish())
    except ValueError as error:
        raise ValueError(
            f"{shown} must hold sequences as FASTA or FASTQ; {error}."
        ) from None
    if not reader.letters:
        raise ValueError(
            f"{shown} must hold sequences as FASTA or FASTQ. Got {reader.records} "
            "records and no base."
        )
    if reader.others > _MOST_OTHERS * reader.letters:
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


def _read_ahead(stream: Any, size: int, told: Callable[[int], None]) -> Iterator[bytes]:
    """Yield the bytes of a stream, the next ones being read and unpacked meanwhile."""
    done = 0
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(stream.read, PIECE_BYTES)
        while chunk := coming.result():
            coming = pool.submit(stream.read, PIECE_BYTES)
            yield chunk
            done = min(size, done + len(chunk))
            told(done)
