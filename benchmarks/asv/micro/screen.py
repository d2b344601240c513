"""Screeners of binary columns."""

from __future__ import annotations

import bayesieve
from micro import made_data
from micro.made_data import Micro


class Screeners(Micro):
    """Fit on rows of yes and no, each screener with its own rule for how many."""

    params = (
        ["L0Screener", "L1Screener", "PearsonScreener", "FDRScreener"],
        [10_000, 100_000, 1_000_000],
    )
    param_names = ("screener", "columns")
    rows = 2_000

    def setup(self, screener: str, columns: int) -> None:
        self.X, self.y = made_data.flags_of(self.rows, columns)
        self.screener = getattr(bayesieve, screener)()

    def time_fit(self, screener: str, columns: int) -> None:
        self.screener.fit(self.X, self.y)

    def peakmem_fit(self, screener: str, columns: int) -> None:
        self.screener.fit(self.X, self.y)
