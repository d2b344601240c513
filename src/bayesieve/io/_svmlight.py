"""svmlight files: a label and column:value pairs a line, as sparse matrices."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from bayesieve.io._bad_rows import BadRows
from bayesieve.io._format import Format
from bayesieve.io._row_bounds import physical_memory, too_long

if TYPE_CHECKING:
    from bayesieve.io._files import DataFile

__all__ = ["Svmlight", "svmlight_batches"]

_CHUNK_BYTES = 1 << 26
_BYTES_PER_COLUMN = 100  # of the counts of two classes, and what a solver makes of them
_UNREADABLE = (ValueError, OverflowError)


class Svmlight(Format):
    """A matrix, which `svmlight_batches` reads."""

    name = "svm"
    told = "svmlight"
    endings = (".svm", ".svmlight", ".libsvm")
    is_encoded = True
    is_matrix = True


def svmlight_batches(
    file: DataFile, bad_rows: BadRows
) -> Iterator[tuple[Any, NDArray[np.float64]]]:
    """Yield (matrix, labels) in pieces of bounded size.

    Columns have the numbers that are written in the file, so a file that counts from 1
    has an empty column 0.
    """
    path, before = file.path, 0
    with file.stream() as stream:
        lines = io.BufferedReader(stream, 1 << 20)
        for number, block in enumerate(_blocks(lines, path, file.longest)):
            kept = block if number else block.removeprefix(codecs.BOM_UTF8)
            try:
                X, y = _parsed(kept)
            except _UNREADABLE:
                X, y = _parsed(_without_bad(path, before, kept, bad_rows))
            if X.shape[1] > physical_memory() // _BYTES_PER_COLUMN:
                raise _too_wide(path, before, block, X)
            before += block.count(b"\n")
            if X.shape[0]:
                yield X, y


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


def _without_bad(path: str, before: int, block: bytes, bad_rows: BadRows) -> bytes:
    """Leave out the lines that cannot be read, or stop at the first."""
    kept: list[bytes] = []
    waiting = [(before, block.splitlines(keepends=True))]
    while waiting:  # by halves, in the order of the file
        first, lines = waiting.pop()
        part = b"".join(lines)
        try:
            _parsed(part)
        except _UNREADABLE as error:
            if len(lines) > 1:
                half = len(lines) // 2
                waiting += [(first + half, lines[half:]), (first, lines[:half])]
                continue
            problem = str(error).replace("b'", "'").rstrip(".")
            bad_rows.found(
                1,
                f"Line {first + 1:,} of {path!r} cannot be read: {problem}; a line is "
                "a label and column:value pairs, such as '1 3:2 7:1'.",
            )
        else:
            kept.append(part)
    return b"".join(kept)
