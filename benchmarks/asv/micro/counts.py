"""From rows to class counts, and what is done with counts."""

from __future__ import annotations

import numpy as np

from bayesieve import ClassCounts
from micro import made_data
from micro.made_data import Micro


class FromMatrix(Micro):
    """Count a CSR matrix by class."""

    params = ([2, 20], [10_000, 100_000], [10_000, 100_000, 1_000_000])
    param_names = ("classes", "rows", "columns")

    def setup(self, classes: int, rows: int, columns: int) -> None:
        self.X, self.y = made_data.rows_of(classes, rows, columns)

    def time_counts(self, classes: int, rows: int, columns: int) -> None:
        ClassCounts.from_matrix(self.X, self.y)

    def time_presence(self, classes: int, rows: int, columns: int) -> None:
        ClassCounts.from_matrix(self.X, self.y, binary=True)

    def peakmem_counts(self, classes: int, rows: int, columns: int) -> None:
        ClassCounts.from_matrix(self.X, self.y)


class FromChunks(Micro):
    """Count 100,000 rows that come in chunks."""

    params = ([1_000, 10_000], [10_000, 100_000, 1_000_000])
    param_names = ("rows in a chunk", "columns")
    rows = 100_000

    def setup(self, size: int, columns: int) -> None:
        X, y = made_data.rows_of(2, self.rows, columns)
        starts = range(0, self.rows, size)
        self.chunks = [(X[at : at + size], y[at : at + size]) for at in starts]

    def time_chunks(self, size: int, columns: int) -> None:
        ClassCounts.from_chunks(self.chunks)


class Arithmetic(Micro):
    """Merge and subtract counts of the same columns."""

    params = ([2, 20], [10_000, 100_000, 1_000_000])
    param_names = ("classes", "columns")
    rows = 10_000

    def setup(self, classes: int, columns: int) -> None:
        whole = made_data.rows_of(classes, self.rows, columns)
        fold = tuple(part[: self.rows // 10] for part in whole)
        self.whole = ClassCounts.from_matrix(*whole, classes=np.arange(classes))
        self.fold = ClassCounts.from_matrix(*fold, classes=np.arange(classes))

    def time_merge(self, classes: int, columns: int) -> None:
        self.whole + self.fold

    def time_subtract(self, classes: int, columns: int) -> None:
        self.whole - self.fold

    def time_scale(self, classes: int, columns: int) -> None:
        self.whole.scaled(0.5)


class MergeVocabularies(Micro):
    """Merge counts of words that are the same only in part."""

    params = (10_000, 100_000, 1_000_000)
    param_names = ("columns",)
    rows = 10_000

    def setup(self, columns: int) -> None:
        X, y = made_data.rows_of(2, self.rows, columns)
        name = np.char.add("word", np.arange(2 * columns).astype(str))
        late = name[columns // 2 : columns // 2 + columns]  # half of them are new
        self.monday = ClassCounts.from_matrix(X, y, feature_names=name[:columns])
        self.tuesday = ClassCounts.from_matrix(X, y, feature_names=late)

    def time_merge(self, columns: int) -> None:
        self.monday + self.tuesday
