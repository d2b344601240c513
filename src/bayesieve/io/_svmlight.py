"""svmlight files: a label and column:value pairs a line, as sparse matrices."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from bayesieve.io._format import Format
from bayesieve.io._read_options import LONGEST_ROW
from bayesieve.io._row_bounds import physical_memory, too_long

__all__ = ["Svmlight", "svmlight_batches"]

_CHUNK_BYTES = 1 << 26
_BYTES_PER_COLUMN = 100  # of the counts of two classes, and what a solver makes of them
_UNREADABLE = (ValueError, OverflowError)


class Svmlight(Format):
    """A matrix, which `svmlight_batches` reads."""

    name = "svm"
    endings = (".svm", ".svmlight", ".libsvm")
    packed = (".gz", ".bz2")
    is_matrix = True


def svmlight_batches(
    path: str, longest: int = LONGEST_ROW
) -> Iterator[tuple[Any, NDArray[np.float64]]]:
    """Yield (matrix, labels) in pieces of bounded size.

    Columns have the numbers that are written in the file, so a file that counts from 1
    has an empty column 0.
    """
    ending = os.path.splitext(path.lower())[1]
    opened: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(ending, open)
    try:
        with opened(path, "rb") as file:
            before = 0
            for block in _blocks(file, path, longest):
                try:
                    X, y = _parsed(block)
                except _UNREADABLE:
                    lines = block.splitlines(keepends=True)
                    raise _bad_line(path, before, lines) from None
                if X.shape[1] > physical_memory() // _BYTES_PER_COLUMN:
                    raise _too_wide(path, before, block, X)
                before += block.count(b"\n")
                if X.shape[0]:
                    yield X, y
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path!r} cannot be read: {error}") from None


def _blocks(file: Any, path: str, longest: int) -> Iterator[bytes]:
    """Pieces of a file that end where a line ends."""
    while block := file.read(_CHUNK_BYTES):
        if not block.endswith(b"\n"):
            rest = file.readline(longest + 1)
            if len(rest) > longest:
                raise too_long(f"A line of {path!r}", longest)
            block += rest
        yield block


def _parsed(block: bytes) -> tuple[Any, NDArray[np.float64]]:
    X, y = load_svmlight_file(io.BytesIO(block), zero_based=True)
    if X.indices.size and X.indices.min() < 0:
        raise ValueError(f"Got the column {X.indices.min()}, and columns are >= 0")
    return X, y


def _too_wide(path: str, before: int, block: bytes, X: Any) -> ValueError:
    row = int(np.searchsorted(X.indptr, np.argmax(X.indices), side="right")) - 1
    filled = [
        number
        for number, line in enumerate(block.splitlines(), start=before + 1)
        if line.split(b"#")[0].strip()
    ]
    return ValueError(
        f"Line {filled[row]:,} of {path!r} has the column {X.shape[1] - 1:,}, and the "
        f"counts of so many columns take {X.shape[1] * _BYTES_PER_COLUMN:,} bytes, "
        "more than there is memory. Hint: number the columns that occur from 0 on."
    )


def _bad_line(path: str, before: int, lines: list[bytes]) -> ValueError:
    """Look for the first line that cannot be read, by halves."""
    while len(lines) > 1:
        half = len(lines) // 2
        try:
            _parsed(b"".join(lines[:half]))
        except _UNREADABLE:
            lines = lines[:half]
        else:
            lines, before = lines[half:], before + half
    problem = "its values do not fit those of other lines"
    try:
        _parsed(b"".join(lines))
    except _UNREADABLE as error:
        problem = str(error).replace("b'", "'").rstrip(".")
    return ValueError(
        f"Line {before + 1:,} of {path!r} cannot be read: {problem}. Hint: a line is "
        "a label and column:value pairs, such as '1 3:2 7:1'."
    )
