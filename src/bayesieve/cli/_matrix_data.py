"""Wide sparse matrices in svmlight files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles
from bayesieve.cli._fit_matrix import MATRIX_KINDS, fit_matrix
from bayesieve.cli._fit_outcome import Clock, Fitted
from bayesieve.cli._held_out import held_out
from bayesieve.cli._labelled_rows import as_labels
from bayesieve.counts import ClassCounts
from bayesieve.io._bad_rows import BadRows

__all__ = ["MatrixData"]


def _read(files: DataFiles) -> tuple[Any, NDArray[Any]]:
    """Return all rows of the files as one CSR matrix, and their labels."""
    parts, labels = [], []
    bad_rows = BadRows(files.skip_bad_rows)
    for _, X, y in files.matrices(bad_rows):
        parts.append(X)
        labels.append(y)
    bad_rows.warn()
    if not parts:
        raise CommandError(f"{files.paths[0]!r} has no rows.")
    width = max(part.shape[1] for part in parts)
    for part in parts:
        part.resize((part.shape[0], width))
    y = np.concatenate(labels)
    whole = np.all(y == np.floor(y))
    return sparse.vstack(parts, format="csr"), y.astype(np.int64) if whole else y


class MatrixData:
    """A labelled sparse matrix."""

    unit = "features"
    interrupted = False

    def __init__(self, files: DataFiles, arguments: argparse.Namespace) -> None:
        self.files, self.arguments = files, arguments
        self.model = "multinomial" if arguments.model == "auto" else arguments.model
        if self.model not in MATRIX_KINDS:
            raise CommandError(
                "svmlight files take --model multinomial, bernoulli or gaussian. "
                f"Got {self.model!r}."
            )
        self.X, self.y = _read(files)
        values, rows = np.unique(self.y, return_counts=True)
        self.labels, _ = as_labels("label", values.tolist(), rows)
        self.share = getattr(arguments, "test_share", 0.0)
        self.seed = getattr(arguments, "seed", 0)

    def count(self, interrupt: Any = None) -> Any:
        """Return the counts of all rows."""
        return ClassCounts.from_matrix(self.X, self.y, kind=MATRIX_KINDS[self.model])

    def fit(self, clock: Clock, *, saves: bool) -> Fitted:
        """Hold rows out and fit."""
        codes = np.searchsorted(self.labels.classes, self.y)
        held = held_out(codes, self.share, self.seed)
        classes = self.labels.classes
        fitted = fit_matrix(
            self.X, codes, classes, held, self.model, self.arguments, clock
        )

        def test_rows() -> Iterator[tuple[Any, NDArray[np.int64]]]:
            yield self.X[held], codes[held]

        fitted.held_out = test_rows if held.any() else None
        return fitted
