"""Screening then weights on wide rows, and weights of mixed tables."""

from __future__ import annotations

from bayesieve import NaiveFeatureSelector, SelectiveMultinomialNB, SelectiveNB
from micro import made_data
from micro.made_data import Micro


class Wide(Micro):
    """Fit at a wanted k on 20,000 rows."""

    params = ([2, 5], [10_000, 100_000, 1_000_000], [50, 500])
    param_names = ("classes", "columns", "k")
    rows = 20_000

    def setup(self, classes: int, columns: int, k: int) -> None:
        self.X, self.y = made_data.rows_of(classes, self.rows, columns)

    def time_fit(self, classes: int, columns: int, k: int) -> None:
        SelectiveMultinomialNB(k=k).fit(self.X, self.y)

    def peakmem_fit(self, classes: int, columns: int, k: int) -> None:
        SelectiveMultinomialNB(k=k).fit(self.X, self.y)


class Selector(Micro):
    """The selector alone: by likelihood, and refined by weights."""

    params = ([False, True], [10_000, 100_000, 1_000_000])
    param_names = ("refined", "columns")
    rows = 20_000

    def setup(self, refine: bool, columns: int) -> None:
        self.X, self.y = made_data.rows_of(2, self.rows, columns)

    def time_fit(self, refine: bool, columns: int) -> None:
        NaiveFeatureSelector(k=500, refine=refine).fit(self.X, self.y)


class Table(Micro):
    """Cut columns of numbers into intervals and weigh them."""

    params = ([1_000, 10_000], [10, 50])
    param_names = ("rows", "columns")

    def setup(self, rows: int, columns: int) -> None:
        self.X, self.y = made_data.table_of(rows, columns)

    def time_fit(self, rows: int, columns: int) -> None:
        SelectiveNB().fit(self.X, self.y)
