"""Wide sparse matrices in svmlight files."""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles
from bayesieve.cli._fitted import Clock, Fitted
from bayesieve.cli._labels import HeldOut, Labels, as_labels
from bayesieve.cli._table_data import MATRIX_KINDS, fit_matrix, physical_memory

__all__ = ["MatrixData", "svmlight_batches"]

_CHUNK_BYTES = 1 << 26
_BYTES_PER_COLUMN = 100  # of the counts of two classes, and what a solver makes of them
_UNREADABLE = (ValueError, OverflowError)


def svmlight_batches(files: DataFiles) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield (matrix, labels) in pieces of bounded size.

    Columns have the numbers that are written in the file, so a file that counts from 1
    has an empty column 0.
    """
    for path in files.paths:
        ending = os.path.splitext(path.lower())[1]
        opened: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(ending, open)
        try:
            with opened(path, "rb") as file:
                before = 0
                for block in _blocks(file, path, files.longest):
                    try:
                        X, y = _parsed(block)
                    except _UNREADABLE:
                        lines = block.splitlines(keepends=True)
                        raise _bad_line(path, before, lines) from None
                    if X.shape[1] > _most_columns():
                        raise _too_wide(path, before, block, X)
                    before += block.count(b"\n")
                    if X.shape[0]:
                        yield X, y
        except CommandError:
            raise
        except (ValueError, OSError, EOFError, zlib.error) as error:
            raise CommandError(f"{path!r} cannot be read: {error}") from None


def _blocks(file: Any, path: str, longest: int) -> Iterator[bytes]:
    """Pieces of a file that end where a line ends."""
    from bayesieve.io._row_bounds import too_long

    while block := file.read(_CHUNK_BYTES):
        if not block.endswith(b"\n"):
            rest = file.readline(longest + 1)
            if len(rest) > longest:
                raise too_long(f"a line of {path!r}", longest)
            block += rest
        yield block


def _parsed(block: bytes) -> tuple[Any, np.ndarray]:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(io.BytesIO(block), zero_based=True)
    if X.indices.size and X.indices.min() < 0:
        raise ValueError(f"Got the column {X.indices.min()}, and columns are >= 0")
    return X, y


def _most_columns() -> int:
    """Columns whose counts fit into the memory of this machine."""
    return physical_memory() // _BYTES_PER_COLUMN


def _too_wide(path: str, before: int, block: bytes, X: Any) -> CommandError:
    row = int(np.searchsorted(X.indptr, np.argmax(X.indices), side="right")) - 1
    filled = [
        number
        for number, line in enumerate(block.splitlines(), start=before + 1)
        if line.split(b"#")[0].strip()
    ]
    return CommandError(
        f"line {filled[row]:,} of {path!r} has the column {X.shape[1] - 1:,}, and the "
        f"counts of so many columns take {X.shape[1] * _BYTES_PER_COLUMN:,} bytes, "
        "more than there is memory. Hint: number the columns that occur from 0 on."
    )


def _bad_line(path: str, before: int, lines: list[bytes]) -> CommandError:
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
    return CommandError(
        f"line {before + 1:,} of {path!r} cannot be read: {problem}. Hint: a line is "
        "a label and column:value pairs, such as '1 3:2 7:1'."
    )


def read_svmlight(files: DataFiles) -> tuple[Any, np.ndarray]:
    """Return all rows of the files as one CSR matrix, and their labels."""
    from scipy import sparse

    parts, labels = [], [np.zeros(0)]
    for X, y in svmlight_batches(files):
        parts.append(X)
        labels.append(y)
    if not parts:
        raise CommandError(f"{files.paths[0]!r} has no rows.")
    width = max(part.shape[1] for part in parts)
    for part in parts:
        part.resize((part.shape[0], width))
    return sparse.vstack(parts, format="csr"), np.concatenate(labels)


def matrix_labels(y: np.ndarray) -> Labels:
    """Make classes of the numbers at the beginning of each line."""
    whole = np.all(y == np.floor(y))
    values, counts = np.unique(y.astype(np.int64) if whole else y, return_counts=True)
    kind = "int" if whole else "float"
    seen = {
        (kind, value): count
        for value, count in zip(values.tolist(), counts.tolist(), strict=True)
    }
    return as_labels("label", seen, from_text=False)


class MatrixData:
    """A labelled sparse matrix.

    Parameters
    ----------
    files : DataFiles
    arguments : argparse.Namespace
        Of a command with data and model arguments.
    """

    unit = "features"

    def __init__(self, files: DataFiles, arguments: argparse.Namespace) -> None:
        self.files, self.arguments = files, arguments
        self.model = "multinomial" if arguments.model == "auto" else arguments.model
        if self.model not in MATRIX_KINDS:
            raise CommandError(
                "svmlight files take --model multinomial, bernoulli or gaussian. "
                f"Got {self.model!r}."
            )
        self.X, y = read_svmlight(files)
        self.labels = matrix_labels(y)
        self.y = y.astype(self.labels.classes.dtype)
        self.share = getattr(arguments, "test_share", 0.0)
        self.seed = getattr(arguments, "seed", 0)

    def count(self, interrupt: Any = None) -> Any:
        """Return the counts of all rows."""
        from bayesieve.counts import ClassCounts

        return ClassCounts.from_matrix(self.X, self.y, kind=MATRIX_KINDS[self.model])

    def fit(self, k: Any, clock: Clock, *, saves: bool) -> Fitted:
        """Hold rows out and fit."""
        codes = np.searchsorted(self.labels.classes, self.y)
        held = HeldOut(self.share, len(self.labels.classes), self.seed).mask(codes)
        train, test = np.flatnonzero(~held), np.flatnonzero(held)
        X, y = self.X[train], self.y[train]
        fitted = fit_matrix(X, y, k, self.model, self.arguments, clock)

        def held_out() -> Iterator[tuple[Any, np.ndarray]]:
            yield self.X[test], codes[test]

        fitted.held_out = held_out if test.size else None
        return fitted
