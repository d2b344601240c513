"""Models of random rows, each with rows to try it on: what every export must keep."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

import bayesieve as bs

__all__ = ["fitted_to_counts", "fitted_to_tables"]


def fitted_to_counts(seed, n_classes, k, alpha, dtype=float):
    """Yield models of counts, presences, codes and measurements, and new rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(40, 5)) * (rng.random((40, 5)) < 0.5)
    y = np.r_[np.arange(n_classes), rng.integers(n_classes, size=40 - n_classes)]
    new = rng.integers(0, 4, size=(30, 5)) * (rng.random((30, 5)) < 0.7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few useful features
        for model in (
            bs.SparseMultinomialNB(k, alpha=alpha),
            bs.SparseBernoulliNB(k, alpha=alpha, binarize=float(rng.integers(2))),
            bs.SparseCategoricalNB(k, alpha=alpha, min_categories=4),
            bs.SparseGaussianNB(k, variance="class", var_smoothing=alpha / 10),
            bs.SparseGaussianNB(k, variance="pooled"),
        ):
            yield model.fit(X.astype(dtype), y), new.astype(dtype)


def fitted_to_tables(seed, partitions):
    """Yield models of mixed columns, and tables with gaps and unseen values."""
    rng = np.random.default_rng(seed)
    n = 150
    y = rng.integers(3, size=n)
    table = pd.DataFrame(
        {
            "a": np.round(rng.normal(size=n) + y, 1),
            "b": (rng.normal(size=n) + y).astype(np.float32),
            "c": rng.choice(["x", "y", "z", "1", None], size=n),
            "d": pd.Series(rng.choice([1, 2, 3], size=n)).astype("category"),
            "e": rng.random(n) < 0.2 + 0.3 * y,
            "t": pd.Timestamp("1969-12-31")
            + pd.to_timedelta((y + rng.random(n)) * 1e5, "s"),
        }
    )
    table.loc[rng.random(n) < 0.2, "a"] = np.nan
    table.loc[rng.random(n) < 0.1, "t"] = pd.NaT
    model = bs.SelectiveNB(partitions=partitions).fit(table[:100], y[:100])
    yield model, table
    other = table.assign(d=rng.choice([1.0, 2.0, 9.0, np.nan], size=n))
    yield model, other.assign(c=rng.choice(["x", "new", None], size=n))
    yield bs.AveragedNB(random_state=0).fit(table[:100], y[:100]), table
