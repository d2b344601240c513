"""Raw rows, in memory or in files, as pieces of symbols."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Set
from typing import Any

import numpy as np

from bayesieve.io._labels import is_missing
from bayesieve.sequences._reading import (
    PIECE_BYTES,
    Piece,
    read_pieces,
    refuse_missing,
)
from bayesieve.sequences._spelling import Spelling
from bayesieve.utils._arrays import Array

__all__ = ["checked_sequences", "row_pieces"]

#: The number of each letter: T and U are one base, and 4 is none.
_BASES = np.full(256, 4, dtype=np.uint8)
for _number, _letters in enumerate((b"Aa", b"Cc", b"Gg", b"TtUu")):
    _BASES[list(_letters)] = _number
#: Letters that are no base and yet belong in a sequence: any base, and a gap.
_KNOWN = np.zeros(256, dtype=bool)
_KNOWN[list(b"Nn-")] = True
#: All letters of sequences, by the code of the IUPAC, and what stands for gaps.
_CODES = np.zeros(256, dtype=bool)
_CODES[list(b"ACGTURYSWKMBDHVNXI" + b"acgturyswkmbdhvnxi" + b"-.*~? ")] = True
#: Letters looked at before rows of DNA are believed to be some.
_LOOKED_AT = 1 << 20
#: Rows that are no longer could be the names of files, and have no other letters.
_LONGEST_NAME = 256


def checked_sequences(X: Any, spelling: Spelling, *, owner: str) -> list[Any]:
    """Return rows as a list of str, bytes and paths, or say what is wrong with them."""
    kind = "str or bytes" if spelling.is_dna else "bytes"
    needs = f"{owner} needs a list of sequences as {kind}, or of files as pathlib.Path"
    if isinstance(X, str | bytes | os.PathLike):
        raise ValueError(
            f"{needs}. Got a single {type(X).__name__}. Hint: put it in a list."
        )
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and len(shape) != 1:
        raise ValueError(
            f"{needs}, in one dimension. Got {type(X).__name__} of shape {shape}."
        )
    if isinstance(X, Mapping | Set) or not hasattr(X, "__iter__"):
        raise ValueError(f"{needs}. Got {type(X).__name__}.")
    if getattr(getattr(X, "dtype", None), "kind", "") == "S" and not spelling.is_dna:
        raise ValueError(
            f"{needs}. Got an array of dtype {X.dtype}, which drops zero bytes at the "
            "end of a row. Hint: a list, or an array made with dtype=object."
        )
    rows = X.tolist() if hasattr(X, "tolist") else list(X)
    if not rows:
        raise ValueError(f"{needs}. Got none.")
    allowed: Any = (bytes, os.PathLike)
    if spelling.is_dna:
        allowed = (str, *allowed)
    for number, row in enumerate(rows):
        if isinstance(row, allowed):
            if isinstance(row, os.PathLike):  # before hours of others are counted
                refuse_missing(os.fspath(row))
            continue
        found = f"{type(row).__name__} {row!r:.40}"
        if is_missing(row):
            found = "a missing value"
        hint = ""
        if isinstance(row, str):
            hint = " Hint: pathlib.Path(...) for a file, text.encode() for a text."
        raise ValueError(f"{needs}. Got {found} in row {number}.{hint}")
    if spelling.is_dna:
        _refuse_other_letters(rows, needs)
    return rows


def _refuse_other_letters(rows: list[Any], needs: str) -> None:
    """Names of files, or proteins, are no sequences of bases."""
    left = _LOOKED_AT
    for number, row in enumerate(rows):
        if isinstance(row, os.PathLike) or not row:
            continue
        marks = ("\n", ">", "/", "\\") if isinstance(row, str) else (b"\n", b">", b"/")
        wrong = any(mark in row for mark in marks)  # a file's text, or its name
        if not wrong and (left > 0 or len(row) <= _LONGEST_NAME):
            symbols = np.frombuffer(_encoded(row)[:_LOOKED_AT], dtype=np.uint8)
            left -= symbols.size
            none = (_BASES[symbols] == 4) & ~_KNOWN[symbols]
            wrong = bool(none.mean() > 0.5)
            if symbols.size <= _LONGEST_NAME:
                wrong = wrong or not _CODES[symbols].all()
        if wrong:
            raise ValueError(
                f"{needs}, with the letters A, C, G, T or U, and N. Got {row[:40]!r} "
                f"in row {number}. Hint: pathlib.Path(...) for a file, and "
                "bayesieve.sequences.read_records for its sequences."
            )


def row_pieces(rows: list[Any], spelling: Spelling) -> Generator[Piece, None, None]:
    """Yield rows as pieces, many short ones in one, and files as they are read.

    To be closed by who does not read to the end, an error included.
    """
    waiting: list[bytes] = []
    size = 0
    for row in rows:
        if isinstance(row, os.PathLike):
            if waiting:
                yield _piece(waiting, spelling)
                waiting, size = [], 0
            path = os.fspath(row)
            yield from read_pieces(path, spelling)
            continue
        waiting.append(_encoded(row))
        size += len(waiting[-1])
        if size >= PIECE_BYTES:
            yield _piece(waiting, spelling)
            waiting, size = [], 0
    if waiting:
        yield _piece(waiting, spelling)


def _encoded(row: str | bytes) -> bytes:
    # A letter that is no ASCII becomes a question mark, which is no base either.
    return row.encode("ascii", "replace") if isinstance(row, str) else row


def _piece(rows: list[bytes], spelling: Spelling) -> Piece:
    ends = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    symbols: Array = np.frombuffer(b"".join(rows), dtype=np.uint8)
    if spelling.is_dna:
        symbols = _BASES[symbols]
    return Piece(symbols, ends[:-1].copy(), False, [])
