"""The whole path over k, and cross-validation of k."""

from __future__ import annotations

from bayesieve import SparseMultinomialNBCV, sparsity_path
from micro import made_data
from micro.made_data import Micro


class Path(Micro):
    """Certified answers for many values of k at once, up to a tenth of the columns."""

    params = ([2, 20], [10_000, 100_000], [10, 50])
    param_names = ("classes", "columns", "values of k")

    def setup(self, classes: int, columns: int, points: int) -> None:
        self.counts = made_data.counts_of(classes, columns)
        step = columns // 10 // points
        self.ks = range(step, step * points + 1, step)

    def time_path(self, classes: int, columns: int, points: int) -> None:
        sparsity_path(self.counts, self.ks)


class CrossValidation(Micro):
    """Five folds, three values of alpha and the default values of k.

    The relaxation alone: on rare made words most searches would end at the time limit,
    and the figure would be that limit.
    """

    params = ([2_000, 20_000], [10_000, 100_000])
    param_names = ("rows", "columns")

    def setup(self, rows: int, columns: int) -> None:
        self.X, self.y = made_data.rows_of(2, rows, columns)

    def time_cross_validation(self, rows: int, columns: int) -> None:
        SparseMultinomialNBCV(exact=False).fit(self.X, self.y)
