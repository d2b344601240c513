"""From class counts to the best k columns and their certificate."""

from __future__ import annotations

import numpy as np

from bayesieve import ClassCounts, solve_bernoulli, solve_multinomial
from micro import made_data
from micro.made_data import Micro

COLUMNS = [10_000, 100_000, 1_000_000]
SHARES = [0.001, 0.01, 0.1]


class Multinomial(Micro):
    """Relaxation, then branch and bound, from a plain array of counts."""

    params = ([2, 20], COLUMNS, SHARES)
    param_names = ("classes", "columns", "share kept")

    def setup(self, classes: int, columns: int, share: float) -> None:
        self.counts = made_data.counts_of(classes, columns)
        self.k = int(columns * share)

    def time_solve(self, classes: int, columns: int, share: float) -> None:
        solve_multinomial(self.counts, self.k)

    def time_relaxation_alone(self, classes: int, columns: int, share: float) -> None:
        solve_multinomial(self.counts, self.k, exact=False)

    def peakmem_solve(self, classes: int, columns: int, share: float) -> None:
        solve_multinomial(self.counts, self.k)


class Bernoulli(Micro):
    """The closed form, from counts of rows with each column."""

    params = ([2, 20], COLUMNS, SHARES)
    param_names = ("classes", "columns", "share kept")

    def setup(self, classes: int, columns: int, share: float) -> None:
        present, size = made_data.documents_per_class(classes, columns)
        self.counts = ClassCounts(
            classes=np.arange(classes),
            class_count=size.astype(np.float64),
            feature_count=present,
            kind="binary",
        )
        self.k = int(columns * share)

    def time_solve(self, classes: int, columns: int, share: float) -> None:
        solve_bernoulli(self.counts, self.k)
